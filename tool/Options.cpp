// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cl::opt objects, read once into ToolOptions. They are made when the command
// line is read, not when the program starts: LLVM registers options of its own
// then, in an order that depends on how it is linked, and some have the same
// names.

#include "Options.h"
#include "Driver/Usage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/StringSaver.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using llvm::StringRef;

namespace rcache {
namespace {

cl::OptionCategory What("What to write");
cl::OptionCategory Project("Whole projects");

cl::extrahelp Further(
    "\nCompiler flags, of nvcc or clang, follow after `--`:\n"
    "  rcache-rewrite kernel.cu -o kernel_rc.cu -- -Iinclude -arch=sm_90\n"
    "Without them and without -p, the nearest compile_commands.json is used, "
    "if there\n"
    "is one. The source `-` is standard input.\n\n"
    "Exit status: 0 done, 1 a source does not parse or a file cannot be read "
    "or\n"
    "written (no output is changed then), 2 wrong usage.\n");

struct CommandLine {
  cl::list<std::string> Sources{cl::Positional, cl::desc("<source.cu>..."),
                                cl::cat(What)};

  cl::opt<std::string> Output{
      "o", cl::value_desc("file"), cl::cat(What),
      cl::desc("Write the result here (default: standard "
               "output)")};
  cl::opt<bool> InPlace{"i", cl::cat(What),
                        cl::desc("Change the source files themselves")};
  cl::opt<bool> Diff{"diff", cl::cat(What),
                     cl::desc("Print a unified diff instead of the result")};
  cl::opt<bool> List{"list", cl::cat(What),
                     cl::desc("Print a line for each kernel: verdict, arrays, "
                              "reason; with nvcc, what it takes of an SM")};
  cl::opt<std::string> Report{"report", cl::value_desc("file"), cl::cat(What),
                              cl::desc("Write a JSON report (docs/report.md)")};
  cl::opt<std::string> Csv{
      "csv", cl::value_desc("file"), cl::cat(What),
      cl::desc("Write a table with a line for each kernel")};
  cl::opt<std::string> Explain{
      "explain", cl::value_desc("file.html"), cl::cat(What),
      cl::desc("Write a page that explains what was done "
               "and why: texts side by side, where the "
               "data lives, the choice, what was checked "
               "(file.json: the same as data)")};
  cl::opt<std::string> Sarif{"sarif", cl::value_desc("file"), cl::cat(What),
                             cl::desc("Write the remarks as SARIF 2.1.0")};
  cl::opt<std::string> Picture{
      "picture", cl::value_desc("file.svg"), cl::cat(What),
      cl::desc("Draw which lane and register own which "
               "element, and where each register of a "
               "window comes from")};
  cl::opt<std::string> Fixes{"export-fixes", cl::value_desc("file"),
                             cl::cat(What),
                             cl::desc("Write the edits as YAML for "
                                      "clang-apply-replacements")};
  cl::opt<std::string> DepFile{"depfile", cl::value_desc("file"), cl::cat(What),
                               cl::desc("Write a Makefile rule for the output "
                                        "(needs -o)")};
  cl::opt<bool> LineDirectives{
      "line-directives", cl::cat(What),
      cl::desc("Put #line directives in, so that "
               "compilers, debuggers and profilers show "
               "the original file")};
  cl::opt<std::string> PrintAfter{
      "print-after", cl::value_desc("stage"), cl::cat(What),
      cl::desc("Print what a stage made, for each kernel: model, "
               "plan, predict, verify, lower or emit")};
  cl::opt<std::string> Mutate{
      "mutate", cl::value_desc("kind[:seed]"), cl::cat(What), cl::Hidden,
      cl::desc("For tests of the checkers: damage each plan in this way "
               "before it is written")};
  cl::opt<std::string> ExchangeOpt{
      "exchange", cl::value_desc("kind"), cl::cat(What), cl::Hidden,
      cl::desc("For tests: only plans with a shuffle, reload, direct, owned, "
               "restage or shared exchange, where there are any")};
  cl::opt<bool> Quiet{"quiet", cl::cat(What), cl::desc("No remarks (-q)")};
  cl::alias QuietShort{"q", cl::desc("Alias for --quiet"), cl::aliasopt(Quiet),
                       cl::cat(What)};
  cl::opt<bool> Verbose{"verbose", cl::cat(What),
                        cl::desc("Print the compile command of each file and "
                                 "the flags left out")};
  WordOption<ToolOptions::ColorKind> Color{
      "color", cl::cat(What), cl::desc("Colours in messages"),
      cl::init(ToolOptions::ColorKind::Auto),
      cl::values(
          clEnumValN(ToolOptions::ColorKind::Auto, "auto", "on a terminal"),
          clEnumValN(ToolOptions::ColorKind::Always, "always", ""),
          clEnumValN(ToolOptions::ColorKind::Never, "never", ""))};

  cl::list<std::string> Kernels{"kernel", cl::value_desc("name"),
                                cl::cat(rewriteCategory()),
                                cl::desc("Only this kernel (repeatable; a name "
                                         "or a qualified name)")};
  cl::list<std::string> Only{
      "only", cl::value_desc("technique,..."), cl::CommaSeparated,
      cl::cat(rewriteCategory()),
      cl::desc("What is rewritten: staging (what is staged in shared memory goes "
               "to registers), private (private arrays go from local to shared "
               "memory), registers (the compiler is told how many registers a "
               "thread is to have; needs nvcc); default: staging,private")};
  cl::opt<bool> WithoutLaunch{
      "without-launch", cl::cat(rewriteCategory()),
      cl::desc(
          "Write kernels that nothing in the file launches as well, each "
          "with a launch function for callers elsewhere (docs/callers.md)")};
  cl::opt<bool> KernelsElsewhere{
      "kernels-elsewhere", cl::cat(rewriteCategory()), cl::Hidden,
      cl::desc(
          "For builds that name the kernels of several files: one that this "
          "file does not have is no error")};
  cl::opt<std::string> Coarsen{"coarsen", cl::value_desc("auto|N"),
                               cl::cat(rewriteCategory()), cl::init("auto"),
                               cl::desc("Outputs a thread (default: auto)")};
  WordOption<Options::DistributionKind> Distribution{
      "distribution", cl::cat(rewriteCategory()),
      cl::init(Options::DistributionKind::Auto),
      cl::desc("Which lane owns which elements"),
      cl::values(clEnumValN(Options::DistributionKind::Auto, "auto",
                            "the planner chooses"),
                 clEnumValN(Options::DistributionKind::Cyclic, "cyclic",
                            "element o in lane o mod 32"),
                 clEnumValN(Options::DistributionKind::Chunked, "chunked",
                            "a lane owns consecutive elements"))};
  cl::opt<bool> Force{"force", cl::cat(rewriteCategory()),
                      cl::desc("Rewrite even when no gain is predicted")};
  cl::opt<bool> ExplainChoice{
      "explain-choice", cl::cat(rewriteCategory()),
      cl::desc("Print the candidates of each kernel with their predicted "
               "figures, and why one was chosen, to standard error")};
  cl::opt<std::string> CandidateNumber{
      "candidate", cl::value_desc("N"), cl::cat(rewriteCategory()),
      cl::desc("Take this candidate of --explain-choice, whatever is predicted "
               "for it")};
  WordOption<ToolOptions::SelfCheckKind> SelfCheck{
      "self-check", cl::cat(rewriteCategory()),
      cl::init(ToolOptions::SelfCheckKind::Quick),
      cl::desc(
          "Whether each rewritten kernel is compiled and executed on the CPU "
          "against its original before it is written; a kernel that differs "
          "is left as it is (default: quick)"),
      cl::values(clEnumValN(ToolOptions::SelfCheckKind::Off, "off", "no"),
                 clEnumValN(ToolOptions::SelfCheckKind::Sums, "sums",
                            "no, but nvcc is asked what it fuses with sums"),
                 clEnumValN(ToolOptions::SelfCheckKind::Quick, "quick",
                            "about 2 seconds of launches a kernel"),
                 clEnumValN(ToolOptions::SelfCheckKind::Full, "full",
                            "up to 30 seconds a kernel"))};
  WordOption<ToolOptions::TuneKind> Tune{
      "tune", cl::cat(rewriteCategory()), cl::init(ToolOptions::TuneKind::None),
      cl::desc("What the choice between candidates rests on (docs/tuning.md)"),
      cl::values(
          clEnumValN(ToolOptions::TuneKind::None, "none", "predictions alone"),
          clEnumValN(ToolOptions::TuneKind::Ptxas, "ptxas",
                     "registers and spills of the best candidates, "
                     "compiled with nvcc"),
          clEnumValN(ToolOptions::TuneKind::Device, "device",
                     "times of the best candidates on this machine's GPU, "
                     "or those kept from one"))};
  cl::opt<std::string> TuneCache{
      "tune-cache", cl::value_desc("file"), cl::cat(rewriteCategory()),
      cl::desc("Where --tune=device keeps its times (default: rcache/tune.json "
               "below $XDG_CACHE_HOME or ~/.cache)")};
  cl::opt<std::string> TuneFolder{
      "tune-emit", cl::value_desc("dir"), cl::cat(rewriteCategory()),
      cl::desc(
          "Write programs that time the best candidates, and run.sh, which "
          "makes a file for --tune-cache on another machine")};
  cl::opt<std::string> TuneElements{
      "tune-n", cl::value_desc("N"), cl::cat(rewriteCategory()),
      cl::desc(
          "Outputs of a launch that is timed (default: what the file shows, "
          "else 2^26)")};
  cl::list<std::string> TuneArguments{
      "tune-arg", cl::value_desc("name=value"), cl::cat(rewriteCategory()),
      cl::desc(
          "Value of an integer parameter of the kernel in a launch that is "
          "timed (repeatable)")};
  cl::opt<std::string> CandidatesFolder{
      "emit-candidates", cl::value_desc("dir"), cl::cat(rewriteCategory()),
      cl::Hidden,
      cl::desc(
          "For measurements: write KERNEL.cN.cu below this folder for each "
          "candidate N of each kernel")};

  cl::list<std::string> FlagsFiles{
      "flags-file", cl::value_desc("file"), cl::cat(parseCategory()),
      cl::desc(
          "Compiler flags (repeatable), one a line and taken as they are; a "
          "line that "
          "begins with SHELL: is split as a shell does (CMake's notation)")};

  cl::opt<bool> All{"all", cl::cat(Project),
                    cl::desc("All CUDA sources of the compile commands")};
  cl::opt<std::string> OutRoot{
      "out-root", cl::value_desc("dir"), cl::cat(Project),
      cl::desc("Write results below this folder; files "
               "without a rewritten kernel are not "
               "written")};
  cl::opt<std::string> SourceRoot{
      "source-root", cl::value_desc("dir"), cl::cat(Project),
      cl::desc("Folder whose tree --out-root mirrors "
               "(default: the current one)")};
  cl::opt<std::string> Jobs{"j", cl::value_desc("N"), cl::cat(Project),
                            cl::Prefix,
                            cl::desc("Files at a time (default: one a core)")};
  cl::opt<bool> KeepGoing{"keep-going", cl::cat(Project),
                          cl::desc("Write what can be written although some "
                                   "file fails; the exit status is 1 still")};

  bool copyOptions(ToolOptions &O);

private:
  bool readTuneOptions(ToolOptions &O);
  bool readSelfCheck(ToolOptions::SelfCheckKind &Kind);
};

bool usageError(const llvm::Twine &Text) {
  llvm::errs() << "rcache-rewrite: error: " << Text
               << " (see rcache-rewrite --help)\n";
  return false;
}

/// Prints the reason of a failure; whether there was none.
bool good(llvm::Error E) {
  return !E || usageError(llvm::toString(std::move(E)));
}

/// A number as readNumber has it, if \p Text is not empty.
bool readInto(StringRef Text, StringRef Name, unsigned Max, unsigned &Value) {
  if (Text.empty())
    return true;
  auto Number = readNumber(Text, Name, Max);
  if (!Number)
    return good(Number.takeError());
  Value = *Number;
  return true;
}

/// Appends the lines of --flags-file to \p Flags.
bool readFlagsFile(StringRef Path, std::vector<std::string> &Flags) {
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return usageError("cannot read '" + Path +
                      "': " + Buffer.getError().message());
  llvm::BumpPtrAllocator Alloc;
  llvm::StringSaver Saver(Alloc);
  for (StringRef Line : llvm::split((*Buffer)->getBuffer(), '\n')) {
    if (Line.consume_front("SHELL:")) {
      llvm::SmallVector<const char *, 8> Words;
      cl::TokenizeGNUCommandLine(Line, Saver, Words);
      Flags.insert(Flags.end(), Words.begin(), Words.end());
    } else if (!Line.empty()) {
      Flags.push_back(Line.str());
    }
  }
  return true;
}

/// What cl::opt cannot check.
bool checkCombination(const ToolOptions &O) {
  const bool Shows = O.Diff || O.List || !O.Library.PrintAfter.empty() ||
                     !O.ReportFile.empty() || !O.PictureFile.empty() ||
                     !O.FixesFile.empty() || !O.CsvFile.empty() ||
                     !O.ExplainFile.empty() || !O.SarifFile.empty();
  if (O.Sources.empty() && !O.All)
    return usageError("no source file");
  if (llvm::is_contained(O.Sources, ""))
    return usageError("the name of a source is empty");
  const int ToStdout = (O.Output == "-") + (O.ReportFile == "-") +
                       (O.CsvFile == "-") + O.Diff + O.List;
  if (ToStdout > 1 && (O.ReportFile == "-" || O.CsvFile == "-"))
    return usageError("two outputs are to go to standard output: name a file "
                      "for --report or --csv");
  if (O.All && O.OutRoot.empty() && !Shows)
    return usageError("--all needs --out-root, or --list, --diff, --csv or "
                      "--report to write no source");
  if (llvm::is_contained(O.Sources, "-")) {
    if (O.Sources.size() > 1)
      return usageError("standard input is read once: no source beside '-'");
    if (O.InPlace || !O.OutRoot.empty())
      return usageError("the result of standard input goes to standard output "
                        "or to the file of -o");
  }
  if (!O.ExplainFile.empty() &&
      !StringRef(O.ExplainFile).ends_with_insensitive(".html") &&
      !StringRef(O.ExplainFile).ends_with_insensitive(".json"))
    return usageError("--explain writes a file in .html or .json, not '" +
                      O.ExplainFile + "'");
  if (!O.PictureFile.empty() && O.PictureFile != "-" &&
      !StringRef(O.PictureFile).ends_with_insensitive(".svg"))
    return usageError("--picture writes SVG: name a file in .svg, not '" +
                      O.PictureFile + "'");
  if (O.All && !O.Sources.empty())
    return usageError("--all takes no source files");
  if (O.All && (O.InPlace || !O.Output.empty()))
    return usageError("--all writes with --out-root, not with -o or -i");
  if (!O.OutRoot.empty() && (O.InPlace || !O.Output.empty()))
    return usageError("--out-root excludes -o and -i");
  if (O.InPlace && !O.Output.empty())
    return usageError("-i excludes -o");
  if (O.InPlace && (O.List || O.Diff))
    return usageError("--list and --diff show what would be done: leave out -i, "
                      "which does it");
  if (O.Sources.size() > 1 && !O.Output.empty())
    return usageError("-o takes one source file");
  if (O.Sources.size() > 1 && !O.InPlace && O.OutRoot.empty() && !Shows)
    return usageError("several source files need -i, --out-root, --diff, "
                      "--list, --csv or --report");
  if (!O.DepFile.empty() && O.Output.empty())
    return usageError("--depfile needs -o");
  if (O.InPlace && O.Library.LineDirectives)
    return usageError("--line-directives excludes -i");
  return true;
}

bool CommandLine::readTuneOptions(ToolOptions &O) {
  O.Tune = Tune;
  O.TuneCache = TuneCache;
  O.TuneFolder = TuneFolder;
  if (!TuneCache.empty() && O.Tune != ToolOptions::TuneKind::Device)
    return usageError("--tune-cache needs --tune=device");
  unsigned Elements = 0;
  if (!readInto(TuneElements, "tune-n", 1u << 31, Elements))
    return false;
  if (Elements)
    O.TuneElements = Elements;
  for (StringRef Text : TuneArguments) {
    auto [Name, Value] = Text.split('=');
    int64_t Number = 0;
    if (Name.empty() || Value.getAsInteger(10, Number))
      return usageError("--tune-arg takes NAME=NUMBER, not '" + Text + "'");
    O.TuneArguments[Name.str()] = Number;
  }
  return true;
}

/// --self-check, else RCACHE_SELF_CHECK, else quick. Damaged plans (--mutate)
/// are for those who look for damage themselves.
bool CommandLine::readSelfCheck(ToolOptions::SelfCheckKind &Kind) {
  Kind = SelfCheck;
  if (SelfCheck.getNumOccurrences())
    return true;
  if (!Mutate.empty())
    Kind = ToolOptions::SelfCheckKind::Off;
  const auto Named = llvm::sys::Process::GetEnv("RCACHE_SELF_CHECK");
  if (!Named)
    return true;
  if (*Named == "off")
    Kind = ToolOptions::SelfCheckKind::Off;
  else if (*Named == "full")
    Kind = ToolOptions::SelfCheckKind::Full;
  else if (*Named == "sums")
    Kind = ToolOptions::SelfCheckKind::Sums;
  else if (*Named != "quick")
    return usageError("RCACHE_SELF_CHECK is off, sums, quick or full, not '" +
                      *Named + "'");
  return true;
}

bool CommandLine::copyOptions(ToolOptions &O) {
  O.Sources.assign(Sources.begin(), Sources.end());
  O.Output = Output;
  // An unset variable of a script, say: the result would go elsewhere.
  if (Output.getNumOccurrences() && Output.empty())
    return usageError("-o needs the name of a file");
  O.InPlace = InPlace;
  O.Diff = Diff;
  O.List = List;
  O.ReportFile = Report;
  O.PictureFile = Picture;
  O.CsvFile = Csv;
  O.ExplainFile = Explain;
  O.SarifFile = Sarif;
  O.KernelsElsewhere = KernelsElsewhere;
  O.FixesFile = Fixes;
  O.DepFile = DepFile;
  O.All = All;
  O.OutRoot = OutRoot;
  O.SourceRoot = SourceRoot;
  O.KeepGoing = KeepGoing;
  O.Quiet = Quiet;
  O.Verbose = Verbose;
  O.Color = Color;
  O.ExplainChoice = ExplainChoice;
  O.CandidatesFolder = CandidatesFolder;
  if (!readSelfCheck(O.SelfCheck))
    return false;
  if (!readTuneOptions(O))
    return false;

  Options &L = O.Library;
  if (!Kernels.empty())
    L.Kernels.emplace(Kernels.begin(), Kernels.end());
  L.Distribution = Distribution;
  L.Force = Force;
  L.LineDirectives = LineDirectives;
  L.WithoutLaunch = WithoutLaunch;
  L.PrintAfter = PrintAfter;
  if (!L.PrintAfter.empty() && L.PrintAfter != "model" &&
      L.PrintAfter != "plan" && L.PrintAfter != "predict" &&
      L.PrintAfter != "verify" && L.PrintAfter != "lower" &&
      L.PrintAfter != "emit")
    return usageError(
        "--print-after takes model, plan, predict, verify, lower or emit, not '" +
        L.PrintAfter + "'");
  auto [Kind, MutateSeed] = StringRef(Mutate).split(':');
  L.Mutate = Kind.str();
  if (!MutateSeed.empty() && MutateSeed.getAsInteger(10, L.MutateSeed))
    return usageError("--mutate takes KIND or KIND:SEED");
  if (!Only.empty())
    L.Staging = L.Private = false;
  for (const std::string &Technique : Only) {
    if (Technique != "staging" && Technique != "private" &&
        Technique != "registers")
      return usageError("--only takes staging, private and registers, not '" +
                        Technique + "'");
    (Technique == "staging"   ? L.Staging
     : Technique == "private" ? L.Private
                              : L.Registers) = true;
  }
  L.Exchange = ExchangeOpt;
  if (!L.Exchange.empty() &&
      !llvm::is_contained({"shuffle", "reload", "direct", "owned", "restage", "shared"},
                          StringRef(L.Exchange)))
    return usageError("--exchange takes shuffle, reload, direct, owned, restage or "
                      "shared, not '" +
                      L.Exchange + "'");
  unsigned Number = 0;
  if (Coarsen != "auto") {
    if (!readInto(Coarsen, "coarsen", 64, Number) ||
        (Coarsen.empty() && !usageError("--coarsen takes auto or a number")))
      return false;
    L.Coarsen = Number;
  }
  if (!CandidateNumber.empty()) {
    if (StringRef(CandidateNumber).getAsInteger(10, Number))
      return usageError("--candidate takes a number, not '" + CandidateNumber +
                        "'");
    L.Candidate = Number;
  }
  return readInto(Jobs, "j", 1024, O.Jobs) && good(readSharedOptions(O, L));
}

} // namespace

std::optional<ToolOptions> parseCommandLine(int Argc, const char *const *Argv) {
  // Response files first: they may hold the `--`.
  llvm::BumpPtrAllocator Alloc;
  llvm::SmallVector<const char *, 32> Args(Argv, Argv + Argc);
  cl::ExpansionContext Expansion(Alloc, cl::TokenizeGNUCommandLine);
  if (llvm::Error E = Expansion.expandResponseFiles(Args)) {
    usageError(llvm::toString(std::move(E)));
    return std::nullopt;
  }

  ToolOptions O;
  O.Flags = takeFlags(Args);
  declareSharedOptions();
  static CommandLine Line;
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &OS) { printVersion(OS, "rcache-rewrite", commitName()); });
  if (!good(checkUsageBeforeFlags(Args)))
    return std::nullopt;
  if (!cl::ParseCommandLineOptions(
          Args.size(), Args.data(),
          "Rewrites CUDA kernels that stage data in shared memory to keep it "
          "in registers\n",
          &llvm::errs()))
    return std::nullopt;
  for (const std::string &File : Line.FlagsFiles) {
    if (!O.Flags)
      O.Flags.emplace();
    if (!readFlagsFile(File, *O.Flags))
      return std::nullopt;
  }
  if (!Line.copyOptions(O) || !checkCombination(O))
    return std::nullopt;
  return O;
}

} // namespace rcache
