// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which files are to be rewritten, and how each is compiled.

#ifndef RCACHE_TOOL_SOURCES_H
#define RCACHE_TOOL_SOURCES_H

#include "Frontend/Frontend.h"
#include "Options.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace rcache {

/// One job a source, in order. Fails when the compile commands cannot be read
/// or (with -p) do not know a file.
llvm::Expected<std::vector<ParseJob>> makeJobs(const ToolOptions &O,
                                               const std::string &ToolPath);

/// What to do with the kernels of \p Job's file where it is a header (headerHelp).
std::string helpWithHeader(const ParseJob &Job, const ToolOptions &O);

/// Runs \p Jobs, several at a time when there are several, and returns their
/// results in order. On a terminal a progress line is kept on stderr.
std::vector<llvm::Expected<FileResult>>
runJobs(const std::vector<ParseJob> &Jobs, const ToolOptions &O);

} // namespace rcache

#endif // RCACHE_TOOL_SOURCES_H
