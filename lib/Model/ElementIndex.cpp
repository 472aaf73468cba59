// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ElementIndex.h.

#include "ElementIndex.h"
#include "clang/AST/PrettyPrinter.h"
#include <map>

using namespace clang;
using namespace rcache;

namespace {

/// An index as a sum: of what, how often.
struct Linear {
  std::map<std::string, int64_t> Terms; ///< by canonical text
  int64_t Constant = 0;
  /// Of arguments, indices and counters of loops: equal if they look equal.
  bool Plain = true;
  /// Of values that nothing sets in between: equal if they look equal, and
  /// perhaps if not.
  bool Fixed = true;
};

/// An index, an argument or the counter of a loop.
bool isPlain(const Expr *E, const OperandText &F) {
  E = bareExpr(E->IgnoreParenImpCasts());
  if (isIndexBuiltin(E))
    return true;
  auto *D = dyn_cast<DeclRefExpr>(E);
  auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
  if (!V || F.Escaped.count(V->getCanonicalDecl()))
    return false;
  auto Set = F.Sets.find(V->getCanonicalDecl());
  if (isa<ParmVarDecl>(V))
    return Set == F.Sets.end();
  auto *For = dyn_cast_or_null<ForStmt>(
      F.Parents.getParent(F.Declared.lookup(V->getCanonicalDecl())));
  return For && Set != F.Sets.end() && Set->second.size() == 2 &&
         For->getInc() && F.isIn(Set->second.back().At, For->getInc());
}

/// Text that is alike for what compilers see to be the same value.
std::string canonical(const Expr *E, const OperandText &F, unsigned Depth) {
  E = E->IgnoreParenImpCasts();
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    std::string L = canonical(B->getLHS(), F, Depth),
                R = canonical(B->getRHS(), F, Depth);
    if ((B->getOpcode() == BO_Add || B->getOpcode() == BO_Mul) && R < L)
      std::swap(L, R);
    return "(" + L + BinaryOperator::getOpcodeStr(B->getOpcode()).str() + R +
           ")";
  }
  if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
    return canonical(A->getBase(), F, Depth) + "[" +
           canonical(A->getIdx(), F, Depth) + "]";
  if (auto *M = dyn_cast<MemberExpr>(E))
    return canonical(M->getBase(), F, Depth) + "." +
           M->getMemberDecl()->getNameAsString();
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl());
        V && Depth < 8 && V->hasLocalStorage() &&
        F.isSetOnce(V->getCanonicalDecl()))
      return canonical(V->getInit(), F, Depth + 1);
  std::string T;
  llvm::raw_string_ostream OS(T);
  E->printPretty(OS, nullptr, PrintingPolicy(LangOptions()));
  return T;
}

/// Made of nothing that is set elsewhere than where it is declared.
bool isFixed(const Expr *E, const OperandText &F) {
  E = bareExpr(E->IgnoreParenImpCasts());
  if (isa<IntegerLiteral>(E) || isPlain(E, F))
    return true;
  if (auto *D = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    return V && V->hasLocalStorage() && F.isSetOnce(V->getCanonicalDecl());
  }
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return U->isArithmeticOp() && isFixed(U->getSubExpr(), F);
  auto *B = dyn_cast<BinaryOperator>(E);
  return B && !B->isAssignmentOp() && isFixed(B->getLHS(), F) &&
         isFixed(B->getRHS(), F);
}

void add(const std::string &Term, int64_t Times, Linear &Out) {
  int64_t &N = Out.Terms[Term];
  N += Times;
  if (N == 0)
    Out.Terms.erase(Term);
}

/// Adds \p E, \p Times over, to \p Out.
void linear(const Expr *E, const OperandText &F, int64_t Times, unsigned Nested,
            Linear &Out) {
  E = E->IgnoreParenImpCasts();
  if (auto *I = dyn_cast<IntegerLiteral>(E)) {
    Out.Constant += Times * I->getValue().getSExtValue();
    return;
  }
  if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp()) {
    linear(B->getLHS(), F, Times, Nested + 1, Out);
    return linear(B->getRHS(), F, B->getOpcode() == BO_Sub ? -Times : Times,
                  Nested + 1, Out);
  }
  if (auto *D = dyn_cast<DeclRefExpr>(E); D && Nested < 8)
    if (auto *V = dyn_cast<VarDecl>(D->getDecl());
        V && V->hasLocalStorage() && F.isSetOnce(V->getCanonicalDecl())) {
      Linear Of;
      linear(V->getInit(), F, Times, Nested + 1, Of);
      if (Of.Plain) {
        Out.Constant += Of.Constant;
        for (const auto &[Term, N] : Of.Terms)
          add(Term, N, Out);
      } else {
        Out.Plain = false;
        add("'" + std::to_string(F.First.lookup(F.Declared.lookup(V))) + ' ' +
                V->getNameAsString(),
            Times, Out);
      }
      return;
    }
  Out.Plain &= isPlain(E, F);
  Out.Fixed &= isFixed(E, F);
  add(canonical(E, F, Nested), Times, Out);
}

/// Where an element is: of what, and the indices and members on the way there.
struct Path {
  struct Step {
    const ValueDecl *Member = nullptr; ///< null: an index
    Linear Index;
  };
  const VarDecl *Root = nullptr; ///< null: not known
  std::vector<Step> Steps;
  /// Moved along by arithmetic of pointers, which may lead from row to row.
  bool Moved = false;
};

Path placeOf(const Expr *E, const OperandText &F, unsigned Nested);

/// What the pointer \p E points to. Variables stand for what they are set to, if
/// that is done once.
Path pointedTo(const Expr *E, const OperandText &F, unsigned Nested) {
  if (Nested > 16)
    return {};
  E = bareExpr(E);
  if (auto *C = dyn_cast<ImplicitCastExpr>(E)) {
    if (C->getCastKind() != CK_ArrayToPointerDecay)
      return pointedTo(C->getSubExpr(), F, Nested + 1);
    Path P = placeOf(C->getSubExpr(), F, Nested + 1);
    P.Steps.emplace_back();
    return P;
  }
  if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAdditiveOp()) {
    const bool Right = B->getRHS()->getType()->isPointerType();
    Path P = pointedTo(Right ? B->getRHS() : B->getLHS(), F, Nested + 1);
    if (P.Steps.empty() || P.Steps.back().Member)
      return {};
    linear(Right ? B->getLHS() : B->getRHS(), F,
           B->getOpcode() == BO_Sub ? -1 : 1, Nested + 1, P.Steps.back().Index);
    P.Moved = true;
    return P;
  }
  if (auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_AddrOf) {
    Path P = placeOf(U->getSubExpr(), F, Nested + 1);
    if (P.Steps.empty() || P.Steps.back().Member)
      return {};
    P.Moved = true;
    return P;
  }
  auto *D = dyn_cast<DeclRefExpr>(E);
  auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
  if (!V || !V->getType()->isPointerType())
    return {};
  if (F.isSetOnce(V->getCanonicalDecl()))
    return pointedTo(V->getInit(), F, Nested + 1);
  if (!isa<ParmVarDecl>(V) || F.Sets.count(V->getCanonicalDecl()) ||
      F.Escaped.count(V->getCanonicalDecl()))
    return {};
  Path P;
  P.Root = V->getCanonicalDecl();
  P.Steps.emplace_back();
  return P;
}

Path placeOf(const Expr *E, const OperandText &F, unsigned Nested) {
  if (Nested > 16)
    return {};
  E = bareExpr(E->IgnoreParenImpCasts());
  Path P;
  if (auto *M = dyn_cast<MemberExpr>(E)) {
    P = M->isArrow() ? pointedTo(M->getBase(), F, Nested + 1)
                     : placeOf(M->getBase(), F, Nested + 1);
    P.Steps.push_back({M->getMemberDecl(), {}});
  } else if (auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    P = pointedTo(A->getBase(), F, Nested + 1);
    if (P.Steps.empty() || P.Steps.back().Member)
      return {};
    linear(A->getIdx(), F, 1, Nested + 1, P.Steps.back().Index);
  } else if (auto *U = dyn_cast<UnaryOperator>(E);
             U && U->getOpcode() == UO_Deref) {
    P = pointedTo(U->getSubExpr(), F, Nested + 1);
  } else if (auto *D = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (V && !V->getType()->isReferenceType())
      P.Root = V->getCanonicalDecl();
  }
  return P;
}

/// Of one element and all its members.
bool hasOneRow(const Path &P) {
  return llvm::count_if(P.Steps, [](const Path::Step &S) {
           return !S.Member;
         }) < 2;
}

} // namespace

bool rcache::areDifferent(const Expr *X, const Expr *Y, const OperandText &F) {
  const Path P = placeOf(X, F, 0), Q = placeOf(Y, F, 0);
  if (!P.Root || P.Root != Q.Root ||
      ((P.Moved || Q.Moved) && (!hasOneRow(P) || !hasOneRow(Q))))
    return false;
  // The whole and a part are not different.
  for (size_t I = 0; I < std::min(P.Steps.size(), Q.Steps.size()); ++I) {
    const Path::Step &A = P.Steps[I], &B = Q.Steps[I];
    if (!A.Member != !B.Member)
      return false;
    // What is set in between could make two texts one value.
    if (A.Member ? A.Member != B.Member
        : A.Index.Terms == B.Index.Terms
            ? A.Index.Fixed && A.Index.Constant != B.Index.Constant
            : A.Index.Plain && B.Index.Plain)
      return true;
  }
  return false;
}

bool rcache::areSame(const Expr *X, const Expr *Y, const OperandText &F) {
  const Path P = placeOf(X, F, 0), Q = placeOf(Y, F, 0);
  if (!P.Root || P.Root != Q.Root || P.Steps.size() != Q.Steps.size())
    return false;
  for (size_t I = 0; I < P.Steps.size(); ++I) {
    const Path::Step &A = P.Steps[I], &B = Q.Steps[I];
    if (A.Member || B.Member ? A.Member != B.Member
                             : !A.Index.Fixed || !B.Index.Fixed ||
                                   A.Index.Terms != B.Index.Terms ||
                                   A.Index.Constant != B.Index.Constant)
      return false;
  }
  return true;
}

bool rcache::isAtConstant(const Expr *E, const OperandText &F) {
  const Path P = placeOf(E, F, 0);
  return P.Root && isa<ParmVarDecl>(P.Root) &&
         llvm::all_of(P.Steps, [](const Path::Step &S) {
           return S.Member || S.Index.Terms.empty();
         });
}
