// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which assignment gave a host variable the value that a launch uses:
//
//     dim3 block(16, 16);
//     k<<<grid, block>>>(a);      the declaration
//     block.y = 8;
//     m<<<grid, block>>>(a);      x: the declaration, y: the assignment
//
// Statements are followed backwards from the use. What may or may not have been
// executed, or happens where the name does not stand, makes the value unknown.

#ifndef RCACHE_LIB_MODEL_HOSTFLOW_H
#define RCACHE_LIB_MODEL_HOSTFLOW_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace rcache {

/// What a variable, or a component of a struct, was set by.
struct HostSet {
  enum Kind {
    Unknown,
    Argument, ///< it is a parameter, not set since
    Whole,    ///< the variable is E (null: made without a value)
    Component, ///< the component is E
    Changed   ///< it is what it was at Before, Op E (null: 1)
  };
  Kind K = Unknown;
  const clang::Expr *E = nullptr;
  clang::BinaryOperatorKind Op = clang::BO_Add;
  const clang::Stmt *Before = nullptr;
};

/// Is \p V, a variable of file scope, set or handed out anywhere in the main
/// file?
bool setInFile(const clang::VarDecl *V, const clang::ASTContext &AC);

/// Initialiser and right-hand sides of all assignments of \p V in the function
/// that declares it.
std::vector<const clang::Expr *> valuesOf(const clang::VarDecl *V);

class HostFlow {
public:
  /// Whether a condition is true, if that is known.
  using Truth = llvm::function_ref<std::optional<bool>(const clang::Expr *)>;

  /// What \p V has at \p Use, a part of the body of the function that declares
  /// it; of a struct the component \p Field (-1: V is a number).
  HostSet at(const clang::Stmt *Use, const clang::VarDecl *V, int Field,
             Truth Holds) const;

private:
  using Parents = llvm::DenseMap<const clang::Stmt *, const clang::Stmt *>;
  mutable llvm::DenseMap<const clang::FunctionDecl *, Parents> Known;
  const Parents &parents(const clang::FunctionDecl *F) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_HOSTFLOW_H
