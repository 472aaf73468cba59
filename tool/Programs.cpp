// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Programs.h.

#include "Programs.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

using llvm::StringRef;
namespace path = llvm::sys::path;
namespace fs = llvm::sys::fs;

namespace rcache {

std::string below(StringRef Folder, const llvm::Twine &Name) {
  llvm::SmallString<256> Path(Folder);
  path::append(Path, Name);
  return Path.str().str();
}

llvm::Error makeFolder(StringRef Folder) {
  if (std::error_code EC = fs::create_directories(Folder))
    return llvm::createStringError("cannot make '" + Folder +
                                   "': " + EC.message());
  return llvm::Error::success();
}

llvm::Error writeText(StringRef Path, StringRef Text) {
  std::error_code EC;
  llvm::raw_fd_ostream OS(Path, EC);
  if (!EC) {
    OS << Text;
    OS.close();
    EC = OS.error();
    OS.clear_error();
  }
  if (EC)
    return llvm::createStringError("cannot write '" + Path +
                                   "': " + EC.message());
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<TemporaryFolder>>
TemporaryFolder::make(StringRef Prefix) {
  auto T = std::make_unique<TemporaryFolder>();
  if (std::error_code EC = fs::createUniqueDirectory(Prefix, T->Path))
    return llvm::createStringError("cannot make a temporary folder: " +
                                   EC.message());
  return T;
}

TemporaryFolder::~TemporaryFolder() {
  if (!Path.empty())
    fs::remove_directories(Path);
}

llvm::Expected<Ran> runAndCatch(StringRef Program,
                                const std::vector<std::string> &Args,
                                unsigned Seconds) {
  auto Folder = TemporaryFolder::make("rcache-run");
  if (!Folder)
    return Folder.takeError();
  const std::string Out = below((*Folder)->Path, "out"),
                    Err = below((*Folder)->Path, "err");
  std::vector<StringRef> Refs = {Program};
  Refs.insert(Refs.end(), Args.begin(), Args.end());
  const std::optional<StringRef> Redirects[] = {StringRef(""), StringRef(Out),
                                                StringRef(Err)};
  Ran R;
  R.Status = llvm::sys::ExecuteAndWait(Program, Refs, std::nullopt, Redirects,
                                       Seconds, 0, &R.Why);
  auto Read = [](StringRef Path) {
    auto Buffer = llvm::MemoryBuffer::getFile(Path);
    return Buffer ? (*Buffer)->getBuffer().str() : std::string();
  };
  R.Out = Read(Out);
  R.Err = Read(Err);
  return R;
}

llvm::Expected<std::string> runProgram(StringRef Program,
                                       const std::vector<std::string> &Args,
                                       unsigned Seconds) {
  auto R = runAndCatch(Program, Args, Seconds);
  if (!R)
    return R.takeError();
  if (R->Status != 0)
    return llvm::createStringError(
        "'" + Program +
        "' failed: " + (R->Why.empty() ? R->Err.substr(0, 500) : R->Why));
  return std::move(R->Out);
}

} // namespace rcache
