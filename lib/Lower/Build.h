// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of a kernel whose statements have been divided: control flow of the
// thread, slot loops around each region, what stands at barriers, stores that
// are collected.

#ifndef RCACHE_LOWER_BUILD_H
#define RCACHE_LOWER_BUILD_H

#include "Kernel.h"
#include "StatementText.h"
#include "llvm/Support/Error.h"

namespace rcache {

struct BuildInputs {
  const KernelModel &M;
  const Plan &P;
  const Names &N;
  Fill &F;
  const Division &D;
  const StatementText &Text;
  const std::map<unsigned, Code> &Exchanges; ///< by barrier
};

/// K's Body and the Helpers that its nodes use. Errors: faults of ours.
llvm::Error buildTree(const BuildInputs &In, LoweredKernel &K);

/// A block that is a statement of another block and gives no name a second
/// meaning: its braces go, so that windows filled in it live on behind it.
bool opens(const Stmt &St, const KernelModel &M);

} // namespace rcache

#endif // RCACHE_LOWER_BUILD_H
