// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Facts.h.

#include "Facts.h"
#include "IndexForm.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <isl/set.h>

using namespace rcache;

void Findings::decline(Decline D) {
  if (std::find(Declines.begin(), Declines.end(), D) == Declines.end())
    Declines.push_back(std::move(D));
}

void Findings::note(std::string N) {
  if (std::find(Notes.begin(), Notes.end(), N) == Notes.end())
    Notes.push_back(std::move(N));
}

//===-- The kernel --------------------------------------------------------===//

void KernelFacts::collectGroups(Findings &Out) {
  for (unsigned A = 0; A < M.Arrays.size(); ++A) {
    Groups.push_back(findGroups(M, A));
    const GroupsResult &G = Groups.back();
    for (const std::string &N : G.Notes)
      Out.Notes.push_back(N);
    if (G.Reason) {
      ArrayReasons.push_back(*G.Reason);
      continue;
    }
    if (M.Arrays[A].Volatile) {
      ArrayReasons.push_back({DeclineCode::VolatileArray,
                              "'" + M.Arrays[A].Name + "'", M.Arrays[A].Pos});
      Groups.back().Reason = ArrayReasons.back();
      continue;
    }
    ++RegisterArrays;
  }
}

/// Does nothing but atomics hang on threads that run at the same time?
bool KernelFacts::slotsMayDiffer() const {
  for (const SharedArray &A : M.Arrays)
    if (A.Volatile)
      return false;
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && S.Sync != Stmt::Syncthreads &&
        S.Sync != Stmt::CooperativeGroup)
      return false;
  return !anyHas(ArrayReasons, TraitNoSlots);
}

bool KernelFacts::mayKeep() const {
  return slotsMayDiffer() &&
         std::none_of(
             M.GlobalAccesses.begin(), M.GlobalAccesses.end(),
             [](const GlobalAccess &G) { return G.K == GlobalAccess::Atomic; });
}

bool KernelFacts::mayOwn() const {
  auto Repeats = [&](const GlobalAccess &G) {
    for (int Q = static_cast<int>(G.Stmt); Q >= 0;
         Q = M.stmt(static_cast<unsigned>(Q)).Parent) {
      const Stmt &S = M.stmt(static_cast<unsigned>(Q));
      if (S.isLoop())
        return true;
    }
    return false;
  };
  return slotsMayDiffer() &&
         std::none_of(M.GlobalAccesses.begin(), M.GlobalAccesses.end(),
                      [&](const GlobalAccess &G) {
                        return G.K == GlobalAccess::Atomic && Repeats(G);
                      });
}

bool KernelFacts::countsOnStep(unsigned Array) const {
  const auto &Reason = Groups[Array].Reason;
  return M.Arrays[Array].Volatile ||
         (Reason && Reason->Code == DeclineCode::EscapingArray);
}

bool KernelFacts::usesAxis(unsigned Axis) const {
  for (const BuiltinUse &B : M.Builtins)
    if (B.K == Symbol::ThreadIdx && B.Axis == Axis)
      return true;
  return false;
}

std::vector<BlockShape> KernelFacts::shapes() const {
  if (M.Geo.ConstBlock)
    return {M.Geo.ConstBlock};
  if (R.OnlyBlock)
    return {R.OnlyBlock};
  bool OneDim = !usesAxis(1) && !usesAxis(2) &&
                (!R.AssumedBlock ||
                 ((*R.AssumedBlock)[1] == 1 && (*R.AssumedBlock)[2] == 1));
  for (auto &S : M.Geo.SeenBlocks)
    OneDim &= S[1] == 1 && S[2] == 1;
  if (OneDim)
    return oneDimShapes();
  std::vector<BlockShape> H(M.Geo.SeenBlocks.begin(), M.Geo.SeenBlocks.end());
  if (H.empty() && R.AssumedBlock)
    H.push_back(*R.AssumedBlock);
  return H;
}

std::string KernelFacts::shapesTried() const {
  std::string Text;
  for (const BlockShape &S : shapes())
    if (S) {
      Text += Text.empty() ? "blocks of " : ", ";
      Text += std::to_string((*S)[0]) + " x " + std::to_string((*S)[1]);
      if ((*S)[2] != 1)
        Text += " x " + std::to_string((*S)[2]);
    }
  if (!Text.empty())
    return Text;
  return std::string("no launch tells how large blocks are; --block=") +
         (usesAxis(2) ? "8x8x8" : "16x16") + " would";
}

std::vector<BlockShape> KernelFacts::oneDimShapes() const {
  std::vector<BlockShape> H = {std::nullopt};
  // One shape known: extents in the source may only fit that one.
  std::set<int64_t> Sizes;
  for (auto &S : M.Geo.SeenBlocks)
    Sizes.insert(S[0]);
  if (R.AssumedBlock)
    Sizes.insert((*R.AssumedBlock)[0]);
  if (Sizes.empty() && M.Geo.MaxThreads)
    Sizes.insert(*M.Geo.MaxThreads);
  if (Sizes.empty())
    Sizes.insert(256);
  for (int64_t S : Sizes)
    H.push_back(std::array<int64_t, 3>{S, 1, 1});
  return H;
}

//===-- The kernel with blocks of one shape -------------------------------===//

const StagingResult &BlockFacts::staging(unsigned Array, size_t Group,
                                         unsigned Multiple,
                                         const Assumptions &A) {
  const std::array<size_t, 3> Key = {Array, Group, Shape ? 0 : Multiple};
  auto Known = Staged.find(Key);
  if (Known == Staged.end())
    Known =
        Staged
            .emplace(Key, stagingFunction(M, K.Groups[Array].Groups[Group], A))
            .first;
  return Known->second;
}

bool BlockFacts::isOneForm(const StagingFunction &F, const isl::set &Context) {
  const auto areSame = [](const isl::set &A, const isl::set &B) {
    return isl_set_plain_is_equal(A.get(), B.get()) == isl_bool_true;
  };
  const auto areSamePieces = [&](const StagePiece &A, const StagePiece &B) {
    return A.V == B.V && areSame(A.Domain, B.Domain);
  };
  for (const FormAnswer &Known : Forms)
    if (llvm::equal(Known.F.Pieces, F.Pieces, areSamePieces) &&
        areSame(Known.Context, Context))
      return Known.IsOne;
  Forms.push_back({F, Context, rcache::isOneForm(F, Context)});
  return Forms.back().IsOne;
}

BarrierScopes &BlockFacts::scopes(unsigned Multiple, const Assumptions &A) {
  auto It = Scopes.find(Multiple);
  if (It == Scopes.end())
    It = Scopes.emplace(Multiple, BarrierScopes(M, A, R.AssumeNoAlias)).first;
  return It->second;
}
