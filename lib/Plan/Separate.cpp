// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Separate.h. A kernel stays inside the object that a pointer points into,
// or it is undefined. Only which object that is can be in doubt: a pointer just
// behind an array, `end[-1 - i]`, has the address at which another one may
// begin. If no access lies in front of the pointer, or if it is in doubt both
// neighbours are looked at.

#include "Separate.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/StringRef.h"
#include "Solve.h"
#include <algorithm>
#include <cstdlib>
#include <set>

using namespace rcache;

bool rcache::canSeparate(const KernelModel &M, int A, int B) {
  auto Plain = [&](int R) { return R >= 0 && M.Params[R].IsPointer; };
  return A != B && Plain(A) && Plain(B);
}

void rcache::requireSeparate(Plan &P, int A, int B) {
  const std::pair<int, int> Pair = std::minmax(A, B);
  if (std::find(P.Separate.begin(), P.Separate.end(), Pair) == P.Separate.end())
    P.Separate.push_back(Pair);
}

namespace {

/// Symbols that cannot be negative, or products of such.
class Signs {
public:
  Signs(const KernelModel &M, const Assumptions &A) : M(M), A(A) {}

  /// No index is negative if the parameters that this adds to \p Positive are
  /// not.
  bool neverBefore(const ValueRef &Index, const Nullable<isl::set> &Domain,
                   std::set<std::string> &Positive) const {
    if (!Index || Index->K != Value::Affine)
      return false;
    const isl::pw_aff V = A.fix(Index->Aff);
    if (!ordinary(V))
      return false;
    isl::set Where = A.Context;
    if (!Domain.is_null())
      Where = Where.intersect(A.fix(Domain));
    std::set<std::string> Ids;
    for (const std::string &Id : involvedIds(V))
      Ids.insert(Id);
    for (const std::string &Id : involvedIds(Where))
      Ids.insert(Id);
    std::set<std::string> Taken;
    const isl::pw_aff Zero = constantValue(M.Ctx->ctx(), 0);
    for (const std::string &Id : Ids)
      if (nonNegative(Id, Taken))
        Where = Where.intersect(symbolValue(M.Ctx->ctx(), Id).ge_set(Zero));
    // by >= 1: by * nx >= nx.
    for (const std::string &Id : Ids)
      if (nonNegative(Id, Taken))
        Where = Where.intersect(leastProduct(Id, Where));
    if (!Where.intersect(V.lt_set(Zero)).is_empty())
      return false;
    Positive.insert(Taken.begin(), Taken.end());
    return true;
  }

private:
  const KernelModel &M;
  const Assumptions &A;

  /// Small numbers of each symbol: no negative offset written as a large
  /// unsigned one.
  bool ordinary(const isl::pw_aff &V) const {
    auto isSmall = [](int64_t C) { return std::abs(C) <= (int64_t(1) << 31); };
    bool Small = true;
    V.foreach_piece([&](isl::set, isl::multi_aff Piece) {
      const auto L = linearForm(isl::pw_aff(Piece.at(0)), always(M.Ctx->ctx()));
      Small = Small && L && isSmall(L->Const) &&
              std::all_of(L->Terms.begin(), L->Terms.end(),
                          [&](const auto &C) { return isSmall(C.second); });
    });
    return Small;
  }

  /// What a product of numbers that are not negative is at least, where \p
  /// Where bounds one of them from below: `[symbols] -> { : }`.
  isl::set leastProduct(const std::string &Id, const isl::set &Where) const {
    isl::ctx Ctx = M.Ctx->ctx();
    isl::set Least = always(Ctx);
    const std::vector<std::string> &Factors =
        M.Symbols[M.symbolIndex(Id)].Factors;
    for (size_t K = 0; K < Factors.size(); ++K) {
      const auto Bound = minConst(symbolValue(Ctx, Factors[K]), Where);
      if (!Bound || *Bound < 1)
        continue;
      std::vector<std::string> Rest = Factors;
      Rest.erase(Rest.begin() + static_cast<std::ptrdiff_t>(K));
      std::string Other = Rest.size() == 1 ? Rest.front() : "";
      for (const Symbol &S : M.Symbols)
        if (Rest.size() > 1 && S.Factors == Rest)
          Other = S.Id;
      if (!Other.empty())
        Least = Least.intersect(symbolValue(Ctx, Id).ge_set(
            symbolValue(Ctx, Other).scale(static_cast<long>(*Bound))));
    }
    return Least;
  }

  bool nonNegative(const std::string &Id, std::set<std::string> &Taken) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[I];
    if (S.K == Symbol::Param) {
      Taken.insert(Id);
      return true;
    }
    if (S.K < Symbol::Param)
      return true;
    if (S.K == Symbol::Iterator)
      return nonNegativeIterator(I, Taken);
    return !S.Factors.empty() && std::all_of(S.Factors.begin(), S.Factors.end(),
                                             [&](const std::string &F) {
                                               return nonNegative(F, Taken);
                                             });
  }

  /// Counts up from what is not negative.
  bool nonNegativeIterator(int Symbol, std::set<std::string> &Taken) const {
    for (const Stmt &S : M.Stmts) {
      if (S.K != Stmt::For || S.IterSymbol != Symbol)
        continue;
      if (S.Init.is_null() || !S.Step || *S.Step <= 0)
        return false;
      const isl::pw_aff First = A.fix(S.Init);
      isl::set Where = A.Context;
      const isl::pw_aff Zero = constantValue(M.Ctx->ctx(), 0);
      for (const std::string &Id : involvedIds(First))
        if (nonNegative(Id, Taken))
          Where = Where.intersect(symbolValue(M.Ctx->ctx(), Id).ge_set(Zero));
      return Where.intersect(First.lt_set(Zero)).is_empty();
    }
    return false;
  }
};

/// `p[e]` with p the parameter itself and e of 32 bits without a sign: it counts up
/// from the pointer, however e was computed.
bool unsignedSubscript(const KernelModel &M, const GlobalAccess &G) {
  return G.Index && G.Index->Type == "unsigned int" &&
         llvm::StringRef(M.Text)
             .substr(G.Range.Begin)
             .starts_with(M.Params[static_cast<size_t>(G.Root)].Name + "[");
}

} // namespace

void rcache::addSeparations(const KernelModel &M, const Assumptions &A,
                            FrontSides &Known, Plan &P) {
  std::set<std::string> Positive;
  auto pointsInside = [&](int Root) {
    auto [It, New] = Known.emplace(Root, std::set<std::string>());
    if (New) {
      const Signs Sign(M, A);
      std::set<std::string> Taken;
      for (const GlobalAccess &G : M.GlobalAccesses)
        if (It->second && G.Root == Root && !unsignedSubscript(M, G) &&
            !Sign.neverBefore(G.Index, G.Domain, Taken))
          It->second.reset();
      if (It->second)
        It->second = std::move(Taken);
    }
    if (It->second)
      Positive.insert(It->second->begin(), It->second->end());
    return It->second.has_value();
  };
  for (const auto &[X, Y] : P.Separate) {
    const bool Plain = pointsInside(X) && pointsInside(Y);
    const std::string &N = M.Params[X].Name, &O = M.Params[Y].Name;
    P.Preconditions.push_back({std::string("::rcache::device::separate(") + N +
                                   ", " + O + (Plain ? ")" : ", true)"),
                               "'" + N + "' and '" + O + "' do not overlap"});
  }
  for (const std::string &Id : Positive) {
    const Symbol &S = M.Symbols[M.symbolIndex(Id)];
    if (S.Signed)
      P.Preconditions.push_back({S.Text + " >= 0", "indices count up from 0"});
    else if (S.Bits > 32)
      P.Preconditions.push_back(
          {S.Text + " <= 0xffffffffffull", "indices count up from 0"});
  }
}
