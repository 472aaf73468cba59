// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "Affine/IslTools.h"
#include "Finish.h"

using namespace rcache;

static void add(Plan &P, std::string Text, std::string Why) {
  P.Preconditions.push_back({std::move(Text), std::move(Why)});
}

/// The block that the plan is made for, and a grid that exists.
static void addGeometry(Plan &P) {
  const Mapping &Map = P.Map;
  if (Map.Block) {
    add(P, "rc_block.x == " + std::to_string((*Map.Block)[0]) +
            " && rc_block.y == " + std::to_string((*Map.Block)[1]) +
            " && rc_block.z == " + std::to_string((*Map.Block)[2]),
        "the plan is made for this block");
  } else {
    add(P, "rc_block.y == 1 && rc_block.z == 1", "one-dimensional blocks");
    add(P, "rc_block.x % " + std::to_string(Map.BlockMultiple) +
            " == 0 && rc_block.x != 0 && rc_block.x <= 1024",
        "each thread stands for " + std::to_string(Map.Factor[0]) +
            " neighbours");
  }
  add(P, "rc_grid.x != 0 && rc_grid.y != 0 && rc_grid.z != 0",
      "an empty launch fails as it did");
  if (Map.Block)
    add(P, "rc_grid.x <= 0x7fffffffu / " + std::to_string((*Map.Block)[0]),
        "indices fit in 32 bits");
  else
    add(P, "rc_grid.x <= 0x7fffffffu / rc_block.x", "indices fit in 32 bits");
}

void rcache::addPreconditions(const KernelModel &M, Plan &P) {
  addGeometry(P);
  for (const std::string &N : M.Form.NonZero)
    add(P, N + " != 0", "the outputs of a thread are different elements");
  for (const LaunchFact &F : M.Assumes)
    add(P, M.launchCondition(F, "rc_grid", "rc_block"),
        F.MultipleOf ? "lines begin at whole elements"
                     : "index arithmetic does not wrap");
  std::set<std::string> Ids;
  for (const ArrayPlan &A : P.Arrays)
    for (const StagePiece &S : A.Stage.Pieces) {
      for (auto &I : valueSymbols(S.V))
        Ids.insert(I);
      for (auto &I : involvedIds(S.Domain))
        Ids.insert(I);
    }
  for (const std::string &Id : Ids) {
    int I = M.symbolIndex(Id);
    if (I >= 0 && M.Symbols[I].K == Symbol::Param && !M.Symbols[I].Signed &&
        M.Symbols[I].Bits == 32)
      add(P, M.Symbols[I].Text + " <= 0x7fffffffu", "computed with in int");
  }
  for (const Symbol &S : M.Symbols)
    if (isLargeUnsigned(S))
      add(P, S.Text + " <= 0x7fffffffffffffffull", "computed with in long long");
}
