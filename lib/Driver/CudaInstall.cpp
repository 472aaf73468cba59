// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for the CUDA toolkit and for clang's resource directory.

#include "Driver/CudaInstall.h"
#include "rcache/Config.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include <algorithm>
#include <vector>

using llvm::SmallString;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace rcache {
namespace {

bool hasRuntimeHeader(StringRef Folder) {
  SmallString<128> Header(Folder);
  path::append(Header, "include", "cuda_runtime.h");
  return fs::exists(Header);
}

/// The number behind `#define CUDA_VERSION` in cuda.h.
unsigned readVersion(StringRef Folder) {
  SmallString<128> Header(Folder);
  path::append(Header, "include", "cuda.h");
  auto Buffer = llvm::MemoryBuffer::getFile(Header, /*IsText=*/true);
  if (!Buffer)
    return 0;
  StringRef Text = (*Buffer)->getBuffer();
  size_t Pos = Text.find("#define CUDA_VERSION");
  if (Pos == StringRef::npos)
    return 0;
  Text =
      Text.drop_front(Pos + StringRef("#define CUDA_VERSION").size()).ltrim();
  unsigned Version = 0;
  Text.consumeInteger(10, Version);
  return Version;
}

CudaInstall describe(StringRef Folder) {
  CudaInstall Install;
  Install.Path = Folder.str();
  SmallString<128> Cccl(Folder);
  path::append(Cccl, "include", "cccl");
  if (fs::is_directory(Cccl))
    Install.CcclPath = Cccl.str().str();
  Install.Version = readVersion(Folder);
  return Install;
}

/// Version numbers of a folder name, for sorting: "cuda-12.9" -> {12, 9}.
std::vector<unsigned> versionOf(StringRef Name) {
  std::vector<unsigned> Numbers;
  while (!Name.empty()) {
    Name = Name.drop_until(llvm::isDigit);
    unsigned Number = 0;
    if (Name.empty() || Name.consumeInteger(10, Number))
      break;
    Numbers.push_back(Number);
  }
  return Numbers;
}

/// Folders to look at. \p Note: on variables that lead to none.
std::vector<std::string> candidates(std::string &Note) {
  std::vector<std::string> Result;
  for (const char *Name : {"CUDA_PATH", "CUDA_HOME", "CUDA_ROOT"})
    if (auto Value = llvm::sys::Process::GetEnv(Name);
        Value && !Value->empty()) {
      Result.push_back(*Value);
      if (Note.empty() && !hasRuntimeHeader(*Value))
        Note = std::string(Name) + " is '" + *Value + "', but " +
               (fs::is_directory(*Value) ? "there is no include/cuda_runtime.h"
                                         : "there is no such folder");
    }
  if (auto Nvcc = llvm::sys::findProgramByName("nvcc")) {
    SmallString<128> Real;
    if (!fs::real_path(*Nvcc, Real))
      Result.push_back(path::parent_path(path::parent_path(Real)).str());
  }
  Result.push_back("/usr/local/cuda");
  std::vector<std::string> Versions;
  std::error_code EC;
  for (fs::directory_iterator It("/usr/local", EC), End; It != End && !EC;
       It.increment(EC))
    if (path::filename(It->path()).starts_with("cuda-"))
      Versions.push_back(It->path());
  llvm::sort(Versions, [](const std::string &A, const std::string &B) {
    return versionOf(path::filename(A)) > versionOf(path::filename(B));
  });
  Result.insert(Result.end(), Versions.begin(), Versions.end());
  Result.push_back("/opt/cuda");
  Result.push_back("/usr/lib/cuda");
  return Result;
}

bool isResourceDir(StringRef Folder) {
  SmallString<128> Header(Folder);
  path::append(Header, "include", "__clang_cuda_runtime_wrapper.h");
  return fs::exists(Header);
}

} // namespace

std::string cudaVersionText(unsigned Version) {
  return Version == 0 ? ""
                      : std::to_string(Version / 1000) + "." +
                            std::to_string(Version % 1000 / 10);
}

llvm::Expected<CudaInstall> findCudaInstall(StringRef Wanted) {
  if (!Wanted.empty()) {
    if (hasRuntimeHeader(Wanted))
      return describe(Wanted);
    return llvm::createStringError("no CUDA toolkit in '" + Wanted +
                                   "': include/cuda_runtime.h is not there");
  }
  std::string Seen, Note;
  for (const std::string &Folder : candidates(Note)) {
    if (hasRuntimeHeader(Folder)) {
      CudaInstall Install = describe(Folder);
      if (!Note.empty())
        Install.Note = Note + "; the toolkit in '" + Folder + "' is taken";
      return Install;
    }
    Seen += (Seen.empty() ? "" : ", ") + Folder;
  }
  return llvm::createStringError("no CUDA toolkit found (looked in " + Seen +
                                 "); pass --cuda-path=DIR");
}

std::string findResourceDir(StringRef ToolPath) {
  std::vector<std::string> Folders;
  const std::string Major = std::to_string(RCACHE_CLANG_MAJOR);
  if (!ToolPath.empty()) {
    const StringRef Prefix = path::parent_path(path::parent_path(ToolPath));
    // Of a package that brings its own, then of a clang in the same place.
    SmallString<128> Beside(Prefix);
    path::append(Beside, "lib", "rcache", "clang", Major);
    Folders.push_back(Beside.str().str());
    Beside = Prefix;
    path::append(Beside, "lib", "clang", Major);
    Folders.push_back(Beside.str().str());
  }
  Folders.push_back(RCACHE_CLANG_RESOURCE_DIR);
  Folders.push_back("/usr/lib/llvm-" + Major + "/lib/clang/" + Major);
  Folders.push_back("/usr/lib/clang/" + Major);
  Folders.push_back("/usr/local/lib/clang/" + Major);
  for (const std::string &Folder : Folders)
    if (isResourceDir(Folder))
      return Folder;
  return "";
}

} // namespace rcache
