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

/// What comes from other threads' elements between two barriers, in one round of the
/// loops around: of arrays that a warp owns.
struct PictureStep {
  PictureAccess Access; ///< the first that uses it
  std::string Rounds;   ///< "d = 128", "k = 4, j = 2"; "": alike in all rounds
  enum KindOf {
    Ahead,   ///< the element By ahead of the one whose thread it is
    Flipped, ///< that of the thread whose number differs in the bits By
    OfAll,   ///< element By, for all threads
  } Kind = Ahead;
  int64_t By = 0;
  bool Back = false; ///< it is changed, and goes back
  /// For register Register of lane l: register FromRegister of lane (l + Lanes) mod
  /// 32 (Flipped: l ^ Lanes; OfAll: of lane Lanes); Ahead: behind the end of the
  /// warp, the one that is next there.
  struct Move {
    int64_t Register = 0, Lanes = 0, FromRegister = 0;
  };
  std::vector<Move> Moves;
  std::string Words; ///< "the element 128 ahead: from the lane's own registers"
};

/// A dimension of an array in shared memory.
struct PictureDimension {
  std::string Of;   ///< "elements", "threads", "lanes", "warps", "blocks along x"
  int64_t Size = 0; ///< 0: as many as the launch has
  int64_t Padding = 0; ///< so many of Size hold nothing
};

/// One window of one array.
struct ArrayPicture {
  std::string Array;
  /// "shuffle", "reload", "direct", "shared", "owned", "restage"; "private": an
  /// array of each thread, in shared memory.
  std::string Exchange;
  std::string Words; ///< where its elements are, and how they get to who uses them
  std::string Detail;   ///< "chunks of 8", "round robin", "row by row", ""
  /// Lanes of a warp that work for one logical block, 1 to 32.
  unsigned Lanes = 32;
  /// From a lane's first element to that of the next lane, along each dimension.
  std::vector<int64_t> LaneStep;
  std::vector<int64_t> Extent; ///< registers along each dimension
  /// The window in row-major order; the same for every lane. Empty without a
  /// window (direct, shared) and where First is no linear function of the lane.
  std::vector<PictureCell> Window;

  /// Owned: by lane, the element of each register; -1: the array has none there.
  std::vector<std::vector<int64_t>> Held;
  std::vector<PictureStep> Steps; ///< Owned: in text order, round by round
  /// In shared memory: as it is declared there. Empty: as the original does, in a
  /// size that the text does not tell.
  std::vector<PictureDimension> Layout;

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
