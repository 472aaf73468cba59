// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows for statements from their children, and from barriers under
// conditions.

#include "Affine/IslTools.h"
#include "Executor.h"

using namespace clang;

namespace rcache {

/// Why threads may not arrive together at the barrier \p B inside \p S; that
/// they do not, where the blocks of all launches are known and tell so.
static Decline whyDivergent(const KernelModel &M, AffineArith &Arith,
                            const Stmt &S, const Stmt &B) {
  Decline Why{DeclineCode::DivergentBarrier, "", B.Pos};
  const std::string Cond = "'" + M.text(S.CondRange) + "'";
  if (S.K != Stmt::If)
    Why.Detail = "threads may leave the loop around it in different rounds" +
                 (S.CondRange.empty() ? "" : ": " + Cond);
  else
    Why.Detail = "the condition " + Cond + " may differ between threads";
  if (S.K != Stmt::If || S.Cond.is_null() || S.Domain.is_null() ||
      !S.DomainExact || !M.Geo.ConstBlock || !M.Geo.AllLaunchesConst)
    return Why;
  // Of threads alone, and every thread of every block gets there.
  isl::set Block = Arith.universe();
  const char *const Ids[] = {"tx", "ty", "tz", "bdx", "bdy", "bdz"};
  for (int A = 0; A < 3; ++A) {
    const isl::pw_aff T = Arith.symbol(Ids[A]), N = Arith.symbol(Ids[A + 3]);
    Block = Block.intersect(T.ge_set(Arith.constant(0)))
                .intersect(T.lt_set(N))
                .intersect(N.eq_set(Arith.constant((*M.Geo.ConstBlock)[A])));
  }
  const bool Threads = llvm::all_of(involvedIds(S.Cond), [&](auto &Id) {
    return llvm::is_contained(Ids, Id);
  });
  if (!Threads || !Block.is_subset(S.Domain) ||
      Block.intersect(S.Cond).is_empty() || Block.is_subset(S.Cond))
    return Why;
  Why.Detail = "the condition " + Cond +
               " holds for some threads of a block and not for others: as "
               "written its behaviour is undefined";
  Why.Undefined = true;
  return Why;
}

void summarise(KernelModel &M, AffineArith &Arith) {
  for (const SharedAccess &A : M.SharedAccesses) {
    Stmt &S = M.Stmts[A.Stmt];
    S.HasSharedAccess = true;
    S.HasSharedWrite |= A.K != SharedAccess::Read;
  }
  for (const GlobalAccess &A : M.GlobalAccesses) {
    Stmt &S = M.Stmts[A.Stmt];
    S.HasGlobalWrite |= A.K != GlobalAccess::Read;
    S.HasGlobalRead |= A.K != GlobalAccess::Write;
  }
  // Children have larger ids than their parents.
  for (size_t I = M.Stmts.size(); I-- > 0;) {
    Stmt &S = M.Stmts[I];
    S.HasBarrier |= S.K == Stmt::Barrier;
    S.HasReturn |= S.K == Stmt::Return;
    if (S.Parent < 0)
      continue;
    Stmt &P = M.Stmts[S.Parent];
    P.HasBarrier |= S.HasBarrier;
    P.HasReturn |= S.HasReturn;
    P.HasSharedAccess |= S.HasSharedAccess;
    P.HasSharedWrite |= S.HasSharedWrite;
    P.HasGlobalWrite |= S.HasGlobalWrite;
    P.HasGlobalRead |= S.HasGlobalRead;
    P.HasCall |= S.HasCall;
  }
  // A condition around a barrier that tells threads of the block apart, or a
  // loop that they leave at different times.
  for (const Stmt &B : M.Stmts) {
    if (B.K != Stmt::Barrier || B.Sync == Stmt::Syncwarp)
      continue;
    for (int P = B.Parent; P >= 0; P = M.Stmts[P].Parent)
      if (M.Stmts[P].CondDepends & DepThread) {
        M.Declines.push_back(whyDivergent(M, Arith, M.Stmts[P], B));
        break;
      }
  }
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Switch && (S.HasBarrier || S.HasSharedWrite))
      M.Declines.push_back({DeclineCode::Goto, "switch", S.Pos});
  // In the order of the text, as the contract says; an assignment evaluates
  // its right-hand side first.
  auto ByText = [](const auto &A, const auto &B) {
    return A.Range.Begin < B.Range.Begin;
  };
  std::sort(M.GlobalAccesses.begin(), M.GlobalAccesses.end(), ByText);
  std::sort(M.SharedAccesses.begin(), M.SharedAccesses.end(), ByText);
}

} // namespace rcache
