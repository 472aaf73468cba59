// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// One way for all: texts of candidates are written, a program is run on them,
// and what it says goes into the figures of the candidates.

#include "Tune.h"
#include "Driver/CudaInstall.h"
#include "Driver/NvccFlags.h"
#include "Predict/Choose.h"
#include "Predict/CompilerReport.h"
#include "Programs.h"
#include "Tune/Measurements.h"
#include "Tune/RunnerProgram.h"
#include "rcache/Config.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <memory>
#include <mutex>

using llvm::StringRef;
namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

namespace rcache {
namespace {

/// Candidates that a compiler or a device is asked about.
constexpr unsigned MostCompiled = 5, Timed = 8;
constexpr unsigned SecondsForAll = 1800, SecondsForOne = 120;

std::string blockText(const std::optional<std::array<int64_t, 3>> &Block) {
  std::string Text;
  if (Block)
    for (int64_t N : *Block)
      Text += (Text.empty() ? "" : "x") + std::to_string(N);
  return Text.empty() ? "0" : Text;
}

/// The name of this machine's GPU; "" when there is none.
std::string deviceName() {
  auto Smi = llvm::sys::findProgramByName("nvidia-smi");
  if (!Smi)
    return "";
  auto Names =
      runProgram(*Smi, {"--query-gpu=name", "--format=csv,noheader"}, 60);
  if (!Names) {
    llvm::consumeError(Names.takeError());
    return "";
  }
  return StringRef(*Names).split('\n').first.trim().str();
}

/// --emit-candidates: KERNEL.cN.cu for each; one that cannot be written as
/// text has no file.
llvm::Error writeCandidates(llvm::StringRef Folder, TuneRequest &R) {
  if (llvm::Error E = makeFolder(Folder))
    return E;
  for (unsigned N = 0; N < R.C.Candidates.size(); ++N) {
    auto Text = R.Text(N);
    if (!Text) {
      R.C.Candidates[N].Excluded = llvm::toString(Text.takeError());
      continue;
    }
    llvm::SmallString<256> Path(Folder);
    llvm::sys::path::append(Path, R.Model.Name + ".c" + llvm::Twine(N) + ".cu");
    if (llvm::Error E = writeText(Path, *Text))
      return E;
  }
  return llvm::Error::success();
}

/// What belongs to one source file.
class Tuner {
public:
  Tuner(const ToolOptions &O, const ParseJob &Job) : O(O), Job(Job) {}

  llvm::Error run(TuneRequest &R) {
    if (llvm::Error E = prepare())
      return E;
    if (!O.TuneFolder.empty())
      if (llvm::Error E = emit(R, O.TuneFolder))
        return E;
    switch (O.Tune) {
    case ToolOptions::TuneKind::None:
      return llvm::Error::success();
    case ToolOptions::TuneKind::Ptxas:
      return askPtxas(R);
    case ToolOptions::TuneKind::Device:
      return measure(R);
    }
    return llvm::Error::success();
  }

  /// What nvcc and ptxas say of each of \p Texts. A text that compiled once is
  /// not compiled again.
  std::vector<llvm::Expected<CompiledText>>
  compile(llvm::ArrayRef<std::string> Texts) {
    std::vector<std::optional<llvm::Expected<CompiledText>>> Slots(Texts.size());
    llvm::DefaultThreadPool Pool(llvm::hardware_concurrency(4));
    for (size_t I = 0; I < Texts.size(); ++I) {
      if (auto Known = Compiled.find(Texts[I]); Known != Compiled.end())
        Slots[I].emplace(Known->second);
      else
        Pool.async([&, I] { Slots[I].emplace(compileOne(Texts[I])); });
    }
    Pool.wait();
    std::vector<llvm::Expected<CompiledText>> Answers;
    for (size_t I = 0; I < Texts.size(); ++I) {
      if (*Slots[I])
        Compiled.emplace(Texts[I], **Slots[I]);
      Answers.push_back(std::move(*Slots[I]));
    }
    return Answers;
  }

  /// Is there an nvcc to ask?
  bool hasCompiler() {
    if (llvm::Error E = prepare()) {
      llvm::consumeError(std::move(E));
      return false;
    }
    auto Nvcc = nvcc();
    if (!Nvcc)
      llvm::consumeError(Nvcc.takeError());
    return bool(Nvcc);
  }

private:
  const ToolOptions O;
  const ParseJob Job;
  std::vector<std::string> Flags; ///< of nvcc
  std::string Arch, CudaPath;
  bool Prepared = false;
  /// What the compiler said of a text: a file may be rewritten more than once.
  std::map<std::string, std::vector<FunctionReport>> Asked;
  std::map<std::string, CompiledText> Compiled;

  llvm::Expected<CompiledText> compileOne(const std::string &Text) const {
    auto Nvcc = nvcc();
    if (!Nvcc)
      return Nvcc.takeError();
    auto Folder = TemporaryFolder::make("rcache-compile");
    if (!Folder)
      return Folder.takeError();
    const std::string File = below((*Folder)->Path, "text.cu");
    if (llvm::Error E = writeText(File, Text))
      return E;
    CompilerQuery Q{*Nvcc, File, Arch, Flags, SecondsForOne};
    Q.KeepFolder = (*Folder)->Path.str();
    auto All = askCompiler(Q);
    if (!All)
      return All.takeError();
    auto Kept = [&](StringRef Name) {
      auto Buffer = llvm::MemoryBuffer::getFile(below((*Folder)->Path, Name));
      return Buffer ? (*Buffer)->getBuffer().str() : std::string();
    };
    return CompiledText{std::move(*All), Kept("text.ptx"), Kept("kept.cubin")};
  }

  llvm::Error prepare() {
    if (Prepared)
      return llvm::Error::success();
    auto F = translateFlags(Job.Flags.Flags, Job.Flags.FromNvcc,
                            Job.Flags.Directory);
    if (!F)
      return F.takeError();
    Flags = F->ForNvcc;
    // What is included with quotes is looked for beside the source first.
    llvm::SmallString<256> Source(Job.File);
    fs::make_absolute(Source);
    path::remove_dots(Source, /*remove_dot_dot=*/true);
    Flags.insert(Flags.begin(), {"-I", path::parent_path(Source).str()});
    Arch = Job.Arch.empty() ? chooseArch(F->Archs) : Job.Arch;
    if (Arch.empty())
      Arch = "sm_90";
    CudaPath = Job.CudaPath.empty() ? F->CudaPath : Job.CudaPath;
    Prepared = true;
    return llvm::Error::success();
  }

  /// $NVCC, or that of the toolkit.
  llvm::Expected<std::string> nvcc() const {
    if (auto Named = llvm::sys::Process::GetEnv("NVCC"))
      return *Named;
    auto Cuda = findCudaInstall(CudaPath);
    if (!Cuda)
      return Cuda.takeError();
    const std::string Path = below(Cuda->Path, "bin/nvcc");
    if (!fs::can_execute(Path))
      return llvm::createStringError("there is no '" + Path + "'");
    return Path;
  }

  //===-- The compiler ----------------------------------------------------===//

  /// The entry of a kernel called \p Name, the one with the most registers when
  /// a template has several.
  static const FunctionReport *find(const std::vector<FunctionReport> &All,
                                    StringRef Name) {
    const std::string Mangled = std::to_string(Name.size()) + Name.str();
    const FunctionReport *Best = nullptr;
    for (const FunctionReport &F : All)
      if (StringRef(F.MangledName).contains(Mangled) &&
          (!Best || F.Registers > Best->Registers))
        Best = &F;
    return Best;
  }

  llvm::Error askPtxas(TuneRequest &R) {
    auto Nvcc = nvcc();
    if (!Nvcc)
      return Nvcc.takeError();
    auto Folder = TemporaryFolder::make("rcache-tune");
    if (!Folder)
      return Folder.takeError();
    struct Question {
      unsigned Number;
      std::string Text, File;
      std::optional<llvm::Expected<std::vector<FunctionReport>>> Answer;
    };
    std::vector<Question> Questions;
    for (unsigned N : shortList(R.C, MostCompiled)) {
      auto Text = R.Text(N);
      if (!Text) {
        R.C.Candidates[N].Failed = llvm::toString(Text.takeError());
        continue;
      }
      Questions.push_back({N, std::move(*Text), "", std::nullopt});
    }
    llvm::DefaultThreadPool Pool(llvm::hardware_concurrency(4));
    for (Question &Q : Questions) {
      if (auto Known = Asked.find(Q.Text); Known != Asked.end()) {
        Q.Answer.emplace(Known->second);
        continue;
      }
      Q.File = below((*Folder)->Path, "c" + llvm::Twine(Q.Number) + ".cu");
      if (llvm::Error E = writeText(Q.File, Q.Text)) {
        Pool.wait();
        for (Question &Other : Questions)
          if (Other.Answer && !*Other.Answer)
            llvm::consumeError(Other.Answer->takeError());
        return E;
      }
      Pool.async([&] {
        Q.Answer.emplace(
            askCompiler({*Nvcc, Q.File, Arch, Flags, SecondsForOne}));
      });
    }
    Pool.wait();
    std::string Failure;
    unsigned Known = 0;
    for (Question &Q : Questions) {
      Candidate &K = R.C.Candidates[Q.Number];
      if (!*Q.Answer) {
        const std::string Why = llvm::toString(Q.Answer->takeError());
        K.Failed = Why;
        if (Failure.empty())
          Failure = Why;
        continue;
      }
      const FunctionReport *F = find(**Q.Answer, R.KernelName);
      const FunctionReport *Old = find(**Q.Answer, R.Model.Name);
      Asked[Q.Text] = **Q.Answer;
      if (!F)
        continue;
      ++Known;
      K.Registers = F->Registers;
      // What is in memory and was not in the original's: spilled registers,
      // arrays that are not kept in registers.
      const unsigned OldStack = Old ? Old->StackFrame : 0;
      K.SpillBytes =
          std::max(F->SpillStores,
                   F->StackFrame > OldStack ? F->StackFrame - OldStack : 0u);
    }
    if (Known || Questions.empty())
      return llvm::Error::success();
    // That none compiles is no fault of the candidates.
    for (Question &Q : Questions)
      R.C.Candidates[Q.Number].Failed.clear();
    return llvm::createStringError(
        Failure.empty() ? "the compiler says nothing of the new kernels"
                        : Failure);
  }

  //===-- The device ------------------------------------------------------===//

  std::string key(const TuneRequest &R) const {
    const Options &L = O.Library;
    std::string Text = Arch + ' ' + blockText(L.AssumedBlock) + ' ' +
                       std::to_string(L.Coarsen.value_or(0)) + ' ' +
                       std::to_string(int(L.Distribution)) + ' ' +
                       std::to_string(L.AssumeNoAlias) +
                       (L.AssumeLockstep ? " step " : " ") + L.Exchange + ' ' +
                       std::to_string(O.TuneElements.value_or(0));
    for (const auto &[Name, Value] : O.TuneArguments)
      Text += ' ' + Name + '=' + std::to_string(Value);
    return measurementKey(R.Model, Text);
  }

  /// Programs for the best candidates of one kernel, below \p Folder.
  llvm::Error emit(TuneRequest &R, StringRef Folder) const {
    RunnerOptions How;
    How.Elements = O.TuneElements;
    How.Arguments = O.TuneArguments;
    How.AssumedBlock = R.AssumedBlock;
    const std::string Key = key(R);
    const std::string Own =
        below(Folder, R.Model.Name + "-" + Key.substr(0, 8));
    for (unsigned N : shortList(R.C, Timed)) {
      auto Text = R.Text(N);
      if (!Text) {
        R.C.Candidates[N].Failed = llvm::toString(Text.takeError());
        continue;
      }
      How.Covered = R.C.Candidates[N].Covered;
      auto Program = runnerProgram(R.Model, *Text, How);
      if (!Program)
        return Program.takeError();
      Measurement M;
      M.Key = Key;
      M.Kernel = R.Model.QualifiedName;
      M.Candidate = R.C.Candidates[N].Id;
      M.Tool = RCACHE_VERSION;
      std::string What;
      llvm::raw_string_ostream(What) << llvm::json::Value(whatIsMeasured(M));
      if (llvm::Error E = makeFolder(Own))
        return E;
      const std::string Stem = below(Own, "c" + llvm::Twine(N));
      if (llvm::Error E = writeText(Stem + ".cu", *Program))
        return E;
      // The inside of an object: the program's figures follow.
      if (llvm::Error E = writeText(Stem + ".what",
                                    StringRef(What).drop_front().drop_back()))
        return E;
      if (llvm::Error E =
              writeText(below(Own, "flags"), llvm::join(Flags, "\n") + "\n"))
        return E;
    }
    if (llvm::Error E = makeFolder(Folder))
      return E;
    for (const auto &[Name, Text] : runnerFiles())
      if (llvm::Error E = writeText(below(Folder, Name), Text))
        return E;
    fs::setPermissions(below(Folder, "run.sh"),
                       fs::all_read | fs::all_exe | fs::owner_write);
    return llvm::Error::success();
  }

  llvm::Error measure(TuneRequest &R) const {
    const std::string Cache =
        O.TuneCache.empty() ? defaultMeasurementsPath() : O.TuneCache;
    if (Cache.empty())
      return llvm::createStringError("no place for measurements; use "
                                     "--tune-cache");
    // One at a time: on the device, and in the file.
    static std::mutex Lock;
    std::lock_guard<std::mutex> Guard(Lock);
    auto All = readMeasurements(Cache);
    if (!All)
      return All.takeError();
    static const std::string Device = deviceName();
    Applied A =
        applyMeasurements(*All, key(R), RCACHE_VERSION, Device, Arch, R.C);
    if (!A.Entries && !Device.empty()) {
      auto New = runOnDevice(R, Device);
      if (!New)
        return New.takeError();
      if (llvm::Error E = addMeasurements(Cache, *New))
        return E;
      A = applyMeasurements(*New, key(R), RCACHE_VERSION, Device, Arch, R.C);
    }
    if (!A.Entries)
      return llvm::createStringError(Device.empty()
                                         ? "no GPU here, and '" + Cache +
                                               "' has no times of this kernel"
                                         : "no candidate was timed");
    for (unsigned N : A.Differ)
      R.Warnings.push_back(
          llvm::formatv("candidate #{0} ({1}) gives other results than the "
                        "original on {2}: it is left out; please report it",
                        N, R.C.Candidates[N].Id, R.C.MeasuredOn));
    if (A.UndefinedWords)
      R.Notes.push_back(
          llvm::formatv("{0} words of the results differed on {1}; not every "
                        "element that the original reads was proved to be "
                        "written",
                        A.UndefinedWords, R.C.MeasuredOn));
    if (!A.Times && !A.Failure.empty())
      R.Notes.push_back("not measured: " + A.Failure);
    return llvm::Error::success();
  }

  llvm::Expected<std::vector<Measurement>>
  runOnDevice(TuneRequest &R, const std::string &Device) const {
    auto Nvcc = nvcc();
    if (!Nvcc)
      return Nvcc.takeError();
    auto Bash = llvm::sys::findProgramByName("bash");
    auto Env = llvm::sys::findProgramByName("env");
    if (!Bash || !Env)
      return llvm::createStringError("no bash or no env in PATH");
    auto Folder = TemporaryFolder::make("rcache-tune");
    if (!Folder)
      return Folder.takeError();
    if (llvm::Error E = emit(R, (*Folder)->Path))
      return std::move(E);
    const std::string Out = below((*Folder)->Path, "tune.json");
    auto Done = runProgram(
        *Env, {"NVCC=" + *Nvcc, *Bash, below((*Folder)->Path, "run.sh"), Out},
        SecondsForAll);
    if (!Done)
      return Done.takeError();
    auto New = readMeasurements(Out);
    if (New)
      for (Measurement &M : *New)
        if (M.Device.empty()) { // it did not come to run there
          M.Device = Device;
          M.Arch = Arch;
        }
    return New;
  }
};

} // namespace

CompilerHook makeCompilerHook(const ToolOptions &O, const ParseJob &Job) {
  if (O.SelfCheck == ToolOptions::SelfCheckKind::Off)
    return {};
  auto T = std::make_shared<Tuner>(O, Job);
  if (!T->hasCompiler())
    return {};
  return [T](llvm::ArrayRef<std::string> Texts) { return T->compile(Texts); };
}

TuneHook makeTuneHook(const ToolOptions &O, const ParseJob &Job) {
  if (!O.CandidatesFolder.empty())
    return [Folder = O.CandidatesFolder](TuneRequest &R) {
      return writeCandidates(Folder, R);
    };
  if (O.Tune == ToolOptions::TuneKind::None && O.TuneFolder.empty())
    return {};
  return [T = std::make_shared<Tuner>(O, Job)](TuneRequest &R) {
    return T->run(R);
  };
}

} // namespace rcache
