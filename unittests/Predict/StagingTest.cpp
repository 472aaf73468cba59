// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How often the warps of a block execute what fills shared memory.

#include "Predict/SharedReads.h"
#include "Predict/StagingCosts.h"
#include "../Model/ModelTesting.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

/// The staging writes of the kernel \p Body, launched with \p Block.
std::vector<StagingTrips> trips(const std::string &Body,
                                std::array<int64_t, 3> Block,
                                double *Further = nullptr) {
  const std::string Dim = std::to_string(Block[0]) + ", " +
                          std::to_string(Block[1]) + ", " +
                          std::to_string(Block[2]);
  Parsed P = parse("__global__ void k(const float *in, float *out, int n) {\n" +
                   Body + "}\nvoid launch(float *a, float *b, int n) { k<<<n, "
                          "dim3(" +
                   Dim + ")>>>(a, b, n); }\n");
  const KernelModel &M = P.only();
  std::vector<StagingTrips> R;
  for (const SharedAccess &A : M.SharedAccesses)
    if (A.K == SharedAccess::Write)
      R.push_back(stagingTrips(M, A.Stmt, Block));
  if (Further)
    *Further = Staging(M, Block).furtherRounds();
  return R;
}

// Two rows of threads a warp: the warps of the first two rows go twice through
// the outer loop, all of them twice through the inner one.
TEST(Staging, TileAndHaloByStridedLoops) {
  double Further = 0;
  const auto T =
      trips("__shared__ float s[18][18];\n"
            "for (int j = threadIdx.y; j < 18; j += 16)\n"
            "  for (int i = threadIdx.x; i < 18; i += 16)\n"
            "    s[j][i] = in[j * n + i];\n"
            "__syncthreads();\n"
            "out[threadIdx.x] = s[threadIdx.y][threadIdx.x + 2];\n",
            {16, 16, 1}, &Further);
  ASSERT_EQ(T.size(), 1u);
  EXPECT_DOUBLE_EQ(T[0].Warp, 2 + 2 / 8.0);
  EXPECT_DOUBLE_EQ(T[0].Thread, 18 * 18 / 256.0);
  EXPECT_DOUBLE_EQ(T[0].Serial, 4);
  EXPECT_DOUBLE_EQ(Further, 3);
}

// A guard on the column is met in each row of 32 threads, one on the row in one
// warp of eight; nothing waits for a round before it.
TEST(Staging, GuardsOfAStar) {
  double Further = 1;
  const auto T = trips("__shared__ float s[10][34];\n"
                       "int x = blockIdx.x * 32 + threadIdx.x;\n"
                       "s[threadIdx.y + 1][threadIdx.x + 1] = in[x];\n"
                       "if (threadIdx.x == 0 && x > 0)\n"
                       "  s[threadIdx.y + 1][0] = in[x - 1];\n"
                       "if (threadIdx.y == 7)\n"
                       "  s[9][threadIdx.x + 1] = in[x + n];\n"
                       "__syncthreads();\n"
                       "out[x] = s[threadIdx.y][threadIdx.x];\n",
                       {32, 8, 1}, &Further);
  ASSERT_EQ(T.size(), 3u);
  EXPECT_DOUBLE_EQ(T[0].Warp, 1);
  EXPECT_DOUBLE_EQ(T[1].Warp, 1);
  EXPECT_DOUBLE_EQ(T[1].Thread, 1 / 32.0);
  EXPECT_DOUBLE_EQ(T[2].Warp, 1 / 8.0);
  EXPECT_DOUBLE_EQ(T[2].Thread, 1 / 8.0);
  EXPECT_DOUBLE_EQ(T[2].Serial, 1);
  EXPECT_DOUBLE_EQ(Further, 0);
}

// All threads number the elements of a tile: the last round is the first warps'.
TEST(Staging, LoopOverTheWholeBlock) {
  const auto T =
      trips("__shared__ float s[300];\n"
            "for (int i = threadIdx.x; i < 300; i += blockDim.x)\n"
            "  s[i] = in[i];\n"
            "__syncthreads();\n"
            "out[threadIdx.x] = s[threadIdx.x + 7];\n",
            {128, 1, 1});
  ASSERT_EQ(T.size(), 1u);
  EXPECT_DOUBLE_EQ(T[0].Warp, 2 + 2 / 4.0); // 44 elements: two warps of four
  EXPECT_DOUBLE_EQ(T[0].Serial, 3);
}

// The compiler reads an element once that a statement names twice, unless it
// may have changed.
TEST(SharedReads, TheSameElementAgain) {
  const auto Cost = [](const std::string &Body) {
    Parsed P = parse("__global__ void k(const float *in, float *out, int n) {\n"
                     "__shared__ float s[256];\n"
                     "s[threadIdx.x] = in[threadIdx.x];\n__syncthreads();\n" +
                     Body + "}\nvoid launch(float *a, float *b, int n) { "
                            "k<<<n, 256>>>(a, b, n); }\n");
    double Sum = 0;
    for (const SharedAccess &A : P.only().SharedAccesses)
      if (A.K == SharedAccess::Read)
        Sum += sharedReadCost(P.only(), A, {256, 1, 1}, Mapping(), false);
    return Sum;
  };
  EXPECT_DOUBLE_EQ(Cost("int k = n;\nout[threadIdx.x] = s[k] * s[k];\n"), 1);
  EXPECT_DOUBLE_EQ(Cost("int k = n;\nfloat a = s[k];\nk += 1;\n"
                        "out[threadIdx.x] = a * s[k];\n"),
                   2);
  EXPECT_DOUBLE_EQ(Cost("float a = s[5];\n__syncthreads();\n"
                        "s[threadIdx.x] = a;\n__syncthreads();\n"
                        "out[threadIdx.x] = s[5];\n"),
                   2);
}

} // namespace
