// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler may be told about registers (Plan::Hints). A thread has as many
// as the compiler finds good without knowing the block; more of them let it keep
// more loads on their way, fewer let an SM hold more warps:
//
//     __global__ void k(..)    ->    __global__ void __launch_bounds__(256, 3) k(..)
//
// The text of the kernel is the original's, threads and barriers are, and so is its
// arithmetic, as far as the compiler's is: lib/Predict/MachineCode.h looks at that.

#ifndef RCACHE_LIB_PLAN_REGISTERHINTS_H
#define RCACHE_LIB_PLAN_REGISTERHINTS_H

#include "rcache/Plan.h"
#include <optional>
#include <string>

namespace rcache {

/// Why nothing can be told about the registers of \p M; nullopt: something can.
/// Launches have to have one block that the file tells, and the user must not
/// have said anything himself.
std::optional<Decline> hintsForbidden(const KernelModel &M);

/// Could blocks of \p M wait for one another (flags, locks, counters)? Then there must
/// not be fewer on an SM than the original has.
bool mayWaitForBlocks(const KernelModel &M);

/// \p M as it is under \p H. hintsForbidden(M) must be empty.
Plan hintedPlan(const KernelModel &M, const RegisterHints &H);

/// `launch bounds of 256 threads, 3 blocks an SM; spilling to shared memory`.
std::string hintsText(const RegisterHints &H);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_REGISTERHINTS_H
