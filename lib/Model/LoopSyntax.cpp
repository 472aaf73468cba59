// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopSyntax.h.

#include "LoopSyntax.h"
#include "Locals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

static const VarDecl *variable(const Expr *E) {
  auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  return R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
}

bool matchStep(const Expr *Inc, LoopCounter &C) {
  Inc = Inc->IgnoreParenImpCasts();
  if (auto *U = dyn_cast<UnaryOperator>(Inc);
      U && U->isIncrementDecrementOp()) {
    C.V = variable(U->getSubExpr());
    C.Down = U->isDecrementOp();
    return C.V;
  }
  auto *B = dyn_cast<BinaryOperator>(Inc);
  if (!B)
    return false;
  if (B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign) {
    C.V = variable(B->getLHS());
    C.Step = B->getRHS();
    C.Down = B->getOpcode() == BO_SubAssign;
    return C.V;
  }
  if (B->getOpcode() != BO_Assign)
    return false;
  C.V = variable(B->getLHS());
  auto *Sum = dyn_cast<BinaryOperator>(B->getRHS()->IgnoreParenImpCasts());
  if (!C.V || !Sum ||
      (Sum->getOpcode() != BO_Add && Sum->getOpcode() != BO_Sub))
    return false;
  C.Down = Sum->getOpcode() == BO_Sub;
  if (variable(Sum->getLHS()) == C.V)
    C.Step = Sum->getRHS();
  else if (variable(Sum->getRHS()) == C.V && !C.Down)
    C.Step = Sum->getLHS();
  return C.Step;
}

bool matchBound(const Expr *Cond, LoopCounter &C) {
  if (variable(Cond) == C.V) { // `for (k = 8; k; --k)`
    C.Bound = nullptr;
    C.Compare = BO_NE;
    return true;
  }
  auto *B = dyn_cast<BinaryOperator>(Cond->IgnoreParenImpCasts());
  if (!B || !B->isComparisonOp() || B->getOpcode() == BO_EQ)
    return false;
  if (variable(B->getLHS()) == C.V) {
    C.Bound = B->getRHS();
    C.Compare = B->getOpcode();
    return true;
  }
  if (variable(B->getRHS()) == C.V) {
    C.Bound = B->getLHS();
    C.Compare = BinaryOperator::reverseComparisonOp(B->getOpcode());
    return true;
  }
  return false;
}

/// The terms of the sum \p E, all added up in type \p T.
static void termsOf(const Expr *E, QualType T,
                    llvm::SmallVectorImpl<const Expr *> &Out) {
  auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  if (!B || B->getOpcode() != BO_Add || B->getType().getCanonicalType() != T)
    return Out.push_back(E);
  termsOf(B->getLHS(), T, Out);
  termsOf(B->getRHS(), T, Out);
}

bool matchBoundOfSum(const Expr *Cond, LoopCounter &C) {
  auto *B = dyn_cast<BinaryOperator>(Cond->IgnoreParenImpCasts());
  if (!B || !B->isRelationalOp())
    return false;
  for (const bool Left : {true, false}) {
    const Expr *Sum = Left ? B->getLHS() : B->getRHS();
    llvm::SmallVector<const Expr *, 4> Terms;
    termsOf(Sum, Sum->getType().getCanonicalType(), Terms);
    if (Terms.size() < 2 || llvm::count_if(Terms, [&](const Expr *E) {
                              return variable(E) == C.V;
                            }) != 1)
      continue;
    C.Sum = Sum;
    for (const Expr *E : Terms)
      if (variable(E) != C.V)
        C.Beside.push_back(E);
    C.Bound = Left ? B->getRHS() : B->getLHS();
    C.Compare = Left ? B->getOpcode()
                     : BinaryOperator::reverseComparisonOp(B->getOpcode());
    return true;
  }
  return false;
}

void conjuncts(const Expr *Cond, llvm::SmallVectorImpl<const Expr *> &Out) {
  auto *B = dyn_cast<BinaryOperator>(Cond->IgnoreParenImpCasts());
  if (B && B->getOpcode() == BO_LAnd) {
    conjuncts(B->getLHS(), Out);
    conjuncts(B->getRHS(), Out);
  } else {
    Out.push_back(Cond);
  }
}

const VarDecl *geometricStep(const Expr *Inc, int64_t &Factor, ASTContext &AC) {
  auto *B = dyn_cast<BinaryOperator>(Inc->IgnoreParenImpCasts());
  if (!B || !B->isAssignmentOp())
    return nullptr;
  const VarDecl *V = variable(B->getLHS());
  BinaryOperatorKind Op = BO_Comma;
  const Expr *By = B->getRHS();
  if (B->isCompoundAssignmentOp()) {
    Op = BinaryOperator::getOpForCompoundAssignment(B->getOpcode());
  } else if (auto *R = dyn_cast<BinaryOperator>(By->IgnoreParenImpCasts());
             R && variable(R->getLHS()) == V) {
    Op = R->getOpcode();
    By = R->getRHS();
  }
  Expr::EvalResult R;
  if (!V || By->isValueDependent() || !By->EvaluateAsInt(R, AC))
    return nullptr;
  int64_t C = R.Val.getInt().getExtValue();
  bool Shift = Op == BO_Shl || Op == BO_Shr;
  if (Shift && C > 0 && C < 31)
    C = int64_t(1) << C;
  if (C < 2)
    return nullptr;
  if (Op == BO_Mul || Op == BO_Shl)
    Factor = C;
  else if (Op == BO_Div || Op == BO_Shr)
    Factor = -C;
  else
    return nullptr;
  return V;
}

const VarDecl *numberedCounter(const ForStmt *F, const Locals &L, const ASTContext &AC) {
  const auto *Decl = dyn_cast_or_null<DeclStmt>(F->getInit());
  const auto *V = Decl && Decl->isSingleDecl() ? dyn_cast<VarDecl>(Decl->getSingleDecl()) : nullptr;
  const auto IsNumber = [&](const Expr *E) {
    return !E->isValueDependent() && E->isEvaluatable(AC, Expr::SE_NoSideEffects);
  };
  if (!V || !V->getType()->isIntegerType() || !V->getInit() || !IsNumber(V->getInit()) ||
      !F->getCond() || !F->getInc() || timesAssigned(F->getBody(), V, L) > 0)
    return nullptr;
  const auto IsCounted = [&](const auto &Self, const Expr *E) -> bool {
    if (const auto *R = dyn_cast<DeclRefExpr>(E); R && R->getDecl() == V)
      return true;
    if (!isa<ParenExpr, CastExpr, UnaryOperator, BinaryOperator>(E))
      return IsNumber(E);
    return llvm::all_of(E->children(),
                        [&](const clang::Stmt *S) { return Self(Self, cast<Expr>(S)); });
  };
  return IsCounted(IsCounted, F->getCond()) && IsCounted(IsCounted, F->getInc()) ? V : nullptr;
}

unsigned timesAssigned(const clang::Stmt *S, const VarDecl *V,
                       const Locals &L) {
  if (!S)
    return 0;
  unsigned N = 0;
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    N += rootVariable(B->getLHS()) == V;
  else if (auto *U = dyn_cast<UnaryOperator>(S);
           U && U->isIncrementDecrementOp())
    N += rootVariable(U->getSubExpr()) == V;
  for (const clang::Stmt *C : S->children())
    N += timesAssigned(C, V, L);
  return N;
}

bool hasBarrierCall(const clang::Stmt *S) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    bool Found = false;
    bool VisitCallExpr(const CallExpr *E) override {
      const FunctionDecl *F = E->getDirectCallee();
      Found |= F && F->getIdentifier() &&
               (F->getName() == "__syncthreads" || F->getName() == "sync");
      return !Found;
    }
  } V;
  V.TraverseStmt(S);
  return V.Found;
}

/// Does the body leave the loop, or skip the rest of it, other than at its end?
static bool leaves(const clang::Stmt *S, bool Nested, bool &Continue) {
  if (!S || isa<Expr>(S))
    return false;
  if (isa<ReturnStmt>(S) || isa<GotoStmt>(S) || (isa<BreakStmt>(S) && !Nested))
    return true;
  if (isa<ContinueStmt>(S) && !Nested)
    Continue = true;
  bool Inner = Nested || isa<ForStmt>(S) || isa<WhileStmt>(S) ||
               isa<DoStmt>(S) || isa<SwitchStmt>(S);
  bool R = false;
  for (const clang::Stmt *C : S->children())
    R |= leaves(C, Inner, Continue);
  return R;
}

bool leavesLoop(const clang::Stmt *S, bool &Continue) {
  return leaves(S, false, Continue);
}

bool leavesEarly(const clang::Stmt *S) {
  bool Continue = false;
  return leaves(S, false, Continue) || Continue;
}

} // namespace rcache
