// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of one definition, flattened so that each AST node of interest is a
// plain byte range of it:
//
//     #define AT(i) s[TID + (i)]            v = AT(1) * N;  // right
//     #define TID threadIdx.x          ->   v = s[threadIdx.x + (1)] * N;  //
//     right
//
// A macro invocation is replaced by its expansion when it contains a name out
// of a given set or a piece of statement structure; others (`N`) stay as
// written. Comments stay. Of conditional compilation the active text stays.

#ifndef RCACHE_LIB_MODEL_ANCHORS_H
#define RCACHE_LIB_MODEL_ANCHORS_H

#include "TokenRecorder.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include <optional>
#include <string>

namespace clang {
class SourceManager;
}

namespace rcache {

class FlatText {
public:
  FlatText(const clang::SourceManager &SM, const TokenRecorder::Impl &Tokens)
      : SM(SM), Tokens(Tokens) {}

  /// Flattens the tokens [First, Last] (indices in the recorder). May be called
  /// again, when needsRebuild().
  void build(unsigned First, unsigned Last, const llvm::StringSet<> &Names);

  /// Text and byte offset of every token in it.
  const std::string &text() const { return Text; }

  /// Where \p R, a range of AST tokens, stands in the text; nullopt when an end
  /// of it is no token of the definition. A range that ends inside a macro
  /// invocation left as written asks for a rebuild with it expanded.
  std::optional<TextRange> range(clang::SourceRange R);

  /// As range(), but an end inside an invocation left as written widens to all
  /// of it: for statements, which may begin with `__shared__`.
  std::optional<TextRange> outerRange(clang::SourceRange R) const;
  /// outerRange of \p R, a statement, with the `;` behind it, if there is one, and with
  /// what stands in front of it where clang says that a declaration begins.
  std::optional<TextRange> withSemi(clang::SourceRange R) const;

  bool needsRebuild() const { return Rebuild; }

private:
  struct TokenPlace {
    unsigned Begin, End;
    unsigned Group;   ///< offset of the invocation left as written, or ~0u
    bool First, Last; ///< in its group
  };

  /// The token that ends at \p L, which is its place, or one of several angles' in it.
  std::optional<TokenPlace> endOf(clang::SourceLocation L) const;
  void emitGap(const char *Buffer, unsigned From, unsigned To);
  void emitExpanded(unsigned From, unsigned To);
  bool isSkipped(unsigned Offset) const;

  const clang::SourceManager &SM;
  const TokenRecorder::Impl &Tokens;
  clang::FileID File;
  std::string Text;
  llvm::DenseMap<unsigned, TokenPlace> Places;
  llvm::DenseSet<unsigned> Forced; ///< offsets of invocations to expand
  std::vector<std::pair<unsigned, unsigned>> SkippedOffsets;
  bool Rebuild = false;
};

/// Index of the token with the angle that ends a list at \p L: `>`, or the `>>` or `>>>`
/// that it is a part of; nullopt: none is recorded there.
std::optional<unsigned> tokenWithAngle(const TokenRecorder::Impl &Tokens,
                                       clang::SourceLocation L);

/// The first token of the declaration that token \p Index belongs to: the one
/// behind the previous `;`, `{` or `}`.
unsigned firstTokenOfDeclaration(const TokenRecorder::Impl &Tokens,
                                 const clang::SourceManager &SM,
                                 unsigned Index);

/// The tokens of the definition whose name stands at \p Name and whose body
/// ends at \p End: from the first token behind the previous declaration.
/// nullopt when they were not recorded.
std::optional<std::pair<unsigned, unsigned>>
definitionTokens(const TokenRecorder::Impl &Tokens,
                 const clang::SourceManager &SM, clang::SourceLocation Name,
                 clang::SourceLocation End);

/// \p Loc as the user counts, macros seen from where they are used.
SourcePos sourcePos(const clang::SourceManager &SM, clang::SourceLocation Loc);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_ANCHORS_H
