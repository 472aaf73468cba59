// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The staging function: what a shared element holds, as a function of the
// element. The staging writes say it the other way round,
//
//     { Thread[tx, i] -> Elem[e0, e1] }  and a value in tx, i
//
// so the map is inverted and the value composed with the inverse. Writes that
// turn out to be the same function (own element and halo) are joined.
//
//     s[l + 1] = a[g];                 e0 = l + 1
//     if (l < 1) s[0] = a[g - 1];      e0 = 0            ==>  a[bb + e0 - 1]
//     if (l < 1) s[n + 1] = a[g + n];  e0 = n + 1

#ifndef RCACHE_PLAN_STAGING_H
#define RCACHE_PLAN_STAGING_H

#include "Groups.h"
#include "rcache/Plan.h"
#include <map>

namespace rcache {

/// Replaces symbols of a value: every Affine leaf and Select condition is
/// composed with \p Map (id -> value in the remaining symbols). Null if a leaf
/// is Unknown.
ValueRef substituteValue(const ValueRef &V,
                         const std::map<std::string, isl::pw_aff> &Map);

/// A product of an element coordinate and symbols (`in[y * W + x]` staged at
/// s[y][x] is in[e0 * W + e1]) is a symbol of the staging function alone: its Id
/// is that of its factors, joined by '*', with `64*` in front when the original
/// computes the product in 64 bits. The factors of \p Id; empty: no such product.
std::vector<std::string> productFactors(const std::string &Id);
bool isWideProduct(const std::string &Id);

/// Ids of all symbols in \p V, and of the factors of products with elements.
std::vector<std::string> valueSymbols(const ValueRef &V);

/// All Load nodes below \p V (V included).
void collectLoads(const ValueRef &V, std::vector<ValueRef> &Out);

/// Same value wherever both are defined, on \p D ([symbols] -> { : }).
bool equalOn(const ValueRef &A, const ValueRef &B, const isl::set &D);

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

/// A 64-bit unsigned parameter: plans take it to be less than 2^63, which each
/// launch checks.
bool isLargeUnsigned(const Symbol &S);

/// The staging function of \p G, or why there is none.
struct StagingResult {
  StagingFunction F;
  std::optional<Decline> Reason;
};
StagingResult stagingFunction(const KernelModel &M, const StagingGroup &G,
                              const Assumptions &A);

} // namespace rcache

#endif // RCACHE_PLAN_STAGING_H
