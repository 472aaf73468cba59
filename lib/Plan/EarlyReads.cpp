// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EarlyReads.h.

#include "EarlyReads.h"
#include "Affine/IslTools.h"
#include <algorithm>

using namespace rcache;

std::optional<std::vector<ArrayPlan>>
rcache::readEarly(const KernelModel &M, const StagingGroup &G,
                  const Assumptions &A, const Plan &P, const ArrayPlan &Direct,
                  int64_t MaxRegisters, std::set<unsigned> &Loops) {
  isl::ctx Ctx = M.Ctx->ctx();
  static const char *Threads[3] = {"tx", "ty", "tz"};
  static const char *Slots[3] = {"sx", "sy", "sz"};
  std::vector<ArrayPlan> Out;
  int64_t Total = 0;
  for (unsigned Rd : Direct.Reads) {
    const SharedAccess &Acc = M.SharedAccesses[Rd];
    if (!Acc.Affine)
      return std::nullopt;
    ArrayPlan R;
    R.Array = Direct.Array;
    R.Barrier = Direct.Barrier;
    R.Writes = Direct.Writes;
    R.Stage = Direct.Stage;
    R.X = Exchange::Direct;
    R.Early = true;
    R.Reads = {Rd};
    WindowRead W;
    W.Access = Rd;
    // The slots, then the loops from the outside in.
    Substitution OfSlot;
    for (int Ax = 2; Ax >= 0; --Ax)
      if (P.Factor[Ax] > 1) {
        R.Extent.push_back(P.Factor[Ax]);
        W.Register.push_back(symbolValue(Ctx, Slots[Ax]));
        OfSlot.emplace(Threads[Ax],
                       symbolValue(Ctx, Threads[Ax])
                           .add(symbolValue(Ctx, Slots[Ax])
                                    .scale(static_cast<long>(P.Stride[Ax]))));
      }
    std::set<unsigned> Around;
    for (const isl::pw_aff &Raw : Acc.Index) {
      const isl::pw_aff Index = A.fix(Raw);
      for (const std::string &Id : involvedIds(Index)) {
        const int Sym = M.symbolIndex(Id);
        if (Sym < 0)
          continue;
        const Symbol &S = M.Symbols[Sym];
        if (S.K == Symbol::Iterator)
          if (const Stmt *Loop = innerLoop(M, G, Acc, Sym)) {
            if (!Loop->ConstTripCount || !Loop->ConstFirst || !Loop->Step ||
                *Loop->ConstTripCount < 1)
              return std::nullopt;
            Around.insert(Loop->Id);
            continue;
          }
        if (S.K != Symbol::ThreadIdx && (S.Depends & (DepThread | DepShared)))
          return std::nullopt; // a value of each thread's own
      }
      R.First.push_back(substitute(Index, OfSlot));
    }
    for (unsigned L : Around) {
      const Stmt &Loop = M.stmt(L);
      const int64_t End =
          *Loop.ConstFirst + (*Loop.ConstTripCount - 1) * *Loop.Step;
      const int64_t Lo = std::min(*Loop.ConstFirst, End);
      R.Extent.push_back(std::abs(End - *Loop.ConstFirst) + 1);
      W.Register.push_back(
          symbolValue(Ctx, M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id)
              .add(constantValue(Ctx, -Lo)));
      R.EarlyLoops.push_back(L);
    }
    int64_t Registers = 1;
    for (int64_t E : R.Extent)
      if ((Registers *= E) > MaxRegisters)
        return std::nullopt;
    if ((Total += Registers) > MaxRegisters)
      return std::nullopt;
    Loops.insert(Around.begin(), Around.end());
    R.WindowReads.push_back(std::move(W));
    Out.push_back(std::move(R));
  }
  return Out;
}
