// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms that loops are written in.

#ifndef RCACHE_LIB_MODEL_LOOPSYNTAX_H
#define RCACHE_LIB_MODEL_LOOPSYNTAX_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include <optional>

namespace rcache {

class Locals;

/// Header of a loop that counts one variable.
struct LoopCounter {
  const clang::VarDecl *V = nullptr;
  const clang::Expr *Bound = nullptr; ///< null: 0
  clang::BinaryOperatorKind Compare = clang::BO_LT; ///< V + Beside Compare Bound
  llvm::SmallVector<const clang::Expr *, 2> Beside;
  const clang::Expr *Sum = nullptr; ///< V + Beside, null: V alone
  const clang::Expr *Step = nullptr;                ///< null: 1
  bool Down = false;
};

/// `++v`, `v += c`, `v = v + c`: v and the step.
bool matchStep(const clang::Expr *Inc, LoopCounter &C);
/// `v < bound`, `bound > v`, ..., or `v` itself, for the variable of \p C.
bool matchBound(const clang::Expr *Cond, LoopCounter &C);
/// `threadIdx.x + v < bound`: the variable of \p C in a sum.
bool matchBoundOfSum(const clang::Expr *Cond, LoopCounter &C);
/// What stands between the `&&` of \p Cond.
void conjuncts(const clang::Expr *Cond,
               llvm::SmallVectorImpl<const clang::Expr *> &Out);
/// `v /= 2`, `v >>= 1`, `v = v * 2`: the variable and the factor, negative for
/// a division.
const clang::VarDecl *geometricStep(const clang::Expr *Inc, int64_t &Factor,
                                    clang::ASTContext &AC);
/// The variable of a loop that has a number in each round, whatever is launched: it is
/// counted by constants alone, `for (int d = 1; d < 128; d *= 2)`. Null: there is none.
const clang::VarDecl *numberedCounter(const clang::ForStmt *F, const Locals &L,
                                      const clang::ASTContext &AC);
/// How often is \p V modified in \p S?
unsigned timesAssigned(const clang::Stmt *S, const clang::VarDecl *V,
                       const Locals &L);

/// Does a statement synchronise the block, by its own words?
bool hasBarrierCall(const clang::Stmt *S);
/// Is a loop with body \p S left other than at its end? \p Continue: the rest
/// of a round may be skipped.
bool leavesLoop(const clang::Stmt *S, bool &Continue);
/// Is a loop with body \p S left, or the rest of a round skipped, other than at
/// its end?
bool leavesEarly(const clang::Stmt *S);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_LOOPSYNTAX_H
