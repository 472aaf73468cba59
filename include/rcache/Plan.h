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
#include "llvm/ADT/ArrayRef.h"
#include <algorithm>
#include <map>
#include <utility>
#include <variant>

namespace rcache {

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
  /// Many pieces, which are written as one load whose place has cases (IndexForm.h).
  bool OneForm = false;
  static constexpr size_t ManyPieces = 6;

  /// Is so much asked and computed in front of the load of an element that compilers
  /// branch around both? (Up to three tests and 32-bit sums become predicates.)
  bool branches() const;
  /// Is anything asked there?
  bool isConditional() const;
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

//===-- Placements --------------------------------------------------------===//

/// The elements of an array that a thread reads, in registers with static
/// indices: element First + m, in each dimension, is register m.
struct Window {
  std::vector<isl::pw_aff> First; ///< per dimension [tx, ty, symbols] -> { [e] }:
                                  ///< element of register 0
  std::vector<int64_t> Extent;    ///< registers per dimension
  std::vector<WindowRead> Reads;
  /// The slots' windows do not overlap (Stride > 1, distant reads): register m
  /// of the last dimension is element First + m / SlotSpan * SlotStep +
  /// m % SlotSpan. SlotSpan 0: register m is element First + m.
  int64_t SlotSpan = 0, SlotStep = 0;
  /// Two dimensions or more: the registers [first, second) of each line (a run
  /// along the last dimension; lines in row-major order of the others) that are
  /// read at all; empty: every line is read from end to end. A star-shaped
  /// stencil leaves out the corners, which its tile may not even hold.
  std::vector<std::pair<int64_t, int64_t>> Lines;

  /// On Interior ([e0.., symbols], e = First) the whole window lies in the
  /// piece InteriorPiece: nothing is asked before its loads. Leaves: those that
  /// move by one element from register to register and may be done as vectors;
  /// empty: element by element.
  int InteriorPiece = -1;
  Nullable<isl::set> Interior;
  /// In the middle of a large grid every run lies in Interior. Otherwise warps go both
  /// ways everywhere. For predictions.
  bool AllInside = true;
  std::vector<VectorLeaf> Leaves;
  unsigned VectorBytes = 0; ///< 16, 8, 4: width of one vector load
  /// [tx.., symbols] -> { : }: a thread outside has no slot that makes something of
  /// what it reads here; its registers may hold anything. Null: that is not known.
  Nullable<isl::set> Needed;
  /// Elements that the generated code can ask the staging function for,
  /// [e0.., symbols] -> { : }; null: any.
  Nullable<isl::set> Reach;

  /// All registers: the product of Extent.
  int64_t registers() const;
  /// Those that are read: without the ends that Lines leave out.
  int64_t registersRead() const;
  /// Where register \p M of the last dimension lies, in elements from First.
  int64_t elementOf(int64_t M) const {
    return SlotSpan ? M / SlotSpan * SlotStep + M % SlotSpan : M;
  }
};

/// Which lane of a warp holds which element, in which of its registers: the
/// elements of a window of one dimension, each loaded by one lane.
struct Distribution {
  /// Chunked: element First + m of lane l is in the lane m / Chunk further on
  /// (Direction -1, reads that run backwards: further back), register
  /// m % Chunk. Cyclic, the literature's round robin: element First + 32 r of
  /// lane l is its register r.
  enum Kind { Chunked, Cyclic } K = Chunked;
  unsigned Chunk = 1;
  int Direction = 1;

  struct Home {
    int64_t LanesAway = 0; ///< from the lane that reads, modulo 32
    int64_t Register = 0;  ///< Cyclic: one more in the lanes behind the warp's end
  };
  /// Where register \p M of window \p W comes from.
  Home homeOf(const Window &W, int64_t M) const;
  /// Elements that each lane loads, for a thread with \p Slots slots.
  int64_t loaded(unsigned Slots) const {
    return K == Cyclic ? int64_t(Slots) : int64_t(Chunk);
  }
};

/// The array stays in shared memory; only the slots are merged.
struct KeptShared {};

/// Each read evaluates the staging function where it stands. Without reads:
/// the array is written and never read, and the writes go.
struct FromSource {};

/// One read, done at the barrier, in front of all stores, into a register for
/// each slot and round of Loops.
struct ReadEarly {
  /// Per dimension, the element of each register:
  /// [tx.., sx.., iterators, symbols] -> { [e] }.
  std::vector<isl::pw_aff> First;
  std::vector<int64_t> Extent; ///< the slots' axes, then Loops
  WindowRead Read;
  std::vector<unsigned> Loops; ///< For statements, outermost first
  int64_t registers() const;
};

/// The thread loads its whole window itself; neighbours' loads meet in L1.
struct Reloaded {
  Window W;
};

/// The same row by row (first dimension), each used up before the next is
/// loaded: round j of Loop, in slot s along Axis, reads row j + s + Offset.
struct StreamedRows {
  Window W;
  unsigned Loop = 0; ///< For statement with constant bounds and step 1
  int Axis = -1;     ///< -1: all slots read the same row
  int64_t Offset = 0;
};

/// Every lane loads the elements that it owns; the rest of its window arrives
/// by __shfl_sync.
struct Shuffled {
  Window W;
  Distribution D;
};

/// The array belongs to one warp, whose lanes stand for all threads of the block:
/// element e is in a register of the slot that is thread e % threads, through all
/// intervals. What a slot uses of others is copied by shuffles in front of the
/// statements that use it, and what it makes of the copy goes back behind them.
struct Owned {
  /// Elements of each thread: t, t + threads, ... (more than one: round robin).
  unsigned Parts = 1;
  /// Accesses to an element of the thread itself (indices in SharedAccesses), and
  /// which of its elements: [counters] -> { [part] }.
  std::map<unsigned, isl::pw_aff> PartOf;
  /// An element of another thread, as the statements between two barriers use it.
  struct Fetch {
    enum Kind {
      Ahead,   ///< element tx + By
      At,      ///< element By, the same for all
      Flipped, ///< element tx ^ By
      Gathered, ///< element By, a formula of tx as well; 32 apart, only read
      Inserted  ///< element 2 tx - tx mod By, and By more where Upper; 32 apart
    } K = Ahead;
    /// Lanes of a slot may ask several registers.
    bool isGather() const { return K == Gathered || K == Inserted; }
    Nullable<isl::pw_aff> By; ///< [counters] -> { [elements] }
    bool Upper = false;
    bool All = false; ///< Inserted, written: by all threads, before any reads it
    /// Slots in which any thread may use it: [sx, counters] -> { : }
    Nullable<isl::set> Slots;
    std::vector<unsigned> Accesses; ///< indices in SharedAccesses, in text order
    bool Written = false;           ///< some of them write
    double Shuffles = 0; ///< that a warp executes for it, its loops run once
    double Selects = 0;  ///< between registers, of gathers
  };
  std::vector<Fetch> Fetches;
  /// The fetch that \p Access (index in SharedAccesses) belongs to; null: none.
  const Fetch *fetchOf(unsigned Access) const {
    for (const Fetch &F : Fetches)
      if (std::find(F.Accesses.begin(), F.Accesses.end(), Access) !=
          F.Accesses.end())
        return &F;
    return nullptr;
  }
  /// Accesses that a thread of another number makes for the element (StridedRun):
  /// false, its element; true, the other one of the pair.
  std::map<unsigned, bool> OfRuns;
  double RunShuffles = 0; ///< that a warp executes for these
  /// Loops with barriers that are unrolled: their counters say in which register
  /// an element is.
  std::vector<unsigned> Loops;
};

/// The array stays in shared memory, filled by all threads of a physical block that
/// stands for several logical ones (Mapping::Blocks): at the barrier they share its
/// elements out among themselves and ask the staging function for each. Logical
/// blocks for which it is the same function have one copy.
struct Restaged {
  /// Along these axes each logical block has a copy of its own.
  std::array<bool, 3> PerBlock = {};
  /// Elements staged along each dimension, from 0.
  std::vector<int64_t> Extent;
  /// The axis whose copies lie side by side in a row of the last dimension; the
  /// others' copies lie behind each other. -1: none does.
  int Beside = -1;
  /// Elements between the end of a row and the next one.
  int64_t Pad = 0;

  /// Extents of all copies as they are declared, and the element that copy
  /// (b0, b1, b2) has at E, in the same order: blocks, rows, blocks beside.
  struct Dimension {
    enum Kind { OfBlock, OfElement } K = OfElement;
    unsigned Index = 0;  ///< axis, or dimension of the array
    int64_t Extent = 1;  ///< without Pad
  };
  std::vector<Dimension>
  layout(const std::array<unsigned, 3> &Blocks) const;
  /// Elements of \p Bytes bytes that a thread loads before it stores the first of them,
  /// where each load stands behind a branch. (Narrow ones wait for each other in any case.)
  static int64_t atOnce(unsigned Bytes) { return Bytes < 4 ? 1 : 8; }
  /// Elements of all copies, without Pad.
  int64_t elements(const std::array<unsigned, 3> &Blocks) const;
  /// Bytes that they take, for elements of \p ElemBytes.
  int64_t bytes(const std::array<unsigned, 3> &Blocks, unsigned ElemBytes) const;
};

/// Which thread runs statements for an element, where each thread has an element
/// at a multiple of its number, `s[2 * d * (t + 1) - 1]`: the owner of that element
/// runs them, under the thread's number.
struct StridedRun {
  enum Kind {
    Steps,   ///< thread t is for element Step * t + First
    Inserted ///< First + 2 t - t mod Step: a bit 0 is put in, at 2^b = Step
  } K = Steps;
  Nullable<isl::pw_aff> Step, First; ///< [counters] -> { [elements] }
  /// From its element to the other one of a pair: as many elements ahead, or the
  /// bit by which they differ (Flips). Null: there is no other.
  Nullable<isl::pw_aff> Away;
  bool Flips = false;
  bool Both = false;  ///< both change: both owners run
  int64_t Elements = 0; ///< of each array
  /// Of the slots, those in whose place a register runs the statements, on average.
  double Share = 1;
};

/// Statements between two barriers that do nothing but change what the threads t
/// and t ^ Bit own, and only if the one of them runs that has, or has not, this bit.
/// Both run them then, each with the number of that one: what it would have to hand
/// back has been computed by its owner.
struct PairedInterval {
  TextRange Statements;
  Nullable<isl::pw_aff> Bit; ///< [counters] -> { [2^b] }
  bool Upper = false;        ///< the thread with the bit runs
  /// If statements whose conditions hold for all threads that run (`t ^ j > t`),
  /// which compilers do not see.
  std::vector<unsigned> Met;
  /// Others than t and t ^ Bit (Bit, Upper and Met are not used).
  std::optional<StridedRun> Strided;
  /// Variables that are made of the thread's number and of what has not changed
  /// since: declared again, for that of the thread which runs.
  std::vector<unsigned> Declared;
};

/// Where the elements that a thread reads are. Read it with std::visit or
/// ArrayPlan's questions: a new placement is then an error wherever it has to be
/// thought of (docs/contributing/placements.md).
using Placement = std::variant<KeptShared, FromSource, ReadEarly, Reloaded,
                               StreamedRows, Shuffled, Owned, Restaged>;

/// One array between one barrier and the next write of it.
struct ArrayPlan {
  unsigned Array = 0;
  unsigned Barrier = 0;         ///< Stmt that ends the staging interval
  std::vector<unsigned> Writes; ///< the staging writes (SharedAccesses)
  std::vector<unsigned> Reads;  ///< all reads served (SharedAccesses)
  StagingFunction Stage;
  Placement Where;

  /// The placement, if it is a \p T.
  template <typename T> const T *as() const { return std::get_if<T>(&Where); }
  template <typename T> T *as() { return std::get_if<T>(&Where); }
  bool isShared() const { return as<KeptShared>(); }
  /// In shared memory, whoever fills it.
  bool inShared() const { return isShared() || as<Restaged>(); }
  /// What writes put there is found by reads through a staging function.
  bool isStaged() const { return !isShared() && !as<Owned>(); }
  /// Null: there is none (arrays that stay, reads from the source or early).
  const Window *window() const {
    return std::visit(
        [](const auto &P) -> const Window * {
          if constexpr (requires { P.W; })
            return &P.W;
          else
            return nullptr;
        },
        Where);
  }
  Window *window() {
    return const_cast<Window *>(std::as_const(*this).window());
  }
  /// The reads that name a register, and how many registers there are along
  /// each dimension: of windows and of early reads.
  llvm::ArrayRef<WindowRead> registerReads() const {
    if (const Window *W = window())
      return W->Reads;
    if (const auto *E = as<ReadEarly>())
      return E->Read;
    return {};
  }
  llvm::ArrayRef<int64_t> extent() const {
    if (const Window *W = window())
      return W->Extent;
    if (const auto *E = as<ReadEarly>())
      return E->Extent;
    return {};
  }
};

/// What --exchange, --explain-choice and the report call a placement: "shuffle",
/// "reload", "direct" or "shared".
const char *placementName(const ArrayPlan &A);
/// The same for remarks: "in chunks of 4, shuffled".
std::string placementSummary(const ArrayPlan &A);
/// Registers of a thread that the placement holds at a time.
int64_t registersHeld(const ArrayPlan &A);

//===-- Mapping -----------------------------------------------------------===//

/// Which physical threads stand for which logical ones: a launch of the
/// original, block and thread, as a function of the planned one.
struct Mapping {
  std::array<unsigned, 3> Factor = {1, 1, 1};
  std::array<int64_t, 3> Stride = {1, 1, 1};
  /// The block is known (or required by a precondition) to have this shape.
  std::optional<std::array<int64_t, 3>> Block;
  /// Otherwise blockDim.x must be a multiple of this.
  unsigned BlockMultiple = 1;
  /// Logical blocks merged along x into one physical block: as many as bring
  /// it to about this many threads.
  unsigned TargetThreads = 128;
  bool Merge = true;
  /// Logical blocks along each axis whose threads are the slots of one physical
  /// block (joined; not those of Merge, which keep threads of their own). Threads
  /// are then counted through all of them, v = block * blockDim + thread. Stride is
  /// not used: the slots of physical thread l along an axis are Group neighbours
  /// from l * Group on, and as many again a whole row of physical threads further.
  std::array<unsigned, 3> Blocks = {1, 1, 1};
  std::array<unsigned, 3> Group = {1, 1, 1};

  unsigned slots() const { return Factor[0] * Factor[1] * Factor[2]; }
  bool joins() const { return Blocks[0] * Blocks[1] * Blocks[2] > 1; }
  /// Joined: physical threads along an axis.
  int64_t lanes(unsigned Axis) const {
    return (*Block)[Axis] * Blocks[Axis] / Factor[Axis];
  }
  int64_t lanes() const { return lanes(0) * lanes(1) * lanes(2); }
  /// Joined: physical threads of a warp along x; the others lie along y.
  int64_t warpLanesX() const { return std::min<int64_t>(8, lanes(0)); }
  /// Joined: what slot \p Slot adds to the thread v of slot 0.
  int64_t slotOffset(unsigned Axis, int64_t Slot) const {
    const int64_t G = Group[Axis];
    return Slot / G * G * lanes(Axis) + Slot % G;
  }
  /// Dependence bits of what differs from slot to slot.
  unsigned slotDependence() const {
    unsigned Bits = DepThread | DepShared;
    for (unsigned A = 0; A < 3; ++A)
      Bits |= Blocks[A] > 1 ? unsigned(DepBlockX) << A : 0u;
    return Bits;
  }
  /// Does such a coordinate differ from slot to slot?
  bool ofSlot(const BuiltinUse &B) const {
    return B.K == Symbol::ThreadIdx ||
           (B.K == Symbol::BlockIdx && (B.Axis > 2 || Blocks[B.Axis] > 1));
  }
  /// Do slots run along this axis? At least one axis has them.
  bool hasSlots(unsigned Axis) const {
    return Factor[Axis] > 1 || (Axis == 0 && slots() == 1);
  }
  /// Logical threads from a lane's first one to the next lane's.
  int64_t laneStep(unsigned Axis) const {
    return Stride[Axis] == 1 ? int64_t(Factor[Axis]) : 1;
  }
  /// One dimension, as far as is known.
  bool isOneDim() const {
    return !Block || ((*Block)[1] == 1 && (*Block)[2] == 1);
  }

  /// Physical threads that stand for a logical block of shape \p Logical.
  std::array<int64_t, 3> threadsOf(const std::array<int64_t, 3> &Logical) const;
  /// The same where Block is known.
  int64_t threads(unsigned Axis) const {
    return (*Block)[Axis] / Factor[Axis];
  }
  int64_t threads() const { return threads(0) * threads(1) * threads(2); }

  /// Logical blocks of shape \p Logical in one physical block. One-dimensional
  /// ones are merged as rows (threadIdx.y counts them), others side by side.
  int64_t mergedBlocks(const std::array<int64_t, 3> &Logical) const;
  /// The physical block that is launched.
  std::array<int64_t, 3>
  launchedBlock(const std::array<int64_t, 3> &Logical) const;
  /// The threads of the largest one.
  unsigned mostThreads() const;
  /// Is every lane of every warp a thread of one logical block?
  bool wholeWarps() const;

  /// `[tx] -> { [t] }`: the logical thread of slot sx, from that of the first.
  isl::pw_aff threadOfSlot(isl::ctx Ctx, unsigned Axis) const;
  /// `[tx] -> { [t] }`: the physical thread that stands for logical thread tx.
  isl::pw_aff physicalThread(isl::ctx Ctx, unsigned Axis) const;
};

/// A private array in shared memory, where no two lanes meet in a bank whatever
/// elements they use: element i of the block's thread t is at [i][t], or, where the
/// block has its memory warp by warp (Plan::ByWarp), of lane l at [i][l].
struct InterleavedArray {
  unsigned Array = 0;  ///< index in KernelModel::Privates
  /// A table that nobody changes: static, one copy for all threads. (As fast as a copy in
  /// shared memory, as tables fit in L1; constant memory is slow where lanes differ.)
  bool Once = false;
  int64_t Threads = 0; ///< room for so many: a multiple of 32; ByWarp: 32
  /// Of all elements of so many threads.
  int64_t bytes(const KernelModel &M) const;
  /// Elements of a thread that share a word, which is where a larger element would be:
  /// 4 of one byte, in arrays of one dimension; else 1. (Of shorts in rows two lanes meet in
  /// a bank at most, which costs less than the index of a word: 8.9x and 7.2x.)
  int64_t inWord(const KernelModel &M) const;
};

/// What the compiler is told about registers; the kernel's text is the
/// original's. `__launch_bounds__(MaxThreads, MinBlocks)` and, as first statement,
/// `asm volatile(".pragma \"enable_smem_spilling\";")`.
struct RegisterHints {
  unsigned MaxThreads = 0;     ///< of a block
  unsigned MinBlocks = 0;      ///< on an SM; 0: not said
  bool SharedSpilling = false; ///< spilled registers go to shared memory
  bool operator==(const RegisterHints &) const = default;
};

/// A loop whose rounds are shared out among blocks along the grid's z: block c
/// takes those from c * n on, n at most, and has to begin with what the rounds
/// before would have left in its variables.
struct LoopCut {
  unsigned Loop = 0;          ///< For statement
  /// How many rounds the loop takes: [parameters] -> { [n] }, n > 0 on its domain;
  /// a launch outside of it runs the original.
  Nullable<isl::pw_aff> Rounds;
  /// What a block puts into variables in front of its first round, in this order.
  struct Refill {
    unsigned Held = 0;   ///< index in Stmt::AtStart
    bool First = true;   ///< in front of the loop's first round as well
  };
  std::vector<Refill> Refills;
  /// Rounds that a block takes at least: after so many, every variable is a
  /// function of the round.
  unsigned LeastRounds = 1;
  /// Rounds that a block takes where the grid has blocks enough.
  unsigned UsualRounds = 32;
  /// Elements that each slot loads for a refill.
  double RefillLoads = 0;
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

/// The last rounds of a loop that halves a counter, in which threads of the block's first
/// warp alone do something: that warp runs them by itself, and the others wait behind the
/// loop. (One warp for the end of a tree is as old as "Optimizing parallel reduction in
/// CUDA", Harris, 2007.)
struct WarpRounds {
  unsigned Loop = 0;    ///< For or While; the counter is its FactorVar
  unsigned Barrier = 0; ///< the one in its body: __syncwarp() in these rounds
  int64_t First = 0;    ///< the counter in the first of them; more in all before
  unsigned Rounds = 0;  ///< of the warp by itself
  unsigned Before = 0;  ///< of the block, one at least
  /// Accesses stand behind the barrier: one more of the block parts those of its last
  /// round from the warp's first.
  bool Open = false;
};

struct Plan {
  Mapping Map;
  /// What holds at every launch of the rewritten kernel, free of threads.
  Nullable<isl::set> Context;

  std::vector<ArrayPlan> Arrays;
  /// Of owned arrays: what pairs of threads run alike.
  std::vector<PairedInterval> Paired;
  /// The one that holds \p Statements; null: none does.
  const PairedInterval *paired(TextRange Statements) const {
    for (const PairedInterval &I : Paired)
      if (I.Statements.contains(Statements))
        return &I;
    return nullptr;
  }
  /// Private arrays that go to shared memory: the kernel is the original's text
  /// but for them.
  std::vector<InterleavedArray> Interleaved;
  /// They are in dynamic shared memory, one part for each warp, as many as the
  /// launch has: blocks of any size, more than static memory can have. Else static.
  bool ByWarp = false;
  /// They are behind dynamic shared memory of the kernel's own, whose size the launch tells.
  bool besideOwn(const KernelModel &M) const;
  /// Nothing but what the compiler is told differs from the original.
  std::optional<RegisterHints> Hints;
  /// Restaged arrays: the tile of the loop's next round is copied to shared memory
  /// while this round's is used. A copy of each array for each tile.
  struct TilesAhead {
    unsigned Loop = 0;   ///< For statement whose rounds stage a tile each
    unsigned Staged = 0; ///< the barrier behind the staging
    unsigned Used = 0;   ///< the one behind the uses: nothing is left for it
    unsigned Tiles = 2;  ///< in shared memory at a time
  };
  std::optional<TilesAhead> Ahead;
  /// Bytes of all restaged arrays.
  int64_t restagedBytes(const KernelModel &M) const;
  /// They are in dynamic shared memory: more than a kernel may declare.
  bool dynamicTiles(const KernelModel &M) const {
    return restagedBytes(M) > 48 * 1024;
  }
  /// Shared memory that they take in blocks of \p Threads threads.
  int64_t interleavedBytes(const KernelModel &M, int64_t Threads) const;
  /// The loop whose rounds several blocks share.
  std::optional<LoopCut> Cut;
  /// The barriers of the original stay (something else is ordered by them).
  bool KeepBarriers = false;
  std::string BarrierReason;
  /// KeepBarriers: the barriers (Stmts) that have to order less than the block.
  std::map<unsigned, SyncScope> Narrowed;
  /// Where the first warp has the last rounds for itself; scopeOf is that of the others.
  std::vector<WarpRounds> OfFirstWarp;
  const WarpRounds *roundsOfWarp(unsigned Loop) const {
    for (const WarpRounds &R : OfFirstWarp)
      if (R.Loop == Loop)
        return &R;
    return nullptr;
  }
  SyncScope scopeOf(unsigned Barrier) const {
    const auto It = Narrowed.find(Barrier);
    if (Ahead && Ahead->Used == Barrier)
      return SyncScope::None;
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
  /// Reads `in[g]` of neighbours by neighbours in a lane's slots, which is loaded as
  /// vectors of Bytes bytes where all slots read and the first address is aligned.
  struct VectorRead {
    unsigned Access = 0; ///< index in GlobalAccesses
    unsigned Bytes = 16;
    Nullable<isl::set> AllRead; ///< [tx of the first slot, symbols] -> { : }
  };
  std::vector<VectorRead> VectorReads;
  /// Pointer parameters (indices in KernelModel::Params, the smaller first) that
  /// have to lead to different memory; a precondition says so for each pair.
  std::vector<std::pair<int, int>> Separate;
  std::vector<Precondition> Preconditions;
  /// Launches with fewer threads than this leave most of the device idle and
  /// run the original; 0: none do. Set by the prediction.
  unsigned LeastThreads = 0;
  /// There is another form for smaller grids: tests run both.
  bool GridHasOther = false;
  /// The same in blocks of the original, of \p Block threads; 0: any grid will do, or
  /// that is not known in front of the launch.
  int64_t leastBlocks(const std::optional<std::array<int64_t, 3>> &Block) const;
  /// Is the grid of \p L known, and too small?
  bool isTooLargeFor(const LaunchSite &L) const {
    const std::optional<double> Blocks = L.knownBlocks();
    return Blocks && (*Blocks < double(leastBlocks(L.ConstBlock)) ||
                      double((*L.ConstGrid)[0]) < double(LeastRow));
  }
  /// Launches of one-dimensional blocks whose grids have rows of fewer blocks than
  /// this run the original: threads at the ends of rows take most of the time. 0: none
  /// do. Set by the prediction.
  unsigned LeastRow = 0;
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
  /// What it is chosen by; 0: not predicted.
  double PredictedSpeedup = 0;
  double SpeedupOfMany = 0; ///< of grids that fill a device many times
  /// Of the grid that launches are expected to have, and its blocks; 0: nothing tells.
  double SpeedupOfGrid = 0;
  int64_t GridBlocks = 0;
  /// Of grids of so many blocks of the original, the time of a launch aside: from the least
  /// that runs this form on, each twice as large, up to those that gain what many do.
  /// Empty: it is not predicted by grids.
  std::vector<std::pair<int64_t, double>> SpeedupOfBlocks;
  /// Registers of a thread that the prediction counts; 0: it is not predicted.
  unsigned PredictedRegisters = 0;
  unsigned saidRegisters() const {
    return PredictedRegisters ? PredictedRegisters : Counts.Registers;
  }
  /// What is said first: that of the launches, where it is known.
  double saidSpeedup() const { return SpeedupOfGrid > 0 ? SpeedupOfGrid : PredictedSpeedup; }
  /// What PredictedSpeedup rests on: estimates, the compiler's registers, or
  /// times on a device.
  enum Figures { Estimated, Compiled, Measured } SpeedupFrom = Estimated;

  /// The placement of \p Array in a warp; null: it has another.
  const Owned *owned(unsigned Array) const {
    for (const ArrayPlan &A : Arrays)
      if (A.Array == Array && A.as<Owned>())
        return A.as<Owned>();
    return nullptr;
  }
  /// Is the loop unrolled, because registers are found by its counter?
  bool isUnrolled(unsigned Loop) const {
    auto Holds = [Loop](const std::vector<unsigned> &In) {
      return std::find(In.begin(), In.end(), Loop) != In.end();
    };
    return Holds(UnrolledLoops) ||
           std::any_of(Arrays.begin(), Arrays.end(), [&](const ArrayPlan &A) {
             return A.as<Owned>() && Holds(A.as<Owned>()->Loops);
           });
  }
  unsigned slots() const { return Map.slots(); }
  bool hasSlots(unsigned Axis) const { return Map.hasSlots(Axis); }
  /// All arrays stay.
  bool allShared() const {
    return std::all_of(Arrays.begin(), Arrays.end(),
                       [](const ArrayPlan &A) { return A.isShared(); });
  }
  /// No array is filled anew from global memory.
  bool movesNoLoads() const {
    return std::all_of(Arrays.begin(), Arrays.end(), [](const ArrayPlan &A) {
      return !A.isStaged();
    });
  }
  /// A thread stands for one thread, all shared arrays stay: what differs from the
  /// original is barriers, and where private arrays are.
  bool keepsThreads() const { return slots() == 1 && allShared(); }
  bool onlyBarriers() const {
    return keepsThreads() && Interleaved.empty() && !Hints;
  }
  /// Stable text form, for tests and --print-after=plan.
  void print(llvm::raw_ostream &OS, const KernelModel &M) const;
};

} // namespace rcache

#endif // RCACHE_PLAN_H
