// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OwnedFetches.h: numbers and conditions of a thread as formulas, where counters
// have their values.

#include "../Values.h"
#include "Affine/IslTools.h"
#include "Affine/Powers.h"
#include "OwnedFetches.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <numeric>

using namespace rcache;

/// What symbol \p Id stands for: the initial value of a variable that keeps it;
/// null: nothing is known.
static ValueRef standsFor(const KernelModel &M, const std::string &Id) {
  const int I = M.symbolIndex(Id);
  if (I >= 0 && M.Symbols[static_cast<size_t>(I)].Is)
    return M.Symbols[static_cast<size_t>(I)].Is;
  if (I < 0 || M.Symbols[static_cast<size_t>(I)].K != Symbol::Opaque ||
      M.Symbols[static_cast<size_t>(I)].VarId < 0)
    return nullptr;
  const Var &V = M.Vars[static_cast<size_t>(
      M.Symbols[static_cast<size_t>(I)].VarId)];
  return V.Assigned || V.AddressTaken || V.IsParam ? nullptr : V.Init;
}

/// The product that symbol \p Id is, where all of its factors but one are numbers;
/// null: it is none.
static Nullable<isl::pw_aff> productOf(const KernelModel &M,
                                       const Assumptions &A,
                                       const std::string &Id,
                                       const Counters::Values &At) {
  const int I = M.symbolIndex(Id);
  if (I < 0 || M.Symbols[static_cast<size_t>(I)].Factors.empty())
    return {};
  isl::pw_aff All = constantValue(M.Ctx->ctx(), 1);
  for (const std::string &F : M.Symbols[static_cast<size_t>(I)].Factors) {
    const isl::pw_aff Of = atCounts(A.fix(symbolValue(M.Ctx->ctx(), F)), At);
    if (const auto C = isConstant(Of); C && involvedIds(Of).empty())
      All = All.scale(static_cast<long>(*C));
    else if (involvedIds(All).empty())
      All = Of.scale(static_cast<long>(isConstant(All).value_or(0)));
    else
      return {};
  }
  return All;
}

/// What is known of the symbols \p Ids.
static Substitution meaningOf(const KernelModel &M, const Assumptions &A,
                              const std::vector<std::string> &Ids,
                              const Counters::Values &At) {
  Substitution By;
  for (const std::string &Id : Ids) {
    Nullable<isl::pw_aff> Of = productOf(M, A, Id, At);
    if (const ValueRef Is = standsFor(M, Id);
        Of.is_null() && Is && Is->K == Value::Op)
      Of = formulaOf(M, A, *Is, At);
    if (!Of.is_null())
      By.emplace(Id, Of);
  }
  return By;
}

/// Of two formulas, one of which has to be a number; null: neither is.
static Nullable<isl::pw_aff>
withNumber(const isl::pw_aff &L, const isl::pw_aff &R,
           llvm::function_ref<isl::pw_aff(const isl::pw_aff &, int64_t)> Of) {
  for (const auto &[X, N] : {std::pair(L, R), std::pair(R, L)})
    if (const auto C = isConstant(N);
        C && *C >= 0 && involvedIds(N).empty() && *C <= 1 << 20)
      return Of(X, *C);
  return {};
}

/// Is \p V a number that is not below 0, and has a sign or none alike, in all
/// threads?
static bool isSmall(const isl::pw_aff &V, const Assumptions &A,
                    const Counters::Values &At) {
  return atCounts(A.Context, At)
      .subtract(inRange(V, constantValue(V.ctx(), 0),
                        constantValue(V.ctx(), INT32_MAX)))
      .is_empty();
}

/// What two formulas make, modulo 2^32 where the type has no sign.
static Nullable<isl::pw_aff> combined(Value::Operator Op,
                                      const isl::pw_aff &L,
                                      const isl::pw_aff &R,
                                      const Assumptions &A,
                                      const Counters::Values &At) {
  if (Op == Value::Add)
    return L.add(R);
  if (Op == Value::Sub)
    return L.sub(R);
  if (Op == Value::Mul)
    return withNumber(L, R, [](const isl::pw_aff &X, int64_t C) {
      return X.scale(static_cast<long>(C));
    });
  const auto By = isConstant(R);
  if ((Op == Value::Rem || Op == Value::Div) && By && *By > 0 &&
      involvedIds(R).empty() && isSmall(L, A, At))
    return Op == Value::Rem ? floorMod(L, *By) : floorDiv(L, *By);
  if ((Op == Value::Shr || Op == Value::Shl) && By && *By >= 0 && *By < 31 &&
      involvedIds(R).empty() && isSmall(L, A, At))
    return Op == Value::Shr ? floorDiv(L, int64_t(1) << *By)
                            : L.scale(static_cast<long>(1l << *By));
  return {};
}

Nullable<isl::pw_aff> rcache::formulaOf(const KernelModel &M,
                                        const Assumptions &A, const Value &V,
                                        const Counters::Values &At) {
  if (V.K == Value::Affine) {
    const isl::pw_aff E = atCounts(A.fix(V.Aff), At);
    return substitute(E, meaningOf(M, A, involvedIds(E), At));
  }
  if (V.K != Value::Op || V.Operands.empty())
    return {};
  const auto L = formulaOf(M, A, *V.Operands[0], At);
  if (L.is_null())
    return {};
  if (V.Operands.size() == 1)
    return V.Opcode == Value::Cast &&
                   (V.Type == "int" || V.Type == "unsigned int") &&
                   isSmall(L, A, At)
               ? L
               : Nullable<isl::pw_aff>();
  const auto R = formulaOf(M, A, *V.Operands[1], At);
  if (V.Operands.size() != 2 || R.is_null())
    return {};
  if (V.Opcode == Value::Xor)
    return withNumber(L, R, [](const isl::pw_aff &X, int64_t C) {
      return flipped(X, C);
    });
  if (V.Opcode == Value::And)
    return withNumber(
        L, R, [](const isl::pw_aff &X, int64_t C) { return bitsOf(X, C); });
  const auto Of = combined(V.Opcode, L, R, A, At);
  // Where a type has no sign, numbers may begin anew.
  if (Of.is_null() ||
      (llvm::StringRef(V.Type).contains("unsigned") && !isSmall(Of, A, At)))
    return {};
  return Of;
}

Nullable<isl::set> rcache::conditionOf(const KernelModel &M,
                                       const Assumptions &A, const Value &V,
                                       const Counters::Values &At) {
  if (V.K != Value::Op || V.Operands.size() != 2)
    return {};
  const auto L = formulaOf(M, A, *V.Operands[0], At),
             R = formulaOf(M, A, *V.Operands[1], At);
  // (Compared with a sign or without.)
  if (L.is_null() || R.is_null() || !isSmall(L, A, At) || !isSmall(R, A, At))
    return {};
  switch (V.Opcode) {
  case Value::Less:
    return lessThan(L, R);
  case Value::LessEqual:
    return lessEqual(L, R);
  case Value::Greater:
    return lessThan(R, L);
  case Value::GreaterEqual:
    return lessEqual(R, L);
  case Value::Equal:
    return equalTo(L, R);
  default:
    return {};
  }
}

isl::set rcache::at(const KernelModel &M, const Assumptions &A, isl::set S,
                    const Counters::Values &Known) {
  S = atCounts(std::move(S), Known);
  return substitute(S, meaningOf(M, A, involvedIds(S), Known));
}

Nullable<isl::pw_aff> rcache::elementAt(const KernelModel &M,
                                        const Assumptions &A,
                                        const SharedAccess &S,
                                        const Counters::Values &V) {
  const SharedArray &Arr = M.Arrays[S.Array];
  isl::pw_aff E = constantValue(M.Ctx->ctx(), 0);
  for (size_t D = 0; D < S.IndexValues.size(); ++D) {
    const auto Of = S.IndexValues[D] ? formulaOf(M, A, *S.IndexValues[D], V)
                                     : Nullable<isl::pw_aff>();
    if (Of.is_null() || (D > 0 && !Arr.Extents[D]))
      return {};
    if (D > 0)
      E = E.scale(static_cast<long>(*Arr.Extents[D]));
    E = E.add(Of);
  }
  return E;
}

/// \p Numbers of \p Visits as powers of two by one of the counts, as in loops over the
/// levels of a tree; null: they are none.
static Nullable<isl::pw_aff> byPowers(const KernelModel &M, const Counters &Count,
                                      llvm::ArrayRef<Counters::Values> Visits,
                                      llvm::ArrayRef<int64_t> Numbers) {
  for (const auto &[Id, First] : Visits[0]) {
    std::map<int64_t, int64_t> ByCount;
    bool Is = Count.loopOf(Id) >= 0;
    for (size_t V = 0; V < Visits.size() && Is; ++V) {
      const auto At = Visits[V].find(Id);
      Is = At != Visits[V].end() &&
           ByCount.try_emplace(At->second, Numbers[V]).first->second == Numbers[V];
    }
    if (Is && powerForm(Id, ByCount))
      return byCount(M.Ctx->ctx(), Id, ByCount);
  }
  return {};
}

Nullable<isl::pw_aff> rcache::byVisits(const KernelModel &M,
                                       const Counters &Count,
                                       llvm::ArrayRef<Counters::Values> Visits,
                                       llvm::ArrayRef<int64_t> Numbers) {
  const isl::ctx Ctx = M.Ctx->ctx();
  size_t Differs = 0;
  while (Differs < Numbers.size() && Numbers[Differs] == Numbers[0])
    ++Differs;
  if (Differs == Numbers.size())
    return constantValue(Ctx, Numbers[0]);
  for (const auto &[Id, First] : Visits[0]) {
    if (Count.loopOf(Id) < 0)
      continue;
    const auto Then = Visits[Differs].find(Id);
    if (Then == Visits[Differs].end() || Then->second == First)
      continue;
    int64_t Up = Numbers[Differs] - Numbers[0], Down = Then->second - First;
    const int64_t Common = std::gcd(Up, Down) * (Down < 0 ? -1 : 1);
    Up /= Common;
    Down /= Common;
    const int64_t Rest = Numbers[0] * Down - Up * First;
    bool Holds = true;
    for (size_t V = 0; V < Visits.size() && Holds; ++V) {
      const auto Is = Visits[V].find(Id);
      Holds = Is != Visits[V].end() &&
              Up * Is->second + Rest == Numbers[V] * Down;
    }
    if (!Holds)
      continue;
    const isl::pw_aff F = symbolValue(Ctx, Id)
                              .scale(static_cast<long>(Up))
                              .add(constantValue(Ctx, Rest));
    return Down == 1 ? F : floorDiv(F, Down);
  }
  return byPowers(M, Count, Visits, Numbers);
}

Nullable<isl::pw_aff> rcache::affineElement(const KernelModel &M,
                                            const Assumptions &A,
                                            const SharedAccess &S) {
  const SharedArray &Arr = M.Arrays[S.Array];
  if (!S.Affine || S.Index.size() != Arr.Extents.size())
    return {};
  isl::pw_aff E = constantValue(M.Ctx->ctx(), 0);
  for (size_t D = 0; D < S.Index.size(); ++D) {
    if (D > 0 && !Arr.Extents[D])
      return {};
    if (D > 0)
      E = E.scale(static_cast<long>(*Arr.Extents[D]));
    E = E.add(A.fix(S.Index[D]));
  }
  return E;
}
