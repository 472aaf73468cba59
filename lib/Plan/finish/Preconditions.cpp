// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "Affine/IslTools.h"
#include "Finish.h"
#include "llvm/ADT/StringExtras.h"

using namespace rcache;

static void add(Plan &P, std::string Text, std::string Why) {
  P.Preconditions.push_back({std::move(Text), std::move(Why)});
}

/// The block that the plan is made for, and a grid that exists.
static void addGeometry(const KernelModel &M, Plan &P) {
  const Mapping &Map = P.Map;
  const std::string Block = M.NamePrefix + "block", Grid = M.NamePrefix + "grid";
  if (Map.Block) {
    add(P, Block + ".x == " + std::to_string((*Map.Block)[0]) +
            " && " + Block + ".y == " + std::to_string((*Map.Block)[1]) +
            " && " + Block + ".z == " + std::to_string((*Map.Block)[2]),
        "the plan is made for this block");
  } else {
    add(P, Block + ".y == 1 && " + Block + ".z == 1", "one-dimensional blocks");
    add(P, Block + ".x % " + std::to_string(Map.BlockMultiple) +
            " == 0 && " + Block + ".x != 0 && " + Block + ".x <= 1024",
        "each thread stands for " + std::to_string(Map.Factor[0]) +
            " neighbours");
  }
  add(P, Grid + ".x != 0 && " + Grid + ".y != 0 && " + Grid + ".z != 0",
      "an empty launch fails as it did");
  if (Map.Block)
    add(P, Grid + ".x <= 0x7fffffffu / " + std::to_string((*Map.Block)[0]),
        "indices fit in 32 bits");
  else
    add(P, Grid + ".x <= 0x7fffffffu / " + Block + ".x", "indices fit in 32 bits");
}

void rcache::addTextConditions(const KernelModel &M, Plan &P) {
  for (const std::string &N : M.Form.NonZero)
    add(P, N + " != 0", "the outputs of a thread are different elements");
  for (const auto &[Name, Value] : M.Form.Fixed)
    add(P, Name + " == " + std::to_string(Value), "the plan is made for this value");
  for (const auto &[Name, Value] : M.Form.AtMost)
    add(P, Name + " <= " + std::to_string(Value),
        "a few rounds a thread: of more, the original hides more");
}

void rcache::addPreconditions(const KernelModel &M, Plan &P) {
  addGeometry(M, P);
  addTextConditions(M, P);
  for (const LaunchFact &F : M.Assumes)
    add(P, M.launchCondition(F, M.NamePrefix + "grid", M.NamePrefix + "block"),
        F.MultipleOf ? "lines begin at whole elements"
                     : "index arithmetic does not wrap");
  std::set<std::string> Bounded; // what is asked anyway, and what came by relations
  for (const Symbol *S : unsignedBounds(M))
    Bounded.insert(S->Id);
  for (const ArrayPlan &A : P.Arrays)
    for (const StagePiece &S : A.Stage.Pieces) {
      for (auto &I : valueSymbols(S.V))
        Bounded.insert(I);
      for (auto &I : involvedIds(S.Domain))
        Bounded.insert(I);
    }
  for (const Symbol &S : M.Symbols)
    if (isUnsigned32(S) && Bounded.count(S.Id))
      add(P, S.Text + " <= 0x7fffffffu", "computed with in int");
  for (const auto &[S, Most] : sizeBounds(M))
    add(P, S->Text + " <= 0x" + llvm::utohexstr(Most, /*LowerCase=*/true) + "ull",
        "computed with in long long");
}
