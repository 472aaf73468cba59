// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Choices.h.

#include "Choices.h"

namespace rcache::fuzz {

/// FNV-1a of the path, then the finaliser of SplitMix64 with the seed.
uint64_t Choices::random(const std::string &Path) const {
  uint64_t H = 1469598103934665603ull;
  for (unsigned char C : Path)
    H = (H ^ C) * 1099511628211ull;
  H += (Seed + 1) * 0x9e3779b97f4a7c15ull;
  H = (H ^ (H >> 30)) * 0xbf58476d1ce4e5b9ull;
  H = (H ^ (H >> 27)) * 0x94d049bb133111ebull;
  return H ^ (H >> 31);
}

unsigned Choices::pick(const std::string &Name, unsigned N) {
  std::string Path = Prefix + Name;
  unsigned V = 0;
  if (auto It = Given.find(Path); It != Given.end())
    return Asked[Path] = It->second < N ? It->second : 0;
  if (Replay) {
    auto It = Fixed.find(Path);
    V = It == Fixed.end() || It->second >= N ? 0 : It->second;
  } else
    V = static_cast<unsigned>(random(Path) % N);
  Asked[Path] = V;
  return V;
}

unsigned Choices::weighted(const std::string &Name,
                           std::initializer_list<unsigned> Weights) {
  auto N = static_cast<unsigned>(Weights.size());
  if (Replay || Given.count(Prefix + Name))
    return pick(Name, N);
  unsigned Sum = 0;
  for (unsigned W : Weights)
    Sum += W;
  std::string Path = Prefix + Name;
  auto R = static_cast<unsigned>(random(Path) % Sum);
  unsigned V = 0;
  for (unsigned W : Weights) {
    if (R < W)
      break;
    R -= W;
    ++V;
  }
  return Asked[Path] = V;
}

bool Choices::chance(const std::string &Name, unsigned Percent) {
  return weighted(Name, {100 - Percent, Percent}) == 1;
}

} // namespace rcache::fuzz
