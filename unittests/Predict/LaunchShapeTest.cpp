// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grids of kernels that walk through planes, and registers of unrolled rounds.

#include "Predict/LaunchShape.h"
#include "../Model/ModelTesting.h"
#include "Predict/PlanCosts.h"
#include "gtest/gtest.h"

using namespace rcache;

namespace {

/// A walk through planes of \p Type, one value a thread kept from round to
/// round, rounds by \p Pragma, launched with \p Grid blocks of 32 x 8.
KernelCounts counts(const std::string &Type, const std::string &Pragma,
                    const std::string &Grid, const char *Arch = "sm_90") {
  Parsed P = parse("#define T " + Type + R"(
__global__ void k(const T *in, T *out, int n, int row) {
  __shared__ T s[8][34];
  int at = (blockIdx.y * 8 + threadIdx.y) * row + blockIdx.x * 32 + threadIdx.x;
  T last = 0;
)" + Pragma + R"(
  for (int z = 0; z < n; ++z) {
    s[threadIdx.y][threadIdx.x] = in[z * n + at];
    __syncthreads();
    out[z * n + at] = s[threadIdx.y][threadIdx.x + 1] + last;
    last = s[threadIdx.y][threadIdx.x];
    __syncthreads();
  }
}
void run(const T *in, T *out, int n, int row) {
  k<<<)" + Grid + R"(, dim3(32, 8)>>>(in, out, n, row);
})");
  const KernelModel &M = P.only();
  const std::array<int64_t, 3> Block = {32, 8, 1};
  return originalCounts(M, Staging(M, Block), Block,
                        *findArch(Arch));
}

} // namespace

TEST(LaunchShape, GridsThatHostCodeTells) {
  // 16 x 32 blocks of 8 warps.
  const KernelCounts K = counts("float", "", "dim3(16, 32)");
  EXPECT_TRUE(K.GridKnown);
  EXPECT_DOUBLE_EQ(K.GridWarps, 4096);
  // Not told, or a test: 512 x 512 threads.
  for (const char *Grid : {"dim3(n, n)", "dim3(2, 2)"}) {
    const KernelCounts A = counts("float", "", Grid);
    EXPECT_FALSE(A.GridKnown) << Grid;
    EXPECT_DOUBLE_EQ(A.GridWarps, 8192) << Grid;
  }
  // 100 blocks of 8 warps: less than 8 on each SM of an H200, enough for a T4.
  EXPECT_FALSE(counts("float", "", "dim3(10, 10)", "sm_90").GridKnown);
  EXPECT_TRUE(counts("float", "", "dim3(10, 10)", "sm_75").GridKnown);
}

TEST(LaunchShape, RegistersOfUnrolledPlanes) {
  auto Registers = [](const char *Type, const char *Pragma) {
    return counts(Type, Pragma, "n").Registers;
  };
  EXPECT_EQ(Registers("float", ""), 32u);
  EXPECT_EQ(Registers("float", "#pragma unroll 1"), 32u);
  // 22, the value that is kept, and rounds of 2 + 2 a word.
  EXPECT_EQ(Registers("float", "#pragma unroll 4"), 22u + 1 + 4 * 4);
  EXPECT_EQ(Registers("float", "#pragma unroll 100"), 22u + 1 + 9 * 4);
  EXPECT_EQ(Registers("double", "#pragma unroll 4"), 22u + 2 + 4 * 6);
}
