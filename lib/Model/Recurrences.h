// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers that a loop with barriers hands from round to round, alike in all
// threads (Stmt::Recurrence): distances that are halved, `offset *= 2`, the
// number of the buffer that is read, `a = 1 - a`. The symbols that stand for
// them at a round's start and behind the loop can so be told round by round.

#ifndef RCACHE_LIB_MODEL_RECURRENCES_H
#define RCACHE_LIB_MODEL_RECURRENCES_H

#include "Executor.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rcache {

/// Watches the environment while a loop is executed. Adds no symbols; what is
/// not known of a variable is left out.
class Executor::Recurring {
public:
  Recurring(Executor &X, unsigned Id) : X(X), Id(Id) {}

  /// Called where a round starts, with what \p Changed held \p Before the loop.
  /// (Without this call, nothing is recorded.)
  void roundStarts(const Variables &Changed, const Environment &Before);
  /// Called behind that, with what executes a round: it is executed on trial, and
  /// between what the integers lie that take on few values (`a = 1 - a` from 0) is
  /// known in the round and behind the loop.
  void findBounds(llvm::function_ref<void()> Round);
  /// Called with the environment at the end of the round, its step included.
  void roundEnds();
  /// Called with the environment behind the loop.
  void loopEnds();

private:
  struct Watched {
    const clang::VarDecl *V;
    Stmt::Recurrence R;
    std::optional<std::pair<int64_t, int64_t>> Within; ///< least and greatest
  };
  using Bounds = decltype(Watched::Within);
  /// The symbol that \p V is, and nothing else; -1: none.
  int symbolOf(const clang::VarDecl *V) const;
  using Group = std::vector<Watched *>;
  bool follow(Group &All, llvm::function_ref<void()> Round);
  void lies(int Symbol, const Bounds &B);

  Executor &X;
  const unsigned Id; ///< of the loop
  std::vector<Watched> All;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_RECURRENCES_H
