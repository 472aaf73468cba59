// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Predict/BankConflicts.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

/// \p DX words from lane to lane in rows of \p Row lanes, \p DY from row to row.
double rows(int64_t Row, int64_t DX, int64_t DY, unsigned Each) {
  std::vector<int64_t> Words;
  for (int64_t L = 0; L < 32; ++L)
    Words.push_back(L % Row * DX + L / Row * DY);
  return wavefrontsOfWords(Words, Each);
}

// What ncu counted on an H200 (docs/measurements/2026-11-29-h200-wavefronts.txt).
TEST(BankConflicts, FourWordsALane) {
  EXPECT_EQ(2, rows(8, 0, 20, 4));  // four rows, each for eight lanes
  EXPECT_EQ(4, rows(8, 4, 0, 4));   // eight lanes side by side, four rows alike
  EXPECT_EQ(4, rows(32, 4, 0, 4));  // all side by side
  EXPECT_EQ(8, rows(8, 8, 0, 4));   // eight lanes, 32 bytes apart
}

TEST(BankConflicts, TwoWordsALane) {
  EXPECT_EQ(2, rows(16, 2, 0, 2)); // sixteen doubles, two rows alike
  EXPECT_EQ(1, rows(16, 0, 2, 2)); // two rows side by side, each for sixteen lanes
  EXPECT_EQ(2, rows(16, 0, 32, 2)); // in the same banks
}

TEST(BankConflicts, OneWordALane) {
  EXPECT_EQ(1, rows(32, 1, 0, 1));
  EXPECT_EQ(2, rows(32, 2, 0, 1));
  EXPECT_EQ(32, rows(32, 32, 0, 1));
  EXPECT_EQ(1, rows(32, 0, 0, 1));
}

TEST(BankConflicts, AllLanesAlike) {
  EXPECT_EQ(2, rows(32, 0, 0, 4));
  EXPECT_EQ(1, rows(32, 0, 0, 2));
}

// It takes its time to come back.
TEST(BankConflicts, OneElementForAll) {
  EXPECT_EQ(4, wavefronts(std::vector<int64_t>(32, 7), 16));
}

} // namespace
