// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over planes are cut: where all that a round takes over from those before
// is a queue of loads, several blocks share the rounds, and each fills its queue
// anew.
//
//     cur = in[i]; next = in[i + plane];         z = first of this block;
//     for (z = 1; z < n - 1; ++z) {              cur = in[i + (z - 1) * plane];
//       prev = cur; cur = next;                  next = in[i + z * plane];
//       next = in[i + (z + 1) * plane];          for (; z < n - 1 && mine; ++z) ...
//
// A whole loop has few blocks, all of which live as long as the launch: a wave
// that is not full takes as long as one that is.

#ifndef RCACHE_LIB_PLAN_CUTS_H
#define RCACHE_LIB_PLAN_CUTS_H

#include "rcache/Plan.h"
#include "llvm/Support/Error.h"

namespace rcache {

/// Cuts a loop of \p M under the mapping of \p P, if one can be: sets P.Cut, and adds
/// what a launch is asked for it to P.Preconditions and P.Separate. Else the reason,
/// if \p M has a loop for which there is one. All arrays have to leave shared memory.
/// May throw isl::exception.
std::optional<std::string> cutLoop(const KernelModel &M, bool AssumeNoAlias,
                                   Plan &P);

/// How many rounds the loop takes, as host code in terms of the kernel's parameters:
/// of type long long, where it takes any.
llvm::Expected<std::string> roundsOfLaunch(const KernelModel &M,
                                           const LoopCut &Cut);

/// Window::Needed of a window that \p Reads read: threads that store what they make
/// of it (in a cut loop nothing else becomes of it). \p Context: what is known of
/// them. Null: all threads of the block, for all that is known.
Nullable<isl::set> neededThreads(const KernelModel &M, const Plan &P,
                                 const std::vector<unsigned> &Reads,
                                 const isl::set &Context);

/// What holds in the rounds of the loops around statement \p Of.
isl::set inRounds(const KernelModel &M, unsigned Of);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_CUTS_H
