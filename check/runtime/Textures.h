// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA arrays and texture objects: what a fetch reads, and what it gives.

#ifndef RCACHE_CHECK_RUNTIME_TEXTURES_H
#define RCACHE_CHECK_RUNTIME_TEXTURES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rcache::check {

/// cudaChannelFormatDesc.
struct ChannelFormat {
  int Bits[4];
  int Kind; ///< 0: signed, 1: unsigned, 2: float
  unsigned channels() const {
    unsigned N = 0;
    while (N < 4 && Bits[N])
      ++N;
    return N;
  }
  unsigned bytes() const { return unsigned(Bits[0]) / 8 * channels(); }
  /// One, two or four channels of equal width.
  bool valid() const;
};

/// What a cudaArray_t points to: rows without gaps, one after the other.
struct CudaArray {
  ChannelFormat Format;
  size_t Width, Height, Depth; ///< elements; a dimension that is not there is 0
  char *Data;
  size_t rows() const { return Height ? Height : 1; }
  size_t planes() const { return Depth ? Depth : 1; }
  size_t pitch() const { return Width * Format.bytes(); }
  char *at(size_t X, size_t Y, size_t Z) const {
    return Data + (Z * rows() + Y) * pitch() + X * Format.bytes();
  }
};

/// The functions of the API that are about these.
std::vector<std::pair<std::string, void *>> textureSymbols();

} // namespace rcache::check

#endif
