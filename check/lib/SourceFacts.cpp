// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SourceFacts.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/SetVector.h"

using namespace clang;

namespace rcache::check {

namespace {

constexpr llvm::StringLiteral Suffix = "_rc_launch";

/// The qualified name, as harnesses spell it and mangled names say it: with inline
/// namespaces.
std::string nameOf(const NamedDecl &D) {
  PrintingPolicy Policy(D.getASTContext().getLangOpts());
  Policy.SuppressInlineNamespace =
      llvm::to_underlying(PrintingPolicy::SuppressInlineNamespaceMode::None);
  std::string N;
  llvm::raw_string_ostream OS(N);
  D.printQualifiedName(OS, Policy);
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
    if (D->getIdentifier()) {
      const FunctionTemplateDecl *T = D->getPrimaryTemplate();
      if (!T)
        T = D->getDescribedFunctionTemplate();
      ByName[nameOf(*D)].insert(T ? static_cast<const Decl *>(T->getCanonicalDecl())
                                  : D->getCanonicalDecl());
      if (!D->isTemplated() && (isLaunch(*D) || D->hasAttr<CUDAGlobalAttr>()))
        (isLaunch(*D) ? Launchers : Kernels).insert(D->getCanonicalDecl());
    }
    if (isLaunch(*D)) {
      Facts.LaunchFunctions.insert(kernelOf(*D) + Suffix.str());
      if (D->getNumParams() >= 2 && D->doesThisDeclarationHaveABody())
        conditions(kernelOf(*D), D->getParamDecl(1), D->getBody());
    }
    return true;
  }

  bool VisitIntegerLiteral(IntegerLiteral *E) override {
    if (Inside && E->getValue().getActiveBits() < 63) {
      Facts.Constants.insert(E->getValue().getZExtValue());
      Facts.Numbers.insert(double(E->getValue().getZExtValue()));
    }
    return true;
  }
  bool VisitFloatingLiteral(FloatingLiteral *E) override {
    // A limit that is compared as a double: "(double)n <= 8384512.0".
    double V = E->getValueAsApproximateDouble();
    if (Inside)
      Facts.Numbers.insert(V);
    if (Inside && V >= 16 && V < 1e15 && V == double(int64_t(V)))
      Facts.Constants.insert(int64_t(V));
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator *E) override {
    if (!Inside || !E->isComparisonOp())
      return true;
    for (auto [Grid, Limit] : {std::pair(E->getLHS(), E->getRHS()),
                               {E->getRHS(), E->getLHS()}})
      if (namesGrid(Grid))
        if (auto N = number(Limit))
          Facts.GridLimits.insert(*N);
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
      note(kernelOf(*Callee), E->getArg(0), E->getArg(1));
    }
    return true;
  }

  /// Which launch function is whose, where the name does not tell.
  void finish() {
    ASTNameGenerator Mangled(Context);
    for (const FunctionDecl *K : Kernels)
      if (K->isExternC())
        Facts.NamesOfC[Mangled.getName(K)] = nameOf(*K);
    for (const FunctionDecl *K : Kernels)
      for (unsigned I = 0; I < K->getNumParams(); ++I) {
        const QualType T = K->getParamDecl(I)->getType();
        std::vector<SourceFacts::Member> All;
        if (T->isRecordType() && members(T, I, 0, "", All))
          llvm::append_range(Facts.Members[Mangled.getName(K)], All);
      }
    for (const FunctionDecl *K : Kernels) {
      // (Something else of the program may have the name that it would have.)
      if (ByName[nameOf(*K)].size() < 2 &&
          llvm::none_of(Launchers, [&](const FunctionDecl *L) {
            return kernelOf(*L) == nameOf(*K) && !nameOf(*L).ends_with(Suffix.str());
          }))
        continue;
      SourceFacts::Overload &O = Facts.Overloads[Mangled.getName(K)];
      for (const ParmVarDecl *P : K->parameters())
        O.Params += (O.Params.empty() ? "(" : ", ") + text(P->getType());
      O.Params += O.Params.empty() ? "()" : ")";
      // Of a template and a function of one name, each has its own.
      for (const bool Same : {true, false})
        for (const FunctionDecl *L : Launchers)
          if (O.LaunchSuffix.empty() && launches(*L, *K) &&
              (!Same || (L->getPrimaryTemplate() != nullptr) ==
                            (K->getPrimaryTemplate() != nullptr))) {
            O.LaunchSuffix = nameOf(*L).substr(nameOf(*K).size());
            O.LaunchResult = text(L->getReturnType());
          }
    }
  }

private:
  /// Is there a variable in \p S that says how many blocks there are?
  static bool namesGrid(const Stmt *S) {
    if (const auto *D = dyn_cast_or_null<DeclRefExpr>(S))
      return llvm::StringRef(D->getDecl()->getNameAsString()).contains_insensitive("grid");
    return S && llvm::any_of(S->children(), namesGrid);
  }
  /// The value of a constant that is a whole number, of any type.
  std::optional<int64_t> number(const Expr *E) const {
    if (E->isValueDependent())
      return std::nullopt;
    Expr::EvalResult R;
    if (E->getType()->isIntegralOrEnumerationType() && E->EvaluateAsInt(R, Context))
      return R.Val.getInt().getSignificantBits() <= 64
                 ? std::optional(R.Val.getInt().getExtValue())
                 : std::nullopt;
    llvm::APFloat F(0.0);
    if (!E->getType()->isRealFloatingType() || !E->EvaluateAsFloat(F, Context))
      return std::nullopt;
    bool Lost = false;
    F.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &Lost);
    const double V = F.convertToDouble();
    return V > -1e15 && V < 1e15 ? std::optional(int64_t(V)) : std::nullopt;
  }

  /// The name of the kernel that a launch function of this name is for; "": it is
  /// none's.
  static llvm::StringRef kernelOf(llvm::StringRef Launch) {
    llvm::StringRef Name = Launch.rtrim("0123456789");
    return Name.consume_back(Suffix) ? Name : "";
  }
  static bool isLaunch(const FunctionDecl &D) {
    const IdentifierInfo *Id = D.getIdentifier();
    return Id && !kernelOf(Id->getName()).empty();
  }

  static std::string kernelOf(const FunctionDecl &Launch) {
    return kernelOf(nameOf(Launch)).str();
  }

  SourceFacts::Member::Type describe(QualType T) const {
    using Member = SourceFacts::Member;
    T = T.getCanonicalType().getUnqualifiedType();
    Member::Type Of;
    if (T->isVoidType() || T->isIncompleteType())
      return Of;
    Of.Size = uint64_t(Context.getTypeSizeInChars(T).getQuantity());
    Of.Kind = T->isPointerType()               ? Member::Pointer
              : T->isBooleanType()             ? Member::Boolean
              : T->isRealFloatingType()        ? Member::Float
              : !T->isIntegralOrEnumerationType() ? Member::Other
              : T->isSignedIntegerOrEnumerationType() ? Member::Signed
                                                      : Member::Unsigned;
    return Of;
  }

  /// The numbers and pointers that a parameter of type \p T holds, or a part of it
  /// at \p Offset; false: it holds something else.
  bool members(QualType T, unsigned Param, uint64_t Offset, const std::string &Name,
               std::vector<SourceFacts::Member> &Out) const {
    constexpr size_t Most = 64;
    T = T.getCanonicalType();
    if (const auto *A = Context.getAsConstantArrayType(T)) {
      const QualType E = A->getElementType();
      const auto Step = uint64_t(Context.getTypeSizeInChars(E).getQuantity());
      for (uint64_t I = 0; I < A->getZExtSize(); ++I)
        if (I == Most || !members(E, Param, Offset + I * Step,
                                  Name + "[" + std::to_string(I) + "]", Out))
          return false;
      return true;
    }
    if (const auto *R = T->getAsCXXRecordDecl()) {
      if (!R->hasDefinition() || R->isUnion() || R->isDependentContext() ||
          R->isPolymorphic() || R->getNumVBases() || R->getNumBases())
        return false;
      const ASTRecordLayout &Layout = Context.getASTRecordLayout(R->getDefinition());
      for (const FieldDecl *F : R->getDefinition()->fields())
        if (F->isBitField() ||
            !members(F->getType(), Param,
                     Offset + Layout.getFieldOffset(F->getFieldIndex()) / 8,
                     Name + "." + F->getNameAsString(), Out))
          return false;
      return true;
    }
    SourceFacts::Member M;
    M.Param = Param;
    M.Offset = Offset;
    M.Name = Name;
    M.Own = describe(T);
    if (T->isPointerType()) {
      const QualType E = T->getPointeeType();
      if (E->isFunctionType() || E->isPointerType() || E->isReferenceType())
        return false;
      M.Pointee = describe(E);
      M.PointeeConst = E.isConstQualified();
    }
    const bool Known = M.Own.Kind != SourceFacts::Member::Other;
    Out.push_back(std::move(M));
    return Known && Out.size() <= Most;
  }

  /// Do the parameters behind grid, block, shared memory and stream tell that
  /// \p Launch is for \p Kernel?
  bool launches(const FunctionDecl &Launch, const FunctionDecl &Kernel) const {
    constexpr unsigned Own = 4;
    if (kernelOf(Launch) != nameOf(Kernel) ||
        Launch.getNumParams() != Kernel.getNumParams() + Own)
      return false;
    for (unsigned I = 0; I < Kernel.getNumParams(); ++I)
      if (!Context.hasSameUnqualifiedType(
              Kernel.getParamDecl(I)->getType(),
              Launch.getParamDecl(I + Own)->getType()))
        return false;
    return true;
  }

  /// As C++ accepts it everywhere in the file.
  std::string text(QualType T) const {
    PrintingPolicy P(Context.getLangOpts());
    P.SuppressTagKeyword = true;
    return T.getCanonicalType().getUnqualifiedType().getAsString(P);
  }

  void note(std::string Kernel, const Expr *Grid, const Expr *Block) {
    if (auto B = dimensions(Block, 0))
      note(Facts.Launches, {std::move(Kernel), *B, dimensions(Grid, 0)});
  }
  static void note(std::vector<SourceFacts::LaunchSite> &Known,
                   SourceFacts::LaunchSite S) {
    if (S.Block.count() > 1024 || !S.Block.count())
      return;
    for (const auto &X : Known)
      if (X.Kernel == S.Kernel && X.Block == S.Block && X.Grid == S.Grid)
        return;
    Known.push_back(std::move(S));
  }

  /// The blocks for which conditions in \p S hold, \p Block being the launch's.
  void conditions(const std::string &Kernel, const ParmVarDecl *Block,
                  const Stmt *S) {
    if (!S)
      return;
    if (const auto *If = dyn_cast<IfStmt>(S)) {
      Dim3 Asked{0, 1, 1};
      asked(Kernel, If->getCond(), Block, Asked);
      note(Facts.Conditions, {Kernel, Asked, std::nullopt});
    }
    for (const Stmt *X : S->children())
      conditions(Kernel, Block, X);
  }
  /// What the conjuncts of \p E say that coordinates of \p Block are, and
  /// arguments of \p Kernel.
  void asked(const std::string &Kernel, const Expr *E, const ParmVarDecl *Block,
             Dim3 &Asked) {
    const auto *B = dyn_cast<BinaryOperator>(E->IgnoreParenImpCasts());
    if (!B || (B->getOpcode() != BO_LAnd && B->getOpcode() != BO_EQ &&
               B->getOpcode() != BO_LE))
      return;
    if (B->getOpcode() == BO_LAnd) {
      asked(Kernel, B->getLHS(), Block, Asked);
      return asked(Kernel, B->getRHS(), Block, Asked);
    }
    // `n`, `p.n`
    const Expr *Of = B->getLHS()->IgnoreParenCasts();
    std::string Name;
    while (const auto *In = dyn_cast<MemberExpr>(Of)) {
      if (In->isArrow())
        break;
      Name = "." + In->getMemberDecl()->getNameAsString() + Name;
      Of = In->getBase()->IgnoreParenCasts();
    }
    const auto *D = dyn_cast<DeclRefExpr>(Of);
    Expr::EvalResult R;
    if (D && isa<ParmVarDecl>(D->getDecl()) && D->getDecl() != Block &&
        !B->getRHS()->isValueDependent() &&
        B->getRHS()->EvaluateAsInt(R, Context) &&
        R.Val.getInt().getSignificantBits() <= 64) {
      Name = D->getDecl()->getNameAsString() + Name;
      const int64_t N = R.Val.getInt().getSExtValue();
      if (B->getOpcode() == BO_LE) {
        auto [It, New] = Facts.AtMost[Kernel].try_emplace(Name, N);
        It->second = std::min(It->second, N);
        return;
      }
      auto &Known = Facts.Arguments[Kernel][Name];
      if (std::find(Known.begin(), Known.end(), N) == Known.end())
        Known.push_back(N);
    }
    if (B->getOpcode() != BO_EQ)
      return;
    const auto *M = dyn_cast<MemberExpr>(B->getLHS()->IgnoreParenImpCasts());
    const auto *Base =
        M ? dyn_cast<DeclRefExpr>(M->getBase()->IgnoreParenImpCasts())
          : nullptr;
    const auto N = integer(B->getRHS(), 0);
    if (!Base || Base->getDecl() != Block || !N || *N > 1024)
      return;
    for (auto [Name, Coordinate] :
         {std::pair("x", &Asked.X), {"y", &Asked.Y}, {"z", &Asked.Z}})
      if (M->getMemberDecl()->getName() == Name)
        *Coordinate = uint32_t(*N);
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
      return components(llvm::ArrayRef(C->getArgs(), C->getNumArgs()), N,
                        Depth);
    }
    return std::nullopt;
  }
  template <class Range>
  std::optional<Dim3> components(Range Args, uint32_t (&N)[3], unsigned Depth) {
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
  /// Functions and templates, by qualified name.
  std::map<std::string, std::set<const Decl *>> ByName;
  llvm::SetVector<const FunctionDecl *> Kernels, Launchers;
};

class Consumer : public ASTConsumer {
public:
  explicit Consumer(SourceFacts &Facts) : Facts(Facts) {}
  void HandleTranslationUnit(ASTContext &Context) override {
    if (Context.getDiagnostics().hasErrorOccurred())
      return;
    Collector C(Context, Facts);
    // (Headers that were parsed before have nothing to tell either.)
    TranslationUnitDecl *Unit = Context.getTranslationUnitDecl();
    if (!Context.getExternalSource())
      C.TraverseDecl(Unit);
    else
      for (Decl *D : Unit->noload_decls())
        C.TraverseDecl(D);
    C.finish();
  }

private:
  SourceFacts &Facts;
};

} // namespace

void SourceFacts::addHints(const SourceFacts &Other) {
  Constants.insert(Other.Constants.begin(), Other.Constants.end());
  Numbers.insert(Other.Numbers.begin(), Other.Numbers.end());
  GridLimits.insert(Other.GridLimits.begin(), Other.GridLimits.end());
  llvm::append_range(Launches, Other.Launches);
  llvm::append_range(Conditions, Other.Conditions);
  for (const auto &[Kernel, Asked] : Other.Arguments)
    for (const auto &[Name, Values] : Asked) {
      auto &Known = Arguments[Kernel][Name];
      for (int64_t V : Values)
        if (!llvm::is_contained(Known, V))
          Known.push_back(V);
    }
  for (const auto &[Kernel, Asked] : Other.AtMost)
    for (const auto &[Name, Value] : Asked) {
      auto [It, New] = AtMost[Kernel].try_emplace(Name, Value);
      It->second = std::min(It->second, Value);
    }
}

std::unique_ptr<ASTConsumer> collectFacts(SourceFacts &Facts) {
  return std::make_unique<Consumer>(Facts);
}

} // namespace rcache::check
