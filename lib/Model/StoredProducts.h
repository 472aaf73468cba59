// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products among what a kernel stores to its private arrays.

#ifndef RCACHE_LIB_MODEL_STOREDPRODUCTS_H
#define RCACHE_LIB_MODEL_STOREDPRODUCTS_H

#include "Locals.h"

namespace rcache {

/// Has \p T, a number or a struct of numbers, floating-point ones?
bool holdsFloats(clang::QualType T);

/// May what each of \p Stored, expressions in \p FD, gives be a product that no
/// rounding ends? Whether a compiler hands it to a sum unrounded depends on
/// what it knows of the memory in between. (Rounding.cpp has the same of
/// values.)
class StoredProducts {
public:
  StoredProducts(const clang::FunctionDecl *FD, const KernelModel &M,
                 const Locals &L);
  bool mayBe(const clang::Expr *Stored) const;

private:
  bool hasPointers(unsigned I) const;
  bool follow(const clang::Expr *E,
              llvm::SmallPtrSetImpl<const clang::VarDecl *> &Seen) const;
  bool ofVariable(const clang::VarDecl *V,
                  llvm::SmallPtrSetImpl<const clang::VarDecl *> &Seen) const;
  bool ofCall(const clang::CallExpr *E,
              llvm::SmallPtrSetImpl<const clang::VarDecl *> &Seen) const;

  const KernelModel &M;
  const Locals &L;
  /// What variables are set to; null: something that is not followed.
  llvm::DenseMap<const clang::VarDecl *,
                 llvm::SmallVector<const clang::Expr *, 2>>
      Values;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_STOREDPRODUCTS_H
