// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Counters.h.

#include "Counters.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

namespace {
constexpr size_t MostRounds = 64;   ///< of a loop each time
constexpr size_t MostVisits = 4096; ///< of all statements together
} // namespace

isl::pw_aff rcache::atCounts(isl::pw_aff V, const Counters::Values &Known) {
  for (const std::string &Id : involvedIds(V))
    if (const auto It = Known.find(Id); It != Known.end())
      V = bindConst(V, Id, It->second);
  return V;
}

isl::set rcache::atCounts(isl::set S, const Counters::Values &Known) {
  for (const std::string &Id : involvedIds(S))
    if (const auto It = Known.find(Id); It != Known.end())
      S = bindConst(S, Id, It->second);
  return S;
}

/// The number that \p V is; nullopt: it hangs on more than \p Known.
static std::optional<int64_t> number(const isl::pw_aff &V,
                                     const Counters::Values &Known) {
  const isl::pw_aff Bound = atCounts(V, Known);
  return involvedIds(Bound).empty() ? isConstant(Bound) : std::nullopt;
}

/// Whether \p S holds; nullopt: it hangs on more than \p Known.
static std::optional<bool> holds(const isl::set &S,
                                 const Counters::Values &Known) {
  const isl::set Bound = atCounts(S, Known);
  if (Bound.is_empty())
    return false;
  return involvedIds(Bound).empty() ? std::optional(true) : std::nullopt;
}

/// \p V as a variable of the kind has it; nullopt: it does not fit.
static std::optional<int64_t> fitting(std::optional<int64_t> V,
                                      const Stmt::Recurrence &R) {
  if (!V || R.Bits > 32)
    return V;
  const int64_t Most = (int64_t(1) << (R.Signed ? R.Bits - 1 : R.Bits)) - 1,
                Least = R.Signed ? -Most - 1 : 0;
  return *V >= Least && *V <= Most ? V : std::nullopt;
}

Counters::Counters(const KernelModel &M, const Assumptions &A)
    : M(M), A(A), Visits(M.Stmts.size()), Seen(M.Stmts.size()),
      Left(MostVisits) {
  auto Add = [&](int Symbol, unsigned Loop) {
    if (Symbol >= 0)
      Loops.emplace(M.Symbols[static_cast<size_t>(Symbol)].Id, Loop);
  };
  for (const Stmt &S : M.Stmts)
    if (S.HasBarrier) {
      Add(S.IterSymbol, S.Id);
      for (const Stmt::Recurrence &R : S.Carried) {
        Add(R.Symbol, S.Id);
        Add(R.After, S.Id);
      }
    }
  Values Now;
  for (const auto &[Id, V] : A.Fixed)
    if (const auto C = isConstant(V))
      Now[Id] = *C;
  visit(0, Now);
}

const std::vector<Counters::Values> &Counters::at(unsigned Stmt) const {
  while (Visits[Stmt].empty() && M.stmt(Stmt).Parent >= 0)
    Stmt = static_cast<unsigned>(M.stmt(Stmt).Parent);
  return Visits[Stmt];
}

std::vector<Counters::Values>
Counters::at(unsigned Stmt, const std::vector<std::string> &Ids) const {
  std::set<Values> Differ;
  for (const Values &V : at(Stmt)) {
    Values Of;
    for (const std::string &Id : Ids)
      if (const auto It = V.find(Id); It != V.end())
        Of.insert(*It);
    Differ.insert(std::move(Of));
  }
  return {Differ.begin(), Differ.end()};
}

int Counters::loopOf(const std::string &Id) const {
  const auto It = Loops.find(Id);
  return It == Loops.end() ? -1 : static_cast<int>(It->second);
}

void Counters::visit(unsigned Id, Values &Now) {
  const Stmt &S = M.stmt(Id);
  if (!S.HasBarrier && Id != 0) {
    if (!Seen[Id].insert(Now).second)
      return;
    if (Left > 0) {
      --Left;
      Visits[Id].push_back(Now);
    } else
      Visits.assign(M.Stmts.size(), {}); // too many: nothing is known
    return;
  }
  if (S.K != Stmt::For && S.K != Stmt::While && S.K != Stmt::Do) {
    for (unsigned C : S.Children)
      visit(C, Now);
    return;
  }
  forget(S, Now);
  if (Values Copy = Now; run(S, Copy)) {
    Now = std::move(Copy);
    Known.insert(Id);
    return;
  }
  // Some round: nothing is known of what the loop changes.
  Unknown.insert(Id);
  Values Copy = Now;
  for (unsigned C : S.Children)
    visit(C, Copy);
}

/// What \p Loop, and loops in it, set the last time.
void Counters::forget(const Stmt &Loop, Values &Now) const {
  for (auto It = Now.begin(); It != Now.end();) {
    const int Of = loopOf(It->first);
    if (Of >= 0 && Loop.Range.contains(M.stmt(static_cast<unsigned>(Of)).Range))
      It = Now.erase(It);
    else
      ++It;
  }
}

/// Of the variables that \p Loop carries: what they hold in front of it, or at
/// the end of a round.
Counters::Carried Counters::carried(const Stmt &Loop, bool First,
                                    const Values &Now) const {
  Carried All;
  for (const Stmt::Recurrence &R : Loop.Carried)
    All.push_back(fitting(number(A.fix(First ? R.First : R.Next), Now), R));
  return All;
}

void Counters::set(const Stmt &Loop, int Stmt::Recurrence::*Symbol,
                   const Carried &To, Values &Now) const {
  for (size_t I = 0; I < To.size(); ++I) {
    const int Sym = Loop.Carried[I].*Symbol;
    if (Sym < 0)
      continue;
    const std::string &Id = M.Symbols[static_cast<size_t>(Sym)].Id;
    Now.erase(Id);
    if (To[I])
      Now[Id] = *To[I];
  }
}

/// False: when it ends is not known. \p Now is what holds behind it.
bool Counters::run(const Stmt &Loop, Values &Now) {
  const bool Counted = Loop.IterVar >= 0;
  const Nullable<isl::set> &Goes = Counted ? Loop.IterDomain : Loop.Cond;
  if (Loop.Children.empty() || Goes.is_null())
    return false;
  if (Counted ? Loop.IterSymbol < 0 || !Loop.Step || Loop.Init.is_null() ||
                    Loop.Cooperative || !M.countsItself(Loop)
              : Loop.Carried.empty())
    return false;
  const isl::set While = A.fix(Goes);
  std::optional<int64_t> Iter = 0;
  std::string IterId;
  if (Counted) {
    IterId = M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id;
    Iter = number(A.fix(Loop.Init), Now);
    if (!Iter)
      return false;
  }
  Carried Values = carried(Loop, true, Now);
  for (size_t Round = 0;; ++Round) {
    set(Loop, &Stmt::Recurrence::Symbol, Values, Now);
    if (Counted)
      Now[IterId] = *Iter;
    const auto Before =
        Loop.K == Stmt::Do ? std::optional(true) : holds(While, Now);
    if (!Before || (*Before && Round == MostRounds))
      return false;
    if (!*Before)
      break;
    visit(Loop.Children[0], Now);
    const auto Again =
        Loop.K == Stmt::Do ? holds(While, Now) : std::optional(true);
    if (!Again)
      return false;
    Values = carried(Loop, false, Now);
    if (!*Again)
      break;
    if (Counted)
      *Iter += *Loop.Step;
  }
  set(Loop, &Stmt::Recurrence::After, Values, Now);
  return true;
}
