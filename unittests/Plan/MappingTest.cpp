// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch, thread and slot of a mapping; lane and register of a distribution.

#include "Affine/IslTools.h"
#include "PlanTesting.h"
#include "rcache/Plan.h"

using namespace rcache;

namespace {

using Shape = std::array<int64_t, 3>;

TEST(Mapping, ThreadsAndSlots) {
  AffineContext Owner;
  Mapping Chunked{{4, 2, 1}, {1, 1, 1}, std::nullopt};
  EXPECT_EQ(8u, Chunked.slots());
  EXPECT_EQ(4, Chunked.laneStep(0));
  EXPECT_TRUE(isValue("[tx, sx] -> { [(tx + sx)] }",
                      Chunked.threadOfSlot(Owner.ctx(), 0)));
  EXPECT_TRUE(isValue("[tx] -> { [(floor(tx/4))] }",
                      Chunked.physicalThread(Owner.ctx(), 0)));
  Mapping Apart{{4, 1, 1}, {32, 1, 1}, std::nullopt};
  EXPECT_EQ(1, Apart.laneStep(0));
  EXPECT_TRUE(isValue("[tx, sx] -> { [(tx + 32 sx)] }",
                      Apart.threadOfSlot(Owner.ctx(), 0)));
  EXPECT_TRUE(isValue("[tx] -> { [(32*floor(tx/128) + (tx mod 32))] }",
                      Apart.physicalThread(Owner.ctx(), 0)));
  EXPECT_TRUE(isValue("[ty] -> { [(ty)] }",
                      Apart.physicalThread(Owner.ctx(), 1)));
}

// Lines become rows of a block, tiles stand side by side; neither has more than
// 1024 threads.
TEST(Mapping, LaunchedBlocks) {
  Mapping Line{{8, 1, 1}, {1, 1, 1}, std::nullopt};
  Line.TargetThreads = 64;
  EXPECT_EQ((Shape{32, 2, 1}), Line.launchedBlock({256, 1, 1}));
  EXPECT_EQ((Shape{128, 1, 1}), Line.launchedBlock({1024, 1, 1}));
  EXPECT_EQ(128u, Line.mostThreads());
  Mapping Tile{{4, 2, 1}, {1, 1, 1}, Shape{16, 16, 1}};
  EXPECT_EQ(8, Tile.mergedBlocks({16, 16, 1}));
  EXPECT_EQ((Shape{32, 8, 1}), Tile.launchedBlock({16, 16, 1}));
  EXPECT_FALSE(Tile.wholeWarps());
  Tile.Merge = false;
  EXPECT_EQ((Shape{4, 8, 1}), Tile.launchedBlock({16, 16, 1}));
  EXPECT_EQ(32u, Tile.mostThreads());
  EXPECT_TRUE(Tile.wholeWarps());
}

TEST(Distribution, ChunksAndRoundRobin) {
  Window W;
  W.Extent = {10};
  const Distribution Chunks{Distribution::Chunked, 4, 1};
  EXPECT_EQ(2, Chunks.homeOf(W, 9).LanesAway);
  EXPECT_EQ(1, Chunks.homeOf(W, 9).Register);
  const Distribution Back{Distribution::Chunked, 4, -1};
  EXPECT_EQ(-1, Back.homeOf(W, 4).LanesAway);
  W.SlotSpan = 7;
  W.SlotStep = 32;
  const Distribution Cyclic{Distribution::Cyclic, 1, 1};
  EXPECT_EQ(3, Cyclic.homeOf(W, 7 + 3).LanesAway);
  EXPECT_EQ(1, Cyclic.homeOf(W, 7 + 3).Register);
  EXPECT_EQ(32 + 3, W.elementOf(7 + 3));
  EXPECT_EQ(2, Cyclic.loaded(2));
}

} // namespace
