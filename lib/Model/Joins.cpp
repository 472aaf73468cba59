// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions that begin to hold, and environments behind two branches.

#include "Evaluator.h"

using namespace clang;

namespace rcache {

void Evaluator::assume(const CondVal &C, bool Positive) {
  Cur.Path.Dom = Cur.Path.Dom.intersect(Positive ? C.True : C.False);
  if (C.Affine)
    return;
  Cur.Path.Exact = false;
  if (C.V)
    Cur.Path.Guards.push_back(Positive ? C.V : opValue("!$0", {C.V}, "bool", Value::Not));
}

/// \p A, if \p B is it but for the stores that its loads have survived (see
/// clobberLoads): those of both. Else null.
static ValueRef withSurvived(const ValueRef &A, const ValueRef &B) {
  if (A == B)
    return A;
  if (!A || !B || A->K != B->K || A->Type != B->Type || A->Text != B->Text ||
      A->Root != B->Root || A->Aff.get() != B->Aff.get() ||
      A->Cond.get() != B->Cond.get() ||
      A->Operands.size() != B->Operands.size() || A->K == Value::Unknown)
    return nullptr;
  auto N = std::make_shared<Value>(*A);
  for (size_t I = 0; I < N->Operands.size(); ++I)
    if (!(N->Operands[I] = withSurvived(A->Operands[I], B->Operands[I])))
      return nullptr;
  for (int Root : B->Survived)
    if (!llvm::is_contained(N->Survived, Root))
      N->Survived.push_back(Root);
  return N;
}

/// Makes \p V, whose operands are the values with and without \p C, the one that
/// C selects. False, and nothing is done, where C cannot be written.
static bool selectBy(const CondVal &C, Value &V) {
  if (C.Affine) {
    V.K = Value::Select;
    V.Cond = C.True;
  } else if (C.V) {
    V.K = Value::Op;
    V.Text = "($0 ? $1 : $2)";
    V.Operands.insert(V.Operands.begin(), C.V);
  } else {
    return false;
  }
  return true;
}

/// `C ? A : B` of type \p T; none where pointers are chosen, or C cannot be written.
std::optional<SVal> Evaluator::eitherOf(const CondVal &C, const SVal &A,
                                        const SVal &B, QualType T) {
  if (A.K != SVal::Data || B.K != SVal::Data)
    return std::nullopt;
  if (C.Affine && A.Int && B.Int) {
    auto X = Arith.exact(*A.Int, A.Type, Cur.where(C.True));
    auto Y = Arith.exact(*B.Int, B.Type, Cur.where(C.False));
    if (X && Y)
      if (auto R = Arith.select(C.True, *X, *Y))
        return ofInt({*R, true}, T);
  }
  Value V;
  V.Type = typeText(T);
  V.Operands = {asValue(A), asValue(B)};
  V.Depends = C.Depends | V.Operands[0]->Depends | V.Operands[1]->Depends;
  if (!selectBy(C, V))
    return std::nullopt;
  SVal Either = ofValue(std::make_shared<Value>(V), T);
  if (!A.Members.empty() || !B.Members.empty()) {
    const auto *R = T->getAsCXXRecordDecl();
    for (const FieldDecl *F : R->getDefinition()->fields()) {
      const unsigned I = F->getFieldIndex();
      auto Member = eitherOf(C, memberOf(A, T, I), memberOf(B, T, I), F->getType());
      if (!Member) {
        Either.Members.clear();
        break;
      }
      Either.Members.push_back(std::move(*Member));
    }
  }
  return Either;
}

/// Loaded by some threads, by the others never set: what they have is no
/// value, and nothing may be loaded in its place. Other values can be had
/// anywhere; who reads them was one of the first.
SVal Evaluator::setOnOneWay(const CondVal &C, const Cell &Name, SVal V,
                            bool Then) {
  V.Members.clear();
  std::function<bool(const Value &)> Loads = [&](const Value &X) {
    return X.K == Value::Load ||
           llvm::any_of(X.Operands, [&](auto &O) { return Loads(*O); });
  };
  if (V.K != SVal::Data || V.Int || !V.V || !Loads(*V.V))
    return V;
  Value None, U;
  None.K = Value::Undefined;
  None.Type = U.Type = V.V->Type;
  U.Depends = C.Depends | V.V->Depends;
  U.Operands = {V.V, std::make_shared<Value>(None)};
  if (!Then)
    std::swap(U.Operands[0], U.Operands[1]);
  if (!selectBy(C, U)) {
    U.Operands.clear();
    U.Text = Name.name();
  }
  V.V = std::make_shared<Value>(U);
  return V;
}

void Evaluator::mergeEnv(const CondVal &C, const Environment &Then,
                         const Environment &Else) {
  Environment Result;
  for (auto &[V, A] : Then) {
    auto It = Else.find(V);
    if (It == Else.end()) {
      Result[V] = setOnOneWay(C, V, A, /*Then=*/true);
      continue;
    }
    const SVal &B = It->second;
    if (sameValue(A, B)) {
      Result[V] = A;
      continue;
    }
    if (A.K == SVal::Data && B.K == SVal::Data && !A.Int && !B.Int)
      if (ValueRef Both = withSurvived(A.V, B.V)) {
        Result[V] = A;
        Result[V].V = Both;
        Result[V].Members.clear();
        continue;
      }
    QualType T = V.type();
    if (A.K == SVal::Pointer || B.K == SVal::Pointer) {
      Cur.Env[V] = A;
      Result[V] = opaqueVar(V);
      if (Result[V].Base != SVal::UnknownBase &&
          (A.Base != B.Base || A.Index != B.Index))
        Result[V].Base = SVal::UnknownBase;
      if (Result[V].Base == SVal::UnknownBase)
        for (const SVal *P : {&A, &B})
          if (P->Base == SVal::Shared)
            Rec.decline(DeclineCode::EscapingArray,
                        "'" + M.Arrays[P->Index].Name + "' is what '" +
                            V.name() + "' may or may not point to",
                        V.V->getLocation());
      continue;
    }
    if (auto Either = eitherOf(C, A, B, T)) {
      Result[V] = *Either;
      continue;
    }
    Value U;
    U.Type = typeText(T);
    U.Depends = C.Depends | asValue(A)->Depends | asValue(B)->Depends;
    U.Text = V.name();
    Result[V] = ofValue(std::make_shared<Value>(U), T);
  }
  for (auto &[V, B] : Else)
    if (!Then.count(V))
      Result[V] = setOnOneWay(C, V, B, /*Then=*/false);
  Cur.Env = Result;
}

} // namespace rcache
