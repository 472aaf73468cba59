// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// isl/cpp.h covers a part of isl; the rest is called through the C interface.
// These few functions give such calls the manners of isl/cpp.h: null results
// become exceptions that carry isl's own message.

#ifndef RCACHE_LIB_AFFINE_ISLINTERNAL_H
#define RCACHE_LIB_AFFINE_ISLINTERNAL_H

#include "rcache/Affine.h"
#include <isl/aff.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>
#include <vector>

namespace rcache::detail {

/// A result of the C interface as a managed object; throws when it is null.
template <typename T> auto own(isl::ctx Ctx, T *Raw) {
  if (!Raw)
    isl::exception::throw_last_error(Ctx);
  return isl::manage(Raw);
}

inline bool truth(isl::ctx Ctx, isl_bool B) {
  if (B == isl_bool_error)
    isl::exception::throw_last_error(Ctx);
  return B == isl_bool_true;
}

inline unsigned size(isl::ctx Ctx, isl_size N) {
  if (N < 0)
    isl::exception::throw_last_error(Ctx);
  return static_cast<unsigned>(N);
}

inline isl::id makeId(isl::ctx Ctx, const std::string &Name) {
  return own(Ctx, isl_id_alloc(Ctx.get(), Name.c_str(), nullptr));
}

/// Every function of this project takes isl values by const reference; a null
/// one is a mistake of the caller that must not reach the C interface.
template <typename T> void requireValue(const T &V) {
  if (V.is_null())
    isl::exception::throw_invalid("null value", __FILE__, __LINE__);
}

/// `[Ids] -> { : }` as a space, for alignment.
isl::space paramSpace(isl::ctx Ctx, const std::vector<std::string> &Ids);

/// `{ [Ids] -> [(V)] }`: the named parameters as the dimensions of the domain,
/// in this order. Ids that do not occur are added first.
isl::pw_aff idsToDomain(const isl::pw_aff &V,
                        const std::vector<std::string> &Ids);
/// `{ [Ids] : S }`.
isl::set idsToDims(const isl::set &S, const std::vector<std::string> &Ids);

} // namespace rcache::detail

#endif // RCACHE_LIB_AFFINE_ISLINTERNAL_H
