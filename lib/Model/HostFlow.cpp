// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostFlow.h.

#include "HostFlow.h"
#include "Conditions.h"
#include "HostLocals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace rcache {

namespace {

/// `v`, `v.x`: the variable, and which of its components.
struct Place {
  const VarDecl *V = nullptr;
  int Field = -1;
};

Place placeOf(const Expr *E) {
  Place P;
  E = E->IgnoreParenImpCasts();
  if (auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow()) {
    auto *F = dyn_cast<FieldDecl>(M->getMemberDecl());
    if (!F)
      return P;
    P.Field = static_cast<int>(F->getFieldIndex());
    E = M->getBase()->IgnoreParenImpCasts();
  }
  if (auto *R = dyn_cast<DeclRefExpr>(E))
    P.V = dyn_cast<VarDecl>(R->getDecl());
  return P;
}

/// Is the variable, or its component, set anywhere in what is visited? Handed
/// out to be kept, or set in a lambda: at any time.
struct Sets : ConstDynamicRecursiveASTVisitor {
  const VarDecl *V;
  int Field;
  bool Now = false, AnyTime = false;
  unsigned Lambdas = 0;

  Sets(const VarDecl *V, int Field) : V(V), Field(Field) {}

  bool is(const Expr *E) const {
    const Place P = placeOf(E);
    return P.V && P.V->getCanonicalDecl() == V->getCanonicalDecl() &&
           (P.Field < 0 || Field < 0 || P.Field == Field);
  }
  void set() {
    Now = true;
    AnyTime |= Lambdas > 0;
  }
  bool TraverseLambdaExpr(const LambdaExpr *L) override {
    ++Lambdas;
    const bool R = ConstDynamicRecursiveASTVisitor::TraverseLambdaExpr(L);
    --Lambdas;
    return R;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp() && is(B->getLHS()))
      set();
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() && is(U->getSubExpr()))
      set();
    else if (U->getOpcode() == UO_AddrOf && is(U->getSubExpr()) &&
             !Handed.count(U))
      Now = AnyTime = true;
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    if (auto *Op = dyn_cast<CXXOperatorCallExpr>(C);
        Op && Op->isAssignmentOp() && is(Op->getArg(0)))
      set();
    QualType Callee = C->getCallee()->getType();
    if (const FunctionDecl *F = C->getDirectCallee())
      Callee = F->getType();
    else if (Callee->isAnyPointerType() || Callee->isReferenceType())
      Callee = Callee->getPointeeType();
    auto *Type = Callee->getAs<FunctionProtoType>();
    const unsigned First = objectArguments(C);
    for (unsigned I = First; Type && I < C->getNumArgs(); ++I) {
      if (I - First < Type->getNumParams())
        passed(C->getArg(I), Type->getParamType(I - First));
      // `f(&v)`: set by the call, as a rule.
      auto *U = dyn_cast<UnaryOperator>(C->getArg(I)->IgnoreParenCasts());
      if (U && U->getOpcode() == UO_AddrOf && is(U->getSubExpr())) {
        Handed.insert(U);
        set();
      }
    }
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *C) override {
    const CXXConstructorDecl *D = C->getConstructor();
    for (unsigned I = 0; I < C->getNumArgs() && I < D->getNumParams(); ++I)
      passed(C->getArg(I), D->getParamDecl(I)->getType());
    return true;
  }
  void passed(const Expr *A, QualType To) {
    if (To->isReferenceType() && !To->getPointeeType().isConstQualified() &&
        is(A))
      set();
  }
  bool VisitVarDecl(const VarDecl *D) override {
    if (D == V)
      set();
    if (D->getInit() && D->getType()->isReferenceType() &&
        !D->getType()->getPointeeType().isConstQualified() && is(D->getInit()))
      Now = AnyTime = true;
    return true;
  }
  bool VisitLabelStmt(const LabelStmt *) override {
    AnyTime = true;
    return true;
  }

private:
  llvm::SmallPtrSet<const UnaryOperator *, 4> Handed;
};

bool setsIn(const clang::Stmt *S, const VarDecl *V, int Field) {
  Sets F(V, Field);
  F.TraverseStmt(const_cast<clang::Stmt *>(S));
  return F.Now;
}

/// Is a variable the same integer after both?
bool sameConstant(const HostSet &A, const HostSet &B, const ASTContext &AC) {
  auto Value = [&](const HostSet &S) -> std::optional<llvm::APSInt> {
    if ((S.K != HostSet::Whole && S.K != HostSet::Component) || !S.E ||
        S.E->isValueDependent() ||
        !S.E->getType()->isIntegralOrEnumerationType())
      return std::nullopt;
    return S.E->getIntegerConstantExpr(AC);
  };
  const auto X = Value(A), Y = Value(B);
  return A.K == B.K && X && Y && llvm::APSInt::isSameValue(*X, *Y);
}

/// Follows statements backwards.
struct Back {
  const VarDecl *V;
  int Field;
  HostFlow::Truth Holds;

  bool sets(const clang::Stmt *S) const { return S && setsIn(S, V, Field); }

  /// What \p S, executed to its end, sets it to; nullopt: it does not.
  std::optional<HostSet> by(const clang::Stmt *S) const {
    if (!sets(S))
      return std::nullopt;
    if (auto *F = dyn_cast<FullExpr>(S))
      S = F->getSubExpr();
    if (auto *E = dyn_cast<Expr>(S))
      S = E->IgnoreParens();
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (auto I = D->decl_end(); I != D->decl_begin();) {
        auto *X = dyn_cast<VarDecl>(*--I);
        if (X == V)
          return HostSet{HostSet::Whole, X->getInit(), BO_Add, nullptr};
        if (X && sets(X->getInit()))
          return HostSet();
      }
      return HostSet();
    }
    if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp()) {
      const Place P = placeOf(B->getLHS());
      if (!P.V || P.V != V || sets(B->getRHS()) ||
          (Field >= 0) != (P.Field >= 0))
        return HostSet();
      if (B->getOpcode() == BO_Assign)
        return HostSet{HostSet::Component, B->getRHS(), BO_Add, nullptr};
      return HostSet{HostSet::Changed, B->getRHS(),
                     BinaryOperator::getOpForCompoundAssignment(B->getOpcode()),
                     S};
    }
    if (auto *U = dyn_cast<UnaryOperator>(S);
        U && U->isIncrementDecrementOp()) {
      const Place P = placeOf(U->getSubExpr());
      if (!P.V || P.V != V || (Field >= 0) != (P.Field >= 0))
        return HostSet();
      return HostSet{HostSet::Changed, nullptr,
                     U->isIncrementOp() ? BO_Add : BO_Sub, S};
    }
    if (auto *C = dyn_cast<CXXOperatorCallExpr>(S);
        C && C->getOperator() == OO_Equal && C->getNumArgs() == 2) {
      const Place P = placeOf(C->getArg(0));
      if (P.V == V && P.Field < 0 && !sets(C->getArg(1)))
        return HostSet{HostSet::Whole, C->getArg(1), BO_Add, nullptr};
      return HostSet();
    }
    if (auto *C = dyn_cast<CompoundStmt>(S)) {
      for (auto I = C->body_rbegin(); I != C->body_rend(); ++I)
        if (auto R = by(*I))
          return R;
      return HostSet();
    }
    if (auto *I = dyn_cast<IfStmt>(S);
        I && plainCondition(I) && !sets(plainCondition(I))) {
      const auto Is = Holds(plainCondition(I));
      if (!Is) {
        const auto Then = by(I->getThen()), Else = by(I->getElse());
        return Then && Else && sameConstant(*Then, *Else, V->getASTContext()) ? *Then : HostSet();
      }
      return by(*Is ? I->getThen() : I->getElse());
    }
    return HostSet();
  }
};

} // namespace

bool setInFile(const VarDecl *V, const ASTContext &AC) {
  const SourceManager &SM = AC.getSourceManager();
  Sets Anywhere(V, -1);
  for (const Decl *D : AC.getTranslationUnitDecl()->decls())
    if (SM.getFileID(SM.getExpansionLoc(D->getLocation())) ==
            SM.getMainFileID() &&
        D->getCanonicalDecl() != V->getCanonicalDecl())
      Anywhere.TraverseDecl(const_cast<Decl *>(D));
  return Anywhere.Now;
}

std::vector<const Expr *> valuesOf(const VarDecl *V) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const VarDecl *V;
    std::vector<const Expr *> Found;
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      if (const Place P = placeOf(B->getLHS());
          B->getOpcode() == BO_Assign && P.V == V && P.Field < 0)
        Found.push_back(B->getRHS());
      return true;
    }
  } F;
  F.V = V;
  if (V->getInit() && !isa<ParmVarDecl>(V))
    F.Found.push_back(V->getInit());
  const FunctionDecl *Def = nullptr;
  if (auto *Fn = dyn_cast_or_null<FunctionDecl>(V->getParentFunctionOrMethod());
      Fn && Fn->hasBody(Def))
    F.TraverseStmt(const_cast<clang::Stmt *>(Def->getBody()));
  return F.Found;
}

const HostFlow::Parents &HostFlow::parents(const FunctionDecl *F) const {
  auto [It, New] = Known.try_emplace(F);
  if (!New)
    return It->second;
  Parents Map;
  llvm::SmallVector<const clang::Stmt *, 32> Work{F->getBody()};
  while (!Work.empty()) {
    const clang::Stmt *S = Work.pop_back_val();
    for (const clang::Stmt *C : S->children())
      if (C && Map.try_emplace(C, S).second)
        Work.push_back(C);
  }
  return It->second = std::move(Map);
}

/// What the statements in front of \p S in its block leave; nullopt: nothing.
/// \p Cases: they are a switch's.
static std::optional<HostSet> before(const clang::Stmt *S,
                                     const CompoundStmt *C, bool Cases,
                                     const Back &Of) {
  bool Seen = false;
  for (auto I = C->body_rbegin(); I != C->body_rend(); ++I) {
    if (*I == S) {
      Seen = true;
      if (Cases && isa<SwitchCase>(S))
        return std::nullopt;
      continue;
    }
    if (!Seen)
      continue;
    const clang::Stmt *X = *I;
    while (auto *Label = dyn_cast<SwitchCase>(X))
      X = Label->getSubStmt();
    if (auto R = Of.by(X))
      return R;
    if (X != *I)
      return std::nullopt; // what stands before may have been jumped over
  }
  return std::nullopt;
}

/// The same for the declarators in front of the one that holds \p S.
static std::optional<HostSet> before(const clang::Stmt *S, const DeclStmt *D,
                                     const VarDecl *V, const Back &Of) {
  std::optional<HostSet> Last;
  for (const Decl *X : D->decls()) {
    auto *Y = dyn_cast<VarDecl>(X);
    if (!Y || Y->getInit() == S)
      break;
    if (Y == V)
      Last = HostSet{HostSet::Whole, Y->getInit(), BO_Add, nullptr};
    else if (Of.sets(Y->getInit()))
      Last = HostSet();
  }
  return Last;
}

/// What \p P, with the statement \p S in it, leaves in front of \p S; nullopt:
/// nothing. \p InSwitch: P is a switch's block.
static std::optional<HostSet> within(const clang::Stmt *P, const clang::Stmt *S,
                                     bool InSwitch, const VarDecl *V,
                                     const FunctionDecl *Def, const Back &Of) {
  if (auto *C = dyn_cast<CompoundStmt>(P))
    return before(S, C, InSwitch, Of);
  if (auto *D = dyn_cast<DeclStmt>(P))
    return before(S, D, V, Of);
  if (auto *L = dyn_cast<ForStmt>(P)) {
    if (Of.sets(L->getCond()) || Of.sets(L->getInc()) || Of.sets(L->getBody()))
      return HostSet();
    return S != L->getInit() ? Of.by(L->getInit()) : std::nullopt;
  }
  if (auto *I = dyn_cast<IfStmt>(P)) {
    if (const Expr *C = conditionOf(I); C && S != C && Of.sets(C))
      return HostSet();
    return S != I->getInit() && I->getInit() ? Of.by(I->getInit())
                                             : std::nullopt;
  }
  if (isa<Expr>(P)) {
    // Other operands of the same expression, in whatever order.
    for (const clang::Stmt *C : P->children())
      if (C && C != S && Of.sets(C))
        return HostSet();
    // Called at any time: only what is set once, where it is declared.
    if (isa<LambdaExpr>(P) && Of.sets(Def->getBody()) &&
        !isa<ParmVarDecl>(V) && everModified(V))
      return HostSet();
    return std::nullopt;
  }
  if (isa<ReturnStmt>(P) || isa<SwitchCase>(P) || isa<AttributedStmt>(P))
    return std::nullopt;
  // A loop, a switch, or something unknown.
  return Of.sets(P) ? std::optional(HostSet()) : std::nullopt;
}

HostSet HostFlow::at(const clang::Stmt *Use, const VarDecl *V, int Field,
                     Truth Holds) const {
  auto *F = dyn_cast_or_null<FunctionDecl>(V->getParentFunctionOrMethod());
  if (!F || !F->hasBody() || F->isDependentContext() ||
      V->getType()->isReferenceType() || V->isStaticLocal())
    return {};
  const FunctionDecl *Def = nullptr;
  if (!F->hasBody(Def))
    return {};
  Sets Everywhere(V, -1);
  Everywhere.TraverseStmt(const_cast<clang::Stmt *>(Def->getBody()));
  if (Everywhere.AnyTime)
    return {};
  const Parents &Up = parents(Def);
  const Back Of{V, Field, Holds};
  const clang::Stmt *S = Use;
  while (S != Def->getBody()) {
    auto It = Up.find(S);
    if (It == Up.end())
      return {};
    const clang::Stmt *P = It->second;
    auto Grand = Up.find(P);
    const bool InSwitch =
        Grand != Up.end() && isa<clang::SwitchStmt>(Grand->second);
    if (auto R = within(P, S, InSwitch, V, Def, Of))
      return *R;
    S = P;
  }
  HostSet R;
  if (isa<ParmVarDecl>(V))
    R.K = HostSet::Argument;
  return R;
}

} // namespace rcache
