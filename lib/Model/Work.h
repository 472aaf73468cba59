// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stmt::Computes and Stmt::OfElements (rcache/Model.h).

#ifndef RCACHE_LIB_MODEL_WORK_H
#define RCACHE_LIB_MODEL_WORK_H

#include "rcache/Model.h"
#include <utility>

namespace clang {
class ASTContext;
class Stmt;
} // namespace clang

namespace rcache {

/// What \p S computes, without what is computed of a shared element alone; and that.
/// Of a compound statement: its condition.
std::pair<Work, Work> workOf(const clang::Stmt *S, const clang::ASTContext &AC);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_WORK_H
