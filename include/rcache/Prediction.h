// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prediction: what a kernel costs on an architecture, from counts alone.
//
//     KernelCounts + Arch --occupancy--> resident warps
//                         --score-->     clocks for each resource --> time
//
// The unit of time is the clock of one SM for 32 outputs (one warp-wide result;
// an output is a logical thread of the original launch): an SM that issues one
// warp-wide shuffle a clock needs 10 clocks for 10 shuffles an output. The
// scores are for comparing versions of one kernel with each other on one
// architecture; absolute times are within some ten percent at best.

#ifndef RCACHE_PREDICTION_H
#define RCACHE_PREDICTION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace rcache {

//===-- What is counted ---------------------------------------------------===//

/// Loads or stores of global memory of one kind.
struct MemoryAccesses {
  double PerOutput = 0; ///< instructions an output: 2 vector loads of a
                        ///< thread with 8 outputs are 0.25
  unsigned Bytes = 4;   ///< a lane and instruction: 1 to 16
  /// Bytes from a lane's address to the next lane's; 0: all lanes one address.
  /// Scattered addresses: 32 or more.
  double LaneStride = 4;
  double Clocks = 0; ///< of L1 for each, where addresses do not tell; 0: they do
};

/// What one version of a kernel executes; per output unless said otherwise.
struct KernelCounts {
  /// Bytes between the device's memory and its L2 cache that no version can
  /// avoid: each input once, each output once.
  double DramBytes = 0;
  std::vector<MemoryAccesses> Loads, Stores;
  /// Warp-wide wavefronts of shared memory: an access without bank conflicts
  /// is 1 for up to 4 bytes a lane, 2 for 8, 4 for 16; with conflicts more.
  double SharedLoads = 0, SharedStores = 0;
  /// Of these, what is waited for in steps whose lanes ask one bank for different words.
  double Conflicts = 0;
  double Shuffles = 0; ///< of 32 bits
  /// Atomics of whole warps to an address that all of the device's warps share: one
  /// unit of the L2 cache has them one after the other.
  double MeetingAtomics = 0;
  double Selects = 0;
  double FpOps = 0;      ///< FP32 additions, multiplications, FMAs
  double DoubleOps = 0;  ///< FP64
  double IntOps = 0;     ///< index arithmetic, comparisons, logic, conversions
  double SpecialOps = 0; ///< reciprocals, roots, exponentials, sines
  /// IntOps besides, in a warp that stands at the end of a row: lanes whose window
  /// leaves it stage element by element.
  double EndOps = 0;
  double OtherOps = 0;   ///< issued, but in no limited unit: branches, moves

  double Barriers = 0; ///< a thread (not an output)
  /// Those of them that nothing is loaded in front of: steps of a tree or a scan.
  double Steps = 0;
  double WarpSteps = 0; ///< steps of the block's first warp alone; not in Steps
  double PlacedSteps = 0; ///< of Steps, those whose elements each thread works out anew
  /// Rounds of global loads of a thread that wait for one another: 1 when all
  /// loads are independent, the trip count of a tile loop with barriers.
  double LoadRounds = 1;
  /// Further rounds of a thread that fill shared memory, each behind the one
  /// before: a loop that is shared out among the block's threads. What they load
  /// is the halo, which other blocks load too.
  double StagingRounds = 0;
  /// Rows are loaded one after the other, each used before the next.
  bool RowByRow = false;
  /// Warps of the whole launch; 0: enough. A kernel that walks through planes
  /// or tiles and stores in each round has a grid of one plane.
  double GridWarps = 0;
  /// Host code tells GridWarps: whether its blocks run at once or in waves is
  /// to be counted.
  bool GridKnown = false;
  /// Warps of the largest launch that host code tells or suggests; 0: of many.
  double LaunchWarps = 0;
  /// LaunchWarps tells how much of the device is idle, and no more: its loads, arithmetic and
  /// stores overlap as in launches of many warps.
  bool OnlyIdle = false;
  /// A thread of joined blocks: its sums, dozens, do not wait for one another.
  bool Joined = false;
  /// Blocks that joined ones stand for, to those of the launch: the last ones of a row end
  /// behind the grid.
  double BeyondGrid = 1;
  /// A warp owns the block's arrays and waits for no other: loads, steps and stores of
  /// different warps overlap freely.
  bool Alone = false;
  /// Bytes of instructions that a thread runs through, loops that are unrolled
  /// written out.
  double CodeBytes = 0;
  unsigned OutputsPerThread = 1;
  unsigned ThreadsPerBlock = 256;
  unsigned Registers = 32;  ///< a thread
  unsigned SpillBytes = 0;  ///< a thread, stored and loaded once each
  unsigned SharedBytes = 0; ///< a block, static and dynamic
};

//===-- Architectures -----------------------------------------------------===//

/// One row of lib/Predict/Arch.def: a typical part with this compute
/// capability. Rates are lanes a clock and SM.
struct Arch {
  const char *Name; ///< "sm_90"
  const char *Part; ///< "H200"
  unsigned Major, Minor;
  unsigned Sms;
  double ClockGHz; ///< boost
  double DramGBs;  ///< peak
  unsigned Fp32Lanes, IntLanes, Fp64Lanes, SpecialLanes;
  unsigned MaxThreadsPerSm, MaxBlocksPerSm;
  unsigned SharedKBPerSm; ///< for the blocks of an SM together
};

/// The row for \p Name ("sm_90", "sm_90a", "compute_90", "90"); for a
/// capability without a row that of the nearest lower one of the same or an
/// earlier generation. Null: no number in \p Name, or older than all rows.
const Arch *findArch(llvm::StringRef Name);

/// All rows, oldest first.
llvm::ArrayRef<Arch> allArchs();

/// The same, and further parts.
llvm::ArrayRef<Arch> allParts();

/// The part that \p Name means, as a driver or a person says it ("NVIDIA H100 80GB
/// HBM3", "rtx4090"); null: none that is known.
const Arch *findPart(llvm::StringRef Name);

//===-- Occupancy ---------------------------------------------------------===//

struct Occupancy {
  unsigned BlocksPerSm = 0; ///< 0: the block cannot run
  unsigned WarpsPerSm = 0;
  const char *Limit = ""; ///< "registers", "shared memory", "blocks", "threads"
};

/// By cuda_occupancy.h of the toolkit that the tool was built with, where there
/// was one; else (and for an architecture that it does not know) by
/// occupancyByLimits.
Occupancy occupancy(const Arch &A, unsigned Registers, unsigned ThreadsPerBlock,
                    unsigned SharedBytes);

/// The same from the published limits alone.
Occupancy occupancyByLimits(const Arch &A, unsigned Registers,
                            unsigned ThreadsPerBlock, unsigned SharedBytes);

/// Was cuda_occupancy.h there when the tool was built?
bool hasToolkitOccupancy();

//===-- Scores ------------------------------------------------------------===//

/// The resources of which one limits a kernel.
enum class Resource {
  Dram,     ///< device memory
  L2,       ///< sectors between L1 and L2
  L1,       ///< wavefronts of loads and stores
  Exchange, ///< wavefronts of shared memory and shuffles
  Issue,    ///< instruction slots of the schedulers
  Arith,    ///< the busiest arithmetic unit
  Blocks,   ///< launching one block after the other
  Latency   ///< too little work in flight to hide the memory's latency
};
constexpr unsigned NumResources = 8;
const char *resourceName(Resource R);

struct Score {
  /// Clocks of an SM for 32 outputs; infinite when the block cannot run.
  double Clocks = 0;
  std::array<double, NumResources> Each{}; ///< had it been alone, by Resource
  Resource Bound = Resource::Dram;         ///< the largest of Each
  /// How many may be resident at once; no more warps than the grid has.
  Occupancy Occ;
  /// Times that an SM is filled with blocks, where GridKnown; else 0.
  unsigned Waves = 0;
  double of(Resource R) const { return Each[static_cast<unsigned>(R)]; }
  /// Time of one output on the whole device, in picoseconds.
  double picoseconds(const Arch &A) const {
    return Clocks / (32.0 * A.Sms * A.ClockGHz) * 1000.0;
  }
  /// `19.2 clocks (dram 15.5, issue 12.8, ...; bound by dram; 48 warps)`.
  void print(llvm::raw_ostream &OS) const;
};

/// Predicted cost of \p K on \p A.
Score score(const KernelCounts &K, const Arch &A);

/// How many times faster \p New is than \p Old; 0 when New cannot run.
double predictSpeedup(const KernelCounts &Old, const KernelCounts &New,
                      const Arch &A);

} // namespace rcache

#endif // RCACHE_PREDICTION_H
