// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variables of the device a kernel can change, called functions included.

#include "Effects.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace rcache {
namespace {

class VariableFinder : public DynamicRecursiveASTVisitor {
public:
  explicit VariableFinder(const FunctionDecl *Kernel) { enter(Kernel); }

  bool VisitDeclRefExpr(DeclRefExpr *E) override {
    if (auto *F = dyn_cast<FunctionDecl>(E->getDecl()))
      enter(F);
    else if (auto *V = dyn_cast<VarDecl>(E->getDecl()))
      note(V->getCanonicalDecl());
    return true;
  }
  bool VisitMemberExpr(MemberExpr *E) override {
    if (auto *F = dyn_cast<FunctionDecl>(E->getMemberDecl()))
      enter(F);
    return true;
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) override {
    enter(E->getConstructor());
    return true;
  }

  std::vector<const VarDecl *> Found;

private:
  void enter(const FunctionDecl *F) {
    const FunctionDecl *Def = nullptr;
    if (F->getBody(Def) && Seen.insert(Def).second && !isSystemFunction(Def))
      TraverseStmt(Def->getBody());
  }
  void note(const VarDecl *V) {
    if (V->hasGlobalStorage() && !V->isStaticLocal() &&
        (V->hasAttr<CUDADeviceAttr>() || V->hasAttr<HIPManagedAttr>()) &&
        !V->getType().isConstQualified() && !V->hasAttr<CUDASharedAttr>() &&
        Seen.insert(V).second)
      Found.push_back(V);
  }
  llvm::SmallPtrSet<const Decl *, 16> Seen;
};

/// The name that host code behind the kernel can use, or "".
std::string nameFor(const VarDecl *V, const FunctionDecl *Kernel) {
  const SourceManager &SM = V->getASTContext().getSourceManager();
  if (!SM.isBeforeInTranslationUnit(V->getLocation(), Kernel->getLocation()) ||
      isa<VarTemplateSpecializationDecl>(V) || V->getAccess() == AS_private ||
      V->getAccess() == AS_protected)
    return "";
  std::string Name = V->getNameAsString();
  for (const DeclContext *C = V->getDeclContext(); C; C = C->getParent()) {
    if (auto *N = dyn_cast<NamespaceDecl>(C)) {
      if (!N->isAnonymousNamespace() && !N->isInline())
        Name = N->getNameAsString() + "::" + Name;
    } else if (auto *R = dyn_cast<RecordDecl>(C)) {
      if (isa<ClassTemplateSpecializationDecl>(R))
        return "";
      Name = R->getNameAsString() + "::" + Name;
    }
  }
  return "::" + Name;
}

} // namespace

std::vector<std::string> deviceVariables(const FunctionDecl *Kernel) {
  std::vector<std::string> Out;
  for (const VarDecl *V : VariableFinder(Kernel).Found)
    if (std::string Name = nameFor(V, Kernel); !Name.empty())
      Out.push_back(Name);
  return Out;
}

} // namespace rcache
