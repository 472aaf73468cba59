// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/UnifiedDiff.h"
#include "gtest/gtest.h"
#include <random>
#include <vector>

using namespace rcache;

namespace {

std::string diff(const std::string &Old, const std::string &New,
                 unsigned Context = 3) {
  std::string Text = unifiedDiff(Old, New, "a", "b", Context);
  const std::string Head = "--- a\n+++ b\n";
  return Text.rfind(Head, 0) == 0 ? Text.substr(Head.size()) : Text;
}

TEST(UnifiedDiff, EqualTextsHaveNoDiff) { EXPECT_EQ("", diff("x\n", "x\n")); }

TEST(UnifiedDiff, OneLineChanged) {
  EXPECT_EQ("@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
            diff("a\nb\nc\n", "a\nB\nc\n"));
}

TEST(UnifiedDiff, EmptySides) {
  EXPECT_EQ("@@ -0,0 +1 @@\n+a\n", diff("", "a\n"));
  EXPECT_EQ("@@ -1 +0,0 @@\n-a\n", diff("a\n", ""));
}

TEST(UnifiedDiff, MissingNewlineIsMarked) {
  EXPECT_EQ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
            diff("a", "a\n"));
}

TEST(UnifiedDiff, FarChangesGiveTwoHunks) {
  EXPECT_EQ("@@ -1,2 +1,2 @@\n-1\n+x\n 2\n@@ -4,2 +4,2 @@\n 4\n-5\n+y\n",
            diff("1\n2\n3\n4\n5\n", "x\n2\n3\n4\ny\n", 1));
}

/// Applies a diff by its own hunk headers: an independent reader.
std::string applyPatch(const std::string &Old, const std::string &Patch) {
  auto Split = [](const std::string &Text) {
    std::vector<std::string> Lines;
    for (size_t Pos = 0; Pos < Text.size();) {
      size_t End = Text.find('\n', Pos);
      Lines.push_back(Text.substr(Pos, End - Pos));
      Pos = End + 1;
    }
    return Lines;
  };
  std::vector<std::string> In = Split(Old), P = Split(Patch);
  std::string Out;
  size_t Next = 0;
  for (const std::string &Line : P) {
    if (Line.rfind("---", 0) == 0 || Line.rfind("+++", 0) == 0)
      continue;
    if (Line.rfind("@@ -", 0) == 0) {
      size_t Begin = std::stoul(Line.substr(4));
      bool Empty = Line.find(",0 +") != std::string::npos;
      size_t Until = Empty ? Begin : Begin - 1;
      while (Next < Until)
        Out += In[Next++] + "\n";
    } else if (Line[0] == '+') {
      Out += Line.substr(1) + "\n";
    } else {
      EXPECT_EQ(In.at(Next), Line.substr(1));
      if (Line[0] == ' ')
        Out += In[Next] + "\n";
      ++Next;
    }
  }
  while (Next < In.size())
    Out += In[Next++] + "\n";
  return Out;
}

TEST(UnifiedDiff, RandomTextsRoundTrip) {
  std::mt19937 Random(42);
  for (int Round = 0; Round < 300; ++Round) {
    std::string Old, New;
    for (unsigned I = 0, N = Random() % 30; I < N; ++I) {
      std::string Line(1, char('a' + Random() % 4));
      if (Random() % 4 != 0)
        Old += Line + "\n";
      if (Random() % 4 != 0)
        New += Line + "\n";
    }
    unsigned Context = Random() % 4;
    EXPECT_EQ(New, applyPatch(Old, unifiedDiff(Old, New, "a", "b", Context)));
  }
}

TEST(UnifiedDiff, VeryDifferentTextsStillPatch) {
  std::string Old, New;
  for (int I = 0; I < 5000; ++I) {
    Old += "old " + std::to_string(I) + "\n";
    New += "new " + std::to_string(I) + "\n";
  }
  EXPECT_EQ(New, applyPatch(Old, unifiedDiff(Old, New, "a", "b")));
}

} // namespace
