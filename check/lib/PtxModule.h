// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file of PTX, as nvcc writes it, as a module of the form that clang's device
// code has: kernels, variables in their address spaces, and each instruction as
// inline PTX, which the lowering turns into IR like any other (Ptx.h).

#ifndef RCACHE_CHECK_PTXMODULE_H
#define RCACHE_CHECK_PTXMODULE_H

#include "Frontend.h"

#include <future>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace rcache::check {

/// What nvcc has made, or its messages.
struct PtxText {
  std::string Text, Error;
  bool Refused = false; ///< nvcc reads the file and does not compile it
  /// Where Text names files by links, with what they stand for: a file, or a
  /// folder with a slash at the end.
  std::vector<std::pair<std::string, std::string>> Links;
};

/// Null with \p Error set where \p Ptx is not understood.
std::unique_ptr<llvm::Module> readPtx(llvm::LLVMContext &Context,
                                      const PtxText &Ptx, std::string &Error);

/// Registers that are written once, in front of all reads, become values.
void promoteRegisters(llvm::Module &M);

/// Has nvcc compile \p Source to PTX with the user's own flags, beside whatever
/// this process does; asked again for the same text, it is not run again.
std::shared_future<PtxText> requestPtx(const FrontendOptions &FE,
                                       const std::string &Source);

/// Waits until nothing is at work: temporary files are gone then.
void finishPtx();

/// Compares what ptxas fuses with what was assumed. \p Assumed: for each kernel
/// by its mangled name the sums of 32 and 64 bits that take a product which PTX
/// leaves open (contractLikePtxas); other kernels are not assembled. ptxas is run
/// with -fmad=true and false, and
/// the fused operations in both machine codes are counted; sm_70 to sm_90.
/// Returns a line for each kernel where one has fused products and the other has
/// none, or where neither number is a multiple of the other (a loop that ptxas
/// unrolls counts several times); a line why nothing was compared.
std::vector<std::string>
compareFusion(const std::string &CudaPath, const std::string &Arch,
              const std::string &Ptx,
              const std::map<std::string, unsigned> &Assumed);

/// nvcc of the toolkit in \p CudaPath; "" if there is none.
std::string findNvcc(const std::string &CudaPath);

/// What both compilers' manglings of one entity have in common.
std::string plainName(llvm::StringRef Name);

/// Gives kernels and variables of \p Device the names that the host side
/// registers them by: compilers mangle what is static in different ways. Returns
/// a kernel that the host side has and \p Device has not; "" if there is none.
std::string useRegisteredNames(llvm::Module &Device, const llvm::Module &Host);

} // namespace rcache::check

#endif
