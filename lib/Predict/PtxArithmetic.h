// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel computes, from its PTX: nvcc may write instructions in another order
// and number registers otherwise when it is told of registers, but each operation
// has to be there as often, with operands that come from the same operations. What
// it has not fused itself, `mul.f32` and an `add.f32` of the product, ptxas may.

#ifndef RCACHE_LIB_PREDICT_PTXARITHMETIC_H
#define RCACHE_LIB_PREDICT_PTXARITHMETIC_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace rcache {

struct PtxArithmetic {
  /// A number for each floating-point operation, in the order of the text: of what it
  /// does and of the operations that its operands come from, as far back as
  /// registers have one definition.
  std::vector<uint64_t> Operations;
  /// A sum has a product that ptxas may round or fuse.
  bool Fusible = false;
};

/// Of entry \p MangledName; nullopt: there is no such entry.
std::optional<PtxArithmetic> arithmeticOf(llvm::StringRef Ptx,
                                          llvm::StringRef MangledName);

/// Are operations and what they are made of the same? Where there is something to
/// fuse, in the same order: what ptxas does may depend on that.
bool sameArithmetic(PtxArithmetic A, PtxArithmetic B);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_PTXARITHMETIC_H
