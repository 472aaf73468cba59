// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoopCaps.h.

#include "LoopCaps.h"
#include "Registers.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

double rcache::askedInLoops(const CapInput &In, double Speedup) {
  const auto InLoop = [&](unsigned Access) {
    for (int S = int(In.M.SharedAccesses[Access].Stmt); S >= 0;
         S = In.M.stmt(unsigned(S)).Parent)
      if (const Stmt &L = In.M.stmt(unsigned(S));
          (L.K == Stmt::For && !L.ConstTripCount && !L.Cooperative) ||
          L.K == Stmt::While || L.K == Stmt::Do)
        return true;
    return false;
  };
  const bool Asked = llvm::any_of(In.P.Arrays, [&](const ArrayPlan &A) {
    return A.as<FromSource>() && llvm::any_of(A.Reads, InLoop);
  });
  return Asked ? std::min(Speedup, 1.0) : Speedup;
}

double rcache::roundsByData(const CapInput &In, double Speedup) {
  const auto ByData = [&](const PrivateArray::Use &U) {
    for (int S = int(U.Stmt); S >= 0; S = In.M.stmt(unsigned(S)).Parent) {
      const Stmt &L = In.M.stmt(unsigned(S));
      if (L.K == Stmt::While || L.K == Stmt::Do)
        return (L.CondDepends & (DepShared | DepGlobal)) != 0;
    }
    return false;
  };
  return llvm::any_of(In.P.Interleaved, [&](const auto &X) {
    return llvm::any_of(In.M.Privates[X.Array].Uses, ByData);
  }) ? std::min(Speedup, In.Fit.RoundsByDataClaimed) : Speedup;
}

/// Is the counter of \p L named in what \p G reads?
static bool movesWith(const KernelModel &M, const GlobalAccess &G, const Stmt &L) {
  return llvm::any_of(M.VarUses, [&](const VarUse &U) {
    return int(U.Var) == L.IterVar && G.Range.contains(U.Range);
  });
}

double rcache::readAgain(const CapInput &In, double Speedup) {
  if (In.P.slots() == 1 || !In.P.allShared() || In.P.Map.joins())
    return Speedup;
  const auto Again = [&](const GlobalAccess &G) {
    if (G.K == GlobalAccess::Write || !G.Index || !(G.Index->Depends & DepThread))
      return false;
    bool Inner = false; // a loop around it, with which it moves
    for (int Q = int(G.Stmt); Q >= 0; Q = In.M.stmt(unsigned(Q)).Parent) {
      const Stmt &L = In.M.stmt(unsigned(Q));
      if (!L.isLoop())
        continue;
      if (L.HasBarrier)
        return false;
      if (L.K == Stmt::For && movesWith(In.M, G, L))
        Inner = true;
      else if (Inner)
        return true;
    }
    return false;
  };
  return llvm::any_of(In.M.GlobalAccesses, Again) ? std::min(Speedup, 1.0) : Speedup;
}

double rcache::loopsOfSlots(const CapInput &In, double Speedup) {
  return !In.M.Form.AtMost.empty() && ownedRegisters(In.M, In.P) > In.Fit.MostRunWords
             ? std::min(Speedup, 1.0)
             : Speedup;
}
