// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `k<<<grid, block, shared, stream>>>(args)` and cudaLaunchKernel calls in the
// main file. A launch in a template is seen once in each instantiation, at the
// same place; it is recorded once a kernel. Blocks and grids are evaluated when
// they are constants: literals, macros, constexpr, and dim3 variables with a
// constant initialiser that nothing modifies.

#include "LaunchSites.h"
#include "Anchors.h"
#include "ExpandedText.h"
#include "HostConstants.h"
#include "HostLocals.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include <map>
#include <set>

using namespace clang;

namespace rcache {
namespace {

/// Does \p F stand in a template, or in what was made from one?
bool inTemplate(const FunctionDecl *F) {
  for (const DeclContext *C = F; C; C = C->getParent())
    if (auto *In = dyn_cast<FunctionDecl>(C);
        In && (In->isTemplated() || In->isTemplateInstantiation()))
      return true;
  return false;
}

/// Is \p F a function of the device, or within one? What clang takes for such a
/// function of itself, a lambda or a constexpr function, is none.
bool inDeviceCode(const FunctionDecl *F) {
  for (const DeclContext *C = F; C; C = C->getParent())
    if (auto *In = dyn_cast<FunctionDecl>(C)) {
      auto *Device = In->getAttr<CUDADeviceAttr>();
      if (In->hasAttr<CUDAGlobalAttr>() || (Device && !Device->isImplicit()))
        return true;
    }
  return false;
}

/// What stands between `<<<` and `>>>`: grid, block, and up to two more. In
/// code that could run on the device as well (a lambda, with -rdc) clang has
/// arguments of its own in front and behind.
llvm::SmallVector<const Expr *, 4> configuration(const CUDAKernelCallExpr *E) {
  llvm::SmallVector<const Expr *, 4> Written;
  if (const CallExpr *C = E->getConfig())
    for (const Expr *A : C->arguments())
      if (!isa<CXXDefaultArgExpr>(A) && A->getBeginLoc() != C->getBeginLoc())
        Written.push_back(A);
  return Written;
}

class LaunchVisitor : public HostVisitor {
public:
  LaunchVisitor(ASTContext &AC, LaunchTable &T,
                const TokenRecorder::Impl &Tokens)
      : AC(AC), T(T), Tokens(Tokens), Text(AC.getSourceManager(), Tokens),
        Constants(AC) {}

  const Decl *Top = nullptr;

  bool VisitCUDAKernelCallExpr(const CUDAKernelCallExpr *E) override {
    if (const FunctionDecl *F = E->getDirectCallee()) {
      launch(E, F, E->getCallee(), "");
      return true;
    }
    if (E->getCallee()->isTypeDependent())
      return true; // seen in the instantiation
    // Through a pointer.
    Pointees Of;
    pointees(E->getCallee(), Of, 0);
    for (const DeclRefExpr *R : Of.Named) {
      const auto *F = cast<FunctionDecl>(R->getDecl());
      launch(E, F, R,
             Of.Sure ? whyNotNamed(R, F, E)
                     : "the launch calls what a pointer leads to, which may be "
                       "different kernels");
    }
    return true;
  }

  bool VisitDeclRefExpr(const DeclRefExpr *R) override {
    if (auto *F = dyn_cast<FunctionDecl>(R->getDecl());
        F && F->hasAttr<CUDAGlobalAttr>())
      T.NamedAt[F->getCanonicalDecl()].push_back(
          sourcePos(AC.getSourceManager(), R->getLocation()));
    return true;
  }

private:
  /// Kernels that an expression may lead to.
  struct Pointees {
    llvm::SmallVector<const DeclRefExpr *, 4> Named;
    bool Sure = true; ///< it is the only one of Named
  };

  /// Adds what the pointer \p E may lead to, as far as the file tells.
  void pointees(const Expr *E, Pointees &Of, unsigned Depth) {
    if (!E || Depth > 8 || Of.Named.size() > 16) {
      Of.Sure = false;
      return;
    }
    E = peel(E);
    while (auto *U = dyn_cast<UnaryOperator>(E)) {
      if (U->getOpcode() != UO_AddrOf && U->getOpcode() != UO_Deref)
        break;
      E = peel(U->getSubExpr());
    }
    if (auto *C = dyn_cast<ConditionalOperator>(E)) {
      pointees(C->getTrueExpr(), Of, Depth + 1);
      pointees(C->getFalseExpr(), Of, Depth + 1);
      Of.Sure = false;
      return;
    }
    auto *R = dyn_cast<DeclRefExpr>(E);
    if (R && isa<FunctionDecl>(R->getDecl())) {
      Of.Sure &= Of.Named.empty();
      if (cast<FunctionDecl>(R->getDecl())->hasAttr<CUDAGlobalAttr>())
        Of.Named.push_back(R);
      return;
    }
    auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    if (!V) {
      Of.Sure = false;
      return;
    }
    const HostSet Last = Flow.at(
        R, V, -1, [](const Expr *) { return std::optional<bool>(); });
    if (Last.K == HostSet::Whole || Last.K == HostSet::Component)
      return pointees(Last.E, Of, Depth + 1);
    Of.Sure = false;
    // Whatever it ever holds.
    if (auto *P = dyn_cast<ParmVarDecl>(V)) {
      auto *F = dyn_cast<FunctionDecl>(P->getDeclContext());
      for (const Expr *A : Constants.arguments(F, P->getFunctionScopeIndex()))
        pointees(A, Of, Depth + 1);
    }
    for (const Expr *A : valuesOf(V))
      pointees(A, Of, Depth + 1);
  }

  /// Why the kernel's name cannot stand where launch \p E calls a pointer that
  /// was set to \p R; "": it can.
  std::string whyNotNamed(const DeclRefExpr *R, const FunctionDecl *F,
                          const CUDAKernelCallExpr *E) const {
    const auto Found =
        F->getDeclContext()->getRedeclContext()->lookup(F->getDeclName());
    if (std::distance(Found.begin(), Found.end()) > 1)
      return "the launch calls one of several kernels of the name through a "
             "pointer";
    const auto *Template = F->getPrimaryTemplate();
    if (Template && R->getNumTemplateArgs() <
                        Template->getTemplateParameters()->size())
      return "the launch calls a kernel template through a pointer that does "
             "not say its arguments";
    if (!R->hasExplicitTemplateArgs())
      return "";
    // What the arguments name may be declared anew on the way to the launch:
    // types and constants.
    struct Declared : ConstDynamicRecursiveASTVisitor {
      const SourceManager &SM;
      SourceLocation From, To;
      bool Any = false;
      Declared(const SourceManager &SM, SourceLocation From, SourceLocation To)
          : SM(SM), From(From), To(To) {}
      bool VisitNamedDecl(const NamedDecl *D) override {
        auto *V = dyn_cast<VarDecl>(D);
        Any |= (!V || V->getType().isConstQualified()) &&
               SM.isBeforeInTranslationUnit(From, D->getLocation()) &&
               SM.isBeforeInTranslationUnit(D->getLocation(), To);
        return !Any;
      }
    } Shadows(AC.getSourceManager(), R->getEndLoc(), E->getBeginLoc());
    if (Function && Function->hasBody())
      Shadows.TraverseStmt(const_cast<clang::Stmt *>(Function->getBody()));
    return Shadows.Any ? "names are declared between the pointer to the kernel "
                         "and the launch"
                       : "";
  }

  /// A launch of \p F, which \p Named names. \p WhyNot: it stays as it is.
  void launch(const CUDAKernelCallExpr *E, const FunctionDecl *F,
              const Expr *Named, const std::string &WhyNot) {
    LaunchSite S;
    S.K = LaunchSite::Chevrons;
    fill(S, E);
    callee(S, Named, F);
    if (!WhyNot.empty())
      notEditable(S, WhyNot.c_str());
    const auto Config = configuration(E);
    const CallExpr *Triple = E->getConfig();
    S.ConfigText = between(Triple->getBeginLoc(), Triple->getRParenLoc());
    S.ArgsText = between(tokenBehind(Triple->getRParenLoc()), E->getRParenLoc());
    S.ConfigCount = Config.size();
    std::string *Texts[] = {&S.Grid, &S.Block, &S.SharedBytes, &S.Stream};
    for (size_t I = 0; I < Config.size() && I < 4; ++I)
      *Texts[I] = textOf(Config[I]->getSourceRange());
    if (Config.size() > 1)
      addShape(S, Config[0], Config[1]);
    for (const Expr *A : E->arguments())
      if (!isa<CXXDefaultArgExpr>(A))
        S.Args.push_back(textOf(A->getSourceRange()));
    for (const Expr *A : E->arguments())
      S.ArgValues.push_back(A->getType()->isIntegralOrEnumerationType()
                                ? Constants.possibleIntegers(A, Function)
                                : std::vector<int64_t>());
    S.HasArgs = tokenBehind(tokenBehind(Triple->getRParenLoc())) !=
                E->getRParenLoc();
    for (const Expr *A : Config)
      S.AnyOrder &= hasNoEffects(A);
    for (const Expr *A : E->arguments())
      S.AnyOrder &= hasNoEffects(A);
    std::vector<const Expr *> Made(
        Config.begin(), Config.begin() + std::min<size_t>(3, Config.size()));
    for (const Expr *A : E->arguments())
      if (A->getType()->isIntegralOrEnumerationType())
        Made.push_back(A);
    addLocals(S, Made);
    add(F, S);
  }

  /// The function in `(const void *)k`, `reinterpret_cast<void *>(&k<float>)`,
  /// `k`; null: it is something else.
  static const DeclRefExpr *functionIn(const Expr *K) {
    while (true) {
      K = peel(K);
      if (auto *C = dyn_cast<CastExpr>(K))
        K = C->getSubExpr();
      else if (auto *U = dyn_cast<UnaryOperator>(K);
               U && U->getOpcode() == UO_AddrOf)
        K = U->getSubExpr();
      else
        break;
    }
    auto *R = dyn_cast<DeclRefExpr>(K);
    return R && isa<FunctionDecl>(R->getDecl()) ? R : nullptr;
  }

public:
  bool VisitCallExpr(const CallExpr *E) override {
    const FunctionDecl *F = E->getDirectCallee();
    if (!F || !F->getIdentifier())
      return true;
    const StringRef Callee = F->getName();
    if ((Callee == "cudaLaunchKernelEx" || Callee == "cudaLaunchKernelExC") &&
        E->getNumArgs() > 1)
      if (const DeclRefExpr *R = functionIn(E->getArg(1)))
        T.LaunchedEx[cast<FunctionDecl>(R->getDecl())->getCanonicalDecl()]
            .push_back(sourcePos(AC.getSourceManager(), E->getBeginLoc()));
    if (Callee != "cudaLaunchKernel" || E->getNumArgs() < 4)
      return true;
    const DeclRefExpr *R = functionIn(E->getArg(0));
    if (!R)
      return true;
    const auto *Kernel = cast<FunctionDecl>(R->getDecl());
    LaunchSite S;
    S.K = LaunchSite::CudaLaunchKernel;
    fill(S, E);
    callee(S, R, Kernel);
    // Nothing but the name tells which function is meant.
    if (const auto *T = Kernel->getPrimaryTemplate();
        T && R->getNumTemplateArgs() < T->getTemplateParameters()->size())
      notEditable(S, "the launch names a kernel template without its arguments");
    for (const ParmVarDecl *P : Kernel->parameters())
      if (const QualType T = P->getType(); T->isPointerType()
              ? T->getPointeeType()->isFunctionType() ||
                    T->getPointeeType()->isArrayType()
              : T->isMemberPointerType())
        notEditable(S, "a parameter of the kernel is a pointer to a function "
                       "or an array");
    S.Grid = textOf(E->getArg(1)->getSourceRange());
    S.Block = textOf(E->getArg(2)->getSourceRange());
    addShape(S, E->getArg(1), E->getArg(2));
    S.Args.push_back(textOf(E->getArg(3)->getSourceRange()));
    std::string *Texts[] = {&S.SharedBytes, &S.Stream};
    for (unsigned I = 4; I < E->getNumArgs() && I < 6; ++I)
      if (!isa<CXXDefaultArgExpr>(E->getArg(I)))
        *Texts[I - 4] = textOf(E->getArg(I)->getSourceRange());
    std::vector<const Expr *> Made = {E->getArg(1), E->getArg(2)};
    if (E->getNumArgs() > 4)
      Made.push_back(E->getArg(4));
    addLocals(S, Made);
    add(Kernel, S);
    return true;
  }

private:
  /// The text of \p R in its file, macros seen from where they are used.
  std::string textOf(SourceRange R) {
    const SourceManager &SM = AC.getSourceManager();
    if (FromMacro) {
      auto B = Tokens.ByLocation.find(R.getBegin().getRawEncoding());
      auto E = Tokens.ByLocation.find(R.getEnd().getRawEncoding());
      if (B != Tokens.ByLocation.end() && E != Tokens.ByLocation.end() &&
          B->second <= E->second)
        return Text.expanded(B->second, E->second + 1);
      FromMacroFailed = true;
      return "";
    }
    CharSourceRange C = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(R), SM, AC.getLangOpts());
    if (C.isInvalid())
      C = Lexer::getAsCharRange(SM.getExpansionRange(R), SM, AC.getLangOpts());
    return Lexer::getSourceText(C, SM, AC.getLangOpts()).str();
  }

  /// The text between the tokens at \p Open and \p Close, as it is written or, if
  /// they come out of a macro, expanded.
  std::string between(SourceLocation Open, SourceLocation Close) {
    const SourceManager &SM = AC.getSourceManager();
    if (Open.isValid() && Close.isValid() && !FromMacro) {
      const CharSourceRange C = Lexer::makeFileCharRange(
          CharSourceRange::getTokenRange(Open, Close), SM, AC.getLangOpts());
      const unsigned First = Lexer::MeasureTokenLength(
          SM.getSpellingLoc(Open), SM, AC.getLangOpts());
      const unsigned Last = Lexer::MeasureTokenLength(
          SM.getSpellingLoc(Close), SM, AC.getLangOpts());
      if (C.isValid() && SM.getSpellingLoc(Open) == C.getBegin() &&
          SM.getSpellingLoc(Close).getLocWithOffset(Last) == C.getEnd())
        return Lexer::getSourceText(C, SM, AC.getLangOpts())
            .drop_front(First)
            .drop_back(Last)
            .str();
    }
    auto B = Tokens.ByLocation.find(Open.getRawEncoding());
    auto E = Tokens.ByLocation.find(Close.getRawEncoding());
    if (B != Tokens.ByLocation.end() && E != Tokens.ByLocation.end() &&
        B->second < E->second && Text.spelled(B->second, E->second))
      return Text.expanded(B->second + 1, E->second);
    FromMacroFailed = true;
    return "";
  }

  SourceLocation tokenBehind(SourceLocation L) const {
    auto At = Tokens.ByLocation.find(L.getRawEncoding());
    return At == Tokens.ByLocation.end() ||
                   At->second + 1 >= Tokens.Tokens.size()
               ? SourceLocation()
               : Tokens.Tokens[At->second + 1].Loc;
  }

  /// Does the macro that the launch is an argument of make a string of it, too
  /// (`#define RUN(x) x; puts(#x)`)? The program would say the new text.
  bool madeAString(const CallExpr *E) const {
    auto Around = Text.invocationAround(E->getBeginLoc());
    if (!Around)
      return false;
    for (unsigned I = Around->first; I < Around->second; ++I)
      if (const llvm::StringRef S = Text.madeString(I);
          S.contains("<<<") || S.contains("cudaLaunchKernel"))
        return true;
    return false;
  }

  void notEditable(LaunchSite &S, const char *Why) const {
    if (S.Editable)
      S.WhyNot = Why;
    S.Editable = false;
  }

  /// Fills Callee: the text of \p E, in which the kernel's own name is found.
  void callee(LaunchSite &S, const Expr *E, const FunctionDecl *F) {
    const SourceManager &SM = AC.getSourceManager();
    S.Callee = textOf(E->getSourceRange());
    const Expr *Plain = E->IgnoreParenImpCasts();
    auto *R = dyn_cast<DeclRefExpr>(Plain);
    const std::string Name = F->getNameAsString();
    const SourceLocation At = R ? R->getLocation() : SourceLocation();
    if (!R || At.isInvalid() ||
        llvm::StringRef(SM.getCharacterData(SM.getSpellingLoc(At)),
                        Lexer::MeasureTokenLength(SM.getSpellingLoc(At), SM,
                                                  AC.getLangOpts())) != Name) {
      // `(&k)`, a template parameter, a token that a macro pasted.
      notEditable(S, "the launch does not call the kernel by its name");
      return;
    }
    // From the name on; the scope in front of it stays as it is written.
    const SourceLocation End =
        R->hasExplicitTemplateArgs() ? R->getRAngleLoc() : At;
    std::string Scope;
    if (R->hasQualifier() && R->getFoundDecl() == R->getDecl()) {
      Scope = textOf(R->getQualifierLoc().getSourceRange());
    } else if (isa<UsingShadowDecl>(R->getFoundDecl())) {
      // `using ns::k;` brings k alone.
      Scope = "::";
      std::string Path;
      for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
        if (auto *N = dyn_cast<NamespaceDecl>(C);
            N && !N->isAnonymousNamespace())
          Path = N->getNameAsString() + "::" + Path;
      Scope += Path;
    } else if (R->hasQualifier())
      Scope = textOf(R->getQualifierLoc().getSourceRange());
    std::string Rest;
    if (R->hasExplicitTemplateArgs())
      Rest = "<" + between(R->getLAngleLoc(), End) + ">";
    S.Callee = Scope + Name;
    S.CalleeNameEnd = S.Callee.size();
    S.Callee += Rest;
  }

  bool FromMacroFailed = false;

  void addShape(LaunchSite &S, const Expr *Grid, const Expr *Block) {
    S.ConstGrid = Constants.dims(Grid);
    S.ConstBlock = Constants.dims(Block);
    if (!S.ConstGrid)
      S.PossibleGrids = Constants.possibleDims(Grid, Function);
    if (!S.ConstGrid && S.PossibleGrids.empty())
      S.UsualGrids = Constants.usualDims(Grid, Function);
    if (!S.ConstBlock)
      S.PossibleBlocks = Constants.usualDims(Block, Function);
  }

  void addLocals(LaunchSite &S, llvm::ArrayRef<const Expr *> Exprs) {
    const bool Failed = FromMacroFailed;
    S.Locals = hostLocals(Exprs, AC, [&](SourceRange R) { return textOf(R); });
    if (FromMacroFailed) // some of the texts cannot be had
      S.Locals = {HostLocal()};
    FromMacroFailed = Failed;
  }

  /// A launch that a macro writes: its invocation in the main file is replaced
  /// by its expansion, with the launch changed in it. The macro's definition
  /// stays.
  bool fillFromMacro(LaunchSite &S, const CallExpr *E) {
    const SourceManager &SM = AC.getSourceManager();
    CharSourceRange R = SM.getExpansionRange(E->getSourceRange());
    auto B = Tokens.ByLocation.find(E->getBeginLoc().getRawEncoding());
    auto L = Tokens.ByLocation.find(E->getEndLoc().getRawEncoding());
    if (!E->getBeginLoc().isMacroID() || !E->getEndLoc().isMacroID() ||
        SM.getFileID(R.getBegin()) != SM.getMainFileID() ||
        B == Tokens.ByLocation.end() || L == Tokens.ByLocation.end() ||
        SM.getExpansionLoc(E->getBeginLoc()) !=
            SM.getExpansionLoc(E->getEndLoc()))
      return false;
    const auto [First, End] = *Text.invocationAround(E->getBeginLoc());
    unsigned LaunchesInIt = 0;
    for (unsigned I = First; I < End; ++I) {
      const llvm::StringRef Spelling = Text.spelling(I);
      LaunchesInIt += Spelling == "<<<" || Spelling == "cudaLaunchKernel";
    }
    if (LaunchesInIt != 1 || !Text.spelled(First, End))
      return false;
    S.Before = Text.expanded(First, B->second);
    S.After = Text.expanded(L->second + 1, End);
    if (!S.Before.empty())
      S.Before += ' ';
    CharSourceRange C =
        Lexer::getAsCharRange(R, SM, AC.getLangOpts());
    S.Begin = SM.getFileOffset(C.getBegin());
    S.End = SM.getFileOffset(C.getEnd());
    S.Editable = true;
    FromMacro = true;
    return true;
  }

  void fill(LaunchSite &S, const CallExpr *E) {
    const SourceManager &SM = AC.getSourceManager();
    FromMacro = FromMacroFailed = false;
    S.Pos = sourcePos(SM, E->getBeginLoc());
    S.InTemplate = inTemplate(Function);
    CharSourceRange C = Lexer::makeFileCharRange(
        CharSourceRange::getTokenRange(E->getSourceRange()), SM,
        AC.getLangOpts());
    // A macro's own launch, however it is used, is no text of the file; one that a
    // macro makes a string of has to stay as it is there.
    if (C.isInvalid() || SM.getSpellingLoc(E->getBeginLoc()) != C.getBegin() ||
        madeAString(E)) {
      if (fillFromMacro(S, E))
        return;
      S.WhyNot = "the launch comes out of a macro";
      if (E->getBeginLoc().isMacroID())
        S.WhyNot +=
            " '" +
            Lexer::getImmediateMacroName(E->getBeginLoc(), SM, AC.getLangOpts())
                .str() +
            "'";
      return;
    }
    if (SM.getFileID(C.getBegin()) != SM.getMainFileID()) {
      S.WhyNot = "the launch stands in another file";
      return;
    }
    // Spelled in the file, but inside an invocation that uses the text twice
    // (`TWICE(k<<<g, b>>>(x))`): still one piece of text, and replacing it replaces
    // every use.
    S.Begin = SM.getFileOffset(C.getBegin());
    S.End = SM.getFileOffset(C.getEnd());
    S.Editable = true;
  }

  void add(const FunctionDecl *F, LaunchSite S) {
    if (FromMacroFailed) {
      S.Editable = false;
      S.WhyNot = "the launch comes out of a macro";
    }
    if (inDeviceCode(Function)) {
      S.Editable = false;
      S.WhyNot = "the launch stands in device code";
    }
    auto &List = T.ByKernel[F->getCanonicalDecl()];
    const auto *Primary = F->getPrimaryTemplate();
    const Decl *Written =
        Primary ? Primary->getCanonicalDecl() : cast<Decl>(F->getCanonicalDecl());
    if (S.Editable)
      Reached[S.Begin].insert(Written);
    for (LaunchSite &O : List)
      if (O.Pos == S.Pos && O.Begin == S.Begin && O.End == S.End) {
        O.AnyOrder &= S.AnyOrder;
        // The same text in another instantiation of the host function.
        unite(O.ConstBlock, O.PossibleBlocks, S.ConstBlock, S.PossibleBlocks);
        unite(O.ConstGrid, O.PossibleGrids, S.ConstGrid, S.PossibleGrids);
        for (size_t I = 0; I < std::min(O.ArgValues.size(), S.ArgValues.size()); ++I)
          for (const int64_t V : S.ArgValues[I])
            if (!llvm::is_contained(O.ArgValues[I], V))
              O.ArgValues[I].push_back(V);
        return;
      }
    List.push_back(S);
    if (Top)
      T.FirstUse.try_emplace(F->getCanonicalDecl(), Top->getBeginLoc());
  }

  /// What one launch's text gives in two instantiations.
  static void unite(std::optional<Dims> &Const, std::vector<Dims> &Possible,
                    std::optional<Dims> OtherConst,
                    std::vector<Dims> OtherPossible) {
    if (Const != OtherConst) {
      if (Const)
        Possible.push_back(*Const);
      if (OtherConst)
        OtherPossible.push_back(*OtherConst);
      Const.reset();
    }
    for (const Dims &D : OtherPossible)
      if (!llvm::is_contained(Possible, D))
        Possible.push_back(D);
  }

  ASTContext &AC;
  LaunchTable &T;
  const TokenRecorder::Impl &Tokens;
  const ExpandedText Text;

public:
  /// Functions and templates that the launch at an offset calls, in all
  /// instantiations of the function around it.
  std::map<unsigned, std::set<const Decl *>> Reached;

private:
  const HostConstants Constants;
  const HostFlow Flow;
  bool FromMacro = false; ///< of the launch that is being looked at
};

} // namespace

LaunchTable findLaunches(ASTContext &AC, const TokenRecorder::Impl &Tokens) {
  LaunchTable T;
  const SourceManager &SM = AC.getSourceManager();
  LaunchVisitor V(AC, T, Tokens);
  for (const Decl *D : AC.getTranslationUnitDecl()->decls()) {
    if (SM.getFileID(SM.getExpansionLoc(D->getLocation())) !=
        SM.getMainFileID())
      continue;
    V.Top = D;
    V.TraverseDecl(const_cast<Decl *>(D));
  }
  // One text cannot call several launch functions.
  for (auto &[F, List] : T.ByKernel)
    for (LaunchSite &L : List)
      if (L.Editable && V.Reached[L.Begin].size() > 1) {
        L.Editable = false;
        L.WhyNot = "the launch calls different functions in instantiations of "
                   "the function around it";
      }
  leaveNestedLaunches(T);
  for (auto &[F, List] : T.ByKernel)
    llvm::stable_sort(List, [](const LaunchSite &A, const LaunchSite &B) {
      return A.Pos.Offset < B.Pos.Offset;
    });
  findUnseen(SM, Tokens, T);
  return T;
}

} // namespace rcache
