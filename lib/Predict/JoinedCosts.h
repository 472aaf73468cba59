// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What joined blocks cost, and the arrays that they fill together.

#ifndef RCACHE_LIB_PREDICT_JOINEDCOSTS_H
#define RCACHE_LIB_PREDICT_JOINEDCOSTS_H

#include "Plan/placements/Placements.h"
#include "StagingCosts.h"
#include "rcache/Prediction.h"

namespace rcache {

/// Adds to \p K, per output, what filling \p R and reading it takes; the loops around
/// its barrier run \p Rounds times.
void addRestaged(const Placed &In, const Restaged &R, const Staging &Fill,
                 double Rounds, KernelCounts &K);

/// Registers of a thread for one restaged array whose elements have \p Words words.
double restagedRegisters(const Plan &P, double Words);

/// What a joined plan has been measured to gain beside what is counted; its grid has
/// \p WarpsPerSm warps an SM (0: nobody knows).
double joinedFactor(const Plan &P, double WarpsPerSm, bool OfHalves);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_JOINEDCOSTS_H
