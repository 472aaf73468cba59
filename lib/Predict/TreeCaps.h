// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is not claimed of trees whose last rounds the first warp has for itself.

#ifndef RCACHE_LIB_PREDICT_TREECAPS_H
#define RCACHE_LIB_PREDICT_TREECAPS_H

#include "Caps.h"

namespace rcache {

/// The tree is a part of a thread's life; loops of unknown length beside it may be all of
/// it, and what loops that are shared out read in further rounds takes its time in both.
double endsOfTrees(const CapInput &In, double Speedup);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_TREECAPS_H
