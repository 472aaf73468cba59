// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Delta debugging on the derivation tree: whole subtrees of answers are set to
// the simplest alternative, then single answers, then made smaller, as long as
// the kernel still fails in the same way.

#include "Campaign.h"
#include <set>

namespace rcache::fuzz {

namespace {

class Shrinker {
public:
  Shrinker(unsigned Seed, const std::string &Family, Verdict Wanted,
           const std::vector<std::string> &Options, const Tools &T,
           unsigned &Tests)
      : Name(kernelName(Seed)), Wanted(Wanted), Options(Options), T(T),
        Tests(Tests) {
    Choices C = choicesOf(Seed, Family);
    anyKernel(C, Name);
    Best = C.asked();
  }

  Answers run() {
    for (bool Progress = true; Progress;) {
      Progress = subtrees();
      Progress |= singles();
    }
    return Best;
  }

private:
  std::string Name;
  Verdict Wanted;
  const std::vector<std::string> &Options;
  const Tools &T;
  unsigned &Tests;
  Answers Best;
  std::set<Answers> Seen;

  /// Keeps \p A when its kernel fails as the first one did.
  bool attempt(Answers A) {
    Choices C(A);
    KernelText K = anyKernel(C, Name);
    A = C.asked(); // without what is no longer asked
    if (A == Best || !Seen.insert(A).second)
      return false;
    ++Tests;
    if (test({K}, Options, T, T.Folder + "/shrink")[0].V != Wanted)
      return false;
    Best = std::move(A);
    return true;
  }

  bool subtrees() {
    std::set<std::string> Prefixes;
    for (auto &[Path, Value] : Best)
      for (size_t P = Path.find('/'); P != std::string::npos;
           P = Path.find('/', P + 1))
        Prefixes.insert(Path.substr(0, P + 1));
    bool Any = false;
    for (const std::string &P : Prefixes) {
      Answers A = Best;
      for (auto &[Path, Value] : A)
        if (Path.compare(0, P.size(), P) == 0)
          Value = 0;
      Any |= attempt(std::move(A));
    }
    return Any;
  }

  bool singles() {
    bool Any = false;
    Answers Before = Best;
    for (auto &[Path, Value] : Before)
      for (unsigned V : {0u, 1u, Value / 2, Value ? Value - 1 : 0}) {
        auto It = Best.find(Path);
        if (It == Best.end() || V >= It->second)
          continue;
        Answers A = Best;
        A[Path] = V;
        if (attempt(std::move(A))) {
          Any = true;
          break;
        }
      }
    return Any;
  }
};

} // namespace

Answers shrink(unsigned Seed, const std::string &Family, Verdict Wanted,
               const std::vector<std::string> &RewriteOptions, const Tools &T,
               unsigned &Tests) {
  return Shrinker(Seed, Family, Wanted, RewriteOptions, T, Tests).run();
}

} // namespace rcache::fuzz
