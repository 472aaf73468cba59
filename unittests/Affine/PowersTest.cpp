// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Affine/Powers.h"
#include "Notation.h"

using namespace rcache;

namespace {

class PowersTest : public AffineTest {};

TEST_F(PowersTest, FindsPowersByCount) {
  const std::map<int64_t, int64_t> Numbers = {{0, 1}, {1, 3}, {2, 7}, {4, 31}};
  const auto Form = powerForm("l", Numbers);
  ASSERT_TRUE(Form);
  EXPECT_EQ(2, Form->Factor);
  EXPECT_EQ(-1, Form->Rest);
  EXPECT_EQ(15, Form->at(3));
  EXPECT_FALSE(Form->at(31));
}

TEST_F(PowersTest, OthersAreNone) {
  EXPECT_FALSE(powerForm("l", {{0, 1}}));
  EXPECT_FALSE(powerForm("l", {{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_FALSE(powerForm("l", {{0, 5}, {1, 5}}));
  EXPECT_FALSE(powerForm("l", {{-1, 1}, {0, 2}}));
  EXPECT_FALSE(powerForm("l", {{1, 1}, {3, 8}})); // no whole factor
}

TEST_F(PowersTest, FunctionsHoldThem) {
  const isl::pw_aff F = byCount(Ctx, "l", {{1, 4}, {2, 8}, {3, 16}});
  EXPECT_VALUE("[l] -> { [(4)] : l = 1; [(8)] : l = 2; [(16)] : l = 3 }", F);
  const auto Form = powerForm(F);
  ASSERT_TRUE(Form);
  EXPECT_EQ("l", Form->Id);
  EXPECT_EQ(2, Form->Factor);
  EXPECT_EQ(0, Form->Rest);
  EXPECT_FALSE(powerForm(symbolValue(Ctx, "l")));
  EXPECT_FALSE(powerForm(constantValue(Ctx, 3)));
}

} // namespace
