// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OperandRanks.h.

#include "OperandRanks.h"
#include "ElementIndex.h"
#include "ProductFlow.h"
#include "rcache/Model.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;
using namespace rcache;

using Call = FusionOrder::Call;

bool OperandRanks::above(const Expr *E, const Call &C, bool IsTarget,
                         Leaves &Out) {
  ReadLast = IsTarget;
  const bool Ok = upper(E, C, 0, Out, -1, 0);
  ReadLast = false;
  return Ok;
}

Leaves OperandRanks::below(const Expr *E, const Call &C) {
  Leaves Out;
  lower(E, C, 0, Out, -1, 0);
  return Out;
}

//===--- Places ---===//

const OperandText &OperandRanks::facts(const FunctionDecl *F) {
  std::unique_ptr<OperandText> &X = Known[F];
  if (!X)
    X = std::make_unique<OperandText>(F);
  return *X;
}

const OperandText &OperandRanks::facts(const Call &C) { return facts(C.Of); }

Place OperandRanks::place(const Call &C, unsigned At) {
  Place P;
  if (C.Caller)
    P = place(*C.Caller, facts(*C.Caller).Last.lookup(C.At));
  P.push_back(At);
  return P;
}

Place OperandRanks::place(const Call &C, const clang::Stmt *N) {
  return place(C, facts(C).First.lookup(N));
}

bool OperandRanks::isKept(const VarDecl *V, const Call &C) {
  if (C.Caller || !V->hasLocalStorage())
    return false;
  const OperandText &F = facts(C);
  const clang::Stmt *D = F.Declared.lookup(V);
  const unsigned From = D ? F.Last.lookup(D) : 0;
  auto It = F.Uses.find(V);
  if (It == F.Uses.end())
    return false;
  for (const DeclRefExpr *U : It->second) {
    const unsigned To = F.First.lookup(U);
    for (unsigned E : Now->Edges)
      if (From <= E && E < To)
        return true;
    // From one round to the next.
    for (const clang::Stmt *S = F.Parents.getParent(U); S;
         S = F.Parents.getParent(S))
      if (OperandText::isLoop(S) && !(D && F.isIn(D, S)) &&
          llvm::is_contained(Now->Edges, F.First.lookup(S)))
        return true;
  }
  return false;
}

const Expr *OperandRanks::argument(const VarDecl *V, const Call &C) {
  for (unsigned I = 0; I < C.Of->getNumParams(); ++I)
    if (C.Of->getParamDecl(I)->getCanonicalDecl() == V) {
      const unsigned Object =
          isa<CXXOperatorCallExpr>(C.At) && isa<CXXMethodDecl>(C.Of);
      return I + Object < C.At->getNumArgs() ? C.At->getArg(I + Object)
                                             : nullptr;
    }
  return nullptr;
}

Leaf OperandRanks::element(const Expr *E, const VarDecl *Array, const Call &C,
                           const Place &At, int Depth) {
  Leaf L;
  L.At = At;
  L.Depth = Depth;
  L.Shared = Array;
  L.Own = differs(E, C);
  QualType T = Array->getType();
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  L.Word = T->isRealFloatingType();
  return L;
}

bool OperandRanks::differs(const Expr *E, const Call &C) {
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl())) {
      if (C.Caller && isa<ParmVarDecl>(V))
        if (const Expr *A = argument(V->getCanonicalDecl(), C))
          return differs(A, *C.Caller);
      return !V->hasAttr<CUDASharedAttr>() &&
             ((DependsOn(V->getCanonicalDecl()) &
               (DepThread | DepShared | DepGlobal)) ||
              (V->getIdentifier() && V->getName() == "threadIdx"));
    }
  if (isIndexBuiltin(E))
    return isThreadIndex(E);
  for (const clang::Stmt *X : E->children())
    if (auto *Y = dyn_cast_or_null<Expr>(X); Y && differs(Y, C))
      return true;
  return false;
}

//===--- From above ---===//

bool OperandRanks::upper(const Expr *E, const Call &C, int Depth, Leaves &Out,
                         int Member, unsigned Nested) {
  if (Nested > 64 || Out.size() > 1024)
    return false;
  if (!Nested) {
    Seen.clear();
    HasFlag = false;
  }
  E = bareExpr(E);
  if (!Seen.insert({E, &C, Depth, Member, Site}).second)
    return true;
  if (isa<FloatingLiteral, IntegerLiteral, CXXBoolLiteralExpr>(E))
    return true;
  if (isIndexBuiltin(E)) {
    upperOfIndex(Depth, Out);
    return true;
  }
  if (isa<CastExpr, UnaryOperator, BinaryOperator, ConditionalOperator>(E))
    if (const auto Known = upperOfOperation(E, C, Depth, Out, Member, Nested))
      return *Known;
  if (auto *X = dyn_cast<CallExpr>(E))
    return upperOfCall(X, C, Depth, Out, Nested);
  return upperOfPlace(E, C, Depth, Out, Member, Nested);
}

void OperandRanks::upperOfIndex(int Depth, Leaves &Out) {
  // Made of the output's number, where outputs begin.
  if (Now->Rewritten) {
    Place Begin;
    for (unsigned X : Now->Edges)
      if (X <= Site)
        Begin = std::max(Begin, Place{X});
    Out.push_back({Begin, Depth});
  }
}

bool OperandRanks::ofShared(const clang::Stmt *E) const {
  if (auto *D = dyn_cast<DeclRefExpr>(E))
    if (auto *V = dyn_cast<VarDecl>(D->getDecl()))
      return V->hasAttr<CUDASharedAttr>() ||
             (DependsOn(V->getCanonicalDecl()) & DepShared);
  return llvm::any_of(E->children(),
                      [&](const clang::Stmt *C) { return C && ofShared(C); });
}

std::optional<bool> OperandRanks::upperOfOperation(const Expr *E, const Call &C,
                                                   int Depth, Leaves &Out,
                                                   int Member,
                                                   unsigned Nested) {
  if (auto *X = dyn_cast<CastExpr>(E)) {
    const bool Free =
        X->getCastKind() == CK_LValueToRValue || X->getCastKind() == CK_NoOp;
    return upper(X->getSubExpr(), C, Depth + !Free, Out, Member, Nested + 1);
  }
  if (auto *U = dyn_cast<UnaryOperator>(E);
      U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus ||
            U->getOpcode() == UO_LNot))
    return upper(U->getSubExpr(), C, Depth + (U->getOpcode() == UO_LNot), Out,
                 Member, Nested + 1);
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->isCommaOp() || (B->isAssignmentOp() && !B->isCompoundAssignmentOp()))
      return false;
    if (B->isLogicalOp()) // of two blocks
      Out.push_back({place(C, facts(C).Last.lookup(E)), Depth});
    return upper(B->getLHS(), C, Depth + 1, Out, -1, Nested + 1) &&
           upper(B->getRHS(), C, Depth + 1, Out, -1, Nested + 1);
  }
  if (auto *X = dyn_cast<ConditionalOperator>(E)) {
    // A number is none of two values for long: (c ? 2 : s[t]) * y.
    const ASTContext &AC = C.Of->getASTContext();
    if ((X->getTrueExpr()->isEvaluatable(AC) || X->getFalseExpr()->isEvaluatable(AC)) &&
        ofShared(X))
      return false;
    Out.push_back({place(C, facts(C).Last.lookup(E)), Depth});
    return upper(X->getCond(), C, Depth + 1, Out, -1, Nested + 1) &&
           upper(X->getTrueExpr(), C, Depth + 1, Out, Member, Nested + 1) &&
           upper(X->getFalseExpr(), C, Depth + 1, Out, Member, Nested + 1);
  }
  return std::nullopt; // *p, a place
}

bool OperandRanks::upperOfCall(const CallExpr *X, const Call &C, int Depth,
                               Leaves &Out, unsigned Nested) {
  const FunctionDecl *F = X->getDirectCallee();
  if (!F || !F->getIdentifier())
    return false;
  for (StringRef N : {"fabsf", "fabs", "__fmul_rn", "__fadd_rn", "__fsub_rn",
                      "__dmul_rn", "__dadd_rn", "__dsub_rn", "__ldg"})
    if (F->getName() == N) {
      if (N == "__ldg")
        return Out.push_back({place(C, facts(C).Last.lookup(X)), Depth}), true;
      for (const Expr *A : X->arguments())
        if (!upper(A, C, Depth + 1, Out, -1, Nested + 1))
          return false;
      return true;
    }
  // Read where it is called, from memory that is the kernel's argument.
  const Expr *From = elementReturned(X);
  const VarDecl *V = From && !C.Caller ? rootVar(From) : nullptr;
  if (V && isa<ParmVarDecl>(V) && V->getType()->isPointerType())
    return Out.push_back({place(C, facts(C).Last.lookup(X)), Depth}), true;
  // The toolkit's make_float4 and its like: each member is an argument.
  const SourceManager &SM = F->getASTContext().getSourceManager();
  // A few instructions without an effect, in whatever words.
  constexpr int MostOfConversion = 4;
  for (StringRef N : {"__half2float", "__bfloat162float", "__low2float", "__high2float"})
    if (F->getName() == N && SM.isInSystemHeader(SM.getExpansionLoc(F->getLocation())))
      return llvm::all_of(X->arguments(), [&](const Expr *A) {
        return upper(A, C, Depth + MostOfConversion, Out, -1, Nested + 1);
      });
  if (F->getName().starts_with("make_") && F->getReturnType()->isRecordType() &&
      SM.isInSystemHeader(SM.getExpansionLoc(F->getLocation())))
    return llvm::all_of(X->arguments(), [&](const Expr *A) {
      return upper(A, C, Depth + 1, Out, -1, Nested + 1);
    });
  return false;
}

bool OperandRanks::upperOfPlace(const Expr *E, const Call &C, int Depth,
                                Leaves &Out, int Member, unsigned Nested) {
  const auto R = memoryRoot(E);
  if (!R || R->Deep)
    return false;
  if (R->Member >= 0)
    Member = R->Member;
  const VarDecl *V = R->Var;
  const OperandText &F = facts(C);
  const Place Here = place(C, ReadLast && isTarget(E, F)
                                  ? F.Last.lookup(F.Parents.getParent(E))
                                  : F.First.lookup(E));
  if (const VarDecl *Array = sharedElement(E, C)) {
    const Expr *Read = ReadLast ? E : mergedRead(E, Array, C);
    Leaf L = element(E, Array, C, Read == E ? Here : place(C, Read), Depth);
    if (R->Member < 0 && Member >= 0)
      L.Whole = E, L.Member = Member;
    Out.push_back(L);
    return true;
  }
  if (R->Loaded || V->hasGlobalStorage() ||
      (R->Element && V->getType()->isPointerType())) {
    Leaf L;
    L.At = Here;
    L.Depth = Depth;
    if (R->Member < 0 && Member >= 0)
      L.Whole = E, L.Member = Member;
    Out.push_back(L);
    return true;
  }
  if (F.Escaped.count(V))
    return false;
  if (V->getType()->isReferenceType())
    return upperOfReference(V, C, Here, Depth, Out);
  auto Set = F.Sets.find(V);
  const bool IsSet = Set != F.Sets.end();
  if (isa<ParmVarDecl>(V) && !IsSet) {
    if (!C.Caller)
      return true;
    const Expr *A = argument(V, C);
    return A && upper(A, *C.Caller, Depth, Out, Member, Nested + 1);
  }
  if (isa<ParmVarDecl>(V) && C.Caller)
    return false;
  const bool Array = V->getType()->isArrayType();
  if (Array || isKept(V, C)) {
    Leaf L;
    L.At = Here;
    L.Depth = Depth;
    if (R->Member < 0 && Member >= 0)
      L.Whole = E, L.Member = Member;
    Out.push_back(L);
  }
  if (!IsSet)
    return isa<ParmVarDecl>(V) || Array || V->getType()->isRecordType();
  return upperOfSets(Set->second, E, C, Depth, Out, Member, Nested);
}

bool OperandRanks::upperOfReference(const VarDecl *V, const Call &C,
                                    const Place &Here, int Depth, Leaves &Out) {
  // What it stands for, read here.
  const Expr *Of = isa<ParmVarDecl>(V) ? (C.Caller ? argument(V, C) : nullptr)
                                       : V->getInit();
  if (!Of)
    return false;
  const auto X = memoryRoot(Of);
  if (!X || !X->Var->hasAttr<CUDASharedAttr>())
    return false;
  Out.push_back(element(Of, X->Var, isa<ParmVarDecl>(V) ? *C.Caller : C, Here,
                        Depth));
  return true;
}

bool OperandRanks::upperOfSets(const std::vector<OperandText::Assignment> &Sets,
                               const Expr *E, const Call &C, int Depth,
                               Leaves &Out, int Member, unsigned Nested) {
  const OperandText &F = facts(C);
  // Its values so far, and what loops and branches make of them.
  int Compounds = 0;
  for (const OperandText::Assignment &S : Sets)
    Compounds += S.Compound && F.end(S) < F.First.lookup(E);
  for (const OperandText::Assignment &S : Sets) {
    if (S.Member >= 0 && Member >= 0 && S.Member != Member)
      continue;
    const bool Before = F.end(S) < F.First.lookup(E);
    const clang::Stmt *Outermost = nullptr;
    for (const clang::Stmt *P = F.Parents.getParent(S.At); P && !F.isIn(E, P);
         P = F.Parents.getParent(P))
      if (OperandText::isLoop(P) ||
          isa<IfStmt, SwitchStmt, ConditionalOperator>(P))
        Outermost = P;
    for (const clang::Stmt *P = F.Parents.getParent(S.At); P;
         P = F.Parents.getParent(P))
      if (OperandText::isLoop(P) && F.isIn(E, P))
        Out.push_back({place(C, P), Depth + Compounds});
    if (!Before)
      continue;
    // Of conditions that set a flag, compilers make operations on the conditions, in blocks
    // that they choose.
    if (Outermost && E->getType()->isIntegerType())
      HasFlag = true;
    if (Outermost)
      Out.push_back({place(C, F.Last.lookup(Outermost)), Depth + Compounds});
    if (!S.Value)
      continue; // ++: of integers
    const unsigned Here = Site;
    if (!C.Caller)
      Site = F.First.lookup(S.At);
    const bool Ok = upper(S.Value, C, Depth + Compounds, Out,
                          S.Member < 0 ? Member : -1, Nested + 1);
    Site = Here;
    if (!Ok)
      return false;
  }
  return true;
}

bool OperandRanks::isTarget(const Expr *E, const OperandText &F) {
  auto *B = dyn_cast_or_null<CompoundAssignOperator>(F.Parents.getParent(E));
  return B && B->getLHS() == E;
}

//===--- From below ---===//

void OperandRanks::lower(const Expr *E, const Call &C, int Depth, Leaves &Out,
                         int Member, unsigned Nested) {
  if (Nested > 64 || Out.size() > 256)
    return;
  E = bareExpr(E);
  if (isIndexBuiltin(E))
    return;
  if (auto *X = dyn_cast<CastExpr>(E))
    return lower(X->getSubExpr(), C, Depth, Out, Member, Nested + 1);
  if (auto *U = dyn_cast<UnaryOperator>(E);
      U && (U->getOpcode() == UO_Minus || U->getOpcode() == UO_Plus))
    return lower(U->getSubExpr(), C, Depth, Out, Member, Nested + 1);
  if (auto *B = dyn_cast<BinaryOperator>(E)) {
    if ((B->isAdditiveOp() || B->isMultiplicativeOp()) &&
        B->getType()->isRealFloatingType()) {
      lower(B->getLHS(), C, Depth + isNoConstant(B->getRHS(), C, 0), Out, -1,
            Nested + 1);
      lower(B->getRHS(), C, Depth + isNoConstant(B->getLHS(), C, 0), Out, -1,
            Nested + 1);
    }
    return;
  }
  const auto R = memoryRoot(E);
  if (!R || R->Deep || R->Loaded)
    return;
  if (R->Member >= 0)
    Member = R->Member;
  const VarDecl *V = R->Var;
  const OperandText &F = facts(C);
  if (const VarDecl *Array = sharedElement(E, C)) {
    const Place First = firstEqual(E, Array, C);
    Leaf L = element(E, Array, C, First, Depth);
    if (R->Member < 0 && Member >= 0)
      L.Whole = E, L.Member = Member;
    if (L.Whole && First != place(C, E))
      return;
    Out.push_back(L);
    return;
  }
  if (V->hasGlobalStorage() || (R->Element && V->getType()->isPointerType())) {
    Leaf L;
    L.At = firstInMemory(E, *R, C);
    L.Depth = Depth;
    Out.push_back(L);
    return;
  }
  if (F.Escaped.count(V) || V->getType()->isReferenceType() ||
      V->getType()->isArrayType())
    return;
  auto Set = F.Sets.find(V);
  if (isa<ParmVarDecl>(V)) {
    if (C.Caller && Set == F.Sets.end())
      if (const Expr *A = argument(V, C))
        lower(A, *C.Caller, Depth, Out, Member, Nested + 1);
    return;
  }
  if (isKept(V, C)) {
    if (!(DependsOn(V) & (DepThread | DepShared)))
      return;
    // From its first use; or the value itself is still at hand.
    Leaf L;
    L.Depth = Depth;
    if (R->Member < 0 && Member >= 0)
      L.Whole = E, L.Member = Member;
    const unsigned First = firstUse(E, R->Use, V, Member, F);
    if (L.Whole && First != F.First.lookup(E))
      return;
    L.At = place(C, First);
    if (!valueAtHand(E, V, F))
      Out.push_back(L);
    return;
  }
  if (Set != F.Sets.end())
    lowerOfSets(Set->second, E, C, Depth, Out, Member, Nested);
}

void OperandRanks::lowerOfSets(const std::vector<OperandText::Assignment> &Sets,
                               const Expr *E, const Call &C, int Depth,
                               Leaves &Out, int Member, unsigned Nested) {
  const OperandText &F = facts(C);
  std::vector<const OperandText::Assignment *> Row;
  for (const OperandText::Assignment &S : Sets) {
    if (S.Member >= 0 && Member >= 0 && S.Member != Member)
      continue;
    if (!S.Value || F.end(S) >= F.First.lookup(E)) {
      // Behind, or around: in the next round.
      for (const clang::Stmt *P = F.Parents.getParent(S.At); P;
           P = F.Parents.getParent(P))
        if (OperandText::isLoop(P) && F.isIn(E, P) &&
            (Row.empty() || !F.isIn(Row.front()->At, P)))
          return;
      continue;
    }
    for (const clang::Stmt *P = F.Parents.getParent(S.At); P && !F.isIn(E, P);
         P = F.Parents.getParent(P))
      if (!isa<CompoundStmt, ExprWithCleanups>(P))
        return;
    if (!S.Compound)
      Row.clear();
    Row.push_back(&S);
  }
  if (Row.empty() || Row.front()->Compound)
    return;
  for (size_t I = 0; I < Row.size(); ++I) {
    auto *B = dyn_cast<CompoundAssignOperator>(Row[I]->At);
    if (Row[I]->Compound &&
        (!B || !isa<DeclRefExpr>(bareExpr(B->getLHS())) ||
         (B->getOpcode() != BO_AddAssign && B->getOpcode() != BO_SubAssign)))
      return;
  }
  // Only the last value: what came before may be gone for a constant.
  lower(Row.back()->Value, C, Depth, Out, Row.back()->Member < 0 ? Member : -1,
        Nested + 1);
  if (!Row.back()->Compound)
    return;
  for (size_t I = 0; I + 1 < Row.size(); ++I)
    lower(Row[I]->Value, C, Depth, Out, Row[I]->Member < 0 ? Member : -1,
          Nested + 1);
}
