// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models of CUDA snippets, for tests. No toolkit is needed: the snippet is
// parsed with a few lines that stand in for its headers.

#ifndef RCACHE_UNITTESTS_MODEL_MODELTESTING_H
#define RCACHE_UNITTESTS_MODEL_MODELTESTING_H

#include "rcache/Model.h"
#include <memory>
#include <string>
#include <vector>

namespace rcache {

struct Parsed {
  std::vector<std::unique_ptr<KernelModel>> Models;
  bool Ok = false; ///< without errors

  /// The only model; fails the test when there is another number of them.
  const KernelModel &only() const;
  /// Codes of the only model's declines, joined by spaces.
  std::string declines() const;
};

/// \p Headers: file name -> text, found by `#include "name"`.
Parsed
parse(const std::string &Code,
      const std::vector<std::pair<std::string, std::string>> &Headers = {});

/// The same for a file, with the given compiler arguments and no stand-ins.
Parsed parseFile(const std::string &Path, const std::vector<std::string> &Args);

/// The access with text \p Text (the \p Nth such).
const SharedAccess &access(const KernelModel &M, const std::string &Text,
                           unsigned Nth = 0);
/// Index of an access in isl notation, dimensions separated by "; ".
std::string index(const KernelModel &M, const std::string &Text,
                  unsigned Nth = 0);
/// Is \p Domain, within the model's context, what \p Notation says?
bool same(const KernelModel &M, const isl::set &Domain,
          const std::string &Notation);
bool same(const KernelModel &M, const isl::pw_aff &A,
          const std::string &Notation);
std::string print(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_UNITTESTS_MODEL_MODELTESTING_H
