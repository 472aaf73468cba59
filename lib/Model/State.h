// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What symbolic execution knows at one place of a kernel: values alone. A copy
// of it is a trial, which is kept or dropped.

#ifndef RCACHE_LIB_MODEL_STATE_H
#define RCACHE_LIB_MODEL_STATE_H

#include "AffineArith.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace rcache {

/// What the environment gives a value: a variable, or an element of a private
/// array whose elements are followed (Evaluator::followed).
struct Cell {
  const clang::VarDecl *V = nullptr;
  int Element = -1; ///< row by row; -1: the variable itself
  Cell(const clang::VarDecl *V, int Element = -1) : V(V), Element(Element) {}
  bool operator==(const Cell &O) const {
    return V == O.V && Element == O.Element;
  }
  /// Of the variable or the element.
  clang::QualType type() const;
  std::string name() const; ///< `v`, `w[3]`
};

} // namespace rcache

template <> struct llvm::DenseMapInfo<rcache::Cell> {
  using Base = llvm::DenseMapInfo<const clang::VarDecl *>;
  static rcache::Cell getEmptyKey() { return {Base::getEmptyKey()}; }
  static rcache::Cell getTombstoneKey() { return {Base::getTombstoneKey()}; }
  static unsigned getHashValue(const rcache::Cell &C) {
    return llvm::DenseMapInfo<
        std::pair<const clang::VarDecl *, int>>::getHashValue({C.V, C.Element});
  }
  static bool isEqual(const rcache::Cell &A, const rcache::Cell &B) {
    return A == B;
  }
};

namespace rcache {

/// What an expression or a variable holds.
struct SVal {
  enum Kind {
    Data,    ///< V, and Int when it is a quasi-affine integer
    Pointer, ///< see Base
  };
  Kind K = Data;
  ValueRef V;                  ///< null for affine integers until asked for
  std::optional<IntValue> Int; ///< affine integer
  IntType Type;                ///< Int: its type
  std::string TypeText;
  /// Of a vector of numbers, what its members are; empty: not known.
  std::vector<SVal> Members;

  // Pointers, and lvalues in memory.
  enum BaseKind { NoBase, Global, Shared, Private, Constant, UnknownBase };
  BaseKind Base = NoBase;
  int Index = -1;            ///< parameter, shared array or variable
  std::vector<ValueRef> Idx; ///< one a dimension so far, last: the offset
  std::vector<std::optional<IntValue>> IdxInt; ///< the same, affine
  uint64_t ElemBytes = 0; ///< of what it points to, in the last dimension
  bool Flattened = false; ///< came through a pointer: an index may overrun
                          ///< its dimension
  /// Shared: "float4", to vectors of Lanes elements; Idx counts elements still.
  std::string View;
  int64_t Lanes = 1;
  std::string ElemText;   ///< Global: canonical element type
  std::string PtrText;    ///< Global: the pointer that Idx counts from
};

/// An lvalue.
struct LVal {
  enum Kind { Variable, Memory, Unknown } K = Unknown;
  const clang::VarDecl *Var = nullptr; ///< Variable
  SVal Place;                          ///< Memory: a pointer to it
  const clang::Expr *Base = nullptr;   ///< expression of the whole element
  std::string Member;                  ///< `.x` of the element or variable
};

/// \p A as a value of type \p Type.
ValueRef affineValue(const AffineArith &Arith, const isl::pw_aff &A,
                     const std::string &Type);
/// Is something in \p V that cannot be expressed?
bool hasUnknown(const Value &V);

using Environment = llvm::MapVector<Cell, SVal>;

struct PathState {
  Nullable<isl::set> Dom;
  Nullable<isl::set> Known; ///< more that holds here: nothing overflowed so far
  bool Exact = true;
  std::vector<ValueRef> Guards; ///< conditions left out of Dom
  bool Dead = false;            ///< nothing gets here
};

/// A condition: it may hold on True and may fail on False; both are exact
/// (each the complement of the other) when it is affine.
struct CondVal {
  Nullable<isl::set> True, False;
  bool Affine = false;
  ValueRef V; ///< boolean value; null when affine
  unsigned Depends = 0;
};

struct State {
  Environment Env;
  PathState Path;
  /// Variables whose declaration has been executed.
  llvm::SmallPtrSet<const clang::VarDecl *, 32> Declared;
  unsigned Stmt = 0; ///< Id of the statement that is executed
  /// Expression of that statement, when it is an expression.
  const clang::Expr *Whole = nullptr;

  /// Bodies of called functions around this place. What stands in one has no
  /// place in the kernel's text, and is not recorded.
  unsigned Calls = 0;
  /// The object whose method is followed: a variable.
  const clang::Expr *This = nullptr;
  /// What the parameters of followed functions are that are objects of the kernel's, of which
  /// members alone are read.
  llvm::SmallDenseMap<const clang::VarDecl *, const clang::Expr *, 4> Objects;
  /// What is evaluated here has been, or will be, evaluated once for the
  /// records: now only its value is asked for.
  bool Quiet = false;
  /// Nothing of what is recorded here is kept.
  bool OnTrial = false;
  /// The rounds of a loop around this place are followed one by one.
  bool Following = false;

  /// What is known here, for proofs.
  isl::set where() const { return Path.Dom.intersect(Path.Known); }
  isl::set where(const isl::set &Also) const { return where().intersect(Also); }
  /// Nothing gets behind this place.
  void stop() {
    Path.Dead = true;
    Path.Dom = Path.Dom.subtract(Path.Dom);
  }
};

/// While it lives, values are asked for and nothing is recorded.
class Quietly {
public:
  explicit Quietly(State &Cur) : Cur(Cur), Before(Cur.Quiet) {
    Cur.Quiet = true;
  }
  ~Quietly() { Cur.Quiet = Before; }
  Quietly(const Quietly &) = delete;
  Quietly &operator=(const Quietly &) = delete;

private:
  State &Cur;
  const bool Before;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_STATE_H
