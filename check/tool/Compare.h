// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bit-for-bit comparison of memory, and its words.

#ifndef RCACHE_CHECK_COMPARE_H
#define RCACHE_CHECK_COMPARE_H

#include "Runtime.h"

#include <cstring>

namespace rcache::check {

enum class Difference { None, Value, Undefined };

/// The first byte where two memories differ. \p ShadowA and \p ShadowB tell
/// which bits were never initialised: what the original leaves undefined does
/// not count, what only the rewritten leaves undefined does.
struct FirstDifference {
  Difference Kind = Difference::None;
  size_t Offset = 0;
};
FirstDifference compareMemory(const uint8_t *A, const uint8_t *ShadowA,
                              const uint8_t *B, const uint8_t *ShadowB,
                              size_t Size);

/// "0x3f800000 (1, int 1065353216)": the word of \p Width bytes at \p P.
std::string describeWord(const uint8_t *P, unsigned Width);

} // namespace rcache::check

#endif
