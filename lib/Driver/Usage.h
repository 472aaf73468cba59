// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all programs say of a wrong command line, in words about the option and what
// it takes. cl's own words are about its parsers; they are what is left where nothing
// is found here.

#ifndef RCACHE_DRIVER_USAGE_H
#define RCACHE_DRIVER_USAGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <string>
#include <type_traits>

namespace rcache {

/// Of the value \p Text of an option: what it takes instead ("auto, always or
/// never"); empty where it takes this one.
using WhatElse = std::function<std::string(llvm::StringRef Text)>;

/// For checkUsage: \p What judges the values of \p O.
void judgeValues(const llvm::cl::Option &O, WhatElse What);

/// Empty if \p Text is one of the words of \p P, else these.
std::string otherWord(const llvm::cl::generic_parser_base &P, llvm::StringRef Text);

template <class T> class WordParser : public llvm::cl::parser<T> {
public:
  WordParser(llvm::cl::Option &O) : llvm::cl::parser<T>(O) {
    judgeValues(O, [this](llvm::StringRef Text) { return otherWord(*this, Text); });
  }
};

template <class T> class NumberParser : public llvm::cl::parser<T> {
public:
  NumberParser(llvm::cl::Option &O) : llvm::cl::parser<T>(O) {
    judgeValues(O, [](llvm::StringRef Text) -> std::string {
      T Value;
      if constexpr (std::is_floating_point_v<T>)
        return Text.getAsDouble(Value) ? "a number" : "";
      else
        return Text.getAsInteger(0, Value) ? "a whole number from 0 on" : "";
    });
  }
};

/// An option whose value is one of some words, by cl::values.
template <class T> using WordOption = llvm::cl::opt<T, false, WordParser<T>>;
/// An option whose value is a number.
template <class T> using NumberOption = llvm::cl::opt<T, false, NumberParser<T>>;

/// The one of \p Names that \p Wanted may have been meant to be: that it begins, or
/// is a slip away from; else empty.
llvm::StringRef nearest(llvm::StringRef Wanted, llvm::ArrayRef<llvm::StringRef> Names);

/// Not of those that --help never shows: these are LLVM's.
bool isOurs(const llvm::cl::Option &O);

/// The option of \p Command that \p Name is, or begins with where a value may
/// follow at once (-j4); else null.
const llvm::cl::Option *
optionOf(llvm::StringRef Name,
         llvm::cl::SubCommand &Command = llvm::cl::SubCommand::getTopLevel());

/// Before cl::ParseCommandLineOptions, with all options made: an error where there is
/// no such command or option; where an option lacks its value, takes none, takes
/// others, or names a second file. \p Args begin with the program (and its command,
/// where it has several) and end in front of `--`.
llvm::Error checkUsage(llvm::ArrayRef<const char *> Args);

/// The same for programs that take a compiler's flags behind `--`: where one of these
/// stands in front, the error says where it belongs. Needs clang, the rest does not.
llvm::Error checkUsageBeforeFlags(llvm::ArrayRef<const char *> Args);

} // namespace rcache

#endif // RCACHE_DRIVER_USAGE_H
