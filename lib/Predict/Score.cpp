// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clocks that 32 outputs cost on one SM.
//
// Each resource is a server with a rate; a kernel without barriers keeps all of
// them busy at once, so its time is a little more than that of the slowest one:
// a p-norm of the separate times; in a launch of a wave or two less is busy at once
// (canny_nms and others of bench/styles: within a tenth). A barrier makes the warps of a block
// wait for the memory together: what hides latency then is only the other
// blocks, and latency adds to the work nearly in full: a smaller p.
//
// Latency is Little's law: an SM finishes (resident outputs) in one life of a
// thread, the life being the rounds of global loads, in which one load leaves
// after the other, and the barriers. Several outputs a thread are what makes
// this small. An SM also takes its time to begin a block: small blocks that do
// little are bound by that. Where host code tells how large the grid of long-lived blocks is,
// whole waves of them are counted: a launch takes as many lives as it has
// waves.
//
// The constants, with where they come from, are those of Constants.def.

#include "Constants.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace rcache {

namespace {

/// Bytes that one warp-wide access touches, in units of \p Unit bytes: lanes at
/// \p A.LaneStride, each \p A.Bytes wide.
double touchedBytes(const MemoryAccesses &A, double Unit) {
  const double Stride = std::abs(A.LaneStride), Bytes = A.Bytes;
  const double Dense = std::max(Bytes, 31 * Stride + Bytes);
  if (Stride <= Unit)
    return std::ceil(Dense / Unit) * Unit;
  return 32 * std::ceil(Bytes / Unit) * Unit; // every lane has units of its own
}

/// Bytes that a lane loads or stores with one instruction at most.
constexpr unsigned MostVector = 16;

/// L1 reads at most one line of 128 bytes a wavefront, and needs one wavefront
/// for 4 bytes a lane at least.
double wavefronts(const MemoryAccesses &A, const Constants &Fit) {
  if (A.Clocks > 0)
    return A.Clocks;
  const double Lines = touchedBytes(A, Fit.L1BytesPerClock) / Fit.L1BytesPerClock;
  return std::max(Lines, std::ceil(32.0 * A.Bytes / Fit.L1BytesPerClock));
}

double pNorm(std::initializer_list<double> Values, double P) {
  const double Max = std::max(Values);
  if (Max == 0)
    return 0;
  double Sum = 0;
  for (double V : Values)
    Sum += std::pow(V / Max, P);
  return Max * std::pow(Sum, 1 / P);
}

class Scorer {
public:
  Scorer(const KernelCounts &K, const Arch &A)
      : K(K), A(A), Fit(constantsOf(A)) {
    S.Occ = occupancy(A, K.Registers, K.ThreadsPerBlock, K.SharedBytes);
    Resident = S.Occ.WarpsPerSm;
    if (K.GridWarps > 0 && grid() < Resident)
      S.Occ.WarpsPerSm = static_cast<unsigned>(std::max(1.0, grid()));
    if (K.LaunchWarps > 0)
      S.Occ.WarpsPerSm = std::min(
          S.Occ.WarpsPerSm, static_cast<unsigned>(std::ceil(launchedBlocks()) * blockWarps()));
  }

  Score run() {
    if (S.Occ.BlocksPerSm == 0) {
      S.Clocks = std::numeric_limits<double>::infinity();
      return S;
    }
    dram();
    caches();
    exchange();
    instructions();
    set(Resource::Blocks) =
        Fit.BlockNs * A.ClockGHz * 32 /
        (std::max(1u, K.ThreadsPerBlock) * std::max(1u, K.OutputsPerThread));
    for (Resource R : {Resource::L1, Resource::Exchange, Resource::Issue,
                       Resource::Arith})
      set(R) *= K.BeyondGrid / lanesUsed();
    const double Work = pNorm({S.of(Resource::Dram), S.of(Resource::L2),
                               S.of(Resource::L1), S.of(Resource::Exchange),
                               S.of(Resource::Issue), S.of(Resource::Arith),
                               S.of(Resource::Blocks)},
                              inWaves(overlap()));
    latency();
    S.Clocks = pNorm({Work, S.of(Resource::Latency)}, inWaves(overlapOfLatency()));
    // Warps that wait in a bank are few (`if (t < step)`), and what they wait for is on the way
    // of all that wait for them.
    S.Clocks += Fit.ConflictWait * K.Conflicts / Fit.ExchangePerClock;
    // What threads hand over at their ends, one warp of the device after the other.
    const double Meeting = K.MeetingAtomics * Fit.AtomicClocks * A.Sms;
    set(Resource::L2) += Meeting;
    S.Clocks += Meeting;
    if (K.RowByRow)
      S.Clocks = pNorm({S.Clocks, rowByRow()}, Fit.OverlapOfRows);
    const auto *Max = std::max_element(S.Each.begin(), S.Each.end());
    S.Bound = static_cast<Resource>(Max - S.Each.begin());
    return S;
  }

private:
  /// Warps an SM that the launch has.
  double grid() const { return K.GridWarps / A.Sms; }

  double blockWarps() const { return std::ceil(std::max(1u, K.ThreadsPerBlock) / 32.0); }
  /// Blocks of an SM that the launch has.
  double launchedBlocks() const { return K.LaunchWarps / blockWarps() / A.Sms; }

  /// Part of the lanes of a block's warps that have a thread: a block of 16 threads
  /// takes a warp's issue slots for half of its lanes.
  double lanesUsed() const {
    const double Threads = std::max(1u, K.ThreadsPerBlock);
    return Threads / (32 * std::ceil(Threads / 32));
  }

  /// Warps in different places are what keeps several resources busy: with more
  /// than four a scheduler they overlap freely, with one least; many sums a thread
  /// overlap as well. *Fitted.*
  double overlap() const {
    if (K.Joined)
      return Fit.OverlapFree;
    if (K.Alone)
      return Fit.OverlapAlone;
    const double PerScheduler = S.Occ.WarpsPerSm / Fit.Schedulers;
    const double Part = std::clamp((PerScheduler - 1) / 3.25, 0.0, 1.0);
    return Fit.OverlapLeast + Part * (Fit.OverlapFree - Fit.OverlapLeast);
  }

  /// \p P of a launch: warps that begin at once load at once, compute at once and store at
  /// once. Later waves, which begin where others end, are what overlaps.
  double inWaves(double P) const {
    if (K.LaunchWarps <= 0 || K.OnlyIdle)
      return P;
    // (Room for fewer warps of the original's work overlaps nothing more.)
    const double AtOnce = K.OutputsPerThread > 1 ? std::max(1.0, double(S.Occ.WarpsPerSm))
                                                 : A.MaxThreadsPerSm / 32.0;
    const double Waves = std::max(1.0, K.LaunchWarps / A.Sms / AtOnce);
    return 1 + (P - 1) * (1 - Fit.FirstWave / Waves);
  }

  /// Steps of other blocks hide those of one; loads before a barrier, which all
  /// blocks wait for alike, are hidden least.
  double overlapOfLatency() const {
    if (K.Alone)
      return Fit.OverlapAlone;
    const double Loading = K.Barriers > 0 ? 1 - K.Steps / K.Barriers : 0;
    return Fit.OverlapFree + Loading * (Fit.OverlapWithBarriers - Fit.OverlapFree);
  }

  double &set(Resource R) { return S.Each[static_cast<unsigned>(R)]; }

  void dram() {
    const double BytesPerClock =
        A.DramGBs * Fit.CopyEfficiency / (A.ClockGHz * A.Sms);
    set(Resource::Dram) = 32 * K.DramBytes / BytesPerClock;
  }

  /// Spilled registers go through L1 as coalesced 4-byte accesses.
  double spillAccesses() const {
    return 2.0 * (K.SpillBytes / 4.0) / K.OutputsPerThread;
  }

  /// Load instructions an output.
  double loads() const {
    double N = 0;
    for (const MemoryAccesses &M : K.Loads)
      N += M.PerOutput;
    return N;
  }

  void caches() {
    double L1 = spillAccesses(), Written = 0, Read = 0;
    for (const MemoryAccesses &M : K.Loads) {
      L1 += M.PerOutput * wavefronts(M, Fit);
      // Lines that several instructions share are fetched once, and no version
      // needs less from L2 than from memory: what is read beyond the kernel's
      // own input hits in L1.
      Read = std::max(Read, M.PerOutput * 32.0 * M.Bytes);
    }
    for (const MemoryAccesses &M : K.Stores) {
      L1 += M.PerOutput * wavefronts(M, Fit);
      // L1 writes through: each partly written sector goes to L2 by itself.
      const double Lines = touchedBytes(M, Fit.L1BytesPerClock) / Fit.L1BytesPerClock;
      const double Line = K.Alone && M.Bytes == MostVector ? Fit.VectorLineClocks : Fit.StoreLineClocks;
      Written += M.PerOutput *
                 std::max(touchedBytes(M, Fit.SectorBytes) / Fit.L2WriteBytesPerClock,
                          Lines * Line);
    }
    set(Resource::L1) = L1;
    set(Resource::L2) =
        std::min(Read, 32 * std::max(K.DramBytes, 1.0)) / Fit.L2ReadBytesPerClock +
        Written;
  }

  void exchange() {
    set(Resource::Exchange) =
        (K.SharedLoads + K.SharedStores + K.Shuffles) / Fit.ExchangePerClock;
  }

  /// Part of a scheduler's issue slots that \p Warps of an SM fill. A warp has the next
  /// instruction at hand when those that it needs are done; so few warps fill few.
  double slotsFilled(double Warps) const {
    const auto Of = [&](double W) {
      W /= Fit.Schedulers;
      return Fit.IssueEfficiency * W / (W + Fit.IssueWarps);
    };
    // (Products were timed with two warps a scheduler and more.)
    return K.Joined ? Fit.IssueJoined * std::min(1.0, Of(Warps) / Of(2 * Fit.Schedulers)) : Of(Warps);
  }

  /// ... in the whole of a launch, whose last blocks are alone on their SMs.
  double slotsFilled() const {
    const double Filled = slotsFilled(S.Occ.WarpsPerSm);
    if (K.LaunchWarps <= 0)
      return Filled;
    const double Warps = blockWarps(), Blocks = launchedBlocks(), Most = std::ceil(Blocks),
                 Resident = std::max(1.0, S.Occ.WarpsPerSm / Warps);
    const double Waves = std::floor(Most / Resident), Rest = Most - Waves * Resident;
    double Time = Waves * Resident / Filled;
    if (Rest > 0)
      Time += Rest / slotsFilled(Rest * Warps);
    return Blocks / Time;
  }

  void instructions() {
    double Memory = spillAccesses() + loads();
    for (const MemoryAccesses &M : K.Stores)
      Memory += M.PerOutput;
    const double Alu = K.IntOps + K.Selects;
    const double All = Memory + K.SharedLoads + K.SharedStores + K.Shuffles +
                       Alu + K.FpOps + K.DoubleOps + K.SpecialOps + K.OtherOps +
                       K.Barriers / K.OutputsPerThread;
    const double Fetched =
        1 + Fit.FetchedAnew * std::clamp(K.CodeBytes / Fit.NearCodeBytes - 1, 0.0, 1.0);
    set(Resource::Issue) = Fetched * All / (Fit.Schedulers * slotsFilled());
    set(Resource::Arith) = std::max(
        {32 * K.FpOps / A.Fp32Lanes, 32 * Alu / A.IntLanes,
         32 * K.DoubleOps / A.Fp64Lanes, 32 * K.SpecialOps / A.SpecialLanes});
  }

  /// What is not overlapped of the time in memory when rows are loaded one
  /// after the other: arithmetic in between hides it. *Fitted.*
  double rowByRow() const {
    const double Dram = S.of(Resource::Dram);
    const double Bare = 0.7 * Dram / std::max(1e-9, S.of(Resource::Issue));
    return Fit.RowByRowDram * Dram * std::min(1.0, Bare * Bare);
  }

  /// Clocks from one barrier of a block to the next where nothing is loaded.
  double step() const {
    return Fit.StepClocks + Fit.StepWarpClocks * std::ceil(K.ThreadsPerBlock / 32.0);
  }

  void latency() {
    const double Life = Fit.LoadRoundNs * A.ClockGHz * std::max(K.LoadRounds, 0.0) +
                        Fit.LoadClocks * loads() * K.OutputsPerThread +
                        Fit.StagingRoundNs * A.ClockGHz * K.StagingRounds +
                        Fit.BarrierClocks * (K.Barriers - K.Steps) +
                        step() * K.Steps + Fit.WarpStepClocks * K.WarpSteps + Fit.PlaceClocks * K.PlacedSteps;
    double InFlight = S.Occ.WarpsPerSm;
    // Blocks that live as long as the launch run in waves: the last one takes
    // as long as the others, however few blocks are left for it.
    if (K.GridWarps > 0 && K.GridKnown) {
      const double Waves =
          std::max(1.0, std::ceil(grid() / Resident - Fit.WaveSlack));
      S.Waves = static_cast<unsigned>(std::min(Waves, 1e6));
      InFlight = grid() / Waves;
    }
    set(Resource::Latency) =
        Life / (InFlight * lanesUsed() * std::max(1u, K.OutputsPerThread));
  }

  const KernelCounts &K;
  const Arch &A;
  const Constants &Fit;
  double Resident = 0; ///< warps an SM, were the grid large enough
  Score S;
};

} // namespace

const char *resourceName(Resource R) {
  static const char *const Names[NumResources] = {
      "dram", "l2", "l1", "exchange", "issue", "arithmetic", "blocks", "latency"};
  return Names[static_cast<unsigned>(R)];
}

void Score::print(llvm::raw_ostream &OS) const {
  OS << llvm::format("%.1f", Clocks) << " clocks (";
  for (unsigned I = 0; I < NumResources; ++I)
    OS << (I ? ", " : "") << resourceName(static_cast<Resource>(I))
       << llvm::format(" %.1f", Each[I]);
  OS << "; bound by " << resourceName(Bound) << "; " << Occ.WarpsPerSm
     << " warps";
  if (Waves)
    OS << ", " << Waves << (Waves == 1 ? " wave" : " waves");
  OS << ")";
}

Score score(const KernelCounts &K, const Arch &A) { return Scorer(K, A).run(); }

double predictSpeedup(const KernelCounts &Old, const KernelCounts &New,
                      const Arch &A) {
  const Score O = score(Old, A), N = score(New, A);
  if (!std::isfinite(N.Clocks) || N.Clocks <= 0)
    return 0;
  return O.Clocks / N.Clocks;
}

} // namespace rcache
