// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Register hints (Plan::Hints), looked at without the planner: nothing else may
// differ from the original, and no launch may have more threads than are promised.

#ifndef RCACHE_VERIFY_HINTS_H
#define RCACHE_VERIFY_HINTS_H

#include "rcache/Plan.h"
#include <optional>
#include <string>

namespace rcache::verify {

/// What is wrong with the hints of \p P; \p Checks counts what was looked at.
std::optional<std::string> wrongHints(const Plan &P, uint64_t &Checks);

} // namespace rcache::verify

#endif // RCACHE_VERIFY_HINTS_H
