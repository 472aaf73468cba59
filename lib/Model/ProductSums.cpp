// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductFlow.h: the sums that products are used in, and what else is.

#include "ProductFlow.h"
#include "SharedProducts.h"

using namespace clang;
using namespace rcache;

static const char *const SlowPathBeside =
    ", and a slow path (of a division, a root, a call) may come between product and sum";

void ProductFlow::passOn() {
  takeFromCalls();
  for (unsigned Round = 0; Round < 4; ++Round) {
    const size_t Before = Made.size();
    const std::vector<std::pair<const VarDecl *, const Expr *>> Now = Made;
    for (const auto &[V, P] : Now)
      for (const DeclRefExpr *R : Reads[V])
        if (const VarDecl *To = assigned(outermost(R)))
          make(To, R);
    if (Made.size() == Before)
      break;
  }
}

SumInDoubt ProductFlow::find() {
  TraverseStmt(Body);
  passOn();
  SumInDoubt Shared; // by a thread's outputs
  const auto Share = [&](const Expr *P, const Expr *Sum) {
    // (Of what is staged, a thread always has several.)
    const auto In = isStaged(Sum) ? SumInDoubt::Anywhere : SumInDoubt::SeveralOutputs;
    if ((!Shared.Sum || Shared.In < In) && isSharedIn(P, Sum))
      Shared = {Sum, In};
  };
  for (const Expr *P : Products) {
    const Expr *Sum = inSum(P);
    if (!Sum)
      continue;
    const bool Meets = meetsProduct(P);
    if (conditional(P, Sum) || (Meets && sameInRounds(P)) || mayMove(P, Sum) || mayChange(P, Meets) ||
        standsBehind(P, Sum) || againBehindBranch(P) || mayBeParted(P, P, Sum))
      return {Sum};
    if (besideSlowPath(P, P, Sum))
      return {Sum, SumInDoubt::Anywhere, SlowPathBeside};
    Share(P, Sum);
  }
  for (const auto &[V, P] : Made) {
    const bool Meets = meetsProduct(P);
    bool Staged = false, Other = false, AllSums = true;
    const VarDecl *In = nullptr; // the array that it is staged in
    const Expr *AnySum = nullptr;
    for (const DeclRefExpr *R : Reads[V]) {
      if (!mayRead(R, V, P))
        continue;
      const Expr *Sum = inSum(R);
      (isStaged(R) ? Staged : Other) = true;
      if (const VarDecl *Array = stagedIn(R)) {
        Other |= In && In != Array;
        In = Array;
      }
      AllSums &= Sum != nullptr;
      if (!Sum)
        continue;
      AnySum = Sum;
      if (conditional(R, Sum) || conditional(P, assignment(P)) ||
          parted(V, P, R, Meets) || entersRolled(V, P, R) || (Meets && sameInRounds(P)) ||
          mayMove(P, Sum) || branchBetween(P, R) || mayChange(P, Meets) ||
          (Meets && mayComeFirst(P)) || mayBeParted(P, R, Sum) || mayStayInFront(P, R))
        return {Sum};
      if (besideSlowPath(P, R, Sum))
        return {Sum, SumInDoubt::Anywhere, SlowPathBeside};
      Share(P, Sum);
    }
    if (AnySum && ((Staged && Other && !AllSums) || mayLoseUse(V, P) || sumsInBlocks(V, P)))
      return {AnySum};
  }
  // (A product in an arm of what is chosen is fused with nothing.)
  const auto IsChosenBeside = [&](const Expr *E, const Expr *Other) {
    Variables Seen;
    return (addsProduct(Other) ||
            (addsProduct(E) && !isa<ConditionalOperator>(E->IgnoreParenImpCasts()))) &&
           isChosen(E, Seen);
  };
  for (const BinaryOperator *B : Sums)
    if (IsChosenBeside(B->getLHS(), B->getRHS()) || IsChosenBeside(B->getRHS(), B->getLHS()))
      return {B};
  for (const CallExpr *C : Calls)
    if (knownOneWay(C))
      return {C};
  for (const Expr *Sum : {besideLastingProduct(), twinsApart(), movedSum(), stagedElsewhere(), doubledAndAdded(), doubledProduct(),
                          distantSum(SumInDoubt::Anywhere)})
    if (Sum)
      return {Sum};
  return Shared;
}

bool ProductFlow::mayChange(const Expr *P, bool Meets) {
  return foldsAtStart(P) || chosenFromTwo(P) || knownOneWay(P) || isNumberOneWay(P) ||
         (Meets && hasChosenFactor(P));
}

bool ProductFlow::mayComeFirst(const Expr *P) {
  return sameForAll(P) && llvm::any_of(Products, [&](const Expr *Q) {
           return Order.lookup(Q) < Order.lookup(P) && !isIn(Q, P) && !sameForAll(Q);
         });
}

bool ProductFlow::standsBehind(const Expr *P, const Expr *Sum) const {
  const auto *B = dyn_cast<BinaryOperator>(Sum);
  const VarDecl *V = B ? ownVar(isIn(P, B->getLHS()) ? B->getRHS() : B->getLHS()) : nullptr;
  return V && sameForAll(P) && llvm::any_of(Made, [&](const auto &X) {
           return X.first == V->getCanonicalDecl() && !sameForAll(X.second) &&
                  Order.lookup(X.second) < Order.lookup(P);
         });
}

bool ProductFlow::hasChosenFactor(const Expr *P) const {
  const auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
  return B && B->isMultiplicativeOp() && llvm::any_of(B->children(), [&](const Node *F) {
           const auto *C = dyn_cast<ConditionalOperator>(cast<Expr>(F)->IgnoreParenCasts());
           return C && !isGuard(C->getCond()) &&
                  (isNumber(C->getTrueExpr()) || isNumber(C->getFalseExpr()));
         });
}

bool ProductFlow::isSharedIn(const Expr *P, const Expr *Sum) {
  const auto *B = dyn_cast<BinaryOperator>(Sum);
  if (hasDecidedFactor(P))
    return true;
  if (!meetsProduct(P))
    return false;
  if (B && mayBeDifference(B) && hasScaleOfAll(P, 0))
    return true;
  // Or what it is added to: `2 * w`, which is no product any more where outputs
  // have one of it.
  return sameInArms(P) || (B && llvm::any_of(B->children(), [&](const Node *E) {
                             return mayBeDoubled(cast<Expr>(E)) && sameInArms(cast<Expr>(E));
                           }));
}

bool ProductFlow::hasScaleOfAll(const Expr *P, unsigned Nested) const {
  P = P->IgnoreParenImpCasts();
  if (const auto *D = dyn_cast<DeclRefExpr>(P)) {
    const auto *V = dyn_cast<VarDecl>(D->getDecl());
    return V && V->hasLocalStorage() && Nested < 4 &&
           llvm::any_of(valuesOf(V), [&](const Expr *E) { return hasScaleOfAll(E, Nested + 1); });
  }
  const auto *B = dyn_cast<BinaryOperator>(P);
  if (!B || !B->isMultiplicativeOp() || isNumber(B))
    return false;
  return ((isNumber(B->getLHS()) || isNumber(B->getRHS())) && sameForAll(B)) ||
         hasScaleOfAll(B->getLHS(), Nested) || hasScaleOfAll(B->getRHS(), Nested);
}

bool ProductFlow::mayMultiply(const CallExpr *C) const {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    bool Found = false;
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      Found |= B->isMultiplicativeOp() && isRealType(B->getType());
      return !Found;
    }
  } X;
  const FunctionDecl *Def = nullptr;
  if (llvm::is_contained(Calls, C) && C->getDirectCallee()->hasBody(Def))
    X.TraverseStmt(Def->getBody());
  return X.Found;
}

bool ProductFlow::addsProduct(const Expr *E) const {
  if (mayBeProduct(E))
    return true;
  if (const auto *C = dyn_cast<CallExpr>(E->IgnoreParenImpCasts()))
    return mayMultiply(C);
  auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  return B && B->isAdditiveOp() && (addsProduct(B->getLHS()) || addsProduct(B->getRHS()));
}

bool ProductFlow::entersRolled(const VarDecl *V, const Expr *P, const Expr *R) const {
  constexpr uint64_t Unrolled = 25; // FoldedNumbers.cpp
  for (const Node *L = Parents.getParent(R); L && !isIn(P, L); L = Parents.getParent(L)) {
    const auto N = isLoop(L) && !isUnrolled(L) ? rounds(L) : std::nullopt;
    if (N && (*N > Unrolled || isa_and_nonnull<AttributedStmt>(Parents.getParent(L))) &&
        llvm::any_of(Set, [&](const auto &X) {
          return X.first == V->getCanonicalDecl() && isIn(X.second, L);
        }))
      return true;
  }
  return false;
}

bool ProductFlow::hasSlowPath(const Node *E, Variables &Seen) const {
  if (!E)
    return false;
  if (llvm::is_contained(SlowPaths, E))
    return true;
  if (auto *D = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (!V || !V->hasLocalStorage() || !isRealType(V->getType()) ||
        !Seen.insert(V->getCanonicalDecl()).second)
      return false;
    return hasSlowPath(V->getInit(), Seen) ||
           llvm::any_of(Set, [&](const auto &X) {
             auto *B = dyn_cast<BinaryOperator>(X.second);
             return X.first == V->getCanonicalDecl() && B &&
                    (llvm::is_contained(SlowPaths, B) || hasSlowPath(B->getRHS(), Seen));
           });
  }
  return llvm::any_of(E->children(),
                      [&](const Node *C) { return C && hasSlowPath(C, Seen); });
}

bool ProductFlow::mayBeDifference(const BinaryOperator *Sum) const {
  if (Sum->getOpcode() == BO_Sub || Sum->getOpcode() == BO_SubAssign || Negations)
    return true;
  return llvm::any_of(Calls,
                      [&](const CallExpr *C) { return isIn(C, Sum) && mayNegate(C); }) ||
         llvm::any_of(SlowPaths, [&](const Expr *S) {
           auto *B = dyn_cast<BinaryOperator>(S);
           return B && llvm::any_of(B->children(), [&](const Node *C) {
                    Expr::EvalResult R;
                    auto *E = cast<Expr>(C);
                    return !E->isValueDependent() && E->EvaluateAsRValue(R, Context) &&
                           (R.Val.isFloat() ? R.Val.getFloat().isNegative()
                                            : R.Val.isInt() && R.Val.getInt().isNegative());
                  });
         });
}

bool ProductFlow::besideSlowPath(const Expr *P, const Expr *Use,
                                 const Expr *Sum) const {
  auto *B = dyn_cast<BinaryOperator>(Sum);
  if (!B || !mayBeDifference(B))
    return false;
  if (auto *Product = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
      Product && SharedProducts::hasFixedFactor(Product))
    return false;
  const unsigned From = Order.lookup(P), To = Order.lookup(Use);
  Variables Seen;
  return hasSlowPath(isIn(Use, B->getLHS()) ? B->getRHS() : B->getLHS(), Seen) ||
         llvm::any_of(SlowPaths, [&](const Expr *S) {
           const unsigned At = Order.lookup(S);
           return From < At && At < To && !isIn(S, P);
         });
}

bool ProductFlow::foldsAtStart(const Expr *P) const {
  auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
  if (!B || !B->isMultiplicativeOp())
    return false;
  const auto IsNumber = [&](const Expr *E) { return isNumber(E); };
  for (const auto &[Factor, Number] : {std::pair(B->getLHS(), B->getRHS()),
                                       std::pair(B->getRHS(), B->getLHS())}) {
    const VarDecl *V = ownVar(Factor);
    if (!V || !IsNumber(Number))
      continue;
    const bool Begins = llvm::any_of(valuesOf(V), IsNumber);
    for (const Node *L : Loops)
      if (Begins && !isIn(P, L) && !rounds(L) &&
          llvm::any_of(Set, [&](const auto &X) {
            return X.first == V->getCanonicalDecl() && isIn(X.second, L);
          }))
        return true;
  }
  return false;
}

const Expr *ProductFlow::distantSum(SumInDoubt::Where In) {
  using Use = std::pair<const Expr *, const Expr *>; // and of what
  std::map<std::string, std::vector<Use>> Groups;
  for (const Expr *P : Products)
    if (!assigned(outermost(P)))
      Groups[canonical(P)].emplace_back(P, P);
  for (const auto &[V, P] : Made)
    for (const DeclRefExpr *R : Reads[V])
      if (!assigned(outermost(R)) && mayRead(R, V, P))
        Groups[isa<CompoundAssignOperator>(P) ? "" : canonical(P)].emplace_back(
            R, P);
  for (const auto &[Text, Uses] : Groups) {
    if (llvm::all_of(Uses, [&](const Use &U) { return inSum(U.first); }))
      continue;
    for (const auto &[R, P] : Uses)
      if (const Expr *Sum = inSum(R))
        for (const auto &[Other, Q] : Uses)
          if (In == SumInDoubt::SeveralOutputs
                  ? sameInArms(Q)
                  : areParted(Q, R, In == SumInDoubt::OutputsInLoops))
            return Sum;
  }
  return nullptr;
}

std::vector<const BinaryOperator *> ProductFlow::sumsOfTwo() const {
  std::vector<const BinaryOperator *> Out;
  llvm::copy_if(Sums, std::back_inserter(Out),
                [&](const BinaryOperator *B) { return isSumOfTwo(B); });
  return Out;
}

bool ProductFlow::isSumOfTwo(const BinaryOperator *Sum) const {
  const bool L = mayBeProduct(Sum->getLHS()), R = mayBeProduct(Sum->getRHS());
  return (L && R) || (L && mayBeDoubled(Sum->getRHS())) ||
         (R && mayBeDoubled(Sum->getLHS()));
}

bool ProductFlow::staysDifference(const BinaryOperator *B) const {
  return (B->getOpcode() == BO_Sub || B->getOpcode() == BO_SubAssign) &&
         !Negations && llvm::none_of(operands(B->getRHS()), [&](const Expr *E) {
           return mayBeNegated(E);
         });
}

const Expr *ProductFlow::inSum(const Expr *E) const {
  const Node *Top = outermost(E);
  auto *B = dyn_cast_or_null<BinaryOperator>(Parents.getParent(Top));
  if (!B || !isRealType(B->getType()))
    return nullptr;
  if (B->isAdditiveOp())
    return B;
  // `p += x` is a sum of p as well.
  return B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign
             ? B
             : nullptr;
}

const Expr *ProductFlow::stagedTo(const Node *E) const {
  for (const Node *P = Parents.getParent(E); P; P = Parents.getParent(P))
    if (auto *B = dyn_cast<BinaryOperator>(P); B && B->isAssignmentOp())
      return mayBeShared(B->getLHS()) ? B->getLHS() : nullptr;
  return nullptr;
}

const VarDecl *ProductFlow::stagedIn(const Node *E) const {
  const Expr *To = stagedTo(E);
  return To ? rootVar(To) : nullptr;
}

const Expr *ProductFlow::stagedElsewhere() {
  std::map<std::string, const Expr *> Staged;
  for (const Expr *P : Products)
    if (isStaged(P)) {
      // In two arrays: one product with two uses here, and one of its own in the text of each.
      const auto [Other, IsFirst] = Staged.emplace(canonical(P), P);
      const Expr *Sum = inSum(P), *Another = inSum(Other->second);
      if (!IsFirst && !Sum != !Another && stagedIn(P) != stagedIn(Other->second))
        return Sum ? Sum : Another;
    }
  if (Staged.empty())
    return nullptr;
  for (const Expr *P : Products)
    if (!isStaged(P) && Staged.count(canonical(P))) {
      if (const Expr *Sum = inSum(P))
        return Sum;
      for (const auto &[V, Q] : Made)
        if (Q == P)
          for (const DeclRefExpr *R : Reads[V])
            if (const Expr *Sum = inSum(R))
              return Sum;
    }
  return nullptr;
}

const Expr *ProductFlow::doubledAndAdded() const {
  for (const Expr *D : Doubled) {
    const auto *Twice = dyn_cast<BinaryOperator>(D->IgnoreParenImpCasts());
    const Expr *Sum = inSum(D);
    if (!Twice || !Sum)
      continue;
    const std::string Of =
        canonical(isNumber(Twice->getRHS()) ? Twice->getLHS() : Twice->getRHS());
    if (llvm::any_of(Sums, [&](const BinaryOperator *B) {
          return B->getOpcode() == BO_Add && canonical(B->getLHS()) == Of &&
                 canonical(B->getRHS()) == Of;
        }))
      return Sum;
  }
  return nullptr;
}

const Expr *ProductFlow::doubledProduct() const {
  for (const Expr *D : Doubled) {
    const auto *Twice = cast<BinaryOperator>(D->IgnoreParenImpCasts());
    const Expr *Of = isNumber(Twice->getRHS()) ? Twice->getLHS() : Twice->getRHS();
    const VarDecl *V = rootVar(Of);
    // (Of a parameter nothing is known here.)
    if (!mayBeProduct(Of) || (V && isa<ParmVarDecl>(V) && !holdsProduct(V->getCanonicalDecl())))
      continue;
    const std::string Text = canonical(Of);
    for (const BinaryOperator *B : Sums)
      for (const Expr *Side : {B->getLHS(), B->getRHS()})
        if ((V && rootVar(Side) == V) || canonical(Side) == Text)
          return B;
  }
  return nullptr;
}

bool ProductFlow::meetsProduct(const Expr *P) {
  auto OfTwo = [&](const Expr *Use) {
    auto *Sum = dyn_cast_or_null<BinaryOperator>(inSum(Use));
    return Sum && isSumOfTwo(Sum);
  };
  if (OfTwo(P))
    return true;
  for (const auto &[V, Q] : Made)
    if (Q == P)
      for (const DeclRefExpr *R : Reads[V])
        if (OfTwo(R))
          return true;
  return false;
}
