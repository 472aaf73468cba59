// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyEffects.h. The walk is by kind of syntax, each named below; the last
// word of the switch is "not understood".

#include "BodyEffects.h"
#include "BlockNames.h"
#include "BuiltinVars.h"
#include "InWords.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace clang;

namespace rcache {
namespace {

/// What a function changes: things behind its parameters, and others.
struct Changes {
  llvm::SmallBitVector Params;
  bool Other = false;
};

class CalleeChanges {
public:
  /// \p F is called; its own parameters and this object count apart.
  Changes of(const FunctionDecl *F, unsigned Depth = 0) {
    Changes C;
    C.Params.resize(F->getNumParams());
    for (unsigned I = 0; I < F->getNumParams(); ++I)
      C.Params[I] = handsOut(F->getParamDecl(I)->getType());
    const CallKind Kind = classifyCall(F, nullptr).Kind;
    if (Kind == CallKind::Barrier || Kind == CallKind::GroupBarrier ||
        Kind == CallKind::WarpBarrier || Kind == CallKind::BarrierReduce ||
        Kind == CallKind::BlockGroup)
      return C; // statements of their own in the model
    if (Kind != CallKind::Harmless) {
      C.Other = true;
      return C;
    }
    if (isSystemFunction(F) || F->isTrivial() || sharedAccessor(F))
      return C;
    const FunctionDecl *Def = nullptr;
    if (!F->hasBody(Def)) {
      C.Other = !F->isDefaulted();
      return C;
    }
    if (Depth > 16) {
      C.Other = true;
      return C;
    }
    Changes Body;
    Body.Params.resize(F->getNumParams());
    if (auto *Ctor = dyn_cast<CXXConstructorDecl>(Def))
      for (const CXXCtorInitializer *I : Ctor->inits())
        walk(I->getInit(), Def, Body, Depth);
    walk(Def->getBody(), Def, Body, Depth);
    Body.Params &= C.Params;
    return Body;
  }

private:
  void changed(const Expr *E, bool Pointee, const FunctionDecl *Def,
               Changes &C) {
    Places P = placesOf(E, Pointee);
    bool Unknown = P.Memory;
    for (const VarDecl *V : P.Vars)
      if (!V->hasLocalStorage())
        C.Other = true;
    if (!Unknown)
      return;
    // Through `this`: the object, for which the caller accounts. Through a
    // parameter, or anything that may have come from one.
    const Expr *X = E->IgnoreParenCasts();
    while (auto *Mem = dyn_cast<MemberExpr>(X))
      X = Mem->getBase()->IgnoreParenCasts();
    if (isa<CXXThisExpr>(X))
      return;
    bool Any = false, Records = false;
    for (unsigned I = 0; I < Def->getNumParams(); ++I) {
      const QualType T = Def->getParamDecl(I)->getType();
      Records |= T.getNonReferenceType()->isRecordType(); // pointers in it
      if (handsOut(T)) {
        C.Params.set(I);
        Any = true;
      }
    }
    // A reference or a pointer to a variable in here, or somewhere else.
    C.Other |= Records || mentionsOutside(E) || (!Any && !namesLocal(E));
  }
  static bool mentionsOutside(const clang::Stmt *S) {
    if (auto *R = dyn_cast_or_null<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
        return V->hasGlobalStorage() && !isa<ParmVarDecl>(V);
    if (S)
      for (const clang::Stmt *C : S->children())
        if (mentionsOutside(C))
          return true;
    return false;
  }
  static bool namesLocal(const clang::Stmt *S) {
    if (auto *R = dyn_cast_or_null<DeclRefExpr>(S))
      if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
        return V->hasLocalStorage();
    if (S)
      for (const clang::Stmt *C : S->children())
        if (namesLocal(C))
          return true;
    return false;
  }

  void walk(const clang::Stmt *S, const FunctionDecl *Def, Changes &C,
            unsigned Depth) {
    if (!S || isa<UnaryExprOrTypeTraitExpr>(S))
      return;
    // They stand elsewhere, and are no children.
    if (auto *D = dyn_cast<CXXDefaultArgExpr>(S))
      return walk(D->getExpr(), Def, C, Depth);
    if (auto *D = dyn_cast<CXXDefaultInitExpr>(S))
      return walk(D->getExpr(), Def, C, Depth);
    if (auto *D = dyn_cast<DeclStmt>(S))
      for (const Decl *Of : D->decls())
        if (auto *V = dyn_cast<VarDecl>(Of))
          C.Other |= V->needsDestruction(V->getASTContext()) != QualType::DK_none;
    if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
      changed(B->getLHS(), false, Def, C);
    if (auto *U = dyn_cast<UnaryOperator>(S); U && U->isIncrementDecrementOp())
      changed(U->getSubExpr(), false, Def, C);
    if (isa<AsmStmt>(S) || isa<CXXNewExpr>(S) || isa<CXXDeleteExpr>(S) ||
        isa<CXXThrowExpr>(S) || isa<LambdaExpr>(S) || isa<AtomicExpr>(S) ||
        isa<CXXForRangeStmt>(S) || isa<StmtExpr>(S) ||
        isa<CXXBindTemporaryExpr>(S))
      C.Other = true;
    if (auto *Call = dyn_cast<CallExpr>(S)) {
      const FunctionDecl *F = Call->getDirectCallee();
      if (!F) {
        C.Other = true;
      } else {
        Changes Inner = of(F, Depth + 1);
        C.Other |= Inner.Other;
        auto *M = dyn_cast<CXXMethodDecl>(F);
        const bool Operator =
            isa<CXXOperatorCallExpr>(Call) && M && M->isInstance();
        for (unsigned I = 0; I < F->getNumParams(); ++I)
          if (Inner.Params[I] && I + Operator < Call->getNumArgs())
            changed(Call->getArg(I + Operator),
                    F->getParamDecl(I)->getType()->isPointerType(), Def, C);
        if (M && M->isInstance() && !M->isConst()) {
          if (Operator)
            changed(Call->getArg(0), false, Def, C);
          else if (auto *Mc = dyn_cast<CXXMemberCallExpr>(Call))
            changed(Mc->getImplicitObjectArgument(),
                    Mc->getImplicitObjectArgument()->getType()->isPointerType(),
                    Def, C);
        }
      }
    }
    if (auto *K = dyn_cast<CXXConstructExpr>(S))
      C.Other |= of(K->getConstructor(), Depth + 1).Other;
    for (const clang::Stmt *X : S->children())
      walk(X, Def, C, Depth);
  }
};

/// Kinds of statements, attributes and declarations that are understood.
bool knownDecl(const Decl *D) {
  if (isa<DecompositionDecl>(D))
    return false;
  if (auto *V = dyn_cast<VarDecl>(D))
    return !V->getType()->isVariablyModifiedType();
  return isa<TypedefNameDecl>(D) || isa<TagDecl>(D) ||
         isa<StaticAssertDecl>(D) || isa<UsingDecl>(D) ||
         isa<UsingDirectiveDecl>(D) || isa<UsingShadowDecl>(D) ||
         isa<EmptyDecl>(D) || isa<NamespaceAliasDecl>(D) ||
         isa<UsingEnumDecl>(D);
}

class Visitor {
public:
  Visitor(KernelModel &M, FlatText &Flat, const Locals &L)
      : M(M), Flat(Flat), L(L) {}

  std::optional<Obstacle> Unknown;

  // Long: a kind of syntax a case, the switch is the list of what is known.
  void visit(const clang::Stmt *S) {
    if (!S)
      return;
    switch (S->getStmtClass()) {
    case clang::Stmt::CompoundStmtClass:
    case clang::Stmt::NullStmtClass:
    case clang::Stmt::IfStmtClass:
    case clang::Stmt::ForStmtClass:
    case clang::Stmt::WhileStmtClass:
    case clang::Stmt::DoStmtClass:
    case clang::Stmt::SwitchStmtClass:
    case clang::Stmt::CaseStmtClass:
    case clang::Stmt::DefaultStmtClass:
    case clang::Stmt::BreakStmtClass:
    case clang::Stmt::ContinueStmtClass:
    case clang::Stmt::ReturnStmtClass:
      return children(S);
    // Reasons of their own (Obstacles.cpp, ExecStmt.cpp).
    case clang::Stmt::GotoStmtClass:
    case clang::Stmt::IndirectGotoStmtClass:
    case clang::Stmt::LabelStmtClass:
    case clang::Stmt::GCCAsmStmtClass:
    case clang::Stmt::LambdaExprClass:
      return;
    case clang::Stmt::AttributedStmtClass:
      for (const Attr *A : cast<AttributedStmt>(S)->getAttrs())
        if (!isa<LoopHintAttr>(A) && !isa<LikelyAttr>(A) &&
            !isa<UnlikelyAttr>(A) && !isa<FallThroughAttr>(A))
          return unknown(S);
      return children(S);
    case clang::Stmt::DeclStmtClass:
      return declared(cast<DeclStmt>(S));

    case clang::Stmt::DeclRefExprClass:
      return named(cast<DeclRefExpr>(S));
    case clang::Stmt::PseudoObjectExprClass:
      return builtinVar(cast<Expr>(S)) ? void() : unknown(S);
    case clang::Stmt::IntegerLiteralClass:
    case clang::Stmt::FloatingLiteralClass:
    case clang::Stmt::CharacterLiteralClass:
    case clang::Stmt::StringLiteralClass:
    case clang::Stmt::CXXBoolLiteralExprClass:
    case clang::Stmt::CXXNullPtrLiteralExprClass:
    case clang::Stmt::GNUNullExprClass:
    case clang::Stmt::PredefinedExprClass:
    case clang::Stmt::ImplicitValueInitExprClass:
    case clang::Stmt::CXXScalarValueInitExprClass:
    case clang::Stmt::UnaryExprOrTypeTraitExprClass:
    case clang::Stmt::SizeOfPackExprClass:
    case clang::Stmt::TypeTraitExprClass:
    case clang::Stmt::CXXNoexceptExprClass:
    case clang::Stmt::OffsetOfExprClass:
    case clang::Stmt::OpaqueValueExprClass:
    case clang::Stmt::ConceptSpecializationExprClass:
      return; // nothing is evaluated
    case clang::Stmt::ParenExprClass:
    case clang::Stmt::ConditionalOperatorClass:
    case clang::Stmt::CStyleCastExprClass:
    case clang::Stmt::CXXFunctionalCastExprClass:
    case clang::Stmt::CXXStaticCastExprClass:
    case clang::Stmt::CXXReinterpretCastExprClass:
    case clang::Stmt::CXXConstCastExprClass:
    case clang::Stmt::BuiltinBitCastExprClass:
    case clang::Stmt::InitListExprClass:
    case clang::Stmt::DesignatedInitExprClass:
    case clang::Stmt::MaterializeTemporaryExprClass:
    case clang::Stmt::CXXBindTemporaryExprClass:
    case clang::Stmt::ExprWithCleanupsClass:
    case clang::Stmt::ConstantExprClass:
    case clang::Stmt::SubstNonTypeTemplateParmExprClass:
    case clang::Stmt::CompoundLiteralExprClass:
    case clang::Stmt::ArrayInitLoopExprClass:
    case clang::Stmt::ArrayInitIndexExprClass:
    case clang::Stmt::MemberExprClass:
    case clang::Stmt::ArraySubscriptExprClass:
      return children(S);
    case clang::Stmt::BinaryConditionalOperatorClass: {
      auto *C = cast<BinaryConditionalOperator>(S);
      visit(C->getCommon());
      return visit(C->getFalseExpr());
    }
    case clang::Stmt::ImplicitCastExprClass:
      volatileRead(cast<ImplicitCastExpr>(S));
      return children(S);
    case clang::Stmt::CXXDefaultArgExprClass:
      return outOfText(cast<CXXDefaultArgExpr>(S)->getExpr(), S);
    case clang::Stmt::CXXDefaultInitExprClass:
      return outOfText(cast<CXXDefaultInitExpr>(S)->getExpr(), S);
    case clang::Stmt::UnaryOperatorClass: {
      auto *U = cast<UnaryOperator>(S);
      if (U->getOpcode() > UO_LNot && U->getOpcode() != UO_Extension)
        return unknown(S);
      if (U->isIncrementDecrementOp())
        sets(U, U->getSubExpr(), false, U->getOperatorLoc());
      return children(S);
    }
    case clang::Stmt::BinaryOperatorClass:
    case clang::Stmt::CompoundAssignOperatorClass: {
      auto *B = cast<BinaryOperator>(S);
      if (B->isPtrMemOp())
        return unknown(S);
      if (B->isAssignmentOp())
        sets(B, B->getLHS(), false, B->getOperatorLoc());
      return children(S);
    }
    case clang::Stmt::CallExprClass:
    case clang::Stmt::CXXMemberCallExprClass:
    case clang::Stmt::CXXOperatorCallExprClass:
    case clang::Stmt::UserDefinedLiteralClass:
      called(cast<CallExpr>(S));
      return children(S);
    case clang::Stmt::CXXConstructExprClass:
    case clang::Stmt::CXXTemporaryObjectExprClass: {
      auto *C = cast<CXXConstructExpr>(S);
      constructed(C);
      return children(S);
    }
    default:
      return unknown(S);
    }
  }

private:
  KernelModel &M;
  FlatText &Flat;
  const Locals &L;
  CalleeChanges Callees;

  void children(const clang::Stmt *S) {
    for (const clang::Stmt *C : S->children())
      visit(C);
  }
  void unknown(const clang::Stmt *S) {
    if (!Unknown)
      Unknown = Obstacle{DeclineCode::UnsupportedStatement, inWords(S),
                         S->getBeginLoc()};
  }
  void lost(const std::string &What, SourceLocation Loc) {
    if (!Unknown)
      Unknown = Obstacle{DeclineCode::EffectsNotKept, What, Loc};
  }

  void declared(const DeclStmt *D) {
    for (const Decl *X : D->decls()) {
      if (!knownDecl(X))
        return unknown(D);
      if (auto *V = dyn_cast<VarDecl>(X)) {
        if (auto *T = V->getType()->getAsCXXRecordDecl();
            T && T->hasDefinition() && T->hasNonTrivialDestructor() &&
            !isSharedVar(V))
          return unknown(D);
        visit(V->getInit());
      }
    }
  }

  void named(const DeclRefExpr *E) {
    const ValueDecl *D = E->getDecl();
    if (isa<BindingDecl>(D))
      return unknown(E);
    auto *V = dyn_cast<VarDecl>(D);
    if ((!V || L.varIndex(V) < 0) && D->getIdentifier())
      M.OuterNames.insert(D->getName().str());
  }

  void note(Effect::Kind K, const Expr *E, const Expr *Target, int Var,
            SourceLocation At) {
    Effect X;
    X.K = K;
    X.Var = Var;
    X.Range = Flat.range(E->getSourceRange()).value_or(TextRange());
    if (Target)
      X.Target = Flat.range(Target->getSourceRange()).value_or(TextRange());
    auto Place = Flat.range(SourceRange(At));
    if (!Place || X.Range.empty())
      return lost("in text that is not in the kernel", E->getBeginLoc());
    X.At = *Place;
    M.Effects.push_back(X);
  }

  /// \p E changes what the lvalue \p To (or the pointer, \p Pointee) leads to.
  void sets(const Expr *E, const Expr *To, bool Pointee, SourceLocation At) {
    Places P = placesOf(To, Pointee);
    const Expr *Target = Pointee ? nullptr : To->IgnoreParens();
    for (const VarDecl *V : P.Vars)
      if (int I = L.varIndex(V); I >= 0)
        note(Effect::SetsVariable, E, Target, I, At);
      else
        P.Memory = true;
    if (P.Memory)
      note(Effect::SetsMemory, E, Target, -1, At);
  }

  void called(const CallExpr *E) {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F)
      return; // a reason of its own
    auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
    const SourceLocation At =
        Op && Op->getOperator() != OO_Call && Op->getOperator() != OO_Subscript
            ? Op->getOperatorLoc()
            : E->getRParenLoc();
    const Changes C = Callees.of(F);
    if (C.Other)
      note(Effect::Call, E, nullptr, -1, At);
    auto *Method = dyn_cast<CXXMethodDecl>(F);
    const bool Member = Op && Method && Method->isInstance();
    for (unsigned I = 0; I < F->getNumParams(); ++I)
      if (C.Params[I] && I + Member < E->getNumArgs()) {
        const bool Pointer = F->getParamDecl(I)->getType()->isPointerType();
        sets(E, E->getArg(I + Member), Pointer, At);
      }
    if (!Method || !Method->isInstance() || Method->isConst())
      return;
    if (Member)
      return sets(E, E->getArg(0), false, At);
    if (auto *Mc = dyn_cast<CXXMemberCallExpr>(E)) {
      const Expr *Object = Mc->getImplicitObjectArgument();
      sets(E, Object, Object->getType()->isPointerType(), At);
    }
  }

  void constructed(const CXXConstructExpr *E) {
    const CXXConstructorDecl *F = E->getConstructor();
    const Changes C = Callees.of(F);
    const SourceRange R = E->getParenOrBraceRange();
    const SourceLocation At = R.isValid() ? R.getEnd() : E->getLocation();
    if (C.Other)
      note(Effect::Call, E, nullptr, -1, At);
    for (unsigned I = 0; I < F->getNumParams(); ++I)
      if (C.Params[I] && I < E->getNumArgs() && !F->isCopyOrMoveConstructor())
        sets(E, E->getArg(I), F->getParamDecl(I)->getType()->isPointerType(),
             At);
  }

  /// An expression written elsewhere, at a parameter or a member.
  void outOfText(const Expr *X, const clang::Stmt *At) {
    if (boundToItsPlace(X, {}, L))
      lost("in a default value", At->getBeginLoc());
  }

  void volatileRead(const ImplicitCastExpr *E) {
    if (E->getCastKind() != CK_LValueToRValue ||
        !E->getSubExpr()->getType().isVolatileQualified())
      return;
    Places P = placesOf(E->getSubExpr(), false);
    // Local variables nobody else sees; shared arrays have their own rules.
    if (!P.Memory && llvm::all_of(P.Vars, [&](const VarDecl *V) {
          return L.varIndex(V) >= 0 || isSharedVar(V);
        }))
      return;
    const Expr *X = E->getSubExpr()->IgnoreParens();
    SourceLocation At = X->getEndLoc(); // `]`, a member's name
    if (auto *U = dyn_cast<UnaryOperator>(X))
      At = U->getOperatorLoc();
    note(Effect::Volatile, E, X, -1, At);
  }
};

} // namespace

std::optional<Obstacle> noteEffects(const FunctionDecl *FD, KernelModel &M,
                                    FlatText &Flat, const Locals &L) {
  Visitor V(M, Flat, L);
  V.visit(FD->getBody());
  llvm::stable_sort(M.Effects, [](const Effect &A, const Effect &B) {
    return A.At.Begin < B.At.Begin;
  });
  // The data flow was computed by another walk, which must have seen it too.
  for (const Effect &X : M.Effects)
    if (X.K == Effect::SetsVariable && !M.Vars[X.Var].Assigned &&
        !M.Vars[X.Var].AddressTaken && !V.Unknown)
      V.Unknown = Obstacle{DeclineCode::EffectsNotKept,
                           "'" + M.Vars[X.Var].Name + "' changes in '" +
                               M.text(X.Range) + "'",
                           FD->getLocation()};
  for (const VarUse &U : M.VarUses)
    if (U.Range.empty() && !V.Unknown)
      V.Unknown = Obstacle{DeclineCode::Macro, "'" + M.Vars[U.Var].Name + "'",
                           FD->getLocation()};
  return V.Unknown;
}

void assignEffects(KernelModel &M) {
  for (Effect &X : M.Effects)
    if (X.K == Effect::SetsMemory)
      for (const SharedAccess &A : M.SharedAccesses)
        if (A.K != SharedAccess::Read && A.Range == X.Target) {
          X.K = Effect::SetsShared;
          X.Array = static_cast<int>(A.Array);
        }
}

bool boundToItsPlace(const Expr *E, llvm::ArrayRef<const Expr *> Without,
                     const Locals &L) {
  if (namesOfInnerBlock(E))
    return true;
  struct Finder {
    llvm::ArrayRef<const Expr *> Without;
    const Locals &L;
    CalleeChanges Callees;
    bool bound(const clang::Stmt *S) {
      if (!S || isa<UnaryExprOrTypeTraitExpr>(S) || isa<CXXNoexceptExpr>(S))
        return false;
      if (auto *X = dyn_cast<Expr>(S)) {
        if (llvm::is_contained(Without, X) || builtinVar(X))
          return false;
        if (auto *D = dyn_cast<CXXDefaultArgExpr>(X))
          return bound(D->getExpr());
      }
      if (auto *R = dyn_cast<DeclRefExpr>(S)) {
        auto *V = dyn_cast<VarDecl>(R->getDecl());
        const int I = V ? L.varIndex(V) : -1;
        return I >= 0 && !L.unchangedParam(I);
      }
      if (auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
        return true;
      if (auto *U = dyn_cast<UnaryOperator>(S);
          U && U->isIncrementDecrementOp())
        return true;
      if (isa<LambdaExpr>(S) || isa<CXXNewExpr>(S) || isa<CXXDeleteExpr>(S) ||
          isa<StmtExpr>(S) || isa<AtomicExpr>(S) || isa<CXXThrowExpr>(S))
        return true;
      if (auto *I = dyn_cast<ImplicitCastExpr>(S);
          I && I->getCastKind() == CK_LValueToRValue &&
          I->getSubExpr()->getType().isVolatileQualified())
        return true;
      const FunctionDecl *F = nullptr;
      if (auto *C = dyn_cast<CallExpr>(S)) {
        F = C->getDirectCallee();
        if (!F)
          return true;
      } else if (auto *K = dyn_cast<CXXConstructExpr>(S)) {
        F = K->getConstructor();
      }
      if (F) {
        const Changes Changed = Callees.of(F);
        if (Changed.Other || Changed.Params.any())
          return true;
        if (auto *Method = dyn_cast<CXXMethodDecl>(F);
            Method && Method->isInstance() && !Method->isConst() &&
            !isa<CXXConstructorDecl>(F) && !Method->isTrivial())
          return true;
      }
      for (const clang::Stmt *C : S->children())
        if (bound(C))
          return true;
      return false;
    }
  } F{Without, L, {}};
  return F.bound(E);
}

} // namespace rcache
