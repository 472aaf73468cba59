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
#include "Solve.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cstdlib>
#include <map>
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

/// What parameters are at least.
using Bounds = std::map<std::string, int64_t>;

void add(const Bounds &More, Bounds &To) {
  for (const auto &[Id, Least] : More) {
    int64_t &Known = To.try_emplace(Id, Least).first->second;
    Known = std::max(Known, Least);
  }
}

/// Of 64 bits.
bool isWide(llvm::StringRef Type) {
  return llvm::is_contained({"unsigned long long", "unsigned long", "long long", "long"}, Type);
}

/// Symbols that cannot be negative, or products of such.
class Signs {
public:
  Signs(const KernelModel &M, const Assumptions &A) : M(M), A(A) {}

  /// No index is negative if the parameters that this adds to \p Positive are
  /// at least what it says, 0 or 1 (`min(i, n - 1)`).
  bool neverBefore(const ValueRef &Index, const Nullable<isl::set> &Domain,
                   Bounds &Positive) const {
    if (!Index)
      return false;
    if (Index->K == Value::Op) {
      // (Products and sums that are no formulas. Signed ones that wrapped would
      // be undefined, others stay what they are.)
      const bool Widened = Index->Opcode == Value::Cast && isWide(Index->Type);
      const bool Known = Index->Opcode == Value::Add ||
                         Index->Opcode == Value::Mul || Widened;
      return Known && llvm::all_of(Index->Operands, [&](const ValueRef &O) {
               return neverBefore(O, Domain, Positive);
             });
    }
    return Index->K == Value::Affine &&
           (neverBefore(Index, Domain, Positive, 0) ||
            neverBefore(Index, Domain, Positive, 1));
  }

private:
  const KernelModel &M;
  const Assumptions &A;

  bool neverBefore(const ValueRef &Index, const Nullable<isl::set> &Domain,
                   Bounds &Positive, int64_t Least) const {
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
    Bounds Taken;
    const isl::pw_aff Zero = constantValue(M.Ctx->ctx(), 0);
    for (const std::string &Id : Ids) {
      Bounds Of;
      if (!nonNegative(Id, Of))
        continue;
      const int64_t From = Of.count(Id) ? Least : 0; // the parameter itself
      for (const auto &[Param, Any] : Of)
        add({{Param, From}}, Taken);
      Where = Where.intersect(symbolValue(M.Ctx->ctx(), Id)
                                  .ge_set(constantValue(M.Ctx->ctx(), From)));
    }
    // by >= 1: by * nx >= nx.
    for (const std::string &Id : Ids)
      if (nonNegative(Id, Taken))
        Where = Where.intersect(leastProduct(Id, Where));
    if (!Where.intersect(V.lt_set(Zero)).is_empty() && !countsLines(V, Where, Taken))
      return false;
    add(Taken, Positive);
    return true;
  }

  /// Is it `line * w + rest` with a parameter w, and neither of them negative on \p
  /// Where? `y * w + x` under `y >= 0 && x >= 0`.
  bool countsLines(const isl::pw_aff &V, const isl::set &Where, Bounds &Taken) const {
    const auto Form = linearForm(V, Where);
    std::set<std::string> Pitches;
    if (Form)
      for (const auto &[Id, N] : Form->Terms)
        for (const std::string &F : factorsOf(Id))
          if (const int I = M.symbolIndex(F); I >= 0 && M.Symbols[size_t(I)].K == Symbol::Param)
            Pitches.insert(F);
    return llvm::any_of(Pitches, [&](const std::string &W) {
      isl::pw_aff Line = constantValue(M.Ctx->ctx(), 0),
                  Rest = constantValue(M.Ctx->ctx(), long(Form->Const));
      for (const auto &[Id, N] : Form->Terms) {
        std::vector<std::string> F = factorsOf(Id);
        const auto At = llvm::find(F, W);
        const bool OfLine = At != F.end();
        if (OfLine)
          F.erase(At);
        const auto Value = product(F);
        if (!Value)
          return false;
        isl::pw_aff &To = OfLine ? Line : Rest;
        To = To.add(Value->scale(long(N)));
      }
      const isl::pw_aff Zero = constantValue(M.Ctx->ctx(), 0);
      return Where.intersect(Line.lt_set(Zero).unite(Rest.lt_set(Zero))).is_empty() &&
             nonNegative(W, Taken);
    });
  }

  std::vector<std::string> factorsOf(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    return I < 0 || M.Symbols[size_t(I)].Factors.empty() ? std::vector<std::string>{Id}
                                                         : M.Symbols[size_t(I)].Factors;
  }

  /// The product of \p Factors, where a symbol has it.
  std::optional<isl::pw_aff> product(const std::vector<std::string> &Factors) const {
    if (Factors.empty())
      return constantValue(M.Ctx->ctx(), 1);
    if (Factors.size() == 1)
      return symbolValue(M.Ctx->ctx(), Factors.front());
    for (const Symbol &S : M.Symbols)
      if (S.Factors == Factors)
        return symbolValue(M.Ctx->ctx(), S.Id);
    return std::nullopt;
  }

  /// Small numbers of each symbol: no negative offset written as a large
  /// unsigned one.
  bool ordinary(const isl::pw_aff &V) const {
    bool Small = true;
    V.foreach_piece([&](isl::set, isl::multi_aff Piece) {
      Small = Small && hasSmallNumbers(Piece.at(0), int64_t(1) << 31);
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

  bool nonNegative(const std::string &Id, Bounds &Taken) const {
    const int I = M.symbolIndex(Id);
    if (I < 0)
      return false;
    const Symbol &S = M.Symbols[I];
    if (S.K == Symbol::Param) {
      Taken.try_emplace(Id, 0);
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
  bool nonNegativeIterator(int Symbol, Bounds &Taken) const {
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

/// The coordinates of a thread of the grid.
const char *const Coordinates[] = {"tx", "ty", "tz", "bx", "by", "bz"};

/// A number that every type of an index holds.
bool isSmall(std::optional<int64_t> N) { return N && *N >= 0 && *N < 1 << 30; }

/// What the launch's first thread computes for \p V; nullopt: more than its coordinates
/// decide that.
std::optional<int64_t> inFirstThread(const ValueRef &V, const Assumptions &A) {
  if (!V)
    return std::nullopt;
  if (V->K == Value::Affine) {
    isl::pw_aff Is = A.fix(V->Aff);
    isl::set First = always(Is.ctx());
    for (const char *Id : Coordinates)
      if (dependsOn(Is, Id))
        First = First.intersect(
            symbolValue(Is.ctx(), Id).eq_set(constantValue(Is.ctx(), 0)));
    return constantUnder(Is, First);
  }
  if (V->K != Value::Op)
    return std::nullopt;
  std::vector<std::optional<int64_t>> Of;
  for (const ValueRef &O : V->Operands)
    Of.push_back(inFirstThread(O, A));
  if (V->Opcode == Value::Mul && (Of[0] == 0 || Of[1] == 0))
    return 0;
  if (!llvm::all_of(Of, isSmall))
    return std::nullopt;
  switch (V->Opcode) {
  case Value::Mul:
    return *Of[0] * *Of[1];
  case Value::Add:
    return *Of[0] + *Of[1];
  case Value::Cast:
    return isWide(V->Type) || V->Type == "int" || V->Type == "unsigned int" ? Of[0]
                                                                            : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// If any thread of a launch makes access \p G, then the first one does, and to an element
/// that is not in front of the pointer: it leads into its object. Whatever the others'
/// indices are, `(int)((blockIdx.y * 16 + y) * w)` among them.
bool firstThreadIsInside(const KernelModel &M, const Assumptions &A, const GlobalAccess &G) {
  if (!isSmall(inFirstThread(G.Index, A)) || G.Domain.is_null() || !G.DomainExact)
    return false;
  for (int Q = static_cast<int>(G.Stmt); Q >= 0; Q = M.stmt(unsigned(Q)).Parent)
    if (const Stmt &S = M.stmt(unsigned(Q)); S.isLoop() || S.K == Stmt::Switch)
      return false;
  const isl::set Where = A.fix(G.Domain).intersect(A.Context);
  isl::set First = Where;
  std::vector<std::string> Ids;
  for (const std::string &Id : involvedIds(Where)) {
    const int I = M.symbolIndex(Id);
    if (llvm::is_contained(Coordinates, Id)) {
      First = First.intersect(
          symbolValue(Where.ctx(), Id).eq_set(constantValue(Where.ctx(), 0)));
      Ids.push_back(Id);
    } else if (I < 0 || M.Symbols[size_t(I)].K > Symbol::Param ||
               M.Symbols[size_t(I)].K < Symbol::BlockDim) {
      return false;
    }
  }
  return projectOut(Where, Ids).is_subset(projectOut(First, Ids));
}

/// `p[e]` with p the parameter itself and e of 32 bits without a sign: it
/// counts up from the pointer, however e was computed.
bool unsignedSubscript(const KernelModel &M, const GlobalAccess &G) {
  return G.Index && G.Index->Type == "unsigned int" &&
         llvm::StringRef(M.Text)
             .substr(G.Range.Begin)
             .starts_with(M.Params[static_cast<size_t>(G.Root)].Name + "[");
}

} // namespace

void rcache::addSeparations(const KernelModel &M, const Assumptions &A,
                            FrontSides &Known, Plan &P) {
  Bounds Positive;
  auto pointsInside = [&](int Root) {
    auto [It, New] = Known.emplace(Root, Bounds());
    if (New) {
      const Signs Sign(M, A);
      Bounds Taken;
      for (const GlobalAccess &G : M.GlobalAccesses)
        if (It->second && G.Root == Root && !unsignedSubscript(M, G) &&
            !firstThreadIsInside(M, A, G) && !Sign.neverBefore(G.Index, G.Domain, Taken))
          It->second.reset();
      if (It->second)
        It->second = std::move(Taken);
    }
    if (It->second)
      add(*It->second, Positive);
    return It->second.has_value();
  };
  for (const auto &[X, Y] : P.Separate) {
    const bool Plain = pointsInside(X) && pointsInside(Y);
    const std::string &N = M.Params[X].Name, &O = M.Params[Y].Name;
    P.Preconditions.push_back({std::string("::rcache::device::separate(") + N +
                                   ", " + O + (Plain ? ")" : ", true)"),
                               "'" + N + "' and '" + O + "' do not overlap"});
  }
  for (const auto &[Id, Least] : Positive) {
    const Symbol &S = M.Symbols[M.symbolIndex(Id)];
    if (S.Signed || Least > 0)
      P.Preconditions.push_back(
          {S.Text + " >= " + std::to_string(Least), "indices count up from 0"});
    if (!S.Signed && S.Bits > 32)
      P.Preconditions.push_back(
          {S.Text + " <= 0x" + llvm::utohexstr(MostOfSizes, /*LowerCase=*/true) + "ull", "indices count up from 0"});
  }
}
