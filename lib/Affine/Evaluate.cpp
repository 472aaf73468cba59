// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluate.h"
#include "IslInternal.h"
#include "IslTools.h"
#include <algorithm>
#include <isl/constraint.h>
#include <isl/local_space.h>

namespace rcache {

using detail::Conjunction;
using detail::FloorDivision;
using detail::own;
using detail::requireValue;
using detail::Row;

//===-- Reading coefficients ----------------------------------------------===//

namespace {
/// Where each isl parameter stands in a point.
class Layout {
public:
  Layout(const isl::space &Space, const std::vector<std::string> &Order)
      : Ctx(Space.ctx()), NSymbols(Order.size()) {
    const unsigned N =
        detail::size(Ctx, isl_space_dim(Space.get(), isl_dim_param));
    for (unsigned I = 0; I < N; ++I) {
      const std::string Name =
          isl_space_get_dim_name(Space.get(), isl_dim_param, I);
      const auto It = std::find(Order.begin(), Order.end(), Name);
      Position.push_back(It == Order.end() ? -1 : It - Order.begin());
    }
  }

  /// The index of parameter \p I; throws when the point does not have it.
  unsigned symbol(unsigned I) const {
    if (Position[I] < 0)
      isl::exception::throw_invalid("a symbol has no value", __FILE__,
                                    __LINE__);
    return static_cast<unsigned>(Position[I]);
  }
  unsigned div(unsigned I) const { return NSymbols + I; }
  unsigned params() const { return Position.size(); }
  isl::ctx ctx() const { return Ctx; }

private:
  isl::ctx Ctx;
  unsigned NSymbols;
  std::vector<int> Position;
};
} // namespace

/// A coefficient as an integer after multiplication by \p Scale.
static int64_t scaled(isl::ctx Ctx, isl_val *Raw, const isl::val &Scale) {
  const isl::val V = own(Ctx, Raw).mul(Scale);
  const std::optional<int64_t> I = toInt64(V);
  if (!I)
    isl::exception::throw_invalid("coefficient too large", __FILE__, __LINE__);
  return *I;
}

/// \p A as Numerator / Denominator over symbols and divisions.
static FloorDivision readAff(isl_aff *A, const Layout &L) {
  isl::ctx Ctx = L.ctx();
  const isl::val Den = own(Ctx, isl_aff_get_denominator_val(A));
  FloorDivision Result;
  Result.Denominator = *toInt64(Den);
  Result.Numerator.Constant = scaled(Ctx, isl_aff_get_constant_val(A), Den);
  for (unsigned I = 0; I < L.params(); ++I)
    if (const int64_t C =
            scaled(Ctx, isl_aff_get_coefficient_val(A, isl_dim_param, I), Den))
      Result.Numerator.Terms.push_back({L.symbol(I), C});
  const unsigned NDiv = detail::size(Ctx, isl_aff_dim(A, isl_dim_div));
  for (unsigned I = 0; I < NDiv; ++I)
    if (const int64_t C =
            scaled(Ctx, isl_aff_get_coefficient_val(A, isl_dim_div, I), Den))
      Result.Numerator.Terms.push_back({L.div(I), C});
  return Result;
}

static std::vector<FloorDivision> readDivs(isl_local_space *Raw,
                                           const Layout &L) {
  std::vector<FloorDivision> Divs;
  bool InOrder = true; // each uses earlier ones only: evaluated in one sweep
  const isl_size N = isl_local_space_dim(Raw, isl_dim_div);
  for (isl_size I = 0; I < N; ++I) {
    const isl::aff A = own(L.ctx(), isl_local_space_get_div(Raw, I));
    FloorDivision D = readAff(A.get(), L);
    for (const auto &[Index, C] : D.Numerator.Terms)
      if (Index >= L.div(I))
        InOrder = false;
    Divs.push_back(std::move(D));
  }
  isl_local_space_free(Raw);
  if (!InOrder)
    isl::exception::throw_invalid("divisions out of order", __FILE__, __LINE__);
  return Divs;
}

static Row readConstraint(isl_constraint *C, const Layout &L) {
  isl::ctx Ctx = L.ctx();
  const isl::val One = own(Ctx, isl_val_one(Ctx.get()));
  Row Result;
  Result.Constant = scaled(Ctx, isl_constraint_get_constant_val(C), One);
  for (unsigned I = 0; I < L.params(); ++I)
    if (const int64_t V = scaled(
            Ctx, isl_constraint_get_coefficient_val(C, isl_dim_param, I), One))
      Result.Terms.push_back({L.symbol(I), V});
  const unsigned NDiv = detail::size(Ctx, isl_constraint_dim(C, isl_dim_div));
  for (unsigned I = 0; I < NDiv; ++I)
    if (const int64_t V = scaled(
            Ctx, isl_constraint_get_coefficient_val(C, isl_dim_div, I), One))
      Result.Terms.push_back({L.div(I), V});
  return Result;
}

static Conjunction readBasicSet(const isl::basic_set &B, const Layout &L) {
  Conjunction Result;
  Result.Divs = readDivs(isl_basic_set_get_local_space(B.get()), L);
  isl_constraint_list *List = isl_basic_set_get_constraint_list(B.get());
  if (!List)
    isl::exception::throw_last_error(L.ctx());
  const isl_size N = isl_constraint_list_n_constraint(List);
  for (isl_size I = 0; I < N; ++I) {
    isl_constraint *C = isl_constraint_list_get_constraint(List, I);
    (isl_constraint_is_equality(C) == isl_bool_true ? Result.Equalities
                                                    : Result.Inequalities)
        .push_back(readConstraint(C, L));
    isl_constraint_free(C);
  }
  isl_constraint_list_free(List);
  return Result;
}

//===-- Asking ------------------------------------------------------------===//

static int64_t valueOf(const Row &R, const std::vector<int64_t> &Vars) {
  int64_t Sum = R.Constant;
  for (const auto &[Index, C] : R.Terms)
    Sum += C * Vars[Index];
  return Sum;
}

static int64_t floorDivide(int64_t A, int64_t B) {
  return A / B - (A % B < 0 ? 1 : 0);
}

/// The symbols of \p At followed by the floor divisions at that point: \p At
/// itself when there are none, else \p Vars.
static const std::vector<int64_t> &
withDivs(const std::vector<int64_t> &At, unsigned NSymbols,
         const std::vector<FloorDivision> &Divs, std::vector<int64_t> &Vars) {
  if (Divs.empty())
    return At;
  Vars.assign(At.begin(), At.begin() + NSymbols);
  for (const FloorDivision &D : Divs)
    Vars.push_back(floorDivide(valueOf(D.Numerator, Vars), D.Denominator));
  return Vars;
}

CompiledCondition
CompiledCondition::make(const isl::set &S,
                        const std::vector<std::string> &Order) {
  requireValue(S);
  // Existentials become explicit floor divisions.
  const isl::set Explicit = own(S.ctx(), isl_set_compute_divs(S.copy()));
  const Layout L(Explicit.space(), Order);
  CompiledCondition Result;
  Result.NSymbols = Order.size();
  Explicit.foreach_basic_set([&](const isl::basic_set &B) {
    Result.Pieces.push_back(readBasicSet(B, L));
  });
  return Result;
}

bool CompiledCondition::holds(const std::vector<int64_t> &At) const {
  std::vector<int64_t> Room;
  for (const Conjunction &C : Pieces) {
    const std::vector<int64_t> &Vars = withDivs(At, NSymbols, C.Divs, Room);
    const bool Holds =
        std::all_of(C.Equalities.begin(), C.Equalities.end(),
                    [&](const Row &R) { return valueOf(R, Vars) == 0; }) &&
        std::all_of(C.Inequalities.begin(), C.Inequalities.end(),
                    [&](const Row &R) { return valueOf(R, Vars) >= 0; });
    if (Holds)
      return true;
  }
  return false;
}

CompiledValue CompiledValue::make(const isl::pw_aff &V,
                                  const std::vector<std::string> &Order) {
  requireValue(V);
  const Layout L(V.space(), Order);
  CompiledValue Result;
  Result.NSymbols = Order.size();
  V.foreach_piece([&](const isl::set &Domain, const isl::multi_aff &Value) {
    const isl::aff A = Value.at(0);
    Piece P;
    P.Domain = CompiledCondition::make(Domain, Order);
    const Layout Own(A.space(), Order);
    P.Divs = readDivs(isl_aff_get_domain_local_space(A.get()), Own);
    FloorDivision Whole = readAff(A.get(), Own);
    P.Numerator = std::move(Whole.Numerator);
    P.Denominator = Whole.Denominator;
    Result.Pieces.push_back(std::move(P));
  });
  return Result;
}

std::optional<int64_t> CompiledValue::at(const std::vector<int64_t> &At) const {
  std::vector<int64_t> Room;
  for (const Piece &P : Pieces) {
    if (!P.Domain.holds(At))
      continue;
    const std::vector<int64_t> &Vars = withDivs(At, NSymbols, P.Divs, Room);
    // An integer at every integer point of the domain.
    return floorDivide(valueOf(P.Numerator, Vars), P.Denominator);
  }
  return std::nullopt;
}

/// A point by name as an order of symbols and their values.
static std::pair<std::vector<std::string>, std::vector<int64_t>>
flatten(const Point &At) {
  std::pair<std::vector<std::string>, std::vector<int64_t>> Result;
  for (const auto &[Id, Value] : At) {
    Result.first.push_back(Id);
    Result.second.push_back(Value);
  }
  return Result;
}

std::optional<int64_t> evaluate(const isl::pw_aff &V, const Point &At) {
  const auto [Order, Values] = flatten(At);
  return CompiledValue::make(V, Order).at(Values);
}

bool evaluate(const isl::set &S, const Point &At) {
  const auto [Order, Values] = flatten(At);
  return CompiledCondition::make(S, Order).holds(Values);
}

} // namespace rcache
