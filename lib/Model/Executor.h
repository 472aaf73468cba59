// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic execution of one kernel body, in text order, each statement once.
//
//     state      what is known at a place: variables, path (State.h)
//     evaluator  expressions to values (Evaluator.h)
//     recorder   statements and accesses, into the model (Recorder.h)
//     loops      what counts and what moves along (LoopFacts.h)
//
// A variable that a loop changes becomes a new symbol at the loop's entry, so
// one pass is enough. At the end of an `if` the two environments are joined by
// selects. On the way every shared and global access is recorded with its index
// and its path. Statements: ExecStmt.cpp, loops: ExecLoops.cpp, Rounds.cpp,
// Carried.cpp.

#ifndef RCACHE_LIB_MODEL_EXECUTOR_H
#define RCACHE_LIB_MODEL_EXECUTOR_H

#include "ConstexprIfs.h"
#include "LoopFacts.h"
#include "Work.h"

namespace rcache {

class Executor {
public:
  Executor(clang::ASTContext &AC, KernelModel &M, FlatText &Flat,
           AffineArith &Arith, const Locals &L)
      : AC(AC), M(M), Arith(Arith), L(L), Rec(AC, M, Flat, Arith, Cur),
        Ev(AC, M, Arith, L, Cur, Rec), Loops(AC, M, Arith, L, Cur, Ev) {
    Cur.Path.Dom = Arith.universe();
    Cur.Path.Known = Arith.universe();
  }

  /// Executes \p FD's body and fills statements, accesses and symbols of the
  /// model. May throw isl::exception (budget).
  void run(const clang::FunctionDecl *FD);

private:
  using Variables = llvm::SmallPtrSetImpl<const clang::VarDecl *>;
  /// A `#pragma unroll`, and its number if it has one.
  struct UnrollHint {
    bool Given = false;
    unsigned Count = 0;
    clang::SourceLocation At;
  };

  // ExecStmt.cpp
  unsigned exec(const clang::Stmt *S, int Parent);
  UnrollHint unrollHint(const clang::AttributedStmt *A) const;
  void setPragma(unsigned Id, const UnrollHint &Unroll);
  void execKind(const clang::Stmt *S, unsigned Id);
  void execDecl(const clang::DeclStmt *D, unsigned Id);
  void execVarInit(const clang::VarDecl *V);
  SVal bindReference(const clang::VarDecl *V);
  void execCondition(const clang::DeclStmt *D, unsigned Id);
  void execIf(const clang::IfStmt *S, unsigned Id);
  void noteLeftOut(const clang::IfStmt *S, unsigned Id, unsigned ThenId);
  void execSwitch(const clang::SwitchStmt *S, unsigned Id);
  void execReturn(const clang::Stmt *S);
  void execLeaf(const clang::Expr *E, unsigned Id);
  void execBarrier(Stmt::BarrierKind K, unsigned Id);
  unsigned condDepends(const CondVal &C, const clang::Expr *E) const;
  PathState joinPaths(const PathState &Before, const PathState &A,
                      const PathState &B);

  // ExecLoops.cpp
  void execFor(const clang::ForStmt *S, unsigned Id);
  void noteNumbered(const clang::ForStmt *F, unsigned Id);
  void execForInit(const clang::Stmt *Init, unsigned Id);
  void execForCond(const clang::ForStmt *F, unsigned Id, bool Counted);
  void execForRound(const clang::ForStmt *F, unsigned Id,
                    const Variables &Modified, bool Leaves, bool Continue);
  void execWhile(const clang::Stmt *S, unsigned Id);
  void halvedInBody(const clang::Stmt *S, unsigned Id,
                    const Environment &Before);
  // Recurrences.cpp
  class Recurring;
  /// Behind loop \p Id: some threads may have returned in it.
  void noteReturns(unsigned Id);
  void havoc(const Variables &Vars);
  void havocChangedIn(const clang::Expr *Cond);
  void leaveLoop(const Variables &Vars, const Variables &Outer);

  // Rounds.cpp
  bool worthFollowing(const clang::VarDecl *V, const clang::ForStmt *F) const;
  std::optional<Environment> roundByRound(const clang::ForStmt *F, unsigned Id);
  std::optional<Environment>
  follow(const clang::ForStmt *F, unsigned Id,
         llvm::ArrayRef<const clang::VarDecl *> Worth);
  bool stillKnown(const Environment &Before,
                  llvm::ArrayRef<const clang::VarDecl *> Worth);
  void leaveRounds(const Variables &Vars, const Variables &Outer,
                   const clang::ForStmt *F, const Environment &After);
  // Carried.cpp
  class Carrying;
  void carriedVariables(const clang::ForStmt *F, unsigned Id,
                        const Environment &Before, size_t SymbolsBefore,
                        Variables &Modified, const Variables &Changed);
  void recordHeld(unsigned Id, const Variables &Changed, const Carrying &C);

  clang::ASTContext &AC;
  KernelModel &M;
  AffineArith &Arith;
  const Locals &L;

  State Cur;
  Recorder Rec;
  Evaluator Ev;
  LoopFacts Loops;
  std::optional<ConstexprIfs> Chosen; ///< of the kernel
  unsigned RoundsOfNest = 0, RoundsOfAll = 0; ///< followed so far
  Numbers Counting;                           ///< of the loops around
};

/// What follows for statements from their children, and from barriers under
/// conditions, once everything is recorded.
void summarise(KernelModel &M, AffineArith &Arith);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_EXECUTOR_H
