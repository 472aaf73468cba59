// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of a kernel, estimated from the text of its statements.

#ifndef RCACHE_LIB_PREDICT_ARITHMETIC_H
#define RCACHE_LIB_PREDICT_ARITHMETIC_H

#include "rcache/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rcache {

/// Operations of a thread.
struct Arithmetic {
  double Fp = 0, Int = 0, Special = 0, Double = 0;
  double Index = 0; ///< integer operations in subscripts
};

/// What the statements that are no control flow compute, each as often as
/// \p Rounds says (0: not at all).
Arithmetic arithmetic(const KernelModel &M,
                      llvm::function_ref<double(const Stmt &)> Rounds);

/// Elements of this type are added in the units for floats (or halves).
bool isFloating(const std::string &Type);

/// Bytes of what is added or compared at once in an element: 1 in a `uchar4`.
unsigned partBytes(const SharedArray &A);

/// How many of these an element has.
double components(const SharedArray &A);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_ARITHMETIC_H
