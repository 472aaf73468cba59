// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Grids.h.

#include "Grids.h"
#include "Constants.h"
#include "rcache/Plan.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

namespace {

/// Score of the plan whose counts are \p New beside that of \p Old, in grids of \p Blocks
/// blocks of \p Block threads; 0 blocks: of many. What a grid leaves idle of the device is
/// counted. (Of 286 launches of bench/styles 176 are within 25% so, 172 with the overlaps of
/// known launches; of 25 of joined blocks 10 and 13.)
double speedupIn(KernelCounts Old, KernelCounts New, double Blocks,
                 const std::array<int64_t, 3> &Block, const Arch &A) {
  Old.OnlyIdle = New.OnlyIdle = !New.Joined;
  Old.LaunchWarps = Blocks * std::ceil(double(Block[0] * Block[1] * Block[2]) / 32);
  New.LaunchWarps = Old.LaunchWarps / std::max(1u, New.OutputsPerThread);
  for (KernelCounts *K : {&Old, &New})
    if (Blocks > 0 && K->GridWarps > 0) {
      K->GridWarps = K->LaunchWarps;
      K->GridKnown = true;
    }
  return predictSpeedup(Old, New, A);
}

/// The same for what \p C is said to gain of many.
double speedupIn(const Plan &P, const Choice &R, const Candidate &C, double Blocks,
                 const std::array<int64_t, 3> &Block, const Arch &A) {
  const double OfMany = speedupIn(R.Original, C.Counts, 0, Block, A);
  return P.SpeedupOfMany *
         std::min(1.0, speedupIn(R.Original, C.Counts, Blocks, Block, A) / OfMany);
}

unsigned joinedBlocks(const Plan &P) {
  return P.Map.Blocks[0] * P.Map.Blocks[1] * P.Map.Blocks[2];
}

} // namespace

std::vector<std::pair<int64_t, double>>
rcache::speedupOfBlocks(const KernelModel &M, const Plan &P, const Choice &R, const Candidate &C,
                        const std::array<int64_t, 3> &Block, const Arch &A) {
  constexpr int64_t Most = int64_t(1) << 24;
  constexpr double Near = 0.98;
  std::vector<std::pair<int64_t, double>> Out;
  if (P.Cut || M.Form.scaled() || !(C.Speedup > 0))
    return Out;
  for (int64_t B = std::max<int64_t>(P.leastBlocks(Block), A.Sms); B <= Most; B *= 2) {
    Out.push_back({B, speedupIn(P, R, C, double(B), Block, A)});
    if (Out.back().second > Near * P.SpeedupOfMany)
      break;
  }
  return Out;
}

std::optional<ForSmallerGrids> rcache::forSmallerGrids(const KernelModel &M, const Choice &R,
                                                       size_t Own, const std::vector<Plan> &Plans,
                                                       const Arch &A) {
  constexpr unsigned Fewer = 4;
  const Plan &P = Plans[Own];
  const Candidate &Figures = R.Candidates[Own];
  if (!P.Map.joins() || !P.Map.Block || P.Cut || !P.LeastThreads || M.Form.scaled() ||
      Figures.Counts.LaunchWarps > 0 || P.SpeedupFrom == Plan::Measured)
    return std::nullopt;
  const auto &Block = *P.Map.Block;
  ForSmallerGrids Out;
  Out.LeastThreads = unsigned(constantsOf(A).JoinedWaves) * A.Sms *
                     std::max(1u, Figures.Cost.Occ.BlocksPerSm) * unsigned(P.Map.lanes());
  if (Out.LeastThreads <= P.LeastThreads)
    return std::nullopt;
  Plan Large = P;
  Large.LeastThreads = Out.LeastThreads;
  const int64_t Least = Large.leastBlocks(Block);
  // In all grids that the chosen plan leaves, each half as large as the one before; the original
  // runs those that a plan leaves, too.
  const auto Gain = [&](const Plan &Q, const Candidate &C) {
    double Sum = 0;
    for (int64_t B = Least / 2; B >= A.Sms; B /= 2)
      if (B >= Q.leastBlocks(Block))
        Sum += std::log(speedupIn(Q, R, C, double(B), Block, A));
    return Sum;
  };
  double Best = 0;
  for (size_t I = 0; I < Plans.size(); ++I) {
    const Plan &Q = Plans[I];
    const Candidate &C = R.Candidates[I];
    if (!Q.Map.joins() || Q.Map.Block != P.Map.Block || Q.Cut || !Q.LeastThreads ||
        joinedBlocks(Q) * Fewer > joinedBlocks(P) || !C.Failed.empty() || !C.Excluded.empty())
      continue;
    if (const double G = Gain(Q, C); G > Best) {
      Best = G;
      Out.Plan = I;
    }
  }
  if (Best <= 0)
    return std::nullopt;
  for (const auto &[B, S] : Plans[Out.Plan].SpeedupOfBlocks)
    if (B < Least)
      Out.SpeedupOfBlocks.push_back({B, S});
  for (const auto &Of : speedupOfBlocks(M, Large, R, Figures, Block, A))
    Out.SpeedupOfBlocks.push_back(Of);
  return Out;
}
