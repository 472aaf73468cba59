// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Constants.h. One set an architecture: there is one, of the H200.

#include "Constants.h"

namespace rcache {

namespace {

/// The sets, by the architecture on which they were measured.
struct MeasuredSet {
  const char *Arch;
  Constants Values;
};
constexpr MeasuredSet Sets[] = {{"sm_90", Constants()}};

const MeasuredSet &setOf(const Arch &A) {
  for (const MeasuredSet &S : Sets)
    if (llvm::StringRef(S.Arch) == A.Name)
      return S;
  return Sets[0];
}

constexpr ConstantInfo Table[] = {
#define RCACHE_CONSTANT(NAME, VALUE, UNIT, ORIGIN, FILE)                       \
  {#NAME, VALUE, UNIT, ConstantInfo::ORIGIN, FILE},
#include "Constants.def"
};

} // namespace

const Constants &constantsOf(const Arch &A) { return setOf(A).Values; }

const char *borrowedFrom(const Arch &A) {
  const MeasuredSet &S = setOf(A);
  return llvm::StringRef(S.Arch) == A.Name ? nullptr : S.Arch;
}

llvm::ArrayRef<ConstantInfo> allConstants() { return Table; }

} // namespace rcache
