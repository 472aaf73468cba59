// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guards of loads where a warp owns arrays. A warp has many slots, each with conditions of its
// own in front of what it loads:
//
//     for (s ..)                              if (block * 512 + 511 < n)
//       own[s] = g < n ? in[g] : 0;    ->       for (s ..)
//                                                 own[s] = in[g];
//                                             else
//                                               for (s ..)
//                                                 own[s] = g < n ? in[g] : 0;
//
// ptxas gives loads under conditions their place between the shuffles of slots before them, so
// that one waits for the other; those without it makes at once (a segmented scan: 40.2
// microseconds, 14.6 with the branch, 31.0 the original;
// docs/measurements/2026-11-29-h200-guarded-loads.txt).

#ifndef RCACHE_LIB_LOWER_ALLSLOTSIN_H
#define RCACHE_LIB_LOWER_ALLSLOTSIN_H

#include "StatementText.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

struct AllSlotsIn {
  std::string Test; ///< holds for all slots of all lanes, in the block's terms
  /// Text that goes where it holds, and what comes in its place.
  std::vector<std::pair<TextRange, std::string>> Without;
};

/// For the statements of \p R; nullopt: there are no such loads, or nothing simple tells.
std::optional<AllSlotsIn> allSlotsIn(const StatementText &Text, const Names &N,
                                     const Division &D, const Region &R);

} // namespace rcache

#endif // RCACHE_LIB_LOWER_ALLSLOTSIN_H
