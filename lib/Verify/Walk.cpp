// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block's way through the kernel, with the numbers that its threads count
// alike (Stmt::Carried). See World.h.

#include "Affine/IslTools.h"
#include "World.h"

namespace rcache::verify {

namespace {
constexpr unsigned MaxWalked = 4096; ///< rounds of one loop
} // namespace

bool World::isKnown(const std::vector<std::string> &Ids) const {
  for (const unsigned I : positions(Ids))
    if (!Known[I])
      return false;
  return true;
}

std::vector<std::optional<int64_t>>
World::carriedBy(const Stmt &Loop,
                 Nullable<isl::pw_aff> Stmt::Recurrence::*What) {
  std::vector<std::optional<int64_t>> All;
  for (const Stmt::Recurrence &R : Loop.Carried) {
    std::optional<int64_t> V;
    if (isKnown(involvedIds(R.*What)))
      V = value(R.*What);
    // Arithmetic of the variable's type; unlike values are not followed.
    const int64_t Most =
        R.Bits < 64 ? (int64_t(1) << (R.Signed ? R.Bits - 1 : R.Bits)) - 1
                    : INT64_MAX;
    if (V && (*V > Most || *V < (R.Signed ? -Most - 1 : 0)))
      V.reset();
    All.push_back(V);
  }
  return All;
}

void World::setCarried(const Stmt &Loop, int Stmt::Recurrence::*Symbol,
                       const std::vector<std::optional<int64_t>> &To) {
  for (size_t I = 0; I < To.size(); ++I) {
    if (Loop.Carried[I].*Symbol < 0)
      continue;
    const std::string &Id =
        M.Symbols[static_cast<size_t>(Loop.Carried[I].*Symbol)].Id;
    Counted.insert(Id);
    forget(Id);
    if (To[I])
      setIterator(Id, *To[I]);
  }
}

void World::walk(unsigned Id, const std::function<void(unsigned)> &F) {
  const Stmt &S = M.stmt(Id);
  if (Id != 0 && !S.HasBarrier)
    return F(Id);
  if (S.K == Stmt::For || S.K == Stmt::While || S.K == Stmt::Do)
    return walkLoop(S, F);
  for (const unsigned C : S.Children)
    walk(C, F);
}

void World::walkLoop(const Stmt &Loop, const std::function<void(unsigned)> &F) {
  const bool HasIterator = Loop.IterSymbol >= 0;
  if (!HasIterator && (Loop.Carried.empty() || Loop.Cond.is_null()))
    throw Undecided{"a loop whose rounds are not known"};
  auto Values = carriedBy(Loop, &Stmt::Recurrence::First);
  auto Round = [&] {
    walk(Loop.Children[0], F);
    Values = carriedBy(Loop, &Stmt::Recurrence::Next);
  };
  setCarried(Loop, &Stmt::Recurrence::Symbol, Values);
  if (HasIterator) {
    Ranges.erase(Loop.Id);
    const Range R = rangeOf(Loop);
    const std::string &Iter = M.Symbols[Loop.IterSymbol].Id;
    const bool Down = Loop.Step && *Loop.Step < 0;
    for (int64_t I = 0; I <= R.Hi - R.Lo; ++I) {
      setIterator(Iter, Down ? R.Hi - I : R.Lo + I);
      if (!holds(Loop.IterDomain))
        continue;
      Round();
      setCarried(Loop, &Stmt::Recurrence::Symbol, Values);
    }
    forget(Iter);
    refreshProducts({position(Iter)});
  } else {
    const bool First = Loop.K == Stmt::Do;
    for (unsigned I = 0; First || holds(Loop.Cond); ++I) {
      if (I > MaxWalked)
        throw Undecided{"a loop with too many rounds"};
      Round();
      const bool Again = !First || holds(Loop.Cond);
      setCarried(Loop, &Stmt::Recurrence::Symbol, Values);
      if (!Again)
        break;
    }
  }
  setCarried(Loop, &Stmt::Recurrence::After, Values);
}

bool World::mayHold(const isl::set &S) {
  const auto [It, New] = Possible.try_emplace(S.get(), S);
  if (New) {
    std::vector<std::string> Others;
    for (const std::string &Id : involvedIds(S)) {
      const int I = M.symbolIndex(Id);
      if (I >= 0 && M.Symbols[static_cast<size_t>(I)].K == Symbol::Opaque &&
          M.Symbols[static_cast<size_t>(I)].Factors.empty() &&
          !Counted.count(Id))
        Others.push_back(Id);
    }
    It->second = projectOut(S, Others);
  }
  return holds(It->second);
}

} // namespace rcache::verify
