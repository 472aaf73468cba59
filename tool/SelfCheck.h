// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes what was rewritten against its original before it is handed out, by
// running rcache-check, which shares no code with what it checks.

#ifndef RCACHE_TOOL_SELFCHECK_H
#define RCACHE_TOOL_SELFCHECK_H

#include "Driver/ParseJob.h"
#include "Options.h"

namespace rcache {

/// The hook for the kernels of \p Job; empty with --self-check=off.
SelfCheckHook makeSelfCheckHook(const ToolOptions &O, const ParseJob &Job);

/// The hook that compares how kernels of \p Job are rounded; empty where nvcc is not
/// there or \p O forbids to run it.
RoundingHook makeRoundingHook(const ToolOptions &O, const ParseJob &Job);

} // namespace rcache

#endif // RCACHE_TOOL_SELFCHECK_H
