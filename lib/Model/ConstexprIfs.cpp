// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ConstexprIfs.h.

#include "ConstexprIfs.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"

using namespace clang;

namespace rcache {
namespace {

class Collector : public ConstDynamicRecursiveASTVisitor {
public:
  std::vector<const IfStmt *> Found;
  bool VisitIfStmt(const IfStmt *S) override {
    if (S->isConstexpr())
      Found.push_back(S);
    return true;
  }
};

} // namespace

ConstexprIfs::ConstexprIfs(const FunctionDecl *FD) {
  const FunctionDecl *Template = FD->getTemplateInstantiationPattern();
  if (!Template || !Template->hasBody())
    return;
  Collector C;
  C.TraverseStmt(Template->getBody());
  for (const IfStmt *S : C.Found)
    ByPlace.try_emplace(S->getIfLoc(), S);
}

const IfStmt *ConstexprIfs::asWritten(const clang::Stmt *S) const {
  auto *I = dyn_cast<IfStmt>(S);
  return I && I->isConstexpr() ? ByPlace.lookup(I->getIfLoc()) : nullptr;
}

} // namespace rcache
