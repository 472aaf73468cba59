// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a plan to the tree of the rewritten kernel's body (Kernel.h).

#ifndef RCACHE_LOWER_LOWER_H
#define RCACHE_LOWER_LOWER_H

#include "Kernel.h"
#include "llvm/Support/Error.h"

namespace rcache {

/// Why a kernel is not written although there is a plan for it: a decline.
class CannotWrite : public llvm::ErrorInfo<CannotWrite> {
public:
  static char ID;
  CannotWrite(DeclineCode Code, std::string Detail)
      : Code(Code), Detail(std::move(Detail)) {}
  void log(llvm::raw_ostream &OS) const override { OS << Detail; }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }
  const DeclineCode Code;
  const std::string Detail;
};

/// Whether the statements of \p M can be divided as \p P asks: a plan of which
/// this cannot be said is no candidate. Without any text, so it costs little.
/// Errors: CannotWrite. May throw isl::exception.
llvm::Error canLower(const KernelModel &M, const Plan &P);

/// The body of the kernel that \p P makes of \p M. Errors: CannotWrite, or else
/// a fault of ours. May throw isl::exception.
llvm::Expected<LoweredKernel> lower(const KernelModel &M, const Plan &P);

} // namespace rcache

#endif // RCACHE_LOWER_LOWER_H
