// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is claimed of owned arrays where threads change elements that others own: sorts by
// swaps, and statements that run in pairs.

#ifndef RCACHE_LIB_PREDICT_PAIRCAPS_H
#define RCACHE_LIB_PREDICT_PAIRCAPS_H

#include "Caps.h"

namespace rcache {

/// Elements that go back to their owners.
double writtenBack(const CapInput &In, double Speedup);

/// Statements at strides of run time in the loop around, each run by the lanes of its pairs.
double stridedRuns(const CapInput &In, double Speedup);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_PAIRCAPS_H
