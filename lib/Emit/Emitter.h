// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model and its plan as CUDA source: the rewritten kernel and the host
// function that launches it or, when a precondition fails, the original.
//
//     __global__ void stencil(const float *a, float *b, int n) { ... }   stays
//     static __global__ void stencil_rc(const float *a, float *b, int n,
//                                       unsigned rc_grid_x) { ... }      new
//     static void stencil_rc_launch(dim3 grid, dim3 block, size_t shared,
//                                   cudaStream_t stream, const float *a, ...)

#ifndef RCACHE_EMIT_EMITTER_H
#define RCACHE_EMIT_EMITTER_H

#include "Lower/Lower.h"
#include "rcache/Plan.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <set>

namespace rcache {

struct EmittedKernel {
  std::string KernelName; ///< "stencil_rc"
  std::string Kernel;     ///< its definition, not formatted
  std::string Launch;     ///< the statement that launches it, for the launch
                          ///< function: `stencil_rc<<<...>>>(...);`
  std::string LaunchArgs; ///< the same by cudaLaunchKernel, with the pointers
                          ///< `rc_args`: `rc_result = cudaLaunchKernel(..);`
  std::string Condition;  ///< all that a launch is asked, C++
  std::vector<std::string> Conditions; ///< the same in words, a clause each
  std::set<std::string> Helpers; ///< blocks of rewrite.cuh that are used
};

/// Emits the kernel of \p M under the name \p Name. Errors say which statement
/// could not be written: CannotWrite, or else (`emit-failed`) a fault of ours.
llvm::Expected<EmittedKernel> emitKernel(const KernelModel &M, const Plan &P,
                                         const std::string &Name);

/// One instantiation (or the only one) of a kernel for the launch function.
struct LaunchCase {
  const KernelModel *M = nullptr;
  const EmittedKernel *K = nullptr;
  /// For launches that K's condition leaves, one after the other: by other
  /// plans.
  llvm::ArrayRef<EmittedKernel> Others;
};

/// `<T, N>` behind the name of a kernel template: its own parameters.
std::string templateArgsOf(const KernelModel &M);
/// The kernel of \p M by name for host code beside it, and as a pointer.
std::string originalName(const KernelModel &M);
std::string originalAddress(const KernelModel &M);

/// The host function \p Name and, if \p WithVoidArgs, its sibling
/// `<name>_args` for cudaLaunchKernel; \p WithConfigured: an overload whose
/// configuration was evaluated before (`configure` in rewrite.cuh). Cases of a
/// template are told apart by `if constexpr`; \p ForAll: the one case stands
/// for every instantiation.
std::string emitLaunchFunction(const std::vector<LaunchCase> &Cases,
                               bool ForAll, const std::string &Name,
                               bool WithVoidArgs, bool WithConfigured);

/// The text of the blocks of rewrite.cuh in \p Helpers and those they need.
/// \p ForRtc: NVRTC, which knows no host, leaves out what is of the host.
std::string runtimeText(const std::set<std::string> &Helpers,
                        bool ForRtc = false);
/// \p HostText, left out by NVRTC.
std::string withoutRtc(const std::string &HostText);
/// All of rewrite.cuh.
std::string wholeRuntimeText();

} // namespace rcache

#endif // RCACHE_EMIT_EMITTER_H
