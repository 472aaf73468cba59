// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up rows of Arch.def.

#include "rcache/Prediction.h"

namespace rcache {

static constexpr Arch Table[] = {
#define RCACHE_ARCH(NAME, PART, MAJOR, MINOR, SMS, GHZ, GBS, FP32, INT, FP64,  \
                    SFU, THREADS, BLOCKS, SHARED)                              \
  {#NAME, PART, MAJOR, MINOR, SMS,     GHZ,    GBS,                            \
   FP32,  INT,  FP64,  SFU,   THREADS, BLOCKS, SHARED},
#include "Arch.def"
};

llvm::ArrayRef<Arch> allArchs() { return Table; }

const Arch *findArch(llvm::StringRef Name) {
  if (!Name.consume_front("sm_"))
    Name.consume_front("compute_");
  unsigned Number = 0;
  // What follows the number (`a`, `f`) names a variant of the same hardware.
  if (Name.consumeInteger(10, Number))
    return nullptr;
  const Arch *Best = nullptr;
  for (const Arch &A : Table)
    if (A.Major * 10 + A.Minor <= Number)
      Best = &A;
  return Best;
}

} // namespace rcache
