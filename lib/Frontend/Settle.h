// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of the texts that say what is rounded is the original? A compiler tells of each
// how far it is from it; the search changes what brings it nearer, for all kernels of a
// file in the same texts.

#ifndef RCACHE_LIB_FRONTEND_SETTLE_H
#define RCACHE_LIB_FRONTEND_SETTLE_H

#include "rcache/ExplicitSums.h"
#include "rcache/Pipeline.h"
#include <chrono>
#include <map>

namespace rcache {

/// Compilers take their time: no question is asked behind it.
using Deadline = std::chrono::steady_clock::time_point;

/// For those kernels of \p All, found in \p Text, of which a way to say it is found: the
/// edits of \p Text with which they round as in \p Original, by ExplicitSums::Key.
std::map<std::string, std::vector<SourceEdit>>
settle(llvm::ArrayRef<ExplicitSums> All, const std::string &Original, const std::string &Text,
       const RoundingHook &Ask, Deadline End);

} // namespace rcache

#endif // RCACHE_LIB_FRONTEND_SETTLE_H
