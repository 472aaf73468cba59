// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LaunchShape.h.

#include "LaunchShape.h"
#include "Constants.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

namespace {

/// Does each thread of a line of them walk over tiles of an input of unknown
/// length, which all blocks read, for one output?
bool walksOverAll(const KernelModel &M, const std::array<int64_t, 3> &Block) {
  if (Block[1] * Block[2] > 1)
    return false;
  return llvm::any_of(M.Stmts, [&](const Stmt &S) {
    return S.isLoop() && S.HasBarrier && !S.HasGlobalWrite && !S.ConstTripCount &&
           llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
             return G.K == GlobalAccess::Read && S.Range.contains(G.Range) &&
                    !(G.Index && (G.Index->Depends & DepBlock));
           });
  });
}

} // namespace

std::array<int64_t, 3>
rcache::typicalBlock(const KernelModel &M, const Plan &P,
                     const std::optional<std::array<int64_t, 3>> &Assumed) {
  if (P.Map.Block)
    return *P.Map.Block;
  if (!M.Geo.SeenBlocks.empty())
    return M.Geo.SeenBlocks.front();
  return Assumed.value_or(
      std::array<int64_t, 3>{M.Geo.MaxThreads.value_or(256), 1, 1});
}

bool rcache::walksThroughPlanes(const KernelModel &M,
                                const std::array<int64_t, 3> &Block) {
  if (Block[1] < 2)
    return false;
  for (const Stmt &S : M.Stmts)
    if (S.isLoop() &&
        S.HasBarrier && S.HasGlobalWrite)
      return true;
  return false;
}

std::optional<int64_t> rcache::expectedBlocks(const KernelModel &M, const Arch &A) {
  if (M.Geo.MostBlocks)
    return M.Geo.MostBlocks;
  return M.Geo.UsualBlocks.value_or(0) >= A.Sms ? M.Geo.UsualBlocks : std::nullopt;
}

/// The grid of which expectedBlocks tells; nullopt: host code does not tell its sides.
static std::optional<std::array<int64_t, 3>> expectedGrid(const KernelModel &M, const Arch &A) {
  const auto Blocks = expectedBlocks(M, A);
  if (!Blocks || M.Form.scaled())
    return std::nullopt;
  const auto Is = [&](const std::array<int64_t, 3> &G) { return G[0] * G[1] * G[2] == *Blocks; };
  for (const LaunchSite &L : M.Launches) {
    if (L.ConstGrid && Is(*L.ConstGrid))
      return *L.ConstGrid;
    for (const auto *Grids : {&L.PossibleGrids, &L.UsualGrids})
      if (const auto At = llvm::find_if(*Grids, Is); At != Grids->end())
        return *At;
  }
  return std::nullopt;
}

double rcache::beyondGrid(const KernelModel &M, const Plan &P, const Arch &A) {
  if (!P.Map.Block || launchWarps(M, *P.Map.Block, A) == 0)
    return 1;
  const auto Grid = expectedGrid(M, A);
  double All = 1;
  for (unsigned Axis = 0; Grid && Axis < 3; ++Axis) {
    const double Blocks = double((*Grid)[Axis]), Joined = P.Map.Blocks[Axis];
    All *= std::ceil(Blocks / Joined) * Joined / std::max(1.0, Blocks);
  }
  return All;
}

std::optional<double> rcache::expectedWarps(const KernelModel &M, double Threads,
                                            const Arch &A) {
  const auto Blocks = expectedBlocks(M, A);
  return Blocks ? std::optional(double(*Blocks) * std::ceil(Threads / 32) / A.Sms)
                : std::nullopt;
}

double rcache::launchWarps(const KernelModel &M, const std::array<int64_t, 3> &Block,
                           const Arch &A) {
  const auto Blocks = expectedBlocks(M, A);
  if (!Blocks || M.Form.scaled())
    return 0;
  const double Warps =
      static_cast<double>(*Blocks) *
      std::ceil(static_cast<double>(Block[0] * Block[1] * Block[2]) / 32);
  return Warps < constantsOf(A).LeastWarpsPerSm * A.Sms ? 0 : Warps;
}

GridSize rcache::gridWarps(const KernelModel &M,
                           const std::array<int64_t, 3> &Block, const Arch &A) {
  const Constants &Fit = constantsOf(A);
  GridSize G;
  const bool Planes = walksThroughPlanes(M, Block);
  G.Warps = Planes ? Fit.PlaneWarps : walksOverAll(M, Block) ? Fit.LineWarps : 0;
  // Lines of threads are bound by arithmetic, whatever their number.
  if (!Planes || !M.Geo.MostBlocks)
    return G;
  const double Known = launchWarps(M, Block, A);
  return Known > 0 ? GridSize{Known, true} : G;
}

unsigned rcache::planeUnroll(const KernelModel &M,
                             const std::array<int64_t, 3> &Block) {
  unsigned Most = 0;
  if (Block[1] > 1)
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::For && S.HasBarrier && S.HasGlobalWrite)
        Most = std::max(Most, S.UnrollCount);
  return Most;
}

double rcache::borderWarps(const KernelModel &M, const Plan &P,
                           const std::array<int64_t, 3> &Block, const Arch &A,
                           Borders Where) {
  if (Block[1] * Block[2] == 1)
    return 0;
  const Constants &Fit = constantsOf(A);
  const double Usual =
      Block[2] > 1 || walksThroughPlanes(M, Block) ? Fit.BodySide : Fit.ImageSide;
  const auto Grid = Where == Borders::OfGrid ? expectedGrid(M, A) : std::nullopt;
  const auto Physical = P.Map.launchedBlock(Block);
  double Lanes = 32, Share = 0;
  for (size_t Ax = 0; Ax < 3; ++Ax) {
    const double Across = std::min(Lanes, double(Physical[Ax]));
    Lanes = std::max(1.0, Lanes / Across);
    const double Side = Grid ? double((*Grid)[Ax] * Block[Ax]) : Usual;
    if (Block[Ax] > 1)
      Share += 2 * Across * P.Map.Factor[Ax] / Side;
  }
  return std::min(1.0, Share);
}
