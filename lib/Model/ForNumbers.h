// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of variables on which floating-point values hang by more than which
// elements are used and how often (VarUse::ForNumbers).

#ifndef RCACHE_LIB_MODEL_FORNUMBERS_H
#define RCACHE_LIB_MODEL_FORNUMBERS_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

using NamesForNumbers = llvm::SmallPtrSet<const clang::Expr *, 32>;

/// The references to variables in \p Body that are converted to floating-point
/// numbers, handed to functions that are not the library's own of integers, or
/// choose between two numbers.
NamesForNumbers namesForNumbers(const clang::Stmt *Body,
                                const clang::ASTContext &AC);

/// May \p Body multiply or divide floating-point numbers, and add some? Without, nothing
/// is fused.
bool multipliesNumbers(const clang::Stmt *Body, const clang::ASTContext &AC);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_FORNUMBERS_H
