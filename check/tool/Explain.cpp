// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is said of a launch that nobody wrote: its arguments, differences, races.

#include "Trials.h"

#include <cstdlib>
#include <cstring>

namespace rcache::check {

std::string Trials::nameOf(size_t I) const {
  return I < K.ParamNames.size() && !K.ParamNames[I].empty()
             ? K.ParamNames[I]
             : "argument " + std::to_string(I);
}

std::string Trials::describe(const Shape &S, unsigned Trial) {
  std::string Out = "grid " + dim(S.Grid) + ", block " + dim(S.Block) +
                    ", dynamic shared memory " + std::to_string(Dynamic);
  for (size_t I = 0; I < Params.size(); ++I) {
    Out += ", " + nameOf(I);
    int64_t N = 0;
    memcpy(&N, Values[I].data(), 8);
    if (Params[I].Kind == Param::Signed && Params[I].Size < 8)
      N = N << (64 - 8 * Params[I].Size) >> (64 - 8 * Params[I].Size);
    switch (Params[I].Kind) {
    case Param::Pointer:
      if (const auto &O = Place.Shared; O && O->Of == I) {
        const ptrdiff_t D = O->distance(S);
        Out += (D ? " " + std::to_string(std::abs(D)) + " elements " +
                        (D < 0 ? "in front of argument " : "behind argument ")
                  : " the same as argument ") +
               std::to_string(O->In);
      } else
        Out += " at 256k+" + std::to_string(Buffers[I].Offset % 256);
      break;
    case Param::Float: {
      float F;
      double D;
      memcpy(&F, Values[I].data(), 4);
      memcpy(&D, Values[I].data(), 8);
      Out += " = " + std::to_string(Params[I].Size == 4 ? F : D);
      break;
    }
    case Param::Signed:
    case Param::Unsigned:
    case Param::Boolean:
      Out += " = " + std::to_string(N);
      break;
    default:
      Out += " of " + std::to_string(Params[I].Size) + " bytes";
    }
  }
  return Out + " (trial " + std::to_string(Trial) + ", seed " +
         std::to_string(L.Runtime.Seed) +
         (RunsIn == Order::Reverse  ? ", threads and blocks in reverse order"
          : RunsIn == Order::Random ? ", threads in random order"
                                    : "") +
         ")";
}

void Trials::explainDifference(const Shape &S, unsigned Trial, size_t I,
                                const FirstDifference &D, const Snapshot &Want,
                                const Snapshot &Got) {
  size_t R = 0;
  for (size_t J = 0; J < I; ++J)
    R += Params[J].Kind == Param::Pointer;
  size_t E = std::max<uint64_t>(1, Params[I].ElementSize);
  unsigned Width = E == 8 || E == 4 || E == 2 || E == 1 ? E : 4;
  size_t Byte = Found[R].Low + D.Offset;
  int64_t Index = (int64_t(Byte) - int64_t(Buffers[I].Offset)) / int64_t(E);
  int64_t Word = int64_t(Byte) - (int64_t(Byte) - int64_t(Buffers[I].Offset)) % Width;
  size_t At = Word < int64_t(Found[R].Low) ? 0 : Word - Found[R].Low;
  if (At + Width > Want.Bytes.size())
    At = Want.Bytes.size() - Width;
  std::string Name = nameOf(I);
  say("rcache-check: different: %s: %s[%lld]\n  original:  %s\n  "
          "rewritten: %s%s\n  launch: %s\n",
          K.label().c_str(), Name.c_str(), (long long)Index,
          describeWord(&Want.Bytes[At], Width).c_str(),
          describeWord(&Got.Bytes[At], Width).c_str(),
          D.Kind == Difference::Undefined ? ", and it was never initialised"
                                          : "",
          describe(S, Trial).c_str());
  // Which logical thread writes it in the original?
  WriteWatch W;
  W.Address = Buffers[I].Base + Found[R].Low + At;
  restore();
  std::vector<Discovery> Regions = Found;
  discover(&Regions);
  watchWrites(&W);
  launch(A, S, Order::Forward);
  watchWrites(nullptr);
  discover(nullptr);
  if (W.Written)
    say("  the original writes it in block (%s), thread (%s)\n",
            dim(W.Block).c_str(), dim(W.Thread).c_str());
  else
    say("  the original does not write it\n");
}

/// "block (1,0,0) reads a[32], which block (0,0,0) changes".
std::string Trials::raceText(const RaceWatch &W) const {
  const auto At = reinterpret_cast<uint64_t>(W.Address);
  std::string What = "a variable";
  for (size_t I = 0; I < Params.size(); ++I) {
    const uint64_t Off = At - uint64_t(Buffers[I].Base);
    if (Params[I].Kind != Param::Pointer || Off >= BufferSize)
      continue;
    const int64_t E = std::max<int64_t>(1, int64_t(Params[I].ElementSize));
    const int64_t From = int64_t(Off) - int64_t(Buffers[I].Offset);
    What = nameOf(I) + "[" +
           std::to_string((From < 0 ? From - E + 1 : From) / E) + "]";
  }
  for (auto &[Name, G] : A.Program->program().Globals)
    if (At - uint64_t(G.Base) < G.Size)
      What = "'" + G.Name + "'";
  const bool Blocks = W.betweenBlocks();
  auto Who = [&](const RaceWatch::Party &P) {
    return Blocks ? "block (" + dim(P.Block) + ")"
                  : "thread (" + dim(P.Thread) + ")";
  };
  std::string Text =
      W.First.Writes && W.Second.Writes
          ? Who(W.First) + " and " + Who(W.Second) + " both write " + What
          : Who(W.First.Writes ? W.Second : W.First) + " reads " + What +
                ", which " + Who(W.First.Writes ? W.First : W.Second) +
                " changes";
  return Blocks ? Text
                : Text + ", in block (" + dim(W.First.Block) +
                      ") with no barrier between";
}

} // namespace rcache::check
