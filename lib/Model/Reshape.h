// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared arrays of one dimension that are used as rows.

#ifndef RCACHE_LIB_MODEL_RESHAPE_H
#define RCACHE_LIB_MODEL_RESHAPE_H

#include "rcache/Model.h"

namespace rcache {

/// Gives every array whose affine indices are rows and columns, `i * W + j`,
/// another dimension; indices, their values and the extents change, the text
/// does not. May throw isl::exception.
void reshapeArrays(KernelModel &M);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_RESHAPE_H
