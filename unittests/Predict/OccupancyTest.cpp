// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rcache/Prediction.h"
#include "gtest/gtest.h"
#include <iterator>

using namespace rcache;

namespace {

TEST(Arch, Lookup) {
  ASSERT_TRUE(findArch("sm_90"));
  EXPECT_STREQ("sm_90", findArch("sm_90a")->Name);
  EXPECT_STREQ("sm_80", findArch("compute_80")->Name);
  // Without a row of its own: the nearest lower one.
  EXPECT_STREQ("sm_86", findArch("sm_87")->Name);
  EXPECT_STREQ("sm_100", findArch("sm_103a")->Name);
  EXPECT_STREQ("sm_120", findArch("sm_121")->Name);
  EXPECT_EQ(nullptr, findArch("sm_60"));
  EXPECT_EQ(nullptr, findArch("native"));
  for (const Arch &A : allArchs())
    EXPECT_EQ(&A, findArch(A.Name));
}

TEST(Arch, Parts) {
  EXPECT_STREQ("H100", findPart("NVIDIA H100 80GB HBM3")->Part);
  EXPECT_STREQ("H100 PCIe", findPart("NVIDIA H100 PCIe")->Part);
  EXPECT_STREQ("H200", findPart("h200")->Part);
  EXPECT_STREQ("GeForce RTX 4090", findPart("RTX4090")->Part);
  EXPECT_STREQ("sm_80", findPart("A100")->Name);
  EXPECT_STREQ("A100 80GB", findPart("NVIDIA A100-SXM4-80GB")->Part);
  EXPECT_STREQ("A10", findPart("NVIDIA A10")->Part);
  EXPECT_LT(findPart("H100")->DramGBs, findArch("sm_90")->DramGBs);
  EXPECT_EQ(nullptr, findPart("GeForce 8800"));
  EXPECT_EQ(nullptr, findPart(""));
}

// "Technical Specifications per Compute Capability" of the CUDA C++ Programming
// Guide, by what occupancy makes of each limit alone.
TEST(Arch, DocumentedLimits) {
  struct Limits {
    const char *Name;
    unsigned Threads, Warps, Blocks, SharedKB, BlockSharedKB;
  };
  const Limits Documented[] = {
      {"sm_70", 2048, 64, 32, 96, 96},    {"sm_75", 1024, 32, 16, 64, 64},
      {"sm_80", 2048, 64, 32, 164, 163},  {"sm_86", 1536, 48, 16, 100, 99},
      {"sm_89", 1536, 48, 24, 100, 99},   {"sm_90", 2048, 64, 32, 228, 227},
      {"sm_100", 2048, 64, 32, 228, 227}, {"sm_120", 1536, 48, 24, 100, 99},
  };
  ASSERT_EQ(std::size(Documented), allArchs().size());
  for (const Limits &L : Documented) {
    const Arch &A = *findArch(L.Name);
    ASSERT_STREQ(L.Name, A.Name);
    EXPECT_EQ(L.Threads, A.MaxThreadsPerSm) << L.Name;
    EXPECT_EQ(L.Blocks, A.MaxBlocksPerSm) << L.Name;
    EXPECT_EQ(L.SharedKB, A.SharedKBPerSm) << L.Name;
    for (auto *Of : {occupancy, occupancyByLimits}) {
      EXPECT_EQ(L.Warps, Of(A, 32, 512, 0).WarpsPerSm) << L.Name;
      EXPECT_EQ(L.Blocks, Of(A, 16, 32, 0).BlocksPerSm) << L.Name;
      // 65536 registers an SM, 255 a thread.
      EXPECT_EQ(65536u / 128 / 128, Of(A, 128, 128, 0).BlocksPerSm) << L.Name;
      EXPECT_EQ(0u, Of(A, 256, 32, 0).BlocksPerSm) << L.Name;
      EXPECT_EQ(0u, Of(A, 32, 1025, 0).BlocksPerSm) << L.Name;
      const unsigned Most = L.BlockSharedKB * 1024;
      EXPECT_EQ(1u, Of(A, 32, 128, Most).BlocksPerSm) << L.Name;
      EXPECT_EQ(0u, Of(A, 32, 128, Most + 1).BlocksPerSm) << L.Name;
    }
  }
}

TEST(Occupancy, Limits) {
  const Arch &H = *findArch("sm_90");
  EXPECT_EQ(64u, occupancy(H, 32, 256, 0).WarpsPerSm);
  EXPECT_EQ(32u, occupancy(H, 16, 32, 0).WarpsPerSm); // 32 blocks of a warp
  EXPECT_STREQ("blocks", occupancy(H, 16, 32, 0).Limit);
  EXPECT_EQ(16u, occupancy(H, 128, 256, 0).WarpsPerSm);
  EXPECT_STREQ("registers", occupancy(H, 128, 256, 0).Limit);
  EXPECT_EQ(2u, occupancy(H, 32, 128, 100 * 1024).BlocksPerSm);
  EXPECT_STREQ("shared memory", occupancy(H, 32, 128, 100 * 1024).Limit);
  EXPECT_EQ(0u, occupancy(H, 32, 128, 228 * 1024).BlocksPerSm);
  EXPECT_EQ(0u, occupancy(H, 300, 128, 0).BlocksPerSm);
  EXPECT_EQ(0u, occupancy(H, 32, 2048, 0).BlocksPerSm);
  EXPECT_EQ(0u, occupancy(H, 128, 1024, 0).BlocksPerSm);
  EXPECT_EQ(32u, occupancy(*findArch("sm_75"), 32, 256, 0).WarpsPerSm);
}

// The toolkit's calculator and the one from published limits agree.
TEST(Occupancy, AgreesWithToolkit) {
  if (!hasToolkitOccupancy())
    GTEST_SKIP() << "built without cuda_occupancy.h";
  for (const Arch &A : allArchs())
    for (unsigned Registers : {16u, 32u, 40u, 63u, 64u, 96u, 128u, 168u, 255u})
      for (unsigned Threads : {32u, 64u, 96u, 128u, 256u, 512u, 1000u, 1024u})
        for (unsigned Shared : {0u, 1000u, 4200u, 16384u, 40000u}) {
          const Occupancy T = occupancy(A, Registers, Threads, Shared);
          const Occupancy L = occupancyByLimits(A, Registers, Threads, Shared);
          EXPECT_EQ(T.BlocksPerSm, L.BlocksPerSm)
              << A.Name << " registers " << Registers << " threads " << Threads
              << " shared " << Shared << " limit " << L.Limit;
        }
}

} // namespace
