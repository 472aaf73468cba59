// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connects the parse (lib/Driver) with the stages (lib/Pipeline.cpp), and keeps
// a crash in either from taking the program down.

#include "Frontend/Frontend.h"
#include "Frontend/OtherBodies.h"
#include "UnitEdits.h"
#include "rcache/ModelBuilder.h"
#include "rcache/WriteOut.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <tuple>

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

class RewriteHandler : public ParseHandler {
  const llvm::ArrayRef<Options> Opts;
  const std::map<std::string, TextForm> &Forms;
  const bool AllowErrors;
  std::unique_ptr<TokenRecorder> Recorder;

public:
  bool Usable = true;
  std::vector<llvm::Expected<Result>> Rewrites; ///< one for each of Opts
  /// Calls to write out before another parse, and the texts they stand in.
  std::vector<SourceEdit> WriteOut;
  /// Bodies of declined kernels to try instead, in the same texts.
  std::vector<BodyEdit> Bodies;
  std::map<std::string, std::string> Texts;

  RewriteHandler(llvm::ArrayRef<Options> Opts,
                 const std::map<std::string, TextForm> &Forms, bool AllowErrors)
      : Opts(Opts), Forms(Forms), AllowErrors(AllowErrors) {}

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
    for (const Options &O : Opts) {
      Options Adapted = O;
      Adapted.Arch = Outcome.Arch;
      Adapted.Forms = Forms;
      auto R = rewriteUnit(CI.getASTContext(), CI.getPreprocessor(), *Recorder,
                           Adapted);
      if (!All.empty() && R)
        R = withoutErrors(CI, All, std::move(*R), Adapted);
      Rewrites.push_back(std::move(R));
    }
    if (Outcome.Errors.empty()) {
      findWriteOut(CI);
      findBodies(CI);
    }
  }

private:
  /// Kernels that calls keep from being rewritten.
  void findWriteOut(clang::CompilerInstance &CI) {
    std::vector<std::shared_ptr<const KernelModel>> Kernels;
    for (llvm::Expected<Result> &R : Rewrites) {
      if (!R)
        return;
      for (const KernelResult &K : R->Kernels)
        if (K.Model && K.Verdict == KernelResult::Declined &&
            llvm::any_of(K.Declines, [](const Decline &D) {
              return writeOutHelps(D.Code);
            }) &&
            // Text that is written out has no branches any more.
            llvm::none_of(K.Declines, [](const Decline &D) {
              return D.Code == "compiler-dependent";
            }))
          Kernels.push_back(K.Model);
    }
    std::vector<const KernelModel *> Plain;
    for (const auto &K : Kernels)
      Plain.push_back(K.get());
    WriteOut = writeOutCalls(CI.getASTContext(), CI.getPreprocessor(), Plain);
    for (const SourceEdit &E : WriteOut)
      if (!textOf(CI, E.File)) {
        WriteOut.clear();
        return;
      }
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
      if (D.Code == "async-copy" || D.Code == "inline-asm")
        return {D};
    return {{"parse-error", "clang: " + E.Text, E.Pos}};
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

using FileResults = std::vector<FileResult>;

/// One parse with what was made of it, and what to write anew next.
struct Round {
  FileResults Results;
  std::vector<SourceEdit> WriteOut;
  std::vector<BodyEdit> Bodies;
  std::map<std::string, std::string> Texts;
};

llvm::Expected<Round> rewriteOnce(const ParseJob &Job,
                                  llvm::ArrayRef<Options> Opts,
                                  const std::map<std::string, TextForm> &Forms,
                                  bool AllowErrors) {
  RewriteHandler Handler(Opts, Forms, AllowErrors);
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
  Done.Bodies = std::move(Handler.Bodies);
  Done.Texts = std::move(Handler.Texts);
  return Done;
}

/// Takes results of a parse with calls written out back to the original text.
class BackToOriginal {
  const std::vector<std::vector<SourceEdit>> &Rounds;
  const std::map<std::string, std::string> &Originals;
  std::string MainFile; ///< as the edits name it

public:
  BackToOriginal(const std::vector<std::vector<SourceEdit>> &Rounds,
                 const std::map<std::string, std::string> &Originals,
                 StringRef Main)
      : Rounds(Rounds), Originals(Originals) {
    for (const auto &[File, Text] : Originals)
      if (normalized(File) == normalized(Main))
        MainFile = File;
  }

  /// False: an edit lies where calls were written out.
  bool map(std::vector<Edit> &Edits, const std::string &OriginalMain) const {
    for (Edit &E : Edits) {
      const unsigned Begin = offset(E.Offset, MainFile),
                     End = offset(E.Offset + E.Length, MainFile);
      if (End - Begin != E.Length || End > OriginalMain.size())
        return false;
      E.Offset = Begin;
    }
    return true;
  }

  bool map(Result &R, const std::string &OriginalMain) const {
    if (!map(R.Edits, OriginalMain))
      return false;
    std::map<const KernelModel *, std::shared_ptr<const KernelModel>> Models;
    for (KernelResult &K : R.Kernels) {
      map(K.Pos);
      for (Decline &D : K.Declines)
        map(D.Pos);
      if (!K.Model)
        continue;
      auto M = std::make_shared<KernelModel>(*K.Model);
      map(M->Pos);
      map(M->DefBegin);
      map(M->DefEnd);
      if (M->InsertOffset)
        M->InsertOffset = offset(*M->InsertOffset, MainFile);
      for (LaunchSite &L : M->Launches) {
        map(L.Pos);
        L.Begin = offset(L.Begin, MainFile);
        L.End = offset(L.End, MainFile);
      }
      K.Model = std::move(M);
    }
    return true;
  }

private:
  unsigned offset(unsigned Offset, const std::string &File) const {
    for (size_t I = Rounds.size(); I-- > 0;)
      Offset = offsetBefore(Offset, File, Rounds[I]);
    return Offset;
  }

  void map(SourcePos &P) const {
    auto It = Originals.find(P.File);
    if (It == Originals.end())
      return;
    P.Offset = offset(P.Offset, P.File);
    StringRef Text = It->second;
    const size_t Eol = Text.rfind('\n', P.Offset ? P.Offset - 1 : 0);
    if (P.Offset)
      P.Column = P.Offset -
                 (Eol == StringRef::npos || Eol >= P.Offset
                      ? 0
                      : static_cast<unsigned>(Eol) + 1) +
                 1;
  }
};

/// The texts of one file that were parsed so far, the last of them with its
/// results.
class Texts {
  const ParseJob *Job;
  llvm::ArrayRef<Options> Opts;
  ParseJob Again;
  std::vector<std::vector<SourceEdit>> Rounds;
  std::map<std::string, std::string> Originals;
  std::map<std::string, TextForm> Forms;

public:
  Round Last; ///< results in terms of the first text

  Texts(const ParseJob &Job, llvm::ArrayRef<Options> Opts, Round First)
      : Job(&Job), Opts(Opts), Again(Job), Last(std::move(First)) {}

  size_t rounds() const { return Rounds.size(); }

  /// Parses the text with \p Edits. False: what worked without is the answer.
  bool parseWith(std::vector<SourceEdit> Edits) {
    for (const auto &[File, Text] : Last.Texts) {
      Originals.try_emplace(File, Text);
      std::string New = applySourceEdits(Text, File, Edits);
      if (normalized(File) == normalized(Job->File))
        Again.Buffer = std::move(New);
      else
        Again.Overlay[normalized(File)] = std::move(New);
    }
    Rounds.push_back(std::move(Edits));
    BackToOriginal Back(Rounds, Originals, Job->File);
    std::vector<Options> Here(Opts.begin(), Opts.end());
    for (size_t I = 0; I < Here.size() && I < Last.Results.size(); ++I)
      Here[I].UsersText =
          [&Back, &Main = Last.Results[I].Parse.MainText](
              std::vector<Edit> Edits) -> llvm::Expected<std::string> {
        if (!Back.map(Edits, Main))
          return llvm::createStringError("an edit lies in text of the tool");
        return applyEdits(Main, Edits);
      };
    auto More = rewriteOnce(Again, Here, Forms, /*AllowErrors=*/false);
    if (!More) {
      llvm::consumeError(More.takeError());
      return false;
    }
    for (size_t I = 0; I < Last.Results.size(); ++I) {
      FileResult &R = More->Results[I];
      if (!R.Usable || !Back.map(R.Rewrite, Last.Results[I].Parse.MainText))
        return false;
      R.Parse = Last.Results[I].Parse;
      R.File = Last.Results[I].File;
    }
    Last = std::move(*More);
    return true;
  }

  /// The same with kernels' bodies.
  bool parseWith(const std::vector<BodyEdit> &Bodies) {
    std::vector<SourceEdit> Edits;
    for (const BodyEdit &B : Bodies) {
      Edits.push_back(B.Edit);
      for (const auto &[Key, Form] : B.Forms)
        Forms[Key] = Form;
    }
    llvm::sort(Edits, [](const SourceEdit &A, const SourceEdit &B) {
      return std::tie(A.File, A.Offset) < std::tie(B.File, B.Offset);
    });
    return parseWith(std::move(Edits));
  }
};

/// What was found for the kernels of \p Keys, all instantiations together.
std::map<std::string, double> gains(const std::set<std::string> &Keys,
                                    const Round &R) {
  std::map<std::string, double> Found;
  for (const FileResult &F : R.Results)
    for (const KernelResult &K : F.Rewrite.Kernels)
      if (K.Model && Keys.count(textKey(*K.Model)))
        Found[textKey(*K.Model)] += gainOf(K);
  return Found;
}

/// Kernels that are left as they are get other bodies, which stay where they
/// lead to a rewritten kernel that gains more.
void tryOtherBodies(Texts &Best) {
  constexpr unsigned MaxLevels = 3;
  std::set<std::string> InVain;
  while (true) {
    Texts Now = Best;
    std::map<std::string, std::vector<std::string>> Notes;
    std::set<std::string> Tried;
    bool Parsed = true;
    for (unsigned Level = 0; Parsed && Level < MaxLevels; ++Level) {
      std::vector<BodyEdit> Bodies = Now.Last.Bodies;
      llvm::erase_if(Bodies,
                     [&](const BodyEdit &B) { return InVain.count(B.Key); });
      if (Bodies.empty())
        break;
      for (const BodyEdit &B : Bodies) {
        Tried.insert(B.Key);
        for (const auto &[Key, Note] : B.Notes)
          if (!Note.empty())
            Notes[Key].push_back(Note);
      }
      Parsed = Now.parseWith(Bodies);
    }
    if (Tried.empty())
      return;
    const size_t Before = InVain.size();
    auto Old = gains(Tried, Best.Last), New = gains(Tried, Now.Last);
    for (const std::string &Key : Tried)
      if (!Parsed || New[Key] <= Old[Key])
        InVain.insert(Key);
    if (InVain.size() > Before)
      continue; // once more without them
    Best = std::move(Now);
    for (FileResult &F : Best.Last.Results)
      for (KernelResult &K : F.Rewrite.Kernels)
        if (K.Model && Tried.count(textKey(*K.Model)) && gainOf(K) > 0)
          llvm::append_range(K.Notes, Notes[formKey(*K.Model)]);
    return;
  }
}

llvm::Expected<FileResults> rewriteUnchecked(const ParseJob &Job,
                                             llvm::ArrayRef<Options> Opts,
                                             bool AllowErrors) {
  auto First = rewriteOnce(Job, Opts, {}, AllowErrors);
  if (!First)
    return First.takeError();
  Texts Best(Job, Opts, std::move(*First));
  // Calls that hide what is shared are written out, one level at a time.
  constexpr unsigned MaxLevels = 4;
  while (!Best.Last.WriteOut.empty() && Best.rounds() < MaxLevels) {
    Texts Next = Best;
    if (!Next.parseWith(Best.Last.WriteOut))
      break;
    Best = std::move(Next);
  }
  tryOtherBodies(Best);
  FileResults Results = std::move(Best.Last.Results);
  for (FileResult &R : Results)
    R.NewText = applyEdits(R.Parse.MainText, R.Rewrite.Edits);
  return Results;
}

//===-- The new text, before anybody sees it -------------------------------===//

/// Only the errors of a parse are wanted.
class ErrorsOnly : public ParseHandler {
public:
  std::vector<ParseError> Errors;
  void parsed(clang::CompilerInstance &, const ParseOutcome &Outcome) override {
    Errors = Outcome.Errors;
  }
};

/// The first error of \p R's new text that the source does not have; "": none.
llvm::Expected<std::string> newError(const ParseJob &Job, const FileResult &R) {
  ParseJob Again = Job;
  Again.Buffer = withRuntimeEmbedded(R.NewText);
  ErrorsOnly Handler;
  auto Parse = parseSource(Again, Handler);
  if (!Parse)
    return Parse.takeError();
  std::set<std::string> Known;
  for (const ParseError &E : R.Parse.Errors)
    Known.insert(E.Text);
  for (const ParseError &E : Handler.Errors)
    if (!Known.count(E.Text))
      return "the new text does not compile, line " +
             std::to_string(E.Pos.Line) + ": " + E.Text;
  return std::string();
}

std::vector<std::string> rewrittenKernels(const FileResult &R) {
  std::vector<std::string> Names;
  for (const KernelResult &K : R.Rewrite.Kernels)
    if (K.Verdict == KernelResult::Rewritten && K.Model &&
        !llvm::is_contained(Names, K.Model->QualifiedName))
      Names.push_back(K.Model->QualifiedName);
  return Names;
}

/// The kernels that keep the new text from compiling: each is tried alone; all
/// of them where none is to blame alone.
llvm::Expected<std::map<std::string, std::string>>
uncompilable(const ParseJob &Job, const FileResult &R, const Options &O,
             bool AllowErrors, const std::string &Error) {
  const std::vector<std::string> Names = rewrittenKernels(R);
  std::map<std::string, std::string> Bad;
  for (const std::string &Name : Names) {
    if (Names.size() == 1)
      break;
    Options Alone = O;
    for (const std::string &Other : Names)
      if (Other != Name)
        Alone.Refused[Other];
    auto Result = rewriteUnchecked(Job, Alone, AllowErrors);
    if (!Result)
      return Result.takeError();
    auto Why = newError(Job, Result->front());
    if (!Why)
      return Why.takeError();
    if (!Why->empty())
      Bad[Name] = *Why;
  }
  if (Bad.empty())
    for (const std::string &Name : Names)
      Bad[Name] = Error;
  return Bad;
}

/// Compiles and executes what was written. What must not be handed out; empty:
/// nothing, and the kernels have notes on what was executed.
llvm::Expected<std::map<std::string, std::string>>
selfCheck(const ParseJob &Job, FileResult &R, const Options &O,
          bool AllowErrors) {
  auto Error = newError(Job, R);
  if (!Error)
    return Error.takeError();
  if (!Error->empty())
    return uncompilable(Job, R, O, AllowErrors, *Error);
  SelfCheckAnswer Answer = O.SelfCheck(withRuntimeEmbedded(R.NewText), R.Rewrite);
  if (Answer.Refused.empty())
    for (KernelResult &K : R.Rewrite.Kernels)
      if (K.Verdict == KernelResult::Rewritten && K.Model)
        if (auto Note = Answer.Notes.find(K.Model->QualifiedName);
            Note != Answer.Notes.end())
          K.Notes.push_back(Note->second);
  return std::move(Answer.Refused);
}

/// Rewrites, and again without the kernels whose new form is wrong.
llvm::Expected<FileResults> rewriteUnguarded(const ParseJob &Job,
                                             llvm::ArrayRef<Options> Opts,
                                             bool AllowErrors) {
  std::vector<Options> Now(Opts.begin(), Opts.end());
  while (true) {
    auto Results = rewriteUnchecked(Job, Now, AllowErrors);
    if (!Results)
      return Results.takeError();
    bool Again = false;
    for (size_t I = 0; I < Now.size(); ++I) {
      FileResult &R = (*Results)[I];
      if (!Now[I].SelfCheck || !R.Usable || !R.Rewrite.anyRewritten())
        continue;
      auto Refused = selfCheck(Job, R, Now[I], AllowErrors);
      if (!Refused)
        return Refused.takeError();
      for (auto &[Name, Why] : *Refused) {
        if (!Now[I].Refused.try_emplace(Name, Why).second)
          return llvm::createStringError("'" + Name + "' in '" + Job.File +
                                         "' cannot be left out: " + Why);
        Again = true;
      }
    }
    if (!Again)
      return Results;
  }
}

/// A stack for the crash handler of one thread: when source is nested so deeply
/// that the thread's own stack overflows, the handler has nowhere else to run.
/// Does nothing unless crash recovery is enabled.
class AlternateStack {
  std::unique_ptr<char[]> Memory;

public:
  /// To be called in the thread; the object outlives it.
  void use() {
    constexpr size_t Bytes = 256u << 10;
    Memory = std::make_unique<char[]>(Bytes);
    stack_t Stack = {};
    Stack.ss_sp = Memory.get();
    Stack.ss_size = Bytes;
    if (sigaltstack(&Stack, nullptr) != 0)
      return;
    for (int Signal : {SIGSEGV, SIGBUS}) {
      struct sigaction Action;
      if (sigaction(Signal, nullptr, &Action) != 0 ||
          (Action.sa_flags & SA_ONSTACK) || Action.sa_handler == SIG_DFL ||
          Action.sa_handler == SIG_IGN)
        continue;
      Action.sa_flags |= SA_ONSTACK;
      sigaction(Signal, &Action, nullptr);
    }
  }
};

} // namespace

llvm::Expected<std::vector<FileResult>>
rewriteFile(const ParseJob &Job, llvm::ArrayRef<Options> Opts,
            bool AllowErrors) {
  // Deeply nested source overflows a small stack; clang's own driver asks for
  // the same size.
  constexpr unsigned StackBytes = 64u << 20;
  std::optional<llvm::Expected<FileResults>> Answer;
  AlternateStack SignalStack;
  llvm::CrashRecoveryContext Recovery;
  const bool Done = Recovery.RunSafelyOnThread(
      [&] {
        SignalStack.use();
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

llvm::Expected<FileResult> rewriteFile(const ParseJob &Job, const Options &Opts,
                                       bool AllowErrors) {
  auto Results = rewriteFile(Job, llvm::ArrayRef(Opts), AllowErrors);
  if (!Results)
    return Results.takeError();
  return std::move(Results->front());
}

} // namespace rcache
