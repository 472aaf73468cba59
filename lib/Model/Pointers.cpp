// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lvalues and pointers.
//
// A pointer is a root (a parameter, a shared array, a private array) and one
// index a dimension, the last of which moves with pointer arithmetic:
//
//     __shared__ float t[4][8];
//     t                 Idx [0]          t[i]      lvalue [i], decays to [i, 0]
//     t[i] + 3          Idx [i, 3]       *(t + 1)  lvalue [1]
//     float *p = t[0];  Idx [0, 0], Flattened: p[9] is t[1][1]

#include "BuiltinVars.h"
#include "Evaluator.h"
#include "clang/AST/Attr.h"

using namespace clang;

namespace rcache {

const Expr *bareLvalue(const Expr *E) {
  while (true) {
    E = E->IgnoreParens();
    if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      E = M->getSubExpr();
    else if (auto *F = dyn_cast<FullExpr>(E))
      E = F->getSubExpr();
    else if (auto *I = dyn_cast<CastExpr>(E);
             I && I->getCastKind() == CK_NoOp && I->isGLValue())
      E = I->getSubExpr();
    else
      return E;
  }
}

/// The place of the variable \p V, which \p E names.
LVal Evaluator::variablePlace(const VarDecl *V, const Expr *E) {
  LVal Result;
  Result.Base = E;
  if (int A = L.arrayIndex(V); A >= 0) {
    Result.K = LVal::Memory;
    Result.Place.K = SVal::Pointer;
    Result.Place.Base = SVal::Shared;
    Result.Place.Index = A;
    Result.Place.ElemBytes = M.Arrays[A].ElemBytes;
    asDeclared(Result.Place);
    return Result;
  }
  // Variables of the kernel, and of a function evaluated in place.
  if (L.varIndex(V) >= 0 || (Cur.Calls && V->isLocalVarDeclOrParm())) {
    Result.K = LVal::Variable;
    Result.Var = V;
    // A reference parameter of such a function is the value it is bound to.
    if (V->getType()->isReferenceType() && L.varIndex(V) >= 0) {
      // A reference to memory: what it was bound to.
      auto It = Cur.Env.find(V);
      if (It != Cur.Env.end() && It->second.K == SVal::Pointer &&
          It->second.Base != SVal::NoBase) {
        Result.K = LVal::Memory;
        Result.Place = It->second;
      } else {
        Result.K = LVal::Unknown;
      }
    }
    if (V->getType()->isArrayType()) {
      Result.K = LVal::Memory;
      Result.Place.K = SVal::Pointer;
      Result.Place.Base = SVal::Private;
      Result.Place.Index = L.varIndex(V);
    }
    return Result;
  }
  // File scope: constant or device memory.
  Result.K = LVal::Memory;
  Result.Place.K = SVal::Pointer;
  bool ReadOnly = V->hasAttr<CUDAConstantAttr>() ||
                  AC.getBaseElementType(V->getType()).isConstQualified();
  Result.Place.Base = ReadOnly ? SVal::Constant : SVal::Global;
  Result.Place.PtrText = fileScopeName(V, E);
  Result.Place.Index = -1;
  Result.Place.ElemText = typeText(AC.getBaseElementType(V->getType()));
  return Result;
}

/// The array that \p S is an element of, where that is a member of an object, or a row of such
/// a member: `s[t].q` of `s[t].q[1]`, `s.q[y]` of `s.q[y][x]`; null: another one.
static const Expr *memberArray(const ArraySubscriptExpr *S) {
  const Expr *Array = S->getBase()->IgnoreParenImpCasts();
  const Expr *In = Array;
  while (In->getType()->isArrayType() && isa<ArraySubscriptExpr>(In))
    In = cast<ArraySubscriptExpr>(In)->getBase()->IgnoreParenImpCasts();
  return Array->getType()->isArrayType() && isa<MemberExpr>(In) && In->getType()->isArrayType()
             ? Array
             : nullptr;
}

LVal Evaluator::subscriptPlace(const ArraySubscriptExpr *S) {
  // An array inside an element, of which the element is read.
  if (const Expr *Array = memberArray(S)) {
    LVal Whole = lvalue(Array);
    SVal I = eval(S->getIdx());
    auto C = I.Int ? Arith.constantValue(I.Int->Aff) : std::nullopt;
    if (Whole.K == LVal::Memory && !Whole.Member.empty() &&
        (C || Whole.Place.Base == SVal::Shared)) {
      Whole.Member +=
          "[" + (C ? std::to_string(*C) : Rec.text(S->getIdx())) + "]";
      return Whole;
    }
  }
  LVal Result;
  Result.Base = S;
  SVal P = eval(S->getBase());
  SVal I = eval(S->getIdx());
  Result.K = LVal::Memory;
  Result.Place = pointerAdd(P, I, false, S->getIdx());
  return Result;
}

LVal Evaluator::memberPlace(const MemberExpr *Mem) {
  LVal Result;
  Result.Base = Mem;
  if (Cur.This && isa<CXXThisExpr>(Mem->getBase()->IgnoreParenImpCasts())) {
    auto *Field = dyn_cast<FieldDecl>(Mem->getMemberDecl());
    // The kernel has to name it. (What is read through its pointers is noted where it
    // is handed to the method.)
    if (!Field || Field->getDeclName().isEmpty() ||
        Field->getType()->isReferenceType() ||
        Field->getType()->isArrayType() || Field->getAccess() == AS_private ||
        Field->getAccess() == AS_protected)
      return Result;
    Result = lvalue(Cur.This);
    Result.Member += "." + Field->getNameAsString();
    return Result;
  }
  if (Mem->isArrow()) {
    Result.K = LVal::Memory;
    Result.Place = eval(Mem->getBase());
    Result.Base = Mem->getBase();
    Result.Member = "." + Mem->getMemberDecl()->getNameAsString();
    toElement(Result, Mem);
    return Result;
  }
  if (Mem->getBase()->isGLValue()) {
    Result = lvalue(Mem->getBase());
    Result.Member += "." + Mem->getMemberDecl()->getNameAsString();
    toElement(Result, Mem);
  }
  return Result;
}

LVal Evaluator::lvalue(const Expr *E) {
  E = bareLvalue(E);
  LVal Result;
  Result.Base = E;
  if (auto *R = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    return V ? variablePlace(V, E) : Result;
  }
  if (auto *S = dyn_cast<ArraySubscriptExpr>(E))
    return subscriptPlace(S);
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Deref) {
      Result.K = LVal::Memory;
      Result.Place = eval(U->getSubExpr());
      return Result;
    }
    if (U->isIncrementDecrementOp()) { // `++x` as an lvalue
      eval(E);
      return lvalue(U->getSubExpr());
    }
  }
  if (auto *Mem = dyn_cast<MemberExpr>(E))
    return memberPlace(Mem);
  if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAssignmentOp()) {
    eval(E);
    LVal Left;
    Left.Base = E;
    if (auto *R = dyn_cast<DeclRefExpr>(bareLvalue(B->getLHS())))
      return lvalue(R);
    return Left;
  }
  if (auto *B = dyn_cast<BinaryOperator>(E); B && B->getOpcode() == BO_Comma) {
    eval(B->getLHS());
    return lvalue(B->getRHS());
  }
  if (auto *C = dyn_cast<CastExpr>(E)) {
    if (C->getCastKind() == CK_LValueBitCast) {
      LVal Sub = lvalue(C->getSubExpr());
      SVal P = addressOf(Sub, nullptr);
      Result.K = LVal::Memory;
      Result.Place = pointerCast(P, AC.getPointerType(C->getType()), E);
      return Result;
    }
    return Result;
  }
  if (auto *C = dyn_cast<AbstractConditionalOperator>(E)) {
    // A place that is one of two: neither can be followed.
    eval(C->getCond());
    for (const Expr *X : {C->getTrueExpr(), C->getFalseExpr()})
      if (X->isGLValue())
        if (LVal Lv = lvalue(X); Lv.K == LVal::Memory)
          Rec.escape(Lv.Place, X, "is one of two places");
    return Result;
  }
  if (E->isPRValue() || isa<CallExpr>(E))
    eval(E);
  else // a place of a kind that is not followed: what makes it is read
    for (const clang::Stmt *C : E->children())
      if (auto *X = dyn_cast_or_null<Expr>(C))
        X->isGLValue() ? (void)lvalue(X) : (void)eval(X);
  return Result;
}

/// How many elements of its base type \p T holds, which is an array of them or one.
static int64_t elementsOf(const ASTContext &AC, QualType T) {
  const ConstantArrayType *A = AC.getAsConstantArrayType(T);
  return A ? int64_t(AC.getConstantArrayElementCount(A)) : 1;
}

/// A pointer to rows of shared storage: without a View, Lanes elements each.
static bool isRowView(const SVal &P) {
  return P.Base == SVal::Shared && P.Lanes > 1 && P.View.empty() && P.Idx.size() == 1;
}

SVal Evaluator::decay(const LVal &Lv, const Expr *E) {
  if (Lv.K != LVal::Memory || !Lv.Member.empty()) {
    if (Lv.K == LVal::Memory && Lv.Place.Base == SVal::Shared)
      Rec.escape(Lv.Place, E, "holds an array in an element");
    SVal P = unknown(E, L.depends(E));
    P.K = SVal::Pointer;
    P.Base = SVal::UnknownBase;
    return P;
  }
  SVal P = Lv.Place;
  // A row behind a parameter: `const float (*in)[64]` in `in[y][x]` is as a pointer
  // to the elements, 64 of them a row.
  if (const auto *Row = AC.getAsArrayType(E->getType());
      Row && P.Base == SVal::Global && P.Index >= 0 && !P.IdxInt.empty() &&
      !Row->getElementType()->isIncompleteType())
    return globalCast(std::move(P), Row->getElementType(), E);
  // One of shared storage.
  if (const auto *Row = AC.getAsConstantArrayType(E->getType());
      Row && isRowView(P)) {
    P.Lanes = elementsOf(AC, Row->getElementType());
    return P;
  }
  if (P.Base == SVal::Shared || P.Base == SVal::Private ||
      P.Base == SVal::Constant || P.Base == SVal::Global) {
    P.Idx.push_back(affineValue(Arith.constant(0), "int"));
    P.IdxInt.push_back(IntValue{Arith.constant(0), true});
  }
  return P;
}

SVal Evaluator::addressOf(const LVal &Lv, const Expr *E) {
  if (Lv.K == LVal::Memory && Lv.Member.empty()) {
    SVal P = Lv.Place;
    if (P.Idx.empty() && P.Base != SVal::UnknownBase) { // &scalar, &array
      P.Idx.push_back(affineValue(Arith.constant(0), "int"));
      P.IdxInt.push_back(IntValue{Arith.constant(0), true});
      if (P.Base == SVal::Shared && !M.Arrays[P.Index].Extents.empty()) {
        if (E)
          Rec.escape(P, E, "has its address taken");
        P.Base = SVal::UnknownBase;
      }
    }
    P.Flattened |= P.Idx.size() > 1;
    if (P.Lanes == 1)
      P.View.clear();
    return P;
  }
  if (Lv.K == LVal::Memory && Lv.Place.Base == SVal::Shared && E)
    Rec.escape(Lv.Place, E, "has the address of a member taken");
  SVal P = unknown(E, E ? L.depends(E) : 255);
  P.K = SVal::Pointer;
  P.Base = SVal::UnknownBase;
  return P;
}

SVal Evaluator::pointerAdd(SVal P, const SVal &Offset, bool Negative,
                           const Expr *E) {
  if (P.K != SVal::Pointer || P.Idx.empty()) {
    if (P.K != SVal::Pointer) {
      P = unknown(E, depends(P) | depends(Offset));
      P.K = SVal::Pointer;
      P.Base = SVal::UnknownBase;
    } else if (P.V || P.Base == SVal::UnknownBase) {
      Value U;
      U.Depends = depends(P) | depends(Offset);
      U.Text = "a pointer";
      P.V = std::make_shared<Value>(U);
    }
    return P;
  }
  // The offset has its own type's value; then 64-bit arithmetic.
  SVal O = Offset;
  std::optional<isl::pw_aff> X;
  if (O.Int) {
    // A shared array is small: an index that would have to wrap is outside it.
    Wide Far = (Wide(1) << 32) - (Wide(1) << 20);
    if (P.Base == SVal::Shared && O.Type.Bits >= 32 &&
        Arith.proveInRange(O.Int->Aff, -Far, Far, Cur.where()))
      X = O.Int->Aff;
    else if (P.Base == SVal::Global && O.Type.Bits == 64 && !O.Type.Signed)
      // An address is a number modulo 2^64 itself: `(size_t)(y - 1) * pitch`.
      X = O.Int->Aff;
    else
      X = Arith.exact(*O.Int, O.Type, Cur.where());
  } else if (O.V && O.Type.Bits &&
             !(O.V->Depends & (DepShared | DepGlobal | DepThread))) {
    X = Arith.exact(asInt(O, E), O.Type, Cur.where());
  }
  IntType Long{64, true};
  const int64_t Lanes = isVectorView(P) || isRowView(P) ? P.Lanes : 1;
  if (X && Lanes > 1) {
    const auto Elements =
        Arith.mul({*X, true}, {Arith.constant(Lanes), true}, Long, Cur.where());
    X = Elements ? std::optional(Elements->Aff) : std::nullopt;
  }
  std::optional<IntValue> Sum;
  if (X && P.IdxInt.back())
    Sum = Negative ? Arith.sub(*P.IdxInt.back(), {*X, true}, Long)
                   : Arith.add(*P.IdxInt.back(), {*X, true}, Long);
  if (Sum) {
    // A constant zero in front: keep the offset's own type in the value.
    P.Idx.back() = affineValue(Sum->Aff, O.TypeText);
    P.IdxInt.back() = Sum;
    return P;
  }
  ValueRef Base = P.Idx.back(), Add = asValue(O, Cur.Quiet ? nullptr : E);
  if (Lanes > 1)
    Add = opValue("$0 * " + std::to_string(Lanes), {Add}, "long long");
  bool ZeroBase = P.IdxInt.back() &&
                  Arith.constantValue(P.IdxInt.back()->Aff) == int64_t(0);
  if (ZeroBase && !Negative)
    P.Idx.back() = Add;
  else
    P.Idx.back() =
        opValue(Negative ? BO_Sub : BO_Add, Base, Add, "long long");
  P.IdxInt.back().reset();
  return P;
}

/// The pointer \p P into a shared array as one to \p Elem; \p E is the cast.
SVal Evaluator::sharedCast(SVal P, QualType Elem, const Expr *E) {
  const uint64_t Bytes = AC.getTypeSizeInChars(Elem).getQuantity();
  const std::string Name = typeText(Elem);
  SharedArray &A = M.Arrays[P.Index];
  if (A.CanonicalType == Name) {
    A.Volatile |= Elem.isVolatileQualified();
    P.View.clear();
    P.Lanes = 1;
    return P;
  }
  // `(float (*)[16])pool`: rows of 16 elements, counted in elements still.
  if (AC.getAsConstantArrayType(Elem) && P.Idx.size() == 1 && A.Extents.size() == 1 &&
      A.CanonicalType == typeText(AC.getBaseElementType(Elem))) {
    P.View.clear();
    P.Lanes = elementsOf(AC, Elem);
    return P;
  }
  bool Untyped = A.Dynamic; // bytes, or a stand-in for any type
  bool AtStart = P.Idx.size() == 1 && P.IdxInt.back() &&
                 Arith.constantValue(P.IdxInt.back()->Aff) == int64_t(0);
  bool Used = llvm::any_of(M.SharedAccesses, [&](const SharedAccess &X) {
    return static_cast<int>(X.Array) == P.Index;
  });
  if (Untyped && AtStart && !Used && L.declaredAs(P.Index).empty()) {
    // `extern __shared__ char raw[]; T *s = (T *)raw;`: an array of T, or of what
    // T is a vector of.
    const auto Lanes = lanesOf(Elem);
    const std::string Of = L.elementType(P.Index);
    if (!Lanes.empty() && Of == Lanes.front().Type) {
      A.CanonicalType = A.ElemType = Of;
      A.ElemBytes = P.ElemBytes = unsigned(Bytes / Lanes.size());
      if (viewAs(P, Elem))
        return P;
    }
    A.CanonicalType = Name;
    A.ElemType = Name;
    A.ElemBytes = Bytes;
    P.ElemBytes = Bytes;
    if (auto *C = dyn_cast<ExplicitCastExpr>(E)) {
      TextRange R = Rec.outerRange(
          C->getTypeInfoAsWritten()->getTypeLoc().getSourceRange());
      std::string Written = M.text(R);
      while (!Written.empty() &&
             (Written.back() == '*' || Written.back() == ' '))
        Written.pop_back();
      if (!Written.empty())
        A.ElemType = Written;
    }
    return P;
  }
  if (viewAs(P, Elem))
    return P;
  Rec.decline(DeclineCode::TypePunned, "'" + A.Name + "' as " + Name,
              E->getBeginLoc());
  P.Base = SVal::UnknownBase;
  return P;
}

/// \p A / \p N where that is no fraction (`4 * (t % 32)`), or a launch can check it.
std::optional<isl::pw_aff> Evaluator::exactQuotient(const isl::pw_aff &A,
                                                    uint64_t N) {
  const isl::val Of(A.ctx(), static_cast<long>(N));
  if (Arith.implied(A.mod(Of).eq_set(Arith.constant(0)), Cur.where()))
    return A.scale_down(Of).floor();
  return Arith.dividedExactly(A, static_cast<int64_t>(N));
}

/// The same into what a parameter leads to.
SVal Evaluator::globalCast(SVal P, QualType Elem, const Expr *E) {
  const uint64_t Bytes = AC.getTypeSizeInChars(Elem).getQuantity();
  const std::string Name = typeText(Elem);
  if (P.ElemText == Name)
    return P;
  bool AtStart = P.IdxInt.back() &&
                 Arith.constantValue(P.IdxInt.back()->Aff) == int64_t(0);
  if (!AtStart && P.ElemBytes && P.IdxInt.back() && P.ElemBytes % Bytes == 0) {
    if (auto S = Arith.mul(*P.IdxInt.back(),
                           {Arith.constant(P.ElemBytes / Bytes), true},
                           {64, true}, Cur.where())) {
      P.IdxInt.back() = S;
      P.Idx.back() = affineValue(S->Aff, "long long");
      AtStart = true;
    }
  }
  // A pitch in bytes: `(const float *)((const char *)p + y * pitch)`.
  if (!AtStart && P.ElemBytes && P.IdxInt.back() && Bytes % P.ElemBytes == 0 &&
      P.IdxInt.back()->Exact)
    if (auto Q = exactQuotient(P.IdxInt.back()->Aff, Bytes / P.ElemBytes)) {
      P.IdxInt.back() = IntValue{*Q, true};
      P.Idx.back() = affineValue(*Q, "long long");
      AtStart = true;
    }
  if (AtStart) {
    const KernelParam &K = M.Params[P.Index];
    P.PtrText = K.PointeeType == Name
                    ? K.Name
                    : "((" +
                          std::string(Elem.isConstQualified() || K.PointeeConst
                                          ? "const "
                                          : "") +
                          Name + " *)" + K.Name + ")";
    P.ElemText = Name;
    P.ElemBytes = Bytes;
    return P;
  }
  // The root is known still, the index is not.
  Value U;
  U.Text = Rec.text(E);
  U.Depends = depends(P);
  P.Idx.back() = std::make_shared<Value>(U);
  P.IdxInt.back().reset();
  P.ElemText = Name;
  P.ElemBytes = Bytes;
  return P;
}

SVal Evaluator::pointerCast(SVal P, QualType To, const Expr *E) {
  if (P.K != SVal::Pointer)
    return unknown(E, L.depends(E));
  QualType Elem = To->getPointeeType();
  if (P.Base == SVal::UnknownBase || P.Base == SVal::NoBase)
    return P;
  if (Elem->isVoidType() || Elem->isIncompleteType() || Elem->isFunctionType())
    return P; // until it is cast back
  if (P.Base == SVal::Shared)
    return sharedCast(std::move(P), Elem, E);
  if (P.Base == SVal::Global && P.Index >= 0)
    return globalCast(std::move(P), Elem, E);
  P.Base = SVal::UnknownBase;
  return P;
}

} // namespace rcache
