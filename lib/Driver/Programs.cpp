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
  for (size_t I = 1; I < Args.size(); ++I) {
    const StringRef Arg = Args[I];
    if (Arg.size() < 2 || !Arg.starts_with("-"))
      continue;
    const StringRef Name = Arg.ltrim('-').split('=').first;
    bool Own = false, Nearly = false;
    for (auto &Entry : cl::getRegisteredOptions()) {
      const cl::Option &O = *Entry.second;
      if (O.getOptionHiddenFlag() == cl::ReallyHidden)
        continue;
      const StringRef Known = Entry.first;
      Own |= Known == Name || (O.getFormattingFlag() == cl::Prefix &&
                               !Known.empty() && Name.starts_with(Known));
      Nearly |= Name.size() > 3 && Name.edit_distance(Known) <= 2;
    }
    const FlagKind Kind = Own ? FlagKind::None : kindOfFlag(Arg);
    // `-lits` may be a slip of --list or a library; none of ours has a capital
    // letter (-Wall).
    if (Kind == FlagKind::None ||
        (Kind == FlagKind::Glued && Nearly && Name == Name.lower()))
      continue;
    const bool Value = Kind == FlagKind::WithNext && I + 1 < Args.size() &&
                       !StringRef(Args[I + 1]).starts_with("-");
    return llvm::createStringError(
        "'" + Arg +
        "' is a compiler's flag: these stand behind `--`, as in `-- " + Arg +
        (Value ? " " + StringRef(Args[I + 1]) : StringRef()) + "`");
  }
  return llvm::Error::success();
}

} // namespace rcache
