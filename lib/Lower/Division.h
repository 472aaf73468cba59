// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the original's statements are divided: which go, which run once a thread,
// which once a slot, and where each variable lives.
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

#ifndef RCACHE_LOWER_DIVISION_H
#define RCACHE_LOWER_DIVISION_H

#include "Queries.h"
#include "Speculation.h"
#include <map>
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

/// What the passes find out, one group of fields each, in their order.
struct Division {
  // Liveness.
  std::set<unsigned> Dead;            ///< statements
  std::set<unsigned> DeadVars;

  // Control flow.
  std::set<unsigned> TapLoops;        ///< For statements with slots inside
  /// A tap loop that walks over the rows of streamed windows: each slot has its
  /// own round of it.
  int StreamLoop = -1;
  std::set<unsigned> GuardIfs;        ///< If statements around tap loops
  /// Statements written out as control flow of the thread, not of a slot.
  std::set<unsigned> Structural;

  // Variables that differ from slot to slot.
  std::set<unsigned> SlotVars;

  // Regions.
  std::vector<Region> Regions;        ///< in text order
  std::map<unsigned, Speculation> Judged; ///< loops over taps

  // Homes.
  std::vector<Home> VarHome;          ///< by index in KernelModel::Vars
  /// Variables that all slots share although other declarators of the same
  /// statement are slot code: declared in front of the slots.
  std::set<unsigned> Hoisted;

  // Returns: how later regions know that slots have returned.
  std::vector<unsigned> RepeatedGuards; ///< If statements to repeat; mayStandFirst
  bool ActiveFlags = false;             ///< a bool a slot instead

  // Speculation.
  /// Loops over taps that a thread runs only if one of its slots is there.
  std::set<unsigned> IfAnySlot;
  /// Variables of slots that may not have set them before they run such a loop.
  std::set<unsigned> Zeroed;

  // Reads of tiles.
  /// A shared access that all slots of a region make before one of them computes.
  struct TileRead {
    int Loop = -1;       ///< around the region, in whose round k * Rounds it is made for
    unsigned Rounds = 1; ///< so many rounds, side by side; -1: for each round alone
  };
  std::map<unsigned, TileRead> ReadFirst; ///< by number in SharedAccesses

  /// Why the kernel cannot be divided like this.
  std::optional<std::string> Error;

  bool structural(unsigned Stmt) const { return Structural.count(Stmt) != 0; }
  /// The region that holds a statement, or a statement around it; -1: none.
  int regionOf(unsigned Stmt, const KernelModel &M) const;
  const Stmt *tapLoopAround(unsigned Stmt, const KernelModel &M) const;
  bool underGuard(unsigned Stmt, const KernelModel &M) const;
  /// Counts a loop that all slots run together: under a guard of the original
  /// it may have "depended" on the thread by control only.
  bool isTapIterator(unsigned Var, const KernelModel &M) const;
  /// In a statement that goes, or in the initialiser of a variable that goes.
  bool inDead(TextRange R, const Queries &Q) const;
  /// Everything used in \p R is the same for all slots.
  bool readsUniform(TextRange R, const Queries &Q) const;
  /// May \p Stmt run once a thread? \p Returned: slots may have left before it.
  bool isUniform(unsigned Stmt, bool Returned, const Queries &Q) const;
  /// Have slots left, or do they wait, where \p R runs?
  bool someSlotsOut(const Region &R, const KernelModel &M) const;
};

/// May the guard \p Guard of \p R, `if (g >= n) return;`, stand at the top of the region's
/// slots, and of those behind it? What a slot does in front of it counts for all slots:
///
///     out[g] = s[127 - t];
///     if (g >= n)
///       return;
bool mayStandFirst(const Queries &Q, const Division &D, const Region &R, unsigned Guard);

/// A read that would be hidden twice between two barriers: two products where the
/// original has one. Null: none would.
const SharedAccess *hiddenTwice(const Queries &Q, const Division &D);

/// An element of a sum of two products that is read at the barrier, where others of them are
/// in windows: which comes first for compilers hangs on what is loaded where. Null: there is
/// none.
const SharedAccess *readsApart(const Queries &Q);

/// An element that is read from its source, where that takes a branch or more than a load,
/// behind a product that is fused with sums of its block of code alone. Null: there is none.
const SharedAccess *branchInSum(const Queries &Q);

/// An array in registers of which every element is a number or made of arguments alone, where
/// products are summed: compilers know such numbers, and instructions can name arguments, which
/// what is read of shared memory is not. Null: there is none.
const ArrayPlan *knownElements(const Queries &Q);

/// A variable that is set in a region under a condition of slots and multiplied by a number in
/// another one: compilers know what slots hold that are out, and choose between products.
/// Null: there is none.
const Var *scaledAfterGuard(const Queries &Q, const Division &D);

/// A variable that holds a product for a sum of another region, with a condition of
/// slots between them: compilers fuse within a block of code. Null: there is none.
const Var *productUnderGuard(const Queries &Q, const Division &D);

//===--- The passes (Lower.cpp says why in this order) ---===//

/// Liveness.cpp: Dead, DeadVars.
void findDead(const Queries &Q, Division &D);
/// Control.cpp: StreamLoop, Structural, GuardIfs, TapLoops.
void findControlFlow(const Queries &Q, Division &D);
/// SlotVars.cpp: SlotVars.
void findSlotVars(const Queries &Q, Division &D);
/// Regions.cpp: Regions, Judged.
void findRegions(const Queries &Q, Division &D);
/// Homes.cpp: VarHome, Hoisted.
void placeVars(const Queries &Q, Division &D);
/// Homes.cpp: RepeatedGuards, ActiveFlags; homes of what they name.
void placeReturns(const Queries &Q, Division &D);
/// Speculation.cpp: IfAnySlot, Zeroed.
void prepareSpeculation(const Queries &Q, Division &D);
/// ReadFirst.cpp: ReadFirst.
void readTilesFirst(const Queries &Q, Division &D);
/// Homes.cpp: Error, where one thread cannot run what is another's.
void checkPairs(const Queries &Q, Division &D);

} // namespace rcache

#endif // RCACHE_LOWER_DIVISION_H
