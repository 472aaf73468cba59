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
#include <array>
#include <utility>
#include <vector>

namespace rcache {

/// What a gather of elements `32 * register + lane` asks in one visit.
struct Gathers {
  /// A register, and the lane that each lane asks for it.
  using Ask = std::pair<int64_t, std::array<uint8_t, 32>>;
  int64_t Elements = 0;   ///< it names elements 0 to Elements - 1
  std::vector<Ask> Asked; ///< by the slots that use it, one after the other
  int64_t Selects = 0;    ///< between registers that one slot asks
};

/// \p Element ([tx] -> { [e] }) as threads in \p Domain ([tx, symbols] -> { : }) of a block
/// of \p Threads name it, 32 apart in the slots. nullopt: it is no number in one of these
/// threads, or in a register that is not between those of the slot's first and last
/// thread (which all lanes can tell), or below 0.
std::optional<Gathers> gathersOf(const isl::pw_aff &Element, const isl::set &Domain,
                                 int64_t Threads);

/// Which element each thread names: that of its number with a bit put in, 2 t - t mod Bit,
/// and Bit more where Upper.
struct Insertion {
  Nullable<isl::pw_aff> Bit; ///< [counters] -> { [2^b] }
  bool Upper = false;
};

/// Does \p S name such elements in all visits? \p Domain ([tx, symbols] -> { : }): the
/// threads that may come there.
std::optional<Insertion> insertionOf(const KernelModel &M, const Assumptions &A,
                                     const Counters &Count, const SharedAccess &S,
                                     int64_t Threads, const isl::set &Domain);

/// Which element of another thread \p S names: sets F.K, F.By and what hangs on them, F.Written
/// being known. \p Element ([symbols] -> { [e] }; null: no formula), in \p Domain ([tx, symbols]
/// -> { : }). \p Gather: it may be another one in each thread. False: nothing is known.
bool findKind(Owned::Fetch &F, const KernelModel &M, const Assumptions &A,
              const Counters &Count, const SharedAccess &S,
              const Nullable<isl::pw_aff> &Element, const isl::set &Domain,
              int64_t Threads, bool Gather);

/// `{ [2 X - X mod Bit] }`. \p Bit: a power of two.
isl::pw_aff withBit(const isl::pw_aff &X, int64_t Bit);

/// Shuffles by which the owners of elements get what threads in all \p Slots have put
/// where a bit is put in; none where that bit is one of the register's.
int64_t shufflesBack(int64_t Slots, int64_t Bit);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_GATHERED_H
