// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which objects may be declared first and given their values later.

#include "DeclName.h"
#include "Locals.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace rcache {

bool isRemade(const CXXRecordDecl *R, const SourceManager &SM) {
  R = R ? R->getDefinition() : nullptr;
  if (!R || isUnnamed(R) || !R->hasDefaultConstructor())
    return false;
  if (SM.isInSystemHeader(R->getLocation()))
    return R->hasTrivialCopyAssignment() || R->hasUserDeclaredCopyAssignment();
  if (!R->hasTrivialDestructor())
    return false;
  for (const CXXMethodDecl *F : R->methods())
    if (F->getOverloadedOperator() == OO_Equal && !F->isDefaulted())
      return false;
  for (const CXXConstructorDecl *C : R->ctors()) {
    if (C->isCopyOrMoveConstructor() && C->isUserProvided())
      return false;
    if (!C->isDefaultConstructor())
      continue;
    const auto *Body = dyn_cast_or_null<CompoundStmt>(C->getBody());
    if (C->isDeleted() || (C->isUserProvided() && (!Body || !Body->body_empty())))
      return false;
    for (const CXXCtorInitializer *I : C->inits())
      if (I->isWritten() && !I->getInit()->isConstantInitializer(C->getASTContext(), false))
        return false;
  }
  for (const CXXBaseSpecifier &B : R->bases())
    if (!isRemade(B.getType()->getAsCXXRecordDecl(), SM))
      return false;
  for (const FieldDecl *F : R->fields()) {
    const QualType T = R->getASTContext().getBaseElementType(F->getType());
    if (T.isConstQualified() || T->isReferenceType() ||
        (F->hasInClassInitializer() &&
         (!F->getInClassInitializer() ||
          !F->getInClassInitializer()->isConstantInitializer(R->getASTContext(), false))))
      return false;
    if (const CXXRecordDecl *Of = T->getAsCXXRecordDecl(); Of && !isRemade(Of, SM))
      return false;
  }
  return true;
}

} // namespace rcache
