// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Remarks.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <set>

using namespace rcache;

namespace {

std::string print(const Remark &R, llvm::StringRef Source) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printRemark(OS, R, Source, /*Color=*/false);
  return Text;
}

TEST(Remarks, QuotesTheLineWithACaret) {
  Remark R{RemarkLevel::Remark, {"k.cu", 2, 3, 0}, "hello"};
  EXPECT_EQ("k.cu:2:3: remark: hello\n    2 | abcdef\n      |   ^\n",
            print(R, "one\nabcdef\n"));
}

TEST(Remarks, TabsKeepTheCaretInPlace) {
  Remark R{RemarkLevel::Error, {"k.cu", 1, 2, 0}, "x"};
  EXPECT_EQ("k.cu:1:2: error: x\n    1 | \tab\n      | \t^\n",
            print(R, "\tab"));
}

TEST(Remarks, PlaceBeyondTheSourceIsNotQuoted) {
  Remark R{RemarkLevel::Warning, {"k.cu", 9, 1, 0}, "x"};
  EXPECT_EQ("k.cu:9:1: warning: x\n", print(R, "one line\n"));
}

TEST(Declines, TableIsComplete) {
  std::set<std::string> Codes;
  const std::set<std::string> Groups = {"source", "geometry", "access",
                                        "order",  "plan",     "gain"};
  for (const DeclineInfo &Info : allDeclines()) {
    EXPECT_TRUE(Codes.insert(Info.Code).second) << Info.Code << " twice";
    EXPECT_TRUE(Groups.count(Info.Group)) << Info.Code;
    for (const char *Text : {Info.Text, Info.Advice}) {
      std::string S = Text;
      ASSERT_FALSE(S.empty());
      EXPECT_TRUE(std::islower(static_cast<unsigned char>(S[0]))) << S;
      EXPECT_NE('.', S.back()) << S;
    }
  }
}

TEST(Declines, RemarkNamesKernelCodeAndAdvice) {
  std::vector<Remark> R = declineRemarks(
      "hist", {DeclineCode::SharedAtomics, "atomicAdd on 'bins'", {}});
  ASSERT_EQ(2u, R.size());
  EXPECT_EQ("'hist' left as it is: atomic operations on shared memory combine "
            "values of many threads (atomicAdd on 'bins') [shared-atomics]",
            R[0].Text);
  EXPECT_EQ(RemarkLevel::Note, R[1].Level);
}

TEST(Declines, CodesAndSpellings) {
  EXPECT_EQ("shared-atomics", spelling(DeclineCode::SharedAtomics));
  for (const DeclineInfo &Info : allDeclines()) {
    const auto Code = declineCode(Info.Code);
    ASSERT_TRUE(Code) << Info.Code;
    EXPECT_EQ(Info.Code, spelling(*Code));
  }
  EXPECT_FALSE(declineCode("no-such-code"));
}

TEST(Declines, Traits) {
  EXPECT_TRUE(has(DeclineCode::TooHard, TraitHeadOnly));
  EXPECT_TRUE(has(DeclineCode::TooHard, TraitKeepsText));
  EXPECT_FALSE(has(DeclineCode::NoGain, TraitKeepsText));
  EXPECT_FALSE(anyHas({}, TraitHiddenByCall));
  EXPECT_TRUE(
      anyHas({{DeclineCode::NoGain, "", {}}, {DeclineCode::Lambda, "", {}}},
             TraitHiddenByCall));
}

} // namespace
