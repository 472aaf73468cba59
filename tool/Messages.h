// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What people read: remarks on stderr, the list of kernels, the summary.

#ifndef RCACHE_TOOL_MESSAGES_H
#define RCACHE_TOOL_MESSAGES_H

#include "Frontend/Frontend.h"
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace rcache {

/// Errors of the source and, unless \p Quiet, a remark for each kernel that
/// was rewritten or declined.
void printMessages(llvm::raw_ostream &OS, const FileResult &R, bool Quiet,
                   bool Color);

/// `--explain-choice`: for each kernel with candidates, their table.
void printChoices(llvm::raw_ostream &OS, const FileResult &R);

/// `--list`: "file:line: verdict name: arrays; reason", one line a kernel.
void printList(llvm::raw_ostream &OS, const FileResult &R);

/// The table at the end of a run over a project. \p Failed files had errors.
void printSummary(llvm::raw_ostream &OS,
                  const std::vector<const FileResult *> &Files, size_t Failed);

} // namespace rcache

#endif // RCACHE_TOOL_MESSAGES_H
