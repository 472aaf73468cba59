// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a file as the preprocessor made it: what a macro's invocation
// stands for, and where in the recorded tokens it stands.

#ifndef RCACHE_LIB_MODEL_EXPANDEDTEXT_H
#define RCACHE_LIB_MODEL_EXPANDEDTEXT_H

#include "TokenRecorder.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>

namespace rcache {

class ExpandedText {
public:
  ExpandedText(const clang::SourceManager &SM,
               const TokenRecorder::Impl &Tokens)
      : SM(SM), Tokens(Tokens) {}

  llvm::StringRef spelling(unsigned I) const;

  /// The recorded tokens [From, To) as text.
  std::string expanded(unsigned From, unsigned To) const;

  /// Do the tokens [From, To) stand in files, or are they what `#` and `__LINE__`
  /// make? What `##` makes stands in none.
  bool spelled(unsigned From, unsigned To) const;

  /// The string that `#` made at \p I; empty for any other token.
  llvm::StringRef madeString(unsigned I) const;

  /// The recorded tokens [first, second) of the outermost macro invocation that
  /// the token at \p L comes from; nothing where it is not recorded or comes from
  /// none.
  std::optional<std::pair<unsigned, unsigned>>
  invocationAround(clang::SourceLocation L) const;

private:
  const clang::SourceManager &SM;
  const TokenRecorder::Impl &Tokens;

  bool inScratch(unsigned I) const;
  bool isLine(unsigned I) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_EXPANDEDTEXT_H
