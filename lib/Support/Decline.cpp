// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Look-up in the table of decline codes.

#include "rcache/Decline.h"
#include <algorithm>

namespace rcache {

const std::vector<DeclineInfo> &allDeclines() {
  static const std::vector<DeclineInfo> Table = {
#define DECLINE(NAME, CODE, GROUP, TEXT, ADVICE, ...)                          \
  {CODE, GROUP, TEXT, ADVICE, 0u __VA_OPT__(| (__VA_ARGS__))},
#include "Support/Declines.def"
  };
  return Table;
}

const DeclineInfo &declineInfo(DeclineCode Code) {
  return allDeclines()[static_cast<size_t>(Code)];
}

std::optional<DeclineCode> declineCode(const std::string &Spelling) {
  const std::vector<DeclineInfo> &All = allDeclines();
  for (size_t I = 0; I < All.size(); ++I)
    if (Spelling == All[I].Code)
      return static_cast<DeclineCode>(I);
  return std::nullopt;
}

bool anyHas(const std::vector<Decline> &Declines, DeclineTrait T) {
  return std::any_of(Declines.begin(), Declines.end(),
                     [&](const Decline &D) { return has(D.Code, T); });
}

std::string adviceOf(const Decline &D) {
  return D.Advice.empty() ? declineInfo(D.Code).Advice : D.Advice;
}

} // namespace rcache
