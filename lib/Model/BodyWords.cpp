// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyWords.h.

#include "BodyWords.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include <limits>

using namespace clang;

namespace rcache {

/// Is \p Word a macro that the program itself defines?
static bool isOwnMacro(StringRef Word, const Preprocessor &PP) {
  const IdentifierInfo *Name = PP.getIdentifierInfo(Word);
  if (!Name->hadMacroDefinition())
    return false;
  for (const MacroDirective *D = PP.getLocalMacroDirectiveHistory(Name); D; D = D->getPrevious())
    if (const MacroInfo *Info = D->getMacroInfo();
        Info && !PP.getSourceManager().isInSystemHeader(Info->getDefinitionLoc()))
      return true;
  return false;
}

bool hasWord(SourceRange Of, llvm::function_ref<bool(StringRef)> Is, const Preprocessor &PP) {
  const SourceManager &SM = PP.getSourceManager();
  SourceLocation At = SM.getExpansionLoc(Of.getBegin());
  const unsigned End = SM.getFileOffset(SM.getExpansionLoc(Of.getEnd()));
  while (SM.getFileOffset(At) <= End) {
    Token T;
    if (Lexer::getRawToken(At, T, SM, PP.getLangOpts(), /*IgnoreWhiteSpace=*/true) ||
        T.is(tok::eof))
      return true;
    if (T.is(tok::raw_identifier) && Is(T.getRawIdentifier()))
      return true;
    At = T.getEndLoc();
  }
  return false;
}

bool fitsOutsideClass(const FunctionDecl *F, const Preprocessor &PP) {
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (!Method)
    return true;
  const CXXRecordDecl *Of = Method->getParent();
  if (Of->getNumBases() || !Of->getIdentifier() ||
      !Of->getDeclContext()->getRedeclContext()->isFileContext())
    return false;
  llvm::StringSet<> Names;
  Names.insert(Of->getName());
  for (const Decl *D : Of->decls()) {
    if (const auto *Named = dyn_cast<NamedDecl>(D); Named && Named->getIdentifier())
      Names.insert(Named->getName());
    if (const auto *Enum = dyn_cast<EnumDecl>(D))
      for (const EnumConstantDecl *E : Enum->enumerators())
        Names.insert(E->getName());
  }
  // (A macro could say such a name.)
  const auto Is = [&](StringRef Word) { return Names.contains(Word) || isOwnMacro(Word, PP); };
  return !hasWord(F->getBody()->getSourceRange(), Is, PP);
}

std::string typedNumber(const TemplateArgument &A, const PrintingPolicy &Policy) {
  const llvm::APSInt Number = A.getAsIntegral();
  const QualType T = A.getIntegralType().getCanonicalType();
  llvm::SmallString<24> Digits;
  Number.toString(Digits);
  const auto *Builtin = T->getAs<BuiltinType>();
  switch (Builtin ? Builtin->getKind() : BuiltinType::Void) {
  case BuiltinType::Bool:
    return Number.getBoolValue() ? "true" : "false";
  case BuiltinType::UInt:
    return (Digits + "u").str();
  case BuiltinType::ULong:
    return (Digits + "ul").str();
  case BuiltinType::ULongLong:
    return (Digits + "ull").str();
  default:
    break;
  }
  // The least one is no literal.
  const bool Least = Number.isSigned() && Number.isMinSignedValue() && Number.getBitWidth() >= 32;
  std::string Text = Digits.str().str();
  if (Least)
    Text = "(-" + std::to_string(std::numeric_limits<int64_t>::max() >>
                                 (64 - Number.getBitWidth())) +
           " - 1)";
  else if (Number.isNegative())
    Text = "(" + Text + ")";
  return T->isSpecificBuiltinType(BuiltinType::Int) ? Text
                                                    : "((" + T.getAsString(Policy) + ")" + Text + ")";
}

bool hasNumber(const FunctionDecl *Kernel, StringRef Name, QualType T) {
  const FunctionTemplateDecl *Of = Kernel->getPrimaryTemplate();
  return Of && llvm::any_of(*Of->getTemplateParameters(), [&](const NamedDecl *P) {
           const auto *V = dyn_cast<NonTypeTemplateParmDecl>(P);
           return V && V->getIdentifier() && V->getName() == Name &&
                  Kernel->getASTContext().hasSameUnqualifiedType(V->getType(), T);
         });
}

} // namespace rcache
