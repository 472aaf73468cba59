// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private arrays in shared memory: what the planner promises of them, counted
// out.

#ifndef RCACHE_LIB_VERIFY_INTERLEAVED_H
#define RCACHE_LIB_VERIFY_INTERLEAVED_H

#include "rcache/Plan.h"
#include <optional>
#include <string>

namespace rcache::verify {

/// What is wrong with the private arrays of \p P; nullopt: nothing. Counts the
/// places looked at in \p Checks.
std::optional<std::string> wrongInterleaved(const KernelModel &M, const Plan &P,
                                            uint64_t &Checks);

} // namespace rcache::verify

#endif // RCACHE_LIB_VERIFY_INTERLEAVED_H
