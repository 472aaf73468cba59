// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be said of a loop from its header and its body's syntax: which
// variable counts, from where to where and for whom, and which variables move
// along with it. Nothing of the body is executed for it.

#ifndef RCACHE_LIB_MODEL_LOOPFACTS_H
#define RCACHE_LIB_MODEL_LOOPFACTS_H

#include "Evaluator.h"
#include "clang/AST/Stmt.h"

namespace rcache {

struct LoopCounter;

class LoopFacts {
public:
  LoopFacts(clang::ASTContext &AC, KernelModel &M, AffineArith &Arith,
            const Locals &L, State &Cur, Evaluator &Ev)
      : AC(AC), M(M), Arith(Arith), L(L), Cur(Cur), Ev(Ev) {}

  using Variables = llvm::SmallPtrSetImpl<const clang::VarDecl *>;

  /// The counter of the loop \p F, statement \p Id, which is described in the
  /// model, and has its value for the body; null: nothing counts, and nothing
  /// has changed.
  const clang::VarDecl *counterOf(const clang::ForStmt *F, unsigned Id);
  /// The same for `while (i < n) { ...; i += step; }`, and `do` when the first
  /// round is proved to be one that `while` would run.
  const clang::VarDecl *counterOf(const clang::Stmt *WhileOrDo, unsigned Id);
  /// In a counted loop whose body is always run to its end: a variable with one
  /// unconditional `v += c` a round is v0 + c * (rounds so far). Takes such
  /// variables out of \p Modified and sets them. Called with the counter's
  /// value for the body in place.
  void inductionVariables(const clang::ForStmt *F, unsigned Id,
                          Variables &Modified);
  /// A loop whose counter is halved or doubled: tells what its values are
  /// between.
  /// \p Step, behind everything of \p Body that changes something.
  void geometricLoop(const clang::Expr *Step,
                     llvm::ArrayRef<const clang::Stmt *> Body, unsigned Id,
                     SVal First);

private:
  /// What counting takes: the step and the rest of the body.
  struct LoopParts {
    const clang::Expr *Cond = nullptr, *Inc = nullptr;
    llvm::SmallVector<const clang::Stmt *, 4> Body;
    bool DeclaresCounter = false; ///< and nothing else, in its header
  };
  /// What a counted loop is made of, once that is known.
  struct Counting;

  // CountedLoops.cpp
  const clang::VarDecl *countedLoop(const LoopParts &F, unsigned Id);
  bool findCounter(const LoopParts &F, Counting &N) const;
  bool invariant(const Counting &N, const clang::Stmt *S,
                 const clang::VarDecl *But) const;
  bool evaluate(Counting &N);
  bool withoutBeside(Counting &N);
  std::optional<double> meanTrips(const Stmt &Loop);
  std::optional<double> shownTrips(const Counting &N) const;
  bool compares(Counting &N);
  bool describe(Counting &N, unsigned Id, bool DeclaresCounter);
  void describeConstantStep(Counting &N, unsigned Id, unsigned Number,
                            bool DeclaresCounter);
  bool describeSymbolicStep(const Counting &N, unsigned Id, unsigned Number);
  void uncount(unsigned Id, const PathState &Path, const Environment &Env);
  bool boundBy(llvm::ArrayRef<const clang::Expr *> Conditions, unsigned Id,
               bool Up);
  std::string less(const Linear &L) const;
  bool alwaysThere(const Linear &L) const;
  // CooperativeLoops.cpp
  bool cooperative(Stmt &Loop, const IntValue &Init, const isl::pw_aff &Bound,
                   bool Inclusive, const isl::pw_aff &Step,
                   const std::string &IterId);
  std::optional<Linear> beside(const Linear &Init, const Linear &Step,
                               const std::vector<unsigned> &Order) const;
  bool factorsAre(const std::string &Id, std::vector<std::string> Want) const;
  isl::pw_aff withConstBlock(const isl::pw_aff &A);
  // Induction.cpp
  bool sameInEachRound(const clang::Stmt *S, const Stmt &Loop,
                       const Variables &Modified) const;
  std::optional<SVal> movedBy(const LoopCounter &C, const isl::pw_aff &Rounds,
                              int64_t Step);

  clang::ASTContext &AC;
  KernelModel &M;
  AffineArith &Arith;
  const Locals &L;
  State &Cur;
  Evaluator &Ev;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_LOOPFACTS_H
