// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "Finish.h"
#include <algorithm>

using namespace rcache;

std::optional<Decline> rcache::cannotUnroll(const KernelModel &M,
                                            const std::set<unsigned> &Loops) {
  for (unsigned L : Loops)
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier && M.stmt(L).Range.contains(S.Range))
        return Decline{DeclineCode::WindowTooLarge,
                       "a loop with barriers would have to be unrolled",
                       M.stmt(L).Pos};
  return std::nullopt;
}

/// Operators in the body of a loop, at least one: about its instructions.
static int64_t operators(const KernelModel &M, const Stmt &Loop) {
  int64_t N = 0;
  int Depth = 0;
  for (char C : M.text({Loop.HeaderRange.End, Loop.Range.End})) {
    Depth += C == '[';
    Depth -= C == ']';
    N += Depth == 0 && (C == '+' || C == '-' || C == '*' || C == '/');
  }
  return std::max<int64_t>(1, N / 2);
}

void rcache::unrollKeptLoops(const KernelModel &M, unsigned Slots,
                           std::set<unsigned> &Loops) {
  for (const SharedAccess &A : M.SharedAccesses) {
    if (A.K != SharedAccess::Read)
      continue;
    int64_t Rounds = Slots;
    for (int Q = static_cast<int>(A.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
      const Stmt &S = M.stmt(static_cast<unsigned>(Q));
      if (S.HasBarrier)
        break;
      if (S.K != Stmt::For || !S.ConstTripCount || S.HasUnrollPragma)
        continue;
      Rounds *= *S.ConstTripCount;
      // The unrolled code stays small for the instruction cache.
      if (Rounds * operators(M, S) <= 2048)
        Loops.insert(S.Id);
    }
  }
}
