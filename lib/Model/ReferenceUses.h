// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What functions do with what they get by reference.

#ifndef RCACHE_LIB_MODEL_REFERENCEUSES_H
#define RCACHE_LIB_MODEL_REFERENCEUSES_H

#include "clang/AST/Decl.h"

namespace rcache {

/// Is \p V, a reference in \p Body, no more than another name of one variable? (See below.)
bool isOneVariable(const clang::VarDecl *V, const clang::Stmt *Body);

/// Is the reference that is parameter \p I of \p F no more than another name of one
/// variable: read and assigned, whole or by a member, and nobody asks where it is?
bool isOneVariable(const clang::FunctionDecl *F, unsigned I);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_REFERENCEUSES_H
