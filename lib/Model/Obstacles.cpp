// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reasons in the body of a kernel, and of what it calls, for which it cannot be
// handled.

#include "BindingDecides.h"
#include "Effects.h"
#include "Conditions.h"
#include "BuiltinVars.h"
#include "Locals.h"
#include "rcache/Model.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/SaveAndRestore.h"
#include <utility>

using namespace clang;

namespace rcache {

namespace {

/// Why objects of type \p T change, or change others, where no text says so: "a mutable
/// member", "a member that is a reference"; "": they do not. Classes of system headers
/// and closures are judged elsewhere.
StringRef hiddenChange(QualType T, const SourceManager &SM) {
  T = T.getNonReferenceType();
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || R->isLambda() || SM.isInSystemHeader(R->getLocation()))
    return "";
  for (const CXXBaseSpecifier &B : R->bases())
    if (StringRef Why = hiddenChange(B.getType(), SM); !Why.empty())
      return Why;
  for (const FieldDecl *F : R->fields()) {
    if (F->isMutable())
      return "a mutable member";
    if (F->getType()->isReferenceType())
      return "a member that is a reference";
    if (StringRef Why = hiddenChange(F->getType(), SM); !Why.empty())
      return Why;
  }
  return "";
}

/// A function of the toolkit by which memory is met that no pointer of the kernel's
/// leads to, and that its pointers may lead to as well: tex1Dfetch, surf2Dwrite.
bool readsTexture(const FunctionDecl *F) {
  if (!F->getIdentifier())
    return false;
  StringRef Name = F->getName();
  Name.consume_front("__");
  return (Name.consume_front("tex") || Name.consume_front("surf")) &&
         (Name.starts_with("1D") || Name.starts_with("2D") || Name.starts_with("3D") ||
          Name.starts_with("Cubemap"));
}

/// Does \p E give a name that may change what its operand may not?
bool dropsConst(const ExplicitCastExpr *E) {
  const QualType From = E->getSubExprAsWritten()->getType(), To = E->getTypeAsWritten();
  if (To->isReferenceType())
    return From.isConstQualified() && !To->getPointeeType().isConstQualified();
  return To->isPointerType() && From->isPointerType() &&
         From->getPointeeType().isConstQualified() &&
         !To->getPointeeType().isConstQualified();
}

/// Is what \p E leads to only read: `((int4 *)p)[i].x`?
bool isOnlyRead(const Expr *E, ASTContext &AC) {
  const auto upOf = [&](const clang::Stmt *S) {
    const auto All = AC.getParents(*S);
    return All.size() == 1 ? All[0].get<clang::Stmt>() : nullptr;
  };
  for (const clang::Stmt *S = E, *Up = upOf(E); Up; S = Up, Up = upOf(Up)) {
    if (const auto *C = dyn_cast<ImplicitCastExpr>(Up)) {
      if (C->getCastKind() == CK_LValueToRValue)
        return true;
    } else if (const auto *New = dyn_cast<CXXConstructExpr>(Up)) {
      return New->getConstructor()->isCopyOrMoveConstructor() &&
             New->getConstructor()->isTrivial();
    } else if (const auto *U = dyn_cast<UnaryOperator>(Up)) {
      if (U->getOpcode() != UO_Deref)
        return false;
    } else if (const auto *A = dyn_cast<ArraySubscriptExpr>(Up)) {
      if (A->getBase() != S)
        return false;
    } else if (const auto *B = dyn_cast<BinaryOperator>(Up)) {
      if (!B->isAdditiveOp() || !B->getType()->isPointerType())
        return false;
    } else if (!isa<ParenExpr, MemberExpr>(Up)) {
      return false;
    }
  }
  return false;
}

class ObstacleFinder : public ConstDynamicRecursiveASTVisitor {
public:
  explicit ObstacleFinder(ASTContext &AC) : AC(AC), SM(AC.getSourceManager()) {
    // What no text shows runs as well: of range-based loops, of defaulted functions.
    ShouldVisitImplicitCode = true;
  }

  std::vector<Obstacle> Found;
  bool SharesInCalls = false, WideSums = false;
  bool Shares = false; ///< the kernel has shared arrays

  void judgeParameter(const ParmVarDecl *P) { judgeObject(P->getType(), P->getLocation()); }

  bool VisitIfStmt(const IfStmt *I) override {
    if (!conditionOf(I))
      add(DeclineCode::UnsupportedStatement, "if consteval", I->getBeginLoc());
    return true;
  }
  bool TraversePseudoObjectExpr(const PseudoObjectExpr *E) override {
    readsBuiltin(E);
    return true;
  }
  bool VisitDeclRefExpr(const DeclRefExpr *E) override {
    auto *V = dyn_cast<VarDecl>(E->getDecl());
    if (InType && !Depth && V && (isSharedVar(V) || V->hasLocalStorage()))
      add(DeclineCode::UnsupportedStatement,
          "a name for the type of '" + V->getNameAsString() + "'", E->getBeginLoc());
    SharesInCalls |= Depth && isSharedVar(V);
    if (V && V->hasGlobalStorage() && !V->getType().isConstQualified() &&
        !V->hasAttr<CUDAConstantAttr>() && !builtinVar(E))
      readsMemory(E->getBeginLoc());
    if (Depth && V && isSharedVar(V))
      add(DeclineCode::CallUsesThread,
          Callee + " uses the shared array '" + V->getNameAsString() +
              "'",
          E->getBeginLoc());
    readsBuiltin(E);
    return true;
  }
  bool VisitUnaryOperator(const UnaryOperator *E) override {
    if (E->getOpcode() == UO_Deref && !isa<CXXThisExpr>(E->getSubExpr()->IgnoreParenImpCasts()))
      readsMemory(E->getBeginLoc());
    return true;
  }
  bool VisitArraySubscriptExpr(const ArraySubscriptExpr *E) override {
    if (E->getBase()->IgnoreParenImpCasts()->getType()->isPointerType()) {
      readsMemory(E->getBeginLoc());
      WideSums |= E->getType()->isArrayType(); // rows behind a pointer
    }
    return true;
  }
  bool VisitMemberExpr(const MemberExpr *E) override {
    if (E->isArrow() && !isa<CXXThisExpr>(E->getBase()->IgnoreParenImpCasts()))
      readsMemory(E->getBeginLoc());
    return true;
  }
  bool VisitVarDecl(const VarDecl *V) override {
    judgeObject(V->getType(), V->getLocation());
    if (V->hasLocalStorage() && !V->getType()->isReferenceType() && !isa<ParmVarDecl>(V))
      judgeEnd(V->getType(), V->getLocation());
    if (isSharedVar(V) && !Depth)
      judgeStorage(V);
    else if (V->isStaticLocal() && !V->getType().isConstQualified() && !Depth)
      add(DeclineCode::UnsupportedStatement,
          "static variable '" + V->getNameAsString() + "'", V->getLocation());
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *E) override {
    const QualType T = E->getType().getNonReferenceType();
    WideSums |= T->isIntegerType() && AC.getTypeSize(T) > 32 &&
                (E->isMultiplicativeOp() || E->isAdditiveOp() || E->isShiftOp() ||
                 E->isCompoundAssignmentOp());
    return true;
  }
  /// `decltype(v)` is the type of a variable as it is declared.
  bool TraverseDecltypeTypeLoc(DecltypeTypeLoc T, bool Qualifier) override {
    return namedType(T.getUnderlyingExpr()) &&
           ConstDynamicRecursiveASTVisitor::TraverseDecltypeTypeLoc(T, Qualifier);
  }
  bool TraverseTypeOfExprTypeLoc(TypeOfExprTypeLoc T, bool Qualifier) override {
    return namedType(T.getUnderlyingExpr()) &&
           ConstDynamicRecursiveASTVisitor::TraverseTypeOfExprTypeLoc(T, Qualifier);
  }
  bool VisitDeclStmt(const DeclStmt *S) override {
    // `struct L {..} l{s[t]};`: where l goes, L stays.
    const TagDecl *Tag = nullptr;
    bool Variable = false;
    for (const Decl *D : S->decls()) {
      Variable |= isa<VarDecl>(D);
      if (const auto *X = dyn_cast<TagDecl>(D);
          X && X->isThisDeclarationADefinition() && (X->getIdentifier() || isa<EnumDecl>(X)))
        Tag = X;
    }
    if (Tag && Variable && !Depth && Shares)
      add(DeclineCode::UnsupportedStatement,
          "a type that is declared together with a variable", S->getBeginLoc());
    return true;
  }
  // (Where variables go, names of their types stay.)
  bool TraverseTypedefDecl(const TypedefDecl *D) override {
    return inType([&] { return ConstDynamicRecursiveASTVisitor::TraverseTypedefDecl(D); });
  }
  bool TraverseTypeAliasDecl(const TypeAliasDecl *D) override {
    return inType([&] { return ConstDynamicRecursiveASTVisitor::TraverseTypeAliasDecl(D); });
  }
  bool VisitGCCAsmStmt(const GCCAsmStmt *S) override {
    add(DeclineCode::InlineAsm, Depth ? "in " + Callee : "",
        S->getBeginLoc());
    return true;
  }
  bool VisitMSAsmStmt(const MSAsmStmt *S) override {
    add(DeclineCode::InlineAsm, "", S->getBeginLoc());
    return true;
  }
  bool VisitGotoStmt(const GotoStmt *S) override {
    if (!Depth)
      add(DeclineCode::Goto, "goto '" + S->getLabel()->getNameAsString() + "'",
          S->getBeginLoc());
    return true;
  }
  bool VisitIndirectGotoStmt(const IndirectGotoStmt *S) override {
    add(DeclineCode::Goto, "", S->getBeginLoc());
    return true;
  }
  bool VisitCXXForRangeStmt(const CXXForRangeStmt *S) override {
    if (!Depth)
      add(DeclineCode::UnsupportedStatement, "a range-based for",
          S->getBeginLoc());
    return true;
  }
  bool VisitCXXTryStmt(const CXXTryStmt *S) override {
    add(DeclineCode::UnsupportedStatement, "try", S->getBeginLoc());
    return true;
  }
  bool VisitStmtExpr(const StmtExpr *E) override {
    if (!Depth)
      add(DeclineCode::UnsupportedStatement, "a statement expression",
          E->getBeginLoc());
    return true;
  }
  bool TraverseLambdaExpr(const LambdaExpr *E) override {
    if (Depth)
      return ConstDynamicRecursiveASTVisitor::TraverseLambdaExpr(E);
    add(DeclineCode::Lambda, "", E->getBeginLoc());
    return true;
  }
  bool VisitCXXNewExpr(const CXXNewExpr *E) override {
    add(DeclineCode::SideEffects, "operator new", E->getBeginLoc());
    return true;
  }
  bool VisitCXXDeleteExpr(const CXXDeleteExpr *E) override {
    add(DeclineCode::SideEffects, "operator delete", E->getBeginLoc());
    return true;
  }
  bool VisitCUDAKernelCallExpr(const CUDAKernelCallExpr *E) override {
    add(DeclineCode::DynamicParallelism, "", E->getBeginLoc());
    return true;
  }
  bool VisitRecoveryExpr(const RecoveryExpr *E) override {
    add(DeclineCode::ParseError, "", E->getBeginLoc());
    return true;
  }
  bool VisitInitListExpr(const InitListExpr *E) override {
    judgeObject(E->getType(), E->getBeginLoc());
    return true;
  }
  bool VisitExplicitCastExpr(const ExplicitCastExpr *E) override {
    // What is only read may be named in any type.
    if (Depth && dropsConst(E) &&
        !isOnlyRead(E, AC))
      add(DeclineCode::SideEffects,
          Callee + " casts away the const of what it may not change", E->getBeginLoc());
    return true;
  }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    judgeObject(E->getType(), E->getBeginLoc());
    constructed(E->getConstructor(), E->getBeginLoc());
    return true;
  }
  bool VisitCXXInheritedCtorInitExpr(const CXXInheritedCtorInitExpr *E) override {
    constructed(E->getConstructor(), E->getBeginLoc());
    return true;
  }
  bool VisitCXXBindTemporaryExpr(const CXXBindTemporaryExpr *E) override {
    judgeEnd(E->getType(), E->getBeginLoc());
    return true;
  }
  bool TraverseCXXDefaultArgExpr(const CXXDefaultArgExpr *E) override {
    return enter(E->getExpr(), "a default argument", E->getUsedLocation());
  }
  bool TraverseCXXDefaultInitExpr(const CXXDefaultInitExpr *E) override {
    llvm::SaveAndRestore In(Initialises, true);
    return enter(E->getExpr(), "a member's initialiser", E->getUsedLocation());
  }
  bool VisitCallExpr(const CallExpr *E) override {
    if (isa<CUDAKernelCallExpr>(E))
      return true; // has a reason of its own
    const FunctionDecl *F = E->getDirectCallee();
    if (!F) {
      if (!isa<CXXPseudoDestructorExpr>(E->getCallee()))
        add(DeclineCode::UnknownCall, "a call through a pointer",
            E->getBeginLoc());
      return true;
    }
    if (auto *Method = dyn_cast<CXXMethodDecl>(F); Method && Method->isVirtual()) {
      const auto *Of = dyn_cast<MemberExpr>(E->getCallee()->IgnoreParens());
      if (!Of || Of->performsVirtualDispatch(AC.getLangOpts()))
        add(DeclineCode::UnknownCall,
            "'" + F->getNameAsString() + "' is virtual: another function may run",
            E->getBeginLoc());
    }
    judge(F, E);
    return true;
  }

private:
  ASTContext &AC;
  const SourceManager &SM;
  bool InType = false; ///< in a declaration that gives a type a name

  bool namedType(const Expr *Of) {
    if (Depth || InType || !Of)
      return true;
    Of = Of->IgnoreParens();
    const auto *R = dyn_cast<DeclRefExpr>(Of);
    const auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    if (builtinVar(Of) || (V && V->isLocalVarDecl()))
      add(DeclineCode::UnsupportedStatement,
          "the type of " +
              (V ? "'" + V->getNameAsString() + "'" : std::string("threadIdx or the like")) +
              " by decltype",
          Of->getBeginLoc());
    return true;
  }
  bool inType(llvm::function_ref<bool()> Walk) {
    const bool Was = std::exchange(InType, true);
    const bool Result = Walk();
    InType = Was;
    return Result;
  }
  void judgeObject(QualType T, SourceLocation Loc) {
    if (Depth)
      return;
    const std::string Why = hiddenChange(T, SM).str();
    if (!Why.empty() && llvm::none_of(Found, [&](const Obstacle &O) {
          return O.Detail == "an object with " + Why;
        }))
      add(DeclineCode::UnsupportedStatement, "an object with " + Why, Loc);
  }

  void add(DeclineCode Code, std::string Detail, SourceLocation Loc) {
    if (Depth)
      Loc = CallSite;
    for (const Obstacle &O : Found)
      if (O.Loc == Loc && O.Code == Code)
        return;
    Found.push_back({Code, std::move(Detail), Loc});
  }

  void constructed(const CXXConstructorDecl *F, SourceLocation L) {
    if (F->isTrivial() || isSystemFunction(F))
      return;
    if (!bodyOf(F))
      add(DeclineCode::UnknownCall, "a constructor of '" + F->getNameAsString() + "'", L);
    enter(F, L);
  }

  void judge(const FunctionDecl *F, const CallExpr *E) {
    CallInfo I = classifyCall(F, E);
    std::string Quoted = "'" + I.Name + "'";
    SourceLocation L = E->getBeginLoc();
    switch (I.Kind) {
    case CallKind::Harmless:
      if (const FunctionDecl *Def = bodyOf(F); Def && Def->isInvalidDecl())
        return add(DeclineCode::ParseError,
                   "clang does not accept what stands in " + Quoted, L);
      if (!isSystemFunction(F))
        enter(F, L);
      else if (readsTexture(F))
        add(DeclineCode::MayAlias,
            Quoted + " reads or writes what a texture or surface leads to", L);
      return;
    case CallKind::Barrier:
    case CallKind::BarrierReduce:
    case CallKind::GroupBarrier:
    case CallKind::WarpBarrier:
      if (Depth)
        add(DeclineCode::CallUsesThread,
            Callee + " holds the barrier " + Quoted, L);
      return;
    case CallKind::GridBarrier:
      return add(DeclineCode::CooperativeLaunch, Quoted, L);
    case CallKind::BlockGroup:
      if (Depth)
        add(DeclineCode::CallUsesThread,
            Callee + " uses the thread block", L);
      else if (I.Name != "this_thread_block")
        add(DeclineCode::GroupIds, Quoted, L);
      return;
    case CallKind::WarpExchange:
      // Who and how many they are exchanges nothing.
      if (inNamespace(F, "cooperative_groups") && isGroupId(I.Name))
        return add(DeclineCode::GroupIds, Quoted, L);
      return add(DeclineCode::UsesShuffles, Quoted, L);
    case CallKind::Atomic:
      if (Depth)
        add(DeclineCode::CallUsesThread,
            Callee + " uses the atomic " + Quoted, L);
      return;
    case CallKind::AsyncCopy:
      return add(DeclineCode::AsyncCopy, Quoted, L);
    case CallKind::Tensor:
      return add(DeclineCode::TensorFragments, Quoted, L);
    case CallKind::Library:
      return add(DeclineCode::LibraryStorage, Quoted, L);
    case CallKind::Effect:
      return add(DeclineCode::SideEffects, Quoted, L);
    case CallKind::NoBody:
      return add(DeclineCode::UnknownCall, Quoted, L);
    }
  }

  void readsBuiltin(const Expr *E) {
    if (Depth && builtinVar(E))
      add(DeclineCode::CallUsesThread,
          Callee + " reads threadIdx, blockIdx or the like", E->getBeginLoc());
  }
  /// (Nothing else looks through what a constructor does in front of its body.)
  void readsMemory(SourceLocation L) {
    if (Initialises)
      add(DeclineCode::UnsupportedStatement,
          Callee + " reads or changes memory where it initialises members", L);
  }

  /// What follows stands outside of the kernel's text, if it is not there already.
  void leaveText(std::string Name, SourceLocation L) {
    if (Depth)
      return;
    Visited.clear();
    CallSite = L;
    Callee = std::move(Name);
  }

  /// An expression that stands elsewhere than where it is evaluated.
  bool enter(const Expr *E, const char *Name, SourceLocation L) {
    leaveText(Name, L);
    ++Depth;
    TraverseStmt(E);
    --Depth;
    return true;
  }

  /// Objects of type \p T end with a function of the user's.
  void judgeEnd(QualType T, SourceLocation L) {
    const CXXRecordDecl *R = AC.getBaseElementType(T)->getAsCXXRecordDecl();
    R = R ? R->getDefinition() : nullptr;
    if (R && !R->hasTrivialDestructor() && !SM.isInSystemHeader(R->getLocation()))
      add(DeclineCode::UnsupportedStatement, "an object with a destructor", L);
  }

  void enter(const FunctionDecl *F, SourceLocation L) {
    const FunctionDecl *B = bodyOf(F);
    if (!B || sharedAccessor(F))
      return;
    if (auto *Method = dyn_cast<CXXMethodDecl>(F);
        Method && Method->getParent()->isLambda())
      return; // where it is written, it has been found
    B = B->getCanonicalDecl();
    if (llvm::is_contained(Stack, B)) {
      add(DeclineCode::Recursion, "'" + F->getNameAsString() + "'", L);
      return;
    }
    leaveText("'" + F->getNameAsString() + "'", L);
    if (!Visited.insert(B).second)
      return;
    Stack.push_back(B);
    ++Depth;
    if (auto *New = dyn_cast<CXXConstructorDecl>(bodyOf(F))) {
      llvm::SaveAndRestore In(Initialises, true);
      for (const CXXCtorInitializer *I : New->inits())
        TraverseStmt(I->getInit());
    }
    TraverseStmt(bodyOf(F)->getBody());
    --Depth;
    Stack.pop_back();
  }

  void judgeStorage(const VarDecl *V) {
    QualType T = V->getASTContext().getBaseElementType(V->getType());
    const CXXRecordDecl *R = T->getAsCXXRecordDecl();
    if (!R)
      return;
    if (inNamespace(R, "cub"))
      add(DeclineCode::LibraryStorage, "'" + V->getNameAsString() + "'",
          V->getLocation());
    StringRef N = R->getIdentifier() ? R->getName() : StringRef();
    if (inNamespace(R, "cuda") &&
        (N.contains("barrier") || N.contains("pipeline")))
      add(DeclineCode::AsyncCopy, "'" + V->getNameAsString() + "'",
          V->getLocation());
    if (R->isUnion())
      add(DeclineCode::TypePunned, "'" + V->getNameAsString() + "' is a union",
          V->getLocation());
  }

  unsigned Depth = 0;
  bool Initialises = false; ///< in an initialiser of a member or a base
  std::string Callee;
  SourceLocation CallSite;
  std::vector<const FunctionDecl *> Stack;
  llvm::SmallPtrSet<const FunctionDecl *, 16> Visited;
};

} // namespace

std::vector<Obstacle> findObstacles(const FunctionDecl *FD, KernelModel &M) {
  ObstacleFinder F(FD->getASTContext());
  F.Shares = !M.Arrays.empty();
  for (const ParmVarDecl *P : FD->parameters())
    F.judgeParameter(P);
  F.TraverseStmt(FD->getBody());
  if (const FunctionDecl *G = decidedByBinding(FD->getBody(), /*Kernel=*/true))
    F.Found.push_back({DeclineCode::UnsupportedStatement,
                       "which '" + G->getNameAsString() +
                           "' is called hangs on whether an argument is const",
                       FD->getBody()->getBeginLoc()});
  M.SharesInCalls = F.SharesInCalls;
  M.WideSums = F.WideSums;
  return F.Found;
}

} // namespace rcache
