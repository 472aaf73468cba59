// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Walkers.h. From "all walk" on, variables that are set apart are taken out
// until nothing changes.

#include "Walkers.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"

using namespace clang;

namespace rcache {
namespace {

constexpr unsigned ByLane = DepThread | DepShared;

/// A variable that is set, to what, and whether lanes decide that by an `if`.
struct Setting {
  const VarDecl *V;
  const Expr *To;
  bool Chosen;
};

class Settings : public ConstDynamicRecursiveASTVisitor {
public:
  explicit Settings(const Locals &L) : L(L) {}
  std::vector<Setting> All;

  bool TraverseIfStmt(const IfStmt *S) override {
    const bool ByLanes = S->getCond() && (L.depends(S->getCond()) & ByLane);
    Chosen += ByLanes;
    const bool Go = ConstDynamicRecursiveASTVisitor::TraverseIfStmt(S);
    Chosen -= ByLanes;
    return Go;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getInit() && V->isLocalVarDecl())
      set(V, V->getInit());
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *E) override {
    if (E->isAssignmentOp())
      if (const VarDecl *V = rootVariable(E->getLHS()))
        set(V, E->getRHS(), E->isCompoundAssignmentOp());
    return true;
  }

private:
  const Locals &L;
  unsigned Chosen = 0;

  void set(const VarDecl *V, const Expr *To, bool Moves = false) {
    All.push_back({V, To, Chosen > 0 && !Moves});
  }
};

/// Does \p E mention a variable of \p Apart, or anything that differs by itself
/// between lanes (threadIdx, an element of their own)?
class Differences : public ConstDynamicRecursiveASTVisitor {
public:
  Differences(const Locals &L, const llvm::SmallPtrSetImpl<const VarDecl *> &Apart)
      : L(L), Apart(Apart) {}
  bool Found = false;

  bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
    Found |= (L.depends(E) & ByLane) != 0;
    return true;
  }
  // What lanes load from one place is one value: `table[round].row`.
  bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
    Found |= (L.depends(E) & (isLanesOwn(E) ? ByLane : DepThread)) != 0;
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    Found |= E->getOpcode() == UO_Deref &&
             (L.depends(E) & (isLanesOwn(E) ? ByLane : DepThread));
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    Found |= (L.depends(E) & ByLane) != 0;
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    if (auto *V = dyn_cast<VarDecl>(E->getDecl()))
      Found |= Apart.contains(V);
    return true;
  }

private:
  const Locals &L;
  const llvm::SmallPtrSetImpl<const VarDecl *> &Apart;

  /// May each lane have an \p E of its own, or is it not known whose it is?
  static bool isLanesOwn(const Expr *E) {
    const VarDecl *V = rootVariable(E);
    return !V || (V->isLocalVarDecl() && !V->hasAttr<CUDASharedAttr>() &&
                  !V->getType()->isPointerType());
  }
};

} // namespace

bool Walkers::alike(const Expr *E) const {
  Differences D(L, Apart);
  D.TraverseStmt(E);
  return !D.Found;
}

Walkers::Walkers(const Locals &L, const FunctionDecl *FD) : L(L) {
  Settings S(L);
  S.TraverseStmt(FD->getBody());
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (const Setting &X : S.All)
      if (X.Chosen || !alike(X.To))
        Changed |= Apart.insert(X.V).second;
  }
}

} // namespace rcache
