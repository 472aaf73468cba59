// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that are named as sources and are none: objects, archives, UTF-16. Compilers
// have much to say of these, line by line, and little that helps.

#ifndef RCACHE_DRIVER_SOURCETEXT_H
#define RCACHE_DRIVER_SOURCETEXT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace rcache {

/// Why \p Text, of a file, is no source ("is UTF-16 ..."), or "". Bytes of other
/// encodings that have ASCII in them are passed on as they are.
std::string whyNoSource(llvm::StringRef Text);

} // namespace rcache

#endif // RCACHE_DRIVER_SOURCETEXT_H
