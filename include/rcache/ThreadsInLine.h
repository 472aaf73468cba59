// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of several dimensions whose threads hand elements to each other:
//
//     __shared__ float s[16][16];
//     s[threadIdx.y][threadIdx.x] += s[threadIdx.y + d][threadIdx.x];
//
// A warp that owns the array has its threads in a line, as the device numbers
// them. So has the text that is planned, in blocks of 256:
//
//     s[threadIdx.x / 16u][threadIdx.x % 16u] += ...
//
// Nothing is launched that way: the plan's physical block has one dimension.
//
// The other way round, blocks of one dimension whose threads compute coordinates of a
// tile from their number:
//
//     row = threadIdx.x / 32, col = threadIdx.x % 32;      // of 1024
//
// are planned as blocks of 32 x 32, where (threadIdx.y * 32u + threadIdx.x) is said for
// the number.

#ifndef RCACHE_THREADSINLINE_H
#define RCACHE_THREADSINLINE_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The block of a launch as the text in \p Form has it: along each axis Scale times
/// the threads or, of a Scale below 0, a part of them; without those that only stage.
inline std::array<int64_t, 3> blockOfText(std::array<int64_t, 3> Block,
                                          const TextForm &Form) {
  for (size_t A = 0; A < 3; ++A)
    Block[A] = (Form.Scale[A] > 0 ? Block[A] * Form.Scale[A]
                                  : Block[A] / -Form.Scale[A]) -
               Form.Idle[A];
  return Block;
}
/// The launch's block of that one.
inline std::array<int64_t, 3> blockOfLaunch(std::array<int64_t, 3> Block,
                                            const TextForm &Form) {
  for (size_t A = 0; A < 3; ++A) {
    const int64_t All = Block[A] + Form.Idle[A];
    Block[A] = Form.Scale[A] > 0 ? All / Form.Scale[A] : All * -Form.Scale[A];
  }
  return Block;
}
/// Threads of the text's block for each of the launch's, those that only stage among
/// them.
inline int64_t threadsOfText(const TextForm &Form) {
  int64_t More = 1, Fewer = 1;
  for (int64_t S : Form.Scale)
    (S > 0 ? More : Fewer) *= S > 0 ? S : -S;
  return More / Fewer;
}
/// Do the threads of blocks of several dimensions stand in a line?
inline bool isInLine(const TextForm &Form) {
  return Form.Scale[1] < 0 || Form.Scale[2] < 0;
}

/// Do the threads of blocks of one dimension stand in rows?
inline bool isInRows(const TextForm &Form) { return Form.Scale[0] < 0; }
/// Has the text more threads than a launch, or fewer?
inline bool changesThreads(const TextForm &Form) {
  return Form.scaled() && (Form.isNarrowed() || threadsOfText(Form) != 1);
}

/// Is an element of a shared array set to what has been made of shared elements?
bool exchangesComputed(const KernelModel &M);

/// The body of \p M with the block's threads in a line, if elements of a shared
/// array are computed of others; nullopt: it has one dimension, is not known, or
/// is named in other ways than by coordinates.
std::optional<OtherBody> threadsInLine(const KernelModel &M);

/// The body of \p M with the threads of its line in rows, in which all indices of shared
/// arrays are sums of coordinates and counters; nullopt: they are already, there are no
/// such rows, or elements are computed of others.
std::optional<OtherBody> threadsInRows(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_THREADSINLINE_H
