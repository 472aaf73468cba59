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

isl::pw_aff rcache::flipped(isl::ctx Ctx, int64_t Mask) {
  // Bit b of t is floor(t / 2^b) mod 2.
  const isl::pw_aff T = symbolValue(Ctx, "tx");
  isl::pw_aff E = T;
  for (int64_t Bit = 1; Bit <= Mask; Bit *= 2)
    if (Mask & Bit)
      E = E.add(constantValue(Ctx, Bit))
              .sub(floorMod(floorDiv(T, Bit), 2)
                       .scale(static_cast<long>(2 * Bit)));
  return E;
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
