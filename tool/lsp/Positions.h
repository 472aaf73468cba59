// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in a text. The protocol counts lines and UTF-16 code units from 0; the
// library counts bytes of UTF-8.

#ifndef RCACHE_LSP_POSITIONS_H
#define RCACHE_LSP_POSITIONS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LSP/Protocol.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

/// Bytes [Begin, End) of a document.
struct Span {
  unsigned Begin = 0, End = 0;

  /// True also when the two only touch: an editor's cursor stands between
  /// characters.
  bool touches(Span O) const { return Begin <= O.End && O.Begin <= End; }
  bool operator==(const Span &O) const {
    return Begin == O.Begin && End == O.End;
  }
};

/// The lines of one text. A line ends with "\n", "\r\n" or "\r". Refers to the
/// text it was made from.
class LineTable {
  llvm::StringRef Text;
  std::vector<unsigned> Starts; ///< byte offset of each line

public:
  explicit LineTable(llvm::StringRef Text);

  /// \p Offset is cut to the end of the text.
  llvm::lsp::Position position(size_t Offset) const;
  llvm::lsp::Range range(Span S) const;

  /// A character behind the end of its line means the line's end, a line behind
  /// the last one the text's end, the middle of a surrogate pair its start.
  unsigned offset(llvm::lsp::Position P) const;
  Span span(llvm::lsp::Range R) const;
};

/// Applies one change of textDocument/didChange; without a range \p NewText is
/// the whole new text. False, and \p Text as it was, when the range ends before
/// it starts or has negative numbers.
bool applyChange(std::string &Text,
                 const std::optional<llvm::lsp::Range> &Range,
                 const std::string &NewText);

/// Where \p S of \p Old is in \p New when all that changed lies between their
/// common start and their common end; nothing when S reaches into the change.
std::optional<Span> mapSpan(Span S, llvm::StringRef Old, llvm::StringRef New);

} // namespace rcache

#endif // RCACHE_LSP_POSITIONS_H
