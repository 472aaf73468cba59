// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows: registers of the reads of a thread with several slots.

#include "Plan/Windows.h"
#include "Plan/Groups.h"
#include "PlanTesting.h"

using namespace rcache;

namespace {

/// The windows of array 0's first group.
struct Found {
  Parsed P;
  WindowsResult W;
  const KernelModel &M() const { return P.only(); }
};

Found windows(const std::string &Body, std::array<int64_t, 3> Block,
              std::array<unsigned, 3> Factor,
              std::array<int64_t, 3> Stride = {1, 1, 1},
              int64_t Most = MaxHeldWindow) {
  Found F{kernel(Body, "dim3(" + std::to_string(Block[0]) + ", " +
                           std::to_string(Block[1]) + ", " +
                           std::to_string(Block[2]) + ")"),
          {}};
  const KernelModel &M = F.M();
  const GroupsResult G = findGroups(M, 0);
  EXPECT_FALSE(G.Reason);
  if (!G.Reason)
    F.W = findWindows(M, G.Groups.at(0), makeAssumptions(M, Block, 1),
                      {Factor, Stride, Block}, Most);
  return F;
}

using Sizes = std::vector<int64_t>;

const char *const Line = "__shared__ float s[300]; int t = threadIdx.x;\n"
                         "int g = blockIdx.x * 256 + t; s[t] = in[g];\n"
                         "if (t < 44) s[t + 256] = in[g + 256];\n"
                         "__syncthreads();\n";

// C + 2 k registers, s[t + j] of slot sx is register sx + j.
TEST(Windows, TapsOfALoop) {
  const Found F = windows(std::string(Line) +
                              "float a = 0;\n"
                              "for (int j = 0; j <= 6; ++j) a += s[t + j];\n"
                              "out[g] = a;",
                          {256, 1, 1}, {4, 1, 1});
  ASSERT_EQ(1u, F.W.Windows.size());
  const Window &A = F.W.Windows[0].as<Reloaded>()->W;
  EXPECT_EQ((Sizes{10}), A.Extent);
  EXPECT_TRUE(isValue("[tx] -> { [(tx)] }", A.First[0]));
  ASSERT_EQ(1u, A.Reads.size());
  const std::string J = F.M().Symbols[F.M().stmt(F.W.UnrolledLoops.at(0)).IterSymbol].Id;
  EXPECT_TRUE(isValue("[sx, " + J + "] -> { [(sx + " + J + ")] }",
                      A.Reads[0].Register[0]));
}

// Reads that run backwards: the window begins at the last slot's element.
TEST(Windows, Reversed) {
  const Found F = windows(std::string(Line) +
                              "out[g] = s[255 - t] + s[256 - t];",
                          {256, 1, 1}, {4, 1, 1});
  ASSERT_EQ(1u, F.W.Windows.size());
  const Window &A = F.W.Windows[0].as<Reloaded>()->W;
  EXPECT_EQ((Sizes{5}), A.Extent);
  EXPECT_TRUE(isValue("[tx] -> { [(252 - tx)] }", A.First[0]));
  EXPECT_TRUE(isValue("[sx] -> { [(3 - sx)] }", A.Reads[0].Register[0]));
}

// 32 apart: the slots' runs do not touch and lie one after the other.
TEST(Windows, SlotsApart) {
  const Found F = windows(std::string(Line) + "out[g] = s[t] + s[t + 2];",
                          {256, 1, 1}, {4, 1, 1}, {32, 1, 1});
  ASSERT_EQ(1u, F.W.Windows.size());
  const Window &A = F.W.Windows[0].as<Reloaded>()->W;
  EXPECT_EQ(3, A.SlotSpan);
  EXPECT_EQ(32, A.SlotStep);
  EXPECT_EQ((Sizes{12}), A.Extent);
  EXPECT_TRUE(isValue("[sx] -> { [(3 sx + 2)] }",
                      A.Reads[1].Register[0]));
}

// Taps far apart are windows of their own; an index that is no linear function
// of slot and taps has none.
TEST(Windows, CutAndDirect) {
  const Found F = windows(std::string(Line) +
                              "out[g] = s[t] + s[t + 40] + s[t / 2];",
                          {256, 1, 1}, {2, 1, 1});
  ASSERT_EQ(3u, F.W.Windows.size());
  EXPECT_EQ((Sizes{2}), F.W.Windows[0].window()->Extent);
  EXPECT_EQ((Sizes{2}), F.W.Windows[1].window()->Extent);
  EXPECT_TRUE(isValue("[tx] -> { [(40 + tx)] }", F.W.Windows[1].window()->First[0]));
  EXPECT_TRUE(F.W.Windows[2].as<FromSource>());
  EXPECT_EQ(1u, F.W.Windows[2].Reads.size());
}

// A star of 2 x 2 slots: the first and the last line have no corners.
TEST(Windows, LinesOfAStar) {
  const Found F = windows(
      "__shared__ float s[10][34]; int x = threadIdx.x, y = threadIdx.y;\n"
      "int g = blockIdx.x * 32 + x;\n"
      "for (int j = y; j < 10; j += 8) for (int i = x; i < 34; i += 32)\n"
      "  s[j][i] = in[j * n + i];\n"
      "__syncthreads();\n"
      "out[y * n + g] = s[y][x + 1] + s[y + 1][x] + s[y + 1][x + 1] +\n"
      "                 s[y + 1][x + 2] + s[y + 2][x + 1];",
      {32, 8, 1}, {2, 2, 1});
  ASSERT_EQ(1u, F.W.Windows.size());
  const Window &A = F.W.Windows[0].as<Reloaded>()->W;
  EXPECT_EQ((Sizes{4, 4}), A.Extent);
  using Ends = std::vector<std::pair<int64_t, int64_t>>;
  EXPECT_EQ((Ends{{1, 3}, {0, 4}, {0, 4}, {1, 3}}), A.Lines);
  EXPECT_EQ((std::vector<WindowBox>{
                {{0, 1}, {1, 3}}, {{1, 3}, {0, 4}}, {{3, 4}, {1, 3}}}),
            windowBoxes(A, A.Extent));
}

// What does not fit is read directly.
TEST(Windows, TooLarge) {
  const Found F = windows(std::string(Line) +
                              "float a = 0;\n"
                              "for (int j = 0; j < 40; ++j) a += s[t + j];\n"
                              "out[g] = a;",
                          {256, 1, 1}, {4, 1, 1}, {1, 1, 1}, 16);
  ASSERT_EQ(1u, F.W.Windows.size());
  EXPECT_TRUE(F.W.Windows[0].as<FromSource>());
}

// The interior: where the whole run lies in the piece that loads.
TEST(Windows, Interior) {
  const Found F = windows(
      "__shared__ float s[258]; int t = threadIdx.x;\n"
      "int g = blockIdx.x * 256 + t;\n"
      "s[t] = g < n ? in[g] : 0.f;\n"
      "if (t < 2) s[t + 256] = g + 256 < n ? in[g + 256] : 0.f;\n"
      "__syncthreads();\nout[g] = s[t] + s[t + 2];",
      {256, 1, 1}, {4, 1, 1});
  const KernelModel &M = F.M();
  const Assumptions A = makeAssumptions(M, {{256, 1, 1}}, 1);
  const StagingResult S = stagingFunction(M, findGroups(M, 0).Groups[0], A);
  ASSERT_FALSE(S.Reason);
  EXPECT_TRUE(S.F.CoverageProved);
  Window P = *F.W.Windows.at(0).window();
  findInterior(M, A, S.F, P, P.Extent);
  ASSERT_GE(P.InteriorPiece, 0);
  EXPECT_EQ(1u, P.Leaves.size());
  // 6 registers from element e0 on, which is in[256 bx + e0].
  const isl::set Launch(M.Ctx->ctx(),
                        "[e0, bx, n] -> { : 0 <= e0 <= 252 and bx >= 0 }");
  EXPECT_TRUE(isCondition(
      "[e0, bx, n] -> { : 0 <= e0 <= 252 and bx >= 0 and 256 bx + e0 + 5 < n }",
      isl::set(P.Interior).intersect(Launch)));
}

} // namespace
