// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons of variables in conditions that are no formula as a whole.

#ifndef RCACHE_LIB_PLAN_COMPARISONS_H
#define RCACHE_LIB_PLAN_COMPARISONS_H

#include "rcache/Model.h"
#include <optional>

namespace rcache {

/// `p > t`, of two variables that keep their first value.
struct Comparison {
  TextRange Text;
  unsigned Left = 0, Right = 0; ///< indices in KernelModel::Vars
  bool Greater = false;         ///< else less
};

/// What the condition of \p If asks first: `p > t && ...`; nullopt: something else.
std::optional<Comparison> firstComparison(const KernelModel &M, const Stmt &If);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_COMPARISONS_H
