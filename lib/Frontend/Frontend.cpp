// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connects the parse (lib/Driver) with the stages (lib/Pipeline.cpp), and keeps
// a crash in either from taking the program down.

#include "Frontend/Frontend.h"
#include "rcache/ModelBuilder.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <optional>

using llvm::StringRef;

namespace rcache {
namespace {

/// Bytes [Begin, End) of a file.
struct FileSpan {
  std::string File;
  unsigned Begin, End;
};

std::string normalized(StringRef File) {
  llvm::SmallString<256> Path(File);
  llvm::sys::fs::make_absolute(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

bool anyErrorIn(const std::vector<ParseError> &Errors, const FileSpan &Span) {
  const std::string File = normalized(Span.File);
  for (const ParseError &E : Errors)
    if (Span.Begin <= E.Pos.Offset && E.Pos.Offset < Span.End &&
        normalized(E.Pos.File) == File)
      return true;
  return false;
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
        anyErrorIn(Errors, {Entry->getName().str(), Begin, End + 1}))
      Found = true;
    return !Found;
  }
};

class RewriteHandler : public ParseHandler {
  const Options &Opts;
  const bool AllowErrors;
  std::unique_ptr<TokenRecorder> Recorder;

public:
  bool Usable = true;
  std::optional<llvm::Expected<Result>> Rewrite;

  RewriteHandler(const Options &Opts, bool AllowErrors)
      : Opts(Opts), AllowErrors(AllowErrors) {}

  ~RewriteHandler() override {
    if (Rewrite && !*Rewrite)
      llvm::consumeError(Rewrite->takeError());
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
    Options Adapted = Opts;
    Adapted.Arch = Outcome.Arch;
    Rewrite.emplace(rewriteUnit(CI.getASTContext(), CI.getPreprocessor(),
                                *Recorder, Adapted));
    if (!Outcome.Errors.empty() && *Rewrite)
      dropKernelsWithErrors(CI, Outcome.Errors, Adapted);
  }

private:
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

  static bool hasErrors(const KernelResult &K,
                        const std::vector<ParseError> &Errors) {
    if (!K.Model)
      return false;
    const KernelModel &M = *K.Model;
    if (anyErrorIn(Errors,
                   {M.DefBegin.File, M.DefBegin.Offset, M.DefEnd.Offset}))
      return true;
    for (const LaunchSite &L : M.Launches)
      if (anyErrorIn(Errors, {L.Pos.File, L.Begin, L.End}))
        return true;
    return false;
  }

  /// Rewrites again without the kernels in which errors stand.
  void dropKernelsWithErrors(clang::CompilerInstance &CI,
                             const std::vector<ParseError> &Errors,
                             Options Adapted) {
    llvm::StringSet<> Bad;
    std::vector<std::string> Good;
    for (const KernelResult &K : (*Rewrite)->Kernels) {
      if (K.Verdict != KernelResult::Rewritten || !K.Model)
        continue;
      if (hasErrors(K, Errors))
        Bad.insert(K.Model->QualifiedName);
      else
        Good.push_back(K.Model->QualifiedName);
    }
    if (Bad.empty())
      return;
    llvm::erase_if(Good, [&](const std::string &N) { return Bad.contains(N); });
    // No names would mean all kernels; no kernel has this one.
    if (Good.empty())
      Good.push_back(" ");
    Adapted.Kernels = Good;
    Rewrite.emplace(rewriteUnit(CI.getASTContext(), CI.getPreprocessor(),
                                *Recorder, Adapted));
    if (!*Rewrite)
      return;
    for (KernelResult &K : (*Rewrite)->Kernels)
      if (K.Model && Bad.contains(K.Model->QualifiedName))
        K.Declines = {{"parse-error", "", K.Pos}};
  }
};

llvm::Expected<FileResult>
rewriteUnguarded(const ParseJob &Job, const Options &Opts, bool AllowErrors) {
  RewriteHandler Handler(Opts, AllowErrors);
  auto Parse = parseSource(Job, Handler);
  if (!Parse)
    return Parse.takeError();

  FileResult R;
  R.File = Job.File;
  R.Parse = std::move(*Parse);
  R.Usable = Handler.Usable;
  if (R.Usable) {
    if (!Handler.Rewrite)
      return llvm::createStringError("the parse of '" + Job.File +
                                     "' ended early");
    if (!*Handler.Rewrite)
      return Handler.Rewrite->takeError();
    R.Rewrite = std::move(**Handler.Rewrite);
  }
  R.NewText = applyEdits(R.Parse.MainText, R.Rewrite.Edits);
  return R;
}

} // namespace

llvm::Expected<FileResult> rewriteFile(const ParseJob &Job, const Options &Opts,
                                       bool AllowErrors) {
  // Deeply nested source overflows a small stack; clang's own driver asks for
  // the same size.
  constexpr unsigned StackBytes = 64u << 20;
  std::optional<llvm::Expected<FileResult>> Answer;
  llvm::CrashRecoveryContext Recovery;
  const bool Done = Recovery.RunSafelyOnThread(
      [&] {
        try {
          Answer.emplace(rewriteUnguarded(Job, Opts, AllowErrors));
        } catch (const std::exception &E) {
          Answer.emplace(llvm::createStringError(
              "internal error in '%s': %s; please report it", Job.File.c_str(),
              E.what()));
        }
      },
      StackBytes);
  if (!Done || !Answer)
    return llvm::createStringError("internal error (crash) in '" + Job.File +
                                   "'; please report it");
  return std::move(*Answer);
}

} // namespace rcache
