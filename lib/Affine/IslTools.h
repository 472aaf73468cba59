// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers on values and conditions of the affine world (rcache/Affine.h), each
// documented by its spaces. Here
//
//     value      isl::pw_aff  [symbols] -> { [(v)] }
//     condition  isl::set     [symbols] -> { : ... }
//
// where the symbols are isl parameters, named by their Ids. A value may be
// partial: it is undefined outside its domain.
//
// Errors: every function may throw isl::exception (null arguments, spaces that
// do not fit, budget exhausted); call them inside rcache::guarded. Cost: those
// marked *exact* ask isl to decide something over the integers.

#ifndef RCACHE_LIB_AFFINE_ISLTOOLS_H
#define RCACHE_LIB_AFFINE_ISLTOOLS_H

#include "rcache/Affine.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rcache {

//===-- Making values and conditions --------------------------------------===//

/// `{ [(C)] }`, defined everywhere.
isl::pw_aff constantValue(isl::ctx Ctx, int64_t C);

/// `[Id] -> { [(Id)] }`.
isl::pw_aff symbolValue(isl::ctx Ctx, const std::string &Id);

/// `{ : }`: the condition that always holds.
isl::set always(isl::ctx Ctx);

/// `{ : false }`.
isl::set never(isl::ctx Ctx);

/// `[symbols] -> { : A < B }` and so on; false where A or B is undefined.
isl::set lessThan(const isl::pw_aff &A, const isl::pw_aff &B);
isl::set lessEqual(const isl::pw_aff &A, const isl::pw_aff &B);
isl::set equalTo(const isl::pw_aff &A, const isl::pw_aff &B);

/// `[symbols] -> { : Lo <= V < Hi }`.
isl::set inRange(const isl::pw_aff &V, const isl::pw_aff &Lo,
                 const isl::pw_aff &Hi);

/// Floor division and its remainder (0 <= remainder < D). \p D > 0.
isl::pw_aff floorDiv(const isl::pw_aff &A, int64_t D);
isl::pw_aff floorMod(const isl::pw_aff &A, int64_t D);

/// Conditions that hold together where \p B does: each constraint by itself, or, where
/// several of them are about one number that exists, all in one.
std::vector<isl::set> constraintsOf(const isl::basic_set &B);

//===-- Symbols -----------------------------------------------------------===//

/// The Ids that occur in the constraints or in the value, in isl's order.
std::vector<std::string> involvedIds(const isl::pw_aff &V);
std::vector<std::string> involvedIds(const isl::set &S);

/// Whether \p Id occurs in \p V: in the value, in the conditions of its pieces
/// or in its domain. Textual, not semantic: simplify first.
bool dependsOn(const isl::pw_aff &V, const std::string &Id);
bool dependsOn(const isl::set &S, const std::string &Id);

using Substitution = std::map<std::string, isl::pw_aff>;

/// \p V with every key replaced by its value, all at once: the values may
/// mention the keys. Example: {tx -> tx + 1} turns 2tx + ty into 2tx + ty + 2.
isl::pw_aff substitute(const isl::pw_aff &V, const Substitution &By);
isl::set substitute(const isl::set &S, const Substitution &By);
/// [Id] -> { [v] } through the points \p At (Id's value -> v), one at least: a line
/// where they lie on one, else defined for these values of Id alone.
isl::pw_aff through(isl::ctx Ctx, const std::string &Id,
                    const std::map<int64_t, int64_t> &At);


/// \p From is replaced by \p To. If \p To occurs already, the two become equal.
isl::pw_aff renameSymbol(const isl::pw_aff &V, const std::string &From,
                         const std::string &To);
isl::set renameSymbol(const isl::set &S, const std::string &From,
                      const std::string &To);

/// \p Id replaced by the constant \p C.
isl::pw_aff bindConst(const isl::pw_aff &V, const std::string &Id, int64_t C);
isl::set bindConst(const isl::set &S, const std::string &Id, int64_t C);

/// `{ : exists Ids: S }`: conditions on the other symbols alone.
isl::set projectOut(const isl::set &S, const std::vector<std::string> &Ids);

//===-- Simplification and comparison -------------------------------------===//

/// \p V for use where \p Context holds: pieces and constraints that the context
/// implies are gone. Outside the context the result is arbitrary.
isl::pw_aff simplify(const isl::pw_aff &V, const isl::set &Context);
isl::set simplify(const isl::set &S, const isl::set &Context);

/// simplify, with as few comparisons as tell \p S from the rest of \p Context
/// (FewestTests.cpp): disjuncts may overlap then. Exact.
isl::set fewestTests(const isl::set &S, const isl::set &Context);

/// \p V has one value over its whole domain. Exact.
std::optional<int64_t> isConstant(const isl::pw_aff &V);

/// \p V has one value over `Context`. Exact.
std::optional<int64_t> constantUnder(const isl::pw_aff &V,
                                     const isl::set &Context);

/// \p A and \p B are defined at the same points of \p Context and equal there.
/// Exact.
bool equalUnder(const isl::pw_aff &A, const isl::pw_aff &B,
                const isl::set &Context);

/// \p S holds wherever \p Context holds. Exact.
bool impliedBy(const isl::set &S, const isl::set &Context);

/// Smallest and largest value of \p V over \p Context, with no symbol in it.
/// nullopt: unbounded, V undefined on all of Context, or too large. Exact.
std::optional<int64_t> minConst(const isl::pw_aff &V, const isl::set &Context);
std::optional<int64_t> maxConst(const isl::pw_aff &V, const isl::set &Context);

//===-- Linear forms ------------------------------------------------------===//

/// V == sum of Coefficients[Id] * Id + Rest on the context.
struct LinearSplit {
  std::map<std::string, int64_t> Coefficients; ///< one for each Id asked for
  isl::pw_aff Rest;                            ///< free of these Ids
};

/// Splits \p V into linear terms in \p Ids and a rest free of them, valid on
/// \p Context; nullopt if V has no such form there (or isl cannot see it).
/// An Id with a single value on the context gets coefficient 0. Exact.
///
/// Example: V = 4*floor(tx/4) + (tx mod 4) + bx, Ids = {tx}: 1 * tx + bx.
std::optional<LinearSplit> splitLinear(const isl::pw_aff &V,
                                       const std::vector<std::string> &Ids,
                                       const isl::set &Context);

/// `Const + sum of Terms[Id] * Id`; no term is 0.
struct Linear {
  std::map<std::string, int64_t> Terms;
  int64_t Const = 0;
  bool isConst() const { return Terms.empty(); }
};

/// \p V as such a sum on \p Context; nullopt if it is not of that form there.
/// Exact.
std::optional<Linear> linearForm(const isl::pw_aff &V, const isl::set &Context);

/// The constraints of the basic sets of \p S, a set of symbols alone, which have no
/// existentially quantified variables: sums that are not negative, or zero.
std::vector<Linear> constraintSums(const isl::set &S);

/// Are all numbers in \p A, a piece of a formula without input dimensions, integers of
/// at most \p Most, those inside of floor() included?
bool hasSmallNumbers(const isl::aff &A, int64_t Most);
/// The coefficients in the constraints of \p S, a set of symbols alone.
bool hasSmallNumbers(const isl::set &S, int64_t Most);

/// The coefficient of one Id: splitLinear for a single symbol.
std::optional<int64_t> linearCoefficient(const isl::pw_aff &V,
                                         const std::string &Id,
                                         const isl::set &Context);

//===-- Numbers -----------------------------------------------------------===//

/// \p V as an integer; nullopt: infinite, NaN, a fraction or beyond int64_t.
std::optional<int64_t> toInt64(const isl::val &V);

} // namespace rcache

#endif // RCACHE_LIB_AFFINE_ISLTOOLS_H
