// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and conditions as C++ text that a person would write:
//
//     [tx, bb] -> { [(bb + tx - 3)] }          bb + tx - 3
//     [e, n] -> { : 0 <= e < n }               0 <= e && e < n
//     [e] -> { : e mod 4 = 0 }                 e % 4 == 0
//     [g, n] -> { [(min(g, n - 1))] }          (g < n - 1 ? g : n - 1)
//     [x] -> { [(floor(x / 4))] }              x >> 2, or x / 4 when isl can
//                                              prove x >= 0 on the context
//
// The text has the value of the isl object at every point of the context at
// which that object is defined; elsewhere it has some value. Division by a
// constant is the only operation besides sums, products with constants,
// comparisons and choices: nothing in the text can trap. It wraps only if one of
// its sums does: constants are subtracted from upper bounds (`g < n - 3`), not
// added to what is bounded, and a SumLog tells which sums a launch has to be
// asked about (n near INT_MIN).

#ifndef RCACHE_LIB_AFFINE_ISLTOCXX_H
#define RCACHE_LIB_AFFINE_ISLTOCXX_H

#include "rcache/Affine.h"
#include <compare>
#include <map>
#include <set>
#include <string>

namespace rcache {

namespace printing {
class Printer;
}

/// How a symbol is written.
struct CxxAtom {
  std::string Text;
  /// The text is a name, literal, call or subscript: it needs no parentheses
  /// in any context.
  bool Primary = true;
  /// C++ type of the text; empty or equal to the result type: used as it is,
  /// else converted where it stands, before any arithmetic.
  std::string Type;

  CxxAtom() = default;
  CxxAtom(std::string Text) : Text(std::move(Text)) {}
  CxxAtom(const char *Text) : Text(Text) {}
  CxxAtom(std::string Text, bool Primary, std::string Type = "")
      : Text(std::move(Text)), Primary(Primary), Type(std::move(Type)) {}
};

/// Symbol Id -> text.
using CxxNames = std::map<std::string, CxxAtom>;

/// The type in which the text computes.
enum class CxxType { Int, LongLong, Unsigned };

struct CxxOptions {
  CxxType Type = CxxType::Int;
  /// What holds wherever the text is evaluated; null: nothing is known.
  Nullable<isl::set> Context;
  /// `min(a, b)` and `max(a, b)` instead of `(a < b ? a : b)`.
  bool MinMaxCalls = false;
};

/// A sum as it was printed: terms that are no symbols (quotients, choices) left
/// out.
struct PrintedSum {
  std::map<std::string, int64_t> Symbols; ///< Id -> coefficient
  int64_t Constant = 0;
  CxxType Type = CxxType::Int;
  auto operator<=>(const PrintedSum &) const = default;
};

/// While it lives, all sums that its thread prints: who hands the text out has
/// to see to it that none of them wraps.
class SumLog {
public:
  SumLog();
  ~SumLog();
  SumLog(const SumLog &) = delete;
  SumLog &operator=(const SumLog &) = delete;

  std::set<PrintedSum> Sums;
  /// Tells them to the log around this one too: their text is used.
  void handOn() const {
    if (Outer)
      Outer->Sums.insert(Sums.begin(), Sums.end());
  }

private:
  friend class printing::Printer;
  SumLog *Outer;
  static thread_local SumLog *Current;
};

/// A C++ expression.
struct CxxText {
  std::string Text;
  bool Primary = true; ///< needs no parentheses in any context
  /// The text, in parentheses unless it is primary.
  std::string parenthesised() const {
    return Primary ? Text : "(" + Text + ")";
  }
};

/// \p V as an expression of type \p Opts.Type. Errors: a symbol without a name,
/// a constant that the type cannot hold, a value that may be negative in a
/// division of unsigned numbers, V defined nowhere.
llvm::Expected<CxxText> toCxx(const isl::pw_aff &V, const CxxNames &Names,
                              const CxxOptions &Opts = {});

/// \p S as an expression of type bool: `true` and `false` where it is decided
/// by the context. Errors as above.
llvm::Expected<CxxText> toCxx(const isl::set &S, const CxxNames &Names,
                              const CxxOptions &Opts = {});

} // namespace rcache

#endif // RCACHE_LIB_AFFINE_ISLTOCXX_H
