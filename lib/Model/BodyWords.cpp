// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyWords.h.

#include "BodyWords.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "llvm/ADT/StringSet.h"

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

} // namespace rcache
