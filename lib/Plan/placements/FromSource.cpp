// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads that evaluate the staging function where they stand. Legal where nothing
// that it reads may have been stored to by then (movedLoads in Legality.h) and
// the index can be written; always done for what has no window.

#include "../Counts.h"
#include "Placements.h"

using namespace rcache;

const char *rcache::nameOf(const FromSource &) { return "direct"; }
std::string rcache::detailOf(const FromSource &) { return ""; }
std::string rcache::summaryOf(const FromSource &) {
  return "read from its source";
}
void rcache::print(llvm::raw_ostream &, const FromSource &, const Placed &) {}
int64_t rcache::held(const FromSource &) { return 1; }

void rcache::count(const FromSource &, const Placed &In, double,
                   PlanCounts &K) {
  for (unsigned R : In.A.Reads) {
    K.GlobalLoads += roundsOf(In.M, In.M.SharedAccesses[R].Stmt);
    K.LoadInstructions += roundsOf(In.M, In.M.SharedAccesses[R].Stmt);
  }
}

void rcache::draw(const FromSource &, const Placed &In, ArrayPicture &Picture) {
  Picture.Words = In.A.Reads.empty()
                      ? "is written and never read: it is gone"
                      : "read from where it was staged from, each time";
}
