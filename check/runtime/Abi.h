// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compiled device code and the CPU runtime agree on: the layout of the
// per-thread and per-block state that lowered code reads directly, the fixed
// address map, and the codes passed to runtime calls. No LLVM here.
//
//   0x1100'0000'0000  addressability map: one byte for each 16 bytes of address
//                     space, the number of accessible bytes (0 to 16)
//   0x2000'0000'0000  arena: all memory that device code may touch
//   0x7000'0000'0000  shadow of the arena: bit set = bit never initialised

#ifndef RCACHE_CHECK_RUNTIME_ABI_H
#define RCACHE_CHECK_RUNTIME_ABI_H

#include <cstdint>

namespace rcache::check {

constexpr uint64_t ArenaBase = 0x200000000000ull;
constexpr uint64_t ArenaSize = 0x040000000000ull;
constexpr uint64_t ShadowXor = 0x500000000000ull;
constexpr uint64_t MapBase = 0x110000000000ull;
constexpr uint64_t MapSize = 0x080000000000ull;
constexpr unsigned MapShift = 4;

/// Geometry of the block being run; dimensions as in CUDA.
struct BlockCtx {
  uint32_t Ctaid[3];
  uint32_t Ntid[3];
  uint32_t Nctaid[3];
  uint32_t DynamicShared; ///< bytes
  uint32_t TotalShared;   ///< bytes from the block's shared base on
  uint32_t WarpCount;
  uint32_t GridWorkspace[2]; ///< address, low word first; 0: no cooperative launch
};

/// One logical CUDA thread, as lowered code sees it.
struct ThreadCtx {
  uint32_t Tid[3];
  uint32_t Lane;
  uint32_t Warp;
  uint32_t Linear;
  BlockCtx *Block;
  char *Shared;          ///< this block's shared memory
  uint64_t ArgShadow[4]; ///< definedness of the operands of a runtime call
  uint64_t RetShadow;    ///< ... and of its result
  uint32_t RetPred;      ///< second result (shuffle and match predicates)
  uint32_t RetPredShadow;
};

enum class ShflKind : uint32_t { Up, Down, Bfly, Idx };
enum class VoteKind : uint32_t { All, Any, Uni, Ballot };
enum class ReduxKind : uint32_t { Add, And, Or, Xor, Min, Max, UMin, UMax };
enum class BarRed : uint32_t { None, Popc, And, Or };

/// Bits of the flags of a checked memory access.
enum AccessFlags : uint32_t {
  AccessWrite = 1,
  AccessAtomic = 2,
  AccessVolatile = 4,
};

/// Where a value that was never initialised was used.
enum class UninitUse : uint32_t { Store, Address, Branch, Shuffle };

} // namespace rcache::check

#endif
