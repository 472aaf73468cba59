// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Differences that nvcc makes sums of, or not.

#ifndef RCACHE_LIB_MODEL_TURNEDSUMS_H
#define RCACHE_LIB_MODEL_TURNEDSUMS_H

#include "FusionOrder.h"
#include "ProductFlow.h"
#include <map>
#include <memory>

namespace rcache {

/// Looks at the operands of sums, in the kernel and what it calls.
class TurnedSums {
public:
  using Call = FusionOrder::Call;
  using Flows = std::map<const clang::FunctionDecl *, std::unique_ptr<ProductFlow>>;
  explicit TurnedSums(const Flows &Of) : Of(Of) {}

  /// Does what \p Sum, of two products, is fused with hang on whether it is a sum or a
  /// difference by then?
  bool matters(const clang::BinaryOperator *Sum, const Call &In) const;

private:
  const Flows &Of;
  /// What \p E is made of, by the operators and variables that its value comes through.
  class Walk;
};

/// The argument of the call \p In that its parameter \p E gets; null: it is none.
const clang::Expr *argumentOf(const clang::Expr *E, const FusionOrder::Call &In);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_TURNEDSUMS_H
