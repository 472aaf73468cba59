// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What statements compute, in instructions of a thread.

#include "ModelTesting.h"
#include <gtest/gtest.h>

using namespace rcache;

namespace {

/// What the last statement of a kernel with \p Text computes, all and of elements.
std::pair<Work, Work> last(const std::string &Text, const std::string &Before = "") {
  Parsed P = parse(Before +
                   "__global__ void k(const float *a, float *b, int n, double d) {\n"
                   "  __shared__ float s[64]; __shared__ unsigned char c[64];\n"
                   "  int t = threadIdx.x; float x = a[t], y = a[t + 1];\n" +
                   Text + "\n}\n");
  const Stmt &S = P.only().Stmts.back();
  return {S.Computes, S.OfElements};
}

} // namespace

TEST(Work, ProductsAreFusedWithOneSum) {
  EXPECT_EQ(1, last("b[t] = x * y;").first.Fp);
  EXPECT_EQ(1, last("x += x * y;").first.Fp);
  EXPECT_EQ(2, last("x = x * y + y * 3.f;").first.Fp);
  EXPECT_EQ(0, last("b[t] = x;").first.Fp);
}

TEST(Work, EachUnit) {
  EXPECT_EQ(1, last("d = d * 2.5;").first.Double);
  EXPECT_EQ(1, last("b[t] = __builtin_fminf(x, y);").first.Int);
  EXPECT_EQ(1, last("b[t] = __builtin_sqrtf(x);").first.Special);
  EXPECT_EQ(2, last("b[t] = x < y ? x : y;").first.Int); // compared, selected
  EXPECT_EQ(1, last("b[t] = x / 4.f;").first.Fp);        // a product
  EXPECT_EQ(0, last("b[t] = 3.f * 4.f;").first.Fp);
}

TEST(Work, SubscriptsApart) {
  const auto [All, Elements] = last("b[n * 5 + t] = x;");
  EXPECT_EQ(0, All.Int);
  EXPECT_NEAR(1, All.Index, .2); // a product with its sum
}

TEST(Work, CalleesAndTheirLoops) {
  const std::string F = "__device__ float f(float v) {\n"
                        "  float r = v;\n"
                        "  for (int i = 0; i < 10; ++i) r = r * v + 1.f;\n"
                        "  return r;\n"
                        "}\n";
  EXPECT_EQ(10, last("b[t] = f(x);", F).first.Fp);
}

TEST(Work, WhatIsDoneToOneElement) {
  auto Of = last("x += y * (float)c[t];");
  EXPECT_EQ(1, Of.first.Fp);
  EXPECT_EQ(1, Of.second.Int); // the conversion
  Of = last("x += __builtin_sqrtf(s[t] * 2.5f);");
  EXPECT_EQ(1, Of.second.Special);
  EXPECT_EQ(1, Of.first.Fp);
  // A product that goes to a sum is no more shared than the sum.
  Of = last("x += s[t] * 2.5f;");
  EXPECT_EQ(1, Of.first.Fp);
  EXPECT_EQ(0, Of.second.Fp);
}
