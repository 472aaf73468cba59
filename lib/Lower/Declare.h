// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last passes on a lowered body: names that it uses are declared.

#ifndef RCACHE_LOWER_DECLARE_H
#define RCACHE_LOWER_DECLARE_H

#include "Kernel.h"
#include "StatementText.h"

namespace rcache {

/// At the top of each slot loop, the variables that it names and every slot can
/// compute anew. A name that two of these have in one loop; "": there is none.
std::string declareRepeated(Sequence &Body, const KernelModel &M, const Division &D,
                            const StatementText &Text);

/// LoweredKernel's and SlotLoop's coordinates: those that something names.
void declareCoordinates(LoweredKernel &K, const Names &N);

} // namespace rcache

#endif // RCACHE_LOWER_DECLARE_H
