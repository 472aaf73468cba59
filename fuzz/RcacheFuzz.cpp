// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rcache-fuzz: generated CUDA programs against the rewriter.
//
//   rcache-fuzz generate --seed=N [-o x.cu]
//   rcache-fuzz run --seeds=A..B [--jobs=2] [--nvcc]
//   rcache-fuzz shrink --seed=N [-o min.cu]
//   rcache-fuzz mutants --seeds=A..B
//   rcache-fuzz corpus --seeds=A..B -o FOLDER
//
// Exit status: 0 no failure, 1 a kernel was rewritten wrongly (or a mutant
// survived), 2 wrong usage.

#include "Campaign.h"
#include "Driver/Usage.h"
#include "Process.h"
#include "rcache/Config.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <utility>
#include <cstdlib>

using namespace llvm;
using namespace rcache::fuzz;

namespace rcache {
const char *commitName(); // of a file that the build makes
}

static cl::OptionCategory Category("rcache-fuzz options");
static cl::SubCommand Generate("generate", "write the program of a seed");
static cl::SubCommand Run("run", "test the kernels of a range of seeds");
static cl::SubCommand ShrinkCmd("shrink", "make the kernel of a seed smaller");
static cl::SubCommand Mutants("mutants", "test what damaged plans give");

static cl::SubCommand Corpus("corpus",
                             "write programs and their rewritten versions");

static rcache::NumberOption<unsigned> Seed("seed", cl::desc("Which kernel"), cl::value_desc("N"), cl::sub(Generate),
                              cl::sub(ShrinkCmd),
                              cl::cat(Category));
static cl::opt<std::string> Output("o", cl::desc("Where to (default: stdout)"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::sub(Generate), cl::sub(ShrinkCmd),
                                   cl::sub(Corpus), cl::cat(Category));
static cl::opt<std::string> Seeds("seeds",
                                  cl::desc("First and last seed"), cl::value_desc("A..B"),
                                  cl::sub(Run), cl::sub(Mutants), cl::sub(Corpus),
                                  cl::sub(Generate), cl::cat(Category));
static rcache::NumberOption<unsigned> Jobs("jobs", cl::desc("Programs at once"), cl::value_desc("N"), cl::init(1),
                              cl::sub(Run), cl::sub(Mutants), cl::sub(Corpus),
                              cl::cat(Category));
static rcache::NumberOption<unsigned> Time("time",
                              cl::desc("Begin nothing new after N seconds"),
                              cl::value_desc("N"), cl::init(0), cl::sub(Run),
                              cl::sub(Mutants), cl::sub(Corpus),
                              cl::cat(Category));
static cl::opt<std::string> Keep("keep",
                                 cl::desc("Folder for failing programs"),
                                 cl::value_desc("folder"), cl::sub(Run),
                                 cl::cat(Category));
static cl::opt<bool> UseNvcc("nvcc", cl::desc("Compile results with nvcc too"),
                             cl::sub(Run), cl::sub(ShrinkCmd), cl::sub(Mutants),
                             cl::cat(Category));
static cl::opt<bool> Asked("asked", cl::desc("Rewrite with --self-check=sums: where no rule tells what is fused"),
                           cl::sub(Run), cl::sub(ShrinkCmd), cl::cat(Category));
static cl::opt<std::string> Summary("summary", cl::desc("Figures as JSON, too"),
                                    cl::value_desc("file"), cl::sub(Run),
                                    cl::sub(Mutants), cl::cat(Category));
static rcache::NumberOption<unsigned> Variants("variants",
                                  cl::desc("Mutants of a kind for each plan"), cl::value_desc("N"),
                                  cl::init(1), cl::sub(Mutants),
                                  cl::cat(Category));
static rcache::NumberOption<unsigned>
    Enough("enough", cl::desc("Of a kind, this many mutants with other code"), cl::value_desc("N"),
           cl::init(0), cl::sub(Mutants), cl::cat(Category));
static cl::opt<std::string>
    Family("family",
           cl::desc("Kernels of one family: window, block, plane, tile, outside, text, host, "
                    "sums, owned, joined, cut, views, rows, batch, private or overlap (default: as the seed says)"),
           cl::sub(Generate), cl::sub(Run), cl::sub(ShrinkCmd),
           cl::sub(Mutants), cl::sub(Corpus), cl::cat(Category));
static cl::list<std::string> Kinds("kind",
                                   cl::desc("Kind of mutation (repeatable)"),
                                   cl::sub(Mutants), cl::cat(Category));
static cl::opt<std::string> Rewrite("rewrite",
                                    cl::desc("rcache-rewrite to test"),
                                    cl::value_desc("program"), cl::sub(Run),
                                    cl::sub(ShrinkCmd), cl::sub(Mutants),
                                    cl::sub(Corpus), cl::cat(Category));
static cl::opt<std::string> Check("check",
                                  cl::desc("rcache-check to test with"),
                                  cl::value_desc("program"), cl::sub(Run),
                                  cl::sub(ShrinkCmd), cl::sub(Mutants),
                                  cl::sub(Corpus), cl::cat(Category));
static cl::opt<std::string>
    RewriteOptions("rewrite-options",
                   cl::desc("Options of rcache-rewrite, instead of a set that "
                            "depends on the seed"),
                   cl::value_desc("options"), cl::sub(Run), cl::sub(ShrinkCmd),
                   cl::sub(Mutants), cl::sub(Corpus), cl::cat(Category));

namespace {

std::vector<std::string> words(const std::string &Text) {
  std::vector<std::string> Out;
  SmallVector<StringRef, 8> Parts;
  StringRef(Text).split(Parts, ' ', -1, false);
  for (StringRef P : Parts)
    Out.push_back(P.str());
  return Out;
}

/// The kinds of mutation that all seeds have.
const std::vector<std::string> &mutations() {
  static const std::vector<std::string> All = {
      "wrong-register", "lane-off-by-one", "missing-phase",       "missing-guard",
      "dropped-barrier", "wrong-source",   "missing-tail",        "wrong-row",
      "missing-precondition", "wrong-block", "missing-store-guard", "missing-refill",
      "wrong-share"};
  return All;
}

/// The option sets that the seeds go through.
CampaignOptions campaign() {
  CampaignOptions O;
  if (RewriteOptions.getNumOccurrences())
    O.OptionSets = {words(RewriteOptions)};
  else
    O.OptionSets = {{"--force"},
                    {"--force", "--coarsen=2"},
                    {},
                    {"--force", "--distribution=cyclic"},
                    {"--force", "--distribution=chunked", "--coarsen=4"},
                    {"--force", "--block=128"},
                    {"--force", "--coarsen=8"},
                    {"--force", "--exchange=shuffle"},
                    {"--force", "--exchange=owned", "--distribution=chunked"}};
  O.Jobs = Jobs;
  O.Seconds = Time;
  O.Keep = Keep;
  O.Variants = Variants;
  O.Enough = Enough;
  O.Family = Family;
  return O;
}

/// "A..B", or one number.
bool readSeeds(StringRef Text, unsigned &First, unsigned &Last) {
  auto [A, B] = Text.split("..");
  if (A.getAsInteger(10, First))
    return false;
  Last = First;
  return (B.empty() || !B.getAsInteger(10, Last)) && First <= Last;
}

bool parseSeeds(CampaignOptions &O) {
  if (readSeeds(Seeds, O.First, O.Last))
    return true;
  errs() << "rcache-fuzz: --seeds=A..B is needed\n";
  return false;
}

/// What options with texts take, for checkUsage.
void judgeTexts() {
  rcache::judgeValues(Seeds, [](StringRef Text) -> std::string {
    unsigned First, Last;
    return readSeeds(Text, First, Last) ? "" : "the first seed and the last, A..B";
  });
  auto OneOf = [](const std::vector<std::string> &Words) {
    return [&Words](StringRef Text) {
      return is_contained(Words, Text) ? "" : join(Words, ", ");
    };
  };
  rcache::judgeValues(Family, OneOf(families()));
  rcache::judgeValues(Kinds, OneOf(mutations()));
}

/// The programs stand beside this one.
Tools tools(const char *Argv0) {
  static int Anchor;
  Tools T;
  const std::string Self = sys::fs::getMainExecutable(Argv0, &Anchor);
  auto Beside = [&](const char *Name, const std::string &Given) {
    if (!Given.empty())
      return Given;
    SmallString<128> P = sys::path::parent_path(Self);
    sys::path::append(P, Name);
    return sys::fs::can_execute(P) ? P.str().str() : std::string(Name);
  };
  T.Rewrite = Beside("rcache-rewrite", Rewrite);
  T.Check = Beside("rcache-check", Check);
  if (UseNvcc)
    T.Nvcc = sys::fs::can_execute("/usr/local/cuda/bin/nvcc")
                 ? "/usr/local/cuda/bin/nvcc"
                 : "nvcc";
  SmallString<128> Folder;
  if (!sys::fs::createUniqueDirectory("rcache-fuzz", Folder))
    T.Folder = Folder.str().str();
  return T;
}

bool toolsThere(const Tools &T) {
  for (const std::string &Program : {T.Rewrite, T.Check, T.Nvcc})
    if (!Program.empty() &&
        !(StringRef(Program).contains('/') ? sys::fs::can_execute(Program)
                                           : bool(sys::findProgramByName(Program)))) {
      errs() << "rcache-fuzz: there is no program '" << Program << "'\n";
      return false;
    }
  return true;
}

void removeFolder(const Tools &T) {
  if (!T.Folder.empty())
    sys::fs::remove_directories(T.Folder);
}

std::string joined(const std::vector<std::string> &Options) {
  std::string T;
  for (const std::string &O : Options)
    T += (T.empty() ? "" : " ") + O;
  return T;
}

void indent(raw_ostream &OS, const std::string &Text) {
  SmallVector<StringRef, 16> Lines;
  StringRef(Text).split(Lines, '\n', -1, false);
  for (StringRef L : Lines)
    OS << "    " << L << '\n';
}

void printEach(raw_ostream &OS, const char *What, std::vector<Failure> Sorted) {
  std::sort(Sorted.begin(), Sorted.end(),
            [](auto &A, auto &B) { return A.Seed < B.Seed; });
  for (const Failure &F : Sorted) {
    OS << What << "seed " << F.Seed << " (" << joined(F.Options)
       << "): " << verdictName(F.O.V) << '\n';
    if (isFailure(F.O.V))
      OS << "    by default: " << verdictName(F.Checked.V)
         << (F.Checked.Code.empty() ? "" : ", " + F.Checked.Code) << '\n';
    indent(OS, F.O.Detail);
  }
}

void print(const Counts &N) {
  raw_ostream &OS = outs();
  printEach(OS, "", N.Failures);
  printEach(OS, "generator: ", N.NoOriginals);
  std::vector<Failure> Odd = N.Suspicious;
  std::sort(Odd.begin(), Odd.end(),
            [](auto &A, auto &B) { return A.Seed < B.Seed; });
  for (const Failure &F : Odd)
    OS << "note: seed " << F.Seed << " (" << joined(F.Options)
       << "): " << (F.O.Code.empty() ? verdictName(F.O.V) : F.O.Code.c_str())
       << ": " << F.O.Detail << '\n';
  OS << "generated " << N.Generated << (N.Complete ? "" : " (out of time)")
     << '\n';
  for (auto &[V, Count] : N.ByVerdict)
    OS << "  " << verdictName(V) << ' ' << Count << '\n';
  if (!N.Failures.empty())
    OS << "  of the failures, left by default: "
       << llvm::count_if(N.Failures,
                         [](const Failure &F) { return F.Checked.V == Verdict::Declined; })
       << '\n';
  OS << "  launches of rewritten kernels " << N.Launches << ", " << N.Ran
     << " ran the rewritten form; never: " << N.NeverRan.size() << " kernels\n";
  std::vector<std::pair<unsigned, std::string>> Codes;
  for (auto &[Code, Count] : N.ByCode)
    Codes.push_back({Count, Code});
  std::sort(Codes.rbegin(), Codes.rend());
  for (auto &[Count, Code] : Codes)
    OS << "    declined: " << Code << ' ' << Count << '\n';
}

bool writeSummary(json::Object Figures) {
  if (Summary.empty())
    return true;
  std::string Text;
  raw_string_ostream OS(Text);
  Figures["seeds"] = Seeds.getValue();
  OS << formatv("{0:2}", json::Value(std::move(Figures))) << '\n';
  if (writeFile(Summary, Text))
    return true;
  errs() << "rcache-fuzz: cannot write '" << Summary << "'\n";
  return false;
}

json::Object figures(const Counts &N) {
  json::Object Verdicts, Codes;
  for (auto &[V, Count] : N.ByVerdict)
    Verdicts[verdictName(V)] = Count;
  for (auto &[Code, Count] : N.ByCode)
    Codes[Code] = Count;
  json::Array Failures;
  for (auto *List : {&N.Failures, &N.NoOriginals, &N.Suspicious})
    for (const Failure &F : *List)
      Failures.push_back(json::Object{
          {"seed", F.Seed},
          {"options", joined(F.Options)},
          {"verdict", verdictName(F.O.V)},
          {"byDefault", isFailure(F.O.V) ? verdictName(F.Checked.V) : ""},
          {"code", F.O.Code},
          {"detail", json::fixUTF8(StringRef(F.O.Detail).take_front(600))}});
  return json::Object{{"generated", N.Generated},
                      {"complete", N.Complete},
                      {"verdicts", std::move(Verdicts)},
                      {"declines", std::move(Codes)},
                      {"launchesOfRewritten", N.Launches},
                      {"launchesThatRanIt", N.Ran},
                      {"kernelsNeverRun", json::Array(N.NeverRan)},
                      {"noted", std::move(Failures)}};
}

int runMain(const Tools &T) {
  CampaignOptions O = campaign();
  if (!parseSeeds(O))
    return 2;
  if (!Keep.empty())
    sys::fs::create_directories(Keep);
  // A campaign takes minutes to hours: what it has found is told meanwhile.
  unsigned Told = 0;
  Counts N = runCampaign(O, T, [&](unsigned Done, const Failure *F) {
    constexpr unsigned Often = 500;
    if (F)
      printEach(errs(), "", {*F});
    else if (Done / Often > std::exchange(Told, Done / Often))
      errs() << "rcache-fuzz: " << Done << " programs\n";
  });
  print(N);
  if (!writeSummary(figures(N)))
    return 2;
  return std::any_of(N.Failures.begin(), N.Failures.end(),
                     [](const Failure &F) { return isFailure(F.O.V); });
}

/// One program of all the seeds.
int generateMain() {
  CampaignOptions O;
  O.First = O.Last = Seed;
  if (Seeds.getNumOccurrences() == Seed.getNumOccurrences()) {
    errs() << "rcache-fuzz: generate takes --seed=N or --seeds=A..B\n";
    return 2;
  }
  if (Seeds.getNumOccurrences() && !parseSeeds(O))
    return 2;
  std::vector<unsigned> All;
  for (unsigned S = O.First; S <= O.Last; ++S)
    All.push_back(S);
  const std::string Text = program(kernelsOf(All, Family));
  if (Output == "-")
    outs() << Text;
  else if (!writeFile(Output, Text)) {
    errs() << "rcache-fuzz: cannot write '" << Output << "'\n";
    return 2;
  }
  return 0;
}

int shrinkMain(const Tools &T) {
  std::vector<std::string> Options = optionsOf(Seed, campaign());
  Choices C = choicesOf(Seed, Family);
  KernelText K = anyKernel(C, kernelName(Seed));
  Outcome O = test({K}, Options, T, T.Folder + "/shrink")[0];
  if (!isFailure(O.V) && O.V != Verdict::NoOriginal) {
    errs() << "seed " << Seed << " (" << joined(Options)
           << "): " << verdictName(O.V) << "; nothing to shrink\n";
    return 0;
  }
  unsigned Tests = 0;
  Choices Small(shrink(Seed, Family, O.V, Options, T, Tests));
  K = anyKernel(Small, kernelName(Seed));
  O = test({K}, Options, T, T.Folder + "/shrink")[0];
  std::string Text = "// " + std::string(verdictName(O.V)) + " with " +
                     (Options.empty() ? "no options" : joined(Options)) + "\n" +
                     program({K});
  errs() << "seed " << Seed << " (" << joined(Options)
         << "): " << verdictName(O.V) << ", " << Tests << " tests\n";
  indent(errs(), O.Detail);
  if (Output == "-")
    outs() << Text;
  else if (!writeFile(Output, Text)) {
    errs() << "rcache-fuzz: cannot write '" << Output << "'\n";
    return 2;
  }
  return 1;
}

int corpusMain(const Tools &T) {
  CampaignOptions O = campaign();
  if (!parseSeeds(O))
    return 2;
  if (Output == "-") {
    errs() << "rcache-fuzz: corpus needs -o FOLDER\n";
    return 2;
  }
  CorpusCounts N = writeCorpus(O, T, Output);
  if (!N.Written) {
    errs() << "rcache-fuzz: cannot write to '" << Output << "'\n";
    return 2;
  }
  outs() << N.Programs << " programs, " << N.Kernels
         << " rewritten kernels; left out as wrong: " << N.Failed << '\n';
  return 0;
}

int mutantsMain(const Tools &T) {
  CampaignOptions O = campaign();
  if (!parseSeeds(O))
    return 2;
  std::vector<std::string> Which(Kinds.begin(), Kinds.end());
  if (Which.empty())
    Which = mutations();
  bool Survived = false;
  json::Object Figures;
  for (auto &[Kind, C] : runMutants(O, T, Which)) {
    auto Of = [&C = C](Mutant::FateType F) {
      auto It = C.ByFate.find(F);
      return It == C.ByFate.end() ? 0u : It->second;
    };
    outs() << Kind << ": " << C.Tried << " plans, " << C.Changed
           << " give other code: " << Of(Mutant::Killed) << " killed, "
           << Of(Mutant::SameCode) << " same machine code, "
           << Of(Mutant::Proved) << " proved equal, " << Of(Mutant::Survived)
           << " survived (" << C.NeverRan << " kernels left out)\n";
    for (const Mutant &M : C.Others) {
      static const char *const Words[] = {"killed", "same code", "proved",
                                          "SURVIVED"};
      outs() << "    " << Words[M.Fate] << ": seed " << M.Seed << ' ' << M.Name
             << " (" << joined(M.Options) << ")\n";
      if (M.Fate != Mutant::SameCode)
        indent(outs(), M.Why);
    }
    Survived |= Of(Mutant::Survived) != 0;
    Figures[Kind] = json::Object{{"plans", C.Tried},
                                 {"otherCode", C.Changed},
                                 {"killed", Of(Mutant::Killed)},
                                 {"sameMachineCode", Of(Mutant::SameCode)},
                                 {"provedEqual", Of(Mutant::Proved)},
                                 {"survived", Of(Mutant::Survived)},
                                 {"neverRan", C.NeverRan}};
  }
  if (!writeSummary(std::move(Figures)))
    return 2;
  return Survived;
}

} // namespace

int main(int Argc, const char **Argv) {
  // What is looked for here must not be caught by the tool itself before.
  setenv("RCACHE_SELF_CHECK", "off", 1);
  InitLLVM Init(Argc, Argv);
  cl::SetVersionPrinter([](raw_ostream &OS) {
    OS << "rcache-fuzz " RCACHE_VERSION " (" << rcache::commitName()
       << ")\nLLVM " LLVM_VERSION_STRING "\n";
  });
  cl::HideUnrelatedOptions(Category);
  for (auto *S : {&Generate, &Run, &ShrinkCmd, &Mutants, &Corpus})
    cl::HideUnrelatedOptions(Category, *S);
  judgeTexts();
  if (Error E = rcache::checkUsage(ArrayRef(Argv, Argc))) {
    errs() << "rcache-fuzz: " << toString(std::move(E)) << " (--help)\n";
    return 2;
  }
  if (!cl::ParseCommandLineOptions(Argc, Argv,
                                   "Generated CUDA programs against the "
                                   "rewriter\n",
                                   &errs()))
    return 2;
  if (Asked)
    setenv("RCACHE_SELF_CHECK", "sums", 1);
  if (Generate)
    return generateMain();
  if (!Run && !ShrinkCmd && !Mutants && !Corpus) {
    errs() << "rcache-fuzz: generate, run, shrink, mutants or corpus? "
              "(--help)\n";
    return 2;
  }
  Tools T = tools(Argv[0]);
  if (!toolsThere(T))
    return 2;
  int Status = Run         ? runMain(T)
               : ShrinkCmd ? shrinkMain(T)
               : Corpus    ? corpusMain(T)
                           : mutantsMain(T);
  removeFolder(T);
  return Status;
}
