// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Relations.h"
#include "IslInternal.h"
#include "IslTools.h"
#include <isl/constraint.h>

namespace rcache {

using detail::own;
using detail::requireValue;
using detail::truth;

//===-- From symbols to coordinates and back ------------------------------===//

/// Moves the parameters \p Ids to the end of the tuple \p Type of \p R.
static isl::map paramsToTuple(isl::map R, const SymbolIds &Ids,
                              isl_dim_type Type) {
  isl::ctx Ctx = R.ctx();
  R = own(Ctx, isl_map_align_params(R.release(),
                                    detail::paramSpace(Ctx, Ids).release()));
  for (const std::string &Id : Ids) {
    const int Pos =
        isl_space_find_dim_by_name(R.space().get(), isl_dim_param, Id.c_str());
    const unsigned At = detail::size(Ctx, isl_map_dim(R.get(), Type));
    R = own(Ctx,
            isl_map_move_dims(R.release(), Type, At, isl_dim_param, Pos, 1));
  }
  return R;
}

static isl::map nameTuple(isl::map R, isl_dim_type Type,
                          const std::string &Name) {
  isl::ctx Ctx = R.ctx();
  if (Name.empty())
    return own(Ctx, isl_map_reset_tuple_id(R.release(), Type));
  return own(Ctx, isl_map_set_tuple_name(R.release(), Type, Name.c_str()));
}

/// `[symbols] -> { [] -> [To] : Domain }`.
static isl::map graphOf(const std::vector<isl::pw_aff> &To,
                        const isl::set &Domain) {
  requireValue(Domain);
  isl::ctx Ctx = Domain.ctx();
  isl::map Graph =
      own(Ctx, isl_map_from_range(isl_set_from_params(Domain.copy())));
  for (const isl::pw_aff &V : To) {
    requireValue(V);
    isl::map One =
        own(Ctx, isl_map_from_pw_aff(isl_pw_aff_from_range(V.copy())));
    Graph =
        own(Ctx, isl_map_flat_range_product(Graph.release(), One.release()));
  }
  return Graph;
}

isl::map accessMap(const SymbolIds &FromIds, const std::vector<isl::pw_aff> &To,
                   const isl::set &Domain, const std::string &InName,
                   const std::string &OutName) {
  isl::map R = paramsToTuple(graphOf(To, Domain), FromIds, isl_dim_in);
  return nameTuple(nameTuple(R, isl_dim_in, InName), isl_dim_out, OutName)
      .coalesce();
}

isl::set toSet(const SymbolIds &Ids, const isl::set &Cond,
               const std::string &Name) {
  isl::set S = detail::idsToDims(Cond, Ids);
  if (!Name.empty())
    S = own(S.ctx(), isl_set_set_tuple_name(S.release(), Name.c_str()));
  return S;
}

/// Equates the coordinates of the tuple \p Type with the symbols \p Ids.
static isl::map tupleToParams(isl::map R, const SymbolIds &Ids,
                              isl_dim_type Type) {
  isl::ctx Ctx = R.ctx();
  if (detail::size(Ctx, isl_map_dim(R.get(), Type)) != Ids.size())
    isl::exception::throw_invalid("one symbol a coordinate", __FILE__,
                                  __LINE__);
  R = own(Ctx, isl_map_align_params(R.release(),
                                    detail::paramSpace(Ctx, Ids).release()));
  for (unsigned I = 0; I < Ids.size(); ++I) {
    const int Pos = isl_space_find_dim_by_name(R.space().get(), isl_dim_param,
                                               Ids[I].c_str());
    R = own(Ctx, isl_map_equate(R.release(), isl_dim_param, Pos, Type, I));
  }
  return own(Ctx, isl_map_project_out(R.release(), Type, 0, Ids.size()));
}

static isl::set onlyParams(const isl::map &R) {
  return own(R.ctx(), isl_map_params(R.copy())).coalesce();
}

isl::set toCondition(const isl::map &R, const SymbolIds &InIds,
                     const SymbolIds &OutIds) {
  requireValue(R);
  isl::map Both = tupleToParams(R, InIds, isl_dim_in);
  return onlyParams(tupleToParams(Both, OutIds, isl_dim_out));
}

isl::set toCondition(const isl::set &S, const SymbolIds &Ids) {
  requireValue(S);
  isl::map R = own(S.ctx(), isl_map_from_range(S.copy()));
  return onlyParams(tupleToParams(R, Ids, isl_dim_out));
}

std::vector<isl::pw_aff> toValues(const isl::pw_multi_aff &Fn,
                                  const SymbolIds &InIds) {
  requireValue(Fn);
  isl::ctx Ctx = Fn.ctx();
  const unsigned NIn =
      detail::size(Ctx, isl_pw_multi_aff_dim(Fn.get(), isl_dim_in));
  if (NIn != InIds.size())
    isl::exception::throw_invalid("one symbol an input", __FILE__, __LINE__);
  // { [] -> In[InIds] }, pulled back through the function.
  isl_pw_aff_list *List = isl_pw_aff_list_alloc(Ctx.get(), NIn);
  for (const std::string &Id : InIds)
    List = isl_pw_aff_list_add(
        List, isl_pw_aff_from_range(symbolValue(Ctx, Id).release()));
  isl_space *Space = isl_space_from_range(
      isl_space_domain(isl_pw_multi_aff_get_space(Fn.get())));
  isl::multi_pw_aff Ids =
      own(Ctx, isl_multi_pw_aff_from_pw_aff_list(Space, List));

  std::vector<isl::pw_aff> Values;
  const unsigned NOut =
      detail::size(Ctx, isl_pw_multi_aff_dim(Fn.get(), isl_dim_out));
  for (unsigned I = 0; I < NOut; ++I) {
    isl_pw_aff *V = isl_pw_multi_aff_get_pw_aff(Fn.get(), I);
    V = isl_pw_aff_pullback_multi_pw_aff(V, Ids.copy());
    Values.push_back(
        own(Ctx, isl_pw_aff_project_domain_on_params(V)).coalesce());
  }
  return Values;
}

isl::set imageSet(const SymbolIds &OverIds, const std::vector<isl::pw_aff> &To,
                  const isl::set &Domain, const std::string &Name) {
  return accessMap(OverIds, To, Domain, "", Name).range().coalesce();
}

//===-- Turning writes round ----------------------------------------------===//

isl::pw_multi_aff lexminInverse(const isl::map &Writes) {
  requireValue(Writes);
  return Writes.reverse().lexmin_pw_multi_aff().coalesce();
}

isl::map stagedSources(const isl::map &Writes, const isl::map &Sources) {
  requireValue(Writes);
  return Writes.reverse().apply_range(Sources).coalesce();
}

/// The coordinate \p Pos of `[inputs, symbols] -> { [out] : Hull }` as a
/// function of the parameters, when an equality `±out = ...` without divisions
/// and other coordinates says so.
static std::optional<isl::pw_aff> definedBy(const isl::basic_set &Hull,
                                            unsigned Pos, unsigned NOut) {
  isl::ctx Ctx = Hull.ctx();
  // The other coordinates are eliminated first: an equality that ties two of
  // them together may stand where one for each exists.
  isl_basic_set *B = Hull.copy();
  B = isl_basic_set_project_out(B, isl_dim_set, Pos + 1, NOut - Pos - 1);
  B = isl_basic_set_project_out(B, isl_dim_set, 0, Pos);
  const isl::basic_set Only = own(Ctx, B);
  isl_constraint *Raw = nullptr;
  if (!truth(Ctx, isl_basic_set_has_defining_equality(Only.get(), isl_dim_set,
                                                      0, &Raw)))
    return std::nullopt;
  const isl::val Coefficient =
      own(Ctx, isl_constraint_get_coefficient_val(Raw, isl_dim_set, 0));
  const isl_size NDiv = isl_constraint_dim(Raw, isl_dim_div);
  const bool HasDiv =
      NDiv > 0 && isl_constraint_involves_dims(Raw, isl_dim_div, 0, NDiv);
  if (!Coefficient.abs().is_one() || HasDiv) {
    isl_constraint_free(Raw);
    return std::nullopt;
  }
  isl_aff *Bound = isl_constraint_get_bound(Raw, isl_dim_set, 0);
  isl_constraint_free(Raw);
  return own(Ctx, isl_pw_aff_from_aff(isl_aff_project_domain_on_params(Bound)));
}

std::optional<std::vector<isl::pw_aff>> fitAffine(const isl::map &R,
                                                  const SymbolIds &InIds) {
  requireValue(R);
  if (R.is_empty())
    return std::nullopt;
  // [symbols] -> { In -> Out }   becomes   [InIds, symbols] -> { [Out] }
  isl::set Graph = tupleToParams(R, InIds, isl_dim_in).range();
  Graph = own(R.ctx(), isl_set_reset_tuple_id(Graph.release()));
  const isl::basic_set Hull =
      own(R.ctx(), isl_set_affine_hull(Graph.release()));
  std::vector<isl::pw_aff> Values;
  const unsigned NOut =
      detail::size(R.ctx(), isl_map_dim(R.get(), isl_dim_out));
  for (unsigned I = 0; I < NOut; ++I) {
    std::optional<isl::pw_aff> V = definedBy(Hull, I, NOut);
    if (!V)
      return std::nullopt;
    Values.push_back(*V);
  }
  return Values;
}

std::optional<std::vector<isl::pw_aff>> asFunction(const isl::map &R,
                                                   const SymbolIds &InIds) {
  requireValue(R);
  if (auto Affine = fitAffine(R, InIds)) {
    const isl::set Domain = toCondition(R.domain(), InIds);
    for (isl::pw_aff &V : *Affine)
      V = V.intersect_domain(Domain);
    return Affine;
  }
  if (!R.is_single_valued())
    return std::nullopt;
  isl::pw_multi_aff Fn = own(R.ctx(), isl_pw_multi_aff_from_map(R.copy()));
  return toValues(Fn.coalesce(), InIds);
}

InverseResult invertWrites(const isl::map &Writes, const SymbolIds &ElemIds) {
  requireValue(Writes);
  InverseResult Result;
  const isl::map Writers = Writes.reverse();
  Result.Written = toCondition(Writers.domain(), ElemIds);
  if (auto Fn = fitAffine(Writers, ElemIds)) {
    // A fit defines every coordinate of the writer: there is only one.
    Result.Unique = true;
    for (const isl::pw_aff &V : *Fn)
      Result.Writer.push_back(V.intersect_domain(Result.Written));
    return Result;
  }
  Result.Unique = Writers.is_single_valued();
  Result.Writer = toValues(lexminInverse(Writes), ElemIds);
  return Result;
}

} // namespace rcache
