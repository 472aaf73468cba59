// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BlockNames.h. What a kernel declares in its outermost block is visible wherever its
// text may be moved to, which is behind the declaration.

#include "BlockNames.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/TypeLoc.h"

using namespace clang;

namespace rcache {
namespace {

/// The function in one of whose inner blocks \p D is declared, or null.
const FunctionDecl *inInnerBlock(const Decl *D) {
  const auto *F = dyn_cast_or_null<FunctionDecl>(D->getDeclContext());
  const auto *Body = F ? dyn_cast_or_null<CompoundStmt>(F->getBody()) : nullptr;
  if (!Body)
    return nullptr;
  for (const clang::Stmt *S : Body->body())
    if (const auto *Here = dyn_cast<DeclStmt>(S))
      for (const Decl *X : Here->decls())
        if (X == D)
          return nullptr;
  return F;
}

/// Does a block around \p E change what names of namespaces mean?
bool inBlockOfNamespaces(const Expr *E, ASTContext &AC) {
  DynTypedNode At = DynTypedNode::create(*E);
  for (;;) {
    const auto Up = AC.getParents(At);
    if (Up.empty())
      return false;
    At = Up[0];
    const auto *Block = At.get<CompoundStmt>();
    if (!Block)
      continue;
    for (const clang::Stmt *S : Block->body())
      if (const auto *Here = dyn_cast<DeclStmt>(S))
        for (const Decl *D : Here->decls())
          if (isa<UsingDirectiveDecl, NamespaceAliasDecl>(D) && inInnerBlock(D))
            return true;
  }
}

struct NameFinder : ConstDynamicRecursiveASTVisitor {
  bool Inner = false;     ///< a name of an inner block
  bool Namespace = false; ///< a name found in a namespace
  const Decl *Any = nullptr; ///< something that is named

  bool VisitDeclRefExpr(const DeclRefExpr *R) override {
    if (const auto *Shadow = dyn_cast<UsingShadowDecl>(R->getFoundDecl()))
      Inner |= inInnerBlock(Shadow->getIntroducer()) != nullptr;
    Namespace |= R->getDecl()->getDeclContext()->isNamespace() || R->hasQualifier();
    Any = R->getDecl();
    return true;
  }
  bool VisitTypeLoc(TypeLoc T) override {
    const Decl *D = nullptr;
    if (const auto *Alias = T.getTypePtr()->getAs<TypedefType>())
      D = Alias->getDecl();
    else if (const auto *Tag = T.getTypePtr()->getAs<TagType>())
      D = Tag->getDecl();
    Inner |= D && inInnerBlock(D);
    Namespace |= D && D->getDeclContext()->isNamespace();
    return true;
  }
};

} // namespace

bool namesOfInnerBlock(const Expr *E) {
  NameFinder F;
  F.TraverseStmt(E);
  if (F.Inner || !F.Namespace)
    return F.Inner;
  return F.Any && inBlockOfNamespaces(E, F.Any->getASTContext());
}

} // namespace rcache
