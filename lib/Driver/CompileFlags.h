// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a file is compiled: from compile_commands.json, whoever wrote it.

#ifndef RCACHE_DRIVER_COMPILEFLAGS_H
#define RCACHE_DRIVER_COMPILEFLAGS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clang::tooling {
class CompilationDatabase;
}

namespace rcache {

/// One compile command, split up.
struct CompileFlags {
  std::string Directory; ///< relative names in Flags start here
  bool FromNvcc = false;
  std::vector<std::string> Flags; ///< without the compiler
};

/// A loaded compile_commands.json.
class CompileDatabase {
public:
  CompileDatabase();
  ~CompileDatabase();
  CompileDatabase(CompileDatabase &&);
  CompileDatabase &operator=(CompileDatabase &&);

  /// Reads \p Path: the file itself or the folder that holds it.
  static llvm::Expected<CompileDatabase> load(llvm::StringRef Path);

  /// The nearest compile_commands.json in the folders above \p SourceFile (and
  /// in a folder `build` of each), or nothing.
  static std::optional<CompileDatabase> nearest(llvm::StringRef SourceFile);

  /// The command for \p SourceFile (absolute), or nothing.
  std::optional<CompileFlags> find(llvm::StringRef SourceFile) const;

  /// All files whose command compiles CUDA: a name in .cu, or `-x cuda`,
  /// `-x cu` among the flags. Absolute, sorted, each once.
  std::vector<std::string> cudaFiles() const;

private:
  std::unique_ptr<clang::tooling::CompilationDatabase> Db;
};

} // namespace rcache

#endif // RCACHE_DRIVER_COMPILEFLAGS_H
