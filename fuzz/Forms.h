// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ways to write the same thing in C++17 and 20: expressions of a given value,
// declarations of a variable with a given value, statements around a statement.
// Form 0 is the plain one everywhere.
//
// Most of the others do something beside it. What they do goes to variables of
// their own (never two forms to one variable, so that the order of evaluation
// does not count), which the kernel adds up into a trace: a rewritten kernel
// that loses an effect, or has it twice, leaves another trace.

#ifndef RCACHE_FUZZ_FORMS_H
#define RCACHE_FUZZ_FORMS_H

#include "Grammar.h"
#include <map>

namespace rcache::fuzz {

/// Where an expression or a statement is about to stand.
struct Place {
  bool Repeats = false; ///< it may run more than once
  bool Once = true;     ///< all threads come by once, where the trace is seen
};

class Forms {
public:
  /// \p Odd: percent of places that get another form than the plain one.
  Forms(Choices &C, const std::string &Kernel, unsigned Odd)
      : C(C), Kernel(Kernel), Odd(Odd) {}

  /// An int expression of value \p V, which has no effect and may be evaluated
  /// several times. \p Pre gets the statements that must stand in front.
  std::string integer(const std::string &Where, const std::string &V,
                      std::string &Pre, Place P = {});
  /// The same for the element type \p Type. \p Array and \p Index, if given:
  /// V is `Array[Index]`, memory.
  std::string value(const std::string &Where, const std::string &Type,
                    const std::string &V, std::string &Pre, Place P = {},
                    const std::string &Array = "",
                    const std::string &Index = "");
  /// Declares \p Name of \p Type with value \p V at the end of \p Text; what is
  /// returned names it from there on.
  std::string declare(const std::string &Where, const std::string &Type,
                      const std::string &Name, const std::string &V,
                      std::string &Text);
  /// Several of them, perhaps in one statement. \p Names become what names
  /// them.
  struct Declarator {
    std::string *Name;
    std::string V;
  };
  void declareAll(const std::string &Where, const std::string &Type,
                  const std::vector<Declarator> &D, std::string &Text);
  /// \p S, a statement without a declaration, in something that runs it once.
  std::string around(const std::string &Where, const std::string &S, Place P);
  /// An lvalue or rvalue for `Array[Index]`, an array of \p Type.
  std::string element(const std::string &Where, const std::string &Type,
                      const std::string &Array, const std::string &Index,
                      std::string &Pre, bool Write, bool IsArray = true);
  /// A condition that is \p V.
  std::string condition(const std::string &Where, const std::string &V,
                        std::string &Pre, Place P = {});

  std::string Before; ///< macros, types and functions in front of the kernel
  std::string After;  ///< behind it
  std::string Top;    ///< declarations at the top of the kernel
  std::vector<std::string> Observed; ///< int expressions for the trace
  bool UsesHits = false;             ///< an `int *hits` is counted up
  bool UsesLog = false;     ///< an `int *log`, one element a thread, is written
  std::string Thread = "0"; ///< element of the log that belongs to the thread

  std::string fresh(const std::string &Stem) { return Stem + num(++Count); }
  unsigned form(const std::string &Where, unsigned N);

private:
  Choices &C;
  std::string Kernel;
  unsigned Odd, Count = 0;
  /// Expressions that have the value of another one from here on.
  std::map<std::string, std::string> Same;

  std::string helper(const std::string &Text); ///< `$h` is its name
  /// A variable for effects, declared at the top: its name.
  std::string counter(const std::string &Init = "0",
                      const std::string &Type = "int");
};

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_FORMS_H
