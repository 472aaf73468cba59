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
//         threads: one thread has it once for all its outputs.
//
// Such a sum is found here.

#include "FusionLoops.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMap.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>

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

/// Conditions that no knowledge of indices decides: of data.
class OfData : public ConstDynamicRecursiveASTVisitor {
public:
  bool Found = false;
  bool VisitArraySubscriptExpr(const ArraySubscriptExpr *) override {
    Found = true;
    return false;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *D) override {
    auto *V = dyn_cast<VarDecl>(D->getDecl());
    Found |= V && V->hasLocalStorage() && isReal(V->getType());
    return !Found;
  }
};
bool ofData(const Expr *Condition) {
  OfData D;
  D.TraverseStmt(Condition);
  return D.Found;
}

class Within : public ConstDynamicRecursiveASTVisitor {
public:
  bool Barrier = false, Staging = false, Loop = false;
  bool VisitCallExpr(const CallExpr *C) override {
    auto *D = dyn_cast_or_null<NamedDecl>(C->getCalleeDecl());
    Barrier |= D && D->getIdentifier() &&
               (D->getName().starts_with("__sync") || D->getName() == "sync");
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    Staging |= B->isAssignmentOp() && isShared(B->getLHS());
    return true;
  }
};

/// One function: the kernel, or one it calls.
class Flow : public ConstDynamicRecursiveASTVisitor {
public:
  using Dependences = llvm::function_ref<unsigned(const VarDecl *)>;
  Flow(const FunctionDecl *F, Dependences DependsOn, unsigned Axes, bool Kernel)
      : Body(F->getBody()), DependsOn(DependsOn), Axes(Axes), Kernel(Kernel),
        Parents(F->getBody()) {}

  const Node *Body;
  llvm::SmallVector<const FunctionDecl *, 4> Called;

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
      if (Staged && Other && AnySum && !AllSums)
        return AnySum;
    }
    return stagedElsewhere();
  }

  bool VisitVarDecl(const VarDecl *V) override {
    Declared.push_back(V);
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *U) override {
    if (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf)
      if (const VarDecl *V = rootOf(U->getSubExpr()))
        Set.emplace_back(V->getCanonicalDecl(), U);
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
      if (!isDoubling(B))
        product(B);
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
    const SourceManager &SM = F->getASTContext().getSourceManager();
    if (F->hasBody(Def) && !F->getBuiltinID() &&
        !SM.isInSystemHeader(SM.getExpansionLoc(F->getLocation())))
      Called.push_back(Def);
    if (isReal(C->getType()))
      if (const IdentifierInfo *I = F->getIdentifier();
          I && !roundsOrPasses(I->getName()))
        product(C);
    return true;
  }

private:
  Dependences DependsOn;
  unsigned Axes; ///< of threads, in all that the kernel computes
  bool Kernel;   ///< not a function it calls
  ParentMap Parents;
  std::vector<const Expr *> Products;
  std::vector<const VarDecl *> Declared;
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
      if (auto *C = dyn_cast<ConditionalOperator>(P); C && !ofData(C->getCond()))
        return true;
    return false;
  }

  /// Is \p P the same for all threads along some axis, and would be shared by a
  /// thread's outputs? What was in shared memory is each output's own.
  bool sameForAll(const Expr *P) const {
    if (!Kernel)
      return false;
    struct Finder : ConstDynamicRecursiveASTVisitor {
      Dependences DependsOn;
      unsigned Found = 0;
      explicit Finder(Dependences D) : DependsOn(D) {}
      bool VisitDeclRefExpr(const DeclRefExpr *D) override {
        if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
          Found |= DependsOn(V);
        return true;
      }
      bool VisitMSPropertyRefExpr(const MSPropertyRefExpr *E) override {
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
    return !(X.Found & DepShared) && (Axes & ~X.Found);
  }

  /// May \p E be a product, parameters of called functions included?
  bool mayBeProduct(const Expr *E) const {
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
      return mayBeProduct(C->getTrueExpr()) || mayBeProduct(C->getFalseExpr());
    if (llvm::is_contained(Products, E))
      return true;
    const VarDecl *V = rootOf(E);
    return V && ((!Kernel && isa<ParmVarDecl>(V) && isReal(V->getType())) ||
                 llvm::any_of(Made, [&](const auto &X) {
                   return X.first == V->getCanonicalDecl();
                 }));
  }
  /// Has a sum that \p P is used in another product as well?
  bool meetsProduct(const Expr *P) {
    auto OfTwo = [&](const Expr *Use) {
      auto *Sum = dyn_cast_or_null<BinaryOperator>(inSum(Use));
      return Sum && mayBeProduct(Sum->getLHS()) && mayBeProduct(Sum->getRHS());
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
  /// Does the source say that the loop is unrolled altogether?
  bool isUnrolled(const Node *L) const {
    auto *A = dyn_cast_or_null<AttributedStmt>(Parents.getParent(L));
    if (A)
      for (const Attr *X : A->getAttrs())
        if (auto *H = dyn_cast<LoopHintAttr>(X);
            H && H->getOption() == LoopHintAttr::Unroll &&
            (H->getState() == LoopHintAttr::Enable ||
             H->getState() == LoopHintAttr::Full))
          return true;
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
  /// Does a value change its block on the way out of \p S?
  bool leaves(const Node *S) const {
    if (auto *I = dyn_cast<IfStmt>(S))
      return !ofData(I->getCond());
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
    if (!Condition || ofData(Condition))
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

const Expr *fusedByContext(const FunctionDecl *FD,
                           llvm::function_ref<unsigned(const VarDecl *)> DependsOn,
                           unsigned Axes) {
  llvm::SmallVector<const FunctionDecl *, 8> Work{FD};
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;
  while (!Work.empty()) {
    const FunctionDecl *F = Work.pop_back_val();
    if (!Seen.insert(F).second || !F->getBody() || Seen.size() > 32)
      continue;
    Flow X(F, DependsOn, Axes, F == FD);
    if (const Expr *Sum = X.find())
      return Sum;
    llvm::append_range(Work, X.Called);
  }
  return nullptr;
}

} // namespace rcache
