// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that stay in shared memory. Legal wherever the slots of a thread may
// run one after the other between two barriers (KernelFacts::mayKeep).

#include "../Counts.h"
#include "Placements.h"

using namespace rcache;

const char *rcache::nameOf(const KeptShared &) { return "shared"; }
std::string rcache::detailOf(const KeptShared &) { return ""; }
std::string rcache::summaryOf(const KeptShared &) { return "kept shared"; }
void rcache::print(llvm::raw_ostream &, const KeptShared &, const Placed &) {}
int64_t rcache::held(const KeptShared &) { return 1; }

void rcache::count(const KeptShared &, const Placed &In, double,
                   PlanCounts &K) {
  for (const SharedAccess &S : In.M.SharedAccesses) {
    if (S.Array != In.A.Array)
      continue;
    const double T = roundsOf(In.M, S.Stmt);
    if (S.K != SharedAccess::Write)
      K.SharedReads +=
          T / sharingSlots(In.M, S, In.P.Map.Factor, In.P.TapsOutside);
    if (S.K != SharedAccess::Read)
      K.SharedWrites += T;
    if (loadsToStage(In.M, S)) {
      K.GlobalLoads += T;
      K.LoadInstructions += T;
    }
  }
}

void rcache::draw(const KeptShared &, const Placed &In, ArrayPicture &Picture) {
  Picture.Words = "stays in shared memory as it was: all threads of the block fill "
                  "and read it there";
  if (In.P.slots() > 1)
    Picture.Words += ", a thread for each of its outputs";
  const auto &Extents = In.array().Extents;
  if (!In.array().Dynamic &&
      llvm::all_of(Extents, [](const auto &E) { return E && *E > 0; }))
    for (const auto &E : Extents)
      Picture.Layout.push_back({"elements", *E});
}
