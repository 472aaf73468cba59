// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of Caps.h about loops of which nobody knows how often they are run. Each gives
// the speed-up that is claimed of \p Speedup; the same where it does not apply.

#ifndef RCACHE_LIB_PREDICT_LOOPCAPS_H
#define RCACHE_LIB_PREDICT_LOOPCAPS_H

#include "Caps.h"

namespace rcache {

/// Elements that are read from their source in rounds that nobody counts: from memory
/// what shared memory had, and often with the question where it is.
double askedInLoops(const CapInput &In, double Speedup);

/// How often the body of a loop is run whose condition asks for data, nobody knows:
/// heaps and searches stay near one end of their arrays.
double roundsByData(const CapInput &In, double Speedup);

/// Memory that a loop reads anew in each round of a loop around it: with several outputs a
/// thread, so much more has to stay in the cache from round to round.
double readAgain(const CapInput &In, double Speedup);

/// Loops that end after a round or two, by what a launch is asked: slots run them one behind the
/// other, each of which waits for its loads (32 doubles a lane: 0.55x).
double loopsOfSlots(const CapInput &In, double Speedup);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_LOOPCAPS_H
