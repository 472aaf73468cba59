// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for a picture from the isl values of a plan. Nothing is decided here;
// what the emitter writes is said again for people (see Plan.h). How a placement
// is drawn stands in its file.

#include "Pictures.h"
#include "placements/Placements.h"
#include <algorithm>

using namespace rcache;

/// Lanes in a row along x that belong to one logical block.
static unsigned lanesOf(const Mapping &Map) {
  if (!Map.Block)
    return 32;
  return static_cast<unsigned>(std::clamp<int64_t>(Map.threads(0), 1, 32));
}

std::vector<ArrayPicture> rcache::picturesOf(const KernelModel &M,
                                             const Plan &P) {
  std::vector<ArrayPicture> Result;
  for (const ArrayPlan &A : P.Arrays) {
    ArrayPicture Picture;
    Picture.Array = M.Arrays[A.Array].Name;
    Picture.Exchange = placementName(A);
    Picture.Lanes = lanesOf(P.Map);
    std::visit(
        [&](const auto &Where) { draw(Where, Placed{M, P, A}, Picture); },
        A.Where);
    Result.push_back(std::move(Picture));
  }
  return Result;
}
