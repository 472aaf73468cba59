// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words in the text of a function that would mean something else elsewhere.

#ifndef RCACHE_LIB_MODEL_BODYWORDS_H
#define RCACHE_LIB_MODEL_BODYWORDS_H

#include "clang/AST/Decl.h"
#include "clang/AST/TemplateBase.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace rcache {

/// Is a word of the text \p Of such a one? Also where the text cannot be read.
bool hasWord(clang::SourceRange Of, llvm::function_ref<bool(llvm::StringRef)> Is,
             const clang::Preprocessor &PP);

/// Means the body of \p F the same outside of the class that \p F is a static member
/// of? It has no word that is a member's there, its own variables' either. True of what
/// is no member.
bool fitsOutsideClass(const clang::FunctionDecl *F, const clang::Preprocessor &PP);

/// A template argument that is a number, of its parameter's type: `4`, `4u`, `(-4)`,
/// `((short)4)`. It divides, compares and chooses overloads as the parameter does.
std::string typedNumber(const clang::TemplateArgument &A, const clang::PrintingPolicy &Policy);

/// Has \p Kernel a template parameter \p Name that is a number of type \p T?
bool hasNumber(const clang::FunctionDecl *Kernel, llvm::StringRef Name, clang::QualType T);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_BODYWORDS_H
