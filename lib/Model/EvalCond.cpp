// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions: what holds where they do, and what their values are chosen by.

#include "Evaluator.h"
#include "clang/Basic/Builtins.h"

using namespace clang;

namespace rcache {

SVal Evaluator::ofBool(const CondVal &C, QualType T) {
  if (C.Affine)
    if (auto A = Arith.select(C.True, Arith.constant(1), Arith.constant(0)))
      return ofInt({*A, true}, T);
  if (C.V)
    return ofValue(C.V, T);
  Value U;
  U.Type = typeText(T);
  U.Text = "a condition";
  U.Depends = C.Depends;
  return ofValue(std::make_shared<Value>(U), T);
}

SVal Evaluator::evalConditional(const AbstractConditionalOperator *E) {
  QualType T = E->getType();
  if (isa<BinaryConditionalOperator>(E))
    return unknown(E, L.depends(E));
  CondVal C = evalCond(E->getCond());
  if (C.Affine)
    Rec.selection(cast<ConditionalOperator>(E), C.True);
  PathState Before = Cur.Path;
  auto EnvBefore = Cur.Env;
  auto Branch = [&](const Expr *X) {
    X = strip(X);
    bool Place = X->isGLValue() && !isa<CallExpr>(X) &&
                 !isa<AbstractConditionalOperator>(X);
    return Place ? load(lvalue(X), X) : eval(X);
  };
  assume(C, true);
  SVal A = Branch(E->getTrueExpr());
  auto EnvTrue = Cur.Env;
  Cur.Path = Before;
  Cur.Env = EnvBefore;
  assume(C, false);
  SVal B = Branch(E->getFalseExpr());
  Cur.Path = Before;
  auto EnvFalse = Cur.Env;
  if (C.Affine && (C.True.is_empty() || C.False.is_empty())) { // always one
    Cur.Env = C.True.is_empty() ? EnvFalse : EnvTrue;
    return C.True.is_empty() ? B : A;
  }
  mergeEnv(C, EnvTrue, EnvFalse);
  if (A.K == SVal::Pointer || B.K == SVal::Pointer)
    return sameValue(A, B) ? A : unknown(E, L.depends(E));
  if (T->isVoidType())
    return unknown(E, 0);
  if (auto Either = eitherOf(C, A, B, T))
    return *Either;
  return unknown(E, C.Depends | asValue(A)->Depends | asValue(B)->Depends);
}

CondVal Evaluator::affineCond(isl::set True) {
  CondVal C;
  C.True = True;
  C.False = Arith.complement(True);
  C.Affine = true;
  C.Depends = Arith.depends(True);
  return C;
}

CondVal Evaluator::opaqueCond(const Expr *E, ValueRef V) {
  CondVal C;
  C.True = C.False = Arith.universe();
  C.V = V;
  C.Depends = V->Depends;
  return C;
}

CondVal Evaluator::nonZero(SVal V, const Expr *E) {
  if (std::optional<isl::pw_aff> A = asExact(V, E))
    return affineCond(A->ne_set(Arith.constant(0)));
  return opaqueCond(E, asValue(V));
}

/// Is there memory behind a pointer? For a parameter it is the same question
/// everywhere in the kernel.
CondVal Evaluator::pointerCond(const Expr *E, const char *Op, const SVal &P) {
  Value V;
  V.Type = "bool";
  V.Depends = depends(P);
  V.Text = M.text(Rec.range(E));
  auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  auto *D = R ? dyn_cast<ParmVarDecl>(R->getDecl()) : nullptr;
  const int Var = D && !Cur.Calls ? L.varIndex(D) : -1;
  if (Var >= 0 && M.Vars[Var].IsParam && !M.Vars[Var].Assigned) {
    V.K = Value::Uniform;
    V.Text = D->getNameAsString() + " " + Op + " nullptr";
  }
  return opaqueCond(E, std::make_shared<Value>(V));
}

const Expr *expected(const Expr *E) {
  const auto *C = dyn_cast<CallExpr>(E->IgnoreParens());
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  const unsigned Id = F ? F->getBuiltinID() : 0;
  return Id == Builtin::BI__builtin_expect || Id == Builtin::BI__builtin_expect_with_probability
             ? C->getArg(0)
             : nullptr;
}

CondVal Evaluator::evalCond(const Expr *E) {
  E = strip(E);
  if (auto *C = dyn_cast<CastExpr>(E)) {
    CastKind K = C->getCastKind();
    if (K == CK_IntegralToBoolean) {
      // What is expected of a condition changes nothing of it.
      if (const Expr *Of = expected(C->getSubExpr())) {
        const auto *Wide = dyn_cast<ImplicitCastExpr>(Of->IgnoreParens());
        return Wide && Wide->getSubExpr()->getType()->isBooleanType()
                   ? evalCond(Wide->getSubExpr())
                   : nonZero(eval(Of), Of);
      }
      return nonZero(eval(C->getSubExpr()), C->getSubExpr());
    }
    if (K == CK_NoOp ||
        (K == CK_IntegralCast && C->getSubExpr()->getType()->isBooleanType()))
      return evalCond(C->getSubExpr());
    if (K == CK_PointerToBoolean)
      return pointerCond(C->getSubExpr(), "!=", eval(C->getSubExpr()));
    if (K == CK_FloatingToBoolean)
      return opaqueCond(
          E,
          opValue("$0 != 0", {asValue(eval(C->getSubExpr()), C->getSubExpr())},
                  "bool"));
  }
  if (auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_LNot) {
    CondVal C = evalCond(U->getSubExpr());
    std::swap(C.True, C.False);
    if (C.V)
      C.V = opValue("!$0", {C.V}, "bool", Value::Not);
    return C;
  }
  auto *B = dyn_cast<BinaryOperator>(E);
  if (B && B->isLogicalOp()) {
    bool And = B->getOpcode() == BO_LAnd;
    CondVal X = evalCond(B->getLHS());
    PathState Before = Cur.Path;
    assume(X, And);
    CondVal Y = evalCond(B->getRHS());
    Cur.Path = Before;
    CondVal C;
    C.Affine = X.Affine && Y.Affine;
    C.Depends = X.Depends | Y.Depends;
    C.True = And ? X.True.intersect(Y.True) : X.True.unite(Y.True);
    C.False = And ? X.False.unite(Y.False) : X.False.intersect(Y.False);
    if (!C.Affine) {
      auto V = [&](const CondVal &Z) {
        return Z.V ? Z.V : asValue(ofBool(Z, AC.BoolTy));
      };
      C.V = opValue(B->getOpcode(), V(X), V(Y), "bool");
    }
    return C;
  }
  if (B && B->isComparisonOp())
    return compare(B);
  // `(a < b) & (c < d)`: bits of booleans.
  if (B && (B->getOpcode() == BO_And || B->getOpcode() == BO_Or) &&
      B->getLHS()->IgnoreParenImpCasts()->getType()->isBooleanType() &&
      B->getRHS()->IgnoreParenImpCasts()->getType()->isBooleanType()) {
    CondVal X = evalCond(B->getLHS()), Y = evalCond(B->getRHS());
    if (X.Affine && Y.Affine)
      return affineCond(B->getOpcode() == BO_And ? X.True.intersect(Y.True)
                                                 : X.True.unite(Y.True));
    return opaqueCond(
        E,
        opValue(B->getOpcode(), asValue(ofBool(X, AC.BoolTy)),
                asValue(ofBool(Y, AC.BoolTy)), "bool"));
  }
  SVal V = eval(E);
  if (isInt(E->getType()))
    return nonZero(V, E);
  return opaqueCond(E, asValue(V));
}

/// The signed number that \p E is without a sign, as wide, of variables, indices and
/// arithmetic alone; null: it is not.
static const Expr *signedUnder(const Expr *E) {
  E = E->IgnoreParens();
  auto *C = dyn_cast<CastExpr>(E);
  for (; C && C->getCastKind() == CK_NoOp; C = dyn_cast<CastExpr>(E))
    E = C->getSubExpr()->IgnoreParens();
  if (!C || C->getCastKind() != CK_IntegralCast || !C->getType()->isUnsignedIntegerType())
    return nullptr;
  const Expr *Of = C->getSubExpr()->IgnoreParens();
  const QualType From = Of->getType();
  const auto *T = From->getAs<BuiltinType>();
  const auto *To = C->getType()->getAs<BuiltinType>();
  if (!T || !To || !From->isSignedIntegerType() ||
      !((T->getKind() == BuiltinType::Int && To->getKind() == BuiltinType::UInt) ||
        (T->getKind() == BuiltinType::Long && To->getKind() == BuiltinType::ULong) ||
        (T->getKind() == BuiltinType::LongLong && To->getKind() == BuiltinType::ULongLong)))
    return nullptr;
  struct Plain {
    static bool is(const clang::Stmt *S) {
      if (isa<PseudoObjectExpr>(S)) // threadIdx.x
        return true;
      if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
        return false;
      return isa<DeclRefExpr, IntegerLiteral, ParenExpr, ImplicitCastExpr, BinaryOperator>(S) &&
             llvm::all_of(S->children(), [](const clang::Stmt *C) { return C && is(C); });
    }
  };
  return Plain::is(Of) ? Of : nullptr;
}

/// `unsigned(x) < unsigned(w)`, the bounds of x in one comparison where w is not
/// negative, as 0 <= x && x < w; nullopt: it is none of these.
std::optional<CondVal> Evaluator::compareWithBoth(BinaryOperatorKind Op, const Expr *Of,
                                                  const isl::pw_aff &Bound) {
  const Expr *X = signedUnder(Of);
  constexpr Wide Most = (Wide(1) << 31) - 1;
  if (!X || !Arith.proveInRange(Bound, 0, Most, Cur.where()))
    return std::nullopt;
  SVal Value = eval(X);
  const std::optional<isl::pw_aff> V = asExact(Value, X);
  if (!V)
    return std::nullopt;
  const isl::set NotNegative = V->ge_set(Arith.constant(0));
  switch (Op) {
  case BO_LT:
    return affineCond(NotNegative.intersect(V->lt_set(Bound)));
  case BO_LE:
    return affineCond(NotNegative.intersect(V->le_set(Bound)));
  case BO_GE:
    return affineCond(V->lt_set(Arith.constant(0)).unite(V->ge_set(Bound)));
  case BO_GT:
    return affineCond(V->lt_set(Arith.constant(0)).unite(V->gt_set(Bound)));
  default:
    return std::nullopt;
  }
}

CondVal Evaluator::compare(const BinaryOperator *E) {
  const Expr *Lhs = E->getLHS(), *Rhs = E->getRHS();
  if (!isInt(Lhs->getType()) || !isInt(Rhs->getType())) {
    if (Lhs->getType()->isPointerType() || Rhs->getType()->isPointerType()) {
      SVal A = eval(Lhs), B = eval(Rhs);
      auto IsNull = [&](const Expr *X) {
        return X->isNullPointerConstant(AC, Expr::NPC_NeverValueDependent) !=
               Expr::NPCK_NotNull;
      };
      const char *Op = E->getOpcode() == BO_NE   ? "!="
                       : E->getOpcode() == BO_EQ ? "=="
                                                 : nullptr;
      if (Op && (IsNull(Lhs) || IsNull(Rhs)))
        return IsNull(Lhs) ? pointerCond(Rhs, Op, B) : pointerCond(Lhs, Op, A);
      return opaqueCond(E, textOp(E, {{Lhs, A}, {Rhs, B}}));
    }
    SVal V = generic(E);
    return opaqueCond(E, asValue(V));
  }
  SVal A = eval(Lhs), B = eval(Rhs);
  std::optional<isl::pw_aff> X, Y;
  if (signedUnder(Lhs))
    if ((Y = asExact(B, Rhs)))
      if (auto C = compareWithBoth(E->getOpcode(), Lhs, *Y))
        return *C;
  X = asExact(A, Lhs);
  if (!Y)
    Y = asExact(B, Rhs);
  if (X && signedUnder(Rhs))
    if (auto C = compareWithBoth(BinaryOperator::reverseComparisonOp(E->getOpcode()), Rhs, *X))
      return *C;
  if (!X || !Y)
    return opaqueCond(E, textOp(E, {{Lhs, A}, {Rhs, B}}));
  // A value that may have wrapped has several pieces: in most, no bound is met.
  const auto Simple = [&](const isl::set &S) {
    return affineCond(X->n_piece() > 1 || Y->n_piece() > 1 ? Arith.withinBounds(S, Cur.where())
                                                        : S);
  };
  switch (E->getOpcode()) {
  case BO_LT:
    return Simple(X->lt_set(*Y));
  case BO_LE:
    return Simple(X->le_set(*Y));
  case BO_GT:
    return Simple(X->gt_set(*Y));
  case BO_GE:
    return Simple(X->ge_set(*Y));
  case BO_EQ:
    return Simple(X->eq_set(*Y));
  case BO_NE:
    return Simple(X->ne_set(*Y));
  default:
    return opaqueCond(E, textOp(E, {{Lhs, A}, {Rhs, B}}));
  }
}

} // namespace rcache
