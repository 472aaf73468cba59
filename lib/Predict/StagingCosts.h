// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it costs to fill shared memory, and how often the warps of a block
// execute a statement that does: loops that are shared out among the threads
// and guards that let few lanes through cost a warp whole rounds, whatever part
// of its lanes takes part.

#ifndef RCACHE_LIB_PREDICT_STAGINGCOSTS_H
#define RCACHE_LIB_PREDICT_STAGINGCOSTS_H

#include "rcache/Plan.h"
#include "rcache/Prediction.h"
#include <array>
#include "BankConflicts.h"
#include "Waits.h"
#include <map>
#include <set>
#include <vector>

namespace rcache {

/// First and last thread along each axis.
using ThreadBox = std::array<std::pair<int64_t, int64_t>, 3>;

/// Executions of a statement between two barriers; loops that every thread
/// walks through by itself (rcache::roundsOf) are not in it.
struct StagingTrips {
  double Warp = 1;   ///< by a warp, mean over the block's warps
  double Thread = 1; ///< by a thread, mean over the block's threads
  /// Rounds of the loops around it that the busiest warp does one after the
  /// other: the block's barrier waits for them.
  double Serial = 1;
};

/// \p StmtId executed by a block of \p Block threads, somewhere in the interior
/// of the grid: what the guards say of anything but the thread and \p Counts, which
/// are known numbers, holds. A loop whose end is no constant counts once.
StagingTrips stagingTrips(const KernelModel &M, unsigned StmtId,
                          const std::array<int64_t, 3> &Block,
                          const Counters::Values &Counts = {});

/// The part of the kernel in front of the barriers that fills shared memory.
/// Counts are a thread's. The model has to live as long.
class Staging {
public:
  Staging(const KernelModel &M, const std::array<int64_t, 3> &Block);

  /// Does \p S do nothing but fill shared arrays?
  bool holds(const Stmt &S) const { return Part[S.Id]; }

  /// Further rounds of loads that a barrier waits for, each behind the one
  /// before: those of the loops that are shared out among threads. All
  /// barriers of a thread together.
  double furtherRounds() const;

  /// Adds the instructions beside loads and stores: where elements come from
  /// and go to.
  void count(KernelCounts &K) const;

  /// Integer operations that an element takes.
  double operations() const;

  /// Executions of \p StmtId by a thread: rounds of the loops that it walks through
  /// by itself, and its share of those that are shared out among threads. In
  /// kernels with steps warps that take no part (`if (t < step)`) execute nothing.
  double executions(unsigned StmtId) const;
  /// The same where \p Map says which threads a warp executes at once: slots are executed one
  /// after the other, and a slot by all lanes if by any. `if (t < step)` keeps whole slots idle
  /// where these are 32 threads apart, and none where they are neighbours.
  double executions(unsigned StmtId, const Mapping &Map) const;

  /// Wavefronts of \p S by a thread's warp, all of its executions, where the elements of
  /// all its lanes are numbers each time that the block comes there; nullopt: they are not.
  std::optional<double> wavefronts(const SharedAccess &S) const;
  /// Those of them behind the first of each access, where steps have strides of their own: what
  /// lanes wait for each other in a bank.
  double conflicts(const SharedAccess &S) const;

  /// What the kernel's threads wait for.
  const Waits &waits() const { return Of; }

  /// Adds a write of an array: a load and a store, by as many lanes as take
  /// part.
  void write(const SharedAccess &A, KernelCounts &K) const;

private:
  StagingTrips trips(unsigned StmtId) const;
  /// The part of a block's warps that executes \p StmtId, all visits together.
  double share(unsigned StmtId) const;

  const KernelModel &M;
  std::array<int64_t, 3> Block;
  std::vector<bool> Part; ///< by statement
  std::set<unsigned> Reading; ///< statements that read shared arrays
  Waits Of;
  mutable std::map<unsigned, StagingTrips> Known;
  mutable std::map<unsigned, double> Shares;
  /// The threads that come to a statement, by visit; empty: isl cannot tell.
  mutable std::map<unsigned, std::vector<std::vector<ThreadBox>>> Visitors;
  mutable std::map<uint64_t, std::optional<Accesses>> Counted; ///< by where it begins

  /// \p S each time that the block comes there; nullopt: its elements are no numbers.
  std::optional<Accesses> counted(const SharedAccess &S) const;
};

/// Do blocks of \p Block threads, next to each other along \p Axis, store where others would
/// with as many outputs as threads: are some of their threads for the halo alone?
bool blocksOverlap(const KernelModel &M, const std::array<int64_t, 3> &Block, unsigned Axis);

/// How often a thread waits for loads where it fills tiles of joined blocks once.
double roundsOfTiles(const KernelModel &M, const Plan &P);

/// Does \p P leave the arrays where they are, staged in an `if`, behind a condition that
/// compilers branch on, or in a loop?
bool stagesUnderConditions(const KernelModel &M, const Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_STAGINGCOSTS_H
