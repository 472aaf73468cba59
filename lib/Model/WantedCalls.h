// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which calls of a kernel are written out: those that hide what it shares, or which
// elements of its private arrays it uses.

#ifndef RCACHE_LIB_MODEL_WANTEDCALLS_H
#define RCACHE_LIB_MODEL_WANTEDCALLS_H

#include "CalleeText.h"
#include "ReachedCalls.h"
#include "rcache/WriteOut.h"

namespace rcache {

/// The lambda that \p V holds; null: it holds none.
const clang::LambdaExpr *lambdaOf(const clang::VarDecl *V);

/// Asks of the calls of one kernel.
class WantedCalls {
public:
  /// \p Scope stays the caller's, who goes on adding names.
  WantedCalls(const clang::FunctionDecl *Kernel, const KernelModel &M,
              const CallerScope &Scope, clang::Preprocessor &PP, CallsToWrite Which)
      : M(M), Scope(Scope), PP(PP), Which(Which), Reached(Kernel->getBody()) {}

  /// \p E as a call to write out; nullopt: it stays a call.
  std::optional<CallToWrite> of(const clang::CallExpr *E) const;

private:
  const KernelModel &M;
  const CallerScope &Scope;
  clang::Preprocessor &PP;
  const CallsToWrite Which;
  const ReachedCalls Reached;

  std::optional<CallToWrite> ofLambda(const clang::CXXOperatorCallExpr *E,
                                      CallToWrite C) const;
  bool hides(const CallToWrite &C) const;
  bool isHanded(const clang::Expr *E) const;
  bool capturesFit(const clang::LambdaExpr *L) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_WANTEDCALLS_H
