// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers and warp operations. A thread that arrives records what it wants and
// sleeps; the last one that is needed computes the results of all. Threads that
// have exited are not waited for, as on the device.

#include "Exec.h"

#include <cstring>

namespace rcache::check {

namespace {
std::string hex(uint32_t V) {
  char Buf[16];
  snprintf(Buf, sizeof(Buf), "0x%08x", V);
  return Buf;
}
const char *opName(WarpOp Op) {
  switch (Op) {
  case WarpOp::Sync:
    return "__syncwarp";
  case WarpOp::Shfl:
    return "a shuffle";
  case WarpOp::Vote:
    return "a vote";
  case WarpOp::Match:
    return "a match";
  case WarpOp::Redux:
    return "a warp reduction";
  }
  return "";
}
} // namespace

std::string Worker::whereIs(const Thread &T) const {
  std::string At = siteText(T.Site);
  if (!At.empty())
    At = " at " + At;
  switch (T.State) {
  case Thread::WaitBarrier:
    return "waits at a barrier" + At;
  case Thread::WaitWarp:
    return std::string("waits in ") + opName(T.Op) + " with mask " +
           hex(T.Mask) + At;
  case Thread::WaitActive:
    return "waits in __activemask" + At;
  case Thread::Done:
    return "has exited";
  default:
    return "has not arrived";
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

void Worker::barrier(Thread &T, uint32_t Site, uint32_t Id, uint32_t Count,
                     BarRed Red, uint32_t Pred) {
  T.State = Thread::WaitBarrier;
  T.Site = Site;
  T.BarrierId = Id;
  T.BarrierCount = Count;
  T.Red = Red;
  T.Value = Pred;
  ++Blk.AtBarrier;
  tryBarrier(Id, Count);
  // Also the last to arrive waits for its turn: the order is the schedule's.
  switchToScheduler(T);
}

void Worker::tryBarrier(uint32_t Id, uint32_t Count) {
  // Cheap rejection first: this runs at every arrival.
  uint32_t Waiting = 0, Need = Count ? Count : Blk.Live;
  if (!Count) {
    // Thread by thread from the end: with the usual schedules the last thread
    // arrives last, so most arrivals stop at once.
    const Thread &Last =
        Blk.Threads[options().Schedule == Order::Reverse ? 0 : Blk.Count - 1];
    if (Last.State != Thread::WaitBarrier && Last.State != Thread::Done)
      return;
  }
  for (uint32_t I = 0; I < Blk.Count; ++I) {
    const Thread &X = Blk.Threads[I];
    Waiting += X.State == Thread::WaitBarrier && X.BarrierId == Id;
  }
  if (Waiting < Need || !Waiting)
    return;
  uint32_t Popc = 0, Site = 0;
  bool And = true, Or = false, Mixed = false;
  Thread *Odd = nullptr;
  for (uint32_t I = 0; I < Blk.Count; ++I) {
    Thread &X = Blk.Threads[I];
    if (X.State != Thread::WaitBarrier || X.BarrierId != Id)
      continue;
    Popc += X.Value != 0;
    And &= X.Value != 0;
    Or |= X.Value != 0;
    if (!Site)
      Site = X.Site;
    else if (X.Site != Site && !Mixed) {
      Mixed = true;
      Odd = &X;
    }
  }
  if (Mixed && !Count && siteText(Site) != siteText(Odd->Site))
    report(Severity::Error, "divergent-barrier", G->L, Odd, Odd->Site,
           "threads of one block meet at different barriers: others wait at " +
               siteText(Site));
  for (uint32_t I = 0; I < Blk.Count; ++I) {
    Thread &X = Blk.Threads[I];
    if (X.State != Thread::WaitBarrier || X.BarrierId != Id)
      continue;
    X.State = Thread::Ready;
    --Blk.AtBarrier;
    X.Result = X.Red == BarRed::Popc  ? Popc
               : X.Red == BarRed::And ? And
                                      : Or;
  }
  // A barrier for fewer threads orders only those; to see it as one for all
  // may miss a race but never invents one.
  ++Epoch;
}

void Worker::finished(Thread &T) {
  --Blk.Live;
  uint32_t W = T.Warp;
  for (uint32_t L = 0; L < lanesOf(W); ++L) {
    Thread &X = lane(W, L);
    if (X.State == Thread::WaitWarp && (X.Mask >> T.Lane & 1))
      tryWarp(W, X.Mask);
  }
  for (uint32_t I = 0; Blk.AtBarrier && I < Blk.Count; ++I)
    if (Blk.Threads[I].State == Thread::WaitBarrier) {
      tryBarrier(Blk.Threads[I].BarrierId, Blk.Threads[I].BarrierCount);
      break;
    }
}

void Worker::reportDeadlock() {
  // Name a thread that waits, and one that keeps it waiting.
  Thread *Waiter = nullptr, *Culprit = nullptr;
  for (uint32_t I = 0; I < Blk.Count && !Culprit; ++I) {
    Thread &X = Blk.Threads[I];
    if (X.State == Thread::WaitWarp) {
      Waiter = &X;
      for (uint32_t L = 0; L < lanesOf(X.Warp); ++L) {
        Thread &Y = lane(X.Warp, L);
        if ((X.Mask >> L & 1) && Y.State != Thread::Done &&
            (Y.State != Thread::WaitWarp || Y.Op != X.Op || Y.Mask != X.Mask))
          Culprit = &Y;
      }
    }
  }
  if (Waiter && Culprit) {
    bool Masks = Culprit->State == Thread::WaitWarp && Culprit->Op == Waiter->Op;
    report(Severity::Error, Masks ? "differing-masks" : "divergent-warp-op",
           G->L, Waiter, Waiter->Site,
           std::string("this lane waits in ") + opName(Waiter->Op) +
               " with mask " + hex(Waiter->Mask) + ", but lane " +
               std::to_string(Culprit->Lane) + ", which the mask names, " +
               whereIs(*Culprit));
    return;
  }
  for (uint32_t I = 0; I < Blk.Count; ++I) {
    Thread &X = Blk.Threads[I];
    if (X.State == Thread::Done)
      continue;
    if (!Waiter)
      Waiter = &X;
    else if (X.State != Waiter->State || X.BarrierId != Waiter->BarrierId)
      Culprit = &X;
  }
  std::string Text = "this thread " + whereIs(*Waiter) + " for ever";
  if (Culprit)
    Text += ": thread (" + std::to_string(Culprit->Tid[0]) + "," +
            std::to_string(Culprit->Tid[1]) + "," +
            std::to_string(Culprit->Tid[2]) + ") " + whereIs(*Culprit);
  report(Severity::Error, "divergent-barrier", G->L, Waiter, Waiter->Site,
         Text);
}

//===----------------------------------------------------------------------===//
// Warp operations
//===----------------------------------------------------------------------===//

uint64_t Worker::warpOp(Thread &T, uint32_t Site, WarpOp Op, uint32_t SubKind,
                        uint32_t Mask, uint64_t Value, uint32_t B,
                        uint32_t C) {
  if (!(Mask >> T.Lane & 1)) {
    report(Severity::Error, "mask-without-caller", G->L, &T, Site,
           std::string("the mask ") + hex(Mask) + " of " + opName(Op) +
               " does not name the calling lane " + std::to_string(T.Lane));
    abortLaunch(T);
  }
  T.State = Thread::WaitWarp;
  T.Visits = T.Site == Site ? T.Visits + 1 : 1;
  T.Site = Site;
  T.Op = Op;
  T.SubKind = SubKind;
  T.Mask = Mask;
  T.Value = Value;
  T.ValueShadow = T.ArgShadow[0];
  T.B = B;
  T.C = C;
  T.RetShadow = 0;
  T.RetPredShadow = 0;
  tryWarp(T.Warp, Mask);
  if (T.State == Thread::WaitWarp)
    switchToScheduler(T);
  return T.Result;
}

void Worker::tryWarp(uint32_t W, uint32_t Mask) {
  uint32_t N = lanesOf(W);
  for (uint32_t L = 0; L < N; ++L) {
    if (!(Mask >> L & 1))
      continue;
    Thread &X = lane(W, L);
    if (X.State == Thread::Done)
      continue;
    if (X.State != Thread::WaitWarp || X.Mask != Mask)
      return;
  }
  complete(W, Mask);
}

void Worker::complete(uint32_t W, uint32_t Mask) {
  uint32_t Part = 0; // lanes that take part
  for (uint32_t L = 0; L < lanesOf(W); ++L)
    if ((Mask >> L & 1) && lane(W, L).State == Thread::WaitWarp)
      Part |= 1u << L;
  if (!Part)
    return;
  auto ForEach = [&](auto Fn) {
    for (uint32_t M = Part; M; M &= M - 1)
      Fn(lane(W, __builtin_ctz(M)));
  };
  Thread &First = lane(W, __builtin_ctz(Part));
  ForEach([&](Thread &X) {
    if (X.Op != First.Op ||
        (X.Op != WarpOp::Sync && X.SubKind != First.SubKind))
      report(Severity::Error, "divergent-warp-op", G->L, &X, X.Site,
             std::string("lanes named in one mask meet in different "
                         "operations: ") +
                 opName(X.Op) + " here, " + opName(First.Op) + " at " +
                 siteText(First.Site));
  });
  // A lane that has exited is not waited for. But if the last thing it did was
  // this operation, as often as the others, it was there, with another mask.
  for (uint32_t L = 0; Part != Mask && L < lanesOf(W); ++L) {
    const Thread &X = lane(W, L);
    if ((Mask >> L & 1) && X.State == Thread::Done && X.Op == First.Op &&
        X.Site == First.Site && X.Visits == First.Visits && X.Mask != Mask)
      report(Severity::Error, "differing-masks", G->L, &First, First.Site,
             std::string("this lane calls ") + opName(First.Op) +
                 " with mask " + hex(Mask) + ", but lane " +
                 std::to_string(L) + ", which the mask names, did with " +
                 hex(X.Mask));
  }
  uint64_t AnyShadow = 0;
  ForEach([&](Thread &X) { AnyShadow |= X.ValueShadow; });
  switch (First.Op) {
  case WarpOp::Sync: {
    if (options().Races) {
      uint32_t Joined[32] = {};
      ForEach([&](Thread &X) {
        for (int I = 0; I < 32; ++I)
          Joined[I] = std::max(Joined[I], X.Clock[I]);
      });
      ForEach([&](Thread &X) {
        memcpy(X.Clock, Joined, sizeof(Joined));
        ++X.Clock[X.Lane];
      });
    }
    break;
  }
  case WarpOp::Shfl:
    completeShfl(W, Part);
    break;
  case WarpOp::Vote: {
    uint32_t Ballot = 0;
    ForEach([&](Thread &X) { Ballot |= uint32_t(X.Value != 0) << X.Lane; });
    ForEach([&](Thread &X) {
      switch (VoteKind(First.SubKind)) {
      case VoteKind::All:
        X.Result = Ballot == Part;
        break;
      case VoteKind::Any:
        X.Result = Ballot != 0;
        break;
      case VoteKind::Uni:
        X.Result = Ballot == 0 || Ballot == Part;
        break;
      case VoteKind::Ballot:
        X.Result = Ballot;
        break;
      }
      X.RetShadow = AnyShadow ? ~0ull : 0;
    });
    break;
  }
  case WarpOp::Match: {
    bool AllEqual = true;
    ForEach([&](Thread &X) { AllEqual &= X.Value == First.Value; });
    ForEach([&](Thread &X) {
      uint32_t Same = 0;
      ForEach([&](Thread &Y) {
        Same |= uint32_t(Y.Value == X.Value) << Y.Lane;
      });
      bool IsAll = First.SubKind != 0;
      X.Result = IsAll ? (AllEqual ? Part : 0) : Same;
      X.RetPred = AllEqual;
      X.RetShadow = AnyShadow ? ~0ull : 0;
      X.RetPredShadow = AnyShadow ? ~0u : 0;
    });
    break;
  }
  case WarpOp::Redux: {
    uint32_t R = First.Value;
    for (uint32_t M = Part & (Part - 1); M; M &= M - 1) {
      uint32_t V = lane(W, __builtin_ctz(M)).Value;
      switch (ReduxKind(First.SubKind)) {
      case ReduxKind::Add:
        R += V;
        break;
      case ReduxKind::And:
        R &= V;
        break;
      case ReduxKind::Or:
        R |= V;
        break;
      case ReduxKind::Xor:
        R ^= V;
        break;
      case ReduxKind::Min:
        R = std::min(int32_t(R), int32_t(V));
        break;
      case ReduxKind::Max:
        R = std::max(int32_t(R), int32_t(V));
        break;
      case ReduxKind::UMin:
        R = std::min(R, V);
        break;
      case ReduxKind::UMax:
        R = std::max(R, V);
        break;
      }
    }
    ForEach([&](Thread &X) {
      X.Result = R;
      X.RetShadow = AnyShadow ? ~0ull : 0;
    });
    break;
  }
  }
  ForEach([&](Thread &X) { X.State = Thread::Ready; });
}

/// The rules of shfl.sync in the PTX manual: operand c holds the clamp in bits
/// 0 to 4 and the segment mask in bits 8 to 12.
void Worker::completeShfl(uint32_t W, uint32_t Part) {
  for (uint32_t M = Part; M; M &= M - 1) {
    uint32_t L = __builtin_ctz(M);
    Thread &X = lane(W, L);
    uint32_t Clamp = X.C & 31, Seg = X.C >> 8 & 31, B = X.B & 31;
    uint32_t MaxLane = (L & Seg) | (Clamp & ~Seg & 31), MinLane = L & Seg;
    int32_t J = L;
    bool InRange = true;
    switch (ShflKind(X.SubKind)) {
    case ShflKind::Up:
      J = int32_t(L) - int32_t(B);
      InRange = J >= int32_t(MaxLane);
      break;
    case ShflKind::Down:
      J = L + B;
      InRange = J <= int32_t(MaxLane);
      break;
    case ShflKind::Bfly:
      J = L ^ B;
      InRange = J <= int32_t(MaxLane);
      break;
    case ShflKind::Idx:
      J = MinLane | (B & ~Seg & 31);
      InRange = J <= int32_t(MaxLane);
      break;
    }
    if (!InRange)
      J = L;
    X.RetPred = InRange;
    if (Part >> J & 1) {
      X.Result = lane(W, J).Value;
      X.RetShadow = lane(W, J).ValueShadow;
      continue;
    }
    // The source does not take part: the value is undefined.
    std::string Why =
        uint32_t(J) >= lanesOf(W) ? "does not exist in this block"
        : lane(W, J).State == Thread::Done
            ? "has exited"
            : "is not named in the mask " + hex(X.Mask);
    report(Severity::Error, "shuffle-inactive-lane", G->L, &X, X.Site,
           "lane " + std::to_string(L) + " reads lane " + std::to_string(J) +
               ", which " + Why + ": the value is undefined");
    X.Result = 0xdeadbeefu ^ (uint32_t(J) * 0x01010101u);
    X.RetShadow = ~0ull;
  }
}

uint32_t Worker::activeMask(Thread &T, uint32_t Site) {
  T.State = Thread::WaitActive;
  T.Site = Site;
  switchToScheduler(T);
  return T.Result;
}

//===----------------------------------------------------------------------===//
// Races on shared memory
//===----------------------------------------------------------------------===//

void Worker::tellRace(const char *What, const Thread &T, uint32_t Site, uint64_t Addr,
                      uint32_t Size, uint32_t Other, uint32_t OtherSite) {
  const Thread &O = Blk.Threads[Other];
  report(Severity::Error, "shared-race", G->L, &T, Site,
         std::string(What) + ": thread (" + std::to_string(O.Tid[0]) + "," +
             std::to_string(O.Tid[1]) + "," + std::to_string(O.Tid[2]) +
             ") accessed the same " + std::to_string(Size) +
             " bytes of shared memory (offset " +
             std::to_string(Addr - uint64_t(T.Shared)) + ") at " +
             siteText(OtherSite) + " with no barrier between");
}

/// Threads that all write one value (`if (..) any = 1;`) leave it there, whoever is last.
void Worker::settleSecondWrite() {
  const SecondWrite S = Second;
  Second.T = nullptr;
  if (S.T && memcmp(S.Before, reinterpret_cast<const void *>(S.Addr), S.Size))
    tellRace("two threads write", *S.T, S.Site, S.Addr, S.Size, S.Other, S.OtherSite);
}

/// Two accesses of different threads, one of them a write, in one interval
/// between barriers race unless __syncwarp orders them. Legacy warp-synchronous
/// code (volatile, no __syncwarp) is run in lock step and not reported.
bool Worker::raceCheck(Thread &T, RaceCell &Cell, uint32_t Flags,
                       uint32_t Site, uint64_t Addr, uint32_t Size) {
  auto Ordered = [&](uint32_t Other, uint32_t Clock) {
    return Other / 32 == T.Warp && T.Clock[Other % 32] >= Clock;
  };
  auto Excused = [&](uint32_t Other, uint32_t OtherFlags) {
    if (Flags & OtherFlags & AccessAtomic)
      return true;
    // Volatile beside atomic: the programmer knows.
    if ((Flags | OtherFlags) & AccessAtomic &&
        (Flags & (AccessAtomic | AccessVolatile)) &&
        (OtherFlags & (AccessAtomic | AccessVolatile)))
      return true;
    return !options().VolatileRaces && (Flags & OtherFlags & AccessVolatile) &&
           Other / 32 == T.Warp;
  };
  auto Tell = [&](const char *What, uint32_t Other, uint32_t OtherSite) {
    tellRace(What, T, Site, Addr, Size, Other, OtherSite);
    return true;
  };
  bool Bad = false;
  if (Cell.WriteEpoch == Epoch && Cell.WriteThread != T.Linear &&
      !Ordered(Cell.WriteThread, Cell.WriteClock) &&
      !Excused(Cell.WriteThread, Cell.WriteFlags)) {
    if (!(Flags & AccessWrite) || Flags & AccessAtomic || Size > sizeof(Second.Before)) {
      Bad = Tell(Flags & AccessWrite ? "two threads write" : "read after write",
                 Cell.WriteThread, Cell.WriteSite);
    } else if (!Second.T) {
      Second = {&T, Addr, Size, Site, Cell.WriteThread, Cell.WriteSite, {}};
      memcpy(Second.Before, reinterpret_cast<const void *>(Addr), Size);
    }
  }
  if (Flags & AccessWrite) {
    if (Cell.ReadEpoch == Epoch)
      for (unsigned I = 0; I < Cell.Readers && !Bad; ++I)
        if (Cell.ReadThread[I] != T.Linear &&
            !Ordered(Cell.ReadThread[I], Cell.ReadClock[I]) &&
            !Excused(Cell.ReadThread[I], Cell.ReadFlags))
          Bad = Tell("write after read", Cell.ReadThread[I], Cell.ReadSite[I]);
    Cell.WriteEpoch = Epoch;
    Cell.WriteThread = T.Linear;
    Cell.WriteClock = T.Clock[T.Lane];
    Cell.WriteFlags = static_cast<uint8_t>(Flags);
    Cell.WriteSite = Site;
  } else {
    if (Cell.ReadEpoch != Epoch) {
      Cell.ReadEpoch = Epoch;
      Cell.Readers = 0;
      Cell.ReadFlags = 0xff;
    }
    Cell.ReadFlags &= Flags;
    unsigned I = 0;
    while (I < Cell.Readers && Cell.ReadThread[I] != T.Linear)
      ++I;
    if (I == 2) // keep the first and the latest
      I = 1;
    Cell.ReadThread[I] = T.Linear;
    Cell.ReadClock[I] = T.Clock[T.Lane];
    Cell.ReadSite[I] = Site;
    Cell.Readers = std::max<unsigned>(Cell.Readers, I + 1);
  }
  return Bad;
}

void Worker::sharedAccess(Thread &T, uint64_t Addr, uint32_t Size,
                          uint32_t Flags, uint32_t Site) {
  settleSecondWrite();
  uint64_t Off = Addr - uint64_t(T.Shared);
  if (Off + Size > T.Block->TotalShared)
    return;
  if (Off + Size > G->SharedHigh)
    G->SharedHigh = Off + Size;
  if (((Off | Size) & 3) == 0) {
    for (uint32_t W = Off / 4, E = (Off + Size) / 4; W < E; ++W) {
      RaceWord &Word = Words[W];
      if (raceCheck(T, Word, Flags, Site, Addr, Size))
        return;
      if (Word.ByteEpoch == Epoch)
        for (unsigned B = 0; B < 4; ++B)
          if (raceCheck(T, Bytes[W * 4 + B], Flags, Site, Addr, Size))
            return;
    }
    return;
  }
  for (uint32_t B = Off; B < Off + Size; ++B) {
    RaceWord &Word = Words[B / 4];
    Word.ByteEpoch = Epoch;
    if (raceCheck(T, Bytes[B], Flags, Site, Addr, Size))
      return;
    // Against accesses of the whole word, without leaving a trace there.
    RaceCell Copy = Word;
    if (raceCheck(T, Copy, Flags, Site, Addr, Size))
      return;
  }
}

} // namespace rcache::check
