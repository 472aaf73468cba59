// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments that each launch of the file gives one small value:
//
//     blur<<<grid, 256>>>(in, out, n, 3);
//     ...
//     for (int j = -radius; j <= radius; ++j) sum += s[t + radius + j];
//
// How far a thread reads is a number for the launch, not for the kernel. The
// text that is planned names the value, and a launch is asked whether it passes
// that.

#ifndef RCACHE_FIXEDARGUMENTS_H
#define RCACHE_FIXEDARGUMENTS_H

#include "rcache/SpreadOutputs.h"

namespace rcache {

/// The body of \p M with the values that launches show in place of integer
/// parameters, which say which elements are used and how often and go into no
/// number that is stored; nullopt: there are none such.
std::optional<OtherBody> fixedArguments(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_FIXEDARGUMENTS_H
