// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One block's way through the kernel, with the numbers that its threads count
// alike (Stmt::Carried). See World.h.

#include "Affine/IslTools.h"
#include "World.h"
#include "llvm/ADT/STLExtras.h"

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
  if (S.isLoop())
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

/// Is \p V made of formulas, bits of them, sums and products?
static bool isBits(const Value &V) {
  return V.K == Value::Affine ||
         (V.K == Value::Op && !V.Operands.empty() &&
          V.Operands.size() <= 2 &&
          llvm::all_of(V.Operands,
                       [](const ValueRef &O) { return O && isBits(*O); }));
}

bool World::holdsFor(const isl::set &S, bool Unknown) {
  std::vector<std::string> Others;
  std::map<std::string, ValueRef> Bits;
  for (const std::string &Id : involvedIds(S)) {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      continue;
    const Symbol &Of = M.Symbols[static_cast<size_t>(I)];
    if (Of.K != Symbol::Opaque || !Of.Factors.empty() || Counted.count(Id))
      continue;
    // Of a variable that keeps its first value.
    const Var *Holds =
        Of.VarId >= 0 ? &M.Vars[static_cast<size_t>(Of.VarId)] : nullptr;
    if (Of.Is && isBits(*Of.Is))
      Bits.emplace(Id, Of.Is);
    else if (Holds && !Holds->Assigned && !Holds->AddressTaken && Holds->Init &&
        isBits(*Holds->Init))
      Bits.emplace(Id, Holds->Init);
    else
      Others.push_back(Id);
  }
  // Numbers for those that are made of known ones; any for all others.
  bool All = true;
  for (const auto &[Id, Is] : Bits) {
    std::optional<int64_t> V;
    try {
      V = signedInteger(*Is);
    } catch (const Undecided &) {
    }
    All &= V.has_value();
    if (V)
      setIterator(Id, *V);
  }
  for (const auto &[Id, Is] : Bits)
    if (!All)
      Others.push_back(Id);
  bool Holds = Unknown;
  if (Unknown || Others.empty()) {
    const auto [It, New] = Possible.try_emplace({S.get(), All}, S);
    if (New)
      It->second = projectOut(S, Others);
    Holds = holds(It->second);
  }
  for (const auto &[Id, Is] : Bits)
    forget(Id);
  return Holds;
}

} // namespace rcache::verify
