// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OwnedFetches.h.

#include "OwnedFetches.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

TextRange rcache::intervalOf(const KernelModel &M, const SharedAccess &S) {
  unsigned Top = S.Stmt;
  while (M.stmt(Top).Parent >= 0 &&
         !M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).HasBarrier)
    Top = static_cast<unsigned>(M.stmt(Top).Parent);
  TextRange In = M.stmt(Top).Range;
  if (M.stmt(Top).Parent < 0)
    return In;
  bool Behind = false;
  for (unsigned C :
       M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).Children) {
    const Stmt &St = M.stmt(C);
    Behind |= C == Top;
    if (St.HasBarrier) {
      if (Behind)
        break;
      In.Begin = M.stmt(Top).Range.Begin;
    } else if (Behind)
      In.End = std::max(In.End, St.Range.End);
    else
      In.Begin = std::min(In.Begin, St.Range.Begin);
  }
  return In;
}

bool rcache::standsInSlots(const KernelModel &M, const SharedAccess &S,
                           bool Own) {
  for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &St = M.stmt(static_cast<unsigned>(Q));
    if (St.HasBarrier) {
      if (St.CondRange.contains(S.Range) || St.HeaderRange.contains(S.Range))
        return false;
      continue;
    }
    switch (St.K) {
    case Stmt::Block:
    case Stmt::Leaf:
    case Stmt::Decl:
    case Stmt::If:
    case Stmt::Return:
      continue;
    default:
      if (!Own)
        return false;
    }
  }
  return true;
}

isl::pw_aff rcache::bitsOf(const isl::pw_aff &X, int64_t Mask) {
  // Bit b of x is floor(x / 2^b) mod 2.
  isl::pw_aff All = constantValue(X.ctx(), 0);
  for (int64_t Bit = 1; Bit > 0 && Bit <= Mask; Bit *= 2)
    if (Mask & Bit)
      All = All.add(
          floorMod(floorDiv(X, Bit), 2).scale(static_cast<long>(Bit)));
  return All;
}

isl::pw_aff rcache::flipped(const isl::pw_aff &X, int64_t Mask) {
  return X.add(constantValue(X.ctx(), Mask)).sub(bitsOf(X, Mask).scale(2L));
}

isl::pw_aff rcache::flipped(isl::ctx Ctx, int64_t Mask) {
  return flipped(symbolValue(Ctx, "tx"), Mask);
}

/// What symbol \p Id stands for: the initial value of a variable that keeps it;
/// null: nothing is known.
static ValueRef standsFor(const KernelModel &M, const std::string &Id) {
  const int I = M.symbolIndex(Id);
  if (I < 0 || M.Symbols[static_cast<size_t>(I)].K != Symbol::Opaque ||
      M.Symbols[static_cast<size_t>(I)].VarId < 0)
    return nullptr;
  const Var &V = M.Vars[static_cast<size_t>(
      M.Symbols[static_cast<size_t>(I)].VarId)];
  return V.Assigned || V.AddressTaken || V.IsParam ? nullptr : V.Init;
}

Nullable<isl::pw_aff> rcache::formulaOf(const KernelModel &M,
                                        const Assumptions &A, const Value &V,
                                        const Counters::Values &At) {
  if (V.K == Value::Affine) {
    Substitution By;
    const isl::pw_aff E = atCounts(A.fix(V.Aff), At);
    for (const std::string &Id : involvedIds(E))
      if (const ValueRef Is = standsFor(M, Id); Is && Is->K == Value::Op)
        if (auto Of = formulaOf(M, A, *Is, At); !Of.is_null())
          By.emplace(Id, Of);
    return substitute(E, By);
  }
  const bool Flips = V.Text == "$0 ^ $1";
  if (V.K != Value::Op || V.Operands.size() != 2 ||
      !(Flips || V.Text == "$0 & $1"))
    return {};
  const auto L = formulaOf(M, A, *V.Operands[0], At),
             R = formulaOf(M, A, *V.Operands[1], At);
  if (L.is_null() || R.is_null())
    return {};
  for (const auto &[X, Mask] : {std::pair(L, R), std::pair(R, L)})
    if (const auto C = isConstant(Mask);
        C && *C >= 0 && involvedIds(Mask).empty() && *C <= 1 << 20)
      return Flips ? flipped(X, *C) : bitsOf(X, *C);
  return {};
}

isl::set rcache::at(const KernelModel &M, const Assumptions &A, isl::set S,
                    const Counters::Values &Known) {
  S = atCounts(std::move(S), Known);
  Substitution By;
  for (const std::string &Id : involvedIds(S))
    if (const ValueRef Is = standsFor(M, Id); Is && Is->K == Value::Op)
      if (auto Of = formulaOf(M, A, *Is, Known); !Of.is_null())
        By.emplace(Id, Of);
  return substitute(S, By);
}

isl::set rcache::slotsOf(const Mapping &Map, const isl::set &Domain,
                         const isl::pw_aff &By,
                         llvm::ArrayRef<Counters::Values> Visits) {
  const isl::ctx Ctx = By.ctx();
  const isl::pw_aff Thread = symbolValue(Ctx, "tx");
  isl::set S = substitute(Domain, {{"tx", Map.threadOfSlot(Ctx, 0)}});
  // The thread of slot 0: a lane, or the first of its neighbours.
  const int64_t Last = Map.Stride[0] == 1 ? 32 * int64_t(Map.Factor[0]) : 32;
  S = S.intersect(inRange(Thread, constantValue(Ctx, 0),
                          constantValue(Ctx, Last)));
  if (Map.Stride[0] == 1)
    S = S.intersect(Thread
                        .mod(static_cast<long>(Map.Factor[0]))
                        .eq_set(constantValue(Ctx, 0)));
  const std::vector<std::string> Ids = involvedIds(By);
  std::vector<std::string> Others;
  for (const std::string &Id : involvedIds(S))
    if (Id != "sx" && !llvm::is_contained(Ids, Id))
      Others.push_back(Id);
  S = projectOut(S, Others);
  isl::set Known =
      inRange(symbolValue(Ctx, "sx"), constantValue(Ctx, 0),
              constantValue(Ctx, int64_t(Map.Factor[0])));
  // (Each value by itself would be said in as many words.)
  for (const std::string &Id : Ids) {
    int64_t Lo = INT64_MAX, Hi = INT64_MIN;
    for (const Counters::Values &V : Visits)
      if (const auto It = V.find(Id); It != V.end()) {
        Lo = std::min(Lo, It->second);
        Hi = std::max(Hi, It->second);
      }
    if (Lo <= Hi)
      Known = Known.intersect(inRange(symbolValue(Ctx, Id),
                                      constantValue(Ctx, Lo),
                                      constantValue(Ctx, Hi + 1)));
  }
  return simplify(S, Known);
}

double rcache::shufflesOf(const Mapping &Map, const Owned::Fetch &F,
                          int64_t By, const Counters::Values &V) {
  if (F.K == Owned::Fetch::At)
    return 1; // the same for all slots
  const int64_t Slots = Map.Factor[0];
  double All = 0;
  for (int64_t S = 0; S < Slots; ++S) {
    if (bindConst(atCounts(F.Slots, V), "sx", S).is_empty())
      continue;
    if (Map.Stride[0] == 32 || Slots == 1)
      All += By % 32 != 0;
    else if (F.K == Owned::Fetch::Flipped)
      All += By >= Slots;
    else
      All += S + By >= Slots || S + By < 0;
  }
  return All;
}
