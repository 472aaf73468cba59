// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductFlow.h: which products a function has, and what holds them.

#include "ProductFlow.h"
#include "llvm/Support/SaveAndRestore.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include <array>

using namespace clang;
using namespace rcache;

bool rcache::isRealType(QualType T) {
  return T.getCanonicalType()->isRealFloatingType();
}

const VarDecl *rcache::rootVar(const Expr *E) {
  for (E = E->IgnoreParenImpCasts();;) {
    auto *U = dyn_cast<UnaryOperator>(E);
    auto *B = dyn_cast<BinaryOperator>(E);
    if (auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow())
      E = M->getBase();
    else if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      E = A->getBase();
    else if (U && (U->getOpcode() == UO_Deref || U->getOpcode() == UO_AddrOf))
      E = U->getSubExpr();
    else if (B && B->isAdditiveOp() && B->getType()->isPointerType())
      E = B->getRHS()->getType()->isPointerType() ? B->getRHS() : B->getLHS();
    else
      break;
    E = E->IgnoreParenImpCasts();
  }
  auto *D = dyn_cast<DeclRefExpr>(E);
  return D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
}

bool rcache::isSharedPlace(const Expr *E) {
  const VarDecl *V = rootVar(E);
  return V && V->hasAttr<CUDASharedAttr>();
}

//===--- What stands in the text ---===//

bool ProductFlow::VisitStmt(const Node *S) {
  Order[S] = static_cast<unsigned>(Order.size()) + 1;
  if (isLoop(S))
    Loops.push_back(S);
  return true;
}

bool ProductFlow::VisitUnaryOperator(const UnaryOperator *U) {
  if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
    if (const VarDecl *V = rootVar(U->getSubExpr()))
      Set.emplace_back(V->getCanonicalDecl(), U);
  Negations |= U->getOpcode() == UO_Minus && isRealType(U->getType());
  return true;
}

bool ProductFlow::VisitDeclRefExpr(const DeclRefExpr *D) {
  auto *V = dyn_cast<VarDecl>(D->getDecl());
  if (!V || !(V->hasLocalStorage() || V->hasAttr<CUDASharedAttr>()))
    return true;
  // Not where it is only set.
  const Node *Top = D;
  const Node *P = Parents.getParent(Top);
  while (P && (isa<ParenExpr, ImplicitCastExpr, ArraySubscriptExpr>(P) ||
               (isa<MemberExpr>(P) && !cast<MemberExpr>(P)->isArrow()))) {
    if (auto *A = dyn_cast<ArraySubscriptExpr>(P); A && A->getIdx() == Top)
      break;
    Top = P;
    P = Parents.getParent(P);
  }
  auto *B = dyn_cast_or_null<BinaryOperator>(P);
  if (!(B && B->getOpcode() == BO_Assign && B->getLHS() == Top))
    Reads[V->getCanonicalDecl()].push_back(D);
  return true;
}

bool ProductFlow::VisitBinaryOperator(const BinaryOperator *B) {
  if (B->isAssignmentOp())
    if (const VarDecl *V = rootVar(B->getLHS()))
      Set.emplace_back(V->getCanonicalDecl(), B);
  if (!isRealType(B->getType()))
    return true;
  switch (B->getOpcode()) {
  case BO_Mul:
    if (!isDoubling(B)) {
      product(B);
    } else {
      Doubled.push_back(B);
      if (const VarDecl *V = assigned(outermost(B)))
        DoubledVars.insert(V->getCanonicalDecl());
    }
    break;
  case BO_Div:
    if (mayBeConstant(B->getRHS()))
      product(B);
    if (!isExactDivisor(B->getRHS()))
      SlowPaths.push_back(B);
    break;
  case BO_MulAssign:
  case BO_DivAssign:
    if (B->getOpcode() == BO_DivAssign && !isExactDivisor(B->getRHS()))
      SlowPaths.push_back(B);
    if (const VarDecl *V = rootVar(B->getLHS());
        V && V->hasLocalStorage() &&
        (B->getOpcode() == BO_MulAssign ? !isDoubling(B)
                                        : mayBeConstant(B->getRHS())))
      Made.emplace_back(V->getCanonicalDecl(), B);
    break;
  case BO_Add:
  case BO_Sub:
  case BO_AddAssign:
  case BO_SubAssign:
    Sums.push_back(B);
    break;
  default:
    break;
  }
  return true;
}

bool rcache::multipliesInside(const FunctionDecl *F) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    bool Found = false;
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      Found |= isRealType(B->getType()) &&
               (B->isMultiplicativeOp() || B->getOpcode() == BO_MulAssign ||
                B->getOpcode() == BO_DivAssign);
      return !Found;
    }
    bool VisitCallExpr(const CallExpr *C) override {
      const FunctionDecl *F = C->getDirectCallee();
      Found |= !F || !F->getIdentifier() ||
               (isRealType(C->getType()) && mayEndInProduct(C));
      return !Found;
    }
  } In;
  In.TraverseStmt(F->getBody());
  return In.Found;
}

namespace {

/// Looks through a statement and all functions that it calls, each once.
class WithCalled {
public:
  using Question = llvm::function_ref<bool(const clang::Stmt *)>;
  explicit WithCalled(Question Is) : Is(Is) {}
  /// Is there something in \p S, which may be null, that the question holds for?
  bool any(const clang::Stmt *S) {
    if (!S)
      return false;
    if (Is(S))
      return true;
    if (auto *C = dyn_cast<CallExpr>(S)) {
      const FunctionDecl *Def = nullptr;
      if (const FunctionDecl *F = C->getDirectCallee();
          F && F->hasBody(Def) && Seen.insert(Def).second && any(Def->getBody()))
        return true;
    }
    return llvm::any_of(S->children(), [&](const clang::Stmt *C) { return any(C); });
  }

private:
  Question Is;
  llvm::SmallPtrSet<const FunctionDecl *, 16> Seen;
};

} // namespace

const FunctionDecl *rcache::calledOfUser(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee(), *Def = nullptr;
  if (!F || !F->hasBody(Def) || F->getBuiltinID())
    return nullptr;
  const SourceManager &SM = F->getASTContext().getSourceManager();
  return SM.isInSystemHeader(SM.getExpansionLoc(F->getLocation())) ? nullptr : Def;
}

bool rcache::mayNegate(const CallExpr *C) {
  const auto Negates = [](const clang::Stmt *S) {
    auto *U = dyn_cast<UnaryOperator>(S);
    auto *B = dyn_cast<BinaryOperator>(S);
    auto *Call = dyn_cast<CallExpr>(S);
    return (U && U->getOpcode() == UO_Minus && isRealType(U->getType())) ||
           (B && B->getOpcode() == BO_Div && isRealType(B->getType())) ||
           (Call && !Call->getDirectCallee());
  };
  return WithCalled(Negates).any(C);
}

/// Has \p F, a function of the library for floats, neither branches nor calls in the
/// machine code for 7.5 to 9.0, but a few instructions one after the other?
static bool isStraight(const FunctionDecl *F) {
  const QualType T = F->getReturnType();
  if (!T->isSpecificBuiltinType(BuiltinType::Float))
    return false;
  for (llvm::StringRef Known : {"expf", "exp2f", "exp10f", "rsqrtf", "exp", "exp2"})
    if (F->getName() == Known)
      return true;
  return false;
}

/// Is the function \p Name of the library one instruction, which does not multiply or
/// rounds what it has multiplied?
static bool isOneInstruction(llvm::StringRef Name) {
  for (llvm::StringRef Known :
       {"fmaf",  "fma",   "fabsf",     "fabs",    "floorf", "floor", "ceilf", "ceil", "truncf",
        "trunc", "rintf", "rint",      "min",     "max",    "fminf", "fmaxf", "fmin", "fmax"})
    if (Name == Known)
      return true;
  return false;
}

/// Is \p C, a call of the library, more than an instruction?
static bool isSlowCall(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  const IdentifierInfo *I = F ? F->getIdentifier() : nullptr;
  if (!I || (!C->isValueDependent() && C->isEvaluatable(F->getASTContext())))
    return false;
  const llvm::StringRef N = I->getName();
  if (N.starts_with("__"))
    return N.contains("div_r") || N.contains("sqrt_r") || N.contains("rcp_r");
  return !isOneInstruction(N) && N != "copysignf" && N != "copysign" && !isStraight(F);
}

/// ... or does a function of the user's divide, or make such a call?
static bool mayHaveSlowPath(const CallExpr *C) {
  const FunctionDecl *Of = calledOfUser(C);
  if (!Of)
    return isSlowCall(C);
  const auto IsSlow = [](const clang::Stmt *S) {
    auto *B = dyn_cast<BinaryOperator>(S);
    auto *Call = dyn_cast<CallExpr>(S);
    return (B && (B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign) &&
            isRealType(B->getType())) ||
           (Call && isRealType(Call->getType()) && !calledOfUser(Call) && isSlowCall(Call));
  };
  return WithCalled(IsSlow).any(Of->getBody());
}

bool ProductFlow::VisitCallExpr(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  const FunctionDecl *Def = nullptr;
  if (!F)
    return true;
  if (hasBarrier(C))
    Barriers.push_back(C);
  F->hasBody(Def);
  if (const FunctionDecl *Of = calledOfUser(C))
    Called.push_back(Of), Calls.push_back(C);
  if (C->getType()->isRecordType())
    RecordCalls.push_back(C);
  if (const auto *O = dyn_cast<CXXOperatorCallExpr>(C); O && O->isAssignmentOp())
    if (const VarDecl *V = rootVar(O->getArg(0)))
      Set.emplace_back(V->getCanonicalDecl(), O);
  const bool IsProduct = F->getIdentifier() ? !elementReturned(C) && mayEndInProduct(C)
                                            : !Def || multipliesInside(Def);
  if (isRealType(C->getType()) && mayHaveSlowPath(C))
    SlowPaths.push_back(C);
  if (isRealType(C->getType()) && IsProduct)
    product(C);
  return true;
}

bool rcache::mayEndInProduct(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  const IdentifierInfo *I = F ? F->getIdentifier() : nullptr;
  // `__builtin_inff()`, what INFINITY stands for, is a number.
  if (!I || (!C->isValueDependent() && C->isEvaluatable(F->getASTContext())))
    return false;
  const llvm::StringRef N = I->getName();
  if (isOneInstruction(N))
    return false;
  for (llvm::StringRef Known : {"__fmul_rn", "__dmul_rn", "__fadd_rn", "__dadd_rn", "__fsub_rn",
                                "__dsub_rn", "__fmaf_rn", "__fma_rn", "sqrtf", "sqrt", "rsqrtf"})
    if (N == Known)
      return false;
  return !(N.starts_with("__") &&
           (N.contains("2float") || N.contains("2double") ||
            N.contains("_as_") || N.starts_with("__ld") ||
            N.starts_with("__shfl") || N.contains("fetch_builtin")));
}

bool ProductFlow::isExactDivisor(const Expr *E) const {
  Expr::EvalResult R;
  if (E->isValueDependent() || !E->EvaluateAsRValue(R, Context))
    return false;
  if (R.Val.isFloat())
    return R.Val.getFloat().getExactInverse(nullptr);
  return R.Val.isInt() && R.Val.getInt().abs().isPowerOf2();
}

bool ProductFlow::mayBeConstant(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (auto *D = dyn_cast<DeclRefExpr>(E)) {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    return !V || V->getType().isConstQualified() ||
           (V->hasLocalStorage() && !isa<ParmVarDecl>(V));
  }
  if (isa<ArraySubscriptExpr, MemberExpr, PseudoObjectExpr>(E))
    return false;
  for (const Node *C : E->children())
    if (auto *X = dyn_cast_or_null<Expr>(C); X && !mayBeConstant(X))
      return false;
  return true;
}

bool ProductFlow::mayBeNegated(const Expr *E) const {
  auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
  return B && B->isMultiplicativeOp() &&
         llvm::any_of(std::array{B->getLHS(), B->getRHS()}, [&](const Expr *X) {
           X = X->IgnoreParenImpCasts();
           const VarDecl *V = rootVar(X);
           if (Kernel && V &&
               (DependsOn(V) & (DepThread | DepShared | DepGlobal)))
             return false;
           return (mayBeConstant(X) &&
                   !isa<FloatingLiteral, IntegerLiteral>(X)) ||
                  mayBeNegated(X);
         });
}

bool ProductFlow::mayBeShared(const Expr *E) const {
  for (unsigned Nested = 0; Nested < 8; ++Nested) {
    const VarDecl *V = rootVar(E);
    if (!V || V->hasAttr<CUDASharedAttr>())
      return true;
    if (!V->getType()->isPointerType() && !V->getType()->isReferenceType())
      return false;
    const bool IsSet = llvm::any_of(Set, [&](const auto &X) {
      return X.first == V->getCanonicalDecl() &&
             X.second->getType()->isPointerType();
    });
    if (isa<ParmVarDecl>(V)) // of a kernel: what launches hand over
      return IsSet || !Kernel;
    if (IsSet || !V->getInit())
      return true;
    E = V->getInit();
  }
  return true;
}

//===--- What holds a product ---===//

void ProductFlow::product(const Expr *E) {
  Products.push_back(E);
  if (const VarDecl *V = assigned(outermost(E)))
    make(V, E);
}

void ProductFlow::make(const VarDecl *V, const Expr *P) {
  V = V->getCanonicalDecl();
  for (const auto &[X, Q] : Made)
    if (X == V && Q == P)
      return;
  Made.emplace_back(V, P);
}

const clang::Stmt *ProductFlow::outermost(const Expr *E) const {
  const Node *Top = E;
  for (const Node *P = Parents.getParent(E); P; P = Parents.getParent(P)) {
    if (auto *C = dyn_cast<ConditionalOperator>(P);
        C && (C->getTrueExpr() == Top || C->getFalseExpr() == Top)) {
      Top = P;
      continue;
    }
    auto *U = dyn_cast<UnaryOperator>(P);
    auto *Cast = dyn_cast<CastExpr>(P);
    auto *A = dyn_cast<ArraySubscriptExpr>(P);
    if (isa<ParenExpr, ExprWithCleanups>(P) ||
        (Cast && (isRealType(Cast->getType()) ||
                  Cast->getCastKind() == CK_ArrayToPointerDecay ||
                  Cast->getCastKind() == CK_NoOp)) ||
        (U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus)) ||
        (isa<MemberExpr>(P) && !cast<MemberExpr>(P)->isArrow()) ||
        (A && A->getBase() == Top)) {
      Top = P;
      continue;
    }
    break;
  }
  return Top;
}

const VarDecl *ProductFlow::assigned(const Node *Top) const {
  const Node *P = Parents.getParent(Top);
  if (auto *B = dyn_cast_or_null<BinaryOperator>(P))
    if (B->getOpcode() == BO_Assign && B->getRHS() == Top)
      if (const VarDecl *V = rootVar(B->getLHS()); V && V->hasLocalStorage())
        return V;
  if (auto *C = dyn_cast_or_null<CXXOperatorCallExpr>(P)) // of structs
    if (C->getOperator() == OO_Equal && C->getNumArgs() == 2 && C->getArg(1) == Top)
      if (const VarDecl *V = rootVar(C->getArg(0)); V && V->hasLocalStorage())
        return V;
  while (P && isa<InitListExpr, CXXConstructExpr>(P)) {
    Top = P;
    P = Parents.getParent(P);
  }
  if (auto *D = dyn_cast_or_null<DeclStmt>(P))
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X); V && V->getInit() == Top)
        return V;
  return nullptr;
}

const clang::Stmt *ProductFlow::assignment(const Expr *E) const {
  return isa<CompoundAssignOperator>(E) ? E : Parents.getParent(outermost(E));
}

std::vector<const Expr *> ProductFlow::operands(const Expr *E) const {
  std::vector<const Expr *> Out{E};
  const Expr *X = E->IgnoreParenImpCasts();
  while (auto *U = dyn_cast<UnaryOperator>(X)) {
    if (U->getOpcode() != UO_Minus && U->getOpcode() != UO_Plus)
      break;
    X = U->getSubExpr()->IgnoreParenImpCasts();
  }
  if (auto *C = dyn_cast<ConditionalOperator>(X)) {
    llvm::append_range(Out, operands(C->getTrueExpr()));
    llvm::append_range(Out, operands(C->getFalseExpr()));
  } else if (const VarDecl *V = rootVar(X)) {
    for (const auto &[To, P] : Made)
      if (To == V->getCanonicalDecl() && !isa<CompoundAssignOperator>(P))
        Out.push_back(P);
  }
  return Out;
}

bool ProductFlow::holdsProduct(const VarDecl *V) const {
  return llvm::any_of(Made, [&](const auto &X) { return X.first == V; });
}

bool ProductFlow::takesPlace(const Expr *E) const {
  return mayBeProduct(E) || mayBeDoubled(E);
}

bool ProductFlow::mayBe(const Expr *E, llvm::ArrayRef<const Expr *> Of,
                        llvm::function_ref<bool(const VarDecl *)> Holds) const {
  for (E = E->IgnoreParenImpCasts();;) {
    if (auto *U = dyn_cast<UnaryOperator>(E);
        U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
      E = U->getSubExpr()->IgnoreParenImpCasts();
    else if (auto *C = dyn_cast<CastExpr>(E);
             C && isRealType(C->getType()) &&
             isRealType(C->getSubExpr()->getType()))
      E = C->getSubExpr()->IgnoreParenImpCasts();
    else
      break;
  }
  if (auto *C = dyn_cast<ConditionalOperator>(E))
    return mayBe(C->getTrueExpr(), Of, Holds) ||
           mayBe(C->getFalseExpr(), Of, Holds);
  if (llvm::is_contained(Of, E))
    return true;
  const auto *C = dyn_cast<CallExpr>(E);
  const Expr *Element = C ? elementReturned(C) : nullptr;
  const VarDecl *V = rootVar(Element ? Element : E);
  return V && ((!Kernel && isa<ParmVarDecl>(V) && isRealType(V->getType())) ||
               Holds(V->getCanonicalDecl()));
}

bool ProductFlow::mayBeProduct(const Expr *E) const {
  return mayBe(E, Products, [&](const VarDecl *V) {
    return llvm::any_of(Made, [&](const auto &X) { return X.first == V; });
  });
}

bool ProductFlow::mayBeDoubled(const Expr *E) const {
  return mayBe(E, Doubled,
               [&](const VarDecl *V) { return DoubledVars.count(V) != 0; });
}

bool ProductFlow::countsUnknown(const VarDecl *V) const {
  for (const Node *L : Loops) {
    auto *F = dyn_cast<ForStmt>(L);
    auto *D = F ? dyn_cast_or_null<DeclStmt>(F->getInit()) : nullptr;
    auto *C =
        F && F->getCond()
            ? dyn_cast<BinaryOperator>(F->getCond()->IgnoreParenImpCasts())
            : nullptr;
    Expr::EvalResult End;
    if (D && llvm::is_contained(D->decls(), V) && C && C->isRelationalOp() &&
        rootVar(C->getLHS()) == V && !C->getRHS()->isValueDependent() &&
        !C->getRHS()->EvaluateAsInt(End, Context))
      return ofArgument(C->getRHS(), 0);
  }
  return false;
}

std::string ProductFlow::returned(const CallExpr *C, unsigned Depth) const {
  const FunctionDecl *Def = nullptr;
  if (Depth > 4 || !C->getDirectCallee()->hasBody(Def))
    return "";
  const auto *Body = dyn_cast<CompoundStmt>(Def->getBody());
  const auto *Return =
      Body && Body->size() == 1 ? dyn_cast<ReturnStmt>(Body->body_front()) : nullptr;
  if (!Return || !Return->getRetValue() || C->getNumArgs() != Def->getNumParams())
    return "";
  std::vector<std::pair<const VarDecl *, std::string>> Arguments;
  for (unsigned I = 0; I < C->getNumArgs(); ++I)
    Arguments.emplace_back(Def->getParamDecl(I), canonical(C->getArg(I), Depth + 1));
  const llvm::SaveAndRestore In(Given, std::move(Arguments));
  return canonical(Return->getRetValue(), Depth + 1);
}

std::string ProductFlow::canonical(const Expr *E, unsigned Depth) const {
  E = E->IgnoreParenImpCasts();
  if (auto *Cast = dyn_cast<ExplicitCastExpr>(E);
      Cast && Cast->getType()->isIntegerType() && Cast->getSubExpr()->getType()->isIntegerType())
    return canonical(Cast->getSubExpr(), Depth);
  if (auto *Cast = dyn_cast<ExplicitCastExpr>(E); Cast && Cast->getType()->isArithmeticType())
    return Cast->getType().getCanonicalType().getUnqualifiedType().getAsString() + "(" +
           canonical(Cast->getSubExpr(), Depth) + ")";
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    for (const auto &[V, Text] : Given)
      if (V == D->getDecl())
        return Text;
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    std::string L = canonical(B->getLHS(), Depth),
                R = canonical(B->getRHS(), Depth);
    if ((B->getOpcode() == BO_Mul || B->getOpcode() == BO_Add) && R < L)
      std::swap(L, R);
    return "(" + L + BinaryOperator::getOpcodeStr(B->getOpcode()).str() + R +
           ")";
  }
  if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
    return canonical(A->getBase(), Depth) + "[" +
           canonical(A->getIdx(), Depth) + "]";
  if (auto *U = dyn_cast<UnaryOperator>(E); U && U->isArithmeticOp())
    return UnaryOperator::getOpcodeStr(U->getOpcode()).str() +
           canonical(U->getSubExpr(), Depth);
  if (auto *C = dyn_cast<CallExpr>(E); C && C->getDirectCallee()) {
    if (const std::string Of = returned(C, Depth); !Of.empty())
      return Of;
    std::string T = C->getDirectCallee()->getNameAsString() + "(";
    for (const Expr *X : C->arguments())
      T += canonical(X, Depth) + ",";
    return T + ")";
  }
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl());
        V && V->hasLocalStorage() && V->getInit() && Depth < 8 &&
        llvm::none_of(
            Set,
            [&](const auto &X) { return X.first == V->getCanonicalDecl(); }))
      return canonical(V->getInit(), Depth + 1);
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl()); V && countsUnknown(V))
      return V->getNameAsString() + '#' +
             std::to_string(V->getLocation().getRawEncoding());
  std::string T;
  llvm::raw_string_ostream OS(T);
  E->printPretty(OS, nullptr, PrintingPolicy(LangOptions()));
  return T;
}
