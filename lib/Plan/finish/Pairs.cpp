// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h. A thread that changes its partner's element would hand it back:
//
//     p = t ^ j;  if (p > t && s[t] > s[p]) swap(s[t], s[p]);
//
// One of the two runs, which one a bit of its number says. Let the other run
// the same, under that number: then each has changed what it owns by itself,
// and one shuffle is saved. Where both elements are in one lane, there is none
// at all.
//
// That takes statements which do nothing else: whatever they set is of owned
// arrays, or their own; and what they use is the same for both, or a function
// of the thread's number.

#include "../placements/OwnedFetches.h"
#include "Affine/IslTools.h"
#include "Finish.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {

class Pairs {
public:
  Pairs(const KernelModel &M, const Assumptions &A, Plan &P)
      : M(M), A(A), P(P), Count(M, A) {}

  void find() {
    if (llvm::any_of(M.Stmts,
                     [](const Stmt &S) { return S.K == Stmt::Return; }))
      return; // some threads might not be there
    for (const ArrayPlan &Of : P.Arrays)
      if (const auto *O = Of.as<Owned>())
        for (const Owned::Fetch &F : O->Fetches)
          if (F.Written && F.K == Owned::Fetch::Flipped)
            pair(F);
    for (ArrayPlan &Of : P.Arrays)
      if (auto *O = Of.as<Owned>())
        for (Owned::Fetch &F : O->Fetches)
          if (F.Written && F.K == Owned::Fetch::Flipped &&
              P.paired(M.SharedAccesses[F.Accesses.front()].Range))
            F.Shuffles /= 2; // nothing goes back
  }

private:
  const KernelModel &M;
  const Assumptions &A;
  Plan &P;
  const Counters Count;

  void pair(const Owned::Fetch &F) {
    const SharedAccess &S = M.SharedAccesses[F.Accesses.front()];
    PairedInterval I;
    I.Statements = intervalOf(M, S);
    I.Bit = F.By;
    if (P.paired(I.Statements) || !isOneBit(F.By, S.Stmt) ||
        !doesNothingElse(M, I.Statements, /*MayStore=*/false) ||
        !namesTheSame(M, I.Statements) ||
        !usesPairs(I))
      return;
    bool Lower = true, Upper = true;
    for (const SharedAccess &W : M.SharedAccesses)
      if (W.K != SharedAccess::Read && I.Statements.contains(W.Range))
        runs(W, F.By, Lower, Upper);
    I.Upper = !Lower;
    if (!Lower && !Upper)
      return;
    for (const Stmt &If : M.Stmts)
      if (If.K == Stmt::If && I.Statements.contains(If.Range) && isMet(If, I))
        I.Met.push_back(If.Id);
    P.Paired.push_back(std::move(I));
  }

  /// Does the condition hold for all threads that run?
  bool isMet(const Stmt &If, const PairedInterval &I) const {
    if (If.Cond.is_null())
      return false;
    const isl::ctx Ctx = M.Ctx->ctx();
    const auto Visits = Count.at(If.Id);
    return !Visits.empty() &&
           llvm::all_of(Visits, [&](const Counters::Values &V) {
             const auto Bit = isConstant(atCounts(I.Bit, V));
             if (!Bit)
               return false;
             const isl::pw_aff Has =
                 floorMod(floorDiv(symbolValue(Ctx, "tx"), *Bit), 2);
             const isl::set Run =
                 atCounts(A.Context, V)
                     .intersect(Has.eq_set(constantValue(Ctx, I.Upper)));
             return Run.is_subset(at(M, A, A.fix(If.Cond), V));
           });
  }

  bool isOneBit(const isl::pw_aff &By, unsigned Stmt) const {
    const auto Visits = Count.at(Stmt, involvedIds(By));
    return !Visits.empty() &&
           llvm::all_of(Visits, [&](const Counters::Values &V) {
             const auto Bit = isConstant(atCounts(By, V));
             return Bit && *Bit > 0 && (*Bit & (*Bit - 1)) == 0;
           });
  }

  /// Are the thread's own element and its partner's all that is used, of each
  /// array both?
  bool usesPairs(const PairedInterval &I) const {
    std::set<unsigned> Used, Fetched;
    for (unsigned N = 0; N < M.SharedAccesses.size(); ++N) {
      const SharedAccess &S = M.SharedAccesses[N];
      if (!I.Statements.contains(S.Range))
        continue;
      const Owned *O = P.owned(S.Array);
      if (!O)
        return false;
      Used.insert(S.Array);
      if (const Owned::Fetch *F = O->fetchOf(N)) {
        if (F->K != Owned::Fetch::Flipped ||
            !equalUnder(F->By, I.Bit, always(M.Ctx->ctx())))
          return false;
        Fetched.insert(S.Array);
      } else if (const auto It = O->PartOf.find(N);
                 It == O->PartOf.end() || isConstant(It->second) != 0)
        return false;
    }
    return Used == Fetched;
  }

  /// Which threads execute \p W: those without the bit alone (\p Lower), those
  /// with it (\p Upper)?
  void runs(const SharedAccess &W, const isl::pw_aff &By, bool &Lower,
            bool &Upper) const {
    const isl::ctx Ctx = M.Ctx->ctx();
    for (const Counters::Values &V : Count.at(W.Stmt)) {
      const auto Bit = isConstant(atCounts(By, V));
      if (!Bit) {
        Lower = Upper = false;
        return;
      }
      const isl::set When = at(M, A, A.fix(W.Domain).intersect(A.Context), V);
      const isl::pw_aff Has =
          floorMod(floorDiv(symbolValue(Ctx, "tx"), *Bit), 2);
      Lower &= When.intersect(Has.eq_set(constantValue(Ctx, 1))).is_empty();
      Upper &= When.intersect(Has.eq_set(constantValue(Ctx, 0))).is_empty();
      if (!Lower && !Upper)
        return;
    }
  }
};

} // namespace

void rcache::findPairs(const KernelModel &M, const Assumptions &A, Plan &P) {
  if (llvm::any_of(P.Arrays,
                   [](const ArrayPlan &Of) { return Of.as<Owned>(); }))
    Pairs(M, A, P).find();
}
