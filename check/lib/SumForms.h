// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a kernel's floating-point sums are computed, whatever data they meet: executing
// two kernels shows a product that only one of them fuses where its element is computed,
// their forms show it everywhere.

#ifndef RCACHE_CHECK_SUMFORMS_H
#define RCACHE_CHECK_SUMFORMS_H

#include <map>
#include <string>

namespace llvm {
class Function;
}

namespace rcache::check {

/// How often each form of sum stands in a kernel: "f32 add(x, x)", "f32 fma(p3, x, x)".
/// p3: the kernel's parameter 3, x: anything else; factors and operands are sorted. Sums
/// with zero and of two equal operands are exact, and none; what is fused with a product
/// by a power of two is a plain sum.
using SumForms = std::map<std::string, unsigned>;

/// Of \p F, in which what will be fused has been (contractLikePtxas).
SumForms sumForms(const llvm::Function &F);

/// "" where both have the same forms; else those that only one of them has, in words.
std::string otherSums(const SumForms &Original, const SumForms &Rewritten);

} // namespace rcache::check

#endif
