// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Do two accesses to the memory of one pointer meet in different rounds of a loop?

#ifndef RCACHE_LIB_PLAN_ROUNDSAPART_H
#define RCACHE_LIB_PLAN_ROUNDSAPART_H

#include "rcache/Plan.h"
#include <optional>
#include <string>

namespace rcache {

constexpr int64_t MostRoundsOfCut = 0xffffff;

/// What a launch has to be asked so that \p A and \p B, of two threads of a block and
/// in two rounds of \p Loop, are never one element: a C++ condition of the kernel's
/// parameters; nullopt: nothing tells. Both indices are sums: a round moves them by
/// more than all that differs between threads. For loops of at most MostRoundsOfCut
/// rounds. May throw isl::exception.
std::optional<std::string> roundsApart(const KernelModel &M, const Mapping &Map,
                                       const Stmt &Loop, const GlobalAccess &A,
                                       const GlobalAccess &B);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_ROUNDSAPART_H
