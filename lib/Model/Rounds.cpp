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

#include "Executor.h"
#include "LoopSyntax.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

static constexpr unsigned MaxRounds = 64;        ///< of one loop
static constexpr unsigned MaxRoundsOfNest = 512; ///< with the loops inside it
static constexpr unsigned MaxRoundsOfAll = 2048; ///< of all loops of a kernel
static constexpr unsigned MaxNodes = 128;        ///< of a value

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
  if (I < 0 || !Cur.Declared.count(V) || M.Vars[I].AddressTaken ||
      M.Vars[I].IsReference || (M.Vars[I].Depends & DepShared))
    return false;
  if (V->getType()->isArrayType())
    return Ev.followed(V);
  if (isInt(V->getType()) || V->getType()->isPointerType())
    return !(M.Vars[I].Depends & DepGlobal) || plainlyAssigned(F->getBody(), V);
  return plainlyAssigned(F->getBody(), V);
}

/// Behind a round: a sum over the rounds, and what has grown too large, is
/// opaque. False: nothing that is asked for (\p Worth) is known any more.
bool Executor::stillKnown(const Environment &Before,
                          llvm::ArrayRef<const VarDecl *> Worth) {
  bool Lost = false, More = false;
  llvm::SmallPtrSet<const Value *, 32> Known;
  for (const auto &[Name, S] : Before)
    Known.insert(S.V.get());
  for (auto &[Name, S] : Cur.Env) {
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
    if (S.V->K != Value::Unknown && (Sum || nodes(*S.V, MaxNodes) >= MaxNodes))
      S = Ev.opaqueVar(Name);
    const bool Something =
        S.V && (S.V->K != Value::Unknown || Known.count(S.V.get()));
    Lost |= Counts && !Something;
    More |= Counts && Something;
  }
  return !Lost || More;
}

/// The environment behind the loop \p F, its first statement executed already,
/// which is to tell what \p Worth holds.
std::optional<Environment>
Executor::follow(const ForStmt *F, unsigned Id,
                 llvm::ArrayRef<const VarDecl *> Worth) {
  if (!Cur.Following)
    RoundsOfNest = 0;
  Trial T(Cur, Rec);
  Cur.Following = true;
  Cur.Stmt = Id;
  const PathState Entry = Cur.Path;
  for (unsigned N = 0; N <= MaxRounds; ++N) {
    const CondVal C = Ev.evalCond(F->getCond());
    if (!C.Affine)
      break;
    if (C.True.is_empty())
      return Cur.Env;
    if (!C.False.is_empty() || ++RoundsOfNest > MaxRoundsOfNest ||
        ++RoundsOfAll > MaxRoundsOfAll)
      break;
    const Environment Before = Cur.Env;
    exec(F->getBody(), static_cast<int>(Id));
    Cur.Stmt = Id;
    if (F->getInc())
      Ev.eval(F->getInc());
    Cur.Path = Entry;
    // A loop that only adds up, or leaves nothing known, is given up at once.
    if (!stillKnown(Before, Worth))
      break;
  }
  return std::nullopt;
}

/// The same for all variables that are worth it; nullopt if there is none, or
/// the rounds are not a constant number, or too many.
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
  return follow(F, Id, Worth);
}

/// Behind a loop whose rounds were followed: what it changed holds what it held
/// behind the last of them.
void Executor::leaveRounds(const Variables &Vars, const Variables &Outer,
                           const ForStmt *F, const Environment &After) {
  for (const VarDecl *V : Vars) {
    if (!Outer.count(V) || !worthFollowing(V, F))
      continue;
    for (const Cell &C : Ev.cells(V)) {
      auto It = After.find(C);
      if (It == After.end())
        Cur.Env.erase(C);
      // Other integers keep a symbol of their own.
      else if (It->second.Int || It->second.K == SVal::Pointer ||
               !isInt(C.type()) || C.Element >= 0)
        Cur.Env[C] = It->second;
    }
  }
}

} // namespace rcache
