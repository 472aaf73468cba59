// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler says a kernel takes: registers, stack, spills, shared
// memory, from `ptxas -v`. Refines a prediction (and finds register-limited
// kernels) where the user asks for it; costs one compilation.

#ifndef RCACHE_LIB_PREDICT_COMPILERREPORT_H
#define RCACHE_LIB_PREDICT_COMPILERREPORT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
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

/// Reads what `ptxas -v` (or `nvcc -Xptxas -v`) wrote; lines that say nothing
/// about a function are skipped. A function compiled for several architectures
/// gives one entry each.
std::vector<FunctionReport> parseCompilerReport(llvm::StringRef Output);

/// How to ask the compiler.
struct CompilerQuery {
  std::string Program;           ///< path of nvcc or ptxas
  std::string Source;            ///< .cu for nvcc, .ptx for ptxas
  std::string Arch;              ///< "sm_90"
  std::vector<std::string> Args; ///< -I, -D, -std=...: passed on as they are
  unsigned TimeoutSeconds = 120;
};

/// Compiles \p Q.Source to a cubin that is thrown away and returns the report.
/// Errors: the program is missing, fails, or takes too long; the text holds
/// the compiler's own first messages.
llvm::Expected<std::vector<FunctionReport>> askCompiler(const CompilerQuery &Q);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_COMPILERREPORT_H
