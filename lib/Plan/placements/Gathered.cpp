// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Gathered.h.

#include "Gathered.h"
#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "OwnedFetches.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

std::optional<Gathers> rcache::gathersOf(const isl::pw_aff &Element,
                                         const isl::set &Domain,
                                         int64_t Threads) {
  std::vector<std::string> Others = involvedIds(Domain);
  llvm::erase(Others, "tx");
  if (llvm::any_of(involvedIds(Element),
                   [](const std::string &Id) { return Id != "tx"; }))
    return std::nullopt;
  const auto Uses = CompiledCondition::make(projectOut(Domain, Others), {"tx"});
  const auto Is = CompiledValue::make(Element, {"tx"});
  Gathers G;
  for (int64_t First = 0; First < Threads; First += 32) {
    const auto Front = Is.at({First}), Back = Is.at({First + 31});
    if (!Front || !Back)
      return std::nullopt;
    // As the device function has it: those that are there.
    const int64_t Low = std::max<int64_t>(std::min(*Front, *Back) >> 5, 0),
                  High = std::max(*Front, *Back) >> 5;
    bool Any = false;
    std::array<uint8_t, 32> Lanes{};
    for (int64_t T = First; T < First + 32; ++T) {
      const auto E = Is.at({T});
      Lanes[size_t(T - First)] = uint8_t(E.value_or(0) & 31);
      if (!Uses.holds({T}))
        continue;
      if (!E || *E < 0 || *E >> 5 < Low || *E >> 5 > High)
        return std::nullopt;
      G.Elements = std::max(G.Elements, *E + 1);
      Any = true;
    }
    for (int64_t From = Low; Any && From <= High; ++From) {
      G.Asked.push_back({From, Lanes});
      G.Selects += From > Low;
    }
  }
  return G;
}

isl::pw_aff rcache::withBit(const isl::pw_aff &X, int64_t Bit) {
  return X.scale(2L).sub(floorMod(X, Bit));
}

/// The bit that is put into each thread's number, where they name \p Elements (-1:
/// none), and whether it is set there; nullopt: there is none.
static std::optional<std::pair<int64_t, bool>>
bitPutIn(const std::vector<int64_t> &Elements) {
  const auto Threads = static_cast<int64_t>(Elements.size());
  for (int64_t Bit = 1; Bit <= Threads; Bit *= 2)
    for (const bool Upper : {false, true}) {
      bool All = true;
      for (int64_t T = 0; T < Threads && All; ++T)
        All = Elements[T] < 0 || Elements[T] == 2 * T - T % Bit + (Upper ? Bit : 0);
      if (All)
        return std::pair(Bit, Upper);
    }
  return std::nullopt;
}

std::optional<Insertion>
rcache::insertionOf(const KernelModel &M, const Assumptions &A,
                    const Counters &Count, const SharedAccess &S,
                    int64_t Threads, const isl::set &Domain) {
  const std::vector<Counters::Values> Visits = Count.at(S.Stmt);
  std::vector<int64_t> Bits;
  Insertion Is;
  for (const Counters::Values &V : Visits) {
    const auto Named = elementAt(M, A, S, V);
    if (Named.is_null() || llvm::any_of(involvedIds(Named), [](const std::string &Id) {
          return Id != "tx";
        }))
      return std::nullopt;
    isl::set In = at(M, A, Domain, V);
    std::vector<std::string> Others = involvedIds(In);
    llvm::erase(Others, "tx");
    const auto Uses = CompiledCondition::make(projectOut(In, Others), {"tx"});
    const auto Element = CompiledValue::make(Named, {"tx"});
    std::vector<int64_t> Elements;
    for (int64_t T = 0; T < Threads; ++T) {
      Elements.push_back(Uses.holds({T}) ? Element.at({T}).value_or(INT64_MAX) : -1);
      if (Uses.holds({T}) && Elements.back() < 0)
        return std::nullopt;
    }
    const auto Found = bitPutIn(Elements);
    if (!Found || (!Bits.empty() && Found->second != Is.Upper))
      return std::nullopt;
    Bits.push_back(Found->first);
    Is.Upper = Found->second;
  }
  if (Bits.empty())
    return std::nullopt;
  Is.Bit = byVisits(M, Count, Visits, Bits);
  return Is.Bit.is_null() ? std::nullopt : std::optional(Is);
}

int64_t rcache::shufflesBack(int64_t Slots, int64_t Bit) {
  if (Bit >= 32)
    return 0;
  // The owner of element x has it from thread x without the bit.
  const auto From = [&](int64_t X) { return (X / (2 * Bit) * Bit + X % Bit) / 32; };
  int64_t All = 0;
  for (int64_t R = 0; R < 2 * Slots; ++R)
    All += From(32 * R + 31) - From(32 * R) + 1;
  return All;
}

bool rcache::findKind(Owned::Fetch &F, const KernelModel &M, const Assumptions &A,
                      const Counters &Count, const SharedAccess &S,
                      const Nullable<isl::pw_aff> &Element, const isl::set &Domain,
                      int64_t Threads, bool Gather) {
  Nullable<isl::pw_aff> Away;
  if (!Element.is_null())
    Away = simplify(Element.sub(symbolValue(Domain.ctx(), "tx")), Domain);
  if (!Element.is_null() && !dependsOn(Element, "tx")) {
    F.K = Owned::Fetch::At;
    F.By = Element;
  } else if (!Away.is_null() && !dependsOn(Away, "tx")) {
    F.K = Owned::Fetch::Ahead;
    F.By = Away;
  } else if (auto Mask = maskOf(S, A, Threads, Count, Domain); !Mask.is_null()) {
    F.K = Owned::Fetch::Flipped;
    F.By = Mask;
  } else if (auto By = Away.is_null() ? Away : byCounter(Count, S.Stmt, Away, Domain);
             !By.is_null()) {
    F.K = Owned::Fetch::Ahead;
    F.By = By;
  } else if (!Gather) {
    return false;
  } else if (!Element.is_null() && !F.Written) {
    F.K = Owned::Fetch::Gathered;
    F.By = simplify(Element, Domain);
  } else {
    const auto Is = insertionOf(M, A, Count, S, Threads, Domain);
    if (!Is)
      return false;
    F.K = Owned::Fetch::Inserted;
    F.By = Is->Bit;
    F.Upper = Is->Upper;
    F.All = S.K == SharedAccess::Write && S.DomainExact && S.ExtraGuards.empty() &&
            llvm::all_of(Count.at(S.Stmt), [&](const Counters::Values &V) {
              return atCounts(A.Context, V).subtract(at(M, A, Domain, V)).is_empty();
            });
  }
  return true;
}
