// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic execution of one kernel body, in text order, each statement once.
//
//     environment   variable -> what it holds, as a function of the symbols
//     path          under which conditions this point is reached
//
// A variable that a loop changes becomes a new symbol at the loop's entry, so
// one pass is enough. At the end of an `if` the two environments are joined by
// selects. On the way every shared and global access is recorded with its index
// and its path. Statements: ExecStmt.cpp, loops: ExecLoops.cpp, expressions:
// EvalExpr.cpp, calls: EvalCall.cpp, memory: Accesses.cpp.

#ifndef RCACHE_LIB_MODEL_EXECUTOR_H
#define RCACHE_LIB_MODEL_EXECUTOR_H

#include "AffineArith.h"
#include "Anchors.h"
#include "Locals.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/PrettyPrinter.h"
#include "llvm/ADT/MapVector.h"

namespace rcache {

/// What the environment gives a value: a variable, or an element of a private
/// array whose elements are followed (Executor::followed).
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
    return llvm::DenseMapInfo<std::pair<const clang::VarDecl *, int>>::
        getHashValue({C.V, C.Element});
  }
  static bool isEqual(const rcache::Cell &A, const rcache::Cell &B) {
    return A == B;
  }
};

namespace rcache {

/// Does a statement synchronise the block, by its own words?
bool hasBarrierCall(const clang::Stmt *S);
/// Is a loop with body \p S left, or the rest of a round skipped, other than at
/// its end?
bool leavesEarly(const clang::Stmt *S);

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

  // Pointers, and lvalues in memory.
  enum BaseKind { NoBase, Global, Shared, Private, Constant, UnknownBase };
  BaseKind Base = NoBase;
  int Index = -1;            ///< parameter, shared array or variable
  std::vector<ValueRef> Idx; ///< one a dimension so far, last: the offset
  std::vector<std::optional<IntValue>> IdxInt; ///< the same, affine
  uint64_t ElemBytes = 0; ///< of what it points to, in the last dimension
  bool Flattened = false; ///< came through a pointer: an index may overrun
                          ///< its dimension
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

class Executor {
public:
  Executor(clang::ASTContext &AC, KernelModel &M, FlatText &Flat,
           AffineArith &Arith, const Locals &L)
      : AC(AC), M(M), Flat(Flat), Arith(Arith), L(L), Policy(AC.getLangOpts()) {
    Policy.SuppressTagKeyword = true;
    Path.Dom = Arith.universe();
    Path.Known = Arith.universe();
  }

  /// Executes \p FD's body and fills statements, accesses and symbols of the
  /// model. May throw isl::exception (budget).
  void run(const clang::FunctionDecl *FD);

private:
  // ExecStmt.cpp
  unsigned exec(const clang::Stmt *S, int Parent);
  unsigned newStmt(Stmt::Kind K, const clang::Stmt *Whole,
                   clang::SourceRange R, int Parent);
  void execDecl(const clang::DeclStmt *D, unsigned Id);
  void execVarInit(const clang::VarDecl *V);
  void execIf(const clang::IfStmt *S, unsigned Id);
  void execSwitch(const clang::SwitchStmt *S, unsigned Id);
  void execReturn(const clang::Stmt *S, unsigned Id);
  void execLeaf(const clang::Expr *E, unsigned Id);
  void execBarrier(Stmt::BarrierKind K, unsigned Id);
  void assume(const CondVal &C, bool Positive);
  unsigned condDepends(const CondVal &C, const clang::Expr *E) const;
  void mergeEnv(const CondVal &C, const Environment &Then,
                const Environment &Else);
  SVal setOnOneWay(const CondVal &C, const Cell &Name, SVal V, bool Then);
  PathState joinPaths(const PathState &Before, const PathState &A,
                      const PathState &B);
  std::string whyDivergent(const Stmt &S) const;
  void summarise();

  // ExecLoops.cpp
  void execFor(const clang::ForStmt *S, unsigned Id);
  void execWhile(const clang::Stmt *S, unsigned Id);
  void havoc(const llvm::SmallPtrSetImpl<const clang::VarDecl *> &Vars);
  void leaveLoop(const llvm::SmallPtrSetImpl<const clang::VarDecl *> &Vars,
                 const llvm::SmallPtrSetImpl<const clang::VarDecl *> &Outer);
  void havocVar(const Cell &C);
  void
  inductionVariables(const clang::ForStmt *F, unsigned Id,
                     llvm::SmallPtrSetImpl<const clang::VarDecl *> &Modified);
  // PrivateArrays.cpp
  bool followed(const clang::VarDecl *V) const;
  std::vector<Cell> cells(const clang::VarDecl *V) const;
  std::vector<Cell> cellsAt(const SVal &Place) const;
  void forget(const clang::VarDecl *V);
  SVal loadElement(const SVal &Place, const clang::Expr *E);
  void storeElement(const LVal &Lv, const SVal &V);
  void initElements(const clang::VarDecl *V, const clang::Expr *Init);
  void dynamicIndex(const SVal &Place);
  // Rounds.cpp
  struct Trial;
  bool worthFollowing(const clang::VarDecl *V, const clang::ForStmt *F) const;
  std::optional<Environment> roundByRound(const clang::ForStmt *F, unsigned Id);
  void leaveRounds(const llvm::SmallPtrSetImpl<const clang::VarDecl *> &Vars,
                   const llvm::SmallPtrSetImpl<const clang::VarDecl *> &Outer,
                   const clang::ForStmt *F, const Environment &After);
  // Carried.cpp
  void carriedVariables(
      const clang::ForStmt *F, unsigned Id,
      const Environment &Before, size_t SymbolsBefore,
      llvm::SmallPtrSetImpl<const clang::VarDecl *> &Modified);
  std::optional<isl::pw_aff> withoutFactor(const Symbol &P,
                                           const std::string &Id);
  std::optional<std::map<std::string, isl::pw_aff>>
  shiftOf(const std::string &Id, const isl::pw_aff &By);
  void geometricLoop(const clang::ForStmt *F, unsigned Id, SVal First);
  /// What counting takes: the step and the rest of the body.
  struct LoopParts {
    const clang::Expr *Cond = nullptr, *Inc = nullptr;
    llvm::SmallVector<const clang::Stmt *, 4> Body;
    bool DeclaresCounter = false; ///< and nothing else, in its header
  };
  std::string less(const Linear &L) const;
  bool alwaysThere(const Linear &L) const;
  bool countedLoop(const LoopParts &F, unsigned Id);
  bool boundBy(llvm::ArrayRef<const clang::Expr *> Conditions, unsigned Id,
               bool Up);
  const clang::VarDecl *countedWhile(const clang::Stmt *S, unsigned Id);
  bool cooperative(Stmt &Loop, const IntValue &Init, const isl::pw_aff &Bound,
                   bool Inclusive, const isl::pw_aff &Step,
                   const std::string &IterId);
  isl::pw_aff withConstBlock(const isl::pw_aff &A);

  // EvalExpr.cpp
  SVal eval(const clang::Expr *E);
  SVal evalCast(const clang::CastExpr *E);
  SVal evalUnary(const clang::UnaryOperator *E);
  SVal evalBinary(const clang::BinaryOperator *E);
  SVal arithmetic(const clang::Expr *E, clang::BinaryOperatorKind Op, SVal A,
                  SVal B, clang::QualType T);
  SVal evalConditional(const clang::AbstractConditionalOperator *E);
  SVal generic(const clang::Expr *E);
  CondVal pointerCond(const clang::Expr *E, const char *Op, const SVal &P);
  CondVal evalCond(const clang::Expr *E);
  CondVal compare(const clang::BinaryOperator *E);
  SVal convertTo(SVal V, clang::QualType From, clang::QualType To,
                 const clang::Expr *E);
  SVal ofBool(const CondVal &C, clang::QualType T);
  CondVal affineCond(isl::set True);
  CondVal opaqueCond(const clang::Expr *E, ValueRef V);
  CondVal nonZero(SVal V, const clang::Expr *E);
  void collectOperands(const clang::Expr *E,
                       std::vector<std::pair<const clang::Expr *, SVal>> &Ops,
                       bool Root);

  // EvalCall.cpp
  void noteBody(const clang::FunctionDecl *F);
  SVal evalCall(const clang::CallExpr *E);
  SVal evalIntFunction(const clang::CallExpr *E, llvm::StringRef Name,
                       bool &Done);
  bool atomicCall(const clang::CallExpr *E, llvm::StringRef Name, SVal &Result);

  // InlineCall.cpp
  struct Callee;
  std::optional<SVal> followCall(const clang::CallExpr *E,
                                 const clang::FunctionDecl *F);
  std::optional<SVal> followBody(Callee &C,
                                 std::vector<const clang::Stmt *> Work,
                                 unsigned Depth);
  std::optional<SVal> eitherOf(const CondVal &C, const SVal &A, const SVal &B,
                               clang::QualType T);
  /// The name of \p V, of which \p E is a use.
  std::string fileScopeName(const clang::VarDecl *V, const clang::Expr *E);
  ValueRef
  printedOp(const clang::Expr *E,
            const std::vector<std::pair<const clang::Expr *, SVal>> &Ops,
            unsigned Depends);

  // Accesses.cpp
  LVal lvalue(const clang::Expr *E);
  SVal load(const LVal &L, const clang::Expr *E);
  void store(const LVal &L, SVal V, const clang::Expr *LhsExpr,
             const clang::Expr *Rhs, bool WholeStatement, bool AlsoRead);
  SVal addressOf(const LVal &L, const clang::Expr *E);
  SVal decay(const LVal &L, const clang::Expr *E);
  SVal pointerAdd(SVal P, const SVal &Offset, bool Negative,
                  const clang::Expr *E);
  SVal pointerCast(SVal P, clang::QualType To, const clang::Expr *E);
  void recordShared(SharedAccess::Kind K, const SVal &Place,
                    const clang::Expr *E, const SVal *Stored,
                    const clang::Expr *Rhs);
  void recordGlobal(GlobalAccess::Kind K, const SVal &Place,
                    const clang::Expr *E, const clang::Expr *Rhs);
  void escape(const SVal &P, const clang::Expr *E, const std::string &How,
              const char *Code = "escaping-array");
  /// \p V so that nothing is contracted with its last operation.
  ValueRef keepRounding(const ValueRef &V); // Rounding.cpp
  /// The pointer \p E in a struct parameter that stays as it was passed.
  std::optional<SVal> memberPointer(const clang::Expr *E); // MemberPointers.cpp
  /// Its index in KernelModel::Params, once it was used; -1: no such.
  int memberParam(const clang::Expr *E) const;
  /// Element 0 of what the pointer parameter leads to.
  SVal parameterPointer(int Index, clang::QualType T);
  void clobberLoads(int Root);
  void clobberForLoop(const clang::Stmt *Loop);
  int rootOf(const clang::Expr *E, unsigned Depth = 0) const;

  // Helpers (EvalExpr.cpp).
  std::string typeText(clang::QualType T) const;
  std::string typedBraces(llvm::StringRef Text, clang::QualType T) const;
  static bool isInt(clang::QualType T);
  IntType intType(clang::QualType T) const;
  SVal ofInt(IntValue V, clang::QualType T) const;
  SVal ofConst(int64_t V, clang::QualType T);
  SVal ofValue(ValueRef V, clang::QualType T) const;
  SVal unknown(const clang::Expr *E, unsigned Depends);
  SVal opaqueVar(const Cell &C);
  bool isAnywhere(const clang::Stmt *S) const;
  /// The affine integer that \p V is; a new symbol stands for other integers.
  IntValue asInt(SVal &V, const clang::Expr *E);
  int objectOf(const Value &V) const;
  std::optional<isl::pw_aff> asExact(SVal &V, const clang::Expr *E);
  /// \p V as a Value (exact).
  ValueRef asValue(const SVal &V);
  /// The same; \p E, its expression, is written as text where \p V may wrap.
  ValueRef asValue(const SVal &V, const clang::Expr *E);
  /// What is known here, for proofs.
  isl::set where() const { return Path.Dom.intersect(Path.Known); }
  isl::set where(const isl::set &Also) const { return where().intersect(Also); }
  ValueRef affineValue(const isl::pw_aff &A, const std::string &Type);
  ValueRef opValue(std::string Text, std::vector<ValueRef> Operands,
                   std::string Type);
  /// `E`'s text with a hole for each operand that is not there verbatim.
  ValueRef textOp(const clang::Expr *E,
                  const std::vector<std::pair<const clang::Expr *, SVal>> &Ops,
                  unsigned ExtraDepends = 0);
  unsigned depends(const SVal &V) const;
  TextRange range(clang::SourceRange R);
  TextRange range(const clang::Stmt *S);
  std::string text(const clang::Expr *E);
  void decline(const char *Code, const std::string &Detail,
               clang::SourceLocation Loc);
  std::string freshId(const std::string &Hint) const;
  std::string valueKey(const Value &V) const;
  bool sameValue(const SVal &A, const SVal &B) const;

  clang::ASTContext &AC;
  KernelModel &M;
  FlatText &Flat;
  AffineArith &Arith;
  const Locals &L;
  clang::PrintingPolicy Policy;

  PathState Path;
  Environment Env;
  llvm::SmallPtrSet<const clang::VarDecl *, 32> Declared;
  unsigned CurStmt = 0;
  const clang::Expr *WholeStmtExpr =
      nullptr;      ///< expression of the current Leaf
  int Inlining = 0; ///< depth of evaluated callee bodies
  /// The object whose method is followed: a variable.
  const clang::Expr *This = nullptr;
  int Silent = 0;   ///< an expression is evaluated once more
  int Trials = 0;   ///< nothing is kept but the environment
  int Following = 0; ///< depth of loops whose rounds are followed one by one
  unsigned RoundsOfNest = 0, RoundsOfAll = 0; ///< followed so far
  std::map<std::string, std::string> OpaqueByKey; ///< value text -> symbol
  std::map<const Value *, std::pair<ValueRef, std::string>> OpaqueByValue;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_EXECUTOR_H
