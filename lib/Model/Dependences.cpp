// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What values depend on, whatever path was taken: dependences flow along
// assignments until nothing changes. Control counts when it stands between a
// variable's declaration and the assignment: a variable declared inside a
// divergent `if` is the same for all threads that have it.

#include "BuiltinVars.h"
#include "Conditions.h"
#include "Effects.h"
#include "Locals.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

unsigned Locals::depends(const Expr *E) const {
  if (!E)
    return 0;
  if (auto B = builtinVar(E))
    return builtinDepends(*B);
  if (auto *R = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V)
      return 0;
    if (int I = varIndex(V); I >= 0)
      return M.Vars[I].Depends;
    if (isSharedVar(V))
      return DepShared;
    if (V->hasAttr<CUDADeviceAttr>() && !V->getType().isConstQualified())
      return DepGlobal;
    return 0;
  }
  unsigned D = 0;
  if (auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    const Expr *B = A->getBase()->IgnoreParenImpCasts();
    if (!B->getType()->isArrayType())
      D |= DepGlobal;
  } else if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Deref)
      D |= DepGlobal;
  } else if (auto *Mem = dyn_cast<MemberExpr>(E)) {
    if (Mem->isArrow() && !isa<CXXThisExpr>(Mem->getBase()->IgnoreImpCasts()))
      D |= DepGlobal;
  } else if (auto *C = dyn_cast<CallExpr>(E)) {
    D |= callDepends(C);
  } else if (isa<LambdaExpr>(E)) {
    D |= 255;
  }
  for (const clang::Stmt *Child : E->children())
    if (auto *X = dyn_cast_or_null<Expr>(Child))
      D |= depends(X);
  return D;
}

void Locals::addDepends(const VarDecl *V, unsigned D, bool &Changed) {
  int I = varIndex(V);
  if (I < 0)
    return;
  if ((M.Vars[I].Depends | D) != M.Vars[I].Depends) {
    M.Vars[I].Depends |= D;
    Changed = true;
  }
}

/// Dependences of the conditions under which \p S is left early.
unsigned Locals::exitDepends(const clang::Stmt *S, unsigned Control) const {
  if (!S)
    return 0;
  if (isa<BreakStmt>(S) || isa<ContinueStmt>(S) || isa<ReturnStmt>(S) ||
      isa<GotoStmt>(S))
    return Control;
  if (isa<Expr>(S))
    return 0;
  if (auto *I = dyn_cast<IfStmt>(S); I && conditionOf(I))
    Control |= depends(conditionOf(I));
  if (auto *W = dyn_cast<clang::SwitchStmt>(S))
    Control |= depends(W->getCond());
  unsigned D = 0;
  for (const clang::Stmt *C : S->children())
    D |= exitDepends(C, Control);
  return D;
}

unsigned Locals::roundsDepend(const clang::Stmt *Loop) const {
  if (const auto *F = dyn_cast<ForStmt>(Loop))
    return depends(F->getCond()) | exitDepends(F->getBody(), 0);
  if (const auto *W = dyn_cast<WhileStmt>(Loop))
    return depends(W->getCond()) | exitDepends(W->getBody(), 0);
  const auto *W = cast<DoStmt>(Loop);
  return depends(W->getCond()) | exitDepends(W->getBody(), 0);
}

/// Control between the declaration of \p V and here.
unsigned Locals::controlOf(const VarDecl *V) const {
  unsigned D = 0;
  for (size_t I = DeclaredAt.lookup(V); I < Controls.size(); ++I)
    D |= Controls[I];
  return D;
}

/// The children of \p S, reached under a condition with bits \p Control.
void Locals::flowChildren(const clang::Stmt *S, unsigned Control,
                          bool &Changed) {
  if (Control)
    Controls.push_back(Control);
  for (const clang::Stmt *X : S->children())
    flowDepends(X, Changed);
  if (Control)
    Controls.pop_back();
}

/// What is behind an address may change, by a value that depends on \p D.
void Locals::flowToAddressTaken(unsigned D, bool &Changed) {
  for (auto &[V, I] : VarIndex)
    if (M.Vars[I].AddressTaken)
      addDepends(V, D | controlOf(V), Changed);
}

/// \p Lhs gets a value that depends on \p D.
void Locals::flowTo(const Expr *Lhs, unsigned D, bool &Changed) {
  const VarDecl *Root = rootVariable(Lhs);
  if (varIndex(Root) >= 0) {
    addDepends(Root, D | controlOf(Root), Changed);
    // `w[i] = v`: which element changes depends on i.
    if (!isa<DeclRefExpr>(Lhs->IgnoreParenImpCasts()))
      addDepends(Root, depends(Lhs), Changed);
    if (M.Vars[varIndex(Root)].IsReference)
      flowToAddressTaken(D | depends(Lhs), Changed);
  } else if (!Root) {
    flowToAddressTaken(D | depends(Lhs), Changed); // through a pointer
  }
}

/// What the call \p E is handed by address or reference may be set by the
/// callee.
void Locals::flowIntoCall(const Expr *E, bool &Changed) {
  unsigned D = depends(E);
  if (auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
      Op && (Op->isAssignmentOp() || Op->getOperator() == OO_PlusPlus ||
             Op->getOperator() == OO_MinusMinus))
    flowTo(Op->getArg(0), D, Changed);
  for (const clang::Stmt *X : E->children()) {
    const auto *A = dyn_cast_or_null<Expr>(X);
    if (!A)
      continue;
    const Expr *Bare = A->IgnoreParenImpCasts();
    if (auto *U = dyn_cast<UnaryOperator>(Bare);
        U && U->getOpcode() == UO_AddrOf)
      Bare = U->getSubExpr();
    const VarDecl *Root = rootVariable(Bare);
    if (int I = varIndex(Root); I >= 0 && M.Vars[I].AddressTaken)
      addDepends(Root, D | controlOf(Root), Changed);
  }
  if (auto *Mc = dyn_cast<CXXMemberCallExpr>(E))
    if (Mc->getMethodDecl() && !Mc->getMethodDecl()->isConst())
      flowTo(Mc->getImplicitObjectArgument(), D, Changed);
}

/// One pass over \p S.
void Locals::flowDepends(const clang::Stmt *S, bool &Changed) {
  if (!S)
    return;
  if (auto *D = dyn_cast<DeclStmt>(S)) {
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X)) {
        DeclaredAt[V] = Controls.size();
        if (!V->getInit())
          continue;
        flowDepends(V->getInit(), Changed);
        addDepends(V, depends(V->getInit()), Changed);
      }
    return;
  }
  if (auto *I = dyn_cast<IfStmt>(S); I && conditionOf(I))
    return flowChildren(S, depends(conditionOf(I)), Changed);
  if (auto *W = dyn_cast<SwitchStmt>(S))
    return flowChildren(S, depends(W->getCond()), Changed);
  if (auto *F = dyn_cast<ForStmt>(S)) {
    // Threads that have left the loop do not see what it declares; those that
    // skipped a part of a round do.
    unsigned Exits = exitDepends(F->getBody(), 0);
    Controls.push_back(roundsDepend(F));
    flowDepends(F->getInit(), Changed);
    flowDepends(F->getCond(), Changed);
    flowDepends(F->getInc(), Changed);
    Controls.push_back(Exits);
    flowDepends(F->getBody(), Changed);
    Controls.pop_back();
    Controls.pop_back();
    return;
  }
  if (isa<WhileStmt, DoStmt>(S))
    return flowChildren(S, roundsDepend(S), Changed);
  if (auto *C = dyn_cast<AbstractConditionalOperator>(S))
    return flowChildren(S, depends(C->getCond()), Changed);
  if (auto *B = dyn_cast<BinaryOperator>(S)) {
    if (B->isAssignmentOp())
      flowTo(B->getLHS(),
             depends(B->getRHS()) |
                 (B->isCompoundAssignmentOp() ? depends(B->getLHS()) : 0),
             Changed);
    return flowChildren(S, B->isLogicalOp() ? depends(B->getLHS()) : 0,
                        Changed);
  }
  if (auto *U = dyn_cast<UnaryOperator>(S)) {
    if (U->isIncrementDecrementOp())
      flowTo(U->getSubExpr(), depends(U->getSubExpr()), Changed);
    return flowChildren(S, 0, Changed);
  }
  if (isa<GCCAsmStmt>(S)) {
    for (auto &[V, I] : VarIndex)
      if (M.Vars[I].Assigned)
        addDepends(V, 255, Changed);
    return;
  }
  if (isa<CallExpr>(S) || isa<CXXConstructExpr>(S)) {
    flowIntoCall(cast<Expr>(S), Changed);
    return flowChildren(S, 0, Changed);
  }
  flowChildren(S, 0, Changed);
}

//===----------------------------------------------------------------------===//
// Repeatable declarations
//===----------------------------------------------------------------------===//

bool Locals::isRepeatable(const clang::Stmt *S) const {
  if (!S)
    return true;
  if (auto *E = dyn_cast<Expr>(S))
    if (builtinVar(E))
      return true;
  if (auto *R = dyn_cast<DeclRefExpr>(S)) {
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V)
      return isa<FunctionDecl>(R->getDecl()) ||
             isa<EnumConstantDecl>(R->getDecl()) ||
             isa<NonTypeTemplateParmDecl>(R->getDecl());
    if (int I = varIndex(V); I >= 0) {
      const Var &X = M.Vars[I];
      return !X.Assigned && !X.AddressTaken && (X.IsParam || X.Repeatable);
    }
    return !isSharedVar(V) &&
           (V->getType().isConstQualified() || V->hasAttr<CUDAConstantAttr>());
  }
  if (auto *U = dyn_cast<UnaryOperator>(S);
      U && (U->isIncrementDecrementOp() || U->getOpcode() == UO_Deref))
    return false;
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    return false;
  if (auto *A = dyn_cast<ArraySubscriptExpr>(S))
    if (!A->getBase()->IgnoreParenImpCasts()->getType()->isArrayType())
      return false;
  if (auto *Mem = dyn_cast<MemberExpr>(S); Mem && Mem->isArrow())
    return false;
  if (auto *C = dyn_cast<CallExpr>(S)) {
    const FunctionDecl *F = C->getDirectCallee();
    if (!F)
      return false;
    const CallKind Kind = classifyCall(F, C).Kind;
    if (Kind != CallKind::BlockGroup &&
        (Kind != CallKind::Harmless || !isPure(F)))
      return false;
  }
  if (isa<LambdaExpr>(S) || isa<CXXNewExpr>(S) || isa<AsmStmt>(S) ||
      isa<StmtExpr>(S))
    return false;
  for (const clang::Stmt *C : S->children())
    if (!isRepeatable(C))
      return false;
  return true;
}

void Locals::findRepeatable(const FunctionDecl *FD) {
  // Declarations precede uses, so one pass in declaration order is enough.
  std::vector<const VarDecl *> Order(M.Vars.size());
  for (auto &[V, I] : VarIndex)
    Order[I] = V;
  for (unsigned I = 0; I < Order.size(); ++I) {
    Var &X = M.Vars[I];
    const VarDecl *V = Order[I];
    if (X.IsParam || X.Assigned || X.AddressTaken || X.IsReference ||
        !X.ArrayExtents.empty() || !V->getInit() || V->isStaticLocal())
      continue;
    X.Repeatable = isRepeatable(V->getInit());
  }
}

} // namespace rcache
