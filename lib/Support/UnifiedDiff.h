// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A line diff in the unified format that patch(1) and git apply read; neither
// LLVM nor clang has one.

#ifndef RCACHE_SUPPORT_UNIFIEDDIFF_H
#define RCACHE_SUPPORT_UNIFIEDDIFF_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace rcache {

/// The difference between two texts as
///
///     --- OldName
///     +++ NewName
///     @@ -3,7 +3,8 @@
///      context
///     -removed
///     +added
///
/// with \p Context unchanged lines around each change. Equal texts give the
/// empty string. A text that does not end in a newline is marked as diff does.
/// The script is a shortest one (Myers) unless the texts differ in more than
/// some thousand lines; then the middle part is replaced as a whole, which is
/// still a correct patch.
std::string unifiedDiff(llvm::StringRef Old, llvm::StringRef New,
                        llvm::StringRef OldName, llvm::StringRef NewName,
                        unsigned Context = 3);

} // namespace rcache

#endif // RCACHE_SUPPORT_UNIFIEDDIFF_H
