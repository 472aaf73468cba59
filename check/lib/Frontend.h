// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA source -> two LLVM modules, with clang in this process.

#ifndef RCACHE_CHECK_FRONTEND_H
#define RCACHE_CHECK_FRONTEND_H

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace rcache::check {

struct SourceFacts;

struct FrontendOptions {
  std::string CudaPath;    ///< toolkit; empty: look for it
  std::string ResourceDir; ///< clang's own headers
  std::string Arch = "sm_90";
  bool Contract = true; ///< products fused with sums, as nvcc does
  bool OptimiseHost = true;
  bool Nvcc = false;   ///< device code from nvcc's PTX
  std::string OnDisk; ///< what nvcc compiles, if the source is a virtual file
  std::vector<std::string> Flags; ///< the user's, nvcc's spelling allowed
  /// Text of files that are not on the disk, by absolute name.
  std::map<std::string, std::string> VirtualFiles;
};

/// Plain: C++ that uses the runtime API, without the language of CUDA.
enum class Side { Host, Device, Plain };

/// nvcc's flags as clang's; what clang has no use for is left out.
std::vector<std::string> translateFlags(const std::vector<std::string> &Flags);

/// Compiles one side of \p Source. Null on failure; clang has then printed its
/// diagnostics to \p Log. Device code is not optimised yet; host code is, if
/// \p OptimiseHost. \p Facts: what the text tells beside, if anybody asks.
std::unique_ptr<llvm::Module> compile(llvm::LLVMContext &Context, Side S,
                                      const std::string &Source,
                                      const FrontendOptions &Opts,
                                      std::string &Log,
                                      SourceFacts *Facts = nullptr);

} // namespace rcache::check

#endif
