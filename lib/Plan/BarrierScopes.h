// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the barriers that a plan keeps still have to order. A barrier matters to
// two accesses that may meet in one element, one of them a write, and that it
// may stand between:
//
//     in two warps                       __syncthreads()
//     in one warp, in two of its lanes   __syncwarp()
//     in one thread only                 nothing
//
// A row filter with a row of the tile for each warp, a reduction of each row, a
// one-dimensional block whose arrays are indexed by threadIdx.x / 32 never need
// more than __syncwarp.

#ifndef RCACHE_PLAN_BARRIERSCOPES_H
#define RCACHE_PLAN_BARRIERSCOPES_H

#include "Staging.h"
#include "rcache/Plan.h"
#include <memory>

namespace rcache {

/// The pairs of accesses of one kernel under one assumption about the block;
/// what isl has said of a pair serves every plan. May throw isl::exception.
class BarrierScopes {
public:
  BarrierScopes(const KernelModel &M, const Assumptions &A, bool AssumeNoAlias);
  ~BarrierScopes();
  BarrierScopes(BarrierScopes &&) noexcept;

  /// Sets P.Narrowed, and P.Separate where a barrier is narrowed because two
  /// pointers lead to different memory; P.KeepBarriers goes when no barrier has
  /// anything to order. \p P: factors, layout, block and the exchange of each
  /// array are chosen; barriers are kept.
  void narrow(Plan &P);

private:
  struct Impl;
  std::unique_ptr<Impl> I;
};

} // namespace rcache

#endif // RCACHE_PLAN_BARRIERSCOPES_H
