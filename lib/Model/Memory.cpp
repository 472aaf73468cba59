// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory: loads and stores, and the record of every shared and global access.

#include "Effects.h"
#include "Evaluator.h"

using namespace clang;

namespace rcache {

/// A variable, or a member of one.
SVal Evaluator::loadVariable(const LVal &Lv, const Expr *E) {
  QualType T = E->getType().getNonReferenceType();
  if (isInt(T) && Lv.Member.empty()) { // const int R = 3; R
    Expr::EvalResult R;
    if (!E->isValueDependent() && E->EvaluateAsInt(R, AC) &&
        R.Val.getInt().isRepresentableByInt64())
      return ofConst(R.Val.getInt().getExtValue(), T);
  }
  auto It = Cur.Env.find(Lv.Var);
  if (It == Cur.Env.end()) {
    int I = L.varIndex(Lv.Var);
    return unknown(E, I >= 0 ? M.Vars[I].Depends : 255);
  }
  if (Lv.Member.empty())
    return It->second;
  if (auto P = memberPointer(E))
    return *P;
  if (const auto Number = memberNumber(Lv.Member, Lv.Var->getType()))
    return memberOf(It->second, Lv.Var->getType(), *Number, E);
  ValueRef Whole = asValue(It->second);
  if (Whole->K == Value::Unknown)
    return unknown(E, Whole->Depends);
  return ofValue(opValue("$0" + Lv.Member, {Whole}, typeText(T)), T);
}

/// An element of constant memory: its text.
SVal Evaluator::loadConstant(const LVal &Lv, const Expr *E) {
  QualType T = E->getType().getNonReferenceType();
  const SVal &P = Lv.Place;
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

/// An element of what a parameter leads to, or of a variable of file scope;
/// \p Elem is the expression of the whole element.
SVal Evaluator::loadGlobal(const LVal &Lv, const Expr *E, const Expr *Elem) {
  QualType T = E->getType().getNonReferenceType();
  const SVal &P = Lv.Place;
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
  if (const auto Number = memberNumber(Lv.Member, Elem->getType())) {
    SVal Whole;
    Whole.V = Loaded;
    return memberOf(Whole, Elem->getType(), *Number, E);
  }
  if (!Lv.Member.empty())
    Loaded = opValue("$0" + Lv.Member, {Loaded}, typeText(T));
  return ofValue(Loaded, T);
}

SVal Evaluator::load(const LVal &Lv, const Expr *E) {
  if (Lv.K == LVal::Variable)
    return loadVariable(Lv, E);
  if (Lv.K == LVal::Unknown)
    return unknown(E, L.depends(E));
  const SVal &P = Lv.Place;
  const Expr *Elem = Lv.Base ? bareLvalue(Lv.Base) : E;
  switch (P.Base) {
  case SVal::Shared:
    recordShared(SharedAccess::Read, P, Elem, nullptr, nullptr);
    return unknown(E, depends(P) | DepShared);
  case SVal::Private: {
    SVal Whole = loadElement(P, E);
    if (Lv.Member.empty())
      return Whole;
    const QualType Of =
        P.Index >= 0 && L.variable(P.Index)
            ? AC.getBaseElementType(L.variable(P.Index)->getType())
            : QualType();
    if (!Of.isNull())
      if (const auto Number = memberNumber(Lv.Member, Of))
        return memberOf(Whole, Of, *Number, E);
    ValueRef V = asValue(Whole);
    if (V->K == Value::Unknown)
      return unknown(E, V->Depends);
    const QualType T = E->getType().getNonReferenceType();
    return ofValue(opValue("$0" + Lv.Member, {V}, typeText(T)), T);
  }
  case SVal::Constant:
    return loadConstant(Lv, E);
  case SVal::Global:
    return loadGlobal(Lv, E, Elem);
  default:
    recordGlobal(GlobalAccess::Read, P, Elem, nullptr);
    return unknown(E, L.depends(E) | DepGlobal);
  }
}

/// Variables that others have the address of may have changed; \p References:
/// those that are references as well.
void Evaluator::havocAddressTaken(bool References) {
  std::vector<Cell> Hit;
  for (auto &[C, Val] : Cur.Env)
    if (int I = L.varIndex(C.V); I >= 0 && M.Vars[I].AddressTaken)
      Hit.push_back(C);
  for (const Cell &C : Hit)
    if (References || !C.V->getType()->isReferenceType())
      havocVar(C);
}

void Evaluator::store(const LVal &Lv, SVal V, const Expr *Lhs, const Expr *Rhs,
                      bool Whole, bool AlsoRead) {
  if (Lv.K == LVal::Variable) {
    V.Flattened |= V.K == SVal::Pointer && V.Idx.size() > 1;
    if (!Lv.Member.empty() && V.K == SVal::Pointer && V.Base == SVal::Shared)
      Rec.escape(V, Rhs ? Rhs : Lhs, "is kept in a struct");
    if (Lv.Member.empty())
      Cur.Env[Lv.Var] = V;
    else
      Cur.Env[Lv.Var] = withMember(Lv, V);
    return;
  }
  const Expr *Elem = Lv.Base ? bareLvalue(Lv.Base) : bareLvalue(Lhs);
  const SVal &P = Lv.Place;
  if (V.K == SVal::Pointer && V.Base == SVal::Shared &&
      P.Base != SVal::Private && Rhs)
    Rec.escape(V, Rhs, "is kept in memory");
  if (Lv.K == LVal::Unknown || P.Base == SVal::UnknownBase ||
      P.Base == SVal::NoBase) {
    havocAddressTaken(/*References=*/true);
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
      Rec.escape(P, Elem, "holds structs", DeclineCode::StructMember);
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
void Evaluator::clobberLoads(int Root) {
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
  const auto Look = [&](SVal &S, bool Integer, const std::string &Name) {
    if (!S.V || !Stale(*S.V))
      return;
    if (Root >= 0 && S.K == SVal::Data && !S.Int && !Integer &&
        !Certain(*S.V)) {
      S.V = survived(S.V, Root);
      return;
    }
    // An integer keeps its symbol if it has one.
    Value U;
    U.Type = S.V->Type;
    U.Text = Name;
    U.Depends = S.V->Depends;
    S.V = std::make_shared<Value>(U);
  };
  for (auto &[C, S] : Cur.Env) {
    Look(S, isInt(C.type()), C.name());
    for (SVal &Member : S.Members)
      Look(Member, Member.TypeText != "float" && Member.TypeText != "double",
           C.name());
  }
}

/// The parameter that the lvalue or pointer \p E leads to; -2: no global
/// memory, -1: unknown.
int Evaluator::rootOf(const Expr *E, unsigned Depth) const {
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
      if (auto It = Cur.Env.find(V); It != Cur.Env.end()) {
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

void Evaluator::clobberForLoop(const clang::Stmt *S) {
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

void Evaluator::recordShared(SharedAccess::Kind K, const SVal &P, const Expr *E,
                             const SVal *Stored, const Expr *Rhs) {
  if (!Rec.records())
    return;
  if (K != SharedAccess::Atomic && !hasElementsType(P, E))
    return;
  SharedAccess A = Rec.shared(K, P, E);
  A.AllMembers = isVectorView(P);
  if (!P.View.empty())
    A.Lanes = uint8_t(M.Structs.at(P.View).size());
  if (A.AllMembers) {
    // Of which a text by member is planned instead.
    Rec.decline(DeclineCode::TypePunned,
                "'" + M.Arrays[P.Index].Name + "' as " + P.View,
                E->getBeginLoc());
    A.Affine = false;
    A.Index.clear();
    A.StoredRange = Rhs ? Rec.range(Rhs) : TextRange();
    Value V;
    V.Type = P.View;
    A.Stored = std::make_shared<Value>(V);
    return Rec.add(std::move(A), E);
  }
  if (Stored) {
    A.Stored = asValue(*Stored, Rhs);
    if (!E->getType()->isIntegralOrEnumerationType())
      A.Stored = keepRounding(A.Stored);
    A.StoredRange = Rec.range(Rhs);
  }
  Rec.add(std::move(A), E);
}

void Evaluator::recordGlobal(GlobalAccess::Kind K, const SVal &P, const Expr *E,
                             const Expr *Rhs) {
  if (Cur.Quiet)
    return;
  int Root = P.Base == SVal::Global ? P.Index : -1;
  if (K != GlobalAccess::Read) {
    if (Root >= 0)
      M.Params[Root].Written = true;
    else
      for (KernelParam &Q : M.Params)
        Q.Written |= Q.IsPointer; // const can be cast away
    clobberLoads(Root);
  }
  Rec.global(K, Root, P, E, Rhs,
             P.ElemText.empty() ? typeText(E->getType()) : P.ElemText);
}

} // namespace rcache
