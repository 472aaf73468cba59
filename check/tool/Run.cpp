// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <unistd.h>

namespace rcache::check {

namespace {
std::string dim(const Dim3 &D) {
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
std::string Label;
CompiledProgram *Running = nullptr;
void summary() {
  Running->runExitHandlers();
  fflush(stdout);
  if (unsigned N = errorCount()) {
    fprintf(stderr, "rcache-check: %u error%s%s%s\n", N, N == 1 ? "" : "s",
            Label.empty() ? "" : " in the program that is ", Label.c_str());
    fflush(stderr);
    // What cannot be followed is not undefined; but a rewritten program that
    // does not end, where the original does, is wrong.
    const bool Cut = lastErrorKind() == "timeout" && Label == "rewritten";
    _exit(undefinedCount() || Cut ? ExitUndefinedOriginal : ExitCouldNotRun);
  }
}
} // namespace

std::string findingText(const Finding &F) {
  std::string Out = F.Location.empty() ? "" : F.Location + ": ";
  Out += F.Sev == Severity::Error ? "error: " : "warning: ";
  Out += F.Text + " [" + F.Kind + "]\n" + excerpt(F.Location);
  if (!F.Kernel.empty()) { // not what the host asked for
    Out += "  in kernel " + F.Kernel + ", launch " +
           std::to_string(F.LaunchIndex);
    if (F.HasThread)
      Out += ", block " + dim(F.Block) + ", thread " + dim(F.Thread);
    Out += "\n";
  }
  return Out;
}

void printFinding(const Finding &F) {
  fflush(stdout);
  fputs(findingText(F).c_str(), stderr);
}

int runCommand(const CommandLine &L) {
  std::string Error;
  Options O = L.Runtime;
  O.TimeLimit = L.TimeLimit.value_or(300);
  if (!initialise(O, Error)) {
    fprintf(stderr, "rcache-check: %s\n", Error.c_str());
    return ExitCouldNotRun;
  }
  onFinding(printFinding);
  std::unique_ptr<CompiledProgram> P =
      CompiledProgram::create(L.Inputs, L.Jit, Error);
  if (!P) {
    fprintf(stderr, "%s\nrcache-check: '%s' could not be compiled\n",
            Error.c_str(), L.Inputs[0].c_str());
    return ExitCouldNotRun;
  }
  if (!P->lookup("main")) {
    fprintf(stderr, "rcache-check: '%s' has no main\n", L.Inputs[0].c_str());
    return ExitCouldNotRun;
  }
  std::vector<std::string> Args{L.Inputs[0]};
  Args.insert(Args.end(), L.ProgramArgs.begin(), L.ProgramArgs.end());
  Label = L.Label;
  if (!Label.empty() && P->orderDependent())
    options().Jobs = 1;
  // The compiled code must outlive whatever the program left for exit.
  Running = P.release();
  atexit(summary);
  watchHost([] {
    fflush(stdout);
    fprintf(stderr,
            "rcache-check: error: the program does not come to an end: no "
            "launch for %g seconds (--timeout)\n",
            options().TimeLimit);
    fflush(stderr);
    _exit(ExitCouldNotRun);
  });
  exit(Running->runMain(Args));
}

} // namespace rcache::check
