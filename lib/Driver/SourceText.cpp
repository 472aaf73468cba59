// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SourceText.h.

#include "Driver/SourceText.h"

using llvm::StringRef;

namespace rcache {

std::string whyNoSource(StringRef Text) {
  // As far as what tells text from data looks elsewhere (git, grep).
  const StringRef Begin = Text.take_front(8000);
  const size_t Zero = Begin.find('\0');
  const bool Marked = Begin.starts_with("\xff\xfe") || Begin.starts_with("\xfe\xff");
  if (Zero == StringRef::npos && !Marked)
    return "";
  // Of Latin letters every other byte is zero.
  const size_t Zeros = 5 * Begin.count('\0');
  if (Marked || (Zero < 2 && Zeros > 2 * Begin.size() && Zeros < 3 * Begin.size()))
    return "is UTF-16: sources are read as UTF-8 (iconv -f utf-16 -t utf-8)";
  return "is no text: byte " + std::to_string(Zero) + " is zero";
}

} // namespace rcache
