// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running other programs on texts: temporary folders, files, what was printed.

#ifndef RCACHE_TOOL_PROGRAMS_H
#define RCACHE_TOOL_PROGRAMS_H

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace rcache {

/// Folder/Name.
std::string below(llvm::StringRef Folder, const llvm::Twine &Name);

/// Makes \p Folder and those above it.
llvm::Error makeFolder(llvm::StringRef Folder);

llvm::Error writeText(llvm::StringRef Path, llvm::StringRef Text);

/// A folder that goes with the object.
class TemporaryFolder {
public:
  static llvm::Expected<std::unique_ptr<TemporaryFolder>>
  make(llvm::StringRef Prefix);
  ~TemporaryFolder();
  llvm::SmallString<128> Path;
};

/// What a program did.
struct Ran {
  int Status = -1;   ///< exit status; below 0: it could not be run, crashed or
                     ///< took too long
  std::string Out, Err;
  std::string Why;   ///< Status below 0: in words
};

/// Runs \p Program with \p Args for at most \p Seconds.
llvm::Expected<Ran> runAndCatch(llvm::StringRef Program,
                                const std::vector<std::string> &Args,
                                unsigned Seconds);

/// What a program wrote to standard output; an error with the first lines of
/// what it wrote to standard error if its exit status is not 0.
llvm::Expected<std::string> runProgram(llvm::StringRef Program,
                                       const std::vector<std::string> &Args,
                                       unsigned Seconds);

} // namespace rcache

#endif // RCACHE_TOOL_PROGRAMS_H
