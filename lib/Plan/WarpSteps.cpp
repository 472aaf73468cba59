// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WarpSteps.h.

#include "WarpSteps.h"
#include "Affine/IslTools.h"
#include "rcache/WarpTails.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// May two threads mean the same element of a shared array by \p A and by \p B?
/// nullopt: not known.
static std::optional<bool> meet(const KernelModel &M, const SharedAccess &A,
                                const SharedAccess &B) {
  if (A.Array != B.Array)
    return false;
  if (!A.Affine || !B.Affine || A.Domain.is_null() || B.Domain.is_null() ||
      M.Context.is_null() || A.Index.size() != B.Index.size())
    return std::nullopt;
  const isl::ctx Ctx = M.Ctx->ctx();
  const isl::pw_aff Other = symbolValue(Ctx, "other thread");
  const Substitution Swap = {{"tx", Other}};
  isl::set Both =
      A.Domain.intersect(M.Context)
          .intersect(substitute(isl::set(B.Domain).intersect(M.Context), Swap))
          .intersect(symbolValue(Ctx, "tx").ne_set(Other));
  for (size_t D = 0; D < A.Index.size(); ++D)
    Both = Both.intersect(equalTo(A.Index[D], substitute(B.Index[D], Swap)));
  return !Both.is_empty();
}

std::vector<unsigned> rcache::accessesIn(const KernelModel &M, TextRange In) {
  std::vector<unsigned> All;
  for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
    if (In.contains(M.SharedAccesses[I].Range))
      All.push_back(I);
  return All;
}

bool rcache::writes(const SharedAccess &S) { return S.K != SharedAccess::Read; }

std::optional<bool> rcache::lanesMeet(const KernelModel &M, TextRange In) {
  bool Known = true;
  for (unsigned W : accessesIn(M, In))
    for (unsigned R : accessesIn(M, In)) {
      if (W == R || !writes(M.SharedAccesses[W]))
        continue;
      const auto Is = meet(M, M.SharedAccesses[W], M.SharedAccesses[R]);
      if (Is && *Is)
        return true;
      Known &= Is.has_value();
    }
  return Known ? std::optional(false) : std::nullopt;
}

bool rcache::isOneDim(const KernelModel &M) {
  return llvm::none_of(M.Builtins, [](const BuiltinUse &U) {
    return U.K == Symbol::ThreadIdx && U.Axis != 0;
  });
}

bool rcache::holdsSyncwarp(const KernelModel &M, const Stmt &S) {
  return (S.K == Stmt::Barrier && S.Sync == Stmt::Syncwarp) ||
         llvm::any_of(S.Children,
                      [&](unsigned C) { return holdsSyncwarp(M, M.stmt(C)); });
}

bool rcache::holdsExchange(const KernelModel &M, TextRange In) {
  return llvm::any_of(M.LaneExchanges, [&](const LaneExchange &X) {
    return In.contains(X.Range);
  });
}

bool rcache::isOfOneWarp(const KernelModel &M, const Stmt &If) {
  if (!(If.CondDepends & DepThread) || If.Cond.is_null() || M.Context.is_null())
    return false;
  const isl::ctx Ctx = M.Ctx->ctx();
  return isl::set(If.Cond)
      .intersect(M.Context)
      .intersect(symbolValue(Ctx, "tx").ge_set(constantValue(Ctx, 32)))
      .is_empty();
}

/// Is there a barrier between the two, in the text?
static bool isBetween(const KernelModel &M, TextRange A, TextRange B) {
  return llvm::any_of(M.Stmts, [&](const Stmt &S) {
    return S.K == Stmt::Barrier && S.Range.Begin >= A.End &&
           S.Range.End <= B.Begin;
  });
}

std::optional<Decline> rcache::stepIn(const KernelModel &M, const Stmt &Tail) {
  const std::vector<unsigned> All = accessesIn(M, Tail.Range);
  for (unsigned W : All)
    for (unsigned R : All) {
      const SharedAccess &To = M.SharedAccesses[W], &Of = M.SharedAccesses[R];
      if (!writes(To) || Of.K == SharedAccess::Write || To.Stmt == Of.Stmt ||
          Of.Range.Begin < To.Range.Begin || !To.DomainExact ||
          !Of.DomainExact || isBetween(M, To.Range, Of.Range) ||
          !meet(M, Of, To).value_or(false))
        continue;
      return Decline{DeclineCode::VolatileTail,
                     "'" + M.text(Of.Range) +
                         "' is what another lane has made of it in line " +
                         std::to_string(To.Pos.Line),
                     Of.Pos};
    }
  return std::nullopt;
}

static std::optional<Decline> stepOf(const KernelModel &M) {
  if (isOneDim(M))
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::If && isOfOneWarp(M, S))
        if (auto Step = stepIn(M, S))
          return Step;
  return std::nullopt;
}

std::optional<Decline> rcache::countsOnStep(const KernelModel &M) {
  auto Result = guarded([&] { return stepOf(M); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
