// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of a kernel: what its statements compute (Stmt::Computes), as often as
// they are executed.

#ifndef RCACHE_LIB_PREDICT_ARITHMETIC_H
#define RCACHE_LIB_PREDICT_ARITHMETIC_H

#include "rcache/Plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace rcache {

/// Operations of a thread.
struct Arithmetic {
  double Fp = 0, Int = 0, Special = 0, Double = 0;
  double Data = 0;  ///< the part of Int that is computed of what memory holds
  double Index = 0; ///< integer operations in subscripts
};

/// What the statements compute, each as often as \p Rounds says (0: not at all).
Arithmetic arithmetic(const KernelModel &M,
                      llvm::function_ref<double(const Stmt &)> Rounds);

/// The same where what is done to elements alone is shared: \p Elements tells how
/// many different elements there are to one that the statement reads (at most 1).
/// \p WrittenOut: loops over steps are, their counters numbers.
Arithmetic arithmetic(const KernelModel &M,
                      llvm::function_ref<double(const Stmt &)> Rounds,
                      llvm::function_ref<double(const Stmt &)> Elements,
                      bool WrittenOut);

/// How many different elements a thread of plan \p P has to one that a slot's \p S
/// reads: windows and tiles in shared memory give one element to several slots.
double elementsRead(const KernelModel &M, const Plan &P, const Stmt &S);

/// Elements of this type are added in the units for floats (or halves).
bool isFloating(const std::string &Type);

/// Bytes of what is added or compared at once in an element: 1 in a `uchar4`.
unsigned partBytes(const SharedArray &A);

/// How many of these an element has.
double components(const SharedArray &A);

/// Selections and comparisons of a warp between registers, for what lanes ask of \p O.
double selectsOf(const Owned &O);

/// Are all elements of \p P registers by their number, as in trees and scans that a warp
/// owns? Then little is left of the integer arithmetic that is about where, not what (trees
/// 5.1x and scans 2.3x to 2.8x, where 1.6x and 1.4x to 2.1x were predicted; not so where
/// elements go to and fro many times: life of several steps, 0.64x). \p Shuffles: an
/// output's.
bool placesAreRegisters(const Plan &P, double Shuffles);
/// Do lanes ask several registers for owned elements?
bool gathers(const Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_ARITHMETIC_H
