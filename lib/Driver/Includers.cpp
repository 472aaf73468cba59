// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Includers.h.

#include "Driver/Includers.h"
#include "Driver/NvccFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace rcache {
namespace {

/// A project has more files than this only where what is followed is no project.
constexpr size_t EnoughFiles = 2000;

/// The names that \p Text includes, as they are written.
std::vector<std::string> namesIncluded(StringRef Text) {
  std::vector<std::string> Names;
  for (StringRef Line : llvm::split(Text, '\n')) {
    Line = Line.ltrim();
    if (!Line.consume_front("#"))
      continue;
    Line = Line.ltrim();
    if (!Line.consume_front("include"))
      continue;
    Line = Line.ltrim();
    if (Line.consume_front("\""))
      Names.push_back(Line.take_until([](char C) { return C == '"'; }).str());
    else if (Line.consume_front("<"))
      Names.push_back(Line.take_until([](char C) { return C == '>'; }).str());
  }
  return Names;
}

/// The folders of -I and its like.
std::vector<std::string> foldersOf(const CompileFlags &Flags) {
  std::vector<std::string> Folders;
  auto Clang = translateFlags(Flags.Flags, Flags.FromNvcc, Flags.Directory);
  if (!Clang) {
    llvm::consumeError(Clang.takeError());
    return Folders;
  }
  for (size_t I = 0; I < Clang->Flags.size(); ++I) {
    StringRef Flag = Clang->Flags[I];
    if (Flag == "-I" || Flag == "-isystem" || Flag == "-iquote") {
      if (++I == Clang->Flags.size())
        break;
      Flag = Clang->Flags[I];
    } else if (!Flag.consume_front("-I")) {
      continue;
    }
    Folders.push_back(absolutePath(Flag, Flags.Directory));
  }
  return Folders;
}

class Search {
  const std::string Header;
  std::map<std::string, std::vector<std::string>> Included; ///< by file

  const std::vector<std::string> &includedIn(const std::string &File) {
    auto [At, New] = Included.try_emplace(File);
    if (New && fs::is_regular_file(File)) // a pipe would be waited for
      if (auto Buffer = llvm::MemoryBuffer::getFile(File, /*IsText=*/true))
        At->second = namesIncluded((*Buffer)->getBuffer());
    return At->second;
  }

  bool isHeader(const std::string &File) const {
    return File == Header || (path::filename(File) == path::filename(Header) &&
                              fs::equivalent(File, Header));
  }

public:
  explicit Search(StringRef Header) : Header(absolutePath(Header)) {}

  bool reachedFrom(const std::string &Source, const std::vector<std::string> &Folders) {
    std::set<std::string> Seen = {Source};
    std::vector<std::string> Open = {Source};
    while (!Open.empty() && Seen.size() < EnoughFiles) {
      const std::string File = std::move(Open.back());
      Open.pop_back();
      for (const std::string &Name : includedIn(File)) {
        std::string Found = absolutePath(Name, path::parent_path(File));
        for (size_t I = 0; I < Folders.size() && !fs::is_regular_file(Found); ++I)
          Found = absolutePath(Name, Folders[I]);
        if (!fs::is_regular_file(Found))
          continue; // the toolkit's, or the system's
        if (isHeader(Found))
          return true;
        if (Seen.insert(Found).second)
          Open.push_back(std::move(Found));
      }
    }
    return false;
  }
};

/// Adds the CUDA sources in \p Folder, sorted, and its folders.
void look(StringRef Folder, std::vector<std::string> &Sources,
          std::vector<std::string> &Inner, size_t &Left) {
  std::vector<std::string> Here;
  std::error_code EC;
  for (fs::directory_iterator I(Folder, EC), End; !EC && I != End && Left; I.increment(EC)) {
    --Left;
    const StringRef Name = path::filename(I->path());
    if (Name.starts_with("."))
      continue;
    if (fs::is_directory(I->path()))
      Inner.push_back(I->path());
    else if (Name.ends_with(".cu"))
      Here.push_back(I->path());
  }
  llvm::sort(Here);
  llvm::sort(Inner);
  llvm::append_range(Sources, Here);
}

bool isProject(StringRef Folder) {
  return fs::exists(Folder + "/.git") || fs::exists(Folder + "/compile_commands.json");
}

} // namespace

bool isHeader(StringRef File) {
  return !llvm::is_contained({".cu", ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cp"},
                             path::extension(File)) &&
         !path::extension(File).empty();
}

std::vector<std::string>
includersOf(StringRef Header, llvm::ArrayRef<std::string> Sources,
            llvm::function_ref<CompileFlags(StringRef Source)> FlagsOf) {
  Search In(Header);
  std::vector<std::string> Found;
  for (const std::string &Source : Sources)
    if (In.reachedFrom(Source, foldersOf(FlagsOf(Source))))
      Found.push_back(Source);
  return Found;
}

std::vector<std::string> sourcesNear(StringRef File) {
  std::vector<std::string> Sources;
  std::set<std::string> Seen;
  size_t Left = EnoughFiles;
  std::string Folder = path::parent_path(absolutePath(File)).str();
  for (unsigned Up = 0; Up < 3 && !Folder.empty(); ++Up) {
    std::vector<std::string> Inner, None;
    if (Seen.insert(Folder).second)
      look(Folder, Sources, Inner, Left);
    for (const std::string &Sub : Inner)
      if (Seen.insert(Sub).second)
        look(Sub, Sources, None, Left);
    if (isProject(Folder) || path::parent_path(Folder) == path::root_path(Folder))
      break;
    Folder = path::parent_path(Folder).str();
  }
  return Sources;
}

std::string headerHelp(StringRef Header, llvm::ArrayRef<std::string> Includers) {
  const std::string Is =
      "'" + path::filename(Header).str() +
      "' is a header: its kernels are rewritten in the sources that launch them; ";
  if (Includers.empty())
    return Is + "none that includes it was found in the compile commands or near it: name "
                "one, with its flags";
  return Is + "'" + Includers.front() + "' includes it" +
         (Includers.size() > 1 ? ", and " + std::to_string(Includers.size() - 1) + " more"
                               : std::string());
}

} // namespace rcache
