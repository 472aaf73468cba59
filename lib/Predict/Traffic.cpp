// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Traffic.h.

#include "Traffic.h"
#include "Affine/IslTools.h"
#include "Plan/Counts.h"
#include "Plan/Values.h"
#include <algorithm>
#include <cstdlib>

using namespace rcache;

namespace {

/// An address of a block's threads: how far apart neighbours are, in elements.
struct Spread {
  int64_t Least = 0; ///< from a thread to the next along some axis
  int64_t Span = 0;  ///< from the first thread to the last
};

/// nullopt: not known in numbers, or the same for all threads or blocks.
std::optional<Spread> spreadOf(const isl::pw_aff &Index,
                               const std::array<int64_t, 3> &Block) {
  const auto Form = linearForm(Index, isl::set::universe(Index.domain().space()));
  if (!Form)
    return std::nullopt;
  Spread S;
  bool Blocks = false;
  for (const auto &[Id, Coefficient] : Form->Terms) {
    static const char *const Threads[3] = {"tx", "ty", "tz"};
    const int64_t Of = std::abs(static_cast<int64_t>(Coefficient));
    for (int Ax = 0; Ax < 3; ++Ax) {
      if (Id == Threads[Ax] && Block[Ax] > 1) {
        S.Least = S.Least ? std::min(S.Least, Of) : Of;
        S.Span += Of * (Block[Ax] - 1);
      } else if (llvm::is_contained(productFactors(Id), Threads[Ax]))
        return std::nullopt;
    }
    Blocks |= Id == "bx" || llvm::is_contained(productFactors(Id), "bx");
  }
  return S.Least > 0 && Blocks ? std::optional(S) : std::nullopt;
}

/// What the symbol \p Id is the product of; empty: it is none.
std::vector<std::string> factorsOf(const KernelModel &M, const std::string &Id) {
  const int I = M.symbolIndex(Id);
  return I < 0 ? productFactors(Id) : M.Symbols[static_cast<size_t>(I)].Factors;
}

/// Are the rounds \p Id a distance apart that only the launch tells, by which neither
/// threads nor blocks nor other rounds are apart: `plane[d * n + i]`?
bool isInPlanes(const KernelModel &M, const isl::pw_aff &Index, const std::string &Id) {
  const std::vector<std::string> All = involvedIds(Index);
  std::set<std::string> Distances;
  for (const std::string &P : All)
    if (const auto Of = factorsOf(M, P); llvm::is_contained(Of, Id))
      for (const std::string &F : Of)
        if (F != Id)
          Distances.insert(F);
  if (Distances.empty())
    return false;
  return llvm::none_of(Distances, [&](const std::string &D) {
    const int I = M.symbolIndex(D);
    return I < 0 || M.Symbols[static_cast<size_t>(I)].K != Symbol::Param ||
           llvm::any_of(All, [&](const std::string &P) {
             const auto Of = factorsOf(M, P);
             return llvm::is_contained(Of, D) && !llvm::is_contained(Of, Id);
           });
  });
}

/// Does each round of \p Loop read elements at \p Index that no other round and no
/// other thread reads? Rounds that are a block's threads or more apart do, so do a
/// thread's own elements side by side, and those from a thread's place on in steps
/// that are no constant (the grid's threads).
bool readsAnew(const KernelModel &M, const Stmt &Loop, const isl::pw_aff &Index,
               const std::array<int64_t, 3> &Block) {
  if (Loop.IterSymbol < 0)
    return false;
  const std::string &Id = M.Symbols[static_cast<unsigned>(Loop.IterSymbol)].Id;
  const isl::set All = isl::set::universe(Index.domain().space());
  if (Loop.Step && isInPlanes(M, Index, Id))
    return spreadOf(Index, Block).has_value();
  const auto Along = linearCoefficient(Index, Id, All);
  if (!Along || *Along == 0)
    return false;
  if (!Loop.Step)
    return !Loop.Init.is_null() && spreadOf(Loop.Init, Block).has_value();
  const auto Apart = spreadOf(Index, Block);
  if (!Apart)
    return false;
  const int64_t Step = std::abs(*Along * *Loop.Step);
  return Step > Apart->Span ||
         (Loop.ConstTripCount && Step * *Loop.ConstTripCount <= Apart->Least);
}

/// Elements of \p G that a thread reads and no other does, as against one.
double newRounds(const KernelModel &M, const GlobalAccess &G,
                 const std::array<int64_t, 3> &Block) {
  if (G.K != GlobalAccess::Read || G.Index->K != Value::Affine)
    return 1;
  double Rounds = 1;
  for (int Q = M.stmt(G.Stmt).Parent; Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &S = M.stmt(Q);
    if (S.HasBarrier || S.HasGlobalWrite)
      break; // what a round stores is counted by the round
    if (S.K == Stmt::For && !S.Cooperative && readsAnew(M, S, G.Index->Aff, Block))
      Rounds *= roundsOf(M, S.Id) / (S.Parent >= 0 ? roundsOf(M, S.Parent) : 1);
  }
  return Rounds;
}

/// Elements by which the next block along x is ahead in \p G's buffer, as against one a
/// thread; 1 where that is not known in numbers.
double elementsOfThread(const GlobalAccess &G, const std::array<int64_t, 3> &Block) {
  if (G.Index->K != Value::Affine)
    return 1;
  const auto Form = linearForm(G.Index->Aff, isl::set::universe(G.Index->Aff.domain().space()));
  double Ahead = 0;
  if (Form)
    for (const auto &[Id, Coefficient] : Form->Terms) {
      std::vector<std::string> F = productFactors(Id);
      if (Id == "bx")
        F = {"bx"};
      if (F == std::vector<std::string>{"bx"})
        Ahead += std::abs(double(Coefficient));
      else if (F.size() == 2 && llvm::is_contained(F, "bx") && llvm::is_contained(F, "bdx"))
        Ahead += std::abs(double(Coefficient)) * double(Block[0]);
      else if (llvm::is_contained(F, "bx"))
        return 1;
    }
  return std::max(1.0, Ahead / double(Block[0] * Block[1] * Block[2]));
}

/// Is there a loop with barriers around \p G?
bool isInRounds(const KernelModel &M, const GlobalAccess &G) {
  for (int Q = static_cast<int>(G.Stmt); Q >= 0; Q = M.stmt(Q).Parent)
    if (M.stmt(Q).isLoop() && M.stmt(Q).HasBarrier)
      return true;
  return false;
}

} // namespace

double rcache::dramBytes(const KernelModel &M, const Staging &Fill,
                         const std::array<int64_t, 3> &Block) {
  struct Traffic {
    double Executions = 0, Rounds = 1, Bytes = 0;
    double All = 0, Ahead = 1; ///< accesses of a thread, and what a block is ahead for each
  };
  std::map<std::pair<int, bool>, Traffic> Of; // pointer, is it written?
  double Stores = 1;
  for (const GlobalAccess &G : M.GlobalAccesses) {
    if (G.Root < 0 || !G.Index || !(G.Index->Depends & DepThread))
      continue;
    const bool Writes = G.K != GlobalAccess::Read;
    Traffic &T = Of[{G.Root, Writes}];
    T.Executions = std::max(T.Executions,
                            Fill.executions(G.Stmt) / roundsOf(M, G.Stmt));
    T.Bytes = std::max(T.Bytes, double(G.ElemBytes));
    if (!isInRounds(M, G)) {
      T.All += Fill.executions(G.Stmt);
      T.Ahead = std::max(T.Ahead, elementsOfThread(G, Block));
    }
    auto New = guarded([&] { return newRounds(M, G, Block); });
    if (New)
      T.Rounds = std::max(T.Rounds, *New);
    else
      llvm::consumeError(New.takeError());
    if (Writes)
      Stores = std::max(Stores, T.Executions);
  }
  double Bytes = 0;
  for (const auto &[Key, T] : Of)
    Bytes += T.Bytes * std::max(T.Rounds * std::min(Stores, std::max(1.0, T.Executions)),
                                std::min(T.All, T.Ahead));
  return Bytes ? Bytes : 8;
}
