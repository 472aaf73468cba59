// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the products of one function go: into sums, variables, shared memory, and
// what stands between a product and its sum (FusionFlow.cpp says what for).
//
//   ProductFlow.cpp    which products there are, what variables hold them
//   ProductSums.cpp    which sums they are used in, and beside what
//   ProductPlaces.cpp  loops, branches and barriers on the way there
//   ProductBlocks.cpp  the block of code it is in, and those of its sums
//   ProductTwins.cpp   products that may be the same
//   ElementReturned.cpp calls that load an element and multiply nothing

#ifndef RCACHE_LIB_MODEL_PRODUCTFLOW_H
#define RCACHE_LIB_MODEL_PRODUCTFLOW_H

#include "FoldedNumbers.h"
#include "FusionLoops.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/AST/ParentMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>
#include <optional>

namespace rcache {

/// The variable that \p E is, or is an element or member of.
const clang::VarDecl *rootVar(const clang::Expr *E);
bool isRealType(clang::QualType T);
/// The parameter of \p C's function that \p E names, as \p C gives it, or the number that it
/// is; null: \p E is more.
const clang::Expr *argumentFor(const clang::CallExpr *C, const clang::Expr *E);
/// An element of shared memory.
bool isSharedPlace(const clang::Expr *E);
/// May a call whose function has no body here end in a product: does it neither
/// convert, load nor round, and is no number?
bool mayEndInProduct(const clang::CallExpr *C);
/// The function of the user's that \p C calls, where its body is there; or null.
const clang::FunctionDecl *calledOfUser(const clang::CallExpr *C);
/// The pointer that \p C hands to a function of the user's which returns an element that it
/// leads to, or a number, on each way (`return p[z * n + x]` behind clamps); null: it may
/// return something else.
const clang::Expr *elementReturned(const clang::CallExpr *C);
/// Does the body of the operator \p F hold what may be a product?
bool multipliesInside(const clang::FunctionDecl *F);
/// May a function that is called negate a floating-point number, or divide by a negative one?
bool mayNegate(const clang::CallExpr *C);

/// One function: the kernel, or one it calls.
class ProductFlow : public clang::ConstDynamicRecursiveASTVisitor {
public:
  /// Dependence of a variable of the kernel.
  using Dependences = llvm::function_ref<unsigned(const clang::VarDecl *)>;
  using Node = clang::Stmt;

  ProductFlow(const clang::FunctionDecl *F, Dependences DependsOn,
              unsigned Axes, bool Kernel)
      : Body(F->getBody()), Context(F->getASTContext()), DependsOn(DependsOn),
        Axes(Axes), Kernel(Kernel), Parents(F->getBody()), InDoubt(loopsInDoubt(F)) {}
  const Node *Body;
  llvm::SmallVector<const clang::FunctionDecl *, 4> Called;
  /// Is a function that is called here called under a condition, which in a loop or
  /// beside other calls may be the compiler's to move?
  bool isDecidedCallee(const clang::FunctionDecl *F) const;
  /// That is so of this one.
  bool Decided = false;
  std::vector<const clang::CallExpr *> Calls; ///< of these
  /// The first sum that cannot be settled, and where. Called once, first.
  SumInDoubt find();
  /// A sum of a product that has other uses as well. They keep it from being fused,
  /// but not where some 500 instructions of a block stand between both: so it hangs
  /// on how far loops between them are unrolled, and on how many outputs
  /// stand there. \p In: where outputs are what makes the distance.
  const clang::Expr *distantSum(SumInDoubt::Where In);
  /// Calls \p Each with what is multiplied and the sum that takes it, for all products that
  /// ptxas fuses only with sums of their block; with a call twice, if it may have such
  /// products, and with a loop twice, if a product is the same in each of its rounds: so
  /// one round's may be what another's sum takes. After find().
  /// Told as well: may compilers move the sum alone?
  void eachOfOneBlock(llvm::function_ref<void(const Node *, const Node *, bool)> Each);
  /// Sums of which, for all that is known here, both sides are products.
  std::vector<const clang::BinaryOperator *> sumsOfTwo() const;
  llvm::ArrayRef<const clang::BinaryOperator *> sums() const { return Sums; }
  /// May \p E be a product, or `x * 2`?
  bool takesPlace(const clang::Expr *E) const;
  /// Is one of the products that \p V holds made here?
  bool holdsProduct(const clang::VarDecl *V) const;
  /// \p E and the products it may be.
  std::vector<const clang::Expr *> operands(const clang::Expr *E) const;
  /// A difference that compilers make no sum of: what is taken away is no negation.
  bool staysDifference(const clang::BinaryOperator *B) const;
  /// The Dependence of \p P on axes of threads, \p Arms: whatever conditions hang on.
  unsigned threadsOf(const clang::Expr *P, unsigned Nested, bool Arms) const;
  bool Negations = false; ///< of floating-point values
  /// What is assigned to \p V, its initialiser first.
  llvm::SmallVector<const clang::Expr *, 4> valuesOf(const clang::VarDecl *V) const;
  /// ... and what it is multiplied or divided by: the whole assignment.
  llvm::SmallVector<const clang::Expr *, 4> scaledBy(const clang::VarDecl *V) const;
  bool VisitStmt(const Node *S) override;
  bool VisitUnaryOperator(const clang::UnaryOperator *U) override;
  bool VisitDeclRefExpr(const clang::DeclRefExpr *D) override;
  bool VisitBinaryOperator(const clang::BinaryOperator *B) override;
  bool VisitCallExpr(const clang::CallExpr *C) override;

private:
  const clang::ASTContext &Context;
  Dependences DependsOn;
  unsigned Axes; ///< of threads, in all that the kernel computes
  bool Kernel;   ///< not a function it calls
  clang::ParentMap Parents;
  /// Loops that may be unrolled in one text and not in another.
  llvm::SmallPtrSet<const Node *, 8> InDoubt;
  std::vector<const clang::Expr *> Products;
  std::vector<const clang::Expr *> Doubled; ///< `x * 2`
  llvm::SmallPtrSet<const clang::VarDecl *, 4> DoubledVars;
  std::vector<const clang::BinaryOperator *> Sums;
  std::vector<const Node *> Loops, Barriers;
  llvm::DenseMap<const Node *, unsigned> Order; ///< of the text
  std::vector<std::pair<const clang::VarDecl *, const clang::Expr *>> Set;
  /// Variables that hold a product, and what makes it.
  std::vector<std::pair<const clang::VarDecl *, const clang::Expr *>> Made;
  std::map<const clang::VarDecl *, std::vector<const clang::DeclRefExpr *>>
      Reads;
  /// Divisions, roots and calls, whose slow paths end a block of machine code.
  std::vector<const clang::Expr *> SlowPaths;
  /// May one stand between the product \p P, used at \p Use, and the difference \p Sum?
  /// ptxas, which fuses differences, asks for both in one block where instructions
  /// name no factor, and what of the other operand comes first is the compiler's
  /// choice:
  ///
  ///     sum / n - mean * mean
  bool besideSlowPath(const clang::Expr *P, const clang::Expr *Use,
                      const clang::Expr *Sum) const;
  using Variables = llvm::SmallPtrSet<const clang::VarDecl *, 8>;
  bool hasSlowPath(const Node *E, Variables &Seen) const;
  /// A number of which the inverse is one as well: what is divided by it is a product.
  bool isExactDivisor(const clang::Expr *E) const;
  /// `-(x / y) + p`, `x / -3.f + p`: sums that compilers make differences of.
  bool mayBeDifference(const clang::BinaryOperator *Sum) const;
  static bool mayBeConstant(const clang::Expr *E);
  /// A product with a factor that is a constant, of whatever sign.
  bool mayBeNegated(const clang::Expr *E) const;
  void product(const clang::Expr *E);
  void make(const clang::VarDecl *V, const clang::Expr *P);
  /// \p E with what hands its value on around it: parentheses, conversions
  /// between floating-point types, signs, ?:.
  const Node *outermost(const clang::Expr *E) const;
  /// The sum that \p E is an operand of.
  const clang::Expr *inSum(const clang::Expr *E) const;
  /// The variable that gets the value of \p Top.
  const clang::VarDecl *assigned(const Node *Top) const;
  const Node *assignment(const clang::Expr *E) const;
  /// The element of shared memory that \p E goes into.
  const clang::Expr *stagedTo(const Node *E) const;
  bool isStaged(const Node *E) const { return stagedTo(E); }
  /// ... and its array, or the pointer that leads there.
  const clang::VarDecl *stagedIn(const Node *E) const;
  /// Is \p E an element of shared memory, for all that is known of the pointers
  /// that lead there?
  bool mayBeShared(const clang::Expr *E) const;
  /// Is \p E in an arm of a ?: inside \p Until that indices decide?
  bool conditional(const Node *E, const Node *Until) const;
  /// A condition that the compiler decides for no output and for no two at once: on
  /// data, or on a thread's index and an argument.
  bool isOwn(const clang::Expr *Condition) const;
  /// Has \p P, which goes into \p V, uses besides sums, and does one of all its uses
  /// stand where another condition decides? Compilers that decide it once, for all
  /// outputs of a thread, have a copy of the code for each way, and products with
  /// fewer uses there:
  ///
  ///     r = w * x;  if (mode == 7) r += y;  out = r;
  bool mayLoseUse(const clang::VarDecl *V, const clang::Expr *P);
  /// Is \p P, which goes into \p V, used in several sums, of which other conditions decide
  /// that do not decide about it? ptxas fuses it with all of them if they are in one block
  /// or if an instruction names a factor, else with none; and whether they are hangs on what
  /// compilers make of the condition: a branch around what is read of shared memory or
  /// stored, or a choice between values.
  ///
  ///     p = x * y;  q = p + z;  if (g < n) { out[g] = q;  more[g] = p - w; }
  ///     p = x * y;  if (t > 3 && p + x > v) q = p + s[t + 2];
  bool sumsInBlocks(const clang::VarDecl *V, const clang::Expr *P);
  /// Does \p P have a factor that instructions name: a number, a parameter, constant memory
  /// at a fixed place?
  bool hasNamedFactor(const clang::Expr *P) const;
  bool isNamed(const clang::Expr *E, unsigned Nested) const;
  /// Does a branch stand between \p P and the sum at \p R for what it reads of shared
  /// memory, where registers would be chosen from? Then it hangs on that whether both are in
  /// one block, as above:
  ///
  ///     p = s[t] * s[t + 1];  if (u > 0.5f) u = s[t + 4];  out = p + u;
  bool branchBetween(const clang::Expr *P, const clang::Expr *R) const;
  /// ... and the same product, which compilers make once.
  bool againBehindBranch(const clang::Expr *P) const;
  /// A sum that takes a product in a loop of which nobody knows how far it is unrolled and
  /// whose last product (any, of the sums' or not) is read behind it, or in the next round: a
  /// use in all rounds of a loop, and in none but the last of one that is unrolled. Null: there
  /// is none.
  ///
  ///     #pragma unroll 1
  ///     for (k = 0; k < 4; k++) { y = s[t + k] * s[t];  x += y; }  out = x * y;
  const clang::Expr *besideLastingProduct();
  /// Is \p P what one way of a choice gives, where the other gives a product too and one of
  /// them reads shared memory? Compilers choose what is multiplied then, addresses included,
  /// and have one product; of registers they choose between two products:
  ///
  ///     x = c ? q[t + 4] * v : q[t + 3] * s[t];  out = x + y;
  bool chosenFromTwo(const clang::Expr *P) const;
  /// Is a factor of \p P, or of a product in the call \p P, a variable that branches set, to something of which there is a product
  /// with the other factor already? Compilers take that one, where they see it to be the same:
  ///
  ///     x = q[t] * s[t] + y;  if (c) x = q[t];  out = x * s[t] + z;
  bool knownOneWay(const clang::Expr *P);
  /// What is multiplied with what: here, or by a function of its parameters, called at At.
  struct Multiplied {
    const clang::Expr *L, *R, *At;
  };
  std::vector<Multiplied> multiplied() const;
  /// The same of all that multiplies, in called functions and by `*=` as well; without L and R
  /// where the factors are no arguments.
  std::vector<Multiplied> allMultiplied() const;
  /// A sum of a product that may be one with another (ProductTwins.cpp), where a condition
  /// decides about one of them alone; null: there is none.
  const clang::Expr *twinsApart();
  /// Variables that called functions set, by reference or as members of what they return, to
  /// what may be a product.
  void takeFromCalls();
  /// What such a function sets.
  llvm::SmallPtrSet<const clang::VarDecl *, 8> Handed;
  std::vector<const clang::CallExpr *> RecordCalls; ///< that return structs
  /// Is \p E an element or member that holds a product, or what a function has set to one?
  /// Compilers take aggregates apart, and functions in, at another time than arrays of them.
  bool comesInParts(const clang::Expr *E) const;
  /// `both(x, y).v`, which may be a product.
  bool isPartOfResult(const clang::Expr *E) const;
  /// Is \p E a variable that is set under a condition which does not decide about \p Sum? What
  /// compilers choose from then may have another sign: `if (m > 2) x = -x;  x += s[t] * s[t];`
  bool isSetOneWay(const clang::Expr *E, const Node *Sum) const;
  /// Is what is made of \p E, at first \p Sum, used behind a loop alone that may stay, and that
  /// the sum is in front of? Compilers move it there, and its product or not.
  bool neededBehindLoop(const clang::Expr *E, const clang::Expr *Sum, unsigned Nested) const;
  /// A sum of a product without a named factor for which one of these holds.
  const clang::Expr *movedSum();
  /// A sum that takes \p P, or what is called at \p P and has one; null: there is none.
  const clang::Expr *sumOf(const clang::Expr *P);
  /// The variables and arrays that \p S is made of, by way of all that is assigned to them.
  void madeOf(const Node *S, Variables &Out) const;
  /// \p E, or the initialiser of the variable it names if that is never set, without signs.
  const clang::Expr *onlyValue(const clang::Expr *E) const;
  /// Does \p S, or what it names, have one value all the time?
  bool isOneText(const Node *S) const;
  /// The terms of an index in one order, and the numbers among them.
  std::pair<std::string, int64_t> sumOfIndex(const clang::Expr *E) const;
  /// Are \p X and \p Y two elements of one array, for sure?
  bool areOtherElements(const clang::Expr *X, const clang::Expr *Y) const;
  /// May \p X and \p Y be the same value, \p Rounds: in some rounds of loops?
  bool mayBeEqual(const clang::Expr *X, const clang::Expr *Y, bool Rounds) const;
  bool mayBeOne(const Multiplied &P, const Multiplied &Q, bool Rounds) const;
  /// May \p X and \p Y be the same value in some rounds of the loops around \p At? Elements of
  /// one array may be, where loops change an index.
  bool sameInARound(const clang::Expr *X, const clang::Expr *Y, const clang::Expr *At);
  /// Is \p P a number, or what is one on some way, times what is a number one way, and
  /// something else another way?
  /// Compilers multiply both ways, and choose between the products, where they do not know
  /// which way it goes:
  ///
  ///     p = g < n ? x * y : 0.f;  if (g < n) out = p * 0.5f + z;
  bool isNumberOneWay(const clang::Expr *P) const;
  /// Is a factor of \p P a number one way of what an argument decides? Compilers multiply
  /// each way then, and one of two products is none any more:
  /// `(w > 0.f ? 2.f : x) * y - z * z`.
  bool hasChosenFactor(const clang::Expr *P) const;
  /// The variable of the body that \p E names; null: it names none.
  static const clang::VarDecl *ownVar(const clang::Expr *E);
  /// May compilers move \p Sum, in which \p P stands, behind a condition, and not the
  /// product? They do where no more lives from one place to the other then: beside a number, or
  /// what else instructions name.
  bool mayLeave(const clang::Expr *Sum, const Node *P) const;
  /// ... or one in what \p C calls?
  bool mayLeaveIn(const clang::CallExpr *C, unsigned Nested) const;
  /// Does a condition, that of a loop included (\p Loops), decide about \p Use, and not about
  /// \p E in front of it?
  bool conditionBetween(const Node *E, const Node *Use, bool Loops = true) const;
  /// Is what \p E goes into used behind such conditions alone?
  bool neededBehind(const Node *E, unsigned Nested) const;
  /// Is \p P fused only with sums of its block of code, and may \p Sum, which takes it at
  /// \p Use, come to stand in another one?
  ///
  ///     x = v - s[t] * s[t + 1];  if (g < n) out[g] = x;
  bool mayBeParted(const clang::Expr *P, const Node *Use, const clang::Expr *Sum) const;
  /// Is \p P fused only with sums of its block of code, and may it stay in front of the
  /// condition that the sum at \p Use is behind? Compilers take it there unless more values
  /// live up to there then, which hangs on all else that is made of its factors. Sums of
  /// several outputs are computed whatever the condition.
  ///
  ///     y = s[t + 1] * s[t + 2];  x = s[t] + s[t + 1] * s[t + 3];  if (g < n) out[g] = x + y;
  bool mayStayInFront(const clang::Expr *P, const Node *Use) const;
  /// Does a compiler know \p E at once?
  bool isNumber(const clang::Expr *E) const;
  /// Is a floating-point element of shared memory read in \p S?
  bool readsElement(const Node *S) const;
  /// Does a condition decide about \p Use, and not about \p P, that is no output's own
  /// and no guard?
  bool isDecided(const Node *Use, const clang::Expr *P);
  /// `g < n`: of threads and of an argument, and so never decided; or a variable
  /// that says so.
  bool isGuard(const clang::Expr *Condition) const;
  bool readsShared(const clang::Expr *E) const;
  static bool readsMemory(const Node *S);
  /// May \p E, an operand of a sum, be made of a value that a ?: chooses from elements by
  /// something that is the same for threads or known of them, or from a shared one and a
  /// number or an argument?
  /// Compilers make two sums of one, or operate on what is chosen from:
  ///
  ///     (m ? 1.f : x) + y * z        (x > 0 ? 2.f : y) * z + w
  bool isChosen(const clang::Expr *E, Variables &Seen) const;
  /// May what \p C calls end in a product?
  bool mayMultiply(const clang::CallExpr *C) const;
  /// Is \p E a product, or a sum with one?
  bool addsProduct(const clang::Expr *E) const;
  /// Does \p P come by \p V into a loop that goes on with it at \p R, and which a plan
  /// may unroll where the compiler does not? The first round's sum is fused then.
  bool entersRolled(const clang::VarDecl *V, const clang::Expr *P,
                    const clang::Expr *R) const;
  /// Is \p E made of an argument, by what is assigned or where?
  bool ofArgument(const Node *E, unsigned Nested) const;
  /// Is \p P the same for all threads along some axis, and would be shared by a
  /// thread's outputs? An element of a shared array that differs between threads
  /// is each output's own.
  bool sameForAll(const clang::Expr *P) const {
    return Kernel && (Axes & ~threadsOf(P, 0, false));
  }
  /// ... or one of few values that are, where a condition decides which: behind the condition
  /// it is the same.
  bool sameInArms(const clang::Expr *P) const {
    return Kernel && (Axes & ~threadsOf(P, 0, true));
  }
  /// Is \p P made of a variable that is set where a condition decides that is the same for all
  /// outputs of a thread? Compilers decide it once, and have a product for all outputs each way
  /// in a block in front of the sums:
  ///
  ///     if (w > 0.f) x -= s[t];  out = x * y + z;
  bool hasDecidedFactor(const clang::Expr *P);
  /// May \p E be one of \p Of or a variable that may be one, parameters of called
  /// functions included?
  bool mayBe(const clang::Expr *E, llvm::ArrayRef<const clang::Expr *> Of,
             llvm::function_ref<bool(const clang::VarDecl *)> Holds) const;
  bool mayBeProduct(const clang::Expr *E) const;
  /// `x * 2` is rounded by nobody, but takes the place of the other product.
  bool mayBeDoubled(const clang::Expr *E) const;
  bool isSumOfTwo(const clang::BinaryOperator *Sum) const;
  /// Is \p P, used in \p Sum, computed under a condition, and may it leave it? Then
  /// compilers have one product for several sums, in another block than these, or
  /// choose between operands where the source chooses between sums:
  ///
  ///     for (k ...) if (s[t + k] > v) x -= s[t] * w;      // one product in all rounds
  ///     x = s[t] > v ? x - s[t] * w : x + 0.1f;           // x + (c ? -p : 0.1f)
  ///
  /// What of these is fused hangs on the statements around them.
  bool mayMove(const clang::Expr *P, const clang::Expr *Sum);
  /// What decides whether \p E is computed, but for an `if` outside of loops that
  /// all products are in: conditions, and loops that may end early.
  llvm::SmallVector<const Node *, 4> deciding(const clang::Expr *E) const;
  /// Is there a floating-point sum in \p S, which may be null?
  static bool hasSum(const Node *S);
  /// Are there floating-point sums in both arms of \p S?
  static bool sumsInBothArms(const Node *S);
  /// Has a sum that \p P is used in another product as well?
  bool meetsProduct(const clang::Expr *P);
  /// Does \p V count rounds up to an argument? No compiler knows its values.
  bool countsUnknown(const clang::VarDecl *V) const;
  /// A product in one place for the compiler, and staged in another one.
  std::string canonical(const clang::Expr *E, unsigned Depth = 0) const;
  /// ... of what the function returns that is called; empty: that is no expression of its
  /// arguments.
  std::string returned(const clang::CallExpr *C, unsigned Depth) const;
  /// The arguments of the call at hand.
  mutable std::vector<std::pair<const clang::VarDecl *, std::string>> Given;
  /// A sum of a product that is staged, in its own right or in another sum, by
  /// text of its own.
  const clang::Expr *stagedElsewhere();
  /// A sum with `x * 2` where x + x is computed too: one of both for compilers, and no factor
  /// of the sum any more where that is so of the text around it.
  const clang::Expr *doubledAndAdded() const;
  /// A sum with a product of which there is `x * 2` as well: a use that is no sum, or one
  /// (x + x), by when compilers count its uses.
  const clang::Expr *doubledProduct() const;
  static bool isLoop(const Node *S);
  /// How many rounds `for (int i = 1; i <= 4; i++)` has; nullopt: not known.
  std::optional<uint64_t> rounds(const Node *L) const;
  /// Does the source say that the loop is unrolled altogether?
  bool isUnrolled(const Node *L) const;
  bool isIn(const Node *E, const Node *S) const;
  /// May \p R, a use of \p V, read the product \p P that goes into it?
  bool mayRead(const clang::DeclRefExpr *R, const clang::VarDecl *V,
               const clang::Expr *P);
  /// Is \p P a number times a variable that begins as a number and is changed by a
  /// loop that may take no round? Compilers multiply both ways in front of where
  /// they meet, and there is another value between product and sum; not so where
  /// what the variable holds is hidden from them.
  bool foldsAtStart(const clang::Expr *P) const;
  /// Is \p P the same in all rounds of a loop around it?
  bool sameInRounds(const clang::Expr *P);
  /// ... of the loop \p L: nothing it is made of changes in there, memory included?
  bool sameIn(const clang::Expr *P, const Node *L);
  std::vector<std::pair<const clang::VarDecl *, const Node *>> Statements;
  const std::vector<std::pair<const clang::VarDecl *, const Node *>> &
  DeclStmts();
  /// Is there anything between the product \p P that goes into \p V and the sum that
  /// reads it with \p R: another value, or \p Blocks, the end of a block?
  bool parted(const clang::VarDecl *V, const clang::Expr *P,
              const clang::DeclRefExpr *R, bool Blocks);
  /// Variables that get a product from another one.
  void passOn();
  /// May another value stand where the product \p P stands in the text? \p Meets: a
  /// sum that it is used in has another product as well.
  bool mayChange(const clang::Expr *P, bool Meets);
  /// Is \p P, used in \p Sum, such that a thread's outputs have one of it, or of a part, and
  /// another sum by that?
  bool isSharedIn(const clang::Expr *P, const clang::Expr *Sum);
  /// Is \p P, which a variable holds, the same for all threads, and stands behind a product
  /// that is not, of two in a sum? A thread has it once for its outputs, in front of them:
  ///
  ///     float x = a[g] * w[g], y = c * w[0], r = x + y;
  bool mayComeFirst(const clang::Expr *P);
  /// The same of one in \p Sum itself, beside a variable that holds the other one.
  bool standsBehind(const clang::Expr *P, const clang::Expr *Sum) const;
  /// Is a factor of \p P a number times what is the same for all threads? Compilers turn the
  /// number's sign where the product is taken away, but not that of a product of all outputs:
  ///
  ///     out = y - (3.f * w) * x
  bool hasScaleOfAll(const clang::Expr *P, unsigned Nested) const;
  /// Does a barrier, or a loop that may be unrolled or not (\p Any: or one that is),
  /// stand between \p P and \p R, or around one of them alone?
  bool areParted(const clang::Expr *P, const clang::Expr *R, bool Any);
  /// Does a value change its block on the way out of \p S?
  bool leaves(const Node *S) const;
  /// ... or on the way into it? Not if it is only used in there.
  bool enters(const clang::VarDecl *V, const Node *S);
  /// Does \p S stand between two statements of one block?
  bool stands(const Node *S) const;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_PRODUCTFLOW_H
