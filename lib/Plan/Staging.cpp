// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Staging.h. Spaces: everything lives in the parameter space; to invert a
// write the unknowns (thread coordinates, iterators of the staging loops) are
// moved to the dimensions of a set,
//
//     [e0, n, ...] -> { [tx, i] : Domain and e0 = Index(tx, i) }
//
// whose lexicographic maximum gives thread and iteration as functions of the
// element. More than one solution is either the same value written twice or a
// race of the original; the last iteration of one thread wins.

#include "Staging.h"
#include "Affine/IslTools.h"
#include "Solve.h"
#include "SpreadLoops.h"
#include <algorithm>
#include <limits>
#include <functional>
#include <set>

using namespace rcache;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

ValueRef rcache::substituteValue(const ValueRef &V,
                                 const std::map<std::string, isl::pw_aff> &Map) {
  if (!V || V->K == Value::Unknown)
    return nullptr;
  auto N = std::make_shared<Value>(*V);
  if (!N->Aff.is_null())
    N->Aff = substitute(N->Aff, Map);
  if (!N->Cond.is_null())
    N->Cond = substitute(N->Cond, Map);
  for (ValueRef &O : N->Operands) {
    O = substituteValue(O, Map);
    if (!O)
      return nullptr;
  }
  return N;
}

std::vector<std::string> rcache::productFactors(const std::string &Id) {
  std::vector<std::string> Factors;
  if (Id.find('*') == std::string::npos)
    return Factors;
  size_t Begin = isWideProduct(Id) ? 3 : 0;
  for (size_t Star; (Star = Id.find('*', Begin)) != std::string::npos;
       Begin = Star + 1)
    Factors.push_back(Id.substr(Begin, Star - Begin));
  Factors.push_back(Id.substr(Begin));
  return Factors;
}

bool rcache::isWideProduct(const std::string &Id) {
  return Id.compare(0, 3, "64*") == 0;
}

static void collectSymbols(const ValueRef &V, std::set<std::string> &Out) {
  if (!V)
    return;
  auto Add = [&](const std::vector<std::string> &Ids) {
    for (const std::string &Id : Ids) {
      Out.insert(Id);
      for (const std::string &F : productFactors(Id))
        Out.insert(F);
    }
  };
  if (!V->Aff.is_null())
    Add(involvedIds(V->Aff));
  if (!V->Cond.is_null())
    Add(involvedIds(V->Cond));
  for (const ValueRef &O : V->Operands)
    collectSymbols(O, Out);
}

std::vector<std::string> rcache::valueSymbols(const ValueRef &V) {
  std::set<std::string> S;
  collectSymbols(V, S);
  return {S.begin(), S.end()};
}

void rcache::collectLoads(const ValueRef &V, std::vector<ValueRef> &Out) {
  if (!V)
    return;
  if (V->K == Value::Load)
    Out.push_back(V);
  for (const ValueRef &O : V->Operands)
    collectLoads(O, Out);
}

/// \p D and, for products e0 * w in \p V whose coordinate e0 has one value c on
/// D, that the product is c * w.
static isl::set withConstantProducts(isl::set D, const isl::pw_aff &V) {
  for (const std::string &Id : involvedIds(V)) {
    const std::vector<std::string> F = productFactors(Id);
    if (F.size() != 2)
      continue;
    for (int K = 0; K < 2; ++K) {
      const isl::pw_aff Coordinate = symbolValue(D.ctx(), F[K]);
      const auto Lo = minConst(Coordinate, D), Hi = maxConst(Coordinate, D);
      if (Lo && Hi && *Lo == *Hi)
        D = D.intersect(symbolValue(D.ctx(), Id).eq_set(
            symbolValue(D.ctx(), F[1 - K]).scale(static_cast<long>(*Lo))));
    }
  }
  return D;
}

bool rcache::equalOn(const ValueRef &A, const ValueRef &B, const isl::set &D) {
  if (A == B)
    return true;
  if (!A || !B || A->K != B->K || A->Type != B->Type || A->Text != B->Text ||
      A->Root != B->Root || A->Operands.size() != B->Operands.size())
    return false;
  // An index is a number: int or unsigned makes no difference where it is exact.
  if (A->K == Value::Load && A->Operands[0]->K == Value::Affine &&
      B->Operands[0]->K == Value::Affine) {
    const isl::pw_aff X = A->Operands[0]->Aff, Y = B->Operands[0]->Aff;
    return X.ne_set(Y)
        .intersect(withConstantProducts(withConstantProducts(D, X), Y))
        .is_empty();
  }
  if (A->K == Value::Affine &&
      !A->Aff.ne_set(B->Aff).intersect(D).is_empty())
    return false;
  if (A->K == Value::Select &&
      !A->Cond.intersect(D).is_equal(B->Cond.intersect(D)))
    return false;
  for (size_t I = 0; I < A->Operands.size(); ++I)
    if (!equalOn(A->Operands[I], B->Operands[I], D))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

isl::pw_aff Assumptions::fix(const isl::pw_aff &A) const {
  return Fixed.empty() ? A : substitute(A, Fixed);
}
isl::set Assumptions::fix(const isl::set &S) const {
  return Fixed.empty() ? S : substitute(S, Fixed);
}
ValueRef Assumptions::fix(const ValueRef &V) const {
  return Fixed.empty() ? V : substituteValue(V, Fixed);
}

Assumptions rcache::makeAssumptions(const KernelModel &M,
                                    std::optional<std::array<int64_t, 3>> Block,
                                    unsigned Multiple) {
  Assumptions A;
  A.Block = Block;
  isl::ctx Ctx = M.Ctx->ctx();
  const char *Dims[3] = {"bdx", "bdy", "bdz"};
  const char *Threads[3] = {"tx", "ty", "tz"};
  const char *Blocks[3] = {"bx", "by", "bz"};
  if (Block) {
    for (int D = 0; D < 3; ++D)
      A.Fixed.emplace(Dims[D], constantValue(Ctx, (*Block)[D]));
  } else {
    A.Fixed.emplace("bdy", constantValue(Ctx, 1));
    A.Fixed.emplace("bdz", constantValue(Ctx, 1));
  }
  // Products with a known factor are no longer opaque: bx * bdx = 256 bx.
  // Products of products settle in a few rounds.
  for (int Round = 0; Round < 3; ++Round)
    for (const Symbol &S : M.Symbols) {
      if (S.Factors.size() != 2 || A.Fixed.count(S.Id))
        continue;
      for (int F = 0; F < 2; ++F) {
        auto It = A.Fixed.find(S.Factors[F]);
        if (It == A.Fixed.end())
          continue;
        if (auto C = isConstant(It->second)) {
          auto Other = A.Fixed.find(S.Factors[1 - F]);
          isl::pw_aff O = Other != A.Fixed.end()
                              ? Other->second
                              : symbolValue(Ctx, S.Factors[1 - F]);
          A.Fixed.emplace(S.Id, O.scale(static_cast<long>(*C)));
          break;
        }
      }
    }
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
  if (!Block) {
    isl::pw_aff Bd = symbolValue(Ctx, "bdx");
    A.Context = A.Context.intersect(symbolValue(Ctx, "tx").lt_set(Bd))
                    .intersect(Bd.ge_set(constantValue(Ctx, Multiple)))
                    .intersect(Bd.le_set(constantValue(Ctx, 1024)));
    if (Multiple > 1)
      A.Context = A.Context.intersect(
          Bd.mod(static_cast<long>(Multiple)).eq_set(constantValue(Ctx, 0)));
    // Products of two numbers that are never negative are not negative.
    for (const Symbol &S : M.Symbols)
      if (S.Factors.size() == 2 && !A.Fixed.count(S.Id)) {
        bool NonNegative = true;
        for (const std::string &F : S.Factors) {
          int I = M.symbolIndex(F);
          NonNegative &= I >= 0 && M.Symbols[I].K <= Symbol::GridDim;
        }
        if (NonNegative)
          A.Context = A.Context.intersect(
              symbolValue(Ctx, S.Id).ge_set(constantValue(Ctx, 0)));
      }
  }
  // The launch sees to it: computed with in long long.
  for (const Symbol &S : M.Symbols)
    if (isLargeUnsigned(S)) {
      isl::pw_aff V = symbolValue(Ctx, S.Id), Zero = constantValue(Ctx, 0);
      A.Context =
          A.Context.intersect(V.ge_set(Zero))
              .intersect(V.le_set(constantValue(
                  Ctx, std::numeric_limits<int64_t>::max())))
              // No launch has more blocks; sums with V then do not wrap.
              .intersect(symbolValue(Ctx, "bx").le_set(
                  constantValue(Ctx, std::numeric_limits<int32_t>::max())));
    }
  A.Context = A.Context.coalesce();
  return A;
}

bool rcache::isLargeUnsigned(const Symbol &S) {
  return S.K == Symbol::Param && !S.Signed && S.Bits == 64;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Does the product symbol \p S stand for the mathematical product? One in
/// unsigned may have wrapped, unless the model makes the launch check it.
static bool isExactProduct(const KernelModel &M, const Symbol &S) {
  if (S.Signed)
    return true;
  for (const std::string &F : S.Factors) {
    const int I = M.symbolIndex(F);
    if (I < 0 || M.Symbols[I].K > Symbol::Param)
      return false;
  }
  return true;
}

/// The symbol for the product of \p Factors: one of them by itself, the model's
/// own symbol where it has one, else a new one.
static isl::pw_aff productSymbol(const KernelModel &M, const Assumptions &A,
                                 std::vector<std::string> Factors, bool Wide) {
  isl::ctx Ctx = M.Ctx->ctx();
  if (Factors.size() == 1)
    return A.fix(symbolValue(Ctx, Factors[0]));
  std::sort(Factors.begin(), Factors.end());
  for (const Symbol &S : M.Symbols)
    if (S.Factors.size() == Factors.size() && isExactProduct(M, S)) {
      std::vector<std::string> Own = S.Factors;
      std::sort(Own.begin(), Own.end());
      if (Own == Factors)
        return A.fix(symbolValue(Ctx, S.Id));
    }
  std::string Id = Wide ? "64" : "";
  for (const std::string &F : Factors)
    Id += (Id.empty() ? "" : "*") + F;
  return symbolValue(Ctx, Id);
}

/// The symbols that \p Id is a product of; itself if it is none.
static std::vector<std::string> factorsOf(const KernelModel &M,
                                          const std::string &Id) {
  const int I = M.symbolIndex(Id);
  if (I >= 0 && !M.Symbols[I].Factors.empty())
    return M.Symbols[I].Factors;
  std::vector<std::string> F = productFactors(Id);
  return F.empty() ? std::vector<std::string>{Id} : F;
}

/// \p V times the product of \p Factors (none: \p V), term by term:
/// (e0 + 16 by - 1) * W = [e0*W] + 16 [by*W] - W. nullopt: V has quotients.
static std::optional<isl::pw_aff>
timesSymbols(const KernelModel &M, const Assumptions &A, const isl::pw_aff &V,
             const std::vector<std::string> &Factors, bool Wide) {
  if (Factors.empty())
    return V;
  std::optional<isl::pw_aff> Sum;
  bool Fine = true;
  V.foreach_piece([&](isl::set D, isl::multi_aff Piece) {
    const std::optional<Linear> L =
        linearForm(isl::pw_aff(Piece.at(0)), always(M.Ctx->ctx()));
    if (!L) {
      Fine = false;
      return;
    }
    isl::pw_aff Part = productSymbol(M, A, Factors, Wide)
                           .scale(static_cast<long>(L->Const));
    for (const auto &[Id, C] : L->Terms) {
      std::vector<std::string> All = Factors, More = factorsOf(M, Id);
      All.insert(All.end(), More.begin(), More.end());
      Part = Part.add(
          productSymbol(M, A, std::move(All), Wide).scale(static_cast<long>(C)));
    }
    Part = Part.intersect_domain(D);
    Sum = Sum ? Sum->union_add(Part) : Part;
  });
  return Fine ? Sum : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Inversion
//===----------------------------------------------------------------------===//

namespace {

/// \p V, all of whose indices and coordinates have a value on \p D: one formula
/// may have lost a part of its domain to another piece. nullptr: some have none.
ValueRef definedOn(const ValueRef &V, const isl::set &D) {
  auto N = std::make_shared<Value>(*V);
  if (!N->Aff.is_null() && !D.is_subset(N->Aff.domain())) {
    const isl::pw_aff Aff = N->Aff;
    N->Aff = Aff.gist(Aff.domain());
    if (!D.is_subset(N->Aff.domain()))
      return nullptr;
  }
  for (ValueRef &O : N->Operands)
    if (O && !(O = definedOn(O, D)))
      return nullptr;
  return N;
}

struct RawPiece {
  isl::set D;
  ValueRef V;
  std::vector<ValueRef> Guards;
};

constexpr size_t MaxPieces = 64;

/// First Select with an affine condition or affine leaf of several pieces.
const Value *findSplit(const ValueRef &V, const isl::set &D) {
  if (V->K == Value::Select)
    return V.get();
  if (V->K == Value::Affine && V->Aff.n_piece() > 1)
    return V.get();
  for (const ValueRef &O : V->Operands)
    if (const Value *S = findSplit(O, D))
      return S;
  return nullptr;
}

ValueRef replaceNode(const ValueRef &V, const Value *Old, const ValueRef &New) {
  if (V.get() == Old)
    return New;
  auto N = std::make_shared<Value>(*V);
  bool Changed = false;
  for (ValueRef &O : N->Operands) {
    ValueRef R = replaceNode(O, Old, New);
    Changed |= R != O;
    O = R;
  }
  return Changed ? ValueRef(N) : V;
}

/// Affine leaves in their simplest form on D.
ValueRef simplifyOn(const ValueRef &V, const isl::set &D) {
  auto N = std::make_shared<Value>(*V);
  if (N->K == Value::Affine)
    N->Aff = N->Aff.gist(D).coalesce();
  for (ValueRef &O : N->Operands)
    O = simplifyOn(O, D);
  return N;
}

using Context = std::pair<const KernelModel &, const Assumptions &>;

/// \p Unknown by an index in which it stands once: with e0 = ty + 8 k, ty is
/// e0 - 8 k. In element and other unknowns; nullopt: no such index, or it was
/// used for another unknown (\p Taken).
std::optional<isl::pw_aff> byOneIndex(const Context &C, const SharedAccess &W,
                                      const std::vector<std::string> &ElemIds,
                                      const std::string &Unknown,
                                      std::map<size_t, std::string> &Taken) {
  isl::ctx Ctx = C.first.Ctx->ctx();
  for (size_t K = 0; K < W.Index.size(); ++K) {
    const isl::pw_aff Index = C.second.fix(W.Index[K]);
    const auto L = linearForm(Index, always(Ctx));
    auto It = L ? L->Terms.find(Unknown)
                : std::map<std::string, int64_t>::const_iterator();
    if (!L || It == L->Terms.end() || std::abs(It->second) != 1 ||
        Taken.try_emplace(K, Unknown).first->second != Unknown)
      continue;
    const isl::pw_aff Self = symbolValue(Ctx, Unknown),
                      Rest = symbolValue(Ctx, ElemIds[K]).sub(Index);
    return It->second > 0 ? Rest.add(Self) : Self.sub(Rest);
  }
  return std::nullopt;
}

/// The operator of a text `$0 + $1`, also with parentheses around the holes.
static char integerOperator(std::string Text) {
  for (const char *Hole : {"($0)", "($1)"})
    if (size_t At = Text.find(Hole); At != std::string::npos)
      Text = Text.substr(0, At) + std::string(Hole + 1, 2) +
             Text.substr(At + 4);
  return Text.size() == 7 && Text.compare(0, 3, "$0 ") == 0 &&
                 Text.compare(4, 3, " $1") == 0
             ? Text[3]
             : 0;
}

bool isUnsignedLong(const std::string &Type) {
  return Type == "unsigned long" || Type == "unsigned long long";
}

/// \p X * \p Y as a number or a product of symbols (sorted; none: 1) times the
/// other factor; nullopt: neither of the two is that simple.
std::optional<std::pair<std::vector<std::string>, isl::pw_aff>>
productOf(const Context &C, const isl::pw_aff &X, const isl::pw_aff &Y) {
  for (int K = 0; K < 2; ++K) {
    const auto L = linearForm(K ? X : Y, always(C.first.Ctx->ctx()));
    if (!L || L->Terms.size() > 1 || (!L->Terms.empty() && L->Const != 0))
      continue;
    const auto &Other = K ? Y : X;
    if (L->Terms.empty())
      return std::make_pair(std::vector<std::string>(),
                            Other.scale(static_cast<long>(L->Const)));
    const auto &[Id, Coef] = *L->Terms.begin();
    std::vector<std::string> Factors = factorsOf(C.first, Id);
    std::sort(Factors.begin(), Factors.end());
    return std::make_pair(std::move(Factors),
                          Other.scale(static_cast<long>(Coef)));
  }
  return std::nullopt;
}

/// A sum of products by the same symbols, each of which has a quotient that
/// cancels in the sum: (e0 mod 8 + 1) * w + (e0 - e0 mod 8) * w = [e0*w] + w. The
/// terms of \p V, by the symbols they are multiplied with, added to \p Sums.
/// False: it has other terms.
bool addTerms(const Context &C, const Value &V, long Sign,
              std::map<std::vector<std::string>, isl::pw_aff> &Sums) {
  const bool Signed =
      V.Type == "int" || V.Type == "long" || V.Type == "long long";
  if (!Signed)
    return false;
  auto Add = [&](std::vector<std::string> Factors, const isl::pw_aff &A) {
    const isl::pw_aff Term = A.scale(Sign);
    auto [It, New] = Sums.emplace(std::move(Factors), Term);
    if (!New)
      It->second = It->second.add(Term);
    return true;
  };
  if (V.K == Value::Affine)
    return V.Aff.n_piece() == 1 && Add({}, V.Aff);
  const char Operator = V.K == Value::Op ? integerOperator(V.Text) : 0;
  if (V.Operands.size() != 2)
    return false;
  const Value &X = *V.Operands[0], &Y = *V.Operands[1];
  if (Operator == '+' || Operator == '-')
    return addTerms(C, X, Sign, Sums) &&
           addTerms(C, Y, Operator == '+' ? Sign : -Sign, Sums);
  if (Operator != '*' || X.K != Value::Affine || Y.K != Value::Affine ||
      X.Aff.n_piece() != 1 || Y.Aff.n_piece() != 1)
    return false;
  auto P = productOf(C, X.Aff, Y.Aff);
  return P && Add(std::move(P->first), P->second);
}

/// The sum \p V as one linear form, in 64 bits; nullopt: it has none.
std::optional<isl::pw_aff> sumOfProducts(const Context &C, const Value &V) {
  std::map<std::vector<std::string>, isl::pw_aff> Sums;
  if (!addTerms(C, V, 1, Sums))
    return std::nullopt;
  isl::pw_aff All = constantValue(C.first.Ctx->ctx(), 0);
  for (const auto &[Factors, Sum] : Sums) {
    auto Part = timesSymbols(C.first, C.second, Sum.coalesce(), Factors,
                             /*Wide=*/true);
    if (!Part)
      return std::nullopt;
    All = All.add(*Part);
  }
  return All;
}

/// Sums and products of signed integers whose operands are linear by now: what
/// was a quotient of the iterator is a coordinate of the element. In an index
/// (\p Address) also those of unsigned 64-bit integers: addresses are numbers
/// modulo 2^64.
ValueRef foldInteger(const Context &C, const ValueRef &V,
                     bool Address = false) {
  auto N = std::make_shared<Value>(*V);
  const bool Unsigned = Address && isUnsignedLong(N->Type);
  // What is divided, compared or computed in less than 64 bits is no such number.
  const char Operator = N->K == Value::Op ? integerOperator(N->Text) : 0;
  const bool Ring = Operator == '+' || Operator == '-' || Operator == '*';
  const bool Below = N->K == Value::Load ||
                     (Address && Ring &&
                      (Unsigned || N->Type == "long" || N->Type == "long long"));
  bool Changed = false;
  for (ValueRef &O : N->Operands) {
    ValueRef F = foldInteger(C, O, Below);
    Changed |= F != O;
    O = F;
  }
  if (!Changed)
    N = std::const_pointer_cast<Value>(V);
  const bool Long = N->Type == "long" || N->Type == "long long" || Unsigned;
  if (Unsigned && N->K == Value::Op && N->Operands.size() == 1 &&
      N->Text == "(unsigned long long)$0" &&
      N->Operands[0]->K == Value::Affine)
    return N->Operands[0];
  if (N->K != Value::Op || N->Operands.size() != 2 ||
      (N->Type != "int" && !Long))
    return N;
  const Value &X = *N->Operands[0], &Y = *N->Operands[1];
  auto Plain = [&](const Value &O) {
    return O.K == Value::Affine && O.Aff.n_piece() == 1 &&
           (O.Type == "int" || (Long && (O.Type == "unsigned int" ||
                                         O.Type == "long" ||
                                         O.Type == "long long")) ||
            (Unsigned && isUnsignedLong(O.Type)));
  };
  auto Folded = std::make_shared<Value>(*N);
  Folded->K = Value::Affine;
  Folded->Text.clear();
  Folded->Operands.clear();
  if (!Plain(X) || !Plain(Y)) {
    const auto Sum = Operator == '+' || Operator == '-' ? sumOfProducts(C, *N)
                                                        : std::nullopt;
    if (!Sum)
      return N;
    Folded->Aff = *Sum;
    return Folded;
  }
  if (Operator == '+')
    Folded->Aff = X.Aff.add(Y.Aff);
  else if (Operator == '-')
    Folded->Aff = X.Aff.sub(Y.Aff);
  else if (Operator == '*') {
    // One factor times each term of the other; in 64 bits, where a part of the
    // product fits whatever the whole does.
    const auto P = productOf(C, X.Aff, Y.Aff);
    const auto R = P ? timesSymbols(C.first, C.second, P->second, P->first,
                                    /*Wide=*/true)
                     : std::nullopt;
    if (!R)
      return N;
    Folded->Aff = *R;
  } else
    return N;
  return Folded;
}

/// Nothing but undefined values can come of \p V, whose conditions have been
/// split.
bool isUndefined(const ValueRef &V) {
  if (V->K == Value::Undefined)
    return true;
  if (V->K == Value::Op && (V->Text.find('?') != std::string::npos ||
                            V->Text.find("&&") != std::string::npos ||
                            V->Text.find("||") != std::string::npos))
    return false;
  return std::any_of(V->Operands.begin(), V->Operands.end(), isUndefined);
}

/// Splits at conditions inside the value until each piece is free of them.
bool splitPieces(const Context &C, RawPiece P, std::vector<RawPiece> &Out) {
  P.D = tightened(P.D);
  if (P.D.is_empty())
    return true;
  if (Out.size() >= MaxPieces)
    return false;
  P.V = foldInteger(C, simplifyOn(P.V, P.D));
  const Value *S = findSplit(P.V, P.D);
  if (!S) {
    Out.push_back(std::move(P));
    return true;
  }
  if (S->K == Value::Select) {
    RawPiece A = P, B = P;
    A.D = P.D.intersect(S->Cond).coalesce();
    A.V = replaceNode(P.V, S, S->Operands[0]);
    B.D = P.D.subtract(S->Cond).coalesce();
    B.V = replaceNode(P.V, S, S->Operands[1]);
    return splitPieces(C, std::move(A), Out) &&
           splitPieces(C, std::move(B), Out);
  }
  bool Fine = true;
  isl::pw_aff Aff = S->Aff;
  std::vector<std::pair<isl::set, isl::pw_aff>> Parts;
  Aff.foreach_piece([&](isl::set D, isl::multi_aff MA) {
    Parts.push_back({D, isl::pw_aff(MA.at(0))});
  });
  for (auto &[D, One] : Parts) {
    RawPiece A = P;
    A.D = P.D.intersect(D).coalesce();
    auto Leaf = std::make_shared<Value>(*S);
    Leaf->Aff = One;
    A.V = replaceNode(P.V, S, Leaf);
    Fine = Fine && splitPieces(C, std::move(A), Out);
  }
  return Fine;
}

} // namespace

StagingResult rcache::stagingFunction(const KernelModel &M,
                                      const StagingGroup &G,
                                      const Assumptions &A) {
  StagingResult R;
  const SharedArray &Arr = M.Arrays[G.Array];
  auto Fail = [&](const char *Code, std::string Detail, const SourcePos &Pos) {
    R.Reason = Decline{Code, std::move(Detail), Pos};
    return R;
  };
  isl::ctx Ctx = M.Ctx->ctx();
  size_t Rank = M.SharedAccesses[G.Writes.front()].Index.size();
  for (size_t D = 0; D < Rank; ++D)
    R.F.ElemIds.push_back("e" + std::to_string(D));

  isl::set Seen = isl::set::empty(A.Context.space());
  std::vector<RawPiece> Pieces;
  // Products with an unknown that is a quotient of the element, which have to
  // cancel; where they are written.
  std::map<std::string, SourcePos> MustCancel;
  auto FailAt = [&](const Symbol &S, const SourcePos &Pos) {
    if (S.Depends & (DepShared | DepGlobal))
      return Fail("data-dependent-index",
                  "the staging of '" + Arr.Name + "' depends on '" + S.Text +
                      "'",
                  Pos);
    return Fail("non-affine-index",
                "'" + S.Text + "', by which '" + Arr.Name +
                    "' is staged, does not follow from the element",
                Pos);
  };
  struct Staged {
    const SharedAccess *W;
    isl::set D;
    ValueRef V;
  };
  std::vector<Staged> AllStaged;
  // Last write first; what a later write covers is taken from the earlier.
  for (auto It = G.Writes.rbegin(); It != G.Writes.rend(); ++It) {
    const SharedAccess &W = M.SharedAccesses[*It];
    unsigned OnData = 0;
    for (const ValueRef &I : W.IndexValues)
      OnData |= I ? I->Depends & DepGlobal : 0u;
    if (!W.Affine || W.Index.size() != Rank)
      return Fail(OnData ? "data-dependent-index" : "non-affine-index",
                  "the staging write of '" + Arr.Name + "'", W.Pos);
    if (!W.Stored || W.Stored->K == Value::Unknown)
      return Fail("ambiguous-staging",
                  "the value written to '" + Arr.Name +
                      "' cannot be expressed by the element" +
                      (W.Stored ? ": " + W.Stored->Text : std::string()),
                  W.Pos);
    isl::set D = A.fix(W.Domain).intersect(A.Context);
    for (size_t K = 0; K < Rank; ++K)
      D = D.intersect(
          A.fix(W.Index[K]).eq_set(symbolValue(Ctx, R.F.ElemIds[K])));
    if (D.is_empty())
      continue;
    // The unknowns: threads first, then iterators from the outside in.
    std::vector<std::string> Unknowns;
    std::set<std::string> Used;
    for (auto &Id : involvedIds(D))
      Used.insert(Id);
    ValueRef Stored = A.fix(W.Stored);
    std::vector<ValueRef> Guards;
    for (const ValueRef &Gd : W.ExtraGuards)
      Guards.push_back(A.fix(Gd));
    if (!Stored)
      return Fail("ambiguous-staging", "the value written to '" + Arr.Name + "'",
                  W.Pos);
    for (auto &Id : valueSymbols(Stored))
      Used.insert(Id);
    for (const ValueRef &Gd : Guards) {
      if (!Gd)
        return Fail("ambiguous-staging",
                    "a condition around the write of '" + Arr.Name + "'", W.Pos);
      for (auto &Id : valueSymbols(Gd))
        Used.insert(Id);
    }
    for (const char *T : {"tz", "ty", "tx"})
      if (Used.count(T))
        Unknowns.push_back(T);
    std::vector<std::string> Iterators;
    for (int P = static_cast<int>(W.Stmt);
         P >= 0 && P != static_cast<int>(G.Block); P = M.stmt(P).Parent) {
      const Stmt &Loop = M.stmt(P);
      if (Loop.K != Stmt::For && Loop.K != Stmt::While && Loop.K != Stmt::Do)
        continue;
      if (Loop.IterSymbol < 0)
        return Fail("unsupported-statement",
                    "'" + Arr.Name +
                        "' is staged in a loop that does not count in steps (of a "
                        "constant or blockDim) at its end",
                    Loop.Pos);
      const std::string &Id = M.Symbols[Loop.IterSymbol].Id;
      if (Used.count(Id))
        Iterators.insert(Iterators.begin(), Id);
      if (Loop.Cooperative) {
        // Which thread takes a round is not known; nothing may depend on it.
        for (unsigned Ax = 0; Ax < 3; ++Ax)
          if (Loop.CooperativeAxes & (1u << Ax)) {
            const char *T = Ax == 0 ? "tx" : Ax == 1 ? "ty" : "tz";
            bool Free = !dependsOn(A.fix(W.Domain), T);
            for (const isl::pw_aff &X : W.Index)
              Free &= !dependsOn(X, T);
            for (auto &S : valueSymbols(Stored))
              Free &= S != T;
            if (!Free)
              return Fail("ambiguous-staging",
                          "inside a cooperative loop '" + Arr.Name +
                              "' depends on the thread besides the round",
                          W.Pos);
          }
      } else if (!Loop.Step || *Loop.Step <= 0) {
        // The last round would be the smallest iterator.
        if (Used.count(Id) && !Loop.ConstTripCount)
          return Fail("unsupported-statement",
                      "'" + Arr.Name + "' is staged in a loop that counts down",
                      Loop.Pos);
      }
    }
    for (const char *T : {"tx", "ty", "tz"})
      if (!Used.count(T))
        D = D.project_out_param(T);
    Unknowns.insert(Unknowns.end(), Iterators.begin(), Iterators.end());
    // Products with one unknown are functions of the element, too: they follow
    // from the unknown (below).
    std::map<const Symbol *, std::string> Products; // to the unknown
    std::set<std::string> Solved;
    for (const Symbol &S : M.Symbols) {
      if (S.Factors.size() < 2 || !Used.count(S.Id) || !isExactProduct(M, S))
        continue;
      std::vector<std::string> Unknown;
      for (const std::string &F : S.Factors)
        if (std::find(Unknowns.begin(), Unknowns.end(), F) != Unknowns.end())
          Unknown.push_back(F);
      if (Unknown.size() != 1)
        continue;
      Products.emplace(&S, Unknown.front());
      Solved.insert(S.Id);
    }
    for (const std::string &Id : Used) {
      int I = M.symbolIndex(Id);
      if (I < 0)
        continue;
      const Symbol &S = M.Symbols[I];
      if (S.K == Symbol::Opaque && (S.Depends & (DepThread | DepShared)) &&
          !Solved.count(Id))
        return FailAt(S, W.Pos);
    }

    // [e, symbols] -> { [unknowns] : Domain and e = Index }
    isl::pw_multi_aff Inverse = solveFor(D, Unknowns);
    std::map<std::string, isl::pw_aff> Map;
    for (size_t K = 0; K < Unknowns.size(); ++K)
      Map.emplace(Unknowns[K], Inverse.at(static_cast<int>(K)));
    isl::set Known = D;
    for (const std::string &U : Unknowns)
      Known = Known.project_out_param(U);
    Known = Known.coalesce();
    std::map<std::string, isl::pw_aff> ProductMap;
    std::map<size_t, std::string> Taken; // index dimension -> unknown
    for (const auto &[S, Unknown] : Products) {
      std::vector<std::string> Others = S->Factors;
      Others.erase(std::find(Others.begin(), Others.end(), Unknown));
      std::optional<isl::pw_aff> V =
          timesSymbols(M, A, Map.at(Unknown), Others, S->Bits > 32);
      if (!V) {
        // (e0 - 8 k) * w, where 8 k * w is added as well.
        if (auto One = byOneIndex({M, A}, W, R.F.ElemIds, Unknown, Taken))
          V = timesSymbols(M, A, simplify(*One, always(Ctx)), Others,
                           S->Bits > 32);
        if (!V) {
          MustCancel.emplace(S->Id, W.Pos);
          continue;
        }
      }
      ProductMap.insert_or_assign(S->Id, *V);
    }
    Map.insert(ProductMap.begin(), ProductMap.end());
    // A condition on a product: known from the element only if what it follows
    // from does not depend on that condition itself.
    for (const auto &[Id, V] : ProductMap)
      if (dependsOn(Known, Id)) {
        for (const auto &[Other, _] : ProductMap)
          if (dependsOn(V, Other))
            return Fail("data-dependent-index",
                        "a condition around the staging of '" + Arr.Name + "'",
                        W.Pos);
        for (auto &[U, Inv] : Map)
          if (U != Id)
            Inv = substitute(Inv, {{Id, V}});
        Known = substitute(Known, {{Id, V}}).coalesce();
      }

    RawPiece P;
    P.V = Map.empty() ? Stored : substituteValue(Stored, Map);
    for (const ValueRef &Gd : Guards)
      P.Guards.push_back(Map.empty() ? Gd : substituteValue(Gd, Map));
    // Rounds that a thread runs one after the other.
    for (const Staged &Later : AllStaged)
      for (int L = static_cast<int>(W.Stmt);
           L >= 0 && L != static_cast<int>(G.Block); L = M.stmt(L).Parent)
        if (M.stmt(L).IterSymbol >= 0 &&
            M.stmt(L).Range.contains(Later.W->Range) &&
            meetInRounds(M, A, W, *Later.W, M.stmt(L)) &&
            !equalOn(P.V, Later.V, Known.intersect(Later.D)))
          return Fail("ambiguous-staging",
                      "two statements of a loop write to '" + Arr.Name +
                          "', and a round may write where another one did",
                      W.Pos);
    AllStaged.push_back({&W, Known, P.V});
    P.D = Known.subtract(Seen).coalesce();
    if (Guards.empty())
      Seen = Seen.unite(Known).coalesce();
    if (!splitPieces({M, A}, std::move(P), Pieces))
      return Fail("too-hard", "the staging of '" + Arr.Name + "'", W.Pos);
  }

  // Elements without a value: the original's threads have not set what they
  // write there. They hold nothing older either.
  isl::set Undefined = isl::set::empty(A.Context.space());
  llvm::erase_if(Pieces, [&](const RawPiece &P) {
    if (!isUndefined(P.V))
      return false;
    if (P.Guards.empty())
      Undefined = Undefined.unite(P.D);
    return true;
  });

  for (const RawPiece &P : Pieces) {
    std::vector<std::string> Ids = involvedIds(P.D);
    for (const ValueRef &Gd : P.Guards)
      for (auto &Id : valueSymbols(Gd))
        Ids.push_back(Id);
    for (auto &Id : valueSymbols(P.V))
      Ids.push_back(Id);
    for (const std::string &Id : Ids)
      if (auto It = MustCancel.find(Id); It != MustCancel.end())
        return FailAt(M.Symbols[static_cast<size_t>(M.symbolIndex(Id))],
                      It->second);
    for (const std::string &Id : valueSymbols(P.V)) {
      int I = M.symbolIndex(Id);
      if (I >= 0 && (M.Symbols[I].Depends & DepThread))
        return Fail("ambiguous-staging",
                    "the value of '" + Arr.Name + "' depends on '" +
                        M.Symbols[I].Text + "' of the thread that stages it",
                    Arr.Pos);
    }
  }

  // Join pieces that are one function, where it has a value. Only unguarded
  // neighbours: a guarded piece must stay in front of what it hides.
  for (size_t I = 0; I < Pieces.size(); ++I) {
    for (size_t J = I + 1; J < Pieces.size();) {
      RawPiece &P = Pieces[I], &Q = Pieces[J];
      bool Unguarded = true;
      for (size_t K = I; K <= J; ++K)
        Unguarded &= Pieces[K].Guards.empty();
      auto joined = [&](const RawPiece &One, const RawPiece &Other) {
        const ValueRef V =
            equalOn(One.V, Other.V, Other.D) ? definedOn(One.V, Other.D) : nullptr;
        return V && equalOn(V, Other.V, Other.D) ? V : nullptr;
      };
      ValueRef V = Unguarded ? joined(P, Q) : nullptr;
      // The other's leaves may be the more general ones.
      const bool Second = Unguarded && !V;
      if (Second)
        V = joined(Q, P);
      if (!V) {
        ++J;
        continue;
      }
      P.V = V;
      P.D = P.D.unite(Q.D).coalesce();
      Pieces.erase(Pieces.begin() + static_cast<long>(J));
      if (Second)
        J = I + 1; // what differed from the special case may fit now
    }
  }
  for (RawPiece &P : Pieces)
    R.F.Pieces.push_back({P.D, P.V, P.Guards});
  if (R.F.Pieces.empty())
    return Fail("not-staged", "no write of '" + Arr.Name + "' is ever executed",
                Arr.Pos);

  // reads <= writes, for all reads of the group.
  R.F.CoverageProved = true;
  for (unsigned Rd : G.Reads) {
    const SharedAccess &Acc = M.SharedAccesses[Rd];
    if (!Acc.Affine) {
      R.F.CoverageProved = false;
      break;
    }
    isl::set D = A.fix(Acc.Domain).intersect(A.Context);
    std::vector<std::string> Project;
    for (size_t K = 0; K < Rank; ++K)
      D = D.intersect(A.fix(Acc.Index[K]).eq_set(symbolValue(Ctx, R.F.ElemIds[K])));
    for (const std::string &Id : involvedIds(D)) {
      int I = M.symbolIndex(Id);
      if (I < 0)
        continue;
      bool Below = false; // iterator of a loop inside the group's block
      if (M.Symbols[I].K == Symbol::Iterator)
        for (int P = static_cast<int>(Acc.Stmt);
             P >= 0 && P != static_cast<int>(G.Block); P = M.stmt(P).Parent)
          Below |= M.stmt(P).IterSymbol == I;
      if (M.Symbols[I].K == Symbol::ThreadIdx || Below)
        Project.push_back(Id);
    }
    for (const std::string &Id : Project)
      D = D.project_out_param(Id);
    isl::set Written = Undefined;
    for (const StagePiece &P : R.F.Pieces)
      if (P.Guards.empty())
        Written = Written.unite(P.Domain);
    if (!D.is_subset(Written)) {
      R.F.CoverageProved = false;
      break;
    }
  }
  if (G.MayHoldOlder && !R.F.CoverageProved)
    return Fail("not-staged",
                "'" + Arr.Name +
                    "' is filled in a loop, and it could not be proved that "
                    "each round stages every element it reads",
                M.SharedAccesses[G.Reads.empty() ? G.Writes.front()
                                                 : G.Reads.front()]
                    .Pos);
  return R;
}
