// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What becomes of damaged plans. A mutant is a kernel whose rewritten text
// differs from that of the sound plan. It is killed by the program's own
// launches, or by launches in other thread orders, or by those that
// rcache-check makes itself. One that survives all of them is equivalent only
// by an argument that does not come from the rewriter:
//
//   same code   nvcc makes the same machine code of it as of the sound kernel,
//               and the host function that launches it is the same text;
//   proved      `rcache-check --prove` finds the expressions of all results
//               equal, for all data, at every launch shape that it tried, in
//               two opposite orders of the threads.
//
// Whatever is neither is a survivor.

#include "Campaign.h"
#include "Process.h"
#include <algorithm>
#include <chrono>
#include <mutex>

namespace rcache::fuzz {

namespace {

/// The part of \p Text that belongs to \p Kernel: what follows its original and
/// mentions its name.
std::string partOf(const std::string &Text, const std::string &Kernel) {
  std::string Name = " " + Kernel + "_rc";
  size_t B = Text.find(Name);
  if (B == std::string::npos)
    return "";
  size_t E = Text.find("static void run_" + Kernel + "()", B);
  return Text.substr(B, E == std::string::npos ? E : E - B);
}

std::string launchFunction(const std::string &Text, const std::string &Kernel) {
  std::string Part = partOf(Text, Kernel);
  size_t B = Part.find(" " + Kernel + "_rc_launch(");
  return B == std::string::npos ? "" : Part.substr(B);
}

/// The texts of the new kernels, by name: \p Kernel_rc, ..._rc_any_block, ...
std::map<std::string, std::string> formsOf(const std::string &Part,
                                           const std::string &Kernel) {
  std::map<std::string, std::string> Forms;
  const std::string Mark = " " + Kernel + "_rc";
  for (size_t B = Part.find(Mark); B != std::string::npos;
       B = Part.find(Mark, B + 1)) {
    size_t Open = Part.find('(', B), End = Part.find("\n}\n", B);
    std::string Name = Part.substr(B + 1, Open - B - 1);
    if (Open == std::string::npos || Forms.count(Name) ||
        Name.find_first_of(" <;\n") != std::string::npos ||
        Name == Kernel + "_rc_launch")
      continue;
    Forms[Name] = Part.substr(Open, End - Open);
    B = End == std::string::npos ? Part.size() : End;
  }
  return Forms;
}

/// Does \p Damaged differ from \p Sound where a launch of the program comes by:
/// in how it is launched, or in a kernel that ran?
bool reached(const std::string &Sound, const std::string &Damaged,
             const std::string &Kernel,
             const std::map<std::string, unsigned> &Ran) {
  if (launchFunction(Sound, Kernel) != launchFunction(Damaged, Kernel))
    return true;
  auto A = formsOf(partOf(Sound, Kernel), Kernel),
       B = formsOf(partOf(Damaged, Kernel), Kernel);
  return A.size() != B.size() ||
         std::any_of(Ran.begin(), Ran.end(), [&](const auto &F) {
           return !A.count(F.first) || A[F.first] != B[F.first];
         });
}

bool contains(const std::string &Text, const char *What) {
  return Text.find(What) != std::string::npos;
}

class MutantTester {
public:
  MutantTester(const Tools &T, const std::string &Stem,
               std::vector<std::string> Plain, const std::string &Kind)
      : T(T), Stem(Stem), Plain(std::move(Plain)), Damaged(this->Plain) {
    Damaged.push_back("--mutate=" + Kind);
  }

  /// \p Mutant passed its launches once. What is it?
  Mutant::FateType judge(const KernelText &K, std::string &Why) {
    const std::string Source = Stem + "_m.cu", Sound = Stem + "_m_sound.cu",
                      Result = Stem + "_m_rc.cu";
    if (!writeFile(Source, program({K})) || !rewrite(Source, Sound, Plain) ||
        !rewrite(Source, Result, Damaged))
      return Mutant::Killed; // damaged beyond rewriting
    // Other orders of the threads, the plain one and its reverse among them:
    // two threads that are not ordered meet both ways round.
    std::string Expected =
        run({T.Check, "run", Source, "--jobs=1"}, Stem, 60).Out;
    for (const char *Order : {"forward", "reverse", "random:2", "random:3"}) {
      Ran R = run({T.Check, "run", Result, "--jobs=1",
                   std::string("--schedule=") + Order},
                  Stem, 60);
      if (!R.ok() || R.Out != Expected) {
        Why = std::string("schedule ") + Order;
        return Mutant::Killed;
      }
    }
    if (sameCode(K, Sound, Result))
      return Mutant::SameCode;
    for (const char *Order : {"forward", "reverse", "random:5"}) {
      Ran R = run({T.Check, Source, "--rewritten=" + Result, "--seconds=10",
                   std::string("--schedule=") + Order},
                  Stem, 120);
      if (R.Exit == 1 || R.Exit == 4 || R.Signal || R.TimedOut) {
        Why = "made launches";
        return Mutant::Killed;
      }
    }
    // Pointers that are the same are among these shapes; both orders of the
    // threads are proved.
    Ran R = run({T.Check, Source, "--rewritten=" + Result, "--prove",
                 "--seconds=30"},
                Stem, 240);
    const size_t At = R.Err.rfind("proved for all data at ");
    if (R.Exit == 0 && At != std::string::npos &&
        contains(R.Err.substr(At), "not proved at 0") &&
        !contains(R.Err, " 0 of them by a rewritten kernel")) {
      Why = R.Err.substr(At, R.Err.find(',', At) - At);
      return Mutant::Proved;
    }
    if (R.Exit == 1 || R.Exit == 4)
      return Mutant::Killed;
    Why = R.Err.size() > 400 ? R.Err.substr(R.Err.size() - 400) : R.Err;
    return Mutant::Survived;
  }

private:
  const Tools &T;
  std::string Stem;
  std::vector<std::string> Plain, Damaged;

  bool rewrite(const std::string &Source, const std::string &Result,
               const std::vector<std::string> &Options) {
    std::vector<std::string> Args = {T.Rewrite, Source, "-o", Result,
                                     "--quiet"};
    Args.insert(Args.end(), Options.begin(), Options.end());
    return run(Args, Stem, 60).ok();
  }

  bool sameCode(const KernelText &K, const std::string &A,
                const std::string &B) {
    std::string TextA = readFile(A), TextB = readFile(B);
    if (T.Nvcc.empty() ||
        launchFunction(TextA, K.Name) != launchFunction(TextB, K.Name))
      return false;
    // Under one name: it may be part of the code.
    std::string Binary[2];
    const std::string Text[2] = {TextA, TextB};
    for (int I = 0; I < 2; ++I) {
      if (!writeFile(Stem + "_same.cu", Text[I]))
        return false;
      Ran R = run({T.Nvcc, "-cubin", "-arch=sm_90", "-w", Stem + "_same.cu",
                   "-o", Stem + "_same.cubin"},
                  Stem, 120);
      if (!R.ok())
        return false;
      Binary[I] = readFile(Stem + "_same.cubin");
    }
    return !Binary[0].empty() && Binary[0] == Binary[1];
  }
};

} // namespace

std::map<std::string, MutantCounts>
runMutants(const CampaignOptions &O, Tools T,
           const std::vector<std::string> &Kinds) {
  T.LaunchSeconds = 5; // endless loops are common
  std::map<std::string, MutantCounts> N;
  for (const std::string &K : Kinds)
    N[K];
  std::mutex Lock;
  using Clock = std::chrono::steady_clock;
  const auto Start = Clock::now();
  auto Over = [&] {
    return O.Seconds && Clock::now() - Start > std::chrono::seconds(O.Seconds);
  };
  if (O.Seconds)
    endRunsAt(Start + std::chrono::seconds(O.Seconds));
  auto IsEnough = [&](const std::string &Kind) {
    std::lock_guard<std::mutex> L(Lock);
    MutantCounts &C = N[Kind];
    return O.Enough && C.Changed - C.ByFate[Mutant::SameCode] >= O.Enough;
  };
  forBatches(O, [&](const std::vector<unsigned> &Seeds, unsigned J) {
    std::string Stem = T.Folder + "/fuzz-" + num(J);
    const std::vector<std::string> &Plain = optionsOf(Seeds.front(), O);
    std::vector<KernelText> All = kernelsOf(Seeds, O.Family), G;
    std::vector<unsigned> Which;
    std::vector<Outcome> Before;
    std::vector<Outcome> Sound = test(All, Plain, T, Stem);
    for (size_t I = 0; I < All.size(); ++I) {
      if (Sound[I].V != Verdict::Equal)
        continue;
      if (!Sound[I].Ran) {
        std::lock_guard<std::mutex> L(Lock);
        for (const std::string &Kind : Kinds)
          ++N[Kind].NeverRan;
        continue;
      }
      G.push_back(All[I]);
      Which.push_back(Seeds[I]);
      Before.push_back(std::move(Sound[I]));
    }
    // Another kind first in each batch: time may be short.
    std::vector<std::string> Order = Kinds;
    std::rotate(Order.begin(),
                Order.begin() +
                    static_cast<long>(Seeds.front() / BatchSize % Order.size()),
                Order.end());
    for (const std::string &Kind : Order)
      for (unsigned V = 0; V < std::max(1u, O.Variants); ++V) {
        if (Over())
          return;
        if (IsEnough(Kind))
          break;
        const std::string Name = Kind + ":" + num(V);
        std::vector<std::string> Options = Plain;
        Options.push_back("--mutate=" + Name);
        std::vector<Outcome> Out = test(G, Options, T, Stem);
        if (Over())
          return;
        for (size_t I = 0; I < G.size(); ++I) {
          Mutant M;
          M.Seed = Which[I];
          M.Name = Name;
          M.Options = Plain;
          bool Changed = true;
          if (Out[I].V == Verdict::Equal) {
            const std::string &Sound = Before[I].Emitted;
            Changed =
                partOf(Out[I].Emitted, G[I].Name) != partOf(Sound, G[I].Name);
            if (Changed &&
                !reached(Sound, Out[I].Emitted, G[I].Name, Before[I].Forms)) {
              std::lock_guard<std::mutex> L(Lock);
              ++N[Kind].NeverRan;
              continue;
            }
            if (Changed)
              M.Fate = MutantTester(T, Stem, Plain, Name).judge(G[I], M.Why);
            if (Over())
              return;
          } else // a decline: caught before anything was written
            M.Fate = Mutant::Killed;
          std::lock_guard<std::mutex> L(Lock);
          MutantCounts &C = N[Kind];
          ++C.Tried;
          if (!Changed)
            continue;
          ++C.Changed;
          ++C.ByFate[M.Fate];
          if (M.Fate != Mutant::Killed)
            C.Others.push_back(std::move(M));
        }
      }
  });
  return N;
}

} // namespace rcache::fuzz
