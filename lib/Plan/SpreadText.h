// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The other text of a kernel whose rounds become threads (SpreadOutputs.cpp finds
// out which), or whose threads modify parameters.

#ifndef RCACHE_LIB_PLAN_SPREADTEXT_H
#define RCACHE_LIB_PLAN_SPREADTEXT_H

#include "Assumptions.h"
#include "rcache/SpreadOutputs.h"
#include <map>
#include <set>

namespace rcache {

/// Which rounds become threads, and how these are numbered.
struct SpreadLayout {
  /// For statements whose rounds become threads, and whether their counter
  /// falls where the new thread's number rises.
  std::map<unsigned, bool> Loops;
  /// For statements that are shared out among all the new threads.
  std::set<unsigned> SharedOut;
  /// Statements that leave a round, which is all that a new thread runs.
  std::set<unsigned> Jumps;
  unsigned Axis = 0;
  bool Cyclic = true;
  int64_t Rounds = 0;
  std::set<std::string> NonZero; ///< what a launch is asked for
};

/// The body of \p M with rounds as threads, and with a copy of each parameter
/// that it modifies; nullopt: there is nothing to do, or it cannot be written.
std::optional<OtherBody> writeOtherBody(const KernelModel &M,
                                        const Assumptions &Fixed,
                                        const SpreadLayout &L);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_SPREADTEXT_H
