// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What private arrays cost that are indexed at run time: in local memory, or in
// shared memory.

#ifndef RCACHE_LIB_PREDICT_PRIVATECOSTS_H
#define RCACHE_LIB_PREDICT_PRIVATECOSTS_H

#include "rcache/Prediction.h"
#include "rcache/Plan.h"

namespace rcache {

/// Adds the accesses of a thread to private arrays that a compiler cannot keep in
/// registers: to local memory, or to shared memory where \p P has them, with the
/// shared memory of a block.
void addPrivate(const KernelModel &M, const Plan &P, const Arch &On,
                KernelCounts &K);

/// Does \p U change its element?
bool isWritten(const KernelModel &M, const PrivateArray &A, const PrivateArray::Use &U);

/// The loop in which \p U reads the best so far, `if (a[j] < a[m]) m = j;`; -1: there is
/// none. The element is in a register as long as the array is in local memory: the compiler
/// knows it from `a[j]`. In shared memory it is loaded again (nvcc 13.0).
int bestSoFarIn(const KernelModel &M, const PrivateArray &A, const PrivateArray::Use &U);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_PRIVATECOSTS_H
