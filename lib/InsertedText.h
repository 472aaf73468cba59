// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is inserted for a kernel, and how the preprocessor would read it there:
//
//     #define y 1
//     __global__ void k(...) { ... }
//     <- the new kernel and its launch function, with `rc_grid.y`
//     #undef y
//
// Every word that goes into the user's file is asked for, with the macros of the place
// where it goes. Words that are the user's own there mean what they mean.

#ifndef RCACHE_INSERTEDTEXT_H
#define RCACHE_INSERTEDTEXT_H

#include "Emit/Emitter.h"
#include "Model/UsedNames.h"
#include "TextWords.h"
#include "clang/Lex/Preprocessor.h"
#include "rcache/Model.h"
#include <set>

namespace rcache {

/// A macro that tells the runtime's text what to do: the user's to define.
bool isRuntimesOwn(llvm::StringRef Macro);

/// Can \p L call a function inserted for \p M, which has a place?
bool canCallInserted(const LaunchSite &L, const KernelModel &M);

/// `(dim3, dim3, size_t, cudaStream_t, float *)`: the types of the launch function of \p M.
std::string launchTypes(const KernelModel &M);
/// A declaration of \p LaunchName.
std::string launchDeclaration(const KernelModel &M, const std::string &LaunchName);
/// \p Code with what has to stand around it at the place for \p M.
std::string inNamespaces(const KernelModel &M, const std::string &Code);
/// What stands for the launch \p L then.
std::string replacementOf(const LaunchSite &L, const KernelModel &M,
                          const std::string &LaunchName);

/// The macros of the user's, at each place of the main file.
class InsertedText {
public:
  /// \p RuntimeAt: where the runtime's text goes.
  InsertedText(clang::Preprocessor &PP, const UsedNames &Used, const std::string &MainText,
               unsigned RuntimeAt)
      : PP(PP), Used(Used), MainText(MainText), RuntimeAt(RuntimeAt) {}

  /// emitKernel, for where the text will stand (CannotWrite where a macro is in its way).
  llvm::Expected<EmittedKernel> emit(const KernelModel &M, const Plan &P,
                                     const std::string &Name) const;

  /// The macro that a word of what is inserted for \p M, with \p E in it, would be read
  /// as; "": there is none. Without \p E: what is inserted whatever the plan.
  std::string macroIn(const KernelModel &M, const EmittedKernel &E = {}) const;

private:
  clang::Preprocessor &PP;
  const UsedNames &Used;
  const std::string &MainText;
  const unsigned RuntimeAt;

  clang::SourceLocation placeOf(unsigned Offset) const;
  bool isReadAsMacro(const TextWord &W, unsigned Offset) const;
  bool isSizeType(const clang::MacroInfo &Macro) const;
  bool isOfLanguage(const std::string &Word) const;
  std::string macroInCode(const KernelModel &M, const EmittedKernel &E) const;
  std::set<std::string> keptAt(const LaunchSite &L) const;
  std::string macroInLaunches(const KernelModel &M) const;
};

} // namespace rcache

#endif // RCACHE_INSERTEDTEXT_H
