// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds the checks to lowered and optimised device code:
//
//   bounds       each access asks the addressability map (Abi.h)
//   races        each access of shared memory is logged with the runtime
//   definedness  each value gets a shadow of equal width, a set bit meaning
//                "never initialised"; shadows travel through arithmetic,
//                memory, shuffles and calls, and are tested where they matter:
//                addresses, branches, stores to global memory
//   NaN          results of arithmetic get one payload, as on the device

#ifndef RCACHE_CHECK_INSTRUMENT_H
#define RCACHE_CHECK_INSTRUMENT_H

namespace llvm {
class Module;
}

namespace rcache::check {

struct Lowered;

void instrument(llvm::Module &M, Lowered &L, bool Checks, bool Definedness);

/// Before expressions: a choice between values that are all at hand becomes a
/// select, which has an expression where a branch has none.
void flattenBranches(llvm::Module &M);

/// Instead of the checks: expressions for symbolic mode (Express.cpp).
void instrumentExpressions(llvm::Module &M, Lowered &L);

/// Gives what was never initialised some value, once nothing looks for it.
void replaceUninitialised(llvm::Module &M);

} // namespace rcache::check

#endif
