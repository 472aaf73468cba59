// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call that changes something may be moved past within its expression.

#ifndef RCACHE_LIB_MODEL_CALLORDER_H
#define RCACHE_LIB_MODEL_CALLORDER_H

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

/// What calls of one function change in the caller's view.
struct CallChanges {
  /// Variables, arrays and what pointers lead to, by the variable they are named by.
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Of;
  bool Pointees = false; ///< what pointers and references of the caller's lead to
  bool Anything = false; ///< what, nobody knows
  bool nothing() const { return Of.empty() && !Pointees && !Anything; }
};

/// What \p Call, of \p Callee, a definition, changes.
CallChanges changesOf(const clang::CallExpr *Call, const clang::FunctionDecl *Callee);

/// Is the rest of \p E, a full expression, the same whether it is evaluated before \p Call
/// or behind it? Where the language orders them, or does not, a compiler's order is kept.
bool keepsOrder(const clang::Expr *E, const clang::CallExpr *Call, const CallChanges &Changes);

/// Is what \p E reads something else than what \p Changes says, and does it change nothing?
bool isApart(const clang::Stmt *E, const CallChanges &Changes);

/// The variable by which the place \p E is named: `v`, `v.x`, `v[i]`, `*(v + i)`; null: none.
const clang::VarDecl *namedBy(const clang::Expr *E);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_CALLORDER_H
