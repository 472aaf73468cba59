// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs clang on one file: command line, virtual files, diagnostics, action.

#include "Driver/ParseJob.h"
#include "Driver/CompatHeader.h"
#include "Driver/LateMacros.h"
#include "Driver/CudaInstall.h"
#include "Driver/NvccFlags.h"
#include "Driver/SourceText.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/Cuda.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/DiagnosticAST.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Basic/Version.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/Utils.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/VersionTuple.h"
#include "llvm/Support/VirtualFileSystem.h"
#include <memory>

using llvm::SmallString;
using llvm::StringRef;

namespace rcache {
namespace {

/// The expansion position of \p Loc in its file.
SourcePos positionOf(const clang::SourceManager &SM,
                     clang::SourceLocation Loc) {
  SourcePos Pos;
  if (Loc.isInvalid())
    return Pos;
  clang::SourceLocation FileLoc = SM.getExpansionLoc(Loc);
  auto [File, Offset] = SM.getDecomposedLoc(FileLoc);
  if (auto Entry = SM.getFileEntryRefForID(File))
    Pos.File = Entry->getName().str();
  Pos.Offset = Offset;
  Pos.Line = SM.getLineNumber(File, Offset);
  Pos.Column = SM.getColumnNumber(File, Offset);
  return Pos;
}

/// Does \p Loc stand in the parentheses of an asm statement?
bool isInAsm(const clang::SourceManager &SM, clang::SourceLocation Loc) {
  auto [File, At] = SM.getDecomposedExpansionLoc(Loc);
  const StringRef Text = SM.getBufferData(File);
  constexpr size_t Far = 8192;
  size_t From = At;
  while (true) {
    From = Text.substr(0, From).rfind("asm");
    if (From == StringRef::npos || At - From > Far)
      return false;
    // `asm`, `__asm__`, with volatile or nothing, and the parenthesis.
    size_t I = From + 3;
    auto Words = [&](StringRef Skipped) {
      I = std::min(Text.find_first_not_of(Skipped, I), Text.size());
    };
    Words("_ \t\n\r");
    for (StringRef Word : {"volatile", "__volatile__"})
      if (Text.substr(I).starts_with(Word))
        I += Word.size();
    Words("_ \t\n\r");
    if (I >= Text.size() || Text[I] != '(')
      continue;
    int Depth = 0;
    for (; I < Text.size(); ++I) {
      const char C = Text[I];
      if (C == '"') {
        while (++I < Text.size() && Text[I] != '"')
          I += Text[I] == '\\';
        continue;
      }
      Depth += C == '(';
      Depth -= C == ')';
      if (Depth == 0)
        break;
    }
    if (At <= I)
      return true;
  }
}

/// Is it clang alone that does not accept this? What is meant is unknown all the
/// same: kernels in which it stands are declined.
bool nvccAccepts(const clang::Diagnostic &Info, StringRef Text) {
  switch (Info.getID()) {
  case clang::diag::err_shared_var_init: // __shared__ cuda::barrier<...> b;
  case clang::diag::err_asm_invalid_escape: // "mov.u32 %0, %smid;"
    return true;
  case clang::diag::err_ovl_ambiguous_oper_binary: // half2 h; h = {a, b};
    return Text.contains("__half") || Text.contains("__nv_bfloat16");
  default:
    return Info.hasSourceManager() && Info.getLocation().isValid() &&
           isInAsm(Info.getSourceManager(), Info.getLocation());
  }
}

/// Keeps errors, with their notes appended as text; drops warnings.
class ErrorCollector : public clang::DiagnosticConsumer {
  ParseOutcome &Outcome;

public:
  explicit ErrorCollector(ParseOutcome &Outcome) : Outcome(Outcome) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    DiagnosticConsumer::HandleDiagnostic(Level, Info);
    if (Level < clang::DiagnosticsEngine::Error)
      return;
    SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    ParseError E;
    if (Info.hasSourceManager())
      E.Pos = positionOf(Info.getSourceManager(), Info.getLocation());
    E.Text = Text.str().str();
    const bool Tolerated = nvccAccepts(Info, E.Text);
    (Tolerated ? Outcome.Tolerated : Outcome.Errors).push_back(std::move(E));
  }
};

/// Marks the functions of the device in which clang's errors stand: their
/// bodies are not what the user wrote.
class MarkInvalid : public clang::DynamicRecursiveASTVisitor {
  const clang::SourceManager &SM;
  const std::vector<ParseError> &Errors;

public:
  MarkInvalid(const clang::SourceManager &SM,
              const std::vector<ParseError> &Errors)
      : SM(SM), Errors(Errors) {
    ShouldVisitTemplateInstantiations = true;
  }
  bool VisitFunctionDecl(clang::FunctionDecl *F) override {
    if (!F->doesThisDeclarationHaveABody() ||
        F->hasAttr<clang::CUDAGlobalAttr>())
      return true;
    const SourcePos Begin = positionOf(SM, F->getBeginLoc()),
                    End = positionOf(SM, F->getEndLoc());
    for (const ParseError &E : Errors)
      if (E.Pos.File == Begin.File && Begin.Offset <= E.Pos.Offset &&
          E.Pos.Offset <= End.Offset)
        F->setInvalidDecl();
    return true;
  }
};

/// All files, those of the toolkit and the system too: any may change.
class AllDependencies : public clang::DependencyCollector {
public:
  bool needSystemDependencies() override { return true; }
  bool sawDependency(StringRef Filename, bool, bool, bool,
                     bool IsMissing) override {
    return !IsMissing && !Filename.starts_with(CompatFolder) && Filename != "-" &&
           !Filename.starts_with("<");
  }
};

class HandlerConsumer : public clang::ASTConsumer {
  clang::CompilerInstance &CI;
  ParseHandler &Handler;
  ParseOutcome &Outcome;

public:
  HandlerConsumer(clang::CompilerInstance &CI, ParseHandler &Handler,
                  ParseOutcome &Outcome)
      : CI(CI), Handler(Handler), Outcome(Outcome) {}

  void HandleTranslationUnit(clang::ASTContext &AC) override {
    if (!Outcome.Tolerated.empty())
      MarkInvalid(CI.getSourceManager(), Outcome.Tolerated)
          .TraverseDecl(AC.getTranslationUnitDecl());
    Handler.parsed(CI, Outcome);
  }

  /// What functions of the toolkit and the standard library do is known by
  /// their names, or not at all: their bodies are a third of the parsing.
  /// (Sema keeps those of constexpr functions and deduced return types.)
  bool shouldSkipFunctionBody(clang::Decl *D) override {
    return CI.getSourceManager().isInSystemHeader(D->getLocation());
  }
};

class HandlerAction : public clang::ASTFrontendAction {
  ParseHandler &Handler;
  ParseOutcome &Outcome;
  bool &Started;
  AllDependencies Dependencies;

public:
  HandlerAction(ParseHandler &Handler, ParseOutcome &Outcome, bool &Started)
      : Handler(Handler), Outcome(Outcome), Started(Started) {}

  bool BeginInvocation(clang::CompilerInstance &CI) override {
    // A missing header must not hide the errors behind it: whether kernels and
    // launches are free of errors has to be known.
    CI.getDiagnostics().setFatalsAsError(true);
    // For which ones: HandlerConsumer::shouldSkipFunctionBody.
    CI.getFrontendOpts().SkipFunctionBodies = true;
    return true;
  }

  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &CI, StringRef) override {
    Started = true;
    Dependencies.attachToPreprocessor(CI.getPreprocessor());
    const clang::SourceManager &SM = CI.getSourceManager();
    Outcome.MainText = SM.getBufferData(SM.getMainFileID()).str();
    Handler.starting(CI);
    return std::make_unique<HandlerConsumer>(CI, Handler, Outcome);
  }

  void EndSourceFileAction() override {
    Outcome.Dependencies.assign(Dependencies.getDependencies().begin(),
                                Dependencies.getDependencies().end());
  }
};

bool contains(const std::vector<std::string> &Flags, StringRef Flag) {
  return llvm::is_contained(Flags, Flag);
}

/// The command line, and what was found on the way to it.
struct Prepared {
  std::vector<std::string> Command;
  std::string Arch, CudaPath;
  std::string Macros; ///< those of LateMacros
  std::vector<std::string> Unknown;
  std::vector<std::string> Notes;
};

/// The last toolkit that compiles for \p Arch, where that is older than
/// \p Cuda: clang refuses then, in words about its own flags.
llvm::Error checkArch(StringRef Arch, const CudaInstall &Cuda) {
  using namespace clang;
  const CudaVersion Last = MaxVersionForOffloadArch(StringToOffloadArch(Arch));
  if (Cuda.Version == 0 || Last == CudaVersion::UNKNOWN)
    return llvm::Error::success();
  CudaVersion Have = ToCudaVersion(
      llvm::VersionTuple(Cuda.Version / 1000, Cuda.Version % 1000 / 10));
  if (Have == CudaVersion::UNKNOWN || Have == CudaVersion::NEW)
    Have = CudaVersion::PARTIALLY_SUPPORTED; // newer than all that clang knows
  if (Have <= Last)
    return llvm::Error::success();
  return llvm::createStringError(
      Arch + " is an architecture of CUDA " + CudaVersionToString(Last) +
      " and older; the toolkit in '" + Cuda.Path + "' is CUDA " +
      cudaVersionText(Cuda.Version) +
      ": name a newer one with --arch=sm_NN, or an older toolkit with "
      "--cuda-path=DIR");
}

llvm::Expected<Prepared> prepare(const ParseJob &Job) {
  auto Flags =
      translateFlags(Job.Flags.Flags, Job.Flags.FromNvcc, Job.Flags.Directory);
  if (!Flags)
    return Flags.takeError();

  Prepared P;
  P.Unknown = Flags->Unknown;
  P.Arch = Job.Arch.empty() ? chooseArch(Flags->Archs) : chooseArch({Job.Arch});
  if (P.Arch.empty() && !Job.Arch.empty())
    return llvm::createStringError("'" + Job.Arch +
                                   "' is no architecture; it is written sm_NN");
  if (P.Arch.empty())
    P.Arch = "sm_90";
  if (!Job.Arch.empty() && P.Arch != Job.Arch)
    P.Notes.push_back("clang " + std::to_string(CLANG_VERSION_MAJOR) +
                      " does not know " + Job.Arch + "; " + P.Arch +
                      " is taken instead");

  const std::string Resources = findResourceDir(Job.ToolPath);
  if (Resources.empty())
    return llvm::createStringError(
        "clang's header folder (lib/clang/NN with "
        "__clang_cuda_runtime_wrapper.h)"
        " was not found; install the package libclang-common-NN-dev");

  std::vector<std::string> &C = P.Command;
  C = {"clang++", "-fsyntax-only", "--cuda-device-only", "-x", "cuda"};
  C.push_back("--cuda-gpu-arch=" + P.Arch);
  C.push_back("-resource-dir=" + Resources);
  if (!contains(Flags->Flags, "-nocudainc")) {
    auto Cuda =
        findCudaInstall(Job.CudaPath.empty() ? Flags->CudaPath : Job.CudaPath);
    if (!Cuda)
      return Cuda.takeError();
    if (llvm::Error E = checkArch(P.Arch, *Cuda))
      return std::move(E);
    if (!Cuda->Note.empty())
      P.Notes.push_back(Cuda->Note);
    P.CudaPath = Cuda->Path;
    C.push_back("--cuda-path=" + Cuda->Path);
    if (!Cuda->CcclPath.empty()) {
      C.push_back("-isystem");
      C.push_back(Cuda->CcclPath);
    }
  }
  const LateMacros Late(Flags->Flags);
  P.Macros = Late.Text;
  for (const char *Header : {CompatHeaderPath, LateMacrosPath}) {
    C.push_back("-include");
    C.push_back(Header);
  }
  C.insert(C.end(), Late.Others.begin(), Late.Others.end());
  // Warnings are the compiler's business; -Wno-everything: also those that clang makes an
  // error by default (narrowing, `a < b < c`), which nvcc lets pass.
  for (const char *Flag :
       {"-w", "-Wno-everything", "-ferror-limit=0", "-Qunused-arguments",
        "-fno-caret-diagnostics"})
    C.push_back(Flag);
  // The host compiler's own headers are not clang's.
  C.push_back("-idirafter");
  C.push_back(CompatFolder);
  C.push_back(Job.File);
  return P;
}

/// The real file system, with the compatibility header and the job's buffer in
/// front of it. Its working directory is its own, not the process's.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> fileSystem(const ParseJob &Job,
                                                           StringRef FileName,
                                                           StringRef Macros) {
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  Memory->addFile(CompatHeaderPath, 0,
                  llvm::MemoryBuffer::getMemBuffer(CompatHeaderText));
  Memory->addFile(LateMacrosPath, 0,
                  llvm::MemoryBuffer::getMemBufferCopy(Macros));
  Memory->addFile(std::string(CompatFolder) + "/omp.h", 0,
                  llvm::MemoryBuffer::getMemBuffer(CompatOmpText));
  if (Job.Buffer)
    Memory->addFile(FileName, 0,
                    llvm::MemoryBuffer::getMemBufferCopy(*Job.Buffer));
  for (const auto &[Path, Text] : Job.Overlay)
    Memory->addFile(Path, 0, llvm::MemoryBuffer::getMemBufferCopy(Text));
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Real(
      llvm::vfs::createPhysicalFileSystem());
  auto Overlay =
      llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(std::move(Real));
  Overlay->pushOverlay(Memory);
  return Overlay;
}

/// Absolute and without `..`, which build tools collapse each in its own way.
std::string plainPath(llvm::vfs::FileSystem &FS, StringRef Name) {
  SmallString<256> Path(Name);
  FS.makeAbsolute(Path);
  SmallString<256> Real;
  if (StringRef(Path).contains("..") && !FS.getRealPath(Path, Real))
    return Real.str().str();
  llvm::sys::path::remove_dots(Path);
  return Path.str().str();
}

} // namespace

ParseHandler::~ParseHandler() = default;

llvm::Expected<std::vector<std::string>> parseCommandLine(const ParseJob &Job) {
  auto P = prepare(Job);
  if (!P)
    return P.takeError();
  return P->Command;
}

llvm::Expected<ParseOutcome> parseSource(const ParseJob &Job,
                                         ParseHandler &Handler) {
  SmallString<256> FileName(Job.File);
  llvm::sys::fs::make_absolute(FileName);
  if (!Job.Buffer) {
    if (llvm::sys::fs::is_directory(FileName))
      return llvm::createStringError("cannot read '" + Job.File +
                                     "': Is a directory");
    auto Readable = llvm::MemoryBuffer::getFile(FileName);
    if (!Readable)
      return llvm::createStringError(Readable.getError(),
                                     "cannot read '%s': %s", Job.File.c_str(),
                                     Readable.getError().message().c_str());
    if (const std::string Why = whyNoSource((*Readable)->getBuffer()); !Why.empty())
      return llvm::createStringError("'" + Job.File + "' " + Why);
  } else if (const std::string Why = whyNoSource(*Job.Buffer); !Why.empty()) {
    return llvm::createStringError("'" + Job.File + "' " + Why);
  }

  auto P = prepare(Job);
  if (!P)
    return P.takeError();
  // The user's spelling of the name is kept for messages as long as the flags
  // do not move the working directory.
  auto FS = fileSystem(Job, FileName, P->Macros);
  if (!Job.Flags.Directory.empty()) {
    if (std::error_code EC =
            FS->setCurrentWorkingDirectory(Job.Flags.Directory))
      return llvm::createStringError(EC, "cannot enter the folder '%s': %s",
                                     Job.Flags.Directory.c_str(),
                                     EC.message().c_str());
    P->Command.back() = FileName.str().str();
  }

  ParseOutcome Outcome;
  Outcome.Arch = P->Arch;
  Outcome.CudaPath = P->CudaPath;
  Outcome.UnknownFlags = P->Unknown;
  Outcome.Notes = P->Notes;
  ErrorCollector Collector(Outcome);
  auto Files = llvm::makeIntrusiveRefCnt<clang::FileManager>(
      clang::FileSystemOptions(), FS);
  bool Started = false;
  clang::tooling::ToolInvocation Invocation(
      P->Command, std::make_unique<HandlerAction>(Handler, Outcome, Started),
      Files.get());
  Invocation.setDiagnosticConsumer(&Collector);
  Invocation.run();
  if (!Started) {
    std::string Text = "the compile flags are refused";
    for (const ParseError &E : Outcome.Errors)
      Text += ": " + E.Text;
    return llvm::createStringError(Text);
  }
  for (std::string &Name : Outcome.Dependencies)
    Name = plainPath(*FS, Name);
  // Messages about the main file name it as the user did.
  for (std::vector<ParseError> *All : {&Outcome.Errors, &Outcome.Tolerated})
    for (ParseError &E : *All)
      if (E.Pos.File == FileName)
        E.Pos.File = Job.File;
  return Outcome;
}

} // namespace rcache
