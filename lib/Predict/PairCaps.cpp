// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PairCaps.h.

#include "PairCaps.h"
#include "Arithmetic.h"
#include "Registers.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace rcache;

/// Do elements go back to their owners, or might a compiler branch where pairs
/// run alike: does it not see that all who run meet a condition, or asks one
/// for several things? (`p > t && ..`, 128 keys: 1.0x to 1.3x)
static bool goesBack(const CapInput &In, const Owned::Fetch &F) {
  const PairedInterval *Pair =
      In.P.paired(In.M.SharedAccesses[F.Accesses.front()].Range);
  if (!Pair || Pair->Met.empty())
    return true;
  return llvm::any_of(In.M.Stmts, [&](const Stmt &S) {
    const std::string Asks =
        S.K == Stmt::If && Pair->Statements.contains(S.Range)
            ? In.M.text(S.CondRange)
            : "";
    return Asks.find("&&") != std::string::npos ||
           Asks.find("||") != std::string::npos ||
           Asks.find('?') != std::string::npos;
  });
}

/// Does data decide which elements change in \p Run: by a condition, or in a function that gets
/// both elements of a pair?
static bool sorts(const CapInput &In, const PairedInterval &Run) {
  if (llvm::any_of(In.M.Stmts, [&](const Stmt &S) {
        return S.K == Stmt::If && (S.CondDepends & DepShared) &&
               Run.Statements.contains(S.Range);
      }))
    return true;
  std::set<unsigned> Handed; // statements with an element that they may change
  for (const SharedAccess &A : In.M.SharedAccesses)
    if (A.K == SharedAccess::ReadWrite && Run.Statements.contains(A.Range) &&
        !Handed.insert(A.Stmt).second)
      return true;
  return false;
}

static bool sortsInRuns(const CapInput &In) {
  return llvm::any_of(In.P.Paired, [&](const PairedInterval &Run) {
    return Run.Strided && sorts(In, Run);
  });
}

/// ... of one array?
static bool sortsOneArray(const CapInput &In) {
  return sortsInRuns(In) && llvm::count_if(In.P.Arrays, [](const ArrayPlan &A) {
                              return A.as<Owned>() != nullptr;
                            }) == 1;
}

/// Sorts in strided runs whose bounds come with the launch: the original finds each pair anew,
/// neighbours of a lane know theirs. (Keys and values, 1024 a block: 1.8x to 2.7x in nine
/// programs, 2.6x to 2.8x counted.)
static bool sortsAtRunTime(const CapInput &In) {
  return !In.M.Form.Fixed.empty() && sortsInRuns(In) && In.P.Map.Stride[0] == 1;
}

/// Do elements decide where a statement is executed, as in sorts? Scans are alike for all data.
static bool asksElements(const KernelModel &M) {
  return llvm::any_of(M.Stmts, [](const Stmt &S) { return S.K == Stmt::If && (S.CondDepends & DepShared); });
}

/// (Of narrow elements, odd-even sorts of shorts and bytes: 1.6x with one a lane, 0.91x
/// to 1.08x with two, 0.64x to 0.98x with more.)
double rcache::writtenBack(const CapInput &In, double Speedup) {
  constexpr double ManyShuffles = 16; // an output: rounds of a sort
  constexpr double FewShuffles = 5;   // trees, and scans of neighbours: the code is short
  bool Written = false, Back = false, Narrow = false;
  for (const ArrayPlan &A : In.P.Arrays)
    if (const auto *O = A.as<Owned>()) {
      for (const Owned::Fetch &F : O->Fetches) {
        Written |= F.Written;
        Back |= F.Written && goesBack(In, F);
        Narrow |= F.Written && partBytes(In.M.Arrays[A.Array]) < 4 &&
                  In.C.Counts.Shuffles >= ManyShuffles;
      }
      // Who runs is found out in each register, as with pairs: no more is
      // claimed than for these.
      Written |= !O->OfRuns.empty();
    }
  if (!Written)
    return Speedup;
  if (sortsAtRunTime(In))
    return std::min(Speedup, In.Fit.RunTimePairs);
  if (Back)
    return std::min(Speedup, In.P.slots() > (Narrow ? 1 : In.Fit.MostWrittenBack)
                                 ? 1
                                 : In.Fit.WrittenBackClaimed);
  const double Registers = ownedRegisters(In.M, In.P);
  // (Scans of neighbours: 1.7x, 2.2x, 3.9x and 4.1x where 1.9x, 2.0x, 4.0x and 4.0x are counted.)
  if (In.C.Counts.Shuffles <= FewShuffles)
    return Speedup;
  // (Keys of one word, 1024 a block: 2.8x, 3.1x and 3.6x.)
  const bool OneWord = Registers <= In.P.slots();
  if (Registers > In.Fit.MostPaired && !OneWord)
    return std::min(Speedup, asksElements(In.M) ? In.Fit.LargePairs : In.Fit.LargeScans * Speedup);
  const double Words = OneWord ? 0 : In.Fit.PairShuffle * In.C.Counts.Shuffles;
  return std::min(Speedup, In.Fit.PairsClaimed / (1 + Words));
}

/// Statements that change both elements of a pair where a condition holds, and
/// arrays in many registers of a lane: 32 of them were measured at 2.0x (scans),
/// 1.4x (sorts), 64 at 1.1x. (Keys alone were slower before ptxas was told how many
/// registers it has; 256, 512 and 1024 of them are 2.4x to 2.65x since. But 0.49x to 0.87x
/// where elements are found by divisions: compilers know the counter there, and each slot
/// does what a thread did.)
double rcache::stridedRuns(const CapInput &In, double Speedup) {
  double Words = 0; // in registers of a lane
  for (const ArrayPlan &A : In.P.Arrays)
    if (const auto *O = A.as<Owned>(); O && !O->OfRuns.empty())
      Words += In.P.slots() * double(O->Parts) * elementRegisters(In.M, A.Array);
  if (sortsAtRunTime(In))
    return Speedup;
  constexpr double Divides = 16; // instructions of a statement
  const auto FoundByDivision = [&](const PairedInterval &Run) {
    return Run.Strided && llvm::any_of(In.M.Stmts, [&](const Stmt &S) {
             return !S.isLoop() && S.Computes.Int > Divides && Run.Statements.contains(S.Range);
           });
  };
  // (With bounds that are constants, nvcc has a few instructions for a pair: 0.81x to 1.18x
  // with 1024 keys.)
  constexpr unsigned Many = 16; // slots
  if (Words > In.Fit.MostRunWords || (In.P.slots() >= Many && sortsInRuns(In)) ||
      (sortsOneArray(In) && llvm::any_of(In.P.Paired, FoundByDivision)))
    return std::min(Speedup, 1.0);
  if (In.P.slots() <= In.Fit.MostConditionalPairs)
    return Speedup;
  const auto IsConditional = [&](unsigned Access) {
    for (int S = int(In.M.SharedAccesses[Access].Stmt); S >= 0;
         S = In.M.stmt(unsigned(S)).Parent)
      if (const Stmt &If = In.M.stmt(unsigned(S));
          If.K == Stmt::If && (If.CondDepends & (DepThread | DepShared)))
        return true;
    return false;
  };
  const bool Pairs = llvm::any_of(In.P.Arrays, [&](const ArrayPlan &A) {
    const auto *O = A.as<Owned>();
    return O && llvm::any_of(O->OfRuns, [&](const auto &R) {
             return R.second && IsConditional(R.first) &&
                    In.M.SharedAccesses[R.first].K != SharedAccess::Read;
           });
  });
  return Pairs ? std::min(Speedup, 1.0) : Speedup;
}
