// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CutCosts.h.

#include "CutCosts.h"
#include "Constants.h"
#include "Plan/Counts.h"

using namespace rcache;

void rcache::addCut(const KernelModel &M, const Plan &P, const Constants &Fit,
                    KernelCounts &K) {
  if (!P.Cut)
    return;
  K.GridWarps = 0;
  K.GridKnown = false;
  const double Rounds = roundsOf(M, M.stmt(P.Cut->Loop).Children[0]);
  const double Loads = P.Cut->RefillLoads * Rounds / P.Cut->UsualRounds;
  K.DramBytes = K.DramBytes * Rounds / Fit.PlanesOfCopy + 4 * Loads / 2;
  if (Loads > 0)
    K.Loads.push_back({Loads, 4, 4.0 * P.Map.Factor[0]});
}
