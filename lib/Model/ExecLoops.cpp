// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops. A counted loop gets an iterator symbol with its domain (LoopFacts.h);
// every other variable that a loop changes is a new symbol at the loop's entry,
// except a simple induction variable (`p += 4` once an iteration of a counted
// loop), which is written in terms of the iterator.

#include "Executor.h"
#include "LoopSyntax.h"
#include "Recurrences.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace clang;

namespace rcache {

/// Makes the variables that live here already opaque, in declaration order, so
/// that symbols are numbered the same in every run.
void Executor::havoc(const llvm::SmallPtrSetImpl<const VarDecl *> &Vars) {
  std::vector<const VarDecl *> Order;
  for (const VarDecl *V : Vars)
    if (Cur.Declared.count(V) || Cur.Env.count(V))
      Order.push_back(V);
  llvm::sort(Order, [&](const VarDecl *A, const VarDecl *B) {
    return L.varIndex(A) < L.varIndex(B);
  });
  for (const VarDecl *V : Order)
    for (const Cell &C : Ev.cells(V))
      Ev.havocVar(C);
}

/// Behind a loop: what it changed is opaque, what it declared is gone.
void Executor::leaveLoop(const Variables &Vars, const Variables &Outer) {
  llvm::SmallPtrSet<const VarDecl *, 8> Live;
  for (const VarDecl *V : Vars)
    if (Outer.count(V))
      Live.insert(V);
    else
      Ev.forget(V);
  havoc(Live);
}

/// Dependences of the conditions of break, continue and return inside \p Id: of those
/// that leave the loop that it is, and not one inside of it (\p Breaks, \p Continues:
/// such statements do).
static unsigned exitDepends(const KernelModel &M, unsigned Id, unsigned Control,
                            bool Breaks = true, bool Continues = true) {
  const Stmt &S = M.Stmts[Id];
  if (S.K == Stmt::Return || (S.K == Stmt::Break && Breaks) ||
      (S.K == Stmt::Continue && Continues))
    return Control;
  unsigned D = 0;
  for (unsigned Child : S.Children) {
    const Stmt &C = M.Stmts[Child];
    D |= exitDepends(M, Child, Control | S.CondDepends,
                     Breaks && !C.isLoop() && C.K != Stmt::Switch, Continues && !C.isLoop());
  }
  return D;
}

void Executor::noteReturns(unsigned Id) {
  for (size_t K = Id; K < M.Stmts.size(); ++K)
    if (M.Stmts[K].K == Stmt::Return) {
      Cur.Path.Exact = false;
      Value U;
      U.Type = "bool";
      U.Text = "no return in the loop before";
      U.Depends = M.Stmts[Id].CondDepends;
      Cur.Path.Guards.push_back(std::make_shared<Value>(U));
      return;
    }
}

void Executor::execForInit(const clang::Stmt *Init, unsigned Id) {
  if (auto *D = dyn_cast_or_null<DeclStmt>(Init)) {
    M.Stmts[Id].InitRange = Rec.outerRange(D->getSourceRange());
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X); V && L.varIndex(V) >= 0) {
        M.Vars[L.varIndex(V)].DeclStmt = Id;
        M.Vars[L.varIndex(V)].Scope = Id;
        execVarInit(V);
      }
  } else if (auto *E = dyn_cast_or_null<Expr>(Init)) {
    M.Stmts[Id].InitRange = Rec.range(E);
    Ev.eval(E);
  }
}

/// What the condition of a loop changes (`k-- > 0`) has in the body the value that its
/// name means there, and no longer the one that the round began with.
void Executor::havocChangedIn(const Expr *Cond) {
  llvm::SmallPtrSet<const VarDecl *, 4> Changed;
  L.assignedIn(Cond, Changed);
  havoc(Changed);
}

/// Does the condition of a loop change variables? What a round takes over from the one
/// before is then not what its body leaves.
template <typename Locals> static bool changesAny(Locals &L, const Expr *Cond) {
  llvm::SmallPtrSet<const VarDecl *, 4> Changed;
  if (Cond)
    L.assignedIn(Cond, Changed);
  return !Changed.empty();
}

void Executor::execForCond(const ForStmt *F, unsigned Id, bool Counted) {
  if (F->getCond()) {
    CondVal C = Ev.evalCond(F->getCond());
    if (C.Affine)
      M.Stmts[Id].Cond = C.True;
    M.Stmts[Id].CondDepends = condDepends(C, F->getCond());
    if (!Counted)
      Ev.assume(C, true);
    havocChangedIn(F->getCond());
  }
  // Earlier iterations decide whether there is this one, for all threads alike
  // unless the condition tells them apart.
  if (!Counted && (!F->getCond() || (M.Stmts[Id].CondDepends &
                                     (DepThread | DepShared | DepGlobal))))
    Cur.Path.Exact = false;
}

/// The body and the step of loop \p Id; \p Leaves, \p Continue: where the body
/// may be left.
void Executor::execForRound(const ForStmt *F, unsigned Id,
                            const Variables &Modified, bool Leaves,
                            bool Continue) {
  const PathState Inside = Cur.Path;
  exec(F->getBody(), static_cast<int>(Id));
  if (Leaves)
    M.Stmts[Id].CondDepends |= exitDepends(M, Id, 0);
  Cur.Path = Inside;
  if (!F->getInc())
    return;
  const unsigned Saved = Cur.Stmt;
  Cur.Stmt = Id;
  if (Continue || Leaves)
    havoc(Modified);
  Ev.eval(F->getInc());
  Cur.Stmt = Saved;
}

void Executor::noteNumbered(const ForStmt *F, unsigned Id) {
  if (const VarDecl *V = numberedCounter(F, L, AC); V && M.Stmts[Id].UnrollCount != 1)
    Counting.insert(V);
}

void Executor::execFor(const ForStmt *F, unsigned Id) {
  // `for (...)`: from the keyword to the parenthesis.
  M.Stmts[Id].HeaderRange = Rec.outerRange({F->getForLoc(), F->getRParenLoc()});
  M.Stmts[Id].IncRange = Rec.range(F->getInc());
  M.Stmts[Id].CondRange = Rec.range(F->getCond());
  const llvm::SmallPtrSet<const VarDecl *, 32> Outer = Cur.Declared;
  const llvm::SaveAndRestore<Numbers> Counted(Counting);
  noteNumbered(F, Id);
  execForInit(F->getInit(), Id);
  if (F->getConditionVariable())
    Rec.decline(DeclineCode::UnsupportedStatement,
                "a declaration in the condition of for", F->getBeginLoc());

  const std::optional<Environment> After = roundByRound(F, Id);
  const PathState Before = Cur.Path;
  llvm::SmallPtrSet<const VarDecl *, 8> Modified;
  for (const clang::Stmt *S :
       {F->getBody(), static_cast<const clang::Stmt *>(F->getInc()),
        static_cast<const clang::Stmt *>(F->getCond())})
    if (S)
      L.assignedIn(S, Modified);

  if (After && Cur.OnTrial) { // nothing else is asked for
    Ev.clobberForLoop(F->getBody());
    leaveLoop(Modified, Outer);
    return leaveRounds(Modified, Outer, F, *After);
  }

  // Which variable counts is decided with its first value still there.
  const size_t SymbolsBefore = M.Symbols.size();
  const VarDecl *Iter = Loops.counterOf(F, Id);
  SVal IterVal;
  if (Iter) {
    IterVal = Cur.Env[Iter];
    Modified.erase(Iter);
  }
  int64_t Ignored = 0;
  const VarDecl *Geometric =
      Iter || !F->getInc() ? nullptr : geometricStep(F->getInc(), Ignored, AC);
  SVal First;
  if (Geometric && Cur.Env.count(Geometric))
    First = Cur.Env[Geometric];
  Ev.clobberForLoop(F->getBody());
  Ev.clobberForLoop(F->getInc());
  Ev.clobberForLoop(F->getCond());
  bool Continue = false;
  const bool Leaves = leavesLoop(F->getBody(), Continue);
  const bool ToItsEnd = Iter && !Continue && !Leaves;
  llvm::SmallPtrSet<const VarDecl *, 8> Changed = Modified;
  const Environment EnvAtEntry = Cur.Env;
  if (ToItsEnd)
    Loops.inductionVariables(F, Id, Modified);
  havoc(Modified);
  if (Iter)
    Cur.Env[Iter] = IterVal;
  else if (Geometric)
    Loops.geometricLoop(F->getInc(), F->getBody(), Id, First);
  if (Leaves)
    Cur.Path.Exact = false;
  execForCond(F, Id, Iter);
  if (ToItsEnd)
    carriedVariables(F, Id, EnvAtEntry, SymbolsBefore, Modified, Changed);
  Recurring Integers(*this, Id);
  if (!Continue && !Leaves && hasBarrierCall(F->getBody()) && !changesAny(L, F->getCond())) {
    Integers.roundStarts(Changed, EnvAtEntry);
    Integers.findBounds(
        [&] { execForRound(F, Id, Modified, Leaves, Continue); });
  }
  execForRound(F, Id, Modified, Leaves, Continue);
  Integers.roundEnds();
  Cur.Path = Before;
  if (Leaves)
    noteReturns(Id);
  if (Iter)
    Changed.insert(Iter);
  leaveLoop(Changed, Outer);
  Integers.loopEnds();
  if (After)
    leaveRounds(Changed, Outer, F, *After);
}

/// `while (d > 0) { ...; d /= 2; }`
void Executor::halvedInBody(const clang::Stmt *S, unsigned Id,
                            const Environment &Before) {
  auto *W = dyn_cast<WhileStmt>(S);
  auto *Block = W ? dyn_cast<CompoundStmt>(W->getBody()) : nullptr;
  if (!Block || Block->body_empty() || leavesEarly(Block))
    return;
  auto *Step = dyn_cast<Expr>(Block->body_back());
  int64_t Ignored = 0;
  const VarDecl *V = Step ? geometricStep(Step, Ignored, AC) : nullptr;
  const auto First = Before.find(V);
  if (!V || First == Before.end())
    return;
  std::vector<const clang::Stmt *> Rest(Block->body_begin(),
                                        Block->body_end() - 1);
  Rest.push_back(W->getCond());
  Loops.geometricLoop(Step, Rest, Id, First->second);
}

void Executor::execWhile(const clang::Stmt *S, unsigned Id) {
  PathState Before = Cur.Path;
  llvm::SmallPtrSet<const VarDecl *, 32> Outer = Cur.Declared;
  llvm::SmallPtrSet<const VarDecl *, 8> Modified;
  L.assignedIn(S, Modified);
  const VarDecl *Iter = Loops.counterOf(S, Id);
  SVal IterVal;
  if (Iter) {
    IterVal = Cur.Env[Iter];
    Modified.erase(Iter);
  }
  Ev.clobberForLoop(S);
  const Environment EnvAtEntry = Cur.Env;
  havoc(Modified);
  if (Iter)
    Cur.Env[Iter] = IterVal;
  else
    halvedInBody(S, Id, EnvAtEntry);
  const Expr *Cond = nullptr;
  const clang::Stmt *Body = nullptr;
  bool CondFirst = true;
  if (auto *W = dyn_cast<WhileStmt>(S)) {
    Cond = W->getCond();
    Body = W->getBody();
    if (W->getConditionVariable())
      Rec.decline(DeclineCode::UnsupportedStatement,
                  "a declaration in the condition of while", S->getBeginLoc());
  } else if (auto *D = dyn_cast<DoStmt>(S)) {
    Cond = D->getCond();
    Body = D->getBody();
    CondFirst = false;
  } else {
    Body = cast<CXXForRangeStmt>(S)->getBody();
  }
  if (!Iter &&
      (!Cond || (L.depends(Cond) & (DepThread | DepShared | DepGlobal))))
    Cur.Path.Exact = false;
  auto DoCond = [&] {
    if (!Cond)
      return;
    M.Stmts[Id].CondRange = Rec.range(Cond);
    CondVal C = Ev.evalCond(Cond);
    if (C.Affine)
      M.Stmts[Id].Cond = C.True;
    M.Stmts[Id].CondDepends = C.Depends | L.depends(Cond);
    if (CondFirst && !Iter)
      Ev.assume(C, true);
    if (CondFirst)
      havocChangedIn(Cond);
  };
  if (CondFirst)
    DoCond();
  else if (Cond) // a barrier inside asks for it
    M.Stmts[Id].CondDepends = L.depends(Cond);
  PathState Inside = Cur.Path;
  bool Continue = false;
  const bool Leaves = leavesLoop(Body, Continue);
  Recurring Integers(*this, Id);
  if (!Iter && !Continue && !Leaves && hasBarrierCall(Body) && !changesAny(L, Cond)) {
    Integers.roundStarts(Modified, EnvAtEntry);
    Integers.findBounds([&] { exec(Body, Id); });
  }
  exec(Body, Id);
  Integers.roundEnds();
  if (Leaves)
    M.Stmts[Id].CondDepends |= exitDepends(M, Id, 0);
  Cur.Path = Inside;
  if (!CondFirst) {
    unsigned Saved = Cur.Stmt;
    Cur.Stmt = Id;
    DoCond();
    Cur.Stmt = Saved;
  }
  Cur.Path = Before;
  noteReturns(Id);
  if (Iter)
    Modified.insert(Iter);
  leaveLoop(Modified, Outer);
  Integers.loopEnds();
}

} // namespace rcache
