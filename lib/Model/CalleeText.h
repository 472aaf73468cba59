// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a called function as text that can stand at the call.

#ifndef RCACHE_LIB_MODEL_CALLEETEXT_H
#define RCACHE_LIB_MODEL_CALLEETEXT_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <optional>
#include <string>

namespace clang {
class Preprocessor;
}

namespace rcache {

/// What the text of a callee may not collide with, and what it may be named by.
struct CallerScope {
  const clang::FunctionDecl *Kernel = nullptr;
  llvm::StringSet<> Names; ///< declared in the kernel, or made up for it
  llvm::StringSet<> Used;  ///< that the kernel names, whosever they are
  llvm::StringSet<> Types; ///< types, enumerators and functions that the kernel declares
  /// Template parameters of the kernel by the text of their arguments:
  /// "float" -> "T".
  std::map<std::string, std::string> TemplateNames;
};

/// A call to write out.
struct CallToWrite {
  const clang::CallExpr *Call = nullptr;
  const clang::FunctionDecl *Callee = nullptr; ///< the definition
  /// Called through a variable that holds a lambda; else null.
  const clang::LambdaExpr *Lambda = nullptr;
};

/// `((T)(expr))` when the body is `return expr;` and each argument may stand
/// where its parameter stood; else nullopt. No new line in it.
std::optional<std::string> calleeAsExpression(const CallToWrite &C,
                                              const CallerScope &Scope,
                                              clang::Preprocessor &PP);

struct CalleeBlock {
  std::string Text;  ///< `float f_value; { ... }`, one line
  std::string Value; ///< `f_value`, "" for void
};
/// The body as a block in front of the statement that calls; adds the names it
/// makes up to \p Scope.
std::optional<CalleeBlock> calleeAsBlock(const CallToWrite &C,
                                         CallerScope &Scope,
                                         clang::Preprocessor &PP);

/// The file's text for \p R without comments and line breaks; nullopt when an
/// end of it comes out of a macro body, or directives stand in it.
std::optional<std::string> oneLine(clang::SourceRange R,
                                   clang::Preprocessor &PP);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_CALLEETEXT_H
