// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text of ours, word by word.

#ifndef RCACHE_TEXTWORDS_H
#define RCACHE_TEXTWORDS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace rcache {

/// The words of \p T in which a declaration may be named: not those in
/// comments, strings and characters. \p Visit gets begin and end of each.
void eachName(const std::string &T, llvm::function_ref<void(size_t, size_t)> Visit);

/// Those words.
void addNames(const std::string &T, std::set<std::string> &Into);

/// A word where it stands.
struct TextWord {
  std::string Name;
  bool InChain = false;     ///< belongs to a chain `::rcache::device::a`
  bool IsComponent = false; ///< of a `dim3` or a vector: CUDA's name, not ours
  bool IsCalled = false;    ///< a parenthesis follows: a macro with arguments is read there
  size_t At = 0;            ///< where it begins
};

/// Visits the words of \p T, each with what to write for it.
std::string withWords(const std::string &T,
                      llvm::function_ref<std::string(const TextWord &)> Write);

/// A macro that a text defines, from the directive that does to the end of the one that
/// undoes it. None where `#if` and its like decide about lines.
struct TextMacro {
  std::string Name;
  size_t Begin = 0, End = std::string::npos; ///< npos: it is left defined
};
std::vector<TextMacro> macrosOf(const std::string &T);

/// \p T with names replaced; \p OnlyScoped: those of a chain `::rcache::a::b`.
std::string withNames(const std::string &T, const std::map<std::string, std::string> &Names,
                      bool OnlyScoped);

} // namespace rcache

#endif // RCACHE_TEXTWORDS_H
