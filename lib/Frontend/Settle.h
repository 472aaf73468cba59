// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of the texts that say what is rounded is the original? A compiler tells of each
// how far it is from it; the search changes what brings it nearer.

#ifndef RCACHE_LIB_FRONTEND_SETTLE_H
#define RCACHE_LIB_FRONTEND_SETTLE_H

#include "rcache/ExplicitSums.h"
#include "rcache/Pipeline.h"
#include <chrono>

namespace rcache {

/// Compilers take their time: no question is asked behind it.
using Deadline = std::chrono::steady_clock::time_point;

/// The edits of \p Text, in which \p S was found, with which its kernel rounds as in
/// \p Original; none: not found.
std::vector<SourceEdit> settle(const ExplicitSums &S, const std::string &Original,
                               const std::string &Text, const RoundingHook &Ask, Deadline End);

} // namespace rcache

#endif // RCACHE_LIB_FRONTEND_SETTLE_H
