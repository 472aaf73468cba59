// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rcache-check: runs CUDA programs without a GPU and compares them.
//
//   rcache-check run program.cu [--args ...] [-- compiler flags]

#include "Commands.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace rcache::check;

namespace {

const char *const Usage =
    R"(usage: rcache-check run PROGRAM.cu [FILE.cu ...] [options] [--args ...] [-- compiler flags]
       rcache-check KERNEL.cu [--kernel=NAME] [--rewritten=FILE] [options] [-- ...]
       rcache-check REWRITTEN.cu --self [--kernel=NAME ...] [--budget=SECONDS] [-- ...]
       rcache-check diff ORIGINAL.cu REWRITTEN.cu [options] [--args ...] [-- ...]

options:
  --cuda-path=DIR        CUDA toolkit (default: CUDA_PATH, nvcc, /usr/local/cuda)
  --arch=sm_NN           __CUDA_ARCH__ seen by device code (default: sm_90)
  --fp-contract=fast|off products and sums of device code as one operation, as
                         nvcc makes them (default), or each rounded by itself,
                         as with nvcc's -fmad=false
  --schedule=forward|reverse|random:SEED
                         order of lanes, warps and blocks between
                         synchronisation points
  --jobs=N               CPU threads (default: all)
  --no-races             do not look for races on shared memory
  --no-uninit            do not follow values that were never initialised
  --no-checks            no bounds checks either
  --timeout=SECONDS      give up a launch that takes longer, or a program that
                         takes longer to the next one (default: 300, harness: 5;
                         0: never)
  --max-findings=N       stop reporting after N (default: 20)
  --seed=N               for data and the random schedule (default: 1)

options of the harness (no command):
  --kernel=NAME          the kernel (default: every kernel of the file)
  --rewritten=FILE       the file that rcache-rewrite wrote
  --prove                for each launch shape, compare the expressions of all
                         results instead of one set of values: equality for
                         all data at that shape
  --block=X,Y,Z --grid=X,Y,Z --smem=BYTES --arg=NAME=VALUE
                         fix what the harness would choose
  --trials=N --seconds=N stop after N launches (400) or N seconds (60)

options of the self-check:
  --self                 the file holds kernels and their rewritten forms: each
                         NAME_rc_launch against NAME, at the launches that matter
                         most; the file's main is not run
  --budget=SECONDS       processor time for each kernel (default: 2)
  --report=json          the result on stdout, one object

  --dump-ir=DIR          write the intermediate modules

exit status: 0 equivalent or no finding, 1 different, 2 wrong usage, 3 undefined
behaviour in the original, 4 in the rewritten program, 5 could not run
)";

bool value(const std::string &Arg, const char *Name, std::string &Out) {
  size_t N = strlen(Name);
  if (Arg.compare(0, N, Name) != 0 || Arg.size() <= N || Arg[N] != '=')
    return false;
  Out = Arg.substr(N + 1);
  return true;
}

[[noreturn]] void wrong(const std::string &Why) {
  fprintf(stderr, "rcache-check: %s\n%s", Why.c_str(), Usage);
  exit(ExitUsage);
}

unsigned long number(const std::string &S, const char *What) {
  char *End;
  unsigned long V = strtoul(S.c_str(), &End, 10);
  if (S.empty() || *End)
    wrong(std::string("not a number after ") + What + ": '" + S + "'");
  return V;
}

double seconds(const std::string &S, const char *What) {
  char *End;
  double V = strtod(S.c_str(), &End);
  if (S.empty() || *End || !(V > 0))
    wrong(std::string("not a number of seconds after ") + What + ": '" + S +
          "'");
  return V;
}

Dim3 dimensions(const std::string &S) {
  Dim3 D;
  char Rest;
  if (sscanf(S.c_str(), "%u,%u,%u%c", &D.X, &D.Y, &D.Z, &Rest) < 1 || !D.X ||
      !D.Y || !D.Z)
    wrong("not dimensions: '" + S + "'");
  return D;
}

CommandLine parse(int Argc, char **Argv) {
  CommandLine L;
  int I = 1;
  for (; I < Argc; ++I) {
    std::string A = Argv[I], V;
    if (A == "--")
      break;
    if (A == "--args") {
      for (++I; I < Argc && strcmp(Argv[I], "--"); ++I)
        L.ProgramArgs.push_back(Argv[I]);
      break;
    }
    if (A == "-h" || A == "--help") {
      fputs(Usage, stdout);
      exit(0);
    }
    if (A == "--prove")
      L.Prove = true;
    else if (A == "--self")
      L.Self = true;
    else if (value(A, "--budget", V))
      L.Budget = seconds(V, "--budget");
    else if (value(A, "--report", V)) {
      if (V != "json" && V != "text")
        wrong("--report is json or text, not '" + V + "'");
      L.Json = V == "json";
    }
    else if (value(A, "--cuda-path", V))
      L.Jit.Frontend.CudaPath = V;
    else if (value(A, "--arch", V))
      L.Jit.Frontend.Arch = V;
    else if (value(A, "--fp-contract", V)) {
      if (V != "off" && V != "fast")
        wrong("--fp-contract is off or fast, not '" + V + "'");
      L.Jit.Frontend.Contract = V == "fast";
    } else if (value(A, "--resource-dir", V))
      L.Jit.Frontend.ResourceDir = V;
    else if (value(A, "--jobs", V))
      L.Runtime.Jobs = number(V, "--jobs");
    else if (value(A, "--max-findings", V))
      L.Runtime.MaxFindings = number(V, "--max-findings");
    else if (value(A, "--kernel", V))
      L.Kernels.push_back(V);
    else if (value(A, "--rewritten", V))
      L.Rewritten = V;
    else if (value(A, "--block", V))
      L.Block = dimensions(V);
    else if (value(A, "--grid", V))
      L.Grid = dimensions(V);
    else if (value(A, "--smem", V))
      L.DynamicShared = number(V, "--smem");
    else if (value(A, "--trials", V))
      L.Trials = number(V, "--trials");
    else if (value(A, "--seconds", V))
      L.Seconds = number(V, "--seconds");
    else if (value(A, "--seed", V))
      L.Runtime.Seed = number(V, "--seed");
    else if (value(A, "--arg", V)) {
      size_t Eq = V.find('=');
      if (Eq == std::string::npos)
        wrong("--arg needs NAME=VALUE");
      L.ArgValues[V.substr(0, Eq)] = V.substr(Eq + 1);
    } else if (value(A, "--timeout", V))
      L.TimeLimit = number(V, "--timeout");
    else if (value(A, "--dump-ir", V))
      L.Jit.DumpDir = V;
    else if (value(A, "--schedule", V)) {
      if (V == "forward")
        L.Runtime.Schedule = Order::Forward;
      else if (V == "reverse")
        L.Runtime.Schedule = Order::Reverse;
      else if (V.compare(0, 6, "random") == 0) {
        L.Runtime.Schedule = Order::Random;
        if (V.size() > 7 && V[6] == ':')
          L.Runtime.Seed = number(V.substr(7), "--schedule=random:");
        else if (V != "random")
          wrong("unknown schedule '" + V + "'");
      } else
        wrong("unknown schedule '" + V + "'");
    } else if (A == "--no-races")
      L.Runtime.Races = false;
    else if (A == "--no-uninit")
      L.Jit.Definedness = false;
    else if (A == "--no-checks")
      L.Jit.Checks = L.Jit.Definedness = L.Runtime.Races = false;
    else if (A.size() > 1 && A[0] == '-')
      wrong("unknown option '" + A + "'");
    else
      L.Inputs.push_back(A);
  }
  if (I < Argc && !strcmp(Argv[I], "--"))
    for (++I; I < Argc; ++I)
      L.Jit.Frontend.Flags.push_back(Argv[I]);
  return L;
}

} // namespace

int main(int Argc, char **Argv) {
  CommandLine L = parse(Argc, Argv);
  if (L.Inputs.empty())
    wrong("no input");
  std::string Command = L.Inputs.front();
  if (Command == "run") {
    L.Inputs.erase(L.Inputs.begin());
    if (L.Inputs.empty())
      wrong("run takes the files of a program");
    return runCommand(L);
  }
  if (Command == "diff") {
    L.Inputs.erase(L.Inputs.begin());
    if (L.Inputs.size() != 2)
      wrong("diff takes two programs");
    return diffCommand(L);
  }
  if (L.Inputs.size() == 1 && Command.find('.') != std::string::npos)
    return L.Self ? selfCommand(L) : harnessCommand(L);
  wrong("unknown command '" + Command + "'");
}
