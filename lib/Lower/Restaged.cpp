// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays of joined blocks: their copies, how all threads fill them, where a slot
// reads.
//
//     __shared__ __align__(16) float rc_As[4][32][36];
//     ...
//     for (int rc_i = 0; rc_i < 16; ++rc_i) {
//       const unsigned int rc_at = threadIdx.x + rc_i * 256;
//       rc_As[rc_at / 1024][rc_at / 32 % 32][rc_at % 32] =
//           rc_As_at(blockIdx.y * 4 + rc_at / 1024, rc_at / 32 % 32, rc_at % 32);
//     }
//     __syncthreads();
//     ... rc_As[rc_part_y][ty][k] ...

#include "Fill.h"
#include "Plan/Staging.h"

using namespace rcache;

static std::string str(int64_t V) { return std::to_string(V); }
static const char Axes[] = "xyz";

Code Fill::restagedCopies(unsigned Array) const {
  const bool Dynamic = P.dynamicTiles(M);
  const int64_t Tiles = P.Ahead ? P.Ahead->Tiles : 1;
  int64_t Offset = 0;
  for (const ArrayPlan &A : P.Arrays) {
    const auto *R = A.as<Restaged>();
    if (!R)
      continue;
    const SharedArray &Of = M.Arrays[A.Array];
    if (A.Array != Array) {
      Offset += (R->bytes(P.Map.Blocks, Of.ElemBytes) + 15) / 16 * 16 * Tiles;
      continue;
    }
    std::string Extents = P.Ahead ? "[" + str(Tiles) + "]" : "";
    const auto Layout = R->layout(P.Map.Blocks);
    for (const Restaged::Dimension &D : Layout)
      Extents += "[" + str(D.Extent + (&D == &Layout.back() ? R->Pad : 0)) + "]";
    if (!Dynamic)
      return "__shared__ __align__(16) " + Of.ElemType + " " + groupName(A) +
             Extents + ";\n";
    return "extern __shared__ __align__(16) unsigned char " + N("memory") +
           "[];\n" + Of.ElemType + " (&" + groupName(A) + ")" + Extents +
           " = *reinterpret_cast<" + Of.ElemType + " (*)" + Extents + ">(" +
           N("memory") + (Offset ? " + " + str(Offset) : "") + ");\n";
  }
  return "";
}

/// `At / Below % Extent`, as far as needed.
static Code digit(const Code &At, int64_t Below, int64_t Extent, bool First) {
  Code T = At;
  if (Below > 1)
    T += " / " + str(Below);
  if (!First)
    T += " % " + str(Extent);
  return T;
}

Fill::RestagedPlace Fill::placeOf(const Restaged &R, const Code &At) const {
  const auto Layout = R.layout(P.Map.Blocks);
  RestagedPlace X;
  X.Coordinates.resize(R.Extent.size());
  std::array<Code, 3> Blocks;
  int64_t Below = R.elements(P.Map.Blocks);
  for (const Restaged::Dimension &D : Layout) {
    Below /= D.Extent;
    const Code Digit = digit(At, Below, D.Extent, &D == &Layout.front());
    X.Subscripts += "[" + Digit + "]";
    if (D.K == Restaged::Dimension::OfElement)
      X.Coordinates[D.Index] = Digit;
    else
      Blocks[D.Index] = "blockIdx." + std::string(1, Axes[D.Index]) + " * " +
                        str(P.Map.Blocks[D.Index]) + "u + " + Digit;
  }
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    if (R.PerBlock[Axis])
      X.Blocks.push_back(Blocks[Axis]);
  return X;
}

llvm::Expected<Code> Fill::restage(const ArrayPlan &A, const Restaged &R) {
  if (P.Ahead) // sent for a round before
    return "";
  const int64_t All = R.elements(P.Map.Blocks), Threads = P.Map.lanes();
  const Code At = N("at"), I = N("i");
  const RestagedPlace X = placeOf(R, At);
  Code Arguments;
  for (const std::vector<Code> &Some : {X.Blocks, X.Coordinates})
    for (const Code &C : Some)
      Arguments += (Arguments.empty() ? "" : ", ") + C;
  const int64_t Rounds = (All + Threads - 1) / Threads;
  return "#pragma unroll\nfor (int " + I + " = 0; " + I + " < " + str(Rounds) +
         "; ++" + I + ") {\nconst unsigned int " + At + " = threadIdx.x + " +
         I + " * " + str(Threads) + ";\n" +
         (All % Threads ? "if (" + At + " < " + str(All) + ")\n" : Code("")) +
         groupName(A) + X.Subscripts + " = " + groupName(A) + "_at(" +
         Arguments + ");\n}\n";
}

llvm::Expected<Code> Fill::restagedElement(const ArrayPlan &A,
                                           unsigned Access) const {
  const auto &R = *A.as<Restaged>();
  const SharedAccess &S = M.SharedAccesses[Access];
  ValueTextOptions O;
  O.Symbols = N.symbols(Names::Of::Slot);
  Code T = groupName(A);
  if (P.Ahead)
    T += "[" + N("tile") + "]";
  for (const Restaged::Dimension &D : R.layout(P.Map.Blocks)) {
    if (D.K == Restaged::Dimension::OfBlock) {
      T += "[" + N(std::string("part_") + Axes[D.Index]) + "]";
      continue;
    }
    auto X = valueText(S.IndexValues[D.Index], N, O, /*AsIndex=*/true);
    if (!X)
      return X.takeError();
    T += "[" + *X + "]";
  }
  return T;
}
