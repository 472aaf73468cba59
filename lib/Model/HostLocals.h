// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's variables that a launch is made from.

#ifndef RCACHE_LIB_MODEL_HOSTLOCALS_H
#define RCACHE_LIB_MODEL_HOSTLOCALS_H

#include "rcache/Model.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rcache {

/// Is \p V changed anywhere in the function that declares it?
bool everModified(const clang::VarDecl *V);

/// Arguments of \p C in front of the first parameter's: a member operator's
/// object (`f(n)` of a lambda f).
unsigned objectArguments(const clang::CallExpr *C);

/// Is the value of \p E all there is to its evaluation, as far as its text and
/// the one-line functions that it calls tell? Then it may be evaluated earlier or
/// later, as long as nothing else has effects.
bool hasNoEffects(const clang::Expr *E);

/// Local variables that \p Exprs use, and those that their initialisers use, a
/// variable behind what it is made from. \p TextOf: the text of an expression.
std::vector<HostLocal>
hostLocals(llvm::ArrayRef<const clang::Expr *> Exprs, clang::ASTContext &AC,
           llvm::function_ref<std::string(clang::SourceRange)> TextOf);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_HOSTLOCALS_H
