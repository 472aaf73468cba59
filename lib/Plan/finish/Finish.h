// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes over a plan whose arrays are placed. In the order in which Assemble.cpp
// runs them, each with its reason.

#ifndef RCACHE_LIB_PLAN_FINISH_FINISH_H
#define RCACHE_LIB_PLAN_FINISH_FINISH_H

#include "../Staging.h"
#include "rcache/Plan.h"
#include <set>

namespace rcache {

class BlockFacts;

/// The width of a window's vector loads: a run, at most 16 bytes; and how far
/// from an aligned element it begins. (Before the others: windows are chosen
/// with it.)
void chooseVectorLoads(const KernelModel &M, const StagingFunction &F,
                       const Mapping &Map, Window &W);

/// Why the loops whose iterators index registers cannot be unrolled.
std::optional<Decline> cannotUnroll(const KernelModel &M,
                                    const std::set<unsigned> &Loops);

/// Short loops over arrays that stay shared are unrolled: what the slots read
/// in common is read once, neighbours along the loop as one vector. Adds to
/// \p Loops.
void unrollKeptLoops(const KernelModel &M, unsigned Slots,
                     std::set<unsigned> &Loops);

/// Stores `out[g] = v` that each slot does at most once a run and nothing of
/// the slot follows that could see them. Those that are no vectors are
/// collected where a condition stands before them: without branches between
/// the slots the compiler shares what they compute alike (a median of 3 x 3
/// bytes took 0.55 times as long on an H200).
void findVectorStores(const KernelModel &M, bool AssumeNoAlias, Plan &P);

/// Statements that pairs of threads run alike, so that elements of owned arrays
/// which a thread changes for its partner need not go back. Sets P.Paired. (Behind
/// the placements, of all arrays.)
void findPairs(const KernelModel &M, const Assumptions &A, Plan &P);

/// Reads of global memory that owned arrays are filled by, in chunks: as vectors
/// where all slots of a lane read. \p First: what holds for the threads of first
/// slots. Sets P.VectorReads.
void findVectorReads(const KernelModel &M, const Assumptions &A,
                     const isl::set &First, Plan &P);

/// Borders that repeat or mirror elements ask a launch for lines that are long enough:
/// `x < 0` and `x >= n` exclude each other, `min(max(x, 0), n - 1)` in either order, and
/// nothing is mirrored twice. Sets StagingFunction::OneForm.
void askForElements(BlockFacts &F, const Assumptions &Known, Plan &P);

/// What is no vector is not worth collecting where nothing is computed with it.
void dropSingleStores(const KernelModel &M, Plan &P);

/// What each launch checks for the text that is planned to be the kernel's, whatever
/// the plan: KernelModel::Form.
void addTextConditions(const KernelModel &M, Plan &P);

/// What each launch checks: the block, the grid, the ranges of indices. (Behind
/// all that may need one; pointers that must not meet follow, Separate.h.)
void addPreconditions(const KernelModel &M, Plan &P);

/// Sets P.Ahead where the loop of joined blocks' tiles does nothing but copy them
/// and compute with them.
void findTilesAhead(const KernelModel &M, Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_FINISH_FINISH_H
