// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductEscapes.h. What holds no product, or one that ProductFlow follows, is a
// list (Uses::isCertain); all else may be a product:
//
//     const float &x = a * b;  y = x + c * d;        // a name for a temporary
//     y = (x = a * b) - c * d;                       // an assignment's value
//     P r{a * b, c}; y = r.sum();                    // a method adds members up
//     y = __int_as_float(__float_as_int(a * b)) + c * d;
//     y = (a * b - 0.f) + c * d;                     // no sum for a compiler

#include "ProductEscapes.h"
#include "ProductFlow.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace rcache;

namespace {

using Node = clang::Stmt;

bool isRealSum(const BinaryOperator *B) {
  return B && isRealType(B->getType()) &&
         (B->isAdditiveOp() || B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign);
}

bool isZero(const Expr *E, const ASTContext &In) {
  Expr::EvalResult R;
  return !E->isValueDependent() && E->EvaluateAsRValue(R, In) &&
         (R.Val.isFloat() ? R.Val.getFloat().isZero() : R.Val.isInt() && R.Val.getInt() == 0);
}

/// A struct of members that only its user names.
bool isPlainRecord(QualType T) {
  const auto *R = T->getAsCXXRecordDecl();
  if (!R || !R->hasDefinition() || R->isUnion() || R->getNumBases() || R->isLambda() ||
      R->hasUserDeclaredConstructor() || R->hasUserDeclaredDestructor())
    return false;
  return llvm::none_of(R->methods(), [](const CXXMethodDecl *M) { return M->isUserProvided(); }) &&
         llvm::all_of(R->fields(), [](const FieldDecl *F) {
           return !F->getType().isVolatileQualified() && !F->getType()->isReferenceType();
         });
}

/// Variables that may hold a product which is not followed.
using Uncertain = llvm::SmallPtrSet<const VarDecl *, 16>;

/// One function.
class Uses : public ConstDynamicRecursiveASTVisitor {
public:
  Uses(const FunctionDecl *F, bool Kernel, Uncertain &Vars)
      : Context(F->getASTContext()), Kernel(Kernel), Vars(Vars) {
    if (const auto *C = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *I : C->inits())
        TraverseStmt(I->getInit());
    TraverseStmt(F->getBody());
  }

  llvm::SmallVector<const FunctionDecl *, 8> Called;
  unsigned Products = 0;

  /// Adds variables that get what is not certain, parameters of what is called included.
  void spread() {
    for (const auto &[V, Value] : Sets)
      if (!isCertain(Value))
        Vars.insert(V);
    for (const auto &[V, Of] : Changed)
      if (!isCertain(Of) || (!isMemory(Of) && mayHoldProduct(rootVar(Of))))
        Vars.insert(V);
  }

  /// The first sum of what may be a product that is not followed.
  const BinaryOperator *uncertainSum() const {
    const auto It = llvm::find_if(Sums, [&](const BinaryOperator *B) {
      return !isCertain(B->getLHS()) || !isCertain(B->getRHS());
    });
    return It == Sums.end() ? nullptr : *It;
  }

  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->getOpcode() == BO_Assign || isNoSum(B))
      set(rootVar(B->getLHS()), B->getOpcode() == BO_Assign ? B->getRHS() : B);
    if (!isRealType(B->getType()))
      return true;
    if (B->getOpcode() == BO_MulAssign || B->getOpcode() == BO_DivAssign)
      if (const VarDecl *V = rootVar(B->getLHS()))
        Scaled.insert(V->getCanonicalDecl());
    Products += B->isMultiplicativeOp() || B->getOpcode() == BO_MulAssign ||
                B->getOpcode() == BO_DivAssign;
    if (isRealSum(B))
      Sums.push_back(B);
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    if (const auto *O = dyn_cast<CXXOperatorCallExpr>(C);
        O && O->getOperator() == OO_Equal && O->getNumArgs() == 2)
      set(rootVar(O->getArg(0)), O->getArg(1));
    if (const FunctionDecl *F = calledOfUser(C)) {
      Called.push_back(F);
      hand(C, F);
    } else {
      Products += isRealType(C->getType()) && mayEndInProduct(C);
    }
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *C) override {
    const FunctionDecl *Def = nullptr;
    if (!C->getConstructor()->isUserProvided() || !C->getConstructor()->hasBody(Def))
      return true;
    Called.push_back(Def);
    for (unsigned I = 0; I < C->getNumArgs() && I < Def->getNumParams(); ++I)
      set(Def->getParamDecl(I), C->getArg(I));
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->getOpcode() == UO_AddrOf && !Handed.contains(U))
      named(U->getSubExpr());
    return true;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (!V->getInit())
      return true;
    if (V->getType()->isReferenceType() || V->getType()->isPointerType())
      named(V->getInit());
    else
      set(V, V->getInit());
    return true;
  }
  bool VisitLambdaExpr(const LambdaExpr *L) override {
    for (const LambdaCapture &C : L->captures())
      if (C.capturesVariable())
        if (const auto *V = dyn_cast<VarDecl>(C.getCapturedVar()))
          Vars.insert(V->getCanonicalDecl());
    return true;
  }

private:
  const ASTContext &Context;
  const bool Kernel;
  Uncertain &Vars;
  llvm::SmallVector<const BinaryOperator *, 16> Sums;
  std::vector<std::pair<const VarDecl *, const Expr *>> Sets;
  /// Parameters that are other names for what they get, and may be set.
  std::vector<std::pair<const VarDecl *, const Expr *>> Changed;
  /// `&x` as an argument: what a function is handed, it may set (ProductFlow::takeFromCalls).
  llvm::SmallPtrSet<const Expr *, 8> Handed;
  llvm::SmallPtrSet<const VarDecl *, 8> Scaled; ///< `x *= y`

  void set(const VarDecl *V, const Expr *To) {
    if (V && V->hasLocalStorage() && !V->getType()->isPointerType())
      Sets.emplace_back(V->getCanonicalDecl(), To);
  }

  void named(const Expr *E) {
    if (const VarDecl *V = rootVar(E); V && V->hasLocalStorage() && !V->getType()->isPointerType())
      Vars.insert(V->getCanonicalDecl());
  }

  void hand(const CallExpr *C, const FunctionDecl *F) {
    const unsigned First = isa<CXXOperatorCallExpr>(C) && isa<CXXMethodDecl>(F);
    for (unsigned I = First; I < C->getNumArgs() && I - First < F->getNumParams(); ++I) {
      const ParmVarDecl *P = F->getParamDecl(I - First);
      const Expr *A = C->getArg(I)->IgnoreParenImpCasts();
      Handed.insert(A);
      if (P->getType()->isLValueReferenceType() &&
          !P->getType()->getPointeeType().isConstQualified())
        Changed.emplace_back(P->getCanonicalDecl(), A);
      else if (!P->getType()->isPointerType())
        Sets.emplace_back(P->getCanonicalDecl(), A);
      else if (const VarDecl *V = rootVar(A); V && V->hasLocalStorage() && !leadsToMemory(V))
        if (!isPlain(V))
          Vars.insert(P->getCanonicalDecl());
    }
  }

  /// `x -= 0.f`, which leaves the product that x may be.
  bool isNoSum(const BinaryOperator *B) const {
    return isRealSum(B) && (isZero(B->getLHS(), Context) || isZero(B->getRHS(), Context));
  }

  /// A local variable whose every use is by its name, or a parameter.
  bool isPlain(const VarDecl *V) const {
    if (!V->hasLocalStorage() || isa<DecompositionDecl>(V) ||
        Vars.contains(V->getCanonicalDecl()))
      return false;
    QualType T = V->getType();
    if (isa<ParmVarDecl>(V))
      T = T.getNonReferenceType();
    if (T.isVolatileQualified() || T->isReferenceType())
      return false;
    while (const auto *A = Context.getAsConstantArrayType(T))
      T = A->getElementType();
    return isRealType(T) || T->isIntegralOrEnumerationType() || isPlainRecord(T);
  }

  /// Memory of more than a thread, or a variable that is followed.
  bool isKnownPlace(const Expr *E) const {
    const VarDecl *V = rootVar(E);
    if (!V)
      return false;
    if (!V->hasLocalStorage()) // shared, constant, of the device
      return true;
    if (V->getType()->isReferenceType() && !isa<ParmVarDecl>(V))
      return V->getInit() && isMemory(V->getInit());
    return V->getType()->isPointerType() ? leadsToMemory(V) : isPlain(V);
  }

  /// Does the pointer \p V lead to memory of more than a thread, or to what its function was
  /// handed?
  bool leadsToMemory(const VarDecl *V, unsigned Nested = 0) const {
    if (!V->hasLocalStorage())
      return true;
    if (!V->getType()->isPointerType() || Vars.contains(V->getCanonicalDecl()))
      return false;
    if (isa<ParmVarDecl>(V))
      return true;
    const VarDecl *Of = V->getInit() ? rootVar(V->getInit()->IgnoreParenCasts()) : nullptr;
    return Of && Nested < 6 && leadsToMemory(Of, Nested + 1);
  }

  bool isMemory(const Expr *E) const {
    const VarDecl *V = rootVar(E);
    return V && leadsToMemory(V);
  }
  bool mayHoldProduct(const VarDecl *V, unsigned Nested = 0) const {
    return !V || Scaled.contains(V->getCanonicalDecl()) ||
           llvm::any_of(Sets, [&](const auto &X) {
             return X.first == V->getCanonicalDecl() && mayMultiply(X.second, Nested);
           });
  }

  /// Is \p C no choice between its arguments?
  static bool isRounded(const CallExpr *C) {
    const StringRef N = C->getDirectCallee()->getName();
    return !N.contains("min") && !N.contains("max");
  }

  /// An element that an operator of a kernel's parameter names, which nobody has set.
  bool isOfView(const CallExpr *C) const {
    const VarDecl *V = C->isLValue() && C->getNumArgs() > 0 ? rootVar(C->getArg(0)) : nullptr;
    return Kernel && V && isa<ParmVarDecl>(V) && !Vars.contains(V->getCanonicalDecl()) &&
           llvm::none_of(Sets, [&](const auto &X) { return X.first == V->getCanonicalDecl(); });
  }

  /// Makes \p C a number of its arguments' bits, or is it a method?
  static bool isHidden(const CallExpr *C) {
    const FunctionDecl *F = C->getDirectCallee();
    return !F || !F->getIdentifier() || isa<CXXMethodDecl>(F) || F->getName().contains("_as_") ||
           F->getName().contains("bit_cast");
  }

  /// May \p E be a product?
  bool mayMultiply(const Expr *E, unsigned Nested = 0) const {
    E = E->IgnoreParenImpCasts();
    if (Nested > 8)
      return true;
    if (const auto *B = dyn_cast<BinaryOperator>(E)) // (`a = b = 0`)
      return B->getOpcode() == BO_Assign
                 ? mayMultiply(B->getRHS(), Nested + 1)
                 : B->isMultiplicativeOp() || isNoSum(B) || B->isAssignmentOp() ||
                       B->getOpcode() == BO_Comma;
    if (isa<FloatingLiteral, IntegerLiteral>(E))
      return false;
    const auto Any = [&](auto &&Parts) {
      return llvm::any_of(Parts, [&](const Expr *P) { return mayMultiply(P, Nested + 1); });
    };
    if (const auto *C = dyn_cast<CallExpr>(E); C && !calledOfUser(C) && !isHidden(C))
      return (isRealType(C->getType()) ? mayEndInProduct(C)
                                       : !C->getDirectCallee()->getName().starts_with("make_")) ||
             Any(C->arguments());
    if (const auto *L = dyn_cast<InitListExpr>(E))
      return Any(L->inits());
    if (const auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() != UO_Deref)
      return mayMultiply(U->getSubExpr(), Nested);
    if (const auto *C = dyn_cast<ConditionalOperator>(E))
      return mayMultiply(C->getTrueExpr(), Nested) || mayMultiply(C->getFalseExpr(), Nested);
    if (isa<ArraySubscriptExpr, DeclRefExpr, MemberExpr, UnaryOperator>(E)) {
      const VarDecl *V = rootVar(E);
      return !V || (V->hasLocalStorage() && !V->getType()->isPointerType() &&
                    (isa<ParmVarDecl>(V) ? !Kernel : mayHoldProduct(V, Nested + 1)));
    }
    return true;
  }

  /// Is \p E no product, or one that ProductFlow knows to be there?
  bool isCertain(const Expr *E) const {
    E = E->IgnoreParens();
    if (!isRealType(E->getType()) && E->getType()->isScalarType())
      return true;
    if (isa<FloatingLiteral, PseudoObjectExpr, ImplicitValueInitExpr, CXXScalarValueInitExpr>(E))
      return true;
    if (const auto *C = dyn_cast<CastExpr>(E)) {
      switch (C->getCastKind()) {
      case CK_UserDefinedConversion:
      case CK_ConstructorConversion:
      case CK_BitCast:
      case CK_LValueBitCast:
      case CK_LValueToRValueBitCast:
        return false;
      default:
        return isCertain(C->getSubExpr());
      }
    }
    if (const auto *U = dyn_cast<UnaryOperator>(E))
      return U->getOpcode() == UO_Deref ? isKnownPlace(U) : isCertain(U->getSubExpr());
    if (const auto *C = dyn_cast<ConditionalOperator>(E))
      return isCertain(C->getTrueExpr()) && isCertain(C->getFalseExpr());
    if (const auto *B = dyn_cast<BinaryOperator>(E); B && B->getOpcode() == BO_Assign)
      return isCertain(B->getRHS()) && !mayMultiply(B->getRHS());
    if (const auto *B = dyn_cast<BinaryOperator>(E))
      return !B->isAssignmentOp() && B->getOpcode() != BO_Comma && !isNoSum(B);
    if (const auto *L = dyn_cast<InitListExpr>(E))
      return llvm::all_of(L->inits(), [&](const Expr *X) { return isCertain(X); });
    if (const auto *C = dyn_cast<CXXConstructExpr>(E))
      return isPlainRecord(C->getType()) &&
             llvm::all_of(C->arguments(), [&](const Expr *X) { return isCertain(X); });
    if (const auto *X = dyn_cast<ExprWithCleanups>(E))
      return isCertain(X->getSubExpr());
    if (const auto *X = dyn_cast<MaterializeTemporaryExpr>(E))
      return isa<CallExpr>(X->getSubExpr()->IgnoreParenImpCasts()) && isCertain(X->getSubExpr());
    if (const auto *C = dyn_cast<CallExpr>(E))
      if (const Expr *Element = elementReturned(C))
        return isKnownPlace(Element);
    // What the user's functions give ProductFlow takes for a product, where it sees one.
    if (const auto *C = dyn_cast<CallExpr>(E); C && calledOfUser(C) && isRealType(C->getType()))
      return C->getDirectCallee()->getIdentifier()
                 ? mayEndInProduct(C)
                 : multipliesInside(calledOfUser(C)) || isOfView(C);
    if (const auto *C = dyn_cast<CallExpr>(E)) // (`fminf(p, p)` is p)
      return (!isHidden(C) &&
              (calledOfUser(C) || C->getNumArgs() < 2 || !mayMultiply(C->getArg(0)) ||
               !mayMultiply(C->getArg(1)) || mayEndInProduct(C) || isRounded(C))) || (isa<CXXOperatorCallExpr>(C) && isPlainRecord(C->getType()));
    if (isa<DeclRefExpr, ArraySubscriptExpr>(E))
      return isKnownPlace(E);
    if (const auto *M = dyn_cast<MemberExpr>(E))
      return isa<FieldDecl>(M->getMemberDecl()) &&
             (rootVar(M) ? isKnownPlace(M) : !M->isArrow() && isCertain(M->getBase()));
    return false;
  }
};

} // namespace

SumInDoubt rcache::sumOfEscaped(const FunctionDecl *Kernel) {
  std::vector<std::unique_ptr<Uses>> All;
  llvm::SmallPtrSet<const FunctionDecl *, 16> Seen;
  llvm::SmallVector<const FunctionDecl *, 16> Work{Kernel};
  Uncertain Vars;
  unsigned Products = 0;
  while (!Work.empty()) {
    const FunctionDecl *F = Work.pop_back_val();
    if (!F->getBody() || !Seen.insert(F).second)
      continue;
    All.push_back(std::make_unique<Uses>(F, F == Kernel, Vars));
    Products += All.back()->Products;
    Work.append(All.back()->Called.begin(), All.back()->Called.end());
  }
  if (Products == 0)
    return {};
  for (size_t Before = SIZE_MAX; Before != Vars.size();) {
    Before = Vars.size();
    for (const auto &U : All)
      U->spread();
  }
  for (const auto &U : All)
    if (const BinaryOperator *Sum = U->uncertainSum())
      return {Sum, SumInDoubt::Anywhere,
              ", and a product may come to it that is not followed (by reference, in bits, as "
              "a member, as what an assignment gives)"};
  return {};
}
