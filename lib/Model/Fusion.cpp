// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sum of two products, a * b + c * d, can be fused in two ways, and compilers
// prefer to fuse the product that has fewer other uses. When one thread
// computes several outputs, a product that serves two of them is computed once:
// it has other uses than in the original, the sum is fused the other way, and
// the bits differ. So in kernels with such sums one factor of each product is
// marked, and emission keeps the products of different outputs apart there.
//
// A product with a constant is in danger even in a sum of its own: where staging
// gives a constant out of range, compilers multiply inside the branch that
// loads, and what is left for the sum is no product. There the other factor is
// marked.

#include "Locals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace rcache {
namespace {

bool isReal(QualType T) {
  auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  return B && (B->getKind() == BuiltinType::Float ||
               B->getKind() == BuiltinType::Double);
}

const VarDecl *rootOf(const Expr *E) {
  for (E = E->IgnoreParenImpCasts();;) {
    if (auto *M = dyn_cast<MemberExpr>(E); M && !M->isArrow())
      E = M->getBase()->IgnoreParenImpCasts();
    else if (auto *A = dyn_cast<ArraySubscriptExpr>(E))
      E = A->getBase()->IgnoreParenImpCasts();
    else
      break;
  }
  auto *D = dyn_cast<DeclRefExpr>(E);
  return D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
}

/// May \p E be a constant once loops are unrolled and calls inlined? Certainly
/// not what comes from memory, an argument of the kernel or a thread's index.
bool mayBeConstant(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (auto *B = dyn_cast<BinaryOperator>(E))
    return mayBeConstant(B->getLHS()) && mayBeConstant(B->getRHS());
  if (auto *U = dyn_cast<UnaryOperator>(E))
    return U->getOpcode() != UO_Deref && mayBeConstant(U->getSubExpr());
  if (auto *C = dyn_cast<ConditionalOperator>(E))
    return mayBeConstant(C->getTrueExpr()) || mayBeConstant(C->getFalseExpr());
  if (auto *C = dyn_cast<CallExpr>(E)) // all of them: fabsf(0.5f)
    return std::all_of(C->arg_begin(), C->arg_end(), mayBeConstant);
  if (isa<PseudoObjectExpr>(E))
    return false;
  if (isa<ArraySubscriptExpr, MemberExpr>(E)) {
    const VarDecl *V = rootOf(E);
    return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
           !V->getType()->isPointerType();
  }
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
      return !isa<ParmVarDecl>(V) &&
             (V->hasLocalStorage() || V->getType().isConstQualified());
  return true;
}

class Fusion : public ConstDynamicRecursiveASTVisitor {
public:
  /// Products in text order, and whether some sum has two.
  std::vector<const BinaryOperator *> Products;
  std::vector<const CallExpr *> Calls;
  bool Ambiguous = false;
  bool Sums = false;      ///< some sum has a product
  unsigned Depth = 0;

  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (!isReal(B->getType()))
      return true;
    switch (B->getOpcode()) {
    case BO_Mul:
    case BO_MulAssign:
      note(Products, B);
      if (B->isAssignmentOp())
        remember(B->getLHS());
      break;
    case BO_Assign:
      if (mayBeProduct(B->getRHS()))
        remember(B->getLHS());
      break;
    case BO_Add:
    case BO_Sub:
    case BO_AddAssign:
    case BO_SubAssign:
      Ambiguous |= mayBeProduct(B->getLHS()) && mayBeProduct(B->getRHS());
      Sums |= mayBeProduct(B->getLHS()) || mayBeProduct(B->getRHS());
      break;
    default:
      break;
    }
    return true;
  }
  /// Functions whose bodies hold products: their arguments are kept apart.
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    if (!F || !F->hasBody(F) || Depth > 3 || F->getBuiltinID() ||
        C->getBeginLoc().isInvalid())
      return true;
    Fusion Inside;
    Inside.Depth = Depth + 1;
    Inside.TraverseStmt(F->getBody());
    Inside.TraverseStmt(F->getBody());
    if (Inside.Products.empty() && Inside.Calls.empty())
      return true;
    Ambiguous |= Inside.Ambiguous;
    Sums |= Inside.Sums;
    if (std::find(Calls.begin(), Calls.end(), C) == Calls.end())
      Calls.push_back(C);
    return true;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getInit() && isReal(V->getType()) && mayBeProduct(V->getInit()))
      Vars.insert(V->getCanonicalDecl());
    return true;
  }

private:
  llvm::SmallPtrSet<const VarDecl *, 8> Vars; ///< that may hold a product

  static void note(std::vector<const BinaryOperator *> &To,
                   const BinaryOperator *B) {
    if (std::find(To.begin(), To.end(), B) == To.end())
      To.push_back(B);
  }
  void remember(const Expr *E) {
    if (const VarDecl *V = rootOf(E))
      Vars.insert(V->getCanonicalDecl());
  }
  bool mayBeProduct(const Expr *E) const {
    E = E->IgnoreParenImpCasts();
    if (auto *U = dyn_cast<UnaryOperator>(E))
      return (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus) &&
             mayBeProduct(U->getSubExpr());
    if (auto *B = dyn_cast<BinaryOperator>(E))
      return isReal(B->getType()) && B->getOpcode() == BO_Mul;
    if (auto *C = dyn_cast<ConditionalOperator>(E))
      return mayBeProduct(C->getTrueExpr()) || mayBeProduct(C->getFalseExpr());
    if (auto *C = dyn_cast<CallExpr>(E))
      return std::find(Calls.begin(), Calls.end(), C) != Calls.end();
    const VarDecl *V = rootOf(E);
    return V && Vars.count(V->getCanonicalDecl());
  }
};

} // namespace

/// The marked factors of \p FD, KernelModel::Apart.
std::vector<TextRange> apartFactors(const FunctionDecl *FD, FlatText &Flat) {
  Fusion F;
  // Twice: a variable may get its product below its use, in a loop.
  F.TraverseStmt(FD->getBody());
  F.TraverseStmt(FD->getBody());
  std::vector<TextRange> Out;
  if (!F.Ambiguous && !F.Sums)
    return Out;
  for (const BinaryOperator *B : F.Products) {
    const bool Constant =
        mayBeConstant(B->getLHS()) || mayBeConstant(B->getRHS());
    if (!F.Ambiguous && !Constant)
      continue;
    const Expr *Sides[2] = {B->getRHS(), B->getLHS()};
    const Expr *Best = nullptr;
    for (const Expr *S : Sides) {
      if (B->isAssignmentOp() && S == B->getLHS())
        continue;
      const Expr *X = S->IgnoreParenImpCasts();
      if (isReal(X->getType()) &&
          (!Best || isa<FloatingLiteral>(Best->IgnoreParenImpCasts()) ||
           (mayBeConstant(Best) && !mayBeConstant(S))))
        Best = S;
    }
    if (!Best)
      continue;
    if (auto R = Flat.range(Best->getSourceRange()))
      Out.push_back(*R);
  }
  for (const CallExpr *C : F.Calls)
    for (const Expr *A : C->arguments())
      if (isReal(A->IgnoreParenImpCasts()->getType()) && A->isPRValue())
        if (auto R = Flat.range(A->getSourceRange()))
          Out.push_back(*R);
  return Out;
}

} // namespace rcache
