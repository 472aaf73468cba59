// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the placements of a plan's arrays execute for one output, and the registers that
// they take.

#ifndef RCACHE_LIB_PREDICT_PLACEMENTCOSTS_H
#define RCACHE_LIB_PREDICT_PLACEMENTCOSTS_H

#include "Constants.h"
#include "PlanCosts.h"

namespace rcache {

struct PlacementFigures {
  double Registers = 0; ///< of a thread
  double Ahead = 0;     ///< of windows that rounds may load ahead
  double InTurn = 0;    ///< rounds of loads that wait for one another
  bool Fills = false;   ///< shared memory is filled still
};

/// Adds to \p K what \p P's arrays execute, blocks of the original being \p Block.
PlacementFigures addPlacements(const KernelModel &M, const Plan &P, const Staging &Fill,
                               const std::array<int64_t, 3> &Block, const Arch &On,
                               Runs How, Borders Where, KernelCounts &K);

/// Bytes of shared memory that the kernel's arrays take, of blocks of \p Threads.
unsigned sharedBytes(const KernelModel &M, double Threads);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_PLACEMENTCOSTS_H
