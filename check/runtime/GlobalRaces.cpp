// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Do the threads of a launch get in each other's way in global memory? What one
// of them uses and another one changes is a race, unless something stands between:
// in one block a barrier, or what orders a warp; between blocks an atomic operation
// (or a volatile flag).
//
//   access  ->  cell of its element: who wrote it last, who has read it
//   atomic  ->  the block knows what those that came before had done by then
//
// Who stores what is there already, or what the other one has stored as well,
// changes nothing. Whether that was so is known at the end of the launch. One
// worker runs the blocks, one after the other.

#include "Exec.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace rcache::check {

namespace {

constexpr uint32_t CellsOfPage = 1024;
constexpr uint32_t LargestGranule = 4;
/// More blocks than this with atomic operations, or more doubtful accesses, are
/// not followed.
constexpr size_t MostBlocks = 4096, MostDoubts = 1 << 18;

struct Touch {
  uint32_t Block = 0; ///< 1 + its number; 0: nobody
  uint32_t Clock = 0; ///< the block's atomic operations until then
  uint32_t Interval = 0, WarpClock = 0; ///< the thread's, then
  uint16_t Thread = 0;
  bool Sync = false;  ///< atomic or volatile
  bool same(const Touch &O) const {
    return Block == O.Block && Thread == O.Thread;
  }
};
struct Cell {
  Touch Write, Read[2]; ///< the last; the first and the latest
};
struct Page {
  Cell Cells[CellsOfPage];
  uint8_t Before[CellsOfPage * LargestGranule]; ///< the memory at first use
};

/// One block, in the order of its atomic operations.
struct BlockClock {
  uint32_t Clock = 0;
  std::vector<uint32_t> Known; ///< by block: its clock, as far as known here
};
/// What atomic operations go to.
struct Meeting {
  uint32_t Last = 0, LastClock = 0; ///< who was there last, and when
  uint32_t Known = 0; ///< the block that has learnt from those before it
};

struct Doubt {
  char *At;
  uint32_t Granule;
  uint8_t Value[LargestGranule]; ///< a race if this is not there in the end
  Touch Other, Me;
  bool OtherWrites, Writes;
};

struct State {
  RaceWatch *W = nullptr;
  Dim3 Grid, Block;
  const Thread *Running = nullptr;
  std::vector<std::vector<std::unique_ptr<Page>>> Pages; ///< by region
  std::unordered_map<uint32_t, BlockClock> Clocks;
  std::unordered_map<uint64_t, Meeting> Meetings;
  std::vector<Doubt> Doubts;
  bool Lost = false; ///< too much to follow

  static Dim3 place(uint32_t Number, const Dim3 &Of) {
    --Number;
    return {Number % Of.X, Number / Of.X % Of.Y, Number / (Of.X * Of.Y)};
  }
  void found(const Doubt &D) {
    if (W->Raced)
      return;
    W->Raced = true;
    W->Address = D.At;
    W->First = {place(D.Other.Block, Grid), place(1 + D.Other.Thread, Block),
                D.OtherWrites};
    W->Second = {place(D.Me.Block, Grid), place(1 + D.Me.Thread, Block),
                 D.Writes};
  }
  /// Has \p Other come before \p Me, which is now, whatever the schedule?
  bool ordered(const Touch &Other, const Touch &Me) {
    if (Other.Block == Me.Block)
      return Other.Interval != Me.Interval || !options().Races ||
             (Other.Thread / 32 == Me.Thread / 32 &&
              Running->Clock[Other.Thread % 32] >= Other.WarpClock);
    auto It = Clocks.find(Me.Block);
    return It != Clocks.end() && Other.Block < It->second.Known.size() &&
           It->second.Known[Other.Block] > Other.Clock;
  }
  void conflict(const Touch &Other, bool OtherWrites, const Touch &Me,
                bool Writes, char *At, uint32_t Granule,
                const uint8_t *Before) {
    if (!Other.Block || Other.same(Me) || (Other.Sync && Me.Sync) ||
        ordered(Other, Me))
      return;
    Doubt D{At, Granule, {}, Other, Me, OtherWrites, Writes};
    memcpy(D.Value, At, Granule);
    // What both write may be one value; what one reads has to stay what it was.
    if (!(OtherWrites && Writes) && memcmp(At, Before, Granule))
      return found(D);
    if (Doubts.size() < MostDoubts)
      Doubts.push_back(D);
    else
      found(D);
  }
  /// A thread that has been there is remembered by what is least excused.
  static void take(Touch &Known, Touch Me) {
    Me.Sync &= !Known.same(Me) || Known.Interval != Me.Interval || Known.Sync;
    Known = Me;
  }
  static void read(Cell &C, const Touch &Me) {
    const Touch &First = C.Read[0];
    const bool Over = // before the block's last barrier
        First.Block == Me.Block && First.Interval != Me.Interval;
    take(C.Read[First.Block && !First.same(Me) && !Over], Me);
  }
  void learn(uint64_t At, uint32_t Block);
  void teach(uint64_t At, uint32_t Block);
  void access(uint64_t Addr, uint64_t Size, uint32_t Flags, Touch Me);
};
State Now;

/// Block \p Block sees what is at \p At: it comes after those who left it there.
void State::learn(uint64_t At, uint32_t Block) {
  auto It = Meetings.find(At);
  if (It == Meetings.end() || It->second.Known == Block ||
      It->second.Last == Block)
    return;
  Meeting &M = It->second;
  // Who was there last had learnt from all others before.
  const std::vector<uint32_t> Theirs = Clocks[M.Last].Known;
  std::vector<uint32_t> &Mine = Clocks[Block].Known;
  Mine.resize(std::max({Mine.size(), Theirs.size(), size_t(M.Last) + 1}));
  for (size_t I = 0; I < Theirs.size(); ++I)
    Mine[I] = std::max(Mine[I], Theirs[I]);
  Mine[M.Last] = std::max(Mine[M.Last], M.LastClock);
  M.Known = Block;
}

/// What block \p Block did so far is known to those who see \p At from now on.
void State::teach(uint64_t At, uint32_t Block) {
  BlockClock &B = Clocks[Block];
  Meeting &M = Meetings[At];
  M.Last = Block;
  M.LastClock = ++B.Clock;
  Lost |= Clocks.size() > MostBlocks;
}

void State::access(uint64_t Addr, uint64_t Size, uint32_t Flags, Touch Me) {
  size_t R = 0;
  while (R < W->Regions.size() &&
         Addr - uint64_t(W->Regions[R].Base) >= W->Regions[R].Size)
    ++R;
  if (R == W->Regions.size())
    return;
  const RaceWatch::Region &Of = W->Regions[R];
  const uint64_t Base = uint64_t(Of.Base), Granule = Of.Granule;
  const bool Writes = Flags & AccessWrite;
  Me.Sync = Flags & (AccessAtomic | AccessVolatile);
  if (Me.Sync && (!Writes || Flags & AccessAtomic))
    learn(Addr, Me.Block);
  if (auto It = Clocks.find(Me.Block); It != Clocks.end())
    Me.Clock = It->second.Clock;
  const uint64_t End = std::min(Addr + Size, Base + Of.Size) - Base;
  for (uint64_t N = (Addr - Base) / Granule; N * Granule < End; ++N) {
    auto &Slot = Pages[R][N / CellsOfPage];
    char *First = Of.Base + N / CellsOfPage * CellsOfPage * Granule;
    if (!Slot) {
      Slot = std::make_unique<Page>();
      memcpy(Slot->Before, First,
             std::min<uint64_t>(CellsOfPage * Granule,
                                Base + Of.Size - uint64_t(First)));
    }
    const uint32_t I = N % CellsOfPage;
    Cell &C = Slot->Cells[I];
    char *At = First + I * Granule;
    const uint8_t *Before = Slot->Before + I * Granule;
    const auto Bytes =
        uint32_t(std::min<uint64_t>(Granule, Base + Of.Size - uint64_t(At)));
    conflict(C.Write, true, Me, Writes, At, Bytes, Before);
    if (!Writes) {
      read(C, Me);
      continue;
    }
    for (const Touch &T : C.Read)
      conflict(T, false, Me, true, At, Bytes, Before);
    take(C.Write, Me);
  }
  if (Me.Sync && Writes)
    teach(Addr, Me.Block);
}

} // namespace

void watchRaces(RaceWatch *W) {
  for (RaceWatch *X : {Now.W, W})
    for (size_t R = 0; X && R < X->Regions.size(); ++R)
      if (X->Regions[R].Variable)
        setAccessible(X->Regions[R].Base, X->Regions[R].Size, X != W);
  if (Now.W) {
    for (const Doubt &D : Now.Doubts)
      if (memcmp(D.At, D.Value, D.Granule))
        Now.found(D);
    Now.W->Raced &= !Now.Lost;
  }
  Now = State();
  Now.W = W;
  for (size_t R = 0; W && R < W->Regions.size(); ++R)
    Now.Pages.emplace_back(W->Regions[R].Size /
                               (CellsOfPage * W->Regions[R].Granule) +
                           1);
}

bool noteGlobal(uint64_t Addr, uint64_t Size, uint32_t Flags, const Thread &T) {
  if (!Now.W)
    return false;
  const BlockCtx &B = *T.Block;
  Now.Grid = {B.Nctaid[0], B.Nctaid[1], B.Nctaid[2]};
  Now.Block = {B.Ntid[0], B.Ntid[1], B.Ntid[2]};
  Now.Running = &T;
  if (!Now.Lost && !Now.W->Raced) {
    Touch Me;
    Me.Block = 1 + B.Ctaid[0] +
               B.Nctaid[0] * (B.Ctaid[1] + B.Nctaid[1] * B.Ctaid[2]);
    Me.Thread = static_cast<uint16_t>(T.Linear);
    Me.Interval = currentWorker()->interval();
    Me.WarpClock = T.Clock[T.Lane];
    Now.access(Addr, Size, Flags, Me);
  }
  for (const RaceWatch::Region &R : Now.W->Regions) {
    const uint64_t Off = Addr - uint64_t(R.Base);
    if (R.Variable && Off < R.Size &&
        (Off + Size <= R.Size || (options().WholeVectors && Size <= 16 &&
                                  !(Flags & AccessWrite) && !(Addr & (Size - 1)))))
      return true;
  }
  return false;
}

} // namespace rcache::check
