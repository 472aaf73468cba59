// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows: the elements that one physical thread reads, as registers with
// static indices. With C slots in the chunked layout the reads s[tx + j],
// 0 <= j <= 2k, of slots 0..C-1 are one window of C + 2k registers:
//
//     First = tx (of slot 0), register of s[tx + j] in slot sx = sx + j

#ifndef RCACHE_PLAN_WINDOWS_H
#define RCACHE_PLAN_WINDOWS_H

#include "Staging.h"

namespace rcache {

struct WindowsResult {
  /// One ArrayPlan per window (Reloaded), and at the end one for the reads that
  /// have none (FromSource). Without staging functions.
  std::vector<ArrayPlan> Windows;
  std::vector<unsigned> UnrolledLoops;
};

/// Splits the reads of \p G into windows for the given slots.
WindowsResult findWindows(const KernelModel &M, const StagingGroup &G,
                          const Assumptions &A, const Mapping &Map,
                          int64_t MaxWindow);

/// A part of a window: registers [first, second) of each dimension.
using WindowBox = std::vector<std::pair<int64_t, int64_t>>;

/// The registers of window \p W that are read, as boxes (see Window::Lines).
std::vector<WindowBox> windowBoxes(const Window &W,
                                   const std::vector<int64_t> &Extent);

/// Registers of one window that is held as a whole, and of one whose rows may
/// be streamed.
constexpr int64_t MaxHeldWindow = 160, MaxStreamedWindow = 1024;

/// Finds the piece of \p F and the condition under which a run of \p Extent
/// elements (per dimension) from an element is one run of loads (InteriorPiece,
/// Interior, Leaves and Reach of \p W). Runs start at First, and where lanes own
/// chunks also \p Behind elements further on.
void findInterior(const KernelModel &M, const Assumptions &A,
                  const StagingFunction &F, Window &W,
                  const std::vector<int64_t> &Extent, int64_t Behind = 0);

} // namespace rcache

#endif // RCACHE_PLAN_WINDOWS_H
