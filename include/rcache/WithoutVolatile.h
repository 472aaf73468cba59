// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared arrays that are `volatile`, or seen through a pointer to volatile, although
// barriers of the block stand between all that threads hand to each other:
//
//     volatile uint *s = s_data;                uint *s = s_data;
//     for (d = 1; d < n; d *= 2) {              for (d = 1; d < n; d *= 2) {
//       __syncthreads();                          __syncthreads();
//       uint x = s[t] + s[t - d];                 uint x = s[t] + s[t - d];
//       __syncthreads();                          __syncthreads();
//       s[t] = x;                                 s[t] = x;
//     }                                         }
//
// The word says nothing then that the barriers do not say.

#ifndef RCACHE_WITHOUTVOLATILE_H
#define RCACHE_WITHOUTVOLATILE_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// \p Text, the body of \p M or one made of it, without `volatile` where that is said of
/// arrays all of whose accesses are known; nullopt: it says it of other memory, too.
std::optional<std::string> dropVolatile(const KernelModel &M, std::string Text);

/// The body of \p M without `volatile`, if no two threads use an element between two
/// barriers of the block that one of them changes; nullopt: some may, or no array is
/// volatile.
std::optional<OtherBody> withoutVolatile(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_WITHOUTVOLATILE_H
