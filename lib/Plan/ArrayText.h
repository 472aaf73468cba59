// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words in which a shared array is used, for those that write its indices anew.

#ifndef RCACHE_LIB_PLAN_ARRAYTEXT_H
#define RCACHE_LIB_PLAN_ARRAYTEXT_H

#include "rcache/Model.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

/// What stands between the brackets of \p S, one range a dimension; nullopt: it
/// does not name its array so, or its indices do more than tell a number.
std::optional<std::vector<TextRange>> indexTexts(const KernelModel &M,
                                                 const SharedAccess &S);

/// Where \p Name stands in the body, as a word that is no member and in no comment.
std::vector<unsigned> placesOf(const KernelModel &M, const std::string &Name);

/// How often \p Name stands in the body, as a word that is no member and in no
/// comment.
size_t occurrences(const KernelModel &M, const std::string &Name);

/// Does the body name threads or blocks of threads nowhere but in \p M.Builtins?
bool namesCoordinatesAlone(const KernelModel &M);

/// Is \p Array named in its declaration and by its accesses alone?
bool isNamedByAccesses(const KernelModel &M, unsigned Array);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_ARRAYTEXT_H
