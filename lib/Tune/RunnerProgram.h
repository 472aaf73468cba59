// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that time a candidate beside its original on a device.
//
//     FOLDER/run.sh                builds and runs all, writes measurements
//     FOLDER/runner.cuh            what the programs share
//     FOLDER/KERNEL-HASH/cN.cu     the user's file with candidate N, and a main
//     FOLDER/KERNEL-HASH/cN.what   what is measured, for the file of
//     measurements FOLDER/KERNEL-HASH/flags     nvcc's flags, one a line
//
// The launch is the one in the file where its grid, block and shared bytes are
// made of constants and of what the kernel gets; else one is assumed.

#ifndef RCACHE_LIB_TUNE_RUNNERPROGRAM_H
#define RCACHE_LIB_TUNE_RUNNERPROGRAM_H

#include "rcache/Model.h"
#include "llvm/Support/Error.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rcache {

struct RunnerOptions {
  /// --tune-n: elements that the launch computes; extents follow from it, also
  /// where the file shows others.
  std::optional<int64_t> Elements;
  /// --tune-arg: values of integer parameters, by name.
  std::map<std::string, int64_t> Arguments;
  std::optional<std::array<int64_t, 3>> AssumedBlock;
  bool Covered = true; ///< Candidate::Covered
};

/// The program: \p Text (a whole file in which \p M's kernel has a launch
/// function) with another main. The error says why the kernel cannot be run by
/// itself.
llvm::Expected<std::string> runnerProgram(const KernelModel &M,
                                          const std::string &Text,
                                          const RunnerOptions &O);

/// The files that the programs share: name -> text.
std::map<std::string, std::string> runnerFiles();

} // namespace rcache

#endif // RCACHE_LIB_TUNE_RUNNERPROGRAM_H
