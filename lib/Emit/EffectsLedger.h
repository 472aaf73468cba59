// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What became of the original's effects and names in a rewritten body. While it
// is made, the text carries marks, and so says itself what was kept, left out,
// moved or repeated:
//
//     \1E3\2= ...     effect 3 of the model happens here
//     \1U7\2x         this is use 7 of a variable
//     \1S\2 ... \1Z\2   once a slot
//
// The check reads nothing but the model and the marked text: it shares nothing
// with what decided on the shape.
//
//     an effect on a variable   once, where the variable is declared for as many
//                               (a slot, or the thread when all slots agree), in
//                               its order among the variable's uses; or nowhere,
//                               and nothing uses the variable
//     any other effect          once a slot
//     a use                     resolves to its declaration, which has its value

#ifndef RCACHE_EMIT_EFFECTSLEDGER_H
#define RCACHE_EMIT_EFFECTSLEDGER_H

#include "rcache/Plan.h"
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace rcache {

class EffectsLedger {
public:
  EffectsLedger(const KernelModel &M, const Plan &P);

  /// The text of \p R with the marks of what stands in it.
  std::string copied(TextRange R) const;

  static std::string mark(char Kind, size_t Number);
  /// Marks for text that is made: `Use` in front of the name that stands for the
  /// use of a variable, `Named` where a value names one, `Declared` and
  /// `Expanded` (one element a slot) at a declaration, `Given` where its initial
  /// value is.
  static std::string use(size_t VarUse) { return mark('U', VarUse); }
  static std::string named(size_t Var) { return mark('N', Var); }
  static std::string declared(size_t Var) { return mark('D', Var); }
  static std::string expanded(size_t Var) { return mark('X', Var); }
  static std::string given(size_t Var) { return mark('I', Var); }
  /// Each effect whose token is in \p R happens here, in other words.
  std::string done(TextRange R) const;
  /// The effect that sets \p Target happens here.
  std::string set(TextRange Target) const;
  static std::string slots(const std::string &Loops);
  /// Only one of the texts is executed.
  static std::string alternatives(const std::vector<std::string> &Texts);

  static std::string withoutMarks(const std::string &Text);
  /// The variable whose mark (use or name) ends \p Text; -1: none does.
  int markedAtEnd(const std::string &Text) const;

  /// The variables that marked \p Text uses or names.
  std::set<unsigned> used(const std::string &Text) const;

  struct Finding {
    const char *Code;
    std::string Detail;
  };
  /// What of the original \p Body, marked, does not account for.
  std::optional<Finding> check(const std::string &Body) const;

private:
  const KernelModel &M;
  const Plan &P;
  std::vector<std::pair<unsigned, std::string>> Anchors; ///< by place
};

} // namespace rcache

#endif // RCACHE_EMIT_EFFECTSLEDGER_H
