// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TokenCopy.h.

#include "TokenCopy.h"
#include "MacroPlaces.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;

namespace rcache {

std::optional<FileRange> fileRange(SourceRange R, Preprocessor &PP) {
  const SourceManager &SM = PP.getSourceManager();
  CharSourceRange C = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(R), SM, PP.getLangOpts());
  if (C.isInvalid())
    return std::nullopt;
  auto [F, B] = SM.getDecomposedLoc(C.getBegin());
  auto [G, E] = SM.getDecomposedLoc(C.getEnd());
  if (F != G || E < B)
    return std::nullopt;
  return FileRange{F, B, E};
}

std::optional<std::string>
copyTokens(const FileRange &R, const Replacements &Edits,
           const std::map<std::string, std::string> &Words, Preprocessor &PP) {
  const SourceManager &SM = PP.getSourceManager();
  StringRef Buffer = SM.getBufferData(R.File);
  Lexer Lex(SM.getLocForStartOfFile(R.File), PP.getLangOpts(), Buffer.begin(),
            Buffer.begin() + R.Begin, Buffer.end());
  std::string Out;
  tok::TokenKind Last = tok::unknown;
  auto Insert = Edits.begin();
  while (true) {
    Token T;
    bool End = Lex.LexFromRawLexer(T);
    unsigned Offset = SM.getFileOffset(T.getLocation());
    while (Insert != Edits.end() && Insert->first < Offset)
      ++Insert;
    if (T.is(tok::eof) || Offset >= R.End)
      break;
    if (T.is(tok::hash) && T.isAtStartOfLine()) {
      // Of directives, only `#pragma unroll` has a form within a line.
      size_t Eol = Buffer.find('\n', Offset);
      StringRef Line = Buffer.slice(Offset + 1, Eol).trim();
      if (!Line.consume_front("pragma") || Line.contains('\\') ||
          Line.contains("//") || Line.contains("/*") ||
          !Line.trim().starts_with("unroll"))
        return std::nullopt;
      Out += " _Pragma(\"" + Line.trim().str() + "\") ";
      while (!Lex.LexFromRawLexer(T) && SM.getFileOffset(T.getLocation()) < Eol)
        ;
      Offset = SM.getFileOffset(T.getLocation());
      if (T.is(tok::eof) || Offset >= R.End)
        break;
      if (T.is(tok::hash))
        return std::nullopt;
      while (Insert != Edits.end() && Insert->first < Offset)
        ++Insert;
    }
    StringRef Text = Buffer.substr(Offset, T.getLength());
    if (Text.contains('\n') || Text.starts_with("R\""))
      return std::nullopt;
    if (T.hasLeadingSpace() || T.isAtStartOfLine())
      Out += ' ';
    auto E = Edits.find(Offset);
    if (E != Edits.end()) {
      Out += E->second.second;
      if (E->second.first) {
        unsigned To = Offset + E->second.first;
        // Skip what is replaced.
        while (!End && SM.getFileOffset(T.getLocation()) + T.getLength() < To)
          End = Lex.LexFromRawLexer(T);
        Last = T.getKind();
        continue;
      }
    }
    if (T.is(tok::raw_identifier)) {
      if (!isSteadyFrom(PP, PP.getIdentifierInfo(Text), T.getLocation()))
        return std::nullopt;
      auto W = Words.find(Text.str());
      if (W != Words.end() && Last != tok::period && Last != tok::arrow &&
          Last != tok::coloncolon)
        Text = W->second;
    }
    Out += Text;
    Last = T.getKind();
    if (End)
      break;
  }
  return StringRef(Out).trim().str();
}

} // namespace rcache
