// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of the prediction, as data: Constants.def.

#ifndef RCACHE_LIB_PREDICT_CONSTANTS_H
#define RCACHE_LIB_PREDICT_CONSTANTS_H

#include "rcache/Prediction.h"

namespace rcache {

struct Constants {
#define RCACHE_CONSTANT(NAME, VALUE, UNIT, ORIGIN, FILE) double NAME = VALUE;
#include "Constants.def"
};

/// The constants for \p A; where nothing was measured on it, those of the
/// architecture borrowedFrom names.
const Constants &constantsOf(const Arch &A);

/// The architecture whose measurements the constants of \p A are; null: its own.
const char *borrowedFrom(const Arch &A);

/// One row of Constants.def, for tools that print or fit them.
struct ConstantInfo {
  enum OriginKind { Published, Measured, Fitted, Assumed };
  const char *Name;
  double Value;
  const char *Unit;
  OriginKind Origin;
  const char *File; ///< below docs/measurements; "": none
};
llvm::ArrayRef<ConstantInfo> allConstants();

} // namespace rcache

#endif // RCACHE_LIB_PREDICT_CONSTANTS_H
