// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reads of shared memory cost.

#ifndef RCACHE_LIB_PREDICT_SHAREDREADS_H
#define RCACHE_LIB_PREDICT_SHAREDREADS_H

#include "rcache/Plan.h"
#include <array>

namespace rcache {

/// Wavefronts that a shared read costs a logical thread, when the launch
/// is mapped by \p Map: slots that read the same element share it.
double sharedReadCost(const KernelModel &M, const SharedAccess &S,
                      const std::array<int64_t, 3> &Block, const Mapping &Map,
                      bool TapsOutside);

class Staging;
/// Wavefronts of a logical thread's reads by \p S, all of its executions: where steps
/// are counted, those of every visit.
double sharedReads(const KernelModel &M, const Staging &Fill, const SharedAccess &S,
                   const std::array<int64_t, 3> &Block, const Mapping &Map,
                   bool TapsOutside);

/// sharedReadCost where the array is restaged for joined blocks.
double restagedReadCost(const KernelModel &M, const SharedAccess &S,
                        const Restaged &R, const Mapping &Map,
                        bool TapsOutside);

/// Is it not known how many elements lie between those that \p S names for threads
/// beside each other: `s[ty * width + tx]`, or an index that is loaded? Nor is it then
/// which lanes wait for each other in a bank.
bool stepsUnknown(const KernelModel &M, const SharedAccess &S);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_SHAREDREADS_H
