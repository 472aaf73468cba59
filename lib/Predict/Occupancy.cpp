// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many blocks and warps one SM holds at a time. The toolkit's calculator
// (cuda_occupancy.h, included from the user's toolkit when the tool is built)
// runs on the CPU with properties filled in by hand; without it, and for an
// architecture it does not know, a calculation from the published limits.

#include "rcache/Prediction.h"
#include <algorithm>
#include <limits>

#ifdef RCACHE_HAVE_CUDA_OCCUPANCY
#include <cuda_occupancy.h>
#endif

namespace rcache {

namespace {
constexpr unsigned WarpSize = 32;
constexpr unsigned RegistersPerSm = 65536;
constexpr unsigned MaxRegistersPerThread = 255;
constexpr unsigned MaxThreadsPerBlock = 1024;

unsigned roundUp(unsigned N, unsigned To) { return (N + To - 1) / To * To; }

/// Shared memory that the driver takes from each block.
unsigned reservedShared(const Arch &A) { return A.Major >= 8 ? 1024 : 0; }

/// The most a block may have (with the opt-in), static and dynamic.
unsigned maxSharedPerBlock(const Arch &A) {
  return A.SharedKBPerSm * 1024 - reservedShared(A);
}
} // namespace

Occupancy occupancyByLimits(const Arch &A, unsigned Registers,
                            unsigned ThreadsPerBlock, unsigned SharedBytes) {
  Occupancy None;
  if (ThreadsPerBlock == 0 || ThreadsPerBlock > MaxThreadsPerBlock) {
    None.Limit = "threads";
    return None;
  }
  if (Registers > MaxRegistersPerThread) {
    None.Limit = "registers";
    return None;
  }
  if (SharedBytes > maxSharedPerBlock(A)) {
    None.Limit = "shared memory";
    return None;
  }
  const unsigned Warps = roundUp(ThreadsPerBlock, WarpSize) / WarpSize;
  struct Limit {
    unsigned Blocks;
    const char *Name;
  };
  // Registers are given to warps in units of 256, and warps to the four
  // schedulers, each with its own quarter of the registers.
  const unsigned PerWarp = roundUp(std::max(Registers, 1u) * WarpSize, 256);
  const unsigned WarpsByRegisters = RegistersPerSm / 4 / PerWarp * 4;
  const unsigned Shared =
      roundUp(SharedBytes + reservedShared(A), A.Major >= 8 ? 128 : 256);
  const Limit Limits[] = {
      {A.MaxThreadsPerSm / (Warps * WarpSize), "threads"},
      {A.MaxBlocksPerSm, "blocks"},
      {WarpsByRegisters / Warps, "registers"},
      {Shared ? A.SharedKBPerSm * 1024 / Shared
              : std::numeric_limits<unsigned>::max(),
       "shared memory"},
  };
  const Limit &Least = *std::min_element(
      std::begin(Limits), std::end(Limits),
      [](const Limit &L, const Limit &R) { return L.Blocks < R.Blocks; });
  return {Least.Blocks, Least.Blocks * Warps, Least.Name};
}

#ifdef RCACHE_HAVE_CUDA_OCCUPANCY

bool hasToolkitOccupancy() { return true; }

static const char *limitName(unsigned Factors) {
  if (Factors & OCC_LIMIT_REGISTERS)
    return "registers";
  if (Factors & OCC_LIMIT_SHARED_MEMORY)
    return "shared memory";
  if (Factors & OCC_LIMIT_BLOCKS)
    return "blocks";
  return "threads";
}

Occupancy occupancy(const Arch &A, unsigned Registers, unsigned ThreadsPerBlock,
                    unsigned SharedBytes) {
  const Occupancy ByLimits =
      occupancyByLimits(A, Registers, ThreadsPerBlock, SharedBytes);
  if (ByLimits.BlocksPerSm == 0)
    return ByLimits;
  cudaOccDeviceProp Device;
  Device.computeMajor = A.Major;
  Device.computeMinor = A.Minor;
  Device.maxThreadsPerBlock = MaxThreadsPerBlock;
  Device.maxThreadsPerMultiprocessor = A.MaxThreadsPerSm;
  Device.regsPerBlock = RegistersPerSm;
  Device.regsPerMultiprocessor = RegistersPerSm;
  Device.warpSize = WarpSize;
  Device.sharedMemPerBlock = 48 * 1024;
  Device.sharedMemPerMultiprocessor = A.SharedKBPerSm * 1024;
  Device.numSms = A.Sms;
  Device.sharedMemPerBlockOptin = maxSharedPerBlock(A);
  Device.reservedSharedMemPerBlock = reservedShared(A);
  cudaOccFuncAttributes Function;
  Function.maxThreadsPerBlock = MaxThreadsPerBlock;
  Function.numRegs = std::max(Registers, 1u);
  Function.sharedSizeBytes = 0;
  Function.partitionedGCConfig = PARTITIONED_GC_OFF;
  Function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  Function.maxDynamicSharedSizeBytes = maxSharedPerBlock(A);
  cudaOccDeviceState State;
  cudaOccResult Result;
  if (cudaOccMaxActiveBlocksPerMultiprocessor(&Result, &Device, &Function,
                                              &State, ThreadsPerBlock,
                                              SharedBytes) != CUDA_OCC_SUCCESS)
    return ByLimits;
  const unsigned Blocks = Result.activeBlocksPerMultiprocessor;
  const unsigned Warps = roundUp(ThreadsPerBlock, WarpSize) / WarpSize;
  return {Blocks, Blocks * Warps, limitName(Result.limitingFactors)};
}

#else

bool hasToolkitOccupancy() { return false; }

Occupancy occupancy(const Arch &A, unsigned Registers, unsigned ThreadsPerBlock,
                    unsigned SharedBytes) {
  return occupancyByLimits(A, Registers, ThreadsPerBlock, SharedBytes);
}

#endif

} // namespace rcache
