// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions to values, in the state of the moment. What an expression does to
// variables is done to that state; the memory that it touches goes to the
// recorder. Expressions: EvalExpr.cpp, conditions: EvalCond.cpp, what stays
// text: TextWithHoles.cpp, calls: EvalCall.cpp, InlineCall.cpp, lvalues and
// pointers: Pointers.cpp, memory: Memory.cpp, private arrays:
// PrivateArrays.cpp.

#ifndef RCACHE_LIB_MODEL_EVALUATOR_H
#define RCACHE_LIB_MODEL_EVALUATOR_H

#include "ValueMaker.h"
#include "clang/AST/ExprCXX.h"

namespace rcache {

struct CallInfo;

class Evaluator : public ValueMaker {
public:
  using ValueMaker::ValueMaker;

  SVal eval(const clang::Expr *E);
  CondVal evalCond(const clang::Expr *E);
  LVal lvalue(const clang::Expr *E);
  SVal addressOf(const LVal &L, const clang::Expr *E);
  using ValueMaker::asValue;
  /// The same; \p E, its expression, is written as text where \p V may wrap.
  ValueRef asValue(const SVal &V, const clang::Expr *E);
  /// Element 0 of what the pointer parameter leads to.
  SVal parameterPointer(int Index, clang::QualType T);

  // The state.

  /// From here on \p C holds, or (not \p Positive) does not.
  void assume(const CondVal &C, bool Positive);
  /// The environment behind two branches of which \p C decides.
  void mergeEnv(const CondVal &C, const Environment &Then,
                const Environment &Else);
  void havocVar(const Cell &C) { Cur.Env[C] = opaqueVar(C); }
  void forget(const clang::VarDecl *V);
  /// Values loaded in front of \p S, which may be executed again and again, are
  /// stale where a round writes to what they were loaded from.
  void clobberForLoop(const clang::Stmt *S);

  // Private arrays.

  bool followed(const clang::VarDecl *V) const;
  std::vector<Cell> cells(const clang::VarDecl *V) const;
  void initElements(const clang::VarDecl *V, const clang::Expr *Init);
  /// Notes an index of \p Place that unrolling makes no constant.
  void dynamicIndex(const SVal &Place);

private:
  using Operands = std::vector<std::pair<const clang::Expr *, SVal>>;

  // EvalExpr.cpp
  SVal evalCast(const clang::CastExpr *E);
  SVal evalUnary(const clang::UnaryOperator *E);
  SVal evalBinary(const clang::BinaryOperator *E);
  SVal arithmetic(const clang::Expr *E, clang::BinaryOperatorKind Op, SVal A,
                  SVal B, clang::QualType T);
  std::optional<IntValue> shiftedByCases(clang::BinaryOperatorKind Op,
                                         const IntValue &A, const IntValue &B,
                                         IntType Ty);
  std::optional<IntValue> integerResult(clang::BinaryOperatorKind Op,
                                        const IntValue &A, const IntValue &B,
                                        IntType Ty);
  SVal convertTo(SVal V, clang::QualType From, clang::QualType To,
                 const clang::Expr *E);
  // EvalCond.cpp
  SVal evalConditional(const clang::AbstractConditionalOperator *E);
  SVal ofBool(const CondVal &C, clang::QualType T);
  CondVal affineCond(isl::set True);
  CondVal opaqueCond(const clang::Expr *E, ValueRef V);
  CondVal nonZero(SVal V, const clang::Expr *E);
  CondVal pointerCond(const clang::Expr *E, const char *Op, const SVal &P);
  CondVal compare(const clang::BinaryOperator *E);
  std::optional<CondVal> compareWithBoth(clang::BinaryOperatorKind Op, const clang::Expr *Of,
                                         const isl::pw_aff &Bound);
  // TextWithHoles.cpp
  SVal generic(const clang::Expr *E);
  void collectOperands(const clang::Expr *E, Operands &Ops, bool Root);
  /// `E`'s text with a hole for each operand that is not there verbatim.
  ValueRef textOp(const clang::Expr *E, const Operands &Ops,
                  unsigned ExtraDepends = 0);

  // EvalCall.cpp
  SVal evalCall(const clang::CallExpr *E);
  std::optional<SVal> evalCopy(const clang::CallExpr *E,
                               const clang::FunctionDecl *F, bool System);
  std::optional<SVal> evalSystemCall(const clang::CallExpr *E,
                                     llvm::StringRef Name,
                                     const CallInfo &Info);
  SVal evalBarrierCall(const clang::CallExpr *E);
  SVal evalIntFunction(const clang::CallExpr *E, llvm::StringRef Name,
                       bool &Done);
  bool atomicCall(const clang::CallExpr *E, llvm::StringRef Name, SVal &Result);
  /// What \p F, whose body is not followed, may do through what it is given.
  struct Handing;
  /// \p Followed: but for what is read, its body's value is known.
  unsigned handOut(const clang::CallExpr *E, const clang::FunctionDecl *F,
                   bool UserBody, bool Followed);
  void handPointer(const Handing &To, const SVal &P, bool Writes,
                   const clang::Expr *A);
  void handObject(const Handing &To, const clang::CXXMemberCallExpr *E);
  bool handMembers(const Handing &To, const clang::Expr *Object);
  void handOperand(const Handing &To, const clang::Expr *A);
  unsigned handArgument(const Handing &To, const clang::Expr *A,
                        clang::QualType Param);

  // InlineCall.cpp
  struct Callee;
  std::optional<SVal> followCall(const clang::CallExpr *E,
                                 const clang::FunctionDecl *F);
  std::optional<std::vector<SVal>> argumentsOf(const clang::CallExpr *E);
  const clang::Expr *objectOfMethod(const clang::CXXMemberCallExpr *Call) const;
  const clang::Expr *objectGiven(const clang::Expr *A) const;
  bool hasText(const SVal &V) const;
  std::optional<SVal>
  followBody(Callee &C, std::vector<const clang::Stmt *> Work, unsigned Depth);
  std::optional<SVal> eitherOf(const CondVal &C, const SVal &A, const SVal &B,
                               clang::QualType T);
  /// The name of \p V, of which \p E is a use.
  std::string fileScopeName(const clang::VarDecl *V, const clang::Expr *E);
  ValueRef printedOp(const clang::Expr *E, const Operands &Ops,
                     unsigned Depends);

  // Pointers.cpp
  LVal variablePlace(const clang::VarDecl *V, const clang::Expr *E);
  LVal memberPlace(const clang::MemberExpr *Mem);
  LVal subscriptPlace(const clang::ArraySubscriptExpr *S);
  SVal decay(const LVal &L, const clang::Expr *E);
  SVal pointerAdd(SVal P, const SVal &Offset, bool Negative,
                  const clang::Expr *E);
  SVal pointerCast(SVal P, clang::QualType To, const clang::Expr *E);
  SVal sharedCast(SVal P, clang::QualType Elem, const clang::Expr *E);
  std::optional<isl::pw_aff> exactQuotient(const isl::pw_aff &A, uint64_t N);
  SVal globalCast(SVal P, clang::QualType Elem, const clang::Expr *E);
  // VectorViews.cpp
  std::vector<StructMember> lanesOf(clang::QualType T) const;
  void asDeclared(SVal &Place) const;
  bool viewAs(SVal &P, clang::QualType Elem);
  bool isVectorView(const SVal &P) const;
  void toElement(LVal &Lv, const clang::MemberExpr *Mem);
  SVal memberOf(const SVal &Whole, clang::QualType Of, unsigned Member,
                const clang::Expr *E = nullptr);
  std::optional<unsigned> memberNumber(llvm::StringRef Member,
                                       clang::QualType Of) const;
  std::vector<SVal> membersMade(const clang::Expr *E);
  SVal withMember(const LVal &Lv, const SVal &V);
  // MemberPointers.cpp
  /// The pointer \p E in a struct parameter that stays as it was passed.
  std::optional<SVal> memberPointer(const clang::Expr *E);
  /// Its index in KernelModel::Params, once it was used; -1: no such.
  int memberParam(const clang::Expr *E) const;

  // Memory.cpp
  SVal load(const LVal &L, const clang::Expr *E);
  SVal loadVariable(const LVal &L, const clang::Expr *E);
  SVal loadConstant(const LVal &L, const clang::Expr *E);
  SVal loadGlobal(const LVal &L, const clang::Expr *E, const clang::Expr *Elem);
  void store(const LVal &L, SVal V, const clang::Expr *LhsExpr,
             const clang::Expr *Rhs, bool WholeStatement, bool AlsoRead);
  void recordShared(SharedAccess::Kind K, const SVal &Place,
                    const clang::Expr *E, const SVal *Stored,
                    const clang::Expr *Rhs);
  bool hasElementsType(const SVal &Place, const clang::Expr *E);
  void recordGlobal(GlobalAccess::Kind K, const SVal &Place,
                    const clang::Expr *E, const clang::Expr *Rhs);
  void havocAddressTaken(bool References);
  void clobberLoads(int Root);
  int rootOf(const clang::Expr *E, unsigned Depth = 0) const;

  // PrivateArrays.cpp
  std::vector<Cell> cellsAt(const SVal &Place) const;
  SVal loadElement(const SVal &Place, const clang::Expr *E);
  void storeElement(const LVal &Lv, const SVal &V);

  SVal setOnOneWay(const CondVal &C, const Cell &Name, SVal V, bool Then);
};

/// Without what leaves no trace in value or text.
const clang::Expr *strip(const clang::Expr *E);
/// x of `__builtin_expect(x, y)`; null: \p E is none.
const clang::Expr *expected(const clang::Expr *E);
/// An lvalue without what binds it.
const clang::Expr *bareLvalue(const clang::Expr *E);

} // namespace rcache

#endif // RCACHE_LIB_MODEL_EVALUATOR_H
