// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ReadEarly.h. Legal where the index of the read is known at the barrier.

#include "ReadEarly.h"
#include "../Counts.h"
#include "Affine/IslTools.h"
#include "Placements.h"
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
    R.Reads = {Rd};
    ReadEarly E;
    WindowRead &W = E.Read;
    W.Access = Rd;
    // The slots, then the loops from the outside in.
    Substitution OfSlot;
    for (int Ax = 2; Ax >= 0; --Ax)
      if (P.Map.Factor[Ax] > 1) {
        E.Extent.push_back(P.Map.Factor[Ax]);
        W.Register.push_back(symbolValue(Ctx, Slots[Ax]));
        OfSlot.emplace(Threads[Ax], P.Map.threadOfSlot(Ctx, unsigned(Ax)));
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
      E.First.push_back(substitute(Index, OfSlot));
    }
    for (unsigned L : Around) {
      const Stmt &Loop = M.stmt(L);
      const int64_t End =
          *Loop.ConstFirst + (*Loop.ConstTripCount - 1) * *Loop.Step;
      const int64_t Lo = std::min(*Loop.ConstFirst, End);
      E.Extent.push_back(std::abs(End - *Loop.ConstFirst) + 1);
      W.Register.push_back(
          symbolValue(Ctx, M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id)
              .add(constantValue(Ctx, -Lo)));
      E.Loops.push_back(L);
    }
    int64_t Registers = 1;
    for (int64_t N : E.Extent)
      if ((Registers *= N) > MaxRegisters)
        return std::nullopt;
    if ((Total += Registers) > MaxRegisters)
      return std::nullopt;
    Loops.insert(Around.begin(), Around.end());
    R.Where = std::move(E);
    Out.push_back(std::move(R));
  }
  return Out;
}

const char *rcache::nameOf(const ReadEarly &) { return "direct"; }
std::string rcache::detailOf(const ReadEarly &) { return ""; }
std::string rcache::summaryOf(const ReadEarly &) {
  return "read at the barrier";
}

void rcache::print(llvm::raw_ostream &OS, const ReadEarly &E,
                   const Placed &In) {
  OS << "    early";
  for (int64_t N : E.Extent)
    OS << " " << N;
  OS << ":";
  for (const isl::pw_aff &F : E.First)
    OS << " " << islText(F);
  OS << "\n";
  printReads(OS, E.Read, In.M);
}

int64_t rcache::held(const ReadEarly &E) { return E.registers(); }

void rcache::count(const ReadEarly &E, const Placed &In, double,
                   PlanCounts &K) {
  const double Reads = roundsOf(In.M, In.M.SharedAccesses[E.Read.Access].Stmt);
  K.GlobalLoads += Reads;
  K.LoadInstructions += Reads;
  K.Registers += static_cast<unsigned>(E.registers());
}

void rcache::draw(const ReadEarly &, const Placed &, ArrayPicture &Picture) {
  Picture.Words = "read from where it was staged from, once, at the barrier, and "
                  "held in registers";
}
