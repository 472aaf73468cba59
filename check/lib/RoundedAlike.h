// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the sums and products of a kernel are made of, down to what is loaded, for a
// comparison of two texts of one kernel: one as it is, of which nvcc and ptxas fuse what they
// fuse, and one that says what is rounded (__fmaf_rn). SumForms.h is for kernels whose
// statements differ.

#ifndef RCACHE_CHECK_ROUNDEDALIKE_H
#define RCACHE_CHECK_ROUNDEDALIKE_H

#include "Frontend.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace llvm {
class Function;
}

namespace rcache::check {

struct Program;

struct Roundings {
  /// A number for each sum and product: of the operation, and of those
  /// that its operands come from, signs and order of operands aside.
  std::set<uint64_t> Operations;
  /// A product was fused with another one of which this cannot tell it, or only one of two
  /// sums that this cannot tell apart was fused.
  bool Ambiguous = false;
};

/// Of \p F, lowered, in which what will be fused has been (contractLikePtxas). \p P: the
/// variables that it names by their places.
Roundings roundingsOf(const llvm::Function &F, const Program &P);

/// How many operations only one of them has.
unsigned distance(const Roundings &A, const Roundings &B);

/// The same of every kernel in nvcc's code of \p Source, by plainName; nothing with
/// \p Error set where that cannot be read.
std::map<std::string, Roundings> roundingsIn(const FrontendOptions &FE, const std::string &Source,
                                             std::string &Error);

} // namespace rcache::check

#endif
