// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of PTX, as nvcc writes it, as a module of the form that clang's device
// code has: kernels, variables in their address spaces, and each instruction as
// inline PTX, which the lowering turns into IR like any other (Ptx.h).

#ifndef RCACHE_CHECK_PTXMODULE_H
#define RCACHE_CHECK_PTXMODULE_H

#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace rcache::check {

/// Null with \p Error set where \p Text is not understood.
std::unique_ptr<llvm::Module> readPtx(llvm::LLVMContext &Context,
                                      const std::string &Text,
                                      std::string &Error);

/// The PTX that nvcc makes of \p Source with the user's own flags. \p Virtual:
/// text of a source that is not on the disk. False with nvcc's messages in
/// \p Error.
bool compileToPtx(const std::string &Nvcc, const std::string &Source,
                  const std::string &Arch,
                  const std::vector<std::string> &Flags, std::string &Text,
                  std::string &Error);

/// nvcc of the toolkit in \p CudaPath; "" if there is none.
std::string findNvcc(const std::string &CudaPath);

/// Gives kernels and variables of \p Device the names that the host side
/// registers them by: compilers mangle what is static in different ways.
void useRegisteredNames(llvm::Module &Device, const llvm::Module &Host);

} // namespace rcache::check

#endif
