// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report for machines. Its schema is documented in docs/report.md.

#ifndef RCACHE_OUTPUT_REPORTJSON_H
#define RCACHE_OUTPUT_REPORTJSON_H

#include "rcache/Pipeline.h"
#include <string>
#include <vector>

namespace rcache {

/// What the report says of one file.
struct FileReport {
  std::string File;                ///< as named by the user
  std::string Arch;                ///< "sm_90"
  std::string Output;              ///< path written, "" when none
  const Result *Rewrite = nullptr; ///< null: the file could not be rewritten
  /// Errors in the source, or the one that kept it from being read.
  std::vector<std::pair<SourcePos, std::string>> Errors;
  /// The file before and after, for a report that holds both (--explain).
  const std::string *Source = nullptr, *NewText = nullptr;
};

/// The whole report, two blanks of indentation, ends in a newline.
std::string reportJson(const std::vector<FileReport> &Files);

/// "rewritten", "declined", "not-shared".
const char *verdictName(KernelResult::VerdictKind Verdict);

} // namespace rcache

#endif // RCACHE_OUTPUT_REPORTJSON_H
