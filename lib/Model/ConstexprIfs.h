// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instantiation of a template has no trace of the branch of `if constexpr` that
// it leaves out: that stands in the template alone.

#ifndef RCACHE_LIB_MODEL_CONSTEXPRIFS_H
#define RCACHE_LIB_MODEL_CONSTEXPRIFS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/DenseMap.h"

namespace rcache {

class ConstexprIfs {
public:
  /// Those of the template that \p FD is an instantiation of.
  explicit ConstexprIfs(const clang::FunctionDecl *FD);

  /// \p S as the template has it; null: not `if constexpr`, or of no template.
  const clang::IfStmt *asWritten(const clang::Stmt *S) const;

private:
  llvm::DenseMap<clang::SourceLocation, const clang::IfStmt *> ByPlace;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_CONSTEXPRIFS_H
