// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order the compiler has the two operands of a sum.

#ifndef RCACHE_LIB_MODEL_FUSIONORDER_H
#define RCACHE_LIB_MODEL_FUSIONORDER_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>

namespace rcache {

/// nvcc sorts the operands of a sum by rank (docs/soundness.md). This compares
/// ranks in the original with those in rewritten kernels, for a kernel and the
/// functions it calls.
class FusionOrder {
public:
  /// Dependence of a variable of the kernel.
  using Dependences = llvm::function_ref<unsigned(const clang::VarDecl *)>;

  /// A function as it is called: the kernel, or by \p Caller.
  struct Call {
    const clang::FunctionDecl *Of;
    const clang::CallExpr *At = nullptr; ///< null: the kernel
    const Call *Caller = nullptr;
  };

  FusionOrder(const clang::FunctionDecl *Kernel, Dependences DependsOn);
  ~FusionOrder();

  /// What each operand of a sum may be: itself, and products it may hold.
  using Operand = llvm::ArrayRef<const clang::Expr *>;
  enum class Outputs {
    One,     ///< a thread has one
    Several, ///< one after the other
    InLoops, ///< or side by side in loops of the original
  };
  /// Do the operands of \p Sum keep their order in all such kernels?
  bool keeps(const clang::BinaryOperator *Sum, Operand L, Operand R,
             const Call &In, Outputs Of);

private:
  class Impl;
  std::unique_ptr<Impl> I;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_FUSIONORDER_H
