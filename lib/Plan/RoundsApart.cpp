// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RoundsApart.h. With the round z, the index of an access is
//
//     S z + c0 + c1 x1 + c2 x2 + ...
//
// where S and the coefficients are products of numbers and parameters. For two
// accesses with the same S, rounds apart by one or more differ by |S| at least; all
// else differs by sum |c_i| (most of x_i - least of x_i) at most. Or S is 1, all that
// differs is a multiple of one parameter, and there are no more rounds than that:
//
//     out[(y * w + x) * channels + z],  0 <= z < channels
//
// These are integers, and addresses are numbers of 64 bits: where parameters could make
// the distance as large as that, the launch is asked that they do not.

#include "RoundsApart.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <cstdlib>
#include <map>

using namespace rcache;

namespace {

using Terms = std::map<std::string, int64_t>;

/// Elements from one round to the next: so many rounds of them, of 16 bytes, are counted in
/// 64 bits.
constexpr int64_t MostOfStep = int64_t(1) << 35;

class Distance {
public:
  Distance(const KernelModel &M, const Mapping &Map, const Stmt &Loop)
      : M(M), Map(Map), Loop(Loop),
        Round(M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id) {}

  std::optional<std::string> between(const GlobalAccess &A,
                                     const GlobalAccess &B) {
    const auto X = form(A), Y = form(B);
    if (!X || !Y || !A.ElemBytes || A.ElemBytes != B.ElemBytes)
      return std::nullopt; // an index counts elements
    Terms All = X->Terms;
    All.insert(Y->Terms.begin(), Y->Terms.end());
    add(Spread, std::to_string(std::abs(X->Const - Y->Const)) + ".0");
    for (const auto &[Id, Unused] : All) {
      const auto C = X->Terms.find(Id), D = Y->Terms.find(Id);
      if (!term(Id, C == X->Terms.end() ? 0 : C->second,
                D == Y->Terms.end() ? 0 : D->second))
        return std::nullopt;
    }
    // `out[i]` and `out[i - plane]`: a round further on it is the same.
    if (Step.empty() || llvm::any_of(Ahead, [&](const auto &By) {
          return llvm::is_contained(ARound, By);
        }))
      return std::nullopt;
    if (ARound.size() == 1 && ARound.front().empty() && StepTimes == 1 &&
        X->Const == Y->Const && isOfOneResidue())
      return isSmall(Spread);
    // `out[z * w + y * w + x]`: no w makes that more than the rows of a block; nor
    // `out[z + y * w + x]` more than a number.
    if (ARound.size() == 1)
      for (const auto &[By, Times] : Apart)
        if ((By == ARound.front() || ARound.front().empty()) && Times >= StepTimes)
          return std::nullopt;
    const std::string Small = isSmall(Step);
    return "(" + Step + " > " + Spread + " || -(" + Step + ") > " + Spread + ")" +
           (Small.empty() ? "" : " && " + Small);
  }

private:
  const KernelModel &M;
  const Mapping &Map;
  const Stmt &Loop;
  const std::string &Round;
  std::string Step, Spread; ///< sums of doubles
  /// Factors of what a round moves an index by, and of how far one access is ahead
  /// of the other.
  std::vector<std::vector<std::string>> ARound, Ahead;
  int64_t StepTimes = 0; ///< how often a round moves it by ARound
  bool Wide = false;     ///< there are products of more than 32 bits
  /// Factors of how far threads are apart, and how often.
  std::vector<std::pair<std::vector<std::string>, int64_t>> Apart;

  /// Is all that differs a multiple of a parameter that all rounds are below?
  bool isOfOneResidue() const {
    std::vector<std::vector<std::string>> All = Ahead;
    for (const auto &[By, Times] : Apart)
      if (Times)
        All.push_back(By);
    isl::ctx Ctx = M.Ctx->ctx();
    const isl::pw_aff Z = symbolValue(Ctx, Round);
    return llvm::any_of(M.Symbols, [&](const Symbol &S) {
      return S.K == Symbol::Param &&
             llvm::all_of(All, [&](const auto &By) { return llvm::is_contained(By, S.Id); }) &&
             impliedBy(Z.ge_set(constantValue(Ctx, 0)).intersect(Z.lt_set(symbolValue(Ctx, S.Id))),
                       Loop.IterDomain);
    });
  }

  /// That \p Sum, of what one round or one block spans, is so small that no
  /// MostRoundsOfCut rounds wrap; "" where types say so.
  std::string isSmall(const std::string &Sum) const {
    if (!Wide)
      return "";
    const std::string Most = std::to_string(MostOfStep) + ".0";
    return Sum + " <= " + Most + " && -(" + Sum + ") <= " + Most;
  }

  static void add(std::string &To, const std::string &Term) {
    To += (To.empty() ? "" : " + ") + Term;
  }

  std::optional<Linear> form(const GlobalAccess &G) const {
    if (!G.Index || G.Index->K != Value::Affine)
      return std::nullopt;
    // Where it happens.
    isl::set Where = always(M.Ctx->ctx());
    if (!G.Domain.is_null())
      Where = G.Domain;
    return linearForm(G.Index->Aff, Where);
  }

  const Symbol *symbol(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    return I < 0 ? nullptr : &M.Symbols[static_cast<size_t>(I)];
  }

  /// A parameter, or the size of a block or grid: (double)n.
  std::optional<std::string> number(const Symbol &S) const {
    const std::string Axis = S.Axis < 3 ? std::string(1, "xyz"[S.Axis]) : "";
    if (S.K == Symbol::BlockDim)
      return "(double)" + M.NamePrefix + "block." + Axis;
    if (S.K == Symbol::GridDim)
      return "(double)" + M.NamePrefix + "grid." + Axis;
    if (S.K == Symbol::Param)
      return "(double)" + S.Text;
    return std::nullopt;
  }

  /// By how much \p S differs between threads of a block, in any two rounds;
  /// nullopt: nobody knows.
  std::optional<int64_t> width(const Symbol &S) const {
    if (S.K == Symbol::ThreadIdx && Map.Block)
      return (*Map.Block)[S.Axis] - 1;
    if (S.K != Symbol::Iterator)
      return std::nullopt;
    for (const Stmt &L : M.Stmts)
      if (L.IterSymbol == &S - M.Symbols.data() && L.ConstTripCount && L.Step)
        return std::max<int64_t>(0, *L.ConstTripCount - 1) * std::abs(*L.Step);
    return std::nullopt;
  }

  /// The same for all threads of a block in all rounds.
  bool isFixed(const Symbol &S) const {
    if (S.K == Symbol::BlockIdx || number(S))
      return true;
    return S.K == Symbol::Opaque && !S.Factors.empty() &&
           llvm::all_of(S.Factors, [&](const std::string &F) {
             const Symbol *Of = symbol(F);
             return Of && isFixed(*Of);
           });
  }

  /// Adds what \p Id, with coefficients \p C and \p D, makes of the distance.
  bool term(const std::string &Id, int64_t C, int64_t D) {
    const Symbol *S = symbol(Id);
    if (!S)
      return false;
    const std::vector<std::string> Single = {Id};
    const std::vector<std::string> &Factors =
        S->Factors.empty() ? Single : S->Factors;
    // One factor that is the round or differs between threads; parameters.
    std::string Rest;
    unsigned Bits = 0;
    for (const std::string &F : Factors)
      if (const Symbol *Of = symbol(F); Of && Of->K == Symbol::Param)
        Bits += Of->Bits;
    Wide |= Bits > 32 || std::max(std::abs(C), std::abs(D)) > (Bits ? 8 : MostOfStep);
    const Symbol *Moving = nullptr;
    for (const std::string &F : Factors) {
      const Symbol *Of = symbol(F);
      if (!Of)
        return false;
      if (!isFixed(*Of)) {
        if (Moving)
          return false;
        Moving = Of;
      }
    }
    if (!Moving && C == D)
      return true; // the same for both
    for (const std::string &F : Factors) {
      const Symbol *Of = symbol(F);
      if (Of == Moving)
        continue;
      const auto N = number(*Of);
      if (!N)
        return false; // a block's number: how large is that?
      Rest += " * " + (Moving && Moving->Id == Round ? *N : size(*N, *Of));
    }
    if (Moving && Moving->Id == Round) {
      if (C != D)
        return false;
      std::vector<std::string> Others = Factors;
      llvm::erase(Others, Round);
      ARound.push_back(std::move(Others));
      StepTimes = std::abs(C);
      add(Step, std::to_string(C) + ".0" + Rest);
      return true;
    }
    if (!Moving) {
      Ahead.push_back(Factors);
      add(Spread, std::to_string(std::abs(C - D)) + ".0" + Rest);
      return true;
    }
    const auto Width = width(*Moving);
    if (!Width)
      return false;
    // Coefficients that differ: the values count, not how far they are apart.
    if (C != D && Moving->K != Symbol::ThreadIdx)
      return false;
    const int64_t Most = C == D ? std::abs(C) : std::abs(C) + std::abs(D);
    std::vector<std::string> Others = Factors;
    llvm::erase(Others, Moving->Id);
    Apart.push_back({std::move(Others), Most * *Width});
    add(Spread, std::to_string(Most * *Width) + ".0" + Rest);
    return true;
  }

  /// Without its sign.
  static std::string size(const std::string &Number, const Symbol &S) {
    return S.K == Symbol::Param && S.Signed
               ? "(" + S.Text + " < 0 ? -" + Number + " : " + Number + ")"
               : Number;
  }
};

} // namespace

std::optional<std::string> rcache::roundsApart(const KernelModel &M,
                                               const Mapping &Map,
                                               const Stmt &Loop,
                                               const GlobalAccess &A,
                                               const GlobalAccess &B) {
  return Distance(M, Map, Loop).between(A, B);
}
