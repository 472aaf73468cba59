// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Recipes.h: a physical block stands for a rectangle of logical ones. Blocks of
// a row of a tiled product stage the same tile of one factor, blocks of a column
// the same tile of the other; together they stage each once, and a thread that has
// outputs in several of them reads each element for all of these.
//
// What makes it legal is a list of what is allowed: barriers that all blocks pass
// alike, loads, stores and arithmetic, arrays that are filled from global memory.

#include "../Assemble.h"
#include "../placements/Restaged.h"
#include "Affine/IslTools.h"
#include "rcache/ThreadsInLine.h"
#include "Recipes.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// Do blocks that differ in their coordinates alone pass the same barriers?
static bool blocksRunAlike(const KernelModel &M) {
  unsigned LastBarrier = 0;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier)
      LastBarrier = std::max(LastBarrier, S.Range.Begin);
  for (const Stmt &S : M.Stmts) {
    if (S.K == Stmt::Return && S.Range.Begin < LastBarrier)
      return false;
    if (!S.HasBarrier || S.K == Stmt::Block || S.K == Stmt::Barrier)
      continue;
    const unsigned Differs = DepThread | DepBlock | DepShared | DepGlobal;
    if (S.K == Stmt::Switch || (S.CondDepends & Differs))
      return false;
    if (S.K == Stmt::For &&
        (S.IterVar < 0 || !S.Step ||
         (M.Vars[static_cast<size_t>(S.IterVar)].Depends & Differs)))
      return false;
  }
  return true;
}

/// Nothing but loads, stores and arithmetic.
static bool onlyPlainEffects(const KernelModel &M) {
  return llvm::none_of(M.Effects,
                       [](const Effect &E) {
                         return E.K == Effect::Call || E.K == Effect::Volatile;
                       }) &&
         llvm::none_of(M.Stmts, [](const Stmt &S) { return S.HasCall; }) &&
         llvm::none_of(M.GlobalAccesses, [](const GlobalAccess &G) {
           return G.K == GlobalAccess::Atomic;
         });
}

namespace {

/// Threads that a physical block stands for along x and y, and its slots.
struct Tile {
  unsigned X, Y, SlotsX, SlotsY;
};

} // namespace

/// Blocks of 64 to 256 threads.
static const Tile Tiles[] = {{128, 128, 8, 8}, {128, 64, 8, 8}, {128, 64, 8, 4},
                             {64, 64, 8, 4},   {64, 64, 4, 4},  {32, 64, 4, 4}};

/// The run of neighbours along \p Axis that vectors of shared elements ask for.
static unsigned groupOf(const KernelModel &M, unsigned Axis) {
  unsigned Group = 1;
  for (unsigned A = 0; A < M.Arrays.size(); ++A)
    Group = std::max(Group, neighboursRead(M, A, Axis));
  return Group;
}

/// \p T with blocks of shape \p Block; nullopt: they do not fill it evenly.
static std::optional<Form> formOf(const KernelModel &M, const Tile &T,
                                  const std::array<int64_t, 3> &Block) {
  Form Fm;
  Fm.X = T.SlotsX;
  Fm.Rows = T.SlotsY;
  int64_t Lanes[2];
  const int64_t Size[2] = {T.X, T.Y}, Slots[2] = {T.SlotsX, T.SlotsY};
  for (unsigned A = 0; A < 2; ++A) {
    if (Size[A] < Block[A] || Size[A] % Block[A] != 0 || Size[A] % Slots[A] != 0)
      return std::nullopt;
    Fm.Blocks[A] = unsigned(Size[A] / Block[A]);
    Lanes[A] = Size[A] / Slots[A];
    const int64_t G = std::min<int64_t>(groupOf(M, A), Slots[A]);
    Fm.Group[A] = unsigned(G);
    // No carry from threads to blocks between the first slot's and the others'.
    const int64_t Run = G * Lanes[A];
    if (Block[A] % G != 0 || Slots[A] % G != 0 ||
        (Run % Block[A] != 0 && Block[A] % Run != 0))
      return std::nullopt;
  }
  const int64_t WarpX = std::min<int64_t>(8, Lanes[0]), WarpY = 32 / WarpX;
  if (Lanes[0] % WarpX != 0 || Lanes[1] % WarpY != 0)
    return std::nullopt;
  return Fm;
}

/// Are tiles staged round by round? What is staged once gains little (measured for
/// lines of threads).
static bool walksOverTiles(const KernelModel &M) {
  return llvm::any_of(M.Stmts, [](const Stmt &S) {
    return S.K == Stmt::For && S.HasBarrier && S.HasSharedWrite;
  });
}

/// Is something staged once for several blocks?
static bool sharesTiles(const Plan &P) {
  return llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
    const auto *R = A.as<Restaged>();
    return R && ((P.Map.Blocks[0] > 1 && !R->PerBlock[0]) ||
                 (P.Map.Blocks[1] > 1 && !R->PerBlock[1]));
  });
}

std::vector<Plan> rcache::joinedPlans(BlockFacts &F) {
  std::vector<Plan> Out;
  const KernelModel &M = F.M;
  if (!F.Shape || F.isOneDim() || (*F.Shape)[2] != 1 || !walksOverTiles(M) || changesThreads(M.Form) || F.R.Coarsen ||
      !blocksRunAlike(M) || !onlyPlainEffects(M))
    return Out;
  for (const Tile &T : Tiles) {
    auto Fm = formOf(M, T, *F.Shape);
    if (!Fm || !Fm->joins())
      continue;
    for (const bool Ahead : {false, true}) {
      Fm->Ahead = Ahead;
      F.withinBudget([&] {
        auto P = assemble(F, *Fm);
        if (P && sharesTiles(*P))
          Out.push_back(std::move(*P));
        return true;
      });
    }
  }
  return Out;
}
