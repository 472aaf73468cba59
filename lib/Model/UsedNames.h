// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which identifiers a translation unit uses, so that generated ones are others.

#ifndef RCACHE_LIB_MODEL_USEDNAMES_H
#define RCACHE_LIB_MODEL_USEDNAMES_H

#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <string>
#include <vector>

namespace rcache {

/// The main file and all others of the user, each once.
std::vector<clang::FileID> userFiles(const clang::SourceManager &SM);

/// What a name of our own must not be: an identifier in the user's files,
/// whatever `#if` it stands under, or the name of a macro of any file or of the
/// command line, wherever it was defined.
class UsedNames {
public:
  explicit UsedNames(clang::Preprocessor &PP);

  bool contains(llvm::StringRef Name) const;
  bool isMacro(llvm::StringRef Name) const { return Macros.contains(Name); }
  /// A macro that the user's files or the command line define, anywhere.
  bool isUsersMacro(llvm::StringRef Name) const { return UsersMacros.contains(Name); }
  /// Is it a macro, or a word that a macro of the user's stands for?
  bool mayComeOfMacro(llvm::StringRef Name) const {
    return Macros.contains(Name) || BehindMacros.contains(Name);
  }
  /// The macros of the user's that \p Word stands for: itself, or what a macro of that
  /// name mentions (`__device__` is `__attribute__((device))`).
  std::vector<std::string> usersMacrosOf(llvm::StringRef Word) const;
  /// \p Base, or with a number behind it.
  std::string fresh(const std::string &Base) const;
  /// "rc_", or another that no used name begins with.
  std::string freshPrefix() const;

private:
  llvm::StringSet<> Macros, UsersMacros, BehindMacros, Identifiers;
  llvm::StringMap<std::vector<std::string>> Mentioned; ///< by macro, UsersMacros
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_USEDNAMES_H
