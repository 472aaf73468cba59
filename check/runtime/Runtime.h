// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU runtime as the driver of the checker sees it: programs that are
// registered, launches that are observed, findings that are collected.

#ifndef RCACHE_CHECK_RUNTIME_RUNTIME_H
#define RCACHE_CHECK_RUNTIME_RUNTIME_H

#include "Abi.h"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace rcache::check {

struct Dim3 {
  uint32_t X = 1, Y = 1, Z = 1;
  uint64_t count() const { return uint64_t(X) * Y * Z; }
  bool operator==(const Dim3 &) const = default;
};

/// A range of a block's shared memory that a variable occupies.
struct SharedRange {
  uint32_t Offset, Size; ///< bytes
  std::string Name;
};

/// A kernel after compilation.
struct KernelInfo {
  std::string Name;          ///< mangled
  std::string DisplayName;   ///< demangled
  std::vector<size_t> ArgSizes; ///< bytes
  uint32_t StaticShared = 0; ///< bytes that the program's variables occupy
  uint32_t SharedExtent = 0; ///< bytes to reserve, redzones included
  uint32_t DynamicOffset = 0; ///< where dynamic shared memory starts
  uint32_t MaxThreads = 1024;
  std::vector<SharedRange> Ranges; ///< its static shared variables
  std::string Location;
  void (*Entry)(void **Args) = nullptr;
};

/// One launch, as the program asked for it.
struct Launch {
  const KernelInfo *Kernel = nullptr;
  Dim3 Grid, Block;
  size_t DynamicShared = 0; ///< bytes
  void **Args = nullptr;
  bool Cooperative = false;
  uint64_t Index = 0; ///< counts launches from 0
  uint32_t HostSite = 0; ///< where the host's text launches it; or 0
  const std::vector<SharedRange> *Ranges = nullptr;
  // Known afterwards.
  uint32_t SharedHigh = 0; ///< end of the shared memory touched, an offset
  bool Aborted = false;
};

enum class Severity { Warning, Error };

struct Finding {
  Severity Sev = Severity::Error;
  std::string Kind; ///< stable code, such as "out-of-bounds"
  std::string Kernel;
  Dim3 Block, Thread; ///< indices
  bool HasThread = false;
  std::string Location; ///< file:line:column, empty if unknown
  std::vector<std::string> Callers; ///< of inlined functions, innermost first
  std::string Host; ///< file:line:column of the launch, empty if unknown
  std::string Text;
  uint64_t LaunchIndex = 0;
};

enum class Order { Forward, Reverse, Random };

struct Options {
  unsigned Jobs = 0; ///< worker threads; 0: as many as there are cores
  Order Schedule = Order::Forward;
  uint64_t Seed = 1;
  bool Races = true;
  /// Volatile accesses of a warp's lanes race as others do: what counts on lock
  /// step and has no __syncwarp is found.
  bool VolatileRaces = false;
  /// A read of 8 or 16 bytes at a multiple of its size may begin inside of an
  /// allocation and end behind it: what nvcc makes of narrower reads.
  bool WholeVectors = false;
  unsigned MaxFindings = 20;
  /// Seconds for each launch, and between two for the host; 0: none.
  double TimeLimit = 0;
};

/// A device allocation: address, bytes, and the order in which it was made.
struct Allocation {
  char *Base;
  size_t Size;
  uint64_t Serial;
  enum Kind { Device, Managed, Host, Global } K;
  std::string Name; ///< of a __device__ variable
};

// --- set-up -----------------------------------------------------------------

/// Reserves the arena. Returns false with \p Error set if the address range is
/// not free.
bool initialise(const Options &Opts, std::string &Error);
Options &options();

/// Called when a finding is new; findings are also kept in \c findings().
void onFinding(std::function<void(const Finding &)> Callback);
std::vector<Finding> findings();
void clearFindings();
unsigned errorCount();
/// Errors other than "timeout" and "unsupported".
unsigned undefinedCount();
std::string lastErrorKind();

/// From now on the host has TimeLimit seconds to the next launch; \p Late is
/// called on another thread when it takes longer.
void watchHost(std::function<void()> Late);

/// Called after each launch has finished; may examine device memory.
void onLaunch(std::function<void(const Launch &)> Callback);
/// Called before each launch.
void onLaunchStart(std::function<void(const Launch &)> Callback);

// --- memory -----------------------------------------------------------------

char *allocate(size_t Size, Allocation::Kind K, const std::string &Name = "");
bool release(void *Ptr);
/// Memory whose use is to be found out: every access is allowed and noted.
/// Only one such run at a time.
struct Discovery {
  char *Base = nullptr;
  size_t Size = 0;
  size_t Low = ~size_t(0), High = 0; ///< bytes touched, [Low, High)
};
void discover(std::vector<Discovery> *Regions);
/// Who wrote an address last; works for memory under discovery.
struct WriteWatch {
  const void *Address = nullptr;
  bool Written = false;
  Dim3 Block, Thread; ///< indices
};
void watchWrites(WriteWatch *W);
/// Does a thread of a launch use what another one changes, with nothing between
/// that orders them? For memory under discovery, and for variables that this makes
/// known.
struct RaceWatch {
  struct Region {
    char *Base;
    size_t Size;
    unsigned Granule; ///< bytes that belong together: 1, 2 or 4
    bool Variable;    ///< accessible as a rule; not under discovery
  };
  std::vector<Region> Regions;
  // Known when the watch is over.
  bool Raced = false;
  const void *Address = nullptr;
  struct Party {
    Dim3 Block, Thread; ///< indices
    bool Writes = false;
  };
  Party First, Second; ///< in the order in which they ran
  bool betweenBlocks() const { return !(First.Block == Second.Block); }
};
/// null: the watch is over. One worker may run meanwhile.
void watchRaces(RaceWatch *W);
/// Makes exactly [Low, High) of an allocation accessible; Low is rounded down
/// to 16 bytes.
void restrictTo(char *Base, size_t Size, size_t Low, size_t High);
/// The live allocation that contains \p Ptr.
bool findAllocation(const void *Ptr, Allocation &Out);
std::vector<Allocation> allocations();
void markDefined(void *Ptr, size_t Size, bool Defined);
void copyShadow(void *Dst, const void *Src, size_t Size);
inline bool inArena(const void *P) {
  return (reinterpret_cast<uint64_t>(P) - ArenaBase) < ArenaSize;
}
inline uint8_t *shadowOf(const void *P) {
  return reinterpret_cast<uint8_t *>(reinterpret_cast<uint64_t>(P) ^ ShadowXor);
}

// --- programs ---------------------------------------------------------------

/// Adds source locations and returns the number of the first one. A location is
/// "file:line:column", behind it, each on a line of its own, those of the calls
/// that led there.
uint32_t addSites(std::vector<std::string> Sites);
/// The location alone.
std::string siteText(uint32_t Site);

/// Device symbols of the program being loaded, by mangled name. The host side
/// finds them when it registers its stubs.
struct Program {
  std::map<std::string, KernelInfo> Kernels;
  std::map<std::string, Allocation> Globals;
};
/// Host registrations made from now on refer to \p P, which must live on.
void setRegisteringProgram(Program *P);
/// The kernel registered for a host stub, or null.
const KernelInfo *kernelOfStub(const void *Stub);
/// After an abandoned launch: API calls succeed again.
void resetDeviceError();

/// Runs a grid. Returns false if the launch was abandoned after an error.
bool runGrid(Launch &L);

/// Name and address of every function that compiled code may call.
std::vector<std::pair<std::string, void *>> runtimeSymbols();

} // namespace rcache::check

#endif
