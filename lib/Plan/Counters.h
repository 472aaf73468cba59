// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all threads count alike: the kernel's loops with barriers, run with
// numbers from constants on. Says of each statement between barriers which
// values the symbols have there, one set each time that the block comes to it.
//
//     for (k = 2; k <= 256; k *= 2)        k = 2, j = 1;  k = 4, j = 2;
//       for (j = k / 2; j > 0; j /= 2)     k = 4, j = 1;  k = 8, j = 4; ...

#ifndef RCACHE_LIB_PLAN_COUNTERS_H
#define RCACHE_LIB_PLAN_COUNTERS_H

#include "Assumptions.h"

namespace rcache {

class Counters {
public:
  /// By Id. What is not known has no entry.
  using Values = std::map<std::string, int64_t>;

  /// May throw isl::exception.
  Counters(const KernelModel &M, const Assumptions &A);

  /// The values at statement \p Stmt, or at the one between barriers that it is
  /// part of: one a visit, equal ones once. (A round whose loop's end is not
  /// known is visited once more, without its counters.) Empty: not known.
  const std::vector<Values> &at(unsigned Stmt) const;
  /// The same of the symbols \p Ids alone: as many as differ.
  std::vector<Values> at(unsigned Stmt,
                         const std::vector<std::string> &Ids) const;
  /// The loop that gives \p Id its values, in its rounds or behind it; -1:
  /// none.
  int loopOf(const std::string &Id) const;
  /// Does the loop end, after so few rounds that its body may be repeated?
  bool ends(unsigned Loop) const {
    return Known.count(Loop) && !Unknown.count(Loop);
  }

private:
  const KernelModel &M;
  const Assumptions &A;
  std::vector<std::vector<Values>> Visits; ///< by statement
  std::vector<std::set<Values>> Seen;      ///< the same
  std::map<std::string, unsigned> Loops;   ///< by Id
  std::set<unsigned> Known, Unknown;
  size_t Left; ///< visits that may still be noted

  void visit(unsigned Stmt, Values &Now);
  void forget(const Stmt &Loop, Values &Now) const;
  bool run(const Stmt &Loop, Values &Now);
  /// A carried variable's value; no value: not known.
  using Carried = std::vector<std::optional<int64_t>>;
  Carried carried(const Stmt &Loop, bool First, const Values &Now) const;
  void set(const Stmt &Loop, int Stmt::Recurrence::*Symbol, const Carried &To,
           Values &Now) const;
};

/// \p V with the known values in place of their symbols.
isl::pw_aff atCounts(isl::pw_aff V, const Counters::Values &Known);
isl::set atCounts(isl::set S, const Counters::Values &Known);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_COUNTERS_H
