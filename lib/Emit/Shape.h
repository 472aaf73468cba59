// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of the generated body: which statements go, which run once a
// thread, which once a slot, and where each variable lives.
//
//     dead       staging writes of arrays that left shared memory, and all that
//                only served them
//     uniform    the same for all slots, no effects: once a thread
//     slot       once a slot, inside an unrolled loop over the slots
//
// A variable of slot code is
//     local      used in one stretch of slot code only: stays where it is
//     repeated   a pure function of thread and block: declared again where needed
//     expanded   lives across stretches: one element a slot

#ifndef RCACHE_EMIT_SHAPE_H
#define RCACHE_EMIT_SHAPE_H

#include "rcache/Plan.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rcache {

/// A maximal run of statements of one Block without a barrier inside, and
/// what of it is slot code. `Uniform` statements run before the slots.
struct Region {
  unsigned Block = 0;
  std::vector<unsigned> Uniform; ///< statements, text order
  std::vector<unsigned> Slot;    ///< live statements, text order
  std::vector<unsigned> All;     ///< every statement of the run
  std::vector<unsigned> Guards;  ///< If statements around it that are conditions
                                 ///< on each slot
  /// Inside a loop over taps: pure, so slots that have returned may run it.
  bool Speculative = false;
  /// Speculative but for stores that are collected: the values are computed for
  /// all slots, then each slot's conditions decide what is stored.
  bool StoresLate = false;
};

enum class Home { Local, Uniform, Repeated, Expanded };

struct Shape {
  std::set<unsigned> Dead;            ///< statements
  std::set<unsigned> DeadVars;
  std::set<unsigned> TapLoops;        ///< For statements with slots inside
  /// A tap loop that walks over the rows of streamed windows: each slot has its
  /// own round of it.
  int StreamLoop = -1;
  std::set<unsigned> GuardIfs;        ///< If statements around tap loops
  /// Statements written out as control flow of the thread, not of a slot.
  std::set<unsigned> Structural;
  std::vector<Region> Regions;        ///< in text order
  std::vector<Home> VarHome;          ///< by index in M.Vars
  /// Variables that all slots share although other declarators of the same
  /// statement are slot code: declared in front of the slots.
  std::set<unsigned> Hoisted;
  /// Slots may have returned: how later regions know.
  std::vector<unsigned> RepeatedGuards; ///< If statements to repeat
  bool ActiveFlags = false;             ///< a bool a slot instead
  /// Loops over taps that a thread runs only if one of its slots is there.
  std::set<unsigned> IfAnySlot;
  /// Variables of slots that may not have set them before they run such a loop.
  std::set<unsigned> Zeroed;

  int regionOf(unsigned Stmt, const KernelModel &M) const;
};

/// Computes the shape; an error text when the kernel's control flow cannot be
/// split into slot code.
struct ShapeResult {
  Shape S;
  std::optional<std::string> Error;
};
/// \p Mentioned: the identifiers in the text that emission makes itself (fills,
/// reads, vector stores): what they name has to stay.
ShapeResult shapeOf(const KernelModel &M, const Plan &P,
                    const std::set<std::string> &Mentioned);

} // namespace rcache

#endif // RCACHE_EMIT_SHAPE_H
