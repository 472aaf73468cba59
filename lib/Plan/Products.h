// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of symbols, which to isl are symbols of their own: in[y * W + x]
// staged at s[y][x] is in[e0 * W + e1]. May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_PRODUCTS_H
#define RCACHE_LIB_PLAN_PRODUCTS_H

#include "Assumptions.h"

namespace rcache {

/// Does the product symbol \p S stand for the mathematical product? One in
/// unsigned may have wrapped, unless the model makes the launch check it.
bool isExactProduct(const KernelModel &M, const Symbol &S);

/// \p V times the product of \p Factors (none: \p V), term by term:
/// (e0 + 16 by - 1) * W = [e0*W] + 16 [by*W] - W. nullopt: V has quotients.
std::optional<isl::pw_aff>
timesSymbols(const KernelModel &M, const Assumptions &A, const isl::pw_aff &V,
             const std::vector<std::string> &Factors, bool Wide);

/// Same value wherever both are defined, on \p D ([symbols] -> { : }). Where a
/// coordinate has one value on D, products with it are multiples of the others.
bool equalOn(const KernelModel &M, const Assumptions &A, const ValueRef &X,
             const ValueRef &Y, const isl::set &D);

/// Sums and products of signed integers in \p V whose operands are linear by now
/// become linear: what was a quotient of the iterator is a coordinate of the
/// element. In an index also those of unsigned 64-bit integers: addresses are
/// numbers modulo 2^64.
ValueRef foldIntegers(const KernelModel &M, const Assumptions &A,
                      const ValueRef &V);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PRODUCTS_H
