// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `x - y * 3` becomes `x + y * -3` in nvcc, and in loops that it unrolls over arrays of a
// thread, which is what rewritten kernels have, it does not; `x + y * -3` becomes
// `x - y * 3` there. What is fused is the same then, as of both the first one's product is
// taken, but where the first one is
//
//   twice something    x * 2 is fused as a product with a sum; in a difference it has become
//                      x + x by then, and so the other product is fused, or, where x is a
//                      product, x + x is
//   negated            -(x * z) - y * 3 is (y * -3) - x * z or -(x * z) - y * 3, and the
//                      first one is fused
//
// (CUDA 13.0; PTX of some 140 such sums, in straight code, under a condition and in an
// unrolled loop.) Whether a product can be turned so hangs on a number among its factors.

#include "TurnedSums.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

const Expr *argumentOf(const Expr *E, const FusionOrder::Call &In) {
  const auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = D ? dyn_cast<ParmVarDecl>(D->getDecl()) : nullptr;
  if (!V || !In.Caller)
    return nullptr;
  // The first argument of `op(a, b)` is the object.
  const bool OfObject = isa<CXXOperatorCallExpr>(In.At) &&
                        isa<CXXMethodDecl>(In.At->getDirectCallee());
  const unsigned I = V->getFunctionScopeIndex() + OfObject;
  return I < In.At->getNumArgs() ? In.At->getArg(I) : nullptr;
}

class TurnedSums::Walk {
public:
  Walk(const Flows &Of, const Call &In) : Of(Of), In(In) {}

  /// `x * 2`, `x * -2`, `x / 0.5`.
  bool isTwice(const Expr *E) {
    return any(E, In, [&](const Expr *X, const Call &C) {
      const auto *B = dyn_cast<BinaryOperator>(X);
      if (!B)
        return false;
      const auto Is = [&](const Expr *F, double N) {
        const auto V = number(F, C);
        return V && (*V == N || *V == -N);
      };
      return isProduct(B) ? Is(B->getLHS(), 2) || Is(B->getRHS(), 2)
                          : isQuotient(B) && Is(B->getRHS(), 0.5);
    });
  }
  /// A product or quotient with a number among its factors, or with what may be one where
  /// loops are unrolled.
  bool isByNumber(const Expr *E) { return isByNumber(E, In); }
  /// Something other than a number is negated in it, or the number may be -1; with
  /// \p Numbers: or any may be negative.
  bool mayBeNegative(const Expr *E, bool Numbers) { return mayBeNegative(E, In, Numbers); }

private:
  const Flows &Of;
  const Call &In;
  unsigned Steps = 0;

  static bool isProduct(const BinaryOperator *B) {
    return B->getOpcode() == BO_Mul || B->getOpcode() == BO_MulAssign;
  }
  static bool isQuotient(const BinaryOperator *B) {
    return B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign;
  }
  std::optional<double> number(const Expr *E, const Call &C) const {
    if (const Expr *Argument = argumentOf(E, C))
      return number(Argument, *C.Caller);
    Expr::EvalResult R;
    if (E->isValueDependent() || !E->EvaluateAsRValue(R, C.Of->getASTContext()))
      return std::nullopt;
    if (R.Val.isFloat()) {
      bool Lost;
      llvm::APFloat F = R.Val.getFloat();
      F.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &Lost);
      return F.convertToDouble();
    }
    if (R.Val.isInt())
      return R.Val.getInt().isNegative() ? -double(R.Val.getInt().abs().getLimitedValue())
                                         : double(R.Val.getInt().getLimitedValue());
    return std::nullopt;
  }

  using Test = llvm::function_ref<bool(const Expr *, const Call &)>;
  /// \p Is of \p E, or of something whose value it may have.
  bool any(const Expr *E, const Call &C, Test Is) {
    if (!E || ++Steps > 512)
      return E != nullptr;
    for (E = E->IgnoreParenImpCasts();;) {
      if (const auto *U = dyn_cast<UnaryOperator>(E);
          U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
        E = U->getSubExpr()->IgnoreParenImpCasts();
      else if (const auto *X = dyn_cast<CastExpr>(E);
               X && isRealType(X->getType()) && isRealType(X->getSubExpr()->getType()))
        E = X->getSubExpr()->IgnoreParenImpCasts();
      else
        break;
    }
    if (Is(E, C))
      return true;
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return any(Choice->getTrueExpr(), C, Is) || any(Choice->getFalseExpr(), C, Is);
    if (const Expr *Argument = argumentOf(E, C))
      return any(Argument, *C.Caller, Is);
    if (const auto *Called = dyn_cast<CallExpr>(E))
      return ofResult(Called, C, [&](const Expr *V, const Call &In) { return any(V, In, Is); });
    return llvm::any_of(valuesOf(E, C), [&](const Expr *V) {
      const auto *B = dyn_cast<BinaryOperator>(V);
      return B && B->isCompoundAssignmentOp() ? Is(B, C) : any(V, C, Is);
    });
  }
  /// \p Is of what \p Called may return, in that call; of functions without a body,
  /// and those of which too many call one another, nothing is known to be.
  bool ofResult(const CallExpr *Called, const Call &C, Test Is) {
    struct Finder : ConstDynamicRecursiveASTVisitor {
      llvm::SmallVector<const Expr *, 2> Values;
      bool VisitReturnStmt(const ReturnStmt *R) override {
        if (R->getRetValue())
          Values.push_back(R->getRetValue());
        return true;
      }
      bool TraverseLambdaExpr(const LambdaExpr *) override { return true; }
    } X;
    const FunctionDecl *F = Called->getDirectCallee(), *Def = nullptr;
    if (!F || !F->hasBody(Def) || !Of.count(Def))
      return false;
    X.TraverseStmt(Def->getBody());
    const Call Inner{Def, Called, &C};
    return llvm::any_of(X.Values, [&](const Expr *V) { return Is(V, Inner); });
  }
  /// What the variable of the body that \p E is, or is an element of, is set to or scaled by.
  llvm::SmallVector<const Expr *, 4> valuesOf(const Expr *E, const Call &C) const {
    const VarDecl *V = rootVar(E);
    if (!V || isa<ParmVarDecl>(V) || V->hasAttr<CUDASharedAttr>() ||
        V->getType()->isPointerType())
      return {};
    const auto At = Of.find(C.Of);
    auto Out = At->second->valuesOf(V);
    llvm::append_range(Out, At->second->scaledBy(V));
    return Out;
  }
  /// A number, or one where loops are unrolled.
  bool mayBeNumber(const Expr *E, const Call &C) {
    if (!E || ++Steps > 512)
      return E != nullptr;
    E = E->IgnoreParenCasts();
    if (number(E, C))
      return true;
    if (isa<PseudoObjectExpr>(E))
      return false;
    if (const Expr *Argument = argumentOf(E, C))
      return mayBeNumber(Argument, *C.Caller);
    const auto Is = [&](const clang::Stmt *S) {
      const auto *X = dyn_cast_or_null<Expr>(S);
      return X && mayBeNumber(X, C);
    };
    if (isa<DeclRefExpr, ArraySubscriptExpr, MemberExpr>(E)) {
      const VarDecl *V = rootVar(E);
      return V && (llvm::any_of(valuesOf(E, C), Is) ||
                   (V->hasGlobalStorage() && V->getType().isConstQualified() && V->getInit()));
    }
    if (const auto *Choice = dyn_cast<ConditionalOperator>(E))
      return Is(Choice->getTrueExpr()) || Is(Choice->getFalseExpr());
    if (isa<InitListExpr>(E))
      return llvm::any_of(E->children(), Is);
    if (const auto *Called = dyn_cast<CallExpr>(E))
      return llvm::all_of(Called->arguments(), Is);
    return isa<UnaryOperator, BinaryOperator>(E) && llvm::all_of(E->children(), Is);
  }
  bool isByNumber(const Expr *E, const Call &Where) {
    return any(E, Where, [&](const Expr *X, const Call &C) {
      const auto *B = dyn_cast<BinaryOperator>(X);
      if (!B || (!isProduct(B) && !isQuotient(B)))
        return false;
      return mayBeNumber(B->getRHS(), C) || mayBeNumber(B->getLHS(), C) ||
             isByNumber(B->getLHS(), C) || isByNumber(B->getRHS(), C);
    });
  }
  bool mayBeNegative(const Expr *E, const Call &C, bool Numbers) {
    if (!E || ++Steps > 512)
      return E != nullptr;
    E = E->IgnoreParenCasts();
    if (const auto N = number(E, C))
      return *N == -1 || (Numbers && *N <= 0);
    if (const auto *U = dyn_cast<UnaryOperator>(E); U && U->getOpcode() == UO_Minus)
      return true;
    if (const Expr *Argument = argumentOf(E, C))
      return mayBeNegative(Argument, *C.Caller, Numbers);
    const auto Is = [&](const clang::Stmt *S) {
      const auto *X = dyn_cast_or_null<Expr>(S);
      return X && mayBeNegative(X, C, Numbers);
    };
    if (isa<DeclRefExpr, ArraySubscriptExpr, MemberExpr>(E))
      return llvm::any_of(valuesOf(E, C), Is) || (Numbers && mayBeNumber(E, C));
    if (const auto *Called = dyn_cast<CallExpr>(E))
      return mayNegate(Called) || llvm::any_of(Called->arguments(), Is) ||
             ofResult(Called, C, [&](const Expr *V, const Call &In) {
               return mayBeNegative(V, In, Numbers);
             });
    return llvm::any_of(E->children(), Is);
  }
};

bool TurnedSums::matters(const BinaryOperator *Sum, const Call &In) const {
  const Expr *L = Sum->getLHS(), *R = Sum->getRHS();
  const auto IsTwice = [&](const Expr *E) { return Walk(Of, In).isTwice(E); };
  const auto IsByNumber = [&](const Expr *E) { return Walk(Of, In).isByNumber(E); };
  const auto MayBeNegative = [&](const Expr *E, bool Numbers) {
    return Walk(Of, In).mayBeNegative(E, Numbers);
  };
  const bool Difference = Sum->getOpcode() == BO_Sub || Sum->getOpcode() == BO_SubAssign;
  if (IsTwice(L) && IsTwice(R))
    return false; // no product
  if (Difference && IsByNumber(R) && (IsTwice(L) || MayBeNegative(L, false)))
    return true;
  // A sum that may be turned into a difference, and that back.
  const bool OneTwice = (IsTwice(L) && IsByNumber(R)) || (IsTwice(R) && IsByNumber(L));
  return OneTwice && (MayBeNegative(L, true) || MayBeNegative(R, true));
}

} // namespace rcache
