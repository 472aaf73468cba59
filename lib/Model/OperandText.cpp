// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OperandText.h.

#include "OperandText.h"
#include "FusionLoops.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;
using namespace rcache;

const Expr *rcache::bareExpr(const Expr *E) {
  for (;;) {
    E = E->IgnoreParens();
    if (auto *F = dyn_cast<FullExpr>(E))
      E = F->getSubExpr();
    else if (auto *O = dyn_cast<OpaqueValueExpr>(E); O && O->getSourceExpr())
      E = O->getSourceExpr();
    else if (auto *M = dyn_cast<MaterializeTemporaryExpr>(E))
      E = M->getSubExpr();
    else if (auto *C = dyn_cast<CXXConstructExpr>(E);
             C && C->getNumArgs() == 1 &&
             C->getConstructor()->isCopyOrMoveConstructor())
      E = C->getArg(0);
    else
      return E;
  }
}

std::optional<MemoryRoot> rcache::memoryRoot(const Expr *E) {
  MemoryRoot R;
  for (;;) {
    E = bareExpr(E);
    R.Loaded |= R.Element && E->getType()->isPointerType() &&
                isa<MemberExpr, ArraySubscriptExpr, UnaryOperator>(E) &&
                E->isLValue();
    if (auto *C = dyn_cast<CastExpr>(E)) {
      E = C->getSubExpr();
    } else if (auto *M = dyn_cast<MemberExpr>(E)) {
      auto *F = dyn_cast<FieldDecl>(M->getMemberDecl());
      if (!F)
        return std::nullopt;
      R.Deep |= R.Member >= 0;
      R.Member = int(F->getFieldIndex());
      R.Element |= M->isArrow();
      E = M->getBase();
    } else if (auto *P = dyn_cast<MSPropertyRefExpr>(E)) { // threadIdx.x
      E = P->getBaseExpr();
    } else if (auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
      R.Element = true;
      E = A->getBase();
    } else if (auto *U = dyn_cast<UnaryOperator>(E);
               U &&
               (U->getOpcode() == UO_Deref || U->getOpcode() == UO_AddrOf)) {
      R.Element = true;
      E = U->getSubExpr();
    } else if (auto *B = dyn_cast<BinaryOperator>(E);
               B && B->isAdditiveOp() && B->getType()->isPointerType()) {
      E = B->getRHS()->getType()->isPointerType() ? B->getRHS() : B->getLHS();
    } else {
      break;
    }
  }
  auto *D = dyn_cast<DeclRefExpr>(E);
  auto *V = D ? dyn_cast<VarDecl>(D->getDecl()) : nullptr;
  if (!V)
    return std::nullopt;
  R.Use = D;
  R.Var = V->getCanonicalDecl();
  return R;
}

bool rcache::isIndexBuiltin(const Expr *E) {
  if (auto *P = dyn_cast<PseudoObjectExpr>(E))
    E = P->getSyntacticForm();
  const auto R = memoryRoot(E);
  if (!R)
    return false;
  for (StringRef N :
       {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize"})
    if (R->Var->getIdentifier() && R->Var->getName() == N)
      return true;
  return false;
}

bool rcache::isThreadIndex(const Expr *E) {
  if (auto *P = dyn_cast<PseudoObjectExpr>(E))
    E = P->getSyntacticForm();
  const auto R = memoryRoot(E);
  return R && R->Var->getIdentifier() && R->Var->getName() == "threadIdx";
}
bool OperandText::isLoop(const clang::Stmt *S) {
  return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
}

bool OperandText::isIn(const clang::Stmt *E, const clang::Stmt *S) const {
  return First.lookup(S) <= First.lookup(E) && Last.lookup(E) <= Last.lookup(S);
}

bool OperandText::isSetOnce(const VarDecl *V) const {
  auto It = Sets.find(V);
  return !Escaped.count(V) && It != Sets.end() && It->second.size() == 1 &&
         It->second.front().Value && isa<DeclStmt>(It->second.front().At);
}

const Expr *OperandText::onlyValue(const VarDecl *V, int Member) const {
  auto It = Sets.find(V);
  const Expr *Only = nullptr;
  if (isa<ParmVarDecl>(V) || It == Sets.end())
    return nullptr;
  for (const Assignment &A : It->second) {
    if (A.Member >= 0 && A.Member != Member)
      continue;
    if (Only || A.Member < 0 || A.Compound)
      return nullptr;
    Only = A.Value;
  }
  return Only;
}

void OperandText::set(const Expr *To, const clang::Stmt *At, const Expr *Value,
                      bool Compound) {
  if (const auto R = memoryRoot(To);
      R && R->Var->hasLocalStorage() &&
      !(R->Element && R->Var->getType()->isPointerType()))
    Sets[R->Var].push_back({At, Value, Compound, R->Member});
}

void OperandText::escape(const Expr *E) {
  // What a pointer leads to is nothing of the pointer's.
  if (const auto R = memoryRoot(E);
      R && !(R->Element && R->Var->getType()->isPointerType()))
    Escaped.insert(R->Var);
}

void OperandText::walk(const clang::Stmt *S) {
  if (!S || First.count(S))
    return;
  First[S] = unsigned(First.size()) + 1;
  if (auto *D = dyn_cast<DeclRefExpr>(S)) {
    if (auto *V = dyn_cast<VarDecl>(D->getDecl())) {
      V = V->getCanonicalDecl();
      Uses[V].push_back(D);
      if (V->getType()->isPointerType() ||
          (V->hasGlobalStorage() && !V->hasAttr<CUDASharedAttr>()))
        MemoryUses.emplace_back(D, V);
    }
  } else if (auto *B = dyn_cast<BinaryOperator>(S)) {
    if (B->isAssignmentOp())
      set(B->getLHS(), B, B->getRHS(), B->isCompoundAssignmentOp());
  } else if (auto *U = dyn_cast<UnaryOperator>(S)) {
    if (U->isIncrementDecrementOp())
      set(U->getSubExpr(), U, nullptr, true);
    else if (U->getOpcode() == UO_AddrOf)
      escape(U->getSubExpr());
  } else if (auto *D = dyn_cast<DeclStmt>(S)) {
    for (const Decl *X : D->decls())
      if (auto *V = dyn_cast<VarDecl>(X)) {
        Declared[V->getCanonicalDecl()] = D;
        if (!V->getInit() || !V->hasLocalStorage())
          continue;
        // `float3 r;` has a constructor that does nothing.
        auto *C = dyn_cast<CXXConstructExpr>(V->getInit());
        if (!C || C->getNumArgs())
          Sets[V->getCanonicalDecl()].push_back({D, V->getInit(), false, -1});
        if (V->getType()->isReferenceType())
          escape(V->getInit());
      }
  } else if (auto *C = dyn_cast<CallExpr>(S)) {
    const FunctionDecl *F = C->getDirectCallee();
    for (unsigned I = 0; I < C->getNumArgs(); ++I) {
      const unsigned Object =
          isa<CXXOperatorCallExpr>(C) && isa_and_nonnull<CXXMethodDecl>(F);
      const bool ByValue =
          F && I >= Object && I - Object < F->getNumParams() &&
          !F->getParamDecl(I - Object)->getType()->isReferenceType();
      if (!ByValue)
        escape(C->getArg(I));
      if (!ByValue || C->getArg(I)->getType()->isPointerType())
        Handed.push_back(C->getArg(I));
    }
    if (auto *M = dyn_cast<CXXMemberCallExpr>(C))
      escape(M->getImplicitObjectArgument());
    if (hasBarrier(C))
      Barriers.push_back(First[S]);
  } else if (auto *C = dyn_cast<CastExpr>(S)) {
    // A pointer to an array that is not only used to name an element.
    if (C->getCastKind() == CK_ArrayToPointerDecay &&
        !isa_and_nonnull<ArraySubscriptExpr>(Parents.getParent(C)))
      escape(C->getSubExpr());
  } else if (auto *B = dyn_cast<CompoundStmt>(S)) {
    Statements.insert(Statements.end(), B->body_begin(), B->body_end());
  }
  if (auto *E = dyn_cast<Expr>(S); E && isMemoryRead(E))
    Reads.push_back(E);
  for (const clang::Stmt *C : S->children())
    walk(C);
  Last[S] = unsigned(First.size());
  decide(S);
  if (auto *If = dyn_cast<IfStmt>(S)) {
    Branches.push_back(First[If->getThen()]);
    if (If->getElse())
      Branches.push_back(First[If->getElse()]);
    Branches.push_back(Last[S]);
  } else if (isLoop(S)) {
    LoopEdges.push_back(First[S]);
    LoopEdges.push_back(Last[S]);
    Unrolled.push_back(isa_and_nonnull<AttributedStmt>(Parents.getParent(S)));
  }
}

/// Has \p S a way out of the block that it stands in?
static bool hasExit(const clang::Stmt *S) {
  return S && (isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt>(S) ||
               (!isa<LambdaExpr>(S) && llvm::any_of(S->children(), hasExit)));
}

/// What \p S, all of which has its numbers, decides about.
void OperandText::decide(const clang::Stmt *S) {
  const auto All = [&](const clang::Stmt *X) {
    if (X)
      Decided.emplace_back(First[X], Last[X]);
  };
  if (auto *If = dyn_cast<IfStmt>(S)) {
    All(If->getThen());
    All(If->getElse());
  } else if (auto *W = dyn_cast<SwitchStmt>(S)) {
    All(W->getBody());
  } else if (auto *C = dyn_cast<AbstractConditionalOperator>(S)) {
    All(C->getTrueExpr());
    All(C->getFalseExpr());
  } else if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isLogicalOp()) {
    All(B->getRHS());
  } else if (auto *B = dyn_cast<CompoundStmt>(S)) {
    for (const clang::Stmt *X : B->body())
      if (isa<IfStmt, SwitchStmt>(X) && hasExit(X) && Last[X] < Last[B])
        Decided.emplace_back(Last[X] + 1, Last[B]);
  }
}

bool OperandText::isMemoryRead(const Expr *E) const {
  auto *U = dyn_cast<UnaryOperator>(E);
  if (!isa<ArraySubscriptExpr, MemberExpr>(E) &&
      !(U && U->getOpcode() == UO_Deref))
    return false;
  const auto R = memoryRoot(E);
  return R && (R->Var->hasAttr<CUDASharedAttr>() ||
               R->Var->getType()->isPointerType());
}

const clang::Stmt *OperandText::statementOf(const Expr *E) const {
  const clang::Stmt *S = E;
  for (const clang::Stmt *P = Parents.getParent(S); P;
       S = P, P = Parents.getParent(P))
    if (isa<CompoundStmt>(P))
      return isa<DeclStmt, Expr>(S) ? S : nullptr;
  return nullptr;
}

bool OperandText::always(const Expr *E) const {
  for (const clang::Stmt *P = Parents.getParent(E); P;
       P = Parents.getParent(P)) {
    if (isa<CompoundStmt>(P))
      return true;
    auto *B = dyn_cast<BinaryOperator>(P);
    if (isa<AbstractConditionalOperator, LambdaExpr, StmtExpr>(P) ||
        (B && B->isLogicalOp()))
      return false;
  }
  return false;
}

bool OperandText::onlyComputes(const clang::Stmt *S) {
  const auto Within = [](const clang::Stmt *X, auto &&Again) -> bool {
    if (!X)
      return true;
    if ((isa<PseudoObjectExpr>(X) && isIndexBuiltin(cast<Expr>(X))))
      return true;
    auto *B = dyn_cast<BinaryOperator>(X);
    auto *U = dyn_cast<UnaryOperator>(X);
    auto *C = dyn_cast<CXXConstructExpr>(X);
    if (isa<CallExpr, LambdaExpr, StmtExpr, AtomicExpr, GCCAsmStmt>(X) ||
        (C && C->getNumArgs() > 0 &&
         !C->getConstructor()->isCopyOrMoveConstructor()) ||
        (B && B->isAssignmentOp()) || (U && U->isIncrementDecrementOp()))
      return false;
    return llvm::all_of(X->children(),
                        [&](const clang::Stmt *Y) { return Again(Y, Again); });
  };
  if (auto *B = dyn_cast<BinaryOperator>(S); B && B->getOpcode() == BO_Assign)
    return Within(B->getLHS(), Within) && Within(B->getRHS(), Within);
  return Within(S, Within);
}
