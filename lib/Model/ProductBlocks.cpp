// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that ptxas fuses with all their sums, if these stand in the product's block of
// code, and else with none: two variable factors. See ProductFlow.h.

#include "ProductFlow.h"
#include "Conditions.h"
#include "SharedProducts.h"

using namespace clang;

namespace rcache {

bool ProductFlow::isNamed(const Expr *E, unsigned Nested) const {
  if (Nested > 8 || (isConverted(E) && !isNumber(E)))
    return false;
  E = E->IgnoreParenCasts();
  if (const auto *D = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (!V || (isa<ParmVarDecl>(V) && Kernel))
      return true;
    const bool IsSet = llvm::any_of(
        Set, [&](const auto &X) { return X.first == V->getCanonicalDecl(); });
    return V->hasAttr<CUDAConstantAttr>() ||
           (!IsSet && V->getInit() && isNamed(V->getInit(), Nested + 1));
  }
  if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    const VarDecl *V = rootVar(A);
    return V && V->hasAttr<CUDAConstantAttr>() && isNamed(A->getIdx(), Nested + 1);
  }
  // (What is computed of arguments is in a register.)
  if (isa<CallExpr, MemberExpr, PseudoObjectExpr, BinaryOperator, ConditionalOperator>(E))
    return !E->isValueDependent() && E->isEvaluatable(Context);
  return llvm::all_of(E->children(), [&](const Node *C) {
    const auto *X = dyn_cast_or_null<Expr>(C);
    return X && isNamed(X, Nested + 1);
  });
}

bool ProductFlow::hasNamedFactor(const Expr *P) const {
  const auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
  return B && B->isMultiplicativeOp() &&
         (isNamed(B->getLHS(), 0) || isNamed(B->getRHS(), 0));
}

bool ProductFlow::readsElement(const Node *S) const {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const ProductFlow &Of;
    bool Found = false;
    explicit Finder(const ProductFlow &Of) : Of(Of) {}
    bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
      Found |= isRealType(E->getType()) && Of.mayBeShared(E);
      return !Found;
    }
  } In(*this);
  if (S)
    In.TraverseStmt(S);
  return In.Found;
}

bool ProductFlow::chosenFromTwo(const Expr *P) const {
  const VarDecl *V = assigned(outermost(P));
  for (const Node *S = P, *Up = Parents.getParent(S); Up; S = Up, Up = Parents.getParent(Up)) {
    const Node *Then = nullptr, *Else = nullptr;
    if (const auto *C = dyn_cast<ConditionalOperator>(Up))
      Then = C->getTrueExpr(), Else = C->getFalseExpr();
    else if (const auto *If = dyn_cast<IfStmt>(Up); If && V)
      Then = If->getThen(), Else = If->getElse();
    if ((S != Then && S != Else) || !Else || (!readsElement(Then) && !readsElement(Else)))
      continue;
    const Node *Other = S == Then ? Else : Then;
    if (isa<ConditionalOperator>(Up) ? mayBeProduct(cast<Expr>(Other))
                                     : llvm::any_of(Made, [&](const auto &X) {
                                         return X.first == V->getCanonicalDecl() &&
                                                isIn(X.second, Other);
                                       }))
      return true;
  }
  return false;
}

const VarDecl *ProductFlow::ownVar(const Expr *E) {
  const auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) ? V : nullptr;
}

bool ProductFlow::isNumberOneWay(const Expr *P) const {
  const auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
  if (!B || !B->isMultiplicativeOp())
    return false;
  const auto IsNumber = [&](const Expr *E) { return isNumber(E); };
  const auto hasNumericArm = [&](const Expr *E) {
    const auto *C = dyn_cast<ConditionalOperator>(E->IgnoreParenImpCasts());
    return C && !IsNumber(E) && (IsNumber(C->getTrueExpr()) || IsNumber(C->getFalseExpr()));
  };
  // Has V another value by the time, set in a round of a loop around P?
  const auto isSetInRound = [&](const VarDecl *V) {
    return llvm::any_of(Set, [&](const auto &X) {
      const Node *Block = Parents.getParent(X.second);
      return X.first == V->getCanonicalDecl() && isa_and_nonnull<CompoundStmt>(Block) &&
             isIn(P, Block) && llvm::any_of(Loops, [&](const Node *L) {
               return isIn(P, L) && isIn(Block, L);
             });
    });
  };
  // Is V set under a condition that P does not stand under, and not in a loop in front of P?
  const auto isSetOneWay = [&](const VarDecl *V) {
    if (isSetInRound(V))
      return false;
    return llvm::any_of(Set, [&](const auto &X) {
      if (X.first != V->getCanonicalDecl())
        return false;
      bool Decided = false;
      for (const Node *S = Parents.getParent(X.second); S && !isIn(P, S);
           S = Parents.getParent(S)) {
        Decided |= isa<IfStmt, SwitchStmt>(S);
        if (isLoop(S))
          return false;
      }
      return Decided;
    });
  };
  // A number, or a variable that holds one on some way.
  const auto mayBeNumber = [&](const Expr *E) {
    const VarDecl *V = ownVar(E);
    return IsNumber(E) || (V && llvm::any_of(valuesOf(V), IsNumber) && isSetOneWay(V));
  };
  for (const auto &[Factor, Number] :
       {std::pair(B->getLHS(), B->getRHS()), std::pair(B->getRHS(), B->getLHS())}) {
    if (!mayBeNumber(Number))
      continue;
    if (hasNumericArm(Factor))
      return true;
    const VarDecl *V = ownVar(Factor);
    if (!V)
      continue;
    const auto Values = valuesOf(V);
    if ((llvm::any_of(Values, hasNumericArm) && !isSetInRound(V)) ||
        (llvm::any_of(Values, IsNumber) && isSetOneWay(V)))
      return true;
  }
  return false;
}

bool ProductFlow::isNumber(const Expr *E) const {
  return !E->isValueDependent() && E->isEvaluatable(Context);
}

llvm::SmallVector<const Expr *, 4> ProductFlow::valuesOf(const VarDecl *V) const {
  llvm::SmallVector<const Expr *, 4> Out;
  if (V->getInit())
    Out.push_back(V->getInit());
  for (const auto &[To, At] : Set)
    if (const auto *B = dyn_cast<BinaryOperator>(At);
        To == V->getCanonicalDecl() && B && B->getOpcode() == BO_Assign)
      Out.push_back(B->getRHS());
  return Out;
}

llvm::SmallVector<const Expr *, 4> ProductFlow::scaledBy(const VarDecl *V) const {
  llvm::SmallVector<const Expr *, 4> Out;
  for (const auto &[To, At] : Set)
    if (const auto *B = dyn_cast<BinaryOperator>(At);
        To == V->getCanonicalDecl() && B &&
        (B->getOpcode() == BO_MulAssign || B->getOpcode() == BO_DivAssign))
      Out.push_back(B);
  return Out;
}

bool ProductFlow::hasDecidedFactor(const Expr *P) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    llvm::function_ref<bool(const VarDecl *)> Is;
    bool Found = false;
    explicit Finder(llvm::function_ref<bool(const VarDecl *)> Is) : Is(Is) {}
    bool VisitDeclRefExpr(const DeclRefExpr *D) override {
      const auto *V = dyn_cast<VarDecl>(D->getDecl());
      Found |= V && V->hasLocalStorage() && isRealType(V->getType()) && Is(V);
      return !Found;
    }
  };
  const auto IsDecided = [&](const VarDecl *V) {
    return llvm::any_of(Set, [&](const auto &X) {
      return X.first == V->getCanonicalDecl() && !isIn(P, X.second) &&
             Order.lookup(X.second) < Order.lookup(P) && isDecided(X.second, P);
    });
  };
  Finder Factors(IsDecided);
  Factors.TraverseStmt(P);
  return Factors.Found;
}

bool ProductFlow::sameInARound(const Expr *X, const Expr *Y, const Expr *At) {
  const auto *A = dyn_cast<ArraySubscriptExpr>(X->IgnoreParenImpCasts());
  const auto *B = dyn_cast<ArraySubscriptExpr>(Y->IgnoreParenImpCasts());
  if (!A || !B || canonical(A->getBase()) != canonical(B->getBase()))
    return canonical(X) == canonical(Y);
  for (const Node *L = Parents.getParent(At); L; L = Parents.getParent(L))
    if (isLoop(L) && (!sameIn(A->getIdx(), L) || (isIn(B, L) && !sameIn(B->getIdx(), L))))
      return true;
  return canonical(X) == canonical(Y);
}

std::vector<ProductFlow::Multiplied> ProductFlow::multiplied() const {
  std::vector<Multiplied> Out;
  for (const Expr *P : Products)
    if (const auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
        B && B->getOpcode() == BO_Mul)
      Out.push_back({B->getLHS(), B->getRHS(), P});
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const CallExpr *C;
    std::vector<Multiplied> &Out;
    Finder(const CallExpr *C, std::vector<Multiplied> &Out) : C(C), Out(Out) {}
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      const Expr *L = argumentFor(C, B->getLHS()), *R = argumentFor(C, B->getRHS());
      if (B->getOpcode() == BO_Mul && isRealType(B->getType()) && L && R)
        Out.push_back({L, R, C});
      return true;
    }
  };
  for (const CallExpr *C : Calls)
    if (const FunctionDecl *Def = nullptr; C->getDirectCallee()->hasBody(Def))
      Finder(C, Out).TraverseStmt(Def->getBody());
  return Out;
}

bool ProductFlow::knownOneWay(const Expr *At) {
  const std::vector<Multiplied> All = multiplied();
  const auto IsKnown = [&](const Expr *Value, const Expr *Factor, const Multiplied &P) {
    const std::string X = canonical(Value), Y = canonical(Factor);
    return llvm::any_of(All, [&](const Multiplied &Q) {
      if (&Q == &P)
        return false;
      const std::string L = canonical(Q.L), R = canonical(Q.R);
      return (X == L && Y == R) || (X == R && Y == L) ||
             (sameInARound(Value, Q.L, P.At) && sameInARound(Factor, Q.R, P.At)) ||
             (sameInARound(Value, Q.R, P.At) && sameInARound(Factor, Q.L, P.At));
    });
  };
  const auto ChangesTo = [&](const Expr *Factor, const Expr *Other, const Multiplied &P) {
    const auto *D = dyn_cast<DeclRefExpr>(Factor->IgnoreParenImpCasts());
    const auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
    if (!V || !V->hasLocalStorage())
      return false;
    llvm::SmallVector<const Expr *, 8> Ways;
    for (const Expr *X : valuesOf(V)) {
      if (const auto *C = dyn_cast<ConditionalOperator>(X->IgnoreParenImpCasts()))
        Ways.append({C->getTrueExpr(), C->getFalseExpr()});
      else
        Ways.push_back(X);
    }
    return Ways.size() > 1 &&
           llvm::any_of(Ways, [&](const Expr *X) { return IsKnown(X, Other, P); });
  };
  return llvm::any_of(All, [&](const Multiplied &P) {
    return P.At == At && (ChangesTo(P.L, P.R, P) || ChangesTo(P.R, P.L, P));
  });
}

bool ProductFlow::branchBetween(const Expr *P, const Expr *R) const {
  if (hasNamedFactor(P))
    return false;
  const unsigned From = Order.lookup(P), To = Order.lookup(R);
  // Is what \p At decides about between both, with an element in one of \p Ways?
  const auto IsBetween = [&](const Node *At, std::initializer_list<const Node *> Ways) {
    const unsigned Here = Order.lookup(At);
    return From < Here && Here < To &&
           llvm::any_of(Ways, [&](const Node *S) { return !isIn(R, S) && readsElement(S); });
  };
  const auto IsBranch = [&](const Node *S) {
    if (const auto *If = dyn_cast<IfStmt>(S))
      return !isIn(R, If) && IsBetween(If, {If->getThen(), If->getElse()});
    if (const auto *C = dyn_cast<ConditionalOperator>(S))
      return !isIn(R, C) && IsBetween(C, {C->getTrueExpr(), C->getFalseExpr()});
    const auto *B = dyn_cast<BinaryOperator>(S);
    return B && B->isLogicalOp() && !isIn(P, B) && IsBetween(B, {B->getRHS()});
  };
  struct Finder : ConstDynamicRecursiveASTVisitor {
    llvm::function_ref<bool(const Node *)> Is;
    bool Found = false;
    explicit Finder(llvm::function_ref<bool(const Node *)> Is) : Is(Is) {}
    bool VisitStmt(const Node *S) override {
      Found |= Is(S);
      return !Found;
    }
  };
  Finder Branches(IsBranch);
  Branches.TraverseStmt(Body);
  return Branches.Found;
}

bool ProductFlow::againBehindBranch(const Expr *P) const {
  if (hasNamedFactor(P) || isa<CompoundAssignOperator>(P))
    return false;
  const std::string Text = canonical(P);
  return llvm::any_of(Products, [&](const Expr *Q) {
    return Q != P && inSum(Q) && Order.lookup(P) < Order.lookup(Q) && canonical(Q) == Text &&
           branchBetween(P, Q);
  });
}

const Expr *ProductFlow::besideLastingProduct() {
  const auto sumIn = [&](const Node *L) -> const Expr * {
    for (const Expr *P : Products)
      if (const Expr *Sum = isIn(P, L) ? inSum(P) : nullptr)
        return Sum;
    for (const auto &[V, P] : Made)
      if (isIn(P, L))
        for (const DeclRefExpr *R : Reads[V])
          if (const Expr *Sum = isIn(R, L) && mayRead(R, V, P) ? inSum(R) : nullptr)
            return Sum;
    return nullptr;
  };
  const auto declaredIn = [&](const VarDecl *V, const Node *L) {
    return llvm::any_of(DeclStmts(), [&, V = V](const auto &X) {
      return X.first->getCanonicalDecl() == V && isIn(X.second, L);
    });
  };
  for (const auto &[V, P] : Made)
    for (const Node *L : InDoubt) {
      if (!isIn(P, L) || declaredIn(V, L))
        continue;
      // (`y *= x` is read in the next round, by itself.)
      const bool ByItself = isa<CompoundAssignOperator>(P);
      const bool Lasts = llvm::any_of(Reads[V], [&, P = P, V = V](const DeclRefExpr *R) {
        return ByItself ? isIn(R, L) && !isIn(R, P)
                        : mayRead(R, V, P) && (!isIn(R, L) || Order.lookup(R) < Order.lookup(P));
      });
      if (const Expr *Sum = Lasts ? sumIn(L) : nullptr)
        return Sum;
    }
  return nullptr;
}

bool ProductFlow::mayLeaveIn(const CallExpr *C, unsigned Nested) const {
  const FunctionDecl *Def = nullptr;
  if (!C->getDirectCallee() || !C->getDirectCallee()->hasBody(Def))
    return false;
  if (Nested > 3 || llvm::any_of(C->arguments(), [&](const Expr *A) {
        return isRealType(A->getType()) && (isNumber(A) || isNamed(A, 0));
      }))
    return true;
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const ProductFlow &Of;
    unsigned Nested;
    bool Found = false;
    Finder(const ProductFlow &Of, unsigned Nested) : Of(Of), Nested(Nested) {}
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      Found |= isRealType(B->getType()) && (B->isAdditiveOp() || B->isCompoundAssignmentOp()) &&
               (Of.isNumber(B->getLHS()) || Of.isNumber(B->getRHS()));
      return !Found;
    }
    bool VisitCallExpr(const CallExpr *Inner) override {
      Found |= Of.mayLeaveIn(Inner, Nested + 1);
      return !Found;
    }
  } X(*this, Nested);
  X.TraverseStmt(Def->getBody());
  return X.Found;
}

bool ProductFlow::mayLeave(const Expr *Sum, const Node *P) const {
  const auto *B = dyn_cast<BinaryOperator>(Sum);
  if (!B)
    return true;
  const Expr *Other = isIn(P, B->getLHS()) ? B->getRHS() : B->getLHS();
  if (isNumber(Other) || isNamed(Other, 0))
    return true;
  const VarDecl *V = rootVar(Other);
  const auto IsNumber = [&](const Expr *E) { return isNumber(E) || isa<InitListExpr>(E); };
  return V && !isa<ParmVarDecl>(V) && llvm::any_of(valuesOf(V), IsNumber);
}

bool ProductFlow::conditionBetween(const Node *E, const Node *Use, bool Loops) const {
  for (const Node *S = Parents.getParent(Use); S && !isIn(E, S); S = Parents.getParent(S))
    if (isa<IfStmt, SwitchStmt>(S) || (Loops && isLoop(S)))
      return true;
  const unsigned From = Order.lookup(E), To = Order.lookup(Use);
  return llvm::any_of(Order, [&](const auto &X) {
    return X.second > From && X.second < To && isa<ReturnStmt>(X.first);
  });
}

bool ProductFlow::neededBehind(const Node *E, unsigned Nested) const {
  const Node *Top = E;
  while (isa_and_nonnull<Expr>(Parents.getParent(Top)) && !assigned(Top))
    Top = Parents.getParent(Top);
  const VarDecl *V = assigned(Top);
  const auto Of = V ? Reads.find(V->getCanonicalDecl()) : Reads.end();
  if (Of == Reads.end() || V->hasAttr<CUDASharedAttr>() || V->getType()->isPointerType() ||
      Nested > 4)
    return false;
  return llvm::all_of(Of->second, [&](const DeclRefExpr *R) {
    return conditionBetween(E, R) || neededBehind(R, Nested + 1);
  });
}

bool ProductFlow::mayBeParted(const Expr *P, const Node *Use, const Expr *Sum) const {
  return Kernel && !hasNamedFactor(P) && mayLeave(Sum, Use) && neededBehind(Sum, 0);
}

bool ProductFlow::mayStayInFront(const Expr *P, const Node *Use) const {
  return !hasNamedFactor(P) && conditionBetween(P, Use, /*Loops=*/false);
}

void ProductFlow::eachOfOneBlock(
    llvm::function_ref<void(const Node *, const Node *, bool)> Each) {
  llvm::SmallPtrSet<const Expr *, 8> Summed;
  const auto EachSum = [&](const Expr *P, const Expr *Use, const Expr *Sum) {
    Each(P, Sum, mayLeave(Sum, Use));
    Summed.insert(P);
  };
  for (const Expr *P : Products)
    if (const Expr *Sum = hasNamedFactor(P) ? nullptr : inSum(P))
      EachSum(P, P, Sum);
  for (const auto &[V, P] : Made)
    if (!hasNamedFactor(P))
      for (const DeclRefExpr *R : Reads[V])
        if (const Expr *Sum = mayRead(R, V, P) ? inSum(R) : nullptr)
          EachSum(P, R, Sum);
  // The product of one round is another's where nothing of it changes: from the loop on.
  for (const Expr *P : Summed)
    for (const Node *L = Parents.getParent(P); L; L = Parents.getParent(L))
      if (isLoop(L) && sameIn(P, L))
        Each(L, L, false);
  for (const CallExpr *C : Calls)
    if (const FunctionDecl *Def = nullptr;
        C->getDirectCallee()->hasBody(Def) && hasSum(Def->getBody()))
      Each(C, C, mayLeaveIn(C, 0));
}

bool ProductFlow::sumsInBlocks(const VarDecl *V, const Expr *P) {
  if (hasNamedFactor(P))
    return false;
  // What decides about a use and not about the product, from the inside: the branch or
  // choice, and its arm.
  using Arms = llvm::SmallVector<std::pair<const Node *, const Node *>, 4>;
  const auto armsOver = [&](const Node *Use) {
    Arms Out;
    for (const Node *S = Use, *Up = Parents.getParent(S); Up && !isIn(P, Up);
         S = Up, Up = Parents.getParent(Up)) {
      const auto *If = dyn_cast<IfStmt>(Up);
      const Expr *Cond = If ? conditionOf(If) : nullptr;
      const auto *Choice = dyn_cast<ConditionalOperator>(Up);
      const auto *Logical = dyn_cast<BinaryOperator>(Up);
      if ((Cond && Cond != S && !Cond->isEvaluatable(Context)) ||
          (Choice && Choice->getCond() != S) || isa<SwitchStmt>(Up) ||
          (Logical && Logical->isLogicalOp() && Logical->getRHS() == S))
        Out.emplace_back(Up, S);
    }
    return Out;
  };
  std::optional<Arms> First;
  for (const DeclRefExpr *R : Reads[V])
    if (inSum(R) && mayRead(R, V, P)) {
      const Arms Over = armsOver(R);
      if (First && *First != Over)
        return true;
      First = Over;
    }
  return false;
}

} // namespace rcache
