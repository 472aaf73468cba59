// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers that are powers of two by a count: `2 * (1 << level) - 1` in loops over the
// levels of a tree. An affine function holds them a piece a count.

#ifndef RCACHE_LIB_AFFINE_POWERS_H
#define RCACHE_LIB_AFFINE_POWERS_H

#include "IslTools.h"
#include <map>
#include <optional>
#include <string>

namespace rcache {

/// Factor * 2^Id + Rest, Id from 0 to 30.
struct PowerForm {
  std::string Id;
  int64_t Factor = 0, Rest = 0;

  std::optional<int64_t> at(int64_t Count) const;
};

/// The form that has \p Numbers by their counts, two or more; nullopt: there is none.
std::optional<PowerForm> powerForm(const std::string &Id,
                                   const std::map<int64_t, int64_t> &Numbers);

/// { Count[Id] -> [number] } where Id is a key of \p Numbers.
isl::pw_aff byCount(isl::ctx Ctx, const std::string &Id,
                    const std::map<int64_t, int64_t> &Numbers);

/// The form of a function that byCount() made.
std::optional<PowerForm> powerForm(const isl::pw_aff &F);

} // namespace rcache

#endif // RCACHE_LIB_AFFINE_POWERS_H
