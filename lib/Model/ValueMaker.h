// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes and compares values, and gives symbols to integers that are not affine.

#ifndef RCACHE_LIB_MODEL_VALUEMAKER_H
#define RCACHE_LIB_MODEL_VALUEMAKER_H

#include "Locals.h"
#include "Recorder.h"
#include "clang/AST/PrettyPrinter.h"

namespace rcache {

bool isInt(clang::QualType T);

/// \p V so that nothing is contracted with its last operation.
ValueRef keepRounding(const ValueRef &V); // Rounding.cpp
/// Is the result of the toolkit's function \p Name a sum, a conversion or one of its
/// arguments? Nothing of it is contracted unless an argument is.
bool passesOn(llvm::StringRef Name); // Rounding.cpp

/// Other: an assignment, a comma or one through a pointer to a member.
Value::Operator operatorOf(clang::BinaryOperatorKind Op);

class ValueMaker {
public:
  ValueMaker(clang::ASTContext &AC, KernelModel &M, AffineArith &Arith,
             const Locals &L, State &Cur, Recorder &Rec)
      : AC(AC), M(M), Arith(Arith), L(L), Cur(Cur), Rec(Rec),
        Policy(AC.getLangOpts()) {
    Policy.SuppressTagKeyword = true;
  }

  std::string typeText(clang::QualType T) const;
  std::string typedBraces(llvm::StringRef Text, clang::QualType T) const;
  IntType intType(clang::QualType T) const;

  SVal ofInt(IntValue V, clang::QualType T) const;
  SVal ofConst(int64_t V, clang::QualType T);
  SVal ofValue(ValueRef V, clang::QualType T) const;
  SVal unknown(const clang::Expr *E, unsigned Depends);
  /// The value of a variable from here on: a new symbol (integers).
  SVal opaqueVar(const Cell &C);
  /// The affine integer that \p V is; a new symbol stands for other integers.
  IntValue asInt(SVal &V, const clang::Expr *E);
  /// \p V as the symbol that it is in the kernel, where it is a member of a parameter that stays
  /// as it was passed.
  void asMember(SVal &V) {
    if (!V.Int && V.V && objectOf(*V.V) >= 0)
      asInt(V, nullptr);
  }
  /// The symbol that stands for the value \p V; "": none does.
  std::string symbolOf(const ValueRef &V) const;
  std::optional<isl::pw_aff> asExact(SVal &V, const clang::Expr *E);
  /// \p V as a Value (exact).
  ValueRef asValue(const SVal &V);
  ValueRef affineValue(const isl::pw_aff &A, const std::string &Type) const {
    return rcache::affineValue(Arith, A, Type);
  }
  ValueRef opValue(std::string Text, std::vector<ValueRef> Operands,
                   std::string Type, Value::Operator Op = Value::Other);
  /// `$0 Op $1`.
  ValueRef opValue(clang::BinaryOperatorKind Op, ValueRef A, ValueRef B,
                   std::string Type);
  /// `(Type)$0`.
  ValueRef castValue(ValueRef V, std::string Type);

  unsigned depends(const SVal &V) const;
  bool sameValue(const SVal &A, const SVal &B) const;
  std::string freshId(const std::string &Hint) const;

protected:
  clang::ASTContext &AC;
  KernelModel &M;
  AffineArith &Arith;
  const Locals &L;
  State &Cur;
  Recorder &Rec;
  clang::PrintingPolicy Policy;

private:
  bool isAnywhere(const clang::Stmt *S) const;
  int objectOf(const Value &V) const;
  std::string valueKey(const Value &V) const;

  std::map<std::string, std::string> OpaqueByKey; ///< value text -> symbol
  std::map<const Value *, std::pair<ValueRef, std::string>> OpaqueByValue;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_VALUEMAKER_H
