// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variables may hold the address of which others.

#include "Locals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include <map>
#include <set>

using namespace clang;

namespace rcache {

namespace {

/// Which variables may hold addresses of which others.
class AddressFlow {
public:
  AddressFlow(const Locals &L) : L(L) {}
  std::map<int, std::set<int>> Held; ///< variable -> whose address it may hold
  std::set<int> Kept;                ///< held somewhere else
  std::set<int> Numbers;             ///< whose address becomes a number
  bool Changed = false;

  void walk(const clang::Stmt *S) {
    if (!S)
      return;
    if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls())
        if (auto *V = dyn_cast<VarDecl>(X); V && V->getInit())
          holds(V, V->getType(), V->getInit());
    } else if (auto *B = dyn_cast<BinaryOperator>(S);
               B && B->isAssignmentOp()) {
      assigned(B->getLHS(), B->getRHS());
    } else if (auto *Op = dyn_cast<CXXOperatorCallExpr>(S);
               Op && Op->isAssignmentOp() && Op->getNumArgs() == 2) {
      assigned(Op->getArg(0), Op->getArg(1));
    } else if (auto *C = dyn_cast<CallExpr>(S)) {
      // What a function gets by address it may put into another argument.
      std::set<int> Of;
      for (const Expr *A : C->arguments())
        if (canHold(A->getType()) || A->isGLValue())
          taken(A, A->isGLValue() && !A->getType()->isRecordType(), Of);
      if (auto *Mc = dyn_cast<CXXMemberCallExpr>(C);
          Mc && !Of.empty() && Mc->getMethodDecl() &&
          !Mc->getMethodDecl()->isConst())
        into(Mc->getImplicitObjectArgument(), Of);
      for (const Expr *A : C->arguments())
        if (!Of.empty() && A->isGLValue() && canHold(A->getType()) &&
            !A->getType().isConstQualified())
          into(A, Of);
    }
    if (auto *C = dyn_cast<CastExpr>(S); C && C->getCastKind() == CK_PointerToIntegral)
      taken(C->getSubExpr(), false, Numbers);
    for (const clang::Stmt *X : S->children())
      walk(X);
  }

private:
  const Locals &L;

  static bool canHold(QualType T) {
    T = T.getNonReferenceType();
    while (T->isArrayType())
      T = QualType(T->getArrayElementTypeNoTypeQual(), 0);
    if (T->isPointerType())
      return true;
    const CXXRecordDecl *R = T->getAsCXXRecordDecl();
    R = R ? R->getDefinition() : nullptr;
    if (!R)
      return false;
    return llvm::any_of(R->fields(),
                        [](const FieldDecl *F) {
                          return F->getType()->isReferenceType() ||
                                 canHold(F->getType());
                        }) ||
           llvm::any_of(R->bases(), [](const CXXBaseSpecifier &B) {
             return canHold(B.getType());
           });
  }

  /// The variables whose addresses are in the value of \p S (\p Place: whose
  /// own place it is).
  void taken(const clang::Stmt *S, bool Place, std::set<int> &Of) {
    if (!S)
      return;
    auto Add = [&](const Places &P) {
      for (const VarDecl *V : P.Vars)
        if (int I = L.varIndex(V); I >= 0)
          Of.insert(I);
    };
    if (auto *E = dyn_cast<Expr>(S); E && Place)
      Add(placesOf(E, false));
    if (auto *U = dyn_cast<UnaryOperator>(S)) {
      if (U->getOpcode() == UO_AddrOf)
        Add(placesOf(U->getSubExpr(), false));
      if (U->getOpcode() == UO_Deref && !placesOf(U->getSubExpr(), true).Memory)
        return; // `*&x`: back again
    }
    if (auto *C = dyn_cast<ImplicitCastExpr>(S);
        C && C->getCastKind() == CK_ArrayToPointerDecay)
      Add(placesOf(C->getSubExpr(), false));
    if (auto *A = dyn_cast<ArraySubscriptExpr>(S);
        A && !placesOf(A->getBase(), true).Memory)
      return taken(A->getIdx(), false, Of);
    if (auto *R = dyn_cast<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
        if (int I = L.varIndex(V); I >= 0)
          if (auto It = Held.find(I); It != Held.end())
            Of.insert(It->second.begin(), It->second.end());
    for (const clang::Stmt *X : S->children())
      taken(X, false, Of);
  }

  void holds(const VarDecl *V, QualType T, const Expr *Init) {
    if (!T->isReferenceType() && !canHold(T))
      return;
    std::set<int> Of;
    taken(Init, T->isReferenceType(), Of);
    if (!V->isImplicit()) // of a range-based for
      add(L.varIndex(V), Of);
  }
  void assigned(const Expr *Lhs, const Expr *Rhs) {
    if (!canHold(Lhs->getType()))
      return;
    std::set<int> Of;
    taken(Rhs, false, Of);
    into(Lhs, Of);
  }
  void into(const Expr *Lhs, const std::set<int> &Of) {
    if (Of.empty())
      return;
    const Places P = placesOf(Lhs, false);
    for (const VarDecl *V : P.Vars)
      add(L.varIndex(V), Of);
    if (P.Memory)
      for (int X : Of)
        Changed |= Kept.insert(X).second;
  }
  void add(int Holder, const std::set<int> &Of) {
    for (int X : Of)
      if (Holder < 0)
        Changed |= Kept.insert(X).second;
      else if (X != Holder)
        Changed |= Held[Holder].insert(X).second;
  }
};

/// Is \p T a class, or an array of such, and no closure?
bool holdsInMembers(QualType T) {
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  return R && !R->isLambda();
}

} // namespace

/// Fills Var::Holders.
void Locals::findHolders(const FunctionDecl *FD) {
  if (llvm::none_of(M.Vars, [](const Var &V) { return V.AddressTaken; }))
    return;
  AddressFlow F(*this);
  do {
    F.Changed = false;
    F.walk(FD->getBody());
  } while (F.Changed);
  for (auto &[Holder, Of] : F.Held)
    for (int X : Of) {
      std::vector<unsigned> &H = M.Vars[X].Holders;
      if (H.empty())
        H.push_back(static_cast<unsigned>(X));
      H.push_back(static_cast<unsigned>(Holder));
    }
  // Members are not told apart, nor what their functions do with them.
  std::set<int> InMembers;
  for (const auto &[V, I] : VarIndex)
    if (holdsInMembers(V->getType()))
      InMembers.insert(int(I));
  for (auto &[Holder, Of] : F.Held)
    for (int X : Of)
      if (InMembers.count(Holder))
        M.Declines.push_back({DeclineCode::UnsupportedStatement,
                              "the address of '" + M.Vars[X].Name + "' is kept in '" +
                                  M.Vars[Holder].Name + "'",
                              M.Pos});
  for (int X : F.Numbers)
    M.Declines.push_back({DeclineCode::UnsupportedStatement,
                          "the address of '" + M.Vars[X].Name + "' becomes a number", M.Pos});
  for (int X : F.Kept)
    M.Declines.push_back(
        {DeclineCode::UnsupportedStatement,
         "the address of '" + M.Vars[X].Name + "' is kept in memory", M.Pos});
}

} // namespace rcache
