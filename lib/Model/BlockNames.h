// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names that mean something in one block of a kernel alone, other than variables.

#ifndef RCACHE_LIB_MODEL_BLOCKNAMES_H
#define RCACHE_LIB_MODEL_BLOCKNAMES_H

#include "clang/AST/Expr.h"

namespace rcache {

/// May a word of \p E mean something else, or nothing, outside of the block in which \p E
/// stands: a type, an alias or a using-declaration of an inner block, or what a
/// using-directive or a namespace's other name in one may have found?
///
///     { using z::f;  s[t] = f(a[g]); }
bool namesOfInnerBlock(const clang::Expr *E);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_BLOCKNAMES_H
