// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// diff: the same program in two versions. Each runs in a process of its own and
// stops after each launch; the parent then looks at the device memory of both.
//
//   child --Stop (allocations)--> parent --compare--> Go --> child

#include "Commands.h"
#include "Compare.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rcache::check {

namespace {

struct Stop {
  uint64_t Launch;
  uint32_t Before; ///< the launch is about to begin
  uint32_t Errors;
  uint32_t Allocations;
  char Kernel[200];
};
struct WireAllocation {
  uint64_t Base, Size, Serial;
  uint32_t Kind;
  char Name[100];
};

bool readAll(int Fd, void *P, size_t N) {
  auto *At = static_cast<char *>(P);
  while (N) {
    ssize_t R = read(Fd, At, N);
    if (R < 0 && errno == EINTR)
      continue;
    if (R <= 0)
      return false;
    At += R;
    N -= R;
  }
  return true;
}
bool writeAll(int Fd, const void *P, size_t N) {
  auto *At = static_cast<const char *>(P);
  while (N) {
    ssize_t R = write(Fd, At, N);
    if (R < 0 && errno == EINTR)
      continue;
    if (R <= 0)
      return false;
    At += R;
    N -= R;
  }
  return true;
}
void copyName(char *To, size_t N, const std::string &From) {
  snprintf(To, N, "%s", From.c_str());
}

/// The label of a run that has been seen before and prints nothing.
const char *const Again = "original, again";

class Child {
public:
  /// \p Both: stop in front of each launch as well as behind it.
  Child(const CommandLine &L, const std::string &Source, const char *Label,
        bool Both)
      : Source(Source), Label(Label), Both(Both) {
    int Up[2], Down[2];
    Printed = memfd_create("stdout", MFD_CLOEXEC);
    if (pipe(Up) || pipe(Down))
      return;
    fflush(nullptr);
    Pid = fork();
    if (Pid == 0) {
      close(Up[0]);
      close(Down[1]);
      run(L, Up[1], Down[0]);
    }
    close(Up[1]);
    close(Down[0]);
    From = Up[0];
    To = Down[1];
  }

  ~Child() {
    for (int Fd : {From, To, Printed})
      if (Fd >= 0)
        close(Fd);
  }
  Child(const Child &) = delete;

  /// What the program has printed on standard output.
  std::string output() const {
    std::string Out(std::max<off_t>(0, lseek(Printed, 0, SEEK_END)), '\0');
    ssize_t N = pread(Printed, Out.data(), Out.size(), 0);
    Out.resize(std::max<ssize_t>(0, N));
    return Out;
  }

  /// Waits for the next launch. False: the program has ended.
  bool next() {
    if (!readAll(From, &At, sizeof(At)))
      return false;
    Allocations.resize(At.Allocations);
    return readAll(From, Allocations.data(),
                   At.Allocations * sizeof(WireAllocation));
  }
  void go() { writeAll(To, "g", 1); }
  /// Exit status after the end; 128 + signal if it was killed.
  int end() {
    int Status;
    while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
      ;
    Pid = -1;
    return WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status);
  }
  void stop() {
    if (Pid > 0) {
      kill(Pid, SIGKILL);
      end();
    }
  }
  bool fetch(uint64_t Address, std::vector<uint8_t> &Out) const {
    size_t Done = 0;
    while (Done < Out.size()) {
      iovec Local{Out.data() + Done, Out.size() - Done};
      iovec Remote{reinterpret_cast<void *>(Address + Done),
                   Out.size() - Done};
      ssize_t R = process_vm_readv(Pid, &Local, 1, &Remote, 1, 0);
      if (R <= 0)
        return false;
      Done += R;
    }
    return true;
  }

  Stop At{};
  std::vector<WireAllocation> Allocations;
  std::string Source;
  const char *Label;

private:
  [[noreturn]] void run(const CommandLine &L, int Out, int In) {
    CommandLine Mine = L;
    Mine.Inputs = {Source};
    Mine.Label = Label;
    // One program's output is enough; findings go to stderr.
    int Null = open("/dev/null", O_WRONLY);
    dup2(Printed >= 0 ? Printed : Null, 1);
    if (strcmp(Label, Again) == 0)
      dup2(Null, 2);
    auto Wait = [=](const Launch &X, bool Before) {
      Stop S{};
      S.Before = Before;
      S.Launch = X.Index;
      S.Errors = errorCount();
      copyName(S.Kernel, sizeof(S.Kernel), X.Kernel->DisplayName);
      std::vector<WireAllocation> W;
      for (const Allocation &A : allocations()) {
        WireAllocation Y{};
        Y.Base = reinterpret_cast<uint64_t>(A.Base);
        Y.Size = A.Size;
        Y.Serial = A.Serial;
        Y.Kind = A.K;
        copyName(Y.Name, sizeof(Y.Name), A.Name);
        W.push_back(Y);
      }
      S.Allocations = W.size();
      char Go;
      if (!writeAll(Out, &S, sizeof(S)) ||
          !writeAll(Out, W.data(), W.size() * sizeof(W[0])) ||
          !readAll(In, &Go, 1))
        _exit(ExitCouldNotRun);
    };
    onLaunch([=](const Launch &X) { Wait(X, false); });
    if (Both)
      onLaunchStart([=](const Launch &X) { Wait(X, true); });
    exit(runCommand(Mine));
  }
  bool Both;
  pid_t Pid = -1;
  int From = -1, To = -1, Printed = -1;
};

/// Allocations of both sides that stand for the same: variables by name, others
/// by the order in which they were made.
std::vector<std::pair<const WireAllocation *, const WireAllocation *>>
pairUp(const Child &A, const Child &B, std::string &Problem) {
  std::vector<std::pair<const WireAllocation *, const WireAllocation *>> R;
  std::vector<const WireAllocation *> Plain[2];
  for (int S = 0; S < 2; ++S)
    for (const WireAllocation &X : (S ? B : A).Allocations)
      if (X.Kind != Allocation::Global)
        Plain[S].push_back(&X);
  if (Plain[0].size() != Plain[1].size())
    Problem = "the original has " + std::to_string(Plain[0].size()) +
              " device allocations, the rewritten program " +
              std::to_string(Plain[1].size());
  for (size_t I = 0; I < std::min(Plain[0].size(), Plain[1].size()); ++I) {
    if (Plain[0][I]->Size != Plain[1][I]->Size)
      Problem = "allocation " + std::to_string(I) + " has " +
                std::to_string(Plain[0][I]->Size) + " and " +
                std::to_string(Plain[1][I]->Size) + " bytes";
    R.push_back({Plain[0][I], Plain[1][I]});
  }
  for (const WireAllocation &X : A.Allocations)
    if (X.Kind == Allocation::Global && X.Name[0] &&
        strncmp(X.Name, ".str", 4) != 0)
      for (const WireAllocation &Y : B.Allocations)
        if (Y.Kind == Allocation::Global && !strcmp(X.Name, Y.Name) &&
            X.Size == Y.Size)
          R.push_back({&X, &Y});
  return R;
}

/// Prints (if not Quiet) the first difference after a launch; false if there is
/// one.
bool compareLaunch(const Child &A, const Child &B, bool Quiet = false) {
  const char *const When = A.At.Before ? "before" : "after";
  std::string Problem;
  auto Pairs = pairUp(A, B, Problem);
  if (!Problem.empty()) {
    if (!Quiet)
      fprintf(stderr,
              "rcache-check: different: %s launch %llu of '%s': %s\n", When,
              (unsigned long long)A.At.Launch, A.At.Kernel, Problem.c_str());
    return false;
  }
  size_t Number = 0;
  for (auto &[X, Y] : Pairs) {
    constexpr size_t Piece = 8 << 20;
    for (size_t Off = 0; Off < X->Size; Off += Piece) {
      size_t N = std::min(Piece, X->Size - Off);
      std::vector<uint8_t> M[4];
      for (auto &V : M)
        V.resize(N);
      if (!A.fetch(X->Base + Off, M[0]) ||
          !A.fetch((X->Base + Off) ^ ShadowXor, M[1]) ||
          !B.fetch(Y->Base + Off, M[2]) ||
          !B.fetch((Y->Base + Off) ^ ShadowXor, M[3])) {
        fprintf(stderr, "rcache-check: cannot read the memory of a child "
                        "process: %s\n",
                strerror(errno));
        exit(ExitCouldNotRun);
      }
      FirstDifference D = compareMemory(M[0].data(), M[1].data(), M[2].data(),
                                        M[3].data(), N);
      if (D.Kind == Difference::None)
        continue;
      if (Quiet)
        return false;
      size_t Word = D.Offset & ~size_t(3);
      unsigned Width = Word + 4 <= N ? 4 : 1;
      if (Width == 1)
        Word = D.Offset;
      std::string Name = X->Kind == Allocation::Global
                             ? "variable '" + std::string(X->Name) + "'"
                             : "allocation " + std::to_string(Number);
      fprintf(stderr,
              "rcache-check: different: %s launch %llu of '%s' ('%s'), %s "
              "of %llu bytes, byte %llu (4-byte element %llu)\n"
              "  original:  %s\n  rewritten: %s%s\n",
              When, (unsigned long long)A.At.Launch, A.At.Kernel, B.At.Kernel,
              Name.c_str(), (unsigned long long)X->Size,
              (unsigned long long)(Off + D.Offset),
              (unsigned long long)((Off + D.Offset) / 4),
              describeWord(&M[0][Word], Width).c_str(),
              describeWord(&M[2][Word], Width).c_str(),
              D.Kind == Difference::Undefined
                  ? ", and it was never initialised"
                  : "");
      return false;
    }
    ++Number;
  }
  return true;
}

/// The launch, of the first \p Launches, after which the original differs from
/// itself when lanes, warps and blocks run in the opposite order; nullopt: none.
std::optional<Stop> dependsOnOrder(const CommandLine &L, uint64_t Launches) {
  CommandLine Forward = L, Backward = L;
  Forward.Runtime.Schedule = Order::Forward;
  Backward.Runtime.Schedule = Order::Reverse;
  Forward.Runtime.Jobs = Backward.Runtime.Jobs = 1;
  Child A(Forward, L.Inputs[0], Again, false),
      B(Backward, L.Inputs[0], Again, false);
  std::optional<Stop> Found;
  for (uint64_t I = 0; I < Launches && !Found && A.next() && B.next(); ++I) {
    if (!compareLaunch(A, B, /*Quiet=*/true))
      Found = A.At;
    A.go();
    B.go();
  }
  A.stop();
  B.stop();
  return Found;
}

/// Both programs from their beginnings to their ends, with one order of threads
/// and blocks. \p Second: in another one than before, where they were equal.
int diffOnce(const CommandLine &L, bool Second, uint64_t &Launches) {
  Child A(L, L.Inputs[0], "original", true),
      B(L, L.Inputs[1], "rewritten", true);
  bool Same = true;
  Launches = 0;
  for (;;) {
    bool HaveA = A.next(), HaveB = B.next();
    if (!HaveA && !HaveB)
      break;
    if (HaveA != HaveB) {
      // The shorter one may have failed; its status decides below.
      Same = false;
      fprintf(stderr,
              "rcache-check: different: the %s program ended after %llu "
              "launches, the other goes on with '%s'\n",
              HaveA ? "rewritten" : "original", (unsigned long long)Launches,
              HaveA ? A.At.Kernel : B.At.Kernel);
      break;
    }
    const bool Before = A.At.Before && B.At.Before;
    Launches += !Before;
    if (A.At.Errors || B.At.Errors)
      ; // memory means nothing now; the statuses tell
    else if (!compareLaunch(A, B)) {
      A.stop();
      B.stop();
      if (Before) {
        fprintf(stderr,
                "rcache-check: the programs give this launch different data, "
                "such as host memory that was never written: nothing can be "
                "said of it\n");
        return ExitCouldNotRun;
      }
      if (const auto At = dependsOnOrder(L, Launches)) {
        fprintf(stderr,
                "rcache-check: note: the original differs from itself after "
                "launch %llu of '%s' when its threads and blocks run in the "
                "opposite order: its result is not defined\n",
                (unsigned long long)At->Launch, At->Kernel);
        if (Second)
          return ExitSame;
      }
      return ExitDifferent;
    }
    A.go();
    B.go();
  }
  if (!Same) { // let the longer one finish, for its findings
    A.go();
    B.go();
    while (A.next())
      A.go();
    while (B.next())
      B.go();
  }
  int EndA = A.end(), EndB = B.end();
  const std::string OutA = A.output(), OutB = B.output();
  if (!Second) {
    fwrite(OutA.data(), 1, OutA.size(), stdout);
    fflush(stdout);
  }
  auto Undefined = [](int S) { return S == ExitUndefinedOriginal; };
  if (EndA == ExitCouldNotRun || EndB == ExitCouldNotRun || EndA >= 128) {
    fprintf(stderr, "rcache-check: the %s program could not be run\n",
            EndB == ExitCouldNotRun && EndA != ExitCouldNotRun ? "rewritten"
                                                               : "original");
    return ExitCouldNotRun;
  }
  if (Undefined(EndA))
    return ExitUndefinedOriginal;
  if (Undefined(EndB) || EndB >= 128) {
    if (EndB >= 128)
      fprintf(stderr, "rcache-check: the rewritten program was killed by "
                      "signal %d\n",
              EndB - 128);
    return ExitUndefinedRewritten;
  }
  if (EndA != EndB) {
    fprintf(stderr,
            "rcache-check: different: exit status %d, rewritten program %d\n",
            EndA, EndB);
    return ExitDifferent;
  }
  if (!Same)
    return ExitDifferent;
  if (!L.IgnoreOutput && OutA != OutB) {
    size_t At = 0, Line = 1;
    for (; At < std::min(OutA.size(), OutB.size()) && OutA[At] == OutB[At]; ++At)
      Line += OutA[At] == '\n';
    auto LineOf = [&](const std::string &Text) {
      size_t Begin = At ? Text.rfind('\n', At - 1) : std::string::npos;
      Begin = Begin == std::string::npos ? 0 : Begin + 1;
      return Text.substr(Begin, std::min(Text.find('\n', At) - Begin,
                                         size_t(200)));
    };
    fprintf(stderr,
            "rcache-check: different: standard output, line %zu "
            "(--ignore-output if it tells times)\n  original:  %s\n"
            "  rewritten: %s\n",
            Line, LineOf(OutA).c_str(), LineOf(OutB).c_str());
    return ExitDifferent;
  }
  return ExitSame;
}

} // namespace

int diffCommand(const CommandLine &L) {
  signal(SIGPIPE, SIG_IGN);
  uint64_t Launches = 0, Again = 0;
  if (int Code = diffOnce(L, false, Launches); Code != ExitSame)
    return Code;
  if (!Launches) {
    fprintf(stderr, "rcache-check: nothing was compared: the programs make no "
                    "launches\n");
    return ExitCouldNotRun;
  }
  if (!L.GivenSchedule) {
    CommandLine Back = L;
    Back.Runtime.Schedule = Order::Reverse;
    if (int Code = diffOnce(Back, true, Again); Code != ExitSame) {
      fprintf(stderr, "rcache-check: with lanes, warps and blocks in reverse "
                      "order; in forward order the programs are equivalent\n");
      return Code;
    }
  }
  fprintf(stderr, "rcache-check: equivalent: %llu launches compared%s\n",
          (unsigned long long)Launches,
          L.GivenSchedule ? "" : ", in two orders of threads and blocks");
  return ExitSame;
}

} // namespace rcache::check
