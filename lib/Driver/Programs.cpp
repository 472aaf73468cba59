// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version, crash text, and flags on the wrong side of `--`.

#include "Driver/Programs.h"
#include "Driver/CudaInstall.h"
#include "Driver/NvccFlags.h"
#include "rcache/Config.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;
using llvm::StringRef;

namespace rcache {

void printVersion(llvm::raw_ostream &OS, StringRef Program, StringRef Commit) {
  OS << Program << ' ' << RCACHE_VERSION << " (" << Commit << ")\n"
     << "LLVM and clang " << LLVM_VERSION_STRING << '\n';
  if (auto Cuda = findCudaInstall("")) {
    const std::string Version = cudaVersionText(Cuda->Version);
    OS << "CUDA " << (Version.empty() ? "of unknown version" : Version)
       << " in " << Cuda->Path << '\n';
    if (!Cuda->Note.empty())
      OS << "  " << Cuda->Note << '\n';
  } else {
    OS << llvm::toString(Cuda.takeError()) << '\n';
  }
}

const char *const BugReportText =
    "This is a bug of rcache, and nothing has been written. Please report it "
    "with the\nsource, or a part of it that crashes as well, the command line, "
    "what --version prints,\nand the lines below.\n";

llvm::Error checkPlaceOfFlags(llvm::ArrayRef<const char *> Args) {
  for (StringRef Arg : Args.drop_front()) {
    if (Arg.size() < 2 || !Arg.starts_with("-"))
      continue;
    const StringRef Name = Arg.ltrim('-').split('=').first;
    bool OwnOrNearly = false;
    for (auto &Entry : cl::getRegisteredOptions()) {
      const cl::Option &O = *Entry.second;
      if (O.getOptionHiddenFlag() == cl::ReallyHidden)
        continue;
      const StringRef Own = Entry.first;
      const bool Glued = O.getFormattingFlag() == cl::Prefix && !Own.empty() &&
                         Name.starts_with(Own);
      OwnOrNearly |= Glued || Own == Name ||
                     (Name.size() > 3 && Name.edit_distance(Own) <= 2);
    }
    if (!OwnOrNearly && isCompilerFlag(Arg))
      return llvm::createStringError(
          "'" + Arg +
          "' is a compiler's flag: these stand behind `--`, as in `-- " + Arg +
          "`");
  }
  return llvm::Error::success();
}

} // namespace rcache
