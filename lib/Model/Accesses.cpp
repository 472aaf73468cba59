// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory: lvalues, pointers, and the record of every shared and global access.
//
// A pointer is a root (a parameter, a shared array, a private array) and one
// index a dimension, the last of which moves with pointer arithmetic:
//
//     __shared__ float t[4][8];
//     t                 Idx [0]          t[i]      lvalue [i], decays to [i, 0]
//     t[i] + 3          Idx [i, 3]       *(t + 1)  lvalue [1]
//     float *p = t[0];  Idx [0, 0], Flattened: p[9] is t[1][1]

#include "BuiltinVars.h"
#include "Effects.h"
#include "Executor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

static const Expr *bare(const Expr *E) {
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

LVal Executor::lvalue(const Expr *E) {
  E = bare(E);
  LVal Result;
  Result.Base = E;
  if (auto *R = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(R->getDecl());
    if (!V)
      return Result;
    if (int A = L.arrayIndex(V); A >= 0) {
      Result.K = LVal::Memory;
      Result.Place.K = SVal::Pointer;
      Result.Place.Base = SVal::Shared;
      Result.Place.Index = A;
      Result.Place.ElemBytes = M.Arrays[A].ElemBytes;
      return Result;
    }
    // Variables of the kernel, and of a function evaluated in place.
    if (L.varIndex(V) >= 0 || (Inlining && V->isLocalVarDeclOrParm())) {
      Result.K = LVal::Variable;
      Result.Var = V;
      // A reference parameter of such a function is the value it is bound to.
      if (V->getType()->isReferenceType() && L.varIndex(V) >= 0) {
        // A reference to memory: what it was bound to.
        auto It = Env.find(V);
        if (It != Env.end() && It->second.K == SVal::Pointer &&
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
  if (auto *S = dyn_cast<ArraySubscriptExpr>(E)) {
    // `s[t].q[1]`: an array inside an element, of which the element is read.
    if (auto *Mem = dyn_cast<MemberExpr>(S->getBase()->IgnoreParenImpCasts());
        Mem && Mem->getType()->isArrayType()) {
      LVal Whole = lvalue(Mem);
      SVal I = eval(S->getIdx());
      auto C = I.Int ? Arith.constantValue(I.Int->Aff) : std::nullopt;
      if (Whole.K == LVal::Memory && !Whole.Member.empty() &&
          (C || Whole.Place.Base == SVal::Shared)) {
        Whole.Member +=
            "[" + (C ? std::to_string(*C) : text(S->getIdx())) + "]";
        return Whole;
      }
    }
    SVal P = eval(S->getBase());
    SVal I = eval(S->getIdx());
    Result.K = LVal::Memory;
    Result.Place = pointerAdd(P, I, false, S->getIdx());
    return Result;
  }
  if (auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Deref) {
      Result.K = LVal::Memory;
      Result.Place = eval(U->getSubExpr());
      return Result;
    }
    if (U->isIncrementDecrementOp()) { // `++x` as an lvalue
      eval(E);
      LVal Sub = lvalue(U->getSubExpr());
      return Sub;
    }
  }
  if (auto *Mem = dyn_cast<MemberExpr>(E)) {
    if (This && isa<CXXThisExpr>(Mem->getBase()->IgnoreParenImpCasts())) {
      auto *Field = dyn_cast<FieldDecl>(Mem->getMemberDecl());
      // The kernel has to name it; what is read through a pointer would have to
      // be noted.
      if (!Field || Field->getDeclName().isEmpty() ||
          Field->getType()->isPointerType() ||
          Field->getType()->isReferenceType() ||
          Field->getType()->isArrayType() ||
          Field->getAccess() == AS_private ||
          Field->getAccess() == AS_protected)
        return Result;
      Result = lvalue(This);
      Result.Member += "." + Field->getNameAsString();
      return Result;
    }
    if (Mem->isArrow()) {
      Result.K = LVal::Memory;
      Result.Place = eval(Mem->getBase());
      Result.Base = Mem->getBase();
      Result.Member = "." + Mem->getMemberDecl()->getNameAsString();
      return Result;
    }
    if (Mem->getBase()->isGLValue()) {
      Result = lvalue(Mem->getBase());
      Result.Member += "." + Mem->getMemberDecl()->getNameAsString();
      return Result;
    }
    return Result;
  }
  if (auto *B = dyn_cast<BinaryOperator>(E); B && B->isAssignmentOp()) {
    eval(E);
    LVal Left;
    Left.Base = E;
    if (auto *R = dyn_cast<DeclRefExpr>(bare(B->getLHS())))
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
          escape(Lv.Place, X, "is one of two places");
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

SVal Executor::decay(const LVal &Lv, const Expr *E) {
  if (Lv.K != LVal::Memory || !Lv.Member.empty()) {
    if (Lv.K == LVal::Memory && Lv.Place.Base == SVal::Shared)
      escape(Lv.Place, E, "holds an array in an element");
    SVal P = unknown(E, L.depends(E));
    P.K = SVal::Pointer;
    P.Base = SVal::UnknownBase;
    return P;
  }
  SVal P = Lv.Place;
  if (P.Base == SVal::Shared || P.Base == SVal::Private ||
      P.Base == SVal::Constant || P.Base == SVal::Global) {
    P.Idx.push_back(affineValue(Arith.constant(0), "int"));
    P.IdxInt.push_back(IntValue{Arith.constant(0), true});
  }
  return P;
}

SVal Executor::addressOf(const LVal &Lv, const Expr *E) {
  if (Lv.K == LVal::Memory && Lv.Member.empty()) {
    SVal P = Lv.Place;
    if (P.Idx.empty() && P.Base != SVal::UnknownBase) { // &scalar, &array
      P.Idx.push_back(affineValue(Arith.constant(0), "int"));
      P.IdxInt.push_back(IntValue{Arith.constant(0), true});
      if (P.Base == SVal::Shared && !M.Arrays[P.Index].Extents.empty()) {
        if (E)
          escape(P, E, "has its address taken");
        P.Base = SVal::UnknownBase;
      }
    }
    P.Flattened |= P.Idx.size() > 1;
    return P;
  }
  if (Lv.K == LVal::Memory && Lv.Place.Base == SVal::Shared && E)
    escape(Lv.Place, E, "has the address of a member taken");
  SVal P = unknown(E, E ? L.depends(E) : 255);
  P.K = SVal::Pointer;
  P.Base = SVal::UnknownBase;
  return P;
}

SVal Executor::pointerAdd(SVal P, const SVal &Offset, bool Negative,
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
        Arith.proveInRange(O.Int->Aff, -Far, Far, where()))
      X = O.Int->Aff;
    else if (P.Base == SVal::Global && O.Type.Bits == 64 && !O.Type.Signed)
      // An address is a number modulo 2^64 itself: `(size_t)(y - 1) * pitch`.
      X = O.Int->Aff;
    else
      X = Arith.exact(*O.Int, O.Type, where());
  } else if (O.V && O.Type.Bits &&
             !(O.V->Depends & (DepShared | DepGlobal | DepThread))) {
    X = Arith.exact(asInt(O, E), O.Type, where());
  }
  IntType Long{64, true};
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
  ValueRef Base = P.Idx.back(), Add = asValue(O, Silent ? nullptr : E);
  bool ZeroBase = P.IdxInt.back() &&
                  Arith.constantValue(P.IdxInt.back()->Aff) == int64_t(0);
  if (ZeroBase && !Negative)
    P.Idx.back() = Add;
  else
    P.Idx.back() =
        opValue(Negative ? "$0 - $1" : "$0 + $1", {Base, Add}, "long long");
  P.IdxInt.back().reset();
  return P;
}

SVal Executor::pointerCast(SVal P, QualType To, const Expr *E) {
  if (P.K != SVal::Pointer)
    return unknown(E, L.depends(E));
  QualType Elem = To->getPointeeType();
  if (P.Base == SVal::UnknownBase || P.Base == SVal::NoBase)
    return P;
  if (Elem->isVoidType() || Elem->isIncompleteType() || Elem->isFunctionType())
    return P; // until it is cast back
  uint64_t Bytes = AC.getTypeSizeInChars(Elem).getQuantity();
  std::string Name = typeText(Elem);
  if (P.Base == SVal::Shared) {
    SharedArray &A = M.Arrays[P.Index];
    if (A.CanonicalType == Name) {
      A.Volatile |= Elem.isVolatileQualified();
      return P;
    }
    bool Untyped = A.Dynamic; // bytes, or a stand-in for any type
    bool AtStart = P.Idx.size() == 1 && P.IdxInt.back() &&
                   Arith.constantValue(P.IdxInt.back()->Aff) == int64_t(0);
    bool Used = llvm::any_of(M.SharedAccesses, [&](const SharedAccess &X) {
      return static_cast<int>(X.Array) == P.Index;
    });
    if (Untyped && AtStart && !Used) {
      // `extern __shared__ char raw[]; T *s = (T *)raw;`: an array of T.
      A.CanonicalType = Name;
      A.ElemType = Name;
      A.ElemBytes = Bytes;
      P.ElemBytes = Bytes;
      if (auto *C = dyn_cast<ExplicitCastExpr>(E)) {
        TextRange R =
            Flat.outerRange(
                    C->getTypeInfoAsWritten()->getTypeLoc().getSourceRange())
                .value_or(TextRange());
        std::string Written = M.text(R);
        while (!Written.empty() &&
               (Written.back() == '*' || Written.back() == ' '))
          Written.pop_back();
        if (!Written.empty())
          A.ElemType = Written;
      }
      return P;
    }
    decline("type-punned", "'" + A.Name + "' as " + Name, E->getBeginLoc());
    P.Base = SVal::UnknownBase;
    return P;
  }
  if (P.Base == SVal::Global && P.Index >= 0) {
    if (P.ElemText == Name)
      return P;
    bool AtStart = P.IdxInt.back() &&
                   Arith.constantValue(P.IdxInt.back()->Aff) == int64_t(0);
    if (!AtStart && P.ElemBytes && P.IdxInt.back() &&
        P.ElemBytes % Bytes == 0) {
      if (auto S = Arith.mul(*P.IdxInt.back(),
                             {Arith.constant(P.ElemBytes / Bytes), true},
                             {64, true}, where())) {
        P.IdxInt.back() = S;
        P.Idx.back() = affineValue(S->Aff, "long long");
        AtStart = true;
      }
    }
    // A pitch in bytes: `(const float *)((const char *)p + y * pitch)`.
    if (!AtStart && P.ElemBytes && P.IdxInt.back() &&
        Bytes % P.ElemBytes == 0 && P.IdxInt.back()->Exact)
      if (auto Q =
              Arith.dividedExactly(P.IdxInt.back()->Aff, Bytes / P.ElemBytes)) {
        P.IdxInt.back() = IntValue{*Q, true};
        P.Idx.back() = affineValue(*Q, "long long");
        AtStart = true;
      }
    if (AtStart) {
      const KernelParam &K = M.Params[P.Index];
      P.PtrText =
          K.PointeeType == Name
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
    U.Text = text(E);
    U.Depends = depends(P);
    P.Idx.back() = std::make_shared<Value>(U);
    P.IdxInt.back().reset();
    P.ElemText = Name;
    P.ElemBytes = Bytes;
    return P;
  }
  P.Base = SVal::UnknownBase;
  return P;
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

SVal Executor::load(const LVal &Lv, const Expr *E) {
  QualType T = E->getType().getNonReferenceType();
  if (Lv.K == LVal::Variable) {
    if (isInt(T) && Lv.Member.empty()) { // const int R = 3; R
      Expr::EvalResult R;
      if (!E->isValueDependent() && E->EvaluateAsInt(R, AC) &&
          R.Val.getInt().isRepresentableByInt64())
        return ofConst(R.Val.getInt().getExtValue(), T);
    }
    auto It = Env.find(Lv.Var);
    if (It == Env.end()) {
      int I = L.varIndex(Lv.Var);
      return unknown(E, I >= 0 ? M.Vars[I].Depends : 255);
    }
    if (Lv.Member.empty())
      return It->second;
    if (auto P = memberPointer(E))
      return *P;
    ValueRef Whole = asValue(It->second);
    if (Whole->K == Value::Unknown)
      return unknown(E, Whole->Depends);
    return ofValue(opValue("$0" + Lv.Member, {Whole}, typeText(T)), T);
  }
  if (Lv.K == LVal::Unknown)
    return unknown(E, L.depends(E));
  const SVal &P = Lv.Place;
  const Expr *Elem = Lv.Base ? bare(Lv.Base) : E;
  switch (P.Base) {
  case SVal::Shared:
    recordShared(SharedAccess::Read, P, Elem, nullptr, nullptr);
    return unknown(E, depends(P) | DepShared);
  case SVal::Private: {
    SVal Whole = loadElement(P, E);
    if (Lv.Member.empty())
      return Whole;
    ValueRef V = asValue(Whole);
    if (V->K == Value::Unknown)
      return unknown(E, V->Depends);
    return ofValue(opValue("$0" + Lv.Member, {V}, typeText(T)), T);
  }
  case SVal::Constant: {
    if (isInt(T)) {
      Expr::EvalResult R;
      if (!E->isValueDependent() && E->EvaluateAsInt(R, AC) &&
          R.Val.getInt().isRepresentableByInt64())
        return ofConst(R.Val.getInt().getExtValue(), T);
    }
    std::string Text = P.PtrText;
    std::vector<ValueRef> Ops;
    for (const ValueRef &I : P.Idx) {
      Text += "[$" + std::to_string(Ops.size()) + "]";
      Ops.push_back(I);
    }
    Text += Lv.Member;
    if (Ops.empty()) {
      Value U;
      U.K = Value::Uniform;
      U.Type = typeText(T);
      U.Text = Text;
      return ofValue(std::make_shared<Value>(U), T);
    }
    return ofValue(opValue(Text, Ops, typeText(T)), T);
  }
  case SVal::Global: {
    recordGlobal(GlobalAccess::Read, P, Elem, nullptr);
    if (P.Index < 0 || P.Idx.empty())
      return unknown(E, depends(P) | DepGlobal);
    Value V;
    V.K = Value::Load;
    V.Root = P.Index;
    V.Text = P.PtrText;
    V.Type = P.ElemText;
    V.Bytes = P.ElemBytes;
    V.Operands = {P.Idx.back()};
    V.Depends = P.Idx.back()->Depends | DepGlobal;
    ValueRef Loaded = std::make_shared<Value>(V);
    if (!Lv.Member.empty())
      Loaded = opValue("$0" + Lv.Member, {Loaded}, typeText(T));
    return ofValue(Loaded, T);
  }
  default:
    recordGlobal(GlobalAccess::Read, P, Elem, nullptr);
    return unknown(E, L.depends(E) | DepGlobal);
  }
}

void Executor::store(const LVal &Lv, SVal V, const Expr *Lhs, const Expr *Rhs,
                     bool Whole, bool AlsoRead) {
  if (Lv.K == LVal::Variable) {
    V.Flattened |= V.K == SVal::Pointer && V.Idx.size() > 1;
    if (Lv.Member.empty())
      Env[Lv.Var] = V;
    else
      Env[Lv.Var] = opaqueVar(Lv.Var);
    return;
  }
  const Expr *Elem = Lv.Base ? bare(Lv.Base) : bare(Lhs);
  const SVal &P = Lv.Place;
  if (V.K == SVal::Pointer && V.Base == SVal::Shared &&
      P.Base != SVal::Private && Rhs)
    escape(V, Rhs, "is kept in memory");
  if (Lv.K == LVal::Unknown || P.Base == SVal::UnknownBase ||
      P.Base == SVal::NoBase) {
    // Anything whose address was taken may have changed.
    std::vector<Cell> Hit;
    for (auto &[C, Val] : Env)
      if (int I = L.varIndex(C.V); I >= 0 && M.Vars[I].AddressTaken)
        Hit.push_back(C);
    for (const Cell &C : Hit)
      havocVar(C);
    recordGlobal(AlsoRead ? GlobalAccess::ReadWrite : GlobalAccess::Write, P,
                 Elem, nullptr);
    return;
  }
  if (P.Base == SVal::Private) {
    storeElement(Lv, V);
    return;
  }
  if (P.Base == SVal::Shared) {
    if (!Lv.Member.empty())
      recordShared(SharedAccess::Escape, P, Elem, nullptr, nullptr);
    else if (Whole && !AlsoRead)
      recordShared(SharedAccess::Write, P, Elem, &V, Rhs);
    else
      recordShared(SharedAccess::ReadWrite, P, Elem, nullptr, nullptr);
    return;
  }
  bool Plain = Whole && !AlsoRead && Lv.Member.empty();
  recordGlobal(AlsoRead ? GlobalAccess::ReadWrite : GlobalAccess::Write, P,
               Elem, Plain ? Rhs : nullptr);
}

/// \p V with the store through parameter \p Root noted at its loads; what holds
/// none stays the same object.
static ValueRef survived(const ValueRef &V, int Root) {
  std::vector<ValueRef> Operands;
  for (const ValueRef &O : V->Operands)
    Operands.push_back(survived(O, Root));
  const bool Notes =
      V->K == Value::Load && !llvm::is_contained(V->Survived, Root);
  if (!Notes && Operands == V->Operands)
    return V;
  auto N = std::make_shared<Value>(*V);
  N->Operands = std::move(Operands);
  if (Notes)
    N->Survived.push_back(Root);
  return N;
}

/// A write to global memory: values loaded from what it may overlap are stale.
/// Whether two parameters do overlap a launch can tell.
void Executor::clobberLoads(int Root) {
  auto MayAlias = [&](int R) {
    if (R < 0 || Root < 0 || R == Root)
      return true;
    return !M.Params[R].IsRestrict && !M.Params[Root].IsRestrict;
  };
  std::function<bool(const Value &)> Stale = [&](const Value &V) {
    if (V.K == Value::Load && MayAlias(V.Root))
      return true;
    for (const ValueRef &O : V.Operands)
      if (Stale(*O))
        return true;
    return false;
  };
  std::function<bool(const Value &)> Certain = [&](const Value &V) {
    return (V.K == Value::Load && (V.Root < 0 || V.Root == Root)) ||
           llvm::any_of(V.Operands,
                        [&](const ValueRef &O) { return Certain(*O); });
  };
  for (auto &[C, S] : Env) {
    if (!S.V || !Stale(*S.V))
      continue;
    if (Root >= 0 && S.K == SVal::Data && !S.Int && !isInt(C.type()) &&
        !Certain(*S.V)) {
      S.V = survived(S.V, Root);
      continue;
    }
    // An integer keeps its symbol if it has one.
    Value U;
    U.Type = S.V->Type;
    U.Text = C.name();
    U.Depends = S.V->Depends;
    S.V = std::make_shared<Value>(U);
  }
}

/// The parameter that the lvalue or pointer \p E leads to; -2: no global
/// memory, -1: unknown.
int Executor::rootOf(const Expr *E, unsigned Depth) const {
  while (E && Depth < 16) {
    E = E->IgnoreParenCasts();
    if (auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
      E = A->getBase();
    } else if (auto *U = dyn_cast<UnaryOperator>(E)) {
      E = U->getSubExpr(); // *p, &x, ++p
    } else if (auto *Mem = dyn_cast<MemberExpr>(E)) {
      if (Mem->getType()->isPointerType() && !Mem->isArrow())
        return memberParam(Mem);
      E = Mem->getBase();
    } else if (auto *B = dyn_cast<BinaryOperator>(E)) {
      E = B->getLHS()->getType()->isPointerType() || B->isAssignmentOp()
              ? B->getLHS()
              : B->getRHS();
    } else if (auto *R = dyn_cast<DeclRefExpr>(E)) {
      auto *V = dyn_cast<VarDecl>(R->getDecl());
      if (!V || isSharedVar(V))
        return V ? -2 : -1;
      if (int P = L.paramIndex(V); P >= 0 && M.Params[P].IsPointer)
        return M.Vars[M.Params[P].VarId].Assigned ? -1 : P;
      if (L.varIndex(V) < 0)
        return -1;
      if (!V->getType()->isPointerType() && !V->getType()->isReferenceType())
        return -2; // a local, or an element of one
      if (auto It = Env.find(V); It != Env.end()) {
        const SVal &S = It->second;
        if (S.Base == SVal::Shared || S.Base == SVal::Private)
          return -2;
        return S.Base == SVal::Global ? S.Index : -1;
      }
      // Declared inside the loop: what it starts from, if it only moves on.
      if (!V->getInit())
        return -1;
      E = V->getInit();
      ++Depth;
    } else {
      return -1;
    }
  }
  return -1;
}

/// Values loaded before a loop are stale in it when a round writes to what they
/// were loaded from.
void Executor::clobberForLoop(const clang::Stmt *S) {
  if (!S)
    return;
  const Expr *Target = nullptr;
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    Target = B->getLHS();
  else if (auto *U = dyn_cast<UnaryOperator>(S);
           U && U->isIncrementDecrementOp())
    Target = U->getSubExpr();
  const VarDecl *Variable = Target ? rootVariable(Target) : nullptr;
  if (Target && (!Variable || Variable->getType()->isReferenceType())) {
    if (int Root = rootOf(Target); Root != -2)
      clobberLoads(Root);
  } else if (auto *C = dyn_cast<CallExpr>(S)) {
    // Through pointers and references that are handed out.
    const FunctionDecl *F = C->getDirectCallee();
    bool Pure = F && isPure(F);
    for (const Expr *A : C->arguments()) {
      QualType T = A->getType();
      bool Out = T->isPointerType() ? !T->getPointeeType().isConstQualified()
                                    : A->isGLValue() && !T.isConstQualified();
      if (Out && !Pure && !T->isFunctionType())
        if (int Root = rootOf(A); Root != -2)
          clobberLoads(Root);
    }
  }
  for (const clang::Stmt *X : S->children())
    clobberForLoop(X);
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

void Executor::recordShared(SharedAccess::Kind K, const SVal &P, const Expr *E,
                            const SVal *Stored, const Expr *Rhs) {
  SharedArray &Arr = M.Arrays[P.Index];
  if (Inlining || Silent)
    return;
  SharedAccess A;
  A.K = K;
  A.Array = P.Index;
  A.Stmt = CurStmt;
  A.Range = range(E);
  A.Pos = sourcePos(AC.getSourceManager(), E->getBeginLoc());
  A.Domain = Path.Dom;
  A.DomainExact = Path.Exact;
  A.ExtraGuards = Path.Guards;
  A.IndexValues = P.Idx;
  size_t Rank = Arr.Extents.size();
  if (Rank == 0) { // a shared scalar, reached by name or as *&s
    A.IndexValues.clear();
    A.Affine =
        P.Idx.empty() || (P.Idx.size() == 1 && P.IdxInt[0] &&
                          Arith.constantValue(P.IdxInt[0]->Aff) == int64_t(0));
  } else {
    A.Affine = P.Idx.size() == Rank;
    for (auto &I : P.IdxInt)
      A.Affine &= I.has_value();
    if (A.Affine)
      for (auto &I : P.IdxInt)
        A.Index.push_back(I->Aff);
  }
  // Through a pointer an index may run over the end of its row.
  if (A.Affine && Rank > 1) {
    bool Inside = true;
    for (size_t D = 1; D < Rank; ++D)
      Inside &= Arr.Extents[D] &&
                Arith.proveInRange(A.Index[D], 0, *Arr.Extents[D] - 1, where());
    bool Direct = !P.Flattened;
    if (!Inside && !Direct) {
      isl::pw_aff Linear = A.Index[0];
      bool Ok = true;
      for (size_t D = 1; D < Rank && Ok; ++D) {
        Ok = Arr.Extents[D].has_value();
        if (Ok)
          Linear = Linear.scale(isl::val(Linear.ctx(), *Arr.Extents[D]))
                       .add(A.Index[D]);
      }
      for (size_t D = Rank; Ok && D-- > 1;) {
        isl::val Ext(Linear.ctx(), *Arr.Extents[D]);
        A.Index[D] = Linear.mod(Ext);
        Linear = Linear.scale_down(Ext).floor();
      }
      A.Index[0] = Linear;
      A.Affine = Ok;
      for (size_t D = 0; Ok && D < Rank; ++D)
        A.IndexValues[D] = affineValue(A.Index[D], "int");
    }
  }
  if (!A.Affine)
    A.Index.clear();
  if (Stored) {
    A.Stored = keepRounding(asValue(*Stored, Rhs));
    A.StoredRange = range(Rhs);
  }
  M.SharedAccesses.push_back(A);
  if (K == SharedAccess::Escape)
    decline("escaping-array", "'" + Arr.Name + "'", E->getBeginLoc());
  if (K == SharedAccess::Atomic)
    decline("shared-atomics", "on '" + Arr.Name + "'", E->getBeginLoc());
}

void Executor::escape(const SVal &P, const Expr *E, const std::string &How,
                      const char *Code) {
  if (P.Base != SVal::Shared || Inlining || Silent)
    return;
  SharedAccess A;
  A.K = SharedAccess::Escape;
  A.Array = P.Index;
  A.Stmt = CurStmt;
  A.Range = range(E);
  A.Pos = sourcePos(AC.getSourceManager(), E->getBeginLoc());
  A.Domain = Path.Dom;
  A.DomainExact = Path.Exact;
  A.ExtraGuards = Path.Guards;
  M.SharedAccesses.push_back(A);
  decline(Code, "'" + M.Arrays[P.Index].Name + "' " + How, E->getBeginLoc());
}

void Executor::recordGlobal(GlobalAccess::Kind K, const SVal &P, const Expr *E,
                            const Expr *Rhs) {
  if (Silent)
    return;
  bool Writes = K != GlobalAccess::Read;
  int Root = P.Base == SVal::Global ? P.Index : -1;
  if (Writes) {
    if (Root >= 0)
      M.Params[Root].Written = true;
    else
      for (KernelParam &Q : M.Params)
        Q.Written |= Q.IsPointer && !Q.PointeeConst;
    clobberLoads(Root);
  }
  if (Inlining)
    return;
  GlobalAccess A;
  A.K = K;
  A.Root = Root;
  A.Stmt = CurStmt;
  A.Range = range(E);
  if (Root >= 0 && !P.Idx.empty())
    A.Index = P.Idx.back();
  A.ElemType = P.ElemText.empty() ? typeText(E->getType()) : P.ElemText;
  QualType T = E->getType();
  if (T->isPointerType())
    T = T->getPointeeType();
  if (!T->isIncompleteType() && !T->isFunctionType() && !T->isDependentType())
    A.ElemBytes = AC.getTypeSizeInChars(T).getQuantity();
  if (Rhs)
    A.StoredRange = range(Rhs);
  A.Domain = Path.Dom;
  A.DomainExact = Path.Exact;
  A.Pos = sourcePos(AC.getSourceManager(), E->getBeginLoc());
  M.GlobalAccesses.push_back(A);
}

} // namespace rcache
