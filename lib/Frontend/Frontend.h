// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One file from its text to its new text: what the command line, the language
// server and the build integration all call. Nothing here prints or exits.
//
//     ParseJob + Options --rewriteFile--> FileResult

#ifndef RCACHE_FRONTEND_FRONTEND_H
#define RCACHE_FRONTEND_FRONTEND_H

#include "Driver/ParseJob.h"
#include "rcache/Pipeline.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rcache {

struct FileResult {
  std::string File;    ///< as named by the user
  ParseOutcome Parse;  ///< with the text that was parsed
  Result Rewrite;      ///< empty when !Usable
  std::string NewText; ///< == Parse.MainText when nothing was rewritten
  /// False: the source has errors (Parse.Errors) that forbid a rewrite.
  bool Usable = true;
};

/// Parses, and unless the source has errors, models, plans and emits.
/// \p AllowErrors: go on as long as no header is missing; a kernel is then
/// declined (`parse-error`) when an error stands in its definition, in a
/// function of the device or in a launch of it.
/// An llvm::Error means: no parse (see parseSource), or a bug in the tool. A
/// crash inside is caught and comes back as an llvm::Error too.
llvm::Expected<FileResult> rewriteFile(const ParseJob &Job, const Options &Opts,
                                       bool AllowErrors);

/// The same for several options at the price of one parse; the results are in
/// the order of \p Opts.
llvm::Expected<std::vector<FileResult>>
rewriteFile(const ParseJob &Job, llvm::ArrayRef<Options> Opts,
            bool AllowErrors);

} // namespace rcache

#endif // RCACHE_FRONTEND_FRONTEND_H
