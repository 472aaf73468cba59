// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReachedCalls.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

void ReachedCalls::look(const clang::Stmt *S, unsigned Depth) {
  constexpr unsigned Deepest = 64; // recursion
  if (!S || !Left)
    return;
  if (Depth > Deepest) {
    Left = 0;
    return;
  }
  --Left;
  const FunctionDecl *F = nullptr;
  if (auto *C = dyn_cast<CallExpr>(S))
    F = C->getDirectCallee();
  else if (auto *C = dyn_cast<CXXConstructExpr>(S))
    F = C->getConstructor();
  if (const FunctionDecl *Def = nullptr; F && F->hasBody(Def)) {
    ++Times[Def];
    look(Def->getBody(), Depth + 1);
  }
  for (const clang::Stmt *C : S->children())
    look(C, Depth);
}

} // namespace rcache
