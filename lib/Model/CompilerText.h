// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text that another compiler, or another place in the file, reads otherwise.
// The model is made from what clang's preprocessor leaves of a kernel; nvcc
// compiles both forms. What the two preprocessors may disagree about is found
// here:
//
//     #ifdef __clang__ ...     a branch on a name that only compilers know
//     #define STEP 1           a macro made in such a branch, or from one
//     __LINE__, __COUNTER__    a macro whose value is its place
//
// Names with two underscores or an underscore and a capital belong to compilers
// and systems; those that clang's CUDA mode and nvcc define alike are listed,
// and so is a name that a file of the user defines itself (an include guard).
// Headers of the system and of the toolkit are taken to mean the same to both.

#ifndef RCACHE_LIB_MODEL_COMPILERTEXT_H
#define RCACHE_LIB_MODEL_COMPILERTEXT_H

#include "Effects.h"
#include "clang/Basic/SourceLocation.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace clang {
class FunctionDecl;
class Preprocessor;
class SourceManager;
} // namespace clang

namespace rcache {

/// Places in user files whose text depends on who reads it.
struct CompilerText {
  struct Region {
    clang::SourceLocation Begin, End; ///< `#if` and `#endif`, in one file
    std::string On;                   ///< the name that decides
  };
  struct Use {
    clang::SourceLocation At; ///< where the macro is expanded in a file
    std::string Name;
  };
  std::vector<Region> Regions;
  std::vector<Use> Uses;
  /// Names in the regions, each with the name that decides: nvcc may see another overload
  /// or specialisation in a part that clang leaves out.
  llvm::StringMap<std::string> LeftOut;

  /// What of the kernel \p FD, of the functions of the user that it calls, or
  /// of what it names of the user's files stands in such a place, if anything.
  std::optional<Obstacle> in(const clang::FunctionDecl *FD,
                             const clang::SourceManager &SM) const;
};

/// Is \p At, a place in a file, in one of the user's?
bool isInUserFile(const clang::SourceManager &SM, clang::SourceLocation At);

/// A conditional of the preprocessor, wherever it stands.
struct PPConditional {
  clang::SourceLocation Begin, End; ///< `if` and `endif`
  bool HasElse = false;             ///< or `elif`
};

/// Fills \p Into, while it lives, from what \p PP reads. \p Ended is told of
/// each conditional behind its `#endif`.
void listenForCompilerText(clang::Preprocessor &PP,
                           std::weak_ptr<CompilerText> Into,
                           std::function<void(const PPConditional &)> Ended);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_COMPILERTEXT_H
