// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes ask about a range of the original's text under a plan: what is
// read, written and used in it, and what of that is written anew.

#ifndef RCACHE_LOWER_QUERIES_H
#define RCACHE_LOWER_QUERIES_H

#include "rcache/Plan.h"
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rcache {

/// MadeNames.cpp: the variables that code made for \p P may name.
std::set<unsigned> madeVariables(const KernelModel &M, const Plan &P);

/// `[4][8]`: the extents of what has one element a slot.
std::string slotExtents(const Plan &P);
/// The array whose tile of joined blocks \p Access reads; null: it reads none.
const ArrayPlan *tileRead(const Plan &P, unsigned Access);

class Queries {
public:
  /// \p Made: madeVariables.
  Queries(const KernelModel &M, const Plan &P, std::set<unsigned> Made);

  const KernelModel &M;
  const Plan &P;
  std::set<unsigned> RegisterArrays; ///< those that leave shared memory
  const std::set<unsigned> Made;

  //===--- Memory ---===//

  bool writesGlobal(TextRange R) const;
  bool readsGlobal(TextRange R) const;
  /// Reads through pointers: not for slots that have returned.
  bool readsPointers(TextRange R) const;
  /// Any access to a shared array.
  bool touchesShared(TextRange R) const;
  /// Reads an array that stays in shared memory, whoever fills it.
  bool readsKept(TextRange R) const;
  bool isKeptRead(const SharedAccess &A) const;
  bool isWindowRead(const SharedAccess &A) const;
  /// In shared memory, in copies that all threads fill.
  bool isRestaged(unsigned Array) const;
  bool isStagingWrite(const Stmt &S) const;
  /// A read outside a window, hidden where it is read: slots could have products
  /// in common (KernelModel::OwnViews).
  bool isHiddenAlone(const SharedAccess &A) const;
  /// One of Plan::VectorStores.
  bool isCollected(unsigned Access) const;
  /// Collected, but stored by each slot in the words of the original.
  bool isSingleStore(unsigned Access) const;
  /// Reads an array of the file, not memory behind a pointer.
  bool isFileArrayRead(const GlobalAccess &G) const;

  //===--- Variables ---===//

  /// Within an access that is written anew: a register, a store.
  bool inReplaced(TextRange R) const;
  const std::vector<const VarUse *> &usesOf(unsigned V) const;
  bool uses(TextRange R, int V) const;
  /// Writes nothing but the variables in \p Only (null: none).
  bool writesOnly(TextRange R, const std::set<unsigned> *Only) const;
  /// Generated code may name it: at a barrier, a read or a store in its scope.
  bool isMade(unsigned V) const;

  //===--- Statements ---===//

  bool declaresArray(const Stmt &S) const;
  /// The header of a loop has the same value in all threads of a block.
  bool sameForAll(TextRange R) const;
  /// A condition that can be evaluated again wherever it is asked.
  bool repeatable(TextRange R) const;
  /// Are integers divided by what may be 0 in \p R?
  bool divides(TextRange R) const;
  /// `if (cond) return;` with such a condition.
  bool isRepeatableGuard(const Stmt &S) const;

private:
  std::vector<TextRange> Replaced;
  std::vector<std::vector<const VarUse *>> Uses;
};

} // namespace rcache

#endif // RCACHE_LOWER_QUERIES_H
