// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a text says where it stands and what the same text would say elsewhere:
//
//     #define LIMIT 10
//     #include "clip.inc"      a kernel that names LIMIT
//     #undef LIMIT
//     #define LIMIT 20         from here on its text says something else
//
// A rewritten kernel is made of text of the original, and stands behind it: in the
// main file, where the original is a header's.

#ifndef RCACHE_LIB_MODEL_MACROPLACES_H
#define RCACHE_LIB_MODEL_MACROPLACES_H

#include "clang/Basic/SourceLocation.h"
#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace clang {
class IdentifierInfo;
class MacroInfo;
class Preprocessor;
} // namespace clang

namespace rcache {

/// The names that mean something else at \p To, a place in a file, than in \p Text or
/// behind it: macros of one place, with another text at the other or none, and those
/// whose text mentions such a name.
std::set<std::string> namesReadOtherwise(clang::Preprocessor &PP, clang::SourceRange Text,
                                         clang::SourceLocation To);

/// What \p Name stands for at \p At; null: it is no macro there.
const clang::MacroInfo *macroAt(clang::Preprocessor &PP, llvm::StringRef Name,
                                clang::SourceLocation At);

/// Has \p Name ever been a macro without arguments, which is read whatever follows it?
bool wasWithoutArguments(clang::Preprocessor &PP, llvm::StringRef Name);

/// Does \p Name mean the same at \p From and everywhere behind it, with all that the
/// text of a macro of this name mentions?
bool isSteadyFrom(clang::Preprocessor &PP, const clang::IdentifierInfo *Name,
                  clang::SourceLocation From);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_MACROPLACES_H
