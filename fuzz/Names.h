// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names that an inner block has for itself: aliases of types and namespaces,
// using-declarations that hide something else, local structs, shadowed locals,
// constants, init-statements. They stand around one statement, which does the
// same with all of them. The names come from a small pool, so that sibling
// blocks mean different things by the same one.

#ifndef RCACHE_FUZZ_NAMES_H
#define RCACHE_FUZZ_NAMES_H

#include "Choices.h"
#include <string>
#include <utility>
#include <vector>

namespace rcache::fuzz {

class Names {
public:
  /// \p Locals: variables of type int that are in scope wherever a statement
  /// stands.
  /// \p Odd: percent of statements that get names.
  Names(Choices &C, const std::string &Kernel, const std::string &Type,
        std::vector<std::string> Locals, unsigned Odd)
      : C(C), Kernel(Kernel), Type(Type), Locals(std::move(Locals)), Odd(Odd) {}

  /// \p Pattern, a statement with `@I` and `@V` in it, of an int \p I and a
  /// value \p V of the element type. Both have no effect.
  std::string assign(const std::string &Where, const std::string &Pattern,
                     const std::string &I, const std::string &V);
  /// Any statement without a declaration and without a `break`.
  std::string around(const std::string &Where, const std::string &S);

  std::string Before;            ///< namespaces in front of the kernel
  std::vector<std::string> Used; ///< the forms that stand there

private:
  Choices &C;
  std::string Kernel, Type;
  std::vector<std::string> Locals;
  unsigned Odd;

  /// What stands around the statement, and what it says now.
  struct Block {
    std::string Open, Close, Pattern, I, V;
    std::string free(Choices &C, const std::string &Stem) const;
  };
  std::string wrapped(const std::string &Where, Block B, unsigned Depth);
  void typeAlias(Block &B);
  void hidingFunction(Block &B);
  void localStruct(Block &B);
  void shadow(Block &B);
  void initStatement(Block &B);
  void constant(Block &B);
  void once(const std::string &Mark, const std::string &Text);
};

/// \p Text with every identifier \p From replaced.
std::string replaceWord(const std::string &Text, const std::string &From,
                        const std::string &To);

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_NAMES_H
