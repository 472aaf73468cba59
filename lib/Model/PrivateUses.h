// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the arrays of a thread are used, and whether each use is one element:
// such an array can be kept elsewhere, an element at a place of its own.

#ifndef RCACHE_LIB_MODEL_PRIVATEUSES_H
#define RCACHE_LIB_MODEL_PRIVATEUSES_H

#include "Locals.h"

namespace rcache {

/// Fills Privates of \p M, whose statements are known, for the body of \p FD. Tables of
/// constants are among them: nvcc keeps them in local memory, each thread its own.
void findPrivateArrays(const clang::FunctionDecl *FD, KernelModel &M,
                       FlatText &Flat, const Locals &L);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_PRIVATEUSES_H
