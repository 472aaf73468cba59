// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What nvcc made of a program before: an original is compared with several rewritten
// texts, and again when it is built the next time.

#ifndef RCACHE_CHECK_LIB_KEPTPTX_H
#define RCACHE_CHECK_LIB_KEPTPTX_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache::check {

/// The folder that RCACHE_CACHE names, made if need be; nullopt: none, or it cannot be.
std::optional<std::string> keptFolder();

/// The file in \p Folder for what hangs on \p Key: Kind, a hash and End.
std::string keptFile(llvm::StringRef Folder, llvm::StringRef Kind, llvm::StringRef Key,
                     llvm::StringRef End);

/// PTX of one command and one text of its source, in a file of the folder RCACHE_CACHE.
/// It names all files that were read, each with a hash of what was in it: where one of
/// them is another now, it is none. (What would be found in front of them, had it been
/// there, is not noticed.) Without the folder, and where a command says itself which
/// files it depends on, nothing is kept.
class KeptPtx {
public:
  /// \p Command begins with nvcc; its outputs are not yet named.
  KeptPtx(const std::vector<std::string> &Command, llvm::StringRef Source);

  explicit operator bool() const { return !Path.empty(); }
  std::optional<std::string> find() const;
  /// \p Rules: what nvcc's -MD wrote of \p Ptx.
  void keep(llvm::StringRef Ptx, llvm::StringRef Rules) const;

private:
  std::string Path;
};

} // namespace rcache::check

#endif // RCACHE_CHECK_LIB_KEPTPTX_H
