// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pictures of plans for people: which lane and register own which element, and
// where each register of a window comes from.

#ifndef RCACHE_OUTPUT_PICTURESVG_H
#define RCACHE_OUTPUT_PICTURESVG_H

#include "Output/ReportJson.h"
#include "rcache/Picture.h"
#include <string>
#include <vector>

namespace rcache {

/// An element of the warp's footprint: relative to lane 0's first element,
/// along the last dimension; who keeps it, and in which of the registers it
/// loads.
struct PictureOwner {
  int64_t Element = 0;
  unsigned Lane = 0;
  int64_t Register = 0;
};

/// Who owns the elements of one row of the footprint of \p P, by element. Where
/// several lanes load one, the first of them.
std::vector<PictureOwner> ownersOf(const ArrayPicture &P);

/// One drawing with a section for each rewritten kernel of \p Files; without
/// one it says so. A whole SVG file, ends in a newline.
std::string pictureSvg(const std::vector<FileReport> &Files);

} // namespace rcache

#endif // RCACHE_OUTPUT_PICTURESVG_H
