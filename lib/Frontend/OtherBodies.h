// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are left as they are, with bodies written anew for another parse
// (rcache/SpreadOutputs.h).

#ifndef RCACHE_LIB_FRONTEND_OTHERBODIES_H
#define RCACHE_LIB_FRONTEND_OTHERBODIES_H

#include "rcache/Pipeline.h"
#include "rcache/WriteOut.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace rcache {

/// One kernel's new body.
struct BodyEdit {
  std::string Key; ///< textKey of its model
  SourceEdit Edit;
  std::map<std::string, TextForm> Forms; ///< by formKey
  std::map<std::string, std::string> Notes;
  bool OnlyOwned = false; ///< OtherBody::OnlyOwned
  /// Where nothing is gained by this one, those to try instead, in this order.
  std::vector<BodyEdit> Otherwise;
};

/// The text of a file as it was parsed; nullopt: not to be had.
using FileText =
    llvm::function_ref<std::optional<std::string>(const std::string &File)>;

/// What was found for one kernel: more is better, 0: nothing.
double gainOf(const KernelResult &K);

/// New bodies for those of \p Kernels for which no gain was found; all
/// instantiations of a template have to agree on theirs.
std::vector<BodyEdit> otherBodies(llvm::ArrayRef<KernelResult> Kernels,
                                  FileText Text, const Options &Opts);

} // namespace rcache

#endif // RCACHE_LIB_FRONTEND_OTHERBODIES_H
