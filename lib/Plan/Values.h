// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the model (rcache/Model.h) as formulas: substitution, symbols, loads,
// equality. May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_VALUES_H
#define RCACHE_LIB_PLAN_VALUES_H

#include "rcache/Model.h"
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
/// Is there one in \p V?
bool holdsLoad(const Value &V);

/// Do two loads read the same element, as far as their addresses are affine?
bool isSameLoad(const Value &A, const Value &B);

/// Is the value, kept in a register, what it would be if memory had held it? A
/// product is not: a sum would fuse it.
bool endsRounded(const ValueRef &V, const KernelModel &M);

/// Canonical types: numbers that arithmetic rounds, numbers that it does not or
/// does round.
bool isRounded(const std::string &Type);
bool isNumber(const std::string &Type);

/// Does \p Write store a value that memory rounds and a register would not?
bool losesRounding(const SharedAccess &Write, const KernelModel &M);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_VALUES_H
