// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether two elements are the same one, by their text.

#ifndef RCACHE_LIB_MODEL_ELEMENTINDEX_H
#define RCACHE_LIB_MODEL_ELEMENTINDEX_H

#include "OperandText.h"

namespace rcache {

/// Are \p X and \p Y, two elements of an array of \p F or members of such, certainly
/// not the same?
bool areDifferent(const clang::Expr *X, const clang::Expr *Y,
                  const OperandText &F);

/// Are they certainly the same, between statements that set no variable?
bool areSame(const clang::Expr *X, const clang::Expr *Y, const OperandText &F);

/// Is \p E, in \p F, an element with an index (and members) that is written in
/// numbers, from where a parameter of it points to?
bool isAtConstant(const clang::Expr *E, const OperandText &F);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_ELEMENTINDEX_H
