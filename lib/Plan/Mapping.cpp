// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mapping and Distribution (rcache/Plan.h), written once for planning,
// prediction, emission and pictures. The verifier has formulas of its own.

#include "Affine/IslTools.h"
#include "rcache/Plan.h"
#include <algorithm>

using namespace rcache;

namespace {
constexpr int64_t WarpSize = 32, MostThreads = 1024;
const char *const ThreadIds[3] = {"tx", "ty", "tz"};
const char *const SlotIds[3] = {"sx", "sy", "sz"};
} // namespace

std::array<int64_t, 3>
Mapping::threadsOf(const std::array<int64_t, 3> &Logical) const {
  std::array<int64_t, 3> N;
  for (unsigned D = 0; D < 3; ++D)
    N[D] = std::max<int64_t>(1, Logical[D] / std::max(1u, Factor[D]));
  return N;
}

int64_t Mapping::mergedBlocks(const std::array<int64_t, 3> &Logical) const {
  const auto N = threadsOf(Logical);
  const int64_t All = N[0] * N[1] * N[2];
  if (!Merge)
    return 1;
  if (isOneDim())
    return All < TargetThreads ? TargetThreads / All : 1;
  int64_t Merged = std::max((WarpSize - 1 + N[0]) / N[0],
                            (int64_t(TargetThreads) + All - 1) / All);
  while (Merged > 1 && Merged * All > MostThreads)
    Merged /= 2;
  return Merged;
}

std::array<int64_t, 3>
Mapping::launchedBlock(const std::array<int64_t, 3> &Logical) const {
  if (joins())
    return {lanes(), 1, 1};
  auto N = threadsOf(Logical);
  N[isOneDim() ? 1 : 0] *= mergedBlocks(Logical);
  return N;
}

unsigned Mapping::mostThreads() const {
  if (joins())
    return static_cast<unsigned>(lanes());
  if (!Block) {
    const unsigned Logical = MostThreads / slots();
    return Merge ? std::max(Logical, TargetThreads) : Logical;
  }
  if (Merge && isOneDim())
    return static_cast<unsigned>(
        std::max<int64_t>(threads(), TargetThreads));
  return static_cast<unsigned>(threads() * mergedBlocks(*Block));
}

bool Mapping::wholeWarps() const {
  if (joins())
    return lanes() % WarpSize == 0;
  if (!Block)
    return BlockMultiple % (WarpSize * Factor[0]) == 0;
  return threads() % WarpSize == 0 && (!Merge || threads(0) % WarpSize == 0);
}

isl::pw_aff Mapping::threadOfSlot(isl::ctx Ctx, unsigned Axis) const {
  return symbolValue(Ctx, ThreadIds[Axis])
      .add(symbolValue(Ctx, SlotIds[Axis])
               .scale(static_cast<long>(Stride[Axis])));
}

isl::pw_aff Mapping::physicalThread(isl::ctx Ctx, unsigned Axis) const {
  const isl::pw_aff T = symbolValue(Ctx, ThreadIds[Axis]);
  const int64_t C = Factor[Axis], S = Stride[Axis];
  return C == 1   ? T
         : S == 1 ? floorDiv(T, C)
                  : floorDiv(T, S * C).scale(long(S)).add(floorMod(T, S));
}

int64_t
Plan::leastBlocks(const std::optional<std::array<int64_t, 3>> &Block) const {
  const auto &Of = Map.Block ? Map.Block : Block;
  if (!LeastThreads || Cut || !Of)
    return 0;
  // As LaunchText::threadsOfBlock.
  const int64_t Threads = Map.Block ? Map.threads()
                                    : (*Of)[0] * (*Of)[1] * (*Of)[2] / Map.slots();
  return Threads > 0 ? (LeastThreads + Threads - 1) / Threads : 0;
}

/// How much is asked before an element of \p S is loaded, other than that it lies in the
/// array.
static size_t tests(const StagePiece &S, const std::vector<std::string> &ElemIds) {
  size_t Most = 0;
  S.Domain.foreach_basic_set([&](const isl::basic_set &B) {
    size_t N = 0;
    for (const isl::set &C : constraintsOf(B)) {
      const std::vector<std::string> Ids = involvedIds(C);
      N += std::any_of(Ids.begin(), Ids.end(), [&](const std::string &Id) {
        return std::find(ElemIds.begin(), ElemIds.end(), Id) == ElemIds.end();
      });
    }
    Most = std::max(Most, N);
  });
  return S.Guards.size() + Most;
}

bool StagingFunction::isConditional() const {
  return std::any_of(Pieces.begin(), Pieces.end(), [&](const StagePiece &S) {
    return S.V->K == Value::Select || tests(S, ElemIds) > 0;
  });
}

static bool divides(const Value &V) {
  return V.Opcode == Value::Div || V.Opcode == Value::Rem ||
         std::any_of(V.Operands.begin(), V.Operands.end(),
                     [](const ValueRef &O) { return divides(*O); });
}

bool StagingFunction::branches() const {
  constexpr size_t MostPredicates = 3;
  return std::any_of(Pieces.begin(), Pieces.end(), [&](const StagePiece &S) {
    if (S.V->K != Value::Load)
      return false;
    const Value &Index = *S.V->Operands[0];
    const bool Long = divides(Index) || Index.Type == "unsigned long" || Index.Type == "long" ||
                      Index.Type == "long long";
    const size_t Tests = tests(S, ElemIds);
    return Tests > 0 && (Long || Tests > MostPredicates);
  });
}

Distribution::Home Distribution::homeOf(const Window &W, int64_t M) const {
  if (K == Cyclic) {
    const int64_t Slot = M / W.SlotSpan, J = M % W.SlotSpan;
    return {J % WarpSize, Slot + J / WarpSize};
  }
  return {Direction * (M / Chunk), M % Chunk};
}

int64_t Window::registers() const {
  int64_t N = 1;
  for (int64_t E : Extent)
    N *= E;
  return N;
}

int64_t Window::registersRead() const {
  if (Lines.empty())
    return registers();
  int64_t N = 0;
  for (const auto &[Low, High] : Lines)
    N += std::max<int64_t>(0, High - Low);
  return N;
}

int64_t ReadEarly::registers() const {
  int64_t N = 1;
  for (int64_t E : Extent)
    N *= E;
  return N;
}
