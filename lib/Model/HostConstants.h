// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks and grids are, as far as host code tells.

#ifndef RCACHE_LIB_MODEL_HOSTCONSTANTS_H
#define RCACHE_LIB_MODEL_HOSTCONSTANTS_H

#include "HostFlow.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace rcache {

using Dims = std::array<int64_t, 3>;

/// \p E without what stands around it and changes nothing; with \p Casts,
/// without `T(...)` as well.
const clang::Expr *peel(const clang::Expr *E, bool Casts = true);

/// Visits what instantiations say, and knows the function it is in: in a lambda
/// the lambda's call operator.
class HostVisitor : public clang::ConstDynamicRecursiveASTVisitor {
public:
  HostVisitor() { ShouldVisitTemplateInstantiations = true; }
  bool TraverseDecl(const clang::Decl *D) override;
  bool TraverseLambdaExpr(const clang::LambdaExpr *L) override;

protected:
  const clang::FunctionDecl *Function = nullptr;
};

class HostConstants {
public:
  /// Looks at the calls in the main file.
  explicit HostConstants(clang::ASTContext &AC);

  /// Three dimensions (or one integer) that are constants: literals, macros,
  /// constexpr, variables that were set to such values last, and what functions
  /// that branch and return, no more, make of them. Variables of file scope are
  /// taken to keep their initialiser where this file does not set them.
  std::optional<Dims> dims(const clang::Expr *E) const;

  /// The same in \p Function, a lambda's call operator too, whose parameters
  /// are what the file's calls of it pass, and calls of its callers. Not all
  /// there may be: other files call it, too, and some calls may pass no
  /// constants.
  std::vector<Dims> possibleDims(const clang::Expr *E,
                                 const clang::FunctionDecl *Function) const;

  /// The same of a program that is started without arguments, where nothing else is
  /// known: `argc > 1 ? atoi(argv[1]) : 256`. Of blocks, which are asked for at launch, and of
  /// grids, which are for predictions only.
  std::vector<Dims> usualDims(const clang::Expr *E,
                              const clang::FunctionDecl *Function) const;

  /// The same of an integer: its value, or those that callers lead to.
  std::vector<int64_t> possibleIntegers(const clang::Expr *E,
                                        const clang::FunctionDecl *Function) const;

  /// What the file's calls of \p F pass for parameter \p I.
  std::vector<const clang::Expr *> arguments(const clang::FunctionDecl *F,
                                             unsigned I) const;

private:
  struct Call {
    const clang::CallExpr *E; ///< null: a lambda stands in Caller, which may
                              ///< hand it on to whoever calls it
    const clang::FunctionDecl *Caller;
  };
  /// A call that has led here; the parameters are its arguments.
  struct Frame {
    const clang::FunctionDecl *Callee;
    const clang::CallExpr *E;
    const Frame *Outer;
  };
  clang::ASTContext &AC;
  llvm::DenseMap<const clang::FunctionDecl *, std::vector<Call>> Calls;
  mutable llvm::DenseMap<const clang::VarDecl *, bool> Modified;
  HostFlow Flow;
  mutable unsigned Steps = 0; ///< expressions that may still be looked at
  mutable bool WithoutArguments = false; ///< main's argc is 1

  std::optional<int64_t> integer(const clang::Expr *E, const Frame *In,
                                 unsigned Depth) const;
  std::optional<int64_t> operation(const clang::Expr *E, const Frame *In,
                                   unsigned Depth) const;
  std::optional<int64_t> libraryCall(const clang::CallExpr *C, const Frame *In,
                                     unsigned Depth) const;
  std::optional<Dims> dims(const clang::Expr *E, const Frame *In,
                           unsigned Depth) const;
  bool modified(const clang::VarDecl *V) const;
  /// The component (-1: all of it) of variable \p V at \p Use.
  std::optional<int64_t> lastSet(const clang::Expr *Use,
                                 const clang::VarDecl *V, int Field,
                                 const Frame *In, unsigned Depth) const;
  bool fits(int64_t Value, clang::QualType T) const;
  /// What stands for parameter \p V in \p In, which becomes that expression's
  /// frame; null: it is not known. \p AsPassed: whatever it is set to later.
  const clang::Expr *argument(const clang::VarDecl *V, const Frame *&In,
                              bool AsPassed = false) const;
  /// What \p S, the body of \p In's callee or a part of it, returns; null with
  /// \p Lost: it is not known; null without: what follows is executed.
  const clang::Expr *returned(const clang::Stmt *S, const Frame &In,
                              unsigned Depth, bool &Lost) const;
  /// \p Value(expression, its frame) of what a call returns.
  template <typename T>
  std::optional<T> called(
      const clang::CallExpr *C, const Frame *In, unsigned Depth,
      llvm::function_ref<std::optional<T>(const clang::Expr *, const Frame *)>
          Value) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_HOSTCONSTANTS_H
