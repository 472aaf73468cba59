// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that the program's host code starts. Where two programs are compared,
// their launches must come in the same order: then a thread runs to its end, or
// until it waits for another one, before the thread that has started it goes
// on.

#ifndef RCACHE_CHECK_RUNTIME_HOSTTHREADS_H
#define RCACHE_CHECK_RUNTIME_HOSTTHREADS_H

#include <string>
#include <utility>
#include <vector>

namespace rcache::check {

/// From now on threads of the program run one after the other.
void serialiseHostThreads();
/// The calling thread: "main", or "main.2.1", the first thread that the second
/// one of main has started.
const std::string &hostThread();
/// How many threads had to be left waiting for others: beyond these the order
/// of launches is nobody's.
unsigned waitingHostThreads();

/// While it lives, the calling thread waits for the runtime and for nobody
/// else.
class InRuntime {
public:
  InRuntime();
  ~InRuntime();
  InRuntime(const InRuntime &) = delete;
};

std::vector<std::pair<std::string, void *>> threadSymbols();

} // namespace rcache::check

#endif
