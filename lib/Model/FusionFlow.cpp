// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc fuses a product with the sums that use it when it has no other uses
// (docs/soundness.md), wherever they stand: that is so in the original and in the
// rewritten kernel alike, whose outputs compute the same values from the same
// values. It is not so where the statements themselves decide:
//
//   - The product reaches its sum from a branch (or an arm of ?:) that indices
//     decide, out of a loop or in the loop's next round, where the source does
//     not say that the loop is unrolled: then there is another value between them,
//     `c ? p : q`, or not, depending on what the compiler knows of the indices.
//   - It is staged and used in a sum as well: in the original one product with two
//     uses, in the rewritten kernel two with one each.
//   - The sum has two products, of which one only can be fused. Which one hangs on
//     the order in which their values are loaded, which stays, and on the block of
//     code in which they are computed, which does not where
//       - barriers, statements that fill shared memory or a loop that may be
//         unrolled or not stand between product and sum;
//       - the product is the same in all rounds of such a loop, or for all
//         threads: one thread has it once for all its outputs;
//       - what a thread keeps for several outputs is read elsewhere than in the
//         original (FusionOrder.cpp).
//
// Such a sum is found here.

#include "FusionLoops.h"
#include "FusionOrder.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMap.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <array>
#include <map>
#include <optional>

using namespace clang;

namespace rcache {
namespace {

using Node = clang::Stmt;

bool isReal(QualType T) { return T.getCanonicalType()->isRealFloatingType(); }

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

bool isShared(const Expr *E) {
  const VarDecl *V = rootOf(E);
  return V && V->hasAttr<CUDASharedAttr>();
}

using Dependences = llvm::function_ref<unsigned(const VarDecl *)>;

/// Conditions that no knowledge of indices and arguments decides: of data.
bool ofData(const Expr *Condition, Dependences DependsOn = nullptr) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    Dependences DependsOn;
    bool Found = false;
    explicit Finder(Dependences D) : DependsOn(D) {}
    bool VisitArraySubscriptExpr(const ArraySubscriptExpr *) override {
      Found = true;
      return false;
    }
    bool VisitDeclRefExpr(const DeclRefExpr *D) override {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      if (V && V->hasLocalStorage())
        Found |= DependsOn ? (DependsOn(V) & (DepShared | DepGlobal)) != 0
                           : isReal(V->getType());
      return !Found;
    }
  } X(DependsOn);
  X.TraverseStmt(Condition);
  return X.Found;
}

bool isBarrier(const CallExpr *C, unsigned Depth = 0);

class Within : public ConstDynamicRecursiveASTVisitor {
public:
  unsigned Depth = 0; ///< of calls
  bool Barrier = false, Staging = false;
  bool VisitCallExpr(const CallExpr *C) override {
    Barrier |= isBarrier(C, Depth);
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    Staging |= B->isAssignmentOp() && isShared(B->getLHS());
    return true;
  }
};

/// A barrier, or a function that has one.
bool isBarrier(const CallExpr *C, unsigned Depth) {
  auto *D = dyn_cast_or_null<NamedDecl>(C->getCalleeDecl());
  if (D && D->getIdentifier() &&
      (D->getName().starts_with("__sync") || D->getName() == "sync"))
    return true;
  auto *F = dyn_cast_or_null<FunctionDecl>(D);
  const FunctionDecl *Def = nullptr;
  if (!F || Depth > 3 || !F->hasBody(Def))
    return false;
  Within W;
  W.Depth = Depth + 1;
  W.TraverseStmt(Def->getBody());
  return W.Barrier;
}

/// One function: the kernel, or one it calls.
class Flow : public ConstDynamicRecursiveASTVisitor {
public:
  Flow(const FunctionDecl *F, Dependences DependsOn, unsigned Axes, bool Kernel)
      : Body(F->getBody()), Context(F->getASTContext()), DependsOn(DependsOn), Axes(Axes), Kernel(Kernel),
        Parents(F->getBody()) {}

  const Node *Body;
  llvm::SmallVector<const FunctionDecl *, 4> Called;
  std::vector<const CallExpr *> Calls; ///< of these

  /// The first sum that cannot be settled.
  const Expr *find() {
    TraverseStmt(Body);
    // Variables that get a product from another one.
    for (unsigned Round = 0; Round < 4; ++Round) {
      const size_t Before = Made.size();
      const std::vector<std::pair<const VarDecl *, const Expr *>> Now = Made;
      for (const auto &[V, P] : Now)
        for (const DeclRefExpr *R : Reads[V])
          if (const VarDecl *To = assigned(outermost(R)))
            make(To, R);
      if (Made.size() == Before)
        break;
    }
    for (const Expr *P : Products) {
      const Expr *Sum = inSum(P);
      if (Sum && (conditional(P, Sum) ||
                  (meetsProduct(P) && (sameInRounds(P) || sameForAll(P)))))
        return Sum;
    }
    for (const auto &[V, P] : Made) {
      const bool Meets = meetsProduct(P);
      bool Staged = false, Other = false, AllSums = true;
      const Expr *AnySum = nullptr;
      for (const DeclRefExpr *R : Reads[V]) {
        const Expr *Sum = inSum(R);
        (isStaged(R) ? Staged : Other) = true;
        AllSums &= Sum != nullptr;
        if (!Sum)
          continue;
        AnySum = Sum;
        if (conditional(R, Sum) || conditional(P, assignment(P)) ||
            parted(V, P, R, Meets) ||
            (Meets && (sameInRounds(P) || sameForAll(P))))
          return Sum;
      }
      if (AnySum && ((Staged && Other && !AllSums) || mayLoseUse(V, P)))
        return AnySum;
    }
    if (const Expr *Sum = stagedElsewhere())
      return Sum;
    return distantSum(SumInDoubt::Anywhere);
  }

  /// A sum of a product that has other uses as well. They keep it from being fused,
  /// but not where some 500 instructions of a block stand between both: so it hangs
  /// on how far loops between them are unrolled, and on how many outputs
  /// stand there. \p In: where outputs are what makes the distance.
  const Expr *distantSum(SumInDoubt::Where In) {
    using Use = std::pair<const Expr *, const Expr *>; // and of what
    std::map<std::string, std::vector<Use>> Groups;
    for (const Expr *P : Products)
      if (!assigned(outermost(P)))
        Groups[canonical(P)].emplace_back(P, P);
    for (const auto &[V, P] : Made)
      for (const DeclRefExpr *R : Reads[V])
        if (!assigned(outermost(R)))
          Groups[isa<CompoundAssignOperator>(P) ? "" : canonical(P)].emplace_back(R, P);
    for (const auto &[Text, Uses] : Groups) {
      if (llvm::all_of(Uses, [&](const Use &U) { return inSum(U.first); }))
        continue;
      for (const auto &[R, P] : Uses)
        if (const Expr *Sum = inSum(R))
          for (const auto &[Other, Q] : Uses)
            if (In == SumInDoubt::SeveralOutputs
                    ? sameForAll(Q)
                    : areParted(Q, R, In == SumInDoubt::OutputsInLoops))
              return Sum;
    }
    return nullptr;
  }

  /// Sums of which, for all that is known here, both sides are products.
  std::vector<const BinaryOperator *> sumsOfTwo() const {
    std::vector<const BinaryOperator *> Out;
    llvm::copy_if(Sums, std::back_inserter(Out),
                  [&](const BinaryOperator *B) { return isSumOfTwo(B); });
    return Out;
  }
  /// May \p E be a product, or `x * 2`?
  bool takesPlace(const Expr *E) const { return mayBeProduct(E) || mayBeDoubled(E); }
  /// Is one of the products that \p V holds made here?
  bool holdsProduct(const VarDecl *V) const {
    return llvm::any_of(Made, [&](const auto &X) { return X.first == V; });
  }
  /// \p E and the products it may be.
  std::vector<const Expr *> operands(const Expr *E) const {
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
    } else if (const VarDecl *V = rootOf(X)) {
      for (const auto &[To, P] : Made)
        if (To == V->getCanonicalDecl() && !isa<CompoundAssignOperator>(P))
          Out.push_back(P);
    }
    return Out;
  }
  /// A difference that compilers make no sum of: what is taken away is no negation.
  bool staysDifference(const BinaryOperator *B) const {
    return (B->getOpcode() == BO_Sub || B->getOpcode() == BO_SubAssign) &&
           !Negations &&
           llvm::none_of(operands(B->getRHS()),
                         [&](const Expr *E) { return mayBeNegated(E); });
  }
  bool Negations = false; ///< of floating-point values

  bool VisitStmt(const Node *S) override {
    Order[S] = static_cast<unsigned>(Order.size()) + 1;
    if (isLoop(S))
      Loops.push_back(S);
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      if (const VarDecl *V = rootOf(U->getSubExpr()))
        Set.emplace_back(V->getCanonicalDecl(), U);
    Negations |= U->getOpcode() == UO_Minus && isReal(U->getType());
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *D) override {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    if (!V || !(V->hasLocalStorage() || V->hasAttr<CUDASharedAttr>()))
      return true;
    // Not where it is only set.
    const Node *Top = D;
    const Node *P = Parents.getParent(Top);
    while (P && (isa<ParenExpr, ImplicitCastExpr, ArraySubscriptExpr>(P) ||
                 (isa<MemberExpr>(P) && !cast<MemberExpr>(P)->isArrow()))) {
      if (auto *A = dyn_cast<ArraySubscriptExpr>(P);
          A && A->getIdx() == Top)
        break;
      Top = P;
      P = Parents.getParent(P);
    }
    auto *B = dyn_cast_or_null<BinaryOperator>(P);
    if (!(B && B->getOpcode() == BO_Assign && B->getLHS() == Top))
      Reads[V->getCanonicalDecl()].push_back(D);
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->isAssignmentOp())
      if (const VarDecl *V = rootOf(B->getLHS()))
        Set.emplace_back(V->getCanonicalDecl(), B);
    if (!isReal(B->getType()))
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
      break;
    case BO_MulAssign:
    case BO_DivAssign:
      if (const VarDecl *V = rootOf(B->getLHS());
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
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    const FunctionDecl *Def = nullptr;
    if (!F)
      return true;
    if (isBarrier(C))
      Barriers.push_back(C);
    const SourceManager &SM = F->getASTContext().getSourceManager();
    if (F->hasBody(Def) && !F->getBuiltinID() &&
        !SM.isInSystemHeader(SM.getExpansionLoc(F->getLocation())))
      Called.push_back(Def), Calls.push_back(C);
    if (isReal(C->getType()))
      if (const IdentifierInfo *I = F->getIdentifier();
          I && !roundsOrPasses(I->getName()))
        product(C);
    return true;
  }

private:
  const ASTContext &Context;
  Dependences DependsOn;
  unsigned Axes; ///< of threads, in all that the kernel computes
  bool Kernel;   ///< not a function it calls
  ParentMap Parents;
  std::vector<const Expr *> Products;
  std::vector<const Expr *> Doubled; ///< `x * 2`
  llvm::SmallPtrSet<const VarDecl *, 4> DoubledVars;
  std::vector<const BinaryOperator *> Sums;
  std::vector<const Node *> Loops, Barriers;
  llvm::DenseMap<const Node *, unsigned> Order; ///< of the text
  std::vector<std::pair<const VarDecl *, const Expr *>> Set;
  /// Variables that hold a product, and what makes it.
  std::vector<std::pair<const VarDecl *, const Expr *>> Made;
  std::map<const VarDecl *, std::vector<const DeclRefExpr *>> Reads;

  static bool roundsOrPasses(llvm::StringRef N) {
    for (llvm::StringRef K :
         {"__fmul_rn", "__dmul_rn", "__fadd_rn", "__dadd_rn", "__fsub_rn",
          "__dsub_rn", "__fmaf_rn", "__fma_rn", "fmaf", "fma", "fabsf", "fabs",
          "floorf", "floor", "ceilf", "ceil", "truncf", "trunc", "rintf",
          "rint", "sqrtf", "sqrt", "rsqrtf", "min", "max", "fminf", "fmaxf",
          "fmin", "fmax"})
      if (N == K)
        return true;
    return N.starts_with("__") &&
           (N.contains("2float") || N.contains("2double") ||
            N.contains("_as_") || N.starts_with("__ld") ||
            N.starts_with("__shfl"));
  }

  static bool mayBeConstant(const Expr *E) {
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

  /// A product with a factor that is a constant, of whatever sign.
  bool mayBeNegated(const Expr *E) const {
    auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
    return B && B->isMultiplicativeOp() &&
           llvm::any_of(std::array{B->getLHS(), B->getRHS()}, [&](const Expr *X) {
             X = X->IgnoreParenImpCasts();
             const VarDecl *V = rootOf(X);
             if (Kernel && V && (DependsOn(V) & (DepThread | DepShared | DepGlobal)))
               return false;
             return (mayBeConstant(X) && !isa<FloatingLiteral, IntegerLiteral>(X)) ||
                    mayBeNegated(X);
           });
  }

  void product(const Expr *E) {
    Products.push_back(E);
    if (const VarDecl *V = assigned(outermost(E)))
      make(V, E);
  }
  void make(const VarDecl *V, const Expr *P) {
    V = V->getCanonicalDecl();
    for (const auto &[X, Q] : Made)
      if (X == V && Q == P)
        return;
    Made.emplace_back(V, P);
  }

  /// \p E with what hands its value on around it: parentheses, conversions
  /// between floating-point types, signs, ?:.
  const Node *outermost(const Expr *E) const {
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
          (Cast && (isReal(Cast->getType()) ||
                    Cast->getCastKind() == CK_ArrayToPointerDecay)) ||
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

  /// The sum that \p E is an operand of.
  const Expr *inSum(const Expr *E) const {
    const Node *Top = outermost(E);
    auto *B = dyn_cast_or_null<BinaryOperator>(Parents.getParent(Top));
    if (!B || !isReal(B->getType()))
      return nullptr;
    if (B->isAdditiveOp())
      return B;
    // `p += x` is a sum of p as well.
    return B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign
               ? B
               : nullptr;
  }
  /// The variable that gets the value of \p Top.
  const VarDecl *assigned(const Node *Top) const {
    const Node *P = Parents.getParent(Top);
    if (auto *B = dyn_cast_or_null<BinaryOperator>(P))
      if (B->getOpcode() == BO_Assign && B->getRHS() == Top)
        if (const VarDecl *V = rootOf(B->getLHS()); V && V->hasLocalStorage())
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
  const Node *assignment(const Expr *E) const {
    return isa<CompoundAssignOperator>(E) ? E
                                          : Parents.getParent(outermost(E));
  }
  bool isStaged(const Node *E) const {
    for (const Node *P = Parents.getParent(E); P; P = Parents.getParent(P))
      if (auto *B = dyn_cast<BinaryOperator>(P); B && B->isAssignmentOp())
        return isShared(B->getLHS());
    return false;
  }

  /// Is \p E in an arm of a ?: inside \p Until that indices decide?
  bool conditional(const Node *E, const Node *Until) const {
    for (const Node *P = Parents.getParent(E); P && P != Until;
         P = Parents.getParent(P))
      if (auto *C = dyn_cast<ConditionalOperator>(P); C && !isOwn(C->getCond()))
        return true;
    return false;
  }
  /// A condition that the compiler decides for no output and for no two at once: on
  /// data, or on a thread's index and an argument.
  bool isOwn(const Expr *Condition) const {
    Condition = Condition->IgnoreParenImpCasts();
    if (auto *B = dyn_cast<BinaryOperator>(Condition); B && B->isLogicalOp())
      return isOwn(B->getLHS()) && isOwn(B->getRHS());
    if (!Kernel)
      return ofData(Condition);
    return ofData(Condition, DependsOn) && !sameForAll(Condition);
  }
  /// Is there a use of \p V, no sum, that is left out where such a condition is
  /// decided?
  bool mayLoseUse(const VarDecl *V, const Expr *P) {
    for (const DeclRefExpr *R : Reads[V]) {
      if (inSum(R))
        continue;
      for (const Node *S = R, *Up = Parents.getParent(S); Up && !isIn(P, Up);
           S = Up, Up = Parents.getParent(Up)) {
        auto *C = dyn_cast<ConditionalOperator>(Up);
        auto *If = dyn_cast<IfStmt>(Up);
        if ((C && C->getCond() != S && !isOwn(C->getCond())) ||
            (If && If->getCond() != S && !isGuard(If->getCond())))
          return true;
      }
    }
    return false;
  }
  /// `g < n`: of threads and of an argument, and so never decided; or a variable
  /// that says so.
  bool isGuard(const Expr *Condition) {
    Condition = Condition->IgnoreParenImpCasts();
    if (auto *B = dyn_cast<BinaryOperator>(Condition); B && B->isLogicalOp())
      return isGuard(B->getLHS()) && isGuard(B->getRHS());
    if (isOwn(Condition))
      return true;
    struct Finder : ConstDynamicRecursiveASTVisitor {
      Dependences DependsOn;
      bool Thread = false;
      explicit Finder(Dependences D) : DependsOn(D) {}
      bool VisitDeclRefExpr(const DeclRefExpr *D) override {
        auto *V = dyn_cast<VarDecl>(D->getDecl());
        Thread |= V && ((DependsOn(V) & DepThread) || V->getName() == "threadIdx");
        return true;
      }
    } X(DependsOn);
    X.TraverseStmt(Condition);
    return X.Thread && ofArgument(Condition, 0);
  }
  /// Is \p E made of an argument, by what is assigned or where?
  bool ofArgument(const Node *E, unsigned Nested) {
    if (!E || Nested > 6)
      return false;
    if (auto *D = dyn_cast<DeclRefExpr>(E)) {
      auto *V = dyn_cast<VarDecl>(D->getDecl());
      if (!V || isa<ParmVarDecl>(V) || !V->hasLocalStorage())
        return V && isa<ParmVarDecl>(V);
      if (V->getInit() && ofArgument(V->getInit(), Nested + 1))
        return true;
      for (const auto &[To, At] : Set) {
        if (To != V->getCanonicalDecl())
          continue;
        auto *B = dyn_cast<BinaryOperator>(At);
        if (B && ofArgument(B->getRHS(), Nested + 1))
          return true;
        for (const Node *P = Parents.getParent(At); P; P = Parents.getParent(P))
          if (auto *If = dyn_cast<IfStmt>(P);
              If && ofArgument(If->getCond(), Nested + 1))
            return true;
      }
      return false;
    }
    return llvm::any_of(E->children(), [&](const Node *C) {
      return ofArgument(C, Nested + 1);
    });
  }

  /// Is \p P the same for all threads along some axis, and would be shared by a
  /// thread's outputs? An element of a shared array that differs between threads
  /// is each output's own.
  bool sameForAll(const Expr *P) const {
    if (!Kernel)
      return false;
    struct Finder : ConstDynamicRecursiveASTVisitor {
      Dependences DependsOn;
      unsigned Found = 0;
      bool Own = false;
      explicit Finder(Dependences D) : DependsOn(D) {}
      bool VisitDeclRefExpr(const DeclRefExpr *D) override {
        auto *V = dyn_cast<VarDecl>(D->getDecl());
        const unsigned Of = V ? DependsOn(V) : 0;
        Found |= Of;
        Own |= (Of & DepShared) && (Of & DepThread);
        return true;
      }
      bool VisitArraySubscriptExpr(const ArraySubscriptExpr *A) override {
        if (!isShared(A))
          return true;
        Finder Index(DependsOn);
        Index.TraverseStmt(A->getIdx());
        Own |= Index.Own || (Index.Found & DepThread);
        return true;
      }
      bool VisitPseudoObjectExpr(const PseudoObjectExpr *O) override {
        auto *E = dyn_cast<MSPropertyRefExpr>(O->getSyntacticForm());
        if (!E)
          return true;
        auto *B = dyn_cast<DeclRefExpr>(E->getBaseExpr()->IgnoreParenImpCasts());
        const llvm::StringRef Axis = E->getPropertyDecl()->getName();
        if (B && B->getDecl()->getName() == "threadIdx")
          Found |= Axis == "x"   ? DepThreadX
                   : Axis == "y" ? DepThreadY
                                 : DepThreadZ;
        return true;
      }
    } X(DependsOn);
    X.TraverseStmt(P);
    return !X.Own && (Axes & ~X.Found);
  }

  /// May \p E be one of \p Of or a variable that may be one, parameters of called
  /// functions included?
  bool mayBe(const Expr *E, llvm::ArrayRef<const Expr *> Of,
             llvm::function_ref<bool(const VarDecl *)> Holds) const {
    for (E = E->IgnoreParenImpCasts();;) {
      if (auto *U = dyn_cast<UnaryOperator>(E);
          U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
        E = U->getSubExpr()->IgnoreParenImpCasts();
      else if (auto *C = dyn_cast<CastExpr>(E);
               C && isReal(C->getType()) && isReal(C->getSubExpr()->getType()))
        E = C->getSubExpr()->IgnoreParenImpCasts();
      else
        break;
    }
    if (auto *C = dyn_cast<ConditionalOperator>(E))
      return mayBe(C->getTrueExpr(), Of, Holds) ||
             mayBe(C->getFalseExpr(), Of, Holds);
    if (llvm::is_contained(Of, E))
      return true;
    const VarDecl *V = rootOf(E);
    return V && ((!Kernel && isa<ParmVarDecl>(V) && isReal(V->getType())) ||
                 Holds(V->getCanonicalDecl()));
  }
  bool mayBeProduct(const Expr *E) const {
    return mayBe(E, Products, [&](const VarDecl *V) {
      return llvm::any_of(Made, [&](const auto &X) { return X.first == V; });
    });
  }
  /// `x * 2` is rounded by nobody, but takes the place of the other product.
  bool mayBeDoubled(const Expr *E) const {
    return mayBe(E, Doubled,
                 [&](const VarDecl *V) { return DoubledVars.count(V) != 0; });
  }
  bool isSumOfTwo(const BinaryOperator *Sum) const {
    const bool L = mayBeProduct(Sum->getLHS()), R = mayBeProduct(Sum->getRHS());
    return (L && R) || (L && mayBeDoubled(Sum->getRHS())) ||
           (R && mayBeDoubled(Sum->getLHS()));
  }
  /// Has a sum that \p P is used in another product as well?
  bool meetsProduct(const Expr *P) {
    auto OfTwo = [&](const Expr *Use) {
      auto *Sum = dyn_cast_or_null<BinaryOperator>(inSum(Use));
      return Sum && isSumOfTwo(Sum);
    };
    if (OfTwo(P))
      return true;
    for (const auto &[V, Q] : Made)
      if (Q == P)
        for (const DeclRefExpr *R : Reads[V])
          if (OfTwo(R))
            return true;
    return false;
  }

  /// A product in one place for the compiler, and staged in another one.
  std::string canonical(const Expr *E, unsigned Depth = 0) const {
    E = E->IgnoreParenImpCasts();
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
    if (auto *D = dyn_cast<DeclRefExpr>(E))
      if (auto *V = dyn_cast<VarDecl>(D->getDecl());
          V && V->hasLocalStorage() && V->getInit() && Depth < 8 &&
          llvm::none_of(Set, [&](const auto &X) {
            return X.first == V->getCanonicalDecl();
          }))
        return canonical(V->getInit(), Depth + 1);
    std::string T;
    llvm::raw_string_ostream OS(T);
    E->printPretty(OS, nullptr, PrintingPolicy(LangOptions()));
    return T;
  }
  /// A sum of a product that is staged, in its own right or in another sum, by
  /// text of its own.
  const Expr *stagedElsewhere() {
    std::map<std::string, const Expr *> Staged;
    for (const Expr *P : Products)
      if (isStaged(P))
        Staged.emplace(canonical(P), P);
    if (Staged.empty())
      return nullptr;
    for (const Expr *P : Products)
      if (!isStaged(P) && Staged.count(canonical(P))) {
        if (const Expr *Sum = inSum(P))
          return Sum;
        for (const auto &[V, Q] : Made)
          if (Q == P)
            for (const DeclRefExpr *R : Reads[V])
              if (const Expr *Sum = inSum(R))
                return Sum;
      }
    return nullptr;
  }

  static bool isLoop(const Node *S) {
    return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
  }
  /// How many rounds `for (int i = 1; i <= 4; i++)` has; nullopt: not known.
  std::optional<uint64_t> rounds(const Node *L) const {
    auto *F = dyn_cast<ForStmt>(L);
    auto *D = F ? dyn_cast_or_null<DeclStmt>(F->getInit()) : nullptr;
    auto *V = D && D->isSingleDecl() ? dyn_cast<VarDecl>(D->getSingleDecl())
                                     : nullptr;
    auto *C = F && F->getCond()
                  ? dyn_cast<BinaryOperator>(F->getCond()->IgnoreParenImpCasts())
                  : nullptr;
    auto *I = F ? dyn_cast_or_null<UnaryOperator>(F->getInc()) : nullptr;
    if (!V || !V->getInit() || !C || !I || !I->isIncrementOp() ||
        rootOf(I->getSubExpr()) != V || rootOf(C->getLHS()) != V ||
        (C->getOpcode() != BO_LT && C->getOpcode() != BO_LE))
      return std::nullopt;
    const ASTContext &AC = V->getASTContext();
    Expr::EvalResult First, End;
    if (V->getInit()->isValueDependent() || C->getRHS()->isValueDependent() ||
        !V->getInit()->EvaluateAsInt(First, AC) ||
        !C->getRHS()->EvaluateAsInt(End, AC))
      return std::nullopt;
    const int64_t N = End.Val.getInt().getExtValue() -
                      First.Val.getInt().getExtValue() +
                      (C->getOpcode() == BO_LE);
    return uint64_t(std::max<int64_t>(N, 0));
  }
  /// Does the source say that the loop is unrolled altogether?
  bool isUnrolled(const Node *L) const {
    auto *A = dyn_cast_or_null<AttributedStmt>(Parents.getParent(L));
    if (!A)
      return false;
    for (const Attr *X : A->getAttrs()) {
      auto *H = dyn_cast<LoopHintAttr>(X);
      if (!H)
        continue;
      if (H->getOption() == LoopHintAttr::Unroll &&
          (H->getState() == LoopHintAttr::Enable ||
           H->getState() == LoopHintAttr::Full))
        return true;
      Expr::EvalResult Count;
      const auto N = rounds(L);
      if (N && H->getOption() == LoopHintAttr::UnrollCount && H->getValue() &&
          !H->getValue()->isValueDependent() &&
          H->getValue()->EvaluateAsInt(Count, Context) &&
          *N <= Count.Val.getInt().getLimitedValue())
        return true;
    }
    return false;
  }
  bool isIn(const Node *E, const Node *S) const {
    for (; E; E = Parents.getParent(E))
      if (E == S)
        return true;
    return false;
  }

  /// Is \p P the same in all rounds of a loop around it?
  bool sameInRounds(const Expr *P) {
    for (const Node *L = Parents.getParent(P); L; L = Parents.getParent(L)) {
      if (isLoop(L) && !isUnrolled(L) && sameIn(P, L))
        return true;
    }
    return false;
  }
  /// ... of the loop \p L: nothing it is made of changes in there, memory included?
  bool sameIn(const Expr *P, const Node *L) {
    llvm::SmallPtrSet<const VarDecl *, 8> Changed;
    for (const auto &[V, S] : DeclStmts())
      if (isIn(S, L))
        Changed.insert(V->getCanonicalDecl());
    for (const auto &[V, E] : Set)
      if (isIn(E, L))
        Changed.insert(V);
    if (isa<CompoundAssignOperator>(P))
      return false;
    for (const auto &[V, Rs] : Reads)
      for (const DeclRefExpr *R : Rs)
        if (Changed.count(V) && isIn(R, P))
          return false;
    return true;
  }
  std::vector<std::pair<const VarDecl *, const Node *>> Statements;
  const std::vector<std::pair<const VarDecl *, const Node *>> &DeclStmts() {
    if (Statements.empty()) {
      struct Finder : ConstDynamicRecursiveASTVisitor {
        std::vector<std::pair<const VarDecl *, const Node *>> *Out;
        bool VisitDeclStmt(const DeclStmt *S) override {
          for (const Decl *D : S->decls())
            if (auto *V = dyn_cast<VarDecl>(D))
              Out->emplace_back(V, S);
          return true;
        }
      } F;
      F.Out = &Statements;
      F.TraverseStmt(Body);
    }
    return Statements;
  }

  /// Is there anything between the product \p P that goes into \p V and the sum that
  /// reads it with \p R: another value, or \p Blocks, the end of a block?
  bool parted(const VarDecl *V, const Expr *P, const DeclRefExpr *R,
              bool Blocks) {
    llvm::SmallVector<const Node *, 16> Up;
    for (const Node *S = R; S; S = Parents.getParent(S))
      Up.push_back(S);
    const Node *Common = P, *FromP = P;
    while (Common && !llvm::is_contained(Up, Common)) {
      FromP = Common;
      Common = Parents.getParent(Common);
      if (!Common || llvm::is_contained(Up, Common))
        break;
      if (leaves(Common))
        return true;
    }
    if (!Common)
      return true;
    const Node *FromR = R;
    for (const Node *S = R; S != Common; S = Parents.getParent(S)) {
      FromR = S;
      if (Blocks && S != R && enters(V, S))
        return true;
    }
    if (!isa<CompoundStmt>(Common))
      return isLoop(Common) && !isUnrolled(Common);
    bool Seen = false, Reached = false;
    for (const Node *S : Common->children()) {
      if (S == FromR && FromR != FromP) {
        if (!Seen) { // the last round's
          for (const Node *L = Common; L; L = Parents.getParent(L))
            if (isLoop(L))
              return !isUnrolled(L);
          return false; // no way from there to here
        }
        Reached = true;
      }
      if (S == FromP)
        Seen = true;
      else if (Blocks && Seen && !Reached && stands(S))
        return true;
    }
    return false;
  }
  /// Does a barrier, or a loop that may be unrolled or not (\p Any: or one that is),
  /// stand between \p P and \p R, or around one of them alone?
  bool areParted(const Expr *P, const Expr *R, bool Any) {
    const unsigned From = Order.lookup(P), To = Order.lookup(R);
    auto Between = [&](const Node *S) {
      return From < Order.lookup(S) && Order.lookup(S) < To;
    };
    return llvm::any_of(Barriers, Between) ||
           llvm::any_of(Loops, [&](const Node *L) {
             return (Any || !isUnrolled(L)) &&
                    (isIn(P, L) != isIn(R, L) || (!isIn(P, L) && Between(L)));
           });
  }
  /// Does a value change its block on the way out of \p S?
  bool leaves(const Node *S) const {
    if (auto *I = dyn_cast<IfStmt>(S))
      return !isOwn(I->getCond());
    if (isLoop(S))
      return !isUnrolled(S);
    return isa<SwitchStmt>(S);
  }
  /// ... or on the way into it? Not if it is only used in there.
  bool enters(const VarDecl *V, const Node *S) {
    if (isLoop(S))
      return !isUnrolled(S);
    if (isa<SwitchStmt>(S))
      return true;
    const Expr *Condition = nullptr;
    if (auto *I = dyn_cast<IfStmt>(S))
      Condition = I->getCond();
    else if (auto *C = dyn_cast<ConditionalOperator>(S))
      Condition = C->getCond();
    if (!Condition || isOwn(Condition))
      return false;
    for (const DeclRefExpr *R : Reads[V])
      if (!isIn(R, S))
        return true;
    return false;
  }
  /// Does \p S stand between two statements of one block?
  bool stands(const Node *S) const {
    Within W;
    W.TraverseStmt(S);
    if (W.Barrier ||
        (W.Staging && isa<IfStmt, ForStmt, WhileStmt, DoStmt>(S)))
      return true;
    const Node *L = S;
    if (auto *A = dyn_cast<AttributedStmt>(S))
      L = A->getSubStmt();
    return isLoop(L) && !isUnrolled(L);
  }
};

} // namespace

bool hasBarrier(const CallExpr *C) { return isBarrier(C); }

namespace {

/// Looks at the sums of two products of all that is called.
class SumsInOrder {
public:
  using Where = SumInDoubt::Where;
  SumsInOrder(std::map<const FunctionDecl *, std::unique_ptr<Flow>> &Flows,
              const FunctionDecl *Kernel, Dependences DependsOn)
      : Flows(Flows), Order(Kernel, DependsOn) {}

  SumInDoubt Found;

  void look(const FusionOrder::Call &C, unsigned Depth = 0) {
    Flow &F = *Flows.at(C.Of);
    for (Where In : {SumInDoubt::SeveralOutputs,
                     SumInDoubt::OutputsInLoops})
      if (const Expr *Sum = F.distantSum(In))
        add(Sum, In);
    for (const BinaryOperator *B : F.sumsOfTwo()) {
      if (!isProduct(B->getLHS(), C) || !isProduct(B->getRHS(), C) ||
          (!Negations && F.staysDifference(B)))
        continue;
      const std::vector<const Expr *> L = F.operands(B->getLHS()),
                                      R = F.operands(B->getRHS());
      using Outputs = FusionOrder::Outputs;
      if (!Order.keeps(B, L, R, C, Outputs::One))
        add(B, SumInDoubt::Anywhere);
      else if (!Order.keeps(B, L, R, C, Outputs::Several))
        add(B, SumInDoubt::SeveralOutputs);
      else if (!Order.keeps(B, L, R, C, Outputs::InLoops))
        add(B, SumInDoubt::OutputsInLoops);
    }
    for (const CallExpr *At : F.Calls) {
      const FunctionDecl *Def = nullptr;
      if (!At->getDirectCallee() || !At->getDirectCallee()->hasBody(Def) ||
          !Flows.count(Def))
        continue;
      if (Depth < 4 && ++Steps < 256)
        look({Def, At, &C}, Depth + 1);
      else if (const auto &Sums = Flows.at(Def)->sumsOfTwo(); !Sums.empty())
        add(Sums.front(), SumInDoubt::Anywhere);
    }
  }
  bool Negations = false;

private:
  std::map<const FunctionDecl *, std::unique_ptr<Flow>> &Flows;
  FusionOrder Order;
  unsigned Steps = 0;

  void add(const Expr *Sum, Where In) {
    if (!Found.Sum || Found.In < In)
      Found = {Sum, In};
  }
  /// ... or, of a parameter, the argument?
  bool isProduct(const Expr *E, const FusionOrder::Call &C) {
    const Flow &F = *Flows.at(C.Of);
    if (!F.takesPlace(E))
      return false;
    auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
    auto *V = D ? dyn_cast<ParmVarDecl>(D->getDecl()) : nullptr;
    if (!V || !C.Caller || F.holdsProduct(V->getCanonicalDecl()) ||
        isa<CXXOperatorCallExpr>(C.At))
      return true;
    const unsigned I = V->getFunctionScopeIndex();
    return I >= C.At->getNumArgs() || isProduct(C.At->getArg(I), *C.Caller);
  }
};

} // namespace

SumInDoubt
fusedByContext(const FunctionDecl *FD,
               llvm::function_ref<unsigned(const VarDecl *)> DependsOn,
               unsigned Axes) {
  std::map<const FunctionDecl *, std::unique_ptr<Flow>> Flows;
  Flows[FD] = std::make_unique<Flow>(FD, DependsOn, Axes, true);
  if (const Expr *Sum = Flows[FD]->find())
    return {Sum};
  llvm::SmallVector<const FunctionDecl *, 4> Work = Flows[FD]->Called;
  while (!Work.empty()) {
    const FunctionDecl *F = Work.pop_back_val();
    if (Flows.count(F) || !F->getBody() || Flows.size() > 32)
      continue;
    Flows[F] = std::make_unique<Flow>(F, DependsOn, Axes, false);
    if (const Expr *Sum = Flows[F]->find())
      return {Sum};
    llvm::append_range(Work, Flows[F]->Called);
  }
  SumsInOrder Sums(Flows, FD, DependsOn);
  for (const auto &[F, X] : Flows)
    Sums.Negations |= X->Negations;
  Sums.look({FD});
  return Sums.Found;
}

} // namespace rcache
