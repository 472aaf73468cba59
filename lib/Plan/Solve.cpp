// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Solve.h. isl's C interface is used where its C++ interface has no
// function: moving parameters to set dimensions, listing constraints.

#include "Solve.h"
#include "Affine/IslTools.h"
#include <isl/constraint.h>
#include <isl/set.h>

using namespace rcache;

isl::pw_multi_aff rcache::solveFor(const isl::set &D,
                                   const std::vector<std::string> &Unknowns) {
  // [x, n] -> { : D }  becomes  [n] -> { [x] : D }
  isl_set *S = isl_set_from_params(D.copy());
  for (size_t K = 0; K < Unknowns.size(); ++K) {
    isl_id *Id = isl_id_alloc(isl_set_get_ctx(S), Unknowns[K].c_str(), nullptr);
    int Pos = isl_set_find_dim_by_id(S, isl_dim_param, Id);
    if (Pos < 0) {
      S = isl_set_align_params(
          S, isl_space_set_dim_id(
                 isl_space_params_alloc(isl_id_get_ctx(Id), 1), isl_dim_param,
                 0, isl_id_copy(Id)));
      Pos = isl_set_find_dim_by_id(S, isl_dim_param, Id);
    }
    isl_id_free(Id);
    S = isl_set_move_dims(S, isl_dim_set, static_cast<unsigned>(K),
                          isl_dim_param, static_cast<unsigned>(Pos), 1);
  }
  return isl::manage(S).lexmax_pw_multi_aff();
}

bool rcache::involvesDivs(const isl::set &S) {
  return S.involves_locals();
}

/// \p C as sum Coef * parameter + Const >= 0 (== 0); nullopt if quotients or
/// large numbers occur in it.
static std::optional<Linear> linearConstraint(isl_constraint *C) {
  const int Divs = isl_constraint_dim(C, isl_dim_div);
  if (Divs > 0 && isl_constraint_involves_dims(C, isl_dim_div, 0,
                                               static_cast<unsigned>(Divs)))
    return std::nullopt;
  Linear R;
  const int N = isl_constraint_dim(C, isl_dim_param);
  for (int I = 0; I < N; ++I) {
    auto V = toInt64(
        isl::manage(isl_constraint_get_coefficient_val(C, isl_dim_param, I)));
    if (!V)
      return std::nullopt;
    if (*V)
      R.Terms.emplace(isl_constraint_get_dim_name(C, isl_dim_param, I), *V);
  }
  auto K = toInt64(isl::manage(isl_constraint_get_constant_val(C)));
  if (!K)
    return std::nullopt;
  R.Const = *K;
  return R;
}

std::optional<std::vector<Linear>>
rcache::inequalitiesOf(const isl::basic_set &B) {
  std::vector<Linear> Out;
  bool All = true;
  isl_constraint_list *List = isl_basic_set_get_constraint_list(B.get());
  const int N = isl_constraint_list_n_constraint(List);
  for (int I = 0; I < N && All; ++I) {
    isl_constraint *C = isl_constraint_list_get_constraint(List, I);
    auto L = linearConstraint(C);
    All = L && !isl_constraint_is_equality(C);
    isl_constraint_free(C);
    if (All)
      Out.push_back(std::move(*L));
  }
  isl_constraint_list_free(List);
  return All ? std::optional(std::move(Out)) : std::nullopt;
}

static int64_t floorQuotient(int64_t A, int64_t B) {
  return A / B - (A % B != 0 && A < 0);
}

/// `L >= 0` on \p D as a condition on fewer symbols: with all coefficients of
/// G divisible by g, G + rest >= 0 is G / g + floor(rest / g) >= 0.
static std::optional<isl::set> tightenedOne(const Linear &L,
                                            const isl::set &D) {
  isl::ctx Ctx = D.ctx();
  for (auto &[_, Divisor] : L.Terms) {
    const int64_t G = std::abs(Divisor);
    if (G < 2)
      continue;
    isl::pw_aff Rest = constantValue(Ctx, L.Const), Kept = constantValue(Ctx, 0);
    bool Any = false;
    for (auto &[Id, C] : L.Terms)
      if (C % G == 0) {
        Kept = Kept.add(symbolValue(Ctx, Id).scale(static_cast<long>(C / G)));
      } else {
        Rest = Rest.add(symbolValue(Ctx, Id).scale(static_cast<long>(C)));
        Any = true;
      }
    if (!Any)
      continue;
    const auto Lo = minConst(Rest, D), Hi = maxConst(Rest, D);
    if (!Lo || !Hi || floorQuotient(*Lo, G) != floorQuotient(*Hi, G))
      continue;
    return Kept.add(constantValue(Ctx, floorQuotient(*Lo, G)))
        .ge_set(constantValue(Ctx, 0));
  }
  return std::nullopt;
}

isl::set rcache::tightened(const isl::set &D) {
  isl::set Out = isl::set::empty(D.space());
  D.foreach_basic_set([&](isl::basic_set B) {
    if (isl::set(B).involves_locals()) // a quotient that has one value here
      B = B.detect_equalities();
    isl::set All = isl::set::universe(D.space());
    bool Changed = false;
    isl_constraint_list *List = isl_basic_set_get_constraint_list(B.get());
    const int N = isl_constraint_list_n_constraint(List);
    for (int I = 0; I < N; ++I) {
      isl_constraint *C = isl_constraint_list_get_constraint(List, I);
      std::optional<isl::set> T;
      if (!isl_constraint_is_equality(C))
        if (auto L = linearConstraint(C))
          T = tightenedOne(*L, isl::set(B));
      Changed |= T.has_value();
      isl_basic_set *One = isl_basic_set_from_constraint(C);
      All = All.intersect(T ? *T : isl::set(isl::manage(One)));
      if (T)
        isl_basic_set_free(One);
    }
    isl_constraint_list_free(List);
    // (Constraints of one existential say less each by itself.)
    if (Changed && isl::set(B).involves_locals())
      All = All.intersect(isl::set(B));
    Out = Out.unite(Changed ? All : isl::set(B));
  });
  return Out.coalesce();
}
