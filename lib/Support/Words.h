// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names in the text of a program.

#ifndef RCACHE_LIB_SUPPORT_WORDS_H
#define RCACHE_LIB_SUPPORT_WORDS_H

#include "llvm/ADT/StringRef.h"
#include <algorithm>

namespace rcache {

/// May \p C be part of a name? Bytes of letters beyond ASCII are (UTF-8).
constexpr bool isNameChar(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || (C >= '0' && C <= '9') ||
         C == '_' || static_cast<unsigned char>(C) >= 0x80;
}

/// The place behind the comment that begins at \p At of \p Text; that of a line's goes on
/// behind a backslash at its end, and the line end is not in it.
inline size_t endOfComment(llvm::StringRef Text, size_t At) {
  if (Text.substr(At).starts_with("/*")) {
    const size_t End = Text.find("*/", At + 2);
    return End == llvm::StringRef::npos ? Text.size() : End + 2;
  }
  size_t End = Text.find('\n', At);
  while (End != llvm::StringRef::npos &&
         Text.slice(At, End).rtrim(" \t\r\f\v").ends_with("\\"))
    End = Text.find('\n', End + 1);
  return std::min(End, Text.size());
}

} // namespace rcache

#endif // RCACHE_LIB_SUPPORT_WORDS_H
