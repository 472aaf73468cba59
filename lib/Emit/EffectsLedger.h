// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What became of the original's effects and names in a rewritten body. Its text
// carries marks (Lower/Code.h, Printer.h), and so says itself what was kept,
// left out, moved or repeated:
//
//     \1E3\2= ...     effect 3 of the model happens here
//     \1U7\2x         this is use 7 of a variable
//     \1S0\2 ... \1Z0\2   once a slot
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
//     an array that left shared memory   is not named

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
  EffectsLedger(const KernelModel &M, const Plan &P) : M(M), P(P) {}

  struct Finding {
    DeclineCode Code;
    std::string Detail;
  };
  /// What of the original \p Body, marked, does not account for.
  std::optional<Finding> check(const std::string &Body) const;

private:
  const KernelModel &M;
  const Plan &P;
};

} // namespace rcache

#endif // RCACHE_EMIT_EFFECTSLEDGER_H
