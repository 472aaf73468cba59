// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Products.h.

#include "Products.h"
#include "Affine/IslTools.h"
#include <algorithm>
#include <isl/set.h>
#include <isl/val.h>

using namespace rcache;

bool rcache::isExactProduct(const KernelModel &M, const Symbol &S) {
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

std::optional<isl::pw_aff>
rcache::timesSymbols(const KernelModel &M, const Assumptions &A, const isl::pw_aff &V,
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

//===-- Equal indices -----------------------------------------------------===//

/// The one value of the symbol \p Id on \p D, if a constraint says it.
static std::optional<int64_t> fixedValue(const isl::set &D, const std::string &Id) {
  const int At = isl_set_find_dim_by_name(D.get(), isl_dim_param, Id.c_str());
  if (At < 0)
    return std::nullopt;
  const isl::val V = isl::manage(
      isl_set_plain_get_val_if_fixed(D.get(), isl_dim_param, static_cast<unsigned>(At)));
  return V.is_int() ? std::optional<int64_t>(V.num_si()) : std::nullopt;
}

/// \p D and, for products e0 * w * .. in \p V whose coordinate e0 has one value c on
/// D, that the product is c * [w * ..].
static isl::set withConstantProducts(const KernelModel &M, const Assumptions &A,
                                     isl::set D, const isl::pw_aff &V) {
  for (const std::string &Id : involvedIds(V)) {
    std::vector<std::string> F = productFactors(Id);
    for (size_t K = 0; K < F.size(); ++K) {
      const auto C = fixedValue(D, F[K]);
      if (!C)
        continue;
      F.erase(F.begin() + static_cast<long>(K));
      D = D.intersect(symbolValue(D.ctx(), Id).eq_set(
          productSymbol(M, A, F, isWideProduct(Id)).scale(static_cast<long>(*C))));
      break;
    }
  }
  return D;
}

bool rcache::equalOn(const KernelModel &M, const Assumptions &A, const ValueRef &X,
                     const ValueRef &Y, const isl::set &D) {
  if (X == Y)
    return true;
  if (!X || !Y || X->K != Y->K || X->Type != Y->Type || X->Text != Y->Text ||
      X->Root != Y->Root || X->Operands.size() != Y->Operands.size())
    return false;
  // An index is a number: int or unsigned makes no difference where it is exact.
  if (X->K == Value::Load && X->Operands[0]->K == Value::Affine &&
      Y->Operands[0]->K == Value::Affine) {
    const isl::pw_aff P = X->Operands[0]->Aff, Q = Y->Operands[0]->Aff;
    return P.ne_set(Q)
        .intersect(withConstantProducts(M, A, withConstantProducts(M, A, D, P), Q))
        .is_empty();
  }
  if (X->K == Value::Affine &&
      !X->Aff.ne_set(Y->Aff).intersect(D).is_empty())
    return false;
  if (X->K == Value::Select &&
      !X->Cond.intersect(D).is_equal(Y->Cond.intersect(D)))
    return false;
  for (size_t I = 0; I < X->Operands.size(); ++I)
    if (!equalOn(M, A, X->Operands[I], Y->Operands[I], D))
      return false;
  return true;
}

//===-- Integers that have become linear ----------------------------------===//

namespace {

using Context = std::pair<const KernelModel &, const Assumptions &>;

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
  if (V.K != Value::Op || V.Operands.size() != 2)
    return false;
  const Value &X = *V.Operands[0], &Y = *V.Operands[1];
  if (V.Opcode == Value::Add || V.Opcode == Value::Sub)
    return addTerms(C, X, Sign, Sums) &&
           addTerms(C, Y, V.Opcode == Value::Add ? Sign : -Sign, Sums);
  if (V.Opcode != Value::Mul || X.K != Value::Affine || Y.K != Value::Affine ||
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
  const bool Ring = N->K == Value::Op &&
                    llvm::is_contained({Value::Add, Value::Sub, Value::Mul}, N->Opcode);
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
      N->Opcode == Value::Cast &&
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
    const auto Sum = Ring && N->Opcode != Value::Mul ? sumOfProducts(C, *N)
                                                     : std::nullopt;
    if (!Sum)
      return N;
    Folded->Aff = *Sum;
    return Folded;
  }
  if (N->Opcode == Value::Add)
    Folded->Aff = X.Aff.add(Y.Aff);
  else if (N->Opcode == Value::Sub)
    Folded->Aff = X.Aff.sub(Y.Aff);
  else if (N->Opcode == Value::Mul) {
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

} // namespace

ValueRef rcache::foldIntegers(const KernelModel &M, const Assumptions &A,
                              const ValueRef &V) {
  return foldInteger({M, A}, V);
}
