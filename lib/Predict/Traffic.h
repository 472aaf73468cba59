// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel moves between the device's memory and its L2 cache, whatever is
// done about it.

#ifndef RCACHE_LIB_PREDICT_TRAFFIC_H
#define RCACHE_LIB_PREDICT_TRAFFIC_H

#include "StagingCosts.h"

namespace rcache {

/// Bytes a thread: each array read or written by thread-dependent addresses, as
/// often as the thread stores in loops that are shared out among threads: what is
/// read more often is read by others, too, and found in a cache. Rounds that a
/// thread walks through by itself count where each reads elements that no thread
/// has read; else once, which the model was fitted to.
double dramBytes(const KernelModel &M, const Staging &Fill,
                 const std::array<int64_t, 3> &Block);

} // namespace rcache

#endif
