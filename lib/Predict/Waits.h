// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread of a kernel waits for, one thing after the other: rounds of loads
// and barriers. A barrier behind loads waits for the memory; one behind a step of
// a tree or a scan waits for the other warps only.

#ifndef RCACHE_LIB_PREDICT_WAITS_H
#define RCACHE_LIB_PREDICT_WAITS_H

#include "Plan/Counters.h"
#include <array>
#include <optional>
#include <vector>

namespace rcache {

struct Constants;
class Staging;
struct KernelCounts;
struct Plan;

class Waits {
public:
  /// The model has to live as long.
  Waits(const KernelModel &M, const std::array<int64_t, 3> &Block);

  /// Does a thread come to barriers that nothing is loaded in front of?
  bool hasSteps() const { return HasSteps; }

  /// How often a thread comes to \p Stmt: what its loops with barriers count is
  /// run with numbers in kernels with steps, else roundsOf.
  double rounds(unsigned Stmt) const;

  /// What the symbols are each time that a block comes to \p Stmt, in kernels with
  /// steps. Where they are too many, or not all known, some that lie evenly in the rounds of
  /// the innermost loop with barriers, or one visit with no values.
  std::vector<Counters::Values> visits(unsigned Stmt) const;

  /// Are the loops around \p Stmt run with numbers, so that compilers can unroll them?
  bool areKnown(unsigned Stmt) const;

  /// What is taken for granted in counting; kernels with steps alone have it.
  const Assumptions *assumptions() const { return Of ? &*Of : nullptr; }

  /// Rounds of global loads that wait for one another: of the loops that hold a
  /// barrier, those that read memory count.
  double loadRounds() const { return LoadRounds; }

  /// How often a thread comes to barrier \p Stmt without a load since the barrier
  /// before.
  double steps(unsigned Stmt) const { return Steps[Stmt]; }

  Waits(const Waits &) = delete;
  Waits &operator=(const Waits &) = delete;

private:
  /// The innermost loop around \p Stmt whose body reads memory; -1: none.
  int readingLoop(unsigned Stmt) const;
  /// The part of \p Loop's rounds in which a load waits for memory: threads that all read one
  /// element, the next one in each round, find most in a line that is there.
  double partFetched(const Stmt &Loop) const;
  /// The outermost statement around \p Stmt that holds no barrier: a part of an
  /// interval between barriers.
  unsigned partOf(unsigned Stmt) const;
  std::vector<Counters::Values> samples(unsigned Stmt) const;

  const KernelModel &M;
  std::vector<bool> Reads; ///< a statement: does it, or one within, read memory?
  std::vector<double> Steps;
  double LoadRounds = 1;
  bool HasSteps = false;
  std::optional<Assumptions> Of; ///< kernels with steps; Counts refers to it
  std::optional<Counters> Counts;
};

/// Rounds of loads that slots of \p P add because they load one after the other.
double loadsInTurn(const KernelModel &M, const Plan &P, const Staging &Fill,
                   const Constants &Fit);

/// Does a thread work out anew which elements it uses beside the barrier \p Stmt: is their
/// distance from lane to lane another one in each round?
bool placesAnew(const KernelModel &M, unsigned Stmt);

/// The part of a block's warps that come to \p S, those left out that wait for the first
/// one behind a loop (Plan::OfFirstWarp).
double partOfWarps(const KernelModel &M, const Plan &P, const Stmt &S);

/// Adds the barriers of \p P's blocks to \p K, and narrower ones as other
/// instructions. \p Planes: the kernel walks through planes.
void addBarriers(const KernelModel &M, const Plan &P, const Waits &Of, bool Planes,
                 const Constants &Fit, KernelCounts &K);

/// The barriers of \p P in place of the original's, and without the rounds that warps are
/// spared: its text is the original's.
void changeBarriers(const KernelModel &M, const Plan &P, const Staging &Fill,
                    const std::array<int64_t, 3> &Block, const Constants &Fit,
                    KernelCounts &K);

} // namespace rcache

#endif
