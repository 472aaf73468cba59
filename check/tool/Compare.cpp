// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare.h"

#include <cstdio>

namespace rcache::check {

FirstDifference compareMemory(const uint8_t *A, const uint8_t *ShadowA,
                              const uint8_t *B, const uint8_t *ShadowB,
                              size_t Size) {
  constexpr size_t Chunk = 4096;
  for (size_t At = 0; At < Size; At += Chunk) {
    size_t N = Size - At < Chunk ? Size - At : Chunk;
    if (!memcmp(A + At, B + At, N) && !memcmp(ShadowA + At, ShadowB + At, N))
      continue;
    for (size_t I = At; I < At + N; ++I) {
      if (ShadowA[I] == 0xff)
        continue;
      if (ShadowB[I] & ~ShadowA[I])
        return {Difference::Undefined, I};
      if ((A[I] ^ B[I]) & ~ShadowA[I])
        return {Difference::Value, I};
    }
  }
  return {};
}

std::string describeWord(const uint8_t *P, unsigned Width) {
  char Buf[160];
  uint64_t Bits = 0;
  memcpy(&Bits, P, Width);
  switch (Width) {
  case 8: {
    double D;
    memcpy(&D, P, 8);
    snprintf(Buf, sizeof(Buf), "0x%016llx (%.17g)", (unsigned long long)Bits,
             D);
    break;
  }
  case 4: {
    float F;
    memcpy(&F, P, 4);
    snprintf(Buf, sizeof(Buf), "0x%08llx (%.9g, int %d)",
             (unsigned long long)Bits, F, int32_t(Bits));
    break;
  }
  default:
    snprintf(Buf, sizeof(Buf), "0x%0*llx (%lld)", int(2 * Width),
             (unsigned long long)Bits, (long long)Bits);
  }
  return Buf;
}

} // namespace rcache::check
