// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Gathered.h.

#include "Gathered.h"
#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

std::optional<Gathers> rcache::gathersOf(const isl::pw_aff &Element,
                                         const isl::set &Domain,
                                         int64_t Threads) {
  std::vector<std::string> Others = involvedIds(Domain);
  llvm::erase(Others, "tx");
  if (llvm::any_of(involvedIds(Element),
                   [](const std::string &Id) { return Id != "tx"; }))
    return std::nullopt;
  const auto Uses = CompiledCondition::make(projectOut(Domain, Others), {"tx"});
  const auto Is = CompiledValue::make(Element, {"tx"});
  Gathers G;
  for (int64_t First = 0; First < Threads; First += 32) {
    const auto Front = Is.at({First}), Back = Is.at({First + 31});
    if (!Front || !Back)
      return std::nullopt;
    // As the device function has it: those that are there.
    const int64_t Low = std::max<int64_t>(std::min(*Front, *Back) >> 5, 0),
                  High = std::max(*Front, *Back) >> 5;
    bool Any = false;
    for (int64_t T = First; T < First + 32; ++T) {
      if (!Uses.holds({T}))
        continue;
      const auto E = Is.at({T});
      if (!E || *E < 0 || *E >> 5 < Low || *E >> 5 > High)
        return std::nullopt;
      G.Elements = std::max(G.Elements, *E + 1);
      Any = true;
    }
    if (Any)
      G.Registers += High - Low + 1;
  }
  return G;
}
