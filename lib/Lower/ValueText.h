// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of a model as C++ text.

#ifndef RCACHE_LOWER_VALUETEXT_H
#define RCACHE_LOWER_VALUETEXT_H

#include "Names.h"
#include <functional>

namespace rcache {

struct ValueTextOptions {
  CxxNames Symbols;      ///< with the element coordinates, if any
  Nullable<isl::set> Context; ///< what holds where the text stands; may be null
  /// Text for a Load, or "" for the usual `p[i]`.
  std::function<std::string(const Value *)> LoadText;
};

/// \p V as an expression; an Affine value gets the C++ type it had in the
/// original unless \p AsIndex. Throws nothing; errors of the affine printer are
/// returned.
llvm::Expected<std::string> valueText(const ValueRef &V, const Names &N,
                                      const ValueTextOptions &O,
                                      bool AsIndex = false);

/// An affine value as text of the narrowest type that is safe, at least \p Least.
llvm::Expected<std::string> affineText(const isl::pw_aff &A, const Names &N,
                                       const ValueTextOptions &O,
                                       CxxType Least = CxxType::Int);
llvm::Expected<std::string> conditionText(const isl::set &S, const Names &N,
                                          const ValueTextOptions &O);

} // namespace rcache

#endif // RCACHE_LOWER_VALUETEXT_H
