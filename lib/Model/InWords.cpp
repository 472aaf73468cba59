// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InWords.h.

#include "InWords.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/PrettyPrinter.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/LangOptions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace rcache {
namespace {

/// What is written there, in one line.
std::string quoted(const clang::Stmt *S) {
  constexpr size_t Most = 48;
  LangOptions Language;
  Language.CPlusPlus = true;
  Language.Bool = true;
  std::string Text, Line;
  llvm::raw_string_ostream OS(Text);
  S->printPretty(OS, nullptr, PrintingPolicy(Language));
  llvm::SmallVector<llvm::StringRef, 16> Words;
  llvm::SplitString(Text, Words);
  Line = llvm::join(Words, " ");
  if (Line.size() > Most)
    Line = Line.substr(0, Most - 3) + "...";
  return "`" + Line + "`";
}

std::string declaration(const DeclStmt *S) {
  for (const Decl *D : S->decls()) {
    if (isa<DecompositionDecl>(D))
      return "a structured binding";
    if (const auto *V = dyn_cast<VarDecl>(D);
        V && V->getType()->isVariablyModifiedType())
      return "'" + V->getNameAsString() + "', an array whose size is known at run time alone";
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      return "a declaration of the function '" + F->getNameAsString() + "' inside";
  }
  return "the declaration " + quoted(S);
}

std::string attributed(const AttributedStmt *S) {
  for (const Attr *A : S->getAttrs())
    if (!isa<LoopHintAttr, LikelyAttr, UnlikelyAttr, FallThroughAttr>(A) &&
        A->getAttrName())
      return "a statement with the attribute '" + A->getAttrName()->getName().str() + "'";
  return "a statement with an attribute";
}

} // namespace

std::string inWords(const clang::Stmt *S) {
  switch (S->getStmtClass()) {
  case clang::Stmt::CXXForRangeStmtClass:
    return "a range-based for";
  case clang::Stmt::DeclStmtClass:
    return declaration(cast<DeclStmt>(S));
  case clang::Stmt::AttributedStmtClass:
    return attributed(cast<AttributedStmt>(S));
  case clang::Stmt::LambdaExprClass:
    return "a lambda";
  case clang::Stmt::StmtExprClass:
    return "a statement expression";
  case clang::Stmt::CXXParenListInitExprClass:
    return "an aggregate initialised in parentheses";
  case clang::Stmt::CXXRewrittenBinaryOperatorClass:
    return "a comparison by operator<=> or a negated operator==";
  case clang::Stmt::BinaryOperatorClass:
  case clang::Stmt::CompoundAssignOperatorClass:
    return "the operator " + cast<BinaryOperator>(S)->getOpcodeStr().str();
  case clang::Stmt::UnaryOperatorClass:
    return "the operator " +
           UnaryOperator::getOpcodeStr(cast<UnaryOperator>(S)->getOpcode()).str();
  case clang::Stmt::LabelStmtClass:
    return "a label";
  case clang::Stmt::CXXTryStmtClass:
  case clang::Stmt::CXXThrowExprClass:
    return "an exception";
  case clang::Stmt::CXXNewExprClass:
    return "new";
  case clang::Stmt::CXXDeleteExprClass:
    return "delete";
  case clang::Stmt::CXXTypeidExprClass:
    return "typeid";
  case clang::Stmt::CXXDynamicCastExprClass:
    return "dynamic_cast";
  case clang::Stmt::VAArgExprClass:
    return "va_arg";
  case clang::Stmt::CXXStdInitializerListExprClass:
    return "a std::initializer_list";
  default:
    return (isa<Expr>(S) ? "the expression " : "the statement ") + quoted(S);
  }
}

} // namespace rcache
