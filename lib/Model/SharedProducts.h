// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that several outputs of a thread may have in common, and of which it
// hangs on the code around them whether they are fused with the sums that use them.
//
// nvcc's first half fuses a product with its sums where these are at most four and
// in one block of code with it. What it leaves open ptxas fuses wherever the sums
// are if one factor is a number, a parameter or constant memory at a fixed place,
// and else where all sums are in the product's block; conditions, square roots and
// divisions end blocks (check/device/fusion.py reads what was made of both).

#ifndef RCACHE_LIB_MODEL_SHAREDPRODUCTS_H
#define RCACHE_LIB_MODEL_SHAREDPRODUCTS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

/// Is \p E a value in another type than it has been kept in? Then it is no operand that
/// instructions name, unless it is a number.
bool isConverted(const clang::Expr *E);

class SharedProducts {
public:
  /// \p Axes: Dependence bits of a thread's place, as far as \p Kernel asks for it.
  SharedProducts(const clang::FunctionDecl *Kernel, unsigned Axes);

  /// Is each of \p Products, all in the kernel itself, one that no two outputs
  /// have in common, or fused wherever it is used?
  bool areFusedAnyway(llvm::ArrayRef<const clang::BinaryOperator *> Products) const;

  /// The same of products in functions that the kernel calls.
  static bool hasFixedFactor(const clang::BinaryOperator *B);

private:
  const clang::FunctionDecl *Kernel;
  unsigned Axes;
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Counters, Changed;
  llvm::DenseMap<const clang::VarDecl *, unsigned> Mentions; ///< in the kernel

  bool isFixed(const clang::Expr *E) const;
  bool isFixedIndex(const clang::Expr *E) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_SHAREDPRODUCTS_H
