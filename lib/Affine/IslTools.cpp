// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IslTools.h"
#include "IslInternal.h"
#include <sstream>
#include <unordered_map>
#include <isl/constraint.h>
#include <isl/ilp.h>

namespace rcache {

using detail::own;
using detail::requireValue;
using detail::truth;

//===-- Plumbing ----------------------------------------------------------===//

isl::space detail::paramSpace(isl::ctx Ctx,
                              const std::vector<std::string> &Ids) {
  isl_space *Space = isl_space_params_alloc(Ctx.get(), Ids.size());
  for (unsigned I = 0; I < Ids.size(); ++I)
    Space = isl_space_set_dim_id(Space, isl_dim_param, I,
                                 makeId(Ctx, Ids[I]).release());
  return own(Ctx, Space);
}

static int paramPos(const isl::space &Space, const std::string &Id) {
  return isl_space_find_dim_by_name(Space.get(), isl_dim_param, Id.c_str());
}

isl::pw_aff detail::idsToDomain(const isl::pw_aff &V,
                                const std::vector<std::string> &Ids) {
  requireValue(V);
  isl::ctx Ctx = V.ctx();
  isl::pw_aff Result = own(
      Ctx, isl_pw_aff_align_params(V.copy(), paramSpace(Ctx, Ids).release()));
  Result = own(Ctx, isl_pw_aff_from_range(Result.release()));
  for (unsigned I = 0; I < Ids.size(); ++I) {
    const int Pos = paramPos(Result.space(), Ids[I]);
    Result = own(Ctx, isl_pw_aff_move_dims(Result.release(), isl_dim_in, I,
                                           isl_dim_param, Pos, 1));
  }
  return Result;
}

isl::set detail::idsToDims(const isl::set &S,
                           const std::vector<std::string> &Ids) {
  requireValue(S);
  isl::ctx Ctx = S.ctx();
  isl::set Result =
      own(Ctx, isl_set_align_params(S.copy(), paramSpace(Ctx, Ids).release()));
  Result = own(Ctx, isl_set_from_params(Result.release()));
  for (unsigned I = 0; I < Ids.size(); ++I) {
    const int Pos = paramPos(Result.space(), Ids[I]);
    Result = own(Ctx, isl_set_move_dims(Result.release(), isl_dim_set, I,
                                        isl_dim_param, Pos, 1));
  }
  return Result;
}

/// A value from a function on a zero-dimensional domain: `{ [] -> [v] }`.
static isl::pw_aff toParamValue(const isl::pw_aff &V) {
  return own(V.ctx(), isl_pw_aff_project_domain_on_params(V.copy()));
}

//===-- Making values and conditions --------------------------------------===//

isl::pw_aff constantValue(isl::ctx Ctx, int64_t C) {
  isl_local_space *Space =
      isl_local_space_from_space(isl_space_params_alloc(Ctx.get(), 0));
  isl_val *Val = isl_val_int_from_si(Ctx.get(), C);
  return own(Ctx, isl_pw_aff_from_aff(isl_aff_val_on_domain(Space, Val)));
}

isl::pw_aff symbolValue(isl::ctx Ctx, const std::string &Id) {
  isl::space Space = detail::paramSpace(Ctx, {Id});
  return own(Ctx, isl_pw_aff_from_aff(isl_aff_param_on_domain_space_id(
                      Space.release(), detail::makeId(Ctx, Id).release())));
}

isl::set always(isl::ctx Ctx) {
  return own(Ctx, isl_set_universe(isl_space_params_alloc(Ctx.get(), 0)));
}

isl::set never(isl::ctx Ctx) {
  return own(Ctx, isl_set_empty(isl_space_params_alloc(Ctx.get(), 0)));
}

isl::set lessThan(const isl::pw_aff &A, const isl::pw_aff &B) {
  return A.lt_set(B);
}

isl::set lessEqual(const isl::pw_aff &A, const isl::pw_aff &B) {
  return A.le_set(B);
}

isl::set equalTo(const isl::pw_aff &A, const isl::pw_aff &B) {
  return A.eq_set(B);
}

isl::set inRange(const isl::pw_aff &V, const isl::pw_aff &Lo,
                 const isl::pw_aff &Hi) {
  return lessEqual(Lo, V).intersect(lessThan(V, Hi));
}

isl::pw_aff floorDiv(const isl::pw_aff &A, int64_t D) {
  requireValue(A);
  isl_val *Val = isl_val_int_from_si(A.ctx().get(), D);
  return own(A.ctx(), isl_pw_aff_scale_down_val(A.copy(), Val)).floor();
}

isl::pw_aff floorMod(const isl::pw_aff &A, int64_t D) {
  requireValue(A);
  isl_val *Val = isl_val_int_from_si(A.ctx().get(), D);
  return own(A.ctx(), isl_pw_aff_mod_val(A.copy(), Val));
}

//===-- Symbols -----------------------------------------------------------===//

template <typename Fn>
static std::vector<std::string> filterParams(const isl::space &Space, Fn Keep) {
  std::vector<std::string> Ids;
  const unsigned N =
      detail::size(Space.ctx(), isl_space_dim(Space.get(), isl_dim_param));
  for (unsigned I = 0; I < N; ++I)
    if (Keep(I))
      Ids.push_back(isl_space_get_dim_name(Space.get(), isl_dim_param, I));
  return Ids;
}

std::vector<std::string> involvedIds(const isl::pw_aff &V) {
  requireValue(V);
  return filterParams(V.space(), [&](unsigned I) {
    return truth(V.ctx(),
                 isl_pw_aff_involves_dims(V.get(), isl_dim_param, I, 1));
  });
}

std::vector<std::string> involvedIds(const isl::set &S) {
  requireValue(S);
  return filterParams(S.space(), [&](unsigned I) {
    return truth(S.ctx(), isl_set_involves_dims(S.get(), isl_dim_param, I, 1));
  });
}

bool dependsOn(const isl::pw_aff &V, const std::string &Id) {
  requireValue(V);
  const int Pos = paramPos(V.space(), Id);
  return Pos >= 0 && truth(V.ctx(), isl_pw_aff_involves_dims(
                                        V.get(), isl_dim_param, Pos, 1));
}

bool dependsOn(const isl::set &S, const std::string &Id) {
  requireValue(S);
  const int Pos = paramPos(S.space(), Id);
  return Pos >= 0 &&
         truth(S.ctx(), isl_set_involves_dims(S.get(), isl_dim_param, Pos, 1));
}

namespace {
/// A substitution as a function `[symbols] -> { [] -> [(v0), (v1), ...] }` and
/// the Ids that its outputs stand for.
struct SubstitutionMap {
  std::vector<std::string> Ids;
  isl::multi_pw_aff Values;
};
} // namespace

static SubstitutionMap toMap(isl::ctx Ctx, const Substitution &By) {
  SubstitutionMap Result;
  isl_pw_aff_list *List = isl_pw_aff_list_alloc(Ctx.get(), By.size());
  for (const auto &[Id, V] : By) {
    if (V.is_null()) {
      isl_pw_aff_list_free(List);
      requireValue(V);
    }
    Result.Ids.push_back(Id);
    List = isl_pw_aff_list_add(List, isl_pw_aff_from_range(V.copy()));
  }
  isl_space *Space = isl_space_alloc(Ctx.get(), 0, 0, By.size());
  Result.Values = own(Ctx, isl_multi_pw_aff_from_pw_aff_list(Space, List));
  return Result;
}

isl::pw_aff substitute(const isl::pw_aff &V, const Substitution &By) {
  requireValue(V);
  if (By.empty())
    return V;
  const SubstitutionMap Map = toMap(V.ctx(), By);
  isl::pw_aff Fn = detail::idsToDomain(V, Map.Ids);
  Fn = own(V.ctx(),
           isl_pw_aff_pullback_multi_pw_aff(Fn.release(), Map.Values.copy()));
  return toParamValue(Fn);
}

isl::set substitute(const isl::set &S, const Substitution &By) {
  requireValue(S);
  if (By.empty())
    return S;
  const SubstitutionMap Map = toMap(S.ctx(), By);
  isl::set Set = detail::idsToDims(S, Map.Ids);
  Set = own(S.ctx(),
            isl_set_preimage_multi_pw_aff(Set.release(), Map.Values.copy()));
  return Set.params();
}

isl::pw_aff through(isl::ctx Ctx, const std::string &Id,
                    const std::map<int64_t, int64_t> &At) {
  const isl::pw_aff X = symbolValue(Ctx, Id);
  const auto &[X0, Y0] = *At.begin();
  const auto &[X1, Y1] = *At.rbegin();
  if (const int64_t Run = X1 == X0 ? 1 : X1 - X0; (Y1 - Y0) % Run == 0) {
    const int64_t Slope = (Y1 - Y0) / Run;
    if (std::all_of(At.begin(), At.end(), [&, X0 = X0, Y0 = Y0](const auto &P) {
          return P.second == Y0 + Slope * (P.first - X0);
        }))
      return X.scale(static_cast<long>(Slope))
          .add(constantValue(Ctx, Y0 - Slope * X0));
  }
  Nullable<isl::pw_aff> All;
  for (const auto &[From, To] : At) {
    const isl::pw_aff One = constantValue(Ctx, To).intersect_domain(
        equalTo(X, constantValue(Ctx, From)));
    All = All.is_null() ? One : isl::pw_aff(All).union_add(One);
  }
  return All;
}

isl::pw_aff renameSymbol(const isl::pw_aff &V, const std::string &From,
                         const std::string &To) {
  requireValue(V);
  return substitute(V, {{From, symbolValue(V.ctx(), To)}});
}

isl::set renameSymbol(const isl::set &S, const std::string &From,
                      const std::string &To) {
  requireValue(S);
  return substitute(S, {{From, symbolValue(S.ctx(), To)}});
}

isl::pw_aff bindConst(const isl::pw_aff &V, const std::string &Id, int64_t C) {
  requireValue(V);
  return substitute(V, {{Id, constantValue(V.ctx(), C)}});
}

isl::set bindConst(const isl::set &S, const std::string &Id, int64_t C) {
  requireValue(S);
  return substitute(S, {{Id, constantValue(S.ctx(), C)}});
}

isl::set projectOut(const isl::set &S, const std::vector<std::string> &Ids) {
  requireValue(S);
  isl::set Result = S;
  for (const std::string &Id : Ids) {
    const int Pos = paramPos(Result.space(), Id);
    if (Pos >= 0)
      Result = own(S.ctx(), isl_set_project_out(Result.release(), isl_dim_param,
                                                Pos, 1));
  }
  return Result;
}

//===-- Simplification and comparison -------------------------------------===//

isl::pw_aff simplify(const isl::pw_aff &V, const isl::set &Context) {
  requireValue(V);
  // First the intersection: it drops the pieces that lie outside the context.
  return V.intersect_domain(Context).coalesce().gist(Context).coalesce();
}

isl::set simplify(const isl::set &S, const isl::set &Context) {
  requireValue(S);
  return S.intersect(Context).coalesce().gist(Context).coalesce();
}

std::optional<int64_t> toInt64(const isl::val &V) {
  requireValue(V);
  if (!truth(V.ctx(), isl_val_is_int(V.get())))
    return std::nullopt;
  for (const long Limit : {INT64_MIN, INT64_MAX}) {
    isl::val L = own(V.ctx(), isl_val_int_from_si(V.ctx().get(), Limit));
    if (Limit < 0 ? V.lt(L) : V.gt(L))
      return std::nullopt;
  }
  return isl_val_get_num_si(V.get());
}

/// { [v] : v = \p V somewhere in \p Context }. Not isl_pw_aff_max_val: it fails
/// where the domain's equalities make \p V a fraction (32 ty + tx = 63).
static isl::set valuesOf(const isl::pw_aff &V, const isl::set &Context) {
  requireValue(V);
  isl::pw_aff On = V.intersect_domain(Context);
  return own(V.ctx(), isl_set_from_pw_aff(On.release()));
}

std::optional<int64_t> minConst(const isl::pw_aff &V, const isl::set &Context) {
  const isl::set Values = valuesOf(V, Context);
  return toInt64(own(V.ctx(), isl_set_dim_min_val(Values.copy(), 0)));
}

std::optional<int64_t> maxConst(const isl::pw_aff &V, const isl::set &Context) {
  const isl::set Values = valuesOf(V, Context);
  return toInt64(own(V.ctx(), isl_set_dim_max_val(Values.copy(), 0)));
}

std::optional<int64_t> constantUnder(const isl::pw_aff &V,
                                     const isl::set &Context) {
  const std::optional<int64_t> Min = minConst(V, Context);
  if (!Min || Min != maxConst(V, Context))
    return std::nullopt;
  return Min;
}

std::optional<int64_t> isConstant(const isl::pw_aff &V) {
  requireValue(V);
  return constantUnder(V, V.domain());
}

bool equalUnder(const isl::pw_aff &A, const isl::pw_aff &B,
                const isl::set &Context) {
  requireValue(A);
  requireValue(B);
  const isl::set InA = A.domain().intersect(Context);
  const isl::set InB = B.domain().intersect(Context);
  return InA.is_equal(InB) && InA.is_subset(equalTo(A, B));
}

std::vector<isl::set> constraintsOf(const isl::basic_set &B) {
  requireValue(B);
  std::vector<isl::set> Out;
  isl_constraint_list *L = isl_basic_set_get_constraint_list(B.get());
  const int N = isl_constraint_list_n_constraint(L);
  for (int I = 0; I < N; ++I)
    Out.push_back(isl::set(isl::manage(
        isl_basic_set_from_constraint(isl_constraint_list_get_constraint(L, I)))));
  isl_constraint_list_free(L);
  const isl::set Whole(B);
  if (!Whole.involves_locals())
    return Out;
  isl::set All = isl::set::universe(Whole.space());
  for (const isl::set &C : Out)
    All = All.intersect(C);
  return All.is_equal(Whole) ? Out : std::vector<isl::set>{Whole};
}

bool impliedBy(const isl::set &S, const isl::set &Context) {
  requireValue(S);
  requireValue(Context);
  return Context.is_subset(S);
}

//===-- Linear forms ------------------------------------------------------===//

/// The slope of \p V along \p Id: the one value of V(Id + 1) - V(Id) over all
/// neighbours of the context. nullopt: several values. 0 when the context holds
/// no two neighbours (the caller proves the split in any case).
static std::optional<int64_t> slope(const isl::pw_aff &V, const std::string &Id,
                                    const isl::set &Context) {
  isl::ctx Ctx = V.ctx();
  const Substitution Next = {
      {Id, symbolValue(Ctx, Id).add(constantValue(Ctx, 1))}};
  const isl::set Both = Context.intersect(substitute(Context, Next));
  const isl::pw_aff Diff =
      substitute(V, Next).sub(V).intersect_domain(Both).coalesce();
  if (Diff.domain().is_empty())
    return 0;
  return isConstant(Diff);
}

/// \p V as a value free of \p Id, if it is one on the context.
///
///     [symbols] -> { [Id] -> [v] }   the graph of V on the context
///     [symbols] -> { [v] }           its range: a function of the other
///                                    symbols exactly if single-valued
static std::optional<isl::pw_aff> withoutSymbol(const isl::pw_aff &V,
                                                const std::string &Id,
                                                const isl::set &Context) {
  isl::ctx Ctx = V.ctx();
  if (isl::pw_aff Simple = simplify(V, Context); !dependsOn(Simple, Id))
    return Simple;
  isl::pw_aff Fn =
      detail::idsToDomain(V.intersect_domain(Context), {Id}).coalesce();
  isl::set Range = own(Ctx, isl_map_from_pw_aff(Fn.release())).range();
  isl::map Graph = own(Ctx, isl_map_from_range(Range.release()));
  if (!Graph.is_single_valued())
    return std::nullopt;
  isl::pw_multi_aff Values =
      own(Ctx, isl_pw_multi_aff_from_map(Graph.release()));
  isl::pw_aff Value =
      toParamValue(own(Ctx, isl_pw_multi_aff_get_pw_aff(Values.get(), 0)));
  return simplify(Value, projectOut(Context, {Id}));
}

/// The split of a value that is one affine expression wherever it is defined:
/// read off its coefficients. nullopt: not such a value, or a symbol whose one
/// value the context gives (its slope is then 0, see above).
static std::optional<LinearSplit>
splitPlain(const isl::pw_aff &V, const std::vector<std::string> &Ids,
           const isl::set &Context) {
  if (!V.isa_aff() || V.involves_locals())
    return std::nullopt;
  const isl::aff A = V.as_aff();
  LinearSplit Split;
  Split.Rest = V;
  for (const std::string &Id : Ids) {
    const int Of =
        isl_set_find_dim_by_name(Context.get(), isl_dim_param, Id.c_str());
    if (Of < 0)
      return std::nullopt;
    const isl::val Fixed = own(
        V.ctx(), isl_set_plain_get_val_if_fixed(Context.get(), isl_dim_param,
                                                static_cast<unsigned>(Of)));
    if (!Fixed.is_nan())
      return std::nullopt;
    const int At = isl_aff_find_dim_by_name(A.get(), isl_dim_param, Id.c_str());
    if (At < 0) {
      Split.Coefficients[Id] = 0;
      continue;
    }
    const isl::val C =
        own(V.ctx(), isl_aff_get_coefficient_val(A.get(), isl_dim_param, At));
    if (!C.is_int())
      return std::nullopt;
    const int64_t Slope = C.num_si();
    Split.Coefficients[Id] = Slope;
    Split.Rest = Split.Rest.sub(
        symbolValue(V.ctx(), Id).mul(constantValue(V.ctx(), Slope)));
  }
  return Split;
}

std::optional<LinearSplit> splitLinear(const isl::pw_aff &V,
                                       const std::vector<std::string> &Ids,
                                       const isl::set &Context) {
  requireValue(V);
  requireValue(Context);
  if (std::optional<LinearSplit> Plain = splitPlain(V, Ids, Context))
    return Plain;
  isl::ctx Ctx = V.ctx();
  LinearSplit Split;
  Split.Rest = V;
  isl::set Ctxt = Context;
  for (const std::string &Id : Ids) {
    const std::optional<int64_t> C = slope(Split.Rest, Id, Ctxt);
    if (!C)
      return std::nullopt;
    Split.Coefficients[Id] = *C;
    isl::pw_aff Term = symbolValue(Ctx, Id).mul(constantValue(Ctx, *C));
    std::optional<isl::pw_aff> Rest =
        withoutSymbol(Split.Rest.sub(Term), Id, Ctxt);
    if (!Rest)
      return std::nullopt;
    Split.Rest = *Rest;
    Ctxt = projectOut(Ctxt, {Id});
  }
  return Split;
}

namespace {

/// What was found for values before: plans of one kernel ask for the same ones again
/// and again, and floors make each answer take long. By their texts, which say all.
template <typename T, typename Find>
T knownOr(const isl::pw_aff &V, const isl::set &Context, const std::string &Id, Find find) {
  constexpr size_t Most = 1 << 14;
  thread_local std::unordered_map<std::string, T> Known;
  std::ostringstream Key;
  Key << Id << '|' << V << '|' << Context;
  if (const auto It = Known.find(Key.str()); It != Known.end())
    return It->second;
  if (Known.size() >= Most)
    Known.clear();
  return Known.emplace(Key.str(), find()).first->second;
}

std::optional<Linear> findLinearForm(const isl::pw_aff &V, const isl::set &Context) {
  isl::pw_aff S = simplify(V, Context);
  std::optional<LinearSplit> L = splitLinear(S, involvedIds(S), Context);
  if (!L)
    return std::nullopt;
  std::optional<int64_t> C = isConstant(L->Rest);
  if (!C)
    return std::nullopt;
  Linear R;
  R.Const = *C;
  for (auto &[Id, Coef] : L->Coefficients)
    if (Coef != 0)
      R.Terms.emplace(Id, Coef);
  return R;
}

} // namespace

std::optional<Linear> linearForm(const isl::pw_aff &V, const isl::set &Context) {
  return knownOr<std::optional<Linear>>(V, Context, "",
                                        [&] { return findLinearForm(V, Context); });
}

bool hasSmallNumbers(const isl::aff &A, int64_t Most) {
  const auto number = [&](isl_val *V) {
    return toInt64(own(A.ctx(), isl_val_abs(V)));
  };
  const auto isSmall = [&](std::optional<int64_t> N) { return N && *N <= Most; };
  bool Small = isSmall(number(isl_aff_get_constant_val(A.get())));
  for (const auto Kind : {isl_dim_param, isl_dim_div})
    for (int I = 0, E = isl_aff_dim(A.get(), Kind); Small && I < E; ++I) {
      const auto N = number(isl_aff_get_coefficient_val(A.get(), Kind, I));
      Small = isSmall(N);
      // (All have the same floors, of which each is made of earlier ones.)
      if (!Small || *N == 0 || Kind != isl_dim_div)
        continue;
      // floor(of / denominator)
      const isl::aff Of = own(A.ctx(), isl_aff_get_div(A.get(), I));
      Small = hasSmallNumbers(
          own(A.ctx(), isl_aff_scale_val(Of.copy(),
                                         isl_aff_get_denominator_val(Of.get()))),
          Most);
    }
  return Small;
}

std::vector<Linear> constraintSums(const isl::set &S) {
  requireValue(S);
  std::vector<Linear> Sums;
  S.foreach_basic_set([&](const isl::basic_set &B) {
    if (isl::set(B).involves_locals())
      return;
    for (const auto Of : {isl_basic_set_equalities_matrix, isl_basic_set_inequalities_matrix}) {
      isl_mat *const Rows = Of(B.get(), isl_dim_param, isl_dim_cst, isl_dim_set, isl_dim_div);
      const int Params = isl_basic_set_dim(B.get(), isl_dim_param);
      for (int R = 0, E = isl_mat_rows(Rows); R < E; ++R) {
        Linear Sum;
        bool Fits = true;
        for (int C = 0; C <= Params; ++C) {
          const auto N = toInt64(own(S.ctx(), isl_mat_get_element_val(Rows, R, C)));
          Fits &= N.has_value();
          if (!N || !*N)
            continue;
          if (C == Params)
            Sum.Const = *N;
          else
            Sum.Terms[isl_basic_set_get_dim_name(B.get(), isl_dim_param, C)] = *N;
        }
        if (Fits)
          Sums.push_back(std::move(Sum));
      }
      isl_mat_free(Rows);
    }
  });
  return Sums;
}

bool hasSmallNumbers(const isl::set &S, int64_t Most) {
  bool Small = true;
  S.foreach_basic_set([&](const isl::basic_set &B) {
    for (const auto Of : {isl_basic_set_equalities_matrix, isl_basic_set_inequalities_matrix}) {
      isl_mat *const Rows = Of(B.get(), isl_dim_param, isl_dim_div, isl_dim_set, isl_dim_cst);
      const int Numbers = isl_mat_cols(Rows) - 1; // the last one is the constant
      for (int R = 0, E = isl_mat_rows(Rows); R < E; ++R)
        for (int C = 0; Small && C < Numbers; ++C) {
          const auto N = toInt64(own(S.ctx(), isl_val_abs(isl_mat_get_element_val(Rows, R, C))));
          Small = N && *N <= Most;
        }
      isl_mat_free(Rows);
    }
  });
  return Small;
}

std::optional<int64_t> linearCoefficient(const isl::pw_aff &V,
                                         const std::string &Id,
                                         const isl::set &Context) {
  requireValue(V);
  requireValue(Context);
  using Coefficient = std::optional<int64_t>;
  const auto of = [&](const std::optional<LinearSplit> &Split) {
    return Split ? Coefficient(Split->Coefficients.at(Id)) : std::nullopt;
  };
  if (const auto Plain = splitPlain(V, {Id}, Context))
    return of(Plain);
  return knownOr<Coefficient>(V, Context, Id,
                              [&] { return of(splitLinear(V, {Id}, Context)); });
}

} // namespace rcache
