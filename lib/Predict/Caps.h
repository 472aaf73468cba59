// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is claimed of a prediction. Where predictions have been wrong, less than
// the counts say is claimed; each such rule has a name, which --explain-choice
// and the report show.

#ifndef RCACHE_LIB_PREDICT_CAPS_H
#define RCACHE_LIB_PREDICT_CAPS_H

#include "Constants.h"
#include "rcache/Choice.h"
#include "rcache/Plan.h"

namespace rcache {

struct CapInput {
  const KernelModel &M;
  const Plan &P;
  const std::array<int64_t, 3> &Block; ///< of the original
  const Arch &On;
  const Constants &Fit;
  const Score &Original;
  const Candidate &C; ///< counted and scored
};

/// Sets C.Speedup from the scores of \p In, as far as it is claimed, and C.Caps.
void claim(const CapInput &In, Candidate &C);

/// Why the rule of that name is there; "": there is no such rule.
const char *whyCapped(llvm::StringRef Name);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_CAPS_H
