// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See JoinedCosts.h.

#include "JoinedCosts.h"
#include "Affine/IslTools.h"
#include "SharedReads.h"
#include "StagedReads.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

namespace {

/// What host code says of vectors of a tile's rows.
enum class Rows { Unknown, InVectors, OneByOne };

/// Is \p S a multiple of \p Width in the launches that host code shows? A product is by one of
/// the parameters among its factors. Nullopt: it names none, or not their values.
std::optional<bool> isMultiple(const KernelModel &M, const Symbol &S, int64_t Width) {
  if (S.Factors.empty()) {
    if (S.K != Symbol::Param)
      return std::nullopt;
    std::optional<bool> All;
    for (const LaunchSite &L : M.Launches)
      for (size_t P = 0; P < std::min(M.Params.size(), L.ArgValues.size()); ++P)
        if (M.Params[P].Name == S.Text)
          for (const int64_t V : L.ArgValues[P])
            All = All.value_or(true) && V % Width == 0;
    return All;
  }
  std::optional<bool> Any;
  for (const std::string &F : S.Factors)
    if (const int I = M.symbolIndex(F); I >= 0)
      if (const auto Is = isMultiple(M, M.Symbols[size_t(I)], Width))
        Any = Any.value_or(false) || *Is;
  return Any;
}

Rows rowsOf(const KernelModel &M, const StagingFunction &Stage, unsigned Bytes) {
  const int64_t Width = 16 / std::max(1u, Bytes);
  Rows All = Rows::InVectors;
  for (const ValueRef &L : loadsOf(Stage)) {
    const ValueRef &At = L->Operands[0];
    if (At->K != Value::Affine)
      return Rows::Unknown;
    for (const std::string &Id : involvedIds(At->Aff)) {
      const int I = M.symbolIndex(Id);
      const auto By = linearCoefficient(At->Aff, Id, At->Aff.domain());
      if (I < 0 || !By || *By % Width == 0)
        continue;
      const Symbol &S = M.Symbols[size_t(I)];
      const auto Is = isMultiple(M, S, Width);
      if (Is && !*Is)
        return Rows::OneByOne;
      if (!Is && (S.K == Symbol::Param || !S.Factors.empty()))
        All = Rows::Unknown;
    }
  }
  return All;
}

} // namespace

void rcache::addRestaged(const Placed &In, const Restaged &R, const Staging &Fill,
                         double Rounds, KernelCounts &K) {
  const Plan &P = In.P;
  const unsigned Bytes = In.array().ElemBytes;
  for (unsigned Rd : In.A.Reads) {
    const SharedAccess &S = In.M.SharedAccesses[Rd];
    K.SharedLoads += Fill.executions(S.Stmt) *
                     restagedReadCost(In.M, S, R, P.Map, P.TapsOutside);
  }
  const double Each = double(R.elements(P.Map.Blocks)) /
                      double(P.Map.lanes() * P.Map.slots()) * Rounds;
  const bool InWords = llvm::any_of(loadsOf(In.A.Stage), [](const ValueRef &L) {
    return L->Operands[0]->K != Value::Affine;
  });
  if (P.Ahead && InWords) {
    // No row is known to go on: a word each, of which 15 instructions find the place
    // (MatMulShared of bench/styles/r9.cu: 2167 executed where 1650 were counted).
    K.Loads.push_back({Each, Bytes, double(Bytes)});
    K.OtherOps += Each * 15;
  } else if (P.Ahead) { // 16 bytes in one instruction, past the registers
    // Or a word, where the launch has rows of other lengths: 28 instructions with indices
    // of 64 bits (matmul_sz, docs/measurements/2026-11-29-h200-wavefronts.txt). Where guards
    // say that tiles may end anywhere, either may come.
    const Rows Of = rowsOf(In.M, In.A.Stage, Bytes);
    if (Of == Rows::OneByOne) {
      K.Loads.push_back({Each, Bytes, double(Bytes)});
      K.OtherOps += Each * 28;
    } else {
      K.Loads.push_back({Each * Bytes / 16.0, 16, 16});
      if (Of == Rows::Unknown && In.A.Stage.isConditional())
        K.OtherOps += Each * (In.A.Stage.branches() ? 14 : 6);
    }
  } else {
    K.Loads.push_back({Each, Bytes, double(Bytes)});
    K.SharedStores += Each;
  }
  K.OtherOps += Each;
  // Each element is found anew: 1191 instructions executed where 387 were counted
  // (conv_implicit_gemm of bench/styles/d8.cu: six divisions of 3.25 elements an output).
  K.IntOps += 40 * slowDivisions(In.A.Stage) * Each;
  K.SharedBytes = static_cast<unsigned>(P.restagedBytes(In.M));
}

/// Elements that several slots use, and where they come from.
double rcache::restagedRegisters(const Plan &P, double Words) {
  return (12 + 0.5 * P.slots()) * Words;
}

/// Products of 4096 x 4096 floats in tiles of 16 x 16 and 32 x 32 on an H200,
/// milliseconds: copied ahead 3.05 and 3.16 with 64 outputs a thread, 3.40 and 3.33 with
/// 32; a fifth more where tiles are not copied ahead. Blocks of 256 threads take as long
/// as those of 128 where they are (eight products of 2026-11-28-h200-planner.json: 0.93 to
/// 1.16 of the speed), and longer where not. On an H100 in grids of a block or two an SM
/// (2026-11-27-h100-choices.txt) 64 outputs wait for tiles that are not copied ahead,
/// fewer do not; and all of them gain more beside other plans than is counted. There, in
/// grids known to be of a wave or two (at most 40 warps an SM with 32 outputs a thread),
/// 16 outputs did better than 32 in six products of eight, by 3 to 43%
/// (2026-11-28-h100-unseen.txt), and with at most 14 warps 256 threads better than 128 in
/// three, by 4 to 34% (2026-11-28-h200-fresh.txt), neither in those of halves: what is
/// counted decides.
double rcache::joinedFactor(const Plan &P, double WarpsPerSm, bool OfHalves) {
  const auto Below = [&](double Warps) {
    return WarpsPerSm > 0 && WarpsPerSm * P.slots() < Warps * 32;
  };
  const bool Few = !OfHalves && Below(40);
  // (MatMulShared and matrixMultiplyShared of bench/styles/r9.cu and d7.cu, tiles copied ahead:
  // 32 outputs a thread 0.87 and 0.90 of the time of 16.)
  double Factor = Few                 ? (P.slots() >= 32 || P.Ahead ? 1 : 1.03)
                  : P.slots() >= 64 ? 1.2
                  : P.slots() >= 32 ? 1.06
                                    : 0.9;
  if (P.Map.lanes() > 128 && (OfHalves || (!P.Ahead && P.slots() >= 32 && !Below(14))))
    Factor *= P.slots() >= 64 ? 0.88 : 0.97;
  if (!P.Ahead)
    Factor *= P.slots() >= 64 ? 0.75 : 0.95;
  return Factor;
}
