// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options that rcache-rewrite and rcache-lsp have in common: how sources
// are parsed, and what the library may assume.

#ifndef RCACHE_TOOL_SHAREDOPTIONS_H
#define RCACHE_TOOL_SHAREDOPTIONS_H

#include "Driver/Programs.h"
#include "rcache/Pipeline.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

struct SharedOptions {
  std::string DatabasePath; ///< -p
  std::string CudaPath, Arch;
  std::vector<std::string> ExtraArgs;
  /// After `--`.
  std::optional<std::vector<std::string>> Flags;
  bool AllowErrors = false;
};

/// Makes the options that both programs have, and removes LLVM's own from the
/// command line: hundreds, none of them ours to offer, and `print-after` is one of
/// them. In main, before further cl::opt objects are made: when a program starts,
/// LLVM's may come before or after, which depends on how it is linked.
void declareSharedOptions();

/// Their headings in --help.
llvm::cl::OptionCategory &parseCategory();
llvm::cl::OptionCategory &rewriteCategory();

/// Cuts `-- flags...` off \p Args.
std::optional<std::vector<std::string>>
takeFlags(llvm::SmallVectorImpl<const char *> &Args);

/// After cl::ParseCommandLineOptions: fills \p O (but for Flags) and what
/// \p Library shares. The error is one of usage.
llvm::Error readSharedOptions(SharedOptions &O, Options &Library);

/// A positive number, at most \p Max, of option \p Name.
llvm::Expected<unsigned> readNumber(llvm::StringRef Text, llvm::StringRef Name,
                                    unsigned Max);

} // namespace rcache

#endif // RCACHE_TOOL_SHAREDOPTIONS_H
