// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all programs say of themselves. rcache-check, which shares next to nothing
// with the rewriter, has it from here too.

#ifndef RCACHE_DRIVER_PROGRAMS_H
#define RCACHE_DRIVER_PROGRAMS_H

#include "llvm/ADT/StringRef.h"

namespace llvm {
class raw_ostream;
}

namespace rcache {

/// "commit 0123456789ab", with a "+" where files had changed since; "no commit"
/// outside of a repository. Of the file that cmake/RcacheCommit.cmake makes,
/// which each program links.
const char *commitName();

/// `--version`: the program, its commit, LLVM, the toolkit that it would use.
void printVersion(llvm::raw_ostream &OS, llvm::StringRef Program,
                  llvm::StringRef Commit);

/// What the crash handler prints above the stack: whose bug it is, what to
/// send.
extern const char *const BugReportText;

} // namespace rcache

#endif // RCACHE_DRIVER_PROGRAMS_H
