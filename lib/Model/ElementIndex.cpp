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
        V && V->hasLocalStorage() && F.isSetOnce(V->getCanonicalDecl()))
      return linear(V->getInit(), F, Times, Nested + 1, Out);
  Out.Plain &= isPlain(E, F);
  int64_t &N = Out.Terms[canonical(E, F, Nested)];
  N += Times;
  if (N == 0)
    Out.Terms.erase(canonical(E, F, Nested));
}

} // namespace

bool rcache::areDifferent(const Expr *X, const Expr *Y, const OperandText &F) {
  for (;;) {
    X = X->IgnoreParenImpCasts();
    Y = Y->IgnoreParenImpCasts();
    auto *MX = dyn_cast<MemberExpr>(X), *MY = dyn_cast<MemberExpr>(Y);
    if (MX && MY) {
      if (MX->getMemberDecl() != MY->getMemberDecl())
        return true;
    } else if (MX || MY) {
      // The whole and a part.
      (MX ? X : Y) = (MX ? MX : MY)->getBase();
      continue;
    }
    auto *AX = dyn_cast<ArraySubscriptExpr>(X),
         *AY = dyn_cast<ArraySubscriptExpr>(Y);
    if (AX && AY) {
      Linear L, R;
      linear(AX->getIdx(), F, 1, 0, L);
      linear(AY->getIdx(), F, 1, 0, R);
      if (L.Terms == R.Terms ? L.Constant != R.Constant : L.Plain && R.Plain)
        return true;
    } else if (!MX || !MY) {
      return false;
    }
    X = MX ? MX->getBase() : AX->getBase();
    Y = MY ? MY->getBase() : AY->getBase();
  }
}

bool rcache::areSame(const Expr *X, const Expr *Y, const OperandText &F) {
  for (;;) {
    X = X->IgnoreParenImpCasts();
    Y = Y->IgnoreParenImpCasts();
    if (auto *D = dyn_cast<DeclRefExpr>(X)) {
      auto *E = dyn_cast<DeclRefExpr>(Y);
      return E && D->getDecl() == E->getDecl();
    }
    auto *MX = dyn_cast<MemberExpr>(X), *MY = dyn_cast<MemberExpr>(Y);
    if (MX && MY && MX->getMemberDecl() == MY->getMemberDecl()) {
      X = MX->getBase();
      Y = MY->getBase();
      continue;
    }
    auto *AX = dyn_cast<ArraySubscriptExpr>(X),
         *AY = dyn_cast<ArraySubscriptExpr>(Y);
    if (!AX || !AY)
      return false;
    Linear L, R;
    linear(AX->getIdx(), F, 1, 0, L);
    linear(AY->getIdx(), F, 1, 0, R);
    if (!L.Plain || !R.Plain || L.Terms != R.Terms || L.Constant != R.Constant)
      return false;
    X = AX->getBase();
    Y = AY->getBase();
  }
}
