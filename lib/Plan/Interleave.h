// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private arrays that a compiler cannot keep in registers, since an index is
// known at run time only, are in local memory: off the SM but for what its
// cache holds, one line for each element that the lanes of a warp use at a
// time. In shared memory at [element][thread] lane t is always in bank t:
//
//     int bins[32];                      __shared__ int bins[32][128];
//     ++bins[data[i] % 32];       ->     ++bins[data[i] % 32][rc_t];
//
// Elements of one byte of a thread share a word, [element / 4][thread][4].
// Where the launch alone tells how many threads there are, or where they need more
// than static memory can have, it is dynamic memory, warp by warp: [warp][element][lane].
//
// Tables of constants that nobody changes are one static copy for all threads.
//
// Threads touch elements of their own alone, so nothing has to be ordered, and
// the text around stays as it is, whatever its control flow. What has to be
// proved is that each use is one element (lib/Model/PrivateUses.cpp), that
// there is room for each thread of the block, and that the static shared memory
// of the kernel is not more than every device has.

#ifndef RCACHE_LIB_PLAN_INTERLEAVE_H
#define RCACHE_LIB_PLAN_INTERLEAVE_H

#include "Planner.h"
#include "rcache/Picture.h"

namespace rcache {

/// Adds to \p Out a plan that keeps private arrays in shared memory, or why
/// there is none where nothing else is known of the kernel.
void addInterleaved(const KernelModel &M, const PlanRequest &R,
                    PlanOutcome &Out);

/// Where the elements of \p I are, of \p P's private arrays.
ArrayPicture pictureOf(const KernelModel &M, const Plan &P,
                       const InterleavedArray &I);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_INTERLEAVE_H
