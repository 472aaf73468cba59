// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// diff: the same program in two versions. Each runs in a process of its own and
// stops after each launch; the parent then looks at the device memory of both.
//
//   child --Stop (allocations)--> parent --compare--> Go --> child

#include "Commands.h"
#include "Compare.h"
#include "Say.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <sstream>
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

/// A program that is compiled once, in a process of its own, and then run in
/// others: each run begins as a copy of the process that has compiled.
///
///   this process --order--> compiled --fork--> a run --Stop--> this process
class Prepared {
public:
  /// \p Both: stop in front of each launch as well as behind it. \p Runs: at
  /// most so many, one after the other.
  Prepared(const CommandLine &L, const std::string &Source, const char *Label,
          bool Both, unsigned Runs = 1)
      : Label(Label), Both(Both) {
    if (L.Json)
      Said = memfd_create("findings", MFD_CLOEXEC);
    if (pipe2(Command, O_CLOEXEC) || pipe2(Answer, O_CLOEXEC))
      return;
    for (unsigned I = 0; I < Runs; ++I) {
      Ends E;
      E.Printed = memfd_create("stdout", MFD_CLOEXEC);
      if (pipe2(E.Up, O_CLOEXEC) || pipe2(E.Down, O_CLOEXEC))
        return;
      All.push_back(E);
    }
    fflush(nullptr);
    Pid = fork();
    const bool Inside = Pid == 0;
    shut(Command[Inside]);
    shut(Answer[!Inside]);
    for (Ends &E : All) {
      shut(E.Up[!Inside]);
      shut(E.Down[Inside]);
    }
    if (Inside)
      serve(L, Source);
  }
  ~Prepared() {
    for (int *Fd : {&Command[0], &Command[1], &Answer[0], &Answer[1], &Said})
      shut(*Fd);
    for (Ends &E : All)
      for (int *Fd : {&E.Up[0], &E.Up[1], &E.Down[0], &E.Down[1], &E.Printed})
        shut(*Fd);
    if (Pid > 0)
      ended();
  }
  Prepared(const Prepared &) = delete;

  /// Waits until it is compiled: 'n' if device code is nvcc's, 'c' if it is
  /// clang's, 0 if there is none.
  char compiler() {
    if (!Compiler && !readAll(Answer[0], &Compiler.emplace(0), 1))
      Compiler = 0;
    return *Compiler;
  }

  /// --report=json: what was found in the program.
  void findings(llvm::json::Array &Out) const {
    std::istringstream Lines(contents(Said));
    for (std::string Line; std::getline(Lines, Line);)
      if (auto V = llvm::json::parse(Line)) {
        (*V->getAsObject())["program"] = Label;
        Out.push_back(std::move(*V));
      } else {
        llvm::consumeError(V.takeError());
      }
  }

private:
  friend class Child;
  struct Ends {
    int Up[2] = {-1, -1}, Down[2] = {-1, -1}; ///< reading, writing end
    int Printed = -1;
  };

  static void shut(int &Fd) {
    if (Fd >= 0)
      close(Fd);
    Fd = -1;
  }
  static std::string contents(int Fd) {
    if (Fd < 0)
      return "";
    std::string Out(std::max<off_t>(0, lseek(Fd, 0, SEEK_END)), '\0');
    ssize_t N = pread(Fd, Out.data(), Out.size(), 0);
    Out.resize(std::max<ssize_t>(0, N));
    return Out;
  }
  static int statusOf(int Status) {
    return WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status);
  }
  /// Of the process that compiles.
  int ended() {
    int Status = 0;
    while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
      ;
    Pid = -1;
    return statusOf(Status);
  }

  [[noreturn]] void serve(const CommandLine &L, const std::string &Source) {
    CommandLine Mine = L;
    Mine.Inputs = {Source};
    Mine.Label = Label;
    Mine.FindingsTo = Said;
    // One program's output is enough; findings go to stderr.
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, 1);
    if (strcmp(Label, Again) == 0)
      dup2(Null, 2);
    auto Whose = std::make_shared<char>('c');
    Mine.Jit.Whose = [Whose](bool Nvcc) { *Whose = Nvcc ? 'n' : 'c'; };
    Mine.Jit.BeforeUserCode = [this, Whose] {
      if (!writeAll(Answer[1], Whose.get(), 1))
        _exit(0);
      for (Ends &E : All) {
        char How;
        if (!readAll(Command[0], &How, 1))
          break;
        fflush(nullptr);
        const pid_t Run = fork();
        if (Run == 0)
          return begin(E, How);
        shut(E.Up[1]);
        shut(E.Down[0]);
        int Status = 0;
        if (!writeAll(Answer[1], &Run, sizeof(Run)))
          break;
        while (waitpid(Run, &Status, 0) < 0 && errno == EINTR)
          ;
        Status = statusOf(Status);
        if (!writeAll(Answer[1], &Status, sizeof(Status)))
          break;
      }
      _exit(0);
    };
    exit(runCommand(Mine));
  }

  /// In the process of a run.
  void begin(const Ends &E, char How) {
    if (How != 'k')
      options().Schedule = How == 'r' ? Order::Reverse : Order::Forward;
    if (E.Printed >= 0)
      dup2(E.Printed, 1);
    auto Wait = [Out = E.Up[1], In = E.Down[0]](const Launch &X, bool Before) {
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
  }

  const char *Label;
  bool Both;
  pid_t Pid = -1;
  int Command[2] = {-1, -1}, Answer[2] = {-1, -1}, Said = -1;
  std::vector<Ends> All;
  size_t Begun = 0;
  std::optional<char> Compiler;
};

/// One run of a program.
class Child {
public:
  /// \p How: 'f', 'r': lanes, warps and blocks forward or in reverse order,
  /// 'k': as the options say.
  Child(Prepared &P, char How) : P(P), Ends(P.All[P.Begun++]) {
    writeAll(P.Command[1], &How, 1);
  }
  Child(const Child &) = delete;

  /// What the program has printed on standard output.
  std::string output() const { return Prepared::contents(Ends.Printed); }

  /// Waits for the next launch. False: the program has ended.
  bool next() {
    if (!start() || !readAll(Ends.Up[0], &At, sizeof(At)))
      return false;
    Allocations.resize(At.Allocations);
    return readAll(Ends.Up[0], Allocations.data(),
                   At.Allocations * sizeof(WireAllocation));
  }
  void go() { writeAll(Ends.Down[1], "g", 1); }
  /// Exit status after the end; 128 + signal if it was killed.
  int end() {
    int Status = 0;
    if (!start() || !readAll(P.Answer[0], &Status, sizeof(Status)))
      return P.Pid > 0 ? P.ended() : int(ExitCouldNotRun);
    Pid = -1;
    Over = true;
    return Status;
  }
  void stop() {
    if (start() && !Over) {
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

private:
  /// Waits until it has been compiled and begins. False: it never does.
  bool start() {
    if (Pid < 0 && !Over && !Failed)
      Failed = !P.compiler() || !readAll(P.Answer[0], &Pid, sizeof(Pid));
    return !Failed;
  }

  Prepared &P;
  Prepared::Ends &Ends;
  pid_t Pid = -1;
  bool Over = false, Failed = false;
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
      say("rcache-check: different: %s launch %llu of '%s': %s\n", When,
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
        say("rcache-check: cannot read the memory of a child "
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
      say("rcache-check: different: %s launch %llu of '%s' ('%s'), %s "
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
  CommandLine Alone = L;
  Alone.Runtime.Jobs = 1;
  Alone.Jit.Note = nullptr; // told the first time
  Alone.Jit.MachineCode = false;
  Prepared First(Alone, L.Inputs[0], Again, false),
      Second(Alone, L.Inputs[0], Again, false);
  Child A(First, 'f'), B(Second, 'r');
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
/// \p Renamed: the launches at which the rewritten program took a kernel of
/// another name.
int diffOnce(const CommandLine &L, Prepared &First, Prepared &Other, bool Second,
             uint64_t &Launches, uint64_t &Renamed) {
  const char How = L.GivenSchedule ? 'k' : Second ? 'r' : 'f';
  Child A(First, How), B(Other, How);
  std::string Shorter; ///< which of both ended too early, if one did
  Launches = Renamed = 0;
  for (;;) {
    bool HaveA = A.next(), HaveB = B.next();
    if (!HaveA && !HaveB)
      break;
    if (HaveA != HaveB) {
      // The shorter one may have failed; its status decides below.
      Shorter = std::string("rcache-check: different: the ") +
                (HaveA ? "rewritten" : "original") + " program ended after " +
                std::to_string(Launches) + " launches, the other goes on with '" +
                (HaveA ? A.At.Kernel : B.At.Kernel) + "'\n";
      break;
    }
    const bool Before = A.At.Before && B.At.Before;
    Launches += !Before;
    Renamed += !Before && llvm::StringRef(A.At.Kernel) != B.At.Kernel;
    if (A.At.Errors || B.At.Errors)
      ; // memory means nothing now; the statuses tell
    else if (!compareLaunch(A, B)) {
      A.stop();
      B.stop();
      if (Before) {
        say("rcache-check: the programs give this launch different data, "
                "such as host memory that was never written: nothing can be "
                "said of it\n");
        return ExitCouldNotRun;
      }
      if (const auto At = dependsOnOrder(L, Launches)) {
        say("rcache-check: note: the original differs from itself after "
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
  if (!Shorter.empty()) { // let the longer one finish, for its findings
    A.go();
    B.go();
    while (A.next())
      A.go();
    while (B.next())
      B.go();
  }
  int EndA = A.end(), EndB = B.end();
  const std::string OutA = A.output(), OutB = B.output();
  if (!Second && !L.Json) {
    fwrite(OutA.data(), 1, OutA.size(), stdout);
    fflush(stdout);
  }
  auto Undefined = [](int S) { return S == ExitUndefinedOriginal; };
  if (EndA == ExitCouldNotRun || EndB == ExitCouldNotRun || EndA >= 128) {
    say("rcache-check: the %s program could not be run\n",
            EndB == ExitCouldNotRun && EndA != ExitCouldNotRun ? "rewritten"
                                                               : "original");
    return ExitCouldNotRun;
  }
  if (Undefined(EndA))
    return ExitUndefinedOriginal;
  if (Undefined(EndB) || EndB >= 128) {
    if (EndB >= 128)
      say("rcache-check: the rewritten program was killed by "
                      "signal %d\n",
              EndB - 128);
    return ExitUndefinedRewritten;
  }
  say("%s", Shorter.c_str());
  if (EndA != EndB) {
    say("rcache-check: different: exit status %d, rewritten program %d\n",
            EndA, EndB);
    return ExitDifferent;
  }
  if (!Shorter.empty())
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
    say("rcache-check: different: standard output, line %zu "
            "(--ignore-output if it tells times)\n  original:  %s\n"
            "  rewritten: %s\n",
            Line, LineOf(OutA).c_str(), LineOf(OutB).c_str());
    return ExitDifferent;
  }
  return ExitSame;
}

} // namespace

/// Both orders, or the one that was asked for.
static int diffBoth(const CommandLine &L, Prepared &A, Prepared &B,
                    uint64_t &Launches) {
  for (auto &[P, Name] : {std::pair<Prepared &, const char *>(A, "original"),
                          {B, "rewritten"}})
    if (!P.compiler()) {
      say("rcache-check: the %s program could not be run\n", Name);
      return ExitCouldNotRun;
    }
  uint64_t Again = 0, Renamed = 0, RenamedAgain = 0;
  if (int Code = diffOnce(L, A, B, false, Launches, Renamed); Code != ExitSame)
    return Code;
  if (!Launches) {
    say("rcache-check: nothing was compared: the programs make no launches\n");
    return ExitCouldNotRun;
  }
  if (!L.GivenSchedule)
    if (int Code = diffOnce(L, A, B, true, Again, RenamedAgain); Code != ExitSame) {
      say("rcache-check: with lanes, warps and blocks in reverse order; in "
          "forward order the programs are equivalent\n");
      return Code;
    }
  // Conditions at launch that never hold would make any two programs equal.
  const std::string Taken =
      Renamed ? std::to_string(Renamed) + " by a rewritten kernel"
              : "none by a rewritten kernel";
  say("rcache-check: equivalent: %llu launches compared%s; device code is %s; "
      "%s\n",
      (unsigned long long)Launches,
      L.GivenSchedule ? "" : ", in two orders of threads and blocks",
      A.compiler() == 'n' ? "nvcc's" : "clang's", Taken.c_str());
  return ExitSame;
}

int diffCommand(const CommandLine &Given) {
  signal(SIGPIPE, SIG_IGN);
  if (Given.Json)
    keepWhatIsSaid();
  CommandLine L = Given;
  uint64_t Launches = 0;
  std::optional<Prepared> A, B;
  auto Prepare = [&] {
    B.reset(); // it holds what A is waiting for
    A.reset();
    A.emplace(L, L.Inputs[0], "original", true, L.GivenSchedule ? 1 : 2);
    B.emplace(L, L.Inputs[1], "rewritten", true, L.GivenSchedule ? 1 : 2);
  };
  Prepare();
  // What one compiler makes of a sum is not what the other makes of it.
  if (L.Jit.Frontend.Nvcc && A->compiler() && B->compiler() &&
      A->compiler() != B->compiler()) {
    L.Jit.Frontend.Nvcc = false;
    Prepare();
  }
  const bool Nvcc = A->compiler() == 'n';
  const int Code = diffBoth(L, *A, *B, Launches);
  llvm::json::Array Findings;
  A->findings(Findings);
  B->findings(Findings);
  if (L.Json)
    printObject(llvm::json::Object{{"file", L.Inputs[0]},
                 {"rewritten", L.Inputs[1]},
                 {"verdict", statusName(Code)},
                 {"status", Code},
                 {"device-code", Nvcc ? "nvcc" : "clang"},
                 {"launches", Launches},
                 {"findings", std::move(Findings)},
                 {"messages", llvm::json::fixUTF8(takeSaid())}});
  return Code;
}

} // namespace rcache::check
