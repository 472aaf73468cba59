// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decides an `if`.

#ifndef RCACHE_LIB_MODEL_CONDITIONS_H
#define RCACHE_LIB_MODEL_CONDITIONS_H

#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

namespace rcache {

/// The condition of \p I; null: it is `if consteval`, which has none.
inline const clang::Expr *conditionOf(const clang::IfStmt *I) {
  return I->isConsteval() ? nullptr : I->getCond();
}

/// The condition of \p I, if that is all there is between its parentheses; else null.
inline const clang::Expr *plainCondition(const clang::IfStmt *I) {
  return I->getInit() || I->getConditionVariable() ? nullptr : conditionOf(I);
}

} // namespace rcache

#endif // RCACHE_LIB_MODEL_CONDITIONS_H
