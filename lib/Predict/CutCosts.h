// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What it costs that several blocks share the rounds of a loop.

#ifndef RCACHE_LIB_PREDICT_CUTCOSTS_H
#define RCACHE_LIB_PREDICT_CUTCOSTS_H

#include "rcache/Plan.h"
#include "rcache/Prediction.h"

namespace rcache {

struct Constants;

/// Where blocks share the rounds of \p P's cut loop: there are enough of them, in
/// waves of which none decides. What each begins with is loaded once more; neighbours
/// along z load the same at about the same time, half of it from memory. What is left to wait
/// for is memory: each round's bytes count.
void addCut(const KernelModel &M, const Plan &P, const Constants &Fit,
            KernelCounts &K);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_CUTCOSTS_H
