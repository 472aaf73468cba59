// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the page of --explain adds to a report: checks in words, and
// which places of the original and of the result belong together.

#ifndef RCACHE_OUTPUT_EXPLAIN_H
#define RCACHE_OUTPUT_EXPLAIN_H

#include "Output/ReportJson.h"
#include <string>
#include <utility>
#include <vector>

namespace rcache {

/// Something that was looked at: Result is "proved" (by isl), "checked" (executed),
/// "asked" (of each launch), "not-proved", "not-checked" or "note".
struct Statement {
  const char *Result;
  std::string Text;
};
std::vector<Statement> checksOf(const KernelResult &K);

/// A word in a text: line and column from 1, in UTF-16 units as scripts count.
struct LineSpan {
  unsigned Line, Column, Length;
};

/// The places of one array, output, barrier or launch in both texts.
struct Link {
  const char *Kind; ///< "array", "store", "barrier", "launch"
  std::string Name;
  std::vector<LineSpan> Source, Result;
};

struct KernelLinks {
  /// First and last line of the definition and of what was written for it; 0: it
  /// is not in this file.
  std::pair<unsigned, unsigned> Source = {0, 0}, Result = {0, 0};
  std::vector<Link> Links;
  /// Lines that say the same, each once at most, in order.
  std::vector<std::pair<unsigned, unsigned>> Same;
};

/// \p Rewrite holds the edits that turn \p Source into \p NewText.
KernelLinks linksOf(const KernelResult &K, const std::string &Source,
                    const std::string &NewText, const Result &Rewrite);

/// The page: the report of \p Files, their texts and a script that draws it. One
/// file that loads nothing.
std::string explainHtml(const std::vector<FileReport> &Files);

} // namespace rcache

#endif // RCACHE_OUTPUT_EXPLAIN_H
