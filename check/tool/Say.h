// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is told: lines on stderr, or one object of JSON at the end.

#ifndef RCACHE_CHECK_SAY_H
#define RCACHE_CHECK_SAY_H

#include "Runtime.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace rcache::check {

/// From now on what is said is kept for an object of JSON.
void keepWhatIsSaid();
/// Prints on stderr, or keeps it.
void say(const char *Format, ...) __attribute__((format(printf, 1, 2)));
/// What has been kept since the last call.
std::string takeSaid();

/// "equivalent" for a status of 0, "undefined-rewritten" for 4.
const char *statusName(int Status);

/// {"severity", "kind", "message", "file", "line", "column", "kernel", ...}
llvm::json::Object findingObject(const Finding &F);
/// Prints \p O on stdout.
void printObject(llvm::json::Object O);

} // namespace rcache::check

#endif
