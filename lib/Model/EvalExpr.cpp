// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions to values. Integers stay quasi-affine as long as they can; all
// else becomes text with holes, so that a staged value can be written down
// again for another element:
//
//     a[g] * 2.0f + w      ->   "$0 * 2.0f + $1", $0 = Load a, $1 = what w
//     holds

#include "BodyEffects.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "Executor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

/// Without what leaves no trace in value or text.
static const Expr *strip(const Expr *E) {
  while (true) {
    if (auto *P = dyn_cast<ParenExpr>(E))
      E = P->getSubExpr();
    else if (auto *F = dyn_cast<FullExpr>(E))
      E = F->getSubExpr();
    else if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      E = M->getSubExpr();
    else if (auto *B = dyn_cast<CXXBindTemporaryExpr>(E))
      E = B->getSubExpr();
    else if (auto *S = dyn_cast<SubstNonTypeTemplateParmExpr>(E))
      E = S->getReplacement();
    else if (auto *D = dyn_cast<CXXDefaultArgExpr>(E))
      E = D->getExpr();
    else
      return E;
  }
}

SVal Executor::eval(const Expr *E) {
  E = strip(E);
  QualType T = E->getType();
  if (isInt(T) && !E->isValueDependent() && E->isPRValue()) {
    Expr::EvalResult R;
    if (E->EvaluateAsInt(R, AC, Expr::SE_NoSideEffects) &&
        R.Val.getInt().isRepresentableByInt64())
      return ofConst(R.Val.getInt().getExtValue(), T);
  }
  // Every plan is for the block that all launches use.
  if (auto B = builtinVar(E); B && B->K == Symbol::BlockDim && B->Axis < 3 &&
                              M.Geo.ConstBlock)
    return ofConst((*M.Geo.ConstBlock)[B->Axis], T);
  if (auto B = builtinVar(E); B && B->Axis < 3)
    return ofInt({Arith.symbol(builtinId(B->K, B->Axis)), true}, T);
  // `a = b`, `++i` and `c ? x : y` are lvalues as well, with a value.
  auto *Un = dyn_cast<UnaryOperator>(E);
  bool Operator = isa<BinaryOperator>(E) ||
                  isa<AbstractConditionalOperator>(E) ||
                  (Un && Un->isIncrementDecrementOp());
  if (E->isGLValue() && !isa<CallExpr>(E) && !T->isVoidType() && !Operator) {
    // A value category for statements such as `a[i];`.
    LVal L = lvalue(E);
    return L.K == LVal::Memory ? addressOf(L, nullptr) : unknown(E, 0);
  }
  if (auto *C = dyn_cast<CastExpr>(E))
    return evalCast(C);
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return evalUnary(U);
  if (auto *B = dyn_cast<BinaryOperator>(E))
    return evalBinary(B);
  if (auto *C = dyn_cast<AbstractConditionalOperator>(E))
    return evalConditional(C);
  if (auto *C = dyn_cast<CallExpr>(E))
    return evalCall(C);
  if (auto *C = dyn_cast<CXXConstructExpr>(E);
      C && C->getNumArgs() == 1 &&
      AC.hasSameUnqualifiedType(C->getArg(0)->getType(), T) &&
      (C->isElidable() || C->getConstructor()->isCopyOrMoveConstructor())) {
    const Expr *A = strip(C->getArg(0));
    if (auto *I = dyn_cast<ImplicitCastExpr>(A);
        I && I->getCastKind() == CK_NoOp)
      A = strip(I->getSubExpr());
    if (A->isGLValue() && !isa<CallExpr>(A) &&
        !isa<AbstractConditionalOperator>(A))
      return load(lvalue(A), A);
    return eval(A);
  }
  return generic(E);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

SVal Executor::evalCast(const CastExpr *E) {
  const Expr *Sub = E->getSubExpr();
  switch (E->getCastKind()) {
  case CK_LValueToRValue:
    if (auto *C = dyn_cast<AbstractConditionalOperator>(strip(Sub)))
      return evalConditional(C);
    return load(lvalue(Sub), strip(Sub));
  case CK_NoOp:
  case CK_ConstructorConversion:
  case CK_UserDefinedConversion:
    if (E->getCastKind() == CK_NoOp ||
        AC.hasSameUnqualifiedType(Sub->getType(), E->getType())) {
      SVal V = eval(Sub);
      if (V.Base == SVal::Shared && E->getType()->isPointerType() &&
          E->getType()->getPointeeType().isVolatileQualified())
        M.Arrays[V.Index].Volatile = true;
      if (V.K == SVal::Data && !V.Int && V.V)
        return ofValue(V.V, E->getType());
      return V;
    }
    return generic(E);
  case CK_ArrayToPointerDecay:
    return decay(lvalue(Sub), strip(Sub));
  case CK_BitCast:
  case CK_AddressSpaceConversion:
    if (E->getType()->isPointerType())
      return pointerCast(eval(Sub), E->getType(), E);
    return generic(E);
  case CK_ToVoid:
    eval(Sub);
    return unknown(E, 0);
  case CK_IntegralCast:
  case CK_BooleanToSignedIntegral:
    return convertTo(eval(Sub), Sub->getType(), E->getType(), E);
  case CK_IntegralToBoolean:
  case CK_FloatingToBoolean:
  case CK_PointerToBoolean:
    return ofBool(evalCond(E), E->getType());
  case CK_FunctionToPointerDecay:
  case CK_BuiltinFnToFnPtr:
    return unknown(E, 0);
  case CK_IntegralToFloating:
  case CK_FloatingToIntegral:
  case CK_FloatingCast:
    // Written down, an explicit one is there already.
    if (isa<ExplicitCastExpr>(E))
      return generic(E);
    return convertTo(eval(Sub), Sub->getType(), E->getType(), E);
  default:
    return generic(E);
  }
}

/// Conversion of an evaluated value; \p E is the expression of type \p To, or
/// null for an initialisation.
SVal Executor::convertTo(SVal V, QualType From, QualType To, const Expr *E) {
  if (V.K == SVal::Pointer || To->isReferenceType())
    return V;
  if (AC.hasSameUnqualifiedType(From, To) || !To->isScalarType())
    return V;
  if (isInt(To) && isInt(From)) {
    if (V.Int && To->isBooleanType()) {
      if (std::optional<isl::pw_aff> A = Arith.exact(*V.Int, V.Type, where()))
        return ofBool(affineCond(A->ne_set(Arith.constant(0))), To);
    } else if (V.Int) {
      if (auto C = Arith.convert(*V.Int, V.Type, intType(To), where()))
        return ofInt(*C, To);
    }
  }
  if (V.Int && To->isRealFloatingType())
    if (auto C = Arith.constantValue(V.Int->Aff);
        C && std::abs(*C) < (1 << 22) && V.Int->Exact) {
      bool IsFloat = typeText(To) == "float";
      if (IsFloat || typeText(To) == "double") {
        Value U;
        U.K = Value::Uniform;
        U.Type = typeText(To);
        U.Text = std::to_string(*C) + (IsFloat ? ".0f" : ".0");
        return ofValue(std::make_shared<Value>(U), To);
      }
    }
  auto *C = dyn_cast_or_null<CastExpr>(E);
  ValueRef Op = asValue(V, C ? C->getSubExpr() : nullptr);
  if (Op->K == Value::Uniform && !Op->Depends) {
    Value U = *Op;
    U.Type = typeText(To);
    U.Text = "(" + U.Type + ")(" + U.Text + ")";
    return ofValue(std::make_shared<Value>(U), To);
  }
  return ofValue(opValue("(" + typeText(To) + ")$0", {Op}, typeText(To)), To);
}

SVal Executor::ofBool(const CondVal &C, QualType T) {
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

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

SVal Executor::evalUnary(const UnaryOperator *E) {
  const Expr *Sub = E->getSubExpr();
  switch (E->getOpcode()) {
  case UO_Plus:
    return eval(Sub);
  case UO_Minus:
    if (isInt(E->getType())) {
      SVal V = eval(Sub);
      if (V.Int)
        if (auto R = Arith.sub({Arith.constant(0), true}, *V.Int,
                               intType(E->getType())))
          return ofInt(*R, E->getType());
      return ofValue(textOp(E, {{Sub, V}}), E->getType());
    }
    return generic(E);
  case UO_Not: {
    if (!isInt(E->getType()))
      return generic(E);
    SVal V = eval(Sub);
    if (V.Int)
      if (auto R = Arith.sub({Arith.constant(-1), true}, *V.Int,
                             intType(E->getType())))
        return ofInt(*R, E->getType());
    return ofValue(textOp(E, {{Sub, V}}), E->getType());
  }
  case UO_LNot:
    return ofBool(evalCond(E), E->getType());
  case UO_AddrOf: {
    LVal L = lvalue(Sub);
    return addressOf(L, E);
  }
  case UO_PreInc:
  case UO_PreDec:
  case UO_PostInc:
  case UO_PostDec: {
    LVal L = lvalue(Sub);
    SVal Old = L.K == LVal::Memory ? unknown(Sub, 255) : load(L, strip(Sub));
    SVal New;
    bool Dec = E->isDecrementOp();
    QualType T = Sub->getType();
    if (Old.K == SVal::Pointer) {
      New = pointerAdd(Old, ofConst(1, AC.IntTy), Dec, E);
    } else if (Old.Int) {
      IntValue One{Arith.constant(1), true};
      auto R = Dec ? Arith.sub(*Old.Int, One, intType(T))
                   : Arith.add(*Old.Int, One, intType(T));
      New = R ? ofInt(*R, T) : unknown(E, depends(Old));
    } else {
      New = ofValue(
          opValue(Dec ? "$0 - 1" : "$0 + 1", {asValue(Old)}, typeText(T)), T);
    }
    store(L, New, Sub, nullptr, false, true);
    return E->isPostfix() ? Old : New;
  }
  default:
    return generic(E);
  }
}

SVal Executor::evalBinary(const BinaryOperator *E) {
  const Expr *Lhs = E->getLHS(), *Rhs = E->getRHS();
  QualType T = E->getType();
  if (E->isAssignmentOp()) {
    bool Whole = E == WholeStmtExpr;
    if (auto *C = dyn_cast<CompoundAssignOperator>(E)) {
      SVal B = eval(Rhs);
      LVal L = lvalue(Lhs);
      QualType Comp = C->getComputationLHSType();
      SVal New;
      if (L.K == LVal::Memory && L.Place.Base != SVal::Private) {
        New = unknown(E, 255);
      } else {
        SVal A = load(L, strip(Lhs));
        if (A.K == SVal::Pointer) {
          New = pointerAdd(A, B, C->getOpcode() == BO_SubAssign, E);
        } else {
          A = convertTo(A, Lhs->getType(), Comp, nullptr);
          New = arithmetic(
              E, BinaryOperator::getOpForCompoundAssignment(C->getOpcode()), A,
              B, C->getComputationResultType());
          New = convertTo(New, C->getComputationResultType(), Lhs->getType(),
                          nullptr);
        }
      }
      store(L, New, Lhs, Rhs, false, true);
      return New;
    }
    SVal V = eval(Rhs);
    LVal L = lvalue(Lhs);
    store(L, V, Lhs, Rhs, Whole, false);
    return V;
  }
  if (E->getOpcode() == BO_Comma) {
    eval(Lhs);
    return eval(Rhs);
  }
  if (E->isComparisonOp() || E->isLogicalOp())
    return ofBool(evalCond(E), T);
  if (T->isPointerType()) {
    bool LhsPtr = Lhs->getType()->isPointerType();
    SVal P = eval(LhsPtr ? Lhs : Rhs);
    SVal I = eval(LhsPtr ? Rhs : Lhs);
    return pointerAdd(P, I, E->getOpcode() == BO_Sub, E);
  }
  if (isInt(T) && isInt(Lhs->getType()) && isInt(Rhs->getType())) {
    SVal A = eval(Lhs);
    SVal B = eval(Rhs);
    return arithmetic(E, E->getOpcode(), A, B, T);
  }
  return generic(E);
}

/// `A Op B` in type \p T (both converted to it already, but for shifts).
SVal Executor::arithmetic(const Expr *E, BinaryOperatorKind Op, SVal A, SVal B,
                          QualType T) {
  auto Fallback = [&]() {
    const Expr *L = nullptr, *R = nullptr;
    if (auto *Bin = dyn_cast<BinaryOperator>(E)) {
      L = Bin->getLHS();
      R = Bin->getRHS();
    }
    if (L && !cast<BinaryOperator>(E)->isAssignmentOp())
      return ofValue(textOp(E, {{L, A}, {R, B}}), T);
    return ofValue(
        opValue("$0 " + BinaryOperator::getOpcodeStr(Op).str() + " $1",
                {asValue(A), asValue(B)}, typeText(T)),
        T);
  };
  if (!isInt(T))
    return Fallback();
  // Data stays data, and what threads differ in stays text in terms of their
  // coordinates; other integers get a symbol of their own.
  for (SVal *X : {&A, &B})
    if (!X->Int) {
      if (X->K == SVal::Pointer || !X->V ||
          (X->V->Depends & (DepShared | DepGlobal | DepThread)))
        return Fallback();
      const Expr *S = nullptr;
      if (auto *Bin = dyn_cast<BinaryOperator>(E);
          Bin && !Bin->isAssignmentOp())
        S = X == &A ? Bin->getLHS() : Bin->getRHS();
      if (!S)
        return Fallback();
      asInt(*X, S);
    }
  IntType Ty = intType(T);
  std::optional<IntValue> R;
  isl::set P = where();
  switch (Op) {
  case BO_Add:
    R = Arith.add(*A.Int, *B.Int, Ty);
    break;
  case BO_Sub:
    R = Arith.sub(*A.Int, *B.Int, Ty);
    break;
  case BO_Mul:
    R = Arith.mul(*A.Int, *B.Int, Ty, P);
    break;
  case BO_Div:
    R = Arith.div(*A.Int, *B.Int, Ty, P);
    break;
  case BO_Rem:
    R = Arith.rem(*A.Int, *B.Int, Ty, P);
    break;
  case BO_And:
    R = Arith.bitAnd(*A.Int, *B.Int, Ty, P);
    break;
  case BO_Xor:
  case BO_Or:
    R = Arith.bitXorOr(*A.Int, *B.Int, Ty, Op == BO_Or, P);
    break;
  case BO_Shl:
  case BO_Shr: {
    auto C = Arith.constantValue(B.Int->Aff);
    if (!C || *C < 0 || *C >= std::min(Ty.Bits, 40u))
      break;
    IntValue Pow{Arith.constant(int64_t(1) << *C), true};
    if (Op == BO_Shl) {
      R = Arith.mul(*A.Int, Pow, Ty, P);
    } else if (auto X = Arith.exact(*A.Int, Ty, P)) {
      // Arithmetic shift: rounds down, as isl's floor does.
      IntType Floor{Ty.Bits, false};
      R = Arith.div({*X, true}, Pow, Floor, P);
    }
    break;
  }
  default:
    break;
  }
  if (!R)
    return Fallback();
  // Signed arithmetic that got here did not overflow.
  if (Ty.Signed && Ty.Bits >= 32 &&
      (Op == BO_Add || Op == BO_Sub || Op == BO_Mul))
    if (auto Fits = Arith.fitsUnlessPlain(R->Aff, Ty))
      Path.Known = Path.Known.intersect(*Fits);
  return ofInt(*R, T);
}

SVal Executor::evalConditional(const AbstractConditionalOperator *E) {
  QualType T = E->getType();
  if (isa<BinaryConditionalOperator>(E))
    return unknown(E, L.depends(E));
  CondVal C = evalCond(E->getCond());
  PathState Before = Path;
  auto EnvBefore = Env;
  auto Branch = [&](const Expr *X) {
    X = strip(X);
    bool Place = X->isGLValue() && !isa<CallExpr>(X) &&
                 !isa<AbstractConditionalOperator>(X);
    return Place ? load(lvalue(X), X) : eval(X);
  };
  assume(C, true);
  SVal A = Branch(E->getTrueExpr());
  auto EnvTrue = Env;
  Path = Before;
  Env = EnvBefore;
  assume(C, false);
  SVal B = Branch(E->getFalseExpr());
  Path = Before;
  auto EnvFalse = Env;
  if (C.Affine && (C.True.is_empty() || C.False.is_empty())) { // always one
    Env = C.True.is_empty() ? EnvFalse : EnvTrue;
    return C.True.is_empty() ? B : A;
  }
  mergeEnv(C, EnvTrue, EnvFalse);
  if (A.K == SVal::Pointer || B.K == SVal::Pointer)
    return sameValue(A, B) ? A : unknown(E, L.depends(E));
  if (T->isVoidType())
    return unknown(E, 0);
  if (C.Affine && A.Int && B.Int) {
    auto X = Arith.exact(*A.Int, A.Type, where(C.True));
    auto Y = Arith.exact(*B.Int, B.Type, where(C.False));
    if (X && Y)
      if (auto R = Arith.select(C.True, *X, *Y))
        return ofInt({*R, true}, T);
  }
  Value V;
  V.Type = typeText(T);
  V.Operands = {asValue(A), asValue(B)};
  V.Depends = C.Depends | V.Operands[0]->Depends | V.Operands[1]->Depends;
  if (C.Affine) {
    V.K = Value::Select;
    V.Cond = C.True;
  } else {
    V.K = Value::Op;
    V.Text = "($0 ? $1 : $2)";
    V.Operands.insert(V.Operands.begin(), C.V);
  }
  return ofValue(std::make_shared<Value>(V), T);
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

CondVal Executor::affineCond(isl::set True) {
  CondVal C;
  C.True = True;
  C.False = Arith.complement(True);
  C.Affine = true;
  C.Depends = Arith.depends(True);
  return C;
}

CondVal Executor::opaqueCond(const Expr *E, ValueRef V) {
  CondVal C;
  C.True = C.False = Arith.universe();
  C.V = V;
  C.Depends = V->Depends;
  return C;
}

CondVal Executor::nonZero(SVal V, const Expr *E) {
  if (std::optional<isl::pw_aff> A = asExact(V, E))
    return affineCond(A->ne_set(Arith.constant(0)));
  return opaqueCond(E, asValue(V));
}

/// Is there memory behind a pointer? For a parameter it is the same question
/// everywhere in the kernel.
CondVal Executor::pointerCond(const Expr *E, const char *Op, const SVal &P) {
  Value V;
  V.Type = "bool";
  V.Depends = depends(P);
  V.Text = M.text(range(E));
  auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  auto *D = R ? dyn_cast<ParmVarDecl>(R->getDecl()) : nullptr;
  const int Var = D && !Inlining ? L.varIndex(D) : -1;
  if (Var >= 0 && M.Vars[Var].IsParam && !M.Vars[Var].Assigned) {
    V.K = Value::Uniform;
    V.Text = D->getNameAsString() + " " + Op + " nullptr";
  }
  return opaqueCond(E, std::make_shared<Value>(V));
}

CondVal Executor::evalCond(const Expr *E) {
  E = strip(E);
  if (auto *C = dyn_cast<CastExpr>(E)) {
    CastKind K = C->getCastKind();
    if (K == CK_IntegralToBoolean)
      return nonZero(eval(C->getSubExpr()), C->getSubExpr());
    if (K == CK_NoOp ||
        (K == CK_IntegralCast && C->getSubExpr()->getType()->isBooleanType()))
      return evalCond(C->getSubExpr());
    if (K == CK_PointerToBoolean)
      return pointerCond(C->getSubExpr(), "!=", eval(C->getSubExpr()));
    if (K == CK_FloatingToBoolean)
      return opaqueCond(
          E, opValue("$0 != 0",
                     {asValue(eval(C->getSubExpr()), C->getSubExpr())}, "bool"));
  }
  if (auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_LNot) {
    CondVal C = evalCond(U->getSubExpr());
    std::swap(C.True, C.False);
    if (C.V)
      C.V = opValue("!$0", {C.V}, "bool");
    return C;
  }
  auto *B = dyn_cast<BinaryOperator>(E);
  if (B && B->isLogicalOp()) {
    bool And = B->getOpcode() == BO_LAnd;
    CondVal X = evalCond(B->getLHS());
    PathState Before = Path;
    assume(X, And);
    CondVal Y = evalCond(B->getRHS());
    Path = Before;
    CondVal C;
    C.Affine = X.Affine && Y.Affine;
    C.Depends = X.Depends | Y.Depends;
    C.True = And ? X.True.intersect(Y.True) : X.True.unite(Y.True);
    C.False = And ? X.False.unite(Y.False) : X.False.intersect(Y.False);
    if (!C.Affine) {
      auto V = [&](const CondVal &Z) {
        return Z.V ? Z.V : asValue(ofBool(Z, AC.BoolTy));
      };
      C.V = opValue(And ? "$0 && $1" : "$0 || $1", {V(X), V(Y)}, "bool");
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
        opValue(B->getOpcode() == BO_And ? "$0 & $1" : "$0 | $1",
                {asValue(ofBool(X, AC.BoolTy)), asValue(ofBool(Y, AC.BoolTy))},
                "bool"));
  }
  SVal V = eval(E);
  if (isInt(E->getType()))
    return nonZero(V, E);
  return opaqueCond(E, asValue(V));
}

CondVal Executor::compare(const BinaryOperator *E) {
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
  std::optional<isl::pw_aff> X = asExact(A, Lhs), Y = asExact(B, Rhs);
  if (!X || !Y)
    return opaqueCond(E, textOp(E, {{Lhs, A}, {Rhs, B}}));
  switch (E->getOpcode()) {
  case BO_LT:
    return affineCond(X->lt_set(*Y));
  case BO_LE:
    return affineCond(X->le_set(*Y));
  case BO_GT:
    return affineCond(X->gt_set(*Y));
  case BO_GE:
    return affineCond(X->ge_set(*Y));
  case BO_EQ:
    return affineCond(X->eq_set(*Y));
  case BO_NE:
    return affineCond(X->ne_set(*Y));
  default:
    return opaqueCond(E, textOp(E, {{Lhs, A}, {Rhs, B}}));
  }
}

//===----------------------------------------------------------------------===//
// Text with holes
//===----------------------------------------------------------------------===//

/// Leaves of an expression whose structure stays text.
void Executor::collectOperands(const Expr *E,
                               std::vector<std::pair<const Expr *, SVal>> &Ops,
                               bool Root) {
  E = strip(E);
  if (auto *C = dyn_cast<CastExpr>(E)) {
    switch (C->getCastKind()) {
    case CK_LValueToRValue:
    case CK_ArrayToPointerDecay:
    case CK_BitCast:
      break;
    case CK_FunctionToPointerDecay:
    case CK_BuiltinFnToFnPtr:
      return;
    default:
      return collectOperands(C->getSubExpr(), Ops, false);
    }
  }
  bool Through = Root;
  if (auto *U = dyn_cast<UnaryOperator>(E))
    Through |= U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus ||
               U->getOpcode() == UO_Not;
  else if (auto *B = dyn_cast<BinaryOperator>(E))
    Through |= (B->isMultiplicativeOp() || B->isAdditiveOp() ||
                B->isShiftOp() || B->isBitwiseOp() || B->isComparisonOp()) &&
               !B->getType()->isPointerType() &&
               !B->getLHS()->getType()->isPointerType();
  else if (isa<InitListExpr>(E) || isa<CXXConstructExpr>(E) ||
           isa<CXXUnresolvedConstructExpr>(E))
    Through = true;
  else if (auto *Mem = dyn_cast<MemberExpr>(E))
    Through |= !Mem->isArrow() && Mem->isPRValue();
  else if (auto *Call = dyn_cast<CallExpr>(E))
    if (const FunctionDecl *F = Call->getDirectCallee(); F && isPure(F)) {
      // Reference parameters read their arguments here.
      for (const Expr *A : Call->arguments()) {
        const Expr *S = strip(A);
        while (auto *I = dyn_cast<ImplicitCastExpr>(S)) {
          if (I->getCastKind() != CK_NoOp)
            break;
          S = strip(I->getSubExpr());
        }
        if (S->isGLValue() && !isa<CallExpr>(S))
          Ops.push_back({S, load(lvalue(S), S)});
        else
          collectOperands(S, Ops, false);
      }
      return;
    }
  if (!Through) {
    // Leaves: constants stay text.
    if (isa<FloatingLiteral>(E) || isa<IntegerLiteral>(E) ||
        isa<CXXBoolLiteralExpr>(E) || isa<StringLiteral>(E) ||
        isa<CharacterLiteral>(E) || isa<CXXNullPtrLiteralExpr>(E) ||
        isa<ImplicitValueInitExpr>(E) || isa<UnaryExprOrTypeTraitExpr>(E))
      return;
    if (E->isGLValue() && !isa<CallExpr>(E)) {
      if (auto *D = dyn_cast<DeclRefExpr>(E); D && !isa<VarDecl>(D->getDecl()))
        return;
      Ops.push_back({E, load(lvalue(E), E)});
      return;
    }
    Ops.push_back({E, eval(E)});
    return;
  }
  for (const clang::Stmt *C : E->children())
    if (auto *X = dyn_cast_or_null<Expr>(C))
      collectOperands(X, Ops, false);
}

SVal Executor::generic(const Expr *E) {
  std::vector<std::pair<const Expr *, SVal>> Ops;
  bool Text = true;
  if (auto *C = dyn_cast<CallExpr>(E))
    Text = C->getDirectCallee() && isPure(C->getDirectCallee());
  else if (isa<LambdaExpr>(E) || isa<CXXNewExpr>(E) || isa<CXXThrowExpr>(E) ||
           isa<StmtExpr>(E) || isa<AtomicExpr>(E))
    Text = false;
  collectOperands(E, Ops, !isa<CallExpr>(E));
  for (const auto &[X, S] : Ops)
    if (S.K == SVal::Pointer &&
        (isa<CallExpr>(E) || !E->getType()->isPointerType()))
      escape(S, X ? X : E, "becomes part of a value",
             isa<CallExpr>(E) ? "array-to-function" : "escaping-array");
  if (!Text)
    return unknown(E, L.depends(E));
  // A leaf that is E itself would be a hole and nothing else.
  if (Ops.size() == 1 && Ops[0].first == E)
    return Ops[0].second;
  unsigned Extra = 0;
  if (auto *C = dyn_cast<CallExpr>(E))
    Extra = callDepends(C);
  ValueRef V = textOp(E, Ops, Extra);
  if (isa<InitListExpr>(E) && V->Text.starts_with("{")) {
    // `{0, 0}` has its type from where it stands.
    Value Typed = *V;
    Typed.Text = typedBraces(Typed.Text, E->getType());
    V = std::make_shared<Value>(std::move(Typed));
  }
  return ofValue(V, E->getType());
}

/// Without comments, line ends and runs of space.
static std::string onOneLine(StringRef S) {
  std::string R;
  for (size_t I = 0; I < S.size(); ++I) {
    if (S.substr(I).starts_with("//")) {
      I = std::min(S.find('\n', I), S.size()) - 1;
      continue;
    }
    if (S.substr(I).starts_with("/*")) {
      I = std::min(S.find("*/", I + 2), S.size() - 2) + 1;
      continue;
    }
    bool Space = isspace(static_cast<unsigned char>(S[I]));
    if (!Space)
      R += S[I];
    else if (!R.empty() && R.back() != ' ')
      R += ' ';
  }
  return R;
}

ValueRef Executor::textOp(const Expr *E,
                          const std::vector<std::pair<const Expr *, SVal>> &Ops,
                          unsigned ExtraDepends) {
  Value V;
  V.K = Value::Op;
  V.Type = typeText(E->getType());
  V.Depends = ExtraDepends;
  llvm::SmallVector<const Expr *, 8> Holed;
  for (auto &[X, S] : Ops)
    if (X)
      Holed.append({X, strip(X)});
  if (boundToItsPlace(E, Holed, L)) {
    for (auto &[X, S] : Ops)
      V.Depends |= depends(S);
    V.Depends |= L.depends(E);
    V.K = Value::Unknown;
    V.Text = Inlining ? "" : M.text(range(E));
    return std::make_shared<Value>(V);
  }
  if (Inlining)
    return printedOp(E, Ops, ExtraDepends);
  TextRange All = range(E);
  std::vector<std::pair<TextRange, ValueRef>> Holes;
  bool Uniform = true;
  for (auto &[X, S] : Ops) {
    if (!X)
      continue;
    ValueRef O = asValue(S, X);
    V.Depends |= O->Depends;
    TextRange R = range(strip(X));
    if (O->K == Value::Uniform && O->Text == M.text(R))
      continue;
    Uniform &= O->K == Value::Uniform;
    if (R.empty() || !All.contains(R)) {
      V.K = Value::Unknown;
      continue;
    }
    Holes.push_back({R, O});
  }
  if (V.K == Value::Unknown || All.empty()) {
    V.K = Value::Unknown;
    V.Text = M.text(All);
    return std::make_shared<Value>(V);
  }
  llvm::sort(Holes,
             [](auto &A, auto &B) { return A.first.Begin < B.first.Begin; });
  unsigned At = All.Begin;
  for (auto &[R, O] : Holes) {
    if (R.Begin < At)
      continue; // nested: the outer hole holds it
    // A dollar sign in the source is no hole.
    V.Text += M.text({At, R.Begin});
    if (O->K == Value::Uniform)
      V.Text += "(" + O->Text + ")";
    else {
      V.Text += "$" + std::to_string(V.Operands.size());
      V.Operands.push_back(O);
    }
    At = R.End;
  }
  V.Text += M.text({At, All.End});
  V.Text = onOneLine(V.Text);
  // Braces alone are no expression.
  if (isa<InitListExpr>(E) && StringRef(V.Text).starts_with("{"))
    V.Text = typedBraces(V.Text, E->getType());
  if (Uniform && V.Operands.empty() && !V.Depends)
    V.K = Value::Uniform;
  return std::make_shared<Value>(V);
}

} // namespace rcache
