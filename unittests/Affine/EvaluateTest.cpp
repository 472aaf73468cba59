// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "Notation.h"

using namespace rcache;

namespace {

class EvaluateTest : public AffineTest {};

TEST_F(EvaluateTest, Values) {
  const isl::pw_aff V = value("[x, n] -> { [(2x + floor((x - n)/4))] : x > 0; "
                              "[(-x)] : x <= 0 }");
  EXPECT_EQ(2 * 5 - 2, evaluate(V, {{"x", 5}, {"n", 10}, {"other", 1}}));
  EXPECT_EQ(3, evaluate(V, {{"x", -3}, {"n", 10}}));
  EXPECT_EQ(std::nullopt,
            evaluate(value("[x] -> { [(x)] : x > 3 }"), {{"x", 3}}));
}

TEST_F(EvaluateTest, Conditions) {
  const isl::set S = cond("[x] -> { : exists a : x = 4a + 1 and 0 <= x < 20 }");
  for (int64_t X = -8; X < 40; ++X)
    EXPECT_EQ(X >= 0 && X < 20 && X % 4 == 1, evaluate(S, {{"x", X}})) << X;
  EXPECT_FALSE(evaluate(cond("{ : false }"), {}));
  EXPECT_TRUE(evaluate(cond("{ : }"), {}));
}

TEST_F(EvaluateTest, NestedDivisionsAndProjections) {
  const isl::pw_aff V =
      value("[x] -> { [(floor((floor((3x + 1)/5) + x)/7) + (x mod 3))] }");
  const CompiledValue C = CompiledValue::make(V, {"x"});
  auto Floor = [](int64_t A, int64_t B) { return A / B - (A % B < 0); };
  for (int64_t X = -60; X < 60; ++X)
    EXPECT_EQ(Floor(Floor(3 * X + 1, 5) + X, 7) + (X - 3 * Floor(X, 3)),
              C.at({X}))
        << X;
  const isl::set S = projectOut(
      cond("[x, y] -> { : 3y <= x <= 3y + 1 and 0 <= y < 4 }"), {"y"});
  for (int64_t X = -6; X < 20; ++X)
    EXPECT_EQ(X >= 0 && X < 12 && X % 3 < 2, evaluate(S, {{"x", X}})) << X;
}

TEST_F(EvaluateTest, MissingSymbolIsAnError) {
  auto E = guarded([&] { return evaluate(value("[x] -> { [(x)] }"), {}); });
  ASSERT_FALSE(bool(E));
  llvm::consumeError(E.takeError());
}

} // namespace
