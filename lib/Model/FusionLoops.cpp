// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of two products a sum is fused with hangs on how often each is used
// (Fusion.cpp), and that on how far the compiler unrolls the loops around it:
//
//     for (j ...) for (i ...)
//       g = expf(-(i * i + j * j) * a - d * d * b);   // d: from memory
//
// Unrolled along i, rounds 1 and -1 have one product of `a` in common and fuse
// the other; round 0 fuses its own. Unrolled along j as well, as a window in
// registers asks for, all rounds share theirs. What the original's compiler
// does is not written anywhere, so such a sum is found here: one with two
// products, in a loop that may be unrolled, of which one may be the same in two
// rounds.

#include "FusionLoops.h"
#include "Locals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace clang;

namespace rcache {
namespace {

bool isBarrierCall(const CallExpr *C) {
  auto *D = dyn_cast_or_null<NamedDecl>(C->getCalleeDecl());
  return D && D->getIdentifier() &&
         (D->getName().starts_with("__sync") || D->getName() == "sync");
}

class HasBarrier : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;
  bool VisitCallExpr(const CallExpr *C) override {
    Found |= isBarrierCall(C);
    return !Found;
  }
};

/// `#pragma unroll`, without a number.
bool isUnrolledWhole(const AttributedStmt *S) {
  for (const Attr *A : S->getAttrs())
    if (auto *L = dyn_cast<LoopHintAttr>(A))
      if (L->getOption() == LoopHintAttr::Unroll &&
          (L->getState() == LoopHintAttr::Enable ||
           L->getState() == LoopHintAttr::Full))
        return true;
  return false;
}

/// Are two places of one array read in a loop? What one round reads at `s[i]`
/// another may read at `s[i + 1]`, and have products in common with it.
class Reads : public ConstDynamicRecursiveASTVisitor {
public:
  bool TwoPlaces = false;
  explicit Reads(const ASTContext &AC) : AC(AC) {}

  bool TraverseArraySubscriptExpr(const ArraySubscriptExpr *E) override {
    const Expr *Base = E;
    while (auto *A = dyn_cast<ArraySubscriptExpr>(Base->IgnoreParenImpCasts()))
      Base = A->getBase();
    auto *D = dyn_cast<DeclRefExpr>(Base->IgnoreParenImpCasts());
    auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
    // Pointers that the kernel makes may lead to one array.
    if (V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
        V->getType()->isPointerType())
      V = nullptr;
    llvm::FoldingSetNodeID Place;
    E->Profile(Place, AC, /*Canonical=*/true);
    auto [It, New] = Places.try_emplace(V, Place);
    TwoPlaces |= !New && It->second != Place;
    // Indices are another matter, bases are counted.
    return true;
  }

private:
  const ASTContext &AC;
  std::map<const VarDecl *, llvm::FoldingSetNodeID> Places;
};

class Finder : public ConstDynamicRecursiveASTVisitor {
public:
  using Loops = llvm::SmallVector<const clang::Stmt *, 4>;
  struct Assignment {
    const VarDecl *To;
    const Expr *Value; ///< null: unknown, from memory as far as we can tell
    Loops In;
    bool Carried; ///< the old value goes into the new one
  };

  /// What is known of a called function's parameters: the arguments, as the
  /// caller sees them.
  Finder *Caller = nullptr;
  llvm::DenseMap<const VarDecl *, const Expr *> Arguments;
  Loops Around;    ///< all loops, outermost first, callers' included
  Loops Unsettled; ///< those among them that may be unrolled or not
  bool Checking = false;
  const BinaryOperator *Found = nullptr;
  SmallVector<const FunctionDecl *, 4> Calls;

  explicit Finder(const ASTContext &AC) : AC(AC) {}

  void look(const clang::Stmt *Body) {
    TraverseStmt(Body);
    Checking = true;
    TraverseStmt(Body);
  }

  bool TraverseAttributedStmt(const AttributedStmt *S) override {
    if (isUnrolledWhole(S))
      Whole.insert(S->getSubStmt());
    return ConstDynamicRecursiveASTVisitor::TraverseAttributedStmt(S);
  }
  bool TraverseForStmt(const ForStmt *S) override {
    return inLoop(
        S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseForStmt(S); });
  }
  bool TraverseWhileStmt(const WhileStmt *S) override {
    return inLoop(S, [&] {
      return ConstDynamicRecursiveASTVisitor::TraverseWhileStmt(S);
    });
  }
  bool TraverseDoStmt(const DoStmt *S) override {
    return inLoop(
        S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseDoStmt(S); });
  }

  bool VisitVarDecl(const VarDecl *V) override {
    if (!Checking && V->hasLocalStorage() && V->getInit())
      Assigned.push_back({V, V->getInit(), Around, false});
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      if (const VarDecl *V = rootVariable(U->getSubExpr()); V && !Checking)
        Assigned.push_back({V, nullptr, Around, U->isIncrementDecrementOp()});
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp() && !Checking)
      if (const VarDecl *V = rootVariable(B->getLHS()))
        Assigned.push_back(
            {V, B->getRHS(), Around, B->isCompoundAssignmentOp()});
    if (Checking && !Found && !Unsettled.empty() && isSumOfProducts(B)) {
      Reads R(AC);
      R.TraverseStmt(Unsettled.front());
      if (R.TwoPlaces)
        Found = B;
      for (const clang::Stmt *L : Unsettled)
        if (!differs(B->getLHS(), L) || !differs(B->getRHS(), L)) {
          Found = B;
          break;
        }
    }
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    const FunctionDecl *Body = nullptr;
    for (unsigned I = 0;
         F && !Checking && I < F->getNumParams() && I < C->getNumArgs(); ++I)
      if (F->getParamDecl(I)->getType()->isReferenceType())
        if (const VarDecl *V = rootVariable(C->getArg(I)))
          Assigned.push_back({V, nullptr, Around, false});
    if (!F || !F->hasBody(Body) || F->getBuiltinID() || Unsettled.empty() ||
        !Checking || Found || Calls.size() > 3 ||
        llvm::is_contained(Calls, Body))
      return true;
    Finder Inside(AC);
    Inside.Caller = this;
    Inside.Around = Around;
    Inside.Unsettled = Unsettled;
    Inside.Calls = Calls;
    Inside.Calls.push_back(Body);
    for (unsigned I = 0; I < Body->getNumParams() && I < C->getNumArgs(); ++I)
      Inside.Arguments[Body->getParamDecl(I)] = C->getArg(I);
    Inside.look(Body->getBody());
    if (Inside.Found)
      Found = Inside.Found;
    return true;
  }

private:
  const ASTContext &AC;
  llvm::SmallPtrSet<const clang::Stmt *, 4> Whole;
  std::vector<Assignment> Assigned;
  llvm::SmallSetVector<std::pair<const VarDecl *, const clang::Stmt *>, 8>
      Asking;

  bool inLoop(const clang::Stmt *S, llvm::function_ref<bool()> Traverse) {
    HasBarrier B;
    B.TraverseStmt(S);
    const bool MayUnroll = !B.Found && !Whole.count(S);
    Around.push_back(S);
    if (MayUnroll)
      Unsettled.push_back(S);
    const bool Go = Traverse();
    Around.pop_back();
    if (MayUnroll)
      Unsettled.pop_back();
    return Go;
  }

  static bool isReal(QualType T) {
    return T.getCanonicalType()->isFloatingType();
  }

  bool isSumOfProducts(const BinaryOperator *B) {
    if (!isReal(B->getType()))
      return false;
    switch (B->getOpcode()) {
    case BO_Add:
    case BO_Sub:
    case BO_AddAssign:
    case BO_SubAssign:
      return mayBeProduct(B->getLHS(), 0) && mayBeProduct(B->getRHS(), 0);
    default:
      return false;
    }
  }

  bool mayBeProduct(const Expr *E, unsigned Depth) {
    E = E->IgnoreParenImpCasts();
    if (Depth > 8 || !isReal(E->getType()))
      return false;
    if (auto *U = dyn_cast<UnaryOperator>(E))
      return (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus) &&
             mayBeProduct(U->getSubExpr(), Depth + 1);
    if (auto *B = dyn_cast<BinaryOperator>(E))
      return B->getOpcode() == BO_Mul;
    if (auto *C = dyn_cast<ConditionalOperator>(E))
      return mayBeProduct(C->getTrueExpr(), Depth + 1) ||
             mayBeProduct(C->getFalseExpr(), Depth + 1);
    const VarDecl *V = rootVariable(E);
    return V && llvm::any_of(Assigned, [&](const Assignment &A) {
             return A.To == V && A.Value && !A.Carried &&
                    mayBeProduct(A.Value, Depth + 1);
           });
  }

  /// Is \p V set in a round of \p Loop?
  bool changes(const VarDecl *V, const clang::Stmt *Loop) const {
    for (const Assignment &A : Assigned)
      if (A.To == V && llvm::is_contained(A.In, Loop))
        return true;
    auto It = Arguments.find(V);
    return It != Arguments.end() && Caller &&
           Caller->mentions(It->second, Loop);
  }

  /// Does \p E name something that rounds of \p Loop change?
  bool mentions(const clang::Stmt *E, const clang::Stmt *Loop) const {
    if (!E)
      return false;
    if (auto *D = dyn_cast<DeclRefExpr>(E))
      if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
        return changes(V, Loop);
    return llvm::any_of(
        E->children(), [&](const clang::Stmt *C) { return mentions(C, Loop); });
  }

  /// Do two rounds of \p Loop compute \p E from different elements of memory,
  /// so that no compiler takes the results for one?
  bool differs(const clang::Stmt *E, const clang::Stmt *Loop) {
    if (!E)
      return false;
    if (auto *D = dyn_cast<DeclRefExpr>(E)) {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      return V && varDiffers(V, Loop);
    }
    if (isa<ArraySubscriptExpr>(E) ||
        (isa<MemberExpr>(E) && cast<MemberExpr>(E)->isArrow()) ||
        (isa<UnaryOperator>(E) &&
         cast<UnaryOperator>(E)->getOpcode() == UO_Deref)) {
      const VarDecl *V = rootVariable(cast<Expr>(E));
      const bool Private = V && V->hasLocalStorage() &&
                           !V->getType()->isPointerType() &&
                           !V->getType()->isReferenceType();
      return Private ? varDiffers(V, Loop) : mentions(E, Loop);
    }
    return llvm::any_of(E->children(),
                        [&](const clang::Stmt *C) { return differs(C, Loop); });
  }

  bool varDiffers(const VarDecl *V, const clang::Stmt *Loop) {
    if (auto It = Arguments.find(V); It != Arguments.end())
      if (Caller && Caller->differs(It->second, Loop))
        return true;
    if (!Asking.insert({V, Loop}))
      return false;
    bool Yes = false;
    for (const Assignment &A : Assigned)
      if (A.To == V && llvm::is_contained(A.In, Loop))
        // Counters rise alike in all rounds of a loop around.
        Yes |= A.Value ? differs(A.Value, Loop) : !A.Carried;
    Asking.remove({V, Loop});
    return Yes;
  }
};

} // namespace

const BinaryOperator *fusedByUnrolling(const FunctionDecl *FD) {
  Finder F(FD->getASTContext());
  F.look(FD->getBody());
  return F.Found;
}

} // namespace rcache
