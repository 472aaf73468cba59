// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside of IslToCxx: the printer of isl's expression trees. Arithmetic is
// flattened to sums of terms (CxxArithmetic.cpp), so that each comparison can
// put its terms and its constant on the sides where a person expects them
// (IslToCxx.cpp).

#ifndef RCACHE_LIB_AFFINE_ISLTOCXXINTERNAL_H
#define RCACHE_LIB_AFFINE_ISLTOCXXINTERNAL_H

#include "IslInternal.h"
#include "IslToCxx.h"
#include <cstdint>
#include <isl/ast.h>
#include <memory>
#include <string>
#include <vector>

namespace rcache::printing {

//===-- Pieces of text ----------------------------------------------------===//

/// C++ precedence, as far as it matters here; a larger one binds tighter.
enum Precedence {
  PrecOr,
  PrecAnd,
  PrecCompare,
  PrecShift,
  PrecAdd,
  PrecMul,
  PrecUnary,
  PrecPrimary
};

struct Piece {
  std::string Text;
  Precedence Prec = PrecPrimary;
  std::string atLeast(Precedence P) const {
    return Prec >= P ? Text : "(" + Text + ")";
  }
};

struct Term;

struct Sum {
  std::vector<Term> Terms;
  int64_t Constant = 0;
};

/// A floor division by a positive constant that a factor stands for.
struct Quotient {
  Sum Dividend;
  int64_t Divisor = 1;
  bool NonNegative = false; ///< the dividend, proved
};

/// Coefficient * Factor, the factor no sum.
struct Term {
  int64_t Coefficient = 1;
  Piece Factor;
  Nullable<isl::pw_aff> Value = {}; ///< of the factor; null: not known
  std::shared_ptr<Quotient> Q = nullptr;
  std::string Id = {}; ///< of the symbol that the factor is
};

/// One conjunct `lower <= x` or `x < upper`, or any other condition.
struct Conjunct {
  Piece Text;
  std::string Subject; ///< the term it bounds, for the order of conjuncts
  bool IsLower = false;
};

/// Why the printing was given up; left by exception within these files, since a
/// tree has one place in a hundred where that happens.
struct Refusal {
  std::string Reason;
};

[[noreturn]] inline void refuse(const std::string &Reason) {
  throw Refusal{Reason};
}

//===-- The printer -------------------------------------------------------===//

class Printer {
public:
  /// \p Context: as in \p Opts, with the domain of what is printed.
  Printer(const CxxNames &Names, const CxxOptions &Opts,
          const isl::set &Context)
      : Names(Names), Opts(Opts), Context(Context) {}

  Piece value(const isl::ast_expr &E) { return text(sum(E)); }
  Piece condition(const isl::ast_expr &E);
  Piece disjunction(const isl::ast_expr &E);

private:
  Sum sum(const isl::ast_expr &E);
  Sum operation(const isl::ast_expr &E);
  Sum division(const isl::ast_expr &E, isl_ast_expr_op_type Op);
  Sum floorQuotient(const Sum &Dividend, int64_t D);
  Sum quotient(const Sum &Dividend, int64_t D, bool NonNegative);
  Piece remainder(const Sum &Dividend, int64_t D);
  bool provedNonNegative(const Sum &S);
  void foldRemainders(Sum &S);
  Sum extremum(const isl::ast_expr &E, bool IsMin);
  Piece extremumOf(const isl::ast_expr &C, const Sum &A, const Sum &B);
  Sum selection(const isl::ast_expr &E);
  Sum normalised(const isl::ast_expr &E, isl_ast_expr_op_type Op);
  Conjunct comparison(const isl::ast_expr &E, isl_ast_expr_op_type Op);
  Conjunct atMostZero(const Sum &S);
  Conjunct equalsZero(const Sum &S);
  void conjuncts(const isl::ast_expr &E, std::vector<Conjunct> &Out);

  Piece text(Sum S);
  void log(const Sum &S) const;
  Term symbol(const isl::ast_expr &E);
  std::string constant(int64_t C);
  bool isUnsigned() const { return Opts.Type == CxxType::Unsigned; }

  const CxxNames &Names;
  const CxxOptions &Opts;
  Nullable<isl::set> Context;
};

//===-- Reading isl's trees -----------------------------------------------===//

inline unsigned argCount(const isl::ast_expr &E) {
  return detail::size(E.ctx(), isl_ast_expr_op_get_n_arg(E.get()));
}

inline isl::ast_expr arg(const isl::ast_expr &E, unsigned I) {
  return detail::own(E.ctx(), isl_ast_expr_op_get_arg(E.get(), I));
}

inline bool isOp(const isl::ast_expr &E) {
  return isl_ast_expr_get_type(E.get()) == isl_ast_expr_op;
}

int64_t intValue(const isl::ast_expr &E);
/// Products and sums of constants; refuse what does not fit 64 bits.
int64_t multiply(int64_t A, int64_t B);
int64_t plus(int64_t A, int64_t B);
/// A += Factor * B; equal terms are merged.
void addScaled(Sum &A, const Sum &B, int64_t Factor);

} // namespace rcache::printing

#endif // RCACHE_LIB_AFFINE_ISLTOCXXINTERNAL_H
