// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What plans gain in grids of any size, and which of two is for the smaller ones.

#ifndef RCACHE_LIB_PREDICT_GRIDS_H
#define RCACHE_LIB_PREDICT_GRIDS_H

#include "rcache/Choice.h"
#include <optional>
#include <utility>
#include <vector>

namespace rcache {

/// Plan::SpeedupOfBlocks of \p P, whose figures are \p C and whose SpeedupOfMany is known; the
/// original's blocks have \p Block threads. Empty where loops are cut among blocks.
std::vector<std::pair<int64_t, double>>
speedupOfBlocks(const KernelModel &M, const Plan &P, const Choice &R, const Candidate &C,
                const std::array<int64_t, 3> &Block, const Arch &A);

/// A plan beside the chosen one.
struct ForSmallerGrids {
  size_t Plan = 0;           ///< of the candidates
  unsigned LeastThreads = 0; ///< that the chosen one asks for then
  /// Of both, each where it runs.
  std::vector<std::pair<int64_t, double>> SpeedupOfBlocks;
};

/// Joined blocks with many outputs a thread stand for so many of the original's that a grid
/// ends in the middle of a wave of them: the plan of \p Plans with smaller blocks that gains
/// most there. Nullopt: plan \p Own joins no blocks, host code tells the grid, or there is none.
std::optional<ForSmallerGrids> forSmallerGrids(const KernelModel &M, const Choice &R, size_t Own,
                                               const std::vector<Plan> &Plans, const Arch &A);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_GRIDS_H
