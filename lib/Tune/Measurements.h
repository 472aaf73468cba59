// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of candidates on devices, kept in a file from one run to the next
// (docs/tuning.md): JSON, one object a candidate.
//
// A kernel is found again by a key: a hash of its model (so of its text, of
// what macros and template arguments made of it, and of its launches) and of
// the options that decide which candidates there are.

#ifndef RCACHE_LIB_TUNE_MEASUREMENTS_H
#define RCACHE_LIB_TUNE_MEASUREMENTS_H

#include "rcache/Choice.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <optional>
#include <string>
#include <vector>

namespace rcache {

/// One candidate of one kernel on one device.
struct Measurement {
  std::string Key, Kernel;
  std::string Candidate; ///< Candidate::Id
  std::string Tool;      ///< version
  std::string Device, Arch;
  std::string Shape; ///< "grid 4096x1x1, block 256x1x1"
  std::optional<double> Milliseconds, OriginalMilliseconds;
  bool SameBits = true;
  /// Words that differ where the original's results may be undefined.
  int64_t UndefinedWords = 0;
  /// Why there is no time: it does not compile, crashed, took too long.
  std::string Failed;

  /// Is \p O about the same candidate on the same device?
  bool replaces(const Measurement &O) const {
    return Key == O.Key && Candidate == O.Candidate && Device == O.Device &&
           Tool == O.Tool;
  }
};

/// The key of \p M; \p Options: what else decides which candidates there are.
std::string measurementKey(const KernelModel &M, llvm::StringRef Options);

/// The part of an object that is known before anything has run.
llvm::json::Object whatIsMeasured(const Measurement &M);

/// Reads a file. One that does not exist is empty; one that is no file of
/// measurements is an error.
llvm::Expected<std::vector<Measurement>> readMeasurements(llvm::StringRef Path);

/// Adds \p New to a file; they replace what they are newer than.
llvm::Error addMeasurements(llvm::StringRef Path,
                            const std::vector<Measurement> &New);

/// $XDG_CACHE_HOME/rcache/tune.json, or that below ~/.cache; "" when there is
/// no such place.
std::string defaultMeasurementsPath();

/// What was found for one kernel.
struct Applied {
  unsigned Entries = 0, Times = 0;
  std::vector<unsigned> Differ; ///< candidates with other bits
  std::string Failure;          ///< of the first one without a time
  int64_t UndefinedWords = 0;   ///< the most of one candidate
};

/// Puts the times of \p All into the candidates of \p C: those of \p Device, or
/// (when it is empty) of the first device in the file with architecture \p
/// Arch. A candidate with other bits gets Failed.
Applied applyMeasurements(const std::vector<Measurement> &All,
                          llvm::StringRef Key, llvm::StringRef Tool,
                          llvm::StringRef Device, llvm::StringRef Arch,
                          Choice &C);

} // namespace rcache

#endif // RCACHE_LIB_TUNE_MEASUREMENTS_H
