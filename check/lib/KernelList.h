// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a source file offers to a harness: kernels with the names of their
// parameters, variables with the kind of their elements.

#ifndef RCACHE_CHECK_KERNELLIST_H
#define RCACHE_CHECK_KERNELLIST_H

#include "Frontend.h"
#include "SourceFacts.h"

#include <memory>

namespace rcache::check {

enum class ElementKind { Integer, Float, Other };

struct KernelSignature {
  std::string Mangled;
  std::string Name; ///< qualified, with template arguments
  std::string Overload; ///< "(const float *, int)" where others have the name
  /// What tells it from all others.
  std::string label() const { return Name + Overload; }
  std::vector<std::string> ParamNames;
  std::vector<bool> ParamNoAlias; ///< __restrict__
  unsigned Dimensions = 1;        ///< 1 to 3: which of threadIdx are used
  bool DynamicShared = false;
};

struct VariableInfo {
  std::string Mangled;
  bool Constant = false;    ///< __constant__
  bool Initialised = false; ///< with something else than zero
  ElementKind Kind = ElementKind::Other;
  unsigned ElementSize = 4; ///< bytes
};

struct SourceSummary {
  std::vector<KernelSignature> Kernels;
  std::vector<VariableInfo> Variables;
  SourceFacts Facts;
};

/// The device code of \p Source, described in \p Out. Null with clang's
/// diagnostics in \p Log if it does not compile.
std::unique_ptr<llvm::Module> summarise(llvm::LLVMContext &Context,
                                        const std::string &Source,
                                        const FrontendOptions &Opts,
                                        SourceSummary &Out, std::string &Log);

} // namespace rcache::check

#endif
