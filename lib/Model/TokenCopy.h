// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of the source, token by token.

#ifndef RCACHE_LIB_MODEL_TOKENCOPY_H
#define RCACHE_LIB_MODEL_TOKENCOPY_H

#include "clang/Basic/SourceLocation.h"
#include <map>
#include <optional>
#include <string>

namespace clang {
class Preprocessor;
}

namespace rcache {

/// File and byte range of an AST range whose ends are written in a file.
struct FileRange {
  clang::FileID File;
  unsigned Begin, End;
};

std::optional<FileRange> fileRange(clang::SourceRange R,
                                   clang::Preprocessor &PP);

using Replacements = std::map<unsigned, std::pair<unsigned, std::string>>;

/// Copies the tokens of \p R; \p Edits: offset -> (length, text) replaces whole
/// tokens (length 0: inserts in front). \p Words renames identifiers.
std::optional<std::string>
copyTokens(const FileRange &R, const Replacements &Edits,
           const std::map<std::string, std::string> &Words,
           clang::Preprocessor &PP);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_TOKENCOPY_H
