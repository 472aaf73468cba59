// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remarks and errors in the form that clang prints and editors parse:
//
//     stencil.cu:12:17: remark: rewrote 'stencil': 8 outputs a thread
//     [-Rrcache]
//        12 | __global__ void stencil(const float *a, float *b, int n) {
//           |                 ^

#ifndef RCACHE_SUPPORT_REMARKS_H
#define RCACHE_SUPPORT_REMARKS_H

#include "rcache/Decline.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace rcache {

enum class RemarkLevel { Remark, Note, Warning, Error };

/// One message about one place. A position without a file prints no place.
struct Remark {
  RemarkLevel Level = RemarkLevel::Remark;
  SourcePos Pos;
  std::string Text;
};

/// The remark for a decline, and the note that says what would make it work:
/// "'hist' left as it is: <text>: <detail> [shared-atomics]".
std::vector<Remark> declineRemarks(llvm::StringRef KernelName,
                                   const Decline &D);

/// Prints \p R. \p Source is the text of R.Pos.File (empty: unknown), from
/// which the quoted line is taken; \p Color switches clang's colours on.
void printRemark(llvm::raw_ostream &OS, const Remark &R, llvm::StringRef Source,
                 bool Color);

} // namespace rcache

#endif // RCACHE_SUPPORT_REMARKS_H
