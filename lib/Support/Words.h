// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names in the text of a program.

#ifndef RCACHE_LIB_SUPPORT_WORDS_H
#define RCACHE_LIB_SUPPORT_WORDS_H

namespace rcache {

/// May \p C be part of a name? Bytes of letters beyond ASCII are (UTF-8).
constexpr bool isNameChar(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || (C >= '0' && C <= '9') ||
         C == '_' || static_cast<unsigned char>(C) >= 0x80;
}

} // namespace rcache

#endif // RCACHE_LIB_SUPPORT_WORDS_H
