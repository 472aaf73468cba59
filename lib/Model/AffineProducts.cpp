// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of quasi-affine values, and quotients that are exact.

#include "AffineArith.h"
#include <algorithm>

namespace rcache {

/// A clamped row times a pitch: `min(max(y, 0), h - 1) * pitch`, piece by
/// piece.
std::optional<IntValue> AffineArith::mulPieces(const IntValue &Pieces,
                                               const IntValue &B, IntType T,
                                               const isl::set &Path) {
  std::optional<isl::pw_aff> Sum;
  bool Fine = true;
  Pieces.Aff.foreach_piece([&](isl::set D, isl::multi_aff Piece) {
    if (!Fine)
      return;
    const IntValue One{isl::pw_aff(Piece.at(0)), Pieces.Exact};
    std::optional<IntValue> R;
    if (linear(One.Aff))
      R = mul(One, B, T, Path.intersect(D));
    if (!R) {
      Fine = false;
      return;
    }
    const isl::pw_aff Part = R->Aff.intersect_domain(D);
    Sum = Sum ? Sum->union_add(Part) : Part;
  });
  if (!Fine || !Sum)
    return std::nullopt;
  return ofAff(*Sum, T.Signed);
}

std::optional<IntValue> AffineArith::mul(const IntValue &A, const IntValue &B,
                                         IntType T, const isl::set &Path) {
  if (auto C = constantValue(B.Aff))
    return ofAff(*scaleByConst(A.Aff, *C), T.Signed);
  if (auto C = constantValue(A.Aff))
    return ofAff(*scaleByConst(B.Aff, *C), T.Signed);
  // Distribute: sum of products of terms.
  auto La = linear(A.Aff), Lb = linear(B.Aff);
  if (!La && Lb && A.Aff.n_piece() > 1 && A.Aff.n_piece() <= 4)
    return mulPieces(A, B, T, Path);
  if (!Lb && La && B.Aff.n_piece() > 1 && B.Aff.n_piece() <= 4)
    return mulPieces(B, A, T, Path);
  if (!La || !Lb || La->Terms.size() * Lb->Terms.size() > 16)
    return std::nullopt;
  isl::pw_aff Sum = constant(0);
  auto FactorsOf = [&](const std::string &Id) {
    int I = M.symbolIndex(Id);
    std::vector<std::string> F =
        I >= 0 ? M.Symbols[I].Factors : std::vector<std::string>();
    return F.empty() ? std::vector<std::string>{Id} : F;
  };
  auto AddTerm = [&](std::vector<std::string> Factors, int64_t Ca, int64_t Cb) {
    Wide C = Wide(Ca) * Cb;
    if (C == 0)
      return true;
    if (C > INT64_MAX / 4 || C < INT64_MIN / 4)
      return false;
    isl::pw_aff P = constant(1);
    if (Factors.size() == 1) {
      P = symbol(Factors[0]);
    } else if (Factors.size() > 1) {
      auto Product = product(Factors, T, Path);
      if (!Product)
        return false;
      P = *Product;
    }
    Sum = Sum.add(*scaleByConst(P, static_cast<int64_t>(C)));
    return true;
  };
  for (auto &[Ia, Ca] : La->Terms) {
    for (auto &[Ib, Cb] : Lb->Terms) {
      std::vector<std::string> F = FactorsOf(Ia);
      for (std::string &G : FactorsOf(Ib))
        F.push_back(G);
      if (F.size() > 4 || !AddTerm(F, Ca, Cb))
        return std::nullopt;
    }
    if (Lb->Const && !AddTerm(FactorsOf(Ia), Ca, Lb->Const))
      return std::nullopt;
  }
  for (auto &[Ib, Cb] : Lb->Terms)
    if (La->Const && !AddTerm(FactorsOf(Ib), La->Const, Cb))
      return std::nullopt;
  if (!AddTerm({}, La->Const, Lb->Const))
    return std::nullopt;
  return ofAff(Sum, T.Signed);
}

/// The symbol of \p Param / \p N, a multiple of which the launch requires.
std::string AffineArith::quotient(const Symbol &Param, int64_t N) {
  LaunchFact Fact;
  Fact.Factors = {Param.Id};
  Fact.MultipleOf = N;
  if (std::find(M.Assumes.begin(), M.Assumes.end(), Fact) == M.Assumes.end())
    M.Assumes.push_back(Fact);
  const std::string Text = "(" + Param.Text + " / " + std::to_string(N) + ")";
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Opaque && S.Anywhere && S.Text == Text)
      return S.Id;
  Symbol Q;
  Q.Id = Param.Id + "_" + std::to_string(N);
  Q.Text = Text;
  Q.Type = Param.Type;
  Q.Bits = Param.Bits;
  Q.Signed = Param.Signed;
  Q.Anywhere = true;
  const Range R = Ranges.at(Param.Id);
  return M.Symbols[addSymbol(Q, R.Lo / N, R.Hi / N)].Id;
}

/// The symbol of \p Id / \p N, a parameter or a product with one; of several
/// parameters, the one that is a factor of most terms by \p Uses, or else the
/// widest: in `(height - 1) * pitch`, the pitch.
std::optional<std::string>
AffineArith::dividedTerm(const std::string &Id, int64_t N,
                         const std::map<std::string, unsigned> &Uses) {
  const int I = M.symbolIndex(Id);
  if (I < 0)
    return std::nullopt;
  if (M.Symbols[I].K == Symbol::Param)
    return quotient(M.Symbols[I], N);
  Symbol P = M.Symbols[I];
  // Not one that may wrap: that is no product.
  auto Known = Products.find(P.Factors);
  if (P.Factors.empty() || Known == Products.end() || Known->second != Id)
    return std::nullopt;
  std::string *Best = nullptr;
  auto Rank = [&](const std::string &F) {
    return std::pair(Uses.at(F), M.Symbols[M.symbolIndex(F)].Bits);
  };
  for (std::string &F : P.Factors)
    if (M.Symbols[M.symbolIndex(F)].K == Symbol::Param &&
        (!Best || Rank(F) > Rank(*Best)))
      Best = &F;
  if (!Best)
    return std::nullopt;
  *Best = quotient(M.Symbols[M.symbolIndex(*Best)], N);
  std::sort(P.Factors.begin(), P.Factors.end());
  if (auto It = Products.find(P.Factors); It != Products.end())
    return It->second;
  P.Id.clear();
  P.Text = "(long long)";
  P.Type = "long long";
  P.Bits = 64;
  P.Signed = true;
  for (const std::string &G : P.Factors) {
    P.Text += (P.Id.empty() ? "" : " * ") + M.Symbols[M.symbolIndex(G)].Text;
    P.Id += G;
  }
  const Range R = Ranges.at(Id);
  const std::vector<std::string> Key = P.Factors;
  return Products[Key] = M.Symbols[addSymbol(P, R.Lo / N - 1, R.Hi / N + 1)].Id;
}

std::optional<isl::pw_aff> AffineArith::dividedExactly(const isl::pw_aff &A,
                                                       int64_t N) {
  if (A.n_piece() > 9)
    return std::nullopt;
  std::optional<isl::pw_aff> Sum;
  bool Fine = true;
  const auto Assumes = M.Assumes;
  std::map<std::string, unsigned> Uses; // terms with this factor
  A.foreach_piece([&](isl::set, isl::multi_aff Piece) {
    if (const auto L = linear(isl::pw_aff(Piece.at(0))))
      for (const auto &[Id, C] : L->Terms)
        if (const int I = M.symbolIndex(Id); I >= 0) {
          ++Uses[Id];
          for (const std::string &F : M.Symbols[I].Factors)
            ++Uses[F];
        }
  });
  A.foreach_piece([&](isl::set D, isl::multi_aff Piece) {
    const auto L = Fine ? linear(isl::pw_aff(Piece.at(0))) : std::nullopt;
    Fine = L && L->Const % N == 0;
    if (!Fine)
      return;
    Linear Q;
    Q.Const = L->Const / N;
    for (const auto &[Id, C] : L->Terms) {
      if (C % N == 0) {
        Q.Terms[Id] += C / N;
        continue;
      }
      const auto Part = dividedTerm(Id, N, Uses);
      if (!Part) {
        Fine = false;
        return;
      }
      Q.Terms[*Part] += C;
    }
    const isl::pw_aff Part = fromLinear(Q).intersect_domain(D);
    Sum = Sum ? Sum->union_add(Part) : Part;
  });
  if (Fine)
    return Sum;
  M.Assumes = Assumes;
  return std::nullopt;
}

/// The range of a product; \p Known: it fits 65 bits.
AffineArith::Range AffineArith::rangeOf(const std::vector<std::string> &Factors,
                                        bool &Known) const {
  Range R{1, 1};
  Known = true;
  for (const std::string &F : Factors) {
    Range G = Ranges.at(F);
    Wide C[] = {R.Lo * G.Lo, R.Lo * G.Hi, R.Hi * G.Lo, R.Hi * G.Hi};
    R.Lo = *std::min_element(C, C + 4);
    R.Hi = *std::max_element(C, C + 4);
    if (R.Lo < -(Wide(1) << 64) || R.Hi > (Wide(1) << 64)) {
      Known = false;
      R = {-(Wide(1) << 62), Wide(1) << 62};
    }
  }
  return R;
}

/// The axis a of blockIdx.a * blockDim.a or gridDim.a * blockDim.a, 3: neither;
/// \p Order then is how it is written.
static unsigned blockAxis(const std::vector<std::string> &Factors,
                          std::vector<std::string> &Order) {
  for (unsigned A = 0; Factors.size() == 2 && A < 3; ++A) {
    const std::string X(1, "xyz"[A]);
    for (const char *Kind : {"b", "gd"})
      if (Factors == std::vector<std::string>{std::min("bd" + X, Kind + X),
                                              std::max("bd" + X, Kind + X)}) {
        Order = {Kind + X, "bd" + X};
        return A;
      }
  }
  return 3;
}

/// The symbol of a product of type \p T, written in \p Order; \p OfBlock: it
/// fits, no wider arithmetic is needed.
Symbol AffineArith::productSymbol(const std::vector<std::string> &Factors,
                                  const std::vector<std::string> &Order,
                                  IntType T, bool OfBlock) const {
  Symbol S;
  S.Bits = T.Bits;
  S.Signed = T.Signed;
  S.Factors = Factors;
  S.Anywhere = true;
  std::string Cast;
  for (const std::string &F : Order) {
    const Symbol &G = M.Symbols[M.symbolIndex(F)];
    S.Depends |= G.Depends;
    S.Anywhere &= G.Anywhere;
    S.Id += F;
    if (!S.Text.empty())
      S.Text += " * ";
    else if (G.Bits < T.Bits && !OfBlock)
      Cast = T.Signed ? "(long long)" : "(unsigned long long)";
    S.Text += G.Text;
  }
  S.Text = Cast + S.Text;
  S.Type = T.Bits == 64 ? (T.Signed ? "long long" : "unsigned long long")
                        : (T.Signed ? "int" : "unsigned int");
  if (OfBlock) {
    S.Type = "unsigned int";
    S.Bits = 32;
    S.Signed = false;
  }
  return S;
}

std::optional<isl::pw_aff>
AffineArith::product(std::vector<std::string> Factors, IntType T,
                     const isl::set &Path) {
  std::vector<std::string> Order = Factors; // as written
  std::sort(Factors.begin(), Factors.end());
  // An unsigned product is one symbol for each width (it may wrap there), a
  // signed one is the mathematical product.
  bool Known = true;
  Range R = rangeOf(Factors, Known);
  // blockIdx.a * blockDim.a: below gridDim.a * blockDim.a, which no launch
  // of practical size brings to 2^31; the launch checks it.
  const unsigned Axis = blockAxis(Factors, Order);
  bool MayWrap = !T.Signed && !(Known && R.Lo >= 0 && R.Hi <= T.max());
  if (Axis < 3) {
    assumeProduct({"gd" + std::string(1, "xyz"[Axis]),
                   "bd" + std::string(1, "xyz"[Axis])},
                  (Wide(1) << 31) - 1);
    MayWrap = false;
    R = {0, (Wide(1) << 31) - 1};
  } else if (MayWrap && launchBounded(Factors)) {
    // `(blockIdx.y * 16 + threadIdx.y) * width` in unsigned.
    for (const std::string &F : Factors)
      narrow(F, 0, Ranges.at(F).Hi);
    R = {0, T.max() / 4 + 1};
    assumeProduct(Factors, R.Hi);
    MayWrap = false;
  } else if (MayWrap && assumeRounds(Factors, T, Path)) {
    R = {0, T.max() / 4 + 1};
    MayWrap = false;
    T.Signed = true; // the mathematical product
  } else {
    R.Lo = std::max(R.Lo, T.min());
    R.Hi = std::min(R.Hi, T.max());
    if (MayWrap)
      R = {T.min(), T.max()};
  }
  std::vector<std::string> Key = Factors;
  if (MayWrap)
    Key.push_back("mod " + std::to_string(T.Bits));
  auto It = Products.find(Key);
  if (It != Products.end()) {
    Symbol &S = M.Symbols[M.symbolIndex(It->second)];
    if (S.Bits < T.Bits && !MayWrap && Axis == 3) {
      S.Bits = T.Bits; // the wider evaluation is right for both
      S.Signed |= T.Signed;
      S.Type = S.Signed ? "long long" : "unsigned long long";
      S.Text = "(" + S.Type + ")" + S.Text;
    }
    return symbol(It->second);
  }

  const Symbol S = productSymbol(Factors, Order, T, Axis < 3);
  std::string Id = M.Symbols[addSymbol(S, R.Lo, R.Hi)].Id;
  Products[Key] = Id;
  if (Axis < 3) {
    std::string X(1, "xyz"[Axis]);
    // b * bd + bd <= gd * bd < 2^31.
    if (Order[0] == "b" + X)
      addFact(
          symbol(Id)
              .add(symbol("bd" + X))
              .le_set(Universe.pw_aff_on_domain(value((Wide(1) << 31) - 1))));
    else // bd * gd >= bd, >= gd
      addFact(symbol(Id)
                  .ge_set(symbol("bd" + X))
                  .intersect(symbol(Id).ge_set(symbol("gd" + X))));
  }
  return symbol(Id);
}

} // namespace rcache
