// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stmt::Computes and Stmt::OfElements (rcache/Model.h).

#ifndef RCACHE_LIB_MODEL_WORK_H
#define RCACHE_LIB_MODEL_WORK_H

#include "rcache/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <utility>

namespace clang {
class ASTContext;
class Expr;
class Stmt;
class VarDecl;
} // namespace clang

namespace rcache {

/// Counters of the loops around that are numbers in each round as soon as these are
/// unrolled.
using Numbers = llvm::SmallPtrSet<const clang::VarDecl *, 4>;

/// What \p S computes, without what is computed of a shared element alone; and that.
/// Of a compound statement: its condition. \p Steps: is an expression made of constants and
/// counters alone?
std::pair<Work, Work> workOf(const clang::Stmt *S, const clang::ASTContext &AC,
                             const Numbers &Known,
                             llvm::function_ref<bool(const clang::Expr *)> Steps);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_WORK_H
