// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Caps.h.

#include "Caps.h"
#include "LaunchShape.h"
#include <algorithm>

using namespace rcache;

namespace {

bool usesWindows(const Plan &P) {
  return std::any_of(P.Arrays.begin(), P.Arrays.end(), [](const ArrayPlan &A) {
    return !A.registerReads().empty();
  });
}

/// Elements of the largest window of \p P that is loaded.
double largestWindow(const Plan &P) {
  double Most = 0;
  for (const ArrayPlan &A : P.Arrays) {
    double N = 0;
    if (const Window *W = A.window())
      N = static_cast<double>(W->registersRead());
    else if (const auto *E = A.as<ReadEarly>())
      N = static_cast<double>(E->registers());
    Most = std::max(Most, N);
  }
  return Most;
}

/// The speed-up that is claimed of \p Speedup; the same where a rule does not
/// apply.
using Rule = double (*)(const CapInput &In, double Speedup);

double barriersOnly(const CapInput &In, double Speedup) {
  return In.P.onlyBarriers()
             ? 1 + In.Fit.BarriersClaimed * std::max(0.0, Speedup - 1)
             : Speedup;
}

double noWindows(const CapInput &In, double Speedup) {
  if (In.P.onlyBarriers() || usesWindows(In.P))
    return Speedup;
  const bool Deep = In.Block[2] > 1 && In.C.Counts.Barriers <= 1;
  const double Saved =
      In.Original.of(Resource::Exchange) - In.C.Cost.of(Resource::Exchange);
  return Speedup < 1.1 || (!Deep && Saved < 0.1 * In.Original.Clocks)
             ? std::min(Speedup, 1.0)
             : Speedup;
}

double fewWarps(const CapInput &In, double Speedup) {
  return usesWindows(In.P) && In.C.Counts.Registers > In.Fit.MostClaimed
             ? std::min(Speedup, 1.0)
             : Speedup;
}

double borders(const CapInput &In, double Speedup) {
  const double Small =
      (In.C.Counts.GridKnown ? 2 : 1) * In.Fit.SmallWindow;
  return walksThroughPlanes(In.M, In.Block) && Speedup < In.Fit.SurelyFaster &&
                 largestWindow(In.P) > Small
             ? std::min(Speedup, 1.0)
             : Speedup;
}

double smallLaunch(const CapInput &In, double Speedup) {
  return In.P.LeastThreads && In.C.Counts.GridWarps > 0 &&
                 In.C.Counts.GridWarps / In.On.Sms < In.Fit.BusyWarps
             ? std::min(Speedup, 1.0)
             : Speedup;
}

struct Cap {
  const char *Name, *Why;
  Rule Claimed;
};

constexpr Cap Caps[] = {
    {"barriers-only",
     "where nothing but barriers changes, half of the gain is claimed",
     barriersOnly},
    {"no-windows",
     "without windows, gains come from elements that serve several slots; what "
     "is predicted below ten percent, or from fewer waiting warps alone, has "
     "been wrong in both directions, except for tiles of three dimensions",
     noWindows},
    {"few-warps",
     "with so few warps the order in which the compiler takes things decides",
     fewWarps},
    {"borders-of-planes",
     "blocks live as long as the launch, and threads at a border load large "
     "windows element by element: the slowest block decides",
     borders},
    {"small-launch",
     "a launch with too few threads for the plan runs the original",
     smallLaunch},
};

} // namespace

void rcache::claim(const CapInput &In, Candidate &C) {
  C.Caps.clear();
  C.Speedup = In.Original.Clocks / C.Cost.Clocks;
  for (const Cap &Of : Caps) {
    const double Claimed = Of.Claimed(In, C.Speedup);
    if (Claimed < C.Speedup)
      C.Caps.push_back(Of.Name);
    C.Speedup = Claimed;
  }
}

const char *rcache::whyCapped(llvm::StringRef Name) {
  for (const Cap &Of : Caps)
    if (Name == Of.Name)
      return Of.Why;
  return "";
}
