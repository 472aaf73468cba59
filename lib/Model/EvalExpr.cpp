// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions to values. Integers stay quasi-affine as long as they can; all
// else becomes text with holes, so that a staged value can be written down
// again for another element:
//
//     a[g] * 2.0f + w      ->   "$0 * 2.0f + $1", $0 = Load a, $1 = what w
//     holds

#include "BuiltinVars.h"
#include "Evaluator.h"

using namespace clang;

namespace rcache {

const Expr *strip(const Expr *E) {
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
    else if (auto *L = dyn_cast<InitListExpr>(E);
             L && L->getNumInits() == 1 && L->getType()->isScalarType())
      E = L->getInit(0); // int x{y}
    else
      return E;
  }
}

SVal Evaluator::eval(const Expr *E) {
  E = strip(E);
  QualType T = E->getType();
  if (isInt(T) && !E->isValueDependent() && E->isPRValue()) {
    Expr::EvalResult R;
    if (E->EvaluateAsInt(R, AC, Expr::SE_NoSideEffects) &&
        R.Val.getInt().isRepresentableByInt64())
      return ofConst(R.Val.getInt().getExtValue(), T);
  }
  // Every plan is for the block that all launches use.
  if (auto B = builtinVar(E);
      B && B->K == Symbol::BlockDim && B->Axis < 3 && M.Geo.ConstBlock)
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

SVal Evaluator::evalCast(const CastExpr *E) {
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
      if (V.K == SVal::Data && !V.Int && V.V) {
        SVal Same = ofValue(V.V, E->getType());
        Same.Members = std::move(V.Members);
        return Same;
      }
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
SVal Evaluator::convertTo(SVal V, QualType From, QualType To, const Expr *E) {
  if (V.K == SVal::Pointer || To->isReferenceType())
    return V;
  if (AC.hasSameUnqualifiedType(From, To) || !To->isScalarType())
    return V;
  if (isInt(To) && isInt(From)) {
    if (Cur.Calls) // what a body converts has no text in the kernel
      asMember(V);
    if (V.Int && To->isBooleanType()) {
      if (std::optional<isl::pw_aff> A =
              Arith.exact(*V.Int, V.Type, Cur.where()))
        return ofBool(affineCond(A->ne_set(Arith.constant(0))), To);
    } else if (V.Int) {
      if (auto C = Arith.convert(*V.Int, V.Type, intType(To), Cur.where()))
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
  return ofValue(castValue(Op, typeText(To)), To);
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

SVal Evaluator::evalUnary(const UnaryOperator *E) {
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

/// Is `x Op N`, or with \p Left `N Op x`, x with all its bits for every compiler: is \p N a
/// number that says nothing?
static bool saysNothing(BinaryOperatorKind Op, const Expr *N, bool Left, const ASTContext &AC) {
  Expr::EvalResult R;
  if (N->isValueDependent() || !N->EvaluateAsRValue(R, AC) || !R.Val.isFloat())
    return false;
  const llvm::APFloat &F = R.Val.getFloat();
  switch (Op) {
  case BO_Mul:
    return F.isExactlyValue(1.0);
  case BO_Div:
    return !Left && F.isExactlyValue(1.0);
  case BO_Add:
    return F.isNegZero();
  case BO_Sub:
    return !Left && F.isPosZero();
  default:
    return false;
  }
}

SVal Evaluator::evalBinary(const BinaryOperator *E) {
  const Expr *Lhs = E->getLHS(), *Rhs = E->getRHS();
  QualType T = E->getType();
  if (E->isAssignmentOp()) {
    bool Whole = E == Cur.Whole;
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
  if (T->isRealFloatingType()) {
    if (saysNothing(E->getOpcode(), Rhs, /*Left=*/false, AC))
      return eval(Lhs);
    if (saysNothing(E->getOpcode(), Lhs, /*Left=*/true, AC))
      return eval(Rhs);
  }
  return generic(E);
}

/// `A << B`, `A >> B` where B counts a few values, `1 << k` in a loop over k: a
/// value for each of them.
std::optional<IntValue> Evaluator::shiftedByCases(BinaryOperatorKind Op,
                                                  const IntValue &A,
                                                  const IntValue &B,
                                                  IntType Ty) {
  constexpr int MostCases = 12;
  const isl::set P = Cur.where();
  if (!B.Exact || !A.Exact || !Arith.constantValue(A.Aff) ||
      !Arith.proveInRange(B.Aff, 0, MostCases - 1, P))
    return std::nullopt;
  std::optional<IntValue> All;
  for (int C = 0; C < MostCases; ++C) {
    const IntValue Here{Arith.constant(C), true};
    const isl::set Is = B.Aff.eq_set(Here.Aff);
    if (Is.intersect(P).is_empty())
      continue;
    const auto V = integerResult(Op, A, Here, Ty);
    if (!V || !V->Exact)
      return std::nullopt;
    const auto Either =
        All ? Arith.select(Is, V->Aff, All->Aff) : std::optional(V->Aff);
    if (!Either)
      return std::nullopt;
    All = IntValue{*Either, true};
  }
  return All;
}

/// `A Op B` of integers of type \p Ty; nullopt: not quasi-affine.
std::optional<IntValue> Evaluator::integerResult(BinaryOperatorKind Op,
                                                 const IntValue &A,
                                                 const IntValue &B,
                                                 IntType Ty) {
  isl::set P = Cur.where();
  switch (Op) {
  case BO_Add:
    return Arith.add(A, B, Ty);
  case BO_Sub:
    return Arith.sub(A, B, Ty);
  case BO_Mul:
    return Arith.mul(A, B, Ty, P);
  case BO_Div:
    return Arith.div(A, B, Ty, P);
  case BO_Rem:
    return Arith.rem(A, B, Ty, P);
  case BO_And:
    return Arith.bitAnd(A, B, Ty, P);
  case BO_Xor:
  case BO_Or:
    return Arith.bitXorOr(A, B, Ty, Op == BO_Or, P);
  case BO_Shl:
  case BO_Shr: {
    auto C = Arith.constantValue(B.Aff);
    if (!C)
      return shiftedByCases(Op, A, B, Ty);
    if (*C < 0 || *C >= std::min(Ty.Bits, 40u))
      return std::nullopt;
    IntValue Pow{Arith.constant(int64_t(1) << *C), true};
    if (Op == BO_Shl)
      return Arith.mul(A, Pow, Ty, P);
    auto X = Arith.exact(A, Ty, P);
    if (!X)
      return std::nullopt;
    // Arithmetic shift: rounds down, as isl's floor does.
    IntType Floor{Ty.Bits, false};
    return Arith.div({*X, true}, Pow, Floor, P);
  }
  default:
    return std::nullopt;
  }
}

/// `A Op B` in type \p T (both converted to it already, but for shifts).
SVal Evaluator::arithmetic(const Expr *E, BinaryOperatorKind Op, SVal A, SVal B,
                           QualType T) {
  auto Fallback = [&]() {
    const Expr *L = nullptr, *R = nullptr;
    if (auto *Bin = dyn_cast<BinaryOperator>(E)) {
      L = Bin->getLHS();
      R = Bin->getRHS();
    }
    if (R && T->isRealFloatingType() && saysNothing(Op, R, /*Left=*/false, AC))
      return A;
    if (L && !cast<BinaryOperator>(E)->isAssignmentOp())
      return ofValue(textOp(E, {{L, A}, {R, B}}), T);
    return ofValue(opValue(Op, asValue(A), asValue(B), typeText(T)), T);
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
  std::optional<IntValue> R = integerResult(Op, *A.Int, *B.Int, Ty);
  if (!R)
    return Fallback();
  // Signed arithmetic that got here did not overflow.
  if (Ty.Signed && Ty.Bits >= 32 &&
      (Op == BO_Add || Op == BO_Sub || Op == BO_Mul))
    if (auto Fits = Arith.fitsUnlessPlain(R->Aff, Ty))
      Cur.Path.Known = Cur.Path.Known.intersect(*Fits);
  return ofInt(*R, T);
}

} // namespace rcache
