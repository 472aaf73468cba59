// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables that lanes walk through in step. What differs between lanes is how far
// they go, not where they are while they go together:
//
//     int j = i;                              the same for all
//     while (j > 0 && v[j - 1] > x) --j;      and for those that are still in it
//
// Not so a variable that an `if` of some lanes sets: `if (a > b) p = i;`. (One that
// it moves, `if (x > 0) list[n++] = x`, lies near for all of them.) Counts of costs
// ask; nothing is proved by it.

#ifndef RCACHE_LIB_MODEL_WALKERS_H
#define RCACHE_LIB_MODEL_WALKERS_H

#include "Locals.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

class Walkers {
public:
  /// In the body of \p FD, whose locals are \p L's.
  Walkers(const Locals &L, const clang::FunctionDecl *FD);

  /// Do lanes that come to \p E together get the same or nearly the same value?
  bool alike(const clang::Expr *E) const;

private:
  const Locals &L;
  /// Variables that lanes set apart.
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Apart;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_WALKERS_H
