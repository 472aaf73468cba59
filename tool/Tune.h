// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --tune: what a compiler or a device says of the candidates.

#ifndef RCACHE_TOOL_TUNE_H
#define RCACHE_TOOL_TUNE_H

#include "Driver/ParseJob.h"
#include "Options.h"

namespace rcache {

/// The hook for the kernels of \p Job; empty when nothing is to be tuned.
TuneHook makeTuneHook(const ToolOptions &O, const ParseJob &Job);

/// Asks nvcc of the texts of \p Job, for as long as programs may be run at all
/// (--self-check); empty where there is none.
CompilerHook makeCompilerHook(const ToolOptions &O, const ParseJob &Job);

} // namespace rcache

#endif // RCACHE_TOOL_TUNE_H
