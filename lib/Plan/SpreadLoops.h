// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What SpreadOutputs.cpp asks of a single loop. May throw isl::exception.

#ifndef RCACHE_PLAN_SPREADLOOPS_H
#define RCACHE_PLAN_SPREADLOOPS_H

#include "Staging.h"
#include "rcache/Model.h"
#include <optional>
#include <vector>

namespace rcache {

/// The values that the counter of a loop takes, all threads together.
struct LoopValues {
  int64_t First = 0;
  int64_t Count = 0;
};

/// Of a loop that is shared out among threads, `for (j = ty; j < 34; j += 8)`;
/// its header may ask for more. nullopt: they are not known, or too many.
std::optional<LoopValues> sharedOutValues(const KernelModel &M,
                                          const Assumptions &A, const Stmt &L);

/// A parameter that bounds the rounds of such a loop.
struct LoopBound {
  std::string Name;   ///< of the parameter, in the words of the kernel
  int64_t AtMost = 0; ///< its largest value with so many rounds
};

/// How far the counter of a loop that is shared out along x has come from thread 0's
/// first value: [symbols] -> { [v] }; null: another loop.
Nullable<isl::pw_aff> passedIn(const KernelModel &M, const Assumptions &A, const Stmt &L);

/// Of a loop that is shared out among \p Threads threads along x: the parameter whose
/// value, whatever all others are, tells that no thread runs more than \p Rounds rounds.
/// nullopt: there is none, or blocks begin at different places (each has a part of the
/// launch's data, whose size tells little).
std::optional<LoopBound> boundOfRounds(const KernelModel &M, const Assumptions &A,
                                       const Stmt &L, int64_t Threads, int64_t Rounds);

/// The statements that leave a round of \p L, or the loop, early, if all that
/// is skipped then has no effect behind the thread's own round: behind the loop
/// nothing is stored or waited for, and where one round leaves the loop, the
/// rounds after it would leave at once as well. Then each of them may be a
/// `return` where a thread runs one round. nullopt: that is not so.
std::optional<std::vector<unsigned>>
jumpsThatEndRounds(const KernelModel &M, const Assumptions &A, const Stmt &L);

/// May two rounds of \p L, run by one thread, write the same element by \p A and
/// \p B, two writes in it?
bool meetInRounds(const KernelModel &M, const Assumptions &As,
                  const SharedAccess &A, const SharedAccess &B, const Stmt &L);

/// Does the body of \p L use the thread's index along \p Axis through the counter
/// alone?
bool usesCounterOnly(const KernelModel &M, const Stmt &L, unsigned Axis);

} // namespace rcache

#endif // RCACHE_PLAN_SPREADLOOPS_H
