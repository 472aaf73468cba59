// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of single steps of planning: the model of a kernel's body, and
// comparison of values and conditions with isl's notation.

#ifndef RCACHE_UNITTESTS_PLAN_PLANTESTING_H
#define RCACHE_UNITTESTS_PLAN_PLANTESTING_H

#include "../Model/ModelTesting.h"
#include "Affine/IslTools.h"
#include "gtest/gtest.h"
#include <sstream>

namespace rcache {

/// The kernel `k(const float *in, float *out, int n)` with this body, launched
/// with blocks of \p Block (host text, "256" or "dim3(32, 8)").
inline Parsed kernel(const std::string &Body, const std::string &Block,
                     const std::string &Restrict = "") {
  return parse("__global__ void k(const float *" + Restrict + " in, float *" +
               Restrict + " out, int n) {\n" + Body +
               "\n}\nvoid launch(const float *a, float *b, int n) { k<<<n, " +
               Block + ">>>(a, b, n); }\n");
}

template <typename T> std::string text(const T &V) {
  std::ostringstream OS;
  OS << V;
  return OS.str();
}

/// The same function, wherever \p Got has a value.
inline ::testing::AssertionResult isValue(const std::string &Notation,
                                          const isl::pw_aff &Got) {
  const isl::pw_aff Want(Got.ctx(), Notation);
  if (Got.domain().is_subset(Got.eq_set(Want)))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << text(Got) << " is not " << Notation;
}

/// The same condition.
inline ::testing::AssertionResult isCondition(const std::string &Notation,
                                              const isl::set &Got) {
  if (Got.is_equal(isl::set(Got.ctx(), Notation)))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << text(Got) << " is not " << Notation;
}

} // namespace rcache

#endif // RCACHE_UNITTESTS_PLAN_PLANTESTING_H
