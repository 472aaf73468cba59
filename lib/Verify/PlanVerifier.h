// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan checked by brute force. Nothing here is shared with the planner: not
// its relations, not its linear forms, not isl's operations on them. A small
// launch is made up (block size, grid, parameters, block, round of the tile
// loop); then
//
//   1. the staging writes of the model are executed thread by thread, and the
//      staging function is asked for every element that the generated code can
//      ask for: it must give what was written, and must not load where the
//      original wrote nothing;
//   2. 32 lanes, all slots and all phases of the exchange are simulated: every
//      register holds the name of the element in it, every read of every slot
//      must find the element that the model's index names;
//   3. where the plan takes the loads of a run for one vector, the run is
//      walked element by element.
//
// It sees the model and the plan, and no code of the planner: the mapping of
// slots to threads, of registers to elements and of lanes to chunks is written
// here a second time, on purpose (scripts/check_layers.py keeps it so).
//
// The outcomes are kept apart: *wrong* is a bug of the planner, *not verified*
// names what could not be made concrete (an index loaded from memory, say).

#ifndef RCACHE_LIB_VERIFY_PLANVERIFIER_H
#define RCACHE_LIB_VERIFY_PLANVERIFIER_H

#include "rcache/Plan.h"
#include <cstdint>
#include <string>

namespace rcache {

struct VerifyOptions {
  unsigned Launches = 8;        ///< different made-up launches
  uint64_t MaxChecks = 400'000; ///< reads and elements compared, in all
  unsigned Seed = 1;
};

struct VerifyOutcome {
  enum Kind { Verified, Wrong, NotVerified };
  Kind K = NotVerified;
  /// Wrong: what is, with thread, slot and element. NotVerified: why.
  std::string Detail;
  uint64_t Checks = 0; ///< reads and elements that were compared
};

/// Checks \p P against \p M. Never throws.
VerifyOutcome verifyPlan(const KernelModel &M, const Plan &P,
                         const VerifyOptions &O = {});

} // namespace rcache

#endif // RCACHE_LIB_VERIFY_PLANVERIFIER_H
