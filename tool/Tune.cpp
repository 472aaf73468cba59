// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tune.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace rcache {
namespace {

llvm::Error writeText(llvm::StringRef Path, llvm::StringRef Text) {
  std::error_code EC;
  llvm::raw_fd_ostream OS(Path, EC);
  if (!EC) {
    OS << Text;
    OS.close();
    EC = OS.error();
    OS.clear_error();
  }
  if (EC)
    return llvm::createStringError(EC, "cannot write '" + Path +
                                           "': " + EC.message());
  return llvm::Error::success();
}

/// --emit-candidates: KERNEL.cN.cu for each; one that cannot be written as
/// text has no file.
llvm::Error writeCandidates(llvm::StringRef Folder, TuneRequest &R) {
  if (std::error_code EC = llvm::sys::fs::create_directories(Folder))
    return llvm::createStringError(EC, "cannot make '" + Folder + "'");
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

} // namespace

TuneHook makeTuneHook(const ToolOptions &O, const ParseJob &Job) {
  if (!O.CandidatesFolder.empty())
    return [Folder = O.CandidatesFolder](TuneRequest &R) {
      return writeCandidates(Folder, R);
    };
  return {};
}

} // namespace rcache
