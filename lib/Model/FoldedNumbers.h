// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point numbers that a compiler knows once it has unrolled loops. With a
// number that it knows it computes otherwise than with one that a round takes over
// from the one before:
//
//     for (int j = 0; j < 61; ++j) {
//       sum += x * s[t + j];     // x = 1, and the product is none
//       x = x * 0.9f + 0.05f;    // rounded twice; fused, once
//     }
//
// How far the original's loop is unrolled is the compiler's decision.

#ifndef RCACHE_LIB_MODEL_FOLDEDNUMBERS_H
#define RCACHE_LIB_MODEL_FOLDEDNUMBERS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

/// An operation of the kernel \p FD that may round otherwise where a loop is unrolled
/// of which the source does not say that it is; \p Arguments: where one is unrolled
/// because integer arguments are taken for numbers. Null: there is none.
const clang::Expr *roundedByUnrolling(const clang::FunctionDecl *FD, bool Arguments);

/// Loops of \p FD that may be unrolled in one text and not, or not as far, in another:
/// all but those of few rounds and operators that the source says nothing of, those that it
/// unrolls altogether, and those of unknown length that it keeps rolled.
llvm::SmallPtrSet<const clang::Stmt *, 8> loopsInDoubt(const clang::FunctionDecl *FD);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_FOLDEDNUMBERS_H
