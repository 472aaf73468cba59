// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What goes into an operand of a sum, and where that is numbered: bounds of its
// rank, from above and from below, in the original or in one form of the rewritten
// kernel (FusionOrder.cpp).

#ifndef RCACHE_LIB_MODEL_OPERANDRANKS_H
#define RCACHE_LIB_MODEL_OPERANDRANKS_H

#include "FusionOrder.h"
#include "OperandText.h"
#include <set>
#include <tuple>

namespace rcache {

/// A place in the text: of calls, outermost first, and in the function.
using Place = std::vector<unsigned>;

/// A rewritten kernel as far as it matters here.
struct OutputForm {
  bool Rewritten = false;
  /// A thread has several: its views are arrays that a loop goes over, and an element that
  /// is read again may be loaded again by the time values are numbered. So it may in the
  /// original: it hangs on what else is read between.
  bool Several = false;
  std::vector<unsigned> Edges; ///< where outputs may begin and end
};

/// Something numbered, and the operations from there to the operand.
struct Leaf {
  Place At;
  int Depth = 0;
  const clang::VarDecl *Shared = nullptr; ///< an element of this array
  bool Own = false;  ///< whose index differs between threads
  bool Word = false; ///< of which hiding is one operation
  const clang::Expr *Whole =
      nullptr; ///< read with all its members, of which this
  int Member = -1;
};
using Leaves = std::vector<Leaf>;

class OperandRanks {
public:
  using Call = FusionOrder::Call;
  using Dependences = FusionOrder::Dependences;

  explicit OperandRanks(Dependences DependsOn) : DependsOn(DependsOn) {}

  /// The form that all that follows is asked of, for a sum at \p At in the kernel.
  void setForm(const OutputForm &F, unsigned At) {
    Now = &F;
    Site = At;
  }
  const OutputForm &form() const { return *Now; }

  /// Everything numbered that \p E may be made of, as late and as deep as it may
  /// be; false: not known. \p IsTarget: it is what a sum is added to, and an element
  /// is read last.
  bool above(const clang::Expr *E, const Call &C, bool IsTarget, Leaves &Out);
  /// Has the last of these an operand that a condition sets to a whole number, or a bool?
  bool hasFlag() const { return HasFlag; }
  /// What is certainly numbered no earlier than that, and goes into \p E.
  Leaves below(const clang::Expr *E, const Call &C);

  const OperandText &facts(const clang::FunctionDecl *F);
  const OperandText &facts(const Call &C);
  Place place(const Call &C, unsigned At);
  Place place(const Call &C, const clang::Stmt *N);

private:
  Dependences DependsOn;
  std::map<const clang::FunctionDecl *, std::unique_ptr<OperandText>> Known;
  const OutputForm *Now = nullptr;
  unsigned Site = 0; ///< in the kernel, where a value is computed
  /// By upper(): the same leads to the same.
  std::set<std::tuple<const clang::Expr *, const Call *, int, int, unsigned>>
      Seen;
  bool ReadLast = false; ///< above(): IsTarget
  bool HasFlag = false;

  /// above(). \p Depth: operations from \p E to the operand. \p Member: of a struct.
  bool upper(const clang::Expr *E, const Call &C, int Depth, Leaves &Out,
             int Member, unsigned Nested);
  void upperOfIndex(int Depth, Leaves &Out);
  /// Is \p E made of elements of shared arrays, too?
  bool ofShared(const clang::Stmt *E) const;
  /// nullopt: no operation, but a place in memory.
  std::optional<bool> upperOfOperation(const clang::Expr *E, const Call &C,
                                       int Depth, Leaves &Out, int Member,
                                       unsigned Nested);
  bool upperOfCall(const clang::CallExpr *X, const Call &C, int Depth,
                   Leaves &Out, unsigned Nested);
  bool upperOfPlace(const clang::Expr *E, const Call &C, int Depth, Leaves &Out,
                    int Member, unsigned Nested);
  bool upperOfReference(const clang::VarDecl *V, const Call &C,
                        const Place &Here, int Depth, Leaves &Out);
  /// ... of a variable, by what it is set to.
  bool upperOfSets(const std::vector<OperandText::Assignment> &Sets,
                   const clang::Expr *E, const Call &C, int Depth, Leaves &Out,
                   int Member, unsigned Nested);
  /// Is what \p V holds an element, one an output, in this form?
  bool isKept(const clang::VarDecl *V, const Call &C);
  const clang::Expr *argument(const clang::VarDecl *V, const Call &C);
  Leaf element(const clang::Expr *E, const clang::VarDecl *Array,
               const Call &C, const Place &At, int Depth);
  /// Is \p E another element for another thread?
  bool differs(const clang::Expr *E, const Call &C);
  /// What a compound assignment changes.
  static bool isTarget(const clang::Expr *E, const OperandText &F);
  /// below(), likewise.
  void lower(const clang::Expr *E, const Call &C, int Depth, Leaves &Out,
             int Member, unsigned Nested);
  /// ... of a variable whose value at \p E is made by statements in a row.
  void lowerOfSets(const std::vector<OperandText::Assignment> &Sets,
                   const clang::Expr *E, const Call &C, int Depth, Leaves &Out,
                   int Member, unsigned Nested);
  /// Is \p E certainly no constant that an operation could go away with?
  bool isNoConstant(const clang::Expr *E, const Call &C, unsigned Nested);
  /// The shared array that \p E is an element of, or points into, by the arguments
  /// of calls, too; null: it is other memory; nullopt: not known.
  std::optional<const clang::VarDecl *> arrayOf(const clang::Expr *E,
                                                const Call &C);
  /// ... if it is certain; in a called function, of an element that all calls name
  /// alike.
  const clang::VarDecl *sharedElement(const clang::Expr *E, const Call &C);
  /// Where that is read first since a barrier, or what may be the same element: of a
  /// view, or of shared memory, compilers may have one for both.
  Place firstEqual(const clang::Expr *E, const clang::VarDecl *Array,
                   const Call &C);
  /// The read in front of \p E, an element of shared memory, with which compilers
  /// certainly make one of it; \p E itself: there is none.
  const clang::Expr *mergedRead(const clang::Expr *E, const clang::VarDecl *Array,
                                const Call &C);
  /// Where \p E, which reads memory through \p R, is read at the earliest: where
  /// such a pointer is named first, or in front of the loops around it.
  Place firstInMemory(const clang::Expr *E, const MemoryRoot &R, const Call &C);
  /// The first use of \p V, or of its member, where outputs begin last.
  unsigned firstUse(const clang::Expr *E, const clang::DeclRefExpr *Use,
                    const clang::VarDecl *V, int Member, const OperandText &F);
  /// Is \p V set where this output's statements are, so that nothing is read?
  bool valueAtHand(const clang::Expr *E, const clang::VarDecl *V,
                   const OperandText &F);
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_OPERANDRANKS_H
