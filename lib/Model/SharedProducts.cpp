// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedProducts.h.

#include "SharedProducts.h"
#include "rcache/Model.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLExtras.h"
#include <array>

using namespace clang;

namespace rcache {

namespace {

const VarDecl *variable(const Expr *E) {
  const auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  return R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
}

/// Without parentheses, conversions and a sign.
const Expr *bare(const Expr *E) {
  for (E = E->IgnoreParenCasts();;) {
    const auto *U = dyn_cast<UnaryOperator>(E);
    if (!U || (U->getOpcode() != UO_Minus && U->getOpcode() != UO_Plus))
      return E;
    E = U->getSubExpr()->IgnoreParenCasts();
  }
}

bool isNumber(const Expr *E, const ASTContext &AC) {
  return !E->isValueDependent() && E->isEvaluatable(AC);
}

/// The variable of constant memory that \p E is (an element of); null: none.
const VarDecl *inConstantMemory(const Expr *E, std::vector<const Expr *> &Indices) {
  for (E = E->IgnoreParenImpCasts();;) {
    if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
      Indices.push_back(A->getIdx());
      E = A->getBase()->IgnoreParenImpCasts();
    } else if (const auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow()) {
      E = M->getBase()->IgnoreParenImpCasts();
    } else {
      break;
    }
  }
  const VarDecl *V = variable(E);
  return V && V->hasAttr<CUDAConstantAttr>() && !V->getType()->isPointerType() ? V
                                                                              : nullptr;
}

/// Counters of loops, `for (int k = 0; ..`, and variables set elsewhere than there.
struct Variables : ConstDynamicRecursiveASTVisitor {
  llvm::SmallPtrSet<const VarDecl *, 8> Counters, Changed;
  llvm::DenseMap<const VarDecl *, unsigned> Mentions;

  bool VisitDeclRefExpr(const DeclRefExpr *R) override {
    if (const auto *V = dyn_cast<VarDecl>(R->getDecl()))
      ++Mentions[V];
    return true;
  }
  bool VisitForStmt(const ForStmt *F) override {
    if (const auto *D = dyn_cast_or_null<DeclStmt>(F->getInit()))
      for (const Decl *X : D->decls())
        if (const auto *V = dyn_cast<VarDecl>(X); V && V->getInit())
          Counters.insert(V);
    Headers.insert(F->getInc());
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp() && !Headers.count(B))
      set(B->getLHS());
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if ((U->isIncrementDecrementOp() && !Headers.count(U)) || U->getOpcode() == UO_AddrOf)
      set(U->getSubExpr());
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    if (const FunctionDecl *F = C->getDirectCallee())
      for (unsigned I = 0; I < std::min(F->getNumParams(), C->getNumArgs()); ++I)
        if (F->getParamDecl(I)->getType()->isReferenceType())
          set(C->getArg(I));
    return true;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getType()->isReferenceType() && V->getInit())
      set(V->getInit());
    return true;
  }

private:
  llvm::SmallPtrSet<const clang::Stmt *, 8> Headers;

  void set(const Expr *E) {
    E = E->IgnoreParenCasts();
    while (const auto *M = dyn_cast<MemberExpr>(E))
      E = M->getBase()->IgnoreParenCasts();
    if (const VarDecl *V = variable(E))
      Changed.insert(V);
  }
};

/// Counters in \p E; false: something else in it may change from round to round.
bool countersIn(const clang::Stmt *S, const llvm::SmallPtrSetImpl<const VarDecl *> &Counters,
                const llvm::SmallPtrSetImpl<const VarDecl *> &Changed,
                llvm::SmallPtrSetImpl<const VarDecl *> &Found, unsigned Depth = 0) {
  if (!S)
    return true;
  if (Depth > 16 || isa<CallExpr>(S))
    return false;
  if (const auto *R = dyn_cast<DeclRefExpr>(S)) {
    const auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V || isa<ParmVarDecl>(V) || V->hasGlobalStorage())
      return !V || !Changed.count(V) || V->hasGlobalStorage();
    if (Counters.count(V)) {
      Found.insert(V);
      return !Changed.count(V);
    }
    return !Changed.count(V) && V->getInit() &&
           countersIn(V->getInit(), Counters, Changed, Found, Depth + 1);
  }
  if (isa<PseudoObjectExpr>(S)) // threadIdx.x
    return true;
  return llvm::all_of(S->children(), [&](const clang::Stmt *C) {
    return countersIn(C, Counters, Changed, Found, Depth + 1);
  });
}

/// A sum of counters, each in one term with a positive factor of its own, and of what
/// stays: different counters give different places, row by row. \p Seen: those found.
bool isPlaceByPlace(const Expr *E, const llvm::SmallPtrSetImpl<const VarDecl *> &Counters,
                    llvm::SmallPtrSetImpl<const VarDecl *> &Seen, bool Minus = false) {
  E = E->IgnoreParenImpCasts();
  if (const VarDecl *V = variable(E)) {
    if (!Counters.count(V)) // nothing of the thread
      return isa<ParmVarDecl>(V) || isNumber(E, V->getASTContext());
    return Seen.insert(V).second && !Minus;
  }
  if (isa<IntegerLiteral, ConstantExpr, SubstNonTypeTemplateParmExpr>(E))
    return true;
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B)
    return false;
  if (B->getOpcode() == BO_Add)
    return isPlaceByPlace(B->getLHS(), Counters, Seen, Minus) &&
           isPlaceByPlace(B->getRHS(), Counters, Seen, Minus);
  if (B->getOpcode() == BO_Sub)
    return isPlaceByPlace(B->getLHS(), Counters, Seen, Minus) &&
           isPlaceByPlace(B->getRHS(), Counters, Seen, true);
  if (B->getOpcode() == BO_Mul)
    return isPlaceByPlace(B->getLHS(), Counters, Seen, Minus) &&
           isPlaceByPlace(B->getRHS(), Counters, Seen, Minus);
  return false;
}

} // namespace

SharedProducts::SharedProducts(const FunctionDecl *Kernel,
                               llvm::function_ref<unsigned(const Expr *)> DependsOn,
                               unsigned Axes)
    : Kernel(Kernel), DependsOn(DependsOn), Axes(Axes) {
  Variables V;
  V.TraverseStmt(Kernel->getBody());
  for (const VarDecl *X : V.Counters)
    Counters.insert(X);
  for (const VarDecl *X : V.Changed)
    Changed.insert(X);
  Mentions = std::move(V.Mentions);
}

/// Pointers that \p S reads through are named once in the kernel, so that nothing that
/// is staged is the same value.
static bool namedOnce(const clang::Stmt *S,
                      const llvm::DenseMap<const VarDecl *, unsigned> &Mentions,
                      const llvm::SmallPtrSetImpl<const VarDecl *> &Changed,
                      unsigned Depth = 0) {
  if (!S || isa<PseudoObjectExpr>(S)) // threadIdx.x
    return true;
  if (Depth > 16 || isa<CallExpr>(S))
    return false;
  // Two threads may share what an index rounds down to.
  if (const auto *B = dyn_cast<BinaryOperator>(S);
      B && B->getType()->isIntegralOrEnumerationType() && !B->isAdditiveOp() &&
      B->getOpcode() != BO_Mul)
    return false;
  if (isa<AbstractConditionalOperator>(S))
    return false;
  if (const auto *R = dyn_cast<DeclRefExpr>(S)) {
    const auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V || Changed.count(V))
      return !V;
    if (V->getType()->isPointerType())
      return isa<ParmVarDecl>(V) && Mentions.lookup(V) == 1;
    if (isa<ParmVarDecl>(V))
      return true;
    return !V->hasGlobalStorage() && !V->getType()->isReferenceType() &&
           namedOnce(V->getInit(), Mentions, Changed, Depth + 1);
  }
  return llvm::all_of(S->children(), [&](const clang::Stmt *C) {
    return namedOnce(C, Mentions, Changed, Depth + 1);
  });
}

/// Another value for each thread of a block, and nothing that windows hold.
bool SharedProducts::isOfOneOutput(const Expr *E) const {
  const unsigned D = DependsOn(E);
  return Axes && (D & Axes) == Axes && !(D & DepShared) &&
         namedOnce(E, Mentions, Changed);
}

/// Numbers and counters of loops, which are numbers once these are unrolled.
bool SharedProducts::isFixedIndex(const Expr *E) const {
  const ASTContext &AC = Kernel->getASTContext();
  E = E->IgnoreParenCasts();
  if (isNumber(E, AC))
    return true;
  if (const VarDecl *V = variable(E))
    return Counters.count(V) && !Changed.count(V) && V->getInit() &&
           isNumber(V->getInit(), AC);
  if (const auto *B = dyn_cast<BinaryOperator>(E))
    return !B->isAssignmentOp() && isFixedIndex(B->getLHS()) && isFixedIndex(B->getRHS());
  if (const auto *U = dyn_cast<UnaryOperator>(E))
    return !U->isIncrementDecrementOp() && U->getOpcode() != UO_Deref &&
           isFixedIndex(U->getSubExpr());
  return false;
}

/// An operand that instructions name: a number, a parameter, constant memory.
bool SharedProducts::isFixed(const Expr *E) const {
  E = bare(E);
  if (isNumber(E, Kernel->getASTContext()))
    return true;
  std::vector<const Expr *> Indices;
  if (inConstantMemory(E, Indices))
    return llvm::all_of(Indices, [&](const Expr *I) { return isFixedIndex(I); });
  const bool Real = E->getType()->isRealFloatingType();
  for (const auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow();
       M = dyn_cast<MemberExpr>(E))
    E = M->getBase()->IgnoreParenImpCasts();
  const VarDecl *V = variable(E);
  if (!V || !Real || V->getType()->isReferenceType() || Changed.count(V))
    return false;
  if (isa<ParmVarDecl>(V))
    return llvm::is_contained(Kernel->parameters(), V);
  // A name for one.
  return V->hasLocalStorage() && V->getInit() && !Counters.count(V) &&
         Kernel->getASTContext().hasSameUnqualifiedType(V->getType(), V->getInit()->getType()) &&
         isFixed(V->getInit());
}

bool SharedProducts::tellsTapsApart(const Expr *Factor, const Expr *Other) const {
  const Expr *E = bare(Factor);
  llvm::SmallPtrSet<const VarDecl *, 4> InFactor, InOther, Seen;
  if (!isa<ArraySubscriptExpr>(E) ||
      !countersIn(Other, Counters, Changed, InOther))
    return false;
  while (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    if (!isPlaceByPlace(A->getIdx(), Counters, Seen))
      return false;
    E = A->getBase()->IgnoreParenImpCasts();
  }
  return variable(E) && !Changed.count(variable(E)) &&
         llvm::all_of(InOther, [&](const VarDecl *V) { return Seen.count(V); });
}

bool SharedProducts::hasFixedFactor(const BinaryOperator *B) {
  const ASTContext *AC = nullptr;
  auto Fixed = [&](const Expr *E) {
    E = bare(E);
    if (isa<FloatingLiteral, IntegerLiteral>(E))
      return true;
    const VarDecl *V = variable(E);
    if (!V)
      return false;
    AC = &V->getASTContext();
    return isNumber(E, *AC) ||
           (V->hasAttr<CUDAConstantAttr>() && V->getType()->isRealFloatingType());
  };
  if (B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign)
    return true; // by a number it is a product with one, else none
  return Fixed(B->getRHS()) || (!B->isAssignmentOp() && Fixed(B->getLHS()));
}

bool SharedProducts::areFusedAnyway(ArrayRef<const BinaryOperator *> Products) const {
  std::vector<llvm::FoldingSetNodeID> Taps;
  return llvm::all_of(Products, [&](const BinaryOperator *B) {
    if (B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign)
      return true;
    const Expr *L = B->getLHS(), *R = B->getRHS();
    if (isFixed(R) || isOfOneOutput(R) ||
        (!B->isAssignmentOp() && (isFixed(L) || isOfOneOutput(L))))
      return true;
    if (B->isAssignmentOp())
      return false;
    for (const auto &[Factor, Other] : {std::pair(L, R), std::pair(R, L)}) {
      if (!tellsTapsApart(Factor, Other))
        continue;
      // The same factor in two products: it tells their taps apart no more.
      llvm::FoldingSetNodeID Id;
      bare(Factor)->Profile(Id, Kernel->getASTContext(), /*Canonical=*/true);
      if (llvm::is_contained(Taps, Id))
        return false;
      Taps.push_back(Id);
      return true;
    }
    return false;
  });
}

} // namespace rcache
