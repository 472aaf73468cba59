// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's declarations say beside its type.

#ifndef RCACHE_LIB_MODEL_ATTRIBUTES_H
#define RCACHE_LIB_MODEL_ATTRIBUTES_H

#include "TokenRecorder.h"
#include "rcache/Model.h"
#include "clang/AST/Decl.h"

namespace rcache {

/// Declines attributes of \p F that a second kernel would need as well, and
/// fills LaunchBounds.
void kernelAttributes(KernelModel &M, const clang::FunctionDecl *F,
                      const TokenRecorder::Impl &Tokens,
                      const clang::SourceManager &SM);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_ATTRIBUTES_H
