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
