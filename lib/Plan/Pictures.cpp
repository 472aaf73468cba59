// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers for a picture from the isl values of a plan. Nothing is decided here;
// what the emitter writes is said again for people (see ArrayPlan in Plan.h).

#include "Pictures.h"
#include "Affine/IslTools.h"
#include <algorithm>
#include <optional>

using namespace rcache;

namespace {

/// Lanes in a row along x that belong to one logical block.
unsigned lanesOf(const Plan &P) {
  if (!P.Block)
    return 32;
  const int64_t Threads = (*P.Block)[0] / P.Factor[0];
  return static_cast<unsigned>(std::clamp<int64_t>(Threads, 1, 32));
}

/// { [tx] -> [e] } from one lane to the next, or nothing when it is not linear.
std::optional<std::vector<int64_t>> laneStep(const Plan &P,
                                             const ArrayPlan &A) {
  // Chunked: a lane's slots are neighbours; else they are a stride apart.
  const int64_t Logical = P.Stride[0] == 1 ? P.Factor[0] : 1;
  std::vector<int64_t> Step;
  for (const isl::pw_aff &F : A.First) {
    auto C = linearCoefficient(
        F, "tx", P.Context.is_null() ? always(F.ctx()) : isl::set(P.Context));
    if (!C)
      return std::nullopt;
    Step.push_back(*C * Logical);
  }
  return Step;
}

/// How register \p M of the last dimension, in row \p Row, is filled.
PictureCell cell(const ArrayPlan &A, const std::vector<int64_t> &Step,
                 std::vector<int64_t> Row, int64_t M) {
  PictureCell C;
  C.Element = Row;
  C.Element.back() =
      A.SlotSpan ? M / A.SlotSpan * A.SlotStep + M % A.SlotSpan : M;
  C.Register = std::move(Row);
  C.Register.back() = M;
  if (A.X == Exchange::Reload) {
    // A neighbour along the last dimension loads what lies beyond the step.
    C.FromRegister = M;
    const int64_t Width = std::abs(Step.back());
    const int64_t Within = A.SlotSpan ? M % A.SlotSpan : M;
    const bool Overlaps =
        Step.back() < 0 ? Within + Width < A.Extent.back() : Within >= Width;
    if (Width != 0 && Overlaps)
      C.Source = PictureCell::Reload;
  } else if (A.Cyclic) {
    const int64_t Slot = M / A.SlotSpan, J = M % A.SlotSpan;
    C.Source = J == 0 ? PictureCell::Own : PictureCell::Shuffle;
    C.Distance = J % 32;
    C.FromRegister = Slot + J / 32;
  } else {
    const int64_t Away = M / A.Chunk;
    C.Source = Away == 0 ? PictureCell::Own : PictureCell::Shuffle;
    C.Distance = A.Direction * Away;
    C.FromRegister = M % A.Chunk;
  }
  return C;
}

ArrayPicture picture(const KernelModel &M, const Plan &P, const ArrayPlan &A) {
  ArrayPicture R;
  R.Array = M.Arrays[A.Array].Name;
  R.Exchange = exchangeName(A.X);
  R.Lanes = lanesOf(P);
  if (A.X == Exchange::Shuffle)
    R.Detail =
        A.Cyclic ? "round robin" : "chunks of " + std::to_string(A.Chunk);
  else if (A.Stream)
    R.Detail = "row by row";
  if ((A.X != Exchange::Shuffle && A.X != Exchange::Reload) || A.Extent.empty())
    return R;
  const auto Step = laneStep(P, A);
  if (!Step)
    return R;
  R.LaneStep = *Step;
  R.Extent = A.Extent;
  std::vector<int64_t> Row(A.Extent.size(), 0);
  for (;;) {
    for (int64_t Register = 0; Register < A.Extent.back(); ++Register)
      R.Window.push_back(cell(A, *Step, Row, Register));
    size_t D = Row.size() - 1;
    while (D > 0 && ++Row[D - 1] == A.Extent[D - 1])
      Row[--D] = 0;
    if (D == 0)
      return R;
  }
}

} // namespace

std::vector<ArrayPicture> rcache::picturesOf(const KernelModel &M,
                                             const Plan &P) {
  std::vector<ArrayPicture> Result;
  for (const ArrayPlan &A : P.Arrays)
    Result.push_back(picture(M, P, A));
  return Result;
}
