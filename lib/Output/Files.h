// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a set of files such that either all of them are written or none is
// touched.

#ifndef RCACHE_OUTPUT_FILES_H
#define RCACHE_OUTPUT_FILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rcache {

class OutputSet {
public:
  /// Plans to write \p Text to \p Path. Missing folders are made when
  /// \p MakeFolders.
  void add(std::string Path, std::string Text, bool MakeFolders = false);

  /// Writes everything to temporary files beside their targets, then renames
  /// them. A failure before the first rename leaves every target as it was;
  /// a symbolic link stays a link, permissions stay. The error names the file.
  llvm::Error commit();

  bool empty() const { return Entries.empty(); }

private:
  struct Entry {
    std::string Path, Text;
    bool MakeFolders;
  };
  std::vector<Entry> Entries;
};

/// Why nothing can be written to \p Path, in a folder that is there already, or
/// success: asked before work is done for it. What else may go wrong is found by
/// commit().
llvm::Error checkWritable(llvm::StringRef Path);

/// A Makefile rule `Target: Dependency ...`, names escaped as make and ninja
/// read them.
std::string makeRule(llvm::StringRef Target,
                     const std::vector<std::string> &Dependencies);

} // namespace rcache

#endif // RCACHE_OUTPUT_FILES_H
