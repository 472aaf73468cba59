// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is not claimed of arrays that a thread has for itself.

#ifndef RCACHE_LIB_PREDICT_PRIVATECAPS_H
#define RCACHE_LIB_PREDICT_PRIVATECAPS_H

#include "Caps.h"

namespace rcache {

/// Private arrays that nothing is written to at an index of run time, tables, or of few
/// words.
double privateTables(const CapInput &In, double Speedup);

/// Private arrays of bytes in which lanes differ in nothing but their best element so far.
double bestBytes(const CapInput &In, double Speedup);

/// Arrays of a thread that stay in local memory, at elements that threads pick apart: each
/// output's go there and back as before, and fewer warps hide that.
double localArrays(const CapInput &In, double Speedup);

/// Private arrays in shared memory: the fewer blocks fit, the less hides what they wait for.
double fewBlocks(const CapInput &In, double Speedup);

/// In launches of few warps nobody waits for lines of local memory.
double privateInFewWarps(const CapInput &In, double Speedup);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_PRIVATECAPS_H
