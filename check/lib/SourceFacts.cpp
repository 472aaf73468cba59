// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SourceFacts.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace rcache::check {

namespace {

constexpr llvm::StringLiteral Suffix = "_rc_launch";

/// The qualified name, as harnesses spell it.
std::string nameOf(const NamedDecl &D) {
  std::string N = D.getQualifiedNameAsString();
  const std::string Anonymous = "(anonymous namespace)::";
  for (size_t At; (At = N.find(Anonymous)) != std::string::npos;)
    N.erase(At, Anonymous.size());
  return N;
}

class Collector : public DynamicRecursiveASTVisitor {
public:
  Collector(ASTContext &Context, SourceFacts &Facts)
      : Context(Context), Facts(Facts) {
    ShouldVisitTemplateInstantiations = true;
    ShouldVisitImplicitCode = false;
  }

  bool TraverseDecl(Decl *D) override {
    // The toolkit's and the system's headers have nothing to tell.
    if (D && !isa<TranslationUnitDecl>(D) && D->getLocation().isValid() &&
        Context.getSourceManager().isInSystemHeader(
            Context.getSourceManager().getExpansionLoc(D->getLocation())))
      return true;
    return DynamicRecursiveASTVisitor::TraverseDecl(D);
  }

  bool TraverseFunctionDecl(FunctionDecl *D) override {
    const bool Was = Inside;
    Inside = D->hasAttr<CUDAGlobalAttr>() || D->hasAttr<CUDADeviceAttr>() ||
             isLaunch(*D);
    bool Go = DynamicRecursiveASTVisitor::TraverseFunctionDecl(D);
    Inside = Was;
    return Go;
  }

  bool VisitFunctionDecl(FunctionDecl *D) override {
    if (isLaunch(*D))
      Facts.LaunchFunctions.insert(nameOf(*D));
    return true;
  }

  bool VisitIntegerLiteral(IntegerLiteral *E) override {
    if (Inside && E->getValue().getActiveBits() < 63)
      Facts.Constants.insert(E->getValue().getZExtValue());
    return true;
  }
  bool VisitFloatingLiteral(FloatingLiteral *E) override {
    // A limit that is compared as a double: "(double)n <= 8384512.0".
    double V = E->getValueAsApproximateDouble();
    if (Inside && V >= 16 && V < 1e15 && V == double(int64_t(V)))
      Facts.Constants.insert(int64_t(V));
    return true;
  }
  bool VisitVarDecl(VarDecl *D) override {
    if (!D->hasAttr<CUDASharedAttr>() || D->getType()->isDependentType())
      return true;
    QualType T = D->getType();
    while (const auto *A = Context.getAsConstantArrayType(T)) {
      Facts.Constants.insert(A->getZExtSize());
      T = A->getElementType();
    }
    return true;
  }

  bool VisitCUDAKernelCallExpr(CUDAKernelCallExpr *E) override {
    const FunctionDecl *Callee = E->getDirectCallee();
    const CallExpr *Config = E->getConfig();
    if (Callee && Config && Config->getNumArgs() >= 2)
      note(nameOf(*Callee), Config->getArg(0), Config->getArg(1));
    return true;
  }
  bool VisitCallExpr(CallExpr *E) override {
    const FunctionDecl *Callee = E->getDirectCallee();
    if (Callee && isLaunch(*Callee) && E->getNumArgs() >= 2) {
      std::string Name = nameOf(*Callee);
      note(Name.substr(0, Name.size() - Suffix.size()), E->getArg(0),
           E->getArg(1));
    }
    return true;
  }

private:
  static bool isLaunch(const FunctionDecl &D) {
    const IdentifierInfo *Id = D.getIdentifier();
    return Id && Id->getName().ends_with(Suffix) &&
           Id->getName() != Suffix;
  }

  void note(std::string Kernel, const Expr *Grid, const Expr *Block) {
    auto B = dimensions(Block, 0);
    if (!B || B->count() > 1024 || !B->count())
      return;
    SourceFacts::LaunchSite S{std::move(Kernel), *B, dimensions(Grid, 0)};
    for (const auto &X : Facts.Launches)
      if (X.Kernel == S.Kernel && X.Block == S.Block && X.Grid == S.Grid)
        return;
    Facts.Launches.push_back(std::move(S));
  }

  /// The value of \p E, as far as the text tells: a variable has the value that
  /// it was initialised with.
  std::optional<uint64_t> integer(const Expr *E, unsigned Depth) {
    if (!E || E->isValueDependent() || Depth > 8)
      return std::nullopt;
    Expr::EvalResult R;
    if (E->getType()->isIntegralOrEnumerationType() &&
        E->EvaluateAsInt(R, Context))
      return R.Val.getInt().getExtValue();
    E = E->IgnoreParenImpCasts();
    if (const auto *D = dyn_cast<DeclRefExpr>(E))
      if (const auto *V = dyn_cast<VarDecl>(D->getDecl()))
        return integer(V->getInit(), Depth + 1);
    return std::nullopt;
  }

  std::optional<Dim3> dimensions(const Expr *E, unsigned Depth) {
    if (!E || E->isValueDependent() || Depth > 8)
      return std::nullopt;
    E = E->IgnoreUnlessSpelledInSource();
    if (E->getType()->isIntegralOrEnumerationType()) {
      auto N = integer(E, Depth + 1);
      if (!N || *N != uint32_t(*N))
        return std::nullopt;
      return Dim3{uint32_t(*N), 1, 1};
    }
    if (const auto *D = dyn_cast<DeclRefExpr>(E)) {
      if (const auto *V = dyn_cast<VarDecl>(D->getDecl()))
        return dimensions(V->getInit(), Depth + 1);
      return std::nullopt;
    }
    if (const auto *List = dyn_cast<InitListExpr>(E)) {
      uint32_t N[3] = {1, 1, 1};
      return components(List->inits(), N, Depth);
    }
    if (const auto *C = dyn_cast<CXXConstructExpr>(E)) {
      if (C->getNumArgs() == 1 &&
          !C->getArg(0)->getType()->isIntegralOrEnumerationType())
        return dimensions(C->getArg(0), Depth + 1);
      uint32_t N[3] = {1, 1, 1};
      return components(llvm::ArrayRef(C->getArgs(), C->getNumArgs()), N, Depth);
    }
    return std::nullopt;
  }
  template <class Range>
  std::optional<Dim3> components(Range Args, uint32_t (&N)[3],
                                 unsigned Depth) {
    unsigned I = 0;
    for (const Expr *A : Args) {
      if (I == 3)
        return std::nullopt;
      auto V = integer(A, Depth + 1);
      if (!V && !isa<CXXDefaultArgExpr>(A))
        return std::nullopt;
      N[I++] = V ? uint32_t(*V) : 1;
    }
    return Dim3{N[0], N[1], N[2]};
  }

  ASTContext &Context;
  SourceFacts &Facts;
  bool Inside = false; ///< of device code or of a launch function
};

class Consumer : public ASTConsumer {
public:
  explicit Consumer(SourceFacts &Facts) : Facts(Facts) {}
  void HandleTranslationUnit(ASTContext &Context) override {
    if (!Context.getDiagnostics().hasErrorOccurred())
      Collector(Context, Facts).TraverseDecl(Context.getTranslationUnitDecl());
  }

private:
  SourceFacts &Facts;
};

} // namespace

std::unique_ptr<ASTConsumer> collectFacts(SourceFacts &Facts) {
  return std::make_unique<Consumer>(Facts);
}

} // namespace rcache::check
