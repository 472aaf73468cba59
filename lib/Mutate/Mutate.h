// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans damaged on purpose, for testing what looks for errors: the plan
// verifier and rcache-check. `rcache-rewrite --mutate=KIND` applies one between
// planning and emission.

#ifndef RCACHE_LIB_MUTATE_MUTATE_H
#define RCACHE_LIB_MUTATE_MUTATE_H

#include "rcache/Plan.h"
#include <optional>
#include <string>

namespace rcache {

enum class Mutation {
  WrongRegister,  ///< one read of a window takes the next register; owned: that
                  ///< of its own slot, or one of two owners does not run
  LaneOffByOne,   ///< shuffled: every lane holds its neighbour's window; owned:
                  ///< one read fetches from the thread beside; joined blocks: lanes
                  ///< stand for the same threads
  MissingPhase,   ///< shuffled: the last phase's registers repeat the phase
                  ///< before
  MissingGuard,   ///< the condition of a piece of the staging function is lost
  DroppedBarrier, ///< barriers that order global memory are left out
  NarrowedBarrier, ///< one barrier of the block waits for a warp only
  WrongSource,    ///< every element comes from the one beside it
  MissingTail, ///< of a staging function of several pieces, one that loads is
               ///< lost
  WrongRow,    ///< 2-D, 3-D: one read of a window takes the next row or plane;
               ///< joined blocks: one copy for blocks that stage other elements
  MissingPrecondition, ///< one condition of the launch is lost, if a launch of
                       ///< some thousand threads can show it
  WrongBlock,          ///< merged logical blocks: one too few, too many, or all
                       ///< numbered from 1
  MissingStoreGuard,   ///< a condition around the stores is taken as met
  MissingRefill,       ///< cut loop: a variable begins with what it held before
  WrongShare,          ///< cut loop: all blocks but the first begin a round late
  EarlyRounds          ///< the first warp has a round for itself in which others act
};

/// "wrong-register", "lane-off-by-one", ...; nullopt for another text.
std::optional<Mutation> parseMutation(const std::string &Text);

/// Applies \p K to the array plans of \p P it fits, the \p Seed-th where one is
/// enough. False, and \p P as it was, when it fits none. To be called inside
/// rcache::guarded.
bool mutatePlan(const KernelModel &M, Plan &P, Mutation K, unsigned Seed);

/// The same for the kinds that no plan shows, WrongBlock, MissingStoreGuard and
/// WrongShare: on the emitted text of a kernel and of the statements that launch it.
bool mutateText(std::string &Kernel, std::string &Launch, Mutation K,
                unsigned Seed);

} // namespace rcache

#endif // RCACHE_LIB_MUTATE_MUTATE_H
