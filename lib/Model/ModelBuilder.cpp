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
#include "Attributes.h"
#include "BodyEffects.h"
#include "BuiltinVars.h"
#include "Effects.h"
#include "Executor.h"
#include "FusionLoops.h"
#include "InsertionPoint.h"
#include "LaunchSites.h"
#include "Locals.h"
#include "PrivateUses.h"
#include "Reshape.h"
#include "SpinWaits.h"
#include "UsedNames.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/Mangle.h"
#include "clang/AST/TypeLoc.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "rcache/ThreadsInLine.h"

using namespace clang;

namespace rcache {
namespace {

class Builder {
public:
  Builder(ASTContext &AC, const TokenRecorder::Impl &Tokens,
          const LaunchTable &Launches, const ModelOptions &Opts,
          Preprocessor &PP)
      : AC(AC), SM(AC.getSourceManager()), Tokens(Tokens), Launches(Launches),
        Opts(Opts), PP(PP), Used(std::make_shared<const UsedNames>(PP)),
        NamePrefix(Used->freshPrefix()) {}

  std::unique_ptr<KernelModel> build(const KernelDecl &K);
  /// `formKey` of its model.
  std::string keyOf(const KernelDecl &K) { return formKey(*head(K)); }

private:
  std::unique_ptr<KernelModel> head(const KernelDecl &K);
  void templateArguments(KernelModel &M, const KernelDecl &K);
  bool declineHead(KernelModel &M, const KernelDecl &K);
  void body(KernelModel &M, const KernelDecl &K, FlatText &Flat);
  void paramTexts(KernelModel &M, const FlatText &Flat, const FunctionDecl *F,
                  TextRange All);
  bool flatten(KernelModel &M, FlatText &Flat, const KernelDecl &K);
  void templateHead(KernelModel &M, const FlatText &Flat,
                    const FunctionTemplateDecl *T);
  void parameters(KernelModel &M, const KernelDecl &K);
  void builtinSymbols(KernelModel &M, AffineArith &Arith);

  ASTContext &AC;
  const SourceManager &SM;
  const TokenRecorder::Impl &Tokens;
  const LaunchTable &Launches;
  const ModelOptions &Opts;
  Preprocessor &PP;
  const std::shared_ptr<const UsedNames> Used;
  const std::string NamePrefix;
};

std::string templateArgText(const TemplateArgument &A, ASTContext &AC) {
  PrintingPolicy P(AC.getLangOpts());
  P.SuppressTagKeyword = true;
  P.SuppressUnwrittenScope = true;
  switch (A.getKind()) {
  case TemplateArgument::Type:
    return A.getAsType().getAsString(P);
  case TemplateArgument::Integral: {
    const QualType T = A.getIntegralType();
    if (T->isBooleanType())
      return A.getAsIntegral().getBoolValue() ? "true" : "false";
    llvm::SmallString<16> S;
    A.getAsIntegral().toString(S);
    std::string Text = S.str().str();
    if (T->isUnsignedIntegerOrEnumerationType() &&
        A.getAsIntegral().getActiveBits() > 63)
      Text += "ull";
    else if (A.getAsIntegral().isMinSignedValue() && AC.getIntWidth(T) == 64)
      Text = "(-9223372036854775807ll - 1)";
    return T->isEnumeralType() ? "(" + T.getAsString(P) + ")" + Text : Text;
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
           return P->getIdentifier() && !P->isParameterPack() &&
                  !P->isImplicit(); // of `auto` as a parameter's type
         });
}

/// Are types that have no name of their own, or are none outside a function, in
/// \p T: lambdas, `struct { .. }`, local classes?
bool isUnnameable(QualType T) {
  T = T.getCanonicalType();
  while (true) {
    if (T->isPointerType() || T->isReferenceType())
      T = T->getPointeeType();
    else if (auto *A = T->getAsArrayTypeUnsafe())
      T = A->getElementType();
    else
      break;
  }
  if (auto *F = T->getAs<FunctionProtoType>())
    return isUnnameable(F->getReturnType()) ||
           llvm::any_of(F->param_types(), isUnnameable);
  const TagDecl *D = T->getAsTagDecl();
  if (!D)
    return false;
  if (!D->getIdentifier() || D->getParentFunctionOrMethod())
    return true;
  if (auto *S = dyn_cast<ClassTemplateSpecializationDecl>(D))
    for (const TemplateArgument &A : S->getTemplateArgs().asArray())
      if (A.getKind() == TemplateArgument::Type && isUnnameable(A.getAsType()))
        return true;
  for (const DeclContext *C = D->getDeclContext(); C; C = C->getParent())
    if (auto *Outer = dyn_cast<RecordDecl>(C);
        Outer &&
        (!Outer->getIdentifier() ||
         isUnnameable(Outer->getASTContext().getCanonicalTagType(Outer))))
      return true;
  return false;
}

/// Can host code tell whether a parameter's argument is this one?
bool canBeCompared(const TemplateArgument &A, const NamedDecl *Param) {
  if (A.getKind() == TemplateArgument::Type)
    return !isUnnameable(A.getAsType());
  // `template <auto V>`: 'c' and 99 are two arguments.
  auto *V = dyn_cast_or_null<NonTypeTemplateParmDecl>(Param);
  return V && !V->getType()->getContainedDeducedType() &&
         (A.getKind() == TemplateArgument::Integral ||
          A.getKind() == TemplateArgument::NullPtr);
}

/// Does the name alone not tell which function is meant?
bool isOverloaded(const FunctionDecl *F) {
  const auto Found =
      F->getDeclContext()->getRedeclContext()->lookup(F->getDeclName());
  return std::distance(Found.begin(), Found.end()) > 1;
}

/// From the blocks of launches to those of a text in another form.
void scale(Geometry &G, const TextForm &Form) {
  if (Form.OfBlock) {
    G.ConstBlock = Form.OfBlock;
    G.OtherBlocks.clear();
    G.AllLaunchesConst &= G.SeenBlocks.size() == 1;
    if (!G.SeenBlocks.empty())
      G.SeenBlocks = {*Form.OfBlock};
  }
  if (G.ConstBlock)
    G.ConstBlock = blockOfText(*G.ConstBlock, Form);
  for (auto &B : G.OtherBlocks)
    B = blockOfText(B, Form);
  for (auto &B : G.SeenBlocks)
    B = blockOfText(B, Form);
  if (G.MaxThreads)
    *G.MaxThreads *= threadsOfText(Form);
}

/// Fills TemplateArgs, which are part of the signature.
void Builder::templateArguments(KernelModel &M, const KernelDecl &K) {
  auto *Args = K.Pattern && !K.Uninstantiated
                   ? K.Def->getTemplateSpecializationArgs()
                   : nullptr;
  if (!Args)
    return;
  const TemplateParameterList *Params =
      K.Pattern->getDescribedFunctionTemplate()
          ? K.Pattern->getDescribedFunctionTemplate()->getTemplateParameters()
          : nullptr;
  std::string List;
  for (unsigned I = 0; I < Args->size(); ++I) {
    TemplateArg A;
    if (Params && I < Params->size())
      A.Name = Params->getParam(I)->getNameAsString();
    A.IsType = Args->get(I).getKind() == TemplateArgument::Type;
    A.Value = templateArgText(Args->get(I), AC);
    A.Nameless = !canBeCompared(Args->get(I), Params && I < Params->size()
                                                  ? Params->getParam(I)
                                                  : nullptr);
    List += (I ? ", " : "") + A.Value;
    M.TemplateArgs.push_back(A);
  }
  M.Signature += "<" + List + ">";
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
  M->MangledName = ASTNameGenerator(F->getASTContext()).getName(F);
  M->Pos = sourcePos(SM, F->getLocation());
  M->InMainFile = K.InMainFile;
  M->ReopensNamespaces =
      !K.InMainFile || (F->getLexicalDeclContext()->getRedeclContext() !=
                        F->getDeclContext()->getRedeclContext());
  for (const DeclContext *C = F->getDeclContext(); C; C = C->getParent())
    if (auto *N = dyn_cast<NamespaceDecl>(C))
      M->Namespaces.insert(M->Namespaces.begin(), N->isAnonymousNamespace()
                                                      ? ""
                                                      : N->getNameAsString());
  M->IsTemplate = K.Pattern != nullptr;
  M->NamePrefix = NamePrefix;
  M->Used = Used;
  for (const DeclContext *C = F->getLexicalDeclContext(); C;
       C = C->getLexicalParent())
    if (auto *L = dyn_cast<LinkageSpecDecl>(C))
      M->InLinkageSpec |= L->hasBraces();
  auto Hides = [&](const NamedDecl *P) {
    M->NeedsQualifiedName |= P->getDeclName() == F->getDeclName();
  };
  llvm::for_each(F->parameters(), Hides);
  // `void ns::k(..)`: what stands beside it is outside of its namespace.
  M->NeedsQualifiedName |= (K.Pattern ? K.Pattern : F)->isOutOfLine();
  if (K.Pattern && K.Pattern->isOutOfLine())
    M->Declines.push_back({DeclineCode::TemplateForm, "it is defined outside of its namespace",
                           sourcePos(SM, F->getLocation())});
  // `using namespace std;` brings copy, fill, ...
  for (const UsingDirectiveDecl *U :
       F->getASTContext().getTranslationUnitDecl()->using_directives())
    M->NeedsQualifiedName |=
        !U->isImplicit() && !U->getNominatedNamespace()->isAnonymousNamespace();
  if (auto *T =
          K.Pattern ? K.Pattern->getDescribedFunctionTemplate() : nullptr) {
    llvm::for_each(*T->getTemplateParameters(), Hides);
    for (const FunctionDecl *S : T->specializations())
      M->HasSpecialisations |=
          S->getTemplateSpecializationKind() == TSK_ExplicitSpecialization;
  }
  templateArguments(*M, K);
  if (auto It = Launches.ByKernel.find(F->getCanonicalDecl());
      It != Launches.ByKernel.end())
    M->Launches = It->second;
  for (const auto &[Name, Pos] : Launches.Unseen)
    if (Name == M->Name)
      M->UnseenLaunches.push_back(Pos);
  if (M->Launches.empty())
    if (auto It = Launches.NamedAt.find(F->getCanonicalDecl());
        It != Launches.NamedAt.end())
      M->NamedAt = It->second;
  M->LaunchedEx = Launches.LaunchedEx.lookup(F->getCanonicalDecl());
  M->Geo = findGeometry(F, M->Launches);
  assumeBlock(F, Opts.AssumedBlock, M->Geo);
  if (auto Form = Opts.Forms.find(formKey(*M)); Form != Opts.Forms.end()) {
    M->Form = Form->second;
    scale(M->Geo, M->Form);
  }
  if (Opts.Only)
    M->Geo.ConstBlock = Opts.Only->second;
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
      Both(" " + paramName(P, M.NamePrefix));
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
  // Only kernels may have it, and a copy of a value is constant anyway.
  for (const std::string Grid :
       {"__grid_constant__", "__attribute__((grid_constant))"})
    for (size_t At; (At = M.LaunchParamsText.find(Grid)) != std::string::npos;)
      M.LaunchParamsText.erase(At, Grid.size());
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
  if (FunctionTypeLoc TL = F->getFunctionTypeLoc()) {
    auto Open = Flat.outerRange(TL.getLParenLoc());
    auto Close = Flat.outerRange(TL.getRParenLoc());
    if (Open && Close)
      paramTexts(M, Flat, F, {Open->End, Close->Begin});
  }
  if (auto *T = F->getDescribedFunctionTemplate())
    templateHead(M, Flat, T);
  return true;
}

void Builder::templateHead(KernelModel &M, const FlatText &Flat,
                           const FunctionTemplateDecl *T) {
  const TemplateParameterList *List = T->getTemplateParameters();
  auto R = Flat.outerRange({List->getTemplateLoc(), List->getRAngleLoc()});
  if (!R)
    return;
  unsigned Done = R->Begin;
  for (const NamedDecl *P : *List) {
    SourceRange Default;
    bool Inherited = false;
    if (auto *Type = dyn_cast<TemplateTypeParmDecl>(P)) {
      if (Type->hasDefaultArgument())
        Default = Type->getDefaultArgument().getSourceRange();
      Inherited = Type->defaultArgumentWasInherited();
    } else if (auto *Value = dyn_cast<NonTypeTemplateParmDecl>(P)) {
      if (Value->hasDefaultArgument())
        Default = Value->getDefaultArgument().getSourceRange();
      Inherited = Value->defaultArgumentWasInherited();
    }
    auto Place = Flat.outerRange(P->getSourceRange());
    if (!Inherited || Default.isInvalid() || !Place)
      continue;
    M.TemplateHead += M.text({Done, Place->End}) + " = " +
                      Lexer::getSourceText(SM.getExpansionRange(Default), SM,
                                           AC.getLangOpts())
                          .str();
    Done = Place->End;
  }
  M.TemplateHead += M.text({Done, R->End});
}

/// Declines what a launch function could not pass on as the launch does.
void Builder::parameters(KernelModel &M, const KernelDecl &K) {
  auto Give = [&](const ParmVarDecl *P, const char *Why) {
    M.Declines.push_back({DeclineCode::ParameterForm,
                          "'" + P->getNameAsString() + "' " + Why,
                          sourcePos(SM, P->getLocation())});
  };
  // Of parameters a launch takes 4096 bytes, or 32764 from sm_70 and CUDA 12.1 on; the
  // rewritten kernel has three words more at most.
  constexpr uint64_t More = 16;
  uint64_t Bytes = 0;
  for (const ParmVarDecl *P : K.Def->parameters()) {
    const QualType T = P->getType()->isReferenceType() ? AC.getPointerType(P->getType())
                                                       : P->getType();
    if (T->isDependentType() || T->isIncompleteType())
      continue;
    Bytes = llvm::alignTo(Bytes, AC.getTypeAlignInChars(T).getQuantity()) +
            uint64_t(AC.getTypeSizeInChars(T).getQuantity());
    for (const uint64_t Most : {4096, 32764})
      if (Bytes <= Most && Bytes + More > Most)
        Give(P, "leaves no room for parameters of the rewritten kernel");
  }
  for (const ParmVarDecl *P : K.Def->parameters()) {
    if (const CXXRecordDecl *R = P->getType()->getAsCXXRecordDecl();
        R && R->hasDefinition() &&
        (!R->hasTrivialDestructor() || R->hasNonTrivialCopyConstructor() ||
         R->hasNonTrivialMoveConstructor()))
      Give(P, "is copied by a function of its class");
    if (P->hasAttr<CUDAGridConstantAttr>() &&
        M.ParamsText.find("grid_constant") == std::string::npos)
      Give(P, "is a __grid_constant__ behind a macro");
    // Names that launch functions mention.
    if (P->getIdentifier() &&
        llvm::is_contained({"dim3", "size_t", "cudaStream_t", "cudaError_t",
                            "cudaLaunchKernel", "cudaPeekAtLastError"},
                           P->getName()))
      Give(P, "has the name of something of CUDA");
  }
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
    const isl::set OfAxis = T.ge_set(Arith.constant(0))
                                .intersect(T.lt_set(Bd))
                                .intersect(Bd.ge_set(Arith.constant(1)))
                                .intersect(Bd.le_set(Arith.constant(MaxBlock)));
    C = C.intersect(OfAxis);
    Arith.addFact(OfAxis);
    Arith.addFact(Arith.symbol(builtinId(Symbol::BlockIdx, A))
                      .lt_set(Arith.symbol(builtinId(Symbol::GridDim, A))));
  }
  M.Context = C;
}

/// What is said by the declaration alone. False: nothing of the body counts.
bool Builder::declineHead(KernelModel &M, const KernelDecl &K) {
  auto Give = [&](DeclineCode Code, const std::string &Detail) {
    M.Declines.push_back({Code, Detail, M.Pos});
  };
  if (K.Uninstantiated) {
    Give(DeclineCode::NotInstantiated, unseenLaunches(M));
    return false;
  }
  if (K.Def->isInvalidDecl() || isa<CXXMethodDecl>(K.Def)) {
    Give(K.Def->isInvalidDecl() ? DeclineCode::ParseError
                                : DeclineCode::UnsupportedStatement,
         "");
    return false;
  }
  if (!namedTemplateParams(K))
    Give(DeclineCode::TemplateForm, "");
  if (K.Def->getTemplateSpecializationKind() == TSK_ExplicitSpecialization)
    Give(DeclineCode::TemplateForm, "an explicit specialisation");
  if (auto *T = K.Pattern ? K.Pattern->getDescribedFunctionTemplate() : nullptr;
      (T && T->hasAssociatedConstraints()) ||
      K.Def->getTrailingRequiresClause())
    Give(DeclineCode::TemplateForm, "its parameters have constraints");
  if (auto O = Tokens.Compilers->in(K.Def, SM))
    M.Declines.push_back(
        {O->Code, O->Detail, sourcePos(SM, SM.getExpansionLoc(O->Loc))});
  kernelAttributes(M, K.Pattern ? K.Pattern : K.Def, Tokens, SM);
  parameters(M, K);
  return true;
}

/// Fills what the body says. May throw isl::exception (budget).
void Builder::body(KernelModel &M, const KernelDecl &K, FlatText &Flat) {
  AffineArith Arith(M);
  builtinSymbols(M, Arith);
  Locals L(AC, M, Flat, K.Def);
  for (const Obstacle &O : findObstacles(K.Def, M))
    M.Declines.push_back({O.Code, O.Detail, sourcePos(SM, O.Loc)});
  if (const auto O = spinWait(K.Def, L))
    M.Declines.push_back({O->Code, O->Detail, sourcePos(SM, O->Loc)});
  std::optional<Obstacle> NotUnderstood = noteEffects(K.Def, M, Flat, L);
  Executor Exec(AC, M, Flat, Arith, L);
  Exec.run(K.Def);
  assignEffects(M);
  findPrivateArrays(K.Def, M, Flat, L);
  if (!NotUnderstood)
    NotUnderstood = unseenElement(K.Def, M, Flat);
  if (NotUnderstood && M.Declines.empty())
    M.Declines.push_back({NotUnderstood->Code, NotUnderstood->Detail,
                          sourcePos(SM, NotUnderstood->Loc)});
  reshapeArrays(M);
  const auto Dynamic =
      llvm::count_if(M.Arrays, [](const SharedArray &A) { return A.Dynamic; });
  if (Dynamic > 1)
    M.Declines.push_back({DeclineCode::DynamicArrays,
                          std::to_string(Dynamic) + " arrays", M.Pos});
  if (M.Declines.empty())
    noteSumsInDoubt(K.Def, M, L, Flat);
}

std::unique_ptr<KernelModel> Builder::build(const KernelDecl &K) {
  FlatText Flat(SM, Tokens);
  std::unique_ptr<KernelModel> M;
  for (unsigned Round = 0; Round < 8; ++Round) {
    M = head(K);
    if (!flatten(*M, Flat, K)) {
      M->Declines.push_back(
          {DeclineCode::Macro,
           "the definition does not begin and end in one file", M->Pos});
      return M;
    }
    placeNewCode(*M, K, Launches, Tokens, PP);
    if (!declineHead(*M, K))
      return M;
    auto Done = guarded([&] {
      const AffineContext::Limit Within(*M->Ctx);
      body(*M, K, Flat);
      return true;
    });
    if (!Done) {
      // What there is may be incomplete: only the head is kept.
      std::string Why = llvm::toString(Done.takeError());
      M = head(K);
      flatten(*M, Flat, K);
      placeNewCode(*M, K, Launches, Tokens, PP);
      M->Declines.push_back({DeclineCode::TooHard, Why, M->Pos});
      return M;
    }
    if (!Flat.needsRebuild())
      return M;
  }
  M->Declines.push_back({DeclineCode::Macro, "", M->Pos});
  return M;
}

} // namespace

std::vector<std::unique_ptr<KernelModel>>
buildModels(ASTContext &AC, Preprocessor &PP, const TokenRecorder &Recorder,
            const ModelOptions &Opts) {
  const TokenRecorder::Impl &Tokens = Recorder.impl();
  LaunchTable Launches = findLaunches(AC, Tokens);
  Builder B(AC, Tokens, Launches, Opts, PP);
  std::vector<std::unique_ptr<KernelModel>> Models;
  for (const KernelDecl &K : findKernels(AC, Launches)) {
    if (Opts.Only && Opts.Only->first != B.keyOf(K))
      continue;
    Models.push_back(B.build(K));
    for (LaunchSite &L : Models.back()->Launches)
      L.Instantiation = Models.size() - 1;
  }
  return Models;
}

} // namespace rcache
