// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductFlow.h: products that are one where compilers see that they have the same
// factors, by whatever name, in whatever function and in whatever round of a loop. Of two
// that different conditions decide about the one is in another block of code then, and what
// is fused with it hangs on how the statements stand:
//
//     for (k = 0; k < 5; k++) x += s[t + k] * s[t + k];
//     y = s[t + 2];  if (g < n) out[g] = x - y * y;
//
// What is not known to be another value counts as the same.

#include "ProductFlow.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <functional>

using namespace clang;
using namespace rcache;

const Expr *rcache::argumentFor(const CallExpr *C, const Expr *E) {
  const auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = D ? dyn_cast<ParmVarDecl>(D->getDecl()) : nullptr;
  if (!V)
    return isa<FloatingLiteral>(E->IgnoreParenImpCasts()) ? E : nullptr;
  // The first argument of `op(a, b)` is the object.
  const unsigned I = V->getFunctionScopeIndex() +
                     (isa<CXXOperatorCallExpr>(C) && isa<CXXMethodDecl>(C->getDirectCallee()));
  return I < C->getNumArgs() ? C->getArg(I) : nullptr;
}

/// May something that \p C calls multiply?
static bool hasProduct(const CallExpr *C) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    unsigned Nested = 0;
    bool Found = false;
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      Found |= isRealType(B->getType()) && B->isMultiplicativeOp();
      Found |= B->getOpcode() == BO_MulAssign || B->getOpcode() == BO_DivAssign;
      return !Found;
    }
    bool VisitCallExpr(const CallExpr *Inner) override {
      const FunctionDecl *Def = nullptr;
      if (!Inner->getDirectCallee() || Nested > 4)
        Found = true;
      else if (Inner->getDirectCallee()->hasBody(Def) && !Def->getBuiltinID()) {
        ++Nested;
        TraverseStmt(Def->getBody());
        --Nested;
      } else
        Found |= isRealType(Inner->getType()) && mayEndInProduct(Inner);
      return !Found;
    }
  } X;
  X.VisitCallExpr(C);
  return X.Found;
}

std::vector<ProductFlow::Multiplied> ProductFlow::allMultiplied() const {
  std::vector<Multiplied> Out;
  const auto add = [&](const Expr *P) {
    const auto *B = dyn_cast<BinaryOperator>(P->IgnoreParenImpCasts());
    if (B && (B->getOpcode() == BO_Mul || B->getOpcode() == BO_MulAssign))
      Out.push_back({B->getLHS(), B->getRHS(), P});
    const auto *C = B ? nullptr : dyn_cast<CallExpr>(P->IgnoreParenImpCasts());
    if (!B && !(C && llvm::is_contained(Calls, C) && !hasProduct(C)))
      Out.push_back({nullptr, nullptr, P});
  };
  for (const Expr *P : Products)
    add(P);
  for (const auto &[V, P] : Made)
    if (isa<CompoundAssignOperator>(P))
      add(P);
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const CallExpr *C;
    std::vector<Multiplied> &Out;
    Finder(const CallExpr *C, std::vector<Multiplied> &Out) : C(C), Out(Out) {}
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      if (!isRealType(B->getType()) ||
          (B->getOpcode() != BO_Mul && B->getOpcode() != BO_MulAssign))
        return true;
      const Expr *L = argumentFor(C, B->getLHS()), *R = argumentFor(C, B->getRHS());
      Out.push_back({L && R ? L : nullptr, L && R ? R : nullptr, C});
      return true;
    }
    bool VisitCallExpr(const CallExpr *Inner) override {
      if (isRealType(Inner->getType()) && mayEndInProduct(Inner))
        Out.push_back({nullptr, nullptr, C});
      return true;
    }
  };
  for (const CallExpr *C : Calls)
    if (const FunctionDecl *Def = nullptr; C->getDirectCallee()->hasBody(Def))
      Finder(C, Out).TraverseStmt(Def->getBody());
  return Out;
}

void ProductFlow::madeOf(const Node *S, Variables &Out) const {
  if (!S)
    return;
  if (const auto *D = dyn_cast<DeclRefExpr>(S)) {
    const auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (V && Out.insert(V->getCanonicalDecl()).second)
      for (const Expr *E : valuesOf(V)) // of shared memory: what is staged
        madeOf(E, Out);
    return;
  }
  // (Of an array's elements any may be the one.)
  if (const auto *A = dyn_cast<ArraySubscriptExpr>(S))
    return madeOf(A->getBase(), Out);
  if (const auto *C = dyn_cast<ConditionalOperator>(S)) {
    madeOf(C->getTrueExpr(), Out);
    return madeOf(C->getFalseExpr(), Out);
  }
  for (const Node *C : S->children())
    madeOf(C, Out);
}

/// \p E without what turns its sign.
static const Expr *unsignedOf(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  while (const auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() != UO_Minus && U->getOpcode() != UO_Plus)
      break;
    E = U->getSubExpr()->IgnoreParenImpCasts();
  }
  return E;
}

const Expr *ProductFlow::onlyValue(const Expr *E) const {
  for (unsigned Nested = 0; Nested < 8; ++Nested) {
    E = unsignedOf(E);
    const auto *D = dyn_cast<DeclRefExpr>(E);
    const auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
    if (!V || isa<ParmVarDecl>(V) || !V->hasLocalStorage() || !V->getInit() ||
        V->getType()->isReferenceType() ||
        llvm::any_of(Set, [&](const auto &X) { return X.first == V->getCanonicalDecl(); }))
      return E;
    E = V->getInit();
  }
  return E;
}

bool ProductFlow::isOneText(const Node *S) const {
  if (const auto *D = dyn_cast_or_null<DeclRefExpr>(S)) {
    const auto *V = dyn_cast<VarDecl>(D->getDecl());
    return !V || llvm::none_of(Set, [&](const auto &X) {
      return X.first == V->getCanonicalDecl();
    });
  }
  return !S || llvm::all_of(S->children(), [&](const Node *C) { return isOneText(C); });
}

std::pair<std::string, int64_t> ProductFlow::sumOfIndex(const Expr *E) const {
  std::vector<std::string> Terms;
  int64_t Number = 0;
  const std::function<void(const Expr *, int)> add = [&](const Expr *X, int Sign) {
    X = onlyValue(X);
    Expr::EvalResult R;
    if (!X->isValueDependent() && X->EvaluateAsInt(R, Context)) {
      Number += Sign * R.Val.getInt().getExtValue();
      return;
    }
    const auto *B = dyn_cast<BinaryOperator>(X);
    if (B && (B->getOpcode() == BO_Add || B->getOpcode() == BO_Sub)) {
      add(B->getLHS(), Sign);
      return add(B->getRHS(), B->getOpcode() == BO_Add ? Sign : -Sign);
    }
    Terms.push_back((Sign < 0 ? "-" : "+") + canonical(X));
  };
  add(E, 1);
  llvm::sort(Terms);
  return {llvm::join(Terms, ""), Number};
}

bool ProductFlow::areOtherElements(const Expr *X, const Expr *Y) const {
  const auto *A = dyn_cast<ArraySubscriptExpr>(onlyValue(X)),
             *B = dyn_cast<ArraySubscriptExpr>(onlyValue(Y));
  bool Differ = false;
  while (A && B) {
    if (!isOneText(A->getIdx()) || !isOneText(B->getIdx()))
      return false;
    const auto I = sumOfIndex(A->getIdx()), J = sumOfIndex(B->getIdx());
    Differ |= I.first == J.first && I.second != J.second;
    const Expr *OfA = A->getBase()->IgnoreParenImpCasts(),
               *OfB = B->getBase()->IgnoreParenImpCasts();
    const auto *V = dyn_cast<DeclRefExpr>(OfA), *W = dyn_cast<DeclRefExpr>(OfB);
    if (V && W)
      return Differ && V->getDecl() == W->getDecl();
    A = dyn_cast<ArraySubscriptExpr>(OfA);
    B = dyn_cast<ArraySubscriptExpr>(OfB);
  }
  return false;
}

bool ProductFlow::mayBeEqual(const Expr *X, const Expr *Y, bool Rounds) const {
  if (!Rounds && areOtherElements(X, Y))
    return false;
  // A sum is no element, and no quotient.
  const auto *A = dyn_cast<BinaryOperator>(onlyValue(X)),
             *B = dyn_cast<BinaryOperator>(onlyValue(Y));
  const auto *C = dyn_cast<ArraySubscriptExpr>(onlyValue(X)),
             *D = dyn_cast<ArraySubscriptExpr>(onlyValue(Y));
  if ((A && B && A->getOpcode() != B->getOpcode() && !A->isAdditiveOp()) || (A && D) || (B && C))
    return false;
  Variables OfX, OfY;
  madeOf(X, OfX);
  madeOf(Y, OfY);
  return llvm::any_of(OfX, [&](const VarDecl *V) { return OfY.contains(V); });
}

bool ProductFlow::mayBeOne(const Multiplied &P, const Multiplied &Q, bool Rounds) const {
  if (!P.L || !Q.L)
    return mayBeEqual(P.At, Q.At, true);
  return (mayBeEqual(P.L, Q.L, Rounds) && mayBeEqual(P.R, Q.R, Rounds)) ||
         (mayBeEqual(P.L, Q.R, Rounds) && mayBeEqual(P.R, Q.L, Rounds));
}

const Expr *ProductFlow::sumOf(const Expr *P) {
  if (llvm::is_contained(Calls, P)) {
    const FunctionDecl *Def = nullptr;
    if (cast<CallExpr>(P)->getDirectCallee()->hasBody(Def) && hasSum(Def->getBody()))
      return P;
  }
  if (const Expr *Sum = inSum(P))
    return Sum;
  for (const auto &[V, Q] : Made)
    if (Q == P)
      for (const DeclRefExpr *R : Reads[V])
        if (const Expr *Sum = mayRead(R, V, P) ? inSum(R) : nullptr)
          return Sum;
  return nullptr;
}

const Expr *ProductFlow::twinsApart() {
  const std::vector<Multiplied> All = allMultiplied();
  const auto named = [&](const Multiplied &P) {
    return P.L && (isNamed(P.L, 0) || isNamed(P.R, 0));
  };
  const auto decidedAlone = [&](const Node *A, const Node *B) {
    for (const Node *S = Parents.getParent(A); S && !isIn(B, S); S = Parents.getParent(S))
      if (isa<ConditionalOperator>(S))
        return true;
    return conditionBetween(B, A, /*Loops=*/false);
  };
  const auto inLoop = [&](const Node *A) {
    return llvm::any_of(Loops, [&](const Node *L) { return isIn(A, L); });
  };
  for (const Multiplied &P : All) {
    const Expr *Sum = named(P) ? nullptr : sumOf(P.At);
    if (!Sum)
      continue;
    for (const Multiplied &Q : All)
      if (Q.At != P.At && (decidedAlone(P.At, Q.At) || decidedAlone(Q.At, P.At)) &&
          mayBeOne(P, Q, inLoop(P.At) || inLoop(Q.At)))
        return Sum;
  }
  return nullptr;
}

void ProductFlow::takeFromCalls() {
  for (const CallExpr *C : RecordCalls)
    if (const VarDecl *V = assigned(outermost(C)))
      if (mayMultiply(C) ||
          llvm::any_of(C->arguments(), [&](const Expr *A) { return addsProduct(A); })) {
        make(V, C);
        Handed.insert(V->getCanonicalDecl());
      }
  for (const CallExpr *C : Calls) {
    if (!mayMultiply(C))
      continue;
    const FunctionDecl *F = C->getDirectCallee();
    const unsigned First = isa<CXXOperatorCallExpr>(C) && isa<CXXMethodDecl>(F);
    for (unsigned I = First; I < C->getNumArgs() && I - First < F->getNumParams(); ++I) {
      const QualType T = F->getParamDecl(I - First)->getType();
      const QualType To = T->isReferenceType() || T->isPointerType() ? T->getPointeeType()
                                                                      : QualType();
      if (To.isNull() || To.isConstQualified())
        continue;
      const Expr *A = C->getArg(I)->IgnoreParenImpCasts();
      if (const auto *U = dyn_cast<UnaryOperator>(A); U && U->getOpcode() == UO_AddrOf)
        A = U->getSubExpr();
      if (const VarDecl *V = rootVar(A);
          V && V->hasLocalStorage() && !V->getType()->isPointerType()) {
        make(V, C);
        Handed.insert(V->getCanonicalDecl());
      }
    }
  }
}

bool ProductFlow::isPartOfResult(const Expr *E) const {
  const auto *M = dyn_cast<MemberExpr>(unsignedOf(E));
  const Expr *Base = M ? M->getBase()->IgnoreParenImpCasts() : nullptr;
  if (const auto *T = dyn_cast_or_null<MaterializeTemporaryExpr>(Base))
    Base = T->getSubExpr()->IgnoreParenImpCasts();
  const auto *C = dyn_cast_or_null<CallExpr>(Base);
  return C && (hasProduct(C) ||
               llvm::any_of(C->arguments(), [&](const Expr *A) { return addsProduct(A); }));
}

bool ProductFlow::comesInParts(const Expr *E) const {
  E = unsignedOf(E);
  const VarDecl *V = rootVar(E);
  if (!V || !V->hasLocalStorage())
    return false;
  return holdsProduct(V->getCanonicalDecl()) &&
         (isa<ArraySubscriptExpr, MemberExpr>(E) || Handed.contains(V->getCanonicalDecl()) ||
          llvm::any_of(valuesOf(V), [&](const Expr *X) {
            return isa<ArraySubscriptExpr, MemberExpr>(unsignedOf(X)) && comesInParts(X);
          }));
}

bool ProductFlow::isSetOneWay(const Expr *E, const Node *Sum) const {
  const auto *D = dyn_cast<DeclRefExpr>(unsignedOf(E));
  const auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && llvm::any_of(Set, [&](const auto &X) {
           return X.first == V->getCanonicalDecl() && X.second != Sum &&
                  conditionBetween(Sum, X.second, /*Loops=*/false);
         });
}

bool ProductFlow::neededBehindLoop(const Expr *E, const Expr *Sum, unsigned Nested) const {
  const Node *Top = E;
  while (isa_and_nonnull<Expr>(Parents.getParent(Top)) && !assigned(Top) &&
         !isa<CompoundAssignOperator>(Top))
    Top = Parents.getParent(Top);
  // (What a round hands on stays in its loop.)
  if (llvm::any_of(InDoubt, [&](const Node *L) { return isIn(Sum, L); }))
    return false;
  const auto *Compound = dyn_cast<CompoundAssignOperator>(Top);
  const VarDecl *V = Compound ? rootVar(Compound->getLHS()) : assigned(Top);
  const auto Of = V && Nested < 5 ? Reads.find(V->getCanonicalDecl()) : Reads.end();
  if (Of == Reads.end())
    return false;
  const auto isBehind = [&](const DeclRefExpr *R) {
    return llvm::any_of(InDoubt, [&](const Node *L) {
      return Order.lookup(Sum) < Order.lookup(L) && Order.lookup(L) < Order.lookup(R) &&
             !isIn(R, L);
    });
  };
  bool Any = false;
  for (const DeclRefExpr *R : Of->second) {
    if (isIn(R, Top) || Order.lookup(R) < Order.lookup(Top))
      continue;
    if (!isBehind(R) && !neededBehindLoop(R, Sum, Nested + 1))
      return false;
    Any = true;
  }
  return Any;
}

const Expr *ProductFlow::movedSum() {
  for (const BinaryOperator *B : Sums) {
    if (isPartOfResult(B->getLHS()) || isPartOfResult(B->getRHS()))
      return B;
    // Products of no named factor alone: the others are fused wherever they stand.
    bool Unnamed = false;
    for (const Expr *E : {B->getLHS(), B->getRHS()})
      for (const Expr *P : operands(E))
        Unnamed |= mayBeProduct(P) && !hasNamedFactor(unsignedOf(P));
    if (!Unnamed)
      continue;
    if (isSetOneWay(B->getLHS(), B) || isSetOneWay(B->getRHS(), B) || neededBehindLoop(B, B, 0))
      return B;
    if (isSumOfTwo(B) && (comesInParts(B->getLHS()) || comesInParts(B->getRHS())))
      return B;
  }
  return nullptr;
}
