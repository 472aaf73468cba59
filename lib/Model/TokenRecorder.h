// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a TokenRecorder holds: the expanded tokens of user files in the order in
// which the parser got them, and what the preprocessor skipped.

#ifndef RCACHE_LIB_MODEL_TOKENRECORDER_H
#define RCACHE_LIB_MODEL_TOKENRECORDER_H

#include "CompilerText.h"
#include "rcache/ModelBuilder.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Lex/Token.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <vector>

namespace rcache {

/// A token as the parser got it.
struct RecordedToken {
  clang::SourceLocation Loc; ///< the location that AST nodes refer to
  clang::tok::TokenKind Kind;
  unsigned Length;
  bool LeadingSpace; ///< white space or a new line stood in front of it
};

struct TokenRecorder::Impl {
  std::vector<RecordedToken> Tokens;
  /// Raw encoding of Loc -> index in Tokens. A location occurs once, but for
  /// tokens that the parser puts back; the first one counts.
  llvm::DenseMap<unsigned, unsigned> ByLocation;
  /// `#if` ... up to the directive that ends the skipped part.
  std::vector<clang::SourceRange> Skipped;
  /// `#if` to the end of its `#endif`, by location of the `#`.
  std::vector<PPConditional> Conditionals;
  std::shared_ptr<CompilerText> Compilers = std::make_shared<CompilerText>();
  std::shared_ptr<Impl *> Alive; ///< dies with the recorder
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_TOKENRECORDER_H
