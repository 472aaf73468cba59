// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results are checked before anybody sees them, and a crash in the parse or in a
// stage does not take the program down.

#include "Frontend/Frontend.h"
#include "Frontend/Round.h"
#include "UnitEdits.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include <csignal>
#include <map>
#include <optional>
#include <set>

namespace rcache {
namespace {

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
llvm::Expected<Refusals>
uncompilable(const ParseJob &Job, const FileResult &R, const Options &O,
             bool AllowErrors, const std::string &Error) {
  const std::vector<std::string> Names = rewrittenKernels(R);
  Refusals Bad;
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
      Bad[Name].Why = *Why;
  }
  if (Bad.empty())
    for (const std::string &Name : Names)
      Bad[Name].Why = Error;
  return Bad;
}

/// Compiles and executes what was written. What must not be handed out, and notes on
/// what was executed.
llvm::Expected<SelfCheckAnswer>
selfCheck(const ParseJob &Job, FileResult &R, const Options &O,
          bool AllowErrors) {
  auto Error = newError(Job, R);
  if (!Error)
    return Error.takeError();
  if (!Error->empty()) {
    auto Bad = uncompilable(Job, R, O, AllowErrors, *Error);
    if (!Bad)
      return Bad.takeError();
    SelfCheckAnswer Answer;
    Answer.Refused = std::move(*Bad);
    return Answer;
  }
  return O.SelfCheck(withRuntimeEmbedded(R.NewText), R.Rewrite);
}

void addNotes(const SelfCheckAnswer &Answer, FileResult &R) {
  for (KernelResult &K : R.Rewrite.Kernels)
    if (K.Verdict == KernelResult::Rewritten && K.Model)
      if (auto Note = Answer.Notes.find(K.Model->MangledName); Note != Answer.Notes.end())
        K.Notes.push_back(Note->second);
}

/// Rewrites, and again without the kernels whose new form is wrong.
llvm::Expected<FileResults> rewriteUnguarded(const ParseJob &Job,
                                             llvm::ArrayRef<Options> Opts,
                                             bool AllowErrors) {
  std::vector<Options> Now(Opts.begin(), Opts.end());
  // Of texts that the next one is a part of: it is as good.
  std::vector<std::optional<SelfCheckAnswer>> Known(Now.size());
  while (true) {
    auto Results = rewriteUnchecked(Job, Now, AllowErrors);
    if (!Results)
      return Results.takeError();
    bool Again = false;
    for (size_t I = 0; I < Now.size(); ++I) {
      FileResult &R = (*Results)[I];
      if (!Now[I].SelfCheck || !R.Usable || !R.Rewrite.anyRewritten())
        continue;
      if (!Known[I]) {
        auto Answer = selfCheck(Job, R, Now[I], AllowErrors);
        if (!Answer)
          return Answer.takeError();
        Known[I] = std::move(*Answer);
      }
      addNotes(*Known[I], R);
      if (!Known[I]->LeftOut.empty()) {
        Now[I].LeftOut.insert(Known[I]->LeftOut.begin(), Known[I]->LeftOut.end());
        Known[I]->LeftOut.clear();
        Again = true;
      }
      if (Known[I]->Refused.empty())
        continue;
      const Refusals Refused = std::move(Known[I]->Refused);
      Known[I].reset();
      for (const auto &[Name, Why] : Refused) {
        if (!Now[I].Refused.try_emplace(Name, Why).second)
          return llvm::createStringError("'" + Name + "' in '" + Job.File +
                                         "' cannot be left out: " + Why.Why);
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
