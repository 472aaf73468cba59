// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code: text of a kernel that says what it names and does. Nobody has to read
// it again to find out: each place where it uses a variable of the original, has
// one of its effects, declares something or names something generated is marked
// from the moment on at which it is copied or made.
//
//     copied from the original      x = a[g] * 2;      sets x, uses g
//     made of a value               bb + rc_e0 - 3     names bb and rc_e0
//
// How a name is written depends on where it stands (a variable with one element
// a slot means the element of the current one), so text is made of code last, in
// print().
//
// A mark is \1, a letter, a number, \2 (no source file has these characters).
// Marks stand in strings as well where these pass through a printer that knows
// none: names of symbols in lib/Affine. Letters:
//
//     U  use of a variable (number in VarUses); its name follows
//     N  a value names a variable (number in Vars); its name follows
//     G  a generated name follows
//     D  a declaration of a variable for a thread or slot; its name follows
//     X  the same with one element a slot
//     I  a variable gets its initial value
//     E  an effect happens (number in Effects)
//     K  subscripts of the current slot belong here
//
// What the printer adds around code (lib/Emit/Printer.h): S and Z begin and end
// what is done once a slot; A, B, C alternatives of which one is executed.

#ifndef RCACHE_LOWER_CODE_H
#define RCACHE_LOWER_CODE_H

#include "rcache/Model.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>
#include <utility>

namespace rcache {

class Code {
public:
  Code() = default;
  Code(const char *Text) : Marked(Text) {}
  /// \p Text may hold marks: what a printer of values made of marked names.
  Code(std::string Text) : Marked(std::move(Text)) {}

  static std::string mark(char Kind, size_t Number);
  /// Marks that stand in front of a name.
  static std::string use(size_t VarUse) { return mark('U', VarUse); }
  static std::string named(size_t Var) { return mark('N', Var); }
  static std::string declared(size_t Var) { return mark('D', Var); }
  static std::string expanded(size_t Var) { return mark('X', Var); }
  static std::string given(size_t Var) { return mark('I', Var); }
  static std::string effect(size_t Effect) { return mark('E', Effect); }
  static std::string generated(const std::string &Name) {
    return mark('G', 0) + Name;
  }
  /// Where the subscripts of the current slot belong: `[rc_s]`.
  static std::string slot() { return mark('K', 0); }

  bool empty() const { return Marked.empty(); }
  bool operator==(const Code &) const = default;
  Code &operator+=(const Code &C) {
    Marked += C.Marked;
    return *this;
  }
  friend Code operator+(Code A, const Code &B) { return A += B; }

  /// The variables that it uses or names.
  std::set<unsigned> variables(const KernelModel &M) const;
  /// Does it name something generated, \p Name in full?
  bool names(llvm::StringRef Name) const;
  /// Does the text begin so, marks aside?
  bool begins(llvm::StringRef With) const {
    return llvm::StringRef(plain(Marked)).starts_with(With);
  }
  /// Is it this text, marks aside?
  bool is(llvm::StringRef Text) const { return plain(Marked) == Text; }

  /// Where a piece of code stands, as far as that changes how names are written.
  struct Place {
    /// Has a variable (index in Vars) one element a slot?
    llvm::function_ref<bool(unsigned)> PerSlot;
    std::string Subscripts; ///< of the current slot: "[rc_sy][rc_s]"
  };
  /// The text at \p At, with the marks that tell what happens in it (U, N, D, X,
  /// I, E).
  std::string print(const KernelModel &M, const Place &At) const;

  /// \p Text without marks.
  static std::string plain(llvm::StringRef Text);

private:
  std::string Marked;
};

/// The original's text as code.
class SourceCode {
public:
  explicit SourceCode(const KernelModel &M);

  /// \p R as it stands, with what it uses, declares and does.
  Code copy(TextRange R) const;
  /// The effect that sets \p Target happens here, in other words.
  Code set(TextRange Target) const;

private:
  const KernelModel &M;
  std::vector<std::pair<unsigned, std::string>> Anchors; ///< by place
};

} // namespace rcache

#endif // RCACHE_LOWER_CODE_H
