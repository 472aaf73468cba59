// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a thread keeps in registers, estimated from declarations.

#ifndef RCACHE_LIB_PREDICT_REGISTERS_H
#define RCACHE_LIB_PREDICT_REGISTERS_H

#include "rcache/Plan.h"

namespace rcache {

/// 32-bit registers of what a thread holds across a barrier: each slot has its
/// own.
double stateRegisters(const KernelModel &M);

/// Those of its arrays of a few elements that no barrier parts: loops that go through them
/// run once for all slots, each of which has its own.
double privateRegisters(const KernelModel &M);

/// Registers of what a slot keeps while loops without barriers read shared
/// memory: sums, and what they are made from. Without the state.
double sumRegisters(const KernelModel &M);

/// Words of an element of a shared array, at least one.
double words(const KernelModel &M, unsigned Array);

/// Registers of an element in a window. Parts of a word arrive packed and are
/// unpacked as they are used: of those that have come, three quarters (between
/// a quarter and all) are a register each.
double elementRegisters(const KernelModel &M, unsigned Array);

/// Registers of a lane that hold elements of arrays that a warp owns.
double ownedRegisters(const KernelModel &M, const Plan &P);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_REGISTERS_H
