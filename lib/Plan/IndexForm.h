// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile with clamped or mirrored borders is staged by one load whose index is
// a sum of terms, one a coordinate: `p[clamp(y) * w + clamp(x)]`. The staging
// function holds it as up to nine pieces in the plane, one for each side and
// corner, because a product of a clamped coordinate has no affine form. Here
// the sum is found again: one load, of which every lane takes its own index,
// instead of nine under conditions by which the lanes part.

#ifndef RCACHE_LIB_PLAN_INDEXFORM_H
#define RCACHE_LIB_PLAN_INDEXFORM_H

#include "rcache/Plan.h"
#include <map>

namespace rcache {

/// A term of an index, given case by case. The cases exclude each other and
/// are all there is, so that the last one needs no test.
struct IndexTerm {
  struct Case {
    isl::set Where;    ///< [e0, e1, symbols] -> { : }
    isl::pw_aff Value; ///< [e0, e1, symbols] -> { [i] }, one affine expression
  };
  std::string ElemId; ///< the coordinate that it is a function of; "": none
  std::vector<Case> Cases;
};

/// Pieces [Begin, End) of a staging function as one value.
struct IndexForm {
  size_t Begin = 0, End = 0;
  isl::set Domain; ///< [e0, e1, symbols] -> { : }: of all these pieces
  /// The index of each Load below the value of piece Begin is the sum of its
  /// terms, all of whose Where are the same sets for all loads.
  std::map<const Value *, std::vector<IndexTerm>> Loads;
};

/// The longest run of two or more pieces of \p F that have such a form, for
/// elements in \p Context; nullopt: there is none.
std::optional<IndexForm> findIndexForm(const StagingFunction &F,
                                       const isl::set &Context);

/// The value of the pieces of a form.
struct FormedValue {
  IndexForm Form;
  ValueRef First; ///< that of the first piece: the form's loads are below it
};

/// A load \p V whose index has several cases, which cover \p Context, as such a value;
/// nullopt: it has no such form.
std::optional<FormedValue> formedLoad(const ValueRef &V,
                                      const isl::set &Context);

/// Are the pieces of \p F that load, for elements in \p Context, one such value?
bool isOneForm(const StagingFunction &F, const isl::set &Context);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_INDEXFORM_H
