// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels and their launches in a translation unit.

#ifndef RCACHE_LIB_MODEL_LAUNCHSITES_H
#define RCACHE_LIB_MODEL_LAUNCHSITES_H

#include "TokenRecorder.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/MapVector.h"

namespace rcache {

/// A kernel definition to model.
struct KernelDecl {
  const clang::FunctionDecl *Def = nullptr;     ///< body to analyse
  const clang::FunctionDecl *Pattern = nullptr; ///< template it comes from
  bool Uninstantiated = false;
  bool InMainFile = true;
  clang::SourceLocation FirstLaunchDecl; ///< top-level declaration around it
};

/// Launches by the kernel that they launch (canonical declaration).
struct LaunchTable {
  llvm::MapVector<const clang::FunctionDecl *, std::vector<LaunchSite>>
      ByKernel;
  /// Start of the first top-level declaration that holds a launch of it.
  llvm::DenseMap<const clang::FunctionDecl *, clang::SourceLocation> FirstUse;
  /// Where the kernel's name stands: in launches, or where a pointer is made.
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<SourcePos>> NamedAt;
  /// Calls of cudaLaunchKernelEx with the kernel.
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<SourcePos>> LaunchedEx;
  /// Names in front of `<<<` in parts of the main file that the preprocessor
  /// left out, as under `#ifndef __CUDA_ARCH__`.
  std::vector<std::pair<std::string, SourcePos>> Unseen;
};

LaunchTable findLaunches(clang::ASTContext &AC,
                         const TokenRecorder::Impl &Tokens);

/// Marks launches that stand in the text of another editable one as not editable.
void leaveNestedLaunches(LaunchTable &T);

/// Launches in skipped text, into Unseen of \p T. It is text only: macros and
/// comments are taken as they are, which is enough to tell that something is
/// there.
void findUnseen(const clang::SourceManager &SM,
                const TokenRecorder::Impl &Tokens, LaunchTable &T);

/// Definitions in the main file, those of user headers with a launch in
/// \p Launches, and instantiations, in source order.
std::vector<KernelDecl> findKernels(clang::ASTContext &AC,
                                    const LaunchTable &Launches);

/// What launch bounds and launches tell of the block.
Geometry findGeometry(const clang::FunctionDecl *FD,
                      const std::vector<LaunchSite> &Launches);

/// Where launches have several blocks of two dimensions, or do not tell: sets what
/// \p FD is modelled in (ConstBlock, OtherBlocks). \p Asked: what the user says.
void assumeBlock(const clang::FunctionDecl *FD,
                 const std::optional<std::array<int64_t, 3>> &Asked,
                 Geometry &G);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_LAUNCHSITES_H
