// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a file is compiled: from compile_commands.json, whoever wrote it.

#ifndef RCACHE_DRIVER_COMPILEFLAGS_H
#define RCACHE_DRIVER_COMPILEFLAGS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clang::tooling {
class CompilationDatabase;
}

namespace rcache {

/// \p File, relative to \p Directory or where the program runs, as an absolute path
/// without dots.
std::string absolutePath(llvm::StringRef File, llvm::StringRef Directory = "");

/// One compile command, split up.
struct CompileFlags {
  std::string Directory; ///< relative names in Flags start here
  bool FromNvcc = false;
  std::vector<std::string> Flags; ///< without the compiler
  /// The file whose command was taken, as none was there for the one asked for;
  /// "" otherwise.
  std::string InferredFrom;
  /// What is wrong with compile commands nearby, which were passed over, or "".
  std::string Damaged;
};

/// A loaded compile_commands.json.
///
/// Where a build rewrites sources with rcache_rewrite(), its compile commands
/// name the results. rcache-sources.json, which CMake writes beside them, maps
/// them back: the database then knows the user's sources, with the commands of
/// their results, and the results are no sources of the project.
class CompileDatabase {
public:
  CompileDatabase();
  ~CompileDatabase();
  CompileDatabase(CompileDatabase &&);
  CompileDatabase &operator=(CompileDatabase &&);

  /// Reads \p Path: the file itself or the folder that holds it.
  static llvm::Expected<CompileDatabase> load(llvm::StringRef Path);

  /// Of the files compile_commands.json in the folders above \p SourceFile (and
  /// in a folder `build` of each) the nearest that has a command for it, else
  /// the nearest from which one can be inferred, or nothing. Files that cannot
  /// be read are passed over; \p Damaged gets what is wrong with the nearest.
  static std::optional<CompileDatabase> nearest(llvm::StringRef SourceFile,
                                                std::string *Damaged = nullptr);

  /// The nearest compile_commands.json of \p Folder and those above, or "".
  static std::string nearestTo(llvm::StringRef Folder);

  /// The command for \p SourceFile (absolute), or nothing.
  std::optional<CompileFlags> find(llvm::StringRef SourceFile) const;

  /// The same, else that of the most similar CUDA source: of the same stem, or
  /// in the nearest folder (headers, files that are not built yet). Nothing if
  /// the database has no CUDA source.
  std::optional<CompileFlags> findOrInfer(llvm::StringRef SourceFile) const;

  /// All files whose command compiles CUDA: a name in .cu, or `-x cuda`,
  /// `-x cu` among the flags. The user's sources, absolute, sorted, each once.
  std::vector<std::string> cudaFiles() const;

  /// The CUDA sources that include \p Header, nearest first (Includers.h).
  std::vector<std::string> includersOf(llvm::StringRef Header) const;

private:
  std::unique_ptr<clang::tooling::CompilationDatabase> Db;
  std::map<std::string, std::string> SourceOf; ///< by result, absolute
  std::multimap<std::string, std::string> ResultsOf;

  void readSourceMap(llvm::StringRef Folder);
};

} // namespace rcache

#endif // RCACHE_DRIVER_COMPILEFLAGS_H
