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

/// Is there no way to write the type's name?
inline bool isUnnamed(const clang::TagDecl *D) {
  return !D->getIdentifier() && !D->getTypedefNameForAnonDecl();
}

/// The type by which a value of \p T can be spelled: an enumeration without a
/// name computes as an integer.
inline clang::QualType spelledType(clang::QualType T) {
  auto *E = T->getAs<clang::EnumType>();
  if (E && isUnnamed(E->getDecl()) && !E->getDecl()->getPromotionType().isNull())
    return E->getDecl()->getPromotionType();
  return T;
}

} // namespace rcache

#endif // RCACHE_LIB_MODEL_DECLNAME_H
