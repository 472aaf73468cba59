// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What planning finds out once: of the kernel (KernelFacts), and of the kernel
// launched with blocks of one shape (BlockFacts). Recipes (recipes/Recipes.h)
// make plans of them.

#ifndef RCACHE_LIB_PLAN_FACTS_H
#define RCACHE_LIB_PLAN_FACTS_H

#include "BarrierScopes.h"
#include "Groups.h"
#include "Planner.h"
#include "Separate.h"
#include "Staging.h"
#include <map>
#include <set>

namespace rcache {

/// The block's shape that is planned for; nullopt: one dimension, of which
/// only a multiple is known.
using BlockShape = std::optional<std::array<int64_t, 3>>;

/// Why something is no plan, and what a user should know; each once.
struct Findings {
  std::vector<Decline> Declines;
  std::vector<std::string> Notes;
  /// Why no warp can own the arrays, as a clause; "": it can, or nobody asked.
  std::string NotOwned;

  void decline(Decline D);
  void note(std::string N);
};

class KernelFacts {
public:
  KernelFacts(const KernelModel &M, const PlanRequest &R) : M(M), R(R) {}

  const KernelModel &M;
  const PlanRequest &R;

  std::vector<GroupsResult> Groups; ///< per array
  std::vector<Decline> ArrayReasons; ///< why arrays have no groups
  unsigned RegisterArrays = 0;       ///< those that have
  /// What barriers order in global memory, as a sentence; nullopt: nothing.
  std::optional<std::string> Order;

  /// Fills Groups, ArrayReasons and RegisterArrays; notes go to \p Out.
  void collectGroups(Findings &Out);

  /// May the slots of a thread share the arrays as the threads did? Between two
  /// barriers the slots run one after the other, one of the orders that the
  /// threads may have had. What counts on a warp in step may not be split.
  bool mayKeep() const;
  /// May one warp stand for the block? The same, but an atomic that no thread
  /// repeats until another has done something may stand there.
  bool mayOwn() const;
  /// May the lanes of a warp have to be in step between two barriers, for what
  /// they do with the array? Slots are not.
  bool countsOnStep(unsigned Array) const;
  /// Does the kernel look at this axis of the thread index or the block?
  bool usesAxis(unsigned Axis) const;

  /// Block shapes to plan for, best first.
  std::vector<BlockShape> shapes() const;
  /// What shapes() had, as a clause: why none of them led to a plan.
  std::string shapesTried() const;

private:
  bool slotsMayDiffer() const;
  std::vector<BlockShape> oneDimShapes() const;
};

class BlockFacts {
public:
  BlockFacts(const KernelFacts &K, BlockShape Shape, Findings &Out)
      : K(K), M(K.M), R(K.R), Shape(std::move(Shape)), Out(Out) {}

  const KernelFacts &K;
  const KernelModel &M;
  const PlanRequest &R;
  const BlockShape Shape;
  Findings &Out;
  /// Arrays with groups that stay in shared memory all the same: what their
  /// elements hold is not known.
  std::set<unsigned> Unstaged;

  bool isOneDim() const {
    return !Shape || ((*Shape)[1] == 1 && (*Shape)[2] == 1);
  }
  /// The staging function of group \p Group of \p Array under \p A, that is with
  /// blockDim.x a multiple of \p Multiple.
  const StagingResult &staging(unsigned Array, size_t Group, unsigned Multiple,
                               const Assumptions &A);
  BarrierScopes &scopes(unsigned Multiple, const Assumptions &A);
  /// isOneForm, which most plans ask of the same staging functions.
  bool isOneForm(const StagingFunction &F, const isl::set &Context);
  FrontSides &fronts(unsigned Multiple) { return Fronts[Multiple]; }

  /// What \p Candidate returns, within a budget of its own. False when it was
  /// too much; nothing more of the recipe is tried then.
  template <typename Fn> bool withinBudget(Fn &&Candidate) {
    if (!TooHard && M.Ctx->outOfTime()) {
      TooHard = true;
      Out.decline(
          {DeclineCode::TooHard, "the time for the analysis is over", M.Pos});
      Out.note("not all plans were tried: the time for the analysis was over");
    }
    if (TooHard)
      return false;
    M.Ctx->resetBudget();
    auto Done = guarded(Candidate);
    if (Done)
      return *Done;
    TooHard = true;
    Out.decline(
        {DeclineCode::TooHard, llvm::toString(Done.takeError()), M.Pos});
    M.Ctx->resetBudget();
    return false;
  }
  /// Before each recipe.
  void resetTooHard() { TooHard = false; }

private:
  bool TooHard = false;
  std::map<std::array<size_t, 3>, StagingResult> Staged; ///< array, group, multiple
  std::map<unsigned, BarrierScopes> Scopes;              ///< by multiple
  std::map<unsigned, FrontSides> Fronts;                 ///< the same
  struct FormAnswer {
    StagingFunction F;
    isl::set Context;
    bool IsOne;
  };
  std::vector<FormAnswer> Forms;
};

} // namespace rcache

#endif // RCACHE_LIB_PLAN_FACTS_H
