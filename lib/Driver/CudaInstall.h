// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the CUDA toolkit and clang's own headers are.

#ifndef RCACHE_DRIVER_CUDAINSTALL_H
#define RCACHE_DRIVER_CUDAINSTALL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace rcache {

struct CudaInstall {
  std::string Path;     ///< the folder that holds include/cuda_runtime.h
  std::string CcclPath; ///< <Path>/include/cccl, "" in toolkits without it
  unsigned Version = 0; ///< CUDA_VERSION: 13000 for 13.0; 0 when unknown
  /// What the user should know: a variable names a folder without a toolkit.
  std::string Note;
};

/// "13.0"; "" for 0.
std::string cudaVersionText(unsigned Version);

/// Finds the toolkit. A non-empty \p Wanted is taken or refused. Else, in this
/// order: CUDA_PATH, CUDA_HOME, CUDA_ROOT of the environment, the toolkit of
/// the nvcc in PATH, /usr/local/cuda, the newest /usr/local/cuda-*, /opt/cuda,
/// /usr/lib/cuda. The error names what was looked at.
llvm::Expected<CudaInstall> findCudaInstall(llvm::StringRef Wanted);

/// Clang's resource directory: its wrappers of the CUDA headers are needed, and
/// a tool that is not installed beside clang computes a wrong one. Looks beside
/// \p ToolPath (the running program, may be empty), then where the build found
/// it, then at the usual places. "" when there is none.
std::string findResourceDir(llvm::StringRef ToolPath);

} // namespace rcache

#endif // RCACHE_DRIVER_CUDAINSTALL_H
