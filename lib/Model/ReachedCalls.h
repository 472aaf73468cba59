// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RCACHE_LIB_MODEL_REACHEDCALLS_H
#define RCACHE_LIB_MODEL_REACHEDCALLS_H

#include "clang/AST/Decl.h"
#include "clang/AST/Stmt.h"
#include <map>

namespace rcache {

/// Calls by definition of what is called, on all ways through functions and
/// constructors whose bodies can be seen.
class ReachedCalls {
public:
  /// Those from \p Body on.
  explicit ReachedCalls(const clang::Stmt *Body) { look(Body, 0); }

  /// Does one place call \p F, a definition, and no other one? A shared array in its body
  /// is one array for all that call it.
  bool isOnlyOne(const clang::FunctionDecl *F) const {
    const auto It = Times.find(F);
    return Left && It != Times.end() && It->second == 1;
  }

private:
  std::map<const clang::FunctionDecl *, unsigned> Times;
  unsigned Left = 100'000; ///< statements; 0: there are too many, nobody knows
  void look(const clang::Stmt *S, unsigned Depth);
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_REACHEDCALLS_H
