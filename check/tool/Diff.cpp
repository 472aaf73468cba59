// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// diff: the same program in two versions, side by side. Both stop at each launch,
// and their device memory is compared.

#include "Compare.h"
#include "Programs.h"
#include "Say.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace rcache::check {

namespace {

/// Allocations of both sides that stand for the same: variables by name, others
/// by the order in which they were made.
std::vector<std::pair<const WireAllocation *, const WireAllocation *>>
pairUp(const ProgramRun &A, const ProgramRun &B, std::string &Problem) {
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

/// The first difference after a launch, in words; "" if there is none.
std::string compareLaunch(const ProgramRun &A, const ProgramRun &B) {
  const char *const When = A.At.Before ? "before" : "after";
  std::string Problem;
  auto Pairs = pairUp(A, B, Problem);
  const std::string Launch =
      std::string(When) + " launch " + std::to_string(A.At.Launch) + " of '" + A.At.Kernel + "'";
  if (!Problem.empty())
    return Launch + ": " + Problem + "\n";
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
      size_t Word = D.Offset & ~size_t(3);
      unsigned Width = Word + 4 <= N ? 4 : 1;
      if (Width == 1)
        Word = D.Offset;
      std::string Name = X->Kind == Allocation::Global
                             ? "variable '" + std::string(X->Name) + "'"
                             : "allocation " + std::to_string(Number);
      return Launch + " ('" + B.At.Kernel + "'), " + Name + " of " +
             std::to_string(X->Size) + " bytes, byte " + std::to_string(Off + D.Offset) +
             " (4-byte element " + std::to_string((Off + D.Offset) / 4) +
             ")\n  original:  " + describeWord(&M[0][Word], Width) +
             "\n  rewritten: " + describeWord(&M[2][Word], Width) +
             (D.Kind == Difference::Undefined ? ", and it was never initialised" : "") +
             "\n";
    }
    ++Number;
  }
  return "";
}

/// The launch, of the first \p Launches, after which the original differs from
/// itself when lanes, warps and blocks run in the opposite order; nullopt: none.
std::optional<Stop> dependsOnOrder(const CommandLine &L, uint64_t Launches) {
  CommandLine Alone = L;
  Alone.Runtime.Jobs = 1;
  Alone.Jit.Note = nullptr; // told the first time
  Alone.Jit.MachineCode = false;
  Prepared First(Alone, L.Inputs[0], SeenBefore, false),
      Second(Alone, L.Inputs[0], SeenBefore, false);
  ProgramRun A(First, 'f'), B(Second, 'r');
  std::optional<Stop> Found;
  for (uint64_t I = 0; I < Launches && !Found && A.next() && B.next(); ++I) {
    if (!compareLaunch(A, B).empty())
      Found = A.At;
    A.go();
    B.go();
  }
  A.stop();
  B.stop();
  return Found;
}

/// Both programs from their beginnings to their ends, with one order of threads
/// and blocks.
class SideBySide {
public:
  /// \p Second: in another order than before, where they were equal.
  SideBySide(const CommandLine &L, Prepared &First, Prepared &Other, bool Second)
      : L(L), Second(Second), A(First, how()), B(Other, how()) {}

  int compare();

  uint64_t Launches = 0; ///< compared
  uint64_t Renamed = 0;  ///< of them: the rewritten program took a kernel of
                         ///< another name
  bool Undefined = false; ///< the original differs from itself, in this order

private:
  char how() const { return L.GivenSchedule ? 'k' : Second ? 'r' : 'f'; }
  std::optional<int> launches();
  std::optional<int> threadsDiffer();
  std::optional<int> differs(const std::string &What, bool Before);
  std::optional<int> endings();
  int output();

  const CommandLine &L;
  const bool Second;
  ProgramRun A, B;
  std::string Shorter; ///< which of both ended too early, if one did
};

int SideBySide::compare() {
  if (auto Code = launches())
    return *Code;
  if (!Shorter.empty()) { // let the longer one finish, for its findings
    A.go();
    B.go();
    while (A.next())
      A.go();
    while (B.next())
      B.go();
  }
  if (auto Code = endings())
    return *Code;
  return output();
}

/// All launches of both; a status if they end the comparison.
std::optional<int> SideBySide::launches() {
  for (;;) {
    bool HaveA = A.next(), HaveB = B.next();
    if (!HaveA && !HaveB)
      return std::nullopt;
    if (HaveA != HaveB) {
      // The shorter one may have failed; its ending decides.
      Shorter = std::string("rcache-check: different: the ") +
                (HaveA ? "rewritten" : "original") + " program ended after " +
                std::to_string(Launches) + " launches, the other goes on with '" +
                (HaveA ? A.At.Kernel : B.At.Kernel) + "'\n";
      return std::nullopt;
    }
    if (auto Code = threadsDiffer())
      return Code;
    const bool Before = A.At.Before && B.At.Before;
    Launches += !Before;
    Renamed += !Before && llvm::StringRef(A.At.Kernel) != B.At.Kernel;
    if (A.At.Errors || B.At.Errors)
      ; // memory means nothing now; the endings tell
    else if (const std::string What = compareLaunch(A, B); !What.empty())
      return differs(What, Before);
    A.go();
    B.go();
  }
}

/// Host threads that wait for each other may launch in any order.
std::optional<int> SideBySide::threadsDiffer() {
  if (!(A.At.Waiting || B.At.Waiting) ||
      (!strcmp(A.At.Thread, B.At.Thread) && A.At.Before == B.At.Before))
    return std::nullopt;
  A.stop();
  B.stop();
  say("rcache-check: launch %llu is one of '%s' by host thread %s in the original, "
      "of '%s' by host thread %s in the rewritten program: threads of the host wait "
      "for each other, and nothing orders their launches; programs are compared "
      "where each thread can run to its end before the next one begins\n",
      (unsigned long long)A.At.Launch, A.At.Kernel, A.At.Thread, B.At.Kernel,
      B.At.Thread);
  return ExitCouldNotRun;
}

/// What the difference \p What before or after a launch means.
std::optional<int> SideBySide::differs(const std::string &What, bool Before) {
  A.stop();
  B.stop();
  if (Before) {
    say("rcache-check: different: %s"
        "rcache-check: the programs give this launch different data%s: nothing can "
        "be said of it\n",
        What.c_str(),
        A.At.Waiting ? ", threads of the host that wait for each other may have "
                       "come in another order"
                     : ", such as host memory that was never written");
    return ExitCouldNotRun;
  }
  const auto At = dependsOnOrder(L, Launches);
  Undefined = Second && At;
  // Another order of what has no order proves nothing.
  if (!Undefined)
    say("rcache-check: different: %s", What.c_str());
  if (At)
    say("rcache-check: note: the original differs from itself after "
        "launch %llu of '%s' when its threads and blocks run in the "
        "opposite order: its result is not defined\n",
        (unsigned long long)At->Launch, At->Kernel);
  return Undefined ? ExitSame : ExitDifferent;
}

/// Of programs that could not be followed to an end of their own.
std::optional<int> SideBySide::endings() {
  const RunEnd EndA = A.end(), EndB = B.end();
  const std::string OutA = A.output();
  if (!Second && !L.Json) {
    fwrite(OutA.data(), 1, OutA.size(), stdout);
    fflush(stdout);
  }
  auto CouldNot = [](const char *Which) {
    say("rcache-check: the %s program could not be run\n", Which);
    return ExitCouldNotRun;
  };
  auto Killed = [](const char *Which, const RunEnd &E) {
    if (E.Signal)
      say("rcache-check: the %s program was killed by signal %d (%s)\n", Which,
          E.Signal, strsignal(E.Signal));
    return E.Signal != 0;
  };
  if (EndA.How == Ending::CouldNotRun || EndA.How == Ending::Timeout)
    return CouldNot("original");
  if (EndA.How == Ending::Undefined)
    return ExitUndefinedOriginal;
  if (Killed("original", EndA))
    return CouldNot("original");
  if (EndB.How == Ending::CouldNotRun)
    return CouldNot("rewritten");
  // A rewritten program that does not end, where the original does, is wrong.
  if (EndB.How != Ending::Own || Killed("rewritten", EndB))
    return ExitUndefinedRewritten;
  say("%s", Shorter.c_str());
  if (EndA.Status != EndB.Status) {
    say("rcache-check: different: exit status %d, rewritten program %d\n",
        EndA.Status, EndB.Status);
    return ExitDifferent;
  }
  if (!Shorter.empty())
    return ExitDifferent;
  return std::nullopt;
}

/// Compares what they have printed.
int SideBySide::output() {
  const std::string OutA = A.output(), OutB = B.output();
  if (L.IgnoreOutput || OutA == OutB)
    return ExitSame;
  size_t At = 0, Line = 1;
  for (; At < std::min(OutA.size(), OutB.size()) && OutA[At] == OutB[At]; ++At)
    Line += OutA[At] == '\n';
  auto LineOf = [&](const std::string &Text) {
    size_t Begin = At ? Text.rfind('\n', At - 1) : std::string::npos;
    Begin = Begin == std::string::npos ? 0 : Begin + 1;
    return Text.substr(Begin,
                       std::min(Text.find('\n', At) - Begin, size_t(200)));
  };
  say("rcache-check: different: standard output, line %zu "
      "(--ignore-output if it tells times)\n  original:  %s\n"
      "  rewritten: %s\n",
      Line, LineOf(OutA).c_str(), LineOf(OutB).c_str());
  return ExitDifferent;
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
  SideBySide Forward(L, A, B, false);
  const int Code = Forward.compare();
  Launches = Forward.Launches;
  if (Code != ExitSame)
    return Code;
  if (!Launches) {
    say("rcache-check: nothing was compared: the programs make no launches, or none that succeeds\n");
    return ExitCouldNotRun;
  }
  const char *Orders = L.GivenSchedule ? "" : ", in two orders of threads and blocks";
  if (!L.GivenSchedule) {
    SideBySide Reverse(L, A, B, true);
    if (int Code = Reverse.compare(); Code != ExitSame) {
      say("rcache-check: with lanes, warps and blocks in reverse order; in "
          "forward order the programs are equivalent\n");
      return Code;
    }
    if (Reverse.Undefined)
      Orders = ", in forward order of threads and blocks alone";
  }
  // Conditions at launch that never hold would make any two programs equal.
  const std::string Taken =
      Forward.Renamed ? std::to_string(Forward.Renamed) + " by a rewritten kernel"
              : "none by a rewritten kernel";
  say("rcache-check: equivalent: %llu launches compared%s; device code is %s; "
      "%s\n",
      (unsigned long long)Launches,
      Orders, A.compiler() == 'n' ? "nvcc's" : "clang's", Taken.c_str());
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
  if (L.Jit.Frontend.Nvcc && A->compiler() == 'n' && B->compiler() == 'r') {
    say("rcache-check: nvcc compiles the original program, and not the rewritten one\n");
    return ExitCouldNotRun;
  }
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
