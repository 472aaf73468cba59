// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Usage.h.

#include "Driver/Usage.h"
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

llvm::Error noSuchOption(StringRef Arg, cl::SubCommand &Command) {
  std::vector<StringRef> Names;
  for (auto &[Known, O] : cl::getRegisteredOptions(Command))
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

/// The command that \p Args begin with, where the program has several; the program
/// itself where it has none, or an option stands in its place (--version).
llvm::Expected<cl::SubCommand *> commandOf(llvm::ArrayRef<const char *> Args) {
  std::vector<StringRef> Names;
  for (cl::SubCommand *Sub : cl::getRegisteredSubcommands())
    if (Sub != &cl::SubCommand::getTopLevel() && Sub != &cl::SubCommand::getAll())
      Names.push_back(Sub->getName());
  if (Names.empty() || Args.size() < 2 || StringRef(Args[1]).starts_with("-"))
    return &cl::SubCommand::getTopLevel();
  for (cl::SubCommand *Sub : cl::getRegisteredSubcommands())
    if (Sub->getName() == Args[1])
      return Sub;
  const StringRef Near = nearest(Args[1], Names);
  llvm::sort(Names);
  return llvm::createStringError(
      "there is no command '" + StringRef(Args[1]) + "'; " +
      (Near.empty() ? "it is " + oneOf(Names) : "did you mean '" + Near.str() + "'?"));
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

bool isOurs(const cl::Option &O) {
  return O.getOptionHiddenFlag() != cl::ReallyHidden;
}

const cl::Option *optionOf(StringRef Name, cl::SubCommand &Command) {
  for (auto &[Known, O] : cl::getRegisteredOptions(Command))
    if (isOurs(*O) && (Known == Name || (O->getFormattingFlag() == cl::Prefix &&
                                         !Known.empty() && Name.starts_with(Known))))
      return O;
  return nullptr;
}

llvm::Error checkUsage(llvm::ArrayRef<const char *> Args) {
  auto Command = commandOf(Args);
  if (!Command)
    return Command.takeError();
  cl::SubCommand &Sub = **Command;
  std::map<const cl::Option *, StringRef> Files;
  for (size_t I = &Sub == &cl::SubCommand::getTopLevel() ? 1 : 2; I < Args.size(); ++I) {
    const StringRef Arg = Args[I];
    if (Arg.size() < 2 || !Arg.starts_with("-")) {
      if (Sub.PositionalOpts.empty())
        return llvm::createStringError("'" + Arg + "' is no option, and nothing else is "
                                       "taken here");
      continue;
    }
    const bool HasValue = Arg.contains('=');
    auto [Name, Value] = Arg.ltrim('-').split('=');
    const cl::Option *O = optionOf(Name, Sub);
    if (!O && Name == "h")
      continue; // cl's, for --help; made when it reads the arguments
    if (!O)
      return noSuchOption(Arg, Sub);
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
      const StringRef Given = HasValue ? Value : StringRef(Args[I]);
      if (llvm::Error E = checkValue(*O, Given))
        return E;
      // Of two numbers the last one counts, as everywhere; of two files one would
      // never be written, or read.
      if (O->ValueStr.starts_with("file") && O->getNumOccurrencesFlag() == cl::Optional) {
        auto [First, New] = Files.try_emplace(O, Given);
        if (!New && First->second != Given)
          return llvm::createStringError(spelled(Name) + " is there twice: '" +
                                         First->second + "' and '" + Given + "'");
      }
    } else if (HasValue && !llvm::is_contained({"true", "false", "1", "0"}, Value)) {
      return llvm::createStringError("'" + Arg + "': " + spelled(Name) +
                                     " takes no value");
    }
  }
  return llvm::Error::success();
}

} // namespace rcache
