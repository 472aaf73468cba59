// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version and crash text.

#include "Driver/Programs.h"
#include "Driver/CudaInstall.h"
#include "rcache/Config.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/raw_ostream.h"

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

} // namespace rcache
