// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture for tests in isl notation: value("[n] -> { [(n + 1)] }").

#ifndef RCACHE_UNITTESTS_AFFINE_NOTATION_H
#define RCACHE_UNITTESTS_AFFINE_NOTATION_H

#include "rcache/Affine.h"
#include "gtest/gtest.h"
#include <sstream>

namespace rcache {

class AffineTest : public ::testing::Test {
protected:
  AffineContext Owner;
  isl::ctx Ctx = Owner.ctx();

  isl::pw_aff value(const std::string &S) { return isl::pw_aff(Ctx, S); }
  isl::set cond(const std::string &S) { return isl::set(Ctx, S); }
  isl::map map(const std::string &S) { return isl::map(Ctx, S); }

  /// Equal as functions: same domain, same values.
  static bool same(const isl::pw_aff &A, const isl::pw_aff &B) {
    return A.domain().is_equal(B.domain()) && A.domain().is_subset(A.eq_set(B));
  }
  template <typename T> static std::string str(const T &V) {
    std::ostringstream OS;
    OS << V;
    return OS.str();
  }
};

#define EXPECT_VALUE(Expected, Actual)                                         \
  EXPECT_TRUE(same(value(Expected), Actual)) << str(Actual)
#define EXPECT_COND(Expected, Actual)                                          \
  EXPECT_TRUE(cond(Expected).is_equal(Actual)) << str(Actual)
#define EXPECT_MAP(Expected, Actual)                                           \
  EXPECT_TRUE(map(Expected).is_equal(Actual)) << str(Actual)

} // namespace rcache

#endif // RCACHE_UNITTESTS_AFFINE_NOTATION_H
