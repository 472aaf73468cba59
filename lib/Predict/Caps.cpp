// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Caps.h.

#include "Caps.h"
#include "Affine/IslTools.h"
#include "Arithmetic.h"
#include "LaunchShape.h"
#include "LoopCaps.h"
#include "PairCaps.h"
#include "PrivateCaps.h"
#include "TreeCaps.h"
#include "Registers.h"
#include "SharedReads.h"
#include "StagedReads.h"
#include "StagingCosts.h"
#include "rcache/ThreadsInLine.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>
#include <array>

using namespace rcache;

namespace {

bool usesWindows(const Plan &P) {
  return std::any_of(P.Arrays.begin(), P.Arrays.end(), [](const ArrayPlan &A) {
    return !A.registerReads().empty() || A.as<Owned>();
  });
}

/// Elements of the largest window of \p P that is loaded.
double largestWindow(const Plan &P) {
  double Most = 0;
  for (const ArrayPlan &A : P.Arrays) {
    double N = 0;
    if (const Window *W = A.window())
      N = static_cast<double>(W->registersRead());
    else if (const auto *E = A.as<ReadEarly>())
      N = static_cast<double>(E->registers());
    Most = std::max(Most, N);
  }
  return Most;
}

/// The speed-up that is claimed of \p Speedup; the same where a rule does not
/// apply.
using Rule = double (*)(const CapInput &In, double Speedup);

double barriersOnly(const CapInput &In, double Speedup) {
  return In.P.onlyBarriers() && In.P.OfFirstWarp.empty()
             ? 1 + In.Fit.BarriersClaimed * std::max(0.0, Speedup - 1)
             : Speedup;
}

double noWindows(const CapInput &In, double Speedup) {
  // Fewer blocks to begin are a gain of their own.
  if (In.Original.Bound == Resource::Blocks && !In.P.allShared())
    return Speedup;
  if (In.P.keepsThreads() || usesWindows(In.P))
    return Speedup;
  const bool Deep = In.Block[2] > 1 && In.C.Counts.Barriers <= 1;
  const double Saved = In.Original.of(Resource::Exchange) - In.C.Cost.of(Resource::Exchange);
  // Outputs of a thread that data ends early wait for each other (four: 0.93x for 1.28x; two: 1.5x).
  const bool ByData = In.P.slots() > 2 && llvm::any_of(In.M.Stmts, [](const Stmt &S) {
    return S.isLoop() && !S.HasBarrier && (S.CondDepends & (DepShared | DepGlobal));
  });
  return Speedup < 1.1 || ByData || (!Deep && Saved < 0.1 * In.Original.Clocks) ? std::min(Speedup, 1.0)
                                                                                : Speedup;
}

/// Is \p S in a loop whose rounds are not known, with no barrier in it?
bool inLongLoop(const KernelModel &M, const SharedAccess &S) {
  for (int Q = int(S.Stmt); Q >= 0; Q = M.stmt(unsigned(Q)).Parent) {
    const Stmt &L = M.stmt(unsigned(Q));
    if (L.HasBarrier)
      return false;
    if (L.isLoop() && !L.ConstTripCount)
      return true;
  }
  return false;
}

/// Rows that are as long as an argument says, of arrays that stay: more of them in a warp
/// than the original has there may all begin in one bank, and in a loop that is not
/// unrolled each slot's address is computed anew.
double unknownPitch(const CapInput &In, double Speedup) {
  const auto Lanes = [](int64_t Row) { return std::min<int64_t>(32, Row); };
  const bool Narrower =
      Lanes(In.P.Map.threadsOf(In.Block)[0]) < Lanes(In.Block[0]);
  const bool Unknown = llvm::any_of(In.P.Arrays, [&](const ArrayPlan &A) {
    return A.isShared() && !A.as<Restaged>() &&
           llvm::any_of(In.M.SharedAccesses, [&](const SharedAccess &S) {
             return S.Array == A.Array && stepsUnknown(In.M, S) &&
                    (Narrower || (In.P.slots() > 1 && inLongLoop(In.M, S)));
           });
  });
  return Unknown ? std::min(Speedup, 1.0) : Speedup;
}

/// Elements of one or two bytes that slots store one by one: lanes that lie a thread's
/// slots apart write a part of each sector, once a slot. And tiles of them that a row of lanes
/// fills a part of a sector at a time (products of shorts, 16 x 16 threads: with rows of 8
/// lanes 1.13x and 1.18x where 1.6x was counted, of 4 and 2 lanes 0.88x to 1.02x).
double partOfSectors(const CapInput &In, double Speedup) {
  if (In.P.Map.Factor[0] == 1)
    return Speedup;
  constexpr int64_t Sector = 32;
  const int64_t Lanes = In.P.Map.launchedBlock(In.Block)[0];
  const bool Tiles = In.P.allShared() && llvm::any_of(In.M.SharedAccesses, [&](const SharedAccess &S) {
    const int64_t Bytes = In.M.Arrays[S.Array].ElemBytes;
    return S.K == SharedAccess::Write && Bytes < 4 && Lanes * Bytes < Sector &&
           In.Block[0] * Bytes >= Sector;
  });
  if (Tiles)
    return std::min(Speedup, 1.0);
  const bool Parts = llvm::any_of(In.C.Counts.Stores, [](const auto &S) {
    return S.Bytes < 4 && S.LaneStride > S.Bytes;
  });
  return Parts ? std::min(Speedup, 1.0) : Speedup;
}

/// Elements of memory that slots change one after the other: a load waits for the store
/// of the slot before, which may be to its place, and fewer warps hide that.
double oneByOne(const CapInput &In, double Speedup) {
  if (In.P.slots() == 1 || usesWindows(In.P) || In.P.Map.joins() ||
      In.C.Cost.Occ.WarpsPerSm >= In.Original.Occ.WarpsPerSm)
    return Speedup;
  const auto &All = In.M.GlobalAccesses;
  const bool Changes = llvm::any_of(All, [&](const GlobalAccess &G) {
    return G.K == GlobalAccess::ReadWrite && G.Root >= 0 &&
           llvm::none_of(In.M.Stmts, [&](const Stmt &S) {
             return S.K == Stmt::Barrier && S.Range.Begin > G.Range.End;
           });
  });
  return Changes ? std::min(Speedup, 1.0) : Speedup;
}

/// Does index \p D of \p S hang on a thread?
bool dependsOnThread(const SharedAccess &S, size_t D) {
  return llvm::any_of(std::array{"tx", "ty", "tz"}, [&](const char *Id) {
    return dependsOn(S.Index[D], Id);
  });
}

/// Windows that hold a row or a column of a tile which a thread runs along, as
/// in products: the more rows, the more registers wait for one another.
double linesOfTiles(const CapInput &In, double Speedup) {
  const bool Held = llvm::any_of(In.P.Arrays, [&](const ArrayPlan &A) {
    const Window *W = A.window();
    return W && llvm::any_of(A.Reads, [&](unsigned R) {
             const SharedAccess &S = In.M.SharedAccesses[R];
             bool Line = false, Own = false;
             for (size_t D = 0;
                  S.Affine && D < S.Index.size() && D < W->Extent.size(); ++D)
               if (dependsOnThread(S, D))
                 Own = true;
               else
                 Line |= double(W->Extent[D]) >= In.Fit.TileLine;
             return Line && Own;
           });
  });
  return Held ? std::min(Speedup, 1 + In.Fit.TileLineClaimed * (Speedup - 1))
              : Speedup;
}

/// Lanes of a load that are lines apart: the lines have to stay until other registers of
/// theirs are read.
double linesOfTheirOwn(const CapInput &In, double Speedup) {
  constexpr double Sure = 1.3;
  const bool Apart = llvm::any_of(In.C.Counts.Loads, [&](const MemoryAccesses &L) {
    return L.PerOutput >= 0.25 && std::abs(L.LaneStride) >= In.Fit.L1BytesPerClock;
  });
  return Apart && Speedup < Sure ? std::min(Speedup, 1.0) : Speedup;
}

/// Bound by arithmetic: what is not saved of the exchange has to be done still.
double arithmeticStays(const CapInput &In, double Speedup) {
  const bool Deep = In.Block[2] > 1 && In.C.Counts.Barriers <= 1;
  const double Saved =
      In.Original.of(Resource::Exchange) - In.C.Cost.of(Resource::Exchange);
  const bool Bound = In.Original.Bound == Resource::Issue ||
                     In.Original.Bound == Resource::Arith;
  // Joined blocks stage less often, and have a factor of their own.
  if (In.P.Map.joins())
    return Speedup;
  if (In.P.keepsThreads() || usesWindows(In.P) || Deep || !Bound ||
      Saved <= 0 || Saved >= 0.99 * In.Original.Clocks)
    return Speedup;
  return std::min(Speedup, In.Original.Clocks / (In.Original.Clocks - Saved));
}

/// Is one of the arrays that stay written with values of other threads, again
/// and again between barriers (trees, scans)?
/// Joined blocks whose tiles are filled from places that take divisions by arguments: the
/// same elements wait for them in fewer threads.
double joinedDivisions(const CapInput &In, double Speedup) {
  const bool Divides = In.P.Map.joins() && llvm::any_of(In.P.Arrays, [](const ArrayPlan &A) {
    return A.as<Restaged>() && slowDivisions(A.Stage) > 0;
  });
  return Divides ? std::min(Speedup, 1.0) : Speedup;
}

double narrowBlocks(const CapInput &In, double Speedup) {
  return !In.P.onlyBarriers() && In.P.slots() > 1 && !In.P.Map.Merge &&
                 In.C.Counts.ThreadsPerBlock <= 32 &&
                 Speedup < In.Fit.NarrowClaimed
             ? std::min(Speedup, 1.0)
             : Speedup;
}

double fewWarps(const CapInput &In, double Speedup) {
  // A warp that owns a block waits for nobody.
  const bool Owns = llvm::any_of(
      In.P.Arrays, [](const ArrayPlan &A) { return A.as<Owned>(); });
  // (They fill the tiles of joined blocks too slowly: 0.80x for 1.24x.)
  if (In.P.Map.joins() && In.C.Cost.Occ.WarpsPerSm <= 8 && Speedup < 1.5)
    return std::min(Speedup, 1.0);
  // (80 bytes a thread, each taken out of a word: 0.97x for 1.2x.)
  const bool Bytes = llvm::any_of(In.P.Arrays, [&](const ArrayPlan &A) {
    return A.window() && A.window()->registersRead() > 64 && partBytes(In.M.Arrays[A.Array]) < 4;
  });
  if (Bytes && Speedup < 1.25)
    return std::min(Speedup, 1.0);
  return usesWindows(In.P) && !Owns &&
                 In.C.Counts.Registers > In.Fit.MostClaimed
             ? std::min(Speedup, 1.0)
             : Speedup;
}

/// Little that is gained by trees and scans, of what indices cost: 0.97x was measured where 1.1x
/// was predicted; where lanes ask several registers, 0.86x to 0.98x for 1.17x to 1.23x.
double ownedLittle(const CapInput &In, double Speedup) {
  const bool Little = gathers(In.P) ? Speedup < 1.3
                                    : placesAreRegisters(In.P, In.C.Counts.Shuffles) && Speedup < 1.2;
  return Little ? std::min(Speedup, 1.0) : Speedup;
}

/// Steps that call slow functions, or compute much, where a thread's place decides: slot by
/// slot, each behind a branch of its own (0.89x, 0.64x and 0.93x where 1.49x, 1.31x and 1.25x
/// were predicted; products modulo a prime, 0.98x for 1.23x).
/// (Of integers where lanes beside each other part ways: an interval of threads leaves whole
/// slots idle.)
double ownedBranches(const CapInput &In, double Speedup) {
  const auto isScattered = [&](const Stmt &If) {
    if (If.Cond.is_null())
      return true;
    bool Divides = llvm::any_of(involvedIds(If.Cond), [&](const std::string &Id) {
      const int I = In.M.symbolIndex(Id);
      return I >= 0 && In.M.Symbols[size_t(I)].K == Symbol::Opaque &&
             (In.M.Symbols[size_t(I)].Depends & DepThread) != 0; // `t % (2 * s)`
    });
    If.Cond.foreach_basic_set([&](const isl::basic_set &B) {
      Divides |= isl_basic_set_dim(B.get(), isl_dim_div) > 0;
    });
    return Divides;
  };
  const bool Any = llvm::any_of(In.P.Arrays, [](const ArrayPlan &A) { return A.as<Owned>(); });
  constexpr double Much = 8, MuchInt = 12;
  const bool Slow = llvm::any_of(In.M.Stmts, [&](const Stmt &S) {
    const Work &W = S.Computes;
    const bool Floats = W.Special + S.OfElements.Special > 0 || W.Fp + W.Double >= Much;
    if (!Floats && W.Int - W.Divided < MuchInt)
      return false;
    bool Decided = false;
    for (int Q = S.Parent; Q >= 0; Q = In.M.stmt(static_cast<unsigned>(Q)).Parent) {
      const Stmt &Up = In.M.stmt(static_cast<unsigned>(Q));
      Decided |= Up.K == Stmt::If && (Up.CondDepends & DepThread) && (Floats || isScattered(Up));
      if (Decided && Up.isLoop() && Up.HasBarrier)
        return true;
    }
    return false;
  });
  return Slow && Any && In.P.slots() > 1 ? std::min(Speedup, 1.0) : Speedup;
}

double ownedForms(const CapInput &In, double Speedup) {
  const bool New = llvm::any_of(In.P.Arrays, [&](const ArrayPlan &A) {
    const auto *O = A.as<Owned>();
    return O && O->OfRuns.empty() && isInLine(In.M.Form);
  });
  return New ? std::min(Speedup, 1 + In.Fit.OwnedFormsClaimed * (Speedup - 1)) : Speedup;
}

/// Elements that each thread picks, in blocks of one dimension: the next ones behind a border
/// were measured at 1.03x to 1.24x where 1.5x to 1.7x was predicted.
double gatheredInLine(const CapInput &In, double Speedup) {
  return gathers(In.P) && !isInLine(In.M.Form) ? std::min(Speedup, (1 + Speedup) / 2) : Speedup;
}

/// Timed in one kernel alone.
double namedByVectors(const CapInput &In, double Speedup) {
  const bool Vectors = llvm::any_of(
      In.M.SharedAccesses, [](const SharedAccess &A) { return A.Lanes > 1; });
  return Vectors ? std::min(Speedup, 1 + In.Fit.VectorsClaimed * (Speedup - 1))
                 : Speedup;
}

double loadsApart(const CapInput &In, double Speedup) {
  const auto Loads = [&](unsigned Branch) {
    return llvm::count_if(In.M.GlobalAccesses, [&](const GlobalAccess &G) {
      return G.K == GlobalAccess::Read &&
             In.M.stmt(Branch).Range.contains(G.Range);
    });
  };
  const bool Owns = llvm::any_of(
      In.P.Arrays, [](const ArrayPlan &A) { return A.as<Owned>(); });
  return Owns && llvm::any_of(In.M.Stmts,
                              [&](const Stmt &S) {
                                return S.K == Stmt::If &&
                                       (S.CondDepends & DepThread) &&
                                       S.Children.size() == 2 &&
                                       Loads(S.Children[0]) > 1;
                              })
             ? std::min(Speedup, 1.0)
             : Speedup;
}

double borders(const CapInput &In, double Speedup) {
  if (In.P.Cut || !walksThroughPlanes(In.M, In.Block))
    return Speedup;
  const bool Known = In.C.Counts.GridKnown;
  // (An output alone shares no element with another: 25 of them, 0.94x where 1.5x was
  // predicted.)
  const double Times = !Known ? 1 : In.P.slots() == 1 ? 1.5 : 2;
  const bool Large = largestWindow(In.P) > Times * In.Fit.SmallWindow;
  const double Least = Large    ? In.Fit.SurelyFaster
                       : !Known ? In.Fit.FasterInPlanes
                                : 0;
  return Speedup < Least ? std::min(Speedup, 1.0) : Speedup;
}

/// Blocks of three dimensions, whose threads ask for all sides of a brick.
double bricks(const CapInput &In, double Speedup) {
  bool Asked = false, OneForm = true;
  for (const ArrayPlan &A : In.P.Arrays)
    if (A.window() && A.Stage.Pieces.size() > 1) {
      Asked = true;
      OneForm &= A.Stage.OneForm;
    }
  if (In.Block[2] <= 1 || !Asked || In.P.Cut)
    return Speedup;
  return (OneForm ? In.Fit.ClampedBricksClaimed : In.Fit.BricksClaimed) * Speedup;
}

/// Planes that blocks share, of which each begins with its borders' loads behind a
/// barrier: what few warps wait for is not hidden.
double clampedInStep(const CapInput &In, double Speedup) {
  const bool Clamped = llvm::any_of(In.P.Arrays, [](const ArrayPlan &A) {
    return A.window() && A.Stage.OneForm;
  });
  return In.P.Cut && In.P.KeepBarriers && Clamped ? std::min(Speedup, 1.0) : Speedup;
}

double overlappingTiles(const CapInput &In, double Speedup) {
  const bool Overlap = In.Block[1] > 1 && (blocksOverlap(In.M, In.Block, 0) || blocksOverlap(In.M, In.Block, 1));
  return Overlap && usesWindows(In.P) ? In.Fit.OverlapClaimed * Speedup : Speedup;
}

/// Lanes whose slots are neighbours begin words apart, and pitches of planes
/// keep vectors from it.
double lanesApart(const CapInput &In, double Speedup) {
  const bool Apart = In.P.Cut && In.P.Map.Factor[0] > 1 && In.P.Map.Stride[0] == 1;
  return Apart ? In.Fit.LanesApartClaimed * Speedup : Speedup;
}

double smallLaunch(const CapInput &In, double Speedup) {
  const bool Small = In.P.LeastThreads && In.C.Counts.GridWarps > 0 &&
                     In.C.Counts.GridWarps / In.On.Sms < In.Fit.BusyWarps;
  return Small ? std::min(Speedup, 1.0) : Speedup;
}

struct Cap {
  const char *Name, *Why;
  Rule Claimed;
};

constexpr Cap Caps[] = {
    {"barriers-only",
     "where nothing but barriers changes, half of the gain is claimed",
     barriersOnly},
    {"no-windows",
     "without windows, gains come from elements that serve several slots; what "
     "is predicted below ten percent, or from fewer waiting warps alone, has "
     "been wrong in both directions, except for tiles of three dimensions; outputs that data ends wait for each other",
     noWindows},
    {"unknown-pitch",
     "rows of an array that stays are as long as an argument says: 0.85x to 1.02x was "
     "measured where 1.6x to 2.75x was predicted",
     unknownPitch},
    {"part-of-sectors",
     "bytes and halves that slots store one by one, lanes apart, and tiles of them that few "
     "lanes fill: 0.76x and 0.94x were measured where 1.6x was predicted",
     partOfSectors},
    {"one-by-one",
     "slots that change memory wait for one another's stores, with fewer warps to hide "
     "it: 0.91x and 1.09x were measured where 1.4x was predicted, 1.24x with as many",
     oneByOne},
    {"rounds-by-data",
     "how far loops that ask for data go through a private array is not known: 2.7x was "
     "measured where 26x was predicted",
     roundsByData},
    {"arithmetic-stays",
     "an original that arithmetic binds gains by what it exchanges less, no "
     "more",
     arithmeticStays},
    {"lines-of-tiles",
     "windows that hold a row or a column of a tile were measured at 0.05 to "
     "0.8 of "
     "what was predicted",
     linesOfTiles},
    {"joined-divisions",
     "where an element comes from takes divisions by arguments: 0.81x and 1.04x were "
     "measured of joined blocks where 2.4x was predicted",
     joinedDivisions},
    {"narrow-blocks",
     "physical blocks of a warp hold at most half of an SM's warps",
     narrowBlocks},
    {"few-warps",
     "with so few warps the order in which the compiler takes things decides",
     fewWarps},
    {"written-back",
     "elements of other threads are written: what goes back to its owner takes "
     "twice the shuffles, and code outgrows its cache in large blocks",
     writtenBack},
    {"strided-runs",
     "many pairs a lane that change under a condition of each thread's own have "
     "not been timed, and more than 32 registers of a lane gain little (1.1x)",
     stridedRuns},
    {"best-bytes",
     "compilers hold the best so far of an array in local memory in a register, and load it "
     "again from shared memory: 0.73x and 0.74x were measured with bytes",
     bestBytes},
    {"private-few-warps",
     "in launches of few warps lanes were in fewer lines of local memory than they may be, "
     "and gains that were counted below 1.4x were 0.92x to 1.3x", privateInFewWarps},
    {"private-tables",
     "arrays of a thread that are only read where indices are of run time were "
     "measured at 1.1x, and at 0.93x with bytes or three words: the cache serves them",
     privateTables},
    {"local-arrays",
     "arrays of a thread at elements that data picks stay in local memory for each output, "
     "and fewer warps hide that (a median by selection: 0.96x where 1.5x was predicted)",
     localArrays},
    {"owned-forms",
     "blocks of several dimensions that a warp owns, and elements that each "
     "thread picks, "
     "were measured at 0.5 to 2 times the predicted gain: a tenth less is claimed",
     ownedForms},
    {"owned-branches",
     "steps that call slow functions or compute much where a thread's place decides run slot by slot, "
     "each behind a branch of its own (the tree of an option's values: 0.89x where 1.5x was predicted)",
     ownedBranches},
    {"owned-little",
      "of trees and scans that a warp owns, less than a fifth (three tenths where lanes ask several registers) was not gained",
     ownedLittle},
    {"gathered-in-line",
     "elements next to a thread's, behind borders, were measured at half of the gain",
     gatheredInLine},
    {"loops-of-slots",
     "loops of a round or two of many registers' slots wait for each other's loads: 0.55x "
     "was measured where 1.3x was predicted",
     loopsOfSlots},
    {"ends-of-trees",
     "beside loops of unknown length, and in launches of a wave or two, the end of a tree was "
     "measured to be no cost",
     endsOfTrees},
    {"named-by-vectors",
     "kernels that name shared memory by vectors of its elements have hardly "
     "been "
     "timed: half of the gain is claimed",
     namedByVectors},
    {"loads-apart",
     "loads that stand in a branch of each slot are waited for slot by slot "
     "(0.91x and 1.18x measured for four, where 1.4x was predicted)",
     loadsApart},
    {"read-again",
     "what a thread reads from memory again and again in a loop of unknown length stays in "
     "the cache for one output a thread: 0.17x was measured with four where 1.1x was "
     "predicted",
     readAgain},
    {"lines-of-their-own",
     "loads whose lanes have each a line of the cache to itself: 0.85x was measured where "
     "1.15x was predicted (a transposition of doubles)",
     linesOfTheirOwn},
    {"asked-in-loops",
     "elements that are read from their source in a loop of unknown length "
     "were measured at 0.22x to 0.74x",
     askedInLoops},
    {"borders-of-planes",
     "blocks live as long as the launch, and threads at a border load large "
     "windows element by element: the slowest block decides",
     borders},
    {"bricks",
     "threads of blocks of three dimensions ask for each side of their brick: "
     "0.35 to 0.5 of what was predicted",
     bricks},
    {"clamped-in-step",
     "planes with clamped borders whose rounds keep their barriers: 0.56x to 0.87x was "
     "measured where 1.1x to 1.6x was predicted",
     clampedInStep},
    {"overlapping-tiles",
     "of blocks with fewer outputs than threads, threads of several outputs load "
     "what no output is for: half of what was predicted",
     overlappingTiles},
    {"lanes-apart",
     "in planes that blocks share, slots beside each other along x have been "
     "measured to lose against slots along y, and lose more at borders",
     lanesApart},
    {"few-blocks",
     "private arrays in shared memory leave room for fewer warps than hide what they "
     "wait for",
     fewBlocks},
    {"small-launch",
     "a launch with too few threads for the plan runs the original",
     smallLaunch},
};

} // namespace

void rcache::claim(const CapInput &In, Candidate &C) {
  C.Caps.clear();
  C.Speedup = In.Original.Clocks / C.Cost.Clocks;
  for (const Cap &Of : Caps) {
    const double Claimed = Of.Claimed(In, C.Speedup);
    if (Claimed < C.Speedup)
      C.Caps.push_back(Of.Name);
    C.Speedup = Claimed;
  }
}

const char *rcache::whyCapped(llvm::StringRef Name) {
  for (const Cap &Of : Caps)
    if (Name == Of.Name)
      return Of.Why;
  return "";
}
