// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivation tree of a generated program. The grammar asks named questions;
// the path of a question ("k/array0/staging") is a node of the tree, the answer
// a small number, 0 being the simplest alternative everywhere.
//
// An answer depends on the seed and on the path only, not on what was asked
// before: when a reduction changes one answer, the others stay as they were.

#ifndef RCACHE_FUZZ_CHOICES_H
#define RCACHE_FUZZ_CHOICES_H

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

namespace rcache::fuzz {

using Answers = std::map<std::string, unsigned>;

class Choices {
public:
  /// Answers from \p Seed.
  explicit Choices(uint64_t Seed) : Seed(Seed) {}
  /// Answers from \p Fixed; what is not in it gets 0.
  explicit Choices(Answers Fixed) : Replay(true), Fixed(std::move(Fixed)) {}

  /// Gives the question at \p Path this answer, whatever the seed says.
  void fix(const std::string &Path, unsigned Answer) { Given[Path] = Answer; }

  /// 0 ... \p N - 1, all alike.
  unsigned pick(const std::string &Name, unsigned N);
  /// An index into \p Weights, each as likely as its weight.
  unsigned weighted(const std::string &Name,
                    std::initializer_list<unsigned> Weights);
  /// True in \p Percent of the cases; false is the simple answer.
  bool chance(const std::string &Name, unsigned Percent);

  /// What was asked and answered, by path.
  const Answers &asked() const { return Asked; }

  /// Names the questions asked during its life: Scope S(C, "array0").
  class Scope {
  public:
    Scope(Choices &C, const std::string &Name) : C(C), Before(C.Prefix.size()) {
      C.Prefix += Name + "/";
    }
    ~Scope() { C.Prefix.resize(Before); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    Choices &C;
    size_t Before;
  };

private:
  uint64_t Seed = 0;
  bool Replay = false;
  Answers Fixed, Given, Asked;
  std::string Prefix;

  uint64_t random(const std::string &Path) const;
};

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_CHOICES_H
