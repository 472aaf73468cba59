// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between bytes of UTF-8 and lines of UTF-16 code units.

#include "Positions.h"
#include <algorithm>

using llvm::StringRef;
namespace lsp = llvm::lsp;

namespace rcache {
namespace {

/// Bytes of the UTF-8 character that starts with \p Lead. A byte that starts
/// none counts as a character of its own.
unsigned bytesOf(unsigned char Lead) {
  if (Lead < 0xC0)
    return 1;
  return Lead < 0xE0 ? 2 : Lead < 0xF0 ? 3 : 4;
}

/// UTF-16 code units of the character of \p Bytes bytes.
unsigned unitsOf(unsigned Bytes) { return Bytes == 4 ? 2 : 1; }

} // namespace

LineTable::LineTable(StringRef Text) : Text(Text), Starts{0} {
  for (size_t I = 0; I < Text.size(); ++I)
    if (Text[I] == '\n' ||
        (Text[I] == '\r' && (I + 1 == Text.size() || Text[I + 1] != '\n')))
      Starts.push_back(I + 1);
}

lsp::Position LineTable::position(size_t Offset) const {
  Offset = std::min(Offset, Text.size());
  auto Next = std::upper_bound(Starts.begin(), Starts.end(), Offset);
  const size_t Line = Next - Starts.begin() - 1;
  unsigned Units = 0;
  for (size_t I = Starts[Line]; I < Offset;) {
    const unsigned Bytes = bytesOf(Text[I]);
    if (I + Bytes > Offset) // inside a character: its start
      break;
    Units += unitsOf(Bytes);
    I += Bytes;
  }
  return lsp::Position(Line, Units);
}

lsp::Range LineTable::range(Span S) const {
  return {position(S.Begin), position(S.End)};
}

unsigned LineTable::offset(lsp::Position P) const {
  if (P.line < 0)
    return 0;
  const size_t Line = P.line;
  if (Line >= Starts.size())
    return Text.size();
  size_t End = Line + 1 < Starts.size() ? Starts[Line + 1] : Text.size();
  while (End > Starts[Line] && (Text[End - 1] == '\n' || Text[End - 1] == '\r'))
    --End;
  size_t I = Starts[Line];
  for (int Units = 0; I < End;) {
    const unsigned Bytes = bytesOf(Text[I]);
    Units += unitsOf(Bytes);
    if (Units > P.character)
      break;
    I += Bytes;
  }
  return std::min(I, End);
}

Span LineTable::span(lsp::Range R) const {
  return {offset(R.start), offset(R.end)};
}

bool applyChange(std::string &Text, const std::optional<lsp::Range> &Range,
                 const std::string &NewText) {
  if (!Range) {
    Text = NewText;
    return true;
  }
  if (Range->end < Range->start || Range->start.line < 0 ||
      Range->start.character < 0 || Range->end.character < 0)
    return false;
  const Span S = LineTable(Text).span(*Range);
  Text.replace(S.Begin, S.End - S.Begin, NewText);
  return true;
}

std::optional<Span> mapSpan(Span S, StringRef Old, StringRef New) {
  const size_t Shorter = std::min(Old.size(), New.size());
  size_t Prefix = 0;
  while (Prefix < Shorter && Old[Prefix] == New[Prefix])
    ++Prefix;
  size_t Suffix = 0;
  while (Suffix < Shorter - Prefix &&
         Old[Old.size() - 1 - Suffix] == New[New.size() - 1 - Suffix])
    ++Suffix;
  if (S.End <= Prefix)
    return S;
  const size_t Tail = Old.size() - Suffix;
  if (S.Begin < Tail)
    return std::nullopt;
  const unsigned Shifted = New.size() - Suffix + (S.Begin - Tail);
  return Span{Shifted, Shifted + (S.End - S.Begin)};
}

} // namespace rcache
