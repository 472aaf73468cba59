// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of an element at one of a few distances from the thread's own, as clamped
// indices name it:
//
//     W = max(t - 1, 0);  v = s[W];        // s[t - 1], or s[t] at the border
//
// A warp that owns the array hands on elements at distances that are the same for
// all threads. So the text that is planned reads at these, and selects:
//
//     v = ((W) == t - 1 ? s[t - 1] : s[t]);

#ifndef RCACHE_NEARBYREADS_H
#define RCACHE_NEARBYREADS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with such reads, of arrays that are computed of their own
/// elements; nullopt: there are none.
std::optional<OtherBody> nearbyReads(const KernelModel &M);

/// The body of \p M without the elements that keep arrays from conflicts of banks,
/// `s[16][16 + 1]`, `s[i + (i >> 5)]`, and that nothing names; nullopt: there are
/// none, or not in arrays that are computed of their own elements.
std::optional<OtherBody> withoutPadding(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_NEARBYREADS_H
