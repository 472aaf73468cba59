// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where things stand in the text of one function: assignments, uses, reads of shared
// memory, barriers and the ends of loops and branches, numbered in its order.

#ifndef RCACHE_LIB_MODEL_OPERANDTEXT_H
#define RCACHE_LIB_MODEL_OPERANDTEXT_H

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ParentMap.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <optional>
#include <vector>

namespace rcache {

/// \p E without parentheses, temporaries and copies.
const clang::Expr *bareExpr(const clang::Expr *E);

/// What a place in memory is a part of, and the member of it that is meant.
struct MemoryRoot {
  const clang::VarDecl *Var = nullptr;
  const clang::DeclRefExpr *Use = nullptr;
  bool Element = false; ///< through an index or a pointer
  int Member = -1;      ///< of a struct that is a variable or an element
  bool Deep = false;    ///< a member of a member
  bool Loaded = false;  ///< through a pointer that is an element or a member itself
};
std::optional<MemoryRoot> memoryRoot(const clang::Expr *E);

/// threadIdx, blockDim and the like, or a member of them.
bool isIndexBuiltin(const clang::Expr *E);
/// ... of threadIdx.
bool isThreadIndex(const clang::Expr *E);

/// One function: what stands where in its text.
class OperandText {
public:
  struct Assignment {
    const clang::Stmt *At;
    const clang::Expr *Value; ///< null: not known
    bool Compound;
    int Member = -1; ///< that alone
  };
  explicit OperandText(const clang::FunctionDecl *F)
      : Body(F->getBody()), Parents(const_cast<clang::Stmt *>(Body)) {
    walk(Body);
  }
  const clang::Stmt *Body;
  clang::ParentMap Parents;
  llvm::DenseMap<const clang::Stmt *, unsigned> First, Last;
  std::map<const clang::VarDecl *, std::vector<Assignment>>
      Sets; ///< text order
  std::map<const clang::VarDecl *, std::vector<const clang::DeclRefExpr *>>
      Uses;
  llvm::DenseMap<const clang::VarDecl *, const clang::Stmt *> Declared;
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Escaped;
  /// Elements of shared memory and of what pointers lead to.
  std::vector<const clang::Expr *> Reads;
  std::vector<const clang::Expr *> Handed; ///< pointers, as arguments of calls
  /// Pointers and variables outside functions, wherever they are named.
  std::vector<std::pair<const clang::Expr *, const clang::VarDecl *>> MemoryUses;
  std::vector<unsigned> Barriers, Branches, LoopEdges;
  /// Of each loop (two LoopEdges): does the source say that it is unrolled?
  std::vector<bool> Unrolled;
  /// First and last of what a condition decides about: branches, arms of ?:, what
  /// stands behind `if (..) return;`.
  std::vector<std::pair<unsigned, unsigned>> Decided;
  std::vector<const clang::Stmt *> Statements; ///< of blocks
  static bool isLoop(const clang::Stmt *S);
  /// Where the variable has its value: in `float a = x, b = a;` behind `x`.
  unsigned end(const Assignment &A) const {
    return Last.lookup(A.Value && llvm::isa<clang::DeclStmt>(A.At)
                           ? static_cast<const clang::Stmt *>(A.Value)
                           : A.At);
  }
  bool isIn(const clang::Stmt *E, const clang::Stmt *S) const;
  bool isSetOnce(const clang::VarDecl *V) const;
  /// What member \p Member of \p V is set to, if that is done once and \p V is never
  /// set as a whole; or null.
  const clang::Expr *onlyValue(const clang::VarDecl *V, int Member) const;
  /// The statement of a block that \p E stands in; null: in a condition or the like.
  const clang::Stmt *statementOf(const clang::Expr *E) const;
  /// Is \p E evaluated whenever its statement is?
  bool always(const clang::Expr *E) const;
  /// Does \p S set nothing, but by a plain assignment at its end, and call nothing?
  static bool onlyComputes(const clang::Stmt *S);

private:
  void set(const clang::Expr *To, const clang::Stmt *At,
           const clang::Expr *Value, bool Compound);
  void escape(const clang::Expr *E);
  void walk(const clang::Stmt *S);
  void decide(const clang::Stmt *S);
  bool isMemoryRead(const clang::Expr *E) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_OPERANDTEXT_H
