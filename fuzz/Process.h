// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program, catches what it prints, ends it after a time. May be used by
// several threads at once.

#ifndef RCACHE_FUZZ_PROCESS_H
#define RCACHE_FUZZ_PROCESS_H

#include <chrono>
#include <string>
#include <vector>

namespace rcache::fuzz {

struct Ran {
  int Exit = -1;  ///< exit status, -1 when it did not exit by itself
  int Signal = 0; ///< what ended it, else 0
  bool TimedOut = false, Started = true;
  std::string Out, Err;
  bool ok() const { return Started && !TimedOut && !Signal && Exit == 0; }
  /// "exit status 3", "signal 11", "timed out".
  std::string how() const;
};

/// Runs Args[0], found in PATH; its output goes through files named \p Stem
/// with ".out" and ".err". \p Seconds of wall time at most.
Ran run(const std::vector<std::string> &Args, const std::string &Stem,
        unsigned Seconds);

/// From \p When on nothing runs: what does is ended as if it had timed out.
void endRunsAt(std::chrono::steady_clock::time_point When);

std::string readFile(const std::string &Path);
bool writeFile(const std::string &Path, const std::string &Text);

} // namespace rcache::fuzz

#endif // RCACHE_FUZZ_PROCESS_H
