// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FoldedNumbers.h. A variable is a *number* if all that it is ever set to is made
// of numbers; it *varies* if a loop that may be unrolled changes it. What counts are
// operations on numbers that vary: a product in a sum is fused at run time and
// rounded by a compiler; with a factor of 1 a product is gone and its other
// side is fused, 2 * x is x + x, and a quotient by a power of two is a product.

#include "FoldedNumbers.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>

using namespace clang;

namespace rcache {
namespace {

bool isReal(const Expr *E) {
  return E->getType().getNonReferenceType()->isRealFloatingType();
}

/// The variable that \p E is, or an element or member of.
const VarDecl *numberRoot(const Expr *E) {
  for (E = E->IgnoreParenCasts();; E = E->IgnoreParenCasts()) {
    if (auto *S = dyn_cast<ArraySubscriptExpr>(E))
      E = S->getBase();
    else if (auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow())
      E = M->getBase();
    else
      break;
  }
  auto *D = dyn_cast<DeclRefExpr>(E);
  return D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
}

/// The library's functions that round nothing, or what they are told.
bool isExact(const FunctionDecl &F) {
  if (!F.getDeclName().isIdentifier())
    return false;
  llvm::StringRef Name = F.getName();
  Name.consume_front("__builtin_");
  return llvm::is_contained({"min", "max", "fmin", "fmax", "fminf", "fmaxf", "abs", "fabs",
                             "fabsf", "fma", "fmaf"},
                            Name) ||
         (Name.starts_with("__") && Name.ends_with("_rn"));
}

/// What a kernel sets, and which loops it has.
class Collector : public ConstDynamicRecursiveASTVisitor {
public:
  struct Setting {
    const VarDecl *To;
    const Expr *Value; ///< null: nobody knows
    bool Multiplied;   ///< by that, or divided
    llvm::SmallVector<const clang::Stmt *, 4> In; ///< loops, but of a declaration
    bool Declares;
  };
  std::vector<Setting> Settings;
  llvm::SmallPtrSet<const clang::Stmt *, 4> Whole; ///< loops that the source unrolls
  llvm::SmallPtrSet<const clang::Stmt *, 4> Hinted; ///< or says something else of
  llvm::SmallPtrSet<const clang::Stmt *, 4> Rolled; ///< and those that it keeps
  /// The rounds of a loop and of those in it and around it, as far as these are
  /// numbers in the source; 0: its own are not.
  llvm::DenseMap<const clang::Stmt *, int64_t> Rounds;
  /// The operators in all these rounds.
  llvm::DenseMap<const clang::Stmt *, int64_t> Operators;
  std::vector<const clang::Stmt *> Loops;

  explicit Collector(const ASTContext &Context) : Context(Context) {}

  bool TraverseAttributedStmt(const AttributedStmt *S) override {
    for (const Attr *A : S->getAttrs()) {
      if (isa<LoopHintAttr>(A))
        Hinted.insert(S->getSubStmt());
      if (auto *L = dyn_cast<LoopHintAttr>(A);
          L && ((L->getOption() == LoopHintAttr::Unroll &&
                 (L->getState() == LoopHintAttr::Enable ||
                  L->getState() == LoopHintAttr::Full)) ||
                holdsAllRounds(*L, S->getSubStmt())))
        Whole.insert(S->getSubStmt());
      else if (L && isKept(*L))
        Rolled.insert(S->getSubStmt());
    }
    return ConstDynamicRecursiveASTVisitor::TraverseAttributedStmt(S);
  }
  bool TraverseForStmt(const ForStmt *S) override {
    return inLoop(S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseForStmt(S); });
  }
  bool TraverseWhileStmt(const WhileStmt *S) override {
    return inLoop(S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseWhileStmt(S); });
  }
  bool TraverseDoStmt(const DoStmt *S) override {
    return inLoop(S, [&] { return ConstDynamicRecursiveASTVisitor::TraverseDoStmt(S); });
  }
  bool TraverseCXXForRangeStmt(const CXXForRangeStmt *S) override {
    Settings.push_back({S->getLoopVariable(), S->getRangeInit(), false, {S}, false});
    return inLoop(S, [&] { return TraverseStmt(S->getBody()); });
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getInit() && V->hasLocalStorage())
      Settings.push_back({V, V->getInit(), false, In, true});
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp())
      set(U->getSubExpr(), U->getSubExpr(), false);
    else if (U->getOpcode() == UO_AddrOf)
      set(U->getSubExpr(), nullptr, false);
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp())
      set(B->getLHS(), B->getRHS(),
          B->getOpcode() == BO_MulAssign || B->getOpcode() == BO_DivAssign);
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    const unsigned First = isa<CXXOperatorCallExpr>(C) && isa_and_nonnull<CXXMethodDecl>(F);
    for (unsigned I = 0; I < C->getNumArgs(); ++I) {
      const QualType T = !F || I < First || I - First >= F->getNumParams()
                             ? QualType()
                             : F->getParamDecl(I - First)->getType();
      if (T.isNull() ? C->getArg(I)->isLValue()
                     : T->isReferenceType() && !T.getNonReferenceType().isConstQualified())
        set(C->getArg(I), nullptr, false);
    }
    return true;
  }
  bool VisitLambdaExpr(const LambdaExpr *L) override {
    for (const LambdaCapture &C : L->captures())
      if (C.capturesVariable() && C.getCaptureKind() == LCK_ByRef)
        if (auto *V = dyn_cast<VarDecl>(C.getCapturedVar()))
          Settings.push_back({V, nullptr, false, In, false});
    return true;
  }

  /// Is nothing but its header's step what changes the counter of \p L?
  bool onlyCounts(const clang::Stmt *L) const {
    const VarDecl *V = counterOf(L);
    return V && llvm::count_if(Settings, [&](const Setting &S) {
                  return S.To == V && !S.Declares;
                }) == 1;
  }

private:
  const ASTContext &Context;
  llvm::SmallVector<const clang::Stmt *, 4> In;
  int64_t Nest = 1, Deepest = 1; ///< rounds of the loops around, and with those inside

  static const VarDecl *counterOf(const clang::Stmt *S) {
    auto *F = dyn_cast<ForStmt>(S);
    auto *D = F ? dyn_cast_or_null<DeclStmt>(F->getInit()) : nullptr;
    return D ? dyn_cast<VarDecl>(*D->decl_begin()) : nullptr;
  }
  /// May \p S change \p V?
  static bool sets(const clang::Stmt *S, const ValueDecl *V) {
    if (!S)
      return false;
    const Expr *To = nullptr;
    if (auto *U = dyn_cast<UnaryOperator>(S);
        U && (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf))
      To = U->getSubExpr();
    else if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
      To = B->getLHS();
    if ((To && numberRoot(To) == V) || isa<CallExpr, LambdaExpr>(S))
      return true;
    return llvm::any_of(S->children(), [&](const clang::Stmt *C) { return sets(C, V); });
  }
  /// Of a loop that counts between numbers, or from a variable to that and a number; 0: of
  /// another one.
  static int64_t roundsOf(const clang::Stmt *S) {
    auto *F = dyn_cast<ForStmt>(S);
    const VarDecl *V = counterOf(S);
    auto *C = F && F->getCond() ? dyn_cast<BinaryOperator>(F->getCond()->IgnoreParenImpCasts())
                                : nullptr;
    Expr::EvalResult First, End, By;
    const auto Known = [&](const Expr *E, Expr::EvalResult &R) {
      return E && !E->isValueDependent() && E->EvaluateAsInt(R, V->getASTContext());
    };
    if (!V || !C || !F->getInc() || numberRoot(C->getLHS()) != V)
      return 0;
    // `for (int d = c; d < c + 5; ++d)`, or between numbers.
    const Expr *From = V->getInit(), *To = C->getRHS()->IgnoreParenImpCasts();
    int64_t Begin = 0;
    const auto *Sum = dyn_cast<BinaryOperator>(To);
    if (const auto *D = From ? dyn_cast<DeclRefExpr>(From->IgnoreParenImpCasts()) : nullptr;
        D && Sum && Sum->getOpcode() == BO_Add && Known(Sum->getRHS(), End)) {
      const auto *E = dyn_cast<DeclRefExpr>(Sum->getLHS()->IgnoreParenImpCasts());
      if (!E || E->getDecl() != D->getDecl() || sets(F->getBody(), D->getDecl()))
        return 0;
    } else if (Known(From, First) && Known(To, End)) {
      Begin = First.Val.getInt().getExtValue();
    } else {
      return 0;
    }
    int64_t Step = 0;
    const Expr *Inc = F->getInc()->IgnoreParens();
    if (auto *U = dyn_cast<UnaryOperator>(Inc); U && U->isIncrementDecrementOp())
      Step = numberRoot(U->getSubExpr()) != V ? 0 : U->isIncrementOp() ? 1 : -1;
    else if (auto *B = dyn_cast<BinaryOperator>(Inc);
             B && numberRoot(B->getLHS()) == V && Known(B->getRHS(), By) &&
             (B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign))
      Step = By.Val.getInt().getExtValue() * (B->getOpcode() == BO_AddAssign ? 1 : -1);
    const int64_t Far = End.Val.getInt().getExtValue() - Begin;
    if (Step == 0 || (Far > 0) != (Step > 0))
      return 0;
    const bool With = C->getOpcode() == BO_LE || C->getOpcode() == BO_GE;
    return C->isRelationalOp() ? (std::abs(Far) + (With ? 0 : -1)) / std::abs(Step) + 1 : 0;
  }

  /// What is no instruction or two: a quotient, a call.
  static constexpr int64_t Many = 1000;
  static bool isInstruction(const CallExpr &C) {
    const FunctionDecl *F = C.getDirectCallee();
    return F && (isExact(*F) || (F->getDeclName().isIdentifier() &&
                                 F->getName().starts_with("__sync")));
  }
  static bool isQuotient(const BinaryOperator *B) {
    const bool Divides = B->getOpcode() == BO_Div || B->getOpcode() == BO_Rem ||
                         B->getOpcode() == BO_DivAssign || B->getOpcode() == BO_RemAssign;
    return Divides && (isReal(B) || !isa<IntegerLiteral>(B->getRHS()->IgnoreParenImpCasts()));
  }
  /// The operators in all rounds of \p S, as far as the source tells their number.
  static int64_t operatorsIn(const clang::Stmt *S) {
    if (!S || isa<PseudoObjectExpr>(S)) // threadIdx.x
      return 0;
    int64_t N = 0;
    if (auto *B = dyn_cast<BinaryOperator>(S))
      N = isQuotient(B) ? Many : 1;
    else if (auto *C = dyn_cast<CallExpr>(S))
      N = isInstruction(*C) ? 1 : Many;
    else
      N = isa<UnaryOperator, ArraySubscriptExpr, ConditionalOperator>(S);
    if (auto *F = dyn_cast<ForStmt>(S)) // whose header is known with its rounds
      N += operatorsIn(F->getBody());
    else
      for (const clang::Stmt *Child : S->children())
        N += operatorsIn(Child);
    if (isa<WhileStmt, DoStmt, CXXForRangeStmt, BreakStmt, ReturnStmt, GotoStmt>(S) ||
        N >= Many)
      return Many;
    const int64_t Rounds = isa<ForStmt>(S) ? std::min(roundsOf(S), Many) : 1;
    return Rounds > 0 ? N * Rounds : Many;
  }

  void set(const Expr *To, const Expr *Value, bool Multiplied) {
    if (const VarDecl *V = numberRoot(To))
      Settings.push_back({V, Value, Multiplied, In, false});
  }
  bool inLoop(const clang::Stmt *S, llvm::function_ref<bool()> Traverse) {
    Loops.push_back(S);
    In.push_back(S);
    const int64_t Own = roundsOf(S), Around = Nest, Most = Deepest;
    Nest = Deepest = Around * std::max<int64_t>(Own, 1);
    const bool Go = Traverse();
    Rounds[S] = Own > 0 ? Deepest : 0;
    Operators[S] = Around * operatorsIn(S);
    Deepest = std::max(Most, Deepest);
    Nest = Around;
    In.pop_back();
    return Go;
  }
  /// `#pragma unroll 1`.
  bool isKept(const LoopHintAttr &L) const {
    Expr::EvalResult Count;
    return L.getOption() == LoopHintAttr::UnrollCount && L.getValue() &&
           !L.getValue()->isValueDependent() &&
           L.getValue()->EvaluateAsInt(Count, Context) && Count.Val.getInt() == 1;
  }
  /// `#pragma unroll 5` at `for (int i = 0; i < 5; ++i)`.
  bool holdsAllRounds(const LoopHintAttr &L, const clang::Stmt *S) const {
    Expr::EvalResult Count;
    const int64_t Rounds = roundsOf(S);
    return L.getOption() == LoopHintAttr::UnrollCount && L.getValue() && Rounds > 0 &&
           !L.getValue()->isValueDependent() &&
           L.getValue()->EvaluateAsInt(Count, Context) &&
           Rounds <= Count.Val.getInt().getExtValue();
  }
};

class Numbers {
public:
  Numbers(const FunctionDecl *FD, bool Arguments)
      : AC(FD->getASTContext()), Arguments(Arguments), C(AC) {
    C.TraverseStmt(FD->getBody());
    findNumbers();
    findProducts();
    findVarying();
  }

  bool isNumber(const clang::Stmt *S) const {
    if (!S)
      return true;
    if (auto *E = dyn_cast<Expr>(S); E && isConstant(E))
      return true;
    if (auto *D = dyn_cast<DeclRefExpr>(S)) {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      return !V || Known.contains(V) || isTable(V);
    }
    if (isa<PseudoObjectExpr, CXXThisExpr, LambdaExpr, StmtExpr, CXXNewExpr>(S))
      return false;
    if (auto *U = dyn_cast<UnaryOperator>(S);
        U && (U->getOpcode() == UO_Deref || U->getOpcode() == UO_AddrOf))
      return false;
    if (auto *M = dyn_cast<MemberExpr>(S); M && M->isArrow())
      return false;
    if (auto *Call = dyn_cast<CallExpr>(S); Call && !Call->getDirectCallee())
      return false;
    return llvm::all_of(S->children(), [&](const clang::Stmt *X) { return isNumber(X); });
  }
  bool varies(const clang::Stmt *S) const {
    if (!S)
      return false;
    if (auto *D = dyn_cast<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(D->getDecl()); V && Varying.contains(V))
        return true;
    return llvm::any_of(S->children(), [&](const clang::Stmt *X) { return varies(X); });
  }
  bool isVaryingNumber(const Expr *E) const { return varies(E) && isNumber(E); }
  /// May \p S be, or be made of, a product?
  bool hasProduct(const clang::Stmt *S) const {
    if (!S)
      return false;
    if (auto *B = dyn_cast<BinaryOperator>(S); B && isReal(B) && B->isMultiplicativeOp())
      return true;
    if (auto *E = dyn_cast<CallExpr>(S); E && !E->getType()->isIntegralOrEnumerationType())
      return true;
    if (auto *D = dyn_cast<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
        return Products.contains(V);
    return llvm::any_of(S->children(), [&](const clang::Stmt *X) { return hasProduct(X); });
  }
  /// All that the element \p E of a constant table may be; nullopt: it is none.
  std::optional<std::vector<double>> valuesOf(const Expr *E) const {
    const VarDecl *V = numberRoot(E);
    if (!V || !isa<ArraySubscriptExpr>(E->IgnoreParenCasts()) || !V->getInit() ||
        !isNeverSet(V))
      return std::nullopt;
    std::vector<double> All = {0};
    return collect(V->getInit(), All) ? std::optional(std::move(All)) : std::nullopt;
  }

  /// See FoldedNumbers.h.
  llvm::SmallPtrSet<const clang::Stmt *, 8> loopsInDoubt() const {
    llvm::SmallPtrSet<const clang::Stmt *, 8> All;
    for (const clang::Stmt *L : C.Loops) {
      const bool Counted = isNumber(conditionOf(L));
      if (!isShort(L) && !(Counted && C.Whole.contains(L)) && !(!Counted && C.Rolled.contains(L)))
        All.insert(L);
    }
    return All;
  }

private:
  const ASTContext &AC;
  const bool Arguments;
  Collector C;
  llvm::SmallPtrSet<const VarDecl *, 16> Known, Varying, Products;

  bool isConstant(const Expr *E) const {
    if (isa<FloatingLiteral, IntegerLiteral, CharacterLiteral, CXXBoolLiteralExpr,
            UnaryExprOrTypeTraitExpr, SubstNonTypeTemplateParmExpr>(E))
      return true;
    auto *D = dyn_cast<DeclRefExpr>(E);
    return D && isa<EnumConstantDecl>(D->getDecl());
  }
  static bool isNeverSet(const VarDecl *V) {
    const QualType T = V->getType().getNonReferenceType();
    return V->isConstexpr() || V->getASTContext().getBaseElementType(T).isConstQualified();
  }
  /// A constant of the file.
  static bool isTable(const VarDecl *V) {
    return !isa<ParmVarDecl>(V) && !V->hasLocalStorage() && V->hasInit() && isNeverSet(V);
  }
  bool collect(const Expr *E, std::vector<double> &All) const {
    if (auto *L = dyn_cast<InitListExpr>(E->IgnoreImplicit()))
      return llvm::all_of(L->inits(), [&](const Expr *X) { return collect(X, All); });
    llvm::APFloat F(0.0);
    Expr::EvalResult I;
    if (isa<ImplicitValueInitExpr>(E))
      return true;
    if (E->isValueDependent())
      return false;
    if (isReal(E) && E->EvaluateAsFloat(F, AC)) {
      bool Lost = false;
      F.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &Lost);
      All.push_back(F.convertToDouble());
      return true;
    }
    if (E->getType()->isIntegerType() && E->EvaluateAsInt(I, AC)) {
      All.push_back(double(I.Val.getInt().getExtValue()));
      return true;
    }
    return false;
  }

  void findNumbers() {
    for (const Collector::Setting &S : C.Settings)
      if (!S.To->hasAttr<CUDASharedAttr>() && S.To->hasLocalStorage() &&
          !S.To->getType()->isPointerType() && !S.To->getType()->isReferenceType() &&
          !isa<ParmVarDecl>(S.To))
        Known.insert(S.To);
    addArguments();
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const Collector::Setting &S : C.Settings)
        if (Known.contains(S.To) && (!S.Value || !isNumber(S.Value))) {
          Known.erase(S.To);
          Changed = true;
        }
    }
  }
  void addArguments() {
    if (!Arguments)
      return;
    // (Others are no numbers whatever happens to them.)
    struct Finder : ConstDynamicRecursiveASTVisitor {
      llvm::SmallPtrSetImpl<const VarDecl *> &To;
      explicit Finder(llvm::SmallPtrSetImpl<const VarDecl *> &To) : To(To) {}
      bool VisitDeclRefExpr(const DeclRefExpr *D) override {
        if (auto *P = dyn_cast<ParmVarDecl>(D->getDecl());
            P && P->getType()->isIntegralOrEnumerationType())
          To.insert(P);
        return true;
      }
    } F(Known);
    for (const clang::Stmt *L : C.Loops)
      F.TraverseStmt(L);
    for (const Collector::Setting &S : C.Settings)
      F.TraverseStmt(S.Value);
  }
  void findProducts() {
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const Collector::Setting &S : C.Settings)
        if (S.Value && !Products.contains(S.To) && hasProduct(S.Value))
          Changed |= Products.insert(S.To).second;
    }
    // `x *= 0.5f`.
    for (const Collector::Setting &S : C.Settings)
      if (S.Multiplied && S.Value && isReal(S.Value))
        Products.insert(S.To);
  }
  /// Short loops are unrolled wherever they stand (measured: nvcc 13 up to 300 to 700
  /// operators in all rounds; docs/measurements/2026-11-24-nvcc-unrolling.txt).
  bool isShort(const clang::Stmt *L) const {
    constexpr int64_t MostRounds = 25, MostOperators = 220;
    const int64_t Rounds = C.Rounds.lookup(L);
    return Rounds > 0 && Rounds <= MostRounds && C.Operators.lookup(L) <= MostOperators &&
           !C.Hinted.contains(L) && C.onlyCounts(L);
  }
  static const Expr *conditionOf(const clang::Stmt *L) {
    if (auto *F = dyn_cast<ForStmt>(L))
      return F->getCond();
    if (auto *W = dyn_cast<WhileStmt>(L))
      return W->getCond();
    auto *D = dyn_cast<DoStmt>(L);
    return D ? D->getCond() : nullptr;
  }
  /// May the compiler unroll \p L in one text and leave it in another?
  bool mayUnroll(const clang::Stmt *L) const {
    return !isShort(L) && (Arguments || !C.Whole.contains(L)) && isNumber(conditionOf(L));
  }
  void findVarying() {
    llvm::SmallPtrSet<const clang::Stmt *, 8> Unsettled;
    for (const clang::Stmt *L : C.Loops)
      if (mayUnroll(L))
        Unsettled.insert(L);
    for (bool Changed = true; Changed;) {
      Changed = false;
      for (const Collector::Setting &S : C.Settings) {
        if (!Known.contains(S.To) || Varying.contains(S.To))
          continue;
        const bool In = llvm::any_of(
            S.In, [&](const clang::Stmt *L) { return Unsettled.contains(L); });
        if ((In && !S.Declares) || varies(S.Value))
          Changed |= Varying.insert(S.To).second;
      }
    }
  }
};

class Operations : public ConstDynamicRecursiveASTVisitor {
public:
  Operations(const Numbers &N, const SourceManager &SM) : N(N), SM(SM) {}
  const Expr *Found = nullptr;

  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (!isReal(B))
      return true;
    const Expr *L = B->getLHS(), *R = B->getRHS();
    switch (B->getOpcode()) {
    case BO_Add:
    case BO_Sub:
    case BO_AddAssign:
    case BO_SubAssign:
      if ((N.isVaryingNumber(L) && N.hasProduct(L)) || (N.isVaryingNumber(R) && N.hasProduct(R)))
        Found = B;
      break;
    case BO_Mul:
    case BO_MulAssign:
      if ((N.isVaryingNumber(L) && !N.isNumber(R) && changes(L, R)) ||
          (N.isVaryingNumber(R) && !N.isNumber(L) && changes(R, L)))
        Found = B;
      break;
    case BO_Div:
    case BO_DivAssign:
      if (N.isVaryingNumber(R) && !N.isNumber(L))
        Found = B;
      break;
    default:
      break;
    }
    return !Found;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    const bool Library =
        F && (F->getBuiltinID() || !F->hasBody() || SM.isInSystemHeader(F->getLocation()));
    if (C->getType()->isIntegralOrEnumerationType())
      return true;
    for (const Expr *A : C->arguments())
      if ((isReal(A) || (!Library && !C->getType()->isVoidType())) && N.isVaryingNumber(A) &&
          !(Library && isExact(*F)))
        Found = C;
    return !Found;
  }

private:
  const Numbers &N;
  const SourceManager &SM;

  /// Is a product of the number \p K and \p X another one once K is known?
  bool changes(const Expr *K, const Expr *X) const {
    const auto Values = N.valuesOf(K);
    if (!Values)
      return true;
    return llvm::any_of(*Values, [&](double V) {
      return std::fabs(V) == 2 || (std::fabs(V) == 1 && N.hasProduct(X));
    });
  }
};

} // namespace

const Expr *roundedByUnrolling(const FunctionDecl *FD, bool Arguments) {
  const Numbers N(FD, Arguments);
  Operations O(N, FD->getASTContext().getSourceManager());
  O.TraverseStmt(FD->getBody());
  return O.Found;
}

llvm::SmallPtrSet<const clang::Stmt *, 8> loopsInDoubt(const FunctionDecl *FD) {
  return Numbers(FD, /*Arguments=*/false).loopsInDoubt();
}

} // namespace rcache
