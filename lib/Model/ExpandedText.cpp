// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpandedText.h"
#include "Support/Words.h"

using namespace clang;

namespace rcache {

bool ExpandedText::inScratch(unsigned I) const {
  return SM.isWrittenInScratchSpace(SM.getSpellingLoc(Tokens.Tokens[I].Loc));
}

llvm::StringRef ExpandedText::spelling(unsigned I) const {
  const RecordedToken &T = Tokens.Tokens[I];
  return {SM.getCharacterData(SM.getSpellingLoc(T.Loc)), T.Length};
}

bool ExpandedText::spelled(unsigned From, unsigned To) const {
  for (; From < To; ++From)
    if (inScratch(From) && Tokens.Tokens[From].Kind != tok::string_literal &&
        !isLine(From))
      return false;
  return true;
}

/// `__LINE__`, not `__COUNTER__`: that one counts how often it is asked.
bool ExpandedText::isLine(unsigned I) const {
  const RecordedToken &T = Tokens.Tokens[I];
  const PresumedLoc At = SM.getPresumedLoc(SM.getExpansionLoc(T.Loc));
  return T.Kind == tok::numeric_constant && At.isValid() &&
         spelling(I) == std::to_string(At.getLine());
}

llvm::StringRef ExpandedText::madeString(unsigned I) const {
  return Tokens.Tokens[I].Kind == tok::string_literal && inScratch(I)
             ? spelling(I)
             : llvm::StringRef();
}

std::string ExpandedText::expanded(unsigned From, unsigned To) const {
  std::string Out;
  for (unsigned I = From; I < To; ++I) {
    const RecordedToken &Tok = Tokens.Tokens[I];
    const llvm::StringRef Spelling = spelling(I);
    const bool Words =
        !Out.empty() && !Spelling.empty() &&
        isNameChar(Out.back()) && isNameChar(Spelling[0]);
    if (I > From && (Tok.LeadingSpace || Words))
      Out += ' ';
    Out += Spelling;
  }
  return Out;
}

std::optional<std::pair<unsigned, unsigned>>
ExpandedText::invocationAround(SourceLocation L) const {
  auto At = Tokens.ByLocation.find(L.getRawEncoding());
  if (!L.isMacroID() || At == Tokens.ByLocation.end())
    return std::nullopt;
  const SourceLocation Begin = SM.getExpansionLoc(L);
  auto Same = [&](unsigned I) {
    return Tokens.Tokens[I].Loc.isMacroID() &&
           SM.getExpansionLoc(Tokens.Tokens[I].Loc) == Begin;
  };
  unsigned First = At->second, End = At->second + 1;
  while (First > 0 && Same(First - 1))
    --First;
  while (End < Tokens.Tokens.size() && Same(End))
    ++End;
  return std::make_pair(First, End);
}

} // namespace rcache
