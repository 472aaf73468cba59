// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Assumptions.h.

#include "Assumptions.h"
#include "Affine/IslTools.h"
#include <limits>
#include <set>

using namespace rcache;

isl::pw_aff Assumptions::fix(const isl::pw_aff &A) const {
  return Fixed.empty() ? A : substitute(A, Fixed);
}
isl::set Assumptions::fix(const isl::set &S) const {
  return Fixed.empty() ? S : substitute(S, Fixed);
}
ValueRef Assumptions::fix(const ValueRef &V) const {
  return Fixed.empty() ? V : substituteValue(V, Fixed);
}

namespace {
const char *const Dims[3] = {"bdx", "bdy", "bdz"};
const char *const Threads[3] = {"tx", "ty", "tz"};
const char *const Blocks[3] = {"bx", "by", "bz"};
} // namespace

/// The block's extents, and the products that they make linear: bx * bdx =
/// 256 bx. Products of products settle in a few rounds.
static std::map<std::string, isl::pw_aff>
fixedSymbols(const KernelModel &M,
             const std::optional<std::array<int64_t, 3>> &Block) {
  const isl::ctx Ctx = M.Ctx->ctx();
  std::map<std::string, isl::pw_aff> Fixed;
  for (int D = Block ? 0 : 1; D < 3; ++D)
    Fixed.emplace(Dims[D], constantValue(Ctx, Block ? (*Block)[D] : 1));
  for (int Round = 0; Round < 3; ++Round)
    for (const Symbol &S : M.Symbols) {
      if (S.Factors.size() != 2 || Fixed.count(S.Id))
        continue;
      for (int F = 0; F < 2; ++F) {
        auto It = Fixed.find(S.Factors[F]);
        if (It == Fixed.end())
          continue;
        if (auto C = isConstant(It->second)) {
          auto Other = Fixed.find(S.Factors[1 - F]);
          isl::pw_aff O = Other != Fixed.end()
                              ? Other->second
                              : symbolValue(Ctx, S.Factors[1 - F]);
          Fixed.emplace(S.Id, O.scale(static_cast<long>(*C)));
          break;
        }
      }
    }
  return Fixed;
}

/// Blocks of one dimension of which only a multiple is known.
static isl::set oneDimBlocks(const KernelModel &M, const Assumptions &A,
                             unsigned Multiple) {
  const isl::ctx Ctx = M.Ctx->ctx();
  isl::pw_aff Bd = symbolValue(Ctx, "bdx");
  isl::set S = A.Context.intersect(symbolValue(Ctx, "tx").lt_set(Bd))
                   .intersect(Bd.ge_set(constantValue(Ctx, Multiple)))
                   .intersect(Bd.le_set(constantValue(Ctx, 1024)));
  if (Multiple > 1)
    S = S.intersect(
        Bd.mod(static_cast<long>(Multiple)).eq_set(constantValue(Ctx, 0)));
  // Products of two numbers that are never negative are not negative.
  for (const Symbol &P : M.Symbols)
    if (P.Factors.size() == 2 && !A.Fixed.count(P.Id)) {
      bool NonNegative = true;
      for (const std::string &F : P.Factors) {
        int I = M.symbolIndex(F);
        NonNegative &= I >= 0 && M.Symbols[I].K <= Symbol::GridDim;
      }
      if (NonNegative)
        S = S.intersect(
            symbolValue(Ctx, P.Id).ge_set(constantValue(Ctx, 0)));
    }
  return S;
}

Assumptions rcache::makeAssumptions(const KernelModel &M,
                                    std::optional<std::array<int64_t, 3>> Block,
                                    unsigned Multiple) {
  Assumptions A;
  A.Block = Block;
  const isl::ctx Ctx = M.Ctx->ctx();
  A.Fixed = fixedSymbols(M, Block);
  A.Context = A.fix(M.Context);
  for (int D = 0; D < 3; ++D) {
    isl::pw_aff T = symbolValue(Ctx, Threads[D]);
    A.Context = A.Context.intersect(T.ge_set(constantValue(Ctx, 0)));
    if (Block)
      A.Context = A.Context.intersect(T.lt_set(constantValue(Ctx, (*Block)[D])));
    else if (D > 0)
      A.Context = A.Context.intersect(T.eq_set(constantValue(Ctx, 0)));
    A.Context = A.Context.intersect(
        symbolValue(Ctx, Blocks[D]).ge_set(constantValue(Ctx, 0)));
  }
  if (!Block)
    A.Context = oneDimBlocks(M, A, Multiple);
  // The launch sees to it: computed with in int, or in long long.
  for (const Symbol *S : unsignedBounds(M)) {
    const isl::pw_aff V = symbolValue(Ctx, S->Id);
    A.Context = A.Context.intersect(V.le_set(
        constantValue(Ctx, std::numeric_limits<int32_t>::max())));
  }
  for (const auto &[S, Most] : sizeBounds(M)) {
    isl::pw_aff V = symbolValue(Ctx, S->Id), Zero = constantValue(Ctx, 0);
    A.Context = A.Context.intersect(V.ge_set(Zero))
                    .intersect(V.le_set(constantValue(Ctx, Most)))
                    // No launch has more blocks; sums with V then do not wrap.
                    .intersect(symbolValue(Ctx, "bx").le_set(
                        constantValue(Ctx, std::numeric_limits<int32_t>::max())));
  }
  A.Context = A.Context.coalesce();
  return A;
}

std::vector<const Symbol *> rcache::unsignedBounds(const KernelModel &M) {
  std::set<std::string> Ids;
  auto Add = [&](const auto &Of) {
    if (!Of.is_null())
      for (const std::string &Id : involvedIds(Of))
        Ids.insert(Id);
  };
  for (const SharedAccess &S : M.SharedAccesses) {
    Add(M.stmt(S.Stmt).Domain);
    for (const isl::pw_aff &Index : S.Index)
      Add(Index);
    std::vector<ValueRef> Values = S.ExtraGuards;
    if (S.Stored)
      Values.push_back(S.Stored);
    for (const ValueRef &V : Values)
      for (const std::string &Id : valueSymbols(V))
        Ids.insert(Id);
  }
  std::vector<const Symbol *> All;
  for (const Symbol &S : M.Symbols)
    if (isUnsigned32(S) && Ids.count(S.Id))
      All.push_back(&S);
  return All;
}

/// The symbols, and the factors of products, that say which elements are met, and when.
static std::set<std::string> symbolsOfPlaces(const KernelModel &M) {
  std::set<std::string> Ids;
  const auto Add = [&](const auto &Of) {
    if (Of.is_null())
      return;
    for (const std::string &Id : involvedIds(Of)) {
      Ids.insert(Id);
      if (const int I = M.symbolIndex(Id); I >= 0)
        Ids.insert(M.Symbols[size_t(I)].Factors.begin(),
                   M.Symbols[size_t(I)].Factors.end());
    }
  };
  for (const SharedAccess &S : M.SharedAccesses) {
    Add(S.Domain);
    for (const isl::pw_aff &Index : S.Index)
      Add(Index);
  }
  for (const GlobalAccess &G : M.GlobalAccesses) {
    Add(G.Domain);
    if (G.Index)
      Add(G.Index->Aff);
  }
  for (const Stmt &S : M.Stmts) {
    Add(S.Domain);
    Add(S.Cond);
    Add(S.Init);
    Add(S.IterDomain);
  }
  return Ids;
}

std::vector<std::pair<const Symbol *, int64_t>> rcache::sizeBounds(const KernelModel &M) {
  std::vector<std::pair<const Symbol *, int64_t>> Out;
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Param && !S.Signed && S.Bits == 64)
      Out.push_back({&S, std::numeric_limits<int64_t>::max()});
  if (Out.empty())
    return Out;
  const std::set<std::string> OfPlaces = symbolsOfPlaces(M);
  for (auto &[S, Most] : Out)
    if (OfPlaces.count(S->Id))
      Most = MostOfSizes;
  return Out;
}

bool rcache::isUnsigned32(const Symbol &S) {
  return S.K == Symbol::Param && !S.Signed && S.Bits == 32;
}
