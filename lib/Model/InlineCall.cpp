// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the user that only compute and load are followed into their
// bodies, so that index helpers stay affine and a bounds-checked load is the
// select that it is:
//
//     float at(const float *p, int x, int w) {
//       if (x < 0 || x >= w)
//         return 0;                 at(in, g, w)  ->  0 <= g < w ? in[g] : 0
//       return p[x];
//     }
//
// The kernel's text has no place for the callee's expressions; where they are
// needed as text, clang prints them with the operands' holes in them.

#include "Affine/IslTools.h"
#include "BuiltinVars.h"
#include "Conditions.h"
#include "Effects.h"
#include "Evaluator.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace rcache {

/// What following one body has used up.
struct Evaluator::Callee {
  QualType Result;
  unsigned Budget = 96; ///< statements
};

namespace {

constexpr unsigned MaxDepth = 4;     ///< calls in calls
constexpr unsigned MaxBranches = 12; ///< conditions on one way through a body

/// Changes nothing but its own variables: what followBody understands, and no
/// store through a pointer.
class OnlyComputes : public ConstDynamicRecursiveASTVisitor {
public:
  bool Fine = true;

  bool VisitStmt(const clang::Stmt *S) override {
    if (isa<Expr>(S) || isa<CompoundStmt>(S) || isa<DeclStmt>(S) ||
        isa<IfStmt>(S) || isa<ReturnStmt>(S) || isa<NullStmt>(S))
      return true;
    return fail();
  }
  bool VisitVarDecl(const VarDecl *V) override {
    return V->isStaticLocal() || isSharedVar(V) ||
                   (V->isLocalVarDecl() && V->getType()->isReferenceType())
               ? fail()
               : true;
  }
  bool VisitBinaryOperator(const BinaryOperator *E) override {
    return E->isAssignmentOp() && !ownVariable(E->getLHS()) ? fail() : true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    if (E->getOpcode() == UO_AddrOf)
      return fail();
    return E->isIncrementDecrementOp() && !ownVariable(E->getSubExpr()) ? fail()
                                                                        : true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    auto *V = dyn_cast<VarDecl>(E->getDecl());
    if (builtinVar(E) || (V && isSharedVar(V)))
      return fail();
    // Memory that something else may change has no place in a value.
    return V && V->hasGlobalStorage() && !V->getType().isConstQualified() &&
                   !V->hasAttr<CUDAConstantAttr>()
               ? fail()
               : true;
  }
  bool VisitLambdaExpr(const LambdaExpr *) override { return fail(); }
  bool VisitStmtExpr(const StmtExpr *) override { return fail(); }
  bool VisitAtomicExpr(const AtomicExpr *) override { return fail(); }
  /// A method reads members of its object, and calls others of its methods.
  bool TraverseMemberExpr(const MemberExpr *E) override {
    if (isa<CXXThisExpr>(E->getBase()->IgnoreParenImpCasts()))
      return isa<FieldDecl>(E->getMemberDecl()) ||
                     isa<CXXMethodDecl>(E->getMemberDecl())
                 ? true
                 : fail();
    return ConstDynamicRecursiveASTVisitor::TraverseMemberExpr(E);
  }
  bool VisitCXXThisExpr(const CXXThisExpr *) override { return fail(); }
  bool VisitCXXNewExpr(const CXXNewExpr *) override { return fail(); }

private:
  bool fail() {
    Fine = false;
    return false;
  }
  static bool ownVariable(const Expr *E) {
    auto *R = dyn_cast<DeclRefExpr>(E->IgnoreParens());
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    return V && V->isLocalVarDeclOrParm() && !V->getType()->isReferenceType() &&
           !R->refersToEnclosingVariableOrCapture();
  }
};

bool onlyComputes(const FunctionDecl *Def) {
  OnlyComputes V;
  V.TraverseStmt(Def->getBody());
  return V.Fine;
}

/// How often a body names an object, and how often it reads a member of it or hands it on.
class MemberReads : public ConstDynamicRecursiveASTVisitor {
public:
  explicit MemberReads(const VarDecl *Object) : Object(Object) {}
  unsigned Named = 0, Read = 0;

  bool VisitDeclRefExpr(const DeclRefExpr *R) override {
    Named += R->getDecl() == Object;
    return true;
  }
  bool VisitImplicitCastExpr(const ImplicitCastExpr *C) override {
    const auto *Mem = dyn_cast<MemberExpr>(C->getSubExpr()->IgnoreParens());
    const auto *R = Mem && !Mem->isArrow() ? dyn_cast<DeclRefExpr>(Mem->getBase()->IgnoreParenImpCasts()) : nullptr;
    Read += C->getCastKind() == CK_LValueToRValue && R && R->getDecl() == Object;
    return true;
  }
  /// `at(v, x)` for a `const V &`.
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = isa<CXXOperatorCallExpr>(C) ? nullptr : C->getDirectCallee();
    for (unsigned I = 0; F && I < std::min(C->getNumArgs(), F->getNumParams()); ++I) {
      const QualType T = F->getParamDecl(I)->getType();
      const auto *R = dyn_cast<DeclRefExpr>(C->getArg(I)->IgnoreParenImpCasts());
      Read += R && R->getDecl() == Object && T->isReferenceType() && T->getPointeeType().isConstQualified();
    }
    return true;
  }

private:
  const VarDecl *Object;
};

/// Does \p Def do nothing with \p P but read members?
bool readsMembers(const FunctionDecl *Def, const ParmVarDecl *P) {
  MemberReads V(P);
  V.TraverseStmt(Def->getBody());
  return V.Named == V.Read;
}

void collectIds(const Value &V, std::vector<std::string> &Ids) {
  auto Add = [&](std::vector<std::string> More) {
    Ids.insert(Ids.end(), More.begin(), More.end());
  };
  if (!V.Aff.is_null())
    Add(involvedIds(V.Aff));
  if (!V.Cond.is_null())
    Add(involvedIds(V.Cond));
  for (const ValueRef &O : V.Operands)
    collectIds(*O, Ids);
}

/// An argument without what binds it to a parameter.
const Expr *bareArgument(const Expr *A) {
  while (true) {
    A = A->IgnoreParens();
    if (auto *M = dyn_cast<MaterializeTemporaryExpr>(A))
      A = M->getSubExpr();
    else if (auto *F = dyn_cast<FullExpr>(A))
      A = F->getSubExpr();
    else if (auto *D = dyn_cast<CXXDefaultArgExpr>(A))
      A = D->getExpr();
    else if (auto *I = dyn_cast<ImplicitCastExpr>(A);
             I && I->getCastKind() == CK_NoOp)
      A = I->getSubExpr();
    else
      return A;
  }
}

/// The name of a function or a variable of file scope, from any namespace.
std::string nameAnywhere(const ValueDecl *D) {
  auto *F = dyn_cast<FunctionDecl>(D);
  std::string Name = D->getQualifiedNameAsString();
  // Functions of the toolkit, and what stands in a namespace without a name.
  if ((F && isSystemFunction(F)) || Name.find('(') != std::string::npos)
    return D->getNameAsString();
  return Name.find("::") == std::string::npos ? Name : "::" + Name;
}

/// Prints an expression with `$0`, `$1`, ... for the given parts of it.
class HolePrinter : public PrinterHelper {
public:
  explicit HolePrinter(
      const llvm::DenseMap<const clang::Stmt *, std::string> &Holes)
      : Holes(Holes) {}
  bool Fine = true; ///< everything met can be written outside the callee

  bool handledStmt(clang::Stmt *S, llvm::raw_ostream &OS) override {
    if (auto It = Holes.find(S); It != Holes.end()) {
      OS << It->second;
      return true;
    }
    if (auto *R = dyn_cast<DeclRefExpr>(S)) {
      printName(R, OS);
      return true;
    }
    Fine &=
        isa<BinaryOperator>(S) || isa<UnaryOperator>(S) || isa<ParenExpr>(S) ||
        isa<ImplicitCastExpr>(S) || isa<CStyleCastExpr>(S) ||
        isa<CXXFunctionalCastExpr>(S) || isa<CXXStaticCastExpr>(S) ||
        isa<IntegerLiteral>(S) || isa<FloatingLiteral>(S) ||
        isa<CXXBoolLiteralExpr>(S) || isa<CharacterLiteral>(S) ||
        isa<ConditionalOperator>(S) || isa<SubstNonTypeTemplateParmExpr>(S) ||
        isa<MemberExpr>(S) || isa<ArraySubscriptExpr>(S) ||
        isa<ExprWithCleanups>(S) || isa<MaterializeTemporaryExpr>(S) ||
        isa<CXXBindTemporaryExpr>(S) ||
        (isa<CallExpr>(S) && !isa<CXXOperatorCallExpr>(S) &&
         !isa<CXXMemberCallExpr>(S)) ||
        (isa<CXXConstructExpr>(S) && cast<CXXConstructExpr>(S)->isElidable());
    return false;
  }

private:
  void printName(const DeclRefExpr *R, llvm::raw_ostream &OS) {
    const ValueDecl *D = R->getDecl();
    Fine &= !R->hasExplicitTemplateArgs();
    if (auto *V = dyn_cast<VarDecl>(D); V && V->isLocalVarDeclOrParm())
      Fine = false; // its value would be a hole
    OS << nameAnywhere(D);
  }

  const llvm::DenseMap<const clang::Stmt *, std::string> &Holes;
};

/// Without the nodes that printing does not show.
const clang::Stmt *shown(const Expr *E) { return E->IgnoreParens(); }

} // namespace

std::string Evaluator::fileScopeName(const VarDecl *V, const Expr *E) {
  return Cur.Calls ? nameAnywhere(V) : M.text(Rec.range(E));
}

ValueRef
Evaluator::printedOp(const Expr *E,
                     const std::vector<std::pair<const Expr *, SVal>> &Ops,
                     unsigned Depends) {
  Value V;
  V.K = Value::Op;
  V.Type = typeText(E->getType());
  V.Depends = Depends;
  llvm::DenseMap<const clang::Stmt *, std::string> Holes;
  for (auto &[X, S] : Ops) {
    ValueRef O = X ? asValue(S) : nullptr;
    if (!O || O->K == Value::Unknown) {
      V.K = Value::Unknown;
      V.Operands.clear();
      V.Text = "a function's body";
      V.Depends |= depends(S);
      continue;
    }
    V.Depends |= O->Depends;
    std::string Text;
    if (O->K == Value::Uniform) {
      Text = "(" + O->Text + ")";
    } else {
      Text = "$" + std::to_string(V.Operands.size());
      V.Operands.push_back(O);
    }
    Holes[X] = Holes[shown(X)] = Text;
  }
  if (V.K == Value::Unknown)
    return std::make_shared<Value>(V);
  if (auto *B = dyn_cast<BinaryOperator>(E);
      B && V.Operands.size() == 2 && Ops.size() == 2 &&
      Ops[0].first == B->getLHS() && Ops[1].first == B->getRHS())
    V.Opcode = operatorOf(B->getOpcode());
  HolePrinter Helper(Holes);
  llvm::raw_string_ostream OS(V.Text);
  E->printPretty(OS, &Helper, Policy, 0, "\n", &AC);
  if (!Helper.Fine) {
    V.K = Value::Unknown;
    V.Operands.clear();
    V.Text = "a function's body";
  } else if (V.Operands.empty() && !V.Depends) {
    V.K = Value::Uniform;
  }
  return std::make_shared<Value>(V);
}

/// The value that the statements \p Work return, first one first.
std::optional<SVal> Evaluator::followBody(Callee &C,
                                          std::vector<const clang::Stmt *> Work,
                                          unsigned Depth) {
  while (!Work.empty()) {
    if (C.Budget == 0 || Depth > MaxBranches)
      return std::nullopt;
    --C.Budget;
    const clang::Stmt *S = Work.front();
    Work.erase(Work.begin());
    if (auto *B = dyn_cast<CompoundStmt>(S)) {
      Work.insert(Work.begin(), B->body_begin(), B->body_end());
    } else if (auto *D = dyn_cast<DeclStmt>(S)) {
      for (const Decl *X : D->decls()) {
        auto *V = dyn_cast<VarDecl>(X);
        if (!V)
          continue;
        Cur.Env.erase(V);
        if (V->getType()->isArrayType())
          return std::nullopt;
        if (const Expr *I = V->getInit())
          Cur.Env[V] = eval(I);
      }
    } else if (auto *R = dyn_cast<ReturnStmt>(S)) {
      if (!R->getRetValue())
        return std::nullopt;
      return eval(R->getRetValue());
    } else if (auto *If = dyn_cast<IfStmt>(S)) {
      if (!plainCondition(If))
        return std::nullopt;
      CondVal Cond = evalCond(plainCondition(If));
      PathState Before = Cur.Path;
      auto EnvBefore = Cur.Env;
      auto Branch = [&](bool Positive,
                        const clang::Stmt *First) -> std::optional<SVal> {
        std::vector<const clang::Stmt *> W = Work;
        if (First)
          W.insert(W.begin(), First);
        assume(Cond, Positive);
        auto V = followBody(C, std::move(W), Depth + 1);
        Cur.Path = Before;
        Cur.Env = EnvBefore;
        return V;
      };
      auto A = Branch(true, If->getThen());
      if (!A)
        return std::nullopt;
      auto B = Branch(false, If->getElse());
      if (!B)
        return std::nullopt;
      return eitherOf(Cond, *A, *B, C.Result);
    } else if (auto *X = dyn_cast<Expr>(S)) {
      eval(X);
    } else if (!isa<NullStmt>(S)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The arguments of \p E, when each is a value that a body can be given; they
/// are evaluated without records.
std::optional<std::vector<SVal>> Evaluator::argumentsOf(const CallExpr *E) {
  std::vector<SVal> Args;
  for (const Expr *A : E->arguments()) {
    const Expr *X = bareArgument(A);
    if (X->HasSideEffects(AC, /*IncludePossibleEffects=*/false))
      return std::nullopt;
    SVal V = X->isGLValue() && !isa<CallExpr>(X) ? load(lvalue(X), X) : eval(X);
    // A pointer into global memory of a known parameter, or a plain value.
    if (!(V.K == SVal::Pointer
              ? V.Base == SVal::Global && V.Index >= 0
              : V.Int.has_value() || (V.V && V.V->K != Value::Unknown)))
      return std::nullopt;
    Args.push_back(V);
  }
  return Args;
}

/// The variable whose const method \p Call is, and that can be named; null:
/// there is no such.
const Expr *Evaluator::objectOfMethod(const CXXMemberCallExpr *Call) const {
  const Expr *Object = bareArgument(Call->getImplicitObjectArgument());
  if (isa<CXXThisExpr>(Object))
    Object = Cur.This;
  const Expr *Root = Object;
  while (auto *Mem = dyn_cast_or_null<MemberExpr>(Root)) {
    if (Mem->isArrow())
      return nullptr;
    Root = Mem->getBase()->IgnoreParenImpCasts();
  }
  auto *R = dyn_cast_or_null<DeclRefExpr>(Root);
  auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
  if (!V || L.varIndex(V) < 0 || !Call->getMethodDecl() ||
      !Call->getMethodDecl()->isConst() || Call->getMethodDecl()->isVirtual())
    return nullptr;
  return Object;
}

/// The object of the kernel's that argument \p A is, by name; null: it is none.
const Expr *Evaluator::objectGiven(const Expr *A) const {
  const Expr *X = bareArgument(A);
  // A copy of it, for a parameter by value.
  if (auto *C = dyn_cast<CXXConstructExpr>(X);
      C && C->getNumArgs() == 1 && C->getConstructor()->isCopyOrMoveConstructor() && C->getConstructor()->isTrivial())
    X = bareArgument(C->getArg(0));
  auto *R = dyn_cast<DeclRefExpr>(X);
  auto *V = R && X->getType()->isRecordType() ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
  if (!V)
    return nullptr;
  const Expr *Outer = Cur.Objects.lookup(V);
  return Outer ? Outer : L.varIndex(V) >= 0 ? X : nullptr;
}

/// Has each symbol of \p V a text in the kernel? One for something inside a
/// body has none.
bool Evaluator::hasText(const SVal &V) const {
  std::vector<std::string> Ids;
  if (V.Int)
    Ids = involvedIds(V.Int->Aff);
  else
    collectIds(*V.V, Ids);
  return llvm::none_of(Ids, [&](const std::string &Id) {
    const int I = M.symbolIndex(Id);
    return I >= 0 && M.Symbols[I].Text.empty() && M.Symbols[I].Factors.empty();
  });
}

/// The value of the call \p E when the body of \p F can be followed. Nothing is
/// recorded: that is left to who calls this.
std::optional<SVal> Evaluator::followCall(const CallExpr *E,
                                          const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  const Expr *Object = nullptr;
  if (auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
    Object = objectOfMethod(Call);
    if (!Object)
      return std::nullopt;
  }
  if (Cur.Calls >= MaxDepth || isa<CXXOperatorCallExpr>(E) ||
      !F->hasBody(Def) || E->getNumArgs() != Def->getNumParams() ||
      E->getType()->isVoidType() || E->getType()->isPointerType() ||
      E->isGLValue())
    return std::nullopt;
  if (!onlyComputes(Def))
    return std::nullopt;
  // The body changes nothing of the kernel's: its state is dropped.
  const State Before = Cur;
  Cur.Quiet = true;
  std::optional<SVal> R;
  if (auto Args = argumentsOf(E)) {
    Cur.Env = Before.Env;
    // A reference parameter is the value it is bound to.
    for (unsigned I = 0; I < Args->size(); ++I) {
      const ParmVarDecl *P = Def->getParamDecl(I);
      Cur.Env[P] = (*Args)[I];
      if (const Expr *Given = objectGiven(E->getArg(I)); Given && readsMembers(Def, P))
        Cur.Objects[P] = Given;
    }
    Cur.This = Object;
    ++Cur.Calls;
    Callee C;
    C.Result = E->getType();
    R = followBody(C, {Def->getBody()}, 0);
  }
  Cur = Before;
  if (!R || R->K != SVal::Data)
    return std::nullopt;
  if (R->Int && !R->Int->Exact) {
    auto X = Arith.exact(*R->Int, R->Type, Cur.where());
    if (!X)
      return std::nullopt;
    R->Int = IntValue{*X, true};
  }
  // An integer of integers that is not affine: the call itself says more.
  // A struct is what it is made of.
  if (!R->Int && (!R->V || hasUnknown(*R->V) ||
                  (isPure(F) && !E->getType()->isRecordType())))
    return std::nullopt;
  return hasText(*R) ? R : std::nullopt;
}

} // namespace rcache
