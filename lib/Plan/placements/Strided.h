// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements by which threads change elements at multiples of their numbers:
// trees from neighbours up, Blelloch's and Brent's scans, sorts with two keys a
// thread. The element's owner runs them, under the thread's number.
//
//     i = 2 * d * (t + 1) - 1;            element e is that of thread
//     s[i] += s[i - d];                   (e + 1) / (2 * d) - 1, if that is
//     whole

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_STRIDED_H
#define RCACHE_LIB_PLAN_PLACEMENTS_STRIDED_H

#include "../Counters.h"
#include "rcache/Plan.h"

namespace rcache {

struct StridedInterval {
  PairedInterval Run; ///< with a StridedRun
  std::map<unsigned, bool>
      Other;           ///< its accesses: to the pair's other element?
  double Shuffles = 0; ///< for an array that uses the other element
};

/// The statements around \p Access, between two barriers, as such a run of
/// blocks that \p Map gives to one warp; else \p WhyNot is a clause. May throw
/// isl::exception.
std::optional<StridedInterval> stridedInterval(const KernelModel &M,
                                               const Assumptions &A,
                                               const Counters &Count,
                                               const Mapping &Map, unsigned Access,
                                               std::string &WhyNot);

/// A thread's accesses to memory are in order; those of the lanes that run its
/// statements for it need not be. Has a launch asked that what the runs of \p P
/// use is not what the kernel changes elsewhere, or the other way around;
/// false: that is not enough, \p WhyNot is a clause.
bool separateRuns(const KernelModel &M, Plan &P, std::string &WhyNot);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_STRIDED_H
