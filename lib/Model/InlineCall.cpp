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
#include "Effects.h"
#include "Executor.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace rcache {

/// What following one body has used up.
struct Executor::Callee {
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

bool hasUnknown(const Value &V) {
  if (V.K == Value::Unknown)
    return true;
  return llvm::any_of(V.Operands,
                      [](const ValueRef &O) { return !O || hasUnknown(*O); });
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

std::string Executor::fileScopeName(const VarDecl *V, const Expr *E) {
  return Inlining ? nameAnywhere(V) : M.text(range(E));
}

ValueRef
Executor::printedOp(const Expr *E,
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

/// `C ? A : B` of type \p T.
std::optional<SVal> Executor::eitherOf(const CondVal &C, const SVal &A,
                                       const SVal &B, QualType T) {
  if (A.K != SVal::Data || B.K != SVal::Data)
    return std::nullopt;
  if (C.Affine && A.Int && B.Int) {
    auto X = Arith.exact(*A.Int, A.Type, where(C.True));
    auto Y = Arith.exact(*B.Int, B.Type, where(C.False));
    if (X && Y)
      if (auto R = Arith.select(C.True, *X, *Y))
        return ofInt({*R, true}, T);
  }
  Value V;
  V.Type = typeText(T);
  V.Operands = {asValue(A), asValue(B)};
  V.Depends = C.Depends | V.Operands[0]->Depends | V.Operands[1]->Depends;
  if (C.Affine) {
    V.K = Value::Select;
    V.Cond = C.True;
  } else if (C.V) {
    V.K = Value::Op;
    V.Text = "($0 ? $1 : $2)";
    V.Operands.insert(V.Operands.begin(), C.V);
  } else {
    return std::nullopt;
  }
  return ofValue(std::make_shared<Value>(V), T);
}

/// The value that the statements \p Work return, first one first.
std::optional<SVal> Executor::followBody(Callee &C,
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
        Env.erase(V);
        if (V->getType()->isArrayType())
          return std::nullopt;
        if (const Expr *I = V->getInit())
          Env[V] = eval(I);
      }
    } else if (auto *R = dyn_cast<ReturnStmt>(S)) {
      if (!R->getRetValue())
        return std::nullopt;
      return eval(R->getRetValue());
    } else if (auto *If = dyn_cast<IfStmt>(S)) {
      if (If->getInit() || If->getConditionVariable())
        return std::nullopt;
      CondVal Cond = evalCond(If->getCond());
      PathState Before = Path;
      auto EnvBefore = Env;
      auto Branch = [&](bool Positive,
                        const clang::Stmt *First) -> std::optional<SVal> {
        std::vector<const clang::Stmt *> W = Work;
        if (First)
          W.insert(W.begin(), First);
        assume(Cond, Positive);
        auto V = followBody(C, std::move(W), Depth + 1);
        Path = Before;
        Env = EnvBefore;
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

/// The value of the call \p E when the body of \p F can be followed. Nothing is
/// recorded: that is left to who calls this.
std::optional<SVal> Executor::followCall(const CallExpr *E,
                                         const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  // A method of a variable that can be named.
  const Expr *Object = nullptr;
  if (auto *Call = dyn_cast<CXXMemberCallExpr>(E)) {
    Object = bareArgument(Call->getImplicitObjectArgument());
    if (isa<CXXThisExpr>(Object))
      Object = This;
    const Expr *Root = Object;
    while (auto *Mem = dyn_cast_or_null<MemberExpr>(Root)) {
      if (Mem->isArrow())
        return std::nullopt;
      Root = Mem->getBase()->IgnoreParenImpCasts();
    }
    auto *R = dyn_cast_or_null<DeclRefExpr>(Root);
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    if (!V || L.varIndex(V) < 0 || !Call->getMethodDecl() ||
        !Call->getMethodDecl()->isConst() || Call->getMethodDecl()->isVirtual())
      return std::nullopt;
  }
  if (Inlining >= static_cast<int>(MaxDepth) ||
      isa<CXXOperatorCallExpr>(E) || !F->hasBody(Def) ||
      E->getNumArgs() != Def->getNumParams() || E->getType()->isVoidType() ||
      E->getType()->isPointerType() || E->isGLValue())
    return std::nullopt;
  if (!onlyComputes(Def))
    return std::nullopt;
  auto SavedEnv = Env;
  PathState SavedPath = Path;
  auto Restore = [&] {
    Env = SavedEnv;
    Path = SavedPath;
  };
  ++Silent;
  bool Ok = true;
  std::vector<SVal> Args;
  for (const Expr *A : E->arguments()) {
    const Expr *X = bareArgument(A);
    Ok &= !X->HasSideEffects(AC, /*IncludePossibleEffects=*/false);
    SVal V = Ok ? (X->isGLValue() && !isa<CallExpr>(X) ? load(lvalue(X), X)
                                                       : eval(X))
                : SVal();
    // A pointer into global memory of a known parameter, or a plain value.
    Ok &= V.K == SVal::Pointer
              ? V.Base == SVal::Global && V.Index >= 0
              : V.Int.has_value() || (V.V && V.V->K != Value::Unknown);
    Args.push_back(V);
    if (!Ok)
      break;
  }
  std::optional<SVal> R;
  if (Ok) {
    Env = SavedEnv;
    for (unsigned I = 0; I < Args.size(); ++I) {
      // A reference parameter is the value it is bound to.
      Env[Def->getParamDecl(I)] = Args[I];
    }
    const Expr *Outer = This;
    This = Object;
    ++Inlining;
    Callee C;
    C.Result = E->getType();
    R = followBody(C, {Def->getBody()}, 0);
    --Inlining;
    This = Outer;
  }
  --Silent;
  Restore();
  if (!R || R->K != SVal::Data)
    return std::nullopt;
  if (R->Int && !R->Int->Exact) {
    auto X = Arith.exact(*R->Int, R->Type, where());
    if (!X)
      return std::nullopt;
    R->Int = IntValue{*X, true};
  }
  // An integer of integers that is not affine: the call itself says more.
  // A struct is what it is made of.
  if (!R->Int && (!R->V || hasUnknown(*R->V) ||
                  (isPure(F) && !E->getType()->isRecordType())))
    return std::nullopt;
  // A symbol for something inside the body has no text in the kernel.
  std::vector<std::string> Ids;
  if (R->Int)
    Ids = involvedIds(R->Int->Aff);
  else
    collectIds(*R->V, Ids);
  for (const std::string &Id : Ids)
    if (int I = M.symbolIndex(Id); I >= 0 && M.Symbols[I].Text.empty() &&
                                   M.Symbols[I].Factors.empty())
      return std::nullopt;
  return R;
}

} // namespace rcache
