// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compile flags, of nvcc or clang, turned into flags for one parse by clang.
//
//     nvcc -gencode=arch=compute_90,code=sm_90 -rdc=true -Xcompiler -fPIC -c
//     x.cu
//     --> -fgpu-rdc -fPIC, architecture sm_90
//
// clang prints an error for an nvcc flag and goes on, silently losing the
// definitions behind it: so everything is translated before clang sees it.

#ifndef RCACHE_DRIVER_NVCCFLAGS_H
#define RCACHE_DRIVER_NVCCFLAGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace rcache {

struct ParseFlags {
  std::vector<std::string> Flags; ///< for clang; no compiler, input or output
  std::vector<std::string> Archs; ///< "sm_90", as far as named, in their order
  std::string CudaPath;           ///< of --cuda-path, "" when not given
  std::vector<std::string> Inputs;  ///< left out: files named among them
  std::vector<std::string> Unknown; ///< left out: neither nvcc's nor clang's
  /// For nvcc, to compile a text like this one to the same code: definitions,
  /// include paths (relative ones below the directory), language, and what
  /// changes the code of a kernel. No architecture.
  std::vector<std::string> ForNvcc;
};

/// True for the name of nvcc ("/usr/local/cuda/bin/nvcc", "nvcc.exe").
bool isNvcc(llvm::StringRef Compiler);

/// Translates \p Flags. \p FromNvcc: they are nvcc's; else they may be either's
/// and what both know means what it means to clang. Files of --options-file are
/// read relative to \p Directory; one that cannot be read is an error.
llvm::Expected<ParseFlags> translateFlags(llvm::ArrayRef<std::string> Flags,
                                          bool FromNvcc,
                                          llvm::StringRef Directory);

/// What an option is to nvcc or clang.
enum class FlagKind {
  None,     ///< neither knows it
  Glued,    ///< a name with anything behind it ("-Wall": -W with "all")
  Whole,    ///< a name, or a name with '=' and its value ("-march=native")
  WithNext, ///< a name whose value is the next argument ("-I")
};
FlagKind kindOfFlag(llvm::StringRef Arg);

/// The architecture to parse and plan for: the newest of \p Archs ("sm_90")
/// that clang knows; for one that is too new, the newest known below it.
/// "" when none is of the form sm_NN.
std::string chooseArch(llvm::ArrayRef<std::string> Archs);

} // namespace rcache

#endif // RCACHE_DRIVER_NVCCFLAGS_H
