// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pointers in structs that the kernel gets by value: `image.data`. They are
// listed behind the kernel's parameters and treated as such, except that
// nothing keeps two of them apart.

#include "Evaluator.h"

using namespace clang;

namespace rcache {

namespace {

/// `v.a.b`: the variable and ".a.b"; nothing for what host code may not name.
struct MemberPath {
  const VarDecl *Var = nullptr;
  std::string Text;
};

/// \p In: what objects are called in the function's body that \p E stands in.
std::optional<MemberPath> memberPath(const Expr *E, const State &In) {
  MemberPath P;
  const Expr *This = In.This;
  const auto given = [&](const Expr *X) -> const Expr * {
    const auto *R = dyn_cast<DeclRefExpr>(X);
    return R ? In.Objects.lookup(dyn_cast<VarDecl>(R->getDecl())) : nullptr;
  };
  E = E->IgnoreParenImpCasts();
  while (isa<MemberExpr>(E) || given(E)) {
    auto *Mem = dyn_cast<MemberExpr>(E);
    if (!Mem) {
      E = given(E)->IgnoreParenImpCasts();
      continue;
    }
    auto *F = dyn_cast<FieldDecl>(Mem->getMemberDecl());
    const Expr *Base = Mem->getBase()->IgnoreParenImpCasts();
    const bool OfThis = This && isa<CXXThisExpr>(Base);
    if (!F || (Mem->isArrow() && !OfThis) || F->getDeclName().isEmpty() ||
        F->getAccess() == AS_private || F->getAccess() == AS_protected)
      return std::nullopt;
    P.Text = "." + F->getNameAsString() + P.Text;
    E = OfThis ? This->IgnoreParenImpCasts() : Base;
  }
  if (auto *R = dyn_cast<DeclRefExpr>(E))
    P.Var = dyn_cast<VarDecl>(R->getDecl());
  if (!P.Var || P.Text.empty() || !P.Var->getType()->isRecordType())
    return std::nullopt;
  return P;
}

} // namespace

int Evaluator::memberParam(const Expr *E) const {
  const auto Path = memberPath(E, Cur);
  const int I = Path ? L.paramIndex(Path->Var) : -1;
  for (size_t K = 0; I >= 0 && K < M.Params.size(); ++K)
    if (M.Params[K].MemberOf == I &&
        M.Params[K].Name == M.Params[I].Name + Path->Text)
      return static_cast<int>(K);
  return -1;
}

std::optional<SVal> Evaluator::memberPointer(const Expr *E) {
  const auto Path = memberPath(E, Cur);
  const int I = Path ? L.paramIndex(Path->Var) : -1;
  const QualType T = E->getType().getNonReferenceType();
  if (I < 0 || !T->isPointerType() || T.isVolatileQualified() ||
      !T->getPointeeType()->isObjectType() ||
      T->getPointeeType()->isIncompleteType())
    return std::nullopt;
  const Var &V = M.Vars[M.Params[I].VarId];
  if (V.Assigned || V.AddressTaken)
    return std::nullopt;
  int Index = memberParam(E);
  if (Index < 0) {
    const QualType Pointee = T->getPointeeType();
    KernelParam K;
    K.Name = M.Params[I].Name + Path->Text;
    K.Type = K.CanonicalType =
        T.getCanonicalType().getUnqualifiedType().getAsString(Policy);
    K.IsPointer = true;
    K.PointeeConst = Pointee.isConstQualified();
    K.PointeeType = typeText(Pointee.getUnqualifiedType());
    K.PointeeBytes = AC.getTypeSizeInChars(Pointee).getQuantity();
    K.VarId = M.Params[I].VarId;
    K.MemberOf = I;
    Index = static_cast<int>(M.Params.size());
    M.Params.push_back(K);
  }
  return parameterPointer(Index, T);
}

SVal Evaluator::parameterPointer(int Index, QualType T) {
  const KernelParam &K = M.Params[Index];
  SVal S;
  S.K = SVal::Pointer;
  S.Base = SVal::Global;
  S.Index = Index;
  S.Idx.push_back(affineValue(Arith.constant(0), "int"));
  S.IdxInt.push_back(IntValue{Arith.constant(0), true});
  S.ElemBytes = K.PointeeBytes;
  S.ElemText = K.PointeeType;
  S.PtrText = K.Name;
  S.TypeText = typeText(T);
  return S;
}

} // namespace rcache
