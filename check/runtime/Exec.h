// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution engine's own types: a CUDA thread is a fiber that runs until it
// has to wait for others; a worker (one CPU thread) runs one block at a time.
//
//   Worker --owns--> Block state, Threads, Fibers
//   Thread waits for: a barrier, the lanes of a warp operation, or
//                     "as many lanes as will come" (__activemask)

#ifndef RCACHE_CHECK_RUNTIME_EXEC_H
#define RCACHE_CHECK_RUNTIME_EXEC_H

#include "Memory.h"

#include <boost/context/fiber.hpp>

#include <atomic>
#include <memory>
#include <new>
#include <random>
#include <sys/mman.h>

namespace rcache::check {

struct Fiber {
  boost::context::fiber Ctx;
  char *Stack = nullptr; ///< lowest address
};

enum class WarpOp : uint8_t { Sync, Shfl, Vote, Match, Redux };

struct Thread : ThreadCtx {
  enum StateKind : uint8_t {
    NotStarted,
    Ready,
    WaitBarrier,
    WaitWarp,
    WaitActive,
    Done
  };
  StateKind State = NotStarted;
  Fiber *F = nullptr;
  uint32_t Site = 0;
  // Barrier.
  uint32_t BarrierId = 0, BarrierCount = 0;
  BarRed Red = BarRed::None;
  // Warp operation.
  WarpOp Op = WarpOp::Sync;
  uint32_t SubKind = 0;
  uint32_t Mask = 0;
  uint32_t Visits = 0; ///< of Site, without another operation in between
  uint64_t Value = 0, ValueShadow = 0;
  uint32_t B = 0, C = 0;
  uint64_t Result = 0;
  uint32_t Spins = 0;
  /// Clock of each lane of the own warp as known here (shared-memory order).
  uint32_t Clock[32];
};

/// Who touched a piece of shared memory last, in this and earlier intervals.
struct RaceCell {
  uint32_t WriteEpoch = 0, ReadEpoch = 0;
  uint32_t WriteClock = 0, ReadClock[2] = {0, 0};
  uint16_t WriteThread = 0, ReadThread[2] = {0, 0};
  uint8_t WriteFlags = 0, ReadFlags = 0, Readers = 0;
  uint32_t WriteSite = 0, ReadSite[2] = {0, 0};
};
struct RaceWord : RaceCell {
  uint32_t ByteEpoch = 0; ///< interval in which single bytes were touched
};

/// Cells of which all bytes are zero at first. Most of them stay so: their pages are
/// the system's until they are touched.
template <typename T> class ZeroCells {
public:
  ZeroCells() = default;
  ZeroCells(const ZeroCells &) = delete;
  ~ZeroCells() { drop(); }
  /// \p N new ones; throws std::bad_alloc.
  void assign(size_t N) {
    drop();
    void *P = mmap(nullptr, N * sizeof(T), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (P == MAP_FAILED)
      throw std::bad_alloc();
    Cells = static_cast<T *>(P);
    Count = N;
  }
  T &operator[](size_t I) { return Cells[I]; }

private:
  void drop() {
    if (Cells)
      munmap(Cells, Count * sizeof(T));
    Cells = nullptr;
  }
  T *Cells = nullptr;
  size_t Count = 0;
};

/// State of one launch that all workers share.
struct Grid {
  Launch *L = nullptr;
  std::atomic<uint64_t> NextBlock{0};
  std::atomic<bool> Abort{false};
  char *ParamBuffer = nullptr;
  uint64_t Workspace = 0; ///< what this_grid().sync() counts in; or 0
  std::atomic<uint32_t> SharedHigh{0}; ///< end of the shared memory touched
};

class Worker {
public:
  explicit Worker(unsigned Number);
  void runBlocks(Grid &G);

  // Called on a fiber.
  void barrier(Thread &T, uint32_t Site, uint32_t Id, uint32_t Count,
               BarRed Red, uint32_t Pred);
  uint64_t warpOp(Thread &T, uint32_t Site, WarpOp Op, uint32_t SubKind,
                  uint32_t Mask, uint64_t Value, uint32_t B, uint32_t C);
  uint32_t activeMask(Thread &T, uint32_t Site);
  void yield(Thread &T);
  void sharedAccess(Thread &T, uint64_t Addr, uint32_t Size, uint32_t Flags,
                    uint32_t Site);
  [[noreturn]] void abortLaunch(Thread &T);
  /// Another number between each two barriers of each block.
  uint32_t interval() const { return Epoch; }

  Thread *Current = nullptr;
  Grid *G = nullptr;

private:
  struct Block {
    BlockCtx Ctx;
    std::unique_ptr<Thread[]> Threads;
    uint32_t Count = 0, Live = 0, AtBarrier = 0;
    char *Shared = nullptr;
  };
  boost::context::fiber newContext(char *Stack, size_t Number);
  void switchToScheduler(Thread &T);
  void run(Thread &T);
  void runBlock(uint64_t Linear);
  void setUpBlock(uint64_t Linear);
  bool runWarp(uint32_t W);
  bool releaseActive(uint32_t W);
  void finished(Thread &T);
  void tryBarrier(uint32_t Id, uint32_t Count);
  void tryWarp(uint32_t W, uint32_t Mask);
  void complete(uint32_t W, uint32_t Mask);
  void completeShfl(uint32_t W, uint32_t Mask);
  void reportDeadlock();
  bool raceCheck(Thread &T, RaceCell &Cell, uint32_t Flags, uint32_t Site,
                 uint64_t Addr, uint32_t Size);
  /// A write where another thread has written in the same interval: a race if it
  /// changes what is there, which is known once it has been done.
  struct SecondWrite {
    const Thread *T = nullptr; ///< null: there is none
    uint64_t Addr = 0;
    uint32_t Size = 0, Site = 0, Other = 0, OtherSite = 0;
    uint8_t Before[16] = {};
  } Second;
  void settleSecondWrite();
  void tellRace(const char *What, const Thread &T, uint32_t Site, uint64_t Addr,
                uint32_t Size, uint32_t Other, uint32_t OtherSite);
  std::string whereIs(const Thread &T) const;
  Fiber *takeFiber();
  Thread &lane(uint32_t W, uint32_t L) { return Blk.Threads[W * 32 + L]; }
  uint32_t lanesOf(uint32_t W) const {
    uint32_t N = Blk.Count - W * 32;
    return N < 32 ? N : 32;
  }

  unsigned Number;
  Block Blk;
  std::vector<std::unique_ptr<Fiber>> Fibers;
  std::vector<Fiber *> FreeFibers;
  boost::context::fiber Scheduler;
  bool Aborting = false;
  std::mt19937_64 Rng;
  std::vector<uint32_t> OrderOf; ///< scratch: order of warps or lanes
  uint32_t SharedReserved = 0;
  uint32_t Epoch = 1;
  ZeroCells<RaceWord> Words;
  ZeroCells<RaceCell> Bytes;
  uint32_t Capacity = 0;
};

/// For a RaceWatch. Is the access one of a variable's, which lies inside?
bool noteGlobal(uint64_t Addr, uint64_t Size, uint32_t Flags, const Thread &T);

/// Not zero: running loops end their launch.
extern "C" uint8_t rcc_stop;

/// The worker of the calling CPU thread; null outside a launch.
Worker *currentWorker();

/// Records a finding about \p T (null: the launch as a whole).
void report(Severity Sev, const char *Kind, const Launch *L, const Thread *T,
            uint32_t Site, const std::string &Text);

} // namespace rcache::check

#endif
