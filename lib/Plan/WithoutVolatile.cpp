// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/WithoutVolatile.h. A walk over the statements keeps what has been used since
// the last barrier, each loop's body twice: behind its last statement comes its first.
// What loops with barriers count is the same for all threads in one round; all else that
// is not known, and what a round before has left, may be anything.

#include "rcache/WithoutVolatile.h"
#include "Affine/IslTools.h"
#include "Values.h"
#include "Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <set>

using namespace rcache;

namespace {

/// `= s`, `= &s[k]`, `= s + k`, or the same of another such pointer; or all that \p V is
/// used for is to name elements whose accesses are known.
bool pointsToShared(const KernelModel &M, const Var &V) {
  if (V.Assigned || V.AddressTaken)
    return false;
  const auto IsElement = [&](const VarUse &U) {
    return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &S) {
      return S.Range.Begin == U.Range.Begin && S.Range.contains(U.Range);
    });
  };
  if (llvm::all_of(M.VarUses, [&](const VarUse &U) {
        return &M.Vars[U.Var] != &V || IsElement(U);
      }))
    return true;
  llvm::StringRef Init = llvm::StringRef(M.Text).slice(V.InitRange.Begin, V.InitRange.End);
  Init = Init.ltrim("&( ");
  const llvm::StringRef Name = Init.take_while(isNameChar);
  return llvm::any_of(M.Arrays, [&](const SharedArray &A) { return Name == A.Name; }) ||
         llvm::any_of(M.Vars, [&](const Var &Of) {
           return Of.Name == Name && Of.DeclRange.End <= V.DeclRange.Begin &&
                  pointsToShared(M, Of);
         });
}

/// Accesses since a barrier; true: of a round before.
using Since = std::map<unsigned, bool>;

class Walk {
public:
  explicit Walk(const KernelModel &M) : M(M) {}

  bool run() {
    Since Now;
    return in(M.stmt(0), Now);
  }

private:
  const KernelModel &M;

  isl::ctx ctx() const { return M.Ctx->ctx(); }

  bool in(const Stmt &S, Since &Now) {
    if (S.K == Stmt::Barrier) {
      if (S.Sync != Stmt::Syncwarp)
        Now.clear();
      return true;
    }
    if (!S.isLoop())
      return add(S, Now) && parts(S, Now);
    const Since Before = Now;
    // (A round that is left or begun in its middle.)
    if (S.HasBarrier && llvm::any_of(M.Stmts, [&](const Stmt &X) {
          return (X.K == Stmt::Break || X.K == Stmt::Continue) && S.Range.contains(X.Range);
        }))
      return false;
    for (int Round = 0; Round < 2; ++Round) {
      for (auto &[Access, Old] : Now)
        Old |= Round > 0;
      if (!add(S, Now) || !parts(S, Now))
        return false;
    }
    for (const auto &[Access, Old] : Before)
      Now[Access] |= Old;
    return true;
  }

  bool parts(const Stmt &S, Since &Now) {
    if (S.K == Stmt::If) {
      Since All = Now;
      for (unsigned C : S.Children) {
        Since Branch = Now;
        if (!in(M.stmt(C), Branch))
          return false;
        for (const auto &[Access, Old] : Branch)
          All[Access] |= Old;
      }
      // (A barrier in both branches would leave less.)
      Now = std::move(All);
      return true;
    }
    if (S.K == Stmt::Switch && S.HasBarrier)
      return false;
    return llvm::all_of(S.Children, [&](unsigned C) { return in(M.stmt(C), Now); });
  }

  /// What \p S itself uses.
  bool add(const Stmt &S, Since &Now) {
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &A = M.SharedAccesses[I];
      if (A.Stmt != S.Id || !M.Arrays[A.Array].Volatile)
        continue;
      if (!A.Affine || A.Domain.is_null())
        return false;
      Now.try_emplace(I, false); // (what a round before has left is still there)
      for (const auto &[Other, Old] : Now)
        if (mayMeet(A, M.SharedAccesses[Other], Old))
          return false;
    }
    return true;
  }

  /// Loops with barriers around both.
  std::set<std::string> countedAlike(const SharedAccess &A, const SharedAccess &B) const {
    std::set<std::string> Ids;
    for (const Stmt &L : M.Stmts) {
      if (!L.isLoop() || !L.HasBarrier || !L.Range.contains(A.Range) ||
          !L.Range.contains(B.Range))
        continue;
      std::vector<int> Of = {L.IterSymbol, L.FactorSymbol};
      for (const Stmt::Recurrence &R : L.Carried)
        Of.push_back(R.Symbol);
      for (int S : Of)
        if (S >= 0)
          Ids.insert(M.Symbols[static_cast<size_t>(S)].Id);
    }
    return Ids;
  }

  /// [symbols] -> elements of \p A, as parameters, by thread, and by \p Alike.
  isl::set elements(const SharedAccess &A, const std::set<std::string> &Alike) const {
    isl::set E = A.Domain;
    if (!M.Context.is_null())
      E = E.intersect(M.Context);
    for (size_t D = 0; D < A.Index.size(); ++D)
      E = E.intersect(
          A.Index[D].eq_set(symbolValue(ctx(), "element " + std::to_string(D))));
    std::vector<std::string> Gone;
    for (const std::string &Id : involvedIds(E)) {
      const int I = M.symbolIndex(Id);
      if (I < 0 || Alike.count(Id))
        continue;
      const Symbol &S = M.Symbols[static_cast<size_t>(I)];
      const bool Fixed =
          S.K != Symbol::Iterator &&
          (S.K != Symbol::Opaque ||
           (S.Anywhere && !(S.Depends & (DepThread | DepShared | DepGlobal))));
      if (!Fixed)
        Gone.push_back(Id);
    }
    return projectOut(E, Gone);
  }

  /// May two threads mean the same element, and one change it?
  bool mayMeet(const SharedAccess &A, const SharedAccess &B, bool Old) const {
    if (A.Array != B.Array || (A.K == SharedAccess::Read && B.K == SharedAccess::Read))
      return false;
    const std::set<std::string> Alike = Old ? std::set<std::string>() : countedAlike(A, B);
    Substitution Swap;
    Nullable<isl::set> Differ;
    for (const char *T : {"tx", "ty", "tz"}) {
      const isl::pw_aff Other = symbolValue(ctx(), std::string("other ") + T);
      Swap.emplace(T, Other);
      const isl::set Apart = symbolValue(ctx(), T).ne_set(Other);
      Differ = Differ.is_null() ? Apart : isl::set(Differ).unite(Apart);
    }
    return !elements(A, Alike)
                .intersect(substitute(elements(B, Alike), Swap))
                .intersect(Differ)
                .is_empty();
  }
};

} // namespace

std::optional<std::string> rcache::dropVolatile(const KernelModel &M, std::string Text) {
  const std::string Word = "volatile ";
  const auto Times = [&](llvm::StringRef In) { return In.count(Word); };
  size_t Known = 0;
  for (const SharedArray &A : M.Arrays) {
    if (!A.Volatile)
      continue;
    Known += Times(M.text(A.DeclRange));
    for (const SharedAccess &S : M.SharedAccesses)
      if (&M.Arrays[S.Array] == &A && (!S.Affine || !S.DomainExact))
        return std::nullopt;
  }
  for (const Var &V : M.Vars)
    if (V.Type.find("volatile") != std::string::npos && pointsToShared(M, V) && V.OnlyDeclarator)
      Known += Times(M.text(V.DeclRange));
  if (Known != Times(Text))
    return std::nullopt;
  for (size_t I = 0; (I = Text.find(Word, I)) != std::string::npos;)
    Text.erase(I, Word.size());
  return Text;
}

std::optional<OtherBody> rcache::withoutVolatile(const KernelModel &M) {
  if (llvm::none_of(M.Arrays, [](const SharedArray &A) { return A.Volatile; }))
    return std::nullopt;
  const std::string Is = M.text(M.BodyRange);
  auto Text = dropVolatile(M, Is);
  if (!Text || *Text == Is)
    return std::nullopt;
  // (A product that is read back is rounded in memory; else it may become part of a sum.)
  if (llvm::any_of(M.SharedAccesses, [&](const SharedAccess &S) {
        return M.Arrays[S.Array].Volatile && S.K != SharedAccess::Read &&
               (losesRounding(S, M) || (S.K != SharedAccess::Write && M.Multiplies));
      }))
    return std::nullopt;
  M.Ctx->resetBudget();
  auto Apart = guarded([&] { return Walk(M).run(); });
  if (!Apart) {
    llvm::consumeError(Apart.takeError());
    return std::nullopt;
  }
  if (!*Apart)
    return std::nullopt;
  OtherBody R;
  R.Text = std::move(*Text);
  R.Form = M.Form;
  return R;
}
