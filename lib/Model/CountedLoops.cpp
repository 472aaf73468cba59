// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counted loops: an iterator symbol with its domain. Forms of them:
//
//     for (i = a; i < b; i += 2)                     iterator i, stride 2
//     for (i = threadIdx.x; i < N; i += blockDim.x)  cooperative: each i in
//                                                    [0, N) is taken once
//     for (i = base + tx; i < n; i += grid)          i = i0 + tx, i0 uniform
//     for (i = tx; i < tx + 5; ++i)                  i = i0 + tx, 0 <= i0 < 5

#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "BuiltinVars.h"
#include "LoopFacts.h"
#include "LoopSyntax.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace clang;

namespace rcache {

struct LoopFacts::Counting {
  LoopCounter C;
  int VarId = -1;
  IntType T; ///< of the counter
  /// What the header does between rounds, one variable each.
  std::vector<const Expr *> Parts;
  /// Conditions beside the counter's own bound.
  llvm::SmallVector<const Expr *, 4> Conditions;
  llvm::SmallPtrSet<const VarDecl *, 8> Modified;
  isl::pw_aff Init, Bound, Step;
  IntType BoundType;
  std::optional<int64_t> ConstStep;
  BinaryOperatorKind Op = BO_LT; ///< counter Op bound
  bool Up = true;
  bool inclusive() const { return Op == BO_LE || Op == BO_GE; }
};

/// Finds the variable that counts, which its header alone changes, once.
bool LoopFacts::findCounter(const LoopParts &F, Counting &N) const {
  if (!F.Inc || !F.Cond)
    return false;
  // `i++, j += 2`: the counter is the one that the condition names.
  std::vector<const Expr *> &Parts = N.Parts;
  Parts = {F.Inc->IgnoreParenImpCasts()};
  while (auto *B = dyn_cast<BinaryOperator>(Parts.back())) {
    if (B->getOpcode() != BO_Comma)
      break;
    Parts.pop_back();
    Parts.push_back(B->getRHS()->IgnoreParenImpCasts());
    Parts.push_back(B->getLHS()->IgnoreParenImpCasts());
  }
  // `i < 16 && i0 + i < n`: one of them is the counter's own bound.
  conjuncts(F.Cond, N.Conditions);
  bool Found = false;
  for (auto *Matches : {matchBound, matchBoundOfSum})
    for (const Expr *P : Parts) {
      LoopCounter X;
      if (!Found && matchStep(P, X))
        for (size_t K = 0; K < N.Conditions.size() && !Found; ++K)
          if (Matches(N.Conditions[K], X)) {
            N.C = X;
            Found = true;
            N.Conditions.erase(N.Conditions.begin() + ptrdiff_t(K));
          }
    }
  N.VarId = Found ? L.varIndex(N.C.V) : -1;
  if (N.VarId < 0 || !isInt(N.C.V->getType()) || M.Vars[N.VarId].AddressTaken ||
      M.Vars[N.VarId].IsReference)
    return false;
  N.T = Ev.intType(N.C.V->getType());
  for (const clang::Stmt *B : F.Body)
    L.assignedIn(B, N.Modified);
  if (N.Modified.count(N.C.V))
    return false;
  // Modified twice in the header?
  unsigned Times = 0;
  for (const Expr *P : Parts) {
    llvm::SmallPtrSet<const VarDecl *, 4> One;
    L.assignedIn(P, One);
    Times += One.count(N.C.V);
  }
  L.assignedIn(F.Inc, N.Modified);
  return Times == 1;
}

/// Is \p S, but for \p But, the same in all rounds? Modified variables are
/// opaque by now, and their symbols are newer than the loop.
bool LoopFacts::invariant(const Counting &N, const clang::Stmt *S,
                          const VarDecl *But) const {
  if (!S || isa<UnaryExprOrTypeTraitExpr>(S)) // `sizeof(s)` reads nothing
    return true;
  if (auto *R = dyn_cast<DeclRefExpr>(S))
    if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
      if ((V != But && N.Modified.count(V)) || L.arrayIndex(V) >= 0)
        return false;
  if (auto *X = dyn_cast<Expr>(S); X && builtinVar(X))
    return true;
  return llvm::all_of(S->children(), [&](const clang::Stmt *K) {
    return invariant(N, K, But);
  });
}

/// First value, bound and step, the last two the same in all rounds.
bool LoopFacts::evaluate(Counting &N) {
  LoopCounter &C = N.C;
  auto It = Cur.Env.find(C.V);
  if (It == Cur.Env.end() || !It->second.Int)
    return false;
  auto Init = Arith.exact(*It->second.Int, It->second.Type, Cur.where());
  if (!Init)
    return false;
  if (!invariant(N, C.Bound, nullptr) ||
      (C.Step && !invariant(N, C.Step, nullptr)))
    return false;
  // These expressions are in the text once, but their accesses would be
  // recorded again with the condition: evaluate without records.
  SVal B, S;
  {
    Quietly Q(Cur);
    B = C.Bound ? Ev.eval(C.Bound) : Ev.ofConst(0, AC.IntTy);
    S = C.Step ? Ev.eval(C.Step) : Ev.ofConst(1, AC.IntTy);
  }
  if (!B.Int) { // a uniform value that is not affine: its symbol
    if (!B.V || (Ev.depends(B) & (DepShared | DepThread)))
      return false;
    Ev.asInt(B, C.Bound);
  }
  auto Bound = Arith.exact(*B.Int, B.Type, Cur.where());
  if (!Bound || !S.Int)
    return false;
  auto Step = Arith.exact(*S.Int, S.Type, Cur.where());
  if (!Step)
    return false;
  N.Init = *Init;
  N.Bound = *Bound;
  N.BoundType = B.Type;
  N.Step = *Step;
  N.ConstStep = Arith.constantValue(*Step);
  if (N.ConstStep && *N.ConstStep < 0) {
    C.Down = !C.Down;
    N.ConstStep = -*N.ConstStep;
  }
  N.Up = !C.Down;
  return (!N.ConstStep || *N.ConstStep != 0) && withoutBeside(N);
}

/// `threadIdx.x + i < n`: what stands beside the counter goes to the bound. False:
/// the sum may not be what it is in numbers.
bool LoopFacts::withoutBeside(Counting &N) {
  if (N.C.Beside.empty())
    return true;
  isl::pw_aff Beside = Arith.constant(0);
  for (const Expr *E : N.C.Beside) {
    if (!invariant(N, E, nullptr))
      return false;
    SVal V;
    {
      Quietly Q(Cur);
      V = Ev.eval(E);
    }
    if (!V.Int || (Ev.depends(V) & (DepShared | DepGlobal)))
      return false;
    auto Exact = Arith.exact(*V.Int, V.Type, Cur.where());
    if (!Exact)
      return false;
    Beside = Beside.add(*Exact);
  }
  // The last sum that is compared is less than the bound and a step. One with a sign
  // is undefined where it wraps.
  const IntType T = Ev.intType(N.C.Sum->getType());
  if (!N.Up || !N.ConstStep ||
      (!T.Signed &&
       (!Arith.proveInRange(N.Init.add(Beside), 0, T.max(), Cur.where()) ||
        !Arith.proveInRange(N.Bound, 0, T.max() - Wide(*N.ConstStep),
                            Cur.where()))))
    return false;
  N.Bound = N.Bound.sub(Beside);
  N.BoundType = {T.Bits, true};
  return true;
}

/// Does the condition end the loop where the counter reaches the bound?
bool LoopFacts::compares(Counting &N) {
  N.Op = N.C.Compare;
  if (N.Op == BO_NE) { // reached exactly only in steps of one
    if (!N.ConstStep || *N.ConstStep != 1)
      return false;
    N.Op = N.Up ? BO_LT : BO_GT;
    isl::set Ordered = N.Up ? N.Init.le_set(N.Bound) : N.Init.ge_set(N.Bound);
    if (!Arith.implied(Ordered, Cur.where()))
      return false;
  }
  if (N.Up != (N.Op == BO_LT || N.Op == BO_LE))
    return false;
  // A non-constant step is a positive number of threads, or nothing is known.
  if (!N.ConstStep &&
      (!N.Up || !Arith.proveInRange(N.Step, 1, Wide(1) << 40, Cur.where())))
    return false;
  // The comparison must be of the counter's own value: `i < n` with unsigned n
  // compares a converted i.
  if (!N.T.Signed && !N.Up) {
    // Steps of one stop before zero is passed; others, and `>=`, may wrap.
    if (N.Op != BO_GT || N.ConstStep != 1 ||
        !Arith.proveInRange(N.Bound, 0, N.T.max(), Cur.where()))
      return false;
  } else if (N.T.Signed && !N.BoundType.Signed && N.BoundType.Bits >= N.T.Bits) {
    if (!Arith.proveInRange(N.Init, 0, N.T.max(), Cur.where()))
      return false;
  }
  return llvm::all_of(N.Conditions,
                      [&](const Expr *E) { return invariant(N, E, N.C.V); });
}

/// \p L subtracted, as text: ` - threadIdx.x + 2 * (k)`.
std::string LoopFacts::less(const Linear &L) const {
  std::string Minus;
  for (auto &[Term, Coef] : L.Terms) {
    std::string T = M.Symbols[M.symbolIndex(Term)].Text;
    bool Product = StringRef(T).contains('*');
    Minus += Coef < 0 ? " + " : " - ";
    int64_t Abs = std::abs(Coef);
    Minus += Abs == 1 ? (Product ? "(" + T + ")" : T)
                      : std::to_string(Abs) + " * (" + T + ")";
  }
  if (L.Const)
    Minus += (L.Const < 0 ? " + " : " - ") + std::to_string(std::abs(L.Const));
  return Minus;
}

/// Does the text of every term mean the same in the whole loop?
bool LoopFacts::alwaysThere(const Linear &L) const {
  return llvm::all_of(L.Terms, [&](auto &T) {
    const Symbol &S = M.Symbols[M.symbolIndex(T.first)];
    return S.K <= Symbol::Param || S.Anywhere;
  });
}

/// Further conditions of counted loop \p Id, whose counter has its value for
/// the body: a round is run if they hold in it, and they did in all rounds
/// before. False: that does not follow.
bool LoopFacts::boundBy(llvm::ArrayRef<const Expr *> Conditions, unsigned Id,
                        bool Up) {
  for (const Expr *E : Conditions) {
    CondVal C;
    {
      Quietly Q(Cur);
      C = Ev.evalCond(E);
    }
    if (!C.Affine)
      return false;
    Stmt &Loop = M.Stmts[Id];
    const std::string &I = M.Symbols[size_t(Loop.IterSymbol)].Id;
    // Whoever's round it is.
    if (Loop.Cooperative)
      for (const std::string &Id : involvedIds(C.True))
        if (Id != I && (M.Symbols[size_t(M.symbolIndex(Id))].Depends &
                        (Loop.CooperativeAxes | DepShared | DepGlobal)))
          return false;
    isl::pw_aff Next = Arith.symbol(I).add(Arith.constant(Up ? 1 : -1));
    if (!Arith.implied(C.True,
                       Cur.where().intersect(substitute(C.True, {{I, Next}}))))
      return false;
    Loop.IterDomain = Loop.IterDomain.intersect(C.True);
    Loop.ConstTripCount.reset(); // at most as many
    Cur.Path.Dom = Cur.Path.Dom.intersect(C.True);
  }
  return true;
}

/// Rounds of a constant step on average over the threads of the block; nullopt: they
/// hang on more than a thread's place in it.
std::optional<double> LoopFacts::meanTrips(const Stmt &Loop) {
  const auto &Block = M.Geo.ConstBlock;
  const auto First = Arith.constantValue(Loop.Init);
  if (!Block || !First || !Loop.Step)
    return std::nullopt;
  std::vector<std::string> Order = {M.Symbols[size_t(Loop.IterSymbol)].Id};
  std::array<int64_t, 3> Threads = {1, 1, 1};
  for (const std::string &Id : involvedIds(Loop.IterDomain)) {
    const Symbol &S = M.Symbols[size_t(M.symbolIndex(Id))];
    if (Id == Order[0])
      continue;
    if (S.K != Symbol::ThreadIdx)
      return std::nullopt;
    Threads[Order.size() - 1] = (*Block)[S.Axis];
    Order.push_back(Id);
  }
  constexpr int64_t MostRounds = 64;
  const auto Goes = CompiledCondition::make(Loop.IterDomain, Order);
  int64_t All = 0;
  std::vector<int64_t> At(Order.size());
  auto Set = [&](size_t K, int64_t V) {
    if (K + 1 < At.size())
      At[K + 1] = V;
  };
  for (int64_t X = 0; X < Threads[0]; ++X)
    for (int64_t Y = 0; Y < Threads[1]; ++Y)
      for (int64_t Z = 0; Z < Threads[2]; ++Z) {
        Set(0, X), Set(1, Y), Set(2, Z);
        int64_t Round = 0;
        for (At[0] = *First; Goes.holds(At); At[0] += *Loop.Step)
          if (++Round > MostRounds)
            return std::nullopt;
        All += Round;
      }
  return double(All) / double(Threads[0] * Threads[1] * Threads[2]);
}

namespace {

/// Numbers of the largest launch that host code shows: arguments by the parameters'
/// names, block and grid; no value: it does not tell.
struct ShownLaunch {
  std::map<std::string, int64_t> Arguments;
  std::optional<std::array<int64_t, 3>> Block, Grid;

  explicit ShownLaunch(const KernelModel &M) : Block(M.Geo.ConstBlock) {
    double Most = -1;
    for (const LaunchSite &L : M.Launches) {
      const double Blocks = L.knownBlocks().value_or(0);
      if (Blocks < Most)
        continue;
      Most = Blocks;
      Arguments.clear();
      for (size_t P = 0; P < std::min(M.Params.size(), L.ArgValues.size()); ++P)
        if (!L.ArgValues[P].empty())
          Arguments[M.Params[P].Name] = *llvm::max_element(L.ArgValues[P]);
      Grid = Blocks > 0 ? L.ConstGrid : std::nullopt;
      if (!Block)
        Block = L.ConstBlock;
    }
  }

  std::optional<int64_t> of(const KernelModel &M, const Symbol &S) const {
    int64_t All = 1;
    for (const std::string &F : S.Factors) {
      const int I = M.symbolIndex(F);
      const auto V = I < 0 ? std::nullopt : of(M, M.Symbols[size_t(I)]);
      if (!V || llvm::MulOverflow(All, *V, All))
        return std::nullopt;
    }
    if (!S.Factors.empty())
      return All;
    switch (S.K) {
    case Symbol::ThreadIdx:
      return 0;
    case Symbol::BlockDim:
      return Block ? std::optional((*Block)[S.Axis]) : std::nullopt;
    case Symbol::BlockIdx:
      return Grid ? std::optional((*Grid)[S.Axis] / 2) : std::nullopt;
    case Symbol::GridDim:
      return Grid ? std::optional((*Grid)[S.Axis]) : std::nullopt;
    case Symbol::Param: {
      const auto It = Arguments.find(S.Text);
      return It == Arguments.end() ? std::nullopt : std::optional(It->second);
    }
    case Symbol::Iterator:
    case Symbol::Opaque:
      return std::nullopt;
    }
    return std::nullopt;
  }
};

} // namespace

/// Rounds of a loop by the numbers that host code shows; nullopt: it hangs on others.
std::optional<double> LoopFacts::shownTrips(const Counting &N) const {
  const ShownLaunch L(M);
  const auto Number = [&](const isl::pw_aff &V) -> std::optional<int64_t> {
    Point At;
    for (const std::string &Id : involvedIds(V)) {
      const int I = M.symbolIndex(Id);
      const auto Known = I < 0 ? std::nullopt : L.of(M, M.Symbols[size_t(I)]);
      if (!Known)
        return std::nullopt;
      At[Id] = *Known;
    }
    return rcache::evaluate(V, At);
  };
  const auto First = Number(N.Init), Last = Number(N.Bound);
  const auto Step = N.ConstStep ? N.ConstStep : Number(N.Step);
  if (!First || !Last || !Step || !*Step)
    return std::nullopt;
  const double Way = double(*Last) - double(*First);
  const double Length = (N.Up ? Way : -Way) + N.inclusive();
  return std::max(0.0, std::ceil(Length / std::abs(double(*Step))));
}

/// Rounds of a constant step: the iterator, symbol \p Number, has a stride.
void LoopFacts::describeConstantStep(Counting &N, unsigned Id, unsigned Number,
                                     bool DeclaresCounter) {
  Symbol &Iter = M.Symbols[Number];
  const isl::pw_aff I = Arith.symbol(Iter.Id);
  isl::pw_aff &Init = N.Init, &Bound = N.Bound;
  Iter.Depends = Arith.depends(Init);
  // A constant number of rounds from a first value that is none: the symbol is
  // what the counter is ahead of it.
  std::optional<Linear> Own = Arith.linear(Init);
  std::optional<int64_t> Length =
      Arith.constantValue(N.Up ? Bound.sub(Init) : Init.sub(Bound));
  isl::pw_aff OwnPart = Arith.constant(0);
  if (Own && !Own->isConst() && Length && alwaysThere(*Own) &&
      DeclaresCounter) {
    OwnPart = Init;
    Init = Arith.constant(0);
    Bound = Bound.sub(OwnPart);
    Iter.Text = "((int)(" + Iter.Text + less(*Own) + "))";
    Iter.Type = "int";
    Iter.Bits = 32;
    Iter.Signed = true;
    M.Stmts[Id].Init = Init;
    Iter.Depends = 0;
  }
  isl::set Domain;
  if (N.Up)
    Domain = I.ge_set(Init).intersect(N.inclusive() ? I.le_set(Bound)
                                                    : I.lt_set(Bound));
  else
    Domain = I.le_set(Init).intersect(N.inclusive() ? I.ge_set(Bound)
                                                    : I.gt_set(Bound));
  const int64_t Step = *N.ConstStep;
  if (Step > 1)
    Domain = Domain.intersect(I.sub(Init)
                                  .mod(isl::val(I.ctx(), std::to_string(Step)))
                                  .eq_set(Arith.constant(0)));
  Stmt &Loop = M.Stmts[Id];
  Loop.IterSymbol = static_cast<int>(Number);
  Loop.IterDomain = Domain;
  Loop.Step = N.Up ? Step : -Step;
  if (auto D = Arith.constantValue(N.Up ? Bound.sub(Init) : Init.sub(Bound))) {
    int64_t Len = *D + (N.inclusive() ? 1 : 0);
    Loop.ConstTripCount = Len <= 0 ? 0 : (Len + Step - 1) / Step;
  }
  Loop.ConstFirst = Arith.constantValue(Init);
  if (!Loop.ConstTripCount)
    Loop.MeanTripCount = meanTrips(Loop);
  Cur.Path.Dom = Cur.Path.Dom.intersect(Domain);
  Cur.Env[N.C.V] = Ev.ofInt({I.add(OwnPart), true}, N.C.V->getType());
}

/// A symbolic step: the thread's part of the first value stays, the rest moves
/// in common.
bool LoopFacts::describeSymbolicStep(const Counting &N, unsigned Id,
                                     unsigned Number) {
  std::optional<Linear> Lin = Arith.linear(N.Init);
  if (!Lin)
    return false;
  Linear Own, Common;
  Common.Const = Lin->Const;
  for (auto &[Term, Coef] : Lin->Terms)
    (M.Symbols[M.symbolIndex(Term)].Depends & DepThread ? Own : Common)
        .Terms[Term] = Coef;
  if ((Arith.depends(N.Step) & (DepThread | DepShared | DepGlobal)) ||
      (Arith.depends(N.Init) & (DepShared | DepGlobal)))
    return false;
  Symbol &Iter = M.Symbols[Number];
  const isl::pw_aff I = Arith.symbol(Iter.Id);
  isl::pw_aff OwnPart = Arith.fromLinear(Own);
  Iter.Depends =
      Arith.depends(Arith.fromLinear(Common)) | Arith.depends(N.Step);
  // Text of the common part: the counter less the thread's part.
  if (!Own.isConst())
    Iter.Text = "(" + Iter.Text + less(Own) + ")";
  isl::pw_aff Value = I.add(OwnPart);
  Stmt &Loop = M.Stmts[Id];
  Loop.IterSymbol = static_cast<int>(Number);
  isl::set Domain = I.ge_set(Arith.fromLinear(Common))
                        .intersect(N.inclusive() ? Value.le_set(N.Bound)
                                                 : Value.lt_set(N.Bound));
  Loop.IterDomain = Domain;
  // The stride is missing in Domain, but it is the same for all threads.
  Cur.Path.Dom = Cur.Path.Dom.intersect(Domain);
  Cur.Env[N.C.V] = Ev.ofInt({Value, N.T.Signed}, N.C.V->getType());
  return true;
}

/// Fills the For part of statement \p Id and sets the counter's value for the
/// body.
bool LoopFacts::describe(Counting &N, unsigned Id, bool DeclaresCounter) {
  Symbol Sym;
  Sym.K = Symbol::Iterator;
  Sym.Text = N.C.V->getNameAsString();
  Sym.Id = Ev.freshId(Sym.Text);
  Sym.Type = Ev.typeText(N.C.V->getType());
  Sym.Bits = N.T.Bits;
  Sym.Signed = N.T.Signed;
  Sym.VarId = N.VarId;

  M.Stmts[Id].IterVar = N.VarId;
  M.Stmts[Id].Init = N.Init;
  M.Stmts[Id].ShownTripCount = shownTrips(N);
  const unsigned InitDep = Arith.depends(N.Init),
                 BoundDep = Arith.depends(N.Bound);
  const unsigned Number = Arith.addSymbol(Sym);
  const std::string IterId = M.Symbols[Number].Id;
  if (N.Up && Arith.proveInRange(N.Init, 0, INT64_MAX, Cur.where()))
    Arith.countsFromZero(IterId);
  if (N.Up && (InitDep & DepThread) &&
      cooperative(M.Stmts[Id], {N.Init, true}, N.Bound, N.inclusive(), N.Step,
                  IterId)) {
    M.Symbols[Number].Depends = InitDep | BoundDep;
    M.Stmts[Id].IterSymbol = static_cast<int>(Number);
    M.Stmts[Id].Step = N.ConstStep;
    Cur.Path.Dom = Cur.Path.Dom.intersect(M.Stmts[Id].IterDomain);
    Cur.Env[N.C.V] = Ev.ofInt({Arith.symbol(IterId), true}, N.C.V->getType());
    return true;
  }
  if (!N.ConstStep)
    return describeSymbolicStep(N, Id, Number);
  describeConstantStep(N, Id, Number, DeclaresCounter);
  return true;
}

/// The variable that counts the rounds of a loop of \p F, statement \p Id of
/// the model, or null. Called with the environment of the loop's entry,
/// modified variables made opaque already; the counter still has its first
/// value.
const VarDecl *LoopFacts::countedLoop(const LoopParts &F, unsigned Id) {
  Counting N;
  if (!findCounter(F, N) || !evaluate(N) || !compares(N))
    return nullptr;
  const Stmt Uncounted = M.Stmts[Id];
  if (!describe(N, Id, F.DeclaresCounter))
    return nullptr;
  if (boundBy(N.Conditions, Id, N.Up))
    return N.C.V;
  M.Stmts[Id] = Uncounted;
  return nullptr;
}

/// Nothing counts: as if nobody had asked.
void LoopFacts::uncount(unsigned Id, const PathState &Path,
                        const Environment &Env) {
  Stmt &Loop = M.Stmts[Id];
  Loop.IterVar = Loop.IterSymbol = -1;
  Loop.IterDomain = isl::set();
  Loop.Cooperative = false;
  Cur.Path = Path;
  Cur.Env = Env;
}

const VarDecl *LoopFacts::counterOf(const ForStmt *F, unsigned Id) {
  const PathState Path = Cur.Path;
  const Environment Env = Cur.Env;
  auto *Header = dyn_cast_or_null<DeclStmt>(F->getInit());
  const VarDecl *Iter = countedLoop({F->getCond(),
                                     F->getInc(),
                                     {F->getBody()},
                                     Header && Header->isSingleDecl()},
                                    Id);
  if (!Iter)
    uncount(Id, Path, Env);
  return Iter;
}

/// A loop with barriers keeps its own model.
const VarDecl *LoopFacts::counterOf(const clang::Stmt *S, unsigned Id) {
  auto *W = dyn_cast<WhileStmt>(S);
  auto *D = dyn_cast<DoStmt>(S);
  if ((!W && !D) || (W && W->getConditionVariable()))
    return nullptr;
  const clang::Stmt *Body = W ? W->getBody() : D->getBody();
  auto *Block = dyn_cast<CompoundStmt>(Body);
  if (!Block || Block->body_empty() || leavesEarly(Body) ||
      hasBarrierCall(Body))
    return nullptr;
  LoopParts Parts;
  Parts.Cond = W ? W->getCond() : D->getCond();
  Parts.Inc = dyn_cast<Expr>(Block->body_back());
  for (const clang::Stmt *X : Block->body())
    if (X != Block->body_back())
      Parts.Body.push_back(X);
  const PathState Path = Cur.Path;
  const Environment Env = Cur.Env;
  const VarDecl *Iter = countedLoop(Parts, Id);
  if (Iter && D) {
    // Is the thread's first value one of the iterator's?
    const Stmt &Loop = M.Stmts[Id];
    const Substitution First = {
        {M.Symbols[size_t(Loop.IterSymbol)].Id, Loop.Init}};
    if (!(Loop.Cooperative || Loop.Step) ||
        !Arith.implied(substitute(Loop.IterDomain, First),
                       Path.Dom.intersect(Path.Known)))
      Iter = nullptr;
  }
  // Rounds are never written out: the step stands in the body.
  M.Stmts[Id].ConstTripCount.reset();
  if (!Iter)
    uncount(Id, Path, Env);
  return Iter;
}

} // namespace rcache
