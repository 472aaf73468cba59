// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of every placement (rcache/Plan.h). Each has a file here that
// answers: when it is legal and how it is built (functions of its own header),
// how it is printed, said, counted and drawn (the questions below). What emission
// and prediction make of it stands with them, in visitors of the same variant.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_PLACEMENTS_H
#define RCACHE_LIB_PLAN_PLACEMENTS_PLACEMENTS_H

#include "rcache/Picture.h"
#include "rcache/Plan.h"
#include "llvm/Support/raw_ostream.h"

namespace rcache {

/// An array with its placement, and the plan that it is part of.
struct Placed {
  const KernelModel &M;
  const Plan &P;
  const ArrayPlan &A;

  const SharedArray &array() const { return M.Arrays[A.Array]; }
};

/// The questions. `nameOf`: for options and reports. `detailOf`: what the
/// plan's text adds to the name. `summaryOf`: for remarks. `print`: the lines of
/// the plan's text behind the staging function. `held`: registers of a thread
/// at a time. `count`: figures per output (PlanCounts), \p Rounds being those of
/// the loops around the barrier. `draw`: words, lanes and
/// registers.
#define RCACHE_PLACEMENT(T)                                                    \
  const char *nameOf(const T &);                                               \
  std::string detailOf(const T &);                                             \
  std::string summaryOf(const T &);                                            \
  void print(llvm::raw_ostream &OS, const T &, const Placed &In);              \
  int64_t held(const T &);                                                     \
  void count(const T &, const Placed &In, double Rounds, PlanCounts &K);       \
  void draw(const T &, const Placed &In, ArrayPicture &Picture);
RCACHE_PLACEMENT(KeptShared)
RCACHE_PLACEMENT(FromSource)
RCACHE_PLACEMENT(ReadEarly)
RCACHE_PLACEMENT(Reloaded)
RCACHE_PLACEMENT(StreamedRows)
RCACHE_PLACEMENT(Shuffled)
RCACHE_PLACEMENT(Owned)
RCACHE_PLACEMENT(Restaged)
#undef RCACHE_PLACEMENT

//===-- For those with a window -------------------------------------------===//

void printShape(llvm::raw_ostream &OS, const Window &W);
void printReads(llvm::raw_ostream &OS, llvm::ArrayRef<WindowRead> Reads,
                const KernelModel &M);
void printInterior(llvm::raw_ostream &OS, const Window &W);

/// Words of an element, at least one.
unsigned wordsOf(const Placed &In);
/// The elements \p Loaded (of a thread) from global memory, as vectors where the
/// window has them; \p In's slots share them.
void countLoads(const Window &W, const Placed &In, double Loaded,
                PlanCounts &K);
/// Every register of the window; what differs is where one comes from.
void drawWindow(const Window &W, const Placed &In, ArrayPicture &Picture,
                llvm::function_ref<void(PictureCell &, int64_t Register)> From);
/// What lies beyond the step to the next lane is loaded there as well.
void drawReloads(const Window &W, const Placed &In, ArrayPicture &Picture);

/// isl's text, "null" for none.
std::string islText(const isl::pw_aff &V);
std::string islText(const Nullable<isl::set> &S);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_PLACEMENTS_H
