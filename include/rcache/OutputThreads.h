// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks as large as the tile that they stage, whose outermost threads do nothing else
// ("Programming Massively Parallel Processors", Kirk and Hwu, 2010):
//
//     const int x = blockIdx.x * 30 + threadIdx.x - 1;            // 32 threads
//     s[threadIdx.x] = 0 <= x && x < n ? in[x] : 0;
//     __syncthreads();
//     if (1 <= threadIdx.x && threadIdx.x <= 30 && x < n)
//       out[x] = s[threadIdx.x - 1] + s[threadIdx.x + 1];
//
// Which thread stages an element is the plan's choice. So the text that is planned has a
// thread for each output alone, in blocks of 30, and stages in a loop:
//
//     for (unsigned int stage_x = threadIdx.x; stage_x < 32u; stage_x += 30u) {
//       const int x = blockIdx.x * 30 + stage_x - 1;
//       s[stage_x] = 0 <= x && x < n ? in[x] : 0;
//     }
//     const int x = blockIdx.x * 30 + (threadIdx.x + 1u) - 1;
//     __syncthreads();
//     ...                                          // threadIdx.x is (threadIdx.x + 1u)
//
// Nothing is launched that way: blocks of outputs do not overlap any more, and the plan
// merges them.

#ifndef RCACHE_OUTPUTTHREADS_H
#define RCACHE_OUTPUTTHREADS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with the threads alone that do more than stage; nullopt: all do, or
/// it is not proved that the others do nothing else.
std::optional<OtherBody> outputThreads(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_OUTPUTTHREADS_H
