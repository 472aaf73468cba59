// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of elements that are read from a shared array or written to it at once,
// as accesses to their members:
//
//     float4 *v = (float4 *)s;          (as it is)
//     v[t] = in4[g];                    { const float4 value = in4[g];
//                                         (v[t]).x = value.x; (v[t]).y = value.y; ... }
//     float4 a = v[t];                  float4 a = float4{(v[t]).x, (v[t]).y, ...};

#ifndef RCACHE_VECTORMEMBERS_H
#define RCACHE_VECTORMEMBERS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M in the second form; nullopt: it has no such accesses, or some
/// that cannot be written so.
std::optional<OtherBody> vectorMembers(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_VECTORMEMBERS_H
