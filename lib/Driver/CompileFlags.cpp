// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads compile_commands.json. Only clang's reader of the JSON is used; its
// guesses about drivers and targets know nothing of nvcc.

#include "Driver/CompileFlags.h"
#include "Driver/Includers.h"
#include "Driver/NvccFlags.h"
#include "clang/Tooling/CompilationDatabase.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include <algorithm>
#include <set>

using clang::tooling::CompileCommand;
using clang::tooling::JSONCompilationDatabase;
using llvm::SmallString;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace rcache {

std::string absolutePath(StringRef File, StringRef Directory) {
  SmallString<256> Path(File);
  if (path::is_relative(Path) && !Directory.empty()) {
    Path = Directory;
    path::append(Path, File);
  }
  fs::make_absolute(Path);
  path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

namespace {

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
  const std::string Source = absolutePath(C.Filename, C.Directory);
  std::vector<std::string> Flags;
  for (size_t I = Compiler + 1; I < C.CommandLine.size(); ++I) {
    const std::string &Arg = C.CommandLine[I];
    if (Arg == "--") // what follows are inputs
      break;
    if (!StringRef(Arg).starts_with("-") &&
        (Arg == C.Filename || absolutePath(Arg, C.Directory) == Source))
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

/// Parts of the path that two files have in common, from the root on.
size_t commonFolders(StringRef A, StringRef B) {
  size_t Common = 0;
  auto I = path::begin(A), J = path::begin(B);
  for (; I != path::end(A) && J != path::end(B) && *I == *J; ++I, ++J)
    ++Common;
  return Common;
}

/// \p Files, those first that are compiled as \p Like probably is: of the same
/// stem ("blur.cuh", "blur.cu"), in the same folder or near it.
std::vector<std::string> bySimilarity(std::vector<std::string> Files,
                                      StringRef Like) {
  auto Rank = [&](StringRef File) {
    return std::pair(path::stem(File) == path::stem(Like),
                     commonFolders(File, Like));
  };
  std::stable_sort(Files.begin(), Files.end(),
                   [&](const std::string &A, const std::string &B) {
                     return Rank(A) > Rank(B);
                   });
  return Files;
}

} // namespace

CompileDatabase::CompileDatabase() = default;
CompileDatabase::~CompileDatabase() = default;
CompileDatabase::CompileDatabase(CompileDatabase &&) = default;
CompileDatabase &CompileDatabase::operator=(CompileDatabase &&) = default;

/// What is no JSON in \p File, with its place, or "". The reader of clang
/// prints that itself, without the name of the file, and takes what stands in
/// front of it.
static std::string damageOf(StringRef File) {
  auto Buffer = llvm::MemoryBuffer::getFile(File, /*IsText=*/true);
  if (!Buffer)
    return ""; // the reader says why
  std::string Damage;
  llvm::SourceMgr Messages;
  Messages.setDiagHandler(
      [](const llvm::SMDiagnostic &D, void *Where) {
        auto &Text = *static_cast<std::string *>(Where);
        if (Text.empty())
          Text = "line " + std::to_string(D.getLineNo()) + ", column " +
                 std::to_string(D.getColumnNo() + 1) + ": " +
                 D.getMessage().str();
      },
      &Damage);
  llvm::yaml::Stream Stream((*Buffer)->getMemBufferRef(), Messages);
  if (!Stream.validate() && Damage.empty())
    Damage = "not JSON";
  return Damage;
}

/// The commands of \p File with the folders that they name relative to its own made
/// absolute, as a text; "" where there is none such. Of the reader's own all names
/// would be relative, and found by none.
static std::string withFolders(StringRef File) {
  auto Buffer = llvm::MemoryBuffer::getFile(File, /*IsText=*/true);
  if (!Buffer)
    return "";
  auto Parsed = llvm::json::parse((*Buffer)->getBuffer());
  if (!Parsed) {
    llvm::consumeError(Parsed.takeError());
    return "";
  }
  bool Any = false;
  if (llvm::json::Array *Commands = Parsed->getAsArray())
    for (llvm::json::Value &Command : *Commands)
      if (llvm::json::Object *Entry = Command.getAsObject())
        if (auto Folder = Entry->getString("directory"); Folder && path::is_relative(*Folder)) {
          (*Entry)["directory"] =
              absolutePath(*Folder, path::parent_path(absolutePath(File)));
          Any = true;
        }
  return Any ? llvm::formatv("{0}", *Parsed).str() : "";
}

llvm::Expected<CompileDatabase> CompileDatabase::load(StringRef Path) {
  SmallString<256> File(Path);
  if (fs::is_directory(File))
    path::append(File, "compile_commands.json");
  std::string Message = damageOf(File);
  if (!Message.empty())
    return llvm::createStringError("cannot read the compile commands in '" +
                                   File + "': " + Message);
  CompileDatabase Result;
  constexpr auto Syntax = clang::tooling::JSONCommandLineSyntax::AutoDetect;
  const std::string Text = withFolders(File);
  if (Text.empty())
    Result.Db = JSONCompilationDatabase::loadFromFile(File, Message, Syntax);
  else
    Result.Db = JSONCompilationDatabase::loadFromBuffer(Text, Message, Syntax);
  if (!Result.Db)
    return llvm::createStringError("cannot read the compile commands in '" +
                                   File +
                                   "': " + StringRef(Message).rtrim(". \n"));
  Result.readSourceMap(path::parent_path(File));
  return Result;
}

/// A file that is missing or damaged is none: then results are sources.
void CompileDatabase::readSourceMap(StringRef Folder) {
  SmallString<256> File(Folder);
  path::append(File, "rcache-sources.json");
  auto Buffer = llvm::MemoryBuffer::getFile(File, /*IsText=*/true);
  if (!Buffer)
    return;
  auto Parsed = llvm::json::parse((*Buffer)->getBuffer());
  if (!Parsed)
    return llvm::consumeError(Parsed.takeError());
  const llvm::json::Object *Map = Parsed->getAsObject();
  if (!Map)
    return;
  for (const auto &[Result, Source] : *Map)
    if (auto Name = Source.getAsString()) {
      SourceOf[absolutePath(Result)] = absolutePath(*Name);
      ResultsOf.emplace(absolutePath(*Name), absolutePath(Result));
    }
}

/// Calls \p Take for the compile commands above \p Folder, nearest first, until
/// it returns true.
static void eachAbove(StringRef Folder,
                      llvm::function_ref<bool(StringRef File)> Take) {
  for (; !Folder.empty(); Folder = path::parent_path(Folder))
    for (StringRef Sub : {"", "build"}) {
      SmallString<256> File(Folder);
      path::append(File, Sub, "compile_commands.json");
      if (fs::exists(File) && Take(File))
        return;
    }
}

std::optional<CompileDatabase> CompileDatabase::nearest(StringRef SourceFile,
                                                        std::string *Damaged) {
  std::optional<CompileDatabase> Knows, Infers;
  eachAbove(path::parent_path(SourceFile), [&](StringRef File) {
    auto Db = load(File);
    if (!Db) {
      const std::string Why = llvm::toString(Db.takeError());
      if (Damaged && Damaged->empty())
        *Damaged = Why;
      return false;
    }
    if (Db->find(SourceFile))
      Knows = std::move(*Db);
    else if (!Infers && Db->findOrInfer(SourceFile))
      Infers = std::move(*Db);
    return Knows.has_value();
  });
  return Knows ? std::move(Knows) : std::move(Infers);
}

std::string CompileDatabase::nearestTo(StringRef Folder) {
  std::string Found;
  eachAbove(Folder, [&](StringRef File) {
    Found = File.str();
    return true;
  });
  return Found;
}

std::optional<CompileFlags> CompileDatabase::find(StringRef SourceFile) const {
  std::vector<CompileCommand> Commands = Db->getCompileCommands(SourceFile);
  // A source that several targets rewrite is parsed as the first one does.
  auto [First, Last] = ResultsOf.equal_range(absolutePath(SourceFile));
  for (; Commands.empty() && First != Last; ++First)
    Commands = Db->getCompileCommands(First->second);
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

std::optional<CompileFlags>
CompileDatabase::findOrInfer(StringRef SourceFile) const {
  if (auto Known = find(SourceFile))
    return Known;
  const std::vector<std::string> Similar =
      bySimilarity(cudaFiles(), absolutePath(SourceFile));
  if (Similar.empty())
    return std::nullopt;
  auto Flags = find(Similar.front());
  if (Flags)
    Flags->InferredFrom = Similar.front();
  return Flags;
}

std::vector<std::string> CompileDatabase::cudaFiles() const {
  std::set<std::string> Files;
  for (const CompileCommand &C : Db->getAllCompileCommands())
    if (compilesCuda(C)) {
      std::string File = absolutePath(C.Filename, C.Directory);
      auto Source = SourceOf.find(File);
      Files.insert(Source == SourceOf.end() ? File : Source->second);
    }
  return {Files.begin(), Files.end()};
}

std::vector<std::string> CompileDatabase::includersOf(StringRef Header) const {
  return rcache::includersOf(
      Header, bySimilarity(cudaFiles(), absolutePath(Header)),
      [&](StringRef Source) { return find(Source).value_or(CompileFlags()); });
}

} // namespace rcache
