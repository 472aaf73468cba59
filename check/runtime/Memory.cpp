// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arena: device memory with a byte-exact addressability map and a bit-exact
// definedness shadow. Addresses are never used twice, so a stale pointer is
// always an error.

#include "Memory.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <sys/mman.h>

namespace rcache::check {

namespace {
struct Arena {
  std::mutex M;
  std::map<uint64_t, Allocation> Live; ///< by base address
  // Variables apart from allocations: a program with one variable more should
  // still see the same addresses.
  uint64_t NextGlobal = ArenaBase + (1ull << 32);
  uint64_t Next = ArenaBase + (1ull << 38);
  uint64_t NextPrivate = ArenaBase + ArenaSize; ///< grows down
  uint64_t Serial = 0;
};
Arena &arena() {
  static Arena *A = new Arena; // outlives the program's static destructors
  return *A;
}

bool reserve(uint64_t Base, uint64_t Size) {
  void *P = mmap(reinterpret_cast<void *>(Base), Size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                     MAP_FIXED_NOREPLACE,
                 -1, 0);
  return P == reinterpret_cast<void *>(Base);
}
} // namespace

bool reserveArena(std::string &Error) {
  if (reserve(MapBase, MapSize) && reserve(ArenaBase, ArenaSize) &&
      reserve(ArenaBase ^ ShadowXor, ArenaSize)) {
    // Where the stacks of threads are marked, hundreds at a time: large pages, if
    // the system has any.
    constexpr uint64_t Stacks = uint64_t(1) << 33;
    madvise(reinterpret_cast<void *>(MapBase + ((ArenaBase + ArenaSize - Stacks) >> MapShift)),
            Stacks >> MapShift, MADV_HUGEPAGE);
    return true;
  }
  Error = "cannot reserve address space for device memory (is overcommit "
          "forbidden, or a limit on virtual memory set?)";
  return false;
}

void setAccessible(const void *Ptr, size_t Size, bool On) {
  uint64_t P = reinterpret_cast<uint64_t>(Ptr);
  auto *Map = reinterpret_cast<uint8_t *>(MapBase + (P >> MapShift));
  size_t Whole = Size >> MapShift;
  if (!On && Size >= (1u << 20)) {
    // Give the pages back: the map reads as zero again.
    uint64_t Lo = (reinterpret_cast<uint64_t>(Map) + 4095) & ~4095ull;
    uint64_t Hi = reinterpret_cast<uint64_t>(Map + Whole) & ~4095ull;
    madvise(reinterpret_cast<void *>(Lo), Hi - Lo, MADV_DONTNEED);
    memset(Map, 0, Lo - reinterpret_cast<uint64_t>(Map));
    memset(reinterpret_cast<void *>(Hi), 0,
           reinterpret_cast<uint64_t>(Map + Whole) - Hi);
  } else {
    memset(Map, On ? 16 : 0, Whole);
  }
  if (Size & 15)
    Map[Whole] = On ? uint8_t(Size & 15) : 0;
}

size_t accessibleBytes(uint64_t P, size_t Size) {
  size_t N = 0;
  while (N < Size) {
    uint64_t A = P + N;
    if (A >> 47)
      return N;
    unsigned Have = *reinterpret_cast<uint8_t *>(MapBase + (A >> MapShift));
    unsigned Off = A & 15;
    if (Have <= Off)
      return N;
    N += Have - Off;
    if (Have < 16)
      return std::min(N, Size);
  }
  return Size;
}

char *allocatePrivate(size_t Size) {
  std::lock_guard<std::mutex> Lock(arena().M);
  arena().NextPrivate -= (Size + 0xffff) & ~0xffffull;
  return reinterpret_cast<char *>(arena().NextPrivate);
}

char *allocate(size_t Size, Allocation::Kind K, const std::string &Name) {
  Arena &A = arena();
  std::lock_guard<std::mutex> Lock(A.M);
  uint64_t Span = (Size + 0xffff) & ~0xffffull;
  if (A.Next + Span + (1u << 23) > A.NextPrivate)
    return nullptr;
  uint64_t &Next = K == Allocation::Global ? A.NextGlobal : A.Next;
  uint64_t Base = Next;
  // A gap as large as many rows of an ordinary array, so that a stray index
  // lands in no-man's-land rather than in the neighbour.
  Next += Span + (K == Allocation::Global ? 1u << 16 : 1u << 22);
  auto *P = reinterpret_cast<char *>(Base);
  setAccessible(P, Size, true);
  A.Live[Base] = Allocation{P, Size, A.Serial++, K, Name};
  if (K == Allocation::Device || K == Allocation::Managed)
    memset(shadowOf(P), 0xff, Size);
  return P;
}

bool release(void *Ptr) {
  Arena &A = arena();
  std::lock_guard<std::mutex> Lock(A.M);
  auto It = A.Live.find(reinterpret_cast<uint64_t>(Ptr));
  if (It == A.Live.end() || It->second.K == Allocation::Global)
    return false;
  size_t Size = It->second.Size;
  setAccessible(Ptr, Size, false);
  if (size_t Pages = Size & ~4095ull) {
    madvise(Ptr, Pages, MADV_DONTNEED);
    madvise(shadowOf(Ptr), Pages, MADV_DONTNEED);
  }
  A.Live.erase(It);
  return true;
}

bool findAllocation(const void *Ptr, Allocation &Out) {
  Arena &A = arena();
  std::lock_guard<std::mutex> Lock(A.M);
  auto It = A.Live.upper_bound(reinterpret_cast<uint64_t>(Ptr));
  if (It == A.Live.begin())
    return false;
  --It;
  if (reinterpret_cast<uint64_t>(Ptr) >= It->first + It->second.Size &&
      reinterpret_cast<uint64_t>(Ptr) != It->first)
    return false;
  Out = It->second;
  return true;
}

bool nearestAllocation(const void *Ptr, Allocation &Out) {
  Arena &A = arena();
  std::lock_guard<std::mutex> Lock(A.M);
  uint64_t P = reinterpret_cast<uint64_t>(Ptr), Best = ~0ull;
  auto Try = [&](const Allocation &X) {
    uint64_t B = reinterpret_cast<uint64_t>(X.Base);
    uint64_t D = P < B ? B - P : P - (B + X.Size);
    if (D < Best) {
      Best = D;
      Out = X;
    }
  };
  auto It = A.Live.upper_bound(P);
  if (It != A.Live.end())
    Try(It->second);
  if (It != A.Live.begin())
    Try(std::prev(It)->second);
  return Best < (1u << 20);
}

std::vector<Allocation> allocations() {
  std::lock_guard<std::mutex> Lock(arena().M);
  std::vector<Allocation> R;
  for (auto &[B, X] : arena().Live)
    R.push_back(X);
  std::sort(R.begin(), R.end(), [](const Allocation &L, const Allocation &R) {
    return L.Serial < R.Serial;
  });
  return R;
}

namespace {
std::vector<Discovery> *Discovering = nullptr;
} // namespace

void discover(std::vector<Discovery> *Regions) {
  Discovering = Regions;
  if (Regions)
    for (Discovery &D : *Regions)
      setAccessible(D.Base, D.Size, false);
}

bool noteAccess(uint64_t P, size_t Size) {
  if (!Discovering)
    return false;
  static std::mutex M;
  std::lock_guard<std::mutex> Lock(M);
  for (Discovery &D : *Discovering) {
    uint64_t Off = P - reinterpret_cast<uint64_t>(D.Base);
    if (Off < D.Size && Off + Size <= D.Size) {
      D.Low = std::min<size_t>(D.Low, Off);
      D.High = std::max<size_t>(D.High, Off + Size);
      return true;
    }
  }
  return false;
}

void restrictTo(char *Base, size_t Size, size_t Low, size_t High) {
  setAccessible(Base, Size, false);
  if (Low >= High)
    return;
  Low &= ~size_t(15);
  setAccessible(Base + Low, High - Low, true);
}

void markDefined(void *Ptr, size_t Size, bool Defined) {
  if (inArena(Ptr))
    memset(shadowOf(Ptr), Defined ? 0 : 0xff, Size);
}

void copyShadow(void *Dst, const void *Src, size_t Size) {
  if (!inArena(Dst))
    return;
  if (inArena(Src))
    memmove(shadowOf(Dst), shadowOf(Src), Size);
  else
    memset(shadowOf(Dst), 0, Size);
}

} // namespace rcache::check
