// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// isl helpers that only planning needs. May throw isl::exception.

#ifndef RCACHE_PLAN_SOLVE_H
#define RCACHE_PLAN_SOLVE_H

#include "Affine/IslTools.h"
#include "rcache/Affine.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rcache {

/// [Unknowns, others] -> { : D } becomes the largest solution
/// [others] -> { [Unknowns] }, lexicographically in the order given.
isl::pw_multi_aff solveFor(const isl::set &D,
                           const std::vector<std::string> &Unknowns);

/// The inequalities of \p B as sums that are at least 0; nullopt: it has equalities
/// or quotients.
std::optional<std::vector<Linear>> inequalitiesOf(const isl::basic_set &B);

/// \p D with constraints such as `18 a + b >= c`, 0 <= b < 18, written as what
/// they say of a alone.
isl::set tightened(const isl::set &D);

/// Whether quotients by constants occur in \p S.
bool involvesDivs(const isl::set &S);

} // namespace rcache

#endif // RCACHE_PLAN_SOLVE_H
