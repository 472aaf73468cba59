// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edits of one file: new kernels behind the old ones, launches replaced,
// the device helpers in front of everything.

#ifndef RCACHE_UNITEDITS_H
#define RCACHE_UNITEDITS_H

#include "Model/UsedNames.h"
#include "rcache/Model.h"
#include "rcache/Pipeline.h"
#include <map>
#include <set>

namespace rcache {

/// Where the runtime's text goes in \p Text: behind the leading comments and directives,
/// outside every #if.
unsigned runtimeOffset(llvm::StringRef Text);

class UnitEdits {
public:
  UnitEdits(const std::string &MainText, const std::string &MainFile,
            const Options &O, const UsedNames &Used, bool NamespaceTaken)
      : Text(MainText), File(MainFile), O(O), Used(Used),
        NamespaceTaken(NamespaceTaken) {}

  /// Declares \p LaunchName for launches in front of the definition.
  void declareLaunch(const KernelModel &M, const std::string &LaunchName);

  /// Inserts \p Code for the kernel of \p M at its place.
  void insertKernel(const KernelModel &M, const std::string &Code,
                    const std::set<std::string> &Helpers);

  /// Replaces the launch by a call of the launch function \p LaunchName. Once a
  /// place.
  void replaceLaunch(const LaunchSite &L, const KernelModel &M,
                     const std::string &LaunchName);

  /// All edits, sorted, the helpers included.
  std::vector<Edit> finish();

private:
  const std::string &Text;
  const std::string &File;
  const Options &O;
  const UsedNames &Used;
  const bool NamespaceTaken; ///< `::rcache` is something of the user's
  std::vector<Edit> Edits;
  std::set<std::string> Helpers;
  std::set<unsigned> Launches;

  std::map<std::string, std::string> renamed() const;
  std::string withoutMacros(std::string Runtime) const;
  unsigned lineOf(unsigned Offset) const;
  bool endsLine(unsigned Offset) const; ///< but for white space
  /// `#line N "file"`, without an end.
  std::string lineDirective(unsigned Line) const;
};

/// \p NewText of a file, made with --runtime=include, with the project's header in
/// place of its #include: it compiles where the header is not installed.
std::string withRuntimeEmbedded(const std::string &NewText);

} // namespace rcache

#endif // RCACHE_UNITEDITS_H
