// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the calls of one kernel that are written out, and decides where their
// text may stand.

#ifndef RCACHE_LIB_MODEL_KERNELWRITER_H
#define RCACHE_LIB_MODEL_KERNELWRITER_H

#include "rcache/WriteOut.h"
#include "clang/AST/Decl.h"

namespace rcache {

/// The definitions of kernels, instantiations among them, in the user's files.
std::vector<const clang::FunctionDecl *> kernelsOf(clang::ASTContext &AST);

/// Is \p F the instantiation that \p K is a model of? By its arguments, as in
/// the signature.
bool isOf(const KernelModel &K, const clang::FunctionDecl *F, clang::ASTContext &AST);

/// Does \p F compute with numbers that are no integers, itself or in what it calls?
bool computesNumbers(const clang::FunctionDecl *F, unsigned Depth = 0);

/// Edits that write calls out in the body of \p Def, one level deep.
std::vector<SourceEdit> writeOutIn(const clang::FunctionDecl *Def,
                                   const KernelModel &M, clang::Preprocessor &PP,
                                   CallsToWrite Which);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_KERNELWRITER_H
