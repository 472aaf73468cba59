// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostLocals.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"

using namespace clang;

namespace rcache {

unsigned objectArguments(const CallExpr *C) {
  auto *F = dyn_cast_or_null<CXXMethodDecl>(C->getCalleeDecl());
  return isa<CXXOperatorCallExpr>(C) && F &&
         !F->isExplicitObjectMemberFunction();
}

/// Is \p V changed anywhere in the function that declares it?
bool everModified(const VarDecl *V) {
  struct Finder : ConstDynamicRecursiveASTVisitor {
    const VarDecl *V;
    bool Modified = false;
    bool isIt(const Expr *E) {
      while (E) {
        E = E->IgnoreParenImpCasts();
        if (auto *M = dyn_cast<MemberExpr>(E))
          E = M->getBase();
        else
          break;
      }
      auto *R = dyn_cast_or_null<DeclRefExpr>(E);
      return R && R->getDecl()->getCanonicalDecl() == V->getCanonicalDecl();
    }
    bool VisitBinaryOperator(const BinaryOperator *B) override {
      Modified |= B->isAssignmentOp() && isIt(B->getLHS());
      return !Modified;
    }
    bool VisitUnaryOperator(const UnaryOperator *U) override {
      Modified |=
          (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf) &&
          isIt(U->getSubExpr());
      return !Modified;
    }
    bool VisitCallExpr(const CallExpr *C) override {
      if (auto *Op = dyn_cast<CXXOperatorCallExpr>(C))
        Modified |= Op->isAssignmentOp() && isIt(Op->getArg(0));
      QualType Callee = C->getCallee()->getType();
      if (const FunctionDecl *F = C->getDirectCallee())
        Callee = F->getType();
      else if (Callee->isAnyPointerType() || Callee->isReferenceType())
        Callee = Callee->getPointeeType();
      auto *Type = Callee->getAs<FunctionProtoType>();
      const unsigned First = objectArguments(C);
      for (unsigned I = First; Type && I < C->getNumArgs(); ++I)
        if (I - First < Type->getNumParams())
          passed(C->getArg(I), Type->getParamType(I - First));
      return !Modified;
    }
    bool VisitCXXConstructExpr(const CXXConstructExpr *C) override {
      const CXXConstructorDecl *D = C->getConstructor();
      for (unsigned I = 0; I < C->getNumArgs() && I < D->getNumParams(); ++I)
        passed(C->getArg(I), D->getParamDecl(I)->getType());
      return !Modified;
    }
    void passed(const Expr *A, QualType To) {
      Modified |= To->isReferenceType() &&
                  !To->getPointeeType().isConstQualified() && isIt(A);
    }
    bool VisitVarDecl(const VarDecl *D) override {
      if (D->getInit() && D->getType()->isReferenceType() &&
          !D->getType()->getPointeeType().isConstQualified())
        Modified |= isIt(D->getInit());
      return !Modified;
    }
    // The body of a lambda is visited as well: capturing changes nothing.
  } F;
  F.V = V;
  if (auto *Fn = dyn_cast<FunctionDecl>(V->getDeclContext());
      Fn && Fn->hasBody())
    F.TraverseStmt(Fn->getBody());
  else
    return !V->getType().isConstQualified(); // file scope
  return F.Modified;
}

namespace {

/// The expression that a function returns, where it does no more than that.
const Expr *onlyReturns(const FunctionDecl *F) {
  const FunctionDecl *Def = nullptr;
  if (!F || !F->hasBody(Def))
    return nullptr;
  auto *Body = dyn_cast<CompoundStmt>(Def->getBody());
  if (!Body || Body->size() != 1)
    return nullptr;
  auto *R = dyn_cast<ReturnStmt>(Body->body_front());
  return R ? R->getRetValue() : nullptr;
}

/// Does making or destroying a \p T do nothing but fill it?
bool isPlainType(QualType T) {
  if (const auto *R = T->getAsCXXRecordDecl())
    return R->hasDefinition() && R->hasTrivialDestructor() &&
           !R->hasNonTrivialCopyConstructor() &&
           !R->hasNonTrivialMoveConstructor();
  return true;
}

/// What is listed here has a value and no effect; everything else may have one.
// Long: a kind of expression a case, the switch is the list.
bool noEffects(const Expr *E, unsigned Depth) {
  if (!E || Depth > 24 || E->getType().isVolatileQualified())
    return false;
  auto All = [&](auto Parts) {
    return llvm::all_of(
        Parts, [&](const Expr *P) { return noEffects(P, Depth + 1); });
  };
  switch (E->getStmtClass()) {
  case clang::Stmt::IntegerLiteralClass:
  case clang::Stmt::FloatingLiteralClass:
  case clang::Stmt::CharacterLiteralClass:
  case clang::Stmt::StringLiteralClass:
  case clang::Stmt::CXXBoolLiteralExprClass:
  case clang::Stmt::CXXNullPtrLiteralExprClass:
  case clang::Stmt::GNUNullExprClass:
  case clang::Stmt::UnaryExprOrTypeTraitExprClass:
  case clang::Stmt::SizeOfPackExprClass:
  case clang::Stmt::TypeTraitExprClass:
  case clang::Stmt::CXXThisExprClass:
  case clang::Stmt::CXXScalarValueInitExprClass:
  case clang::Stmt::ImplicitValueInitExprClass:
    return true;
  case clang::Stmt::DeclRefExprClass:
    return true;
  case clang::Stmt::ParenExprClass:
    return noEffects(cast<ParenExpr>(E)->getSubExpr(), Depth + 1);
  case clang::Stmt::ConstantExprClass:
  case clang::Stmt::ExprWithCleanupsClass:
    return noEffects(cast<FullExpr>(E)->getSubExpr(), Depth + 1);
  case clang::Stmt::SubstNonTypeTemplateParmExprClass:
    return noEffects(cast<SubstNonTypeTemplateParmExpr>(E)->getReplacement(),
                     Depth + 1);
  case clang::Stmt::MaterializeTemporaryExprClass:
    return isPlainType(E->getType()) &&
           noEffects(cast<MaterializeTemporaryExpr>(E)->getSubExpr(),
                     Depth + 1);
  case clang::Stmt::CXXDefaultArgExprClass:
    return noEffects(cast<CXXDefaultArgExpr>(E)->getExpr(), Depth + 1);
  case clang::Stmt::ImplicitCastExprClass:
  case clang::Stmt::CStyleCastExprClass:
  case clang::Stmt::CXXFunctionalCastExprClass:
  case clang::Stmt::CXXStaticCastExprClass:
  case clang::Stmt::CXXReinterpretCastExprClass:
  case clang::Stmt::CXXConstCastExprClass:
    return noEffects(cast<CastExpr>(E)->getSubExpr(), Depth + 1);
  case clang::Stmt::UnaryOperatorClass: {
    auto *U = cast<UnaryOperator>(E);
    return !U->isIncrementDecrementOp() && U->getOpcode() != UO_Coawait &&
           noEffects(U->getSubExpr(), Depth + 1);
  }
  case clang::Stmt::BinaryOperatorClass: {
    auto *B = cast<BinaryOperator>(E);
    return !B->isAssignmentOp() && noEffects(B->getLHS(), Depth + 1) &&
           noEffects(B->getRHS(), Depth + 1);
  }
  case clang::Stmt::ConditionalOperatorClass: {
    auto *C = cast<ConditionalOperator>(E);
    return noEffects(C->getCond(), Depth + 1) &&
           noEffects(C->getTrueExpr(), Depth + 1) &&
           noEffects(C->getFalseExpr(), Depth + 1);
  }
  case clang::Stmt::ArraySubscriptExprClass: {
    auto *A = cast<ArraySubscriptExpr>(E);
    return noEffects(A->getBase(), Depth + 1) &&
           noEffects(A->getIdx(), Depth + 1);
  }
  case clang::Stmt::MemberExprClass:
    return noEffects(cast<MemberExpr>(E)->getBase(), Depth + 1);
  case clang::Stmt::InitListExprClass:
    return All(cast<InitListExpr>(E)->inits());
  case clang::Stmt::CXXConstructExprClass:
  case clang::Stmt::CXXTemporaryObjectExprClass: {
    auto *C = cast<CXXConstructExpr>(E);
    const CXXRecordDecl *R = C->getConstructor()->getParent();
    // dim3's constructors fill it.
    const bool Fills = C->getConstructor()->isTrivial() ||
                       C->getConstructor()->isCopyOrMoveConstructor() ||
                       (R->getIdentifier() && R->getName() == "dim3");
    return Fills && isPlainType(E->getType()) && All(C->arguments());
  }
  case clang::Stmt::CXXMemberCallExprClass:
    return noEffects(cast<CXXMemberCallExpr>(E)->getImplicitObjectArgument(),
                     Depth + 1) &&
           All(cast<CallExpr>(E)->arguments()) &&
           noEffects(onlyReturns(cast<CallExpr>(E)->getDirectCallee()),
                     Depth + 6);
  case clang::Stmt::CXXOperatorCallExprClass:
  case clang::Stmt::CallExprClass:
    return All(cast<CallExpr>(E)->arguments()) &&
           noEffects(onlyReturns(cast<CallExpr>(E)->getDirectCallee()),
                     Depth + 6);
  default:
    return false;
  }
}

} // namespace

bool hasNoEffects(const Expr *E) { return noEffects(E, 0); }

namespace {

/// Variables of functions in an expression, and whether its text means the same
/// elsewhere: no `this`, no lambda, no calls but of functions of numbers
/// (`divUp(n, 32)`).
struct Uses : ConstDynamicRecursiveASTVisitor {
  std::vector<const VarDecl *> Vars;
  bool Portable = true;
  bool VisitDeclRefExpr(const DeclRefExpr *R) override {
    if (auto *V = dyn_cast<VarDecl>(R->getDecl()))
      if (V->isLocalVarDeclOrParm())
        Vars.push_back(V);
    return true;
  }
  bool VisitCallExpr(const CallExpr *C) override {
    const FunctionDecl *F = C->getDirectCallee();
    Portable &= F && !isa<CXXMethodDecl>(F) && C->getNumArgs() > 0;
    for (const Expr *A : C->arguments())
      Portable &= A->getType()->isArithmeticType();
    return true;
  }
  bool VisitCXXThisExpr(const CXXThisExpr *) override {
    Portable = false;
    return true;
  }
  bool VisitLambdaExpr(const LambdaExpr *) override {
    Portable = false;
    return true;
  }
};

class Collector {
public:
  Collector(ASTContext &AC, llvm::function_ref<std::string(SourceRange)> TextOf)
      : AC(AC), TextOf(TextOf) {}

  void uses(const Expr *E, std::vector<unsigned> *Into) {
    Uses U;
    U.TraverseStmt(const_cast<Expr *>(E));
    for (const VarDecl *V : U.Vars) {
      const unsigned I = index(V);
      if (Into && std::find(Into->begin(), Into->end(), I) == Into->end())
        Into->push_back(I);
    }
    // What cannot be had is a variable without a value.
    if (!U.Portable && !Into)
      Out.push_back({});
  }

  std::vector<HostLocal> Out;

private:
  unsigned index(const VarDecl *V) {
    for (unsigned I = 0; I < Seen.size(); ++I)
      if (Seen[I].first == V)
        return Seen[I].second;
    HostLocal L;
    L.Name = V->getNameAsString();
    PrintingPolicy Policy(AC.getLangOpts());
    L.Type =
        V->getType().getNonReferenceType().getUnqualifiedType().getAsString(
            Policy);
    if (const Expr *Init = V->getInit(); Init && !isa<ParmVarDecl>(V) &&
                                         !everModified(V) && Seen.size() < 32 &&
                                         Depth < 8) {
      Uses U;
      U.TraverseStmt(const_cast<Expr *>(Init));
      if (U.Portable) {
        ++Depth;
        uses(Init, &L.Uses);
        --Depth;
        // `dim3 block(32, 8)`: the declaration's text, else the initialiser's.
        const auto *C =
            dyn_cast<CXXConstructExpr>(Init->IgnoreUnlessSpelledInSource());
        if (C && V->getInitStyle() == VarDecl::CallInit &&
            !isa<CXXTemporaryObjectExpr>(C)) {
          for (const Expr *A : C->arguments())
            if (!isa<CXXDefaultArgExpr>(A))
              L.Init +=
                  (L.Init.empty() ? "" : ", ") + TextOf(A->getSourceRange());
          L.Init = L.Type + "(" + L.Init + ")";
        } else
          L.Init = TextOf(Init->getSourceRange());
      }
    }
    Out.push_back(std::move(L));
    Seen.push_back({V, unsigned(Out.size() - 1)});
    return Seen.back().second;
  }

  ASTContext &AC;
  llvm::function_ref<std::string(SourceRange)> TextOf;
  std::vector<std::pair<const VarDecl *, unsigned>> Seen;
  unsigned Depth = 0;
};

} // namespace

std::vector<HostLocal>
hostLocals(llvm::ArrayRef<const Expr *> Exprs, ASTContext &AC,
           llvm::function_ref<std::string(SourceRange)> TextOf) {
  Collector C(AC, TextOf);
  for (const Expr *E : Exprs)
    if (!isa<CXXDefaultArgExpr>(E))
      C.uses(E, nullptr);
  return std::move(C.Out);
}

} // namespace rcache
