// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picture data: how a plan spreads the elements of one array over the lanes and
// registers of a warp, as plain numbers. The report holds it, --picture draws it.
//
//     KernelModel, Plan --picturesOf--> ArrayPicture a window

#ifndef RCACHE_PICTURE_H
#define RCACHE_PICTURE_H

#include <cstdint>
#include <string>
#include <vector>

namespace rcache {

/// One register of a lane's window, and how its element gets there.
struct PictureCell {
  enum SourceKind {
    Own,     ///< the lane loads it; no lane before it does
    Reload,  ///< the lane loads it, and a neighbour has it as well
    Shuffle, ///< another lane's register
  };
  SourceKind Source = Own;
  /// Register along each dimension of the array.
  std::vector<int64_t> Register;
  /// Element, relative to the lane's first one, along each dimension.
  std::vector<int64_t> Element;
  /// Lane (l + Distance) mod 32 loads it, into its register FromRegister; where
  /// that lane lies behind the end of the warp, into one of its next chunk or
  /// row. Distance is 0 but for Shuffle.
  int64_t Distance = 0, FromRegister = 0;
};

/// One window of one array.
struct ArrayPicture {
  std::string Array;
  std::string Exchange; ///< "shuffle", "reload", "direct", "shared"
  std::string Detail;   ///< "chunks of 8", "round robin", "row by row", ""
  /// Lanes of a warp that work for one logical block, 1 to 32.
  unsigned Lanes = 32;
  /// From a lane's first element to that of the next lane, along each dimension.
  std::vector<int64_t> LaneStep;
  std::vector<int64_t> Extent; ///< registers along each dimension
  /// The window in row-major order; the same for every lane. Empty without a
  /// window (direct, shared) and where First is no linear function of the lane.
  std::vector<PictureCell> Window;
};

} // namespace rcache

#endif // RCACHE_PICTURE_H
