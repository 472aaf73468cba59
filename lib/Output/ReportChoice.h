// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the JSON report that tells figures: of the compiler, of candidates, of the one
// chosen. Each writes attributes of the object that is open.

#ifndef RCACHE_LIB_OUTPUT_REPORTCHOICE_H
#define RCACHE_LIB_OUTPUT_REPORTCHOICE_H

#include "rcache/Pipeline.h"
#include "llvm/Support/JSON.h"

namespace rcache {

void writePoint(llvm::json::OStream &J, llvm::StringRef Name, llvm::ArrayRef<int64_t> Point);

/// What nvcc makes of the original; only where that was asked.
void writeResources(llvm::json::OStream &J, const KernelResources &R);

/// What \p P gains in grids of few blocks and many.
void writeByBlocks(llvm::json::OStream &J, const Plan &P);

void writeChoice(llvm::json::OStream &J, const Choice &C);

} // namespace rcache

#endif // RCACHE_LIB_OUTPUT_REPORTCHOICE_H
