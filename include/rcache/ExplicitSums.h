// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel whose sums say what is rounded:
//
//     v = a * b + c * d;      ->  v = __fmaf_rn(a, b, __fmul_rn(c, d));
//
// Which product a compiler fuses with a sum hangs on what stands around it, and in a
// rewritten kernel other things do. In a text like this nothing hangs on anything. There
// are several such texts of a kernel; which one is the original is for a compiler
// to say (Options::Roundings).

#ifndef RCACHE_EXPLICITSUMS_H
#define RCACHE_EXPLICITSUMS_H

#include "rcache/WriteOut.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

/// The floating-point arithmetic of one kernel as a tree of texts; a value that
/// outlives the parse.
struct ExplicitSums {
  /// A part of the text: as it stands, with other parts in it, or arithmetic.
  struct Node {
    enum Kind { Verbatim, Product, Sum } K = Verbatim;
    /// Verbatim: texts and nodes in turn, a text first.
    std::vector<std::string> Texts;
    std::vector<unsigned> Inner;
    unsigned Left = 0, Right = 0; ///< operands, of Product and Sum
    bool Minus = false;           ///< Sum: of a difference
    bool Double = false;          ///< computed in 64 bits
    bool Negated = false;         ///< Product: with the other sign
    /// `x += a * b;`: the text of x, which is assigned to; "": it is a value.
    std::string Assigned;
    std::string Operator;         ///< as it is written, with white space
    bool Simple = false;          ///< a sign in front of the text belongs to all of it
    std::optional<unsigned> Choice; ///< Sum: which of Sums; nullopt: no product, no choice
    /// Verbatim, of a variable: the product that it was set to; 0: it is none.
    unsigned Held = 0;
    /// Product that a variable holds: variables for factors that may have another value
    /// where it is used; "": they have not.
    std::string LeftName = {}, RightName = {};
  };
  enum ChoiceKind : unsigned { Unfused, FuseLeft, FuseRight };
  /// A sum with a product, and what may become of it.
  struct Sum {
    std::vector<ChoiceKind> Choices;
    ChoiceKind Guess; ///< by the rules of docs/soundness.md
  };
  struct Place {
    unsigned Node, Offset, Length;
    std::string Name = {};    ///< of the variable, with which the place begins; "": none
    std::ptrdiff_t Lines = 0; ///< ends of lines in it
  };

  std::string Key;    ///< textKey of the model
  std::string Symbol; ///< as it is mangled
  std::string File;
  std::vector<Node> Nodes; ///< the first one is none
  std::vector<Sum> Sums;
  std::vector<Place> Places; ///< in the file, in order
  /// A function of the toolkit may end in a product: no sum is written with + or -.
  bool AllExplicit = false;

  std::vector<ChoiceKind> guesses() const;
  /// The text with one of Sum::Choices for each sum. It has as many lines as it had;
  /// without edits: that cannot be.
  std::vector<SourceEdit> edits(const std::vector<ChoiceKind> &Chosen) const;
};

/// Those of \p Kernels, of the main file; a kernel is left out where not all of its
/// products can be said so: in macros, in lambdas, in functions of the user's, of half
/// precision, of templates on types.
std::vector<ExplicitSums>
explicitSums(clang::ASTContext &AST, const std::vector<const KernelModel *> &Kernels);

} // namespace rcache

#endif // RCACHE_EXPLICITSUMS_H
