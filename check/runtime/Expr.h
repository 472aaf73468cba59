// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic mode: beside its bits, each value carries the expression that made
// it, as the number of a hash-consed node; 0 stands for "does not depend on
// data". Two values with one node are equal for all data.
//
// Memory carries a reference for each byte: node * 16 + which byte of it.

#ifndef RCACHE_CHECK_RUNTIME_EXPR_H
#define RCACHE_CHECK_RUNTIME_EXPR_H

#include "Abi.h"

#include <string>
#include <vector>

namespace rcache::check {

constexpr uint64_t ExprBase = 0x300000000000ull; ///< references of the arena

enum class ExprOp : uint32_t {
  Leaf = 1, ///< data that is there before the launch
  Constant,
  Bytes, ///< put together from bytes of others
  Byte,  ///< one byte of another
  // Operations that simplify or have a normal form.
  Add,
  Sub,
  Mul,
  And,
  Or,
  Xor,
  Shl,
  LShr,
  Trunc,
  ZExt,
  Select,
  FAdd,
  FMul,
  CompareEqual, ///< commutative comparison; the predicate is in the number
  Other = 64,   ///< and up: everything else, by exprOperation
};

/// Reserves the address space. False if it is taken.
bool initialiseExpressions();

/// The number of an operation by name, the same in every program.
uint32_t exprOperation(const std::string &Name, bool Commutative);

/// Makes [P, P + Size) leaves of \p Unit bytes each, called Name[i].
void exprLeaves(void *P, size_t Size, unsigned Unit, const std::string &Name,
                size_t FirstIndex);
/// Makes memory independent of data again.
void exprForget(void *P, size_t Size);

/// The references of \p Size bytes at \p P.
inline uint32_t *exprReferences(const void *P) {
  return reinterpret_cast<uint32_t *>(
      ExprBase + (reinterpret_cast<uint64_t>(P) - 0x200000000000ull) * 4);
}
/// The value at \p P as one node; 0 if it is concrete.
uint32_t exprAt(const void *P, unsigned Size);
/// Readable, cut off at some depth.
std::string exprText(uint32_t Node);
size_t exprCount();

/// Why the run so far proves nothing; empty if it does.
const std::string &exprProblem();
void exprClearProblem();

} // namespace rcache::check

#endif
