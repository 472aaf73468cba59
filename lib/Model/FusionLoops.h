// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums whose fusion with a product hangs on how loops are unrolled
// (FusionLoops.cpp) or on the statements around them (FusionFlow.cpp).

#ifndef RCACHE_LIB_MODEL_FUSIONLOOPS_H
#define RCACHE_LIB_MODEL_FUSIONLOOPS_H

#include "Anchors.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rcache {

/// Sums (or differences) in a kernel, or in a function it calls, whose fusion hangs on how far
/// the loops around them are unrolled; null: there is none.
struct SumsInLoops {
  /// Of two products, one of which may be the same as a product in another round of a loop
  /// that the source leaves to the compiler to unroll.
  const clang::BinaryOperator *OfTwo = nullptr;
  /// Of one, which may be the same as a product in another round of a loop that may be
  /// unrolled in one text and not in another (loopsInDoubt).
  const clang::BinaryOperator *OfOne = nullptr;
};
/// \p M has to know the accesses and loops. May throw isl::exception.
SumsInLoops fusedByUnrolling(const clang::FunctionDecl *FD, const KernelModel &M,
                             FlatText &Flat);

/// Has the compiler been told to round products and sums each for itself
/// (nvcc's -fmad=false)?
bool fusesNothing(const clang::ASTContext &AC);

/// `x * 2`, which is x + x to compilers, and exact: no product.
bool isDoubling(const clang::BinaryOperator *B);

/// A barrier, or a function that has one.
bool hasBarrier(const clang::CallExpr *C);

struct SumInDoubt {
  const clang::Expr *Sum = nullptr; ///< null: there is none
  /// In which rewritten kernels; each one's are the following ones' as well.
  enum Where {
    OutputsInLoops, ///< a thread runs several outputs side by side in loops
    SeveralOutputs, ///< ... or one after the other
    Anywhere,       ///< where statements around it are gone
  } In = Anywhere;
  const char *Why = ""; ///< behind the sum's text
};
/// A sum (or difference) in \p FD, or in a function it calls, of which nobody
/// knows what it is fused with in a kernel that has the same values in other
/// statements (FusionFlow.cpp). \p DependsOn: Dependence of a variable of the
/// kernel; \p Axes: of all it computes. \p Each is called with each product of \p FD that
/// is fused with a sum of its block of code alone, and that sum; see
/// ProductFlow::eachOfOneBlock.
SumInDoubt
fusedByContext(const clang::FunctionDecl *FD,
               llvm::function_ref<unsigned(const clang::VarDecl *)> DependsOn, unsigned Axes,
               llvm::function_ref<void(const clang::Stmt *, const clang::Stmt *, bool)> Each);

class Locals;
/// Fills KernelModel::UnsettledSum and OneBlock, or declines (SumsInDoubt.cpp).
void noteSumsInDoubt(const clang::FunctionDecl *FD, KernelModel &M,
                     const Locals &L, FlatText &Flat);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_FUSIONLOOPS_H
