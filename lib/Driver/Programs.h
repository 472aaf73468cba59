// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all programs say of themselves and of a wrong command line. rcache-check,
// which shares nothing else with the rewriter, has it from here too.

#ifndef RCACHE_DRIVER_PROGRAMS_H
#define RCACHE_DRIVER_PROGRAMS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

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

/// Before cl::ParseCommandLineOptions: an error where a compiler's flag stands
/// in front of `--`, which says where it belongs. cl's own hint would be the
/// option that is spelled most alike. Options that --help never shows are
/// LLVM's, not ours.
llvm::Error checkPlaceOfFlags(llvm::ArrayRef<const char *> Args);

} // namespace rcache

#endif // RCACHE_DRIVER_PROGRAMS_H
