// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiler's flags in a command line that takes them behind `--`.

#include "Driver/NvccFlags.h"
#include "Driver/Usage.h"
#include "llvm/ADT/STLExtras.h"

namespace cl = llvm::cl;
using llvm::StringRef;

namespace rcache {

static llvm::Error checkPlace(llvm::ArrayRef<const char *> Args) {
  for (size_t I = 1; I < Args.size(); ++I) {
    const StringRef Arg = Args[I];
    if (Arg.size() < 2 || !Arg.starts_with("-"))
      continue;
    const StringRef Name = Arg.ltrim('-').split('=').first;
    if (optionOf(Name))
      continue;
    const FlagKind Kind = kindOfFlag(Arg);
    // `-lits` may be a slip of --list or a library; none of ours has a capital
    // letter (-Wall).
    const bool Nearly =
        Name.size() > 3 && llvm::any_of(cl::getRegisteredOptions(), [&](auto &Entry) {
          return isOurs(*Entry.second) && Name.edit_distance(Entry.first) <= 2;
        });
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

llvm::Error checkUsageBeforeFlags(llvm::ArrayRef<const char *> Args) {
  if (llvm::Error E = checkPlace(Args))
    return E;
  return checkUsage(Args);
}

} // namespace rcache
