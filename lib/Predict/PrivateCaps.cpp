// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PrivateCaps.h.

#include "PrivateCaps.h"
#include "LaunchShape.h"
#include "Plan/Counts.h"
#include "PrivateCosts.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

/// Is \p Stmt in a loop whose rounds are no constant? It is not unrolled then.
static bool isCountedByNone(const KernelModel &M, unsigned Stmt) {
  for (int S = int(Stmt); S >= 0; S = M.stmt(unsigned(S)).Parent)
    if (const auto &L = M.stmt(unsigned(S)); L.isLoop() && !L.ConstTripCount)
      return true;
  return false;
}

/// Has \p A three words, and is it read for the most part where lanes pick different
/// elements? In local memory they are in as few lines. (A median of nine bytes: 0.93x; ten
/// counters of a byte gain 3.9x.)
static bool isReadInFewLines(const KernelModel &M, const PrivateArray &A) {
  constexpr int64_t FewBytes = 12;
  constexpr double Seldom = 0.2; // of the accesses
  double Reads = 0, Writes = 0;
  for (const PrivateArray::Use &U : A.Uses)
    if (U.ByThread)
      (isWritten(M, A, U) ? Writes : Reads) += roundsOf(M, U.Stmt);
  return A.elements(M) * A.ElemBytes <= FewBytes && Writes < Seldom * (Reads + Writes);
}

double rcache::bestBytes(const CapInput &In, double Speedup) {
  const KernelModel &M = In.M;
  const bool Any = llvm::any_of(In.P.Interleaved, [&](const InterleavedArray &X) {
    const PrivateArray &A = M.Privates[X.Array];
    const auto Best = llvm::find_if(A.Uses, [&](const PrivateArray::Use &U) {
      return bestSoFarIn(M, A, U) >= 0;
    });
    // Of a histogram, counters are at places of their own as well.
    return A.ElemBytes < 4 && Best != A.Uses.end() &&
           llvm::all_of(A.Uses, [&](const PrivateArray::Use &U) {
             return !U.ByThread || M.text(U.Range) == M.text(Best->Range);
           });
  });
  return Any ? std::min(Speedup, 1.0) : Speedup;
}

double rcache::privateTables(const CapInput &In, double Speedup) {
  if (In.P.Interleaved.empty())
    return Speedup;
  if (llvm::all_of(In.P.Interleaved, [&](const InterleavedArray &X) {
        return isReadInFewLines(In.M, In.M.Privates[X.Array]);
      }))
    return std::min(Speedup, 1.0);
  bool Bytes = false;
  for (const auto &X : In.P.Interleaved) {
    const PrivateArray &A = In.M.Privates[X.Array];
    if (X.Once)
      return Speedup;
    Bytes |= A.ElemBytes < 4;
    const bool Written = llvm::any_of(A.Uses, [&](const PrivateArray::Use &U) {
      return (U.ByThread || isCountedByNone(In.M, U.Stmt)) && isWritten(In.M, A, U);
    });
    if (Written)
      return Speedup;
  }
  return std::min(Speedup, Bytes ? 1.0 : In.Fit.TablesClaimed);
}

double rcache::localArrays(const CapInput &In, double Speedup) {
  if (In.P.slots() == 1 || !In.P.Interleaved.empty())
    return Speedup;
  const bool Any = llvm::any_of(In.M.Privates, [&](const PrivateArray &A) {
    return A.isInLocalMemory(In.M) &&
           llvm::any_of(A.Uses, [](const PrivateArray::Use &U) { return U.ByThread; });
  });
  return Any ? std::min(Speedup, 1.0) : Speedup;
}

double rcache::fewBlocks(const CapInput &In, double Speedup) {
  // (What a launch asks for beside is not known.)
  constexpr double Sure = 1.3;
  if (!In.P.Interleaved.empty() && Speedup < Sure &&
      llvm::any_of(In.M.Arrays, [](const SharedArray &A) { return A.Dynamic; }))
    return std::min(Speedup, 1.0);
  const double Enough =
      std::min<double>(In.Original.Occ.WarpsPerSm, In.Fit.EnoughWarps);
  return In.P.Interleaved.empty() || Enough <= 0
             ? Speedup
             : Speedup * std::min(1.0, In.C.Cost.Occ.WarpsPerSm / Enough);
}

double rcache::privateInFewWarps(const CapInput &In, double Speedup) {
  const double Warps =
      expectedWarps(In.M, std::max(1u, In.C.Counts.ThreadsPerBlock), In.On).value_or(0);
  if (In.P.Interleaved.empty() || Speedup <= 1 ||
      llvm::all_of(In.P.Interleaved, [](const InterleavedArray &X) { return X.Once; }))
    return Speedup;
  // (1.2x, 1.39x and 1.41x were counted where 0.92x, 0.97x and 1.09x were measured.)
  constexpr double Anywhere = 1.4;
  if (Speedup < Anywhere)
    return 1;
  if (Warps <= 0 || Warps >= In.Fit.EnoughWarps)
    return Speedup;
  // (0.90x and 0.97x were measured where 2.1x and 2.2x are counted.)
  constexpr double Sure = 2.3;
  const double Claimed = Speedup < Sure ? 1 : 1 + In.Fit.PrivateInFewWarps * (Speedup - 1);
  return Claimed < Anywhere ? 1 : Claimed;
}
