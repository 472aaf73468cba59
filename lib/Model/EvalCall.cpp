// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls: integer functions of the toolkit, cached loads, atomics, small
// functions of the user (followed where they only compute: InlineCall.cpp), and
// everything else by what it may touch.

#include "BuiltinVars.h"
#include "Effects.h"
#include "Executor.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace rcache {

/// An argument without the conversions that bind it to a reference.
static const Expr *argument(const Expr *A) {
  while (true) {
    A = A->IgnoreParens();
    if (auto *M = dyn_cast<MaterializeTemporaryExpr>(A))
      A = M->getSubExpr();
    else if (auto *F = dyn_cast<FullExpr>(A))
      A = F->getSubExpr();
    else if (auto *I = dyn_cast<ImplicitCastExpr>(A);
             I && I->getCastKind() == CK_NoOp)
      A = I->getSubExpr();
    else
      return A;
  }
}

/// Keeps the text of \p F's body, and of those it calls, for the prediction.
void Executor::noteBody(const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  if (!F->hasBody(Def) || isSystemFunction(Def) || !Def->getIdentifier() ||
      M.CalleeBodies.count(Def->getName().str()))
    return;
  M.CalleeBodies[Def->getName().str()] =
      Lexer::getSourceText(
          CharSourceRange::getTokenRange(Def->getBody()->getSourceRange()),
          AC.getSourceManager(), AC.getLangOpts())
          .str();
  struct Calls : ConstDynamicRecursiveASTVisitor {
    std::vector<const FunctionDecl *> Found;
    bool VisitCallExpr(const CallExpr *E) override {
      if (const FunctionDecl *Callee = E->getDirectCallee())
        Found.push_back(Callee);
      return true;
    }
  } V;
  V.TraverseStmt(Def->getBody());
  for (const FunctionDecl *Callee : V.Found)
    noteBody(Callee);
}

SVal Executor::evalIntFunction(const CallExpr *E, StringRef Name, bool &Done) {
  Done = false;
  unsigned N = E->getNumArgs();
  bool Two =
      N == 2 && (Name == "min" || Name == "max" || Name == "umin" ||
                 Name == "umax" || Name == "imin" || Name == "imax" ||
                 Name == "llmin" || Name == "llmax" || Name == "ullmin" ||
                 Name == "ullmax" || Name == "__mul24" || Name == "__umul24");
  bool One = N == 1 && (Name == "abs" || Name == "labs" || Name == "llabs");
  QualType T = E->getType().getNonReferenceType();
  if ((!Two && !One) || !isInt(T))
    return SVal();
  std::vector<SVal> Args;
  std::vector<std::pair<const Expr *, SVal>> Ops;
  for (const Expr *A : E->arguments()) {
    const Expr *X = argument(A);
    if (!isInt(X->getType()))
      return SVal();
    SVal V = X->isGLValue() && !isa<CallExpr>(X) ? load(lvalue(X), X) : eval(X);
    Args.push_back(V);
    Ops.push_back({X, V});
  }
  Done = true;
  IntType Ty = intType(T);
  std::vector<isl::pw_aff> Affs;
  for (size_t I = 0; I < Args.size(); ++I) {
    auto A = asExact(Args[I], Ops[I].first);
    if (!A)
      return ofValue(textOp(E, Ops), T);
    Affs.push_back(*A);
  }
  if (Name == "__mul24" || Name == "__umul24") {
    // The product of the low 24 bits: the product, when both have no more
    // (blockIdx.x: in the launches that the plan takes).
    const IntType Low{24, Name == "__mul24"};
    auto Fits = [&](const isl::pw_aff &A) {
      return Arith.proveInRange(A, Low.min(), Low.max(), where()) ||
             Arith.assumeInRange(A, Low, where());
    };
    if (Fits(Affs[0]) && Fits(Affs[1]))
      if (auto P = Arith.mul({Affs[0], true}, {Affs[1], true}, Ty, where()))
        return ofInt(*P, T);
    return ofValue(textOp(E, Ops), T);
  }
  isl::pw_aff R;
  if (One)
    R = Affs[0].max(Affs[0].neg());
  else if (Name.ends_with("min"))
    R = Affs[0].min(Affs[1]);
  else
    R = Affs[0].max(Affs[1]);
  R = R.coalesce();
  if (R.n_piece() > 12)
    return ofValue(textOp(E, Ops), T);
  return ofInt({R, true}, T);
}

bool Executor::atomicCall(const CallExpr *E, StringRef Name, SVal &Result) {
  if (!E->getNumArgs())
    return false;
  SVal P = eval(E->getArg(0));
  for (unsigned I = 1; I < E->getNumArgs(); ++I)
    eval(E->getArg(I));
  if (P.Base == SVal::Shared)
    recordShared(SharedAccess::Atomic, P, E, nullptr, nullptr);
  else
    recordGlobal(GlobalAccess::Atomic, P, E, nullptr);
  Result = unknown(E, 255);
  return true;
}

SVal Executor::evalCall(const CallExpr *E) {
  const FunctionDecl *F = E->getDirectCallee();
  QualType T = E->getType();
  StringRef Name = F && F->getIdentifier() ? F->getName() : StringRef();
  CallInfo Info;
  if (F)
    Info = classifyCall(F, E);
  bool System = F && isSystemFunction(F);

  if (auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
      Op && Op->getOperator() == OO_Equal && Op->getNumArgs() == 2 && F &&
      (System || F->isTrivial())) {
    // A plain copy: `s[i] = a[g]` of structs, or of half.
    const Expr *R = argument(Op->getArg(1));
    // `c ? a[g] : zero` is a place as well; what is copied is its value.
    SVal V = isa<AbstractConditionalOperator>(R)
                 ? evalConditional(cast<AbstractConditionalOperator>(R))
             : R->isGLValue() && !isa<CallExpr>(R) ? load(lvalue(R), R)
                                                   : eval(R);
    if (V.K == SVal::Data && !F->isTrivial() &&
        !AC.hasSameUnqualifiedType(R->getType(), Op->getArg(0)->getType()))
      V = ofValue(opValue("(" + typeText(Op->getArg(0)->getType()) + ")$0",
                          {asValue(V)}, typeText(Op->getArg(0)->getType())),
                  Op->getArg(0)->getType());
    LVal Lv = lvalue(Op->getArg(0));
    store(Lv, V, Op->getArg(0), Op->getArg(1), E == WholeStmtExpr, false);
    return V;
  }

  if (System) {
    bool Done = false;
    SVal R = evalIntFunction(E, Name, Done);
    if (Done)
      return R;
    if (Info.Kind == CallKind::Atomic && atomicCall(E, Name, R))
      return R;
    if ((Name == "__ldg" || Name == "__ldca" || Name == "__ldcg" ||
         Name == "__ldcs" || Name == "__ldlu") &&
        E->getNumArgs() == 1) {
      SVal P = eval(E->getArg(0));
      LVal Lv;
      Lv.K = LVal::Memory;
      Lv.Place = P;
      Lv.Base = E;
      return load(Lv, E);
    }
  }
  if (Info.Kind == CallKind::BarrierReduce || Info.Kind == CallKind::Barrier ||
      Info.Kind == CallKind::GroupBarrier) {
    for (const Expr *A : E->arguments())
      eval(A);
    bool Own = WholeStmtExpr == nullptr && M.Stmts[CurStmt].K == Stmt::Leaf;
    if (!Own && !Inlining) {
      M.Stmts[CurStmt].HasBarrier = true;
      decline("unsupported-statement", "a barrier inside an expression",
              E->getBeginLoc());
    }
    return unknown(E, DepShared);
  }

  if (const VarDecl *V = F ? sharedAccessor(F) : nullptr;
      V && L.arrayIndex(V) >= 0) {
    SVal P;
    P.K = SVal::Pointer;
    P.Base = SVal::Shared;
    P.Index = L.arrayIndex(V);
    P.ElemBytes = M.Arrays[P.Index].ElemBytes;
    P.Idx.push_back(affineValue(Arith.constant(0), "int"));
    P.IdxInt.push_back(IntValue{Arith.constant(0), true});
    return pointerCast(P, T, E);
  }

  bool UserBody = F && !System && Info.Kind == CallKind::Harmless;
  // A failed assertion ends the program: no threads run it that did not.
  if ((UserBody && !Inlining && !isHarmlessAnywhere(F)) ||
      Info.Kind == CallKind::Effect ||
      (F && F->isNoReturn()) || Name.starts_with("__assert"))
    M.Stmts[CurStmt].HasCall = true;

  std::optional<SVal> Followed;
  if (UserBody) {
    noteBody(F);
    Followed = followCall(E, F);
  }
  const bool TakesArray = llvm::any_of(E->arguments(), [](const Expr *A) {
    return argument(A)->isGLValue() && argument(A)->getType()->isArrayType();
  });
  if (F && isPure(F) && !TakesArray) {
    SVal R = generic(E);
    return Followed ? *Followed : R;
  }

  // Anything else: its arguments may be read, and written unless const.
  unsigned D = callDepends(E);
  auto Touch = [&](const SVal &P, bool Writes, const Expr *A) {
    if (P.K != SVal::Pointer)
      return;
    if (P.Base == SVal::Shared) {
      escape(P, A,
             "is passed to '" + (F ? F->getNameAsString() : "a function") + "'",
             UserBody ? "array-to-function" : "escaping-array");
    } else if (P.Base == SVal::Global || P.Base == SVal::UnknownBase) {
      SVal Q = P;
      Q.Idx.clear(); // any element
      Q.IdxInt.clear();
      recordGlobal(Writes ? GlobalAccess::ReadWrite : GlobalAccess::Read, Q, A,
                   nullptr);
    }
  };
  unsigned First = 0;
  if (auto *Mc = dyn_cast<CXXMemberCallExpr>(E)) {
    const Expr *Obj = argument(Mc->getImplicitObjectArgument());
    if (Obj->isGLValue() && !Obj->getType()->isPointerType()) {
      LVal Lv = lvalue(Obj);
      bool Const = Mc->getMethodDecl() && Mc->getMethodDecl()->isConst();
      if (Lv.K == LVal::Memory && Lv.Place.Base != SVal::Private)
        Const ? (void)load(Lv, Obj)
              : store(Lv, unknown(Obj, 255), Obj, nullptr, false, true);
      else if (Lv.K == LVal::Memory && !Const)
        storeElement(Lv, unknown(Obj, 255));
      else if (Lv.K == LVal::Variable && !Const)
        havocVar(Lv.Var);
    } else {
      Touch(eval(Obj), true, Obj);
    }
  }
  for (unsigned I = First; I < E->getNumArgs(); ++I) {
    const Expr *A = argument(E->getArg(I));
    unsigned ParamNo = I;
    if (isa<CXXOperatorCallExpr>(E) && F && isa<CXXMethodDecl>(F)) {
      if (I == 0) { // the object
        if (A->isGLValue()) {
          LVal Lv = lvalue(A);
          if (cast<CXXMethodDecl>(F)->isConst())
            load(Lv, A);
          else
            store(Lv, unknown(A, 255), A, nullptr, false, true);
        } else {
          Touch(eval(A), true, A);
        }
        continue;
      }
      --ParamNo;
    }
    QualType Pt = F && ParamNo < F->getNumParams()
                      ? F->getParamDecl(ParamNo)->getType()
                      : A->getType();
    if (Pt->isReferenceType() && A->isGLValue() && !isa<CallExpr>(A)) {
      LVal Lv = lvalue(A);
      bool Const = Pt->getPointeeType().isConstQualified();
      if (Lv.K == LVal::Memory && Lv.Place.Base == SVal::Shared &&
          A->getType()->isArrayType()) {
        Touch(Lv.Place, !Const, A); // `float (&s)[N]`
      } else if (Const) {
        if (!A->getType()->isArrayType())
          D |= depends(load(Lv, A));
      } else {
        store(Lv, unknown(A, 255), A, nullptr, false, true);
      }
      continue;
    }
    SVal V = eval(A);
    D |= depends(V);
    if (Pt->isPointerType())
      Touch(V, !Pt->getPointeeType().isConstQualified(), A);
  }
  if (Followed)
    return *Followed;
  // What is behind `&v` may have changed.
  std::vector<Cell> Hit;
  for (auto &[C, Val] : Env)
    if (int I = L.varIndex(C.V); I >= 0 && M.Vars[I].AddressTaken)
      Hit.push_back(C);
  if (F && Info.Kind != CallKind::BlockGroup)
    for (const Cell &C : Hit)
      if (!C.V->getType()->isReferenceType())
        havocVar(C);
  return unknown(E, D);
}

} // namespace rcache
