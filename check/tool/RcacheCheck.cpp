// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rcache-check: runs CUDA programs without a GPU and compares them.
//
//   rcache-check run program.cu [--args ...] [-- compiler flags]

#include "Commands.h"
#include "Say.h"

#include "Driver/CudaInstall.h"
#include "Driver/Programs.h"
#include "Driver/SourceText.h"
#include "Driver/Usage.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace rcache::check;
using namespace llvm;

namespace {

cl::OptionCategory General("Options"), OfHarness("Options of the harness"),
    OfSelf("Options of the self-check");

cl::list<std::string> Inputs(cl::Positional, cl::desc("[run|diff|sums] FILE.cu ..."),
                             cl::cat(General));
cl::opt<std::string>
    CudaPath("cuda-path", cl::value_desc("dir"), cl::cat(General),
             cl::desc("CUDA toolkit (default: CUDA_PATH, nvcc, /usr/local/cuda)"));
cl::opt<std::string>
    Arch("arch", cl::value_desc("sm_NN"), cl::cat(General),
         cl::desc("What device code is compiled for (default: that of the "
                  "compiler's flags, else sm_90)"));
enum class Fusion { Fast, Off };
rcache::WordOption<Fusion> Contract(
    "fp-contract", cl::cat(General), cl::init(Fusion::Fast),
    cl::desc("Products and sums of device code"),
    cl::values(clEnumValN(Fusion::Fast, "fast",
                          "one operation, as nvcc makes them (default)"),
               clEnumValN(Fusion::Off, "off",
                          "each rounded by itself, as with -fmad=false")));
cl::opt<std::string> ResourceDir("resource-dir", cl::Hidden, cl::cat(General));
enum class Compiler { Any, Clang, Nvcc };
rcache::WordOption<Compiler> DeviceCode(
    "device-code", cl::cat(General), cl::init(Compiler::Any),
    cl::desc("Who compiles device code (default: any)"),
    cl::values(clEnumValN(Compiler::Any, "any",
                          "nvcc where the toolkit has one, else clang"),
               clEnumValN(Compiler::Clang, "clang", "clang, in this process"),
               clEnumValN(Compiler::Nvcc, "nvcc",
                          "nvcc: its PTX, what a device gets up to the work of "
                          "ptxas; clang where it cannot be read")));
cl::opt<std::string>
    Schedule("schedule", cl::value_desc("forward|reverse|random:SEED"),
             cl::cat(General),
             cl::desc("Order of lanes, warps and blocks between "
                      "synchronisation points"));
rcache::NumberOption<unsigned> Jobs("jobs", cl::value_desc("N"), cl::cat(General),
                       cl::desc("CPU threads (default: all)"));
cl::opt<bool> NoRaces("no-races", cl::cat(General),
                      cl::desc("Do not look for races on shared memory"));
cl::opt<bool> VolatileRaces(
    "volatile-races", cl::cat(General),
    cl::desc("Volatile accesses of shared memory race as others do: finds tails "
             "of reductions that lack __syncwarp"));
cl::opt<bool> IgnoreOutput("ignore-output", cl::cat(General),
                           cl::desc("diff does not compare standard output"));
cl::opt<bool>
    NoUninit("no-uninit", cl::cat(General),
             cl::desc("Do not follow values that were never initialised"));
cl::opt<bool> NoChecks("no-checks", cl::cat(General),
                       cl::desc("No bounds checks either"));
cl::opt<cl::boolOrDefault>
    Quickly("quick-code", cl::cat(General),
            cl::desc("Make the machine code in a moment, slower to run: for programs whose "
                     "launches are few and small (default: run and diff; =false where a "
                     "launch takes minutes)"));
rcache::NumberOption<unsigned>
    Timeout("timeout", cl::value_desc("seconds"), cl::cat(General),
            cl::desc("Give up a launch that takes longer, or a program that "
                     "takes longer to the next one (default: 300, harness: 5; "
                     "0: never)"));
rcache::NumberOption<unsigned> MaxFindings("max-findings", cl::value_desc("N"), cl::init(20),
                              cl::cat(General),
                              cl::desc("Stop reporting after N (default: 20)"));
rcache::NumberOption<unsigned long long>
    Seed("seed", cl::value_desc("N"), cl::init(1), cl::cat(General),
         cl::desc("For data and the random schedule (default: 1)"));
cl::opt<std::string> DumpDir("dump-ir", cl::value_desc("dir"), cl::cat(General),
                             cl::desc("Write the intermediate modules"));
enum class Form { Text, Json };
rcache::WordOption<Form> Report("report", cl::cat(General), cl::init(Form::Text),
                     cl::desc("Form of the result"),
                     cl::values(clEnumValN(Form::Text, "text", "on stderr"),
                                clEnumValN(Form::Json, "json",
                                           "one object on stdout")));

cl::list<std::string>
    Kernels("kernel", cl::value_desc("name"), cl::cat(OfHarness),
            cl::desc("The kernel; may be repeated (default: all)"));
cl::opt<std::string> Rewritten("rewritten", cl::value_desc("file"),
                               cl::cat(OfHarness),
                               cl::desc("The file that rcache-rewrite wrote"));
cl::opt<bool>
    Prove("prove", cl::cat(OfHarness),
          cl::desc("For each launch shape, compare the expressions of all "
                   "results instead of one set of values"));
cl::opt<std::string> Block("block", cl::value_desc("X,Y,Z"), cl::cat(OfHarness),
                           cl::desc("The block"));
cl::opt<std::string> GridOption("grid", cl::value_desc("X,Y,Z"),
                                cl::cat(OfHarness), cl::desc("The grid"));
rcache::NumberOption<unsigned long long> Smem("smem", cl::value_desc("bytes"), cl::cat(OfHarness),
                     cl::desc("Dynamic shared memory"));
cl::list<std::string> Values("arg", cl::value_desc("name=value"),
                             cl::cat(OfHarness),
                             cl::desc("A parameter that is no pointer"));
rcache::NumberOption<unsigned> TrialsOption("trials", cl::value_desc("N"), cl::init(600),
                               cl::cat(OfHarness),
                               cl::desc("Compare at most N launches of a kernel "
                                        "(default: 600)"));
rcache::NumberOption<double>
    Seconds("seconds", cl::value_desc("N"), cl::init(60), cl::cat(OfHarness),
            cl::desc("Stop a kernel after N seconds (default: 60)"));

cl::opt<bool>
    Self("self", cl::cat(OfSelf),
         cl::desc("The file holds kernels and their rewritten forms: compare "
                  "each NAME_rc_launch with NAME at the launches that matter "
                  "most; the file's main is not run"));
rcache::NumberOption<double>
    Budget("budget", cl::value_desc("seconds"), cl::init(2), cl::cat(OfSelf),
           cl::desc("Processor time for each kernel (default: 2)"));

const char *const Overview =
    R"(runs CUDA programs without a GPU, and compares them

  rcache-check run PROGRAM.cu [FILE.cu ...] [options] [--args ...] [-- compiler flags]
  rcache-check diff ORIGINAL.cu REWRITTEN.cu [options] [--args ...] [-- ...]
  rcache-check sums ORIGINAL.cu OTHER.cu ... [--kernel=SYMBOL ...] [-- ...]
  rcache-check KERNEL.cu [--kernel=NAME] [--rewritten=FILE] [options] [-- ...]
  rcache-check REWRITTEN.cu --self [--kernel=NAME ...] [--budget=SECONDS] [-- ...]

exit status: 0 equivalent or no finding, 1 different, 2 wrong usage, 3 undefined
behaviour in the original, 4 in the rewritten program, 5 could not run
)";

[[noreturn]] void wrong(const Twine &Why) {
  errs() << "rcache-check: " << Why << "\nusage: rcache-check --help\n";
  exit(ExitUsage);
}

Dim3 dimensions(const std::string &S) {
  Dim3 D;
  char Rest;
  if (sscanf(S.c_str(), "%u,%u,%u%c", &D.X, &D.Y, &D.Z, &Rest) < 1 || !D.X ||
      !D.Y || !D.Z)
    wrong("not dimensions: '" + S + "'");
  return D;
}

/// As --arg takes it: 12, -1, 0x10, 2.5.
bool isNumber(const std::string &S) {
  char *End = nullptr;
  strtod(S.c_str(), &End);
  return !S.empty() && !*End;
}

/// An input that is no file is wrong usage, not a program that differs.
void mustBeFile(const std::string &Path) {
  if (sys::fs::is_directory(Path))
    wrong("'" + Path + "' is a folder");
  if (!sys::fs::exists(Path))
    wrong("there is no file '" + Path + "'");
  if (auto Text = MemoryBuffer::getFile(Path))
    if (const std::string Why = rcache::whyNoSource((*Text)->getBuffer()); !Why.empty())
      wrong("'" + Path + "' " + Why);
}

/// Clang's headers of a package that brings its own, beside the programs; or "":
/// then those that it was built with.
std::string bundledHeaders(const char *Argv0) {
  static int Anchor;
  SmallString<256> Folder(sys::path::parent_path(
      sys::path::parent_path(sys::fs::getMainExecutable(Argv0, &Anchor))));
  sys::path::append(Folder, "lib", "rcache", "clang", Twine(LLVM_VERSION_MAJOR));
  return sys::fs::is_directory(Twine(Folder) + "/include") ? Folder.str().str() : "";
}

/// The architecture that a user's flags name for nvcc; sm_90 if they name none
/// or no single one.
std::string archOf(const std::vector<std::string> &Flags) {
  for (size_t I = 0; I < Flags.size(); ++I) {
    StringRef F = StringRef(Flags[I]).ltrim('-');
    if (F == "arch" || F == "gpu-architecture")
      F = I + 1 < Flags.size() ? StringRef(Flags[I + 1]) : "";
    else if (!F.consume_front("arch=") &&
             !F.consume_front("gpu-architecture="))
      continue;
    unsigned Number;
    StringRef Digits = F;
    if (Digits.consume_front("sm_") && !Digits.consumeInteger(10, Number) &&
        Number >= 50)
      return F.str();
  }
  return "sm_90";
}

CommandLine parse(int Argc, char **Argv) {
  CommandLine L;
  // What belongs to the program or the compiler is not ours to read.
  std::vector<const char *> Ours;
  int I = 0;
  for (; I < Argc && strcmp(Argv[I], "--") && strcmp(Argv[I], "--args"); ++I)
    Ours.push_back(Argv[I]);
  if (I < Argc && !strcmp(Argv[I], "--args"))
    for (++I; I < Argc && strcmp(Argv[I], "--"); ++I)
      L.ProgramArgs.push_back(Argv[I]);
  if (I < Argc)
    for (++I; I < Argc; ++I)
      L.Jit.Frontend.Flags.push_back(Argv[I]);

  cl::SetVersionPrinter([](raw_ostream &OS) {
    rcache::printVersion(OS, "rcache-check", rcache::commitName());
  });
  cl::HideUnrelatedOptions({&General, &OfHarness, &OfSelf});
  if (llvm::Error E = rcache::checkUsageBeforeFlags(Ours))
    wrong(toString(std::move(E)));
  if (!cl::ParseCommandLineOptions(Ours.size(), Ours.data(), Overview, &errs()))
    wrong("wrong usage");
  L.Inputs.assign(Inputs.begin(), Inputs.end());
  FrontendOptions &FE = L.Jit.Frontend;
  FE.CudaPath = CudaPath;
  // Whether there is a toolkit at all is told where it is needed.
  if (auto Cuda = rcache::findCudaInstall(FE.CudaPath); !Cuda)
    consumeError(Cuda.takeError());
  else if (!Cuda->Note.empty())
    errs() << "rcache-check: warning: " << Cuda->Note << "\n";
  FE.Arch = Arch.getNumOccurrences() ? Arch : archOf(FE.Flags);
  FE.ResourceDir = ResourceDir.empty() ? bundledHeaders(Argv[0]) : ResourceDir;
  FE.Nvcc = DeviceCode != Compiler::Clang;
  L.Jit.MachineCode = FE.Nvcc;
  FE.Contract = Contract == Fusion::Fast;
  L.Jit.DumpDir = DumpDir;
  if (!DumpDir.empty())
    if (std::error_code EC = sys::fs::create_directories(DumpDir))
      wrong("--dump-ir: cannot make the folder '" + DumpDir + "': " + EC.message());
  L.Jit.Note = [](const std::string &Text) {
    say("rcache-check: note: %s\n", Text.c_str());
  };
  L.Jit.Quickly = Quickly == cl::BOU_TRUE;
  L.Jit.Checks = !NoChecks;
  L.Jit.Definedness = !NoUninit && !NoChecks;
  L.Runtime.Races = !NoRaces && !NoChecks;
  L.Runtime.VolatileRaces = VolatileRaces;
  L.GivenSchedule = Schedule.getNumOccurrences() != 0;
  L.IgnoreOutput = IgnoreOutput;
  L.Runtime.Jobs = Jobs;
  L.Runtime.MaxFindings = MaxFindings;
  L.Runtime.Seed = Seed;
  if (Timeout.getNumOccurrences())
    L.TimeLimit = Timeout;
  StringRef Order = Schedule;
  if (Order == "reverse")
    L.Runtime.Schedule = Order::Reverse;
  else if (Order.consume_front("random")) {
    L.Runtime.Schedule = Order::Random;
    if (!Order.empty() && (!Order.consume_front(":") ||
                           Order.getAsInteger(10, L.Runtime.Seed)))
      wrong("unknown schedule '" + Schedule + "'");
  } else if (!Order.empty() && Order != "forward")
    wrong("unknown schedule '" + Schedule + "'");
  L.Kernels.assign(Kernels.begin(), Kernels.end());
  L.Rewritten = Rewritten;
  if (!Block.empty())
    L.Block = dimensions(Block);
  if (!GridOption.empty())
    L.Grid = dimensions(GridOption);
  L.DynamicShared = Smem;
  for (const std::string &V : Values) {
    size_t Eq = V.find('=');
    if (Eq == std::string::npos)
      wrong("--arg needs NAME=VALUE");
    if (!isNumber(V.substr(Eq + 1)))
      wrong("--arg takes a number for '" + V.substr(0, Eq) + "', not '" +
            V.substr(Eq + 1) + "'");
    L.ArgValues[V.substr(0, Eq)] = V.substr(Eq + 1);
  }
  L.Prove = Prove;
  L.Trials = TrialsOption;
  L.Seconds = Seconds;
  L.Self = Self;
  L.Budget = Budget;
  if (!(L.Budget > 0))
    wrong("--budget takes seconds above 0");
  L.Json = Report == Form::Json;
  return L;
}

} // namespace

int main(int Argc, char **Argv) {
  setBugReportMsg(rcache::BugReportText);
  PrettyStackTraceProgram Crash(Argc, Argv);
  sys::PrintStackTraceOnErrorSignal(Argv[0]);
  CommandLine L = parse(Argc, Argv);
  if (L.Inputs.empty())
    wrong("no input");
  std::string Command = L.Inputs.front();
  // Allocating registers well takes longer than most programs run.
  if (Command == "run" || Command == "diff")
    L.Jit.Quickly = Quickly != cl::BOU_FALSE;
  if (Command == "run") {
    L.Inputs.erase(L.Inputs.begin());
    if (L.Inputs.empty())
      wrong("run takes the files of a program");
    for (const std::string &File : L.Inputs)
      mustBeFile(File);
    return runCommand(L);
  }
  if (Command == "diff") {
    L.Inputs.erase(L.Inputs.begin());
    if (L.Inputs.size() != 2)
      wrong("diff takes two programs");
    for (const std::string &File : L.Inputs)
      mustBeFile(File);
    return diffCommand(L);
  }
  if (Command == "sums") {
    L.Inputs.erase(L.Inputs.begin());
    if (L.Inputs.size() < 2)
      wrong("sums takes an original and other files with its kernels");
    for (const std::string &File : L.Inputs)
      mustBeFile(File);
    return sumsCommand(L);
  }
  if (L.Inputs.size() == 1 && (StringRef(Command).contains('.') ||
                               sys::fs::exists(Command))) {
    mustBeFile(Command);
    if (!L.Rewritten.empty())
      mustBeFile(L.Rewritten);
    return L.Self ? selfCommand(L) : harnessCommand(L);
  }
  if (L.Inputs.size() > 1 && sys::fs::exists(Command))
    wrong("one file at a time; run, diff and sums take several");
  wrong("there is no command '" + Command +
        "': run, diff, sums, or none before the file of a kernel");
}
