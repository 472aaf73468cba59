// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the constants of the prediction come from, and what is claimed of it.

#include "Predict/Constants.h"
#include "Predict/Caps.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <set>

using namespace rcache;

namespace {

// What was measured or fitted names its measurements; nothing else does.
TEST(Constants, Origins) {
  std::set<std::string> Names;
  for (const ConstantInfo &C : allConstants()) {
    EXPECT_TRUE(Names.insert(C.Name).second) << C.Name;
    EXPECT_NE(std::string(), C.Unit) << C.Name;
    const bool OnDevice = C.Origin == ConstantInfo::Measured ||
                          C.Origin == ConstantInfo::Fitted;
    EXPECT_EQ(OnDevice, *C.File != 0) << C.Name;
    if (OnDevice) {
      EXPECT_TRUE(llvm::sys::fs::exists(std::string(RCACHE_SOURCE_DIR) +
                                        "/docs/measurements/" + C.File))
          << C.Name << ": " << C.File;
    }
  }
  EXPECT_LT(30u, Names.size());
}

TEST(Constants, Borrowed) {
  EXPECT_EQ(nullptr, borrowedFrom(*findArch("sm_90")));
  for (const char *Other : {"sm_75", "sm_80", "sm_120"}) {
    ASSERT_NE(nullptr, borrowedFrom(*findArch(Other)));
    EXPECT_STREQ("sm_90", borrowedFrom(*findArch(Other)));
  }
}

// A plan that changes barriers alone: half of the gain, and it is said why.
TEST(Caps, HalfOfTheGainOfBarriers) {
  KernelModel M;
  Plan P;
  P.Arrays.emplace_back();
  Candidate C;
  C.Cost.Clocks = 10;
  Score Original;
  Original.Clocks = 15;
  const std::array<int64_t, 3> Block = {256, 1, 1};
  const Arch &On = *findArch("sm_90");
  claim({M, P, Block, On, constantsOf(On), Original, C}, C);
  EXPECT_DOUBLE_EQ(1.25, C.Speedup);
  EXPECT_EQ(std::vector<std::string>{"barriers-only"}, C.Caps);
  EXPECT_NE(std::string(), whyCapped("barriers-only"));
  // Several slots and no window: what merging alone saves is small.
  P.Map.Factor = {4, 1, 1};
  claim({M, P, Block, On, constantsOf(On), Original, C}, C);
  EXPECT_DOUBLE_EQ(1, C.Speedup);
  EXPECT_EQ(std::vector<std::string>{"no-windows"}, C.Caps);
}

} // namespace
