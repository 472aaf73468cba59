// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of two products whose fusion hangs on how loops are unrolled.

#ifndef RCACHE_LIB_MODEL_FUSIONLOOPS_H
#define RCACHE_LIB_MODEL_FUSIONLOOPS_H

#include "Anchors.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace rcache {

/// A sum (or difference) in \p FD, or in a function it calls, of two products
/// of which one may be the same as a product in another round of a loop that
/// the source leaves to the compiler to unroll; null: there is none. \p M has to
/// know the accesses and loops. May throw isl::exception.
const clang::BinaryOperator *fusedByUnrolling(const clang::FunctionDecl *FD,
                                              const KernelModel &M,
                                              FlatText &Flat);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_FUSIONLOOPS_H
