// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Hints.h.

#include "Hints.h"
#include <algorithm>

namespace rcache::verify {

std::optional<std::string> wrongHints(const Plan &P, uint64_t &Checks) {
  const RegisterHints &H = *P.Hints;
  Checks += 4;
  if (!P.keepsThreads() || P.Map.Merge || !P.Interleaved.empty() ||
      !P.Narrowed.empty() || P.Cut || P.Ahead)
    return "hints beside another technique";
  if (!P.KeepBarriers)
    return "barriers go where only hints are given";
  if (!P.Map.Block)
    return "no block is asked for";
  const auto &[X, Y, Z] = *P.Map.Block;
  if (X * Y * Z > H.MaxThreads || H.MaxThreads > 1024)
    return "blocks of " + std::to_string(X * Y * Z) +
           " threads, bounds of " + std::to_string(H.MaxThreads);
  for (unsigned A = 0; A < 3; ++A, ++Checks) {
    const std::string Axis = std::string(".") + "xyz"[A] + " == " +
                             std::to_string((*P.Map.Block)[A]);
    if (std::none_of(P.Preconditions.begin(), P.Preconditions.end(),
                     [&](const Precondition &C) {
                       return C.Text.size() > Axis.size() &&
                              C.Text.compare(C.Text.size() - Axis.size(),
                                             Axis.size(), Axis) == 0;
                     }))
      return "no launch is asked for" + Axis;
  }
  return std::nullopt;
}

} // namespace rcache::verify
