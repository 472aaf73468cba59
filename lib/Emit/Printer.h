// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lowered kernel as text. Nothing is decided here: what stands in the tree is
// written out, variables with one element a slot with the subscripts of the slot
// that they stand in.

#ifndef RCACHE_EMIT_PRINTER_H
#define RCACHE_EMIT_PRINTER_H

#include "Lower/Kernel.h"
#include <string>

namespace rcache {

/// The statements between the braces of \p K, with the marks of Code.h and, for
/// what the tree says about how often something is executed:
///
///     \1S0\2 ... \1Z0\2                once a slot
///     \1A0\2 ... \1B0\2 ... \1C0\2     one of several alternatives
///
/// EffectsLedger reads them; Code::plain leaves them out.
std::string printBody(const LoweredKernel &K, const KernelModel &M,
                      const Plan &P);

/// What comes first in the body: the logical block and thread, as far as named.
std::string printPrologue(const LoweredKernel &K, const KernelModel &M,
                          const Plan &P);

/// The plan, in a comment.
std::string printPlanComment(const KernelModel &M, const Plan &P);

/// From the template's head to the parameters.
std::string printHead(const LoweredKernel &K, const KernelModel &M,
                      const Plan &P, const std::string &Name);

} // namespace rcache

#endif // RCACHE_EMIT_PRINTER_H
