// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sequence that makes a model:
//
//     launches -> kernels -> for each: geometry, flattened text, names,
//     obstacles, symbolic execution
//
// The text comes first because all ranges are ranges of it; it is built again
// when the analysis finds that a macro left as written has to be expanded.

#include "rcache/ModelBuilder.h"
#include "AffineArith.h"
#include "Anchors.h"
#include "BodyEffects.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "Executor.h"
#include "FusionLoops.h"
#include "LaunchSites.h"
#include "Locals.h"
#include "Reshape.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

using namespace clang;

namespace rcache {
namespace {

class Builder {
public:
  Builder(ASTContext &AC, const TokenRecorder::Impl &Tokens,
          const LaunchTable &Launches, const ModelOptions &Opts)
      : AC(AC), SM(AC.getSourceManager()), Tokens(Tokens), Launches(Launches),
        Opts(Opts) {}

  std::unique_ptr<KernelModel> build(const KernelDecl &K);

private:
  std::unique_ptr<KernelModel> head(const KernelDecl &K);
  void paramTexts(KernelModel &M, const FlatText &Flat, const FunctionDecl *F,
                  TextRange All);
  bool flatten(KernelModel &M, FlatText &Flat, const KernelDecl &K);
  void builtinSymbols(KernelModel &M, AffineArith &Arith);
  void insertionPoint(KernelModel &M, const KernelDecl &K);

  ASTContext &AC;
  const SourceManager &SM;
  const TokenRecorder::Impl &Tokens;
  const LaunchTable &Launches;
  const ModelOptions &Opts;
};

std::string templateArgText(const TemplateArgument &A, ASTContext &AC) {
  PrintingPolicy P(AC.getLangOpts());
  P.SuppressTagKeyword = true;
  switch (A.getKind()) {
  case TemplateArgument::Type:
    return A.getAsType().getAsString(P);
  case TemplateArgument::Integral: {
    if (A.getIntegralType()->isBooleanType())
      return A.getAsIntegral().getBoolValue() ? "true" : "false";
    llvm::SmallString<16> S;
    A.getAsIntegral().toString(S);
    return S.str().str();
  }
  default: {
    std::string S;
    llvm::raw_string_ostream OS(S);
    A.print(P, OS, true);
    return S;
  }
  }
}

/// Whether the kernel's template can be repeated parameter by parameter.
bool namedTemplateParams(const KernelDecl &K) {
  auto *T = K.Pattern ? K.Pattern->getDescribedFunctionTemplate() : nullptr;
  return !T ||
         llvm::all_of(*T->getTemplateParameters(), [](const NamedDecl *P) {
           return P->getIdentifier() && !P->isParameterPack();
         });
}

/// Does the name alone not tell which function is meant?
bool isOverloaded(const FunctionDecl *F) {
  const auto Found =
      F->getDeclContext()->getRedeclContext()->lookup(F->getDeclName());
  return std::distance(Found.begin(), Found.end()) > 1;
}

/// From the blocks of launches to those of a text in another form.
void scale(Geometry &G, const TextForm &Form) {
  auto Scale = [&](std::array<int64_t, 3> &B) {
    for (size_t A = 0; A < 3; ++A)
      B[A] *= Form.Scale[A];
  };
  if (G.ConstBlock)
    Scale(*G.ConstBlock);
  for (auto &B : G.SeenBlocks)
    Scale(B);
  if (G.MaxThreads)
    *G.MaxThreads *= Form.Scale[0] * Form.Scale[1] * Form.Scale[2];
}

/// Names, namespaces, template arguments: what needs no text.
std::unique_ptr<KernelModel> Builder::head(const KernelDecl &K) {
  auto M = std::make_unique<KernelModel>();
  M->Ctx = std::make_shared<AffineContext>();
  const FunctionDecl *F = K.Def;
  M->Name = F->getNameAsString();
  M->QualifiedName = F->getQualifiedNameAsString();
  M->Overloaded = isOverloaded(F);
  M->Signature = M->QualifiedName;
  M->Pos = sourcePos(SM, F->getLocation());
  M->InMainFile = K.InMainFile;
  for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
    if (auto *N = dyn_cast<NamespaceDecl>(C))
      M->Namespaces.insert(M->Namespaces.begin(), N->isAnonymousNamespace()
                                                      ? ""
                                                      : N->getNameAsString());
  M->IsTemplate = K.Pattern != nullptr;
  if (K.Pattern && !K.Uninstantiated)
    if (auto *Args = F->getTemplateSpecializationArgs()) {
      const TemplateParameterList *Params =
          K.Pattern->getDescribedFunctionTemplate()
              ? K.Pattern->getDescribedFunctionTemplate()
                    ->getTemplateParameters()
              : nullptr;
      std::string List;
      for (unsigned I = 0; I < Args->size(); ++I) {
        TemplateArg A;
        if (Params && I < Params->size())
          A.Name = Params->getParam(I)->getNameAsString();
        A.IsType = Args->get(I).getKind() == TemplateArgument::Type;
        A.Value = templateArgText(Args->get(I), AC);
        List += (I ? ", " : "") + A.Value;
        M->TemplateArgs.push_back(A);
      }
      M->Signature += "<" + List + ">";
    }
  if (auto It = Launches.ByKernel.find(F->getCanonicalDecl());
      It != Launches.ByKernel.end())
    M->Launches = It->second;
  for (const auto &[Name, Pos] : Launches.Unseen)
    if (Name == M->Name)
      M->UnseenLaunches.push_back(Pos);
  M->Geo = findGeometry(F, M->Launches);
  if (auto Form = Opts.Forms.find(formKey(*M)); Form != Opts.Forms.end()) {
    M->Form = Form->second;
    scale(M->Geo, M->Form);
  }
  M->DeviceVariables = deviceVariables(F);
  M->Context = isl::set(M->Ctx->ctx(), "{ : }");
  return M;
}

/// Fills ParamsText and LaunchParamsText. \p All: what stands between the
/// parentheses.
void Builder::paramTexts(KernelModel &M, const FlatText &Flat,
                         const FunctionDecl *F, TextRange All) {
  unsigned Done = All.Begin;
  auto Both = [&](const std::string &T) {
    M.ParamsText += T;
    M.LaunchParamsText += T;
  };
  auto CopyTo = [&](unsigned To) {
    if (To > Done)
      Both(M.text({Done, To}));
    Done = std::max(Done, To);
  };
  for (const ParmVarDecl *P : F->parameters()) {
    auto Name = Flat.outerRange(P->getLocation());
    if (!Name)
      continue;
    if (P->getName().empty()) {
      CopyTo(Name->Begin); // where the name would stand
      Both(" " + paramName(P));
    } else {
      CopyTo(Name->End);
    }
    if (!P->hasDefaultArg())
      continue;
    const SourceRange Default = P->getDefaultArgRange();
    auto Value =
        P->hasInheritedDefaultArg() ? std::nullopt : Flat.outerRange(Default);
    if (!Value) { // in a declaration before this one
      auto Written = Lexer::getSourceText(SM.getExpansionRange(Default), SM,
                                          F->getASTContext().getLangOpts());
      if (auto End = Flat.outerRange(P->getEndLoc()))
        CopyTo(End->End);
      M.LaunchParamsText += " = " + Written.str();
      continue;
    }
    // What stands between the name and `=` belongs to the type.
    const size_t Assign = M.Text.rfind('=', Value->Begin);
    if (Assign == std::string::npos || Assign < Done)
      continue;
    CopyTo(static_cast<unsigned>(Assign));
    M.LaunchParamsText += M.text({static_cast<unsigned>(Assign), Value->End});
    Done = Value->End;
  }
  CopyTo(All.End);
}

/// Fills Text and the ranges of the definition's parts.
bool Builder::flatten(KernelModel &M, FlatText &Flat, const KernelDecl &K) {
  const FunctionDecl *F = K.Pattern ? K.Pattern : K.Def;
  const clang::Stmt *Body = F->getBody();
  if (!Body)
    return false;
  auto Range =
      definitionTokens(Tokens, SM, F->getLocation(), Body->getEndLoc());
  if (!Range)
    return false;
  auto [First, Last] = *Range;
  Flat.build(First, Last, Locals::anchorNames(F));
  M.Text = Flat.text();
  M.DefBegin = sourcePos(SM, Tokens.Tokens[First].Loc);
  SourceLocation End = SM.getExpansionRange(Body->getEndLoc()).getEnd();
  M.DefEnd = sourcePos(SM, End);
  // Behind the brace, the macro's parenthesis, or the name of a macro that ends
  // with the brace.
  const unsigned Length = Lexer::MeasureTokenLength(End, SM, AC.getLangOpts());
  M.DefEnd.Offset += Length;
  M.DefEnd.Column += Length;
  if (M.DefBegin.File != M.DefEnd.File)
    return false; // an included fragment ends it

  auto Name = Flat.outerRange(F->getLocation());
  auto BodyRange = Flat.outerRange(Body->getSourceRange());
  if (!Name || !BodyRange)
    return false;
  M.NameRange = *Name;
  M.BodyRange = *BodyRange;
  M.HeadRange = {0, Name->Begin};
  if (FunctionTypeLoc TL = F->getFunctionTypeLoc()) {
    auto Open = Flat.outerRange(TL.getLParenLoc());
    auto Close = Flat.outerRange(TL.getRParenLoc());
    if (Open && Close)
      paramTexts(M, Flat, F, {Open->End, Close->Begin});
  }
  if (auto *T = F->getDescribedFunctionTemplate()) {
    const TemplateParameterList *P = T->getTemplateParameters();
    if (auto R = Flat.outerRange({P->getTemplateLoc(), P->getRAngleLoc()}))
      M.TemplateHead = M.text(*R);
  }
  return true;
}

/// The twelve builtins, what is known of them, and the context.
void Builder::builtinSymbols(KernelModel &M, AffineArith &Arith) {
  const Geometry &G = M.Geo;
  int64_t MaxThreads = std::min<int64_t>(G.MaxThreads.value_or(1024), 1024);
  isl::set C = Arith.universe();
  for (unsigned A = 0; A < 3; ++A) {
    int64_t MaxBlock = std::min<int64_t>(A == 2 ? 64 : 1024, MaxThreads);
    if (G.ConstBlock)
      MaxBlock = std::max<int64_t>(1, (*G.ConstBlock)[A]);
    int64_t MaxGrid = A == 0 ? 2147483647 : 65535;
    Arith.addSymbol(builtinSymbol(Symbol::ThreadIdx, A), 0, MaxBlock - 1);
    Arith.addSymbol(builtinSymbol(Symbol::BlockIdx, A), 0, MaxGrid - 1);
    Arith.addSymbol(builtinSymbol(Symbol::BlockDim, A), 1, MaxBlock);
    Arith.addSymbol(builtinSymbol(Symbol::GridDim, A), 1, MaxGrid);
    isl::pw_aff T = Arith.symbol(builtinId(Symbol::ThreadIdx, A));
    isl::pw_aff Bd = Arith.symbol(builtinId(Symbol::BlockDim, A));
    C = C.intersect(T.ge_set(Arith.constant(0)))
            .intersect(T.lt_set(Bd))
            .intersect(Bd.ge_set(Arith.constant(1)))
            .intersect(Bd.le_set(Arith.constant(MaxBlock)));
    Arith.addFact(Arith.symbol(builtinId(Symbol::BlockIdx, A))
                      .lt_set(Arith.symbol(builtinId(Symbol::GridDim, A))));
  }
  Arith.addFact(C);
  M.Context = C;
}

void Builder::insertionPoint(KernelModel &M, const KernelDecl &K) {
  std::optional<unsigned> At;
  if (M.InMainFile) {
    At = M.DefEnd.Offset;
  } else {
    auto It = Launches.FirstUse.find(K.Def->getCanonicalDecl());
    if (It == Launches.FirstUse.end() ||
        SM.getFileID(SM.getExpansionLoc(It->second)) != SM.getMainFileID())
      return;
    // The first token of that declaration: `static` or a template head may
    // stand in front of what clang calls its beginning.
    auto Token = Tokens.ByLocation.find(It->second.getRawEncoding());
    if (Token == Tokens.ByLocation.end())
      return;
    unsigned First = firstTokenOfDeclaration(Tokens, SM, Token->second);
    At = SM.getFileOffset(SM.getExpansionLoc(Tokens.Tokens[First].Loc));
  }
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
        return;
  }
  M.InsertOffset = At;
}

std::unique_ptr<KernelModel> Builder::build(const KernelDecl &K) {
  FlatText Flat(SM, Tokens);
  std::unique_ptr<KernelModel> M;
  for (unsigned Round = 0; Round < 8; ++Round) {
    M = head(K);
    auto Give = [&](const char *Code, const std::string &Detail) {
      M->Declines.push_back({Code, Detail, M->Pos});
    };
    if (!flatten(*M, Flat, K)) {
      Give("macro", "the definition does not begin and end in one file");
      return M;
    }
    insertionPoint(*M, K);
    if (K.Uninstantiated) {
      Give("not-instantiated", unseenLaunches(*M));
      return M;
    }
    if (K.Def->isInvalidDecl() || isa<CXXMethodDecl>(K.Def)) {
      Give(K.Def->isInvalidDecl() ? "parse-error" : "unsupported-statement",
           "");
      return M;
    }
    if (!namedTemplateParams(K))
      Give("template-form", "");
    KernelModel *Model = M.get();
    auto Done = guarded([&] {
      AffineArith Arith(*Model);
      builtinSymbols(*Model, Arith);
      Locals L(AC, *Model, Flat, K.Def);
      for (const Obstacle &O : findObstacles(K.Def))
        Model->Declines.push_back({O.Code, O.Detail, sourcePos(SM, O.Loc)});
      std::optional<Obstacle> NotUnderstood =
          noteEffects(K.Def, *Model, Flat, L);
      Executor Exec(AC, *Model, Flat, Arith, L);
      Exec.run(K.Def);
      assignEffects(*Model);
      if (!NotUnderstood)
        NotUnderstood = unseenElement(K.Def, *Model, Flat);
      if (NotUnderstood && Model->Declines.empty())
        Model->Declines.push_back({NotUnderstood->Code, NotUnderstood->Detail,
                                   sourcePos(SM, NotUnderstood->Loc)});
      reshapeArrays(*Model);
      if (Model->Declines.empty())
        if (const BinaryOperator *Sum = fusedByUnrolling(K.Def, *Model, Flat)) {
          const SourceLocation At = SM.getExpansionLoc(Sum->getOperatorLoc());
          Model->Declines.push_back(
              {"fusion-unsettled", "", sourcePos(SM, At)});
        }
      return true;
    });
    if (!Done) {
      // What there is may be incomplete: only the head is kept.
      std::string Why = llvm::toString(Done.takeError());
      M = head(K);
      flatten(*M, Flat, K);
      insertionPoint(*M, K);
      Give("too-hard", Why);
      return M;
    }
    if (!Flat.needsRebuild())
      return M;
  }
  M->Declines.push_back({"macro", "", M->Pos});
  return M;
}

} // namespace

std::vector<KernelParam> KernelModel::declaredParams() const {
  std::vector<KernelParam> Declared;
  for (const KernelParam &P : Params)
    if (P.MemberOf < 0)
      Declared.push_back(P);
  return Declared;
}

int KernelModel::symbolIndex(const std::string &Id) const {
  for (size_t I = 0; I < Symbols.size(); ++I)
    if (Symbols[I].Id == Id)
      return I;
  return -1;
}

std::string textKey(const KernelModel &M) {
  return M.Pos.File + ":" + std::to_string(M.Pos.Line) + ":" + M.QualifiedName;
}

std::string formKey(const KernelModel &M) {
  return textKey(M) + " " + M.Signature;
}

std::string unseenLaunches(const KernelModel &M) {
  if (M.UnseenLaunches.empty())
    return "";
  std::string Text = M.UnseenLaunches.size() == 1 ? "a launch" : "launches";
  Text += " in parts of the file that a device-side parse leaves out";
  const char *Before = ": line ";
  for (const SourcePos &P : M.UnseenLaunches) {
    Text += Before + std::to_string(P.Line);
    Before = ", ";
  }
  return Text;
}

std::string KernelModel::launchCondition(const LaunchFact &F,
                                         const std::string &Grid,
                                         const std::string &Block) const {
  // In double: the product of three such values may not fit 64 bits, and near
  // Max it is exact.
  std::string Product, Signs;
  if (F.MultipleOf)
    return Symbols[symbolIndex(F.Factors[0])].Text + " % " +
           std::to_string(F.MultipleOf) + " == 0";
  for (const std::string &Id : F.Factors) {
    const Symbol &S = Symbols[symbolIndex(Id)];
    std::string T = S.Text;
    if (S.K == Symbol::BlockDim || S.K == Symbol::GridDim)
      T = (S.K == Symbol::BlockDim ? Block : Grid) + "." + "xyz"[S.Axis];
    else if (S.Signed)
      Signs += (Signs.empty() ? "" : " && ") + T + " >= 0";
    Product += (Product.empty() ? "(double)" : " * ") + T;
  }
  // A bound that the type keeps anyway.
  if (F.Factors.size() == 1) {
    const Symbol &S = Symbols[symbolIndex(F.Factors[0])];
    if (S.Bits < 64 &&
        F.Max >= (int64_t(1) << (S.Signed ? S.Bits - 1 : S.Bits)) - 1)
      return Signs.empty() ? "true" : Signs;
  }
  return (Signs.empty() ? "" : Signs + " && ") + Product +
         " <= " + std::to_string(F.Max) + ".0";
}

std::vector<std::unique_ptr<KernelModel>>
buildModels(ASTContext &AC, Preprocessor &, const TokenRecorder &Recorder,
            const ModelOptions &Opts) {
  const TokenRecorder::Impl &Tokens = Recorder.impl();
  LaunchTable Launches = findLaunches(AC, Tokens);
  Builder B(AC, Tokens, Launches, Opts);
  std::vector<std::unique_ptr<KernelModel>> Models;
  for (const KernelDecl &K : findKernels(AC, Launches)) {
    Models.push_back(B.build(K));
    for (LaunchSite &L : Models.back()->Launches)
      L.Instantiation = Models.size() - 1;
  }
  return Models;
}

} // namespace rcache
