// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"
#include "Say.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace rcache::check {

namespace {
std::string place(const Dim3 &D) {
  return "(" + std::to_string(D.X) + "," + std::to_string(D.Y) + "," +
         std::to_string(D.Z) + ")";
}

/// The line of "file:line:column" with a mark below the column; empty if there
/// is none to show.
std::string excerpt(const std::string &Location) {
  const size_t Column = Location.rfind(':');
  const size_t Line =
      Column == std::string::npos || !Column ? std::string::npos
                                             : Location.rfind(':', Column - 1);
  if (Line == std::string::npos)
    return "";
  const long L = atol(Location.c_str() + Line + 1);
  const long C = atol(Location.c_str() + Column + 1);
  std::ifstream In(Location.substr(0, Line));
  std::string Text;
  for (long I = 0; I < L; ++I)
    if (!std::getline(In, Text))
      return "";
  if (L <= 0 || C <= 0 || size_t(C) > Text.size() + 1 || Text.size() > 400)
    return "";
  std::string Mark;
  for (long I = 0; I + 1 < C; ++I)
    Mark += Text[I] == '\t' ? '\t' : ' ';
  return "    " + Text + "\n    " + Mark + "^\n";
}

/// Runs when the program calls exit, or when main has returned.
std::string Label, Input;
CompiledProgram *Running = nullptr;
uint64_t Launches = 0;
std::function<void(Ending)> Ends; ///< or nothing
int ReportTo = -1; ///< a copy of stdout for --report=json; or -1

void tell(Ending E) {
  if (Ends)
    Ends(E);
}

/// --report=json: the object, when all is over.
void reportRun(int Status) {
  if (ReportTo < 0)
    return;
  llvm::json::Array Findings;
  for (const Finding &F : findings())
    Findings.push_back(findingObject(F));
  fflush(stdout);
  dup2(ReportTo, 1);
  printObject(llvm::json::Object{{"file", Input},
               {"status", Status},
               {"device-code", Running && Running->fromNvcc() ? "nvcc" : "clang"},
               {"launches", Launches},
               {"findings", std::move(Findings)},
               {"messages", llvm::json::fixUTF8(takeSaid())}});
}

void summary(int Status, void *) {
  Running->runExitHandlers();
  fflush(stdout);
  const unsigned N = errorCount();
  if (N) {
    say("rcache-check: %u error%s%s%s\n", N, N == 1 ? "" : "s",
        Label.empty() ? "" : " in the program that is ", Label.c_str());
    fflush(stderr);
    // What cannot be followed is not undefined.
    Status = undefinedCount() ? ExitUndefinedOriginal : ExitCouldNotRun;
    tell(undefinedCount()                 ? Ending::Undefined
         : lastErrorKind() == "timeout" ? Ending::Timeout
                                          : Ending::CouldNotRun);
  }
  reportRun(Status);
  if (N)
    _exit(Status);
}
} // namespace

std::string findingText(const Finding &F) {
  std::string Out = F.Location.empty() ? "" : F.Location + ": ";
  Out += F.Sev == Severity::Error ? "error: " : "warning: ";
  Out += F.Text + " [" + F.Kind + "]\n" + excerpt(F.Location);
  for (const std::string &C : F.Callers)
    Out += "  inlined into " + C + "\n";
  if (!F.Kernel.empty()) { // not what the host asked for
    Out += "  in kernel " + F.Kernel + ", launch " +
           std::to_string(F.LaunchIndex);
    if (F.HasThread)
      Out += ", block " + place(F.Block) + ", thread " + place(F.Thread);
    Out += "\n";
  }
  if (!F.Host.empty())
    Out += "  launched from " + F.Host + "\n" + excerpt(F.Host);
  return Out;
}

void printFinding(const Finding &F) {
  fflush(stdout);
  fputs(findingText(F).c_str(), stderr);
}

/// Ends before the program has begun.
static int failed(const std::string &Error, const char *Why) {
  say("%s%srcache-check: '%s' %s\n", Error.c_str(), Error.empty() ? "" : "\n",
      Input.c_str(), Why);
  tell(Ending::CouldNotRun);
  reportRun(ExitCouldNotRun);
  return ExitCouldNotRun;
}

int runCommand(const CommandLine &L) {
  std::string Error;
  Options O = L.Runtime;
  O.TimeLimit = L.TimeLimit.value_or(300);
  Input = L.Inputs[0];
  Label = L.Label;
  Ends = L.Ends;
  if (L.Json) {
    keepWhatIsSaid();
    if (L.FindingsTo < 0) { // what the program prints must not stand between
      ReportTo = dup(1);
      dup2(2, 1);
    }
  }
  if (!initialise(O, Error))
    return failed(Error, "could not be started");
  onFinding([Json = L.Json, To = L.FindingsTo](const Finding &F) {
    // A program that ends at once, or crashes, says no more.
    if (F.Sev == Severity::Error)
      tell(F.Kind == "timeout"       ? Ending::Timeout
           : F.Kind == "unsupported" ? Ending::CouldNotRun
                                     : Ending::Undefined);
    if (!Json)
      return printFinding(F);
    if (To < 0)
      return;
    std::string Line;
    llvm::raw_string_ostream(Line)
        << llvm::json::Value(findingObject(F)) << "\n";
    (void)!write(To, Line.data(), Line.size());
  });
  std::unique_ptr<CompiledProgram> P =
      CompiledProgram::create(L.Inputs, L.Jit, Error);
  if (!P)
    return failed(Error, "could not be compiled");
  if (!P->lookup("main"))
    return failed("", "has no main");
  std::vector<std::string> Args{L.Inputs[0]};
  Args.insert(Args.end(), L.ProgramArgs.begin(), L.ProgramArgs.end());
  if (!Label.empty() && P->orderDependent())
    options().Jobs = 1;
  if (ReportTo >= 0)
    onLaunchStart([](const Launch &) { ++Launches; });
  // The compiled code must outlive whatever the program left for exit.
  Running = P.release();
  on_exit(summary, nullptr);
  watchHost([] {
    fflush(stdout);
    say("rcache-check: error: the program does not come to an end: no launch "
        "for %g seconds (--timeout)\n",
        options().TimeLimit);
    fflush(stderr);
    tell(Ending::Timeout);
    reportRun(ExitCouldNotRun);
    _exit(ExitCouldNotRun);
  });
  exit(Running->runMain(Args));
}

} // namespace rcache::check
