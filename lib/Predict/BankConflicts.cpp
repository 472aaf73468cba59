// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BankConflicts.h.

#include "BankConflicts.h"
#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "Plan/placements/OwnedFetches.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <map>
#include <set>

using namespace rcache;

/// So many visits are looked at; they stand for all.
static constexpr size_t MostVisits = 16;

static const std::vector<std::string> ThreadIds = {"tx", "ty", "tz"};

double rcache::wavefrontsOfWords(llvm::ArrayRef<int64_t> Words, unsigned Each) {
  auto Alike = [&](size_t Apart) {
    for (size_t L = 0; L < Words.size(); ++L)
      if ((L ^ Apart) < Words.size() && Words[L] != Words[L ^ Apart])
        return false;
    return true;
  };
  const size_t Lanes = std::max<size_t>(1, 32 / Each * (Alike(1) || Alike(2) ? 2 : 1));
  size_t Sum = 0;
  for (size_t First = 0; First < Words.size(); First += Lanes) {
    std::map<int64_t, std::set<int64_t>> Banks;
    size_t Most = 1;
    for (const int64_t Word : Words.slice(First, std::min(Lanes, Words.size() - First)))
      for (int64_t W = Word; W < Word + Each; ++W) {
        std::set<int64_t> &Of = Banks[((W % 32) + 32) % 32];
        Of.insert(W);
        Most = std::max(Most, Of.size());
      }
    Sum += Most;
  }
  return static_cast<double>(Sum);
}

double rcache::wavefronts(llvm::ArrayRef<int64_t> Elements, unsigned Bytes) {
  const unsigned Each = std::max(1u, Bytes / 4);
  // What all lanes read alike takes its time to come back: a word a lane and clock.
  if (!Elements.empty() && llvm::all_equal(Elements))
    return Each;
  std::vector<int64_t> Words;
  for (const int64_t E : Elements)
    Words.push_back(Bytes < 4 ? E * Bytes / 4 : E * Each);
  return wavefrontsOfWords(Words, Each);
}

namespace {

/// The accesses of all warps of a block in one visit.
struct Visit {
  CompiledValue Element;
  CompiledCondition Runs;
  int64_t Elements = 0; ///< of the array; 0: not known

  void add(const std::array<int64_t, 3> &Block, unsigned Bytes, Accesses &To) const {
    const int64_t Threads = Block[0] * Block[1] * Block[2];
    const double Share = 1 / static_cast<double>((Threads + 31) / 32);
    for (int64_t First = 0; First < Threads; First += 32) {
      std::vector<int64_t> Named;
      for (int64_t T = First; T < std::min(First + 32, Threads); ++T) {
        const std::vector<int64_t> At = {T % Block[0], T / Block[0] % Block[1],
                                         T / Block[0] / Block[1]};
        if (!Runs.holds(At))
          continue;
        // A thread with no such element does not come here: some guards are no formulas.
        if (const auto E = Element.at(At); E && *E >= 0 && (!Elements || *E < Elements))
          Named.push_back(*E);
      }
      if (Named.empty())
        continue;
      To.Warps += Share;
      To.Wavefronts += Share * wavefronts(Named, Bytes);
    }
  }
};

/// \p S in visit \p V; nullopt: its element hangs on more than the thread.
std::optional<Visit> compiled(const KernelModel &M, const Assumptions &A,
                              const SharedAccess &S, const Counters::Values &V) {
  const SharedArray &Arr = M.Arrays[S.Array];
  isl::pw_aff Element = constantValue(M.Ctx->ctx(), 0);
  int64_t Elements = 1;
  for (const auto &E : Arr.Extents)
    Elements *= E.value_or(0);
  for (size_t D = 0; D < S.IndexValues.size(); ++D) {
    const auto Of = S.IndexValues[D] ? formulaOf(M, A, *S.IndexValues[D], V)
                                     : Nullable<isl::pw_aff>();
    if (Of.is_null() || (D > 0 && !Arr.Extents[D]))
      return std::nullopt;
    if (D > 0)
      Element = Element.scale(static_cast<long>(*Arr.Extents[D]));
    Element = Element.add(Of);
  }
  for (const std::string &Id : involvedIds(Element))
    if (!llvm::is_contained(ThreadIds, Id))
      return std::nullopt;
  isl::set When = A.Context;
  if (!S.Domain.is_null())
    When = When.intersect(A.fix(S.Domain));
  When = at(M, A, When, V);
  for (const ValueRef &G : S.ExtraGuards)
    if (const auto Of = G ? conditionOf(M, A, *G, V) : Nullable<isl::set>(); !Of.is_null())
      When = When.intersect(Of);
  std::vector<std::string> Others = involvedIds(When);
  llvm::erase_if(Others, [](const std::string &Id) {
    return llvm::is_contained(ThreadIds, Id);
  });
  return Visit{CompiledValue::make(Element, ThreadIds),
               CompiledCondition::make(projectOut(When, Others), ThreadIds), Elements};
}

} // namespace

std::optional<Accesses> rcache::accesses(const KernelModel &M, const Assumptions &A,
                                         const SharedAccess &S,
                                         llvm::ArrayRef<Counters::Values> Visits) {
  if (!A.Block || Visits.empty() || S.IndexValues.empty())
    return std::nullopt;
  const unsigned Bytes = M.Arrays[S.Array].ElemBytes;
  const size_t Looked = std::min(Visits.size(), MostVisits);
  Accesses All;
  for (size_t I = 0; I < Looked; ++I) {
    const auto V = compiled(M, A, S, Visits[I * Visits.size() / Looked]);
    if (!V)
      return std::nullopt;
    V->add(*A.Block, Bytes, All);
  }
  const double Each = static_cast<double>(Visits.size()) / static_cast<double>(Looked);
  return Accesses{All.Warps * Each, All.Wavefronts * Each};
}
