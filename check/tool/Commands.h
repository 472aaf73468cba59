// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands of rcache-check and what they share.

#ifndef RCACHE_CHECK_COMMANDS_H
#define RCACHE_CHECK_COMMANDS_H

#include "Jit.h"
#include "KernelList.h"
#include "Runtime.h"

#include <functional>
#include <optional>

namespace rcache::check {

enum ExitCode {
  ExitSame = 0,
  ExitDifferent = 1,
  ExitUsage = 2,
  ExitUndefinedOriginal = 3,
  ExitUndefinedRewritten = 4,
  ExitCouldNotRun = 5,
};

/// How a program ended, whatever its own exit status is: that may be any.
enum class Ending : int {
  Own,         ///< by itself, with nothing to report
  Undefined,   ///< it did something undefined
  Timeout,     ///< it does not come to an end
  CouldNotRun, ///< it did what cannot be executed here, or never began
};

struct CommandLine {
  std::vector<std::string> Inputs;
  std::vector<std::string> ProgramArgs;
  JitOptions Jit;
  Options Runtime;
  std::optional<double> TimeLimit; ///< seconds; see Options
  std::string Label; ///< which of two programs this is; or empty
  // The harness.
  std::vector<std::string> Kernels; ///< empty: all
  bool Self = false;
  double Budget = 2; ///< seconds of processor time for each kernel, --self
  bool Json = false; ///< --report=json
  // diff.
  bool GivenSchedule = false; ///< --schedule: only that one
  bool IgnoreOutput = false;  ///< standard output is not compared
  /// A program of diff with --report=json: findings go here, a line each; or -1.
  int FindingsTo = -1;
  /// A program of diff: told how it ends, as soon as that is known. A later word
  /// counts more.
  std::function<void(Ending)> Ends;
  std::string Rewritten; ///< file; empty: the original itself
  Dim3 Block{0, 0, 0}, Grid{0, 0, 0}; ///< X = 0: the harness chooses
  size_t DynamicShared = 0;           ///< bytes; 0: found out
  std::map<std::string, std::string> ArgValues;
  bool Prove = false; ///< also compare expressions
  unsigned Trials = 600; ///< launches compared, at most
  double Seconds = 60;
};

/// Runs one program, in this process. The result is the program's own exit
/// status unless there is something to report.
int runCommand(const CommandLine &L);

/// Runs two versions of a program side by side and compares device memory.
int diffCommand(const CommandLine &L);

/// Launches kernels of a file by itself, in two versions, and compares.
int harnessCommand(const CommandLine &L);

/// Executes the rewritten kernels of one file against their originals, which
/// are in the same file.
int selfCommand(const CommandLine &L);

/// Compares how kernels are rounded in files of which each has them, as nvcc compiles it.
int sumsCommand(const CommandLine &L);

/// Does --kernel ask for \p Name, or for all?
bool wanted(const CommandLine &L, const KernelSignature &Kernel);

/// Why --arg is wrong for \p Kernels, which are those that were asked for; or "".
std::string wrongArguments(const CommandLine &L,
                           const std::vector<KernelSignature> &Kernels);

/// A finding as compilers print diagnostics.
std::string findingText(const Finding &F);
void printFinding(const Finding &F);

} // namespace rcache::check

#endif
