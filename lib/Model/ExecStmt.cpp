// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements: the tree of the model, paths, joins.

#include "Affine/IslTools.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "Executor.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

void Executor::run(const FunctionDecl *FD) {
  for (const ParmVarDecl *P : FD->parameters()) {
    Declared.insert(P);
    int I = L.paramIndex(P);
    KernelParam &K = M.Params[I];
    QualType T = P->getType();
    const Var &V = M.Vars[K.VarId];
    if (isInt(T)) {
      Symbol S;
      S.K = V.Assigned || V.AddressTaken ? Symbol::Opaque : Symbol::Param;
      S.Text = K.Name;
      S.Id = freshId(K.Name);
      S.Type = typeText(T);
      S.Bits = K.Bits;
      S.Signed = K.Signed;
      S.VarId = K.VarId;
      S.Anywhere = S.K == Symbol::Param;
      unsigned N = Arith.addSymbol(S);
      Env[P] = ofInt({Arith.symbol(M.Symbols[N].Id), true}, T);
    } else if (T->isPointerType()) {
      Env[P] = parameterPointer(I, T);
    } else {
      Value U;
      U.K = V.Assigned ? Value::Unknown : Value::Uniform;
      U.Text = K.Name;
      U.Type = typeText(T);
      Env[P] = ofValue(std::make_shared<Value>(U), T);
    }
  }
  exec(FD->getBody(), -1);
  summarise();
}

/// Is the statement's last token the brace of a block? (`if (c) p = {0, 1};`
/// ends with a brace, too.)
static bool endsInBlock(const clang::Stmt *S) {
  while (S) {
    if (isa<CompoundStmt>(S))
      return true;
    if (auto *I = dyn_cast<IfStmt>(S))
      S = I->getElse() ? I->getElse() : I->getThen();
    else if (auto *F = dyn_cast<ForStmt>(S))
      S = F->getBody();
    else if (auto *W = dyn_cast<WhileStmt>(S))
      S = W->getBody();
    else if (auto *R = dyn_cast<CXXForRangeStmt>(S))
      S = R->getBody();
    else if (auto *W = dyn_cast<SwitchStmt>(S))
      S = W->getBody();
    else if (auto *A = dyn_cast<AttributedStmt>(S))
      S = A->getSubStmt();
    else if (auto *L = dyn_cast<LabelStmt>(S))
      S = L->getSubStmt();
    else
      return false;
  }
  return false;
}

unsigned Executor::newStmt(Stmt::Kind K, const clang::Stmt *Whole,
                           SourceRange R, int Parent) {
  Stmt S;
  S.K = K;
  S.Id = M.Stmts.size();
  S.Parent = Parent;
  bool Simple = K != Stmt::Block && K != Stmt::If && K != Stmt::For &&
                K != Stmt::While && K != Stmt::Switch;
  S.Range =
      (Simple ? Flat.withSemi(R) : Flat.outerRange(R)).value_or(TextRange());
  // `if (c) x = y;` ends with the semicolon of its last statement.
  if (!Simple && K != Stmt::Block && !S.Range.empty() && !endsInBlock(Whole))
    S.Range = Flat.withSemi(R).value_or(S.Range);
  S.Domain = Path.Dom;
  S.DomainExact = Path.Exact;
  S.Pos = sourcePos(AC.getSourceManager(), R.getBegin());
  M.Stmts.push_back(S);
  if (Parent >= 0)
    M.Stmts[Parent].Children.push_back(S.Id);
  return S.Id;
}

unsigned Executor::exec(const clang::Stmt *S, int Parent) {
  M.Ctx->checkTime();
  SourceRange R = S->getSourceRange();
  bool Unroll = false;
  unsigned UnrollCount = 0;
  if (auto *A = dyn_cast<AttributedStmt>(S)) {
    for (const Attr *X : A->getAttrs())
      if (auto *H = dyn_cast<LoopHintAttr>(X)) {
        Unroll |= H->getOption() == LoopHintAttr::Unroll ||
                  H->getOption() == LoopHintAttr::UnrollCount;
        const Expr *N = H->getValue();
        Expr::EvalResult R;
        if (H->getOption() == LoopHintAttr::UnrollCount && N &&
            !N->isValueDependent() && N->EvaluateAsInt(R, AC))
          UnrollCount =
              static_cast<unsigned>(R.Val.getInt().getLimitedValue(1u << 16));
      }
    S = A->getSubStmt();
    R = S->getSourceRange(); // a pragma is no token
  }
  if (auto *Lab = dyn_cast<LabelStmt>(S)) {
    decline("goto", "label '" + std::string(Lab->getName()) + "'",
            S->getBeginLoc());
    S = Lab->getSubStmt();
  }
  // The range of a statement in front of which a pragma stands begins with it.
  auto WithPragma = [&](unsigned Id) {
    if (!Unroll)
      return;
    TextRange &T = M.Stmts[Id].Range;
    size_t At = M.Text.rfind("#pragma", T.Begin);
    size_t Alt = M.Text.rfind("_Pragma", T.Begin);
    if (Alt != std::string::npos && (At == std::string::npos || Alt > At))
      At = Alt;
    // Nothing but the pragma and white space may stand between.
    if (At != std::string::npos) {
      StringRef Between = StringRef(M.Text).slice(At, T.Begin);
      if (!Between.contains(';') && !Between.contains('{') &&
          !Between.contains('}'))
        T.Begin = At;
    }
    M.Stmts[Id].HasUnrollPragma = true;
    M.Stmts[Id].UnrollCount = UnrollCount;
  };

  unsigned Saved = CurStmt;
  auto Begin = [&](Stmt::Kind K) {
    unsigned Id = newStmt(K, S, R, Parent);
    CurStmt = Id;
    WithPragma(Id);
    return Id;
  };
  unsigned Id = 0;
  if (auto *C = dyn_cast<CompoundStmt>(S)) {
    Id = Begin(Stmt::Block);
    for (const clang::Stmt *X : C->body())
      exec(X, Id);
  } else if (auto *D = dyn_cast<DeclStmt>(S)) {
    Id = Begin(Stmt::Decl);
    execDecl(D, Id);
  } else if (auto *I = dyn_cast<IfStmt>(S)) {
    Id = Begin(Stmt::If);
    execIf(I, Id);
  } else if (auto *F = dyn_cast<ForStmt>(S)) {
    Id = Begin(Stmt::For);
    M.Stmts[Id].HasUnrollPragma = Unroll;
    execFor(F, Id);
  } else if (isa<WhileStmt>(S) || isa<DoStmt>(S) || isa<CXXForRangeStmt>(S)) {
    Id = Begin(isa<DoStmt>(S) ? Stmt::Do : Stmt::While);
    execWhile(S, Id);
  } else if (auto *W = dyn_cast<SwitchStmt>(S)) {
    Id = Begin(Stmt::Switch);
    execSwitch(W, Id);
  } else if (auto *C = dyn_cast<SwitchCase>(S)) {
    CurStmt = Saved;
    return exec(C->getSubStmt(), Parent);
  } else if (isa<ReturnStmt>(S)) {
    Id = Begin(Stmt::Return);
    execReturn(S, Id);
  } else if (isa<BreakStmt>(S) || isa<ContinueStmt>(S)) {
    Id = Begin(isa<BreakStmt>(S) ? Stmt::Break : Stmt::Continue);
    Path.Dead = true;
    Path.Dom = Path.Dom.subtract(Path.Dom);
  } else if (auto *E = dyn_cast<Expr>(S)) {
    Id = Begin(Stmt::Leaf);
    execLeaf(E, Id);
  } else if (isa<NullStmt>(S)) {
    Id = Begin(Stmt::Leaf);
  } else {
    Id = Begin(Stmt::Leaf);
    if (!isa<AsmStmt>(S) && !isa<GotoStmt>(S) && !isa<IndirectGotoStmt>(S))
      decline("unsupported-statement", S->getStmtClassName(), S->getBeginLoc());
    llvm::SmallPtrSet<const VarDecl *, 8> Vars;
    L.assignedIn(S, Vars);
    havoc(Vars);
  }
  CurStmt = Saved;
  return Id;
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

void Executor::execDecl(const DeclStmt *D, unsigned Id) {
  // The nearest Block or For, whose end ends the variable's life.
  int Scope = M.Stmts[Id].Parent;
  while (Scope >= 0 && M.Stmts[Scope].K != Stmt::Block &&
         M.Stmts[Scope].K != Stmt::For)
    Scope = M.Stmts[Scope].Parent;
  for (const Decl *X : D->decls()) {
    auto *V = dyn_cast<VarDecl>(X);
    int I = V ? L.varIndex(V) : -1;
    if (I < 0)
      continue;
    M.Vars[I].DeclStmt = Id;
    M.Vars[I].Scope = std::max(Scope, 0);
    execVarInit(V);
  }
}

void Executor::execVarInit(const VarDecl *V) {
  int I = L.varIndex(V);
  const Expr *Init = V->getInit();
  Declared.insert(V);
  if (!Init) {
    forget(V);
    return;
  }
  SVal S;
  if (V->getType()->isReferenceType()) {
    LVal Lv = lvalue(Init);
    if (Lv.K == LVal::Memory) {
      S = addressOf(Lv, nullptr);
      // An element: what is done to the reference is done to the element.
      if (S.Base == SVal::Shared && !Lv.Member.empty())
        escape(S, Init,
               "is bound to the reference '" + V->getNameAsString() + "'");
      // As a place: without the zero that taking an address may have added.
      S = Lv.Place;
      if (!Lv.Member.empty())
        S.Base = SVal::UnknownBase;
    } else {
      S = unknown(Init, M.Vars[I].Depends);
    }
  } else if (V->getType()->isArrayType()) {
    initElements(V, Init);
    return;
  } else if (auto *C = dyn_cast<CXXConstructExpr>(Init->IgnoreImplicit());
             C && C->getNumArgs() == 0 && C->getConstructor()->isTrivial()) {
    Env.erase(V); // float4 v;
    return;
  } else {
    S = eval(Init);
    if (S.Base == SVal::Shared && S.K == SVal::Pointer) {
      // `T *s = SharedMemory<T>();`: the element type in the kernel's words.
      SharedArray &A = M.Arrays[S.Index];
      StringRef Type = M.Vars[I].Type;
      if (A.AtFileScope && Type.consume_back(" *") &&
          A.ElemType == A.CanonicalType &&
          typeText(V->getType()->getPointeeType()) == A.CanonicalType) {
        Type.consume_front("volatile ");
        A.ElemType = Type.str();
      }
    }
    S.Flattened |= S.K == SVal::Pointer && S.Idx.size() > 1;
  }
  if (S.K == SVal::Data)
    M.Vars[I].Init = asValue(S);
  Env[V] = S;
}

/// Kind of barrier that the call \p E is, if any.
static std::optional<Stmt::BarrierKind> barrierKind(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (auto *C = dyn_cast<CStyleCastExpr>(E); C && C->getType()->isVoidType())
    E = C->getSubExpr()->IgnoreParenImpCasts();
  auto *C = dyn_cast<CallExpr>(E);
  if (!C || !C->getDirectCallee())
    return std::nullopt;
  switch (classifyCall(C->getDirectCallee(), C).Kind) {
  case CallKind::Barrier:
    return Stmt::Syncthreads;
  case CallKind::BarrierReduce:
    return Stmt::SyncthreadsReduce;
  case CallKind::GroupBarrier:
    return Stmt::CooperativeGroup;
  case CallKind::WarpBarrier:
    return Stmt::Syncwarp;
  default:
    return std::nullopt;
  }
}

void Executor::execLeaf(const Expr *E, unsigned Id) {
  if (auto *F = dyn_cast<FullExpr>(E))
    E = F->getSubExpr();
  if (auto K = barrierKind(E)) {
    if (*K == Stmt::SyncthreadsReduce)
      eval(E);
    return execBarrier(*K, Id);
  }
  const Expr *SavedWhole = WholeStmtExpr;
  WholeStmtExpr = E->IgnoreParens();
  eval(E);
  WholeStmtExpr = SavedWhole;
}

void Executor::execBarrier(Stmt::BarrierKind K, unsigned Id) {
  Stmt &S = M.Stmts[Id];
  S.K = Stmt::Barrier;
  S.Sync = K;
  for (unsigned I = 0; I < M.Symbols.size(); ++I) {
    const Symbol &Sym = M.Symbols[I];
    if (Sym.Anywhere) {
      S.ValidSymbols.push_back(I);
      continue;
    }
    if (Sym.K == Symbol::Iterator) { // its variable changes in the header only
      for (int P = S.Parent; P >= 0; P = M.Stmts[P].Parent)
        if (M.Stmts[P].IterSymbol == static_cast<int>(I))
          S.ValidSymbols.push_back(I);
      continue;
    }
    if (!Sym.Factors.empty()) { // they come before their product
      if (llvm::all_of(Sym.Factors, [&](const std::string &F) {
            return llvm::is_contained(S.ValidSymbols,
                                      static_cast<unsigned>(M.symbolIndex(F)));
          }))
        S.ValidSymbols.push_back(I);
      continue;
    }
    if (Sym.VarId < 0)
      continue;
    for (auto &[C, Val] : Env) {
      if (C.Element >= 0 || L.varIndex(C.V) != Sym.VarId)
        continue;
      auto Opaque =
          Val.V ? OpaqueByValue.find(Val.V.get()) : OpaqueByValue.end();
      bool Holds = Val.Int ? Val.Int->Aff.eq_set(Arith.symbol(Sym.Id))
                                 .is_equal(Arith.universe())
                           : Opaque != OpaqueByValue.end() &&
                                 Opaque->second.second == Sym.Id;
      if (Holds)
        S.ValidSymbols.push_back(I);
    }
  }
}

void Executor::execReturn(const clang::Stmt *S, unsigned Id) {
  if (auto *R = dyn_cast<ReturnStmt>(S); R && R->getRetValue())
    eval(R->getRetValue());
  Path.Dead = true;
  Path.Dom = Path.Dom.subtract(Path.Dom);
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

void Executor::assume(const CondVal &C, bool Positive) {
  Path.Dom = Path.Dom.intersect(Positive ? C.True : C.False);
  if (C.Affine)
    return;
  Path.Exact = false;
  if (C.V)
    Path.Guards.push_back(Positive ? C.V : opValue("!$0", {C.V}, "bool"));
}

/// What \p C, the value of \p E here, tells threads apart by. An affine one says
/// so itself; a variable's name in the text of another one stands for all the
/// values that it ever holds.
unsigned Executor::condDepends(const CondVal &C, const Expr *E) const {
  return C.Affine ? C.Depends : C.Depends | L.depends(E);
}

void Executor::execIf(const IfStmt *S, unsigned Id) {
  if (S->getInit())
    exec(S->getInit(), Id);
  if (const DeclStmt *D = S->getConditionVariableDeclStmt()) {
    const unsigned Condition = exec(D, Id);
    M.Stmts[Condition].IsCondition = true;
    for (Var &V : M.Vars)
      if (!V.IsParam && V.DeclStmt == Condition)
        V.Expandable = false;
  }
  M.Stmts[Id].CondRange = range(S->getCond());
  CondVal C = evalCond(S->getCond());
  if (C.Affine)
    M.Stmts[Id].Cond = C.True;
  M.Stmts[Id].CondDepends = condDepends(C, S->getCond());
  if (S->isConstexpr() && (!S->getThen() || isa<NullStmt>(S->getThen()) ||
                           (S->hasElseStorage() && !S->getElse())))
    decline("unsupported-statement", "if constexpr", S->getBeginLoc());

  PathState Before = Path;
  auto EnvBefore = Env;
  assume(C, true);
  exec(S->getThen(), Id);
  PathState Then = Path;
  auto EnvThen = Env;

  Path = Before;
  Env = EnvBefore;
  assume(C, false);
  if (S->getElse())
    exec(S->getElse(), Id);
  PathState Else = Path;
  auto EnvElse = Env;

  Path = joinPaths(Before, Then, Else);
  const bool Never = C.Affine && C.True.is_empty();
  const bool Always = C.Affine && C.False.is_empty();
  if (Then.Dead || Never) {
    Env = EnvElse;
  } else if (Else.Dead || Always) {
    Env = EnvThen;
  } else {
    mergeEnv(C, EnvThen, EnvElse);
  }
}

/// The path behind an `if`: as before it, unless a branch was left for good.
PathState Executor::joinPaths(const PathState &Before, const PathState &A,
                              const PathState &B) {
  if (A.Dead && B.Dead) {
    PathState P = Before;
    P.Dead = true;
    P.Dom = P.Dom.subtract(P.Dom);
    return P;
  }
  if (A.Dead)
    return B;
  if (B.Dead)
    return A;
  // Both go on. If something inside was left (a nested return), the union of
  // what is left; inexact conditions there stay as the fact that some were.
  PathState P = Before;
  isl::set Union = A.Dom.unite(B.Dom);
  if (!Before.Dom.is_subset(Union))
    P.Dom = Union.coalesce();
  for (const PathState *X : {&A, &B})
    if (X->Guards.size() > Before.Guards.size() + 1) {
      P.Exact = false;
      for (size_t I = Before.Guards.size() + 1; I < X->Guards.size(); ++I) {
        Value U;
        U.Type = "bool";
        U.Text = "left early";
        U.Depends = X->Guards[I]->Depends;
        P.Guards.push_back(std::make_shared<Value>(U));
      }
    }
  return P;
}

/// \p A, if \p B is it but for the stores that its loads have survived (see
/// clobberLoads): those of both. Else null.
static ValueRef withSurvived(const ValueRef &A, const ValueRef &B) {
  if (A == B)
    return A;
  if (!A || !B || A->K != B->K || A->Type != B->Type || A->Text != B->Text ||
      A->Root != B->Root || A->Aff.get() != B->Aff.get() ||
      A->Cond.get() != B->Cond.get() ||
      A->Operands.size() != B->Operands.size() || A->K == Value::Unknown)
    return nullptr;
  auto N = std::make_shared<Value>(*A);
  for (size_t I = 0; I < N->Operands.size(); ++I)
    if (!(N->Operands[I] = withSurvived(A->Operands[I], B->Operands[I])))
      return nullptr;
  for (int Root : B->Survived)
    if (!llvm::is_contained(N->Survived, Root))
      N->Survived.push_back(Root);
  return N;
}

/// Loaded by some threads, by the others never set: what they have is no
/// value, and nothing may be loaded in its place. Other values can be had
/// anywhere; who reads them was one of the first.
SVal Executor::setOnOneWay(const CondVal &C, const Cell &Name, SVal V,
                           bool Then) {
  std::function<bool(const Value &)> Loads = [&](const Value &X) {
    return X.K == Value::Load ||
           llvm::any_of(X.Operands, [&](auto &O) { return Loads(*O); });
  };
  if (V.K != SVal::Data || V.Int || !V.V || !Loads(*V.V))
    return V;
  Value None, U;
  None.K = Value::Undefined;
  None.Type = U.Type = V.V->Type;
  U.Depends = C.Depends | V.V->Depends;
  U.Operands = {V.V, std::make_shared<Value>(None)};
  if (!Then)
    std::swap(U.Operands[0], U.Operands[1]);
  if (C.Affine) {
    U.K = Value::Select;
    U.Cond = C.True;
  } else if (C.V) {
    U.K = Value::Op;
    U.Text = "($0 ? $1 : $2)";
    U.Operands.insert(U.Operands.begin(), C.V);
  } else {
    U.Operands.clear();
    U.Text = Name.name();
  }
  V.V = std::make_shared<Value>(U);
  return V;
}

void Executor::mergeEnv(const CondVal &C,
                        const Environment &Then, const Environment &Else) {
  Environment Result;
  for (auto &[V, A] : Then) {
    auto It = Else.find(V);
    if (It == Else.end()) {
      Result[V] = setOnOneWay(C, V, A, /*Then=*/true);
      continue;
    }
    const SVal &B = It->second;
    if (sameValue(A, B)) {
      Result[V] = A;
      continue;
    }
    if (A.K == SVal::Data && B.K == SVal::Data && !A.Int && !B.Int)
      if (ValueRef Both = withSurvived(A.V, B.V)) {
        Result[V] = A;
        Result[V].V = Both;
        continue;
      }
    QualType T = V.type();
    if (A.K == SVal::Pointer || B.K == SVal::Pointer) {
      Env[V] = A;
      Result[V] = opaqueVar(V);
      if (Result[V].Base != SVal::UnknownBase &&
          (A.Base != B.Base || A.Index != B.Index))
        Result[V].Base = SVal::UnknownBase;
      if (Result[V].Base == SVal::UnknownBase)
        for (const SVal *P : {&A, &B})
          if (P->Base == SVal::Shared)
            decline("escaping-array",
                    "'" + M.Arrays[P->Index].Name + "' is what '" +
                        V.name() + "' may or may not point to",
                    V.V->getLocation());
      continue;
    }
    if (C.Affine && A.Int && B.Int) {
      auto X = Arith.exact(*A.Int, A.Type, where(C.True));
      auto Y = Arith.exact(*B.Int, B.Type, where(C.False));
      if (X && Y)
        if (auto R = Arith.select(C.True, *X, *Y)) {
          Result[V] = ofInt({*R, true}, T);
          continue;
        }
    }
    Value U;
    U.Type = typeText(T);
    U.Operands = {asValue(A), asValue(B)};
    U.Depends = C.Depends | U.Operands[0]->Depends | U.Operands[1]->Depends;
    if (C.Affine) {
      U.K = Value::Select;
      U.Cond = C.True;
    } else if (C.V) {
      U.K = Value::Op;
      U.Text = "($0 ? $1 : $2)";
      U.Operands.insert(U.Operands.begin(), C.V);
    } else {
      U.Operands.clear();
      U.Text = V.name();
    }
    Result[V] = ofValue(std::make_shared<Value>(U), T);
  }
  for (auto &[V, B] : Else)
    if (!Then.count(V))
      Result[V] = setOnOneWay(C, V, B, /*Then=*/false);
  Env = Result;
}

void Executor::execSwitch(const SwitchStmt *S, unsigned Id) {
  M.Stmts[Id].CondRange = range(S->getCond());
  SVal C = eval(S->getCond());
  M.Stmts[Id].CondDepends = L.depends(S->getCond());
  PathState Before = Path;
  llvm::SmallPtrSet<const VarDecl *, 8> Vars;
  L.assignedIn(S->getBody(), Vars);
  havoc(Vars);
  // Which label is taken is one condition for the whole body.
  Value U;
  U.Type = "bool";
  U.Text = "a case of switch";
  U.Depends = depends(C);
  Path.Exact = false;
  Path.Guards.push_back(std::make_shared<Value>(U));
  PathState Inside = Path;
  if (auto *B = dyn_cast<CompoundStmt>(S->getBody())) {
    // Each statement may be jumped to: a break before it does not count.
    unsigned Block = newStmt(Stmt::Block, B, B->getSourceRange(), Id);
    for (const clang::Stmt *X : B->body()) {
      if (isa<SwitchCase>(X)) {
        Path = Inside;
        havoc(Vars);
      }
      exec(X, Block);
    }
  } else {
    exec(S->getBody(), Id);
  }
  Path = Before;
  havoc(Vars);
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

/// Why threads may not arrive together at a barrier inside \p S; that they do
/// not, where the blocks of all launches are known and tell so.
std::string Executor::whyDivergent(const Stmt &S) const {
  const std::string Cond = "'" + M.text(S.CondRange) + "'";
  if (S.K != Stmt::If)
    return "threads may leave the loop around it in different rounds: " + Cond;
  const std::string Text = "the condition " + Cond;
  if (S.Cond.is_null() || S.Domain.is_null() || !S.DomainExact ||
      !M.Geo.ConstBlock || !M.Geo.AllLaunchesConst)
    return Text + " may differ between threads";
  // Of threads alone, and every thread of every block gets there.
  isl::set Block = Arith.universe();
  const char *const Ids[] = {"tx", "ty", "tz", "bdx", "bdy", "bdz"};
  for (int A = 0; A < 3; ++A) {
    const isl::pw_aff T = Arith.symbol(Ids[A]), N = Arith.symbol(Ids[A + 3]);
    Block = Block.intersect(T.ge_set(Arith.constant(0)))
                .intersect(T.lt_set(N))
                .intersect(N.eq_set(Arith.constant((*M.Geo.ConstBlock)[A])));
  }
  const bool Threads = llvm::all_of(involvedIds(S.Cond), [&](auto &Id) {
    return llvm::is_contained(Ids, Id);
  });
  if (!Threads || !Block.is_subset(S.Domain) ||
      Block.intersect(S.Cond).is_empty() || Block.is_subset(S.Cond))
    return Text + " may differ between threads";
  return Text + " holds for some threads of a block and not for others: as "
                "written its behaviour is undefined";
}

void Executor::summarise() {
  for (const SharedAccess &A : M.SharedAccesses) {
    Stmt &S = M.Stmts[A.Stmt];
    S.HasSharedAccess = true;
    S.HasSharedWrite |= A.K != SharedAccess::Read;
  }
  for (const GlobalAccess &A : M.GlobalAccesses) {
    Stmt &S = M.Stmts[A.Stmt];
    S.HasGlobalWrite |= A.K != GlobalAccess::Read;
    S.HasGlobalRead |= A.K != GlobalAccess::Write;
  }
  // Children have larger ids than their parents.
  for (size_t I = M.Stmts.size(); I-- > 0;) {
    Stmt &S = M.Stmts[I];
    S.HasBarrier |= S.K == Stmt::Barrier;
    S.HasReturn |= S.K == Stmt::Return;
    if (S.Parent < 0)
      continue;
    Stmt &P = M.Stmts[S.Parent];
    P.HasBarrier |= S.HasBarrier;
    P.HasReturn |= S.HasReturn;
    P.HasSharedAccess |= S.HasSharedAccess;
    P.HasSharedWrite |= S.HasSharedWrite;
    P.HasGlobalWrite |= S.HasGlobalWrite;
    P.HasGlobalRead |= S.HasGlobalRead;
    P.HasCall |= S.HasCall;
  }
  // A condition around a barrier that tells threads of the block apart, or a
  // loop that they leave at different times.
  for (const Stmt &B : M.Stmts) {
    if (B.K != Stmt::Barrier || B.Sync == Stmt::Syncwarp)
      continue;
    for (int P = B.Parent; P >= 0; P = M.Stmts[P].Parent)
      if (M.Stmts[P].CondDepends & DepThread) {
        M.Declines.push_back(
            {"divergent-barrier", whyDivergent(M.Stmts[P]), B.Pos});
        break;
      }
  }
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Switch && (S.HasBarrier || S.HasSharedWrite))
      M.Declines.push_back({"goto", "switch", S.Pos});
  // In the order of the text, as the contract says; an assignment evaluates
  // its right-hand side first.
  auto ByText = [](const auto &A, const auto &B) {
    return A.Range.Begin < B.Range.Begin;
  };
  std::sort(M.GlobalAccesses.begin(), M.GlobalAccesses.end(), ByText);
  std::sort(M.SharedAccesses.begin(), M.SharedAccesses.end(), ByText);
}

} // namespace rcache
