// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops with barriers that all threads leave in the same round:
//
//     for (int i = 0; i < n; ++i) {     bool go_on = true;
//       ...                             for (int i = 0; go_on && (i < n); ++i) {
//       __syncthreads();                  ...
//       if (i == n - 1)                   __syncthreads();
//         break;                          if (i == n - 1)
//       ...                                 go_on = false;
//       __syncthreads();                  if (go_on) { ... __syncthreads(); }
//     }                                 }
//
// where the header cannot tell that this round is the last one; else, as here, no flag
// is needed:
//
//     for (int i = 0; i < n; ++i) { ... if (!(i == n - 1)) { ... __syncthreads(); } }
//
// Slots of a thread run statements between barriers in loops of their own, which a
// break would leave instead.

#ifndef RCACHE_LEFTTOGETHER_H
#define RCACHE_LEFTTOGETHER_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M without breaks out of loops with barriers; nullopt: it has none,
/// or one that is not alike for all threads, or not in such a place.
std::optional<OtherBody> leftTogether(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_LEFTTOGETHER_H
