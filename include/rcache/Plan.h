// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plan: everything that the rewriting of one kernel decides. Emission reads it
// and decides nothing; prediction and verification read it too.
//
// Coordinates. A physical thread stands for Factor[0] * Factor[1] * Factor[2]
// logical threads, its *slots*. In the isl values of a plan
//
//     tx ty tz   the logical thread of slot (0, 0, 0) of the physical thread
//     sx sy sz   the slot along each axis, 0 <= sx < Factor[0]
//     e0 e1 ...  the coordinates of an element of a shared array
//
// and the logical thread of a slot is tx + Stride[0] * sx, and so on: Stride 1
// is the chunked layout (a thread owns neighbours), Stride 32 the cyclic one of
// the literature (a warp owns 32 * Factor[0] neighbours), Stride
// blockDim / Factor keeps a warp's accesses contiguous in every slot.
//
// Every other symbol of the model (n, bx, bxbd, iterators) means what it means
// in the original.

#ifndef RCACHE_PLAN_H
#define RCACHE_PLAN_H

#include "rcache/Model.h"
#include <algorithm>
#include <map>

namespace rcache {

/// Where the elements that a thread reads come from.
enum class Exchange {
  Shuffle, ///< every lane loads its own chunk; the rest of the window arrives
           ///< by __shfl_sync
  Reload,  ///< the thread loads its whole window itself, through L1
  Direct,  ///< each read evaluates the staging function where it stands
  Shared   ///< the array stays in shared memory; only the slots are merged
};

/// "shuffle", "reload", "direct" or "shared".
const char *exchangeName(Exchange X);

/// Which threads a barrier has to order.
enum class SyncScope {
  None, ///< none: it is left out
  Warp, ///< the lanes of a warp: `__syncwarp()`
  Block ///< the block: it stays as it is
};

/// A part of the staging function: on Domain, element (e0, e1, ...) holds V.
struct StagePiece {
  Nullable<isl::set> Domain; ///< [e0, e1, symbols] -> { : }
  ValueRef V;      ///< a value in e0, e1, ... and symbols free of tx ty tz
  std::vector<ValueRef> Guards; ///< further conditions, not affine, same symbols
};

/// The staging function of one array between one barrier and the next write:
/// the first piece whose Domain (and Guards) hold gives the element; an element
/// in no piece has not been written and is never read by a defined execution.
struct StagingFunction {
  std::vector<std::string> ElemIds;  ///< "e0", "e1", ...
  std::vector<StagePiece> Pieces;    ///< last write first
  /// reads <= writes was proved; false: elements outside are taken as
  /// undefined in the original (allowed only where no older value can be there).
  bool CoverageProved = false;
};

/// A read served from the window: the register is, per dimension, a quasi-affine
/// function of slot and unrolled iterators only.
struct WindowRead {
  unsigned Access = 0;              ///< index in KernelModel::SharedAccesses
  std::vector<isl::pw_aff> Register; ///< [sx, sy, sz, iterators] -> { [m] }
};

/// A global load in the staging function that may be done for a whole window
/// at once: source index = First index + m (unit stride in the last dimension).
struct VectorLeaf {
  ValueRef Load;         ///< the Load node in the interior piece's value
  std::string ElemType;
  unsigned ElemBytes = 0;
  /// Elements before the first that is aligned for a vector, as far as the
  /// constant part of the address tells.
  unsigned Head = 0;
};

/// A window whose rows (first dimension) are loaded one after the other and used
/// up at once: round j of Loop, in slot s along Axis, reads row j + s + Offset.
struct RowStream {
  unsigned Loop = 0; ///< For statement with constant bounds and step 1
  int Axis = -1;     ///< -1: all slots read the same row
  int64_t Offset = 0;
};

/// One array between one barrier and the next write of it.
struct ArrayPlan {
  unsigned Array = 0;
  unsigned Barrier = 0;             ///< Stmt that ends the staging interval
  std::vector<unsigned> Writes;     ///< the staging writes (SharedAccesses)
  std::vector<unsigned> Reads;      ///< all reads served (SharedAccesses)
  Exchange X = Exchange::Shared;
  StagingFunction Stage;

  // Shuffle and Reload: the window.
  std::vector<isl::pw_aff> First;   ///< per dimension [tx, ty, symbols] -> { [e] }:
                                    ///< element of register 0
  std::vector<int64_t> Extent;      ///< registers per dimension
  std::vector<WindowRead> WindowReads;
  /// The slots' windows do not overlap (Stride > 1, distant reads): register m
  /// of the last dimension is element First + m / SlotSpan * SlotStep +
  /// m % SlotSpan. SlotSpan 0: register m is element First + m.
  int64_t SlotSpan = 0, SlotStep = 0;
  /// Two dimensions or more: the registers [first, second) of each line (a run
  /// along the last dimension; lines in row-major order of the others) that are
  /// read at all; empty: every line is read from end to end. A star-shaped
  /// stencil leaves out the corners, which its tile may not even hold.
  std::vector<std::pair<int64_t, int64_t>> Lines;
  /// Reload: only one row is held at a time.
  std::optional<RowStream> Stream;

  /// Direct, one read: done at the barrier, into a register for each slot and
  /// round of EarlyLoops. First is then [tx.., sx.., iterators, symbols] -> { [e] },
  /// the element of each register.
  bool Early = false;
  std::vector<unsigned> EarlyLoops; ///< For statements, outermost first

  /// On Interior ([e0.., symbols], e = First) the whole window lies in the
  /// piece InteriorPiece: nothing is asked before its loads. Leaves: those that
  /// move by one element from register to register and may be done as vectors;
  /// empty: element by element.
  int InteriorPiece = -1;
  Nullable<isl::set> Interior;
  std::vector<VectorLeaf> Leaves;
  unsigned VectorBytes = 0;         ///< 16, 8, 4: width of one vector load
  /// Elements that the generated code can ask the staging function for,
  /// [e0.., symbols] -> { : }; null: any.
  Nullable<isl::set> Reach;

  // Shuffle: the chunked distribution. Element First + m of lane l lies in
  // chunk m / Chunk, that is lane (l + Direction * (m / Chunk)) mod 32,
  // register m mod Chunk.
  unsigned Chunk = 0;
  int Direction = 1;                ///< -1: reversed reads
  /// Shuffle, cyclic layout (Chunk = 1): element First + 32 * r of lane l is
  /// register r; element m of slot s is lane (l + m) mod 32.
  bool Cyclic = false;
};

/// What the launch must satisfy; text in terms of `grid`, `block`, `shared` and
/// the kernel's parameters. If it does not hold, the original is launched.
struct Precondition {
  std::string Text;   ///< C++ condition of the generated host function
  std::string Reason; ///< for the comment and the report
};

/// Figures per output (per logical thread), for prediction and reports.
struct PlanCounts {
  double GlobalLoads = 0, OriginalGlobalLoads = 0;     ///< elements
  double LoadInstructions = 0, OriginalLoadInstructions = 0;
  double Shuffles = 0, Selects = 0;
  double SharedReads = 0, OriginalSharedReads = 0;
  double SharedWrites = 0, OriginalSharedWrites = 0;
  double Barriers = 0, OriginalBarriers = 0;           ///< per logical thread
  double Stores = 0, StoreInstructions = 0;
  double Arithmetic = 0;
  unsigned Registers = 0;                              ///< estimate, a thread
};

/// Vectors that start at Pointer + Offset and from there by multiples of
/// Multiples: aligned if the sum is, and each of these a multiple of Elements.
/// Texts for host code, of the kernel's arguments.
struct AlignedRun {
  std::string Pointer;
  std::string Offset;                 ///< elements; "": none
  std::vector<std::string> Multiples; ///< elements
  unsigned Elements = 1;              ///< of a vector
  bool operator==(const AlignedRun &) const = default;
};

struct Plan {
  std::array<unsigned, 3> Factor = {1, 1, 1};
  std::array<int64_t, 3> Stride = {1, 1, 1};
  /// The block is known (or required by a precondition) to have this shape.
  std::optional<std::array<int64_t, 3>> Block;
  /// Otherwise blockDim.x must be a multiple of this.
  unsigned BlockMultiple = 1;
  /// What holds at every launch of the rewritten kernel, free of threads.
  Nullable<isl::set> Context;
  /// Logical blocks merged along x into one physical block: as many as bring
  /// it to about this many threads.
  unsigned TargetThreads = 128;
  bool Merge = true;

  std::vector<ArrayPlan> Arrays;
  /// The barriers of the original stay (something else is ordered by them).
  bool KeepBarriers = false;
  std::string BarrierReason;
  /// KeepBarriers: the barriers (Stmts) that have to order less than the block.
  std::map<unsigned, SyncScope> Narrowed;
  SyncScope scopeOf(unsigned Barrier) const {
    const auto It = Narrowed.find(Barrier);
    return !KeepBarriers          ? SyncScope::None
           : It == Narrowed.end() ? SyncScope::Block
                                  : It->second;
  }
  /// How many of the original's barriers have this scope.
  unsigned barriers(const KernelModel &M, SyncScope Scope) const {
    return static_cast<unsigned>(
        std::count_if(M.Stmts.begin(), M.Stmts.end(), [&](const Stmt &S) {
          return S.K == Stmt::Barrier && scopeOf(S.Id) == Scope;
        }));
  }
  /// Loops over taps with the same trips for all slots run outside, the slots
  /// inside: more independent work between two uses of one accumulator.
  bool TapsOutside = false;
  std::vector<unsigned> UnrolledLoops;   ///< Stmts whose iterator indexes registers
  /// Stores `out[g] = v` collected over the slots and written as vectors
  /// (index in GlobalAccesses), with the width in bytes; the width of an
  /// element: one by one.
  struct VectorStore {
    unsigned Access = 0;
    unsigned Bytes = 16;
    /// Stores of other branches to the same element: of all these a slot runs
    /// at most one.
    std::vector<unsigned> Also;
    bool holds(unsigned A) const {
      return A == Access || std::find(Also.begin(), Also.end(), A) != Also.end();
    }
  };
  std::vector<VectorStore> VectorStores;
  /// Pointer parameters (indices in KernelModel::Params, the smaller first) that
  /// have to lead to different memory; a precondition says so for each pair.
  std::vector<std::pair<int, int>> Separate;
  std::vector<Precondition> Preconditions;
  /// Launches with fewer threads than this leave most of the device idle and
  /// run the original; 0: none do. Set by the prediction.
  unsigned LeastThreads = 0;
  /// How long a block lives, in lives of the original's block, where all blocks
  /// live as long as the launch (loops over planes): the launch compares whole
  /// waves. 0: it does not. Set by the prediction.
  double WaveLife = 0;
  /// What launches have to give so that vectors start where they may; other
  /// launches run another form, or the original. Set by the prediction.
  std::vector<AlignedRun> Aligned;
  /// There is another form for launches that do not: tests run both, each where
  /// it belongs. Else tests run this one whatever is aligned.
  bool AlignedHasOther = false;
  PlanCounts Counts;
  double PredictedSpeedup = 0;  ///< 0: not predicted
  /// What PredictedSpeedup rests on: estimates, the compiler's registers, or
  /// times on a device.
  enum Figures { Estimated, Compiled, Measured } SpeedupFrom = Estimated;

  unsigned slots() const { return Factor[0] * Factor[1] * Factor[2]; }
  /// Do slots run along this axis? At least one axis has them.
  bool hasSlots(unsigned Axis) const {
    return Factor[Axis] > 1 || (Axis == 0 && slots() == 1);
  }
  /// A thread stands for one thread, all arrays stay: what differs from the
  /// original is barriers.
  bool onlyBarriers() const {
    return slots() == 1 &&
           std::all_of(Arrays.begin(), Arrays.end(), [](const ArrayPlan &A) {
             return A.X == Exchange::Shared;
           });
  }
  /// Stable text form, for tests and --print-after=plan.
  void print(llvm::raw_ostream &OS, const KernelModel &M) const;
};

} // namespace rcache

#endif // RCACHE_PLAN_H
