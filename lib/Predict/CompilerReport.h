// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler says a kernel takes: registers, stack, spills, shared
// memory, from `ptxas -v`. Refines a prediction (and finds register-limited
// kernels) where the user asks for it; costs one compilation.

#ifndef RCACHE_LIB_PREDICT_COMPILERREPORT_H
#define RCACHE_LIB_PREDICT_COMPILERREPORT_H

#include "rcache/Compiled.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rcache {

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
  unsigned TimeoutSeconds = 60;
  /// A folder in which nvcc leaves what it makes on the way, `<stem>.ptx` among
  /// it, and `kept.cubin`; "": nothing is kept.
  std::string KeepFolder = "";
};

/// Compiles \p Q.Source to a cubin that is thrown away and returns the report.
/// Errors: the program is missing, fails, or takes too long; the text holds
/// the compiler's own first messages.
llvm::Expected<std::vector<FunctionReport>> askCompiler(const CompilerQuery &Q);

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_COMPILERREPORT_H
