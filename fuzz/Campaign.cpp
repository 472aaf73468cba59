// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Campaign.h. A group of kernels shares one program, since most of the time
// goes into reading the toolkit's headers. Whatever cannot be put down to one
// kernel halves the group.

#include "Campaign.h"
#include "Process.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

namespace rcache::fuzz {

const char *verdictName(Verdict V) {
  switch (V) {
  case Verdict::Discarded:
    return "discarded";
  case Verdict::NotRun:
    return "not run";
  case Verdict::NoOriginal:
    return "original does not compile";
  case Verdict::Declined:
    return "declined";
  case Verdict::Equal:
    return "equal";
  case Verdict::Different:
    return "different";
  case Verdict::Undefined:
    return "undefined behaviour";
  case Verdict::NotCompiled:
    return "does not compile";
  case Verdict::NvccFails:
    return "nvcc fails";
  case Verdict::Crashed:
    return "rewriter crashed";
  }
  return "";
}

bool isFailure(Verdict V) {
  return V == Verdict::Different || V == Verdict::Undefined ||
         V == Verdict::NotCompiled || V == Verdict::NvccFails ||
         V == Verdict::Crashed;
}

bool isSuspicious(const std::string &Code) {
  return Code == "plan-not-verified" || Code == "emit-failed" ||
         Code == "too-hard" || Code == "not-in-report";
}

std::string kernelName(unsigned Seed) { return "k" + num(Seed); }

const std::vector<std::string> &optionsOf(unsigned Seed,
                                          const CampaignOptions &O) {
  return O.OptionSets[Seed / BatchSize % O.OptionSets.size()];
}

namespace {

using Group = std::vector<KernelText>;

/// What follows a command line for these kernels.
std::vector<std::string> compileFlags(const Group &G) {
  for (const KernelText &K : G)
    if (K.Cxx20)
      return {"--", "-std=c++20", "-ferror-limit=0"};
  return {};
}

/// What rcache-check is told of these kernels.
std::vector<std::string> checkFlags(const Group &G) {
  std::vector<std::string> Flags = compileFlags(G);
  if (std::any_of(G.begin(), G.end(),
                  [](const KernelText &K) { return K.OnNvcc; }))
    Flags.insert(Flags.begin(), "--device-code=nvcc");
  return Flags;
}

/// The lines of a run that begin with the kernel's name.
std::string linesOf(const std::string &Out, const std::string &Kernel) {
  std::istringstream In(Out);
  std::string Line, Found;
  while (std::getline(In, Line))
    if (Line.compare(0, Kernel.size() + 1, Kernel + " ") == 0)
      Found += Line + "\n";
  return Found;
}

std::string firstLines(const std::string &Text, unsigned N) {
  size_t E = 0;
  while (N-- && E != std::string::npos)
    E = Text.find('\n', E ? E + 1 : 0);
  return Text.substr(0, E);
}

/// Does rcache-check say that it could not even be compiled?
bool isNoProgram(const std::string &Err) {
  return Err.find("could not be compiled") != std::string::npos;
}

/// What rcache-check says of each kernel: the first finding, by kernel name.
std::map<std::string, std::string> findings(const std::string &Err) {
  std::map<std::string, std::string> Out;
  std::istringstream In(Err);
  std::string Line, Before;
  while (std::getline(In, Line)) {
    const std::string Mark = "  in kernel ";
    if (Line.compare(0, Mark.size(), Mark) == 0) {
      size_t Name = Mark.size();
      if (size_t Scope = Line.rfind("::"); Scope != std::string::npos)
        Name = Scope + 2;
      Out.insert({Line.substr(Name, Line.find_first_of("_<,", Name) - Name),
                  Before + "\n" + Line});
    }
    // Behind it: the line of the source, who called what was inlined.
    if (Line.find(" error: ") != std::string::npos ||
        Line.find(" warning: ") != std::string::npos)
      Before = Line;
  }
  return Out;
}

/// \p Text with a line of output in front of every launch of a rewritten
/// kernel: which of the launches ran it?
std::string tellingRuns(std::string Text) {
  const std::string Mark = "<<<";
  for (size_t At = Text.find(Mark); At != std::string::npos;
       At = Text.find(Mark, At)) {
    const size_t Line = Text.find_last_of(";{}", At) + 1;
    size_t Name = Text.find_first_not_of(" \n", Line), End = Name;
    while (End < At && (isalnum(static_cast<unsigned char>(Text[End])) ||
                        Text[End] == '_' || Text[End] == ':'))
      ++End;
    std::string Kernel = Text.substr(Name, End - Name);
    if (size_t Scope = Kernel.rfind(':'); Scope != std::string::npos)
      Kernel = Kernel.substr(Scope + 1);
    At += Mark.size();
    // The kernel's name and template arguments, or nothing that is meant here.
    if (Kernel.find("_rc") == std::string::npos || Kernel[0] != 'k' ||
        Text.substr(End, At - Mark.size() - End).find_first_of("();") !=
            std::string::npos)
      continue;
    std::string Tell = "\nfz::ran(\"" + Kernel + "\");\n";
    Text.insert(Line, Tell);
    At += Tell.size();
  }
  return Text;
}

/// The kernels NAME_rc... that ran, with the number of launches of each.
std::map<std::string, unsigned> formsThatRan(const std::string &Out,
                                             const std::string &Kernel) {
  const std::string Mark = "ran " + Kernel + "_rc";
  std::map<std::string, unsigned> N;
  std::istringstream In(Out);
  std::string Line;
  while (std::getline(In, Line))
    if (Line.compare(0, Mark.size(), Mark) == 0)
      ++N[Line.substr(4)];
  return N;
}

unsigned countLines(const std::string &Out, const std::string &Line) {
  unsigned N = 0;
  for (size_t At = Out.find(Line); At != std::string::npos;
       At = Out.find(Line, At + 1))
    N += At == 0 || Out[At - 1] == '\n';
  return N;
}

struct Answer {
  std::string Code; ///< of the first decline, "" when rewritten
  std::string Detail;
};

/// Answers by kernel name, from the JSON report. \p Bad: it is no JSON.
std::map<std::string, Answer> verdicts(const std::string &Report, bool &Bad) {
  std::map<std::string, Answer> Out;
  auto V = llvm::json::parse(Report);
  if (!V) {
    llvm::consumeError(V.takeError());
    Bad = true;
    return Out;
  }
  const llvm::json::Object *Root = V->getAsObject();
  const llvm::json::Array *Files = Root ? Root->getArray("files") : nullptr;
  if (!Files)
    return Out;
  for (const llvm::json::Value &F : *Files) {
    const llvm::json::Array *Kernels =
        F.getAsObject() ? F.getAsObject()->getArray("kernels") : nullptr;
    if (!Kernels)
      continue;
    for (const llvm::json::Value &KV : *Kernels) {
      const llvm::json::Object *K = KV.getAsObject();
      if (!K)
        continue;
      std::string Name = K->getString("name").value_or("").str();
      Name = Name.substr(0, Name.find('<'));
      if (size_t Scope = Name.rfind("::"); Scope != std::string::npos)
        Name = Name.substr(Scope + 2);
      if (K->getString("verdict").value_or("") == "rewritten") {
        Out[Name] = {};
        continue;
      }
      if (auto It = Out.find(Name); It != Out.end() && It->second.Code.empty())
        continue; // another kernel of that name was rewritten
      Answer A{"unknown", ""};
      const llvm::json::Array *D = K->getArray("declines");
      if (D && !D->empty() && D->front().getAsObject()) {
        const llvm::json::Object &First = *D->front().getAsObject();
        A.Code = First.getString("code").value_or("").str();
        A.Detail = First.getString("detail").value_or("").str();
      }
      Out[Name] = A;
    }
  }
  return Out;
}

/// Did rcache-check take clang's device code where nvcc's was asked for?
bool isClangs(const Ran &R) {
  return R.Err.find("device code is clang's, not nvcc's") != std::string::npos;
}

class Tester {
public:
  Tester(const std::vector<std::string> &Options, const Tools &T,
         const std::string &Stem)
      : Options(Options), T(T), Stem(Stem) {}

  std::vector<Outcome> test(const Group &G) {
    if (G.empty())
      return {};
    std::vector<Outcome> Out(G.size());
    const std::string Source = Stem + ".cu", Result = Stem + "_rc.cu",
                      Report = Stem + ".json";
    if (!writeFile(Source, program(G)))
      return Out;
    auto Time = static_cast<unsigned>(3 * T.LaunchSeconds +
                                      T.LaunchSeconds * G.size() / 4);
    const Ran Before = original(Source, checkFlags(G), Time);
    if (!Before.ok()) {
      if (G.size() > 1)
        return apart(G, blamed(G, Source, Before.Err));
      Out[0].V = Before.Exit == 3          ? Verdict::Discarded
                 : isNoProgram(Before.Err) ? Verdict::NoOriginal
                                           : Verdict::NotRun;
      Out[0].Detail = firstLines(Before.Err, 3);
      return Out;
    }
    std::vector<std::string> Rewrite = {T.Rewrite, Source, "-o", Result,
                                        "--report=" + Report};
    Rewrite.insert(Rewrite.end(), Options.begin(), Options.end());
    const std::vector<std::string> Flags = compileFlags(G);
    Rewrite.insert(Rewrite.end(), Flags.begin(), Flags.end());
    Ran R = run(Rewrite, Stem, Time);
    if (!R.ok()) {
      if (G.size() > 1)
        return halves(G);
      Out[0].V = Verdict::Crashed;
      Out[0].Detail = R.how() + "\n" + firstLines(R.Err, 10);
      return Out;
    }
    bool Bad = false;
    std::map<std::string, Answer> Codes = verdicts(readFile(Report), Bad);
    if (Bad) {
      if (G.size() > 1)
        return halves(G);
      Out[0].V = Verdict::Crashed;
      Out[0].Detail = "the report is no JSON";
      return Out;
    }
    Group Rewritten;
    std::vector<size_t> Places;
    for (size_t I = 0; I < G.size(); ++I) {
      auto It = Codes.find(G[I].Name);
      Out[I].V = Verdict::Declined;
      Out[I].Code = It == Codes.end() ? "not-in-report" : It->second.Code;
      Out[I].Detail = It == Codes.end() ? "" : It->second.Detail;
      if (Out[I].Code.empty()) {
        Rewritten.push_back(G[I]);
        Places.push_back(I);
      }
    }
    if (Rewritten.empty())
      return Out;
    std::string Text = readFile(Result);
    writeFile(Result, tellingRuns(Text));
    // A random order of the threads: what lacks a barrier must not pass because
    // of the order that the original ran in.
    std::vector<std::string> Execute = {T.Check,
                                        "run",
                                        Result,
                                        "--jobs=1",
                                        "--quick-code",
                                        "--max-findings=1000",
                                        "--timeout=" + num(T.LaunchSeconds),
                                        "--schedule=random:1"};
    const std::vector<std::string> Judge = checkFlags(G);
    Execute.insert(Execute.end(), Judge.begin(), Judge.end());
    Ran After = run(Execute, Stem, Time);
    // The run goes on after a finding, which names its kernel.
    std::map<std::string, std::string> Found;
    if (After.Exit == 3 || After.Exit == 5) // 5: a launch that does not end
      Found = findings(After.Err);
    // A launch that failed may take the others along.
    std::set<size_t> Faulty;
    for (size_t I = 0; I < Rewritten.size(); ++I)
      if (Found.count(Rewritten[I].Name))
        Faulty.insert(I);
    if (!After.ok() && G.size() > 1 && Faulty.size() < Rewritten.size() &&
        (After.Exit == 3 || After.Exit == 5) && !Found.empty()) {
      std::vector<Outcome> Each = apart(Rewritten, Faulty);
      for (size_t I = 0; I < Places.size(); ++I)
        Out[Places[I]] = Each[I];
      return Out;
    }
    const bool Ended = After.ok() || !Found.empty();
    Ran Nvcc;
    Nvcc.Exit = 0;
    auto Compiled = [&](const std::string &File) {
      return run({T.Nvcc, Flags.empty() ? "-std=c++17" : "-std=c++20", "-c",
                  "-arch=sm_90", "-w", File, "-o", Stem + ".o"},
                 Stem, Time + 60);
    };
    if (After.ok() && !T.Nvcc.empty())
      Nvcc = Compiled(Result);
    if (!Ended || !Nvcc.ok()) {
      if (G.size() > 1) {
        const std::string &Errors = After.ok() ? Nvcc.Err : After.Err;
        std::vector<Outcome> Each =
            apart(Rewritten, blamed(Rewritten, Result, Errors));
        for (size_t I = 0; I < Places.size(); ++I)
          Out[Places[I]] = Each[I];
        return Out;
      }
      const Ran &Bad = After.ok() ? Nvcc : After;
      // clang takes more than nvcc: such an original proves nothing.
      if (After.ok() && !Compiled(Source).ok()) {
        Out[0].V = Verdict::NoOriginal;
        Out[0].Detail =
            "nvcc does not compile the original\n" + firstLines(Bad.Err, 4);
        return Out;
      }
      Out[0].V = After.ok()        ? Verdict::NvccFails
                 : After.Exit == 5 ? Verdict::NotCompiled
                                   : Verdict::Undefined;
      Out[0].Detail = Bad.how() + "\n" + firstLines(Bad.Err, 12);
      return Out;
    }
    for (size_t I = 0; I < Places.size(); ++I) {
      Outcome &O = Out[Places[I]];
      O.Forms = formsThatRan(After.Out, Rewritten[I].Name);
      for (auto &[Form, Times] : O.Forms)
        O.Ran += Times;
      O.Launches = countLines(After.Out, Rewritten[I].Name + " ");
      auto It = Found.find(Rewritten[I].Name);
      if (It != Found.end()) {
        O.V = Verdict::Undefined;
        O.Detail = It->second;
        continue;
      }
      std::string A = linesOf(Before.Out, Rewritten[I].Name),
                  B = linesOf(After.Out, Rewritten[I].Name);
      O.V = A == B ? Verdict::Equal : Verdict::Different;
      O.Emitted = Text;
      // What one compiler makes of a sum is not what the other makes of it: nvcc was too slow
      // for one of the texts.
      if (A != B && isClangs(Before) != isClangs(After))
        O.V = Verdict::NotRun;
      if (A != B)
        O.Detail = "original:\n" + A + "rewritten:\n" + B;
    }
    return Out;
  }

private:
  const std::vector<std::string> &Options;
  const Tools &T;
  std::string Stem;

  /// The original, run. Mutants ask for the same one again and again.
  Ran original(const std::string &Source, const std::vector<std::string> &Flags,
               unsigned Time) {
    thread_local std::string Text;
    thread_local Ran Last;
    std::string Now = readFile(Source);
    if (Now != Text || !Last.ok()) {
      std::vector<std::string> Args = {T.Check, "run", Source, "--jobs=1", "--quick-code"};
      Args.insert(Args.end(), Flags.begin(), Flags.end());
      Last = run(Args, Stem, Time);
      Text = std::move(Now);
    }
    return Last;
  }

  /// Kernels that the compiler's errors in \p Path stand in, where every error
  /// stands in one.
  static std::set<size_t> blamed(const Group &G, const std::string &Path,
                                 const std::string &Err) {
    std::vector<std::string> Lines;
    std::istringstream Text(readFile(Path)), In(Err);
    for (std::string L; std::getline(Text, L);)
      Lines.push_back(L);
    std::set<size_t> Out;
    for (std::string L; std::getline(In, L);) {
      if (L.find("error:") == std::string::npos || L.find(Path) != 0)
        continue;
      // clang: FILE:12:3: error; nvcc: FILE(12): error
      size_t Line = strtoul(L.c_str() + Path.size() + 1, nullptr, 10);
      size_t Found = G.size();
      for (; Line > 0 && Found == G.size(); --Line)
        if (Line <= Lines.size())
          for (size_t I = 0; I < G.size() && Found == G.size(); ++I)
            if (mentions(Lines[Line - 1], G[I].Name))
              Found = I;
      if (Found == G.size())
        return {};
      Out.insert(Found);
    }
    return Out;
  }

  /// A name as part of an identifier, but not in a longer number.
  static bool mentions(const std::string &Line, const std::string &Name) {
    for (size_t At = Line.find(Name); At != std::string::npos;
         At = Line.find(Name, At + 1)) {
      const size_t End = At + Name.size();
      const bool Before =
          At == 0 || !isalnum(static_cast<unsigned char>(Line[At - 1]));
      if (Before && (End == Line.size() ||
                     !isalnum(static_cast<unsigned char>(Line[End]))))
        return true;
    }
    return false;
  }

  /// Those of \p Guilty alone, the others together.
  std::vector<Outcome> apart(const Group &G, const std::set<size_t> &Guilty) {
    if (Guilty.empty() || Guilty.size() > G.size() / 2 + 1)
      return halves(G);
    std::vector<Outcome> Out(G.size());
    Group Others;
    for (size_t I = 0; I < G.size(); ++I)
      if (Guilty.count(I))
        Out[I] = test({G[I]}).front();
      else
        Others.push_back(G[I]);
    std::vector<Outcome> Rest = test(Others);
    for (size_t I = 0, J = 0; I < G.size(); ++I)
      if (!Guilty.count(I))
        Out[I] = Rest[J++];
    return Out;
  }

  std::vector<Outcome> halves(const Group &G) {
    if (G.size() == 1)
      return test(G);
    auto Mid = G.begin() + static_cast<long>(G.size() / 2);
    std::vector<Outcome> A = test(Group(G.begin(), Mid)),
                         B = test(Group(Mid, G.end()));
    A.insert(A.end(), B.begin(), B.end());
    return A;
  }
};

} // namespace

bool forBatches(
    const CampaignOptions &O,
    const std::function<void(const std::vector<unsigned> &, unsigned)> &Work) {
  std::atomic<unsigned> Next(O.First / BatchSize);
  std::atomic<bool> Complete(true);
  const auto Start = std::chrono::steady_clock::now();
  std::vector<std::thread> Threads;
  for (unsigned J = 0; J < std::max(1u, O.Jobs); ++J)
    Threads.emplace_back([&, J] {
      while (true) {
        unsigned B = Next++;
        if (B * BatchSize > O.Last)
          return;
        if (O.Seconds && std::chrono::steady_clock::now() - Start >
                             std::chrono::seconds(O.Seconds)) {
          Complete = false;
          return;
        }
        std::vector<unsigned> Seeds;
        for (unsigned S = B * BatchSize; S < (B + 1) * BatchSize; ++S)
          if (S >= O.First && S <= O.Last)
            Seeds.push_back(S);
        Work(Seeds, J);
      }
    });
  for (std::thread &Th : Threads)
    Th.join();
  return Complete;
}

std::vector<KernelText> kernelsOf(const std::vector<unsigned> &Seeds,
                                  const std::string &Family) {
  Group G;
  for (unsigned S : Seeds) {
    Choices C = choicesOf(S, Family);
    G.push_back(anyKernel(C, kernelName(S)));
  }
  return G;
}

std::vector<Outcome> test(const std::vector<KernelText> &Kernels,
                          const std::vector<std::string> &RewriteOptions,
                          const Tools &T, const std::string &Stem) {
  return Tester(RewriteOptions, T, Stem).test(Kernels);
}

/// What becomes of \p K where the self-check is left on.
static Outcome checked(const KernelText &K, std::vector<std::string> Options, const Tools &T,
                       const std::string &Stem) {
  Options.push_back("--self-check=quick");
  return test({K}, Options, T, Stem).front();
}

Counts runCampaign(const CampaignOptions &O, const Tools &T,
                   const std::function<void(unsigned, const Failure *)> &Tell) {
  Counts N;
  std::mutex Lock;
  N.Complete =
      forBatches(O, [&](const std::vector<unsigned> &Seeds, unsigned J) {
        Group G = kernelsOf(Seeds, O.Family);
        const std::vector<std::string> &Options = optionsOf(Seeds.front(), O);
        const std::string Stem = T.Folder + "/fuzz-" + num(J);
        std::vector<Outcome> Out = test(G, Options, T, Stem), Checked(Out.size());
        for (size_t I = 0; I < Out.size(); ++I)
          if (isFailure(Out[I].V))
            Checked[I] = checked(G[I], Options, T, Stem);
        std::lock_guard<std::mutex> L(Lock);
        for (size_t I = 0; I < Out.size(); ++I) {
          ++N.Generated;
          ++N.ByVerdict[Out[I].V];
          if (Out[I].V == Verdict::Declined)
            ++N.ByCode[Out[I].Code];
          N.Launches += Out[I].Launches;
          N.Ran += Out[I].Ran;
          if (Out[I].Launches && !Out[I].Ran)
            N.NeverRan.push_back(Seeds[I]);
          if (Out[I].V == Verdict::Declined && isSuspicious(Out[I].Code))
            N.Suspicious.push_back({Seeds[I], Options, Out[I], {}});
          if (Out[I].V == Verdict::Discarded) // an error of the generator
            N.Suspicious.push_back({Seeds[I], Options, Out[I], {}});
          const bool NoOriginal = Out[I].V == Verdict::NoOriginal;
          if (!isFailure(Out[I].V) && Out[I].V != Verdict::NotRun && !NoOriginal)
            continue;
          Out[I].Emitted.clear();
          (NoOriginal ? N.NoOriginals : N.Failures)
              .push_back({Seeds[I], Options, Out[I], std::move(Checked[I])});
          if (Tell && isFailure(Out[I].V))
            Tell(N.Generated, &N.Failures.back());
          if (!O.Keep.empty())
            writeFile(O.Keep + "/" + G[I].Name + ".cu", program({G[I]}));
        }
        if (Tell)
          Tell(N.Generated, nullptr);
      });
  return N;
}

} // namespace rcache::fuzz
