// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One plan from facts and a form: what each recipe varies.

#ifndef RCACHE_LIB_PLAN_ASSEMBLE_H
#define RCACHE_LIB_PLAN_ASSEMBLE_H

#include "Facts.h"
#include "Windows.h"

namespace rcache {

/// What a recipe tries, given the shape of the block.
struct Form {
  unsigned X = 1, Rows = 1; ///< factors along x and y
  int64_t StrideX = 1;
  bool Shuffle = false; ///< lanes exchange what they can
  int64_t MaxWindow = MaxHeldWindow;
  bool KeepAll = false; ///< all arrays stay in shared memory
  bool OwnAll = false;  ///< all arrays belong to the warp that is the block
  /// Logical blocks along x and y that a physical one stands for, and the
  /// neighbours in a run of slots: arrays are restaged (placements/Restaged.h).
  std::array<unsigned, 2> Blocks = {1, 1}, Group = {1, 1};
  bool Ahead = false; ///< tiles are copied while those before are used
  bool joins() const { return Blocks[0] * Blocks[1] > 1; }
  /// Nothing changes but barriers that have less to order (with KeepAll).
  bool OnlyBarriers = false;
};

/// The plan of form \p Fm, finished; nullopt: there is none, and if that is not
/// for others to try, F.Out says why. May throw isl::exception.
std::optional<Plan> assemble(BlockFacts &F, const Form &Fm);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_ASSEMBLE_H
