// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/LateMacros.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using llvm::StringRef;

namespace rcache {

const char *const LateMacrosPath = "/rcache-builtin/late_macros.h";

/// Is \p Name one that headers may use for something of their own, and none that they
/// are configured by?
static bool isLate(StringRef Name) {
  constexpr size_t Short = 3;
  return !Name.empty() && Name.front() != '_' &&
         (Name.size() <= Short ||
          llvm::all_of(Name, [](char C) { return llvm::isLower(C) || llvm::isDigit(C); }));
}

LateMacros::LateMacros(const std::vector<std::string> &Flags) {
  if (llvm::any_of(Flags, [](StringRef F) { return F.starts_with("-U"); })) {
    Others = Flags;
    return;
  }
  for (size_t I = 0; I < Flags.size(); ++I) {
    StringRef Definition = Flags[I];
    const bool Apart = Definition == "-D" && I + 1 < Flags.size();
    if (Apart)
      Definition = Flags[I + 1];
    const bool Is = Apart || Definition.consume_front("-D");
    const auto [Head, Value] = Definition.split('=');
    if (!Is || !isLate(Head.take_until([](char C) { return C == '('; }))) {
      Others.push_back(Flags[I]);
      continue;
    }
    I += Apart;
    Text += ("#define " + Head + " " + (Definition.contains('=') ? Value : "1") + "\n").str();
  }
}

} // namespace rcache
