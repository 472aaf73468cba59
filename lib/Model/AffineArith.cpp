// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ integer arithmetic on isl values. Most questions ("can this wrap?") are
// answered by intervals of the linear form; isl is asked when they are not
// enough, with the path condition as context.

#include "AffineArith.h"
#include <algorithm>
#include <isl/aff.h>
#include <isl/id.h>
#include <isl/set.h>
#include <isl/space.h>

namespace rcache {
namespace {

constexpr unsigned MaxPieces = 12;

std::string toDecimal(Wide V) {
  if (V == 0)
    return "0";
  bool Neg = V < 0;
  unsigned __int128 U = Neg ? -static_cast<unsigned __int128>(V) : V;
  std::string S;
  for (; U; U /= 10)
    S += static_cast<char>('0' + static_cast<int>(U % 10));
  if (Neg)
    S += '-';
  std::reverse(S.begin(), S.end());
  return S;
}

bool fitsLong(const isl::val &V) {
  isl::ctx C = V.ctx();
  return V.is_int() && V.le(isl::val(C, std::to_string(INT64_MAX / 4))) &&
         V.ge(isl::val(C, std::to_string(INT64_MIN / 4)));
}

std::optional<IntValue> ofAff(isl::pw_aff A, bool Exact) {
  if (A.n_piece() > 1)
    A = A.coalesce();
  if (A.n_piece() > MaxPieces)
    return std::nullopt;
  return IntValue{A, Exact};
}

} // namespace

AffineArith::AffineArith(KernelModel &M)
    : M(M), Ctx(M.Ctx->ctx()), Universe(Ctx, "{ : }"), Bounds(Universe) {}

isl::val AffineArith::value(Wide V) const {
  return isl::val(Ctx, toDecimal(V));
}

isl::pw_aff AffineArith::constant(int64_t V) {
  return Universe.pw_aff_on_domain(isl::val(Ctx, std::to_string(V)));
}

isl::pw_aff AffineArith::symbol(const std::string &Id) {
  isl_space *Space = isl_space_params_alloc(Ctx.get(), 0);
  isl_id *Name = isl_id_alloc(Ctx.get(), Id.c_str(), nullptr);
  Space = isl_space_add_param_id(Space, isl_id_copy(Name));
  return isl::manage(isl_aff_param_on_domain_space_id(Space, Name));
}

isl::set AffineArith::bound(const isl::pw_aff &A, Wide Lo, Wide Hi) const {
  isl::pw_aff L = Universe.pw_aff_on_domain(value(Lo));
  isl::pw_aff H = Universe.pw_aff_on_domain(value(Hi));
  return A.ge_set(L).intersect(A.le_set(H));
}

unsigned AffineArith::addSymbol(Symbol S, std::optional<Wide> Lo,
                                std::optional<Wide> Hi) {
  std::string Base = S.Id;
  for (unsigned N = 1; M.symbolIndex(S.Id) >= 0; ++N)
    S.Id = Base + "_" + std::to_string(N);
  IntType T{S.Bits, S.Signed};
  Range R{Lo.value_or(T.min()), Hi.value_or(T.max())};
  Ranges[S.Id] = R;
  Bounds = Bounds.intersect(bound(symbol(S.Id), R.Lo, R.Hi));
  M.Symbols.push_back(std::move(S));
  return M.Symbols.size() - 1;
}

unsigned AffineArith::depends(const isl::pw_aff &A) const {
  unsigned D = 0;
  for (const Symbol &S : M.Symbols)
    if (S.Depends && A.involves_param(S.Id))
      D |= S.Depends;
  return D;
}

unsigned AffineArith::depends(const isl::set &C) const {
  unsigned D = 0;
  if (C.is_null())
    return D;
  for (const Symbol &S : M.Symbols) {
    if (!S.Depends)
      continue;
    int Pos = isl_set_find_dim_by_name(C.get(), isl_dim_param, S.Id.c_str());
    if (Pos >= 0 &&
        isl_set_involves_dims(C.get(), isl_dim_param, Pos, 1) == isl_bool_true)
      D |= S.Depends;
  }
  return D;
}

std::optional<Linear> AffineArith::linear(const isl::pw_aff &A) const {
  if (!A.isa_aff())
    return std::nullopt;
  isl::aff F = A.as_aff();
  isl_size Divs = isl_aff_dim(F.get(), isl_dim_div);
  for (isl_size I = 0; I < Divs; ++I)
    if (!isl::manage(isl_aff_get_coefficient_val(F.get(), isl_dim_div, I))
             .is_zero())
      return std::nullopt;
  return linearBesideQuotients(A);
}

std::optional<Linear>
AffineArith::linearBesideQuotients(const isl::pw_aff &A) const {
  if (!A.isa_aff())
    return std::nullopt;
  isl::aff F = A.as_aff();
  Linear L;
  isl::val C = F.constant_val();
  if (!fitsLong(C))
    return std::nullopt;
  L.Const = C.num_si();
  isl_size Params = isl_aff_dim(F.get(), isl_dim_param);
  for (isl_size I = 0; I < Params; ++I) {
    isl::val V =
        isl::manage(isl_aff_get_coefficient_val(F.get(), isl_dim_param, I));
    if (V.is_zero())
      continue;
    if (!fitsLong(V))
      return std::nullopt;
    L.Terms[isl_aff_get_dim_name(F.get(), isl_dim_param, I)] = V.num_si();
  }
  return L;
}

isl::pw_aff AffineArith::fromLinear(const Linear &L) {
  isl::pw_aff A = constant(L.Const);
  for (auto &[Id, C] : L.Terms)
    A = A.add(symbol(Id).scale(isl::val(Ctx, std::to_string(C))));
  return A;
}

std::optional<int64_t> AffineArith::constantValue(const isl::pw_aff &A) const {
  std::optional<Linear> L = linear(A);
  if (!L || !L->isConst())
    return std::nullopt;
  return L->Const;
}

std::optional<AffineArith::Range> AffineArith::interval(const Linear &L) const {
  Range R{L.Const, L.Const};
  for (auto &[Id, C] : L.Terms) {
    auto It = Ranges.find(Id);
    if (It == Ranges.end())
      return std::nullopt;
    if (C > (int64_t(1) << 40) || C < -(int64_t(1) << 40))
      return std::nullopt; // keeps the sums within 128 bits
    Wide A = It->second.Lo * C, B = It->second.Hi * C;
    R.Lo += std::min(A, B);
    R.Hi += std::max(A, B);
  }
  return R;
}

bool AffineArith::proveInRange(const isl::pw_aff &A, Wide Lo, Wide Hi,
                               const isl::set &Path) {
  if (std::optional<Linear> L = linear(A))
    if (std::optional<Range> R = interval(*L))
      if (R->Lo >= Lo && R->Hi <= Hi)
        return true;
  isl::pw_aff L = Universe.pw_aff_on_domain(value(Lo));
  isl::pw_aff H = Universe.pw_aff_on_domain(value(Hi));
  isl::set Where = Bounds.intersect(Path);
  return A.lt_set(L).intersect(Where).is_empty() &&
         A.gt_set(H).intersect(Where).is_empty();
}

std::optional<isl::set> AffineArith::fitsUnlessPlain(const isl::pw_aff &A,
                                                     IntType T) {
  std::optional<Linear> L = linear(A);
  if (!L)
    return std::nullopt; // pieces would only burden the proofs
  if (std::optional<Range> R = interval(*L))
    if (R->Lo >= T.min() && R->Hi <= T.max())
      return std::nullopt;
  return bound(A, T.min(), T.max());
}

bool AffineArith::implied(const isl::set &S, const isl::set &Path) {
  return Bounds.intersect(Path).is_subset(S);
}

//===----------------------------------------------------------------------===//
// What a launch can check
//===----------------------------------------------------------------------===//

void AffineArith::narrow(const std::string &Id, Wide Lo, Wide Hi) {
  Range &R = Ranges.at(Id);
  if (Lo <= R.Lo && Hi >= R.Hi)
    return;
  R.Lo = std::max(R.Lo, Lo);
  R.Hi = std::min(R.Hi, Hi);
  Bounds = Bounds.intersect(bound(symbol(Id), R.Lo, R.Hi));
}

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

/// Tries to prove that \p A fits \p T with the help of facts that a launch can
/// check: parameters are not negative, grids not absurdly large. Keeps them
/// when they are enough.
bool AffineArith::assumeInRange(const isl::pw_aff &A, IntType T,
                                const isl::set &Path) {
  std::optional<Linear> L = linearBesideQuotients(A);
  auto SavedRanges = Ranges;
  isl::set SavedBounds = Bounds;
  std::vector<std::pair<std::vector<std::string>, Wide>> Facts;
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
    if (!A.involves_param(S.Id))
      continue;
    int64_t C = 1;
    if (L)
      C = std::abs(L->Terms[S.Id]);
    Wide Limit = Room / std::max<int64_t>(C, 1);
    auto NotNegative = [&](const std::string &Id) {
      const Symbol &F = M.Symbols[M.symbolIndex(Id)];
      if (F.K != Symbol::Param || !F.Signed || Ranges.at(Id).Lo >= 0)
        return;
      narrow(Id, 0, Ranges.at(Id).Hi);
      Facts.push_back({{Id}, Ranges.at(Id).Hi});
    };
    if (S.Factors.empty()) {
      NotNegative(S.Id);
      Wide Max = C <= 1 && S.K == Symbol::Param ? T.max() : Limit;
      if (Ranges.at(S.Id).Hi <= Max)
        continue;
      if (S.K == Symbol::BlockIdx) {
        narrow(S.Id, 0, Max - 1);
        narrow("gd" + std::string(1, "xyz"[S.Axis]), 1, Max);
        Facts.push_back({{S.Id}, Max});
      } else if (S.K == Symbol::Param && !S.Signed) {
        narrow(S.Id, 0, Max);
        Facts.push_back({{S.Id}, Max});
      }
      continue;
    }
    bool AllPositive = true;
    for (const std::string &F : S.Factors) {
      NotNegative(F);
      AllPositive &= Ranges.at(F).Lo >= 0;
    }
    if (!AllPositive)
      continue;
    narrow(S.Id, 0, Ranges.at(S.Id).Hi);
    if (Ranges.at(S.Id).Hi > Limit && launchBounded(S.Factors)) {
      narrow(S.Id, 0, Limit);
      Facts.push_back({S.Factors, Limit});
    }
  }
  auto Keep = [&] {
    for (auto &[Factors, Max] : Facts)
      assumeProduct(Factors, Max);
    return true;
  };
  if (!Facts.empty() && proveInRange(A, T.min(), T.max(), Path))
    return Keep();
  // `base + threadIdx.x` with base < n on the path: not if n is the largest
  // int.
  bool More = false;
  for (size_t N = 0; N < M.Symbols.size(); ++N) {
    const Symbol &S = M.Symbols[N];
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
    More = true;
  }
  if (More && proveInRange(A, T.min(), T.max(), Path))
    return Keep();
  // `blockIdx.x * blockDim.x + threadIdx.x + offset`: what is added to an index
  // has its share of the room.
  More = false;
  for (size_t N = 0; L && N < M.Symbols.size(); ++N) {
    const Symbol &S = M.Symbols[N];
    if (S.K != Symbol::Param || !A.involves_param(S.Id) ||
        Ranges.at(S.Id).Lo < 0 || Ranges.at(S.Id).Hi <= Room)
      continue;
    narrow(S.Id, 0, Room);
    Facts.push_back({{S.Id}, Room});
    More = true;
  }
  if (More && proveInRange(A, T.min(), T.max(), Path))
    return Keep();
  Ranges = SavedRanges;
  Bounds = SavedBounds;
  return false;
}

std::optional<isl::pw_aff> AffineArith::exact(const IntValue &V, IntType T,
                                              const isl::set &Path) {
  if (V.Exact || proveInRange(V.Aff, T.min(), T.max(), Path) ||
      assumeInRange(V.Aff, T, Path))
    return V.Aff;
  Wide Period = Wide(1) << T.Bits;
  if (!proveInRange(V.Aff, T.min() - Period, T.max() + Period, Path)) {
    if (T.Bits > 16)
      return std::nullopt;
    isl::val P = value(Period);
    isl::pw_aff Half = Universe.pw_aff_on_domain(value(T.min()));
    return V.Aff.sub(Half).mod(P).add(Half);
  }
  isl::pw_aff Shift = Universe.pw_aff_on_domain(value(Period));
  isl::pw_aff Min = Universe.pw_aff_on_domain(value(T.min()));
  isl::pw_aff Max = Universe.pw_aff_on_domain(value(T.max()));
  isl::set Below = V.Aff.lt_set(Min), Above = V.Aff.gt_set(Max);
  isl::set Inside = complement(Below.unite(Above));
  isl::pw_aff R = V.Aff.intersect_domain(Inside)
                      .union_add(V.Aff.add(Shift).intersect_domain(Below))
                      .union_add(V.Aff.sub(Shift).intersect_domain(Above));
  if (R.n_piece() > MaxPieces)
    return std::nullopt;
  return R;
}

std::optional<IntValue> AffineArith::convert(const IntValue &V, IntType From,
                                             IntType To, const isl::set &Path) {
  if (From == To)
    return V;
  // To a narrower type, or one of the same width: the residue modulo 2^To.Bits
  // is all that counts.
  if (To.Bits <= From.Bits && To.Bits > 1) {
    IntValue R{V.Aff, false};
    if (V.Exact && proveInRange(V.Aff, To.min(), To.max(), Path))
      R.Exact = true;
    if (!To.Signed)
      return R;
    std::optional<isl::pw_aff> A = exact(R, To, Path);
    if (!A)
      return std::nullopt;
    return IntValue{*A, true};
  }
  std::optional<isl::pw_aff> A = exact(V, From, Path);
  if (!A)
    return std::nullopt;
  if (To.Bits == 1) // to bool: != 0
    return std::nullopt;
  if (!To.Signed && From.Signed)
    return IntValue{*A, proveInRange(*A, 0, To.max(), Path)}; // else modulo
  return IntValue{*A, true};
}

std::optional<IntValue> AffineArith::add(const IntValue &A, const IntValue &B,
                                         IntType T) {
  return ofAff(A.Aff.add(B.Aff), T.Signed);
}

std::optional<IntValue> AffineArith::sub(const IntValue &A, const IntValue &B,
                                         IntType T) {
  return ofAff(A.Aff.sub(B.Aff), T.Signed);
}

std::optional<isl::pw_aff> AffineArith::scaleByConst(const isl::pw_aff &A,
                                                     int64_t C) {
  return A.scale(isl::val(Ctx, std::to_string(C)));
}

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

/// The symbol of \p Param / \p N, a multiple of which the launch requires.
std::string AffineArith::quotient(const Symbol &Param, int64_t N) {
  const LaunchFact Fact{{Param.Id}, 0, N};
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

std::optional<isl::pw_aff>
AffineArith::product(std::vector<std::string> Factors, IntType T,
                     const isl::set &Path) {
  std::vector<std::string> Order = Factors; // as written
  std::sort(Factors.begin(), Factors.end());
  // An unsigned product is one symbol for each width (it may wrap there), a
  // signed one is the mathematical product.
  Range R{1, 1};
  bool Known = true;
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
  // blockIdx.a * blockDim.a: below gridDim.a * blockDim.a, which no launch
  // of practical size brings to 2^31; the launch checks it.
  unsigned Axis = 3;
  if (Factors.size() == 2)
    for (unsigned A = 0; A < 3; ++A) {
      std::string X(1, "xyz"[A]);
      if (Factors == std::vector<std::string>{"bd" + X, "b" + X}) {
        Axis = A;
        Order = {"b" + X, "bd" + X};
      } else if (Factors == std::vector<std::string>{"bd" + X, "gd" + X}) {
        Axis = A;
        Order = {"gd" + X, "bd" + X};
      }
    }
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
    else if (G.Bits < T.Bits && Axis == 3)
      Cast = T.Signed ? "(long long)" : "(unsigned long long)";
    S.Text += G.Text;
  }
  S.Text = Cast + S.Text;
  S.Type = T.Bits == 64 ? (T.Signed ? "long long" : "unsigned long long")
                        : (T.Signed ? "int" : "unsigned int");
  if (Axis < 3) { // fits: no wider arithmetic is needed
    S.Type = "unsigned int";
    S.Bits = 32;
    S.Signed = false;
  }
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

std::optional<IntValue> AffineArith::div(const IntValue &A, const IntValue &B,
                                         IntType T, const isl::set &Path) {
  auto C = constantValue(B.Aff);
  auto X = exact(A, T, Path);
  if (!C || *C <= 0 || !X)
    return std::nullopt;
  if (*C == 1)
    return IntValue{*X, true};
  isl::val D(Ctx, std::to_string(*C));
  if (!T.Signed || proveInRange(*X, 0, T.max(), Path))
    return ofAff(X->scale_down(D).floor(), true);
  return ofAff(
      isl::manage(isl_pw_aff_tdiv_q(X->copy(), constant(*C).release())), true);
}

std::optional<IntValue> AffineArith::rem(const IntValue &A, const IntValue &B,
                                         IntType T, const isl::set &Path) {
  auto C = constantValue(B.Aff);
  auto X = exact(A, T, Path);
  if (!C || *C <= 0 || !X)
    return std::nullopt;
  if (proveInRange(*X, 0, *C - 1, Path))
    return IntValue{*X, true};
  if (!T.Signed || proveInRange(*X, 0, T.max(), Path))
    return ofAff(X->mod(isl::val(Ctx, std::to_string(*C))), true);
  return ofAff(
      isl::manage(isl_pw_aff_tdiv_r(X->copy(), constant(*C).release())), true);
}

std::optional<IntValue> AffineArith::bitAnd(const IntValue &A,
                                            const IntValue &B, IntType T,
                                            const isl::set &Path) {
  auto Mask = constantValue(B.Aff);
  const IntValue *X = &A;
  if (!Mask) {
    Mask = constantValue(A.Aff);
    X = &B;
  }
  if (!Mask)
    return std::nullopt;
  // A run of set bits [Low, High) is x mod 2^High - x mod 2^Low, also of a
  // negative x in two's complement; wrapping does not change it. A run up to
  // the top bit is x - x mod 2^Low of x itself.
  unsigned Width = std::min(T.Bits, 64u);
  isl::pw_aff Sum = constant(0);
  unsigned Runs = 0;
  for (unsigned Low = 0; Low < Width; ++Low) {
    auto Set = [&](unsigned Bit) {
      return (static_cast<uint64_t>(*Mask) >> Bit & 1) != 0;
    };
    if (!Set(Low))
      continue;
    unsigned High = Low;
    while (High < Width && Set(High))
      ++High;
    if (++Runs > 3)
      return std::nullopt;
    auto Mod = [&](unsigned Bits) {
      return X->Aff.mod(isl::val(Ctx, std::to_string(uint64_t(1) << Bits)));
    };
    std::optional<isl::pw_aff> Upper;
    if (High == Width)
      Upper = exact(*X, T, Path);
    else
      Upper = Mod(High);
    if (!Upper)
      return std::nullopt;
    Sum = Sum.add(Low ? Upper->sub(Mod(Low)) : *Upper);
    Low = High;
  }
  return ofAff(Sum, true);
}

std::optional<IntValue> AffineArith::bitXorOr(const IntValue &A,
                                              const IntValue &B, IntType T,
                                              bool Or, const isl::set &Path) {
  auto Mask = constantValue(B.Aff);
  const IntValue *X = &A;
  if (!Mask) {
    Mask = constantValue(A.Aff);
    X = &B;
  }
  if (!Mask || *Mask < 0 || __builtin_popcountll(*Mask) > 3)
    return std::nullopt;
  auto E = exact(*X, T, Path);
  if (!E || !proveInRange(*E, 0, T.max(), Path))
    return std::nullopt;
  // Bit b of x is floor(x / 2^b) mod 2; setting it adds 2^b when it is 0,
  // flipping it adds 2^b or takes it away.
  isl::pw_aff R = *E;
  for (int64_t M = *Mask; M; M &= M - 1) {
    int64_t Bit = M & -M;
    isl::pw_aff Is = E->scale_down(isl::val(Ctx, std::to_string(Bit)))
                         .floor()
                         .mod(isl::val(Ctx, 2));
    R = R.add(constant(Bit)).sub(*scaleByConst(Is, Or ? Bit : 2 * Bit));
  }
  return ofAff(R, true);
}

std::optional<isl::pw_aff> AffineArith::select(const isl::set &C,
                                               const isl::pw_aff &A,
                                               const isl::pw_aff &B) {
  isl::pw_aff R = A.intersect_domain(C)
                      .union_add(B.intersect_domain(complement(C)))
                      .coalesce();
  if (R.n_piece() > MaxPieces)
    return std::nullopt;
  return R;
}

} // namespace rcache
