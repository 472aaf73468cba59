// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc fuses a product with the sums that use it when it has no other uses; of
// two products in a sum one is taken by their order and their uses
// (docs/soundness.md). When one thread computes several outputs, a product that
// serves two of them is computed once: it has other uses than in the original,
// and other sums are fused.
//
// So in kernels where that could matter each output gets its own copy of what
// the windows hold, hidden from the compiler once and then used by name: the
// products of an output are what they were, those with two uses included, and
// none is another output's. The copies are read where the original read shared
// memory: of two products in a sum, which one comes first for the compiler
// hangs on where their operands are loaded. Nothing else is hidden, for that
// would change the order: a parameter's product comes before a loaded one's.
//
// It cannot matter where every product stands in a sum of its own and either has a
// factor that no two outputs have in common or one that instructions name: then it is
// fused whoever shares it (SharedProducts.h). There only products with a constant are in danger:
// where staging gives a constant out of range, compilers multiply inside the
// branch that loads, and what is left for the sum is no product. The other
// factor is hidden where it stands.

#include "FusionLoops.h"
#include "Locals.h"
#include "ProductFlow.h"
#include "SharedProducts.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMap.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <array>

using namespace clang;

namespace rcache {
namespace {

bool isReal(QualType T) {
  auto *B = T.getCanonicalType()->getAs<BuiltinType>();
  return B && (B->getKind() == BuiltinType::Float ||
               B->getKind() == BuiltinType::Double);
}

const VarDecl *placeRoot(const Expr *E) {
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
    const VarDecl *V = placeRoot(E);
    return V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
           !V->getType()->isPointerType();
  }
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
      return !isa<ParmVarDecl>(V) &&
             (V->hasLocalStorage() || V->getType().isConstQualified());
  return true;
}

/// Of half precision, whose arithmetic is functions of the toolkit's headers.
bool isHalf(QualType T) {
  const auto *R = T.getCanonicalType()->getAsCXXRecordDecl();
  if (!R || !R->getIdentifier())
    return false;
  for (StringRef N : {"__half", "__half2", "__nv_bfloat16", "__nv_bfloat162"})
    if (R->getName() == N)
      return true;
  return false;
}
/// Arithmetic of half precision: a product or a sum, for all that is known.
bool isHalfArithmetic(const CallExpr *C) {
  const FunctionDecl *F = C->getDirectCallee();
  if (!F || !isHalf(F->getReturnType().getNonReferenceType()))
    return false;
  const OverloadedOperatorKind O = F->getOverloadedOperator();
  if (O != OO_None)
    return O != OO_Equal;
  const IdentifierInfo *I = F->getIdentifier();
  return I && I->getName().starts_with("__h") &&
         !I->getName().starts_with("__half");
}

/// Without parentheses and conversions between floating-point types: of
/// (float)(x * 0.5) compilers make a product of floats.
const Expr *bare(const Expr *E) {
  for (E = E->IgnoreParenImpCasts();;) {
    auto *C = dyn_cast<CastExpr>(E);
    if (!C || !isReal(C->getType()) || !isReal(C->getSubExpr()->getType()))
      return E;
    E = C->getSubExpr()->IgnoreParenImpCasts();
  }
}

class Fusion : public ConstDynamicRecursiveASTVisitor {
public:
  /// Products in text order, and whether some sum has two.
  std::vector<const BinaryOperator *> Products;
  std::vector<const CallExpr *> Calls; ///< that may be products, or hold some
  /// Products in functions that are called, of which nobody knows what is fused with
  /// them once several outputs have them in common.
  bool OpenInCalls = false;
  bool Ambiguous = false;
  bool Sums = false;    ///< some sum has a product
  bool AnySum = false;
  llvm::SmallPtrSet<const VarDecl *, 8> Summed; ///< by way of these
  bool Doubled = false; ///< there is an `x * 2`
  unsigned Depth = 0;

  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (!isReal(B->getType()))
      return true;
    switch (B->getOpcode()) {
    case BO_Mul:
    case BO_MulAssign:
    case BO_Div:
    case BO_DivAssign:
      if (isDoubling(B)) {
        Doubled = true;
        break;
      }
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
      // Which of both `x * 2` is, of which nothing more is known here.
      Ambiguous |= Doubled && !Products.empty() && Sums;
      Sums |= mayBeProduct(B->getLHS()) || mayBeProduct(B->getRHS());
      AnySum = true;
      take(B->getLHS());
      take(B->getRHS());
      break;
    default:
      break;
    }
    return true;
  }
  /// Functions whose bodies hold products: their arguments are kept apart.
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    if (isHalfArithmetic(C)) {
      Ambiguous = true;
      note(Calls, C);
    }
    if (!F || Depth > 3 || C->getBeginLoc().isInvalid())
      return true;
    const SourceManager &SM = F->getASTContext().getSourceManager();
    if (!F->hasBody(F) || F->getBuiltinID() ||
        SM.isInSystemHeader(SM.getExpansionLoc(F->getLocation()))) {
      if (isReal(C->getType()) && mayEndInProduct(C)) {
        OpenInCalls = true;
        note(Calls, C);
      }
      return true;
    }
    Fusion Inside;
    Inside.Depth = Depth + 1;
    Inside.TraverseStmt(F->getBody());
    Inside.TraverseStmt(F->getBody());
    AnySum |= Inside.AnySum;
    const auto Given = llvm::count_if(C->arguments(), [&](const Expr *A) {
      return isReal(A->getType()) && mayBeProduct(A);
    });
    const bool Multiplies = !Inside.Products.empty() || !Inside.Calls.empty();
    if (!Multiplies && !Given)
      return true;
    // Its sums may take what it is given, and two of that or one of its own.
    Ambiguous |= Inside.Ambiguous || (Inside.AnySum && Given + Multiplies > 1);
    Sums |= Inside.Sums || (Inside.AnySum && Given);
    OpenInCalls |= Inside.OpenInCalls ||
                   !llvm::all_of(Inside.Products, SharedProducts::hasFixedFactor);
    note(Calls, C);
    return true;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getInit() && isReal(V->getType()) && mayBeProduct(V->getInit()))
      Vars.insert(V->getCanonicalDecl());
    return true;
  }

private:
  llvm::SmallPtrSet<const VarDecl *, 8> Vars; ///< that may hold a product

  template <typename Node>
  static void note(std::vector<const Node *> &To, const Node *B) {
    if (std::find(To.begin(), To.end(), B) == To.end())
      To.push_back(B);
  }
  /// A sum takes \p E.
  void take(const Expr *E) {
    E = bare(E);
    while (const auto *U = dyn_cast<UnaryOperator>(E)) {
      if (U->getOpcode() != UO_Minus && U->getOpcode() != UO_Plus)
        return;
      E = bare(U->getSubExpr());
    }
    if (const VarDecl *V = placeRoot(E); V && Vars.count(V->getCanonicalDecl()))
      Summed.insert(V);
  }
  /// Not shared memory, which rounds.
  void remember(const Expr *E) {
    if (const VarDecl *V = placeRoot(E); V && !V->hasAttr<CUDASharedAttr>())
      Vars.insert(V->getCanonicalDecl());
  }
  bool mayBeProduct(const Expr *E) const {
    E = bare(E);
    if (auto *U = dyn_cast<UnaryOperator>(E))
      return (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus) &&
             mayBeProduct(U->getSubExpr());
    if (auto *B = dyn_cast<BinaryOperator>(E))
      return isReal(B->getType()) && !isDoubling(B) &&
             (B->getOpcode() == BO_Mul || B->getOpcode() == BO_Div);
    if (auto *C = dyn_cast<ConditionalOperator>(E))
      return mayBeProduct(C->getTrueExpr()) || mayBeProduct(C->getFalseExpr());
    if (auto *C = dyn_cast<CallExpr>(E))
      return std::find(Calls.begin(), Calls.end(), C) != Calls.end();
    const VarDecl *V = placeRoot(E);
    return V && Vars.count(V->getCanonicalDecl());
  }
};

/// Where the products of a kernel stand.
class UsePlaces {
public:
  explicit UsePlaces(const clang::Stmt *Body)
      : Parents(const_cast<clang::Stmt *>(Body)) {}

  /// Is \p E an operand of a sum and nothing else?
  bool inSum(const Expr *E) const {
    const clang::Stmt *Child = E;
    for (const clang::Stmt *P = Parents.getParent(E); P;
         Child = P, P = Parents.getParent(P)) {
      if (isa<ParenExpr, ImplicitCastExpr>(P))
        continue;
      if (auto *U = dyn_cast<UnaryOperator>(P);
          U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
        continue;
      auto *B = dyn_cast<BinaryOperator>(P);
      return B && isReal(B->getType()) &&
             (B->isAdditiveOp() || ((B->getOpcode() == BO_AddAssign ||
                                     B->getOpcode() == BO_SubAssign) &&
                                    Child == B->getRHS()));
    }
    return false;
  }

private:
  ParentMap Parents;
};

} // namespace

bool fusesNothing(const ASTContext &AC) {
  return AC.getLangOpts().getDefaultFPContractMode() == LangOptions::FPM_Off;
}

bool isDoubling(const BinaryOperator *B) {
  if (B->getOpcode() != BO_Mul && B->getOpcode() != BO_MulAssign)
    return false;
  return llvm::any_of(std::array{B->getLHS(), B->getRHS()}, [](const Expr *E) {
    E = E->IgnoreParenCasts();
    if (auto *F = dyn_cast<FloatingLiteral>(E))
      return F->getValueAsApproximateDouble() == 2;
    auto *I = dyn_cast<IntegerLiteral>(E);
    return I && I->getValue() == 2;
  });
}

/// Is \p FD an instantiation with a type that has no name, as closures have?
static bool isNameless(const FunctionDecl *FD) {
  const TemplateArgumentList *Args = FD->getTemplateSpecializationArgs();
  return Args && llvm::any_of(Args->asArray(), [](const TemplateArgument &A) {
           if (A.getKind() != TemplateArgument::Type)
             return false;
           const auto *R = A.getAsType()->getAsCXXRecordDecl();
           return R && (R->isLambda() || !R->getIdentifier());
         });
}

/// \p FD, and what else has its text: nothing tells instantiations with closures
/// apart, so what one needs all have.
static std::vector<const FunctionDecl *>
ofOneText(const FunctionDecl *FD) {
  std::vector<const FunctionDecl *> All = {FD};
  const FunctionTemplateDecl *T = FD->getPrimaryTemplate();
  if (!T || !llvm::any_of(T->specializations(), isNameless))
    return All;
  for (const FunctionDecl *Other : T->specializations())
    if (const FunctionDecl *Def = nullptr;
        Other->hasBody(Def) && Def != FD &&
        Def->getTemplateSpecializationKind() == TSK_ImplicitInstantiation)
      All.push_back(Def);
  return All;
}

/// KernelModel::OwnViews, Apart and SummedProducts, for \p FD alone.
static void keepApart(const FunctionDecl *FD, FlatText &Flat, KernelModel &M,
                      unsigned Axes) {
  Fusion F;
  // Twice: a variable may get its product below its use, in a loop.
  F.TraverseStmt(FD->getBody());
  F.TraverseStmt(FD->getBody());
  for (const VarDecl *V : F.Summed)
    if (const auto Name = Flat.range(V->getLocation()))
      for (unsigned I = 0; I < M.Vars.size(); ++I)
        if (M.Vars[I].NameRange == *Name && !llvm::is_contained(M.ProductVars, I))
          M.ProductVars.push_back(I);
  for (const BinaryOperator *B : F.Products)
    for (const auto &[Factor, Other] :
         {std::pair(B->getLHS(), B->getRHS()), std::pair(B->getRHS(), B->getLHS())})
      if (const auto *D = dyn_cast<DeclRefExpr>(Factor->IgnoreParenImpCasts()))
        if (const auto Name = Flat.range(D->getDecl()->getLocation());
            Name && mayBeConstant(Other))
          for (unsigned I = 0; I < M.Vars.size(); ++I)
            if (M.Vars[I].NameRange == *Name && !llvm::is_contained(M.ScaledVars, I))
              M.ScaledVars.push_back(I);
  if (!F.Ambiguous && !F.Sums)
    return;
  const UsePlaces At(FD->getBody());
  std::vector<const Expr *> All(F.Products.begin(), F.Products.end());
  All.insert(All.end(), F.Calls.begin(), F.Calls.end());
  if (F.Ambiguous)
    for (const Expr *E : All)
      M.SummedProducts.push_back(
          Flat.range(E->getSourceRange()).value_or(TextRange()));
  // Fused whoever shares them: in sums of their own, with a factor that lets ptxas do
  // what the first half of nvcc left undone.
  bool Alone = !F.Ambiguous && !F.OpenInCalls &&
               SharedProducts(FD, Axes).areFusedAnyway(F.Products);
  for (const Expr *E : All)
    Alone = Alone && At.inSum(E);
  if (!Alone) {
    M.OwnViews = true;
    return;
  }
  auto Add = [&](const Expr *Factor) {
    if (auto R = Flat.range(Factor->getSourceRange()))
      M.Apart.push_back(*R);
  };
  for (const BinaryOperator *B : F.Products) {
    if (!mayBeConstant(B->getLHS()) && !mayBeConstant(B->getRHS()))
      continue;
    if (B->getOpcode() == BO_Div || B->getOpcode() == BO_DivAssign) {
      // A product if it is by a constant.
      if (B->getOpcode() == BO_Div && mayBeConstant(B->getRHS()) &&
          isReal(B->getLHS()->IgnoreParenImpCasts()->getType()))
        Add(B->getLHS());
      continue;
    }
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
    if (Best)
      Add(Best);
  }
  for (const CallExpr *C : F.Calls)
    for (const Expr *A : C->arguments())
      if (isReal(A->IgnoreParenImpCasts()->getType()) && A->isPRValue())
        Add(A);
}

void keepProductsApart(const FunctionDecl *FD, FlatText &Flat, KernelModel &M) {
  if (fusesNothing(FD->getASTContext()))
    return;
  unsigned Axes = 0;
  for (const BuiltinUse &B : M.Builtins)
    if (B.K == Symbol::ThreadIdx)
      Axes |= B.Axis < 3 ? DepThreadX << B.Axis : DepThread;
  const std::vector<const FunctionDecl *> All = ofOneText(FD);
  for (const FunctionDecl *F : All)
    keepApart(F, Flat, M, Axes);
  if (M.OwnViews)
    M.Apart.clear();
  if (All.size() == 1)
    return;
  const auto First = [](TextRange A, TextRange B) { return A.Begin < B.Begin; };
  llvm::stable_sort(M.Apart, First);
  M.Apart.erase(std::unique(M.Apart.begin(), M.Apart.end()), M.Apart.end());
}

} // namespace rcache
