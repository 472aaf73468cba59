// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that nobody wrote: the parts of the harness.
//
//   HarnessDriver  source text that makes kernels callable from here
//   Shapes         blocks, grids and sizes worth trying
//   Trials         runs original and rewritten on the same bytes
//   Harness        all shapes, for two files
//   SelfCheck      the shapes that matter most, for one rewritten file

#ifndef RCACHE_CHECK_HARNESS_H
#define RCACHE_CHECK_HARNESS_H

#include "KernelList.h"
#include "Runtime.h"

#include <cstdint>
#include <random>
#include <set>

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

/// A kernel as the driver makes it callable.
struct DriverEntry {
  KernelSignature Kernel;
  bool Direct = true;    ///< the kernel itself
  bool Indirect = false; ///< its launch function
  std::string LaunchSuffix = "_rc_launch"; ///< behind the kernel's name
  std::string LaunchResult = "void";       ///< for a kernel with an Overload
  /// Number \p Number's function that does \p What: params, direct, indirect.
  static std::string symbol(const char *What, size_t Number);
};
/// A driver that includes \p Source (an absolute path).
std::string driverText(const std::string &Source,
                       const std::vector<DriverEntry> &Entries);
/// The entry of \p K, with the launch function that \p Facts know of.
DriverEntry driverEntry(const SourceFacts &Facts, const KernelSignature &K,
                        bool Direct, bool Indirect);
/// "ns::f_rc_launch<2>" of "ns::f<2>".
std::string launchFunction(const std::string &Kernel,
                           const std::string &Suffix = "_rc_launch");
/// As C++ accepts it: demangled text without "(anonymous namespace)::".
std::string spelled(std::string Kernel);

/// One launch to try. W x H x D is the logical size of the data.
struct Shape {
  Dim3 Grid, Block;
  uint32_t W = 1, H = 1, D = 1;
  /// Integer arguments as the file's own main passes them; empty: to be chosen.
  std::vector<uint64_t> Scalars;
  bool Exact = false; ///< with these integers or not at all
  bool Rare = false;  ///< for a number of the text: no other one does what it does
};
/// Shapes for a kernel of \p Dimensions, most ordinary first; the user's wishes
/// (block or grid of X = 0: none) win.
std::vector<Shape> shapes(unsigned Dimensions, uint32_t MaxThreads,
                          const Dim3 &Block, const Dim3 &Grid,
                          const std::vector<Dim3> &MoreBlocks);

/// The values that launch functions of \p Kernel ask its parameter \p Param for.
const std::vector<int64_t> &askedOf(const SourceFacts &Facts,
                                    const std::string &Kernel,
                                    const std::string &Param);

/// The most that they take; nullopt: anything.
std::optional<int64_t> mostAskedOf(const SourceFacts &Facts, const std::string &Kernel,
                                   const std::string &Param);

/// One more for a block: grid and sizes at random, edges most of all.
Shape randomShape(const Dim3 &Block, unsigned Dimensions, std::mt19937_64 &Rng);
/// Blocks that the file launches a kernel with, as far as they are written down, and
/// those that conditions of its launch function ask for.
std::vector<Dim3> ownBlocks(const KernelSignature &K,
                            const SourceSummary &Summary);
/// A parameter that is an integer.
struct IntegerParam {
  size_t Place;
  unsigned Size; ///< bytes
  bool Signed;
};
/// Launches around the numbers that the text names: grids and blocks just above
/// one, as many elements along each dimension, integer arguments below, at and above
/// one, and below its negative; and arguments at the ends of their types. At most
/// \p Limit, of at most \p MaxThreads threads; four times as many where the text
/// compares the number of blocks, and where two numbers are width and height.
std::vector<Shape> constantShapes(const KernelSignature &K,
                                  const SourceFacts &Facts,
                                  const std::vector<Dim3> &Blocks,
                                  const std::vector<IntegerParam> &Integers,
                                  size_t Limit, uint64_t MaxThreads);
/// Is there a NAME_rc_launch for \p Kernel?
bool hasLaunchFunction(const SourceFacts &Facts, const KernelSignature &K);
/// Is it `k_rc` or `k_rc_...` of a `k_rc_launch`, which runs it in place of `k`?
bool isRewritten(const SourceFacts &Facts, const std::string &Kernel);
/// All that the launch function of \p K may run in its place, mangled.
std::set<std::string> formsOf(const KernelSignature &K, const SourceSummary &Summary);
/// The name that a kernel was declared by: without namespaces and arguments.
std::string declaredName(const std::string &Kernel);

/// How to choose the integers that the user did not name. Several ways exist
/// because nothing tells what a number means; number \p Way of them.
constexpr unsigned ScalarWays = 8;
uint64_t scalarValue(const std::string &Name, const Shape &S,
                     unsigned Dimensions, unsigned Way);

} // namespace rcache::check

#endif
