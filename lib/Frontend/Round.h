// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One parse of a file with what was made of it.

#ifndef RCACHE_FRONTEND_ROUND_H
#define RCACHE_FRONTEND_ROUND_H

#include "Frontend/Frontend.h"
#include "Frontend/OtherBodies.h"
#include "UnitMemory.h"
#include "rcache/ExplicitSums.h"
#include "rcache/WriteOut.h"
#include <map>
#include <string>
#include <vector>

namespace rcache {

using FileResults = std::vector<FileResult>;

/// One parse with what was made of it, and what to write anew next.
struct Round {
  FileResults Results;
  /// By textKey: calls of kernels that are declined for them, and of those that might
  /// be planned better.
  std::map<std::string, std::vector<SourceEdit>> WriteOut, WriteOutAlso;
  std::vector<BodyEdit> Bodies;
  /// Of kernels with sums of which nobody knows what is fused.
  std::vector<ExplicitSums> Sums;
  /// The same where functions of the user's compute a part of them: calls to write out.
  std::map<std::string, std::vector<SourceEdit>> WriteOutSums;
  std::map<std::string, std::string> Texts;
};

/// Parses \p Job and makes results for each of \p Opts. \p Forms: of kernels whose
/// body in \p Job is another than the user's. \p Memory: of other texts of the file,
/// for each of \p Opts.
llvm::Expected<Round> rewriteOnce(const ParseJob &Job,
                                  llvm::ArrayRef<Options> Opts,
                                  const std::map<std::string, TextForm> &Forms,
                                  bool AllowErrors,
                                  std::vector<UnitMemory> &Memory);

/// As many parses as it takes, calls written out and other bodies tried; nothing
/// of the new text has been checked.
llvm::Expected<FileResults> rewriteUnchecked(const ParseJob &Job,
                                             llvm::ArrayRef<Options> Opts,
                                             bool AllowErrors);

/// \p File as one of several names of it.
std::string normalized(llvm::StringRef File);

} // namespace rcache

#endif // RCACHE_FRONTEND_ROUND_H
