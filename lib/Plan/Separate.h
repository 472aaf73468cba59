// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointers that a plan needs to lead to different memory, although the source
// does not promise it (no __restrict__): the launch compares the allocations
// that they point into, and keeps the original where they are the same.

#ifndef RCACHE_PLAN_SEPARATE_H
#define RCACHE_PLAN_SEPARATE_H

#include "Staging.h"
#include "rcache/Plan.h"
#include <map>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace rcache {

/// Can a launch tell whether parameters \p A and \p B (indices in M.Params, -1:
/// unknown memory) lead to different memory?
bool canSeparate(const KernelModel &M, int A, int B);

/// Adds the pair to \p P.Separate.
void requireSeparate(Plan &P, int A, int B);

/// By pointer (index in M.Params): the parameters that must not be negative so
/// that no access lies in front of it; nullopt: one may.
using FrontSides = std::map<int, std::optional<std::map<std::string, int64_t>>>;

/// What the launch has to check for the pairs in \p P.Separate. \p Known is
/// filled with what has been asked for under the assumptions \p A.
void addSeparations(const KernelModel &M, const Assumptions &A,
                    FrontSides &Known, Plan &P);

} // namespace rcache

#endif // RCACHE_PLAN_SEPARATE_H
