// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks and grids of the launches that a prediction is for, known or assumed.

#ifndef RCACHE_LIB_PREDICT_LAUNCHSHAPE_H
#define RCACHE_LIB_PREDICT_LAUNCHSHAPE_H

#include "rcache/Plan.h"
#include "rcache/Prediction.h"

namespace rcache {

struct Constants;

/// The block the plan is made for, or the one that the launches suggest.
std::array<int64_t, 3>
typicalBlock(const KernelModel &M, const Plan &P,
             const std::optional<std::array<int64_t, 3>> &Assumed);

/// Does a loop with barriers store in every round, under a block of two
/// dimensions?
bool walksThroughPlanes(const KernelModel &M,
                        const std::array<int64_t, 3> &Block);

/// Where the borders of what is computed are: far apart, as in an image, or where the grid
/// that host code tells of has them.
enum class Borders { FarApart, OfGrid };

/// Warps of a launch.
struct GridSize {
  double Warps = 0;   ///< 0: enough
  bool Known = false; ///< host code tells; else assumed
};

/// What launches of the original have on \p A.
GridSize gridWarps(const KernelModel &M, const std::array<int64_t, 3> &Block,
                   const Arch &A);

/// Blocks of the largest launch of the original that host code tells; where it tells
/// none, of a start without arguments, if that is no test: a block an SM at least.
std::optional<int64_t> expectedBlocks(const KernelModel &M, const Arch &A);

/// Warps an SM that so many blocks have, each of \p Threads threads; nullopt: not known.
std::optional<double> expectedWarps(const KernelModel &M, double Threads, const Arch &A);

/// Warps of that launch, in blocks of \p Block threads; 0: nothing tells, the text is of
/// other launches, or they are of a test, too few to fill the device.
double launchWarps(const KernelModel &M, const std::array<int64_t, 3> &Block,
                   const Arch &A);

/// Blocks that the joined ones of \p P stand for, to those of the grid that host code tells
/// of: 3 x 5 of 8 x 4 blocks for 18 x 19, 1.40. 1 where it tells none, or a test's.
double beyondGrid(const KernelModel &M, const Plan &P, const Arch &A);

/// N of the `#pragma unroll N` at a counted loop that walksThroughPlanes; 0:
/// there is no such pragma or loop.
unsigned planeUnroll(const KernelModel &M, const std::array<int64_t, 3> &Block);

/// Part of the rewritten kernel's warps that stand at a border of what is
/// computed.
double borderWarps(const KernelModel &M, const Plan &P,
                   const std::array<int64_t, 3> &Block, const Arch &A, Borders Where);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_LAUNCHSHAPE_H
