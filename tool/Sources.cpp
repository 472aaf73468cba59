// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the sources with their compile flags and runs the library on them.

#include "Sources.h"
#include "Tune.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <mutex>
#include <optional>
#include <set>

using llvm::SmallString;
using llvm::StringRef;

namespace rcache {
namespace {

std::string absolute(StringRef File) {
  SmallString<256> Path(File);
  llvm::sys::fs::make_absolute(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// The flags of one file: those after `--`, those of -p, those of the nearest
/// compile_commands.json that knows the file, or none.
llvm::Expected<CompileFlags>
flagsFor(StringRef File, const ToolOptions &O,
         const std::optional<CompileDatabase> &Database) {
  if (O.Flags) {
    CompileFlags Flags;
    Flags.Flags = *O.Flags;
    return Flags;
  }
  if (Database) {
    if (std::optional<CompileFlags> Flags = Database->find(absolute(File)))
      return *Flags;
    return llvm::createStringError("the compile commands in '" +
                                   O.DatabasePath + "' do not know '" + File +
                                   "'");
  }
  if (auto Nearest = CompileDatabase::nearest(absolute(File)))
    if (std::optional<CompileFlags> Flags = Nearest->find(absolute(File)))
      return *Flags;
  return CompileFlags();
}

/// "[3/12] name", rewritten in place. Silent where stderr is no terminal.
class Progress {
  const size_t Total;
  const bool On;
  size_t Done = 0;
  std::mutex Lock;

public:
  Progress(size_t Total, bool Wanted)
      : Total(Total), On(Wanted && Total > 1 &&
                         llvm::sys::Process::StandardErrIsDisplayed()) {}

  void finished(StringRef File) {
    std::lock_guard<std::mutex> Guard(Lock);
    ++Done;
    if (!On)
      return;
    llvm::errs() << "\r\x1b[K[" << Done << '/' << Total << "] "
                 << llvm::sys::path::filename(File);
    if (Done == Total)
      llvm::errs() << "\r\x1b[K";
  }
};

} // namespace

llvm::Expected<std::vector<ParseJob>> makeJobs(const ToolOptions &O,
                                               const std::string &ToolPath) {
  std::optional<CompileDatabase> Database;
  if (!O.DatabasePath.empty()) {
    auto Loaded = CompileDatabase::load(O.DatabasePath);
    if (!Loaded)
      return Loaded.takeError();
    Database = std::move(*Loaded);
  }

  std::vector<ParseJob> Jobs;
  std::set<std::string> Seen;
  for (const std::string &File : O.All ? Database->cudaFiles() : O.Sources) {
    if (!Seen.insert(absolute(File)).second)
      continue;
    auto Flags = flagsFor(File, O, Database);
    if (!Flags)
      return Flags.takeError();
    ParseJob Job;
    Job.File = File;
    Job.Flags = std::move(*Flags);
    Job.Flags.Flags.insert(Job.Flags.Flags.end(), O.ExtraArgs.begin(),
                           O.ExtraArgs.end());
    Job.CudaPath = O.CudaPath;
    Job.Arch = O.Arch;
    Job.ToolPath = ToolPath;
    Jobs.push_back(std::move(Job));
  }
  return Jobs;
}

std::vector<llvm::Expected<FileResult>>
runJobs(const std::vector<ParseJob> &Jobs, const ToolOptions &O) {
  std::vector<std::optional<llvm::Expected<FileResult>>> Slots(Jobs.size());
  Progress Line(Jobs.size(), !O.Quiet);
  auto Run = [&](size_t I) {
    Options Library = O.Library;
    Library.Tune = makeTuneHook(O, Jobs[I]);
    Slots[I].emplace(rewriteFile(Jobs[I], Library, O.AllowErrors));
    Line.finished(Jobs[I].File);
  };
  if (Jobs.size() == 1) {
    Run(0);
  } else {
    llvm::DefaultThreadPool Pool(
        O.Jobs ? llvm::heavyweight_hardware_concurrency(O.Jobs)
               : llvm::hardware_concurrency());
    for (size_t I = 0; I < Jobs.size(); ++I)
      Pool.async([&Run, I] { Run(I); });
    Pool.wait();
  }
  std::vector<llvm::Expected<FileResult>> Results;
  for (auto &Slot : Slots)
    Results.push_back(std::move(*Slot));
  return Results;
}

} // namespace rcache
