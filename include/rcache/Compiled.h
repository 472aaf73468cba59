// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compiler says of the kernels of a text: values that flow from nvcc's
// report to lists, reports and the choice of register hints.

#ifndef RCACHE_COMPILED_H
#define RCACHE_COMPILED_H

#include "rcache/Prediction.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <vector>

namespace rcache {

/// One entry function in the output of `ptxas -v`. Sizes in bytes; stack and
/// spills a thread, shared memory a block (static).
struct FunctionReport {
  std::string MangledName;
  std::string Arch; ///< "sm_90"
  unsigned Registers = 0;
  unsigned Barriers = 0;
  unsigned StackFrame = 0, SpillStores = 0, SpillLoads = 0;
  unsigned SharedBytes = 0;
  bool operator==(const FunctionReport &) const = default;
};

/// A text that was compiled as the user would, without being run.
struct CompiledText {
  std::vector<FunctionReport> Functions;
  std::string Ptx, Cubin; ///< "" where they were not kept
};
/// Compiles texts of the main file, each on its own; an answer for each.
using CompilerHook = std::function<std::vector<llvm::Expected<CompiledText>>(
    llvm::ArrayRef<std::string>)>;

/// What a kernel takes of an SM as the compiler made it.
struct KernelResources {
  FunctionReport Of;
  std::string Arch;              ///< whose limits \c Occ has: "sm_90"
  std::array<int64_t, 3> Block;  ///< threads, x first
  bool BlockAssumed = false;     ///< no launch in the file tells it
  /// Launches may ask for dynamic shared memory, which \c Occ does not count.
  bool DynamicShared = false;
  Occupancy Occ;
  unsigned MostWarps = 64;       ///< that an SM of this architecture holds
  double occupancy() const { return double(Occ.WarpsPerSm) / MostWarps; }
};

} // namespace rcache

#endif // RCACHE_COMPILED_H
