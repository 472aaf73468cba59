// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Work.h. What nvcc makes of an operation on sm_90, as far as a syntax tree can
// tell: constants cost nothing, a float's product and the sum that it goes to are one
// instruction, comparisons, minima and conversions go to the integer unit.

#include "Work.h"
#include "Conditions.h"
#include "Effects.h"
#include "Locals.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace rcache {

namespace {

/// Calls of calls that are looked into, and rounds of loops there of which nothing
/// is known.
constexpr unsigned MaxCallDepth = 6;
constexpr double CalleeRounds = 8;

/// The unit that an operation goes to.
enum class Unit { None, Int, Long, Half, Float, Double };

Unit unitOf(QualType T) {
  T = T.getCanonicalType().getUnqualifiedType();
  if (const auto *V = T->getAs<VectorType>())
    T = V->getElementType();
  if (T->isRealFloatingType()) {
    if (T->isSpecificBuiltinType(BuiltinType::Double) ||
        T->isSpecificBuiltinType(BuiltinType::LongDouble))
      return Unit::Double;
    return T->isHalfType() ? Unit::Half : Unit::Float;
  }
  if (!T->isIntegralOrEnumerationType())
    return Unit::None;
  return T->isSpecificBuiltinType(BuiltinType::LongLong) ||
                 T->isSpecificBuiltinType(BuiltinType::ULongLong) ||
                 T->isSpecificBuiltinType(BuiltinType::Long) ||
                 T->isSpecificBuiltinType(BuiltinType::ULong)
             ? Unit::Long
             : Unit::Int;
}

bool isFloating(Unit U) {
  return U == Unit::Half || U == Unit::Float || U == Unit::Double;
}

/// Instructions of a function of the toolkit that has no body to look into, or a
/// table of its own there.
struct Cost {
  double Ops;         ///< in the unit of the result
  double Special = 0;
  double Int = 0;
};

std::optional<Cost> costOf(StringRef Name, Unit U) {
  Name.consume_front("__nv_");
  Name.consume_front("__builtin_");
  if (Name.starts_with("make_") || Name.starts_with("fabs") || Name == "__ldg" ||
      Name.starts_with("atomic") || Name.starts_with("__shfl") ||
      Name.starts_with("__sync") || Name == "printf" || Name == "copysignf" ||
      Name.starts_with("__builtin_assume") || Name == "__builtin_expect" ||
      Name.contains("_as_"))
    return Cost{0};
  // __fmaf_rn, __fadd_rn, __dmul_rz, ..
  if (Name.starts_with("__f") || Name.starts_with("__d"))
    if (Name.contains("fma") || Name.contains("add_r") || Name.contains("sub_r") ||
        Name.contains("mul_r"))
      return Cost{1};
  const bool Fast = Name.starts_with("__") || Name.ends_with("_rn");
  StringRef Plain = Name;
  Plain.consume_front("__");
  if (U != Unit::Double)
    Plain.consume_back("f");
  const double Ops =
      llvm::StringSwitch<double>(Plain)
          .Cases({"fmin", "fmax", "abs", "labs", "clz", "ffs", "popc", "brev", "byte_perm"},
                 -1)
          .Cases({"min", "max", "umin", "umax", "llmin", "llmax"}, isFloating(U) ? -1 : -0.6)
          .Cases({"fma", "mul24", "umul24", "mulhi", "umulhi", "saturate"}, 1)
          .Cases({"floor", "ceil", "trunc", "rint", "nearbyint"}, 1)
          .Cases({"round", "lrint", "lround"}, 3)
          .Cases({"rsqrt", "frsqrt_rn"}, -3)
          .Cases({"frcp_rn", "fdividef", "rcp64h"}, -2)
          .Cases({"sqrt", "fsqrt_rn", "hypot", "rhypot"}, -8)
          .Cases({"exp", "exp2", "exp10", "expm1"}, -6)
          .Cases({"log", "log2", "log10", "log1p"}, -14)
          .Cases({"sin", "cos", "sincos", "tan", "sinpi", "cospi"}, -22)
          .Cases({"tanh", "sinh", "cosh", "asin", "acos", "atan", "cbrt"}, -16)
          .Cases({"pow", "atan2", "fmod", "remainder", "powi"}, -40)
          .Cases({"erf", "erfc", "lgamma", "tgamma", "normcdf"}, -30)
          .Default(0);
  if (Ops == 0)
    return std::nullopt;
  if (Ops >= -1 && Ops < 0) // of three integers, one instruction
    return Cost{0, 0, -Ops * (U == Unit::Long || U == Unit::Double ? 2.0 : 1.0)};
  if (Ops > 0)
    return Cost{Ops};
  if (U == Unit::Double)
    return Cost{3 - 2 * Ops, 1, 4};
  return Cost{Fast ? 1 : -Ops, 1};
}

class Counter {
public:
  using Steps = llvm::function_ref<bool(const Expr *)>;
  Counter(const ASTContext &AC, const Numbers &Known, Steps IsStep)
      : AC(AC), Known(Known), IsStep(IsStep) {}

  Work All, OfElements;

  void count(const clang::Stmt *S) {
    if (!S)
      return;
    if (const auto *I = dyn_cast<IfStmt>(S); I && conditionOf(I))
      return visit(conditionOf(I));
    if (const auto *W = dyn_cast<SwitchStmt>(S))
      return visit(W->getCond());
    if (isa<CompoundStmt>(S) || isa<ForStmt>(S) || isa<WhileStmt>(S) || isa<DoStmt>(S) ||
        isa<CXXForRangeStmt>(S))
      return;
    visit(S);
  }

private:
  const ASTContext &AC;
  const Numbers &Known;
  Steps IsStep;
  double Times = 1;
  unsigned Depth = 0;
  bool InIndex = false;

  /// \p N instructions for operation \p E of unit \p U.
  void add(double N, Unit U, const Expr *E) {
    N *= Times;
    if (InIndex && !isFloating(U)) {
      All.Index += N;
      return;
    }
    Work &W = E && isOfOneElement(E) ? OfElements : All;
    switch (U) {
    case Unit::None:
    case Unit::Int:
      W.Int += N;
      break;
    case Unit::Long:
      W.Int += 2 * N;
      break;
    case Unit::Half:
    case Unit::Float:
      W.Fp += N;
      break;
    case Unit::Double:
      W.Double += N;
      break;
    }
  }

  /// The same for what is an instruction in an index, too: no offset and no step of a
  /// pointer.
  void addApart(double N, Unit U, const Expr *E) {
    const bool Before = InIndex;
    InIndex = false;
    add(N, U, E);
    InIndex = Before;
  }

  static const Expr *bare(const Expr *E) {
    for (;;) {
      const Expr *B = E->IgnoreParenImpCasts();
      if (const auto *M = dyn_cast<MaterializeTemporaryExpr>(B))
        B = M->getSubExpr();
      else if (const auto *T = dyn_cast<CXXBindTemporaryExpr>(B))
        B = T->getSubExpr();
      else if (const auto *C = dyn_cast<CXXConstructExpr>(B);
               C && C->getNumArgs() == 1 && C->getConstructor()->isCopyOrMoveConstructor())
        B = C->getArg(0);
      if (B == E)
        return E;
      E = B;
    }
  }

  /// The shared variable that \p E is an element of; null: none.
  static const VarDecl *sharedRoot(const Expr *E) {
    for (E = bare(E);;) {
      if (const auto *A = dyn_cast<ArraySubscriptExpr>(E))
        E = bare(A->getBase());
      else if (const auto *M = dyn_cast<MemberExpr>(E))
        E = bare(M->getBase());
      else
        break;
    }
    const auto *R = dyn_cast<DeclRefExpr>(E);
    const auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    return V && isSharedVar(V) ? V : nullptr;
  }

  bool isConstant(const Expr *E) const {
    E = E->IgnoreParenImpCasts();
    if (isa<IntegerLiteral>(E) || isa<FloatingLiteral>(E) || isa<CharacterLiteral>(E) ||
        isa<CXXBoolLiteralExpr>(E))
      return true;
    return !E->isValueDependent() && !E->isTypeDependent() &&
           E->getType()->isArithmeticType() && E->isEvaluatable(AC, Expr::SE_NoSideEffects);
  }

  /// Is \p E made from one shared element and constants? Of operands that are the
  /// same text the first counts, `s[l] * s[l]`.
  bool isOfOneElement(const Expr *E) const {
    E = bare(E);
    if (sharedRoot(E))
      return true;
    if (const auto *U = dyn_cast<UnaryOperator>(E))
      return !U->isIncrementDecrementOp() && U->getOpcode() != UO_Deref &&
             isOfOneElement(U->getSubExpr());
    if (const auto *C = dyn_cast<CastExpr>(E))
      return isOfOneElement(C->getSubExpr());
    if (const auto *B = dyn_cast<BinaryOperator>(E)) {
      if (B->isAssignmentOp() || B->isLogicalOp() || B->getOpcode() == BO_Comma)
        return false;
      return (isConstant(B->getRHS()) && isOfOneElement(B->getLHS())) ||
             (isConstant(B->getLHS()) && isOfOneElement(B->getRHS()));
    }
    if (const auto *C = dyn_cast<CallExpr>(E))
      return C->getNumArgs() == 1 && !isa<CXXMemberCallExpr>(C) &&
             isOfOneElement(C->getArg(0));
    if (const auto *C = dyn_cast<CXXMemberCallExpr>(E)) // `float(s[l])` of a half
      return C->getNumArgs() == 0 && isOfOneElement(C->getImplicitObjectArgument());
    return false;
  }

  static const BinaryOperator *productIn(const Expr *E, Unit U) {
    const auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
    return B && B->getOpcode() == BO_Mul && unitOf(B->getType()) == U ? B : nullptr;
  }

  void children(const clang::Stmt *S) {
    for (const clang::Stmt *C : S->children())
      visit(C);
  }

  void indexed(const Expr *E) {
    const bool Before = InIndex;
    InIndex = true;
    visit(E);
    InIndex = Before;
  }

  void visit(const clang::Stmt *S) {
    if (!S || isa<UnaryExprOrTypeTraitExpr>(S) || isa<LambdaExpr>(S))
      return;
    if (const auto *A = dyn_cast<AsmStmt>(S))
      return assembly(A);
    if (const auto *F = dyn_cast<ForStmt>(S))
      return loop(F, roundsOf(F));
    if (isa<WhileStmt>(S) || isa<DoStmt>(S) || isa<CXXForRangeStmt>(S))
      return loop(S, CalleeRounds);
    if (const auto *I = dyn_cast<IfStmt>(S); I && I->isConstexpr()) {
      if (const auto Taken = I->getNondiscardedCase(AC))
        visit(*Taken);
      return;
    }
    const auto *E = dyn_cast<Expr>(S);
    if (!E)
      return children(S);
    if (isConstant(E))
      return;
    if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
      visit(A->getBase());
      return indexed(A->getIdx());
    }
    if (const auto *U = dyn_cast<UnaryOperator>(E))
      return unary(U);
    if (const auto *B = dyn_cast<BinaryOperator>(E))
      return binary(B);
    if (const auto *C = dyn_cast<ConditionalOperator>(E)) {
      children(C);
      return addApart(1, Unit::Int, C);
    }
    if (const auto *C = dyn_cast<CastExpr>(E))
      return cast(C);
    if (const auto *C = dyn_cast<CallExpr>(E))
      return call(C);
    if (const auto *C = dyn_cast<CXXConstructExpr>(E)) {
      children(C);
      return body(C->getConstructor());
    }
    children(E);
  }

  void unary(const UnaryOperator *U) {
    if (U->getOpcode() == UO_Deref)
      return indexed(U->getSubExpr());
    visit(U->getSubExpr());
    const Unit Of = unitOf(U->getType());
    if (U->isIncrementDecrementOp())
      add(isFloating(Of) ? 1 : 0.6, Of, U);
    else if (U->getOpcode() == UO_Minus && !isFloating(Of))
      add(0.6, Of, U);
    else if (U->getOpcode() == UO_Not || U->getOpcode() == UO_LNot)
      add(0.3, Of, U);
  }

  void binary(const BinaryOperator *B) {
    visit(B->getLHS());
    visit(B->getRHS());
    if (B->getOpcode() == BO_Assign || B->getOpcode() == BO_Comma)
      return;
    if (B->isLogicalOp())
      return add(0.3, Unit::Int, B);
    if (B->isComparisonOp()) {
      const Unit Of = unitOf(B->getLHS()->getType());
      return addApart(1, Of == Unit::Double ? Of : Of == Unit::Long ? Of : Unit::Int, B);
    }
    QualType T = B->getType();
    BinaryOperatorKind Op = B->getOpcode();
    if (const auto *C = dyn_cast<CompoundAssignOperator>(B)) {
      T = C->getComputationResultType();
      Op = BinaryOperator::getOpForCompoundAssignment(Op);
    }
    if (T->isPointerType())
      return add(0.6, Unit::Long, B);
    arithmetic(B, Op, unitOf(T));
  }

  void arithmetic(const BinaryOperator *B, BinaryOperatorKind Op, Unit U) {
    const bool Fp = isFloating(U);
    switch (Op) {
    case BO_Add:
    case BO_Sub:
      // One of the products is added in its own instruction.
      if (Fp) {
        const auto *P = productIn(B->getRHS(), U);
        if (!P && !B->isAssignmentOp())
          P = productIn(B->getLHS(), U);
        if (P) // counted as the product
          add(-1, U, P);
        return add(1, U, B);
      }
      // Of integers as well.
      return add(productIn(B->getRHS(), U) || productIn(B->getLHS(), U) ? 0.1 : 0.6, U, B);
    case BO_Mul:
      return add(Fp || !isConstant(B->getRHS()) ? 1 : 0.8, U, B);
    case BO_Div:
    case BO_Rem:
      return division(B, Op, U);
    default:
      return add(0.6, U, B); // shifts, bits: three operands an instruction
    }
  }

  void division(const BinaryOperator *B, BinaryOperatorKind Op, Unit U) {
    const bool By = isConstant(B->getRHS());
    if (isFloating(U)) {
      Expr::EvalResult R;
      if (By && B->getRHS()->EvaluateAsRValue(R, AC) && R.Val.isFloat() &&
          R.Val.getFloat().getExactInverse(nullptr))
        return add(1, U, B);
      add(U == Unit::Double ? 12 : 8, U, B);
      All.Special += Times;
      return;
    }
    const auto V = By ? B->getRHS()->getIntegerConstantExpr(AC) : std::nullopt;
    if (V && V->isPowerOf2())
      return add(Op == BO_Rem || B->getType()->isUnsignedIntegerType() ? 1 : 2, U, B);
    if (By) // a product of twice the bits, and another
      return add(U == Unit::Long ? 7 : 4, U, B);
    // (Trees whose threads ask `t % (2 * s)` of unsigned numbers: 72 clocks an output, 103
    // with what signs take.)
    const double Cost = U == Unit::Long ? 35 : B->getType()->isUnsignedIntegerType() ? 12 : 18;
    addApart(Cost, Unit::Int, B);
    if (isNumber(B->getRHS()))
      All.Divided += Times * (Cost - 1);
    else if (Depth == 0 && IsStep(B->getRHS()))
      All.DividedByStep += Times * (Cost - 1);
  }

  /// Is \p E made of counters that are numbers where loops are unrolled, and constants?
  bool isNumber(const Expr *E) const {
    E = E->IgnoreParenImpCasts();
    if (const auto *R = dyn_cast<DeclRefExpr>(E))
      if (const auto *V = dyn_cast<VarDecl>(R->getDecl()); V && Known.contains(V))
        return true;
    if (const auto *B = dyn_cast<BinaryOperator>(E))
      return !B->isAssignmentOp() && isNumber(B->getLHS()) && isNumber(B->getRHS());
    return isConstant(E);
  }

  void cast(const CastExpr *C) {
    visit(C->getSubExpr());
    switch (C->getCastKind()) {
    case CK_IntegralToFloating:
    case CK_FloatingToIntegral:
      return add(1, Unit::Int, C);
    case CK_FloatingCast: {
      const Unit From = unitOf(C->getSubExpr()->getType()), To = unitOf(C->getType());
      if (From != To)
        add(1, From == Unit::Double || To == Unit::Double ? Unit::Double : To, C);
      return;
    }
    default:
      return;
    }
  }

  void call(const CallExpr *C) {
    children(C);
    const FunctionDecl *F = C->getDirectCallee();
    if (!F)
      return;
    const StringRef Name = F->getIdentifier() ? F->getName() : StringRef();
    const bool System = isSystemFunction(F);
    if (System && !Name.empty()) {
      const Unit U = unitOf(F->getReturnType());
      if (const auto Of = costOf(Name, U)) {
        addApart(Of->Ops, U, C);
        addApart(Of->Int, Unit::Int, C);
        if (Of->Special > 0)
          (isOfOneElement(C) ? OfElements : All).Special += Of->Special * Times;
        return;
      }
    }
    // A builtin, or a function of which nothing is known: an instruction.
    if (!bodyOf(F)) {
      if (!F->getReturnType()->isVoidType())
        add(1, unitOf(F->getReturnType()), C);
      return;
    }
    // What is done to one element is done to it in the callee.
    if (isOfOneElement(C)) {
      Counter In(AC, Known, IsStep);
      In.Depth = Depth;
      In.Times = Times;
      In.body(F);
      return sum(OfElements, In.All);
    }
    body(F);
  }

  static void sum(Work &To, const Work &W) {
    To.Fp += W.Fp;
    To.Double += W.Double;
    To.Int += W.Int;
    To.Special += W.Special;
    To.Index += W.Index;
  }

  void body(const FunctionDecl *F) {
    const FunctionDecl *Def = bodyOf(F);
    if (!Def || F->isTrivial() || Depth >= MaxCallDepth)
      return;
    ++Depth;
    if (const auto *Ctor = dyn_cast<CXXConstructorDecl>(Def))
      for (const CXXCtorInitializer *I : Ctor->inits())
        visit(I->getInit());
    visit(Def->getBody());
    --Depth;
  }

  /// Instructions of the text, each with its semicolon; a conversion of halves is
  /// one of their unit.
  void assembly(const AsmStmt *S) {
    const auto *A = dyn_cast<GCCAsmStmt>(S);
    const std::string Text = A ? A->getAsmString() : std::string();
    double N = 0;
    for (StringRef Rest = Text; !Rest.empty();) {
      const auto [One, Others] = Rest.split(';');
      const StringRef Word = One.ltrim(" \t\n{}");
      N += !Word.empty() && !Word.starts_with(".") && !Word.starts_with("mov");
      Rest = Others;
    }
    add(N, StringRef(Text).contains("f16") ? Unit::Half : Unit::Int, nullptr);
  }

  void loop(const clang::Stmt *S, double Rounds) {
    const double Before = Times;
    Times *= Rounds;
    children(S);
    Times = Before;
  }

  /// `for (i = a; i < b; i += c)` with constants, else CalleeRounds.
  double roundsOf(const ForStmt *F) const {
    const auto *D = dyn_cast_or_null<DeclStmt>(F->getInit());
    const auto *V = D && D->isSingleDecl() ? dyn_cast<VarDecl>(D->getSingleDecl()) : nullptr;
    const auto *C = dyn_cast_or_null<BinaryOperator>(F->getCond());
    if (!V || !V->getInit() || !C || !C->isRelationalOp())
      return CalleeRounds;
    const auto From = V->getInit()->getIntegerConstantExpr(AC);
    const auto To = C->getRHS()->getIntegerConstantExpr(AC);
    if (!From || !To)
      return CalleeRounds;
    double Step = 1;
    if (const auto *I = dyn_cast_or_null<CompoundAssignOperator>(F->getInc()))
      if (const auto By = I->getRHS()->getIntegerConstantExpr(AC))
        Step = std::max(1.0, std::abs(double(By->getExtValue())));
    const double Length = std::abs(double(To->getExtValue()) - double(From->getExtValue()));
    return std::max(1.0, Length / Step);
  }
};

} // namespace

std::pair<Work, Work> workOf(const clang::Stmt *S, const ASTContext &AC,
                             const Numbers &Known,
                             llvm::function_ref<bool(const Expr *)> Steps) {
  Counter C(AC, Known, Steps);
  C.count(S);
  return {C.All, C.OfElements};
}

} // namespace rcache
