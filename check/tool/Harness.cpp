// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All shapes for each kernel of a file, against the same file or its rewritten
// version.

#include "Harness.h"

#include "Commands.h"
#include "Expr.h"
#include "PtxModule.h"
#include "Say.h"
#include "Trials.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

namespace rcache::check {

FrontendOptions driverOptions(FrontendOptions FE, const std::string &File) {
  FE.OnDisk = File;
  FE.Flags.push_back("-I" +
                     std::filesystem::path(File).parent_path().string());
  return FE;
}

namespace {

Version entryOf(const std::shared_ptr<CompiledProgram> &P, size_t I,
                bool Indirect) {
  Version V;
  V.Program = P;
  V.Indirect = Indirect;
  V.Params = reinterpret_cast<int (*)(Param *)>(
      P->lookup(DriverEntry::symbol("params", I)));
  V.Launch = reinterpret_cast<void (*)(const unsigned *, size_t, void **)>(
      P->lookup(DriverEntry::symbol(Indirect ? "indirect" : "direct", I)));
  if (!V.Params)
    V.Launch = nullptr;
  return V;
}

std::shared_ptr<CompiledProgram>
compileDriver(const std::string &File, const std::vector<DriverEntry> &Entries,
              JitOptions Jit, std::string &Error) {
  const std::string Driver = "/rcache-check/driver.cu";
  Jit.Frontend = driverOptions(Jit.Frontend, File);
  Jit.Frontend.VirtualFiles[Driver] = driverText(File, Entries);
  Jit.StubMissing = true;
  return CompiledProgram::create({Driver}, Jit, Error);
}

} // namespace

std::vector<Version> loadVersions(const std::string &File,
                                  const std::vector<KernelSignature> &Kernels,
                                  const std::vector<bool> &Indirect,
                                  const SourceFacts &Facts,
                                  const JitOptions &Jit, std::string &Error) {
  std::vector<DriverEntry> Entries;
  for (size_t I = 0; I < Kernels.size(); ++I)
    Entries.push_back(
        driverEntry(Facts, Kernels[I], !Indirect[I], Indirect[I]));
  std::vector<Version> Out;
  std::string Why;
  if (auto P = compileDriver(File, Entries, Jit, Why)) {
    for (size_t I = 0; I < Entries.size(); ++I)
      Out.push_back(entryOf(P, I, Indirect[I]));
    return Out;
  }
  // One name that cannot be said must not keep the others away.
  Error = Why;
  if (Entries.size() == 1)
    return {};
  bool Any = false;
  for (const DriverEntry &E : Entries) {
    auto P = compileDriver(File, {E}, Jit, Why);
    Out.push_back(P ? entryOf(P, 0, E.Indirect) : Version());
    Any |= P != nullptr;
  }
  return Any ? Out : std::vector<Version>();
}

Version loadOverflowing(const std::string &File, const KernelSignature &K,
                        JitOptions Jit) {
  Jit.Overflow = true;
  Jit.Frontend.Nvcc = false;
  std::string Error;
  auto V = loadVersions(File, {K}, {false}, {}, Jit, Error);
  return V.empty() ? Version() : V[0];
}

bool wanted(const CommandLine &L, const KernelSignature &Kernel) {
  const std::string &Name = Kernel.Name;
  // A name matches whole, without its namespaces, or without its arguments.
  std::string Base = Name.substr(0, Name.find('<'));
  std::string Last = Base.substr(Base.rfind(':') + 1);
  return L.Kernels.empty() ||
         std::any_of(L.Kernels.begin(), L.Kernels.end(),
                     [&](const std::string &K) {
                       return K == Name || K == Kernel.label() || K == Base ||
                              K == Last || K == Kernel.Mangled ||
                              K == Name.substr(Base.rfind(':') + 1);
                     });
}

std::string wrongArguments(const CommandLine &L,
                           const std::vector<KernelSignature> &Kernels) {
  std::set<std::string> Names;
  for (const KernelSignature &K : Kernels)
    Names.insert(K.ParamNames.begin(), K.ParamNames.end());
  Names.erase("");
  for (auto &[Name, Value] : L.ArgValues) {
    if (Names.count(Name))
      continue;
    std::string Why = "--arg: no parameter '" + Name + "'";
    for (const std::string &N : Names)
      Why += (N == *Names.begin() ? "; there are: " : ", ") + N;
    return Why;
  }
  return "";
}

namespace {

/// All shapes for one kernel.
class AllShapes {
public:
  AllShapes(const CommandLine &L, const KernelSignature &K,
            const SourceSummary &Summary, Trials &T)
      : L(L), K(K), Summary(Summary), T(T) {}
  /// The verdict of the first launch that has one.
  std::optional<Verdict> run();

private:
  std::vector<Shape> ordinary();
  std::optional<Verdict> tryOrdinary(const std::vector<Shape> &All);
  std::optional<Verdict> tryConstants();
  std::optional<Verdict> tryRandom();
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
        .count();
  }
  /// Something is left for the numbers of the text, and for chance: of the
  /// launches that may be compared, unless they are few, as of the time.
  bool enough(unsigned SharesLeft) const {
    const unsigned Share = L.Trials < 60 ? 0 : L.Trials / 6;
    return T.Compared >= L.Trials - SharesLeft * Share;
  }

  const CommandLine &L;
  const KernelSignature &K;
  const SourceSummary &Summary;
  Trials &T;
  std::chrono::steady_clock::time_point Start;
  std::vector<Dim3> OwnBlocks;
  std::set<std::array<uint32_t, 3>> RewrittenBlocks;
  /// How likely the arguments were of launches that were compared, and how many were
  /// tried: by block.
  std::map<std::array<uint32_t, 3>, std::pair<double, unsigned>> Worked;
};

std::optional<Verdict> AllShapes::run() {
  const std::vector<Shape> All = ordinary();
  // The time of the file's own main does not count.
  Start = std::chrono::steady_clock::now();
  auto V = tryOrdinary(All);
  if (!V && !L.Block.X && !L.Grid.X)
    V = tryConstants();
  return V ? V : tryRandom();
}

/// First what the file does itself, where that is small enough.
std::vector<Shape> AllShapes::ordinary() {
  constexpr uint32_t MaxThreads = 1024;
  std::vector<Shape> All;
  OwnBlocks = ownBlocks(K, Summary);
  for (const Shape &S : T.observe()) {
    if (L.Block.X || L.Grid.X)
      break;
    if (std::find(OwnBlocks.begin(), OwnBlocks.end(), S.Block) ==
        OwnBlocks.end())
      OwnBlocks.push_back(S.Block);
    if (S.Grid.count() * S.Block.count() <= (1 << 16))
      All.push_back(S);
    // The same arguments with the end of the data nearer.
    Shape Less = S;
    Less.Grid = {std::min(S.Grid.X, 3u), std::min(S.Grid.Y, 2u),
                 std::min(S.Grid.Z, 2u)};
    All.push_back(Less);
  }
  for (const Shape &S :
       shapes(K.Dimensions, MaxThreads, L.Block, L.Grid, OwnBlocks))
    All.push_back(S);
  return All;
}

std::optional<Verdict>
AllShapes::tryOrdinary(const std::vector<Shape> &All) {
  unsigned Trial = 0;
  std::map<std::array<uint32_t, 3>, unsigned> BadBlocks, NotTaken;
  for (const Shape &S : All) {
    if (Trial >= L.Trials || enough(2) || elapsed() > L.Seconds * 0.7)
      break;
    // Kernels written for one block size: do not try the others for ever.
    unsigned &Bad = BadBlocks[{S.Block.X, S.Block.Y, S.Block.Z}];
    if (Bad >= 4 && T.Compared)
      continue;
    // Nor blocks that the rewritten form leaves to the original: what it takes
    // says more, at random sizes below.
    unsigned &Left = NotTaken[{S.Block.X, S.Block.Y, S.Block.Z}];
    if (Left >= 6 && !RewrittenBlocks.empty() && ++Left % 4)
      continue;
    const unsigned Before = T.Undefined, BeforeRewritten = T.ByRewritten;
    const unsigned Compared = T.Compared;
    ++Trial;
    if (auto V = T.run(S))
      return V;
    auto &Suits = Worked[{S.Block.X, S.Block.Y, S.Block.Z}];
    ++Suits.second;
    if (T.Compared > Compared)
      Suits.first += 1.0 / (1 + T.LastWay);
    if (T.Undefined == Before)
      Bad = 0;
    else if (T.plain()) // else it may be the pointers
      ++Bad;
    if (T.ByRewritten > BeforeRewritten) {
      RewrittenBlocks.insert({S.Block.X, S.Block.Y, S.Block.Z});
      Left = 0;
    } else {
      ++Left;
    }
  }
  return std::nullopt;
}

std::optional<Verdict> AllShapes::tryConstants() {
  std::vector<Dim3> Typical;
  for (const auto &X : RewrittenBlocks)
    Typical.push_back({X[0], X[1], X[2]});
  Typical.insert(Typical.end(), OwnBlocks.begin(), OwnBlocks.end());
  // Else the largest of those that the likely arguments suit best.
  double Best = 0;
  for (const auto &[X, Suits] : Worked)
    Best = std::max(Best, Suits.first / Suits.second);
  Dim3 Largest{0, 1, 1};
  for (const auto &[X, Suits] : Worked)
    if (const Dim3 D{X[0], X[1], X[2]};
        Suits.first / Suits.second > 0.7 * Best && D.count() > Largest.count())
      Largest = D;
  if (Typical.empty() && Largest.X)
    Typical.push_back(Largest);
  // Those of a million threads may take a second each.
  const double Before = elapsed();
  for (const Shape &S : constantShapes(K, Summary.Facts, Typical, T.integers(),
                                       100, 1 << 20)) {
    if (enough(1) || elapsed() > std::min(L.Seconds * 0.9, Before + L.Seconds / 6))
      break;
    if (auto V = T.run(S))
      return V;
  }
  return std::nullopt;
}

/// More of the block sizes that the rewritten kernel takes: grids and sizes at
/// random, edges most of all.
std::optional<Verdict> AllShapes::tryRandom() {
  std::mt19937_64 Rng(L.Runtime.Seed);
  const std::vector<std::array<uint32_t, 3>> Takes(RewrittenBlocks.begin(),
                                                   RewrittenBlocks.end());
  const unsigned Most =
      std::max(L.Trials / 6 + 1, L.Trials - std::min(L.Trials, T.Compared));
  for (unsigned Extra = 0; !Takes.empty() && Extra < Most && !enough(0) &&
                           elapsed() <= L.Seconds;
       ++Extra) {
    const auto &X = Takes[Extra % Takes.size()];
    Shape S = randomShape({X[0], X[1], X[2]}, K.Dimensions, Rng);
    if (L.Grid.X)
      S.Grid = L.Grid;
    if (auto V = T.run(S))
      return V;
  }
  return std::nullopt;
}

/// The status for one kernel, once its launches have been made.
int conclude(const CommandLine &L, const KernelSignature &K, const Trials &T,
             std::optional<Verdict> V, bool Indirect) {
  if (V)
    return exitCode(*V);
  std::string Why;
  if (T.nothingSaid(Why)) {
    say("rcache-check: %s: %s; say more with --block, --grid, --smem and "
        "--arg=NAME=VALUE\n",
        K.label().c_str(), Why.c_str());
    return ExitCouldNotRun;
  }
  say("rcache-check: equivalent: %s: %u launches compared bit for bit, %u "
      "of them by a rewritten kernel (%u touch no memory); %u left out "
      "because the original is not defined there%s\n",
      K.label().c_str(), T.Compared, T.ByRewritten, T.Idle, T.Undefined,
      T.Raced ? (", " + std::to_string(T.Raced) + " of them because " + T.LastRace)
                    .c_str()
              : "");
  if (Indirect && !T.ByRewritten)
    say("rcache-check: warning: the rewritten kernel never ran: "
        "its preconditions never held\n");
  if (L.Prove) {
    say("rcache-check: %s: proved for all data at %u launch shapes, not "
        "proved at %u\n",
        K.label().c_str(), T.Proved, T.NotProved);
    if (T.NotProved)
      return ExitCouldNotRun;
  }
  return ExitSame;
}

/// Which of two statuses the file gets: 1, 4, 5, 3, 0 in this order.
int worse(int A, int B) {
  for (int Code : {ExitDifferent, ExitUndefinedRewritten, ExitCouldNotRun,
                   ExitUndefinedOriginal})
    if (A == Code || B == Code)
      return Code;
  return A;
}

/// Two files, and what is known of their kernels.
class TwoFiles {
public:
  TwoFiles(const CommandLine &L, llvm::json::Array &Results)
      : L(L), Results(Results), Jit(L.Jit) {}
  /// The exit status.
  int run();

  std::string DeviceCode = "none";

private:
  std::optional<int> read();
  std::optional<int> choose();
  std::optional<int> load();
  std::vector<Version> load(const std::string &File, const std::vector<bool> &How,
                            bool Symbolic, const char *Which);
  int judge(size_t I);
  void list() const;

  const CommandLine &L;
  llvm::json::Array &Results;
  std::string Original, Rewritten, Error;
  JitOptions Jit;
  /// Of the original, with what the rewritten text tells of launches.
  SourceSummary Summary;
  SourceFacts Facts; ///< of the rewritten file
  std::vector<KernelSignature> Kernels;
  std::vector<bool> Direct, Indirect;
  std::vector<Version> A, B, SymbolicA, SymbolicB;
  std::vector<std::pair<std::string, int>> Codes; ///< by kernel
};

/// Both texts, by clang; nvcc works on them meanwhile.
std::optional<int> TwoFiles::read() {
  std::error_code EC;
  Original = std::filesystem::absolute(L.Inputs[0], EC).string();
  Rewritten = L.Rewritten.empty()
                  ? Original
                  : std::filesystem::absolute(L.Rewritten, EC).string();
  FrontendOptions FE = L.Jit.Frontend;
  auto Summarise = [&](const std::string &File, SourceSummary &Out) {
    llvm::LLVMContext Context;
    return summarise(Context, File, FE, Out, Error) != nullptr;
  };
  const bool Ready = CompiledProgram::prepare(FE, Error);
  for (const std::string &File : {Original, Rewritten})
    if (Ready && FE.Nvcc)
      requestPtx(driverOptions(FE, File), File);
  if (!Ready || !Summarise(Original, Summary)) {
    say("%s\nrcache-check: '%s' could not be compiled\n", Error.c_str(),
        L.Inputs[0].c_str());
    return ExitCouldNotRun;
  }
  if (auto Code = choose())
    return Code;
  Facts = Summary.Facts;
  if (Rewritten != Original) {
    SourceSummary Other;
    if (!Summarise(Rewritten, Other)) {
      say("%s\nrcache-check: the rewritten file could not be compiled\n",
          Error.c_str());
      return ExitCouldNotRun;
    }
    // Numbers in either text: what differs may differ only beyond one of them,
    // and conditions of the launch functions say where the rewritten form runs.
    Facts = std::move(Other.Facts);
    Summary.Facts.addHints(Facts);
  }
  for (const KernelSignature &K : Kernels)
    Indirect.push_back(hasLaunchFunction(Facts, K));
  Direct.resize(Kernels.size());
  return std::nullopt;
}

/// The kernels that were asked for.
std::optional<int> TwoFiles::choose() {
  for (const KernelSignature &K : Summary.Kernels)
    if (L.Kernels.empty() ? !isRewritten(Summary.Facts, K.Name) : wanted(L, K))
      Kernels.push_back(K);
  if (Kernels.empty()) {
    say("rcache-check: no kernel%s in '%s'%s\n",
        L.Kernels.empty() ? "" : (" '" + L.Kernels.front() + "'").c_str(),
        L.Inputs[0].c_str(), Summary.Kernels.empty() ? "" : "; there are:");
    for (const KernelSignature &K : Summary.Kernels)
      say("  %s\n", K.label().c_str());
    return ExitUsage;
  }
  if (std::string Why = wrongArguments(L, Kernels); !Why.empty()) {
    say("rcache-check: %s\n", Why.c_str());
    return ExitUsage;
  }
  return std::nullopt;
}

std::vector<Version> TwoFiles::load(const std::string &File,
                                    const std::vector<bool> &How, bool Symbolic,
                                    const char *Which) {
  Jit.Symbolic = Symbolic;
  Error.clear();
  auto V = loadVersions(File, Kernels, How, Facts, Jit, Error);
  if (!Error.empty())
    say("%s\nrcache-check: %s could not be compiled%s\n", Error.c_str(), Which,
        V.empty() ? "" : " with all its kernels");
  return V;
}

/// Both programs, in this process.
std::optional<int> TwoFiles::load() {
  auto Both = [&] {
    A = load(Original, Direct, false, "the original");
    if (!A.empty())
      B = load(Rewritten, Indirect, false, "the rewritten file");
    return !A.empty() && !B.empty();
  };
  auto Of = [](const std::vector<Version> &V) -> const CompiledProgram * {
    for (const Version &X : V)
      if (X.Program)
        return X.Program.get();
    return nullptr;
  };
  if (!Both())
    return ExitCouldNotRun;
  // What one compiler makes of a sum is not what the other makes of it.
  if (Of(A)->fromNvcc() != Of(B)->fromNvcc()) {
    Jit.Frontend.Nvcc = false;
    if (!Both())
      return ExitCouldNotRun;
  } else if (!Of(A)->fromNvcc()) {
    Jit.Frontend.Nvcc = false; // nor the others
  }
  DeviceCode = Of(A)->fromNvcc() ? "nvcc" : "clang";
  if (Of(A)->fromNvcc())
    say("rcache-check: device code is %s\n", Of(A)->deviceCode().c_str());
  if (!L.Prove)
    return std::nullopt;
  SymbolicA = load(Original, Direct, true, "the symbolic original");
  SymbolicB = load(Rewritten, Indirect, true, "the symbolic rewritten file");
  return SymbolicA.empty() || SymbolicB.empty() ? std::optional<int>(ExitCouldNotRun)
                                                : std::nullopt;
}

int TwoFiles::judge(size_t I) {
  const KernelSignature &K = Kernels[I];
  if (!A[I].Launch || !B[I].Launch ||
      (L.Prove && (!SymbolicA[I].Launch || !SymbolicB[I].Launch))) {
    say("rcache-check: %s cannot be called\n", K.label().c_str());
    return ExitCouldNotRun;
  }
  if (!Indirect[I])
    say("rcache-check: '%s' has no usable %s; its '%s' is launched "
        "itself\n",
        Rewritten.c_str(), launchFunction(K.Name).c_str(), K.Name.c_str());
  Trials T(L, K, Summary, A[I], B[I]);
  if (L.Prove)
    T.setSymbolic(SymbolicA[I], SymbolicB[I]);
  T.Overflowing = [&] { return loadOverflowing(Original, K, Jit); };
  std::string Before = L.Json ? takeSaid() : "";
  const int Code =
      conclude(L, K, T, AllShapes(L, K, Summary, T).run(), Indirect[I]);
  if (!L.Json)
    return Code;
  llvm::json::Object O{{"kernel", K.label()},
                       {"symbol", K.Mangled},
                       {"verdict", statusName(Code)},
                       {"compared", T.Compared},
                       {"by-rewritten", T.ByRewritten},
                       {"left-out", T.Undefined},
                       {"message", llvm::json::fixUTF8(takeSaid())}};
  if (L.Prove) {
    O["proved"] = T.Proved;
    O["not-proved"] = T.NotProved;
  }
  Results.push_back(std::move(O));
  say("%s", Before.c_str());
  return Code;
}

/// What was found in which kernels, where there are several.
void TwoFiles::list() const {
  if (Codes.size() < 2)
    return;
  say("rcache-check: %zu kernels:\n", Codes.size());
  for (int Code : {ExitDifferent, ExitUndefinedRewritten, ExitCouldNotRun,
                   ExitUndefinedOriginal, ExitSame}) {
    std::string Names;
    for (const auto &[Name, Its] : Codes)
      if (Its == Code)
        Names += (Names.empty() ? " " : ", ") + Name;
    if (!Names.empty())
      say("  %s:%s\n", statusName(Code), Names.c_str());
  }
}

int TwoFiles::run() {
  if (auto Code = read())
    return *Code;
  if (auto Code = load())
    return *Code;
  // One that differs does not keep the others from being compared.
  int Worst = ExitSame;
  for (size_t I = 0; I < Kernels.size(); ++I) {
    Codes.push_back({Kernels[I].label(), judge(I)});
    Worst = worse(Worst, Codes.back().second);
  }
  list();
  return Worst;
}

/// Sets up the runtime and compares.
int harness(const CommandLine &L, TwoFiles &Files) {
  std::string Error;
  Options O = L.Runtime;
  O.Jobs = 1; // small launches, and an order that can be repeated
  O.TimeLimit = L.TimeLimit.value_or(5);
  if (!initialise(O, Error)) {
    say("rcache-check: %s\n", Error.c_str());
    return ExitCouldNotRun;
  }
  if (L.Prove && !initialiseExpressions()) {
    say("rcache-check: cannot reserve address space for expressions\n");
    return ExitCouldNotRun;
  }
  return Files.run();
}

} // namespace

int harnessCommand(const CommandLine &L) {
  if (L.Json)
    keepWhatIsSaid();
  llvm::json::Array Results;
  TwoFiles Files(L, Results);
  const int Code = harness(L, Files);
  finishPtx();
  if (L.Json)
    printObject(llvm::json::Object{{"file", L.Inputs[0]},
                 {"rewritten",
                  L.Rewritten.empty() ? L.Inputs[0] : L.Rewritten},
                 {"verdict", statusName(Code)},
                 {"status", Code},
                 {"device-code", Files.DeviceCode},
                 {"kernels", std::move(Results)},
                 {"messages", llvm::json::fixUTF8(takeSaid())}});
  return Code;
}

} // namespace rcache::check
