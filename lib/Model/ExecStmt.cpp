// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements: the tree of the model, paths, joins.

#include "Conditions.h"
#include "Effects.h"
#include "Executor.h"
#include "InWords.h"
#include "Support/Words.h"
#include "Work.h"
#include "clang/AST/Attr.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace rcache {

void Executor::run(const FunctionDecl *FD) {
  Chosen.emplace(FD);
  for (const ParmVarDecl *P : FD->parameters()) {
    Cur.Declared.insert(P);
    int I = L.paramIndex(P);
    KernelParam &K = M.Params[I];
    QualType T = P->getType();
    const Var &V = M.Vars[K.VarId];
    if (isInt(T)) {
      Symbol S;
      S.K = V.Assigned || V.AddressTaken ? Symbol::Opaque : Symbol::Param;
      S.Text = K.Name;
      S.Id = Ev.freshId(K.Name);
      S.Type = Ev.typeText(T);
      S.Bits = K.Bits;
      S.Signed = K.Signed;
      S.VarId = K.VarId;
      S.Anywhere = S.K == Symbol::Param;
      unsigned N = Arith.addSymbol(S);
      Cur.Env[P] = Ev.ofInt({Arith.symbol(M.Symbols[N].Id), true}, T);
    } else if (T->isPointerType()) {
      Cur.Env[P] = Ev.parameterPointer(I, T);
    } else {
      Value U;
      U.K = V.Assigned ? Value::Unknown : Value::Uniform;
      U.Text = K.Name;
      U.Type = Ev.typeText(T);
      Cur.Env[P] = Ev.ofValue(std::make_shared<Value>(U), T);
    }
  }
  exec(FD->getBody(), -1);
  summarise(M, Arith);
}

Executor::UnrollHint Executor::unrollHint(const AttributedStmt *A) const {
  UnrollHint Hint;
  for (const Attr *X : A->getAttrs())
    if (auto *H = dyn_cast<LoopHintAttr>(X)) {
      Hint.Given |= H->getOption() == LoopHintAttr::Unroll ||
                    H->getOption() == LoopHintAttr::UnrollCount;
      Hint.At = H->getLocation();
      const Expr *N = H->getValue();
      Expr::EvalResult R;
      if (H->getOption() == LoopHintAttr::UnrollCount && N &&
          !N->isValueDependent() && N->EvaluateAsInt(R, AC))
        Hint.Count =
            static_cast<unsigned>(R.Val.getInt().getLimitedValue(1u << 16));
    }
  return Hint;
}

/// The range of a statement in front of which a pragma stands begins with it.
void Executor::setPragma(unsigned Id, const UnrollHint &Unroll) {
  TextRange &T = M.Stmts[Id].Range;
  size_t At = M.Text.rfind("#pragma", T.Begin);
  size_t Alt = M.Text.rfind("_Pragma", T.Begin);
  if (Alt != std::string::npos && (At == std::string::npos || Alt > At))
    At = Alt;
  // A macro whose text is the pragma stands nearer.
  if (Unroll.At.isMacroID()) {
    const SourceManager &SM = AC.getSourceManager();
    const StringRef Macro = Lexer::getSourceText(
        CharSourceRange::getTokenRange(SM.getExpansionLoc(Unroll.At)), SM, AC.getLangOpts());
    const size_t Name = Macro.empty() ? StringRef::npos
                                      : StringRef(M.Text).take_front(T.Begin).rfind(Macro);
    const bool Whole = Name != StringRef::npos &&
                       (Name == 0 || !isNameChar(M.Text[Name - 1])) &&
                       !isNameChar(M.Text[Name + Macro.size()]);
    if (Whole && (At == std::string::npos || Name > At))
      At = Name;
  }
  // Nothing but the pragma and white space may stand between.
  if (At != std::string::npos) {
    StringRef Between = StringRef(M.Text).slice(At, T.Begin);
    if (!Between.contains(';') && !Between.contains('{') &&
        !Between.contains('}'))
      T.Begin = At;
  }
  M.Stmts[Id].HasUnrollPragma = true;
  M.Stmts[Id].UnrollCount = Unroll.Count;
}

static Stmt::Kind kindOf(const clang::Stmt *S) {
  using Syntax = clang::Stmt;
  static constexpr std::pair<Syntax::StmtClass, Stmt::Kind> Kinds[] = {
      {Syntax::CompoundStmtClass, Stmt::Block},
      {Syntax::DeclStmtClass, Stmt::Decl},
      {Syntax::IfStmtClass, Stmt::If},
      {Syntax::ForStmtClass, Stmt::For},
      {Syntax::WhileStmtClass, Stmt::While},
      {Syntax::CXXForRangeStmtClass, Stmt::While},
      {Syntax::DoStmtClass, Stmt::Do},
      {Syntax::SwitchStmtClass, Stmt::Switch},
      {Syntax::ReturnStmtClass, Stmt::Return},
      {Syntax::BreakStmtClass, Stmt::Break},
      {Syntax::ContinueStmtClass, Stmt::Continue}};
  const auto *Of = llvm::find_if(
      Kinds, [&](const auto &K) { return K.first == S->getStmtClass(); });
  return Of == std::end(Kinds) ? Stmt::Leaf : Of->second;
}

/// Does \p S name a parameter?
static bool namesParameter(const clang::Stmt *S) {
  const auto *R = dyn_cast<DeclRefExpr>(S);
  return (R && isa<ParmVarDecl>(R->getDecl())) ||
         llvm::any_of(S->children(), [](const clang::Stmt *Child) {
           return Child && namesParameter(Child);
         });
}

unsigned Executor::exec(const clang::Stmt *S, int Parent) {
  M.Ctx->checkTime();
  UnrollHint Unroll;
  if (auto *A = dyn_cast<AttributedStmt>(S)) {
    Unroll = unrollHint(A);
    S = A->getSubStmt();
  }
  const IfStmt *Template = Chosen->asWritten(S);
  const clang::Stmt *Whole = Template ? Template : S;
  const SourceRange R = Whole->getSourceRange(); // a pragma is no token
  if (auto *Lab = dyn_cast<LabelStmt>(S)) {
    Rec.decline(DeclineCode::Goto,
                "label '" + std::string(Lab->getName()) + "'",
                S->getBeginLoc());
    S = Lab->getSubStmt();
  }
  if (auto *C = dyn_cast<SwitchCase>(S))
    return exec(C->getSubStmt(), Parent);
  const unsigned Saved = Cur.Stmt;
  const unsigned Id = Rec.newStmt(kindOf(S), Whole, R, Parent);
  Cur.Stmt = Id;
  std::tie(M.Stmts[Id].Computes, M.Stmts[Id].OfElements) = workOf(
      S, AC, Counting, [&](const Expr *E) { return !L.depends(E) && !namesParameter(E); });
  if (Unroll.Given)
    setPragma(Id, Unroll);
  execKind(S, Id);
  Cur.Stmt = Saved;
  return Id;
}

/// Executes \p S, which is statement \p Id of the model.
void Executor::execKind(const clang::Stmt *S, unsigned Id) {
  if (auto *C = dyn_cast<CompoundStmt>(S)) {
    for (const clang::Stmt *X : C->body())
      exec(X, static_cast<int>(Id));
  } else if (auto *D = dyn_cast<DeclStmt>(S)) {
    execDecl(D, Id);
  } else if (auto *I = dyn_cast<IfStmt>(S)) {
    execIf(I, Id);
  } else if (auto *F = dyn_cast<ForStmt>(S)) {
    execFor(F, Id);
  } else if (isa<WhileStmt>(S) || isa<DoStmt>(S) || isa<CXXForRangeStmt>(S)) {
    execWhile(S, Id);
  } else if (auto *W = dyn_cast<SwitchStmt>(S)) {
    execSwitch(W, Id);
  } else if (isa<ReturnStmt>(S)) {
    execReturn(S);
  } else if (isa<BreakStmt>(S) || isa<ContinueStmt>(S)) {
    Cur.stop();
  } else if (auto *E = dyn_cast<Expr>(S)) {
    execLeaf(E, Id);
  } else if (!isa<NullStmt>(S)) {
    if (!isa<AsmStmt>(S) && !isa<GotoStmt>(S) && !isa<IndirectGotoStmt>(S))
      Rec.decline(DeclineCode::UnsupportedStatement, inWords(S),
                  S->getBeginLoc());
    llvm::SmallPtrSet<const VarDecl *, 8> Vars;
    L.assignedIn(S, Vars);
    havoc(Vars);
  }
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

/// What the reference \p V stands for.
SVal Executor::bindReference(const VarDecl *V) {
  const Expr *Init = V->getInit();
  const LVal Lv = Ev.lvalue(Init);
  if (Lv.K != LVal::Memory)
    return Ev.unknown(Init, M.Vars[L.varIndex(V)].Depends);
  if (Lv.Place.Base == SVal::Private)
    Ev.dynamicIndex(Lv.Place);
  SVal S = Ev.addressOf(Lv, nullptr);
  // An element: what is done to the reference is done to the element.
  if (S.Base == SVal::Shared && !Lv.Member.empty())
    Rec.escape(S, Init,
               "is bound to the reference '" + V->getNameAsString() + "'");
  // As a place: without the zero that taking an address may have added.
  S = Lv.Place;
  if (!Lv.Member.empty())
    S.Base = SVal::UnknownBase;
  return S;
}

void Executor::execVarInit(const VarDecl *V) {
  int I = L.varIndex(V);
  const Expr *Init = V->getInit();
  Cur.Declared.insert(V);
  if (!Init) {
    Ev.forget(V);
    return;
  }
  SVal S;
  if (V->getType()->isReferenceType()) {
    S = bindReference(V);
  } else if (V->getType()->isArrayType()) {
    Ev.initElements(V, Init);
    return;
  } else if (auto *C = dyn_cast<CXXConstructExpr>(Init->IgnoreImplicit());
             C && C->getNumArgs() == 0 && C->getConstructor()->isTrivial()) {
    Cur.Env.erase(V); // float4 v;
    return;
  } else {
    S = Ev.eval(Init);
    if (S.Base == SVal::Shared && S.K == SVal::Pointer) {
      // `T *s = SharedMemory<T>();`: the element type in the kernel's words.
      SharedArray &A = M.Arrays[S.Index];
      StringRef Type = M.Vars[I].Type;
      if (A.AtFileScope && Type.consume_back(" *") &&
          A.ElemType == A.CanonicalType &&
          Ev.typeText(V->getType()->getPointeeType()) == A.CanonicalType) {
        // (What is seen as const is const neither in the array nor in registers.)
        while (Type.consume_front("volatile ") || Type.consume_front("const ") ||
               Type.consume_back(" const") || Type.consume_back(" volatile"))
          ;
        A.ElemType = Type.str();
      }
    }
    S.Flattened |= S.K == SVal::Pointer && S.Idx.size() > 1;
  }
  if (S.K == SVal::Data)
    M.Vars[I].Init = Ev.asValue(S);
  Cur.Env[V] = S;
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
      Ev.eval(E);
    return execBarrier(*K, Id);
  }
  const Expr *SavedWhole = Cur.Whole;
  Cur.Whole = E->IgnoreParens();
  Ev.eval(E);
  Cur.Whole = SavedWhole;
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
    for (auto &[C, Val] : Cur.Env) {
      if (C.Element >= 0 || L.varIndex(C.V) != Sym.VarId)
        continue;
      bool Holds = Val.Int ? Val.Int->Aff.eq_set(Arith.symbol(Sym.Id))
                                 .is_equal(Arith.universe())
                           : Val.V && Ev.symbolOf(Val.V) == Sym.Id;
      if (Holds)
        S.ValidSymbols.push_back(I);
    }
  }
}

void Executor::execReturn(const clang::Stmt *S) {
  if (auto *R = dyn_cast<ReturnStmt>(S); R && R->getRetValue())
    Ev.eval(R->getRetValue());
  Cur.stop();
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// What \p C, the value of \p E here, tells threads apart by. An affine one
/// says so itself; a variable's name in the text of another one stands for all
/// the values that it ever holds.
unsigned Executor::condDepends(const CondVal &C, const Expr *E) const {
  return C.Affine ? C.Depends : C.Depends | L.depends(E);
}

/// The variable that a condition declares.
void Executor::execCondition(const DeclStmt *D, unsigned Id) {
  const unsigned Condition = exec(D, Id);
  M.Stmts[Condition].IsCondition = true;
  for (Var &V : M.Vars)
    if (!V.IsParam && V.DeclStmt == Condition)
      V.Expandable = false;
}

void Executor::execIf(const IfStmt *S, unsigned Id) {
  const Expr *Cond = conditionOf(S);
  if (!Cond) // (an obstacle)
    return;
  if (S->getInit())
    exec(S->getInit(), Id);
  if (const DeclStmt *D = S->getConditionVariableDeclStmt())
    execCondition(D, Id);
  M.Stmts[Id].CondRange = Rec.range(Cond);
  CondVal C = Ev.evalCond(Cond);
  if (C.Affine)
    M.Stmts[Id].Cond = C.True;
  M.Stmts[Id].CondDepends = condDepends(C, Cond);
  PathState Before = Cur.Path;
  auto EnvBefore = Cur.Env;
  Ev.assume(C, true);
  const unsigned ThenId = exec(S->getThen(), Id);
  PathState Then = Cur.Path;
  auto EnvThen = Cur.Env;

  Cur.Path = Before;
  Cur.Env = EnvBefore;
  Ev.assume(C, false);
  if (S->getElse())
    exec(S->getElse(), Id);
  PathState Else = Cur.Path;
  auto EnvElse = Cur.Env;

  noteLeftOut(S, Id, ThenId);
  Cur.Path = joinPaths(Before, Then, Else);
  const bool Never = C.Affine && C.True.is_empty();
  const bool Always = C.Affine && C.False.is_empty();
  if (Then.Dead || Never) {
    Cur.Env = EnvElse;
  } else if (Else.Dead || Always) {
    Cur.Env = EnvThen;
  } else {
    Ev.mergeEnv(C, EnvThen, EnvElse);
  }
}

/// Is nothing there of what the template has there?
static bool isLeftOut(const clang::Stmt *Here, const clang::Stmt *Template) {
  auto Empty = [](const clang::Stmt *S) {
    auto *C = dyn_cast_or_null<CompoundStmt>(S);
    return !S || isa<NullStmt>(S) || (C && C->body_empty());
  };
  return Empty(Here) && !Empty(Template);
}

/// The text of the branch that this instantiation of a template has not.
void Executor::noteLeftOut(const IfStmt *S, unsigned Id, unsigned ThenId) {
  const IfStmt *W = Chosen->asWritten(S);
  if (!W)
    return;
  Stmt &If = M.Stmts[Id];
  auto Whole = [&](const clang::Stmt *Branch) {
    TextRange R = Rec.range(Branch);
    const size_t Next = M.Text.find_first_not_of(" \t\n", R.End);
    if (!isa<CompoundStmt>(Branch) && Next < M.Text.size() &&
        M.Text[Next] == ';')
      R.End = static_cast<unsigned>(Next) + 1;
    return R;
  };
  bool Known = true;
  auto Leave = [&](Stmt &Branch, const clang::Stmt *Written) {
    Branch.Range = Branch.LeftOut = Whole(Written);
    Known &= !Branch.LeftOut.empty();
  };
  if (isLeftOut(S->getThen(), W->getThen()))
    Leave(M.Stmts[ThenId], W->getThen());
  if (isLeftOut(S->getElse(), W->getElse())) {
    if (S->getElse())
      Leave(M.Stmts[If.Children.back()], W->getElse());
    else
      If.LeftOut = {M.Stmts[ThenId].Range.End, If.Range.End};
    Known &= S->getElse() || (!M.Stmts[ThenId].Range.empty() &&
                              If.LeftOut.Begin < If.LeftOut.End);
  }
  if (!Known)
    Rec.decline(DeclineCode::UnsupportedStatement, "if constexpr",
                S->getBeginLoc());
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

void Executor::execSwitch(const SwitchStmt *S, unsigned Id) {
  if (S->getInit())
    exec(S->getInit(), Id);
  if (const DeclStmt *D = S->getConditionVariableDeclStmt())
    execCondition(D, Id);
  M.Stmts[Id].CondRange = Rec.range(S->getCond());
  SVal C = Ev.eval(S->getCond());
  M.Stmts[Id].CondDepends = L.depends(S->getCond());
  PathState Before = Cur.Path;
  llvm::SmallPtrSet<const VarDecl *, 8> Vars;
  L.assignedIn(S->getBody(), Vars);
  havoc(Vars);
  // Which label is taken is one condition for the whole body.
  Value U;
  U.Type = "bool";
  U.Text = "a case of switch";
  U.Depends = Ev.depends(C);
  Cur.Path.Exact = false;
  Cur.Path.Guards.push_back(std::make_shared<Value>(U));
  PathState Inside = Cur.Path;
  if (auto *B = dyn_cast<CompoundStmt>(S->getBody())) {
    // Each statement may be jumped to: a break before it does not count.
    unsigned Block = Rec.newStmt(Stmt::Block, B, B->getSourceRange(), Id);
    for (const clang::Stmt *X : B->body()) {
      if (isa<SwitchCase>(X)) {
        Cur.Path = Inside;
        havoc(Vars);
      }
      exec(X, Block);
    }
  } else {
    exec(S->getBody(), Id);
  }
  Cur.Path = Before;
  havoc(Vars);
}

} // namespace rcache
