// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One rewritten file, judged in a few seconds: it holds each kernel and the
// function that launches its rewritten form, so it is compiled once.
//
//   this process       waits, with a clock
//     the program      compiles, then runs static constructors
//       one a kernel   launches; whatever the program does, it ends here
//
// Results are lines of JSON on pipes. The file's main never runs.

#include "PtxModule.h"
#include "Trials.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rcache::check {

namespace {

using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using Clock = std::chrono::steady_clock;

/// Seconds for clang on one file: a guard, not a budget.
constexpr double CompileLimit = 120;
/// Seconds for what runs before main.
constexpr double StartLimit = 10;
/// Launches of the rewritten form that are enough.
constexpr unsigned Enough = 16;

double processorTime() {
  timespec T;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &T);
  return T.tv_sec + T.tv_nsec * 1e-9;
}

/// A process of its own that sends lines.
class Child {
public:
  template <class Work> explicit Child(Work W) {
    int Pipe[2];
    if (pipe(Pipe))
      return;
    fflush(nullptr);
    const pid_t Parent = getpid();
    Pid = fork();
    if (Pid == 0) {
      close(Pipe[0]);
      // Nothing is left behind when the one who waits is killed.
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (getppid() != Parent)
        _exit(ExitCouldNotRun);
      W(Pipe[1]);
      _exit(0);
    }
    close(Pipe[1]);
    From = Pipe[0];
  }
  ~Child() {
    if (From >= 0)
      close(From);
    if (Pid > 0) {
      kill(Pid, SIGKILL);
      waitpid(Pid, nullptr, 0);
    }
  }

  enum Ended { Line, Finished, Late };
  /// The next line, or why there is none within \p Seconds. A process that has
  /// not had its time because others were busy gets more: up to 8 times as long.
  Ended next(double Seconds, std::string &Out) {
    const auto Start = Clock::now();
    const double Used = used();
    double Limit = Seconds;
    for (;;) {
      if (size_t At = Text.find('\n'); At != std::string::npos) {
        Out = Text.substr(0, At);
        Text.erase(0, At + 1);
        return Line;
      }
      const double Waited =
          std::chrono::duration<double>(Clock::now() - Start).count();
      const double Left = Limit - Waited;
      if (Left <= 0) {
        if (Waited >= 8 * Seconds || Used < 0 ||
            used() - Used >= Seconds / 2)
          return Late;
        Limit = Waited + 0.2;
        continue;
      }
      pollfd P{From, POLLIN, 0};
      int R = poll(&P, 1, std::min(Left, 1000.0) * 1000 + 1);
      if (R < 0 && errno == EINTR)
        continue;
      char Buffer[4096];
      if (R > 0) {
        ssize_t N = read(From, Buffer, sizeof(Buffer));
        if (N <= 0)
          return Finished;
        Text.append(Buffer, N);
      }
    }
  }
  /// How a finished child ended: "" or "killed by signal 11".
  std::string end() {
    int Status = 0;
    while (waitpid(Pid, &Status, 0) < 0 && errno == EINTR)
      ;
    Pid = -1;
    if (WIFSIGNALED(Status))
      return std::string("killed by signal ") +
             std::to_string(WTERMSIG(Status)) + " (" +
             strsignal(WTERMSIG(Status)) + ")";
    if (WEXITSTATUS(Status))
      return "the program ended with status " +
             std::to_string(WEXITSTATUS(Status));
    return "";
  }
  bool started() const { return Pid > 0; }

private:
  /// Seconds of processor time of the child; below zero where that is not known.
  double used() const {
    clockid_t Clock;
    timespec T;
    if (Pid <= 0 || clock_getcpuclockid(Pid, &Clock) ||
        clock_gettime(Clock, &T))
      return -1;
    return T.tv_sec + T.tv_nsec * 1e-9;
  }

  pid_t Pid = -1;
  int From = -1;
  std::string Text;
};

void send(int To, Object O) {
  std::string Text;
  llvm::raw_string_ostream(Text) << Value(std::move(O)) << "\n";
  for (size_t At = 0; At < Text.size();) {
    ssize_t N = write(To, Text.data() + At, Text.size() - At);
    if (N < 0 && errno == EINTR)
      continue;
    if (N <= 0)
      _exit(ExitCouldNotRun);
    At += N;
  }
}

Object result(const std::string &Kernel, const std::string &Symbol, Verdict V,
              const std::string &Why) {
  return Object{{"kernel", Kernel},
                {"symbol", Symbol},
                {"verdict", verdictName(V)},
                {"compared", 0},
                {"by-rewritten", 0},
                {"left-out", 0},
                {"message", llvm::json::fixUTF8(Why)}};
}

Object result(const KernelSignature &K, Verdict V, const std::string &Why) {
  return result(K.label(), K.Mangled, V, Why);
}

/// Blocks worth trying, most telling first.
std::vector<Dim3> candidates(const CommandLine &L, const KernelSignature &K,
                             const SourceSummary &Summary) {
  std::vector<Dim3> Out;
  if (L.Block.X)
    return {L.Block};
  for (const Dim3 &D : ownBlocks(K, Summary))
    Out.push_back(D);
  for (const Shape &S : shapes(K.Dimensions, 1024, L.Block, L.Grid, {}))
    if (std::find(Out.begin(), Out.end(), S.Block) == Out.end())
      Out.push_back(S.Block);
  return Out;
}

Shape ordinary(const CommandLine &L, const Dim3 &Block, unsigned Dimensions) {
  Shape S;
  S.Block = Block;
  S.Grid = L.Grid.X ? L.Grid
                    : Dim3{Dimensions == 1 ? 5u : 2u, Dimensions > 1 ? 2u : 1u,
                           Dimensions > 2 ? 2u : 1u};
  S.W = S.Grid.X * Block.X;
  S.H = S.Grid.Y * Block.Y;
  S.D = S.Grid.Z * Block.Z;
  return S;
}

/// The launches of one kernel, in this process.
Object judge(const CommandLine &L, const KernelSignature &K,
             const SourceSummary &Summary, const Version &A, const Version &B,
             const std::function<Version()> &Overflowing) {
  double Start = processorTime();
  auto Left = [&] { return processorTime() - Start < L.Budget; };
  const double Often = std::max(1.0, L.Budget / 2); ///< times as many launches as usual
  Trials T(L, K, Summary, A, B);
  T.Quiet = true;
  T.Overflowing = [&] { // (of which the launches' time is none)
    const double Before = processorTime();
    Version Out = Overflowing();
    Start += processorTime() - Before;
    return Out;
  };
  std::optional<Verdict> V;
  std::vector<Dim3> Takes; ///< blocks for which the rewritten form runs
  std::vector<Dim3> Given; ///< and those for which both were compared, in whatever form
  std::set<std::string> Missing = formsOf(K, Summary); ///< that have not run
  auto Try = [&](const Shape &S) {
    const unsigned Before = T.ByRewritten, Compared = T.Compared;
    V = T.run(S);
    if (T.Compared > Compared && std::find(Given.begin(), Given.end(), S.Block) == Given.end())
      Given.push_back(S.Block);
    if (T.ByRewritten > Before &&
        std::find(Takes.begin(), Takes.end(), S.Block) == Takes.end())
      Takes.push_back(S.Block);
    for (const std::string &Form : T.Forms)
      Missing.erase(Form);
  };
  // Which blocks does it take? The file's own, else two of the usual ones.
  const size_t Own = L.Block.X ? 1 : ownBlocks(K, Summary).size();
  size_t Tried = 0;
  const std::vector<Dim3> Blocks = candidates(L, K, Summary);
  for (const Dim3 &Block : Blocks) {
    if (V || !Left() ||
        (Tried >= Own && Missing.empty() &&
         (Takes.size() >= 2 || (!Takes.empty() && Tried >= Own + 3))))
      break;
    ++Tried;
    Try(ordinary(L, Block, K.Dimensions));
  }
  // What was left once may be taken with other arguments, or by more blocks.
  for (uint32_t Grid : {17, 5, 33, 8, 64})
    for (size_t I = 0; I < Given.size() && Takes.empty() && !L.Grid.X && !V && Left(); ++I) {
      Shape S = ordinary(L, Given[I], K.Dimensions);
      S.Grid.X = Grid;
      S.W = Grid * S.Block.X;
      Try(S);
    }
  for (unsigned Way = 1; Way < ScalarWays; ++Way)
    for (size_t I = 0; I < Given.size() && Takes.empty() && !V && Left(); ++I) {
      Shape S = ordinary(L, Given[I], K.Dimensions);
      for (const std::string &Name : K.ParamNames)
        S.Scalars.push_back(scalarValue(Name, S, K.Dimensions, Way));
      Try(S);
    }
  // Around the numbers that the text names, for a third of the time.
  if (!L.Block.X && !L.Grid.X && !Takes.empty())
    for (const Shape &S : constantShapes(K, Summary.Facts, Takes, T.integers(),
                                         size_t(40 * Often), 1 << 13)) {
      if (V || processorTime() - Start > L.Budget * 2 / 3)
        break;
      Try(S);
    }
  const unsigned SoFar = T.ByRewritten;
  // Those at sizes that are awkward for them; one launch in six with a block
  // that may break the conditions.
  std::mt19937_64 Rng(L.Runtime.Seed);
  for (unsigned N = 0; !V && Left() && !Takes.empty() &&
                       (T.ByRewritten < SoFar + Enough * Often || !Missing.empty());
       ++N) {
    const Dim3 &Block = N % 6 == 5
                            ? Blocks[(Tried + N / 6) % Blocks.size()]
                            : Takes[N % Takes.size()];
    Shape S = randomShape(Block, K.Dimensions, Rng);
    if (N == 0) { // one element: all else is beyond the end
      S = ordinary(L, Block, K.Dimensions);
      S.W = S.H = S.D = 1;
    }
    if (L.Grid.X)
      S.Grid = L.Grid;
    Try(S);
    if (N > 4 * Enough * Often)
      break;
  }
  std::string Message = T.Text;
  if (!V) {
    V = T.nothingSaid(Message);
    if (!V && T.ByRewritten) {
      V = Verdict::Equivalent;
      for (const std::string &Form : T.Forms)
        if (std::string Why = otherSums(A.Program->sums(K.Mangled), B.Program->sums(Form));
            !Why.empty()) {
          V = Verdict::OtherSums;
          Message = Why;
        }
    } else if (!V) {
      V = Verdict::NothingCompared;
      Message = "the rewritten form never ran: its conditions never held";
    }
  }
  Object O = result(K, *V, Message);
  O["compared"] = T.Compared;
  O["by-rewritten"] = T.ByRewritten;
  O["left-out"] = T.Undefined;
  O["raced"] = T.Raced;
  Array Sizes;
  for (const Dim3 &D : Takes)
    Sizes.push_back(Array{D.X, D.Y, D.Z});
  O["blocks"] = std::move(Sizes);
  std::set<std::string> Ran;
  for (const KernelSignature &X : Summary.Kernels)
    if (T.Forms.count(X.Mangled))
      Ran.insert(declaredName(X.Name));
  O["ran"] = Array(Ran);
  O["seconds"] = processorTime() - Start;
  return O;
}

/// Compiles, and starts a process for each kernel.
void work(const CommandLine &L, int To) {
  // Whatever the program prints is nobody's business.
  int Null = open("/dev/null", O_RDWR);
  for (int Fd : {0, 1, 2})
    dup2(Null, Fd);
  const auto Start = Clock::now();
  auto Seconds = [&] {
    return std::chrono::duration<double>(Clock::now() - Start).count();
  };
  auto Fail = [&](const std::string &Why) {
    finishPtx();
    send(To, Object{{"failed", llvm::json::fixUTF8(Why)}});
    _exit(0);
  };
  std::string Error;
  Options O = L.Runtime;
  O.Jobs = 1;
  O.TimeLimit = L.TimeLimit.value_or(std::max(0.5, L.Budget / 2));
  if (!initialise(O, Error))
    Fail(Error);
  std::error_code EC;
  const std::string File = std::filesystem::absolute(L.Inputs[0], EC).string();
  JitOptions Jit = L.Jit;
  Jit.MachineCode = false;
  FrontendOptions &FE = Jit.Frontend;
  if (!CompiledProgram::prepare(FE, Error))
    Fail(Error);
  FE = driverOptions(FE, File);
  FE.OptimiseHost = false;
  // nvcc works while clang reads the file.
  if (FE.Nvcc)
    requestPtx(FE, File);
  SourceSummary Summary;
  DeviceCode Device;
  Device.Context = std::make_unique<llvm::LLVMContext>();
  Device.Module = summarise(*Device.Context, File, FE, Summary, Error);
  if (!Device.Module)
    Fail(Error);
  std::vector<KernelSignature> Kernels;
  std::vector<DriverEntry> Entries;
  for (const KernelSignature &K : Summary.Kernels)
    if (wanted(L, K) && hasLaunchFunction(Summary.Facts, K)) {
      Entries.push_back(driverEntry(Summary.Facts, K, true, true));
      Kernels.push_back(K);
    }
  if (std::string Why = wrongArguments(L, Kernels);
      !Why.empty() && !Kernels.empty()) {
    finishPtx();
    send(To, Object{{"failed", "rcache-check: " + Why}, {"usage", true}});
    _exit(0);
  }
  Array Names;
  for (const KernelSignature &K : Kernels)
    Names.push_back(Object{{"kernel", K.label()}, {"symbol", K.Mangled}});
  // --kernel names that lead nowhere.
  Array Unknown;
  for (const std::string &N : L.Kernels) {
    CommandLine One = L;
    One.Kernels = {N};
    if (std::none_of(Kernels.begin(), Kernels.end(),
                     [&](auto &K) { return wanted(One, K); }))
      Unknown.push_back(N);
  }
  send(To, Object{{"kernels", std::move(Names)},
                  {"unknown", std::move(Unknown)}});
  if (Kernels.empty()) { // does the host's side compile?
    llvm::LLVMContext Context;
    if (!compile(Context, Side::Host, File, FE, Error))
      Fail(Error);
    finishPtx();
    _exit(0);
  }

  const std::string Driver = "/rcache-check/driver.cu";
  auto Compile = [&](const std::vector<DriverEntry> &Some, DeviceCode Device) {
    JitOptions Mine = Jit;
    Mine.Frontend.VirtualFiles[Driver] = driverText(File, Some);
    Mine.StubMissing = true;
    for (size_t I = 0; I < Some.size(); ++I)
      for (const char *What : {"params", "direct", "indirect"})
        Mine.Roots.push_back(DriverEntry::symbol(What, I));
    Mine.Note = nullptr;
    Mine.BeforeUserCode = [&] { send(To, Object{{"compiled", Seconds()}}); };
    return std::shared_ptr<CompiledProgram>(
        CompiledProgram::create(Driver, std::move(Device), Mine, Error));
  };
  std::vector<std::pair<Version, Version>> Pairs;
  auto Take = [&](const std::shared_ptr<CompiledProgram> &P, size_t I) {
    Version V[2];
    for (int Second = 0; Second < 2; ++Second) {
      V[Second].Program = P;
      V[Second].Params = reinterpret_cast<int (*)(Param *)>(
          P->lookup(DriverEntry::symbol("params", I)));
      V[Second].Launch =
          reinterpret_cast<void (*)(const unsigned *, size_t, void **)>(
              P->lookup(DriverEntry::symbol(Second ? "indirect" : "direct", I)));
    }
    Pairs.push_back({V[0], V[1]});
  };
  if (auto P = Compile(Entries, std::move(Device))) {
    for (size_t I = 0; I < Entries.size(); ++I)
      Take(P, I);
    send(To, Object{{"device-code", P->deviceCode()}});
  } else if (Entries.size() == 1) {
    Fail(Error);
  } else {
    // One name that cannot be said must not keep the others away.
    for (const DriverEntry &E : Entries) {
      DeviceCode Again;
      SourceSummary Unused;
      Again.Context = std::make_unique<llvm::LLVMContext>();
      Again.Module = summarise(*Again.Context, File, FE, Unused, Error);
      auto P = Compile({E}, std::move(Again));
      if (P) {
        Take(P, 0);
        send(To, Object{{"device-code", P->deviceCode()}});
      } else {
        Pairs.push_back({});
        // (An error of the driver's, not of the program's.)
        const bool Named = Error.rfind(Driver, 0) != 0;
        send(To, result(E.Kernel, Verdict::CouldNotRun,
                        Named ? Error
                              : "it cannot be called from outside: a template argument "
                                "has no name outside of a function"));
      }
    }
  }
  send(To, Object{{"started", Seconds()}});

  for (size_t I = 0; I < Kernels.size(); ++I) {
    if (!Pairs[I].first.Program)
      continue;
    if (!Pairs[I].first.Launch || !Pairs[I].second.Launch ||
        !Pairs[I].first.Params) {
      send(To, result(Kernels[I], Verdict::CouldNotRun, "it cannot be called"));
      continue;
    }
    Child C([&](int Out) {
      close(To);
      send(Out, judge(L, Kernels[I], Summary, Pairs[I].first, Pairs[I].second,
                      [&] {
                        send(Out, Object{{"compiling", true}});
                        return loadOverflowing(File, Kernels[I], Jit);
                      }));
    });
    std::string Line;
    Child::Ended E =
        C.started() ? C.next(5 * L.Budget + 5, Line) : Child::Finished;
    if (E == Child::Line && Line.find("\"compiling\"") < 4) {
      send(To, Object{{"compiling", true}});
      E = C.next(CompileLimit, Line);
    }
    if (E == Child::Line) {
      Line += '\n';
      if (write(To, Line.data(), Line.size()) != ssize_t(Line.size()))
        _exit(ExitCouldNotRun);
    } else if (E == Child::Late) {
      send(To, result(Kernels[I], Verdict::CouldNotRun,
                      "the program does not come to an end"));
    } else {
      send(To, result(Kernels[I], Verdict::CouldNotRun, C.end()));
    }
  }
}

int severity(Verdict V) {
  switch (V) {
  case Verdict::Equivalent:
    return 0;
  case Verdict::UndefinedOriginal:
  case Verdict::OriginalRaces:
    return 1;
  case Verdict::NothingCompared:
  case Verdict::CouldNotRun:
    return 2;
  case Verdict::UndefinedRewritten:
    return 3;
  case Verdict::Different:
  case Verdict::OtherSums:
    return 4;
  }
  return 4;
}

Verdict verdictOf(llvm::StringRef Name) {
  for (Verdict V : {Verdict::Equivalent, Verdict::Different, Verdict::OtherSums,
                    Verdict::UndefinedRewritten, Verdict::UndefinedOriginal,
                    Verdict::OriginalRaces,
                    Verdict::NothingCompared})
    if (Name == verdictName(V))
      return V;
  return Verdict::CouldNotRun;
}

} // namespace

int selfCommand(const CommandLine &L) {
  const auto Start = Clock::now();
  Child C([&](int To) { work(L, To); });
  std::vector<std::pair<std::string, std::string>> Expected; ///< and symbols
  std::map<std::string, Object> Results;
  std::string Messages; ///< of the compiler, or what keeps all from running
  std::string DeviceCode; ///< whose it is
  Array Unknown;
  double Compiled = 0;
  bool Usage = false, Known = false, Started = false, Again = false;
  if (!C.started())
    Messages = "cannot start a process";
  for (std::string Line; C.started();) {
    const double Limit = !Compiled || Again ? CompileLimit
                         : !Started         ? StartLimit
                                            : 5 * L.Budget + 10;
    const Child::Ended E = C.next(Limit, Line);
    if (E == Child::Late) {
      Messages = !Compiled  ? "the compiler does not come to an end"
                 : !Started ? "the program's static constructors do not come "
                              "to an end"
                            : "the program does not come to an end";
      break;
    }
    if (E == Child::Finished) {
      std::string How = C.end();
      if (Messages.empty() && !How.empty())
        Messages = !Compiled  ? "while compiling: " + How
                   : !Started ? "in the program's static constructors: " + How
                              : How;
      break;
    }
    auto V = llvm::json::parse(Line);
    Object *O = V ? V->getAsObject() : nullptr;
    if (!O) {
      llvm::consumeError(V.takeError());
      continue;
    }
    Again = O->get("compiling") != nullptr;
    if (auto Why = O->getString("failed"))
      Messages = Why->str();
    Usage |= O->get("usage") != nullptr;
    if (auto *Names = O->getArray("kernels")) {
      Known = true;
      for (Value &N : *Names)
        Expected.push_back(
            {N.getAsObject()->getString("kernel").value_or("").str(),
             N.getAsObject()->getString("symbol").value_or("").str()});
      Unknown = *O->getArray("unknown");
    }
    if (auto Whose = O->getString("device-code"))
      DeviceCode = Whose->str();
    if (auto T = O->getNumber("compiled"))
      Compiled = *T;
    if (O->get("started"))
      Started = true;
    if (auto K = O->getString("kernel"))
      Results.emplace(K->str(), *O);
  }
  // Nobody is forgotten: who sent no result could not run.
  for (const auto &[N, Symbol] : Expected)
    if (!Results.count(N))
      Results.emplace(N, result(N, Symbol, Verdict::CouldNotRun, Messages));
  for (const Value &N : Unknown) {
    std::string Name = N.getAsString()->str();
    Expected.push_back({Name, ""});
    Results.emplace(Name, result(Name, "", Verdict::CouldNotRun,
                                 "no such kernel with a launch function"));
  }
  Verdict Worst = Verdict::Equivalent;
  Array Kernels;
  for (const auto &[N, Symbol] : Expected) {
    Object &O = Results.at(N);
    Verdict V = verdictOf(O.getString("verdict").value_or(""));
    if (severity(V) > severity(Worst))
      Worst = V;
    std::string Message = O.getString("message").value_or("").str();
    if (!L.Json)
      fprintf(stderr,
              "rcache-check: %s: %s: %lld launches compared, %lld of them by "
              "the rewritten form; %lld left out because the original is not "
              "defined there%s%s\n",
              verdictName(V), N.c_str(),
              (long long)O.getInteger("compared").value_or(0),
              (long long)O.getInteger("by-rewritten").value_or(0),
              (long long)O.getInteger("left-out").value_or(0),
              Message.empty() ? "" : "\n", Message.c_str());
    Kernels.push_back(std::move(O));
  }
  if (Expected.empty()) {
    Worst = Known && Messages.empty() ? Verdict::NothingCompared
                                      : Verdict::CouldNotRun;
    if (Messages.empty())
      Messages = "no kernel of the file has a launch function NAME_rc_launch";
  }
  if (!L.Json && !DeviceCode.empty())
    fprintf(stderr, "rcache-check: device code is %s\n", DeviceCode.c_str());
  if (!L.Json && !Messages.empty())
    fprintf(stderr, "%s\nrcache-check: '%s' could not be run\n",
            Messages.c_str(), L.Inputs[0].c_str());
  if (L.Json) {
    Object All{{"file", L.Inputs[0]},
               {"verdict", verdictName(Worst)},
               {"kernels", std::move(Kernels)},
               {"device-code", llvm::json::fixUTF8(DeviceCode)},
               {"messages", llvm::json::fixUTF8(Messages)},
               {"compile-seconds", Compiled},
               {"seconds",
                std::chrono::duration<double>(Clock::now() - Start).count()}};
    llvm::outs() << llvm::formatv("{0:2}", Value(std::move(All))) << "\n";
    llvm::outs().flush();
  }
  return Usage ? ExitUsage : exitCode(Worst);
}

} // namespace rcache::check
