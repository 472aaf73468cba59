// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a kernel is left as it is: a stable code, a sentence, a location.
// Codes, their texts and what else is asked of them are the table
// lib/Support/Declines.def.

#ifndef RCACHE_DECLINE_H
#define RCACHE_DECLINE_H

#include <cstdint>
#include <optional>
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

/// The entries of Declines.def, in its order.
enum class DeclineCode : uint8_t {
#define DECLINE(NAME, ...) NAME,
#include "Support/Declines.def"
};

/// What is asked of a code where others decide what to do about a kernel.
enum DeclineTrait : unsigned {
  /// The model has no more than the kernel's head: that it has no shared array
  /// says nothing.
  TraitHeadOnly = 1,
  /// Calls that are written out in the text may take the reason away.
  TraitHiddenByCall = 2,
  /// Calls may not be written out: the text that comes of it has no branches.
  TraitKeepsCalls = 4,
  /// No other text of the kernel would be planned.
  TraitKeepsText = 8,
  /// Conditions in front of what they guard may take the reason away.
  TraitGuardsFirst = 16,
  /// As a reason of an array: slots cannot share it as threads did.
  TraitNoSlots = 32,
  /// Holds of a kernel with errors as well, and says more than they do.
  TraitDespiteErrors = 64,
  /// Says what cannot be told of shared data, lanes or slots: the kernel's text in
  /// another kernel does what it did.
  TraitCopied = 128
};

/// One reason. \c Detail names what was met ("atomicAdd on 'hist'"). The
/// general text and the advice ("what would make it work") come from the table.
struct Decline {
  DeclineCode Code;
  std::string Detail;
  SourcePos Pos;
  /// Instead of the table's advice, where the kernel at hand asks for another.
  std::string Advice = {};
  /// It is proved that the original is undefined here.
  bool Undefined = false;

  bool operator==(const Decline &O) const {
    return Code == O.Code && Detail == O.Detail && Pos == O.Pos;
  }
};

/// What the table says of a code.
struct DeclineInfo {
  const char *Code;   ///< as everybody outside spells it: "shared-atomics"
  const char *Group;  ///< source, geometry, access, order, plan, gain
  const char *Text;   ///< a sentence for the user
  const char *Advice; ///< what would make it work
  unsigned Traits;    ///< DeclineTrait bits
};

const DeclineInfo &declineInfo(DeclineCode Code);

/// "shared-atomics": in reports, messages and documentation.
inline std::string spelling(DeclineCode Code) { return declineInfo(Code).Code; }
/// The code that is spelled so; nullopt: none is.
std::optional<DeclineCode> declineCode(const std::string &Spelling);

inline bool has(DeclineCode Code, DeclineTrait T) {
  return (declineInfo(Code).Traits & T) != 0;
}
/// Has one of \p Declines a code with \p T?
bool anyHas(const std::vector<Decline> &Declines, DeclineTrait T);

/// What would make the kernel work: \p D's own advice or the table's; "": none.
std::string adviceOf(const Decline &D);

/// All entries, in table order.
const std::vector<DeclineInfo> &allDeclines();

} // namespace rcache

#endif // RCACHE_DECLINE_H
