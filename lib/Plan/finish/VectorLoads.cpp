// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "../Solve.h"
#include "Affine/IslTools.h"
#include "Finish.h"
#include <algorithm>
#include <bit>

using namespace rcache;

static unsigned bytesOf(const ValueRef &Load) {
  return Load->Root < 0 ? 0 : Load->Bytes;
}

void rcache::chooseVectorLoads(const KernelModel &M, const StagingFunction &F,
                               const Mapping &Map, Window &W) {
  unsigned Bytes = 0;
  for (const VectorLeaf &L : W.Leaves)
    Bytes = std::max(Bytes, bytesOf(L.Load));
  for (VectorLeaf &L : W.Leaves)
    L.ElemBytes = bytesOf(L.Load);
  if (!Bytes)
    return;
  // A vector holds whole elements: those of 12 or 32 bytes come one by one.
  if (Bytes > 16 || !std::has_single_bit(Bytes)) {
    W.VectorBytes = std::min(16u, std::bit_floor(Bytes));
    return;
  }
  // A thread's first element moves by Factor elements from lane to lane.
  unsigned V = 16;
  if (Map.Stride[0] != 1)
    V = Bytes;
  while (V > Bytes && (Map.Factor[0] * Bytes) % V != 0)
    V /= 2;
  W.VectorBytes = std::max(V, Bytes);
  // The constant part of the first address tells how many elements stand
  // before an aligned one; the rest is taken as aligned and tested when run.
  for (VectorLeaf &L : W.Leaves) {
    Substitution AtFirst;
    for (size_t D = 0; D < W.First.size(); ++D)
      AtFirst.emplace(F.ElemIds[D], W.First[D]);
    auto Idx = linearForm(substitute(L.Load->Operands[0]->Aff, AtFirst),
                          always(M.Ctx->ctx()));
    int64_t N = L.ElemBytes ? W.VectorBytes / L.ElemBytes : 1;
    if (Idx && N > 1)
      L.Head = static_cast<unsigned>(((-Idx->Const) % N + N) % N);
  }
}
