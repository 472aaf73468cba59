// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel whose last statement is a bounds check around everything, barriers
// included, is one that threads out of bounds leave early:
//
//     if (i < n) {                      if (!(i < n)) return;
//       s[t] = a[i];                    {
//       __syncthreads();                  s[t] = a[i];
//       out[i] = s[t] + s[t + 1];         __syncthreads();
//     }                                   out[i] = s[t] + s[t + 1];
//                                       }
//
// Either way a thread for which the condition does not hold does nothing more.

#ifndef RCACHE_GUARDSFIRST_H
#define RCACHE_GUARDSFIRST_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M in the second form; nullopt: it does not have the first.
std::optional<OtherBody> guardsFirst(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_GUARDSFIRST_H
