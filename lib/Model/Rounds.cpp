// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short loops, round by round. Each statement is executed once, with the
// counter as a symbol, for what is recorded; but what a loop with a constant
// number of rounds leaves behind is known exactly when the rounds follow one
// another:
//
//     for (i = 3; i > 0; --i)  q[i] = q[i - 1];        q[3] is what q[2] was
//     for (i = 0; i < 4; ++i, at += plane)  q[i] = in[at];
//
// So they are tried first, and only the environment is kept. A sum over the
// rounds is not: as a staged value all its terms would be loaded for each
// element.

#include "Rounds.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

static constexpr unsigned MaxRounds = 64;        ///< of one loop
static constexpr unsigned MaxRoundsOfNest = 512; ///< with the loops inside it
static constexpr unsigned MaxRoundsOfAll = 2048; ///< of all loops of a kernel
static constexpr unsigned MaxNodes = 128;        ///< of a value

Executor::Trial::Trial(Executor &X) : X(X) {
  Declared = X.Declared;
  CurStmt = X.CurStmt;
  if (X.Trials++)
    return; // the outermost one restores the records
  Stmts = X.M.Stmts;
  Shared = X.M.SharedAccesses;
  Global = X.M.GlobalAccesses;
  Declines = X.M.Declines;
  Vars = X.M.Vars;
  Params = X.M.Params;
  Arrays = X.M.Arrays;
}

Executor::Trial::~Trial() {
  X.Declared = std::move(Declared);
  X.CurStmt = CurStmt;
  if (--X.Trials)
    return;
  X.M.Stmts = std::move(Stmts);
  X.M.SharedAccesses = std::move(Shared);
  X.M.GlobalAccesses = std::move(Global);
  X.M.Declines = std::move(Declines);
  X.M.Vars = std::move(Vars);
  X.M.Params = std::move(Params);
  X.M.Arrays = std::move(Arrays);
}

/// Nodes of \p V as a tree, at most \p Most.
static unsigned nodes(const Value &V, unsigned Most) {
  unsigned N = 1;
  for (const ValueRef &O : V.Operands) {
    if (N >= Most)
      break;
    N += nodes(*O, Most - N);
  }
  return N;
}

/// Is \p Part an operand of a computation in \p V?
static bool computedFrom(const Value &V, const Value *Part, bool Below) {
  if (&V == Part)
    return Below;
  return llvm::any_of(V.Operands, [&](const ValueRef &O) {
    return computedFrom(*O, Part, Below || V.K == Value::Op);
  });
}

/// Is \p V given a value by `=` in \p S?
static bool plainlyAssigned(const clang::Stmt *S, const VarDecl *V) {
  if (!S)
    return false;
  if (auto *B = dyn_cast<BinaryOperator>(S);
      B && B->getOpcode() == BO_Assign && rootVariable(B->getLHS()) == V)
    return true;
  return llvm::any_of(S->children(), [&](const clang::Stmt *C) {
    return plainlyAssigned(C, V);
  });
}

/// Is it worth knowing what the loop leaves in \p V? What comes from shared
/// memory cannot be expressed, sums are not wanted.
bool Executor::worthFollowing(const VarDecl *V, const ForStmt *F) const {
  const int I = L.varIndex(V);
  if (I < 0 || !Declared.count(V) || M.Vars[I].AddressTaken ||
      M.Vars[I].IsReference || (M.Vars[I].Depends & DepShared))
    return false;
  if (V->getType()->isArrayType())
    return followed(V);
  if (isInt(V->getType()) || V->getType()->isPointerType())
    return !(M.Vars[I].Depends & DepGlobal) ||
           plainlyAssigned(F->getBody(), V);
  return plainlyAssigned(F->getBody(), V);
}

/// The environment behind the loop \p F, its first statement executed already;
/// nullopt if its rounds are not a constant number, or too many.
std::optional<Environment> Executor::roundByRound(const ForStmt *F,
                                                  unsigned Id) {
  if (!F->getCond() || F->getConditionVariable() ||
      hasBarrierCall(F->getBody()) || leavesEarly(F->getBody()))
    return std::nullopt;
  llvm::SmallPtrSet<const VarDecl *, 8> Modified, Header;
  L.assignedIn(F->getBody(), Modified);
  L.assignedIn(F->getInc(), Modified);
  L.assignedIn(F->getCond(), Modified);
  if (auto *D = dyn_cast_or_null<DeclStmt>(F->getInit()))
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X))
        Header.insert(V);
  std::vector<const VarDecl *> Worth;
  for (const VarDecl *V : Modified)
    if (!Header.count(V) && worthFollowing(V, F))
      Worth.push_back(V);
  if (Worth.empty())
    return std::nullopt;
  if (!Following)
    RoundsOfNest = 0;

  const Environment Start = Env;
  std::optional<Environment> Result;
  {
    Trial T(*this);
    ++Following;
    const PathState Entry = Path;
    CurStmt = Id;
    for (unsigned N = 0; N <= MaxRounds; ++N) {
      const CondVal C = evalCond(F->getCond());
      if (!C.Affine)
        break;
      if (C.True.is_empty()) {
        Result = Env;
        break;
      }
      if (!C.False.is_empty() || ++RoundsOfNest > MaxRoundsOfNest ||
          ++RoundsOfAll > MaxRoundsOfAll)
        break;
      const Environment Before = Env;
      exec(F->getBody(), static_cast<int>(Id));
      CurStmt = Id;
      if (F->getInc())
        eval(F->getInc());
      Path = Entry;
      // A loop that only adds up, or leaves nothing known, is given up at once.
      bool Lost = false, More = false;
      llvm::SmallPtrSet<const Value *, 32> Known;
      for (const auto &[Name, S] : Before)
        Known.insert(S.V.get());
      for (auto &[Name, S] : Env) {
        const bool Counts = llvm::is_contained(Worth, Name.V);
        if (S.K != SVal::Data || !S.V) {
          More |= Counts;
          continue;
        }
        auto Old = Before.find(Name);
        if (Old != Before.end() && Old->second.V == S.V)
          continue;
        const bool Sum = Old != Before.end() && Old->second.V &&
                         computedFrom(*S.V, Old->second.V.get(), false);
        if (S.V->K != Value::Unknown &&
            (Sum || nodes(*S.V, MaxNodes) >= MaxNodes))
          S = opaqueVar(Name);
        const bool Something =
            S.V && (S.V->K != Value::Unknown || Known.count(S.V.get()));
        Lost |= Counts && !Something;
        More |= Counts && Something;
      }
      if (Lost && !More)
        break;
    }
    --Following;
    Path = Entry;
  }
  Env = Start;
  return Result;
}

/// Behind a loop whose rounds were followed: what it changed holds what it held
/// behind the last of them.
void Executor::leaveRounds(const llvm::SmallPtrSetImpl<const VarDecl *> &Vars,
                           const llvm::SmallPtrSetImpl<const VarDecl *> &Outer,
                           const ForStmt *F, const Environment &After) {
  for (const VarDecl *V : Vars) {
    if (!Outer.count(V) || !worthFollowing(V, F))
      continue;
    for (const Cell &C : cells(V)) {
      auto It = After.find(C);
      if (It == After.end())
        Env.erase(C);
      // Other integers keep a symbol of their own.
      else if (It->second.Int || It->second.K == SVal::Pointer ||
               !isInt(C.type()) || C.Element >= 0)
        Env[C] = It->second;
    }
  }
}

} // namespace rcache
