// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plan may take for granted at every launch. May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_ASSUMPTIONS_H
#define RCACHE_LIB_PLAN_ASSUMPTIONS_H

#include "Values.h"
#include <optional>
#include <utility>
#include <vector>

namespace rcache {

/// What holds for the whole kernel under the assumptions of a plan: the
/// model's context, the block's shape, relations between product symbols.
/// { [symbols] : } ; \p Fixed maps symbols to the values they are known by.
struct Assumptions {
  isl::set Context;
  std::map<std::string, isl::pw_aff> Fixed;
  std::optional<std::array<int64_t, 3>> Block;

  isl::pw_aff fix(const isl::pw_aff &A) const;
  isl::set fix(const isl::set &S) const;
  ValueRef fix(const ValueRef &V) const;
};

/// \p Block: the shape assumed; nullopt: one-dimensional, blockDim.x a multiple
/// of \p Multiple.
Assumptions makeAssumptions(const KernelModel &M,
                            std::optional<std::array<int64_t, 3>> Block,
                            unsigned Multiple);

/// The 32-bit unsigned parameters that say where and under which conditions shared
/// arrays are written and read: plans take them to be less than 2^31, which each
/// launch checks. (`i - 1 < n` with i = 0 is then false as it is in C++.)
std::vector<const Symbol *> unsignedBounds(const KernelModel &M);

/// A 32-bit unsigned parameter.
bool isUnsigned32(const Symbol &S);

/// No array has so many elements.
constexpr int64_t MostOfSizes = 0xffffffffff;

/// The 64-bit unsigned parameters, each with what plans take it to be at most, which each
/// launch checks: 2^63 - 1; where it says which elements are met, MostOfSizes: sums and
/// products with what threads, blocks and rounds are numbered by then do not wrap.
std::vector<std::pair<const Symbol *, int64_t>> sizeBounds(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_ASSUMPTIONS_H
