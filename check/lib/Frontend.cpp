// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frontend.h"

#include "Driver/LateMacros.h"
#include "KeptPtx.h"
#include "SourceFacts.h"

#include "clang/Basic/DiagnosticIDs.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/Version.h"
#include "clang/CodeGen/CodeGenAction.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Tool.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/CompilerInvocation.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Frontend/MultiplexConsumer.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Serialization/ASTReader.h"
#include "clang/Serialization/ModuleCache.h"
#include "clang/Serialization/PCHContainerOperations.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"

#include <optional>

namespace rcache::check {

namespace {
const char *const EmptyFile = "/rcache-check/no-gpu-binary";
const char *const CompatFile = "/rcache-check/nvcc_compat.h";
const char *const EmptySource = "/rcache-check/no-source.cu";
/// Where compile() has the source among its arguments.
constexpr size_t SourceArg = 3;

/// What nvcc offers on the host and clang does not.
const char *const CompatText = R"(
#pragma once
#include <time.h> // as nvcc's headers do
// A variable of the device; the host's uses are redirected when both sides are
// put together.
#undef __managed__
#define __managed__                                                            \
  __attribute__((device)) __attribute__((annotate("rcache-check managed")))
#if defined(__cplusplus)
// Stores and loads with a cache hint, which is all that tells them from others. The
// pointer says what is stored.
template <class T> struct rcache_stored { typedef T type; };
#define RCACHE_STORE(NAME)                                                     \
  template <class T>                                                           \
  static inline __attribute__((device)) void                                   \
  NAME(T *p, typename rcache_stored<T>::type v) { *p = v; }
RCACHE_STORE(__stwb)
RCACHE_STORE(__stcg)
RCACHE_STORE(__stcs)
#undef RCACHE_STORE
#define RCACHE_LOAD(NAME)                                                      \
  template <class T>                                                           \
  static inline __attribute__((device)) T NAME(const T *p) { return *p; }
RCACHE_LOAD(__ldca)
RCACHE_LOAD(__ldlu)
#undef RCACHE_LOAD
#endif
#if defined(__cplusplus)
// Of the host, whose functions a compilation for the device reads as well.
#define RCACHE_MINMAX(R, A, B)                                                 \
  inline __attribute__((host)) R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; } \
  inline __attribute__((host)) R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define RCACHE_MINMAX_UNSIGNED(U, S)                                           \
  RCACHE_MINMAX(S, S, S)                                                       \
  RCACHE_MINMAX(U, U, U)                                                       \
  RCACHE_MINMAX(U, U, S)                                                       \
  RCACHE_MINMAX(U, S, U)
RCACHE_MINMAX_UNSIGNED(unsigned, int)
RCACHE_MINMAX_UNSIGNED(unsigned long, long)
RCACHE_MINMAX_UNSIGNED(unsigned long long, long long)
RCACHE_MINMAX(float, float, float)
RCACHE_MINMAX(double, double, double)
RCACHE_MINMAX(double, float, double)
RCACHE_MINMAX(double, double, float)
#undef RCACHE_MINMAX_UNSIGNED
#undef RCACHE_MINMAX
#endif
)";
} // namespace

std::vector<std::string>
translateFlags(const std::vector<std::string> &Flags) {
  std::vector<std::string> Out;
  for (size_t I = 0; I < Flags.size(); ++I) {
    llvm::StringRef F = Flags[I];
    auto HasValue = [&](llvm::StringRef Name) { return F == Name; };
    if (HasValue("-arch") || HasValue("-gencode") || HasValue("-code") ||
        HasValue("--generate-code") || HasValue("-Xcompiler") ||
        HasValue("-Xptxas") || HasValue("-Xlinker") || HasValue("-o") ||
        HasValue("-maxrregcount") || HasValue("-ccbin") ||
        HasValue("--compiler-bindir") || HasValue("-Xcudafe") ||
        HasValue("-rdc") || HasValue("-t")) {
      ++I;
      continue;
    }
    // nvcc's names a kind of warnings, clang's does not.
    if (F == "-Werror" && I + 1 < Flags.size() &&
        !llvm::StringRef(Flags[I + 1]).starts_with("-")) {
      ++I;
      continue;
    }
    static const char *const Dropped[] = {
        "-arch=",         "--gpu-architecture", "-gencode=", "--generate-code=",
        "-code=",         "--gpu-code",         "-rdc=",     "--relocatable",
        "--expt-",        "-expt-",             "--extended-lambda",
        "-extended-lambda", "-lineinfo",        "--generate-line-info",
        "-G",             "-maxrregcount=",     "--maxrregcount",
        "--ptxas-options", "-Xptxas=",          "-Xcompiler=",
        "--compiler-options", "--use_fast_math", "-use_fast_math",
        "-forward-unknown", "--threads",        "-ccbin=",   "-dc",
        "-dlto",          "--diag-suppress",    "-diag-suppress",
        "--restrict",     "-restrict",          "-l",        "-L",
        "--cuda-gpu-arch", "-allow-unsupported", "--resource-usage",
        "-fmad",          "--fmad",             "-ftz",      "--ftz",
        "-prec-",         "--prec-",            "-c",        "-O"};
    bool Drop = false;
    for (const char *D : Dropped)
      Drop |= F.starts_with(D);
    // -c and -G are whole words; other flags begin with these letters.
    if ((F.starts_with("-c") && F != "-c" && !F.starts_with("-ccbin") &&
         !F.starts_with("-code=")) ||
        (F.starts_with("-G") && F != "-G"))
      Drop = false;
    if (!Drop)
      Out.push_back(F.str());
  }
  return Out;
}

namespace {

/// Code, and what the syntax tree tells beside.
class EmitAndCollect : public clang::EmitLLVMOnlyAction {
public:
  EmitAndCollect(llvm::LLVMContext &Context, SourceFacts *Facts)
      : EmitLLVMOnlyAction(&Context), Facts(Facts) {}

protected:
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &CI,
                    llvm::StringRef File) override {
    auto Emit = EmitLLVMOnlyAction::CreateASTConsumer(CI, File);
    if (!Facts || !Emit)
      return Emit;
    std::vector<std::unique_ptr<clang::ASTConsumer>> Both;
    Both.push_back(collectFacts(*Facts));
    Both.push_back(std::move(Emit));
    return std::make_unique<clang::MultiplexConsumer>(std::move(Both));
  }

private:
  SourceFacts *Facts;
};

/// Does what \p I names lie where it lies whatever folder it is compiled in?
bool namesWholePaths(const clang::CompilerInvocation &I) {
  const auto Whole = [](llvm::StringRef Path) {
    return llvm::sys::path::is_absolute(Path);
  };
  const clang::HeaderSearchOptions &Search = I.getHeaderSearchOpts();
  return llvm::all_of(Search.UserEntries,
                      [&](const auto &E) { return Whole(E.Path); }) &&
         Whole(Search.ResourceDir) && Whole(Search.Sysroot) &&
         Search.VFSOverlayFiles.empty() &&
         llvm::all_of(I.getPreprocessorOpts().Includes,
                      [&](const std::string &Name) { // looked for there first
                        return Whole(Name) || !llvm::sys::fs::exists(Name);
                      });
}

/// What clang's driver makes of \p Args; null, with a message in \p Log: nothing.
/// \p CommandLine gets all of it that headers hang on.
std::shared_ptr<clang::CompilerInvocation>
invocation(const std::vector<std::string> &Args,
           llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,
           llvm::raw_ostream &Log, std::string *CommandLine = nullptr) {
  std::vector<const char *> Argv;
  for (const std::string &A : Args)
    Argv.push_back(A.c_str());
  clang::DiagnosticOptions DiagOpts;
  auto *Printer = new clang::TextDiagnosticPrinter(Log, DiagOpts);
  clang::DiagnosticsEngine Diags(clang::DiagnosticIDs::create(), DiagOpts,
                                 Printer);
  Diags.setIgnoreAllWarnings(true);
  clang::driver::Driver Driver(Args.front(),
                               llvm::sys::getDefaultTargetTriple(), Diags,
                               "rcache-check", Files);
  Driver.setCheckInputsExist(false);
  std::unique_ptr<clang::driver::Compilation> Compilation(
      Driver.BuildCompilation(Argv));
  if (!Compilation || Diags.hasErrorOccurred())
    return nullptr;
  const llvm::opt::ArgStringList *Cc1 = nullptr;
  for (const clang::driver::Command &C : Compilation->getJobs())
    if (llvm::StringRef(C.getCreator().getName()) == "clang" && !Cc1)
      Cc1 = &C.getArguments();
  if (!Cc1) {
    Log << "no compilation found for " << Args[SourceArg] << "\n";
    return nullptr;
  }
  auto Invocation = std::make_shared<clang::CompilerInvocation>();
  llvm::ArrayRef<const char *> List = *Cc1;
  if (!List.empty() && llvm::StringRef(List.front()) == "-cc1")
    List = List.drop_front();
  if (!clang::CompilerInvocation::CreateFromArgs(*Invocation, List, Diags))
    return nullptr;
  // The folder stands there for debug information alone.
  const bool Anywhere = CommandLine && namesWholePaths(*Invocation);
  if (CommandLine)
    for (llvm::StringRef A : List)
      if (!Anywhere || (!A.starts_with("-fdebug-compilation-dir=") &&
                        !A.starts_with("-fcoverage-compilation-dir=")))
        *CommandLine += A.str() + '\0';
  Invocation->getFrontendOpts().DisableFree = false;
  Invocation->getCodeGenOpts().DisableFree = false;
  Invocation->getDiagnosticOpts().ShowColors = false;
  return Invocation;
}

bool execute(std::shared_ptr<clang::CompilerInvocation> Invocation,
             llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,
             llvm::raw_ostream &Log, clang::FrontendAction &Action) {
  clang::CompilerInstance Instance(std::move(Invocation));
  Instance.setVirtualFileSystem(Files);
  Instance.createDiagnostics(
      new clang::TextDiagnosticPrinter(Log, Instance.getDiagnosticOpts()),
      /*ShouldOwnClient=*/true);
  Instance.setVerboseOutputStream(Log);
  Instance.createFileManager();
  return Instance.ExecuteAction(Action);
}

/// \p Args with what stands in front of the text parsed before, in the file
/// \p Parsed, if any.
std::unique_ptr<llvm::Module>
compile(llvm::LLVMContext &Context, const std::vector<std::string> &Args,
        llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files,
        const std::string &Parsed, llvm::raw_ostream &Log,
        SourceFacts *Facts) {
  auto Invocation = invocation(Args, Files, Log);
  if (!Invocation)
    return nullptr;
  Invocation->getPreprocessorOpts().ImplicitPCHInclude = Parsed;
  EmitAndCollect Action(Context, Facts);
  if (!execute(Invocation, Files, Log, Action))
    return nullptr;
  return Action.takeModule();
}

/// Are the files that \p Parsed was made from what they were?
bool isCurrent(llvm::StringRef Parsed,
               llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files) {
  struct : clang::ASTReaderListener {
    llvm::vfs::FileSystem *Files;
    bool Current = true;
    bool needsInputFileVisitation() override { return true; }
    bool needsSystemInputFileVisitation() override { return true; }
    bool visitInputFileAsRequested(llvm::StringRef Name, llvm::StringRef,
                                   bool, bool, time_t Then, bool) override {
      const auto Now = Files->status(Name);
      Current &= Now && llvm::sys::toTimeT(Now->getLastModificationTime()) == Then;
      return Current;
    }
  } Listener;
  Listener.Files = Files.get();
  clang::FileManager Manager(clang::FileSystemOptions(), Files);
  const auto Cache = clang::createCrossProcessModuleCache();
  return !clang::ASTReader::readASTFileControlBlock(
             Parsed, Manager, *Cache, clang::RawPCHContainerReader(),
             /*FindModuleFileExtensions=*/false, Listener,
             /*ValidateDiagnosticOptions=*/false) &&
         Listener.Current;
}

/// Has \p Parsed been asked for before? To make it takes longer than to do without:
/// what two programs ask for once is not worth it.
bool wantedOften(const llvm::Twine &Parsed) {
  constexpr uint64_t Often = 3;
  const std::string Name = (Parsed + ".asked").str(); // a byte each time
  std::error_code Error;
  llvm::raw_fd_ostream Asked(Name, Error, llvm::sys::fs::OF_Append);
  if (Error)
    return false;
  Asked << '.';
  Asked.close();
  uint64_t Times = 0;
  return !Asked.has_error() && !llvm::sys::fs::file_size(Name, Times) &&
         Times >= Often;
}

/// The file in the folder RCACHE_CACHE that has clang's headers of CUDA, which
/// every source begins with, parsed for \p Args; made if it is asked for often. nullopt:
/// it is not there, or no use.
std::optional<std::string>
parsedHeaders(std::vector<std::string> Args,
              llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Files) {
  const auto Folder = keptFolder();
  if (!Folder)
    return std::nullopt;
  // The user's short macros stand behind these headers.
  if (const auto Late = llvm::find(Args, LateMacrosPath); Late != Args.end())
    Args.erase(Late - 1, Late + 1);
  // Facts are of what the user wrote: that stands behind these headers.
  for (size_t I = SourceArg + 1; I < Args.size(); ++I)
    for (const char *Early : {"-include", "--include", "-imacros", "--imacros",
                              "--pre-include"})
      if (llvm::StringRef(Args[I]).starts_with(Early) &&
          (I + 1 == Args.size() || Args[I + 1] != CompatFile))
        return std::nullopt;
  Args[SourceArg] = EmptySource;
  std::string Line, Unseen;
  llvm::raw_string_ostream Log(Unseen);
  auto Invocation = invocation(Args, Files, Log, &Line);
  if (!Invocation)
    return std::nullopt;
  const std::string Path =
      keptFile(*Folder, "cuda-", Line + clang::getClangFullVersion() + CompatText, ".pch");
  // One that was made from other headers than there are now is made again.
  if (llvm::sys::fs::exists(Path) && isCurrent(Path, Files))
    return Path;
  if (!wantedOften(Path))
    return std::nullopt;
  llvm::SmallString<256> Made;
  if (llvm::sys::fs::createUniqueFile(Path + ".%%%%%%", Made))
    return std::nullopt;
  auto &Frontend = Invocation->getFrontendOpts();
  Frontend.ProgramAction = clang::frontend::GeneratePCH;
  Frontend.OutputFile = Made.str().str();
  clang::GeneratePCHAction Action;
  // Others may be making the same one: the last wins.
  if (execute(Invocation, Files, Log, Action) &&
      !llvm::sys::fs::rename(Made, Path))
    return Path;
  llvm::sys::fs::remove(Made);
  return std::nullopt;
}

} // namespace

std::unique_ptr<llvm::Module> compile(llvm::LLVMContext &Context, Side S,
                                      const std::string &Source,
                                      const FrontendOptions &Opts,
                                      std::string &Log, SourceFacts *Facts) {
  llvm::raw_string_ostream LogStream(Log);
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  auto Add = [&](llvm::StringRef Name, llvm::StringRef Text) {
    Memory->addFile(Name, 0, llvm::MemoryBuffer::getMemBufferCopy(Text, Name));
  };
  Add(EmptyFile, "");
  Add(EmptySource, "");
  Add(CompatFile, CompatText);
  for (auto &[Name, Text] : Opts.VirtualFiles)
    Add(Name, Text);
  auto Files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(
      llvm::vfs::getRealFileSystem());
  Files->pushOverlay(Memory);

  std::string Resource = Opts.ResourceDir;
  std::string Clang =
      llvm::sys::path::parent_path(
          llvm::sys::path::parent_path(llvm::sys::path::parent_path(Resource)))
          .str() +
      "/bin/clang++";
  std::vector<std::string> Args = {
      Clang,           "-x",
      S == Side::Plain ? "c++" : "cuda", Source,
      // Rewritten kernels are to run at the small sizes that are checked.
      "-DRCACHE_ANY_LAUNCH",
      "-c",            "-emit-llvm",
      "-resource-dir", Resource,
      S == Side::Device || Opts.OptimiseHost ? "-O1" : "-O0",
      "-w",            "-Wno-everything", // also what is an error by default
      "-gline-tables-only",
      "-gcolumn-info", "-o",
      "-"};
  if (S == Side::Plain)
    Args.push_back("-isystem" + Opts.CudaPath + "/include");
  else
    for (const std::string &A :
         {"--cuda-path=" + Opts.CudaPath, std::string("-isystem"),
          Opts.CudaPath + "/include/cccl", "--cuda-gpu-arch=" + Opts.Arch,
          std::string("-include"), std::string(CompatFile)})
      Args.push_back(A);
  if (S == Side::Device)
    for (const char *A : {"--cuda-device-only", "-Xclang",
                          "-disable-llvm-passes",
                          // A store to null is to be seen.
                          "-fno-delete-null-pointer-checks",
                          Opts.Contract ? "-ffp-contract=fast"
                                        : "-ffp-contract=off",
                          "-fno-discard-value-names"})
      Args.push_back(A);
  else // the program's main goes by another name in a harness: its end returns nothing
    Args.push_back("-fno-strict-return");
  if (S == Side::Host)
    for (const char *A : {"--cuda-host-only", "-Xclang",
                          "-fcuda-include-gpubinary", "-Xclang", EmptyFile})
      Args.push_back(A);
  const std::vector<std::string> Flags = translateFlags(Opts.Flags);
  const LateMacros Late(Flags);
  const bool IsLate = S != Side::Plain && !Late.Text.empty();
  if (IsLate) {
    Add(LateMacrosPath, Late.Text);
    Args.insert(Args.end(), {"-include", LateMacrosPath});
  }
  llvm::append_range(Args, IsLate ? Late.Others : Flags);
  if (auto Parsed = S == Side::Plain ? std::nullopt
                                     : parsedHeaders(Args, Files)) {
    // Whatever is wrong with it, the text itself tells better.
    std::string Unseen;
    llvm::raw_string_ostream UnseenStream(Unseen);
    SourceFacts Found;
    if (auto M = compile(Context, Args, Files, *Parsed, UnseenStream,
                         Facts ? &Found : nullptr)) {
      if (Facts)
        *Facts = std::move(Found);
      return M;
    }
  }
  return compile(Context, Args, Files, "", LogStream, Facts);
}

} // namespace rcache::check
