// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Owned elements that each thread names by a formula of its number (`s[2 * t]`,
// `s[(t + 37) % 256]`, `s[t % 16 * 16 + t / 16]`): a slot asks each register that
// one of its lanes needs. May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_GATHERED_H
#define RCACHE_LIB_PLAN_PLACEMENTS_GATHERED_H

#include "../Counters.h"
#include "rcache/Plan.h"

namespace rcache {

/// What a gather of elements `32 * register + lane` asks in one visit.
struct Gathers {
  int64_t Elements = 0;  ///< it names elements 0 to Elements - 1
  int64_t Registers = 0; ///< asked by the slots that use it, all added up
};

/// \p Element ([tx] -> { [e] }) as threads in \p Domain ([tx, symbols] -> { : }) of a block
/// of \p Threads name it, 32 apart in the slots. nullopt: it is no number in one of these
/// threads, or in a register that is not between those of the slot's first and last
/// thread (which all lanes can tell), or below 0.
std::optional<Gathers> gathersOf(const isl::pw_aff &Element, const isl::set &Domain,
                                 int64_t Threads);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_GATHERED_H
