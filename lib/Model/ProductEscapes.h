// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that nobody follows: ProductFlow knows the ways on which a product comes to
// sums, one by one. What takes another way is found here, so that whatever language a
// program is written in, a sum that may take it is not settled.

#ifndef RCACHE_LIB_MODEL_PRODUCTESCAPES_H
#define RCACHE_LIB_MODEL_PRODUCTESCAPES_H

#include "FusionLoops.h"

namespace rcache {

/// A sum in \p Kernel, or in what it calls, of which one side may be a product that is not
/// followed and the other one any product; no Sum: there is none.
SumInDoubt sumOfEscaped(const clang::FunctionDecl *Kernel);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_PRODUCTESCAPES_H
