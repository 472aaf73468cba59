// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the vectors of a plan start where vectors may start. A thread's run of
// outputs begins at pointer + offset + row * pitch + a multiple of its length:
// what of that host code can tell, a launch asks; rows that start elsewhere go
// element by element, which is another plan's strength.

#ifndef RCACHE_LIB_PREDICT_ALIGNMENT_H
#define RCACHE_LIB_PREDICT_ALIGNMENT_H

#include "rcache/Plan.h"

namespace rcache {

/// What launches hand over for \p S, a parameter; empty: nobody knows of one of them.
std::vector<int64_t> valuesOf(const KernelModel &M, const Symbol &S);

/// What a launch has to give so that all vectors of \p P, loads and stores,
/// start at multiples of their width; empty: nothing is in doubt, or host code
/// cannot tell.
std::vector<AlignedRun> alignedRuns(const KernelModel &M, const Plan &P);

/// Is there a run of stores of which most start elsewhere than vectors may, whatever
/// the launch (rows of 1001 elements)?
bool neverAligned(const KernelModel &M, const Plan &P);

/// Do lanes stride so far over unaligned runs that the original is faster? For
/// one-dimensional arrays: offset by one element, runs of 32 bytes ran at 0.64x of
/// the original on an H200, runs of 16 bytes at 1.7x, as fast as aligned ones.
/// Rows of a tile share their lines in L1, but what is stored one by one does not:
/// eight two-byte results a row ran at 0.63x.
bool losesUnaligned(const KernelModel &M, const Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_ALIGNMENT_H
