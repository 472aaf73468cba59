// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Staging groups: which writes of a shared array fill it between two barriers,
// and which reads see exactly these writes.
//
//     s[l] = a[g];                 }  writes of group 0
//     if (l < 2) s[l + n] = ...;   }
//     __syncthreads();                its barrier
//     b[g] = s[l] + s[l + 1];         reads of group 0
//
// A walk over the statement tree follows the state of one array: not written,
// being written, staged. Loops are walked twice, so that a read that sees the
// writes of the round before is found.

#ifndef RCACHE_PLAN_GROUPS_H
#define RCACHE_PLAN_GROUPS_H

#include "rcache/Model.h"

namespace rcache {

struct StagingGroup {
  unsigned Array = 0;
  unsigned Block = 0;   ///< the Block statement that holds writes and barrier
  unsigned Barrier = 0; ///< the barrier that ends the staging
  std::vector<unsigned> Writes; ///< indices in SharedAccesses, text order
  std::vector<unsigned> Reads;
  /// Some older contents may still be in the array when the group is staged
  /// (a loop, or an earlier group): then reads <= writes has to be proved.
  bool MayHoldOlder = false;
};

struct GroupsResult {
  std::vector<StagingGroup> Groups;
  std::optional<Decline> Reason; ///< set: the array has no such groups
  std::vector<std::string> Notes; ///< races of the original worth a word
};

/// The groups of array \p Array (index in M.Arrays). Pure.
GroupsResult findGroups(const KernelModel &M, unsigned Array);

/// The loop below the block of \p G, around \p Acc, whose iterator is symbol
/// \p Sym; null: none.
const Stmt *innerLoop(const KernelModel &M, const StagingGroup &G,
                      const SharedAccess &Acc, int Sym);

} // namespace rcache

#endif // RCACHE_PLAN_GROUPS_H
