// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops. A counted loop gets an iterator symbol with its domain; every other
// variable that a loop changes is a new symbol at the loop's entry, except a
// simple induction variable (`p += 4` once an iteration of a counted loop),
// which is written in terms of the iterator. Forms of counted loops:
//
//     for (i = a; i < b; i += 2)                     iterator i, stride 2
//     for (i = threadIdx.x; i < N; i += blockDim.x)  cooperative: each i in
//                                                    [0, N) is taken once
//     for (i = base + tx; i < n; i += grid)          i = i0 + tx, i0 uniform
//     for (i = tx; i < tx + 5; ++i)                  i = i0 + tx, 0 <= i0 < 5

#include "Affine/IslTools.h"
#include "BuiltinVars.h"
#include "Executor.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

void Executor::havocVar(const Cell &C) { Env[C] = opaqueVar(C); }

/// Makes the variables that live here already opaque, in declaration order, so
/// that symbols are numbered the same in every run.
void Executor::havoc(const llvm::SmallPtrSetImpl<const VarDecl *> &Vars) {
  std::vector<const VarDecl *> Order;
  for (const VarDecl *V : Vars)
    if (Declared.count(V) || Env.count(V))
      Order.push_back(V);
  llvm::sort(Order, [&](const VarDecl *A, const VarDecl *B) {
    return L.varIndex(A) < L.varIndex(B);
  });
  for (const VarDecl *V : Order)
    for (const Cell &C : cells(V))
      havocVar(C);
}

/// Behind a loop: what it changed is opaque, what it declared is gone.
void Executor::leaveLoop(const llvm::SmallPtrSetImpl<const VarDecl *> &Vars,
                         const llvm::SmallPtrSetImpl<const VarDecl *> &Outer) {
  llvm::SmallPtrSet<const VarDecl *, 8> Live;
  for (const VarDecl *V : Vars)
    if (Outer.count(V))
      Live.insert(V);
    else
      forget(V);
  havoc(Live);
}

namespace {

/// Header of a loop that counts one variable.
struct Counter {
  const VarDecl *V = nullptr;
  const Expr *Bound = nullptr;
  BinaryOperatorKind Compare = BO_LT; ///< V Compare Bound
  const Expr *Step = nullptr;         ///< null: 1
  bool Down = false;
};

const VarDecl *variable(const Expr *E) {
  auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  return R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
}

/// `++v`, `v += c`, `v = v + c`: v and the step.
bool matchStep(const Expr *Inc, Counter &C) {
  Inc = Inc->IgnoreParenImpCasts();
  if (auto *U = dyn_cast<UnaryOperator>(Inc);
      U && U->isIncrementDecrementOp()) {
    C.V = variable(U->getSubExpr());
    C.Down = U->isDecrementOp();
    return C.V;
  }
  auto *B = dyn_cast<BinaryOperator>(Inc);
  if (!B)
    return false;
  if (B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign) {
    C.V = variable(B->getLHS());
    C.Step = B->getRHS();
    C.Down = B->getOpcode() == BO_SubAssign;
    return C.V;
  }
  if (B->getOpcode() != BO_Assign)
    return false;
  C.V = variable(B->getLHS());
  auto *Sum = dyn_cast<BinaryOperator>(B->getRHS()->IgnoreParenImpCasts());
  if (!C.V || !Sum ||
      (Sum->getOpcode() != BO_Add && Sum->getOpcode() != BO_Sub))
    return false;
  C.Down = Sum->getOpcode() == BO_Sub;
  if (variable(Sum->getLHS()) == C.V)
    C.Step = Sum->getRHS();
  else if (variable(Sum->getRHS()) == C.V && !C.Down)
    C.Step = Sum->getLHS();
  return C.Step;
}

bool matchBound(const Expr *Cond, Counter &C) {
  auto *B = dyn_cast<BinaryOperator>(Cond->IgnoreParenImpCasts());
  if (!B || !B->isComparisonOp() || B->getOpcode() == BO_EQ)
    return false;
  if (variable(B->getLHS()) == C.V) {
    C.Bound = B->getRHS();
    C.Compare = B->getOpcode();
    return true;
  }
  if (variable(B->getRHS()) == C.V) {
    C.Bound = B->getLHS();
    C.Compare = BinaryOperator::reverseComparisonOp(B->getOpcode());
    return true;
  }
  return false;
}

/// What stands between the `&&` of \p Cond.
void conjuncts(const Expr *Cond, llvm::SmallVectorImpl<const Expr *> &Out) {
  auto *B = dyn_cast<BinaryOperator>(Cond->IgnoreParenImpCasts());
  if (B && B->getOpcode() == BO_LAnd) {
    conjuncts(B->getLHS(), Out);
    conjuncts(B->getRHS(), Out);
  } else {
    Out.push_back(Cond);
  }
}

} // namespace

/// \p A with blockDim replaced by the block size of all launches, if known.
isl::pw_aff Executor::withConstBlock(const isl::pw_aff &A) {
  std::optional<Linear> Lin = Arith.linear(A);
  if (!Lin || !M.Geo.ConstBlock)
    return A;
  Linear R;
  R.Const = Lin->Const;
  for (auto &[Id, C] : Lin->Terms) {
    int S = M.symbolIndex(Id);
    std::vector<std::string> Factors = M.Symbols[S].Factors;
    if (Factors.empty())
      Factors.push_back(Id);
    int64_t Coefficient = C;
    std::vector<std::string> Left;
    for (const std::string &F : Factors) {
      const Symbol &X = M.Symbols[M.symbolIndex(F)];
      if (X.K == Symbol::BlockDim)
        Coefficient *= (*M.Geo.ConstBlock)[X.Axis];
      else
        Left.push_back(F);
    }
    if (Left.empty())
      R.Const += Coefficient;
    else if (Left.size() == 1)
      R.Terms[Left[0]] += Coefficient;
    else
      R.Terms[Id] += C; // a product that stays one
  }
  std::erase_if(R.Terms, [](auto &T) { return T.second == 0; });
  return Arith.fromLinear(R);
}

/// Init = linear thread id of some axes + uniform, Step = their number of
/// threads: then each value of the range is taken by exactly one of them.
bool Executor::cooperative(Stmt &Loop, const IntValue &InitV,
                           const isl::pw_aff &Bound, bool Inclusive,
                           const isl::pw_aff &Step, const std::string &IterId) {
  // All threads have to be here: behind an early return or inside a condition
  // some values would be left out.
  unsigned Missing = Arith.depends(Path.Dom);
  for (const ValueRef &G : Path.Guards)
    Missing |= G->Depends;
  auto Try = [&](const isl::pw_aff &Init, const isl::pw_aff &St) {
    std::optional<Linear> I = Arith.linear(Init), S = Arith.linear(St);
    if (!I || !S)
      return 0u;
    // The product symbols of a name and blockDim, whatever their order.
    auto FactorsAre = [&](const std::string &Id,
                          std::vector<std::string> Want) {
      int N = M.symbolIndex(Id);
      std::vector<std::string> F = N >= 0 && !M.Symbols[N].Factors.empty()
                                       ? M.Symbols[N].Factors
                                       : std::vector<std::string>{Id};
      llvm::sort(F);
      llvm::sort(Want);
      return F == Want;
    };
    // One entry: Coef * (product of Names), as it appears in a linear form.
    auto Is = [&](const Linear &X, std::vector<std::string> Names,
                  int64_t Coef) {
      if (Names.empty())
        return X.isConst() && X.Const == Coef;
      return X.Const == 0 && X.Terms.size() == 1 &&
             X.Terms.begin()->second == Coef &&
             FactorsAre(X.Terms.begin()->first, Names);
    };
    // Orders in which the axes are laid out, fastest first.
    static const std::vector<std::vector<unsigned>> Orders = {
        {0}, {1}, {2}, {0, 1}, {1, 0}, {0, 2}, {1, 2}, {0, 1, 2}, {2, 1, 0}};
    for (const auto &Order : Orders) {
      Linear Rest = *I;
      std::vector<std::string> Names; // number of threads so far, as a product
      int64_t Count = 1;
      bool Ok = true;
      for (unsigned A : Order) {
        std::vector<std::string> Term = Names;
        Term.push_back(builtinId(Symbol::ThreadIdx, A));
        auto It = llvm::find_if(Rest.Terms, [&](auto &T) {
          return T.second == Count && FactorsAre(T.first, Term);
        });
        if (It == Rest.Terms.end()) {
          Ok = false;
          break;
        }
        Rest.Terms.erase(It);
        if (M.Geo.ConstBlock)
          Count *= (*M.Geo.ConstBlock)[A];
        else
          Names.push_back(builtinId(Symbol::BlockDim, A));
      }
      if (!Ok || !Is(*S, Names, Count))
        continue;
      // What is left must not tell these threads apart; nor may the bound.
      unsigned Axes = 0;
      for (unsigned A : Order)
        Axes |= DepThreadX << A;
      if (Missing & (Axes | DepShared | DepGlobal))
        continue;
      isl::pw_aff Lo = Arith.fromLinear(Rest);
      if ((Arith.depends(Lo) | Arith.depends(Bound)) &
          (Axes | DepShared | DepGlobal))
        continue;
      isl::pw_aff It = Arith.symbol(IterId);
      Loop.IterDomain = It.ge_set(Lo).intersect(Inclusive ? It.le_set(Bound)
                                                          : It.lt_set(Bound));
      return Axes;
    }
    return 0u;
  };
  unsigned Axes = 0;
  if (M.Geo.ConstBlock)
    Axes = Try(withConstBlock(InitV.Aff), withConstBlock(Step));
  else
    Axes = Try(InitV.Aff, Step);
  if (!Axes)
    return false;
  Loop.Cooperative = true;
  Loop.CooperativeAxes = Axes;
  return true;
}

/// \p L subtracted, as text: ` - threadIdx.x + 2 * (k)`.
std::string Executor::less(const Linear &L) const {
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
bool Executor::alwaysThere(const Linear &L) const {
  return llvm::all_of(L.Terms, [&](auto &T) {
    const Symbol &S = M.Symbols[M.symbolIndex(T.first)];
    return S.K <= Symbol::Param || S.Anywhere;
  });
}

/// Further conditions of counted loop \p Id, whose counter has its value for
/// the body: a round is run if they hold in it, and they did in all rounds
/// before. False: that does not follow.
bool Executor::boundBy(llvm::ArrayRef<const Expr *> Conditions, unsigned Id,
                       bool Up) {
  for (const Expr *E : Conditions) {
    ++Silent;
    const CondVal C = evalCond(E);
    --Silent;
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
                       where().intersect(substitute(C.True, {{I, Next}}))))
      return false;
    Loop.IterDomain = Loop.IterDomain.intersect(C.True);
    Loop.ConstTripCount.reset(); // at most as many
    Path.Dom = Path.Dom.intersect(C.True);
  }
  return true;
}

/// Fills the For part of statement \p Id and sets the counter's value for the
/// body. Called with the environment of the loop's entry, modified variables
/// made opaque already; the counter still has its first value.
bool Executor::countedLoop(const LoopParts &F, unsigned Id) {
  Counter C;
  const Expr *Inc = F.Inc;
  if (!Inc || !F.Cond)
    return false;
  // `i++, j += 2`: the counter is the one that the condition names.
  std::vector<const Expr *> Parts{Inc->IgnoreParenImpCasts()};
  while (auto *B = dyn_cast<BinaryOperator>(Parts.back())) {
    if (B->getOpcode() != BO_Comma)
      break;
    Parts.pop_back();
    Parts.push_back(B->getRHS()->IgnoreParenImpCasts());
    Parts.push_back(B->getLHS()->IgnoreParenImpCasts());
  }
  // `i < 16 && i0 + i < n`: one of them is the counter's own bound.
  llvm::SmallVector<const Expr *, 4> Conditions;
  conjuncts(F.Cond, Conditions);
  bool Found = false;
  for (const Expr *P : Parts) {
    Counter X;
    if (matchStep(P, X))
      for (size_t K = 0; K < Conditions.size() && !Found; ++K)
        if (matchBound(Conditions[K], X)) {
          C = X;
          Found = true;
          Conditions.erase(Conditions.begin() + ptrdiff_t(K));
        }
    if (Found)
      break;
  }
  int VarId = Found ? L.varIndex(C.V) : -1;
  if (VarId < 0 || !isInt(C.V->getType()) || M.Vars[VarId].AddressTaken ||
      M.Vars[VarId].IsReference)
    return false;
  llvm::SmallPtrSet<const VarDecl *, 8> InBody;
  for (const clang::Stmt *B : F.Body)
    L.assignedIn(B, InBody);
  if (InBody.count(C.V))
    return false;
  // Modified twice in the header?
  unsigned Times = 0;
  for (const Expr *P : Parts) {
    llvm::SmallPtrSet<const VarDecl *, 4> One;
    L.assignedIn(P, One);
    Times += One.count(C.V);
  }
  if (Times != 1)
    return false;

  auto It = Env.find(C.V);
  if (It == Env.end() || !It->second.Int)
    return false;
  IntType T = intType(C.V->getType());
  auto Init = Arith.exact(*It->second.Int, It->second.Type, where());
  if (!Init)
    return false;

  // Bound and step, which must not change in the loop: modified variables are
  // opaque now, and their symbols are newer than the loop.
  llvm::SmallPtrSet<const VarDecl *, 8> Modified = InBody;
  L.assignedIn(Inc, Modified);
  auto Invariant = [&](const Expr *E, const VarDecl *But = nullptr) {
    std::function<bool(const clang::Stmt *)> Walk = [&](const clang::Stmt *S) {
      if (!S)
        return true;
      if (auto *R = dyn_cast<DeclRefExpr>(S))
        if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
          if ((V != But && Modified.count(V)) || L.arrayIndex(V) >= 0)
            return false;
      if (auto *X = dyn_cast<Expr>(S); X && builtinVar(X))
        return true;
      for (const clang::Stmt *K : S->children())
        if (!Walk(K))
          return false;
      return true;
    };
    return Walk(E);
  };
  if (!Invariant(C.Bound) || (C.Step && !Invariant(C.Step)))
    return false;
  // These expressions are in the text once, but their accesses would be
  // recorded again with the condition: evaluate without records.
  ++Silent;
  SVal B = eval(C.Bound);
  SVal S = C.Step ? eval(C.Step) : ofConst(1, AC.IntTy);
  --Silent;
  if (!B.Int) { // a uniform value that is not affine: its symbol
    if (!B.V || (depends(B) & (DepShared | DepThread)))
      return false;
    asInt(B, C.Bound);
  }
  auto Bound = Arith.exact(*B.Int, B.Type, where());
  if (!Bound || !S.Int)
    return false;
  auto Step = Arith.exact(*S.Int, S.Type, where());
  if (!Step)
    return false;
  std::optional<int64_t> ConstStep = Arith.constantValue(*Step);
  if (ConstStep && *ConstStep < 0) {
    C.Down = !C.Down;
    ConstStep = -*ConstStep;
  }
  if (ConstStep && *ConstStep == 0)
    return false;
  bool Up = !C.Down;
  BinaryOperatorKind Op = C.Compare;
  if (Op == BO_NE) { // reached exactly only in steps of one
    if (!ConstStep || *ConstStep != 1)
      return false;
    Op = Up ? BO_LT : BO_GT;
    isl::set Ordered = Up ? Init->le_set(*Bound) : Init->ge_set(*Bound);
    if (!Arith.implied(Ordered, where()))
      return false;
  }
  if (Up != (Op == BO_LT || Op == BO_LE))
    return false;
  // A non-constant step is a positive number of threads, or nothing is known.
  if (!ConstStep) {
    if (!Up || !Arith.proveInRange(*Step, 1, Wide(1) << 40, where()))
      return false;
  }
  // The comparison must be of the counter's own value: `i < n` with unsigned n
  // compares a converted i.
  if (!T.Signed) {
    // Counting down to an unsigned zero never ends, or wraps.
    if (!Up)
      return false;
  } else if (!B.Type.Signed && B.Type.Bits >= T.Bits) {
    if (!Arith.proveInRange(*Init, 0, T.max(), where()))
      return false;
  }

  for (const Expr *E : Conditions)
    if (!Invariant(E, C.V))
      return false;
  const Stmt Uncounted = M.Stmts[Id];
  auto Finish = [&] {
    if (boundBy(Conditions, Id, Up))
      return true;
    M.Stmts[Id] = Uncounted;
    return false;
  };

  Symbol Sym;
  Sym.K = Symbol::Iterator;
  Sym.Text = C.V->getNameAsString();
  Sym.Id = freshId(Sym.Text);
  Sym.Type = typeText(C.V->getType());
  Sym.Bits = T.Bits;
  Sym.Signed = T.Signed;
  Sym.VarId = VarId;

  M.Stmts[Id].IterVar = VarId;
  M.Stmts[Id].Init = *Init;
  bool Inclusive = Op == BO_LE || Op == BO_GE;
  unsigned InitDep = Arith.depends(*Init), BoundDep = Arith.depends(*Bound);

  // Cooperative loops.
  {
    unsigned N = Arith.addSymbol(Sym);
    std::string IterId = M.Symbols[N].Id;
    if (Up && (InitDep & DepThread) &&
        cooperative(M.Stmts[Id], {*Init, true}, *Bound, Inclusive, *Step,
                    IterId)) {
      M.Symbols[N].Depends = InitDep | BoundDep;
      M.Stmts[Id].IterSymbol = N;
      M.Stmts[Id].Step = ConstStep;
      Path.Dom = Path.Dom.intersect(M.Stmts[Id].IterDomain);
      Env[C.V] = ofInt({Arith.symbol(IterId), true}, C.V->getType());
      return Finish();
    }
    Symbol &Iter = M.Symbols[N];
    isl::pw_aff I = Arith.symbol(IterId);
    if (ConstStep) {
      // A constant number of rounds from a first value that is none: the
      // symbol is what the counter is ahead of it.
      std::optional<Linear> Own = Arith.linear(*Init);
      std::optional<int64_t> Length =
          Arith.constantValue(Up ? Bound->sub(*Init) : Init->sub(*Bound));
      isl::pw_aff OwnPart = Arith.constant(0);
      if (Own && !Own->isConst() && Length && alwaysThere(*Own) &&
          F.DeclaresCounter) {
        OwnPart = *Init;
        *Init = Arith.constant(0);
        *Bound = Bound->sub(OwnPart);
        Iter.Text = "((int)(" + Iter.Text + less(*Own) + "))";
        Iter.Type = "int";
        Iter.Bits = 32;
        Iter.Signed = true;
        M.Stmts[Id].Init = *Init;
        InitDep = 0;
      }
      Iter.Depends = InitDep;
      isl::set Domain;
      if (Up)
        Domain = I.ge_set(*Init).intersect(Inclusive ? I.le_set(*Bound)
                                                     : I.lt_set(*Bound));
      else
        Domain = I.le_set(*Init).intersect(Inclusive ? I.ge_set(*Bound)
                                                     : I.gt_set(*Bound));
      if (*ConstStep > 1)
        Domain = Domain.intersect(
            I.sub(*Init)
                .mod(isl::val(I.ctx(), std::to_string(*ConstStep)))
                .eq_set(Arith.constant(0)));
      Stmt &Loop = M.Stmts[Id];
      Loop.IterSymbol = N;
      Loop.IterDomain = Domain;
      Loop.Step = Up ? *ConstStep : -*ConstStep;
      if (auto D =
              Arith.constantValue(Up ? Bound->sub(*Init) : Init->sub(*Bound))) {
        int64_t Len = *D + (Inclusive ? 1 : 0);
        Loop.ConstTripCount =
            Len <= 0 ? 0 : (Len + *ConstStep - 1) / *ConstStep;
      }
      Loop.ConstFirst = Arith.constantValue(*Init);
      Path.Dom = Path.Dom.intersect(Domain);
      Env[C.V] = ofInt({I.add(OwnPart), true}, C.V->getType());
      return Finish();
    }
    // A symbolic step: the thread's part of the first value stays, the rest
    // moves in common.
    std::optional<Linear> Lin = Arith.linear(*Init);
    if (!Lin)
      return false;
    Linear Own, Common;
    Common.Const = Lin->Const;
    for (auto &[Term, Coef] : Lin->Terms)
      (M.Symbols[M.symbolIndex(Term)].Depends & DepThread ? Own : Common)
          .Terms[Term] = Coef;
    if ((Arith.depends(*Step) & (DepThread | DepShared | DepGlobal)) ||
        (InitDep & (DepShared | DepGlobal)))
      return false;
    isl::pw_aff OwnPart = Arith.fromLinear(Own);
    Iter.Depends =
        Arith.depends(Arith.fromLinear(Common)) | Arith.depends(*Step);
    // Text of the common part: the counter less the thread's part.
    if (!Own.isConst())
      Iter.Text = "(" + Iter.Text + less(Own) + ")";
    isl::pw_aff Value = I.add(OwnPart);
    Stmt &Loop = M.Stmts[Id];
    Loop.IterSymbol = N;
    isl::set Domain =
        I.ge_set(Arith.fromLinear(Common))
            .intersect(Inclusive ? Value.le_set(*Bound) : Value.lt_set(*Bound));
    Loop.IterDomain = Domain;
    // The stride is missing in Domain, but it is the same for all threads.
    Path.Dom = Path.Dom.intersect(Domain);
    Env[C.V] = ofInt({Value, T.Signed}, C.V->getType());
    return Finish();
  }
}

/// How often is \p V modified in \p S?
static unsigned timesAssigned(const clang::Stmt *S, const VarDecl *V,
                              const Locals &L) {
  if (!S)
    return 0;
  unsigned N = 0;
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    N += rootVariable(B->getLHS()) == V;
  else if (auto *U = dyn_cast<UnaryOperator>(S);
           U && U->isIncrementDecrementOp())
    N += rootVariable(U->getSubExpr()) == V;
  for (const clang::Stmt *C : S->children())
    N += timesAssigned(C, V, L);
  return N;
}

/// In a counted loop whose body is always run to its end: a variable with one
/// unconditional `v += c` a round is v0 + c * (rounds so far). Takes such
/// variables out of \p Modified and sets them. Called with the counter's value
/// for the body in place.
void Executor::inductionVariables(
    const ForStmt *F, unsigned Id,
    llvm::SmallPtrSetImpl<const VarDecl *> &Modified) {
  const Stmt &Loop = M.Stmts[Id];
  if (Loop.Cooperative || !Loop.Step)
    return;
  int64_t Step = *Loop.Step;
  isl::pw_aff I = Arith.symbol(M.Symbols[Loop.IterSymbol].Id);
  isl::pw_aff Moved =
      Step > 0 ? I.sub(Loop.Init) : isl::pw_aff(Loop.Init).sub(I);

  // Statements that run once a round.
  std::vector<const Expr *> Always;
  std::function<void(const Expr *)> Split = [&](const Expr *E) {
    E = E->IgnoreParenImpCasts();
    if (auto *B = dyn_cast<BinaryOperator>(E);
        B && B->getOpcode() == BO_Comma) {
      Split(B->getLHS());
      Split(B->getRHS());
    } else {
      Always.push_back(E);
    }
  };
  if (auto *C = dyn_cast<CompoundStmt>(F->getBody())) {
    for (const clang::Stmt *X : C->body())
      if (auto *E = dyn_cast<Expr>(X))
        Split(E);
  } else if (auto *E = dyn_cast<Expr>(F->getBody())) {
    Split(E);
  }
  Split(F->getInc());

  for (const Expr *E : Always) {
    Counter C;
    if (!matchStep(E, C) || !Modified.count(C.V) || !Env.count(C.V) ||
        L.varIndex(C.V) < 0 || M.Vars[L.varIndex(C.V)].AddressTaken)
      continue;
    if (timesAssigned(F->getBody(), C.V, L) +
            timesAssigned(F->getInc(), C.V, L) +
            timesAssigned(F->getCond(), C.V, L) !=
        1)
      continue;
    // The step must not change in the loop.
    bool Fixed = true;
    if (C.Step) {
      std::function<void(const clang::Stmt *)> Walk =
          [&](const clang::Stmt *S) {
            if (auto *R = dyn_cast<DeclRefExpr>(S))
              if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
                Fixed &= !Modified.count(V) && L.varIndex(V) != Loop.IterVar &&
                         L.arrayIndex(V) < 0;
            Fixed &= !isa<CallExpr>(S);
            if (auto *X = dyn_cast<Expr>(S); X && builtinVar(X))
              return;
            for (const clang::Stmt *K : S->children())
              if (K)
                Walk(K);
          };
      Walk(C.Step);
    }
    if (!Fixed)
      continue;
    ++Silent;
    SVal By = C.Step ? eval(C.Step) : ofConst(1, AC.IntTy);
    --Silent;
    SVal V = Env[C.V];
    std::optional<Linear> Lin =
        By.Int ? Arith.linear(By.Int->Aff) : std::nullopt;
    bool Pointer = V.K == SVal::Pointer && !V.IdxInt.empty() &&
                   V.IdxInt.back() && V.Base != SVal::UnknownBase;
    if (!Lin || !(Pointer || V.Int))
      continue;
    // c * (moved / step): exact when step divides c.
    int64_t Abs = std::abs(Step);
    bool Divides = Lin->Const % Abs == 0;
    for (auto &[T, Coef] : Lin->Terms)
      Divides &= Coef % Abs == 0;
    if (!Divides)
      continue;
    Lin->Const /= Abs;
    for (auto &[T, Coef] : Lin->Terms)
      Coef /= Abs;
    IntType Ty = Pointer ? IntType{64, true} : V.Type;
    auto Delta =
        Arith.mul({Arith.fromLinear(*Lin), true}, {Moved, true}, Ty, where());
    if (!Delta)
      continue;
    if (Pointer) {
      auto Sum = C.Down ? Arith.sub(*V.IdxInt.back(), *Delta, Ty)
                        : Arith.add(*V.IdxInt.back(), *Delta, Ty);
      if (!Sum)
        continue;
      V.IdxInt.back() = Sum;
      V.Idx.back() = affineValue(Sum->Aff, "long long");
      V.Flattened = V.Idx.size() > 1;
    } else {
      auto Sum = C.Down ? Arith.sub(*V.Int, *Delta, Ty)
                        : Arith.add(*V.Int, *Delta, Ty);
      if (!Sum)
        continue;
      V = ofInt(*Sum, C.V->getType());
      // The variable held it: it fits.
      if (Ty.Signed)
        if (auto Fits = Arith.fitsUnlessPlain(Sum->Aff, Ty))
          Path.Known = Path.Known.intersect(*Fits);
    }
    Env[C.V] = V;
    Modified.erase(C.V);
  }
}

/// `v /= 2`, `v >>= 1`, `v = v * 2`: the variable and the factor, negative for
/// a division.
static const VarDecl *geometricStep(const Expr *Inc, int64_t &Factor,
                                    ASTContext &AC) {
  auto *B = dyn_cast<BinaryOperator>(Inc->IgnoreParenImpCasts());
  if (!B || !B->isAssignmentOp())
    return nullptr;
  const VarDecl *V = variable(B->getLHS());
  BinaryOperatorKind Op = BO_Comma;
  const Expr *By = B->getRHS();
  if (B->isCompoundAssignmentOp()) {
    Op = BinaryOperator::getOpForCompoundAssignment(B->getOpcode());
  } else if (auto *R = dyn_cast<BinaryOperator>(By->IgnoreParenImpCasts());
             R && variable(R->getLHS()) == V) {
    Op = R->getOpcode();
    By = R->getRHS();
  }
  Expr::EvalResult R;
  if (!V || By->isValueDependent() || !By->EvaluateAsInt(R, AC))
    return nullptr;
  int64_t C = R.Val.getInt().getExtValue();
  bool Shift = Op == BO_Shl || Op == BO_Shr;
  if (Shift && C > 0 && C < 31)
    C = int64_t(1) << C;
  if (C < 2)
    return nullptr;
  if (Op == BO_Mul || Op == BO_Shl)
    Factor = C;
  else if (Op == BO_Div || Op == BO_Shr)
    Factor = -C;
  else
    return nullptr;
  return V;
}

/// A loop whose counter is halved or doubled: tells what its values are
/// between.
void Executor::geometricLoop(const ForStmt *F, unsigned Id, SVal First) {
  int64_t Factor = 0;
  const VarDecl *V = geometricStep(F->getInc(), Factor, AC);
  int I = L.varIndex(V);
  llvm::SmallPtrSet<const VarDecl *, 8> InBody;
  L.assignedIn(F->getBody(), InBody);
  auto It = Env.find(V);
  if (I < 0 || InBody.count(V) || M.Vars[I].AddressTaken || It == Env.end() ||
      !It->second.Int || !First.Int)
    return;
  auto Init = Arith.exact(*First.Int, First.Type, where());
  if (!Init)
    return;
  isl::pw_aff S = It->second.Int->Aff;
  isl::pw_aff Zero = Arith.constant(0), One = Arith.constant(1);
  IntType T = intType(V->getType());
  if (Factor < 0 && Arith.proveInRange(*Init, 0, T.max(), where()))
    Path.Known =
        Path.Known.intersect(S.ge_set(Zero)).intersect(S.le_set(*Init));
  else if (Factor > 0 && T.Signed &&
           Arith.proveInRange(*Init, 1, T.max(), where()))
    Path.Known = Path.Known.intersect(S.ge_set(*Init));
  else if (Factor < 0 || T.Signed)
    return;
  Stmt &Loop = M.Stmts[Id];
  Loop.FactorVar = I;
  if (std::optional<Linear> L = Arith.linear(S); L && L->Terms.size() == 1)
    Loop.FactorSymbol = M.symbolIndex(L->Terms.begin()->first);
  Loop.Init = *Init;
  Loop.Factor = Factor;
}

/// Does the body leave the loop, or skip the rest of it, other than at its end?
static bool leaves(const clang::Stmt *S, bool Nested, bool &Continue) {
  if (!S || isa<Expr>(S))
    return false;
  if (isa<ReturnStmt>(S) || isa<GotoStmt>(S) || (isa<BreakStmt>(S) && !Nested))
    return true;
  if (isa<ContinueStmt>(S) && !Nested)
    Continue = true;
  bool Inner = Nested || isa<ForStmt>(S) || isa<WhileStmt>(S) ||
               isa<DoStmt>(S) || isa<SwitchStmt>(S);
  bool R = false;
  for (const clang::Stmt *C : S->children())
    R |= leaves(C, Inner, Continue);
  return R;
}

bool leavesEarly(const clang::Stmt *S) {
  bool Continue = false;
  return leaves(S, false, Continue) || Continue;
}

/// Dependences of the conditions of break, continue and return inside \p Id.
static unsigned exitDepends(const KernelModel &M, unsigned Id,
                            unsigned Control) {
  const Stmt &S = M.Stmts[Id];
  if (S.K == Stmt::Break || S.K == Stmt::Return || S.K == Stmt::Continue)
    return Control;
  unsigned D = 0;
  for (unsigned C : S.Children)
    D |= exitDepends(M, C, Control | S.CondDepends);
  return D;
}

void Executor::execFor(const ForStmt *F, unsigned Id) {
  {
    Stmt &S = M.Stmts[Id];
    // `for (...)`: from the keyword to the parenthesis.
    S.HeaderRange = Flat.outerRange({F->getForLoc(), F->getRParenLoc()})
                        .value_or(TextRange());
    S.IncRange = range(F->getInc());
    S.CondRange = range(F->getCond());
  }
  llvm::SmallPtrSet<const VarDecl *, 32> Outer = Declared;
  if (const clang::Stmt *I = F->getInit()) {
    if (auto *D = dyn_cast<DeclStmt>(I)) {
      M.Stmts[Id].InitRange =
          Flat.outerRange(D->getSourceRange()).value_or(TextRange());
      for (const Decl *X : D->decls())
        if (auto *V = dyn_cast<VarDecl>(X); V && L.varIndex(V) >= 0) {
          M.Vars[L.varIndex(V)].DeclStmt = Id;
          M.Vars[L.varIndex(V)].Scope = Id;
          execVarInit(V);
        }
    } else if (auto *E = dyn_cast<Expr>(I)) {
      M.Stmts[Id].InitRange = range(E);
      eval(E);
    }
  }
  if (F->getConditionVariable())
    decline("unsupported-statement", "a declaration in the condition of for",
            F->getBeginLoc());

  const std::optional<Environment> After = roundByRound(F, Id);
  PathState Before = Path;
  llvm::SmallPtrSet<const VarDecl *, 8> Modified;
  L.assignedIn(F->getBody(), Modified);
  if (F->getInc())
    L.assignedIn(F->getInc(), Modified);
  if (F->getCond())
    L.assignedIn(F->getCond(), Modified);

  if (After && Trials) { // nothing else is asked for
    clobberForLoop(F->getBody());
    leaveLoop(Modified, Outer);
    return leaveRounds(Modified, Outer, F, *After);
  }

  // Which variable counts is decided with its first value still there.
  const size_t SymbolsBefore = M.Symbols.size();
  auto EnvBefore = Env;
  const VarDecl *Iter = nullptr;
  auto *Header = dyn_cast_or_null<DeclStmt>(F->getInit());
  if (countedLoop({F->getCond(),
                   F->getInc(),
                   {F->getBody()},
                   Header && Header->isSingleDecl()},
                  Id))
    for (const VarDecl *V : Modified)
      if (L.varIndex(V) == M.Stmts[Id].IterVar)
        Iter = V;
  SVal IterVal;
  if (Iter) {
    IterVal = Env[Iter];
    Modified.erase(Iter);
  } else {
    M.Stmts[Id].IterVar = -1;
    M.Stmts[Id].IterSymbol = -1;
    M.Stmts[Id].IterDomain = isl::set();
    M.Stmts[Id].Cooperative = false;
    Path = Before;
    Env = EnvBefore;
  }
  int64_t Ignored = 0;
  const VarDecl *Geometric =
      Iter || !F->getInc() ? nullptr : geometricStep(F->getInc(), Ignored, AC);
  SVal First;
  if (Geometric && Env.count(Geometric))
    First = Env[Geometric];
  clobberForLoop(F->getBody());
  clobberForLoop(F->getInc());
  clobberForLoop(F->getCond());
  bool Continue = false;
  bool Leaves = leaves(F->getBody(), false, Continue);
  llvm::SmallPtrSet<const VarDecl *, 8> Changed = Modified;
  const auto EnvAtEntry = Env;
  if (Iter && !Continue && !Leaves)
    inductionVariables(F, Id, Modified);
  havoc(Modified);
  if (Iter)
    Env[Iter] = IterVal;
  else if (Geometric)
    geometricLoop(F, Id, First);

  if (Leaves)
    Path.Exact = false;
  if (F->getCond()) {
    CondVal C = evalCond(F->getCond());
    if (C.Affine)
      M.Stmts[Id].Cond = C.True;
    M.Stmts[Id].CondDepends = condDepends(C, F->getCond());
    if (!Iter)
      assume(C, true);
  }
  // Earlier iterations decide whether there is this one, for all threads alike
  // unless the condition tells them apart.
  if (!Iter && (!F->getCond() || (M.Stmts[Id].CondDepends &
                                  (DepThread | DepShared | DepGlobal))))
    Path.Exact = false;
  if (Iter && !Continue && !Leaves)
    carriedVariables(F, Id, EnvAtEntry, SymbolsBefore, Modified);
  PathState Inside = Path;
  exec(F->getBody(), Id);
  if (Leaves)
    M.Stmts[Id].CondDepends |= exitDepends(M, Id, 0);
  Path = Inside;
  if (F->getInc()) {
    unsigned Saved = CurStmt;
    CurStmt = Id;
    if (Continue || Leaves)
      havoc(Modified);
    eval(F->getInc());
    CurStmt = Saved;
  }
  Path = Before;
  if (M.Stmts[Id].HasReturn || Leaves) {
    bool Returns = false;
    for (size_t K = Id; K < M.Stmts.size(); ++K)
      Returns |= M.Stmts[K].K == Stmt::Return;
    if (Returns) {
      Path.Exact = false;
      Value U;
      U.Type = "bool";
      U.Text = "no return in the loop before";
      U.Depends = M.Stmts[Id].CondDepends;
      Path.Guards.push_back(std::make_shared<Value>(U));
    }
  }
  if (Iter)
    Changed.insert(Iter);
  leaveLoop(Changed, Outer);
  if (After)
    leaveRounds(Changed, Outer, F, *After);
}

/// `while (i < n) { ...; i += step; }`, and the same as `do` when the first
/// round is proved to be one that `while` would run: the loop counts. Sets the
/// counter's value for the body. A loop with barriers keeps its own model.
const VarDecl *Executor::countedWhile(const clang::Stmt *S, unsigned Id) {
  auto *W = dyn_cast<WhileStmt>(S);
  auto *D = dyn_cast<DoStmt>(S);
  if ((!W && !D) || (W && W->getConditionVariable()))
    return nullptr;
  const clang::Stmt *Body = W ? W->getBody() : D->getBody();
  auto *Block = dyn_cast<CompoundStmt>(Body);
  bool Continue = false;
  if (!Block || Block->body_empty() || leaves(Body, false, Continue) ||
      Continue || hasBarrierCall(Body))
    return nullptr;
  LoopParts Parts;
  Parts.Cond = W ? W->getCond() : D->getCond();
  Parts.Inc = dyn_cast<Expr>(Block->body_back());
  for (const clang::Stmt *X : Block->body())
    if (X != Block->body_back())
      Parts.Body.push_back(X);
  PathState Before = Path;
  auto EnvBefore = Env;
  bool Counts = countedLoop(Parts, Id);
  if (Counts && D) {
    // Is the thread's first value one of the iterator's?
    const Stmt &Loop = M.Stmts[Id];
    const Substitution First = {
        {M.Symbols[size_t(Loop.IterSymbol)].Id, Loop.Init}};
    Counts = (Loop.Cooperative || Loop.Step) &&
             Arith.implied(substitute(Loop.IterDomain, First),
                           Before.Dom.intersect(Before.Known));
  }
  // Rounds are never written out: the step stands in the body.
  M.Stmts[Id].ConstTripCount.reset();
  if (Counts)
    for (const auto &[C, Val] : EnvBefore)
      if (L.varIndex(C.V) == M.Stmts[Id].IterVar)
        return C.V;
  M.Stmts[Id].IterVar = M.Stmts[Id].IterSymbol = -1;
  M.Stmts[Id].IterDomain = isl::set();
  M.Stmts[Id].Cooperative = false;
  Path = Before;
  Env = EnvBefore;
  return nullptr;
}

void Executor::execWhile(const clang::Stmt *S, unsigned Id) {
  PathState Before = Path;
  llvm::SmallPtrSet<const VarDecl *, 32> Outer = Declared;
  llvm::SmallPtrSet<const VarDecl *, 8> Modified;
  L.assignedIn(S, Modified);
  const VarDecl *Iter = countedWhile(S, Id);
  SVal IterVal;
  if (Iter) {
    IterVal = Env[Iter];
    Modified.erase(Iter);
  }
  clobberForLoop(S);
  havoc(Modified);
  if (Iter)
    Env[Iter] = IterVal;
  const Expr *Cond = nullptr;
  const clang::Stmt *Body = nullptr;
  bool CondFirst = true;
  if (auto *W = dyn_cast<WhileStmt>(S)) {
    Cond = W->getCond();
    Body = W->getBody();
    if (W->getConditionVariable())
      decline("unsupported-statement",
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
    Path.Exact = false;
  auto DoCond = [&] {
    if (!Cond)
      return;
    M.Stmts[Id].CondRange = range(Cond);
    CondVal C = evalCond(Cond);
    if (C.Affine)
      M.Stmts[Id].Cond = C.True;
    M.Stmts[Id].CondDepends = C.Depends | L.depends(Cond);
    if (CondFirst && !Iter)
      assume(C, true);
  };
  if (CondFirst)
    DoCond();
  else if (Cond) // a barrier inside asks for it
    M.Stmts[Id].CondDepends = L.depends(Cond);
  PathState Inside = Path;
  exec(Body, Id);
  bool Continue = false;
  if (leaves(Body, false, Continue))
    M.Stmts[Id].CondDepends |= exitDepends(M, Id, 0);
  Path = Inside;
  if (!CondFirst) {
    unsigned Saved = CurStmt;
    CurStmt = Id;
    DoCond();
    CurStmt = Saved;
  }
  Path = Before;
  for (size_t K = Id; K < M.Stmts.size(); ++K)
    if (M.Stmts[K].K == Stmt::Return) {
      Path.Exact = false;
      Value U;
      U.Type = "bool";
      U.Text = "no return in the loop before";
      U.Depends = M.Stmts[Id].CondDepends;
      Path.Guards.push_back(std::make_shared<Value>(U));
      break;
    }
  if (Iter)
    Modified.insert(Iter);
  leaveLoop(Modified, Outer);
}

} // namespace rcache
