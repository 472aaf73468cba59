// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of every placement (Placements.h), of owned arrays; OwnedPicture.cpp draws them.

#include "../Counts.h"
#include "Affine/IslTools.h"
#include "Owned.h"
#include "Placements.h"

using namespace rcache;

const char *rcache::nameOf(const Owned &) { return "owned"; }
std::string rcache::detailOf(const Owned &O) {
  return O.Parts > 1 ? " " + std::to_string(O.Parts) + " a thread" : "";
}
std::string rcache::summaryOf(const Owned &) { return "owned by a warp"; }

void rcache::print(llvm::raw_ostream &OS, const Owned &O, const Placed &In) {
  static const char *const Kinds[] = {"ahead by", "at", "flipped by", "gathered from",
                                      "with a bit put in at"};
  for (unsigned I = 0; I < In.M.SharedAccesses.size(); ++I) {
    const SharedAccess &S = In.M.SharedAccesses[I];
    const Owned::Fetch *F = O.fetchOf(I);
    const auto Run = O.OfRuns.find(I);
    if (S.Array != In.A.Array ||
        (!F && Run == O.OfRuns.end() && S.K == SharedAccess::Write))
      continue;
    OS << (S.K == SharedAccess::Read ? "    read `" : "    write `")
       << In.M.text(S.Range) << "` ";
    if (F)
      OS << Kinds[F->K] << " " << islText(F->By) << " in " << islText(F->Slots)
         << "\n";
    else if (Run != O.OfRuns.end())
      OS << (Run->second ? "the other of a run's pair\n" : "of a run\n");
    else
      OS << "own " << islText(O.PartOf.at(I)) << "\n";
  }
}

int64_t rcache::held(const Owned &O) { return int64_t(O.Parts); }

void rcache::count(const Owned &O, const Placed &In, double, PlanCounts &K) {
  const double Slots = In.P.slots();
  for (const Owned::Fetch &F : O.Fetches)
    K.Shuffles += F.Shuffles * wordsOf(In) / Slots;
  K.Shuffles += O.RunShuffles * wordsOf(In) / Slots;
  for (unsigned W : In.A.Writes) {
    const SharedAccess &S = In.M.SharedAccesses[W];
    if (!loadsToStage(In.M, S))
      continue;
    K.GlobalLoads += roundsOf(In.M, S.Stmt);
    double Elements = 1; // of an instruction
    for (const Plan::VectorRead &R : In.P.VectorReads)
      if (const GlobalAccess &G = In.M.GlobalAccesses[R.Access];
          S.StoredRange.contains(G.Range))
        Elements = double(R.Bytes) / G.ElemBytes;
    K.LoadInstructions += roundsOf(In.M, S.Stmt) / Elements;
  }
  K.Registers += static_cast<unsigned>(In.P.slots() * O.Parts * wordsOf(In));
}
