// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relations between threads and elements, made from values and conditions by
// turning some of their symbols into coordinates, and back:
//
//     value      [tx, bb] -> { [(bb + tx)] }
//     relation   [bb] -> { Thread[tx] -> Elem[bb + tx] }
//
// The staging function of an array is such a relation turned round: writes
// `{ Thread[t] -> Elem[e] }` composed with what each thread wrote. When two
// threads write one element it must not matter which of them is asked.
//
// Errors as in IslTools.h: isl::exception, to be called inside rcache::guarded.

#ifndef RCACHE_LIB_AFFINE_RELATIONS_H
#define RCACHE_LIB_AFFINE_RELATIONS_H

#include "rcache/Affine.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

using SymbolIds = std::vector<std::string>;

//===-- From symbols to coordinates and back ------------------------------===//

/// `[symbols] -> { InName[FromIds] -> OutName[To] : Domain }`: the relation
/// between the named symbols (now coordinates, in this order) and the values
/// \p To, as far as these are defined. An empty name leaves the tuple unnamed.
///
/// Example: FromIds = {tx}, To = {tx + 1}, Domain = 0 <= tx < n:
/// `[n] -> { Thread[tx] -> Elem[tx + 1] : 0 <= tx < n }`.
isl::map accessMap(const SymbolIds &FromIds, const std::vector<isl::pw_aff> &To,
                   const isl::set &Domain, const std::string &InName = "Thread",
                   const std::string &OutName = "Elem");

/// `[symbols] -> { Name[Ids] : Cond }`.
isl::set toSet(const SymbolIds &Ids, const isl::set &Cond,
               const std::string &Name = "");

/// The inverse of toSet: `{ Name[d0, ...] : S }` as a condition in which the
/// coordinates are the symbols \p Ids.
isl::set toCondition(const isl::set &S, const SymbolIds &Ids);

/// A function `{ In[i0, ...] -> Out[o0, ...] }` as one value per output, its
/// inputs the symbols \p InIds.
std::vector<isl::pw_aff> toValues(const isl::pw_multi_aff &Fn,
                                  const SymbolIds &InIds);

/// The relation as a condition on symbols, inputs and outputs both:
/// `[InIds, OutIds] -> { : In -> Out in R }`.
isl::set toCondition(const isl::map &R, const SymbolIds &InIds,
                     const SymbolIds &OutIds);

/// All values of \p To on \p Domain, over all values of \p OverIds:
/// `[other symbols] -> { Name[To] : exists OverIds: Domain }`.
isl::set imageSet(const SymbolIds &OverIds, const std::vector<isl::pw_aff> &To,
                  const isl::set &Domain, const std::string &Name = "Elem");

//===-- Turning writes round ----------------------------------------------===//

/// A function as a list of values on pieces, with what is known of it.
struct InverseResult {
  /// One a coordinate of the writer, `[ElemIds, symbols] -> { [t] }`; defined
  /// exactly on the elements that are written.
  std::vector<isl::pw_aff> Writer;
  /// `[ElemIds, symbols] -> { : }`: the elements that are written.
  isl::set Written;
  /// No element is written by two threads.
  bool Unique = false;
};

/// For writes `{ Thread[...] -> Elem[...] }`: a writer of each element, by name
/// of the element's coordinates. An affine writer is preferred (fitted, then
/// proved: see fitAffine); else the lexicographically smallest one.
/// Cost: exact, parametric integer programming in the second case.
InverseResult invertWrites(const isl::map &Writes, const SymbolIds &ElemIds);

/// `{ Elem[...] -> Thread[...] }`: the smallest writer of each element.
isl::pw_multi_aff lexminInverse(const isl::map &Writes);

/// The relation `{ Elem[...] -> Source[...] }` of an array: \p Writes
/// `{ Thread -> Elem }` turned round and followed by \p Sources
/// `{ Thread -> Source }`.
isl::map stagedSources(const isl::map &Writes, const isl::map &Sources);

/// The relation \p R `{ In -> Out }` as an affine function, one value for each
/// output and defined everywhere (use it on the domain of R only), if R is a
/// part of the graph of one. Finds the function through the affine hull (all
/// equalities that hold on R), so it sees through the existentials that splits
/// of a linear id by `/` and `%` leave behind. Cost: exact, integer samples.
///
/// Example: { [e] -> [16*floor(e/16) + (e mod 16) + bb] } gives { e + bb }.
std::optional<std::vector<isl::pw_aff>> fitAffine(const isl::map &R,
                                                  const SymbolIds &InIds);

/// \p R as a function, one value per output; nullopt when R is not
/// single-valued. Affine where fitAffine finds one, else in pieces.
std::optional<std::vector<isl::pw_aff>> asFunction(const isl::map &R,
                                                   const SymbolIds &InIds);

} // namespace rcache

#endif // RCACHE_LIB_AFFINE_RELATIONS_H
