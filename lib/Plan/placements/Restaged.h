// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of joined blocks (Mapping::Blocks): they stay in shared memory, and all
// threads of the physical block fill them by their staging function.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_RESTAGED_H
#define RCACHE_LIB_PLAN_PLACEMENTS_RESTAGED_H

#include "../Assumptions.h"
#include "../Groups.h"
#include "rcache/Plan.h"

namespace rcache {

/// The array of \p G, restaged by \p F under \p Map. nullopt: the staging function
/// does not cover a box of elements that holds all reads, asks for what is not the
/// same wherever it is asked for, or no barrier stands between a read and the next
/// time that the array is filled.
std::optional<ArrayPlan> restagedArray(const KernelModel &M,
                                       const StagingGroup &G,
                                       const StagingFunction &F,
                                       const Assumptions &A,
                                       const Mapping &Map);

/// The elements next to each other in a row of \p Array that the thread along
/// \p Axis reads, as many as a vector of 16 bytes has; 1: none.
unsigned neighboursRead(const KernelModel &M, unsigned Array, unsigned Axis);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_RESTAGED_H
