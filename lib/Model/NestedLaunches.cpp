// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch in an argument or in the configuration of another one. What is written for
// the outer one has the text of the inner one in it, so that only one can be replaced.

#include "LaunchSites.h"
#include "llvm/ADT/STLExtras.h"

namespace rcache {

void leaveNestedLaunches(LaunchTable &T) {
  std::vector<TextRange> All;
  for (const auto &[Kernel, List] : T.ByKernel)
    for (const LaunchSite &L : List)
      if (L.Editable)
        All.push_back({L.Begin, L.End});
  for (auto &[Kernel, List] : T.ByKernel)
    for (LaunchSite &L : List)
      if (L.Editable && llvm::any_of(All, [&](const TextRange &Outer) {
            return Outer.Begin <= L.Begin && L.End <= Outer.End &&
                   Outer.End - Outer.Begin > L.End - L.Begin;
          })) {
        L.Editable = false;
        L.WhyNot = "the launch stands in the text of another one";
      }
}

} // namespace rcache
