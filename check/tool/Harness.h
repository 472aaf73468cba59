// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that nobody wrote: the parts of the harness.
//
//   HarnessDriver  source text that makes a kernel callable from here
//   Shapes         blocks, grids and sizes worth trying
//   Harness        runs original and rewritten on the same bytes

#ifndef RCACHE_CHECK_HARNESS_H
#define RCACHE_CHECK_HARNESS_H

#include "KernelList.h"
#include "Runtime.h"

#include <cstdint>
#include <random>

namespace rcache::check {

/// As the generated driver describes a parameter.
struct Param {
  enum KindType : int { Pointer, Signed, Unsigned, Float, Boolean, Other };
  int Kind;
  int PointeeConst;
  uint64_t Size;
  uint64_t ElementSize; ///< of what a pointer points to, in bytes
  int ElementKind;      ///< KindType
};

/// A driver that includes \p Source (an absolute path) and launches \p Kernel,
/// or calls its launch function if \p Indirect.
std::string driverText(const std::string &Source, const std::string &Kernel,
                       bool Indirect);
/// "ns::f_rc_launch<2>" of "ns::f<2>".
std::string launchFunction(const std::string &Kernel);
/// As C++ accepts it: demangled text without "(anonymous namespace)::".
std::string spelled(std::string Kernel);

/// One launch to try. W x H x D is the logical size of the data.
struct Shape {
  Dim3 Grid, Block;
  uint32_t W = 1, H = 1, D = 1;
  /// Integer arguments as the file's own main passes them; empty: to be chosen.
  std::vector<uint64_t> Scalars;
};
/// Shapes for a kernel of \p Dimensions, most ordinary first; the user's wishes
/// (block or grid of X = 0: none) win.
std::vector<Shape> shapes(unsigned Dimensions, uint32_t MaxThreads,
                          const Dim3 &Block, const Dim3 &Grid,
                          const std::vector<Dim3> &MoreBlocks);

/// How to choose the integers that the user did not name. Several ways exist
/// because nothing tells what a number means; number \p Way of them.
constexpr unsigned ScalarWays = 7;
uint64_t scalarValue(const std::string &Name, const Shape &S,
                     unsigned Dimensions, unsigned Way);

} // namespace rcache::check

#endif
