// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OperandRanks.h: which reads are of one value, and where it is read first.

#include "ElementIndex.h"
#include "OperandRanks.h"
#include "rcache/Model.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace rcache;

using Call = FusionOrder::Call;

/// `i < n`, of a parameter by name.
static bool asksArgument(const Expr *Condition, const OperandText &F) {
  auto *B = dyn_cast<BinaryOperator>(Condition->IgnoreParenImpCasts());
  if (!B || !B->isRelationalOp())
    return false;
  const auto IsParameter = [&](const Expr *E) {
    auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
    auto *V = D ? dyn_cast<ParmVarDecl>(D->getDecl()) : nullptr;
    return V && !F.Sets.count(V->getCanonicalDecl()) &&
           !F.Escaped.count(V->getCanonicalDecl());
  };
  return IsParameter(B->getLHS()) != IsParameter(B->getRHS());
}

bool OperandRanks::isNoConstant(const Expr *E, const Call &C, unsigned Nested) {
  if (Nested > 16)
    return false;
  E = bareExpr(E);
  if (auto *F = dyn_cast<FloatingLiteral>(E)) {
    const double X = std::abs(F->getValueAsApproximateDouble());
    return X != 0 && X != 1;
  }
  if (isIndexBuiltin(E))
    return true;
  if (auto *X = dyn_cast<CastExpr>(E))
    return isNoConstant(X->getSubExpr(), C, Nested + 1);
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return isNoConstant(U->getSubExpr(), C, Nested + 1);
  if (auto *B = dyn_cast<BinaryOperator>(E))
    return (B->isAdditiveOp() || B->isMultiplicativeOp()) &&
           (isNoConstant(B->getLHS(), C, Nested + 1) ||
            isNoConstant(B->getRHS(), C, Nested + 1)) &&
           !isa<FloatingLiteral>(bareExpr(B->getLHS())) &&
           !isa<FloatingLiteral>(bareExpr(B->getRHS()));
  // Of an argument and so never decided: it is what no arm is alone.
  if (auto *X = dyn_cast<ConditionalOperator>(E))
    return !C.Caller && asksArgument(X->getCond(), facts(C)) &&
           (isNoConstant(X->getTrueExpr(), C, Nested + 1) ||
            isNoConstant(X->getFalseExpr(), C, Nested + 1));
  const auto R = memoryRoot(E);
  if (!R)
    return false;
  const VarDecl *V = R->Var;
  if (R->Loaded)
    return true;
  if (V->hasAttr<CUDASharedAttr>())
    return true;
  if (V->hasGlobalStorage())
    return !V->getType().isConstQualified() && !V->getInit();
  if (R->Element && V->getType()->isPointerType())
    return true;
  const OperandText &F = facts(C);
  if (isa<ParmVarDecl>(V)) {
    if (F.Sets.count(V))
      return false;
    if (!C.Caller)
      return true;
    const Expr *A = argument(V, C);
    return A && isNoConstant(A, *C.Caller, Nested + 1);
  }
  if (R->Member >= 0 && !R->Deep && !F.Escaped.count(V))
    if (const Expr *Only = F.onlyValue(V, R->Member))
      return isNoConstant(Only, C, Nested + 1);
  if (F.isSetOnce(V))
    return isNoConstant(F.Sets.find(V)->second.front().Value, C, Nested + 1);
  return false;
}

/// Is there a pointer or reference in values of type \p T, for all that is known?
static bool mayPoint(QualType T, unsigned Nested) {
  T = T.getCanonicalType();
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  if (T->isArithmeticType() || T->isEnumeralType())
    return false;
  const auto *R = T->getAsCXXRecordDecl();
  return !R || !R->hasDefinition() || R->getNumBases() || Nested > 8 ||
         llvm::any_of(R->fields(), [&](const FieldDecl *F) {
           return mayPoint(F->getType(), Nested + 1);
         });
}

std::optional<const VarDecl *> OperandRanks::arrayOf(const Expr *E,
                                                     const Call &C) {
  const OperandText &F = facts(C);
  const auto R = memoryRoot(E);
  if (!R || R->Loaded)
    return std::nullopt;
  const VarDecl *V = R->Var;
  if (V->hasAttr<CUDASharedAttr>())
    return V;
  if (!V->getType()->isPointerType())
    return mayPoint(V->getType(), 0) ? std::nullopt
                                     : std::optional<const VarDecl *>(nullptr);
  if (F.Escaped.count(V))
    return std::nullopt;
  if (!isa<ParmVarDecl>(V))
    return F.isSetOnce(V) ? arrayOf(V->getInit(), C) : std::nullopt;
  if (F.Sets.count(V))
    return std::nullopt;
  if (!C.Caller) // what launches hand over is not in shared memory
    return nullptr;
  const Expr *A = argument(V, C);
  return A ? arrayOf(A, *C.Caller) : std::nullopt;
}

const VarDecl *OperandRanks::sharedElement(const Expr *E, const Call &C) {
  const VarDecl *Array = arrayOf(E, C).value_or(nullptr);
  if (!Array || (C.Caller && memoryRoot(E)->Var != Array &&
                 !isAtConstant(E, facts(C))))
    return nullptr;
  return Array;
}

Place OperandRanks::firstEqual(const Expr *E, const VarDecl *Array,
                               const Call &C) {
  Place First = place(C, E);
  const clang::Stmt *At = E;
  for (const Call *In = &C;; At = In->At, In = In->Caller) {
    const OperandText &F = facts(*In);
    const unsigned Here = F.First.lookup(At);
    const auto MayMeet = [&](const Expr *X) {
      const unsigned Of = F.First.lookup(X);
      return Of < Here && !F.isIn(At, X) &&
             llvm::none_of(F.Barriers, [&](unsigned B) {
               return Of < B && B < Here;
             }) &&
             arrayOf(X, *In).value_or(Array) == Array;
    };
    for (const Expr *X : F.Reads)
      if (MayMeet(X) && (At != E || !areDifferent(X, E, F)))
        First = std::min(First, place(*In, X));
    // What is called reads what it is handed.
    for (const Expr *X : F.Handed)
      if (MayMeet(X))
        First = std::min(First, place(*In, X));
    if (!In->Caller || llvm::any_of(F.Barriers, [&](unsigned B) {
          return B < Here;
        }))
      return First;
  }
}

const Expr *OperandRanks::mergedRead(const Expr *E, const VarDecl *Array,
                                     const Call &C) {
  if (Now->Several)
    return E;
  const OperandText &F = facts(C);
  const clang::Stmt *Here = F.statementOf(E);
  for (const Expr *X : F.Reads) {
    if (F.First.lookup(X) >= F.First.lookup(E))
      break;
    if (arrayOf(X, C).value_or(nullptr) != Array || !areSame(X, E, F) || !F.always(X))
      continue;
    const clang::Stmt *There = F.statementOf(X);
    const clang::Stmt *Block = There ? F.Parents.getParent(There) : nullptr;
    if (!Here || !Block || Block != F.Parents.getParent(Here))
      continue;
    // Only declarations from there to here, none of which writes memory.
    const bool Quiet = llvm::all_of(Block->children(), [&](const clang::Stmt *S) {
      const unsigned At = F.First.lookup(S);
      if (At < F.First.lookup(There) || At > F.First.lookup(Here))
        return true;
      if (auto *D = dyn_cast<DeclStmt>(S)) {
        for (const Decl *V : D->decls())
          if (auto *Var = dyn_cast<VarDecl>(V);
              !Var || isKept(Var->getCanonicalDecl(), C))
            return false;
      } else if (S != Here) {
        return false;
      }
      return OperandText::onlyComputes(S);
    });
    if (Quiet)
      return X;
  }
  return E;
}

/// Is \p E another element in each round of \p L, a loop: by a variable that is set
/// in there?
static bool variesIn(const clang::Stmt *E, const clang::Stmt *L,
                     const OperandText &F, unsigned Nested) {
  if (!E || !OperandText::isLoop(L) || Nested > 32)
    return false;
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl()); V && V->hasLocalStorage()) {
      V = V->getCanonicalDecl();
      auto Set = F.Sets.find(V);
      if (Set == F.Sets.end() || F.Escaped.count(V) ||
          !V->getType()->isIntegerType())
        return false;
      if (F.isSetOnce(V))
        return variesIn(V->getInit(), L, F, Nested + 1);
      return llvm::any_of(Set->second, [&](const OperandText::Assignment &S) {
        return S.Compound && F.isIn(S.At, L);
      });
    }
  return llvm::any_of(E->children(), [&](const clang::Stmt *C) {
    return variesIn(C, L, F, Nested + 1);
  });
}

/// The parameter of the kernel that \p V, a pointer of its own, starts as and is only
/// moved from: `p = a + n; .. p += m;`; null: another one, or not known.
static const VarDecl *movedFrom(const VarDecl *V, const OperandText &F) {
  const auto Base = [](const Expr *E) -> const VarDecl * {
    const auto R = memoryRoot(E);
    return R && !R->Element && !R->Loaded && R->Member < 0 ? R->Var : nullptr;
  };
  if (!V->getType()->isPointerType() || !V->getInit() || F.Escaped.count(V))
    return nullptr;
  const VarDecl *Of = Base(V->getInit());
  const auto Sets = F.Sets.find(V->getCanonicalDecl());
  if (!Of || !isa<ParmVarDecl>(Of))
    return nullptr;
  if (Sets != F.Sets.end())
    for (const OperandText::Assignment &S : Sets->second)
      if (!S.Compound && S.Value && S.Value != V->getInit() && Base(S.Value) != V &&
          Base(S.Value) != Of)
        return nullptr;
  return Of;
}

/// Is \p X, a pointer's name, there for another pointer that is set, or for itself?
static bool isForPointer(const clang::Stmt *X, const OperandText &F) {
  for (const clang::Stmt *P = F.Parents.getParent(X); P; P = F.Parents.getParent(P)) {
    if (auto *B = dyn_cast<BinaryOperator>(P)) {
      if (B->isAssignmentOp())
        return B->getType()->isPointerType();
      if (!B->isAdditiveOp() || !B->getType()->isPointerType())
        return false;
    } else if (auto *U = dyn_cast<UnaryOperator>(P)) {
      return U->isIncrementDecrementOp() && U->getType()->isPointerType();
    } else if (auto *D = dyn_cast<DeclStmt>(P)) {
      return llvm::all_of(D->decls(), [&](const Decl *Of) {
        auto *V = dyn_cast<VarDecl>(Of);
        return V && V->getType()->isPointerType();
      });
    } else if (!isa<ImplicitCastExpr, ParenExpr>(P)) {
      return false;
    }
  }
  return false;
}

Place OperandRanks::firstInMemory(const Expr *E, const MemoryRoot &R,
                                  const Call &C) {
  if (C.Caller)
    return {0};
  const OperandText &F = facts(C);
  unsigned At = F.First.lookup(E);
  for (const clang::Stmt *L = F.Parents.getParent(E); L && !variesIn(E, L, F, 0);
       L = F.Parents.getParent(L))
    if (OperandText::isLoop(L))
      At = F.First.lookup(L);
  // A pointer of the kernel's own may lead anywhere but where it comes from a parameter.
  const auto Root = [&](const VarDecl *V) {
    const VarDecl *Of = movedFrom(V, F);
    return Of ? Of->getCanonicalDecl() : V;
  };
  const auto IsOwn = [](const VarDecl *V) {
    return V->hasLocalStorage() && !isa<ParmVarDecl>(V);
  };
  const VarDecl *Mine = Root(R.Var);
  // Not where E is stored to; that comes behind it.
  const auto IsTarget = [&](const Expr *X) {
    for (const clang::Stmt *P = F.Parents.getParent(X); P;
         P = F.Parents.getParent(P))
      if (auto *B = dyn_cast<BinaryOperator>(P);
          B && B->getOpcode() == BO_Assign && F.isIn(E, B->getRHS()))
        if (const auto To = memoryRoot(B->getLHS()); To && To->Use == X)
          return true;
    return false;
  };
  for (const auto &[X, Of] : F.MemoryUses)
    if ((Root(Of) == Mine || IsOwn(Root(Of)) || IsOwn(Mine)) && !IsTarget(X) &&
        !isForPointer(X, F))
      At = std::min(At, F.First.lookup(X));
  return place(C, At);
}

unsigned OperandRanks::firstUse(const Expr *E, const DeclRefExpr *Use,
                                const VarDecl *V, int Member,
                                const OperandText &F) {
  const unsigned At = F.First.lookup(E);
  unsigned From = 0;
  for (unsigned X : Now->Edges)
    if (X < At)
      From = std::max(From, X);
  for (const DeclRefExpr *D : F.Uses.find(V)->second) {
    const unsigned Of = F.First.lookup(D);
    if (D == Use || Of <= From || Of >= At)
      continue;
    auto *M = dyn_cast_or_null<MemberExpr>(F.Parents.getParent(D));
    auto *X = M ? dyn_cast<FieldDecl>(M->getMemberDecl()) : nullptr;
    if (!X || int(X->getFieldIndex()) == Member)
      return std::min(Of, At);
  }
  return At;
}

bool OperandRanks::valueAtHand(const Expr *E, const VarDecl *V,
                               const OperandText &F) {
  const unsigned At = F.First.lookup(E);
  unsigned From = 0;
  for (unsigned X : Now->Edges)
    if (X < At)
      From = std::max(From, X);
  auto It = F.Sets.find(V);
  if (It == F.Sets.end())
    return false;
  for (const OperandText::Assignment &S : It->second)
    if (F.end(S) > From)
      return true; // or later, in a loop
  return false;
}
