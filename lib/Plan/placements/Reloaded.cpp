// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows that each thread loads itself, and what all placements with a window
// share. Legal where findWindows (Windows.h) finds one whose staging function has
// its value at the barrier.

#include "Affine/IslTools.h"
#include "Placements.h"
#include <algorithm>
#include <sstream>

using namespace rcache;

std::string rcache::islText(const isl::pw_aff &V) {
  if (V.is_null())
    return "null";
  std::ostringstream S;
  S << V;
  return S.str();
}

std::string rcache::islText(const Nullable<isl::set> &V) {
  if (V.is_null())
    return "null";
  std::ostringstream S;
  S << V;
  return S.str();
}

void rcache::printShape(llvm::raw_ostream &OS, const Window &W) {
  if (!W.Extent.empty()) {
    OS << "    window";
    for (size_t D = 0; D < W.Extent.size(); ++D)
      OS << " " << W.Extent[D] << " from " << islText(W.First[D]);
    OS << "\n";
  }
  if (!W.Lines.empty()) {
    OS << "    lines";
    for (const auto &[Lo, Hi] : W.Lines)
      OS << " " << Lo << ".." << Hi;
    OS << "\n";
  }
}

void rcache::printReads(llvm::raw_ostream &OS, llvm::ArrayRef<WindowRead> Reads,
                        const KernelModel &M) {
  for (const WindowRead &R : Reads) {
    OS << "    read " << M.text(M.SharedAccesses[R.Access].Range) << " at";
    for (const isl::pw_aff &At : R.Register)
      OS << " " << islText(At);
    OS << "\n";
  }
}

void rcache::printInterior(llvm::raw_ostream &OS, const Window &W) {
  if (W.InteriorPiece >= 0)
    OS << "    interior " << islText(W.Interior) << " vectors of "
       << W.VectorBytes << " bytes\n";
}

unsigned rcache::wordsOf(const Placed &In) {
  return std::max(1u, In.array().ElemBytes / 4);
}

void rcache::countLoads(const Window &W, const Placed &In, double Loaded,
                        PlanCounts &K) {
  const unsigned Bytes = In.array().ElemBytes;
  const double Leaves = W.Leaves.empty() ? 1 : double(W.Leaves.size());
  const double PerVector =
      W.VectorBytes && Bytes ? std::max(1.0, double(W.VectorBytes) / Bytes) : 1;
  const double Slots = In.P.slots();
  K.GlobalLoads += Loaded * Leaves / Slots;
  K.LoadInstructions += Loaded * Leaves / PerVector / Slots;
}

/// { [tx] -> [e] } from one lane to the next, or nothing when it is not linear.
static std::optional<std::vector<int64_t>> laneStep(const Window &W,
                                                    const Plan &P) {
  std::vector<int64_t> Step;
  for (const isl::pw_aff &F : W.First) {
    auto C = linearCoefficient(
        F, "tx", P.Context.is_null() ? always(F.ctx()) : isl::set(P.Context));
    if (!C)
      return std::nullopt;
    Step.push_back(*C * P.Map.laneStep(0));
  }
  return Step;
}

void rcache::drawWindow(
    const Window &W, const Placed &In, ArrayPicture &Picture,
    llvm::function_ref<void(PictureCell &, int64_t Register)> From) {
  const auto Step = laneStep(W, In.P);
  if (W.Extent.empty() || !Step)
    return;
  Picture.LaneStep = *Step;
  Picture.Extent = W.Extent;
  std::vector<int64_t> Row(W.Extent.size(), 0);
  for (;;) {
    for (int64_t Register = 0; Register < W.Extent.back(); ++Register) {
      PictureCell C;
      C.Element = C.Register = Row;
      C.Element.back() = W.elementOf(Register);
      C.Register.back() = Register;
      From(C, Register);
      Picture.Window.push_back(std::move(C));
    }
    size_t D = Row.size() - 1;
    while (D > 0 && ++Row[D - 1] == W.Extent[D - 1])
      Row[--D] = 0;
    if (D == 0)
      return;
  }
}

void rcache::drawReloads(const Window &W, const Placed &In,
                         ArrayPicture &Picture) {
  drawWindow(W, In, Picture, [&](PictureCell &C, int64_t M) {
    C.FromRegister = M;
    const int64_t Step = Picture.LaneStep.back(), Width = std::abs(Step);
    const int64_t Within = W.SlotSpan ? M % W.SlotSpan : M;
    const bool Overlaps =
        Step < 0 ? Within + Width < W.Extent.back() : Within >= Width;
    if (Width != 0 && Overlaps)
      C.Source = PictureCell::Reload;
  });
}

//===-- Reloaded ----------------------------------------------------------===//

const char *rcache::nameOf(const Reloaded &) { return "reload"; }
std::string rcache::detailOf(const Reloaded &) { return ""; }
std::string rcache::summaryOf(const Reloaded &) { return "reloaded"; }

void rcache::print(llvm::raw_ostream &OS, const Reloaded &R,
                   const Placed &In) {
  printShape(OS, R.W);
  printReads(OS, R.W.Reads, In.M);
  printInterior(OS, R.W);
}

int64_t rcache::held(const Reloaded &R) { return R.W.registers(); }

void rcache::count(const Reloaded &R, const Placed &In, double Rounds,
                   PlanCounts &K) {
  const double Registers = static_cast<double>(R.W.registers());
  countLoads(R.W, In, Rounds * Registers, K);
  K.Registers += static_cast<unsigned>(Registers) * wordsOf(In);
}

void rcache::draw(const Reloaded &R, const Placed &In, ArrayPicture &Picture) {
  Picture.Words = "registers, each thread loads its window";
  drawReloads(R.W, In, Picture);
}
