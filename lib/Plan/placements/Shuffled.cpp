// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Shuffled.h. Legal for blocks of one dimension whose warps are whole: all 32
// lanes take part in every shuffle.

#include "Shuffled.h"
#include "Affine/IslTools.h"
#include "Placements.h"
#include <algorithm>

using namespace rcache;

std::optional<Distribution>
rcache::distributionOf(const Window &W, const SharedArray &Array,
                       const Mapping &Map) {
  if (W.First.size() != 1 || W.Extent.size() != 1)
    return std::nullopt;
  if (Array.ElemBytes != 1 && Array.ElemBytes != 2 && Array.ElemBytes != 4 &&
      Array.ElemBytes != 8 && Array.ElemBytes != 16)
    return std::nullopt;
  const auto L =
      linearForm(W.First[0], isl::set::universe(W.First[0].domain().space()));
  if (!L)
    return std::nullopt;
  const auto It = L->Terms.find("tx");
  if (It == L->Terms.end())
    return std::nullopt;
  Distribution D;
  if (Map.Stride[0] == 32 && W.SlotSpan && W.SlotStep == 32) {
    if (It->second != 1) // element m of slot s is lane + m away
      return std::nullopt;
    D.K = Distribution::Cyclic;
    return D;
  }
  const int64_t Own = std::abs(It->second) * int64_t(Map.Factor[0]);
  if (W.SlotSpan || Map.Stride[0] != 1 || W.Extent[0] <= Own ||
      W.Extent[0] > 33 * Own)
    return std::nullopt;
  D.Chunk = static_cast<unsigned>(Own);
  D.Direction = It->second > 0 ? 1 : -1;
  return D;
}

const char *rcache::nameOf(const Shuffled &) { return "shuffle"; }

std::string rcache::detailOf(const Shuffled &S) {
  return S.D.K == Distribution::Cyclic
             ? " cyclic"
             : " chunk " + std::to_string(S.D.Chunk) +
                   (S.D.Direction < 0 ? " reversed" : "");
}

std::string rcache::summaryOf(const Shuffled &S) {
  return S.D.K == Distribution::Cyclic
             ? "round robin, shuffled"
             : "in chunks of " + std::to_string(S.D.Chunk) + ", shuffled";
}

void rcache::print(llvm::raw_ostream &OS, const Shuffled &S,
                   const Placed &In) {
  printShape(OS, S.W);
  printReads(OS, S.W.Reads, In.M);
  printInterior(OS, S.W);
}

int64_t rcache::held(const Shuffled &S) { return S.W.registers(); }

void rcache::count(const Shuffled &S, const Placed &In, double Rounds,
                   PlanCounts &K) {
  const double Registers = static_cast<double>(S.W.registers());
  const unsigned Words = wordsOf(In);
  countLoads(S.W, In, Rounds * S.D.Chunk, K);
  const double Moved = Rounds * (Registers - S.D.Chunk) * Words;
  K.Shuffles += Moved / In.P.slots();
  K.Selects += Moved / In.P.slots();
  K.Registers += static_cast<unsigned>(Registers + S.D.Chunk) * Words;
}

void rcache::draw(const Shuffled &S, const Placed &In, ArrayPicture &Picture) {
  Picture.Detail = S.D.K == Distribution::Cyclic
                       ? "round robin"
                       : "chunks of " + std::to_string(S.D.Chunk);
  Picture.Words = "registers, " + Picture.Detail +
                  "; what a lane does not own is shuffled";
  drawWindow(S.W, In, Picture, [&](PictureCell &C, int64_t M) {
    const Distribution::Home Home = S.D.homeOf(S.W, M);
    // The first of a lane's own chunk or slot is its own.
    const bool Own = S.D.K == Distribution::Cyclic ? M % S.W.SlotSpan == 0
                                                   : Home.LanesAway == 0;
    C.Source = Own ? PictureCell::Own : PictureCell::Shuffle;
    C.Distance = Home.LanesAway;
    C.FromRegister = Home.Register;
  });
}
