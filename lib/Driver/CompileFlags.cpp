// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads compile_commands.json. Only clang's reader of the JSON is used; its
// guesses about drivers and targets know nothing of nvcc.

#include "Driver/CompileFlags.h"
#include "Driver/NvccFlags.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using clang::tooling::CompileCommand;
using clang::tooling::JSONCompilationDatabase;
using llvm::SmallString;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace rcache {
namespace {

std::string absolute(StringRef File, StringRef Directory) {
  SmallString<256> Path(File);
  if (path::is_relative(Path) && !Directory.empty()) {
    Path = Directory;
    path::append(Path, File);
  }
  fs::make_absolute(Path);
  path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// Compiler launchers stand in front of the compiler ("ccache nvcc ...").
size_t compilerIndex(const std::vector<std::string> &Line) {
  for (size_t I = 0; I + 1 < Line.size() && I < 3; ++I) {
    StringRef Name = path::filename(Line[I]);
    if (Name != "ccache" && Name != "sccache" && Name != "distcc")
      return I;
  }
  return 0;
}

/// Without the source file itself, in whatever spelling.
std::vector<std::string> flagsOf(const CompileCommand &C, size_t Compiler) {
  const std::string Source = absolute(C.Filename, C.Directory);
  std::vector<std::string> Flags;
  for (size_t I = Compiler + 1; I < C.CommandLine.size(); ++I) {
    const std::string &Arg = C.CommandLine[I];
    if (Arg == "--") // what follows are inputs
      break;
    if (!StringRef(Arg).starts_with("-") &&
        (Arg == C.Filename || absolute(Arg, C.Directory) == Source))
      continue;
    Flags.push_back(Arg);
  }
  return Flags;
}

bool compilesCuda(const CompileCommand &C) {
  if (StringRef(C.Filename).ends_with(".cu"))
    return true;
  for (size_t I = 0; I < C.CommandLine.size(); ++I) {
    StringRef Arg = C.CommandLine[I];
    if ((Arg == "-x" || Arg == "--x") && I + 1 < C.CommandLine.size())
      Arg = C.CommandLine[I + 1];
    else if (!Arg.consume_front("-x") && !Arg.consume_front("--x="))
      continue;
    if (Arg == "cu" || Arg == "cuda" || Arg == "=cu")
      return true;
  }
  return false;
}

} // namespace

CompileDatabase::CompileDatabase() = default;
CompileDatabase::~CompileDatabase() = default;
CompileDatabase::CompileDatabase(CompileDatabase &&) = default;
CompileDatabase &CompileDatabase::operator=(CompileDatabase &&) = default;

llvm::Expected<CompileDatabase> CompileDatabase::load(StringRef Path) {
  SmallString<256> File(Path);
  if (fs::is_directory(File))
    path::append(File, "compile_commands.json");
  std::string Message;
  CompileDatabase Result;
  Result.Db = JSONCompilationDatabase::loadFromFile(
      File, Message, clang::tooling::JSONCommandLineSyntax::AutoDetect);
  if (!Result.Db)
    return llvm::createStringError("cannot read the compile commands in '" +
                                   File + "': " + StringRef(Message).rtrim());
  return Result;
}

std::optional<CompileDatabase> CompileDatabase::nearest(StringRef SourceFile) {
  for (StringRef Folder = path::parent_path(SourceFile); !Folder.empty();
       Folder = path::parent_path(Folder))
    for (StringRef Sub : {"", "build"}) {
      SmallString<256> File(Folder);
      path::append(File, Sub, "compile_commands.json");
      if (!fs::exists(File))
        continue;
      auto Db = load(File);
      if (Db && Db->find(SourceFile))
        return std::move(*Db);
      llvm::consumeError(Db.takeError());
    }
  return std::nullopt;
}

std::optional<CompileFlags> CompileDatabase::find(StringRef SourceFile) const {
  std::vector<CompileCommand> Commands = Db->getCompileCommands(SourceFile);
  if (Commands.empty())
    return std::nullopt;
  const CompileCommand &C = Commands.front();
  const size_t Compiler = compilerIndex(C.CommandLine);
  CompileFlags Result;
  Result.Directory = C.Directory;
  Result.FromNvcc = isNvcc(C.CommandLine[Compiler]);
  Result.Flags = flagsOf(C, Compiler);
  return Result;
}

std::vector<std::string> CompileDatabase::cudaFiles() const {
  std::set<std::string> Files;
  for (const CompileCommand &C : Db->getAllCompileCommands())
    if (compilesCuda(C))
      Files.insert(absolute(C.Filename, C.Directory));
  return {Files.begin(), Files.end()};
}

} // namespace rcache
