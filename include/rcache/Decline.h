// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a kernel is left as it is: a stable code, a sentence, a location.
// Codes and their texts are the table lib/Support/Declines.def.

#ifndef RCACHE_DECLINE_H
#define RCACHE_DECLINE_H

#include <string>
#include <vector>

namespace rcache {

/// A position in a source file, as the user counts: lines and columns from 1.
struct SourcePos {
  std::string File;
  unsigned Line = 0;
  unsigned Column = 0;
  unsigned Offset = 0; ///< bytes from the start of File

  bool operator==(const SourcePos &O) const {
    return File == O.File && Line == O.Line && Column == O.Column;
  }
};

/// One reason. \c Code is an entry of Declines.def ("shared-atomics");
/// \c Detail names what was met ("atomicAdd on 'hist'"). The general text and
/// the advice ("what would make it work") come from the table.
struct Decline {
  std::string Code;
  std::string Detail;
  SourcePos Pos;
  /// Instead of the table's advice, where the kernel at hand asks for another.
  std::string Advice = {};

  bool operator==(const Decline &O) const {
    return Code == O.Code && Detail == O.Detail && Pos == O.Pos;
  }
};

/// What the table says of a code; null texts for an unknown code.
struct DeclineInfo {
  const char *Code = nullptr;
  const char *Group = nullptr; ///< source, geometry, access, order, plan, gain
  const char *Text = nullptr;  ///< a sentence for the user
  const char *Advice = nullptr; ///< what would make it work
};

/// Looks \p Code up in Declines.def.
DeclineInfo declineInfo(const std::string &Code);

/// What would make the kernel work: \p D's own advice or the table's; "": none.
std::string adviceOf(const Decline &D);

/// All entries, in table order.
const std::vector<DeclineInfo> &allDeclines();

} // namespace rcache

#endif // RCACHE_DECLINE_H
