// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls: integer functions of the toolkit, cached loads, atomics, small
// functions of the user (followed where they only compute: InlineCall.cpp), and
// everything else by what it may touch.

#include "BuiltinVars.h"
#include "Effects.h"
#include "Evaluator.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"

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

SVal Evaluator::evalIntFunction(const CallExpr *E, StringRef Name, bool &Done) {
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
      return Arith.proveInRange(A, Low.min(), Low.max(), Cur.where()) ||
             Arith.assumeInRange(A, Low, Cur.where());
    };
    if (Fits(Affs[0]) && Fits(Affs[1]))
      if (auto P = Arith.mul({Affs[0], true}, {Affs[1], true}, Ty, Cur.where()))
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

bool Evaluator::atomicCall(const CallExpr *E, StringRef Name, SVal &Result) {
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

/// A plain copy: `s[i] = a[g]` of structs, or of half.
std::optional<SVal> Evaluator::evalCopy(const CallExpr *E,
                                        const FunctionDecl *F, bool System) {
  auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
  if (!Op || Op->getOperator() != OO_Equal || Op->getNumArgs() != 2 || !F ||
      !(System || F->isTrivial()))
    return std::nullopt;
  const Expr *R = argument(Op->getArg(1));
  // `c ? a[g] : zero` is a place as well; what is copied is its value.
  SVal V = isa<AbstractConditionalOperator>(R)
               ? evalConditional(cast<AbstractConditionalOperator>(R))
           : R->isGLValue() && !isa<CallExpr>(R) ? load(lvalue(R), R)
                                                 : eval(R);
  if (V.K == SVal::Data && !F->isTrivial() &&
      !AC.hasSameUnqualifiedType(R->getType(), Op->getArg(0)->getType()))
    V = ofValue(castValue(asValue(V), typeText(Op->getArg(0)->getType())),
                Op->getArg(0)->getType());
  LVal Lv = lvalue(Op->getArg(0));
  store(Lv, V, Op->getArg(0), Op->getArg(1), E == Cur.Whole, false);
  return V;
}

/// Functions of the toolkit that are known: nullopt for others.
std::optional<SVal> Evaluator::evalSystemCall(const CallExpr *E, StringRef Name,
                                              const CallInfo &Info) {
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
  return std::nullopt;
}

SVal Evaluator::evalBarrierCall(const CallExpr *E) {
  for (const Expr *A : E->arguments())
    eval(A);
  bool Own = Cur.Whole == nullptr && M.Stmts[Cur.Stmt].K == Stmt::Leaf;
  if (!Own && !Cur.Calls) {
    M.Stmts[Cur.Stmt].HasBarrier = true;
    Rec.decline(DeclineCode::UnsupportedStatement,
                "a barrier inside an expression", E->getBeginLoc());
  }
  return unknown(E, DepShared);
}

//===----------------------------------------------------------------------===//
// What a function may do through what it is given
//===----------------------------------------------------------------------===//

struct Evaluator::Handing {
  const FunctionDecl *F;
  bool UserBody;
  bool OnlyReads; ///< it stores through no pointer
};

/// Does an object of type \p T, or one in it, hold a pointer; to what may be written?
static bool holdsPointer(QualType T, bool &Writes, unsigned Depth = 0) {
  T = T.getNonReferenceType();
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  if (!R || !(R = R->getDefinition()) || Depth > 8)
    return false;
  bool Holds = false;
  for (const CXXBaseSpecifier &B : R->bases())
    Holds |= holdsPointer(B.getType(), Writes, Depth + 1);
  for (const FieldDecl *F : R->fields()) {
    const QualType M = F->getType();
    if (M->isPointerType() || M->isReferenceType()) {
      Holds = true;
      Writes |= !M->getPointeeType().isConstQualified();
    } else {
      Holds |= holdsPointer(M, Writes, Depth + 1);
    }
  }
  return Holds;
}

namespace {

/// Is memory used in a function's body, or in what it calls, through a pointer?
class MemoryUse : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;

  void look(const FunctionDecl *F) {
    const FunctionDecl *Def = nullptr;
    if (!F || !F->hasBody(Def))
      Found = true;
    else if (Seen.insert(Def).second)
      TraverseStmt(Def->getBody());
  }
  bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
    return note(!E->getBase()->IgnoreParenCasts()->getType()->isArrayType());
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    return note(E->getOpcode() == UO_Deref);
  }
  bool VisitMemberExpr(const MemberExpr *E) override {
    return note(E->isArrow() && !isa<CXXThisExpr>(E->getBase()->IgnoreParenImpCasts()));
  }
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    const bool Plain = F && isSystemFunction(F) &&
                       llvm::none_of(E->arguments(), [](const Expr *A) {
                         return A->getType()->isPointerType();
                       });
    if (!Plain)
      look(F);
    return !Found;
  }
  bool VisitLambdaExpr(const LambdaExpr *) override { return note(true); }
  bool VisitAtomicExpr(const AtomicExpr *) override { return note(true); }
  bool VisitGCCAsmStmt(const GCCAsmStmt *) override { return note(true); }

private:
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;

  bool note(bool Uses) {
    Found |= Uses;
    return !Found;
  }
};

} // namespace

/// What the pointers in an object of type \p T lead to, for what \p F makes of them:
/// anything in global memory.
static std::optional<bool> leadsAnywhere(const FunctionDecl *F, QualType T, SVal &To) {
  bool Writes = false;
  if (!holdsPointer(T, Writes))
    return std::nullopt;
  MemoryUse Use;
  Use.look(F);
  if (!Use.Found)
    return std::nullopt;
  To.K = SVal::Pointer;
  To.Base = SVal::UnknownBase;
  return Writes;
}

void Evaluator::handPointer(const Handing &To, const SVal &P, bool Writes,
                            const Expr *A) {
  if (P.K != SVal::Pointer)
    return;
  if (P.Base == SVal::Shared) {
    Rec.escape(P, A,
               "is passed to '" +
                   (To.F ? To.F->getNameAsString() : "a function") + "'" +
                   (To.F && To.F->hasAttr<NoInlineAttr>() ? ", which is not to be inlined"
                                                          : ""),
               To.UserBody ? DeclineCode::ArrayToFunction
                           : DeclineCode::EscapingArray);
  } else if (P.Base == SVal::Global || P.Base == SVal::UnknownBase) {
    SVal Q = P;
    Q.Idx.clear(); // any element
    Q.IdxInt.clear();
    recordGlobal(Writes && !To.OnlyReads ? GlobalAccess::ReadWrite : GlobalAccess::Read, Q, A,
                 nullptr);
  }
}

namespace {

/// Pointers in the object of a method that its body names.
struct MembersNamed : ConstDynamicRecursiveASTVisitor {
  llvm::SmallVector<const MemberExpr *, 4> Pointers;
  bool Others = false; ///< or what is more than that

  bool VisitMemberExpr(const MemberExpr *E) override {
    const Expr *Root = E;
    while (const auto *Mem = dyn_cast<MemberExpr>(Root))
      Root = Mem->getBase()->IgnoreParenImpCasts();
    if (!isa<CXXThisExpr>(Root))
      return true;
    Others |= !isa<FieldDecl>(E->getMemberDecl());
    if (E->getType()->isPointerType())
      Pointers.push_back(E);
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override {
    for (const Expr *A : E->arguments())
      Others |= A->getType()->isPointerType() || A->getType()->isRecordType();
    return true;
  }
};

} // namespace

/// What a method that is followed reads through pointers in \p Object; false: not known.
bool Evaluator::handMembers(const Handing &To, const Expr *Object) {
  const FunctionDecl *Def = nullptr;
  if (!To.OnlyReads || !To.F->hasBody(Def))
    return false;
  MembersNamed In;
  In.TraverseStmt(Def->getBody());
  const auto Before = Cur.This;
  Cur.This = Object;
  std::vector<SVal> Found;
  for (const MemberExpr *E : In.Pointers)
    if (const auto P = memberPointer(E))
      Found.push_back(*P);
  Cur.This = Before;
  if (In.Others || Found.size() != In.Pointers.size())
    return false;
  for (const SVal &P : Found)
    handPointer(To, P, false, Object);
  return true;
}

/// The object of a method.
void Evaluator::handObject(const Handing &To, const CXXMemberCallExpr *E) {
  const Expr *Obj = argument(E->getImplicitObjectArgument());
  SVal Behind;
  if (const auto Writes = leadsAnywhere(To.F, Obj->getType(), Behind);
      Writes && !handMembers(To, Obj))
    handPointer(To, Behind, *Writes, Obj);
  if (!Obj->isGLValue() || Obj->getType()->isPointerType())
    return handPointer(To, eval(Obj), true, Obj);
  LVal Lv = lvalue(Obj);
  bool Const = E->getMethodDecl() && E->getMethodDecl()->isConst();
  if (Lv.K == LVal::Memory && Lv.Place.Base != SVal::Private)
    Const ? (void)load(Lv, Obj)
          : store(Lv, unknown(Obj, 255), Obj, nullptr, false, true);
  else if (Lv.K == LVal::Memory && !Const)
    storeElement(Lv, unknown(Obj, 255));
  else if (Lv.K == LVal::Variable && !Const)
    havocVar(Lv.Var);
}

/// The object of an operator that is a method.
void Evaluator::handOperand(const Handing &To, const Expr *A) {
  SVal Behind;
  if (const auto Writes = leadsAnywhere(To.F, A->getType(), Behind))
    handPointer(To, Behind, *Writes, A);
  if (!A->isGLValue())
    return handPointer(To, eval(A), true, A);
  LVal Lv = lvalue(A);
  if (cast<CXXMethodDecl>(To.F)->isConst())
    load(Lv, A);
  else
    store(Lv, unknown(A, 255), A, nullptr, false, true);
}

/// The argument \p A for a parameter of type \p Pt; what the result depends on
/// for it.
unsigned Evaluator::handArgument(const Handing &To, const Expr *A,
                                 QualType Pt) {
  SVal Behind;
  if (const auto Writes = leadsAnywhere(To.F, A->getType(), Behind))
    handPointer(To, Behind, *Writes, A);
  if (Pt->isReferenceType() && A->isGLValue() && !isa<CallExpr>(A)) {
    LVal Lv = lvalue(A);
    if (A->getType()->isPointerType()) // `const float *&p`: what is there, too
      handPointer(To, load(Lv, A),
                  !A->getType()->getPointeeType().isConstQualified(), A);
    bool Const = Pt->getPointeeType().isConstQualified();
    if (Lv.K == LVal::Memory && Lv.Place.Base == SVal::Shared &&
        A->getType()->isArrayType()) {
      handPointer(To, Lv.Place, !Const, A); // `float (&s)[N]`
    } else if (Const) {
      if (!A->getType()->isArrayType())
        return depends(load(Lv, A));
    } else {
      store(Lv, unknown(A, 255), A, nullptr, false, true);
    }
    return 0;
  }
  SVal V = eval(A);
  const unsigned D = depends(V);
  if (Pt->isPointerType())
    handPointer(To, V, !Pt->getPointeeType().isConstQualified(), A);
  return D;
}

/// Arguments of a function that is not followed may be read, and written unless
/// const. What its result depends on.
unsigned Evaluator::handOut(const CallExpr *E, const FunctionDecl *F,
                            bool UserBody, bool Followed) {
  const Handing To{F, UserBody, Followed};
  unsigned D = callDepends(E);
  if (auto *Mc = dyn_cast<CXXMemberCallExpr>(E))
    handObject(To, Mc);
  const bool Method = isa<CXXOperatorCallExpr>(E) && F && isa<CXXMethodDecl>(F);
  for (unsigned I = 0; I < E->getNumArgs(); ++I) {
    const Expr *A = argument(E->getArg(I));
    if (Method && I == 0) {
      handOperand(To, A);
      continue;
    }
    const unsigned ParamNo = Method ? I - 1 : I;
    D |= handArgument(To, A,
                      F && ParamNo < F->getNumParams()
                          ? F->getParamDecl(ParamNo)->getType()
                          : A->getType());
  }
  return D;
}

SVal Evaluator::evalCall(const CallExpr *E) {
  if (const Expr *Of = expected(E))
    return eval(Of);
  const FunctionDecl *F = E->getDirectCallee();
  StringRef Name = F && F->getIdentifier() ? F->getName() : StringRef();
  CallInfo Info;
  if (F)
    Info = classifyCall(F, E);
  bool System = F && isSystemFunction(F);

  if (auto Copied = evalCopy(E, F, System))
    return *Copied;
  if (System)
    if (auto R = evalSystemCall(E, Name, Info))
      return *R;
  if (Info.Kind == CallKind::BarrierReduce || Info.Kind == CallKind::Barrier ||
      Info.Kind == CallKind::GroupBarrier)
    return evalBarrierCall(E);

  if (const VarDecl *V = F ? sharedAccessor(F) : nullptr;
      V && L.arrayIndex(V) >= 0) {
    SVal P;
    P.K = SVal::Pointer;
    P.Base = SVal::Shared;
    P.Index = L.arrayIndex(V);
    P.ElemBytes = M.Arrays[P.Index].ElemBytes;
    P.Idx.push_back(affineValue(Arith.constant(0), "int"));
    P.IdxInt.push_back(IntValue{Arith.constant(0), true});
    return pointerCast(P, E->getType(), E);
  }

  bool UserBody = F && !System && Info.Kind == CallKind::Harmless;
  // A failed assertion ends the program: no threads run it that did not.
  if ((UserBody && !Cur.Calls && !isHarmlessAnywhere(F)) ||
      Info.Kind == CallKind::Effect || (F && (F->isNoReturn() || statesOnly(F))) ||
      Name.starts_with("__assert"))
    M.Stmts[Cur.Stmt].HasCall = true;

  std::optional<SVal> Followed;
  if (UserBody) {
    Rec.noteBody(F);
    Followed = followCall(E, F);
  }
  const bool TakesArray = llvm::any_of(E->arguments(), [](const Expr *A) {
    return argument(A)->isGLValue() && argument(A)->getType()->isArrayType();
  });
  if (F && isPure(F) && !TakesArray) {
    SVal R = generic(E);
    return Followed ? *Followed : R;
  }
  const unsigned D = handOut(E, F, UserBody, Followed.has_value());
  if (Followed)
    return *Followed;
  // What is behind `&v` may have changed.
  if (F && Info.Kind != CallKind::BlockGroup)
    havocAddressTaken(/*References=*/false);
  return unknown(E, D);
}

} // namespace rcache
