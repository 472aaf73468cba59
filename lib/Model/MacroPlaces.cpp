// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MacroPlaces.h. The preprocessor keeps what every name has been defined as, and
// where; the names that a macro's text mentions are looked through like any other.

#include "MacroPlaces.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <vector>

using namespace clang;

namespace rcache {

/// What \p Latest, the history of a name, says at \p At; null: it is no macro there.
static const MacroInfo *textAt(const MacroDirective *Latest, SourceLocation At,
                               const SourceManager &SM) {
  const auto Def = Latest ? Latest->findDirectiveAtLoc(At, SM)
                          : MacroDirective::DefInfo();
  return Def ? Def.getMacroInfo() : nullptr;
}

static bool same(const MacroInfo *A, const MacroInfo *B, Preprocessor &PP) {
  return A == B || (A && B && A->isIdenticalTo(*B, PP, /*Syntactically=*/true));
}

/// Does the text of \p M, if it is a macro, mention a name for which \p Is holds?
template <class Predicate> static bool mentions(const MacroInfo *M, Predicate Is) {
  return M && llvm::any_of(M->tokens(), [&](const Token &T) {
           const IdentifierInfo *II = T.getIdentifierInfo();
           return II && Is(II);
         });
}

/// Those that no text mentions, but which the new one may: all that differ.
static std::set<std::string> changedBetween(Preprocessor &PP, SourceLocation From,
                                            SourceLocation To) {
  const SourceManager &SM = PP.getSourceManager();
  struct Macro {
    const IdentifierInfo *Name;
    const MacroInfo *Before, *After;
  };
  std::vector<Macro> All;
  llvm::SmallPtrSet<const IdentifierInfo *, 8> Found;
  for (const auto &[Name, State] : PP.macros(/*IncludeExternalMacros=*/false)) {
    const MacroDirective *D = PP.getLocalMacroDirectiveHistory(Name);
    const Macro M{Name, textAt(D, From, SM), textAt(D, To, SM)};
    if (!same(M.Before, M.After, PP))
      Found.insert(Name);
    else if (M.Before)
      All.push_back(M);
  }
  const auto IsFound = [&](const IdentifierInfo *II) { return Found.contains(II); };
  for (bool More = !Found.empty(); More;) {
    More = false;
    for (const Macro &M : All)
      if (!IsFound(M.Name) && (mentions(M.Before, IsFound) || mentions(M.After, IsFound)))
        More = Found.insert(M.Name).second;
  }
  std::set<std::string> Names;
  for (const IdentifierInfo *II : Found)
    Names.insert(II->getName().str());
  return Names;
}

/// Does \p Name, with all that the text of a macro mentions, mean the same at both places?
static bool meansTheSame(Preprocessor &PP, const IdentifierInfo *Name, SourceLocation A,
                         SourceLocation B,
                         llvm::SmallPtrSetImpl<const IdentifierInfo *> &Asked) {
  if (!Name->hadMacroDefinition() || !Asked.insert(Name).second)
    return true;
  const SourceManager &SM = PP.getSourceManager();
  const MacroDirective *D = PP.getLocalMacroDirectiveHistory(Name);
  const MacroInfo *const Here = textAt(D, A, SM);
  return same(Here, textAt(D, B, SM), PP) && !mentions(Here, [&](const IdentifierInfo *II) {
           return !meansTheSame(PP, II, A, B, Asked);
         });
}

const MacroInfo *macroAt(Preprocessor &PP, StringRef Name, SourceLocation At) {
  return textAt(PP.getLocalMacroDirectiveHistory(PP.getIdentifierInfo(Name)), At,
                PP.getSourceManager());
}

bool wasWithoutArguments(Preprocessor &PP, StringRef Name) {
  for (const MacroDirective *D = PP.getLocalMacroDirectiveHistory(PP.getIdentifierInfo(Name)); D;
       D = D->getPrevious())
    if (const auto *Def = dyn_cast<DefMacroDirective>(D); Def && Def->getInfo()->isObjectLike())
      return true;
  return false;
}

std::set<std::string> namesReadOtherwise(Preprocessor &PP, SourceRange Text,
                                         SourceLocation To) {
  const SourceManager &SM = PP.getSourceManager();
  const SourceLocation Begin = SM.getExpansionLoc(Text.getBegin()),
                       End = SM.getExpansionRange(Text.getEnd()).getEnd();
  std::set<std::string> Names;
  if (SM.getFileID(End) != SM.getFileID(To) ||
      SM.getFileOffset(To) != SM.getFileOffset(End) + 1)
    Names = changedBetween(PP, End, To);
  // Within the text, word by word: directives may stand there.
  const auto [File, First] = SM.getDecomposedLoc(Begin);
  const auto [EndFile, Last] = SM.getDecomposedLoc(End);
  if (EndFile != File)
    return Names; // (and the kernel is left as it is)
  const StringRef Buffer = SM.getBufferData(File);
  Lexer Raw(SM.getLocForStartOfFile(File), PP.getLangOpts(), Buffer.begin(),
            Buffer.begin() + First, Buffer.end());
  for (Token T; !Raw.LexFromRawLexer(T) && SM.getFileOffset(T.getLocation()) <= Last;) {
    if (T.is(tok::hash) && T.isAtStartOfLine()) {
      Raw.setParsingPreprocessorDirective(true);
      while (T.isNot(tok::eod) && T.isNot(tok::eof))
        Raw.LexFromRawLexer(T);
    } else if (T.is(tok::raw_identifier)) {
      llvm::SmallPtrSet<const IdentifierInfo *, 8> Asked;
      if (!meansTheSame(PP, PP.getIdentifierInfo(T.getRawIdentifier()), T.getLocation(), To,
                        Asked))
        Names.insert(T.getRawIdentifier().str());
    }
  }
  return Names;
}

static bool isSteadyFrom(Preprocessor &PP, const IdentifierInfo *Name, SourceLocation From,
                         llvm::SmallPtrSetImpl<const IdentifierInfo *> &Asked) {
  if (!Name->hadMacroDefinition() || !Asked.insert(Name).second)
    return true;
  const SourceManager &SM = PP.getSourceManager();
  const MacroDirective *Latest = PP.getLocalMacroDirectiveHistory(Name);
  const MacroInfo *const Here = textAt(Latest, From, SM);
  for (auto D = Latest ? Latest->getDefinition() : MacroDirective::DefInfo(); D;
       D = D.getPreviousDefinition()) {
    const bool Behind = D.getLocation().isValid() &&
                        SM.isBeforeInTranslationUnit(From, D.getLocation());
    if (Behind ? !same(D.getMacroInfo(), Here, PP)
               : D.getMacroInfo() == Here && Here && D.isUndefined())
      return false;
    if (!Behind)
      break;
  }
  return !mentions(Here, [&](const IdentifierInfo *II) {
    return !isSteadyFrom(PP, II, From, Asked);
  });
}

bool isSteadyFrom(Preprocessor &PP, const IdentifierInfo *Name, SourceLocation From) {
  llvm::SmallPtrSet<const IdentifierInfo *, 8> Asked;
  return isSteadyFrom(PP, Name, From, Asked);
}

} // namespace rcache
