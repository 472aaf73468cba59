// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the stages made of the kernels of one file in texts that were parsed before.
// Texts differ in the bodies of some kernels; the others need no second planning.
//
//     text, its kernels --Unit::run--> cases --remember--> memory
//     next text, its kernels --recall--> cases, with places of that text

#ifndef RCACHE_UNITMEMORY_H
#define RCACHE_UNITMEMORY_H

#include "Unit.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rcache {

/// The user's files of one parse, with the definitions of kernels apart.
struct UnitText {
  /// Of each file, in order, where definitions of kernels stand.
  std::map<std::string, std::vector<TextRange>> Kernels;
  std::string Outside; ///< all texts without them

  /// The definition of \p M as the file has it; "": it is not apart.
  std::string definition(const KernelModel &M) const;
  std::map<std::string, std::string> Texts; ///< files with kernels, by name
};

class UnitMemory {
public:
  /// Keeps what the stages made of the kernels \p G of one place. \p Names: those
  /// that were given away for it.
  void remember(const std::vector<Case> &G, std::vector<std::string> Names,
                const std::shared_ptr<const UnitText> &Text);

  /// The same kernels in a text that differs nowhere but in other kernels, with
  /// their places in \p Text; empty: nothing is known of them. \p Names gets those
  /// that were given away.
  std::vector<Case> recall(const std::vector<Case> &G, const UnitText &Text,
                           std::vector<std::string> &Names) const;

private:
  struct Entry {
    std::vector<Case> Cases;
    std::vector<std::string> Names;
    std::shared_ptr<const UnitText> Text;
  };
  std::multimap<std::string, Entry> Known; ///< by formKey of the first case
};

/// rewriteUnit for one of several texts of a file, under the same options.
llvm::Expected<Result> rewriteUnit(clang::ASTContext &AST,
                                   clang::Preprocessor &PP,
                                   TokenRecorder &Recorder, const Options &Opts,
                                   UnitMemory *Memory);

} // namespace rcache

#endif // RCACHE_UNITMEMORY_H
