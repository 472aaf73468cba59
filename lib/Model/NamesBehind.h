// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a text names where it stands and what the same text would name elsewhere (of
// declarations; MacroPlaces.h has the macros):
//
//     __device__ int weight(long);
//     __global__ void k(..) { .. weight(s[t]) .. }
//     __device__ int weight(int);      from here on the text would call this one

#ifndef RCACHE_LIB_MODEL_NAMESBEHIND_H
#define RCACHE_LIB_MODEL_NAMESBEHIND_H

#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace clang {
class Expr;
class FunctionDecl;
} // namespace clang

namespace rcache {

/// A name in \p F that could be found to be something else if its text stood at \p To in
/// the scopes of \p Where: a declaration of that name stands between. Overloads do not
/// count where each argument has the type of the parameter.
std::optional<std::string> nameOfAnother(const clang::FunctionDecl *F,
                                         const clang::FunctionDecl *Where,
                                         clang::SourceLocation To);

/// Is \p Default, a default argument, made of numbers and of names of file scope, which mean
/// the same wherever \p Hidden says that nothing has their names?
bool meansTheSame(const clang::Expr *Default, llvm::function_ref<bool(llvm::StringRef)> Hidden);

/// Is \p Default `Op()`, an object without members of a class of any name but those?
bool isMadeOfNothing(const clang::Expr *Default,
                     llvm::function_ref<bool(llvm::StringRef)> Hidden);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_NAMESBEHIND_H
