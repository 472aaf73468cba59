// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Debian's clang asks for Polly, a plug-in that is linked in. It is used with
// -mllvm -polly only, and its static library is a package of its own: programs that
// hold LLVM (RCACHE_STATIC) get one that adds no pass.

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "without Polly", "0",
          [](llvm::PassBuilder &) {}, nullptr};
}
