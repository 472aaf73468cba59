// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks and grids are, as far as host code tells.

#ifndef RCACHE_LIB_MODEL_HOSTCONSTANTS_H
#define RCACHE_LIB_MODEL_HOSTCONSTANTS_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace rcache {

using Dims = std::array<int64_t, 3>;

/// \p E without what stands around it and changes nothing.
const clang::Expr *peel(const clang::Expr *E);

class HostConstants {
public:
  /// Looks at the calls in the main file.
  explicit HostConstants(clang::ASTContext &AC);

  /// Three dimensions (or one integer) that are constants: literals, macros,
  /// constexpr, and variables with such an initialiser that nothing modifies.
  std::optional<Dims> dims(const clang::Expr *E) const;

  /// The same in \p Function, whose parameters are what the file's calls of it
  /// pass, and calls of its callers. Not all there may be: other files call it,
  /// too, and some calls may pass no constants.
  std::vector<Dims> possibleDims(const clang::Expr *E,
                                 const clang::FunctionDecl *Function) const;

private:
  struct Call {
    const clang::CallExpr *E;
    const clang::FunctionDecl *Caller;
  };
  /// A call that has led here; the parameters are its arguments.
  struct Frame {
    const clang::FunctionDecl *Callee;
    const clang::CallExpr *E;
    const Frame *Outer;
  };
  clang::ASTContext &AC;
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<Call>> Calls;

  std::optional<int64_t> integer(const clang::Expr *E, const Frame *In,
                                 unsigned Depth) const;
  std::optional<Dims> dims(const clang::Expr *E, const Frame *In,
                           unsigned Depth) const;
  /// What stands for parameter \p V in \p In; null: it is not known.
  const clang::Expr *argument(const clang::VarDecl *V, const Frame *&In) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_HOSTCONSTANTS_H
