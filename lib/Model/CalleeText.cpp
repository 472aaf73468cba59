// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CalleeText.h. The callee's text is copied token by token; on the way
// parameters, template parameters and colliding locals get other names, and
// returns become assignments. What is not sure to mean the same at the call
// gives nullopt.

#include "CalleeText.h"
#include "BindingDecides.h"
#include "BodyFacts.h"
#include "BodyWords.h"
#include "CallOrder.h"
#include "NamesBehind.h"
#include "TokenCopy.h"
#include "DeclName.h"
#include "Support/Words.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"

using namespace clang;

namespace rcache {
namespace {

class Copier {
public:
  Copier(const CallToWrite &C, const CallerScope &Scope, Preprocessor &PP)
      : C(C), F(C.Callee), Scope(Scope), PP(PP), AC(F->getASTContext()),
        Policy(AC.getLangOpts()) {
    Policy.SuppressTagKeyword = true;
  }

  bool prepare() {
    Body = dyn_cast_or_null<CompoundStmt>(F->getBody());
    if (!Body || F->isVariadic() || F->getNumParams() + First() != C.Call->getNumArgs())
      return false;
    Facts.TraverseStmt(Body);
    if (Facts.Odd || !visibleNames() || namesTypeOfKernel() || decidedByBinding(Body, false) ||
        (!C.Lambda && !fitsOutsideClass(F, PP)) ||
        (!C.Lambda && nameOfAnother(F, Scope.Kernel, endOfFile())))
      return false;
    const auto Hidden = [&](StringRef N) {
      return Scope.Names.contains(N) || Scope.Types.contains(N);
    };
    for (const Expr *A : C.Call->arguments())
      if (const auto *D = dyn_cast<CXXDefaultArgExpr>(A);
          D && !meansTheSame(D->getExpr(), Hidden) && !isMadeOfNothing(D->getExpr(), Hidden))
        return false;
    for (const ParmVarDecl *P : F->parameters())
      if (P->isParameterPack())
        return false;
    return templateWords();
  }

  std::optional<std::string> expression() {
    if (Body->size() != 1)
      return std::nullopt;
    auto *R = dyn_cast<ReturnStmt>(*Body->body_begin());
    if (!R || !R->getRetValue() || !Facts.Locals.empty() || NeedsAliases)
      return std::nullopt;
    const CallChanges Changes = changesOf(C.Call, F);
    for (unsigned I = 0; I < F->getNumParams(); ++I) {
      const ParmVarDecl *P = F->getParamDecl(I);
      if (Facts.Changed.count(P) && !P->getType()->isReferenceType())
        return std::nullopt;
      const Expr *A = arg(I);
      if (A->HasSideEffects(AC) || !(P->getType()->isReferenceType() || isApart(A, Changes)))
        return std::nullopt;
      auto T = argText(I);
      if (!T || !replaceAll(P, "(" + converted(*T, A, P->getType()) + ")"))
        return std::nullopt;
    }
    const Expr *V = R->getRetValue();
    auto Range = fileRange(V->getSourceRange(), PP);
    if (!Range)
      return std::nullopt;
    auto T = copyTokens(*Range, Edits, Words, PP);
    if (!T)
      return std::nullopt;
    QualType Ret = F->getReturnType();
    if (Ret->isReferenceType())
      return std::nullopt;
    if (!same(V->IgnoreImpCasts()->getType(), Ret)) {
      auto Name = returnType();
      if (!Name)
        return std::nullopt;
      return "((" + *Name + ")(" + *T + "))";
    }
    return "(" + *T + ")";
  }

  std::optional<CalleeBlock> block(CallerScope &Out) {
    CalleeBlock B;
    const bool Void = F->getReturnType()->isVoidType();
    std::string Decls;
    if (!Void) {
      auto T = returnType();
      if (!T || F->getReturnType()->isReferenceType())
        return std::nullopt;
      B.Value = fresh((F->getIdentifier() && !C.Lambda ? F->getName().str()
                                                        : "call") +
                          "_value",
                      Out);
      Decls = *T + " " + B.Value + "; ";
    }
    std::string Params = Aliases;
    llvm::StringSet<> Substituted;
    for (unsigned I = 0; I < F->getNumParams(); ++I) {
      const ParmVarDecl *P = F->getParamDecl(I);
      const Expr *A = arg(I);
      auto T = argText(I);
      if (!T)
        return std::nullopt;
      QualType Ty = P->getType();
      const bool Plain = isa<DeclRefExpr>(A->IgnoreParenImpCasts());
      const bool Copy = isUnchangedCopy(P, A);
      if (Copy || isAnotherName(Ty) || isPrivateArray(P, A)) {
        if ((!Plain && !Copy) || !replaceAll(P, *T))
          return std::nullopt;
        Substituted.insert(*T);
        continue;
      }
      // A copy of what `const T &` is bound to, while nobody changes that.
      if (Ty->isReferenceType() && A->isGLValue() && !staysAsItIs(A))
        return std::nullopt;
      if (!Facts.Refs.count(P)) {
        if (A->HasSideEffects(AC))
          return std::nullopt;
        continue;
      }
      if (Plain && *T == P->getName() && !Facts.Changed.count(P) && staysAsItIs(A) &&
          same(A->IgnoreParenImpCasts()->getType(), Ty)) {
        Substituted.insert(*T);
        continue; // the same name for the same value
      }
      std::string Name = P->getNameAsString();
      if (Out.Names.contains(Name) || isNamedInArguments(Name)) {
        Name = fresh(Name + "_" + (C.Lambda ? "call" : F->getNameAsString()), Out);
        if (!replaceAll(P, Name))
          return std::nullopt;
      } else
        Out.Names.insert(Name);
      auto D = paramType(P);
      if (!D)
        return std::nullopt;
      Params += *D + " " + Name + " = " + *T + "; ";
    }
    for (const VarDecl *V : Facts.Locals) {
      if (V->isStaticLocal() && V->getStorageClass() == SC_Static &&
          !V->hasAttr<CUDASharedAttr>())
        return std::nullopt;
      std::string Name = V->getNameAsString();
      if (Name.empty() || Substituted.count(Name))
        return std::nullopt;
      if (!Out.Names.insert(Name).second) {
        Name = fresh(Name + "_" + (C.Lambda ? "call" : F->getNameAsString()), Out);
        if (!replaceAll(V, Name) || !edit(V->getLocation(), V->getName().size(), Name))
          return std::nullopt;
      }
    }
    if (!tail(Body, B.Value))
      return std::nullopt;
    auto Range = fileRange(Body->getSourceRange(), PP);
    if (!Range)
      return std::nullopt;
    auto T = copyTokens(*Range, Edits, Words, PP);
    if (!T || T->size() < 2 || T->front() != '{')
      return std::nullopt;
    B.Text = Decls + "{ " + Params + T->substr(1);
    return B;
  }

private:
  const CallToWrite &C;
  const FunctionDecl *F;
  const CallerScope &Scope;
  Preprocessor &PP;
  ASTContext &AC;
  PrintingPolicy Policy;
  const CompoundStmt *Body = nullptr;
  BodyFacts Facts;
  Replacements Edits;
  std::map<std::string, std::string> Words; ///< template parameters
  std::string Aliases;
  bool NeedsAliases = false;

  /// A new kernel may stand anywhere behind the functions that it is made of.
  SourceLocation endOfFile() const {
    const SourceManager &SM = PP.getSourceManager();
    return SM.getLocForEndOfFile(SM.getMainFileID());
  }

  /// A lambda's call has the object as its first argument.
  unsigned First() const { return C.Lambda ? 1 : 0; }
  const Expr *arg(unsigned I) const {
    const Expr *A = C.Call->getArg(I + First());
    if (auto *D = dyn_cast<CXXDefaultArgExpr>(A))
      A = D->getExpr();
    for (const Expr *Inner = nullptr; A != Inner;) {
      Inner = A;
      if (auto *M = dyn_cast<MaterializeTemporaryExpr>(A))
        A = M->getSubExpr();
      else if (auto *X = dyn_cast<FullExpr>(A))
        A = X->getSubExpr();
    }
    return A;
  }

  /// Argument \p I as the kernel may write it.
  std::optional<std::string> argText(unsigned I) const {
    const Expr *A = arg(I);
    if (isa<CXXDefaultArgExpr>(C.Call->getArg(I + First())) &&
        isMadeOfNothing(A, [](StringRef) { return false; }))
      return named(A->getType().getUnqualifiedType()) + "()";
    return oneLine(A->getSourceRange(), PP);
  }

  /// Is a parameter of type \p T what it is bound to?
  static bool isAnotherName(QualType T) {
    return T->isReferenceType() && (T->getPointeeType()->isArrayType() ||
                                    !T->getPointeeType().isConstQualified() ||
                                    T->getPointeeType()->isRecordType());
  }

  /// Does nothing in the call change \p A, an argument: a variable that it does not set and
  /// whose address nobody has, or memory while it sets none?
  bool staysAsItIs(const Expr *A) const {
    const CallChanges Changes = changesOf(C.Call, F);
    if (Changes.nothing())
      return true;
    const auto *R = dyn_cast<DeclRefExpr>(A->IgnoreParenImpCasts());
    const auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    return V && V->hasLocalStorage() && !V->getType()->isReferenceType() && !Changes.Anything &&
           !Changes.Pointees && !Changes.Of.contains(V) && !hasPointers(V);
  }

  /// May a pointer or a reference lead to \p V, a variable of the kernel's?
  bool hasPointers(const VarDecl *V) const {
    struct Finder : ConstDynamicRecursiveASTVisitor {
      const VarDecl *V;
      bool Found = false;
      bool VisitUnaryOperator(const UnaryOperator *E) override {
        return !(Found |= E->getOpcode() == UO_AddrOf && namedBy(E->getSubExpr()) == V);
      }
      bool VisitVarDecl(const VarDecl *R) override {
        return !(Found |= R->getType()->isReferenceType() && R->getInit() &&
                          namedBy(R->getInit()) == V);
      }
      bool VisitLambdaExpr(const LambdaExpr *) override { return !(Found = true); }
    } X;
    X.V = V;
    X.TraverseStmt(Scope.Kernel->getBody());
    return X.Found;
  }

  /// Is \p P a copy of a struct, the argument \p A, that nobody changes meanwhile?
  bool isUnchangedCopy(const ParmVarDecl *P, const Expr *A) const {
    return copiesVariable(A) && Facts.Refs.count(P) && !Facts.Changed.count(P) &&
           changesNothingElse() &&
           staysAsItIs(cast<CXXConstructExpr>(A->IgnoreParenImpCasts())->getArg(0));
  }

  /// Is \p P a pointer to the private array \p A, and no more than a name of it?
  bool isPrivateArray(const ParmVarDecl *P, const Expr *A) const {
    const auto *R = dyn_cast<DeclRefExpr>(A->IgnoreParenImpCasts());
    const auto *V = R ? dyn_cast<VarDecl>(R->getDecl()) : nullptr;
    const auto Uses = Facts.Refs.find(P);
    // (What nvcc makes of `__restrict__` there is more than it says: in loops around the
    // call, an insertion into the array loses elements.)
    return V && V->hasLocalStorage() && !V->hasAttr<CUDASharedAttr>() &&
           V->getType()->isConstantArrayType() && P->getType()->isPointerType() &&
           !P->getType().isRestrictQualified() &&
           same(V->getType(), P->getType()) && !Facts.Changed.count(P) &&
           Uses != Facts.Refs.end() &&
           llvm::all_of(Uses->second,
                        [&](const DeclRefExpr *E) { return Facts.AsArrays.contains(E); });
  }

  /// Is \p A a plain struct in a variable, passed by value?
  static bool copiesVariable(const Expr *A) {
    auto *Copy = dyn_cast<CXXConstructExpr>(A->IgnoreParenImpCasts());
    return Copy && Copy->getNumArgs() == 1 &&
           Copy->getConstructor()->isCopyConstructor() &&
           Copy->getConstructor()->isTrivial() &&
           isa<DeclRefExpr>(Copy->getArg(0)->IgnoreParenImpCasts());
  }

  /// No variable of the caller's but through pointers, which lead to no struct that
  /// is passed by name.
  bool changesNothingElse() const {
    return llvm::none_of(F->parameters(), [](const ParmVarDecl *P) {
      const QualType T = P->getType();
      return (T->isReferenceType() && !T->getPointeeType().isConstQualified()) ||
             ((T->isPointerType() || T->isReferenceType()) &&
              T->getPointeeType()->isRecordType());
    });
  }

  bool same(QualType A, QualType B) const {
    A = A.getNonReferenceType();
    B = B.getNonReferenceType();
    if (A->isArrayType())
      A = AC.getArrayDecayedType(A);
    if (AC.hasSameUnqualifiedType(A, B) &&
        A.isVolatileQualified() == B.isVolatileQualified())
      return true;
    // `float *` to `const float *` changes nothing; to `volatile float *` it does.
    return A->isPointerType() && B->isPointerType() &&
           AC.hasSameUnqualifiedType(A->getPointeeType(), B->getPointeeType()) &&
           A->getPointeeType().isVolatileQualified() ==
               B->getPointeeType().isVolatileQualified();
  }

  std::string converted(const std::string &T, const Expr *A, QualType To) const {
    const QualType Own = A->IgnoreImpCasts()->getType();
    if (same(Own, To))
      return T;
    // `const float (&s)[130]`: the array itself.
    Qualifiers Of;
    if (To->isReferenceType() && Own->isArrayType() &&
        AC.hasSameType(AC.getUnqualifiedArrayType(Own, Of),
                       AC.getUnqualifiedArrayType(To->getPointeeType(), Of)))
      return T;
    return "(" + named(To.getNonReferenceType().getUnqualifiedType()) + ")(" + T + ")";
  }

  /// A type as text; the kernel's own name for it where it has one.
  std::string named(QualType T) const {
    std::string S = spelledType(T).getCanonicalType().getAsString(Policy);
    auto It = Scope.TemplateNames.find(S);
    return It == Scope.TemplateNames.end() ? S : It->second;
  }

  std::optional<std::string> returnType() const {
    QualType T = F->getReturnType().getNonReferenceType().getUnqualifiedType();
    if (NeedsAliases || C.Lambda || T->isBuiltinType() || isa<CXXMethodDecl>(F))
      return named(T);
    auto R = fileRange(F->getReturnTypeSourceRange(), PP);
    if (!R || F->getDeclaredReturnType()->getContainedAutoType())
      return named(T);
    auto Text = copyTokens(*R, {}, Words, PP);
    return Text && !StringRef(*Text).contains("__") ? *Text : named(T);
  }

  std::optional<std::string> paramType(const ParmVarDecl *P) const {
    QualType T = P->getType().getNonReferenceType().getUnqualifiedType();
    if (T->isFunctionPointerType() || T->isMemberPointerType())
      return std::nullopt;
    if (T->isPointerType() && !Scope.TemplateNames.empty()) {
      QualType E = T->getPointeeType();
      return std::string(E.isConstQualified() ? "const " : "") +
             (E.isVolatileQualified() ? "volatile " : "") +
             named(E.getUnqualifiedType()) + " *";
    }
    return named(T);
  }

  /// Would a variable \p Name hide what an argument names, `f(w[0])` for a parameter w?
  bool isNamedInArguments(const std::string &Name) const {
    BodyFacts Of;
    for (const Expr *A : C.Call->arguments())
      Of.TraverseStmt(A);
    return llvm::any_of(Of.Refs, [&](const auto &R) { return identifierOf(R.first) == Name; });
  }

  std::string fresh(const std::string &Base, CallerScope &Out) const {
    std::string N = Base;
    for (unsigned I = 2; Out.Names.contains(N) || Scope.Used.contains(N) ||
                         PP.getIdentifierInfo(N)->hadMacroDefinition();
         ++I)
      N = Base + std::to_string(I);
    Out.Names.insert(N);
    return N;
  }

  /// One replacement of \p Length bytes at \p L, which must be text of a file.
  bool edit(SourceLocation L, unsigned Length, const std::string &Text) {
    const SourceManager &SM = PP.getSourceManager();
    if (L.isMacroID()) {
      if (!SM.isMacroArgExpansion(L))
        return false;
      L = SM.getSpellingLoc(L);
      if (L.isMacroID())
        return false;
    }
    return Edits.try_emplace(SM.getFileOffset(L), Length, Text).second ||
           Edits[SM.getFileOffset(L)].second == Text;
  }

  bool replaceAll(const ValueDecl *D, const std::string &Text) {
    auto It = Facts.Refs.find(D);
    if (It == Facts.Refs.end())
      return true;
    for (const DeclRefExpr *E : It->second)
      if (!edit(E->getLocation(), identifierOf(D).size(), Text))
        return false;
    return true;
  }

  /// Names of the body must mean the same in the kernel.
  bool visibleNames() const {
    const DeclContext *At = Scope.Kernel->getDeclContext();
    for (auto &[D, Refs] : Facts.Refs) {
      const DeclContext *Ctx = D->getDeclContext();
      if (Ctx->isFunctionOrMethod()) {
        auto *Fn = dyn_cast<FunctionDecl>(Ctx);
        // Locals of the callee, and what a lambda sees of the kernel.
        if (Fn && (Fn == F || C.Lambda ||
                   Fn->getCanonicalDecl() == F->getCanonicalDecl()))
          continue;
        return false;
      }
      if (isa<CXXMethodDecl>(D) || isa<FieldDecl>(D) || !D->getIdentifier())
        continue;
      bool Qualified = false;
      for (const DeclRefExpr *E : Refs)
        Qualified |= E->hasQualifier();
      if (Qualified)
        continue;
      if (Scope.Names.contains(D->getName()))
        return false; // hidden by a variable of the kernel
      const DeclContext *N = Ctx->getRedeclContext();
      if (N->isRecord())
        return false;
      if (!N->isTranslationUnit() && !N->Encloses(At))
        return false;
    }
    return true;
  }

  /// Would a word of the callee's be a type that the kernel declares for itself?
  bool namesTypeOfKernel() const {
    const auto Is = [&](StringRef Word) { return Scope.Types.contains(Word); };
    return !C.Lambda && !Scope.Types.empty() && hasWord(F->getSourceRange(), Is, PP);
  }

  /// Template parameters of the callee by the names of their arguments.
  bool templateWords() {
    if (C.Lambda)
      return true;
    if (const auto *Method = dyn_cast<CXXMethodDecl>(F))
      if (const auto *Of = dyn_cast<ClassTemplateSpecializationDecl>(Method->getParent())) {
        const auto *Primary =
            dyn_cast<ClassTemplateDecl *>(Of->getSpecializedTemplateOrPartial());
        if (Of->getTemplateSpecializationKind() != TSK_ExplicitSpecialization &&
            (!Primary || !wordsOf(Of->getTemplateArgs(), *Primary->getTemplateParameters())))
          return false;
      }
    const TemplateArgumentList *Args = F->getTemplateSpecializationArgs();
    const FunctionTemplateDecl *T = F->getPrimaryTemplate();
    return !Args || !T || wordsOf(*Args, *T->getTemplateParameters());
  }

  bool wordsOf(const TemplateArgumentList &Args, const TemplateParameterList &Params) {
    for (unsigned I = 0; I < Args.size() && I < Params.size(); ++I) {
      const TemplateArgument &A = Args.get(I);
      std::string Name = Params.getParam(I)->getNameAsString();
      if (Name.empty())
        continue;
      if (A.getKind() == TemplateArgument::Type) {
        std::string S = named(A.getAsType());
        bool Word = !S.empty() && llvm::all_of(S, isNameChar);
        if (!Word) {
          NeedsAliases = true;
          Aliases += "using " + Name + " = " + S + "; ";
        } else
          Words[Name] = S;
      } else if (A.getKind() == TemplateArgument::Integral) {
        llvm::SmallString<16> S;
        A.getAsIntegral().toString(S);
        const auto It = Scope.TemplateNames.find(S.str().str());
        Words[Name] = It != Scope.TemplateNames.end() &&
                              hasNumber(Scope.Kernel, It->second, A.getIntegralType())
                          ? It->second
                          : typedNumber(A, Policy);
      } else
        return false;
    }
    return true;
  }

  static unsigned countReturns(const clang::Stmt *S) {
    if (!S)
      return 0;
    if (isa<ReturnStmt>(S))
      return 1;
    unsigned N = 0;
    for (const clang::Stmt *X : S->children())
      N += countReturns(X);
    return N;
  }

  static bool alwaysReturns(const clang::Stmt *S) {
    if (auto *B = dyn_cast_or_null<CompoundStmt>(S))
      return !B->body_empty() && alwaysReturns(B->body_back());
    if (auto *I = dyn_cast_or_null<IfStmt>(S))
      return I->getElse() && alwaysReturns(I->getThen()) &&
             alwaysReturns(I->getElse());
    return S && isa<ReturnStmt>(S);
  }

  /// Returns in \p S, behind which nothing of the body follows, as assignments.
  bool tail(const clang::Stmt *S, const std::string &Value) {
    if (!countReturns(S))
      return true;
    if (auto *R = dyn_cast<ReturnStmt>(S)) {
      if (Value.empty())
        return !R->getRetValue() && edit(R->getReturnLoc(), 6, "");
      auto *B = dyn_cast_or_null<BinaryOperator>(
          R->getRetValue() ? R->getRetValue()->IgnoreImpCasts() : nullptr);
      if (B && B->getOpcode() == BO_Comma)
        return false;
      return R->getRetValue() && edit(R->getReturnLoc(), 6, Value + " =");
    }
    if (auto *I = dyn_cast<IfStmt>(S))
      return !I->getInit() && !I->getConditionVariable() &&
             tail(I->getThen(), Value) &&
             (!I->getElse() || tail(I->getElse(), Value));
    auto *B = dyn_cast<CompoundStmt>(S);
    if (!B)
      return false; // a loop or switch
    std::string Close;
    const clang::Stmt *Behind = nullptr; // an if whose rest becomes its else
    for (const clang::Stmt *X : B->body()) {
      if (Behind) {
        if (!edit(X->getBeginLoc(), 0, "else { "))
          return false;
        Behind = nullptr;
      }
      if (X != B->body_back() && countReturns(X)) {
        auto *I = dyn_cast<IfStmt>(X);
        if (!I || I->getElse() || !alwaysReturns(I->getThen()))
          return false;
        Close += "} ";
        Behind = I;
      }
      // The first token of X may be a `return` that gets replaced as well.
      if (countReturns(X) && !tailBehindElse(X, Value))
        return false;
    }
    return Close.empty() || edit(B->getRBracLoc(), 0, Close);
  }

  bool tailBehindElse(const clang::Stmt *X, const std::string &Value) {
    if (auto *R = dyn_cast<ReturnStmt>(X)) {
      const SourceManager &SM = PP.getSourceManager();
      auto It = R->getReturnLoc().isFileID()
                    ? Edits.find(SM.getFileOffset(R->getReturnLoc()))
                    : Edits.end();
      if (It != Edits.end() && It->second.second == "else { ") {
        Edits.erase(It);
        if (!tail(R, Value))
          return false;
        auto &E = Edits[SM.getFileOffset(R->getReturnLoc())];
        E.second = "else { " + E.second;
        return true;
      }
    }
    return tail(X, Value);
  }
};

} // namespace

std::optional<std::string> oneLine(SourceRange R, Preprocessor &PP) {
  auto Range = fileRange(R, PP);
  if (!Range)
    return std::nullopt;
  return copyTokens(*Range, {}, {}, PP);
}

std::optional<std::string> calleeAsExpression(const CallToWrite &C,
                                              const CallerScope &Scope,
                                              Preprocessor &PP) {
  Copier X(C, Scope, PP);
  if (!X.prepare())
    return std::nullopt;
  return X.expression();
}

std::optional<CalleeBlock> calleeAsBlock(const CallToWrite &C,
                                         CallerScope &Scope, Preprocessor &PP) {
  CallerScope Before = Scope;
  Copier X(C, Before, PP);
  if (!X.prepare())
    return std::nullopt;
  return X.block(Scope);
}

} // namespace rcache
