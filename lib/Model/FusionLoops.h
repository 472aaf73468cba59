// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of two products whose fusion hangs on how loops are unrolled.

#ifndef RCACHE_LIB_MODEL_FUSIONLOOPS_H
#define RCACHE_LIB_MODEL_FUSIONLOOPS_H

namespace clang {
class BinaryOperator;
class FunctionDecl;
} // namespace clang

namespace rcache {

/// A sum (or difference) in \p FD, or in a function it calls, of two products
/// of which one may be the same in two rounds of a loop that the source leaves
/// to the compiler to unroll; null: there is none.
const clang::BinaryOperator *fusedByUnrolling(const clang::FunctionDecl *FD);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_FUSIONLOOPS_H
