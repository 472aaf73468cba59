// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts that each launch checks, so that index arithmetic does not wrap.

#include "AffineArith.h"
#include <algorithm>
#include <isl/id.h>
#include <isl/set.h>
#include <isl/space.h>

namespace rcache {

bool AffineArith::launchBounded(const std::vector<std::string> &Factors) const {
  for (const std::string &F : Factors) {
    int I = M.symbolIndex(F);
    if (I < 0 || M.Symbols[I].K > Symbol::Param)
      return false;
  }
  return true;
}

/// Takes 0 <= product of \p Factors <= Max for granted: threads and blocks are
/// below the block's and the grid's size, so these are what a launch checks.
void AffineArith::assumeProduct(const std::vector<std::string> &Factors,
                                Wide Max) {
  LaunchFact F;
  F.Max = static_cast<int64_t>(std::min<Wide>(Max, INT64_MAX));
  for (std::string Id : Factors) {
    const Symbol &S = M.Symbols[M.symbolIndex(Id)];
    if (S.K == Symbol::ThreadIdx || S.K == Symbol::BlockIdx)
      Id = (S.K == Symbol::ThreadIdx ? "bd" : "gd") +
           std::string(1, "xyz"[S.Axis]);
    F.Factors.push_back(Id);
  }
  std::sort(F.Factors.begin(), F.Factors.end());
  for (LaunchFact &G : M.Assumes)
    if (G.Factors == F.Factors && !G.MultipleOf) {
      G.Max = std::min(G.Max, F.Max);
      return;
    }
  M.Assumes.push_back(F);
}

/// The symbol \p F of a parameter is not negative, if a launch can see that.
void AffineArith::supposeNotNegative(const std::string &Id, Supposed &Facts) {
  const Symbol &F = M.Symbols[M.symbolIndex(Id)];
  if (F.K != Symbol::Param || !F.Signed || Ranges.at(Id).Lo >= 0)
    return;
  narrow(Id, 0, Ranges.at(Id).Hi);
  Facts.push_back({{Id}, Ranges.at(Id).Hi});
}

/// The symbols of a value of type \p T: parameters are not negative, and
/// nothing takes more than its share of the room, \p Limit for \p S.
void AffineArith::supposeSmall(const Symbol &S, bool Alone, Wide Limit,
                               IntType T, Supposed &Facts) {
  if (S.Factors.empty()) {
    supposeNotNegative(S.Id, Facts);
    Wide Max = Alone && S.K == Symbol::Param ? T.max() : Limit;
    if (Ranges.at(S.Id).Hi <= Max)
      return;
    if (S.K == Symbol::BlockIdx) {
      narrow(S.Id, 0, Max - 1);
      narrow("gd" + std::string(1, "xyz"[S.Axis]), 1, Max);
      Facts.push_back({{S.Id}, Max});
    } else if (S.K == Symbol::Param && !S.Signed) {
      narrow(S.Id, 0, Max);
      Facts.push_back({{S.Id}, Max});
    }
    return;
  }
  bool AllPositive = true;
  for (const std::string &F : S.Factors) {
    supposeNotNegative(F, Facts);
    AllPositive &= Ranges.at(F).Lo >= 0 || FromZero.count(F);
  }
  if (!AllPositive)
    return;
  narrow(S.Id, 0, Ranges.at(S.Id).Hi);
  if (Ranges.at(S.Id).Hi > Limit && launchBounded(S.Factors)) {
    narrow(S.Id, 0, Limit);
    Facts.push_back({S.Factors, Limit});
  }
}

/// `base + threadIdx.x` with base < n on the path: not if n is the largest int.
bool AffineArith::supposeBounds(IntType T, const isl::set &Path,
                                Supposed &Facts) {
  const size_t Before = Facts.size();
  for (const Symbol &S : M.Symbols) {
    Wide Max = IntType{S.Bits, true}.max() - 0xffff;
    if (S.K != Symbol::Param || S.Bits < 32 || S.Bits > T.Bits ||
        Ranges.at(S.Id).Hi <= Max)
      continue;
    int Pos = isl_set_find_dim_by_name(Path.get(), isl_dim_param, S.Id.c_str());
    if (Pos < 0 || isl_set_involves_dims(Path.get(), isl_dim_param, Pos, 1) !=
                       isl_bool_true)
      continue;
    narrow(S.Id, 0, Max);
    Facts.push_back({{S.Id}, Max});
  }
  return Facts.size() > Before;
}

/// `blockIdx.x * blockDim.x + threadIdx.x + offset`: what is added to an index
/// has its share of the room.
bool AffineArith::supposeOffsets(const isl::pw_aff &A, Wide Room,
                                 Supposed &Facts) {
  const size_t Before = Facts.size();
  for (const Symbol &S : M.Symbols) {
    if (S.K != Symbol::Param || !dependsOn(A, S.Id) ||
        Ranges.at(S.Id).Lo < 0 || Ranges.at(S.Id).Hi <= Room)
      continue;
    narrow(S.Id, 0, Room);
    Facts.push_back({{S.Id}, Room});
  }
  return Facts.size() > Before;
}

/// `n - 1` in 64 bits without a sign, of which the other values have no number: n is
/// at least 1.
bool AffineArith::supposeLeast(const Linear &L, IntType T,
                               std::vector<LaunchFact> &Least) {
  if (T.Signed || T.Bits < 64 || L.Const >= 0)
    return false;
  const Symbol *Of = nullptr;
  int64_t Times = 0;
  for (const auto &[Id, C] : L.Terms) {
    const Symbol &S = M.Symbols[size_t(M.symbolIndex(Id))];
    if (C < 0 || Ranges.at(Id).Lo < 0)
      return false;
    if (S.K == Symbol::Param && !Of) {
      Of = &S;
      Times = C;
    }
  }
  if (!Of)
    return false;
  LaunchFact F;
  F.Factors = {Of->Id};
  F.Min = (-L.Const + Times - 1) / Times;
  F.Max = static_cast<int64_t>(std::min<Wide>(Ranges.at(Of->Id).Hi, INT64_MAX));
  narrow(Of->Id, F.Min, Ranges.at(Of->Id).Hi);
  Least.push_back(std::move(F));
  return true;
}

/// Takes \p F, which bounds one factor, for granted.
void AffineArith::assumeLeast(const LaunchFact &F) {
  for (LaunchFact &G : M.Assumes)
    if (G.Factors == F.Factors && !G.MultipleOf) {
      G.Max = std::min(G.Max, F.Max);
      G.Min = std::max(G.Min, F.Min);
      return;
    }
  M.Assumes.push_back(F);
}

/// Tries to prove that \p A fits \p T with the help of facts that a launch can
/// check: parameters are not negative, grids not absurdly large. Keeps them
/// when they are enough.
bool AffineArith::assumeInRange(const isl::pw_aff &A, IntType T,
                                const isl::set &Path) {
  std::optional<Linear> L = linearBesideQuotients(A);
  auto SavedRanges = Ranges;
  Supposed Facts;
  // The room that T has is shared by the terms that could be large.
  Wide Small = T.max() >> 11;
  int64_t Large = 0;
  if (L)
    for (auto &[Id, C] : L->Terms)
      Large += Ranges.at(Id).Hi * std::abs(C) > Small;
  Wide Room =
      (T.max() - (L ? Small : T.max() / 2)) / std::max<int64_t>(Large, 1);
  for (size_t N = 0; N < M.Symbols.size(); ++N) {
    const Symbol &S = M.Symbols[N];
    if (!dependsOn(A, S.Id))
      continue;
    int64_t C = 1;
    if (L)
      C = std::abs(L->Terms[S.Id]);
    supposeSmall(S, C <= 1, Room / std::max<int64_t>(C, 1), T, Facts);
  }
  std::vector<LaunchFact> Least;
  // `g * 2654435761u`, a hash, is meant to wrap: no launch of use would be left.
  constexpr Wide Useful = 1024;
  auto Enough = [&] {
    if (llvm::any_of(Facts, [&](const auto &F) { return F.second < Useful; }) ||
        !proveInRange(A, T.min(), T.max(), Path))
      return false;
    for (auto &[Factors, Max] : Facts)
      assumeProduct(Factors, Max);
    for (const LaunchFact &F : Least)
      assumeLeast(F);
    return true;
  };
  if (!Facts.empty() && Enough())
    return true;
  if (supposeBounds(T, Path, Facts) && Enough())
    return true;
  if (L && supposeOffsets(A, Room, Facts) && Enough())
    return true;
  if (L && supposeLeast(*L, T, Least) && Enough())
    return true;
  Ranges = SavedRanges;
  Known.clear();
  return false;
}

/// `j * pitch` in unsigned, j counting the rows of a tile: takes for granted
/// that the other factors leave room for so many rounds.
bool AffineArith::assumeRounds(const std::vector<std::string> &Factors,
                               IntType T, const isl::set &Path) {
  std::vector<std::string> Rest;
  isl::pw_aff Rounds = constant(1);
  for (const std::string &F : Factors) {
    const int I = M.symbolIndex(F);
    if (I < 0 || M.Symbols[I].K != Symbol::Iterator)
      Rest.push_back(F);
    else if (Rounds.plain_is_equal(constant(1)))
      Rounds = symbol(F);
    else
      return false;
  }
  if (Rest.size() == Factors.size() || Rest.empty() || !launchBounded(Rest))
    return false;
  for (Wide Most = 32; Most <= 4096; Most *= 2) {
    if (!proveInRange(Rounds, 0, Most - 1, Path))
      continue;
    const Wide Max = T.max() / 4 / Most;
    if (Rest.size() == 1)
      narrow(Rest[0], 0, Max);
    assumeProduct(Rest, Max);
    return true;
  }
  return false;
}

} // namespace rcache
