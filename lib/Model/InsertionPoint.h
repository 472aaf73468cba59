// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a rewritten kernel and its launch function stand.

#ifndef RCACHE_LIB_MODEL_INSERTIONPOINT_H
#define RCACHE_LIB_MODEL_INSERTIONPOINT_H

#include "LaunchSites.h"
#include "TokenRecorder.h"

namespace rcache {

/// Fills InsertOffset of \p M, the offset in the main file: behind kernel \p K, or in
/// front of the first launch where the kernel stands in a header or names types of behind
/// it; nullopt: there is no place that all launches can call from. And ReadOtherwise; if
/// a name of the kernel is declared anew in front of that place, M is declined.
void placeNewCode(KernelModel &M, const KernelDecl &K, const LaunchTable &Launches,
                  const TokenRecorder::Impl &Tokens, clang::Preprocessor &PP);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_INSERTIONPOINT_H
