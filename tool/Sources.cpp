// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the sources with their compile flags and runs the library on them.

#include "Sources.h"
#include "Driver/Includers.h"
#include "Predict/Resources.h"
#include "SelfCheck.h"
#include "Tune.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

using llvm::SmallString;
using llvm::StringRef;

namespace rcache {
namespace {

/// The flags of one file: those after `--`, those of -p, those of the nearest
/// compile_commands.json that knows the file, or none.
llvm::Expected<CompileFlags>
flagsFor(StringRef File, const ToolOptions &O,
         const std::optional<CompileDatabase> &Database, const std::string &Path) {
  if (O.Flags) {
    CompileFlags Flags;
    Flags.Flags = *O.Flags;
    return Flags;
  }
  if (Database) {
    if (auto Flags = Database->findOrInfer(absolutePath(File)))
      return *Flags;
    return llvm::createStringError(
        "the compile commands in '" + Path + "' do not know '" +
        File + "', nor any CUDA source whose flags would do");
  }
  std::string Damaged;
  CompileFlags Flags;
  if (auto Nearest = CompileDatabase::nearest(absolutePath(File), &Damaged))
    if (auto Found = Nearest->findOrInfer(absolutePath(File)))
      Flags = std::move(*Found);
  Flags.Damaged = std::move(Damaged);
  return Flags;
}

/// What goes on, in one line that is written again and again: "[3/12] name"
/// and, for files that take their time, how long. Silent where stderr is no
/// terminal.
class Progress {
  using Clock = std::chrono::steady_clock;
  const size_t Total;
  const bool On;
  size_t Done = 0;
  bool Shown = false, Stopping = false;
  std::map<std::string, Clock::time_point> Running;
  std::mutex Lock;
  std::condition_variable Wake;
  std::thread Ticker;

public:
  Progress(size_t Total, bool Wanted)
      : Total(Total),
        On(Wanted && llvm::sys::Process::StandardErrIsDisplayed()) {
    if (On)
      Ticker = std::thread([this] { tick(); });
  }

  ~Progress() {
    if (!On)
      return;
    {
      std::lock_guard<std::mutex> Guard(Lock);
      Stopping = true;
    }
    Wake.notify_all();
    Ticker.join();
    if (Shown)
      llvm::errs() << "\r\x1b[K";
  }

  void started(StringRef File) {
    if (!On)
      return;
    std::lock_guard<std::mutex> Guard(Lock);
    Running.emplace(File.str(), Clock::now());
  }

  void finished(StringRef File) {
    if (!On)
      return;
    std::lock_guard<std::mutex> Guard(Lock);
    ++Done;
    Running.erase(File.str());
    if (Total > 1)
      show();
  }

private:
  /// The file that has been at work for the longest time.
  void show() {
    llvm::errs() << "\r\x1b[K";
    if (Total > 1)
      llvm::errs() << '[' << Done << '/' << Total << "] ";
    Shown = true;
    auto Oldest = std::min_element(
        Running.begin(), Running.end(),
        [](const auto &A, const auto &B) { return A.second < B.second; });
    if (Oldest == Running.end())
      return;
    const auto Seconds = std::chrono::duration_cast<std::chrono::seconds>(
        Clock::now() - Oldest->second);
    llvm::errs() << "analysing " << llvm::sys::path::filename(Oldest->first);
    if (Seconds.count())
      llvm::errs() << ", " << Seconds.count() << " s";
  }

  void tick() {
    std::unique_lock<std::mutex> Guard(Lock);
    while (!Wake.wait_for(Guard, std::chrono::milliseconds(500),
                          [this] { return Stopping; }))
      show();
  }
};

/// --list: what each kernel of \p R takes, as \p Compiler compiles the user's
/// text. Where that fails, a note says so.
void addResources(FileResult &R, const CompilerHook &Compiler,
                  const Options &Library) {
  if (!Compiler || !R.Usable || R.Rewrite.Kernels.empty())
    return;
  llvm::Expected<CompiledText> Compiled =
      std::move(Compiler(R.Parse.MainText).front());
  if (!Compiled) {
    R.Parse.Notes.push_back("registers of the kernels in '" + R.File +
                            "' are not known: " +
                            llvm::toString(Compiled.takeError()));
    return;
  }
  const Arch *A = findArch(R.Parse.Arch);
  for (KernelResult &K : R.Rewrite.Kernels)
    if (const FunctionReport *F =
            A && K.Model ? reportOf(Compiled->Functions, *K.Model) : nullptr)
      K.Resources = resourcesOf(*K.Model, *F, *A, Library.AssumedBlock);
}

/// The name of standard input in messages.
constexpr const char *StdinName = "<stdin>";

/// The text of \p File where it can be read only once: standard input, which is
/// `-`, and pipes (`<(command)` of a shell).
llvm::Expected<std::optional<std::string>> readOnce(StringRef File,
                                                    const ToolOptions &O) {
  llvm::sys::fs::file_status Status;
  const bool Pipe =
      File != "-" && !llvm::sys::fs::status(File, Status) &&
      (Status.type() == llvm::sys::fs::file_type::fifo_file ||
       Status.type() == llvm::sys::fs::file_type::character_file ||
       Status.type() == llvm::sys::fs::file_type::socket_file);
  if (File != "-" && !Pipe)
    return std::nullopt;
  if (Pipe && (O.InPlace || !O.OutRoot.empty()))
    return llvm::createStringError("'" + File +
                                   "' is a pipe: its result goes to standard "
                                   "output or to the file of -o");
  auto Buffer =
      Pipe ? llvm::MemoryBuffer::getFile(File) : llvm::MemoryBuffer::getSTDIN();
  if (!Buffer)
    return llvm::createStringError(
        "cannot read " +
        (Pipe ? "'" + File.str() + "'" : std::string("standard input")) + ": " +
        Buffer.getError().message());
  return (*Buffer)->getBuffer().str();
}

} // namespace

llvm::Expected<std::vector<ParseJob>> makeJobs(const ToolOptions &O,
                                               const std::string &ToolPath) {
  std::optional<CompileDatabase> Database;
  std::string Path = O.DatabasePath;
  if (O.All && Path.empty()) {
    Path = CompileDatabase::nearestTo(absolutePath("."));
    if (Path.empty())
      return llvm::createStringError(
          "there is no compile_commands.json here, above, or in a folder "
          "'build': name one with -p");
  }
  if (!Path.empty()) {
    auto Loaded = CompileDatabase::load(Path);
    if (!Loaded)
      return Loaded.takeError();
    Database = std::move(*Loaded);
  }
  const std::vector<std::string> Files =
      O.All ? Database->cudaFiles() : O.Sources;
  if (Files.empty())
    return llvm::createStringError("the compile commands in '" + Path +
                                   "' compile no CUDA source");

  std::vector<ParseJob> Jobs;
  std::set<std::string> Seen;
  for (std::string File : Files) {
    if (!Seen.insert(absolutePath(File)).second)
      continue;
    auto Text = readOnce(File, O);
    if (!Text)
      return Text.takeError();
    if (File == "-")
      File = StdinName;
    auto Flags = flagsFor(File, O, Database, Path);
    if (!Flags)
      return Flags.takeError();
    ParseJob Job;
    Job.File = File;
    Job.Buffer = std::move(*Text);
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

std::string helpWithHeader(const ParseJob &Job, const ToolOptions &O) {
  std::vector<std::string> Found;
  if (!O.Flags) {
    auto Load = [&]() -> std::optional<CompileDatabase> {
      if (O.DatabasePath.empty())
        return CompileDatabase::nearest(absolutePath(Job.File));
      auto Loaded = CompileDatabase::load(O.DatabasePath);
      if (Loaded)
        return std::move(*Loaded);
      llvm::consumeError(Loaded.takeError()); // told by makeJobs
      return std::nullopt;
    };
    if (auto Database = Load())
      Found = Database->includersOf(Job.File);
  }
  if (Found.empty())
    Found = includersOf(Job.File, sourcesNear(Job.File),
                        [&](StringRef) { return Job.Flags; });
  // As the user would name them.
  llvm::SmallString<256> Here;
  if (!llvm::sys::fs::current_path(Here))
    for (std::string &Name : Found)
      if (StringRef Short = Name; Short.consume_front(Here.str().str() + "/"))
        Name = Short.str();
  return headerHelp(Job.File, Found);
}

std::vector<llvm::Expected<FileResult>>
runJobs(const std::vector<ParseJob> &Jobs, const ToolOptions &O) {
  std::vector<std::optional<llvm::Expected<FileResult>>> Slots(Jobs.size());
  Progress Line(Jobs.size(), !O.Quiet);
  auto Run = [&](size_t I) {
    Options Library = O.Library;
    Library.Tune = makeTuneHook(O, Jobs[I]);
    Library.Compiler = makeCompilerHook(O, Jobs[I]);
    Line.started(Jobs[I].File);
    Library.SelfCheck = makeSelfCheckHook(O, Jobs[I]);
    if (Library.Compiler) // there is an nvcc
      Library.Roundings = makeRoundingHook(O, Jobs[I]);
    Slots[I].emplace(rewriteFile(Jobs[I], Library, O.AllowErrors));
    if (O.List && *Slots[I])
      addResources(**Slots[I], Library.Compiler, Library);
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
