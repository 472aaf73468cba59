// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rcache-rewrite: options in, files out.
//
//     command line -> jobs -> results -> messages on stderr
//                                     -> all outputs, or none on an error
//
// Exit status: 0 done (also when nothing was eligible), 1 a source does not
// parse or a file cannot be read or written, 2 wrong usage.

#include "Driver/Includers.h"
#include "Driver/NvccFlags.h"
#include "Driver/Programs.h"
#include "Driver/Usage.h"
#include "Messages.h"
#include "Options.h"
#include "Output/Explain.h"
#include "Output/Files.h"
#include "Output/FixesYaml.h"
#include "Output/PictureSvg.h"
#include "Output/ReportCsv.h"
#include "Output/ReportJson.h"
#include "Output/ReportSarif.h"
#include "Sources.h"
#include "Support/UnifiedDiff.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <map>
#include <set>

using namespace rcache;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace {

enum ExitCode { Done = 0, Failed = 1, WrongUsage = 2 };

/// Below --out-root: the path from the source root; a file outside of it keeps
/// its whole path.
std::string mirroredPath(StringRef File, const ToolOptions &O) {
  std::string Source = absolutePath(File);
  std::string Root =
      absolutePath(O.SourceRoot.empty() ? StringRef(".") : StringRef(O.SourceRoot));
  llvm::SmallString<256> Result(O.OutRoot);
  StringRef Inside = Source;
  if (!Inside.consume_front(Root + "/"))
    Inside = path::relative_path(Source);
  path::append(Result, Inside);
  return Result.str().str();
}

bool useColor(const ToolOptions &O) {
  if (O.Color == ToolOptions::ColorKind::Auto)
    return llvm::WithColor::defaultAutoDetectFunction()(llvm::errs());
  return O.Color == ToolOptions::ColorKind::Always;
}

/// Everything that goes to files or standard output. \c Reports points into
/// the results.
struct Outputs {
  OutputSet Files;
  std::string Stdout;
  std::vector<FileReport> Reports;
  /// Before and after, of each report.
  std::vector<std::pair<const std::string *, const std::string *>> Texts;
  std::vector<FileFixes> Fixes;
};

/// Where the new text of \p R goes, if anywhere.
std::string outputPath(const FileResult &R, const ToolOptions &O) {
  if (!O.Output.empty() && O.Output != "-")
    return O.Output;
  if (O.InPlace && R.Rewrite.anyRewritten())
    return R.File;
  if (!O.OutRoot.empty() && R.Rewrite.anyRewritten())
    return mirroredPath(R.File, O);
  return "";
}

/// What may help where \p R cannot be used.
const char *helpWithErrors(const FileResult &R, const ToolOptions &O) {
  if (llvm::any_of(R.Parse.Errors, [](const ParseError &E) {
        return StringRef(E.Text).ends_with("file not found");
      }))
    return "folders of headers are named behind `--`, as in `-- -Iinclude`, or by "
           "compile_commands.json: -p";
  return O.AllowErrors ? "errors in device code"
                       : "--allow-errors goes on if the kernels have none";
}

void addResult(const FileResult &R, const ToolOptions &O, Outputs &Out) {
  const bool ToStdout =
      O.Output == "-" ||
      (O.Output.empty() && !O.InPlace && O.OutRoot.empty() && !O.Diff &&
       !O.List && O.Library.PrintAfter.empty() && O.ReportFile != "-" &&
       O.CsvFile != "-" && O.Sources.size() == 1);
  const std::string Path = outputPath(R, O);
  if (!Path.empty())
    Out.Files.add(Path, R.NewText, /*MakeFolders=*/!O.OutRoot.empty());
  if (!O.DepFile.empty())
    Out.Files.add(O.DepFile, makeRule(O.Output, R.Parse.Dependencies));
  for (const KernelResult &K : R.Rewrite.Kernels)
    Out.Stdout += K.Dump;
  llvm::raw_string_ostream OS(Out.Stdout);
  if (O.List)
    printList(OS, R);
  if (O.Diff)
    OS << unifiedDiff(R.Parse.MainText, R.NewText, "a/" + R.File,
                      "b/" + R.File);
  if (ToStdout)
    OS << R.NewText;
  Out.Reports.push_back({R.File, R.Parse.Arch, Path, &R.Rewrite, {}});
  Out.Texts.push_back({&R.Parse.MainText, &R.NewText});
  if (R.Rewrite.anyRewritten())
    Out.Fixes.push_back({absolutePath(R.File), &R.Rewrite});
}

bool writeAll(Outputs &Out, const ToolOptions &O) {
  if (!O.ReportFile.empty() && O.ReportFile != "-")
    Out.Files.add(O.ReportFile, reportJson(Out.Reports));
  else if (O.ReportFile == "-")
    Out.Stdout += reportJson(Out.Reports);
  if (!O.PictureFile.empty())
    Out.Files.add(O.PictureFile, pictureSvg(Out.Reports));
  if (!O.CsvFile.empty() && O.CsvFile != "-")
    Out.Files.add(O.CsvFile, reportCsv(Out.Reports));
  else if (O.CsvFile == "-")
    Out.Stdout += reportCsv(Out.Reports);
  if (!O.SarifFile.empty() || !O.ExplainFile.empty()) {
    std::vector<FileReport> WithTexts = Out.Reports;
    for (size_t I = 0; I < WithTexts.size(); ++I)
      std::tie(WithTexts[I].Source, WithTexts[I].NewText) = Out.Texts[I];
    if (!O.SarifFile.empty())
      Out.Files.add(O.SarifFile, reportSarif(WithTexts));
    if (!O.ExplainFile.empty())
      Out.Files.add(O.ExplainFile,
                    StringRef(O.ExplainFile).ends_with_insensitive(".json")
                        ? reportJson(WithTexts)
                        : explainHtml(WithTexts));
  }
  if (!O.FixesFile.empty())
    Out.Files.add(O.FixesFile, fixesYaml(Out.Fixes));
  if (llvm::Error E = Out.Files.commit()) {
    llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
        << llvm::toString(std::move(E)) << '\n';
    return false;
  }
  llvm::outs() << Out.Stdout;
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
        << "cannot write to standard output: " << llvm::outs().error().message()
        << '\n';
    llvm::outs().clear_error();
    return false;
  }
  return true;
}

void printCommand(const ParseJob &Job) {
  auto Command = parseCommandLine(Job);
  if (!Command)
    return llvm::consumeError(Command.takeError());
  llvm::errs() << "# " << llvm::join(*Command, " ") << '\n';
}

/// The outputs that the command line names, with the options that do.
std::vector<std::pair<StringRef, StringRef>>
namedOutputs(const ToolOptions &O) {
  return {{O.Output, "-o"},
          {O.ReportFile, "--report"},
          {O.PictureFile, "--picture"},
          {O.CsvFile, "--csv"},
          {O.FixesFile, "--export-fixes"},
          {O.ExplainFile, "--explain"},
          {O.SarifFile, "--sarif"},
          {O.DepFile, "--depfile"}};
}

/// An output that is a source by another name would be the end of it. Results
/// in place are asked for with -i.
bool keepsSources(const std::vector<ParseJob> &Jobs, const ToolOptions &O) {
  auto Check = [&](StringRef Output, StringRef Option) {
    for (const ParseJob &Job : Jobs)
      if (!Output.empty() && !Job.Buffer &&
          llvm::sys::fs::equivalent(Output, Job.File)) {
        llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
            << Option << " would overwrite the source '" << Job.File << '\''
            << (Option == "-o" ? " (-i changes sources in place)" : "") << '\n';
        return false;
      }
    return true;
  };
  for (const ParseJob &Job : Jobs)
    if (!O.OutRoot.empty() && !Check(mirroredPath(Job.File, O), "--out-root"))
      return false;
  return llvm::all_of(namedOutputs(O), [&](auto &Named) {
    return Check(Named.first, Named.second);
  });
}

/// No two of them are one file.
bool outputsApart(const ToolOptions &O) {
  std::map<std::string, StringRef> Seen;
  for (auto [Path, Option] : namedOutputs(O)) {
    llvm::sys::fs::file_status Status;
    if (Path.empty() || Path == "-" ||
        (!llvm::sys::fs::status(Path, Status) && !llvm::sys::fs::is_regular_file(Status)))
      continue; // a device takes all
    auto [Other, New] = Seen.try_emplace(absolutePath(Path), Option);
    if (!New) {
      llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
          << Other->second << " and " << Option << " both name '" << Path << "'\n";
      return false;
    }
  }
  return true;
}

/// The sources are still what was read: who has changed one meanwhile would lose that
/// with -i, and a build would take the result for newer than the source.
bool sourcesUnchanged(const std::vector<ParseJob> &Jobs,
                      const std::vector<const FileResult *> &Files,
                      const ToolOptions &O) {
  for (const FileResult *R : Files) {
    if (outputPath(*R, O).empty() ||
        llvm::any_of(Jobs, [&](const ParseJob &J) { return J.Buffer && J.File == R->File; }))
      continue; // nothing is made of it, or it was never a file that stays
    auto Now = llvm::MemoryBuffer::getFile(R->File);
    if (Now && (*Now)->getBuffer() == R->Parse.MainText)
      continue;
    llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
        << "'" << R->File << "' has changed since it was read; nothing is written\n";
    return false;
  }
  return true;
}

/// None is a header of a source: what was read stays.
bool keepsHeaders(const std::vector<const FileResult *> &Files,
                  const ToolOptions &O) {
  for (auto [Output, Option] : namedOutputs(O)) {
    llvm::sys::fs::file_status Status;
    if (Output.empty() || Output == "-" ||
        llvm::sys::fs::status(Output, Status) ||
        !llvm::sys::fs::is_regular_file(Status))
      continue;
    for (const FileResult *R : Files)
      for (const std::string &Read : R->Parse.Dependencies)
        if (llvm::sys::fs::equivalent(Output, Read)) {
          llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
              << Option << " would overwrite '" << Output << "', which '"
              << R->File << "' includes\n";
          return false;
        }
  }
  return true;
}

/// Each output that the command line names can be written.
bool canWrite(const ToolOptions &O) {
  for (auto [Path, Option] : namedOutputs(O))
    if (!Path.empty() && Path != "-")
      if (llvm::Error E = checkWritable(Path)) {
        llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
            << llvm::toString(std::move(E)) << '\n';
        return false;
      }
  return true;
}

/// Sources among the flags behind `--`: nobody reads them.
void warnOfSources(const ToolOptions &O) {
  if (!O.Flags)
    return;
  auto Flags = translateFlags(*O.Flags, /*FromNvcc=*/false, /*Directory=*/"");
  if (!Flags)
    return llvm::consumeError(Flags.takeError()); // of each parse
  for (const std::string &Input : Flags->Inputs)
    if (llvm::sys::fs::exists(Input) && llvm::none_of(O.Sources, [&](const std::string &S) {
          return llvm::sys::fs::equivalent(Input, S);
        }))
      llvm::WithColor::warning(llvm::errs(), "rcache-rewrite")
          << "'" << Input << "' behind -- is not read: sources are named in front of it\n";
}

/// Each --kernel names a kernel of some file.
bool kernelsThere(const std::vector<const FileResult *> &Files,
                  const ToolOptions &O) {
  std::set<std::string> Names, Shown;
  for (const FileResult *R : Files)
    for (const KernelResult &K : R->Rewrite.Kernels)
      if (K.Model) {
        Names.insert({K.Model->Name, K.Model->QualifiedName,
                      "::" + K.Model->QualifiedName});
        Shown.insert(K.Model->QualifiedName);
      }
  if (!O.Library.Kernels)
    return true;
  bool Good = true;
  for (const std::string &Wanted : *O.Library.Kernels) {
    if (O.KernelsElsewhere || Names.count(Wanted))
      continue;
    Good = false;
    llvm::raw_ostream &OS =
        llvm::WithColor::error(llvm::errs(), "rcache-rewrite")
        << "there is no kernel '" << Wanted << '\'';
    if (StringRef Near = nearest(Wanted, std::vector<StringRef>(Names.begin(), Names.end()));
        !Near.empty())
      OS << "; did you mean '" << Near << "'?\n";
    else if (Shown.empty())
      OS << "; there are no kernels at all\n";
    else
      OS << "; there are: " << llvm::join(Shown, ", ") << '\n';
  }
  return Good;
}

/// What the user named and did not get, each text once a run.
void printNotes(const std::vector<const FileResult *> &Files,
                const std::vector<ParseJob> &Jobs) {
  auto Warning = []() -> llvm::raw_ostream & {
    return llvm::WithColor::warning(llvm::errs(), "rcache-rewrite");
  };
  std::set<std::string> Seen;
  std::vector<std::string> Unknown;
  for (const FileResult *R : Files) {
    for (const std::string &Note : R->Parse.Notes)
      if (Seen.insert(Note).second)
        Warning() << Note << '\n';
    for (const std::string &Flag : R->Parse.UnknownFlags)
      if (Seen.insert(Flag).second)
        Unknown.push_back(Flag);
  }
  if (!Unknown.empty())
    Warning() << "compiler flags that neither clang nor nvcc is known to have "
                 "were left out: "
              << llvm::join(Unknown, " ") << '\n';
  for (const ParseJob &Job : Jobs)
    if (!Job.Flags.Damaged.empty() && Seen.insert(Job.Flags.Damaged).second)
      Warning() << Job.Flags.Damaged << "; they are passed over\n";
  for (const ParseJob &Job : Jobs)
    if (!Job.Flags.InferredFrom.empty())
      llvm::WithColor::note(llvm::errs(), "rcache-rewrite")
          << "the compile commands do not know '" << Job.File
          << "'; it is parsed as '" << Job.Flags.InferredFrom << "' is\n";
}

/// Where kernels of a header are not seen to be launched, or it does not stand alone.
void printHelpWithHeaders(const std::vector<const FileResult *> &Files,
                          const std::vector<ParseJob> &Jobs, const ToolOptions &O) {
  for (const FileResult *R : Files)
    for (const ParseJob &Job : Jobs)
      if (Job.File == R->File && !Job.Buffer && isHeader(Job.File) &&
          (!R->Usable || llvm::any_of(R->Rewrite.Kernels, [](const KernelResult &K) {
             return llvm::any_of(K.Declines, [](const Decline &D) {
               return D.Code == DeclineCode::NoLaunch ||
                      D.Code == DeclineCode::NotInstantiated;
             });
           })))
        llvm::WithColor::note(llvm::errs(), "rcache-rewrite")
            << helpWithHeader(Job, O) << '\n';
}

int run(const ToolOptions &O, const std::string &ToolPath) {
  auto Error = []() -> llvm::raw_ostream & {
    return llvm::WithColor::error(llvm::errs(), "rcache-rewrite");
  };
  auto Jobs = makeJobs(O, ToolPath);
  if (!Jobs) {
    Error() << llvm::toString(Jobs.takeError()) << '\n';
    return Failed;
  }
  if (!keepsSources(*Jobs, O) || !outputsApart(O))
    return WrongUsage;
  if (!canWrite(O))
    return Failed;
  if (!O.Quiet)
    warnOfSources(O);
  if (O.Verbose)
    for (const ParseJob &Job : *Jobs)
      printCommand(Job);

  std::vector<llvm::Expected<FileResult>> Results = runJobs(*Jobs, O);
  Outputs Out;
  size_t Failures = 0;
  std::vector<const FileResult *> Good, Parsed;
  for (llvm::Expected<FileResult> &R : Results)
    if (R)
      Parsed.push_back(&*R);
  if (!O.Quiet)
    printNotes(Parsed, *Jobs);
  // Before remarks on kernels that nobody asked for.
  if (Parsed.size() == Results.size() &&
      llvm::all_of(Parsed, [](const FileResult *R) { return R->Usable; }) &&
      !kernelsThere(Parsed, O))
    return Failed;
  if (!keepsHeaders(Parsed, O))
    return WrongUsage;
  for (llvm::Expected<FileResult> &R : Results) {
    if (!R) {
      Error() << llvm::toString(R.takeError()) << '\n';
      ++Failures;
      continue;
    }
    printMessages(llvm::errs(), *R, O.Quiet || O.List, useColor(O));
    if (O.ExplainChoice)
      printChoices(llvm::errs(), *R);
    if (O.Verbose)
      for (const std::string &Flag : R->Parse.UnknownFlags)
        llvm::errs() << "# left out, unknown to clang: " << Flag << '\n';
    if (!R->Usable) {
      Error() << "'" << R->File << "' has errors; nothing is written"
              << " (" << helpWithErrors(*R, O) << ")\n";
      ++Failures;
      continue;
    }
    Good.push_back(&*R);
    addResult(*R, O, Out);
  }
  if (!O.Quiet)
    printHelpWithHeaders(Parsed, *Jobs, O);
  if (O.All && !O.Quiet)
    printSummary(llvm::errs(), Good, Failures);
  if (Failures && !O.KeepGoing)
    return Failed;
  if (Failures == 0 && !O.Quiet && !O.All &&
      llvm::all_of(Good, [](auto *R) { return R->Rewrite.Kernels.empty(); }))
    llvm::WithColor::note(llvm::errs(), "rcache-rewrite")
        << (Good.size() == 1 ? "there is no kernel in '" + Good[0]->File + "', and no launch of a header's"
                             : std::string("there is no kernel in these files"))
        << '\n';
  if (!sourcesUnchanged(*Jobs, Good, O) || !writeAll(Out, O))
    return Failed;
  return Failures ? Failed : Done;
}

} // namespace

int main(int Argc, const char **Argv) {
  llvm::setBugReportMsg(BugReportText);
  llvm::InitLLVM Init(Argc, Argv);
  std::optional<ToolOptions> O = rcache::parseCommandLine(Argc, Argv);
  if (!O)
    return WrongUsage;
  llvm::CrashRecoveryContext::Enable();
  static int Anchor;
  return run(*O, llvm::sys::fs::getMainExecutable(Argv[0], &Anchor));
}
