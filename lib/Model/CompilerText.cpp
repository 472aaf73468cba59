// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CompilerText.h. One listener collects, while the preprocessor runs, the
// conditionals and expansions that count; the question is asked of a kernel's
// syntax tree.

#include "CompilerText.h"
#include "Support/Words.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/MacroInfo.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSet.h"
#include <memory>

using namespace clang;
using llvm::StringRef;

namespace rcache {
namespace {

bool isReserved(StringRef Name) {
  return Name.starts_with("__") || (Name.size() > 1 && Name[0] == '_' &&
                                    Name[1] >= 'A' && Name[1] <= 'Z');
}

/// Reserved names that clang's CUDA mode and nvcc define, or leave undefined,
/// alike.
bool isAlike(StringRef Name) {
  static const llvm::StringSet<> Names = {"__CUDACC__",
                                          "__cplusplus",
                                          "__CUDACC_RTC__",
                                          "__has_include",
                                          "__linux__",
                                          "__linux",
                                          "__unix__",
                                          "__unix",
                                          "__x86_64__",
                                          "__x86_64",
                                          "__amd64__",
                                          "__aarch64__",
                                          "_WIN32",
                                          "_WIN64",
                                          "__APPLE__",
                                          "__CYGWIN__",
                                          "__MINGW32__",
                                          "_MSC_VER",
                                          "__INTEL_COMPILER",
                                          "__ICC",
                                          "__PGI",
                                          "__NVCOMPILER",
                                          "__IBMCPP__",
                                          "__SUNPRO_CC",
                                          "__HIPCC__",
                                          "__HIP__",
                                          "_OPENMP",
                                          "_DEBUG",
                                          "__CHAR_BIT__",
                                          "__INT_MAX__",
                                          "__LP64__",
                                          "_LP64",
                                          "__SYCL_DEVICE_ONLY__",
                                          "__HIP_DEVICE_COMPILE__",
                                          "__EMSCRIPTEN__"};
  return Names.contains(Name) || Name.starts_with("__HIP_PLATFORM_") ||
         Name.starts_with("__CUDA_NO_") || Name.starts_with("__SIZEOF_") ||
         Name.starts_with("__ORDER_") || Name.starts_with("__BYTE_ORDER");
}

/// Expanded in a kernel, a value of the compiler or of the place.
bool isPlaceOrCompiler(StringRef Name, const MacroInfo *MI) {
  if (MI && MI->isBuiltinMacro())
    return Name != "__has_include" && Name != "_Pragma";
  return Name.starts_with("__clang") || Name.starts_with("__GNUC") ||
         Name.starts_with("__CUDACC_VER") || Name.starts_with("__NVCC") ||
         Name == "__llvm__" || Name == "__VERSION__" ||
         Name == "__CUDA_ARCH__" || Name == "__OPTIMIZE__";
}

class Listener : public PPCallbacks {
public:
  Listener(Preprocessor &PP, std::weak_ptr<CompilerText> Into,
           std::function<void(const PPConditional &)> Ended)
      : PP(PP), SM(PP.getSourceManager()), Into(std::move(Into)),
        Ended(std::move(Ended)) {}

  void If(SourceLocation At, SourceRange Condition,
          ConditionValueKind) override {
    Tokens T = tokens(At, Condition);
    open(At, decides(At, T));
    // `#if !defined(X)`, also without parentheses.
    if (T.size() > 2 && T[0].Text == "!" && T[1].Text == "defined")
      Open.back().Guard = T[T[2].Text == "(" && T.size() > 3 ? 3 : 2].Text;
  }
  void Ifdef(SourceLocation At, const Token &Name,
             const MacroDefinition &) override {
    open(At, isPresent(At, spelling(Name)));
  }
  void Ifndef(SourceLocation At, const Token &Name,
              const MacroDefinition &) override {
    open(At, isPresent(At, spelling(Name)));
    Open.back().Guard = spelling(Name);
  }
  void Elif(SourceLocation At, SourceRange Condition, ConditionValueKind,
            SourceLocation) override {
    other(decides(At, tokens(At, Condition)));
  }
  void Elifdef(SourceLocation At, const Token &Name,
               const MacroDefinition &) override {
    other(isPresent(At, spelling(Name)));
  }
  void Elifdef(SourceLocation At, SourceRange Condition,
               SourceLocation) override {
    other(decides(At, tokens(At, Condition)));
  }
  void Elifndef(SourceLocation At, const Token &Name,
                const MacroDefinition &) override {
    other(isPresent(At, spelling(Name)));
  }
  void Elifndef(SourceLocation At, SourceRange Condition,
                SourceLocation) override {
    other(decides(At, tokens(At, Condition)));
  }
  void Else(SourceLocation, SourceLocation) override {
    if (!Open.empty())
      Open.back().HasElse = true;
  }
  void Endif(SourceLocation At, SourceLocation) override {
    if (Open.empty())
      return;
    const Conditional C = Open.back();
    Open.pop_back();
    Ended({C.Begin, At, C.HasElse});
    auto Text = Into.lock();
    if (C.On.empty() || !Text)
      return;
    Text->Regions.push_back({C.Begin, At, C.On});
    skippedMacros(C, At, Text->LeftOut);
  }

  void MacroDefined(const Token &Name, const MacroDirective *MD) override {
    const StringRef N = spelling(Name);
    if (!MD || !isUser(MD->getLocation()))
      return;
    // An include guard, or a default for what the build may define.
    if (!Open.empty() && Open.back().Guard == N && !isKnownToOne(N))
      Open.back().On.clear();
    made(N);
  }
  void MacroUndefined(const Token &Name, const MacroDefinition &,
                      const MacroDirective *) override {
    if (isUser(Name.getLocation()))
      made(spelling(Name));
  }

  void MacroExpands(const Token &Name, const MacroDefinition &MD,
                    SourceRange Range, const MacroArgs *) override {
    if (PP.isParsingIfOrElifDirective())
      return; // decides() reads the condition's words
    const StringRef N = spelling(Name);
    const MacroInfo *MI = MD.getMacroInfo();
    auto Made = Tainted.find(N);
    if (Made == Tainted.end() && !isPlaceOrCompiler(N, MI))
      return;
    const SourceLocation Spelled = SM.getSpellingLoc(Name.getLocation());
    const SourceLocation At = SM.getExpansionLoc(Range.getBegin());
    // What a macro of the toolkit mentions (assert) is the toolkit's.
    if (!isUser(At) || !isUser(Spelled))
      return;
    if (auto Text = Into.lock())
      Text->Uses.push_back({At, N.str()});
  }

private:
  struct Conditional {
    SourceLocation Begin;
    std::string On;    ///< what a compiler decides; empty: nothing
    std::string Guard; ///< X of `#ifndef X`
    bool HasElse = false;
  };
  struct Word {
    std::string Text;
    bool Identifier, Number;
  };
  using Tokens = std::vector<Word>;

  Preprocessor &PP;
  SourceManager &SM;
  std::weak_ptr<CompilerText> Into;
  std::function<void(const PPConditional &)> Ended;
  std::vector<Conditional> Open;
  llvm::StringMap<std::string> Tainted; ///< macro -> the name that decided

  StringRef spelling(const Token &T) const {
    return T.getIdentifierInfo() ? T.getIdentifierInfo()->getName()
                                 : StringRef();
  }
  bool isUser(SourceLocation At) const {
    return At.isValid() && isInUserFile(SM, At);
  }
  static bool isKnownToOne(StringRef N) {
    return N.starts_with("__clang") || N.starts_with("__NVCC") ||
           N.starts_with("__CUDACC") || N.starts_with("__GNUC") ||
           N.starts_with("__CUDA_ARCH") || N == "__llvm__" || N == "__EDG__";
  }

  void open(SourceLocation At, std::string On) {
    Open.push_back({At, isUser(At) ? std::move(On) : std::string(), "", false});
  }
  void other(std::string On) {
    if (Open.empty())
      return;
    Open.back().HasElse = true;
    if (!isUser(Open.back().Begin))
      return;
    Open.back().Guard.clear();
    if (Open.back().On.empty())
      Open.back().On = std::move(On);
  }
  /// A macro is made, or unmade, here.
  void made(StringRef Name) {
    for (const Conditional &C : Open)
      if (!C.On.empty())
        Tainted[Name] = C.On;
  }

  Tokens tokens(SourceLocation At, SourceRange Range) const {
    Tokens T;
    if (!isUser(At) || Range.isInvalid())
      return T;
    const auto [File, Offset] =
        SM.getDecomposedLoc(SM.getExpansionLoc(Range.getBegin()));
    const unsigned End =
        SM.getFileOffset(SM.getExpansionRange(Range.getEnd()).getEnd());
    words(File, Offset, End, T);
    return T;
  }
  void words(FileID File, unsigned Offset, unsigned End, Tokens &T) const {
    const StringRef Buffer = SM.getBufferData(File);
    Lexer L(SM.getLocForStartOfFile(File), PP.getLangOpts(), Buffer.begin(),
            Buffer.begin() + Offset, Buffer.end());
    Token Tok;
    for (bool Last = false; !Last;) {
      Last = L.LexFromRawLexer(Tok);
      if (Tok.is(tok::eof) || SM.getFileOffset(Tok.getLocation()) > End)
        break;
      if (Tok.isAtStartOfLine() && !T.empty())
        break;
      T.push_back({Lexer::getSpelling(Tok, SM, PP.getLangOpts()),
                   Tok.is(tok::raw_identifier), Tok.is(tok::numeric_constant)});
    }
  }

  /// The name in the words of a condition that compilers disagree about; empty:
  /// there is none.
  std::string decides(SourceLocation At, const Tokens &T) {
    for (size_t I = 0; I < T.size(); ++I) {
      if (!T[I].Identifier || T[I].Text == "defined")
        continue;
      const StringRef N = T[I].Text;
      const bool Defined =
          I > 0 &&
          (T[I - 1].Text == "defined" ||
           (I > 1 && T[I - 1].Text == "(" && T[I - 2].Text == "defined"));
      std::string On;
      if (Defined)
        On = isPresent(At, N);
      else if (N == "__CUDA_ARCH__")
        On = everyArch(T, I) ? "" : N.str();
      else
        On = hasValue(At, N, 0);
      if (!On.empty())
        return On;
    }
    return "";
  }

  /// `__CUDA_ARCH__ >= 300` is the same for every architecture that nvcc 13
  /// knows: 750 is the first.
  static bool everyArch(const Tokens &T, size_t I) {
    constexpr unsigned First = 750;
    unsigned Value = 0;
    if (I + 2 >= T.size() || !T[I + 2].Number ||
        StringRef(T[I + 2].Text).getAsInteger(0, Value))
      return false;
    const StringRef Op = T[I + 1].Text;
    if (Op == ">=" || Op == "<")
      return Value <= First;
    return (Op == ">" || Op == "<=" || Op == "==" || Op == "!=") &&
           Value < First;
  }

  /// Whether \p N is defined: who decides?
  std::string isPresent(SourceLocation At, StringRef N) {
    if (!isUser(At) || N == "__GNUC__" || N == "__CUDA_ARCH__")
      return "";
    if (auto It = Tainted.find(N); It != Tainted.end())
      return It->second;
    return unknownName(N) ? N.str() : "";
  }
  /// What the value of \p N is: who decides?
  std::string hasValue(SourceLocation At, StringRef N, unsigned Depth) {
    if (!isUser(At) || Depth > 16)
      return "";
    if (auto It = Tainted.find(N); It != Tainted.end())
      return It->second;
    if (unknownName(N))
      return N.str();
    // Through the words of a macro of the user.
    const IdentifierInfo *II = PP.getIdentifierInfo(N);
    const MacroInfo *MI = PP.getMacroInfo(II);
    if (!MI || !isUser(MI->getDefinitionLoc()))
      return "";
    for (const Token &T : MI->tokens())
      if (const StringRef Inner = spelling(T); !Inner.empty() && Inner != N)
        if (std::string On = Inner == "__CUDA_ARCH__"
                                 ? Inner.str()
                                 : hasValue(At, Inner, Depth + 1);
            !On.empty())
          return On;
    return "";
  }
  /// A name of compilers, which neither the user nor a header defines.
  bool unknownName(StringRef N) const {
    if (!isReserved(N) || isAlike(N))
      return false;
    const MacroInfo *MI = PP.getMacroInfo(PP.getIdentifierInfo(N));
    if (!MI)
      return true;
    const SourceLocation D = MI->getDefinitionLoc();
    return MI->isBuiltinMacro() || D.isInvalid() ||
           SM.isWrittenInBuiltinFile(D);
  }

  /// Macros of the parts of \p C that clang leaves out: nvcc makes them. \p Names gets
  /// what else is named in all parts.
  void skippedMacros(const Conditional &C, SourceLocation End,
                     llvm::StringMap<std::string> &Names) {
    const auto [File, From] = SM.getDecomposedLoc(SM.getExpansionLoc(C.Begin));
    const unsigned To = SM.getFileOffset(SM.getExpansionLoc(End));
    const StringRef Text = SM.getBufferData(File).slice(From, To);
    llvm::SmallVector<StringRef> Lines;
    Text.split(Lines, '\n');
    for (StringRef Line : Lines) {
      Line = Line.ltrim();
      if (!Line.starts_with("#"))
        for (StringRef Rest = Line; !Rest.empty();) {
          Rest = Rest.drop_until(isNameChar);
          const StringRef Word = Rest.take_while(isNameChar);
          if (!Word.empty())
            Names.try_emplace(Word, C.On);
          Rest = Rest.drop_front(Word.size());
        }
      if (!Line.consume_front("#"))
        continue;
      Line = Line.ltrim();
      if (!Line.consume_front("define") && !Line.consume_front("undef"))
        continue;
      Line = Line.ltrim();
      const StringRef Name = Line.take_while(isNameChar);
      if (!Name.empty())
        Tainted.try_emplace(Name, C.On);
    }
  }
};

/// Walks from a kernel through what it names of the user's files.
class Search : public DynamicRecursiveASTVisitor {
public:
  Search(const CompilerText &T, const SourceManager &SM) : T(T), SM(SM) {
    ShouldVisitTemplateInstantiations = true;
    ShouldVisitImplicitCode = true;
  }

  std::optional<Obstacle> Found;

  /// \p D and what it names; \p From: where it is named.
  void search(const Decl *D, SourceLocation From) {
    if (!D || Found || !Seen.insert(D->getCanonicalDecl()).second)
      return;
    const Decl *Whole = D;
    if (auto *F = dyn_cast<FunctionDecl>(D)) {
      const FunctionDecl *Def = nullptr;
      if (F->isDefined(Def))
        Whole = Def;
    } else if (auto *R = dyn_cast<TagDecl>(D); R && R->getDefinition()) {
      Whole = R->getDefinition();
    }
    const SourceLocation Begin = SM.getExpansionLoc(Whole->getBeginLoc());
    if (Begin.isInvalid() || SM.isInSystemHeader(Begin) ||
        SM.isWrittenInBuiltinFile(Begin))
      return;
    const SourceLocation Saved = At;
    At = From.isValid() ? From : Whole->getLocation();
    check(Begin, SM.getExpansionRange(Whole->getEndLoc()).getEnd());
    checkNames(D);
    if (!Found && (isa<FunctionDecl>(Whole) || isa<VarDecl>(Whole) ||
                   isa<FieldDecl>(Whole) || isa<TypedefNameDecl>(Whole) ||
                   isa<EnumConstantDecl>(Whole)))
      TraverseDecl(const_cast<Decl *>(Whole));
    At = Saved;
  }

  bool VisitDeclRefExpr(DeclRefExpr *E) override {
    return named(E->getDecl(), E);
  }
  bool VisitMemberExpr(MemberExpr *E) override {
    return named(E->getMemberDecl(), E);
  }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) override {
    return named(E->getConstructor(), E);
  }
  bool VisitTypeLoc(TypeLoc L) override {
    if (auto Tag = L.getAs<TagTypeLoc>())
      search(Tag.getDecl(), At);
    return !Found;
  }
  bool VisitTypedefTypeLoc(TypedefTypeLoc L) override {
    search(L.getDecl(), At);
    return !Found;
  }
  bool VisitPredefinedExpr(PredefinedExpr *E) override {
    const SourceLocation L = SM.getSpellingLoc(E->getLocation());
    if (!SM.isInSystemHeader(L))
      give("'" + PredefinedExpr::getIdentKindName(E->getIdentKind()).str() +
           "'");
    return !Found;
  }

private:
  const CompilerText &T;
  const SourceManager &SM;
  SourceLocation At;
  llvm::SmallPtrSet<const Decl *, 32> Seen;

  bool named(const Decl *D, const Expr *E) {
    search(D, SM.isInSystemHeader(SM.getExpansionLoc(E->getExprLoc()))
                  ? At
                  : E->getExprLoc());
    return !Found;
  }
  void give(std::string Detail) {
    if (!Found)
      Found = Obstacle{DeclineCode::CompilerDependent, std::move(Detail), At};
  }
  bool isIn(SourceLocation L, SourceLocation Begin, SourceLocation End) const {
    return !SM.isBeforeInTranslationUnit(L, Begin) &&
           !SM.isBeforeInTranslationUnit(End, L);
  }
  /// Others of the name may stand where clang does not look.
  void checkNames(const Decl *D) {
    // Of members, their class: it is what is said anew.
    while (D->getDeclContext()->isRecord())
      D = cast<Decl>(D->getDeclContext());
    const auto *N = dyn_cast<NamedDecl>(D);
    if (!N || !N->getIdentifier() || !N->getDeclContext()->isFileContext())
      return;
    if (const auto It = T.LeftOut.find(N->getName()); It != T.LeftOut.end())
      give("'" + N->getNameAsString() + "' in a branch on '" + It->second + "'");
  }
  void check(SourceLocation Begin, SourceLocation End) {
    for (const CompilerText::Use &U : T.Uses)
      if (isIn(U.At, Begin, End))
        return give("'" + U.Name + "'");
    for (const CompilerText::Region &R : T.Regions) {
      if (isIn(R.Begin, Begin, End))
        return give("a branch on '" + R.On + "'");
      // Around it, also by way of the files that include it.
      for (SourceLocation L = Begin; L.isValid();
           L = SM.getIncludeLoc(SM.getFileID(L)))
        if (isIn(L, R.Begin, R.End))
          return give("a branch on '" + R.On + "'");
    }
  }
};

} // namespace

std::optional<Obstacle> CompilerText::in(const FunctionDecl *FD,
                                         const SourceManager &SM) const {
  Search S(*this, SM);
  S.search(FD, FD->getLocation());
  return S.Found;
}

bool isInUserFile(const SourceManager &SM, SourceLocation At) {
  return !SM.isInSystemHeader(At) && !SM.isWrittenInBuiltinFile(At) &&
         !SM.isWrittenInCommandLineFile(At);
}

void listenForCompilerText(Preprocessor &PP, std::weak_ptr<CompilerText> Into,
                           std::function<void(const PPConditional &)> Ended) {
  PP.addPPCallbacks(std::make_unique<Listener>(PP, std::move(Into),
                                               std::move(Ended)));
}

} // namespace rcache
