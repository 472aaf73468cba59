// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parse (lib/Driver) whose tree goes through the stages (lib/Pipeline.cpp). A
// kernel with errors, and what errors elsewhere may have changed, stays as it is.

#include "Frontend/Round.h"
#include "rcache/ModelBuilder.h"
#include "rcache/OwnedArrays.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <optional>

using llvm::StringRef;

namespace rcache {

std::string normalized(StringRef File) {
  llvm::SmallString<256> Path(File);
  llvm::sys::fs::make_absolute(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

namespace {

/// Bytes [Begin, End) of a file.
struct FileSpan {
  std::string File;
  unsigned Begin, End;
};

const ParseError *errorIn(const std::vector<ParseError> &Errors,
                          const FileSpan &Span) {
  const std::string File = normalized(Span.File);
  for (const ParseError &E : Errors)
    if (Span.Begin <= E.Pos.Offset && E.Pos.Offset < Span.End &&
        normalized(E.Pos.File) == File)
      return &E;
  return nullptr;
}

/// True when an error stands in a function that kernels may call.
class DeviceErrorFinder : public clang::DynamicRecursiveASTVisitor {
  const clang::SourceManager &SM;
  const std::vector<ParseError> &Errors;

public:
  bool Found = false;

  DeviceErrorFinder(const clang::SourceManager &SM,
                    const std::vector<ParseError> &Errors)
      : SM(SM), Errors(Errors) {}

  bool VisitFunctionDecl(clang::FunctionDecl *F) override {
    if (!F->doesThisDeclarationHaveABody() ||
        !F->hasAttr<clang::CUDADeviceAttr>())
      return true;
    auto [File, Begin] = SM.getDecomposedExpansionLoc(F->getBeginLoc());
    auto [EndFile, End] = SM.getDecomposedExpansionLoc(F->getEndLoc());
    auto Entry = SM.getFileEntryRefForID(File);
    if (File == EndFile && Entry &&
        errorIn(Errors, {Entry->getName().str(), Begin, End + 1}))
      Found = true;
    return !Found;
  }
};

/// Does a call load what \p V is, somewhere?
bool callLoads(const Value &V) {
  unsigned Below = 0;
  for (const ValueRef &O : V.Operands) {
    if (callLoads(*O))
      return true;
    Below |= O->Depends;
  }
  return (V.K == Value::Op || V.K == Value::Unknown) &&
         (V.Depends & DepGlobal & ~Below);
}

/// Is something staged that only a call could tell where it is loaded from?
bool callsHideLoads(const KernelModel &M) {
  return llvm::any_of(M.SharedAccesses, [](const SharedAccess &A) {
    return A.K == SharedAccess::Write && A.Stored && callLoads(*A.Stored);
  });
}

/// Does a function get a private array? Which elements are used, its text may tell.
bool handsArrays(const KernelModel &M) {
  return llvm::any_of(M.Privates, [](const PrivateArray &A) { return A.Handed; });
}

class RewriteHandler : public ParseHandler {
  const llvm::ArrayRef<Options> Opts;
  const std::map<std::string, TextForm> &Forms;
  const bool AllowErrors;
  std::vector<UnitMemory> &Memory;
  std::unique_ptr<TokenRecorder> Recorder;

public:
  bool Usable = true;
  std::vector<llvm::Expected<Result>> Rewrites; ///< one for each of Opts
  /// Calls to write out before another parse, and the texts they stand in.
  std::map<std::string, std::vector<SourceEdit>> WriteOut, WriteOutAlso;
  /// Bodies of declined kernels to try instead, in the same texts.
  std::vector<BodyEdit> Bodies;
  std::vector<ExplicitSums> Sums;
  std::map<std::string, std::vector<SourceEdit>> WriteOutSums;
  std::map<std::string, std::string> Texts;

  RewriteHandler(llvm::ArrayRef<Options> Opts,
                 const std::map<std::string, TextForm> &Forms, bool AllowErrors,
                 std::vector<UnitMemory> &Memory)
      : Opts(Opts), Forms(Forms), AllowErrors(AllowErrors), Memory(Memory) {}

  ~RewriteHandler() override {
    for (llvm::Expected<Result> &R : Rewrites)
      if (!R)
        llvm::consumeError(R.takeError());
  }

  void starting(clang::CompilerInstance &CI) override {
    Recorder = std::make_unique<TokenRecorder>(CI.getPreprocessor());
  }

  void parsed(clang::CompilerInstance &CI,
              const ParseOutcome &Outcome) override {
    Usable = Outcome.Errors.empty() ||
             (AllowErrors && errorsAreLocal(CI, Outcome.Errors));
    if (!Usable)
      return;
    std::vector<ParseError> All = Outcome.Errors;
    All.insert(All.end(), Outcome.Tolerated.begin(), Outcome.Tolerated.end());
    for (size_t I = 0; I < Opts.size(); ++I) {
      Options Adapted = Opts[I];
      Adapted.Arch = Outcome.Arch;
      Adapted.Forms = Forms;
      // With errors, not all of a text may have been understood.
      auto R = rewriteUnit(CI.getASTContext(), CI.getPreprocessor(), *Recorder,
                           Adapted, All.empty() ? &Memory[I] : nullptr);
      if (!All.empty() && R)
        R = withoutErrors(CI, All, std::move(*R), Adapted);
      Rewrites.push_back(std::move(R));
    }
    if (Outcome.Errors.empty()) {
      findWriteOut(CI);
      findBodies(CI);
      findSums(CI);
    }
  }

private:
  /// Kernels that calls keep from being rewritten, or from being planned well.
  void findWriteOut(clang::CompilerInstance &CI) {
    std::map<std::string, std::vector<const KernelModel *>> Kept, Hidden, Handed;
    for (size_t I = 0; I < Rewrites.size(); ++I) {
      llvm::Expected<Result> &R = Rewrites[I];
      if (!R)
        return;
      for (const KernelResult &K : R->Kernels)
        if (!K.Model || anyHas(K.Declines, TraitKeepsCalls))
          continue;
        else if (K.Verdict == KernelResult::Declined &&
                 anyHas(K.Declines, TraitHiddenByCall))
          Kept[textKey(*K.Model)].push_back(K.Model.get());
        else if (callsHideLoads(*K.Model))
          Hidden[textKey(*K.Model)].push_back(K.Model.get());
        else if (Opts[I].Private && handsArrays(*K.Model))
          Handed[textKey(*K.Model)].push_back(K.Model.get());
    }
    for (const auto &[Key, Of] : Kept)
      if (auto All = edits(CI, Of); !All.empty())
        WriteOut[Key] = std::move(All);
    for (const auto &[Key, Of] : Hidden)
      if (auto All = edits(CI, Of); !All.empty())
        WriteOutAlso[Key] = std::move(All);
    for (const auto &[Key, Of] : Handed)
      if (auto All = edits(CI, Of, CallsToWrite::Private); !All.empty())
        WriteOutAlso.try_emplace(Key, std::move(All));
  }

  std::vector<SourceEdit> edits(clang::CompilerInstance &CI,
                                const std::vector<const KernelModel *> &Of,
                                CallsToWrite Which = CallsToWrite::Hiding) {
    auto All = writeOutCalls(CI.getASTContext(), CI.getPreprocessor(), Of, Which);
    for (const SourceEdit &E : All)
      if (!textOf(CI, E.File))
        return {};
    return All;
  }

  /// The text of a file as it was parsed, which is kept in Texts.
  std::optional<std::string> textOf(clang::CompilerInstance &CI,
                                    const std::string &Name) {
    clang::SourceManager &SM = CI.getSourceManager();
    auto File = SM.getFileManager().getOptionalFileRef(Name);
    auto Buffer = File ? SM.getMemoryBufferForFileOrNone(*File) : std::nullopt;
    if (!Buffer)
      return std::nullopt;
    return Texts.try_emplace(Name, Buffer->getBuffer().str()).first->second;
  }

  /// Kernels that another text of the same may get rewritten.
  void findBodies(clang::CompilerInstance &CI) {
    if (!Rewrites.empty() && Rewrites.front())
      Bodies = otherBodies(
          Rewrites.front()->Kernels,
          [&](const std::string &File) { return textOf(CI, File); },
          Opts.front());
  }

  static bool hangsOnSums(const KernelResult &K) {
    auto IsFor = [&](DeclineCode Code) {
      return llvm::any_of(K.Declines, [&](const Decline &D) { return D.Code == Code; });
    };
    if (K.Verdict != KernelResult::Rewritten)
      return IsFor(DeclineCode::FusionUnsettled) ||
             (IsFor(DeclineCode::ComputedExchange) && mayBeOwnedButForSums(*K.Model));
    const bool Stays = K.ThePlan && llvm::all_of(K.ThePlan->Arrays, [](const ArrayPlan &A) {
      return A.isShared();
    });
    return K.Model->UnsettledSum.In != KernelModel::SumInDoubt::None ||
           (Stays && mayBeOwnedButForSums(*K.Model));
  }

  /// Kernels that a compiler could be asked about: those that are left for a sum, those
  /// that have fewer plans for one, and those whose arrays no warp owns for one.
  void findSums(clang::CompilerInstance &CI) {
    if (Rewrites.size() != 1 || !Rewrites.front() || !Opts.front().Roundings)
      return;
    std::vector<const KernelModel *> Of;
    for (const KernelResult &K : Rewrites.front()->Kernels)
      if (K.Model && hangsOnSums(K))
        Of.push_back(K.Model.get());
    if (Of.empty())
      return;
    Sums = explicitSums(CI.getASTContext(), Of);
    llvm::erase_if(Sums, [&](const ExplicitSums &S) { return !textOf(CI, S.File); });
    for (const KernelModel *M : Of)
      if (llvm::none_of(Sums, [&](const ExplicitSums &S) { return S.Key == textKey(*M); }))
        if (auto All = edits(CI, {M}, CallsToWrite::Numeric); !All.empty())
          WriteOutSums[textKey(*M)] = std::move(All);
  }

  /// A missing header may have held any macro or type; an error in a device
  /// function may change what any kernel computes.
  static bool errorsAreLocal(clang::CompilerInstance &CI,
                             const std::vector<ParseError> &Errors) {
    for (const ParseError &E : Errors)
      if (E.Pos.File.empty() || StringRef(E.Text).contains("file not found"))
        return false;
    DeviceErrorFinder Finder(CI.getSourceManager(), Errors);
    Finder.TraverseDecl(CI.getASTContext().getTranslationUnitDecl());
    return !Finder.Found;
  }

  /// The error in \p K's definition or launches; null: there is none.
  static const ParseError *errorOf(const KernelResult &K,
                                   const std::vector<ParseError> &Errors) {
    if (!K.Model)
      return nullptr;
    const KernelModel &M = *K.Model;
    if (auto *E = errorIn(
            Errors, {M.DefBegin.File, M.DefBegin.Offset, M.DefEnd.Offset}))
      return E;
    for (const LaunchSite &L : M.Launches)
      if (auto *E = errorIn(Errors, {L.Pos.File, L.Begin, L.End}))
        return E;
    return nullptr;
  }

  /// What keeps a kernel with \p E from being rewritten. Most of what was found
  /// in it says nothing.
  static std::vector<Decline> declinesOf(const KernelResult &K,
                                         const ParseError &E) {
    for (const Decline &D : K.Declines)
      if (has(D.Code, TraitDespiteErrors))
        return {D};
    return {{DeclineCode::ParseError, "clang: " + E.Text, E.Pos}};
  }

  /// \p All, or another rewrite without the kernels in which errors stand.
  llvm::Expected<Result> withoutErrors(clang::CompilerInstance &CI,
                                       const std::vector<ParseError> &Errors,
                                       Result All, Options Adapted) {
    llvm::StringSet<> Bad;
    std::vector<std::string> Good;
    for (KernelResult &K : All.Kernels) {
      if (!K.Model)
        continue;
      if (K.Verdict != KernelResult::Rewritten) {
        // What was found in a kernel with errors says nothing about it.
        if (K.Verdict == KernelResult::Declined)
          if (auto *E = errorOf(K, Errors))
            K.Declines = declinesOf(K, *E);
        continue;
      }
      if (errorOf(K, Errors))
        Bad.insert(K.Model->QualifiedName);
      else
        Good.push_back(K.Model->QualifiedName);
    }
    if (Bad.empty())
      return std::move(All);
    llvm::erase_if(Good, [&](const std::string &N) { return Bad.contains(N); });
    Adapted.Kernels = Good; // none, perhaps
    auto R = rewriteUnit(CI.getASTContext(), CI.getPreprocessor(), *Recorder,
                         Adapted);
    if (R)
      for (KernelResult &K : R->Kernels) {
        if (K.Model && Bad.contains(K.Model->QualifiedName)) {
          if (auto *E = errorOf(K, Errors))
            K.Declines = declinesOf(K, *E);
          continue;
        }
        if (K.Verdict == KernelResult::Rewritten)
          continue;
        // Left out of the second rewrite: the first one's reasons stand.
        for (const KernelResult &Old : All.Kernels)
          if (Old.Pos == K.Pos && Old.Name == K.Name)
            K.Declines = Old.Declines;
      }
    return R;
  }
};

} // namespace

llvm::Expected<Round> rewriteOnce(const ParseJob &Job,
                                  llvm::ArrayRef<Options> Opts,
                                  const std::map<std::string, TextForm> &Forms,
                                  bool AllowErrors,
                                  std::vector<UnitMemory> &Memory) {
  RewriteHandler Handler(Opts, Forms, AllowErrors, Memory);
  auto Parse = parseSource(Job, Handler);
  if (!Parse)
    return Parse.takeError();
  if (Handler.Usable && Handler.Rewrites.size() != Opts.size())
    return llvm::createStringError("the parse of '" + Job.File +
                                   "' ended early");

  Round Done;
  Done.Results.resize(Opts.size());
  for (size_t I = 0; I < Opts.size(); ++I) {
    FileResult &R = Done.Results[I];
    R.File = Job.File;
    R.Parse = *Parse;
    R.Usable = Handler.Usable;
    if (R.Usable) {
      if (!Handler.Rewrites[I])
        return Handler.Rewrites[I].takeError();
      R.Rewrite = std::move(*Handler.Rewrites[I]);
    }
  }
  Done.WriteOut = std::move(Handler.WriteOut);
  Done.WriteOutAlso = std::move(Handler.WriteOutAlso);
  Done.Bodies = std::move(Handler.Bodies);
  Done.Sums = std::move(Handler.Sums);
  Done.WriteOutSums = std::move(Handler.WriteOutSums);
  Done.Texts = std::move(Handler.Texts);
  return Done;
}

} // namespace rcache
