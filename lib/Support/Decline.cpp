// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Look-up in the table of decline codes.

#include "rcache/Decline.h"

namespace rcache {

const std::vector<DeclineInfo> &allDeclines() {
  static const std::vector<DeclineInfo> Table = {
#define DECLINE(CODE, GROUP, TEXT, ADVICE) {CODE, GROUP, TEXT, ADVICE},
#include "Support/Declines.def"
  };
  return Table;
}

DeclineInfo declineInfo(const std::string &Code) {
  for (const DeclineInfo &Info : allDeclines())
    if (Code == Info.Code)
      return Info;
  return {};
}

std::string adviceOf(const Decline &D) {
  if (!D.Advice.empty())
    return D.Advice;
  const DeclineInfo Info = declineInfo(D.Code);
  return Info.Advice ? Info.Advice : "";
}

} // namespace rcache
