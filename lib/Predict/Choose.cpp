// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Choose.h"
#include "Alignment.h"
#include "Caps.h"
#include "Grids.h"
#include "LaunchShape.h"
#include "Plan/Counts.h"
#include "PlanCosts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

using namespace rcache;

namespace {

constexpr const char *WouldSpill = "would spill";
constexpr const char *Spills = "spills";

std::string exchangeText(const Plan &P, const ArrayPlan &A) {
  std::string T = placementName(A);
  if (const auto *S = A.as<Shuffled>())
    T += S->D.K == Distribution::Cyclic
             ? ", round robin"
             : ", chunks of " + std::to_string(S->D.Chunk);
  if (A.as<Owned>() && P.Map.slots() > 1)
    T += P.Map.Stride[0] == 1 ? ", neighbours" : ", 32 apart";
  return T;
}

std::string arraysText(const KernelModel &M, const Plan &P) {
  std::string T;
  for (const ArrayPlan &A : P.Arrays) {
    T += (T.empty() ? "" : "; ") + M.Arrays[A.Array].Name + ": " +
         exchangeText(P, A) + (A.as<StreamedRows>() ? " by rows" : "");
    for (size_t D = 0; D < A.extent().size(); ++D)
      T += (D ? "x" : " ") + std::to_string(A.extent()[D]);
  }
  if (P.barriers(M, SyncScope::Warp))
    T += P.barriers(M, SyncScope::Block) ? "; some barriers in the warp"
                                         : "; barriers in the warp";
  if (!P.OfFirstWarp.empty())
    T += "; last rounds by the first warp";
  if (P.Ahead)
    T += "; tiles copied ahead";
  return T;
}

std::string speedupText(double Speedup) {
  return llvm::formatv("{0:F2}x", Speedup).str();
}

/// Cost, Speedup, Caps and Rank of a candidate from its counts.
void predict(const KernelModel &M, const Plan &P, const Choice &R,
             const std::array<int64_t, 3> &Block, const Arch &A, Candidate &C) {
  C.Cost = score(C.Counts, A);
  claim({M, P, Block, A, constantsOf(A), R.OriginalCost, C}, C);
  if (!std::isfinite(C.Cost.Clocks) || !std::isfinite(C.Speedup))
    C.Speedup = 0; // neither form can run in such blocks
  C.FormFactor = formFactor(M, P, A, C.Counts);
  C.Rank = C.Speedup * C.FormFactor;
}

/// Blocks along x below which the ends of rows eat what is gained (both ends of
/// each row are a warp that stages element by element); 0: none do, or there
/// are no rows.
unsigned leastRow(const KernelModel &M, const Plan &P, const Choice &R,
                  const std::array<int64_t, 3> &Block, const Arch &A,
                  const Candidate &C) {
  const bool Rows = llvm::any_of(M.Builtins, [](const BuiltinUse &U) {
    return U.K == Symbol::BlockIdx && U.Axis > 0;
  });
  if (!Rows || Block[1] * Block[2] > 1 || C.Counts.EndOps <= 0)
    return 0;
  KernelCounts AtEnd = C.Counts;
  AtEnd.IntOps += C.Counts.EndOps;
  const double Usual = C.Cost.Clocks, End = score(AtEnd, A).Clocks;
  const double Room = 0.9 * R.OriginalCost.Clocks - Usual;
  if (!(End > Usual) || !(Room > 0))
    return 0;
  // Of warps, that may be such: as far as instructions count, and as was measured,
  // where loads wait for one another.
  const double Share =
      std::min(Room / (End - Usual), 1 / constantsOf(A).EndOfRow);
  const double Warps = double(Block[0]) / P.Map.Factor[0] / 32; // of a block
  const double Least = 2 / (Share * Warps);
  return Least > 1 && Least < 65536 ? unsigned(std::ceil(Least)) : 0;
}

/// Are the grids of all launches known, and too small for \p P?
bool onlySmallGrids(const KernelModel &M, const Plan &P) {
  return !M.Launches.empty() && llvm::all_of(M.Launches, [&](const LaunchSite &L) {
    return P.isTooLargeFor(L);
  });
}

/// What \p P is said to gain, by \p C: of large grids, and of the largest that host code
/// tells, of blocks of \p Block threads, where each launch takes time of its own.
void tell(const KernelModel &M, const Choice &R, const std::array<int64_t, 3> &Block,
          const Arch &A, const Candidate &C, Plan &P) {
  P.PredictedSpeedup = P.SpeedupOfMany = C.Speedup;
  P.PredictedRegisters = C.Counts.Registers;
  P.SpeedupOfGrid = 0;
  if (C.Counts.LaunchWarps > 0) {
    KernelCounts Old = R.Original, New = C.Counts;
    Old.LaunchWarps = New.LaunchWarps = 0;
    P.SpeedupOfMany *= predictSpeedup(Old, New, A) * C.Cost.Clocks / R.OriginalCost.Clocks;
  }
  P.SpeedupOfBlocks = speedupOfBlocks(M, P, R, C, Block, A);
  P.GridBlocks = expectedBlocks(M, A).value_or(0);
  if (P.GridBlocks <= 0 || !(C.Speedup > 0))
    return;
  const double Warps =
      double(P.GridBlocks) * double(Block[0] * Block[1] * Block[2]) / 32;
  // In the unit of Clocks: 32 outputs on one SM.
  const double Launch = constantsOf(A).LaunchNs * A.ClockGHz * A.Sms / Warps;
  const double Old = R.OriginalCost.Clocks;
  P.SpeedupOfGrid = (Old + Launch) / (Old / C.Speedup + Launch);
}

/// `8x1x1; s: reload 24; slot by slot; block 16x8x1`, with a number behind it
/// where \p Others have the same.
std::string identity(const Candidate &C, const std::vector<Candidate> &Others) {
  auto Text = [](const std::array<unsigned, 3> &N) {
    return llvm::formatv("{0}x{1}x{2}", N[0], N[1], N[2]).str();
  };
  const std::string Id = Text(C.Factor) + "; " + C.Arrays + "; " + C.Form +
                         "; block " + Text(C.Block);
  const auto Same = llvm::count_if(Others, [&](const Candidate &O) {
    return llvm::StringRef(O.Id).split(" #").first == Id;
  });
  return Same ? Id + " #" + std::to_string(Same + 1) : Id;
}

} // namespace

double Candidate::loads() const {
  double N = 0;
  for (const MemoryAccesses &L : Counts.Loads)
    N += L.PerOutput;
  return N;
}

/// Marks the candidates that cannot be taken, with the reason.
static void exclude(Choice &C, const ChooseOptions &O) {
  const bool SomeFits = llvm::any_of(C.Candidates, [](const Candidate &K) {
    return !K.TooSmallGrids && K.Failed.empty() && K.Speedup >= MinimumGain;
  });
  for (Candidate &K : C.Candidates) {
    K.Excluded = K.Failed;
    if (!K.Failed.empty())
      continue;
    if (K.TooSmallGrids && SomeFits && !O.Wanted)
      K.Excluded = "no launch has so large a grid";
    else if (K.Speedup <= 0 || !std::isfinite(K.Cost.Clocks))
      K.Excluded = "the block cannot run";
    else if (K.Registers ? K.SpillBytes.value_or(0) > 0 && !K.Milliseconds
                         : K.Counts.Registers > C.MaxRegisters && !O.Force)
      K.Excluded = K.Registers ? Spills : WouldSpill;
  }
}

/// All spill: the one that spills least, by the compiler where it was asked,
/// else by the fewest registers.
static void chooseLeastSpilling(Choice &C) {
  auto Less = [](const Candidate &L, const Candidate &R) {
    return std::make_tuple(!L.SpillBytes, L.SpillBytes.value_or(0),
                           L.Counts.Registers) <
           std::make_tuple(!R.SpillBytes, R.SpillBytes.value_or(0),
                           R.Counts.Registers);
  };
  for (int I = 0; I < static_cast<int>(C.Candidates.size()); ++I) {
    const Candidate &K = C.Candidates[I];
    if ((K.Excluded == WouldSpill || K.Excluded == Spills) &&
        (C.Chosen < 0 || Less(K, C.Candidates[C.Chosen])))
      C.Chosen = I;
  }
  C.Why = C.Chosen < 0 ? "no candidate can run"
          : C.Candidates[C.Chosen].SpillBytes
              ? "all spill; it spills the least"
              : "all are expected to spill; it has the fewest registers";
}

/// Why the best measured candidate was chosen.
static std::string whyMeasured(const Choice &C) {
  const Candidate &Won = C.Candidates[C.Chosen];
  std::string Why =
      llvm::formatv("the shortest measured time, {0:F4} ms", *Won.Milliseconds);
  if (C.OriginalMilliseconds)
    Why +=
        llvm::formatv(" ({0} of the original's {1:F4} ms)",
                      speedupText(*C.OriginalMilliseconds / *Won.Milliseconds),
                      *C.OriginalMilliseconds);
  return Why;
}

/// Why the best ranked candidate was chosen, and not \p Second (-1: none).
static std::string whyRanked(const Choice &C, int Second) {
  const Candidate &Won = C.Candidates[C.Chosen];
  std::string Why = "the highest rank (" +
                    llvm::formatv("{0:F3}", Won.Rank).str() + "): predicted " +
                    speedupText(Won.Speedup) + ", limited by " +
                    resourceName(Won.Cost.Bound);
  if (Won.Registers)
    Why +=
        " with the compiler's " + std::to_string(*Won.Registers) + " registers";
  if (Second < 0)
    return Why + "; the only candidate";
  const Candidate &Next = C.Candidates[Second];
  Why += llvm::formatv("; next is #{0} with {1:F3}, predicted {2}", Second,
                       Next.Rank, speedupText(Next.Speedup))
             .str();
  if (Next.Speedup >= Won.Speedup)
    Why += ", whose form did worse where it was measured";
  return Why;
}

void rcache::choose(Choice &C, const ChooseOptions &O) {
  C.Chosen = -1;
  exclude(C, O);
  if (O.Wanted) {
    if (*O.Wanted < C.Candidates.size()) {
      C.Chosen = static_cast<int>(*O.Wanted);
      C.Why = "it was asked for";
    }
    return;
  }
  const bool Measured = std::any_of(
      C.Candidates.begin(), C.Candidates.end(),
      [](const Candidate &K) { return K.Milliseconds.has_value(); });
  // A measured time beats any prediction; among equals the first stays.
  auto Better = [&](const Candidate &L, const Candidate &R) {
    if (Measured)
      return L.Milliseconds.value_or(INFINITY) <
             R.Milliseconds.value_or(INFINITY);
    // (What is claimed of several may be the same. Of sorts 1.2 and 1.6 times as many clocks
    // were counted for what was faster, 1.7 for what was not.)
    constexpr double Clearly = 1.65;
    return L.Rank > R.Rank ||
           (L.Rank == R.Rank && Clearly * L.Cost.Clocks < R.Cost.Clocks);
  };
  int Second = -1;
  for (int I = 0; I < static_cast<int>(C.Candidates.size()); ++I) {
    const Candidate &K = C.Candidates[I];
    if (!K.Failed.empty() || (!K.Excluded.empty() && !K.Milliseconds))
      continue;
    if (C.Chosen < 0 || Better(K, C.Candidates[C.Chosen])) {
      Second = C.Chosen;
      C.Chosen = I;
    } else if (Second < 0 || Better(K, C.Candidates[Second]))
      Second = I;
  }
  if (C.Chosen < 0)
    return chooseLeastSpilling(C);
  C.Why = Measured ? whyMeasured(C) : whyRanked(C, Second);
}

/// Waves in which the blocks of a grid of that size run.
static double waves(const KernelCounts &K, const Score &S, const Arch &A) {
  if (S.Waves)
    return S.Waves;
  return std::max(1.0, K.GridWarps / A.Sms / std::max(1u, S.Occ.WarpsPerSm));
}

double rcache::originalClocks(const KernelModel &M, const Arch &A,
                              const ChooseOptions &O) {
  if (M.Form.OriginalClocks > 0)
    return M.Form.OriginalClocks;
  const auto Block = typicalBlock(M, Plan(), O.AssumedBlock);
  return score(originalCounts(M, Staging(M, Block), Block, A), A).Clocks;
}

/// Sets what a launch has to have for \p P, of several slots, to be faster.
static void askForThreads(const KernelModel &M, const Arch &A, Plan &P) {
  const bool Loops =
      llvm::any_of(M.Stmts, [](const Stmt &S) { return S.HasBarrier && S.isLoop(); });
  const Constants &Fit = constantsOf(A);
  P.LeastThreads =
      static_cast<unsigned>(Loops ? Fit.BusyWarps : Fit.BusyWarpsOnce) * 32 * A.Sms;
  // Its threads have the work of many (0.72x of 3.3 warps an SM, 1.81x of 3.9).
  if (P.Map.joins())
    P.LeastThreads = P.LeastThreads * 7 / 16;
  if (losesUnaligned(M, P))
    P.Aligned = alignedRuns(M, P);
}

/// Has the grid that host code tells of more borders than a large image?
static bool isSmall(const KernelModel &M, const Plan &P, const std::array<int64_t, 3> &Block,
                    const Arch &A) {
  return borderWarps(M, P, Block, A, Borders::OfGrid) >
         borderWarps(M, P, Block, A, Borders::FarApart);
}

Choice rcache::rankPlans(const KernelModel &M, std::vector<Plan> &Plans,
                         const Arch &A, const ChooseOptions &O) {
  Choice R;
  R.Arch = std::string(A.Name) + " (" + A.Part + ")";
  if (const char *Other = borrowedFrom(A))
    R.BorrowedFrom = Other;
  R.MaxRegisters = constantsOf(A).MaxRegisters;
  std::map<std::array<int64_t, 3>, Staging> Fills; // by block
  for (size_t I = 0; I < Plans.size(); ++I) {
    M.Ctx->checkTime();
    Plan &P = Plans[I];
    const auto Block = typicalBlock(M, P, O.AssumedBlock);
    const Staging &Fill = Fills.try_emplace(Block, M, Block).first->second;
    if (I == 0) {
      R.Original = originalCounts(M, Fill, Block, A);
      R.Original.LaunchWarps = launchWarps(M, Block, A);
      R.OriginalCost = score(R.Original, A);
      // Counted for its threads as they are, several outputs each; what comes
      // from memory and goes there is the same.
      if (M.Form.OriginalClocks > 0)
        R.OriginalCost.Clocks =
            std::max(M.Form.OriginalClocks, R.OriginalCost.of(Resource::Dram));
    }
    Candidate C;
    C.Factor = P.Map.Factor;
    C.Arrays = arraysText(M, P);
    C.Form = formName(P);
    // The user has named the block; a plan that is not for it would never run.
    if (O.AssumedBlock && !P.Map.Block && M.Geo.SeenBlocks.empty() &&
        !M.Form.scaled() && Block[0] % P.Map.BlockMultiple != 0)
      C.Failed = "not for blocks of " + std::to_string(Block[0]) + " threads";
    const auto Launched = P.Map.launchedBlock(Block);
    C.Block = {unsigned(Launched[0]), unsigned(Launched[1]),
               unsigned(Launched[2])};
    M.Ctx->resetBudget(); // a plan's own, however many there are
    const bool Never = neverAligned(M, P);
    const Runs How = Never ? Runs::Singly : Runs::Vectors;
    const auto Counted = [&](Runs Of, Borders Where) {
      KernelCounts K = planCounts(M, P, Fill, Block, A, Of, Where);
      if (!P.Cut)
        K.LaunchWarps = R.Original.LaunchWarps / P.slots();
      return K;
    };
    C.Counts = Counted(How, Borders::FarApart);
    if (!O.Force && !O.Wanted && P.slots() > 1)
      askForThreads(M, A, P);
    predict(M, P, R, Block, A, C);
    Candidate Singly = C;
    if (!Never) {
      Singly.Counts = Counted(Runs::Singly, Borders::FarApart);
      predict(M, P, R, Block, A, Singly);
    }
    C.UnalignedSpeedup = Singly.Speedup;
    C.UnalignedRank = Singly.Rank;
    if (P.LeastThreads && P.Map.Block && !P.Cut && walksThroughPlanes(M, Block))
      P.WaveLife = C.Cost.Clocks / R.OriginalCost.Clocks *
                   waves(R.Original, R.OriginalCost, A) /
                   waves(C.Counts, C.Cost, A);
    if (P.LeastThreads)
      P.LeastRow = leastRow(M, P, R, Block, A, C);
    C.TooSmallGrids = onlySmallGrids(M, P);
    C.Id = identity(C, R.Candidates);
    for (const ArrayPlan &Array : P.Arrays)
      C.Covered &= Array.isShared() || Array.Stage.CoverageProved;
    // (By borders alone plans were chosen that took 1.35 and 1.54 times as long as the
    // others, and some that took 0.8 to 0.95 of it: the rank leaves them out.)
    if (isSmall(M, P, Block, A)) {
      Candidate Small = C;
      Small.Counts = Counted(How, Borders::OfGrid);
      predict(M, P, R, Block, A, Small);
      C.Speedup = std::min(C.Speedup, Small.Speedup);
    }
    tell(M, R, Block, A, C, P);
    R.Candidates.push_back(std::move(C));
  }
  choose(R, O);
  return R;
}

void rcache::chooseAgain(Choice &C, const KernelModel &M,
                         std::vector<Plan> &Plans, const Arch &A,
                         const ChooseOptions &O) {
  for (size_t I = 0; I < Plans.size(); ++I) {
    Candidate &K = C.Candidates[I];
    Plan &P = Plans[I];
    if (K.Registers) {
      // The model is fitted to estimates, which are high: fewer registers than
      // estimated are no merit, more are a fault (measured: with the compiler's
      // figures alone two of 14 programs were chosen worse, none better).
      K.Counts.Registers = std::max(K.Counts.Registers, *K.Registers);
      K.Counts.SpillBytes = K.SpillBytes.value_or(0);
      predict(M, P, C, typicalBlock(M, P, O.AssumedBlock), A, K);
      tell(M, C, typicalBlock(M, P, O.AssumedBlock), A, K, P);
      P.SpeedupFrom = Plan::Compiled;
    }
    if (K.Milliseconds && C.OriginalMilliseconds) {
      P.PredictedSpeedup = *C.OriginalMilliseconds / *K.Milliseconds;
      P.SpeedupOfGrid = 0;
      P.SpeedupFrom = Plan::Measured;
    }
  }
  choose(C, O);
}

std::vector<unsigned> rcache::shortList(const Choice &C, unsigned Most) {
  std::vector<unsigned> List;
  for (unsigned I = 0; I < C.Candidates.size(); ++I)
    if (C.Candidates[I].Failed.empty() &&
        (C.Candidates[I].Excluded.empty() ||
         C.Candidates[I].Excluded == WouldSpill))
      List.push_back(I);
  llvm::stable_sort(List, [&](unsigned L, unsigned R) {
    const Candidate &X = C.Candidates[L], &Y = C.Candidates[R];
    return std::make_pair(!X.Excluded.empty(), -X.Rank) <
           std::make_pair(!Y.Excluded.empty(), -Y.Rank);
  });
  if (List.size() > Most)
    List.resize(Most);
  return List;
}
