// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of declarations that may have none: operators, conversions,
// constructors. clang's own getName() may not be asked about those.

#ifndef RCACHE_LIB_MODEL_DECLNAME_H
#define RCACHE_LIB_MODEL_DECLNAME_H

#include "clang/AST/Decl.h"

namespace rcache {

/// "" for what is called by no identifier.
inline llvm::StringRef identifierOf(const clang::NamedDecl *D) {
  return D && D->getIdentifier() ? D->getIdentifier()->getName()
                                 : llvm::StringRef();
}

} // namespace rcache

#endif // RCACHE_LIB_MODEL_DECLNAME_H
