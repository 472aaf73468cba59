// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executing a part of the kernel on trial.

#ifndef RCACHE_LIB_MODEL_ROUNDS_H
#define RCACHE_LIB_MODEL_ROUNDS_H

#include "Executor.h"

namespace rcache {

/// While it lives, what is executed leaves nothing behind but environment and
/// path (and symbols, which nothing takes back).
struct Executor::Trial {
  explicit Trial(Executor &X);
  ~Trial();
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;

private:
  Executor &X;
  std::vector<Stmt> Stmts;
  std::vector<SharedAccess> Shared;
  std::vector<GlobalAccess> Global;
  std::vector<Decline> Declines;
  std::vector<Var> Vars;
  std::vector<KernelParam> Params;
  std::vector<SharedArray> Arrays;
  llvm::SmallPtrSet<const clang::VarDecl *, 32> Declared;
  unsigned CurStmt = 0;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_ROUNDS_H
