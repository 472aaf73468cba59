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

#include "Messages.h"
#include "Options.h"
#include "Output/Files.h"
#include "Output/FixesYaml.h"
#include "Output/PictureSvg.h"
#include "Output/ReportJson.h"
#include "Sources.h"
#include "Support/UnifiedDiff.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace rcache;
using llvm::StringRef;
namespace path = llvm::sys::path;

namespace {

enum ExitCode { Done = 0, Failed = 1, WrongUsage = 2 };

std::string absolute(StringRef File) {
  llvm::SmallString<256> Path(File);
  llvm::sys::fs::make_absolute(Path);
  path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// Below --out-root: the path from the source root; a file outside of it keeps
/// its whole path.
std::string mirroredPath(StringRef File, const ToolOptions &O) {
  std::string Source = absolute(File);
  std::string Root =
      absolute(O.SourceRoot.empty() ? StringRef(".") : StringRef(O.SourceRoot));
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

void addResult(const FileResult &R, const ToolOptions &O, Outputs &Out) {
  const bool ToStdout =
      O.Output == "-" ||
      (O.Output.empty() && !O.InPlace && O.OutRoot.empty() && !O.Diff &&
       !O.List && O.Library.PrintAfter.empty() && O.Sources.size() == 1);
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
  if (R.Rewrite.anyRewritten())
    Out.Fixes.push_back({absolute(R.File), &R.Rewrite});
}

bool writeAll(Outputs &Out, const ToolOptions &O) {
  if (!O.ReportFile.empty() && O.ReportFile != "-")
    Out.Files.add(O.ReportFile, reportJson(Out.Reports));
  else if (O.ReportFile == "-")
    Out.Stdout += reportJson(Out.Reports);
  if (!O.PictureFile.empty())
    Out.Files.add(O.PictureFile, pictureSvg(Out.Reports));
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

int run(const ToolOptions &O, const std::string &ToolPath) {
  auto Error = []() -> llvm::raw_ostream & {
    return llvm::WithColor::error(llvm::errs(), "rcache-rewrite");
  };
  auto Jobs = makeJobs(O, ToolPath);
  if (!Jobs) {
    Error() << llvm::toString(Jobs.takeError()) << '\n';
    return Failed;
  }
  if (O.Verbose)
    for (const ParseJob &Job : *Jobs)
      printCommand(Job);

  std::vector<llvm::Expected<FileResult>> Results = runJobs(*Jobs, O);
  Outputs Out;
  size_t Failures = 0;
  std::vector<const FileResult *> Good;
  for (llvm::Expected<FileResult> &R : Results) {
    if (!R) {
      Error() << llvm::toString(R.takeError()) << '\n';
      ++Failures;
      continue;
    }
    printMessages(llvm::errs(), *R, O.Quiet, useColor(O));
    if (O.ExplainChoice)
      printChoices(llvm::errs(), *R);
    if (O.Verbose)
      for (const std::string &Flag : R->Parse.UnknownFlags)
        llvm::errs() << "# left out, unknown to clang: " << Flag << '\n';
    if (!R->Usable) {
      Error() << "'" << R->File << "' has errors; nothing is written"
              << (O.AllowErrors
                      ? " (errors in device code or a missing header)"
                      : " (--allow-errors goes on if the kernels have none)")
              << '\n';
      ++Failures;
      continue;
    }
    Good.push_back(&*R);
    addResult(*R, O, Out);
  }
  if (O.All && !O.Quiet)
    printSummary(llvm::errs(), Good, Failures);
  if (Failures && !O.KeepGoing)
    return Failed;
  if (!writeAll(Out, O))
    return Failed;
  return Failures ? Failed : Done;
}

} // namespace

int main(int Argc, const char **Argv) {
  llvm::InitLLVM Init(Argc, Argv);
  std::optional<ToolOptions> O = rcache::parseCommandLine(Argc, Argv);
  if (!O)
    return WrongUsage;
  llvm::CrashRecoveryContext::Enable();
  static int Anchor;
  return run(*O, llvm::sys::fs::getMainExecutable(Argv[0], &Anchor));
}
