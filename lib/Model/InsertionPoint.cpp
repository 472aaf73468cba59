// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See InsertionPoint.h.

#include "InsertionPoint.h"
#include "Anchors.h"
#include "MacroPlaces.h"
#include "NamesBehind.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Lex/Preprocessor.h"
#include <algorithm>

using namespace clang;

namespace rcache {

/// The offset of the last type that an instantiation of the template \p T names
/// and that the main file declares; 0: there is none.
static unsigned lastTypeNamed(const FunctionTemplateDecl *T,
                              const SourceManager &SM) {
  unsigned Last = 0;
  for (const FunctionDecl *F : T->specializations())
    for (const TemplateArgument &A :
         F->getTemplateSpecializationArgs()->asArray()) {
      if (A.getKind() != TemplateArgument::Type)
        continue;
      QualType Of = A.getAsType();
      while (!Of->getPointeeType().isNull())
        Of = Of->getPointeeType();
      const TagDecl *D = Of->getAsTagDecl();
      const SourceLocation L =
          D && !D->getParentFunctionOrMethod() // nobody outside can name that
              ? SM.getExpansionLoc(D->getLocation())
              : SourceLocation();
      if (L.isValid() && SM.getFileID(L) == SM.getMainFileID())
        Last = std::max(Last, SM.getFileOffset(L));
    }
  return Last;
}

namespace {

class PointFinder {
public:
  PointFinder(const KernelModel &M, const KernelDecl &K, const LaunchTable &Launches,
         const TokenRecorder::Impl &Tokens, const SourceManager &SM)
      : M(M), K(K), Launches(Launches), Tokens(Tokens), SM(SM) {}

  std::optional<unsigned> find() const {
    std::optional<unsigned> At;
    if (M.InMainFile && M.ReopensNamespaces &&
        !K.Def->getLexicalDeclContext()
             ->getRedeclContext()
             ->isTranslationUnit())
      return std::nullopt; // `namespace a { void b::k() {} }`
    if (M.InMainFile)
      At = behindKernel();
    else if (auto It = Launches.FirstUse.find(K.Def->getCanonicalDecl());
             It != Launches.FirstUse.end())
      At = inFrontOf(It->second);
    if (!At)
      return std::nullopt;
    // In a conditional block with alternatives, a launch outside it would be
    // changed for all of them.
    for (const auto &C : Tokens.Conditionals) {
      if (!C.HasElse || SM.getFileID(C.Begin) != SM.getMainFileID())
        continue;
      unsigned Begin = SM.getFileOffset(C.Begin), End = SM.getFileOffset(C.End);
      if (*At < Begin || *At > End)
        continue;
      for (const LaunchSite &L : M.Launches)
        if (L.Editable && (L.Begin < Begin || L.Begin > End))
          return std::nullopt;
    }
    return At;
  }

private:
  const KernelModel &M;
  const KernelDecl &K;
  const LaunchTable &Launches;
  const TokenRecorder::Impl &Tokens;
  const SourceManager &SM;

  /// The offset in the main file of the first token of the declaration that \p
  /// Use stands at the beginning of; nullopt: none is recorded, or the kernel
  /// is declared in it.
  std::optional<unsigned> inFrontOf(SourceLocation Use) const {
    if (SM.getFileID(SM.getExpansionLoc(Use)) != SM.getMainFileID())
      return std::nullopt;
    // `static` or a template head may stand in front of what clang calls its
    // beginning.
    auto Token = Tokens.ByLocation.find(Use.getRawEncoding());
    if (Token == Tokens.ByLocation.end())
      return std::nullopt;
    unsigned First = firstTokenOfDeclaration(Tokens, SM, Token->second);
    // A header that is included in a namespace with the launch.
    if (!SM.isBeforeInTranslationUnit(K.Def->getLocation(),
                                      Tokens.Tokens[First].Loc))
      return std::nullopt;
    return SM.getFileOffset(SM.getExpansionLoc(Tokens.Tokens[First].Loc));
  }

  /// Behind the kernel; in front of its first launch where an instantiation
  /// names a type that stands behind it, which the launch function will name.
  std::optional<unsigned> behindKernel() const {
    const FunctionTemplateDecl *T = K.Def->getPrimaryTemplate();
    const unsigned Type = T ? lastTypeNamed(T, SM) : 0;
    if (Type < M.DefEnd.Offset)
      return M.DefEnd.Offset;
    std::optional<unsigned> First;
    for (const FunctionDecl *F : T->specializations())
      if (auto It = Launches.FirstUse.find(F->getCanonicalDecl());
          It != Launches.FirstUse.end())
        if (auto At = inFrontOf(It->second))
          First = std::min(*At, First.value_or(*At));
    if (!First || *First <= Type || !M.Namespaces.empty() || M.InLinkageSpec)
      return std::nullopt;
    return First;
  }
};

/// Is \p T, a parameter's type, one that has the same name everywhere?
bool isNamedAlike(QualType T) {
  T = T.getCanonicalType();
  while (T->isPointerType())
    T = T->getPointeeType();
  return T->isBuiltinType();
}

bool isConditional(unsigned At, const TokenRecorder::Impl &Tokens, const SourceManager &SM) {
  return llvm::any_of(Tokens.Conditionals, [&](const auto &C) {
    return SM.getFileID(C.Begin) == SM.getMainFileID() &&
           SM.getFileOffset(C.Begin) < At && At < SM.getFileOffset(C.End);
  });
}

/// Where the launch function of \p K is declared for launches that the definition
/// follows; Why: nowhere, for this reason.
struct Earlier {
  std::optional<unsigned> At;
  std::string Why;
};

/// What keeps a launch function from being declared in front of the kernel; "": nothing.
std::string notDeclarable(const KernelModel &M, const FunctionDecl *Def) {
  if (M.IsTemplate)
    return "is a template";
  if (M.ReopensNamespaces)
    return "is defined outside of its namespace";
  if (M.InLinkageSpec)
    return "is defined between the braces of extern \"C\"";
  for (const ParmVarDecl *P : Def->parameters()) {
    if (P->hasDefaultArg())
      return "has a default argument";
    if (!isNamedAlike(P->getType()))
      return "has a parameter whose type need not be known there ('" +
             P->getType().getAsString() + "')";
  }
  return "";
}

/// Behind the first declaration of \p K at a place that is always compiled; where that
/// is in a header, or one of several in a declaration, in front of the first launch.
Earlier earlierDeclaration(const KernelModel &M, const KernelDecl &K,
                           const LaunchTable &Launches, const TokenRecorder::Impl &Tokens,
                           const SourceManager &SM) {
  const FunctionDecl *Def = K.Def;
  if (std::string Why = notDeclarable(M, Def); !Why.empty())
    return {std::nullopt, Why};
  std::optional<unsigned> First;
  for (const FunctionDecl *D : Def->redecls()) {
    const SourceLocation End = Lexer::findLocationAfterToken(
        D->getEndLoc(), tok::semi, SM, Def->getASTContext().getLangOpts(), false);
    const DeclContext *In = D->getLexicalDeclContext();
    if (D == Def || End.isInvalid() || !D->getLocation().isFileID() ||
        SM.getFileID(End) != SM.getMainFileID() || isa<LinkageSpecDecl>(In) ||
        !In->isFileContext() || !In->Equals(Def->getLexicalDeclContext()))
      continue;
    const unsigned At = SM.getFileOffset(End);
    if (!isConditional(At, Tokens, SM))
      First = std::min(At, First.value_or(At));
  }
  if (First)
    return {First, ""};
  const auto Use = Launches.FirstUse.find(Def->getCanonicalDecl());
  const auto Token = Use == Launches.FirstUse.end()
                         ? Tokens.ByLocation.end()
                         : Tokens.ByLocation.find(Use->second.getRawEncoding());
  if (Token == Tokens.ByLocation.end() || !M.Namespaces.empty())
    return {std::nullopt, "has no declaration of its own in the file and the namespace"};
  const SourceLocation L =
      Tokens.Tokens[firstTokenOfDeclaration(Tokens, SM, Token->second)].Loc;
  if (!L.isFileID() || SM.getFileID(L) != SM.getMainFileID())
    return {std::nullopt, "is first launched by a macro's text"};
  const unsigned At = SM.getFileOffset(L);
  if (isConditional(At, Tokens, SM))
    return {std::nullopt, "is first declared or launched in a branch of the preprocessor"};
  return {At, ""};
}

/// A name of the toolkit that launch functions are written in and that a namespace
/// around \p F has for something else; "": none.
std::string hiddenByNamespace(const FunctionDecl *F) {
  ASTContext &AC = F->getASTContext();
  for (const DeclContext *In = F->getDeclContext(); In && !In->isTranslationUnit();
       In = In->getParent())
    for (const char *Name : {"dim3", "size_t", "cudaStream_t", "cudaError_t", "cudaSuccess",
                             "cudaLaunchKernel", "cudaGetLastError"})
      if (!In->isTransparentContext() &&
          !In->getPrimaryContext()->lookup(&AC.Idents.get(Name)).empty())
        return Name;
  return "";
}

} // namespace

void placeNewCode(KernelModel &M, const KernelDecl &K, const LaunchTable &Launches,
                  const TokenRecorder::Impl &Tokens, Preprocessor &PP) {
  const SourceManager &SM = PP.getSourceManager();
  M.InsertOffset = PointFinder(M, K, Launches, Tokens, SM).find();
  if (!M.InsertOffset)
    return;
  if (std::string Name = hiddenByNamespace(K.Def); !Name.empty()) {
    M.Declines.push_back({DeclineCode::NameChanges,
                          "'" + Name + "' is declared in a namespace around the kernel", M.Pos});
    return;
  }
  const SourceLocation To =
      SM.getLocForStartOfFile(SM.getMainFileID()).getLocWithOffset(*M.InsertOffset);
  const FunctionDecl *const Text = K.Pattern ? K.Pattern : K.Def;
  M.ReadOtherwise = namesReadOtherwise(PP, Text->getSourceRange(), To);
  if (M.InMainFile && *M.InsertOffset == M.DefEnd.Offset) {
    const auto Early = [&](const LaunchSite &L) {
      return L.Editable && L.Begin < *M.InsertOffset;
    };
    if (llvm::none_of(M.Launches, Early))
      return;
    Earlier E = earlierDeclaration(M, K, Launches, Tokens, SM);
    M.DeclareOffset = E.At;
    for (LaunchSite &L : M.Launches)
      if (Early(L) && !E.At)
        L.WhyNot = E.Why;
    return;
  }
  for (const FunctionDecl *F : {Text, static_cast<const FunctionDecl *>(K.Def)})
    if (auto Name = nameOfAnother(F, F, To)) {
      M.Declines.push_back({DeclineCode::NameChanges,
                            "'" + *Name + "' is declared once more in front of its launches",
                            M.Pos});
      return;
    }
}

} // namespace rcache
