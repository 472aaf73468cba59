// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of a staging function in the making: values on parts of an array.
// May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_PIECES_H
#define RCACHE_LIB_PLAN_PIECES_H

#include "Assumptions.h"

namespace rcache {

/// On D, [e0.., symbols] -> { : }, an element holds V, if Guards hold.
struct RawPiece {
  isl::set D;
  ValueRef V;
  std::vector<ValueRef> Guards;
};

/// Adds to \p Out the parts of \p P on each of which its value is free of
/// conditions and of affine leaves in pieces. False: there are too many.
bool splitPieces(const KernelModel &M, const Assumptions &A, RawPiece P,
                 std::vector<RawPiece> &Out);

/// Nothing but undefined values can come of \p V, whose conditions have been
/// split.
bool isUndefined(const ValueRef &V);

/// Joins pieces that are one function, where it has a value. Only unguarded
/// neighbours: a guarded piece must stay in front of what it hides. Members of
/// vectors are taken for the elements of memory that they are where that makes
/// fewer pieces.
void joinPieces(const KernelModel &M, const Assumptions &A,
                std::vector<RawPiece> &Pieces);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PIECES_H
