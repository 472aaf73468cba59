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

std::optional<Linear> rcache::linearForm(const isl::pw_aff &V,
                                         const isl::set &Context) {
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
      R.Coef.emplace(Id, Coef);
  return R;
}

std::vector<isl::set> rcache::constraintsOf(const isl::basic_set &B) {
  std::vector<isl::set> Out;
  isl_constraint_list *L = isl_basic_set_get_constraint_list(B.get());
  int N = isl_constraint_list_n_constraint(L);
  for (int I = 0; I < N; ++I) {
    isl_constraint *C = isl_constraint_list_get_constraint(L, I);
    isl_basic_set *One = isl_basic_set_from_constraint(C);
    Out.push_back(isl::set(isl::manage(One)));
  }
  isl_constraint_list_free(L);
  return Out;
}

bool rcache::involvesDivs(const isl::set &S) {
  return S.involves_locals();
}
