// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs grids: workers take blocks in order; inside a block each warp runs until
// all its lanes wait or are done, then the next warp. A fiber is taken when a
// thread starts and returned when it ends, so that a block without barriers
// needs one fiber, whatever its size.

#include "Exec.h"

#include "HostThreads.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace rcache::check {

namespace {
constexpr size_t StackSize = 256 << 10;
thread_local Worker *TheWorker = nullptr;
} // namespace

Worker *currentWorker() { return TheWorker; }

Worker::Worker(unsigned Number) : Number(Number) {}

//===----------------------------------------------------------------------===//
// Fibers
//===----------------------------------------------------------------------===//

namespace {
/// Stacks lie in the arena, for good.
struct KeepStack {
  using traits_type = boost::context::stack_traits;
  boost::context::stack_context allocate() { return {}; }
  void deallocate(boost::context::stack_context &) {}
};
} // namespace

boost::context::fiber Worker::newContext(char *Stack, size_t Number) {
  // Stagger the tops: equal offsets would share a few cache sets.
  const size_t Size = StackSize - (Number % 61) * 192;
  boost::context::stack_context Ctx;
  Ctx.size = Size;
  Ctx.sp = Stack + Size;
  return boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(Ctx.sp, Size, Ctx),
      KeepStack(), [this](boost::context::fiber From) {
        Scheduler = std::move(From);
        for (;;) {
          Thread &T = *Current;
          G->L->Kernel->Entry(reinterpret_cast<void **>(G->ParamBuffer));
          T.State = Thread::Done;
          switchToScheduler(T);
        }
        return boost::context::fiber();
      });
}

Fiber *Worker::takeFiber() {
  if (FreeFibers.empty()) {
    auto F = std::make_unique<Fiber>();
    F->Stack = allocatePrivate(StackSize);
    setAccessible(F->Stack, StackSize, true);
    F->Ctx = newContext(F->Stack, Fibers.size());
    FreeFibers.push_back(F.get());
    Fibers.push_back(std::move(F));
  }
  Fiber *F = FreeFibers.back();
  FreeFibers.pop_back();
  return F;
}

void Worker::switchToScheduler(Thread &T) {
  Scheduler = std::move(Scheduler).resume();
  (void)T;
}

void Worker::run(Thread &T) {
  if (T.State == Thread::NotStarted) {
    T.F = takeFiber();
    T.State = Thread::Ready;
  }
  Current = &T;
  T.F->Ctx = std::move(T.F->Ctx).resume();
  Current = nullptr;
  if (T.State == Thread::Done && !Aborting) {
    FreeFibers.push_back(T.F);
    T.F = nullptr;
    finished(T);
  }
}

void Worker::yield(Thread &T) { switchToScheduler(T); }

void Worker::abortLaunch(Thread &T) {
  Aborting = true;
  G->Abort = true;
  for (;;)
    switchToScheduler(T);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void Worker::setUpBlock(uint64_t Linear) {
  const Launch &L = *G->L;
  BlockCtx &B = Blk.Ctx;
  B.Ctaid[0] = Linear % L.Grid.X;
  B.Ctaid[1] = Linear / L.Grid.X % L.Grid.Y;
  B.Ctaid[2] = Linear / (uint64_t(L.Grid.X) * L.Grid.Y);
  B.Ntid[0] = L.Block.X, B.Ntid[1] = L.Block.Y, B.Ntid[2] = L.Block.Z;
  B.Nctaid[0] = L.Grid.X, B.Nctaid[1] = L.Grid.Y, B.Nctaid[2] = L.Grid.Z;
  B.DynamicShared = L.DynamicShared;
  memcpy(B.GridWorkspace, &G->Workspace, sizeof(B.GridWorkspace));
  uint32_t Total = L.Kernel->DynamicOffset + L.DynamicShared;
  B.TotalShared = Total;
  Blk.Count = Blk.Live = L.Block.count();
  Blk.AtBarrier = 0;
  B.WarpCount = (Blk.Count + 31) / 32;
  if (Blk.Count > Capacity) {
    Capacity = Blk.Count;
    Blk.Threads.reset(new Thread[Capacity]);
  }
  if (Total + 4096 > SharedReserved) {
    SharedReserved = (Total + 4096 + 0xffff) & ~0xffffu;
    // No-man's-land on both sides.
    // In one window of 4 GiB, for shared addresses of 32 bits.
    do
      Blk.Shared = allocatePrivate(SharedReserved + (1u << 21)) + (1u << 20);
    while (uint64_t(Blk.Shared) >> 32 != uint64_t(Blk.Shared + SharedReserved) >> 32);
    if (options().Races) {
      Words.assign(SharedReserved / 4);
      Bytes.assign(SharedReserved);
    }
  }
  for (const SharedRange &R : *L.Ranges)
    memset(shadowOf(Blk.Shared + R.Offset), 0xff, R.Size);
  memset(shadowOf(Blk.Shared + L.Kernel->DynamicOffset), 0xff, L.DynamicShared);
  ++Epoch;
  for (uint32_t I = 0; I < Blk.Count; ++I) {
    Thread &T = Blk.Threads[I];
    T.Tid[0] = I % L.Block.X;
    T.Tid[1] = I / L.Block.X % L.Block.Y;
    T.Tid[2] = I / (L.Block.X * L.Block.Y);
    T.Lane = I % 32;
    T.Warp = I / 32;
    T.Linear = I;
    T.Block = &B;
    T.Shared = Blk.Shared;
    T.State = Thread::NotStarted;
    T.F = nullptr;
    T.RetShadow = 0;
    T.RetPredShadow = 0;
    T.Spins = 0;
    if (options().Races) {
      memset(T.Clock, 0, sizeof(T.Clock));
      T.Clock[T.Lane] = 1;
    }
  }
}

bool Worker::runWarp(uint32_t W) {
  bool Any = false;
  uint32_t N = lanesOf(W);
  uint8_t Perm[32];
  for (uint32_t I = 0; I < N; ++I)
    Perm[I] = options().Schedule == Order::Reverse ? N - 1 - I : I;
  for (bool Progress = true; Progress;) {
    Progress = false;
    if (options().Schedule == Order::Random)
      std::shuffle(Perm, Perm + N, Rng);
    for (uint32_t I = 0; I < N; ++I) {
      Thread &T = lane(W, Perm[I]);
      if (T.State != Thread::NotStarted && T.State != Thread::Ready)
        continue;
      run(T);
      settleSecondWrite();
      if (Aborting)
        return true;
      Any = Progress = true;
    }
  }
  return Any;
}

/// The lanes that wait in __activemask() are as converged as they will get.
bool Worker::releaseActive(uint32_t W) {
  uint32_t Mask = 0, Site = 0;
  for (uint32_t L = 0; L < lanesOf(W); ++L) {
    Thread &T = lane(W, L);
    if (T.State != Thread::WaitActive)
      continue;
    if (!Mask)
      Site = T.Site;
    // Any subset is a legal answer; the random schedule explores them.
    if (T.Site == Site &&
        (!Mask || options().Schedule != Order::Random || (Rng() & 3)))
      Mask |= 1u << L;
  }
  for (uint32_t L = 0; L < lanesOf(W); ++L)
    if (Mask >> L & 1) {
      lane(W, L).Result = Mask;
      lane(W, L).State = Thread::Ready;
    }
  return Mask != 0;
}

void Worker::runBlock(uint64_t Linear) {
  setUpBlock(Linear);
  uint32_t Warps = Blk.Ctx.WarpCount;
  OrderOf.resize(Warps);
  for (uint32_t I = 0; I < Warps; ++I)
    OrderOf[I] = options().Schedule == Order::Reverse ? Warps - 1 - I : I;
  Rng.seed(options().Seed * 0x9e3779b97f4a7c15ull + Linear);
  while (Blk.Live) {
    bool Progress = false;
    if (options().Schedule == Order::Random)
      std::shuffle(OrderOf.begin(), OrderOf.end(), Rng);
    for (uint32_t W : OrderOf) {
      Progress |= runWarp(W);
      if (Aborting)
        break;
    }
    if (Aborting)
      break;
    if (!Progress)
      for (uint32_t W : OrderOf)
        Progress |= releaseActive(W);
    if (!Progress) {
      reportDeadlock();
      G->Abort = Aborting = true;
      break;
    }
  }
  if (Aborting) {
    // Fibers of unfinished threads hold dead frames: start them afresh.
    Aborting = false;
    FreeFibers.clear();
    for (size_t I = 0; I < Fibers.size(); ++I) {
      Fiber &F = *Fibers[I];
      // Destroying it would unwind frames that nobody can unwind: what the
      // handle refers to lies in the stack that is used again.
      new boost::context::fiber(std::move(F.Ctx));
      F.Ctx = newContext(F.Stack, I);
      FreeFibers.push_back(&F);
    }
  }
}

void Worker::runBlocks(Grid &TheGrid) {
  G = &TheGrid;
  TheWorker = this;
  const Launch &L = *G->L;
  // Exactly the program's own shared variables are accessible.
  uint64_t Total = L.Grid.count();
  bool Mapped = false;
  // One block each in a cooperative launch.
  for (bool More = true; More && !G->Abort; More = !L.Cooperative) {
    uint64_t B = G->NextBlock.fetch_add(1);
    if (B >= Total)
      break;
    if (!Mapped) {
      setUpBlock(B); // makes Blk.Shared large enough
      for (const SharedRange &R : *L.Ranges)
        setAccessible(Blk.Shared + R.Offset, R.Size, true);
      setAccessible(Blk.Shared + L.Kernel->DynamicOffset, L.DynamicShared,
                    true);
      Mapped = true;
    }
    runBlock(options().Schedule == Order::Reverse ? Total - 1 - B : B);
  }
  if (Mapped)
    setAccessible(Blk.Shared, (Blk.Ctx.TotalShared + 31) & ~15u, false);
  TheWorker = nullptr;
  G = nullptr;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

namespace {
/// Workers that sleep between launches.
class Pool {
public:
  explicit Pool(unsigned N) {
    for (unsigned I = 0; I < N; ++I)
      Workers.push_back(std::make_unique<Worker>(I));
    for (unsigned I = 1; I < N; ++I)
      std::thread([this, I] { loop(I); }).detach();
  }
  void run(Grid &G) {
    uint64_t Blocks = G.L->Grid.count();
    if (G.L->Cooperative) {
      runTogether(G, Blocks);
      return;
    }
    if (Workers.size() == 1 || Blocks == 1) {
      Workers[0]->runBlocks(G);
      return;
    }
    {
      std::lock_guard<std::mutex> Lock(M);
      Job = &G;
      ++Generation;
      Busy = Workers.size() - 1;
    }
    Wake.notify_all();
    Workers[0]->runBlocks(G);
    std::unique_lock<std::mutex> Lock(M);
    Idle.wait(Lock, [&] { return Busy == 0; });
  }

private:
  void loop(unsigned I) {
    uint64_t Seen = 0;
    for (;;) {
      Grid *G;
      {
        std::unique_lock<std::mutex> Lock(M);
        Wake.wait(Lock, [&] { return Generation != Seen; });
        Seen = Generation;
        G = Job;
      }
      Workers[I]->runBlocks(*G);
      std::lock_guard<std::mutex> Lock(M);
      if (--Busy == 0)
        Idle.notify_one();
    }
  }
  /// Blocks that wait for each other: each in a thread of its own.
  void runTogether(Grid &G, uint64_t Blocks) {
    while (Together.size() < Blocks)
      Together.push_back(std::make_unique<Worker>(Together.size()));
    std::vector<std::thread> Threads;
    for (uint64_t I = 1; I < Blocks; ++I)
      Threads.emplace_back([&, I] { Together[I]->runBlocks(G); });
    Together[0]->runBlocks(G);
    for (std::thread &T : Threads)
      T.join();
  }
  std::vector<std::unique_ptr<Worker>> Workers, Together;
  std::mutex M;
  std::condition_variable Wake, Idle;
  Grid *Job = nullptr;
  uint64_t Generation = 0;
  size_t Busy = 0;
};

/// Looks after launches, and after the host between them: a launch that takes
/// too long gets the flag that its loops look at, the host is given up.
class Watchdog {
public:
  enum Phase { Idle, Host, Device };

  void enter(Phase P) {
    if (options().TimeLimit <= 0)
      return;
    std::lock_guard<std::mutex> Lock(M);
    Now = P;
    Since = Clock::now();
    __atomic_store_n(&rcc_stop, 0, __ATOMIC_RELAXED);
    if (!Running) // it lives as long as the process
      std::thread([this] { watch(); }).detach();
    Running = true;
  }

  std::function<void()> Late;

private:
  using Clock = std::chrono::steady_clock;

  void watch() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::unique_lock<std::mutex> Lock(M);
      if (Now == Idle || Clock::now() - Since < std::chrono::duration<double>(
                                                    options().TimeLimit))
        continue;
      if (Now == Device)
        __atomic_store_n(&rcc_stop, 1, __ATOMIC_RELAXED);
      else if (Late) {
        Now = Idle;
        Lock.unlock();
        Late();
      }
    }
  }

  std::mutex M;
  Clock::time_point Since;
  Phase Now = Idle;
  bool Running = false;
};
Watchdog &watchdog() {
  static Watchdog *W = new Watchdog;
  return *W;
}

std::function<void(const Launch &)> LaunchCallback, StartCallback;
uint64_t LaunchCounter = 0;
} // namespace

void watchHost(std::function<void()> Late) {
  watchdog().Late = std::move(Late);
  watchdog().enter(Watchdog::Host);
}

void onLaunch(std::function<void(const Launch &)> C) {
  LaunchCallback = std::move(C);
}

void onLaunchStart(std::function<void(const Launch &)> C) {
  StartCallback = std::move(C);
}

bool runGrid(Launch &L) {
  // Threads of the host may launch at the same time; their grids run one after
  // the other. A callback of a launch may launch again.
  InRuntime Here;
  static std::recursive_mutex OneAtATime;
  std::lock_guard<std::recursive_mutex> Lock(OneAtATime);
  static Pool *P = [] {
    unsigned N = options().Jobs ? options().Jobs
                                : std::max(1u, std::thread::hardware_concurrency());
    return new Pool(N);
  }();
  static char *Params = allocatePrivate(1 << 16);
  static char *Workspace = allocatePrivate(1 << 16);
  Grid G;
  G.L = &L;
  L.Index = LaunchCounter++;
  if (StartCallback)
    StartCallback(L);
  // The argument block: pointers first, then the values, all in the arena.
  size_t N = L.Kernel->ArgSizes.size();
  setAccessible(Params, 1 << 16, true);
  auto **Slots = reinterpret_cast<void **>(Params);
  char *At = Params + ((N * sizeof(void *) + 63) & ~size_t(63));
  for (size_t I = 0; I < N; ++I) {
    Slots[I] = At;
    memcpy(At, L.Args[I], L.Kernel->ArgSizes[I]);
    At += (L.Kernel->ArgSizes[I] + 31) & ~size_t(31);
  }
  memset(shadowOf(Params), 0, At - Params);
  G.ParamBuffer = Params;
  if (L.Cooperative) {
    constexpr size_t Size = 256;
    setAccessible(Workspace, Size, true);
    memset(Workspace, 0, Size);
    memset(shadowOf(Workspace), 0, Size);
    G.Workspace = reinterpret_cast<uint64_t>(Workspace);
  }
  watchdog().enter(Watchdog::Device);
  P->run(G);
  watchdog().enter(Watchdog::Idle);
  L.SharedHigh = G.SharedHigh;
  L.Aborted = G.Abort;
  if (LaunchCallback)
    LaunchCallback(L);
  if (watchdog().Late)
    watchdog().enter(Watchdog::Host);
  return !G.Abort;
}

} // namespace rcache::check
