// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rcache-lsp: the language server. It runs beside clangd and speaks to the
// editor over standard input and output; logs go to stderr.
//
// Exit status: 0 after `shutdown` and `exit`, 1 when the client went away
// without, 2 wrong usage.

#include "Driver/Usage.h"
#include "Server.h"
#include "SharedOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/LSP/Logging.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace rcache;
namespace cl = llvm::cl;
namespace lsp = llvm::lsp;

namespace {

cl::OptionCategory Serve("How the server works");

cl::extrahelp Further(
    "\nAn editor starts the server and talks to it over standard input and "
    "output\n"
    "(docs/editors.md). Compiler flags, of nvcc or clang, come from the "
    "nearest\n"
    "compile_commands.json that knows the file, from the one that -p names, "
    "or\n"
    "stand after `--`.\n");

struct CommandLine {
  WordOption<lsp::Logger::Level> LogLevel{
      "log", cl::cat(Serve), cl::init(lsp::Logger::Level::Error),
      cl::desc("What is logged on stderr"),
      cl::values(clEnumValN(lsp::Logger::Level::Error, "error", "errors only"),
                 clEnumValN(lsp::Logger::Level::Info, "info", "each message"),
                 clEnumValN(lsp::Logger::Level::Debug, "debug",
                            "with their content"))};
  NumberOption<unsigned> Threads{"j", cl::value_desc("N"), cl::cat(Serve),
                            cl::init(2),
                            cl::desc("Files analysed at a time (default: 2)")};
  NumberOption<unsigned> Pause{
      "pause", cl::value_desc("ms"), cl::cat(Serve), cl::init(200),
      cl::desc("From a change to the analysis (default: 200)")};
  NumberOption<unsigned> Patience{
      "patience", cl::value_desc("ms"), cl::cat(Serve), cl::init(5000),
      cl::desc("A request that waits for an analysis is answered with nothing "
               "after so long, unless the client shows work in progress: then "
               "with all there is, when it is there (default: 5000)")};
  cl::opt<std::string> Docs{
      "docs", cl::value_desc("folder|URL"), cl::cat(Serve),
      cl::desc(
          "The documentation, for links to the page of a decline (default: "
          "the one that is installed with the server, or of the source tree "
          "that it was built from)")};
  // What many clients pass without being asked.
  cl::opt<bool> Stdio{"stdio", cl::cat(Serve), cl::Hidden,
                      cl::desc("Standard input and output: always so")};
  cl::opt<bool> LitTest{"lit-test", cl::cat(Serve), cl::Hidden,
                        cl::desc("Messages delimited by '// -----', one dealt "
                                 "with after the other, indented output")};
};

int usageError(const llvm::Twine &Text) {
  llvm::errs() << "rcache-lsp: error: " << Text << '\n';
  return 2;
}

/// docs/ of the source tree, for a program that lies in the folder where it was
/// built; else "".
std::string docsOfBuild(llvm::StringRef Program) {
  for (llvm::StringRef Folder = llvm::sys::path::parent_path(Program);
       !Folder.empty(); Folder = llvm::sys::path::parent_path(Folder)) {
    llvm::SmallString<256> Cache(Folder);
    llvm::sys::path::append(Cache, "CMakeCache.txt");
    auto Text = llvm::MemoryBuffer::getFile(Cache);
    if (!Text)
      continue;
    llvm::StringRef Source = (*Text)->getBuffer();
    Source = Source.split("\nrcache_SOURCE_DIR:STATIC=").second.split('\n').first;
    return Source.empty() ? "" : (Source.rtrim() + "/docs").str();
  }
  return "";
}

/// The URI of the folder with declines/CODE.md, or "".
std::string docsUri(llvm::StringRef Docs, llvm::StringRef Program) {
  if (Docs.contains("://"))
    return Docs.rtrim('/').str();
  llvm::SmallString<256> Folder(Docs);
  if (Docs.empty()) {
    Folder =
        llvm::sys::path::parent_path(llvm::sys::path::parent_path(Program));
    llvm::sys::path::append(Folder, "share", "doc", "rcache", "docs");
    if (!llvm::sys::fs::is_directory(Folder))
      Folder = docsOfBuild(Program);
    if (Folder.empty())
      return "";
  }
  llvm::sys::fs::make_absolute(Folder);
  llvm::sys::path::remove_dots(Folder, /*remove_dot_dot=*/true);
  if (!llvm::sys::fs::is_directory(Folder))
    return "";
  auto Uri = lsp::URIForFile::fromFile(Folder);
  if (!Uri) {
    llvm::consumeError(Uri.takeError());
    return "";
  }
  return Uri->uri().rtrim('/').str();
}

} // namespace

int main(int Argc, const char **Argv) {
  llvm::setBugReportMsg(BugReportText);
  llvm::InitLLVM Init(Argc, Argv);
  Settings S;
  llvm::SmallVector<const char *, 32> Args(Argv, Argv + Argc);
  S.Flags = takeFlags(Args);
  declareSharedOptions();
  static CommandLine Line;
  cl::SetVersionPrinter(
      [](llvm::raw_ostream &OS) { printVersion(OS, "rcache-lsp", commitName()); });
  if (llvm::Error E = checkUsageBeforeFlags(Args))
    return usageError(llvm::toString(std::move(E)));
  if (!cl::ParseCommandLineOptions(Args.size(), Args.data(),
                                   "Language server that shows and applies "
                                   "what rcache-rewrite can do\n",
                                   &llvm::errs()))
    return 2;
  if (llvm::Error E = readSharedOptions(S, S.Library))
    return usageError(llvm::toString(std::move(E)));

  static int Anchor;
  S.ToolPath = llvm::sys::fs::getMainExecutable(Argv[0], &Anchor);

  WorkspaceOptions O;
  O.Threads = Line.Threads;
  O.Pause = std::chrono::milliseconds(Line.LitTest ? 0 : Line.Pause.getValue());
  O.Patience = std::chrono::milliseconds(
      Line.LitTest ? 600000 : Line.Patience.getValue());

  if (Line.LitTest)
    O.ProgressAfter = std::chrono::milliseconds(0);
  O.Docs = docsUri(Line.Docs, S.ToolPath);

  // A crash in the library costs one analysis.
  llvm::CrashRecoveryContext::Enable();
  lsp::Logger::setLogLevel(Line.LogLevel);
  llvm::sys::ChangeStdinToBinary();
  llvm::sys::ChangeStdoutToBinary();
  Connection C(stdin, llvm::outs(),
               Line.LitTest ? lsp::Delimited : lsp::Standard,
               /*Pretty=*/Line.LitTest);
  Server TheServer(C, std::move(S), O, /*Sequential=*/Line.LitTest);
  const int Status = TheServer.run();
  // A parse cannot be stopped, and the client does not want to wait for it.
  if (!TheServer.quiet()) {
    llvm::outs().flush();
    std::_Exit(Status);
  }
  return Status;
}
