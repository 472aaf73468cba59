// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions: UTF-16 columns, line ends, changes, spans through a change.

#include "Positions.h"
#include "gtest/gtest.h"

using namespace rcache;
using llvm::lsp::Position;
using llvm::lsp::Range;

namespace {

TEST(LineTable, CountsUtf16Units) {
  // 1, 2, 3 and 4 bytes: 1, 1, 1 and 2 units.
  const std::string Text = "a\u00e9\u20ac\U0001F600b";
  const LineTable Lines(Text);
  EXPECT_EQ(0u, Lines.offset(Position(0, 0)));
  EXPECT_EQ(1u, Lines.offset(Position(0, 1)));
  EXPECT_EQ(3u, Lines.offset(Position(0, 2)));
  EXPECT_EQ(6u, Lines.offset(Position(0, 3)));
  EXPECT_EQ(6u, Lines.offset(Position(0, 4))); // between the surrogates
  EXPECT_EQ(10u, Lines.offset(Position(0, 5)));
  EXPECT_EQ(11u, Lines.offset(Position(0, 6)));
  EXPECT_EQ(Position(0, 5), Lines.position(10));
  EXPECT_EQ(Position(0, 3), Lines.position(8)); // inside of a character
  for (int Column : {0, 1, 2, 3, 5, 6})
    EXPECT_EQ(Position(0, Column),
              Lines.position(Lines.offset(Position(0, Column))));
}

TEST(LineTable, KnowsAllLineEnds) {
  const std::string Text = "ab\ncd\r\nef\rgh";
  const LineTable Lines(Text);
  EXPECT_EQ(3u, Lines.offset(Position(1, 0)));
  EXPECT_EQ(7u, Lines.offset(Position(2, 0)));
  EXPECT_EQ(10u, Lines.offset(Position(3, 0)));
  EXPECT_EQ(Position(3, 2), Lines.position(12));
  EXPECT_EQ(Position(2, 1), Lines.position(8));
}

TEST(LineTable, CutsWhatIsOutside) {
  const std::string Text = "ab\r\ncd\n";
  const LineTable Lines(Text);
  EXPECT_EQ(2u, Lines.offset(Position(0, 99))); // in front of the line end
  EXPECT_EQ(7u, Lines.offset(Position(2, 0)));
  EXPECT_EQ(7u, Lines.offset(Position(2, 5)));
  EXPECT_EQ(7u, Lines.offset(Position(99, 0)));
  EXPECT_EQ(0u, Lines.offset(Position(-1, 3)));
  EXPECT_EQ(4u, Lines.offset(Position(1, -3)));
  EXPECT_EQ(Position(2, 0), Lines.position(99));
  EXPECT_EQ(Position(0, 0), LineTable("").position(0));
  EXPECT_EQ(0u, LineTable("").offset(Position(0, 1)));
}

TEST(ApplyChange, ReplacesRangesAndWholes) {
  std::string Text = "\U0001F600x\nyz";
  EXPECT_TRUE(applyChange(Text, Range({0, 2}, {1, 1}), "-"));
  EXPECT_EQ("\U0001F600-z", Text);
  EXPECT_TRUE(applyChange(Text, Range({0, 0}, {0, 2}), ""));
  EXPECT_EQ("-z", Text);
  EXPECT_TRUE(applyChange(Text, Range({0, 99}, {99, 0}), "\n!"));
  EXPECT_EQ("-z\n!", Text);
  EXPECT_TRUE(applyChange(Text, std::nullopt, "new"));
  EXPECT_EQ("new", Text);
  EXPECT_FALSE(applyChange(Text, Range({0, 2}, {0, 1}), "?"));
  EXPECT_FALSE(applyChange(Text, Range({-1, 0}, {0, 1}), "?"));
  EXPECT_EQ("new", Text);
}

TEST(MapSpan, FollowsWhatDidNotChange) {
  const std::string Old = "kernel A; body; kernel B;";
  const std::string New = "kernel A; longer text; kernel B;";
  EXPECT_EQ((Span{7, 8}), mapSpan({7, 8}, Old, New));
  EXPECT_EQ((Span{30, 31}), mapSpan({23, 24}, Old, New));
  EXPECT_EQ(std::nullopt, mapSpan({8, 20}, Old, New));
  EXPECT_EQ((Span{7, 8}), mapSpan({7, 8}, Old, Old));
  EXPECT_EQ(std::nullopt, mapSpan({7, 8}, Old, ""));
  // Common start and end do not overlap.
  EXPECT_EQ((Span{1, 2}), mapSpan({1, 2}, "aaa", "aa"));
  EXPECT_EQ(std::nullopt, mapSpan({2, 3}, "aaa", "aa"));
}

} // namespace
