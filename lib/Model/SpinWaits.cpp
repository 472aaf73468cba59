// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops in which a thread waits for others. That they write what it looks at counts on
// their going on meanwhile, as threads of other blocks, or of the same between two
// barriers, do. Threads of original blocks that become one block, or one thread, meet at
// its barriers, and what one of them waits for stands behind.

#include "SpinWaits.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include <utility>

using namespace clang;

namespace rcache {
namespace {

const Expr *conditionOfLoop(const clang::Stmt *S) {
  if (const auto *F = dyn_cast<ForStmt>(S))
    return F->getCond();
  if (const auto *W = dyn_cast<WhileStmt>(S))
    return W->getCond();
  return cast<DoStmt>(S)->getCond();
}

/// Does text look at memory as others leave it at that moment: by volatile or atomic
/// accesses, by loads that go past a cache? Any other value a compiler may keep.
class Looks {
public:
  /// \p Used: what becomes of the value of \p S, an expression, matters.
  bool in(const clang::Stmt *S, bool Used = true) {
    if (!S || isa<UnaryExprOrTypeTraitExpr, CXXNoexceptExpr>(S))
      return false;
    if (const auto *E = dyn_cast<Expr>(S))
      if (const Expr *Inner = withoutUse(E); Inner && Inner != E)
        return in(Inner, Used && !isa<ExplicitCastExpr>(E));
    if (isVolatile(S) || isa<AtomicExpr>(S) || isa<AsmStmt>(S))
      return true;
    if (const auto *Call = dyn_cast<CallExpr>(S)) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (!F || (Used && looks(F, Call)) || inBodyOf(F))
        return true;
    } else if (const auto *New = dyn_cast<CXXConstructExpr>(S)) {
      if (inBodyOf(New->getConstructor()))
        return true;
    }
    const bool Statements = !isa<Expr, DeclStmt, ReturnStmt>(S);
    return llvm::any_of(S->children(), [&](const clang::Stmt *C) {
      return in(C, !Statements || (C && isa<Expr>(C) && isCondition(S, cast<Expr>(C))));
    });
  }

private:
  llvm::SmallPtrSet<const FunctionDecl *, 8> Within;

  /// What \p E is but for parentheses and a cast to void.
  static const Expr *withoutUse(const Expr *E) {
    if (const auto *P = dyn_cast<ParenExpr>(E))
      return P->getSubExpr();
    if (const auto *F = dyn_cast<FullExpr>(E))
      return F->getSubExpr();
    if (const auto *C = dyn_cast<ExplicitCastExpr>(E); C && C->getType()->isVoidType())
      return C->getSubExpr();
    return E;
  }
  static bool isCondition(const clang::Stmt *Of, const Expr *E) {
    if (const auto *I = dyn_cast<IfStmt>(Of))
      return I->getCond() == E;
    if (const auto *W = dyn_cast<SwitchStmt>(Of))
      return W->getCond() == E;
    return isa<ForStmt, WhileStmt, DoStmt>(Of) && conditionOfLoop(Of) == E;
  }
  /// Of what is no variable of the thread's own.
  static bool isVolatile(const clang::Stmt *S) {
    const Expr *Of = nullptr;
    if (const auto *C = dyn_cast<ImplicitCastExpr>(S);
        C && C->getCastKind() == CK_LValueToRValue)
      Of = C->getSubExpr();
    else if (const auto *U = dyn_cast<UnaryOperator>(S); U && U->isIncrementDecrementOp())
      Of = U->getSubExpr();
    else if (const auto *B = dyn_cast<CompoundAssignOperator>(S))
      Of = B->getLHS();
    if (!Of || !Of->getType().isVolatileQualified())
      return false;
    const Places P = placesOf(Of, false);
    return P.Memory || llvm::any_of(P.Vars, [](const VarDecl *V) {
             return !V->hasLocalStorage();
           });
  }
  static bool looks(const FunctionDecl *F, const CallExpr *Call) {
    if (classifyCall(F, Call).Kind == CallKind::Atomic)
      return true;
    const StringRef Name = F->getIdentifier() ? F->getName() : StringRef();
    return isSystemFunction(F) &&
           (Name == "__builtin_nontemporal_load" ||
            (Name.starts_with("__ld") && Name != "__ldg"));
  }
  bool inBodyOf(const FunctionDecl *F) {
    const FunctionDecl *Body = isSystemFunction(F) ? nullptr : bodyOf(F);
    if (!Body || !Within.insert(Body).second)
      return false;
    const bool Does = in(Body->getBody());
    Within.erase(Body);
    return Does;
  }
};

/// Loops of a kernel and of what it calls.
class WaitFinder : public ConstDynamicRecursiveASTVisitor {
public:
  explicit WaitFinder(const Locals &L) : L(L) {}

  std::optional<Obstacle> Found;

  bool VisitForStmt(const ForStmt *S) override { return loop(S, S->getBody()); }
  bool VisitWhileStmt(const WhileStmt *S) override { return loop(S, S->getBody()); }
  bool VisitDoStmt(const DoStmt *S) override { return loop(S, S->getBody()); }
  bool VisitLabelStmt(const LabelStmt *S) override {
    Labels |= Depth != 0; // in the kernel they are obstacles
    return true;
  }
  bool VisitCallExpr(const CallExpr *E) override { return enter(E->getDirectCallee(), E); }
  bool VisitCXXConstructExpr(const CXXConstructExpr *E) override {
    return enter(E->getConstructor(), E);
  }

private:
  const Locals &L;
  unsigned Depth = 0;
  bool Labels = false;
  SourceLocation CallSite;
  std::string Callee;
  llvm::SmallPtrSet<const FunctionDecl *, 8> Seen;

  bool found(SourceLocation At) {
    if (Depth)
      Found = Obstacle{DeclineCode::SpinWait, "in '" + Callee + "'", CallSite};
    else
      Found = Obstacle{DeclineCode::SpinWait, "", At};
    return false;
  }
  bool loop(const clang::Stmt *S, const clang::Stmt *Body) {
    const bool OfOthers = Depth ? !isCounted(S, Body)
                                : L.roundsDepend(S) & (DepGlobal | DepShared);
    return !OfOthers || !Looks().in(S) || found(S->getBeginLoc());
  }
  /// In a function that is called: by a variable that the loop's head alone changes.
  static bool isCounted(const clang::Stmt *S, const clang::Stmt *Body) {
    const auto *F = dyn_cast<ForStmt>(S);
    if (!F || !F->getCond() || !F->getInc() || leaves(Body))
      return false;
    llvm::SmallPtrSet<const VarDecl *, 4> Named;
    return isPlain(F->getCond(), Named) && isPlain(F->getInc(), Named) &&
           !changes(Body, Named);
  }
  static bool leaves(const clang::Stmt *S) {
    return S && (isa<BreakStmt, ReturnStmt, GotoStmt>(S) ||
                 llvm::any_of(S->children(), leaves));
  }
  /// Local variables, numbers and operators.
  static bool isPlain(const clang::Stmt *S, llvm::SmallPtrSetImpl<const VarDecl *> &Named) {
    if (const auto *R = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(R->getDecl());
      if (V && V->hasLocalStorage() && !V->getType()->isReferenceType())
        Named.insert(V);
      else if (V && !V->getType().isConstQualified())
        return false;
    } else if (isa<CallExpr, ArraySubscriptExpr, MemberExpr, LambdaExpr>(S)) {
      return false;
    } else if (const auto *U = dyn_cast<UnaryOperator>(S);
               U && (U->getOpcode() == UO_Deref || U->getOpcode() == UO_AddrOf)) {
      return false;
    }
    return llvm::all_of(S->children(),
                        [&](const clang::Stmt *C) { return !C || isPlain(C, Named); });
  }
  /// May \p S change one of \p Vars? Where one is handed on by reference or address, yes.
  static bool changes(const clang::Stmt *S,
                      const llvm::SmallPtrSetImpl<const VarDecl *> &Vars) {
    if (!S)
      return false;
    if (const auto *C = dyn_cast<ImplicitCastExpr>(S);
        C && C->getCastKind() == CK_LValueToRValue &&
        isa<DeclRefExpr>(C->getSubExpr()->IgnoreParens()))
      return false; // its value
    if (const auto *R = dyn_cast<DeclRefExpr>(S))
      if (const auto *V = dyn_cast<VarDecl>(R->getDecl()); V && Vars.count(V))
        return true;
    return llvm::any_of(S->children(),
                        [&](const clang::Stmt *C) { return changes(C, Vars); });
  }
  bool enter(const FunctionDecl *F, const Expr *At) {
    const FunctionDecl *Body = !F || isSystemFunction(F) ? nullptr : bodyOf(F);
    if (!Body || !Seen.insert(Body).second)
      return true;
    if (!Depth) {
      CallSite = At->getBeginLoc();
      Callee = F->getNameAsString();
    }
    ++Depth;
    const bool Before = std::exchange(Labels, false);
    bool Goes = TraverseStmt(Body->getBody());
    if (Goes && Labels && Looks().in(Body->getBody()))
      Goes = found(At->getBeginLoc());
    Labels = Before;
    --Depth;
    return Goes;
  }
};

} // namespace

std::optional<Obstacle> spinWait(const FunctionDecl *FD, const Locals &L) {
  WaitFinder F(L);
  F.TraverseStmt(FD->getBody());
  return F.Found;
}

} // namespace rcache
