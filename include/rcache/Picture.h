// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Picture data: how a plan spreads the elements of one array over the lanes and
// registers of a warp, as plain numbers. The report holds it, --picture draws it.
//
//     KernelModel, Plan --picturesOf--> ArrayPicture a window

#ifndef RCACHE_PICTURE_H
#define RCACHE_PICTURE_H

#include "rcache/Decline.h"
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

/// A part of what an array holds, in words of C++: on Where ("": everywhere)
/// element e0 (e1, ...) holds Value.
struct PictureStage {
  std::string Where, Value;
};

/// An access in the user's text.
struct PictureAccess {
  SourcePos Pos;
  std::string Text; ///< "s[l + j]"
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

  std::vector<PictureStage> Staging; ///< the first that holds counts
  /// Every element that is read has been staged: proved. Else the original is
  /// undefined where one has not.
  bool CoverageProved = false;
  /// Where the whole window is loaded without a test, in words of C++: "": nowhere.
  std::string Interior;
  unsigned VectorBytes = 0; ///< of a load there; 0: element by element
  std::vector<PictureAccess> Writes, Reads;
};

} // namespace rcache

#endif // RCACHE_PICTURE_H
