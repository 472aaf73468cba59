// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a parsed CUDA file to kernel models.
//
//     tokens + AST --buildModels--> one KernelModel a kernel or instantiation
//
// A TokenRecorder is attached to the preprocessor before parsing starts; it is
// what lets every AST node be placed in plain text, macros expanded.

#ifndef RCACHE_MODELBUILDER_H
#define RCACHE_MODELBUILDER_H

#include "rcache/Model.h"
#include <map>
#include <memory>
#include <vector>

namespace clang {
class ASTContext;
class Preprocessor;
} // namespace clang

namespace rcache {

/// Records, while a file is parsed, every token of user code (files that are no
/// system headers) after macro expansion, and the regions skipped by
/// preprocessor conditions.
class TokenRecorder {
public:
  struct Impl;

  /// Starts recording. Call before the first token is parsed. The recorder may
  /// die before \p PP does.
  explicit TokenRecorder(clang::Preprocessor &PP);
  ~TokenRecorder();
  TokenRecorder(const TokenRecorder &) = delete;
  TokenRecorder &operator=(const TokenRecorder &) = delete;

  const Impl &impl() const { return *P; }

private:
  std::unique_ptr<Impl> P;
};

struct ModelOptions {
  /// Budget of isl operations a kernel; 0: the default of AffineContext.
  unsigned long Budget = 0;
  /// Forms of kernels whose text has been written anew, by
  /// `formKey`.
  std::map<std::string, TextForm> Forms;
  /// The block of kernels of which no launch tells it.
  std::optional<std::array<int64_t, 3>> AssumedBlock;
  /// One kernel alone, by `formKey`, in blocks of this shape.
  std::optional<std::pair<std::string, std::array<int64_t, 3>>> Only;
};

/// Names the definition (all instantiations) of \p M in all texts of a file
/// that have its lines.
std::string textKey(const KernelModel &M);
/// The same for one instantiation.
std::string formKey(const KernelModel &M);

/// One model for each kernel definition in the main file, each kernel of a user
/// header that is launched in the main file, and each instantiation of a kernel
/// template. A template without instantiation gives one model with the decline
/// `not-instantiated`. Never fails: what cannot be modelled is a decline.
/// Models are in source order, instantiations in order of their text.
std::vector<std::unique_ptr<KernelModel>>
buildModels(clang::ASTContext &AST, clang::Preprocessor &PP,
            const TokenRecorder &Tokens, const ModelOptions &Opts = {});

} // namespace rcache

#endif // RCACHE_MODELBUILDER_H
