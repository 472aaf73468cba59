// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SharedProducts.h.

#include "SharedProducts.h"
#include "BuiltinVars.h"
#include "Locals.h"
#include "rcache/Model.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/STLExtras.h"

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

/// Is \p E a variable of constant memory, or an element of one at \p Indices?
bool inConstantMemory(const Expr *E, std::vector<const Expr *> &Indices) {
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
  return V && V->hasAttr<CUDAConstantAttr>() && !V->getType()->isPointerType();
}

/// Counters of loops, `for (int k = 0; ..`, and variables set elsewhere than
/// there.
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
    if ((U->isIncrementDecrementOp() && !Headers.count(U)) ||
        U->getOpcode() == UO_AddrOf)
      set(U->getSubExpr());
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    if (const FunctionDecl *F = C->getDirectCallee())
      for (unsigned I = 0; I < std::min(F->getNumParams(), C->getNumArgs());
           ++I)
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

/// A place that a product's factors are read from: what its index is made of.
struct Place {
  const VarDecl *Root = nullptr;
  llvm::SmallVector<const Expr *, 3> Index;
};

/// What an index adds up: coordinates of the thread (0 to 2) and counters of
/// loops, and whether a number stands in front of each.
struct Terms {
  llvm::SmallVector<std::pair<const void *, bool>, 4> All;
  bool Linear = true;
};

const char AxisOf[3] = {}; ///< their addresses stand for the axes

class Injective {
public:
  Injective(const llvm::SmallPtrSetImpl<const VarDecl *> &Counters,
            const llvm::SmallPtrSetImpl<const VarDecl *> &Changed,
            const llvm::DenseMap<const VarDecl *, unsigned> &Mentions)
      : Counters(Counters), Changed(Changed), Mentions(Mentions) {}

  /// Do the places that \p L and \p R are made of tell all threads (of \p Axes)
  /// and all rounds of the loops in them apart? Products commute: two elements
  /// of one array may change places.
  bool product(const Expr *L, const Expr *R, bool Same, unsigned Axes) {
    read(L, 0);
    if (!Same)
      read(R, 0);
    return tellApart(Axes);
  }

  /// Does the factor \p F alone, which is then not another output's factor \p Other
  /// either: no value goes into both?
  bool factor(const Expr *F, const Expr *Other, unsigned Axes) {
    read(F, 0);
    llvm::SmallPtrSet<const VarDecl *, 8> Roots;
    roots(Other, Roots, 0);
    return llvm::none_of(Places, [&](const Place &P) { return Roots.count(P.Root); }) &&
           tellApart(Axes);
  }

private:
  bool tellApart(unsigned Axes) {
    if (!Known)
      return false;
    for (size_t I = 0; I < Places.size(); ++I)
      for (size_t J = 0; J < I; ++J)
        if (Places[I].Root == Places[J].Root)
          return false;
    llvm::SmallPtrSet<const void *, 8> Wanted, Solved;
    for (unsigned A = 0; A < 3; ++A)
      if (Axes & (DepThreadX << A))
        Wanted.insert(&AxisOf[A]);
    std::vector<Terms> Sums;
    for (const Place &P : Places)
      for (const Expr *I : P.Index) {
        Terms T;
        terms(I, false, T, 0);
        Known &= T.Linear;
        for (const auto &[V, Factor] : T.All)
          Wanted.insert(V);
        Sums.push_back(std::move(T));
      }
    if (!Known)
      return false;
    for (bool More = true; More;) {
      More = false;
      for (const Terms &T : Sums)
        More |= solve(T, Solved);
    }
    return llvm::all_of(Wanted, [&](const void *V) { return Solved.count(V); });
  }

  const llvm::SmallPtrSetImpl<const VarDecl *> &Counters, &Changed;
  const llvm::DenseMap<const VarDecl *, unsigned> &Mentions;
  std::vector<Place> Places;
  llvm::SmallPtrSet<const VarDecl *, 8> Seen;
  bool Known = true;

  /// One unknown is left, or all but one have a number in front (rows of a
  /// tile).
  static bool solve(const Terms &T,
                    llvm::SmallPtrSetImpl<const void *> &Solved) {
    unsigned Open = 0, Bare = 0;
    llvm::SmallPtrSet<const void *, 4> Seen;
    for (const auto &[V, Factor] : T.All) {
      if (!Seen.insert(V).second)
        return false; // twice: may cancel
      Open += !Solved.count(V);
      Bare += !Factor;
    }
    if (Open == 0 || (Open > 1 && Bare > 1))
      return false;
    for (const auto &[V, Factor] : T.All)
      Solved.insert(V);
    return true;
  }

  /// What \p S is a value of; what chooses an element goes into none.
  void roots(const clang::Stmt *S, llvm::SmallPtrSetImpl<const VarDecl *> &To,
             unsigned Depth) {
    Known &= Depth <= 64;
    if (!S || Depth > 64)
      return;
    if (const auto *E = dyn_cast<ArraySubscriptExpr>(S))
      return roots(E->getBase(), To, Depth + 1);
    if (const auto *R = dyn_cast<DeclRefExpr>(S))
      if (const auto *V = dyn_cast<VarDecl>(R->getDecl()); V && To.insert(V).second)
        roots(V->getInit(), To, Depth + 1);
    for (const clang::Stmt *C : S->children())
      roots(C, To, Depth + 1);
  }

  /// Elements that \p S is computed from; what else it names makes it no less
  /// its own.
  void read(const clang::Stmt *S, unsigned Depth) {
    if (!S || Depth > 24)
      return;
    if (const auto *E = dyn_cast<ArraySubscriptExpr>(S)) {
      Place P;
      const Expr *Base = E;
      while (const auto *A = dyn_cast<ArraySubscriptExpr>(Base)) {
        P.Index.push_back(A->getIdx());
        Base = A->getBase()->IgnoreParenImpCasts();
      }
      P.Root = variable(Base);
      // A shared array, or a pointer that nothing else is read through.
      if (P.Root && !Changed.count(P.Root) &&
          (isSharedVar(P.Root) || P.Root->hasAttr<CUDAConstantAttr>() ||
           (isa<ParmVarDecl>(P.Root) && Mentions.lookup(P.Root) == 1)))
        Places.push_back(std::move(P));
      else
        Known &= P.Root && !isSharedVar(P.Root);
      return;
    }
    if (const auto *R = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(R->getDecl());
      if (V && isSharedVar(V))
        Known = false; // by other ways than an index
      // (What a variable holds is the same wherever it is named.)
      if (V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
          !Changed.count(V) && !V->getType()->isReferenceType() &&
          !V->getType()->isPointerType() && Seen.insert(V).second)
        read(V->getInit(), Depth + 1);
      return;
    }
    for (const clang::Stmt *C : S->children())
      read(C, Depth + 1);
  }

  void terms(const Expr *E, bool Factor, Terms &T, unsigned Depth) {
    E = E->IgnoreParenCasts();
    if (const auto B = builtinVar(E)) {
      if (B->K == Symbol::ThreadIdx && B->Axis < 3)
        T.All.push_back({&AxisOf[B->Axis], Factor});
      T.Linear &= B->K != Symbol::ThreadIdx || B->Axis < 3;
      return;
    }
    const VarDecl *V = variable(E);
    if (V && Counters.count(V)) {
      T.Linear &= !Changed.count(V);
      T.All.push_back({V, Factor});
    } else if (V && (isa<ParmVarDecl>(V) || isNumber(E, V->getASTContext()))) {
      T.Linear &= !Changed.count(V);
    } else if (V && !Changed.count(V) && V->getInit() && V->hasLocalStorage() &&
               !V->getType()->isReferenceType() && Depth < 16) {
      terms(V->getInit(), Factor, T, Depth + 1);
    } else if (const auto *B = dyn_cast<BinaryOperator>(E);
               B && (B->isAdditiveOp() || B->getOpcode() == BO_Mul)) {
      // Of a product one side has no coordinate.
      const size_t Before = T.All.size();
      const bool Times = B->getOpcode() == BO_Mul;
      terms(B->getLHS(), Factor || Times, T, Depth + 1);
      const size_t Left = T.All.size();
      terms(B->getRHS(), Factor || Times, T, Depth + 1);
      T.Linear &= !Times || Left == Before || T.All.size() == Left;
    } else if (!isa<IntegerLiteral, ConstantExpr, SubstNonTypeTemplateParmExpr>(
                   E)) {
      T.Linear = false;
    }
  }
};

} // namespace

SharedProducts::SharedProducts(const FunctionDecl *Kernel, unsigned Axes)
    : Kernel(Kernel), Axes(Axes) {
  Variables V;
  V.TraverseStmt(Kernel->getBody());
  Counters = std::move(V.Counters);
  Changed = std::move(V.Changed);
  Mentions = std::move(V.Mentions);
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
    return !B->isAssignmentOp() && isFixedIndex(B->getLHS()) &&
           isFixedIndex(B->getRHS());
  if (const auto *U = dyn_cast<UnaryOperator>(E))
    return !U->isIncrementDecrementOp() && U->getOpcode() != UO_Deref &&
           isFixedIndex(U->getSubExpr());
  return false;
}

bool isConverted(const Expr *E) {
  for (E = E->IgnoreParens();;) {
    if (const auto *C = dyn_cast<CastExpr>(E)) {
      const CastKind K = C->getCastKind();
      if (K == CK_FloatingCast || K == CK_IntegralToFloating || K == CK_IntegralCast ||
          K == CK_FloatingToIntegral)
        return true;
      E = C->getSubExpr()->IgnoreParens();
    } else if (const auto *U = dyn_cast<UnaryOperator>(E);
               U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus)) {
      E = U->getSubExpr()->IgnoreParens();
    } else {
      return false;
    }
  }
}

/// An operand that instructions name: a number, a parameter, constant memory.
bool SharedProducts::isFixed(const Expr *E) const {
  if (isNumber(E, Kernel->getASTContext()))
    return true;
  if (isConverted(E))
    return false;
  E = bare(E);
  std::vector<const Expr *> Indices;
  if (inConstantMemory(E, Indices))
    return llvm::all_of(Indices,
                        [&](const Expr *I) { return isFixedIndex(I); });
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
         Kernel->getASTContext().hasSameUnqualifiedType(
             V->getType(), V->getInit()->getType()) &&
         isFixed(V->getInit());
}

bool SharedProducts::hasFixedFactor(const BinaryOperator *B) {
  auto Fixed = [](const Expr *E) {
    const bool Converted = isConverted(E);
    E = bare(E);
    if (isa<FloatingLiteral, IntegerLiteral>(E))
      return true;
    const VarDecl *V = variable(E);
    return V && (isNumber(E, V->getASTContext()) ||
                 (!Converted && V->hasAttr<CUDAConstantAttr>() &&
                  V->getType()->isRealFloatingType()));
  };
  if (B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign)
    return true; // by a number it is a product with one, else none
  return Fixed(B->getRHS()) || (!B->isAssignmentOp() && Fixed(B->getLHS()));
}

bool SharedProducts::areFusedAnyway(
    ArrayRef<const BinaryOperator *> Products) const {
  const ASTContext &AC = Kernel->getASTContext();
  std::vector<llvm::FoldingSetNodeID> Factors;
  return llvm::all_of(Products, [&](const BinaryOperator *B) {
    if (B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign)
      return true;
    const Expr *L = B->getLHS(), *R = B->getRHS();
    if (isFixed(R) || (!B->isAssignmentOp() && isFixed(L)))
      return true;
    if (B->isAssignmentOp())
      return false;
    // A factor of two products tells what it is read for apart no more.
    llvm::FoldingSetNodeID Ids[2];
    bare(L)->Profile(Ids[0], AC, /*Canonical=*/true);
    bare(R)->Profile(Ids[1], AC, /*Canonical=*/true);
    for (const llvm::FoldingSetNodeID &Id : Ids)
      if (llvm::is_contained(Factors, Id))
        return false;
    Factors.insert(Factors.end(), {Ids[0], Ids[1]});
    const auto Apart = [&] { return Injective(Counters, Changed, Mentions); };
    return Apart().product(L, R, Ids[0] == Ids[1], Axes) ||
           (Ids[0] != Ids[1] && (Apart().factor(L, R, Axes) || Apart().factor(R, L, Axes)));
  });
}

} // namespace rcache
