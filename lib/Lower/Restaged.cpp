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

#include "Affine/IslTools.h"
#include "Fill.h"
#include "Plan/Staging.h"
#include "Queries.h"
#include <algorithm>

using namespace rcache;

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
    std::string Extents = P.Ahead ? "[" + std::to_string(Tiles) + "]" : "";
    const auto Layout = R->layout(P.Map.Blocks);
    for (const Restaged::Dimension &D : Layout)
      Extents += "[" + std::to_string(D.Extent + (&D == &Layout.back() ? R->Pad : 0)) + "]";
    if (!Dynamic)
      return "__shared__ __align__(16) " + Of.ElemType + " " + tileName(A) +
             Extents + ";\n";
    return "extern __shared__ __align__(16) unsigned char " + N("memory") +
           "[];\n" + Of.ElemType + " (&" + tileName(A) + ")" + Extents +
           " = *reinterpret_cast<" + Of.ElemType + " (*)" + Extents + ">(" +
           N("memory") + (Offset ? " + " + std::to_string(Offset) : "") + ");\n";
  }
  return "";
}

/// `At / Below % Extent`, as far as needed.
static Code digit(const Code &At, int64_t Below, int64_t Extent, bool First) {
  Code T = At;
  if (Below > 1)
    T += " / " + std::to_string(Below);
  if (!First)
    T += " % " + std::to_string(Extent);
  return T;
}

/// The dimension along which the array's elements follow one another in memory: what
/// lanes next to each other stage. The last one where none is known.
static unsigned alongMemory(const StagingFunction &F) {
  for (const StagePiece &S : F.Pieces) {
    if (S.V->K != Value::Load || S.V->Operands[0]->K != Value::Affine)
      continue;
    const isl::pw_aff Index = S.V->Operands[0]->Aff;
    const auto L = linearForm(Index, always(Index.ctx()));
    for (unsigned D = unsigned(F.ElemIds.size()); L && D-- > 0;)
      if (const auto T = L->Terms.find(F.ElemIds[D]);
          T != L->Terms.end() && T->second == 1)
        return D;
  }
  return unsigned(F.ElemIds.size()) - 1;
}

Fill::RestagedPlace Fill::placeOf(const ArrayPlan &A, const Restaged &R,
                                  const Code &At) const {
  const auto Layout = R.layout(P.Map.Blocks);
  auto Order = Layout; // of the numbers, outermost first
  const unsigned Along = alongMemory(A.Stage);
  std::stable_partition(Order.begin(), Order.end(), [&](const auto &D) {
    return D.K != Restaged::Dimension::OfElement || D.Index != Along;
  });
  RestagedPlace X;
  X.Coordinates.resize(R.Extent.size());
  std::array<Code, 3> Parts;
  int64_t Below = R.elements(P.Map.Blocks);
  for (const Restaged::Dimension &D : Order) {
    Below /= D.Extent;
    const Code Digit = digit(At, Below, D.Extent, &D == &Order.front());
    (D.K == Restaged::Dimension::OfElement ? X.Coordinates[D.Index]
                                           : Parts[D.Index]) = Digit;
  }
  for (const Restaged::Dimension &D : Layout)
    X.Subscripts += "[" + (D.K == Restaged::Dimension::OfElement
                               ? X.Coordinates[D.Index]
                               : Parts[D.Index]) +
                    "]";
  // Blocks beyond the grid's end have what the last one has; nobody reads it.
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    if (R.PerBlock[Axis]) {
      const std::string First = std::string("blockIdx.") + "xyz"[Axis] + " * " +
                                std::to_string(P.Map.Blocks[Axis]) + "u";
      X.Blocks.push_back(First + " + ::rcache::device::at_most(" + Parts[Axis] +
                         ", " + N(std::string("grid_") + "xyz"[Axis]) + " - 1u - " +
                         First + ")");
    }
  return X;
}

llvm::Expected<Code> Fill::restage(const ArrayPlan &A, const Restaged &R) {
  if (P.Ahead) // sent for a round before
    return "";
  const int64_t All = R.elements(P.Map.Blocks), Threads = P.Map.lanes();
  const Code At = N("at"), I = N("i");
  const RestagedPlace X = placeOf(A, R, At);
  Helpers.insert("at_most");
  Code Arguments;
  for (const std::vector<Code> &Some : {X.Blocks, X.Coordinates})
    for (const Code &C : Some)
      Arguments += (Arguments.empty() ? "" : ", ") + C;
  const int64_t Rounds = (All + Threads - 1) / Threads;
  const auto Loop = [](const Code &Counter, int64_t Times, const Code &Body) {
    return "#pragma unroll\nfor (int " + Counter + " = 0; " + Counter + " < " +
           std::to_string(Times) +
           "; ++" + Counter + ") {\n" + Body + "}\n";
  };
  const auto Element = [&](const Code &Round, int64_t End, const Code &Does) {
    return "const unsigned int " + At + " = threadIdx.x + " + Round + " * " +
           std::to_string(Threads) + ";\n" +
           (All < End * Threads ? "if (" + At + " < " + std::to_string(All) + ")\n" : Code("")) +
           Does + ";\n";
  };
  const Code Place = tileName(A) + X.Subscripts,
             Value = groupName(A) + "_at(" + Arguments + ")";
  const int64_t AtOnce = Restaged::atOnce(M.Arrays[A.Array].ElemBytes);
  if (!A.Stage.branches() || AtOnce == 1)
    return Loop(I, Rounds, Element(I, Rounds, Place + " = " + Value));
  const int64_t Some = std::min(Rounds, AtOnce), Groups = (Rounds + Some - 1) / Some;
  const Code K = N("k"), Loaded = groupName(A) + "_loaded",
             Round = Groups == 1 ? K : "(" + I + " * " + std::to_string(Some) + " + " + K + ")";
  const Code Group =
      M.Arrays[A.Array].ElemType + " " + Loaded + "[" + std::to_string(Some) + "];\n" +
      Loop(K, Some, Element(Round, Groups * Some, Loaded + "[" + K + "] = " + Value)) +
      Loop(K, Some, Element(Round, Groups * Some, Place + " = " + Loaded + "[" + K + "]"));
  return Groups == 1 ? "{\n" + Group + "}\n" : Loop(I, Groups, Group);
}

llvm::Expected<Code> Fill::restagedElement(const ArrayPlan &A, unsigned Access,
                                           const CxxNames &Symbols) const {
  const auto &R = *A.as<Restaged>();
  const SharedAccess &S = M.SharedAccesses[Access];
  ValueTextOptions O;
  O.Symbols = Symbols;
  Code T = tileName(A);
  if (P.Ahead)
    T += "[" + N("tile") + "]";
  for (const Restaged::Dimension &D : R.layout(P.Map.Blocks)) {
    if (D.K == Restaged::Dimension::OfBlock) {
      T += "[" + N(std::string("part_") + "xyz"[D.Index]) + "]";
      continue;
    }
    auto X = valueText(S.IndexValues[D.Index], N, O, /*AsIndex=*/true);
    if (!X)
      return X.takeError();
    T += "[" + *X + "]";
  }
  return T;
}

Code Fill::readFirst(unsigned Access) const {
  const ArrayPlan &A = *tileRead(P, Access);
  return Code::generated(
      groupName(A) + "_read" +
      (A.Reads.size() > 1 ? std::to_string(llvm::find(A.Reads, Access) - A.Reads.begin()) : ""));
}

std::string Fill::roundOf(const Stmt &Loop) const {
  return N.symbols(Names::Of::Slot)[M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id].Text;
}

llvm::Expected<Code> Fill::readLater(unsigned Access, const Stmt &Loop,
                                     const std::string &By) const {
  CxxNames Symbols = N.symbols(Names::Of::Slot);
  CxxAtom &Round = Symbols[M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id];
  Round.Text = "(" + Round.Text + " + " + By + ")";
  return restagedElement(*tileRead(P, Access), Access, Symbols);
}
