// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlanCosts.h. Counts of an unrolled loop are multiplied by its trips; a
// trip count that is not constant counts as UnknownRounds on both sides.

#include "PlanCosts.h"
#include "Affine/IslTools.h"
#include "Arithmetic.h"
#include "Constants.h"
#include "CutCosts.h"
#include "JoinedCosts.h"
#include "LaunchShape.h"
#include "PlacementCosts.h"
#include "Plan/Counts.h"
#include "PrivateCosts.h"
#include "Registers.h"
#include "SharedReads.h"
#include "StagedReads.h"
#include "Traffic.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

namespace {

constexpr unsigned RegistersPerSm = 65536;

/// The part of SlotSerial that \p M's loops ask for.
double slotSerial(const KernelModel &M, const std::array<int64_t, 3> &Block,
                  const Constants &Fit) {
  if (planeUnroll(M, Block) > 1)
    return Fit.SlotSerialPlanes;
  const bool Rounds = llvm::any_of(M.Stmts, [](const Stmt &S) {
    return S.HasBarrier &&
           S.isLoop();
  });
  return Rounds ? Fit.SlotSerialRounds : Fit.SlotSerial;
}

/// Registers for the rounds of a loop over planes that are unrolled; 0 where
/// none are.
double unrolledRegisters(const KernelModel &M,
                         const std::array<int64_t, 3> &Block,
                         const Constants &Fit) {
  const double Rounds = std::min(double(planeUnroll(M, Block)), Fit.MostRounds);
  double Widest = 1;
  for (unsigned A = 0; A < M.Arrays.size(); ++A)
    Widest = std::max(Widest, words(M, A));
  return Rounds > 1 ? Rounds * (Fit.RoundRegisters + Fit.RoundElements * Widest) : 0;
}

/// Registers that a thread of such a block can have at most.
double mostRegisters(unsigned ThreadsPerBlock) {
  return ThreadsPerBlock > 256 ? RegistersPerSm / (ThreadsPerBlock + 31) / 8 * 8
                               : 255;
}

/// Is \p G, an atomic of every thread, one to an address that all threads share?
bool meetsAll(const KernelModel &M, const GlobalAccess &G) {
  if (G.K != GlobalAccess::Atomic || !G.Index ||
      (G.Index->Depends & (DepThread | DepShared | DepGlobal)))
    return false;
  for (int S = int(G.Stmt); S >= 0; S = M.stmt(unsigned(S)).Parent)
    if (M.stmt(unsigned(S)).K == Stmt::If)
      return false;
  return true;
}

constexpr double LineBytes = 128;

void common(const KernelModel &M, const Staging &Fill,
            const std::array<int64_t, 3> &Block, KernelCounts &K) {
  K.DramBytes = dramBytes(M, Fill, Block);
  for (const GlobalAccess &G : M.GlobalAccesses) {
    bool Staging = false;
    for (const SharedAccess &A : M.SharedAccesses)
      Staging |= A.K == SharedAccess::Write && A.StoredRange.contains(G.Range);
    if (meetsAll(M, G))
      K.MeetingAtomics += roundsOf(M, G.Stmt);
    Staging = Staging || isStagedByMember(M, G);
    if (Staging || G.K != GlobalAccess::Read)
      continue;
    MemoryAccesses L;
    L.PerOutput = Fill.executions(G.Stmt);
    L.Bytes = std::max(1u, G.ElemBytes);
    L.LaneStride = G.Index && (G.Index->Depends & DepThreadX) ? L.Bytes : 0;
    // Where data says where to (rows of a sparse matrix, neighbours in a mesh), each lane
    // reads a line of its own.
    if (L.LaneStride > 0 && (G.Index->Depends & DepGlobal))
      L.LaneStride = LineBytes;
    K.Loads.push_back(L);
  }
}

} // namespace

/// Copies of a statement in the kernel's code: rounds of the loops around it
/// that are unrolled, because the plan says so or because they are short.
static double copiesOf(const KernelModel &M, const Plan &P, const Stmt &S,
                       const Constants &Fit) {
  double Copies = 1;
  for (int Q = S.Parent; Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &L = M.stmt(Q);
    if (L.K != Stmt::For || !L.ConstTripCount || L.HasBarrier)
      continue;
    const bool Streamed = llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
      const auto *Rows = A.as<StreamedRows>();
      return Rows && Rows->Loop == L.Id;
    });
    if (Streamed || llvm::is_contained(P.UnrolledLoops, L.Id) ||
        static_cast<double>(*L.ConstTripCount) <= Fit.ShortLoop)
      Copies *= static_cast<double>(*L.ConstTripCount);
  }
  return Copies;
}

std::string rcache::formName(const Plan &P) {
  return P.TapsOutside ? "taps outside" : "slot by slot";
}

/// Elements that an unrolled loop around reads of one of \p P's windows adds up;
/// 0 when there is none, or when they are floats, whose order is fixed.
static double summedUp(const KernelModel &M, const Plan &P) {
  for (const ArrayPlan &A : P.Arrays)
    if (!A.isShared() && isFloating(M.Arrays[A.Array].CanonicalType))
      return 0;
  double Most = 0;
  for (const ArrayPlan &A : P.Arrays)
    for (const WindowRead &R : A.registerReads()) {
      const unsigned S = M.SharedAccesses[R.Access].Stmt;
      if (llvm::StringRef(M.text(M.stmt(S).Range)).contains("+="))
        Most = std::max(Most, roundsOf(M, S) / roundsOf(M, A.Barrier));
    }
  return Most;
}

/// Does a lane own many neighbours that are partners by a bit of their numbers, `t ^ h`?
/// Where they are 32 apart the same instructions take less time (transforms of 512 numbers
/// 16.6 against 21.2 us, sorts of 1024 keys 65 against 100 and 139 against 182).
static bool flipsNeighbours(const Plan &P) {
  constexpr unsigned Many = 16; // elements of a lane
  return P.slots() >= Many && P.Map.Stride[0] == 1 && llvm::any_of(P.Arrays, [](const ArrayPlan &A) {
           const auto *O = A.as<Owned>();
           return O && llvm::any_of(O->Fetches, [](const Owned::Fetch &F) {
                    return F.K == Owned::Fetch::Flipped;
                  });
         });
}

double rcache::formFactor(const KernelModel &M, const Plan &P, const Arch &On,
                          const KernelCounts &K) {
  const Constants &Fit = constantsOf(On);
  bool Windows = false, Exchanged = false, Alike = false;
  for (const ArrayPlan &A : P.Arrays) {
    const bool Reloads = A.as<Reloaded>() || A.as<StreamedRows>();
    Alike |= Reloads && P.slots() > 1 &&
             llvm::none_of(A.registerReads(), [](const WindowRead &R) {
               return llvm::any_of(R.Register, [](const isl::pw_aff &Index) {
                 return dependsOn(Index, "sx") || dependsOn(Index, "sy") ||
                        dependsOn(Index, "sz");
               });
             });
    Windows |= A.window() != nullptr;
    Exchanged |= A.as<Shuffled>() != nullptr;
  }
  const auto OfHalves = [&](auto &A) { return M.Arrays[A.Array].ElemBytes == 2; };
  // What all slots read alike (a filter, too) is used up one by one with the taps outside.
  if (P.Map.joins())
    return joinedFactor(P, K.LaunchWarps / On.Sms, llvm::any_of(P.Arrays, OfHalves));
  if (Alike && !P.TapsOutside)
    return 0.8;
  if (!Windows)
    return flipsNeighbours(P) ? 0.75 : 1;
  for (const ArrayPlan &A : P.Arrays)
    if (A.as<StreamedRows>() && M.Arrays[A.Array].ElemBytes < 4)
      return 0.85; // and row by row there is nothing to do meanwhile
  // Shuffled elements arrive one by one: what comes first is used first only
  // when the taps are outside.
  if (Exchanged && !P.TapsOutside)
    return 0.89;
  // Integer sums are associative: with the taps outside the compiler adds two
  // elements in one instruction, and elements that arrive one by one do not
  // wait for a slot's turn (measured: 1.6x at 51 taps, nothing at 3, and
  // nothing for elements that are all there). Doubles gain where registers are
  // scarce. Floats have their order; one slot after the other leaves the
  // compiler the freedom to interleave them.
  const double Sums = summedUp(M, P);
  const bool Doubles = llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
    return llvm::StringRef(M.Arrays[A.Array].CanonicalType).contains("double");
  });
  if (P.TapsOutside) {
    if (Sums >= Fit.ManyTaps && (Exchanged || Doubles))
      return 1.1;
    // Then each tap waits for the one element that arrives (measured: 0.76).
    if (Exchanged && Alike)
      return 0.95;
    return Exchanged || Sums >= Fit.ManyTaps ? 1.0 : 0.99;
  }
  return 1;
}

/// What one instruction stores of an element: all of it, or, of three words, one.
static unsigned partOfStore(const GlobalAccess &G) {
  const unsigned Bytes = std::max(1u, G.ElemBytes);
  return llvm::has_single_bit(Bytes) ? Bytes : Bytes & -Bytes;
}

static KernelCounts threadCounts(const KernelModel &M, const Staging &Fill,
                                 const std::array<int64_t, 3> &Block,
                                 const Arch &On) {
  const Constants &Fit = constantsOf(On);
  KernelCounts K;
  common(M, Fill, Block, K);
  double Threads = static_cast<double>(Block[0] * Block[1] * Block[2]);
  for (const SharedAccess &A : M.SharedAccesses) {
    if (A.K == SharedAccess::Write)
      Fill.write(A, K);
    else
      K.SharedLoads += sharedReads(M, Fill, A, Block, Mapping(), false);
    K.Conflicts += Fill.conflicts(A);
  }
  Fill.count(K);
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read) {
      const unsigned Part = partOfStore(G);
      K.Stores.push_back({Fill.executions(G.Stmt) * std::max(1u, G.ElemBytes) / Part, Part,
                          double(G.ElemBytes)});
    }
  Arithmetic A = arithmetic(M, [&](const Stmt &S) {
    return Fill.holds(S) ? 0.0 : Fill.executions(S.Id);
  });
  K.FpOps += A.Fp;
  K.IntOps += A.Int + A.Index + 8;
  K.SpecialOps += A.Special;
  K.DoubleOps += A.Double;
  const Waits &Of = Fill.waits();
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier) {
      K.Barriers += Of.rounds(S.Id);
      K.Steps += Of.steps(S.Id);
      K.PlacedSteps += placesAnew(M, S.Id) ? Of.steps(S.Id) : 0;
    }
  K.LoadRounds = Of.loadRounds();
  K.StagingRounds = Fill.furtherRounds();
  K.OutputsPerThread = 1;
  const GridSize Grid = gridWarps(M, Block, On);
  K.GridWarps = Grid.Warps;
  K.GridKnown = Grid.Known;
  K.ThreadsPerBlock = static_cast<unsigned>(Threads);
  const double Unrolled = unrolledRegisters(M, Block, Fit);
  K.Registers = Unrolled > 0
                    ? static_cast<unsigned>(std::min(Fit.PlaneRegisters + stateRegisters(M) + Unrolled,
                                                     mostRegisters(K.ThreadsPerBlock)))
                    : static_cast<unsigned>(Fit.UsualRegisters);
  K.SharedBytes = sharedBytes(M, Threads);
  return K;
}

KernelCounts rcache::originalCounts(const KernelModel &M, const Staging &Fill,
                                    const std::array<int64_t, 3> &Block,
                                    const Arch &On) {
  KernelCounts K = threadCounts(M, Fill, Block, On);
  addPrivate(M, Plan(), On, K);
  return K;
}

namespace {

/// Stores that are not to shared memory; adds the registers that they take.
void addStores(const KernelModel &M, const Plan &P, const Staging &Fill, Runs How,
               double &Registers, KernelCounts &K) {
  for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I) {
    const GlobalAccess &G = M.GlobalAccesses[I];
    if (G.K == GlobalAccess::Read)
      continue;
    unsigned Bytes = partOfStore(G);
    const double Each = std::max(1u, G.ElemBytes);
    double N = Fill.executions(G.Stmt) * Each / Bytes, Stride = Each * P.Map.Factor[0];
    for (const Plan::VectorStore &V : P.VectorStores)
      if (V.holds(I)) { // of those in several branches one is done
        N /= double(1 + V.Also.size());
        // Words that fill 16 bytes one after the other are as fast as vectors.
        if (llvm::has_single_bit(V.Bytes) &&
            (How == Runs::Vectors || (Bytes >= 4 && Stride <= 16))) {
          if (Bytes < 4)
            K.IntOps += N; // put into words
          N *= double(Bytes) / V.Bytes;
          Bytes = V.Bytes;
        }
        Registers += P.Map.Factor[0] * G.ElemBytes / 4.0;
      }
    K.Stores.push_back({N, Bytes, P.Map.Stride[0] == 1 ? Stride : Each});
  }
}

/// The part of what is computed about where, not what, that each slot computes anew.
double ofPlaces(const Plan &P, const KernelCounts &K) {
  if (placesAreRegisters(P, K.Shuffles)) // a lane's place is asked once
    return std::min(0.5, 1 / double(P.slots()));
  return 0.5;
}

/// Registers of a thread whose plan takes \p Registers, and \p Ahead more where
/// planes are on their way. Notes in \p K what is spilled.
double registersUsed(const KernelModel &M, const Plan &P,
                     const std::array<int64_t, 3> &Block, const Constants &Fit,
                     double Registers, double Ahead, KernelCounts &K) {
  // Beside a plane's window there are the planes that are on their way and
  // where each slot is in them, as far as registers last.
  if (walksThroughPlanes(M, Block))
    Registers = std::max(Registers, std::min(Registers + Ahead, Fit.AheadRegisters));
  // Rounds are spread out as far as registers last, too.
  const double MostUnrolled = !P.allShared() ? Fit.UnrolledRegisters : mostRegisters(K.ThreadsPerBlock);
  Registers = std::max(
      Registers, std::min(Registers + unrolledRegisters(M, Block, Fit), MostUnrolled));
  if (const unsigned Blocks = blocksOfOwners(P)) {
    const double Most = mostRegisters(K.ThreadsPerBlock * Blocks);
    return std::min(Registers, Most);
  }
  // Larger blocks are compiled for what a block of theirs can have.
  if (K.ThreadsPerBlock > 256) {
    const double Most = mostRegisters(K.ThreadsPerBlock);
    if (Registers > Most)
      K.SpillBytes = static_cast<unsigned>(4 * (std::min(255.0, Registers) - Most));
    Registers = std::min(Registers, Most);
  }
  return Registers;
}

} // namespace

KernelCounts rcache::planCounts(const KernelModel &M, const Plan &P,
                                const Staging &Fill,
                                const std::array<int64_t, 3> &Block,
                                const Arch &On, Runs How,
                                Borders Where) {
  const Constants &Fit = constantsOf(On);
  KernelCounts K;
  if (!P.Interleaved.empty() || P.onlyBarriers()) { // the text is the original's
    K = threadCounts(M, Fill, Block, On);
    if (P.onlyBarriers())
      changeBarriers(M, P, Fill, Block, Fit, K);
    return addPrivate(M, P, On, K), K;
  }
  common(M, Fill, Block, K);
  K.Joined = P.Map.joins();
  K.BeyondGrid = beyondGrid(M, P, On);
  const bool Owns = llvm::any_of(P.Arrays, [](const ArrayPlan &A) { return A.as<Owned>() != nullptr; });
  K.Alone = Owns && P.barriers(M, SyncScope::Block) == 0;
  const double Slots = P.slots();
  const PlacementFigures Cost = addPlacements(M, P, Fill, Block, On, How, Where, K);
  double Registers = 20 + Cost.Registers +
                     (stateRegisters(M) + std::max(0.0, sumRegisters(M) - 1)) * Slots;
  // (trsm_lower of bench/styles/f6.cu: two slots of 32 elements, 0.83x where 1.2x was counted.)
  if (P.allShared() && !K.Joined && Slots > 1)
    Registers += privateRegisters(M) * Slots;
  const bool Fills = Cost.Fills;
  addStores(M, P, Fill, How, Registers, K);
  if (Fills)
    Fill.count(K);
  Arithmetic A = arithmetic(
      M,
      [&](const Stmt &S) {
        // (What an owned array is set to is computed still, and all around it.)
        const PairedInterval *Pair = P.paired(S.Range);
        return Fill.holds(S) && !Owns ? 0.0
                                      : Fill.executions(S.Id, P.Map) *
                                            (Pair && Pair->Strided ? Pair->Strided->Share : 1);
      },
      [&](const Stmt &S) { return elementsRead(M, P, S); }, Owns);
  K.FpOps += A.Fp;
  K.DoubleOps += A.Double;
  K.SpecialOps += A.Special;
  K.IntOps += A.Data + (A.Int - A.Data + A.Index) * ofPlaces(P, K) + 2 + 10 / Slots;
  const Waits &Of = Fill.waits();
  addBarriers(M, P, Of, walksThroughPlanes(M, Block), Fit, K);
  // Staging under a condition or in a loop is not overlapped between slots.
  K.LoadRounds = Of.loadRounds() * (stagesUnderConditions(M, P)
                               ? 1 + slotSerial(M, Block, Fit) * (Slots - 1)
                               : 1);
  K.LoadRounds += loadsInTurn(M, P, Fill, Fit) + Cost.InTurn;
  // (A tile that is copied ahead has a round's time to arrive.)
  K.LoadRounds *= P.Ahead ? 0.25 : roundsOfTiles(M, P);
  if (Fills)
    K.StagingRounds = Fill.furtherRounds() * Slots;
  for (const ArrayPlan &A : P.Arrays)
    K.RowByRow |= A.as<StreamedRows>() != nullptr;
  const Arithmetic Code = arithmetic(M, [&](const Stmt &S) {
    return Fill.holds(S) ? 0.0 : copiesOf(M, P, S, Fit);
  });
  K.CodeBytes = Fit.InstructionBytes * Slots *
                (Code.Fp + Code.Double + Code.Special + 0.5 * Code.Int);
  K.OutputsPerThread = static_cast<unsigned>(Slots);
  const GridSize Grid = gridWarps(M, Block, On);
  K.GridWarps = Grid.Warps / Slots;
  K.GridKnown = Grid.Known;
  addCut(M, P, Fit, K);
  const auto Physical = P.Map.launchedBlock(Block);
  K.ThreadsPerBlock =
      static_cast<unsigned>(Physical[0] * Physical[1] * Physical[2]);
  Registers = registersUsed(M, P, Block, Fit, Registers, Cost.Ahead, K);
  K.Registers = static_cast<unsigned>(std::min(255.0, Registers));
  addPrivate(M, P, On, K);
  return K;
}
