// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's part of a rewritten kernel: when it may be launched and how. Text
// for the body of the launch function (LaunchEmitter.cpp), in terms of `grid`,
// `block`, `shared`, `stream` and the kernel's parameters.

#ifndef RCACHE_EMIT_LAUNCHTEXT_H
#define RCACHE_EMIT_LAUNCHTEXT_H

#include "Lower/Kernel.h"
#include "Lower/Names.h"

namespace rcache {

/// Something that a launch is asked before it is one of the planned kernel.
struct LaunchCondition {
  std::string Text;  ///< C++
  std::string Words; ///< "why" or "C++ or words: why", for people and reports
};

class LaunchText {
public:
  LaunchText(const LoweredKernel &K, const KernelModel &M, const Plan &P,
             const std::string &Name)
      : K(K), M(M), P(P), Name(Name), Mapped(M, P) {}

  /// All that a launch has to satisfy, in the order in which it is asked: what is
  /// cheap to ask first.
  std::vector<LaunchCondition> conditions() const;
  /// The statements that launch the kernel. \p Void: with the arguments of
  /// cudaLaunchKernel, whose result is kept.
  std::string launch(bool Void) const;
  /// Is the launch to tell whether the waves of the planned kernel are over
  /// before those of the original?
  bool comparesWaves() const;
  /// Dynamic shared memory of the planned kernel's blocks.
  std::string sharedBytes() const;
  std::string ownBytes() const;

private:
  const LoweredKernel &K;
  const KernelModel &M;
  const Plan &P;
  const std::string Name;
  const Names Mapped;

  std::string N(const std::string &Base) const { return M.NamePrefix + Base; }
  std::vector<LaunchCondition> alignment() const;
  std::string largest(const std::string &Id, std::vector<std::string> &Factors) const;
  std::vector<std::string> noWrap() const;
  bool isSureToFit(const PrintedSum &S) const;
  void askWide(const PrintedSum &S, std::vector<std::string> &Out) const;
  bool knownPositive(const std::string &Text) const;
  std::string givenBlock() const;
  int64_t sureThreads() const;
  std::string threadsOfBlock() const;
  std::string allRounds() const;
  std::string shares(const std::string &Kernel, std::string &Blocks) const;
  std::string merged(std::string &Blocks, std::string &Threads,
                     const std::string &X, const std::string &Y,
                     const std::string &Z) const;
};

} // namespace rcache

#endif // RCACHE_EMIT_LAUNCHTEXT_H
