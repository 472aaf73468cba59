// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the barriers of a plan that leaves its arrays shared still order.

#include "Plan/BarrierScopes.h"
#include "PlanTesting.h"

using namespace rcache;

namespace {

/// One letter a barrier: B(lock), W(arp), - (left out); for blocks of \p Block
/// with \p Factor slots a thread, \p Stride apart.
std::string scopes(const std::string &Body, std::array<int64_t, 3> Block,
                   std::array<unsigned, 3> Factor = {1, 1, 1},
                   std::array<int64_t, 3> Stride = {1, 1, 1}) {
  Parsed Of = kernel(Body, "dim3(" + std::to_string(Block[0]) + ", " +
                               std::to_string(Block[1]) + ", " +
                               std::to_string(Block[2]) + ")");
  const KernelModel &M = Of.only();
  Plan P;
  P.Map.Factor = Factor;
  P.Map.Stride = Stride;
  P.Map.Block = Block;
  P.Map.Merge = false;
  P.KeepBarriers = true;
  for (unsigned A = 0; A < M.Arrays.size(); ++A) {
    ArrayPlan Kept;
    Kept.Array = A;
    P.Arrays.push_back(Kept);
  }
  BarrierScopes(M, makeAssumptions(M, Block, 1), /*AssumeNoAlias=*/true)
      .narrow(P);
  std::string T;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier)
      T += P.scopeOf(S.Id) == SyncScope::Block  ? "B"
           : P.scopeOf(S.Id) == SyncScope::Warp ? "W"
                                                : "-";
  return T;
}

// A row of the tile a warp.
const char *const Row =
    "__shared__ float s[8][32]; int x = threadIdx.x, y = threadIdx.y;\n"
    "s[y][x] = in[blockIdx.x * 256 + y * 32 + x]; __syncthreads();\n";

TEST(BarrierScopes, RowsOfWarps) {
  const std::string Body = std::string(Row) + "out[x] = s[y][31 - x];";
  EXPECT_EQ("W", scopes(Body, {32, 8, 1}));
  // Two rows a thread, and each still in one warp.
  EXPECT_EQ("W", scopes(Body, {32, 8, 1}, {1, 2, 1}));
  // Two threads' elements in one thread: half a warp a row.
  EXPECT_EQ("W", scopes(Body, {32, 8, 1}, {2, 1, 1}));
}

TEST(BarrierScopes, OwnElement) {
  EXPECT_EQ("-", scopes(std::string(Row) + "out[x] = s[y][x];", {32, 8, 1}));
}

TEST(BarrierScopes, OtherRows) {
  EXPECT_EQ("B", scopes(std::string(Row) + "out[x] = s[7 - y][x];", {32, 8, 1}));
  // All rows in the slots of one thread.
  EXPECT_EQ("-", scopes(std::string(Row) + "out[x] = s[7 - y][x];", {32, 8, 1},
                        {1, 8, 1}));
}

// Only the tree's last steps stay within a warp.
TEST(BarrierScopes, TwoLevels) {
  EXPECT_EQ("BWW-",
            scopes("__shared__ float s[128]; int t = threadIdx.x;\n"
                   "s[t] = in[t]; __syncthreads();\n"
                   "if (t < 64) s[t] += s[t + 64]; __syncthreads();\n"
                   "if (t < 16) s[t] += s[t + 16]; __syncthreads();\n"
                   "if (t < 1) s[t] += s[t + 1]; __syncthreads();\n"
                   "if (t == 0) out[blockIdx.x] = s[0];",
                   {128, 1, 1}));
}

} // namespace
