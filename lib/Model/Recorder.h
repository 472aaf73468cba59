// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes into the model what execution comes across: statements and accesses,
// each with the place in the kernel's text and the path of the moment.

#ifndef RCACHE_LIB_MODEL_RECORDER_H
#define RCACHE_LIB_MODEL_RECORDER_H

#include "Anchors.h"
#include "State.h"
#include "clang/AST/ASTContext.h"

namespace rcache {

/// What execution has written; symbols, which stay whatever it leads to, and
/// what is summed up at the end are not among it.
struct Records {
  std::vector<Stmt> Stmts;
  std::vector<SharedAccess> Shared;
  std::vector<GlobalAccess> Global;
  std::vector<Decline> Declines;
  std::vector<Var> Vars;
  std::vector<KernelParam> Params;
  std::vector<SharedArray> Arrays;
};

class Recorder {
public:
  Recorder(clang::ASTContext &AC, KernelModel &M, FlatText &Flat,
           AffineArith &Arith, const State &Cur)
      : AC(AC), M(M), Flat(Flat), Arith(Arith), Cur(Cur) {}

  /// Text of the kernel; empty for what stands in a called function.
  TextRange range(clang::SourceRange R) const;
  TextRange range(const clang::Stmt *S) const;
  std::string text(const clang::Expr *E) const;
  /// The same with the tokens around macros (FlatText::outerRange).
  TextRange outerRange(clang::SourceRange R) const {
    return Flat.outerRange(R).value_or(TextRange());
  }

  /// Are accesses of this place recorded?
  bool records() const { return !Cur.Calls && !Cur.Quiet; }

  unsigned newStmt(Stmt::Kind K, const clang::Stmt *Whole, clang::SourceRange R,
                   int Parent);
  /// The shared element that \p Place leads to, in the text \p E; not added yet.
  SharedAccess shared(SharedAccess::Kind K, const SVal &Place,
                      const clang::Expr *E) const;
  void add(SharedAccess A, const clang::Expr *E);
  /// Global memory, an element of type \p Type, through parameter \p Root or
  /// (-1) something unknown; a write stores what \p Rhs computes.
  void global(GlobalAccess::Kind K, int Root, const SVal &Place,
              const clang::Expr *E, const clang::Expr *Rhs,
              const std::string &Type);
  /// A selection in the text by a condition that is affine.
  void selection(const clang::ConditionalOperator *E, const isl::set &When);
  /// The address in \p P leaves what is followed, in the way \p How.
  void escape(const SVal &P, const clang::Expr *E, const std::string &How,
              DeclineCode Code = DeclineCode::EscapingArray);
  void decline(DeclineCode Code, const std::string &Detail,
               clang::SourceLocation Loc);
  /// Keeps the text of \p F's body, and of those it calls, for the prediction.
  void noteBody(const clang::FunctionDecl *F);

  /// A copy of what is written so far, and back to such a copy.
  Records written() const;
  void restore(Records R);

private:
  /// An access to the array of \p Place at this place in the kernel.
  SharedAccess here(SharedAccess::Kind K, const SVal &Place,
                    const clang::Expr *E) const;
  /// Affine indices of \p A: one a dimension, inside the array.
  void setIndex(SharedAccess &A, const SVal &Place) const;

  clang::ASTContext &AC;
  KernelModel &M;
  FlatText &Flat;
  AffineArith &Arith;
  const State &Cur;
};

/// Execution that is taken back: while it lives, what is executed changes a
/// copy of the state, and what it records is dropped with it. Symbols stay.
class Trial {
public:
  Trial(State &Cur, Recorder &Rec);
  ~Trial();
  Trial(const Trial &) = delete;
  Trial &operator=(const Trial &) = delete;

private:
  State &Cur;
  Recorder &Rec;
  State Before;
  std::optional<Records> Written; ///< none: the trial around it takes all back
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_RECORDER_H
