// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What keeps a warp from owning arrays, for those who may find other words for a kernel.

#ifndef RCACHE_OWNEDARRAYS_H
#define RCACHE_OWNEDARRAYS_H

namespace rcache {

struct KernelModel;

/// Is it what a compiler fuses with sums of shared elements that keeps a warp from owning
/// arrays of \p M, and neither its blocks nor how it reads memory?
bool mayBeOwnedButForSums(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_OWNEDARRAYS_H
