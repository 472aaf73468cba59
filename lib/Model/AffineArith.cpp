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

} // namespace

std::optional<IntValue> AffineArith::ofAff(isl::pw_aff A, bool Exact) {
  if (A.n_piece() > 1)
    A = A.coalesce();
  if (A.n_piece() > MaxPieces)
    return std::nullopt;
  return IntValue{A, Exact};
}

AffineArith::AffineArith(KernelModel &M)
    : M(M), Ctx(M.Ctx->ctx()), Universe(Ctx, "{ : }") {}

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
  Ranges[S.Id] = {Lo.value_or(T.min()), Hi.value_or(T.max())};
  M.Symbols.push_back(std::move(S));
  return M.Symbols.size() - 1;
}

unsigned AffineArith::depends(const isl::pw_aff &A) const {
  unsigned D = 0;
  for (const Symbol &S : M.Symbols)
    if (S.Depends && dependsOn(A, S.Id))
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

void AffineArith::addFact(isl::set S) {
  std::vector<std::string> Of = involvedIds(S);
  Always.emplace_back(std::move(S), std::move(Of));
  Known.clear();
}

isl::set AffineArith::boundsOf(std::set<std::string> Ids) const {
  isl::set Out = Universe;
  std::vector<bool> Told(Always.size());
  for (bool More = true; More;) {
    More = false;
    for (size_t I = 0; I < Always.size(); ++I) {
      const auto &[Fact, Of] = Always[I];
      if (Told[I] || llvm::none_of(Of, [&](const std::string &Id) { return Ids.count(Id); }))
        continue;
      Out = Out.intersect(Fact);
      Ids.insert(Of.begin(), Of.end());
      Told[I] = More = true;
    }
  }
  isl_ctx *const C = Out.ctx().get();
  isl_space *Space = isl_space_params_alloc(C, 0);
  for (const std::string &Id : Ids)
    if (Ranges.count(Id))
      Space = isl_space_add_param_id(Space, isl_id_alloc(C, Id.c_str(), nullptr));
  isl_set *Box = isl_set_universe(Space); // [Ids] -> { : }
  int At = 0;
  for (const std::string &Id : Ids)
    if (auto It = Ranges.find(Id); It != Ranges.end()) {
      Box = isl_set_lower_bound_val(Box, isl_dim_param, At, value(It->second.Lo).release());
      Box = isl_set_upper_bound_val(Box, isl_dim_param, At++, value(It->second.Hi).release());
    }
  return Out.intersect(isl::manage(Box));
}

isl::set AffineArith::known(const std::vector<std::string> &Asked,
                            const isl::set &Path) const {
  std::set<std::string> About(Asked.begin(), Asked.end());
  for (const std::string &Id : involvedIds(Path))
    About.insert(Id);
  auto It = Known.find(About);
  if (It == Known.end())
    It = Known.emplace(About, boundsOf(About)).first;
  return It->second.intersect(Path);
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
  const isl::set Where = known(involvedIds(A), Path);
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

isl::set AffineArith::withinBounds(const isl::set &S, const isl::set &Path) const {
  const isl::set Where = known(involvedIds(S), Path);
  const isl::set Bounds = known(involvedIds(S), Universe);
  isl::set Out = isl::set::empty(S.space());
  S.foreach_basic_set([&](const isl::basic_set &Part) {
    if (!Part.to_set().intersect(Where).is_empty())
      Out = Out.unite(Part.to_set());
  });
  Out = Out.intersect(Bounds).coalesce().gist(Bounds);
  return isl::manage(isl_set_drop_unused_params(Out.release()));
}

bool AffineArith::implied(const isl::set &S, const isl::set &Path) {
  return known(involvedIds(S), Path).is_subset(S);
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
  Known.clear();
}


/// Does \p A have a product with a counter whose rounds nobody knows?
bool AffineArith::multipliesCounter(const isl::pw_aff &A) const {
  return llvm::any_of(M.Symbols, [&](const Symbol &S) {
    return dependsOn(A, S.Id) && llvm::any_of(S.Factors, [&](const std::string &F) {
             const int I = M.symbolIndex(F);
             return I >= 0 && M.Symbols[I].K == Symbol::Iterator &&
                    llvm::none_of(M.Stmts, [&](const Stmt &L) {
                      return L.IterSymbol == I && L.ConstTripCount;
                    });
           });
  });
}

std::optional<isl::pw_aff> AffineArith::exact(const IntValue &V, IntType T,
                                              const isl::set &Path) {
  if (V.Exact || proveInRange(V.Aff, T.min(), T.max(), Path) ||
      assumeInRange(V.Aff, T, Path))
    return V.Aff;
  Wide Period = Wide(1) << T.Bits;
  // `(t + threadIdx.y) * n`, t counting as far as it may: pieces would be asked for in
  // each access, where the words of the original do.
  if (T.Bits >= 32 && multipliesCounter(V.Aff))
    return std::nullopt;
  // Once around at most: as `blockIdx.x * 16 + i - 1` is in all launches but those with a
  // grid that large.
  if (!proveInRange(V.Aff, T.min() - Period, T.max() + Period, Path) &&
      !(T.Bits == 32 && assumeInRange(V.Aff, {T.Bits + 1, true}, Path))) {
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


std::optional<std::pair<Linear, Linear>>
AffineArith::quotientAndRest(const isl::pw_aff &A, int64_t C) const {
  const std::optional<Linear> L = linear(A);
  if (!L)
    return std::nullopt;
  Linear Q, R;
  R.Const = (L->Const % C + C) % C;
  Q.Const = (L->Const - R.Const) / C;
  for (const auto &[Id, By] : L->Terms)
    if (By % C == 0)
      Q.Terms[Id] = By / C;
    else
      R.Terms[Id] = By;
  const std::optional<Range> In = interval(R);
  if (!In || In->Lo < 0 || In->Hi >= C)
    return std::nullopt;
  return std::pair(std::move(Q), std::move(R));
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
  if (!T.Signed || proveInRange(*X, 0, T.max(), Path)) {
    if (const auto Parts = quotientAndRest(*X, *C))
      return ofAff(fromLinear(Parts->first), true);
    return ofAff(X->scale_down(D).floor(), true);
  }
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
  if (!T.Signed || proveInRange(*X, 0, T.max(), Path)) {
    if (const auto Parts = quotientAndRest(*X, *C))
      return ofAff(fromLinear(Parts->second), true);
    return ofAff(X->mod(isl::val(Ctx, std::to_string(*C))), true);
  }
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
