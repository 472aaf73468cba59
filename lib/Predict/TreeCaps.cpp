// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TreeCaps.h. 40 kernels of bench/styles (2026-11-28-h200-trees.txt): 0.98x to 1.04x
// where a loop's length is not known, 1.01x to 1.26x elsewhere.

#include "TreeCaps.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

/// Rounds of a block's loops without barriers that are counted as one; nullopt: some are
/// not known.
static std::optional<double> roundsBeside(const KernelModel &M) {
  double Rounds = 1;
  for (const Stmt &L : M.Stmts) {
    if (!L.isLoop() || L.HasBarrier || L.ConstTripCount)
      continue;
    if (L.K != Stmt::For || (!L.MeanTripCount && !L.ShownTripCount))
      return std::nullopt;
    if (L.Cooperative && L.ShownTripCount)
      Rounds = std::max(Rounds, *L.ShownTripCount);
  }
  return Rounds;
}

double rcache::endsOfTrees(const CapInput &In, double Speedup) {
  if (In.P.OfFirstWarp.empty() || Speedup <= 1)
    return Speedup;
  // What a wave or two waits for is not the tree (0.95x to 1.04x).
  constexpr double FewWarps = 128;
  const double Warps = In.C.Counts.LaunchWarps / In.On.Sms;
  const std::optional<double> Rounds = roundsBeside(In.M);
  if (!Rounds || (Warps > 0 && Warps < FewWarps))
    return 1;
  const double More = (*Rounds - 1) * In.Original.of(Resource::Dram);
  return (In.Original.Clocks + More) / (In.Original.Clocks / Speedup + More);
}
