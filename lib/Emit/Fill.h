// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The communication part of a rewritten kernel: the staging function as a
// lambda, the windows, the exchange phases.
//
//     const auto rc_s_at = [=](const int rc_e0) -> float { ... };
//     float rc_s_w[10];
//     ...

#ifndef RCACHE_EMIT_FILL_H
#define RCACHE_EMIT_FILL_H

#include "Names.h"
#include "ValueText.h"
#include <map>
#include <set>

namespace rcache {

class Fill {
public:
  Fill(const KernelModel &M, const Plan &P, const Names &N);

  /// Text for all windows whose staging ends at barrier \p Barrier.
  llvm::Expected<std::string> atBarrier(unsigned Barrier);

  /// Text that replaces the read \p Access (index in SharedAccesses) in slot
  /// code.
  llvm::Expected<std::string> readText(unsigned Access) const;

  /// Is the read \p Access one of a window of which each slot has its own view?
  bool hasView(unsigned Access) const;

  /// How the rows of streamed windows are loaded.
  enum class RowForm {
    Words,  ///< as aligned vectors
    Inside, ///< element by element; as vectors where a single row is aligned
    Border  ///< element by element, each where the original stages it
  };
  struct StreamForm {
    RowForm Form;
    std::string Condition; ///< of variables declared at the barrier
  };
  /// The forms that the windows streamed by loop \p Loop have, in the order in
  /// which they are asked for; the last one needs no condition.
  std::vector<StreamForm> streamForms(unsigned Loop) const;
  /// The rows of all windows that loop \p Loop streams: declarations and loads
  /// of row \p Row.
  std::string streamedRow(unsigned Loop, const std::string &Row,
                          RowForm Form) const;

  const std::set<std::string> &helpers() const { return Helpers; }

private:
  const KernelModel &M;
  const Plan &P;
  const Names &N;
  mutable std::set<std::string> Helpers;
  /// Variables that say how a window's rows are loaded; "": no such form.
  struct FormNames {
    std::string Inside, Words;
  };
  /// How the rows of a streamed window are loaded, by index in P.Arrays.
  struct RowLoad {
    bool Fast = false, Scalar = false; ///< lambdas that exist
    FormNames Form;
  };
  std::map<size_t, RowLoad> RowLoads;

  /// The lines of \p Head but for declarations of numbers (`const int i = ...;`)
  /// that neither \p Body nor a later line names.
  static std::string neededLines(const std::string &Head,
                                 const std::string &Body);
  std::string base(size_t PlanIndex) const;
  bool hasViews(const ArrayPlan &A) const;
  /// Declares and fills the slots' views of a window, named base(Index).
  std::string views(const ArrayPlan &A, size_t Index) const;
  std::string groupName(const ArrayPlan &A) const;
  llvm::Expected<std::string> stageLambda(const ArrayPlan &A);
  llvm::Expected<std::string> fill(const ArrayPlan &A, size_t Index);
  llvm::Expected<std::string> reload(const ArrayPlan &A, size_t Index);
  llvm::Expected<std::string> early(const ArrayPlan &A, size_t Index);
  llvm::Expected<std::string> rows(const ArrayPlan &A, size_t Index);
  llvm::Expected<std::string> chunked(const ArrayPlan &A, size_t Index);
  llvm::Expected<std::string> cyclic(const ArrayPlan &A, size_t Index);
  /// Statements that put a run of elements from (rc_e0, ...) into an array:
  /// by vectors where Condition holds, else one by one.
  struct Run {
    std::string Condition; ///< "" : always Scalar; "true": always Fast
    std::string Fast, Scalar;
    std::string OnWord; ///< all rows are aligned; "": not asked
    std::string Words;  ///< Fast where OnWord holds
    std::string text() const;
  };
  /// \p Count registers, of which [Lo, Hi) are needed (Hi < 0: all).
  llvm::Expected<Run> run(const ArrayPlan &A, const std::string &Into,
                          int64_t Count, int64_t Lo = 0, int64_t Hi = -1);
  void nameElement(CxxNames &Symbols, const ArrayPlan &A,
                   const std::string &Register) const;
  llvm::Expected<std::string> wordTest(const ArrayPlan &A, int64_t Count,
                                       const ValueTextOptions &O) const;
  static std::string formTests(const Run &R, const std::string &W,
                               const std::string &First, FormNames &Names);
  std::string rowLambda(size_t Index, const RowLoad &Load, RowForm Form) const;
};

} // namespace rcache

#endif // RCACHE_EMIT_FILL_H
