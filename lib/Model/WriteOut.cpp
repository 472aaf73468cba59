// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WriteOut.h: which kernels, and what their instantiations agree about.

#include "rcache/WriteOut.h"
#include "Anchors.h"
#include "KernelWriter.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Preprocessor.h"
#include <map>
#include <set>

using namespace clang;

namespace rcache {

std::vector<const FunctionDecl *> kernelsOf(ASTContext &AST) {
  struct Definitions : ConstDynamicRecursiveASTVisitor {
    std::vector<const FunctionDecl *> Found;
    Definitions() { ShouldVisitTemplateInstantiations = true; }
    bool TraverseStmt(const clang::Stmt *) override { return true; }
    bool VisitFunctionDecl(const FunctionDecl *F) override {
      if (F->hasAttr<CUDAGlobalAttr>() && F->isThisDeclarationADefinition() &&
          F->getBody() && !F->isDependentContext())
        Found.push_back(F);
      return true;
    }
  } D;
  const SourceManager &SM = AST.getSourceManager();
  for (const Decl *X : AST.getTranslationUnitDecl()->decls())
    if (!SM.isInSystemHeader(SM.getExpansionLoc(X->getLocation())))
      D.TraverseDecl(X);
  return D.Found;
}

bool isOf(const KernelModel &K, const FunctionDecl *F, ASTContext &AST) {
  auto *Args = F->getTemplateSpecializationArgs();
  if (!Args || K.TemplateArgs.size() != Args->size())
    return !K.IsTemplate;
  PrintingPolicy P(AST.getLangOpts());
  P.SuppressTagKeyword = true;
  for (unsigned I = 0; I < Args->size(); ++I) {
    const TemplateArgument &A = Args->get(I);
    std::string S;
    if (A.getKind() == TemplateArgument::Type)
      S = A.getAsType().getAsString(P);
    else if (A.getKind() == TemplateArgument::Integral &&
             !A.getIntegralType()->isBooleanType()) {
      llvm::SmallString<16> N;
      A.getAsIntegral().toString(N);
      S = N.str().str();
    } else
      S = K.TemplateArgs[I].Value;
    if (S != K.TemplateArgs[I].Value)
      return false;
  }
  return true;
}

std::vector<SourceEdit>
writeOutCalls(ASTContext &AST, Preprocessor &PP,
              const std::vector<const KernelModel *> &Kernels, CallsToWrite Which) {
  std::vector<SourceEdit> All;
  if (Kernels.empty())
    return All;
  const SourceManager &SM = AST.getSourceManager();
  // Instantiations of a template: one place, one answer.
  std::map<std::pair<std::string, unsigned>,
           std::optional<std::vector<SourceEdit>>>
      ByPlace;
  std::set<std::pair<std::string, unsigned>> Disagree;
  for (const FunctionDecl *F : kernelsOf(AST)) {
    SourcePos Pos = sourcePos(SM, F->getLocation());
    const KernelModel *M = nullptr;
    bool Template = false;
    for (const KernelModel *K : Kernels)
      if (K->Pos == Pos) {
        Template |= K->IsTemplate;
        if (isOf(*K, F, AST))
          M = K;
      }
    if (!M) {
      if (Template) // an instantiation that is not asked for has a say as well
        Disagree.insert({Pos.File, Pos.Offset});
      continue;
    }
    const std::pair<std::string, unsigned> Place{Pos.File, Pos.Offset};
    auto Edits = writeOutIn(F, *M, PP, Which);
    auto &Known = ByPlace[Place];
    if (!Known)
      Known = std::move(Edits);
    else if (*Known != Edits)
      Disagree.insert(Place);
  }
  for (auto &[Place, Edits] : ByPlace)
    if (!Disagree.count(Place))
      All.insert(All.end(), Edits->begin(), Edits->end());
  std::stable_sort(All.begin(), All.end(),
                   [](const SourceEdit &A, const SourceEdit &B) {
                     return std::tie(A.File, A.Offset, A.Length) <
                            std::tie(B.File, B.Offset, B.Length);
                   });
  for (size_t I = 1; I < All.size(); ++I)
    if (All[I].File == All[I - 1].File &&
        All[I].Offset < All[I - 1].Offset + All[I - 1].Length)
      return {};
  return All;
}

std::string applySourceEdits(const std::string &Text, const std::string &File,
                             const std::vector<SourceEdit> &Edits) {
  std::string Out;
  unsigned Pos = 0;
  for (const SourceEdit &E : Edits) {
    if (E.File != File || E.Offset < Pos)
      continue;
    Out += Text.substr(Pos, E.Offset - Pos) + E.Text;
    Pos = E.Offset + E.Length;
  }
  return Out + Text.substr(Pos);
}

unsigned offsetBefore(unsigned Offset, const std::string &File,
                      const std::vector<SourceEdit> &Edits) {
  unsigned Grown = 0, Shrunk = 0; // of the edits that lie wholly before
  for (const SourceEdit &E : Edits) {
    if (E.File != File)
      continue;
    unsigned NewBegin = E.Offset + Grown - Shrunk;
    if (Offset < NewBegin)
      break;
    if (Offset < NewBegin + E.Text.size())
      return E.Offset;
    Grown += static_cast<unsigned>(E.Text.size());
    Shrunk += E.Length;
  }
  return Offset + Shrunk - Grown;
}

} // namespace rcache
