// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductFlow.h: what stands between a product and its sum.

#include "Conditions.h"
#include "OperandText.h"
#include "ProductFlow.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace rcache;

namespace {

using Node = clang::Stmt;
using Dependences = ProductFlow::Dependences;

/// Conditions that no knowledge of indices and arguments decides: of data.
bool ofData(const Expr *Condition, Dependences DependsOn = nullptr) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    Dependences DependsOn;
    bool Found = false;
    explicit Finder(Dependences D) : DependsOn(D) {}
    bool VisitArraySubscriptExpr(const ArraySubscriptExpr *) override {
      Found = true;
      return false;
    }
    bool VisitDeclRefExpr(const DeclRefExpr *D) override {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      if (V && V->hasLocalStorage())
        Found |= DependsOn ? (DependsOn(V) & (DepShared | DepGlobal)) != 0
                           : isRealType(V->getType());
      return !Found;
    }
  } X(DependsOn);
  X.TraverseStmt(Condition);
  return X.Found;
}

bool isBarrier(const CallExpr *C, unsigned Depth = 0);

class Within : public ConstDynamicRecursiveASTVisitor {
public:
  unsigned Depth = 0; ///< of calls
  bool Barrier = false, Staging = false;
  /// Of an element: may it be shared memory?
  llvm::function_ref<bool(const Expr *)> MayBeShared;
  bool VisitCallExpr(const CallExpr *C) override {
    Barrier |= isBarrier(C, Depth);
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    Staging |= B->isAssignmentOp() &&
               (MayBeShared ? MayBeShared(B->getLHS())
                            : isSharedPlace(B->getLHS()));
    return true;
  }
};

/// A barrier, or a function that has one.
bool isBarrier(const CallExpr *C, unsigned Depth) {
  auto *D = dyn_cast_or_null<NamedDecl>(C->getCalleeDecl());
  if (D && D->getIdentifier() &&
      (D->getName().starts_with("__sync") || D->getName() == "sync"))
    return true;
  auto *F = dyn_cast_or_null<FunctionDecl>(D);
  const FunctionDecl *Def = nullptr;
  if (!F || Depth > 3 || !F->hasBody(Def))
    return false;
  Within W;
  W.Depth = Depth + 1;
  W.TraverseStmt(Def->getBody());
  return W.Barrier;
}

} // namespace

bool rcache::hasBarrier(const CallExpr *C) { return isBarrier(C); }

//===--- Conditions ---===//

bool ProductFlow::conditional(const Node *E, const Node *Until) const {
  for (const Node *P = Parents.getParent(E); P && P != Until;
       P = Parents.getParent(P))
    if (auto *C = dyn_cast<ConditionalOperator>(P); C && !isOwn(C->getCond()))
      return true;
  return false;
}

bool ProductFlow::isOwn(const Expr *Condition) const {
  Condition = Condition->IgnoreParenImpCasts();
  if (auto *B = dyn_cast<BinaryOperator>(Condition); B && B->isLogicalOp())
    return isOwn(B->getLHS()) && isOwn(B->getRHS());
  if (!Kernel)
    return ofData(Condition);
  return ofData(Condition, DependsOn) && !sameForAll(Condition);
}

bool ProductFlow::mayLoseUse(const VarDecl *V, const Expr *P) {
  // A sum alone under such a condition is the only use where it holds; the others are
  // where it does not: what is no sum, and a sum of what may have been set to another
  // value there, which is a choice between the two.
  const bool IsChosen = llvm::count_if(Set, [&](const auto &X) {
                          return X.first == V->getCanonicalDecl();
                        }) + (V->getInit() != nullptr) > 1;
  bool Others = false, Decided = false;
  for (const DeclRefExpr *R : Reads[V]) {
    if (!mayRead(R, V, P))
      continue;
    const bool Here = isDecided(R, P);
    Others |= !inSum(R) || (IsChosen && !Here);
    Decided |= Here;
  }
  return Others && Decided;
}

bool ProductFlow::isDecided(const Node *Use, const Expr *P) {
  for (const Node *S = Use, *Up = Parents.getParent(S); Up && !isIn(P, Up);
       S = Up, Up = Parents.getParent(Up)) {
    if (auto *C = dyn_cast<ConditionalOperator>(Up)) {
      if (C->getCond() != S && !isOwn(C->getCond()))
        return true;
    } else if (auto *If = dyn_cast<IfStmt>(Up)) {
      if (const Expr *C = conditionOf(If);
          C && C != S && !isGuard(C) && !C->isEvaluatable(Context)) // `if (Wide)` of a template
        return true;
    } else if (auto *W = dyn_cast<SwitchStmt>(Up)) {
      if (W->getCond() != S && !isGuard(W->getCond()))
        return true;
    } else if (auto *B = dyn_cast<BinaryOperator>(Up)) {
      if (B->isLogicalOp() && B->getRHS() == S && !isOwn(B->getLHS()))
        return true;
    }
  }
  return false;
}

bool ProductFlow::isGuard(const Expr *Condition) const {
  Condition = Condition->IgnoreParenImpCasts();
  if (auto *B = dyn_cast<BinaryOperator>(Condition); B && B->isLogicalOp())
    return isGuard(B->getLHS()) && isGuard(B->getRHS());
  if (isOwn(Condition))
    return true;
  struct Finder : ConstDynamicRecursiveASTVisitor {
    Dependences DependsOn;
    bool Thread = false;
    explicit Finder(Dependences D) : DependsOn(D) {}
    bool VisitDeclRefExpr(const DeclRefExpr *D) override {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      Thread |=
          V && ((DependsOn(V) & DepThread) || V->getName() == "threadIdx");
      return true;
    }
    bool VisitPseudoObjectExpr(const PseudoObjectExpr *O) override {
      Thread |= isThreadIndex(O);
      return true;
    }
  } X(DependsOn);
  X.TraverseStmt(Condition);
  return X.Thread && ofArgument(Condition, 0);
}

/// Is an element of a shared array, which may be in a register then, part of \p E?
bool ProductFlow::readsShared(const Expr *E) const {
  if (!Kernel)
    return true;
  if (auto *D = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    return V && (V->hasAttr<CUDASharedAttr>() || (DependsOn(V) & DepShared) ||
                 (V->hasLocalStorage() && V->getType()->isPointerType() &&
                  !isa<ParmVarDecl>(V)));
  }
  return llvm::any_of(E->children(), [&](const Node *C) {
    auto *X = dyn_cast_or_null<Expr>(C);
    return X && readsShared(X);
  });
}

bool ProductFlow::readsMemory(const Node *S) {
  return isa<ArraySubscriptExpr>(S) ||
         (isa<UnaryOperator>(S) && cast<UnaryOperator>(S)->getOpcode() == UO_Deref) ||
         llvm::any_of(S->children(), [](const Node *C) { return C && readsMemory(C); });
}

bool ProductFlow::isChosen(const Expr *E, Variables &Seen) const {
  E = E->IgnoreParenImpCasts();
  // The same for all, or a number.
  const auto IsFixed = [&](const Expr *X) {
    X = X->IgnoreParenImpCasts();
    const VarDecl *V = rootVar(X);
    return (!X->isValueDependent() && X->isEvaluatable(Context)) ||
           (V && isa<ParmVarDecl>(V) && !V->getType()->isPointerType() &&
            !V->getType()->isReferenceType());
  };
  if (auto *C = dyn_cast<ConditionalOperator>(E))
    return (readsShared(C) && (!isOwn(C->getCond()) || IsFixed(C->getTrueExpr()) ||
                               IsFixed(C->getFalseExpr()))) ||
           (readsMemory(C) && !isGuard(C->getCond())) ||
           isChosen(C->getTrueExpr(), Seen) || isChosen(C->getFalseExpr(), Seen);
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return isRealType(U->getType()) && isChosen(U->getSubExpr(), Seen);
  if (auto *B = dyn_cast<BinaryOperator>(E))
    return isRealType(B->getType()) && !B->isAssignmentOp() &&
           (isChosen(B->getLHS(), Seen) || isChosen(B->getRHS(), Seen));
  const VarDecl *V = rootVar(E);
  if (!V || !isa<DeclRefExpr>(E) || !V->hasLocalStorage() || isa<ParmVarDecl>(V) ||
      !Seen.insert(V->getCanonicalDecl()).second)
    return false;
  if (V->getInit() && isChosen(V->getInit(), Seen))
    return true;
  return llvm::any_of(Set, [&](const auto &X) {
    auto *B = dyn_cast<BinaryOperator>(X.second);
    return X.first == V->getCanonicalDecl() && B && !isIn(E, B) &&
           isChosen(B->getRHS(), Seen);
  });
}

bool ProductFlow::ofArgument(const Node *E, unsigned Nested) const {
  if (!E || Nested > 6)
    return false;
  if (auto *D = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (!V || isa<ParmVarDecl>(V) || !V->hasLocalStorage())
      return V && isa<ParmVarDecl>(V);
    if (V->getInit() && ofArgument(V->getInit(), Nested + 1))
      return true;
    for (const auto &[To, At] : Set) {
      if (To != V->getCanonicalDecl())
        continue;
      auto *B = dyn_cast<BinaryOperator>(At);
      if (B && ofArgument(B->getRHS(), Nested + 1))
        return true;
      for (const Node *P = Parents.getParent(At); P; P = Parents.getParent(P))
        if (auto *If = dyn_cast<IfStmt>(P);
            If && conditionOf(If) && ofArgument(conditionOf(If), Nested + 1))
          return true;
    }
    return false;
  }
  return llvm::any_of(E->children(),
                      [&](const Node *C) { return ofArgument(C, Nested + 1); });
}

unsigned ProductFlow::threadsOf(const Expr *P, unsigned Nested, bool Arms) const {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const ProductFlow &Of;
    unsigned Nested, Found = 0;
    bool Arms;
    Finder(const ProductFlow &Of, unsigned Nested, bool Arms)
        : Of(Of), Nested(Nested), Arms(Arms) {}
    bool TraverseConditionalOperator(const ConditionalOperator *C) override {
      if (!Arms)
        return ConstDynamicRecursiveASTVisitor::TraverseConditionalOperator(C);
      return TraverseStmt(C->getTrueExpr()) && TraverseStmt(C->getFalseExpr());
    }
    bool VisitDeclRefExpr(const DeclRefExpr *D) override {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      if (!V)
        return true;
      llvm::SmallVector<const Expr *, 4> Values;
      if (Arms && Nested < 4 && V->hasLocalStorage() && isRealType(V->getType()))
        Values = Of.valuesOf(V);
      // All that V is set to, or else what is known of it.
      const auto SetsV = [&](const auto &X) { return X.first == V->getCanonicalDecl(); };
      if (Values.empty() ||
          Values.size() != llvm::count_if(Of.Set, SetsV) + size_t(V->getInit() != nullptr)) {
        Found |= Of.DependsOn(V);
        return true;
      }
      for (const Expr *E : Values)
        Found |= Of.threadsOf(E, Nested + 1, Arms);
      return true;
    }
    bool VisitPseudoObjectExpr(const PseudoObjectExpr *O) override {
      auto *E = dyn_cast<MSPropertyRefExpr>(O->getSyntacticForm());
      if (!E || !isThreadIndex(O))
        return true;
      const llvm::StringRef Axis = E->getPropertyDecl()->getName();
      Found |= Axis == "x"   ? DepThreadX
               : Axis == "y" ? DepThreadY
                             : DepThreadZ;
      return true;
    }
  } X(*this, Nested, Arms);
  // (Shared elements are as many as the places that their indices hang on.)
  X.TraverseStmt(P);
  return X.Found;
}

//===--- Products that leave their place ---===//

/// Has the loop \p L, or one inside, an end that is not its condition?
static bool leavesEarly(const Node *L) {
  return L && (isa<BreakStmt, ContinueStmt, ReturnStmt, GotoStmt>(L) ||
               llvm::any_of(L->children(), leavesEarly));
}

bool ProductFlow::hasSum(const Node *S) {
  auto *B = dyn_cast_or_null<BinaryOperator>(S);
  if (B && isRealType(B->getType()) &&
      (B->isAdditiveOp() || B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign))
    return true;
  return S && llvm::any_of(S->children(), hasSum);
}

bool ProductFlow::sumsInBothArms(const Node *S) {
  if (auto *C = dyn_cast<ConditionalOperator>(S))
    return hasSum(C->getTrueExpr()) && hasSum(C->getFalseExpr());
  if (auto *I = dyn_cast<IfStmt>(S))
    return hasSum(I->getThen()) && hasSum(I->getElse());
  auto *W = dyn_cast<SwitchStmt>(S);
  auto *Arms = W ? dyn_cast<CompoundStmt>(W->getBody()) : nullptr;
  if (!Arms)
    return W != nullptr;
  // One begins at each label; `case 1: case 2:` are one.
  unsigned WithSums = 0;
  bool Counted = false;
  for (const Node *A : Arms->body()) {
    Counted &= !isa<SwitchCase>(A);
    if (!Counted && hasSum(A))
      Counted = true, ++WithSums;
  }
  return WithSums > 1;
}

llvm::SmallVector<const clang::Stmt *, 4> ProductFlow::deciding(const Expr *E) const {
  llvm::SmallVector<const Node *, 4> All;
  const auto IsCommon = [&](const IfStmt *I) {
    for (const Node *P = Parents.getParent(I); P; P = Parents.getParent(P))
      if (isLoop(P))
        return false;
    return !sumsInBothArms(I) &&
           llvm::all_of(Products, [&](const Expr *X) { return isIn(X, I); });
  };
  for (const Node *S = E, *Up = Parents.getParent(S); Up; S = Up, Up = Parents.getParent(Up)) {
    if (auto *C = dyn_cast<ConditionalOperator>(Up); C && C->getCond() != S)
      All.push_back(Up);
    else if (auto *I = dyn_cast<IfStmt>(Up);
             I && conditionOf(I) && conditionOf(I) != S &&
             !conditionOf(I)->isEvaluatable(Context) && !IsCommon(I))
      All.push_back(Up);
    else if (auto *B = dyn_cast<BinaryOperator>(Up); B && B->isLogicalOp() && B->getRHS() == S)
      All.push_back(Up);
    else if (isa<SwitchStmt>(Up) || (isLoop(Up) && leavesEarly(Up)))
      All.push_back(Up);
  }
  return All;
}

bool ProductFlow::mayMove(const Expr *P, const Expr *Sum) {
  const auto Conditions = deciding(P);
  if (Conditions.empty() && !Decided)
    return false;
  auto *B = cast<BinaryOperator>(Sum);
  const bool Difference = B->getOpcode() == BO_Sub || B->getOpcode() == BO_SubAssign;
  if (Decided || llvm::any_of(Conditions, [&](const Node *S) {
        return isLoop(S) ? Difference : sumsInBothArms(S);
      }))
    return true;
  for (const Node *L : Loops)
    if (isIn(P, L) && sameIn(P, L))
      return true;
  const std::string Text = canonical(P);
  return !isa<CompoundAssignOperator>(P) && llvm::any_of(Products, [&](const Expr *Q) {
    return Q != P && canonical(Q) == Text;
  });
}

bool ProductFlow::isDecidedCallee(const FunctionDecl *F) const {
  unsigned Times = 0;
  bool Any = false, InLoop = false;
  for (const CallExpr *C : Calls) {
    const FunctionDecl *Def = nullptr;
    if (!C->getDirectCallee()->hasBody(Def) || Def != F)
      continue;
    ++Times;
    if (deciding(C).empty())
      continue;
    Any = true;
    InLoop |= llvm::any_of(Loops, [&](const Node *L) { return isIn(C, L); });
  }
  return Any && (Times > 1 || InLoop);
}

//===--- Loops ---===//

bool ProductFlow::isLoop(const Node *S) {
  return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
}

std::optional<uint64_t> ProductFlow::rounds(const Node *L) const {
  auto *F = dyn_cast<ForStmt>(L);
  auto *D = F ? dyn_cast_or_null<DeclStmt>(F->getInit()) : nullptr;
  auto *V =
      D && D->isSingleDecl() ? dyn_cast<VarDecl>(D->getSingleDecl()) : nullptr;
  auto *C = F && F->getCond()
                ? dyn_cast<BinaryOperator>(F->getCond()->IgnoreParenImpCasts())
                : nullptr;
  auto *I = F ? dyn_cast_or_null<UnaryOperator>(F->getInc()) : nullptr;
  if (!V || !V->getInit() || !C || !I || !I->isIncrementOp() ||
      rootVar(I->getSubExpr()) != V || rootVar(C->getLHS()) != V ||
      (C->getOpcode() != BO_LT && C->getOpcode() != BO_LE))
    return std::nullopt;
  const ASTContext &AC = V->getASTContext();
  Expr::EvalResult First, End;
  if (V->getInit()->isValueDependent() || C->getRHS()->isValueDependent() ||
      !V->getInit()->EvaluateAsInt(First, AC) ||
      !C->getRHS()->EvaluateAsInt(End, AC))
    return std::nullopt;
  const int64_t N = End.Val.getInt().getExtValue() -
                    First.Val.getInt().getExtValue() +
                    (C->getOpcode() == BO_LE);
  return uint64_t(std::max<int64_t>(N, 0));
}

bool ProductFlow::isUnrolled(const Node *L) const {
  auto *A = dyn_cast_or_null<AttributedStmt>(Parents.getParent(L));
  if (!A)
    return false;
  for (const Attr *X : A->getAttrs()) {
    auto *H = dyn_cast<LoopHintAttr>(X);
    if (!H)
      continue;
    if (H->getOption() == LoopHintAttr::Unroll &&
        (H->getState() == LoopHintAttr::Enable ||
         H->getState() == LoopHintAttr::Full))
      return true;
    Expr::EvalResult Count;
    const auto N = rounds(L);
    if (N && H->getOption() == LoopHintAttr::UnrollCount && H->getValue() &&
        !H->getValue()->isValueDependent() &&
        H->getValue()->EvaluateAsInt(Count, Context) &&
        *N <= Count.Val.getInt().getLimitedValue())
      return true;
  }
  return false;
}

bool ProductFlow::isIn(const Node *E, const Node *S) const {
  for (; E; E = Parents.getParent(E))
    if (E == S)
      return true;
  return false;
}

bool ProductFlow::mayRead(const DeclRefExpr *R, const VarDecl *V,
                          const Expr *P) {
  if (!isIn(R, P) && Order.lookup(P) < Order.lookup(R))
    return true;
  const Node *Declared = nullptr;
  for (const auto &[X, S] : DeclStmts())
    if (X->getCanonicalDecl() == V)
      Declared = S;
  // In front of it: in the next round, or in a function that is called later.
  for (const Node *L = Parents.getParent(R); L; L = Parents.getParent(L))
    if (isa<LambdaExpr>(L) ||
        (isLoop(L) && isIn(P, L) && !(Declared && isIn(Declared, L))))
      return true;
  return false;
}

bool ProductFlow::sameInRounds(const Expr *P) {
  for (const Node *L = Parents.getParent(P); L; L = Parents.getParent(L)) {
    if (isLoop(L) && !isUnrolled(L) && sameIn(P, L))
      return true;
  }
  return false;
}

bool ProductFlow::sameIn(const Expr *P, const Node *L) {
  llvm::SmallPtrSet<const VarDecl *, 8> Changed;
  for (const auto &[V, S] : DeclStmts())
    if (isIn(S, L))
      Changed.insert(V->getCanonicalDecl());
  for (const auto &[V, E] : Set)
    if (isIn(E, L))
      Changed.insert(V);
  if (isa<CompoundAssignOperator>(P))
    return false;
  for (const auto &[V, Rs] : Reads)
    for (const DeclRefExpr *R : Rs)
      if (Changed.count(V) && isIn(R, P))
        return false;
  return true;
}

const std::vector<std::pair<const VarDecl *, const clang::Stmt *>> &
ProductFlow::DeclStmts() {
  if (Statements.empty()) {
    struct Finder : ConstDynamicRecursiveASTVisitor {
      std::vector<std::pair<const VarDecl *, const Node *>> *Out;
      bool VisitDeclStmt(const DeclStmt *S) override {
        for (const Decl *D : S->decls())
          if (auto *V = dyn_cast<VarDecl>(D))
            Out->emplace_back(V, S);
        return true;
      }
    } F;
    F.Out = &Statements;
    F.TraverseStmt(Body);
  }
  return Statements;
}

//===--- On the way ---===//

bool ProductFlow::parted(const VarDecl *V, const Expr *P, const DeclRefExpr *R,
                         bool Blocks) {
  llvm::SmallVector<const Node *, 16> Up;
  for (const Node *S = R; S; S = Parents.getParent(S))
    Up.push_back(S);
  const Node *Common = P, *FromP = P;
  while (Common && !llvm::is_contained(Up, Common)) {
    FromP = Common;
    Common = Parents.getParent(Common);
    if (!Common || llvm::is_contained(Up, Common))
      break;
    if (leaves(Common))
      return true;
  }
  if (!Common)
    return true;
  const Node *FromR = R;
  for (const Node *S = R; S != Common; S = Parents.getParent(S)) {
    FromR = S;
    if (Blocks && S != R && enters(V, S))
      return true;
  }
  if (!isa<CompoundStmt>(Common))
    return isLoop(Common) && !isUnrolled(Common);
  bool Seen = false, Reached = false;
  for (const Node *S : Common->children()) {
    if (S == FromR && FromR != FromP) {
      if (!Seen) { // the last round's
        for (const Node *L = Common; L; L = Parents.getParent(L))
          if (isLoop(L))
            return !isUnrolled(L);
        return false; // no way from there to here
      }
      Reached = true;
    }
    if (S == FromP)
      Seen = true;
    else if (Blocks && Seen && !Reached && stands(S))
      return true;
  }
  return false;
}

bool ProductFlow::areParted(const Expr *P, const Expr *R, bool Any) {
  const unsigned From = Order.lookup(P), To = Order.lookup(R);
  auto Between = [&](const Node *S) {
    return From < Order.lookup(S) && Order.lookup(S) < To;
  };
  return llvm::any_of(Barriers, Between) ||
         llvm::any_of(Loops, [&](const Node *L) {
           return (Any || !isUnrolled(L)) &&
                  (isIn(P, L) != isIn(R, L) || (!isIn(P, L) && Between(L)));
         });
}

bool ProductFlow::leaves(const Node *S) const {
  if (auto *I = dyn_cast<IfStmt>(S))
    return !isOwn(I->getCond());
  if (isLoop(S))
    return !isUnrolled(S);
  return isa<SwitchStmt>(S);
}

bool ProductFlow::enters(const VarDecl *V, const Node *S) {
  if (isLoop(S))
    return !isUnrolled(S);
  if (isa<SwitchStmt>(S))
    return true;
  const Expr *Condition = nullptr;
  if (auto *I = dyn_cast<IfStmt>(S))
    Condition = I->getCond();
  else if (auto *C = dyn_cast<ConditionalOperator>(S))
    Condition = C->getCond();
  if (!Condition || isOwn(Condition))
    return false;
  for (const DeclRefExpr *R : Reads[V])
    if (!isIn(R, S))
      return true;
  return false;
}

bool ProductFlow::stands(const Node *S) const {
  const auto MayBeShared = [&](const Expr *E) { return mayBeShared(E); };
  Within W;
  W.MayBeShared = MayBeShared;
  W.TraverseStmt(S);
  if (W.Barrier || (W.Staging && isa<IfStmt, ForStmt, WhileStmt, DoStmt>(S)))
    return true;
  const Node *L = S;
  if (auto *A = dyn_cast<AttributedStmt>(S))
    L = A->getSubStmt();
  return isLoop(L) && !isUnrolled(L);
}
