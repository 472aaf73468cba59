// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Usage.h.

#include "Driver/Usage.h"
#include "Driver/NvccFlags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <map>
#include <vector>

namespace cl = llvm::cl;
using llvm::StringRef;

namespace rcache {

namespace {

/// Options may be made before this file's variables are.
std::map<const cl::Option *, WhatElse> &judges() {
  static std::map<const cl::Option *, WhatElse> Judges;
  return Judges;
}

/// "a", "a or b", "a, b or c".
std::string oneOf(llvm::ArrayRef<StringRef> Words) {
  if (Words.size() < 2)
    return llvm::join(Words, "");
  return llvm::join(Words.drop_back(), ", ") + " or " + Words.back().str();
}

/// As it is written: -o, --list.
std::string spelled(StringRef Name) {
  return (Name.size() == 1 ? "-" : "--") + Name.str();
}

/// Options that --help never shows are LLVM's, not ours.
bool isOurs(const cl::Option &O) {
  return O.getOptionHiddenFlag() != cl::ReallyHidden;
}

/// The option that \p Name is, or begins with where a value may follow at once
/// (-j4); else null.
const cl::Option *optionOf(StringRef Name) {
  for (auto &[Known, O] : cl::getRegisteredOptions())
    if (isOurs(*O) && (Known == Name || (O->getFormattingFlag() == cl::Prefix &&
                                         !Known.empty() && Name.starts_with(Known))))
      return O;
  return nullptr;
}

llvm::Error checkPlaceOfFlags(llvm::ArrayRef<const char *> Args) {
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

llvm::Error noSuchOption(StringRef Arg) {
  std::vector<StringRef> Names;
  for (auto &[Known, O] : cl::getRegisteredOptions())
    if (O->getOptionHiddenFlag() == cl::NotHidden)
      Names.push_back(Known);
  llvm::sort(Names);
  const auto [Name, Value] = Arg.ltrim('-').split('=');
  const StringRef Near = nearest(Name, Names);
  return llvm::createStringError(
      "there is no option '" + Arg + "'" +
      (Near.empty() ? ""
                    : "; did you mean '" + spelled(Near) +
                          (Value.empty() ? "" : "=" + Value.str()) + "'?"));
}

/// "--report=file", "-o file".
std::string withValue(const cl::Option &O) {
  const StringRef Value = O.ValueStr.empty() ? "value" : O.ValueStr;
  return spelled(O.ArgStr) + (O.ArgStr.size() == 1 ? " " : "=") + Value.str();
}

llvm::Error checkValue(const cl::Option &O, StringRef Value) {
  auto Judge = judges().find(&O);
  if (Judge == judges().end())
    return llvm::Error::success();
  const std::string Takes = Judge->second(Value);
  if (Takes.empty())
    return llvm::Error::success();
  return llvm::createStringError(spelled(O.ArgStr) + " takes " + Takes + ", not '" +
                                 Value + "'");
}

} // namespace

void judgeValues(const cl::Option &O, WhatElse What) {
  judges()[&O] = std::move(What);
}

std::string otherWord(const cl::generic_parser_base &P, StringRef Text) {
  std::vector<StringRef> Words;
  for (unsigned I = 0; I < P.getNumOptions(); ++I)
    Words.push_back(P.getOption(I));
  return llvm::is_contained(Words, Text) ? "" : oneOf(Words);
}

StringRef nearest(StringRef Wanted, llvm::ArrayRef<StringRef> Names) {
  StringRef Best;
  size_t Least = 2 + Wanted.size() / 4;
  for (StringRef Name : Names) {
    const size_t Distance = Wanted.size() > 2 && Name.starts_with(Wanted)
                                ? 0
                                : Wanted.edit_distance(Name);
    // Of one letter any other letter is a slip.
    if (Distance < Least && Distance < Name.size())
      Best = Name, Least = Distance;
  }
  return Best;
}

llvm::Error checkUsage(llvm::ArrayRef<const char *> Args) {
  if (llvm::Error E = checkPlaceOfFlags(Args))
    return E;
  for (size_t I = 1; I < Args.size(); ++I) {
    const StringRef Arg = Args[I];
    if (Arg.size() < 2 || !Arg.starts_with("-"))
      continue;
    const bool HasValue = Arg.contains('=');
    auto [Name, Value] = Arg.ltrim('-').split('=');
    const cl::Option *O = optionOf(Name);
    if (!O && Name == "h")
      continue; // cl's, for --help; made when it reads the arguments
    if (!O)
      return noSuchOption(Arg);
    if (Name.size() > O->ArgStr.size())
      continue; // -j4: its value is read as a text
    if (O->getValueExpectedFlag() == cl::ValueRequired) {
      if (!HasValue && ++I == Args.size()) {
        const std::string Takes =
            judges().count(O) ? judges()[O]("") : std::string();
        return llvm::createStringError(
            spelled(Name) + " needs a value" +
            (Takes.empty() ? ", as in " + withValue(*O) : ": " + Takes));
      }
      if (llvm::Error E = checkValue(*O, HasValue ? Value : StringRef(Args[I])))
        return E;
    } else if (HasValue && !llvm::is_contained({"true", "false", "1", "0"}, Value)) {
      return llvm::createStringError("'" + Arg + "': " + spelled(Name) +
                                     " takes no value");
    }
  }
  return llvm::Error::success();
}

} // namespace rcache
