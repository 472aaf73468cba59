// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that hide what a kernel shares, written out in the kernel:
//
//     __device__ int gid() { return blockIdx.x * blockDim.x + threadIdx.x; }
//     int g = gid();          ->  int g = ((int)(blockIdx.x * blockDim.x + ...));
//     b[g] = sum(s + t, 3);   ->  float sum_value; { ... } b[g] = sum_value;
//     block.thread_rank()     ->  threadIdx.x
//
// The edits give a text that is parsed again and modelled instead of the
// original; the original itself never changes. They keep the number of lines,
// so that places in the two texts correspond.

#ifndef RCACHE_WRITEOUT_H
#define RCACHE_WRITEOUT_H

#include "rcache/Model.h"
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace rcache {

/// Replace [Offset, Offset + Length) of a source file.
struct SourceEdit {
  std::string File; ///< as clang names it
  unsigned Offset = 0, Length = 0;
  std::string Text;
  bool operator==(const SourceEdit &) const = default;
};

/// Those that hide what is shared; also those that compute with numbers that are no
/// integers; also those that get a private array.
enum class CallsToWrite { Hiding, Numeric, Private };

/// Edits that write calls out in the given kernels, one level of calls deep;
/// sorted by file and offset, without overlap. A call that cannot be written
/// out stays. A template is edited when all its instantiations agree.
std::vector<SourceEdit>
writeOutCalls(clang::ASTContext &AST, clang::Preprocessor &PP,
              const std::vector<const KernelModel *> &Kernels,
              CallsToWrite Which = CallsToWrite::Hiding);

/// \p Text with those of \p Edits that belong to \p File.
std::string applySourceEdits(const std::string &Text, const std::string &File,
                             const std::vector<SourceEdit> &Edits);

/// The offset before \p Edits of what stands at \p Offset behind them.
unsigned offsetBefore(unsigned Offset, const std::string &File,
                      const std::vector<SourceEdit> &Edits);

} // namespace rcache

#endif // RCACHE_WRITEOUT_H
