// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of two products in a sum nvcc fuses the left one, and which one is left it
// decides by rank (LLVM's Reassociate, before loops are unrolled): what is read
// from memory, and what a loop or branch hands on, is numbered in the order of
// the text, arguments and indices come before; what is computed has the highest
// number that goes into it, plus one for each operation since. The lower
// operand is left; of equal ones the one that the source has there. Reads in
// front of a condition that decides about the sum have no certain order: of use
// in there alone, they are moved there.
//
// In a rewritten kernel what a thread keeps for several outputs is an array,
// one element each, and so is read where the text uses it; shared memory is
// read where it was, through views that are arrays as well; indices hang on the
// number of the output. Where outputs begin is the shape's decision, so each
// place where they may is tried (Form). Ranks are not computed: an operand is
// below the other if everything that goes into it is numbered in front of
// something that goes into the other, which has as many operations to go. If
// the same operand is below in all forms, the sum keeps what it is fused with.

#include "FusionOrder.h"
#include "OperandRanks.h"
#include "rcache/Model.h"
#include <algorithm>
#include <map>
#include <optional>
#include <set>

using namespace clang;

namespace rcache {
namespace {

enum class Below { Unknown, Weak, Strict };
enum class Order { Unknown, Left, Right, Alike };

} // namespace

class FusionOrder::Impl {
public:
  Impl(const FunctionDecl *Kernel, Dependences DependsOn)
      : Kernel(Kernel), DependsOn(DependsOn), Ranks(DependsOn) {}
  bool keeps(const BinaryOperator *Sum, Operand L, Operand R, const Call &In,
             Outputs Of);

private:
  const FunctionDecl *Kernel;
  Dependences DependsOn;
  OperandRanks Ranks;
  /// Where conditions begin to decide about the sum at hand.
  std::vector<Place> Conditions;
  void findConditions(const clang::Stmt *Sum, const Call &In);
  /// Is what is read at \p L of use behind such a condition, and in front of it
  /// only to be there in time? Compilers read it there, in an order of their
  /// own.
  bool mayMove(const Leaf &L);

  /// Where outputs may begin for a sum at \p Site: nowhere (all of the kernel),
  /// at barriers, at branches that stores stand in, in front of what is done
  /// once for all of them, and in loops. What matters is the last such place in
  /// front of the sum; behind it are others or none.
  std::vector<OutputForm> forms(Outputs Of, unsigned Site);
  /// The same for all outputs, and reads memory, or sets something.
  bool mayBeDoneOnce(const clang::Stmt *S);
  Order order(const BinaryOperator *Sum, const Expr *A, const Expr *B,
              const Call &C);
  bool isReadLast(const BinaryOperator *Sum, const Expr *A, const Expr *B,
                  const Call &C, const Leaves &Upper);
  /// Arithmetic of what is read there, by indices that are not.
  static bool isSimple(const clang::Stmt *N);
  /// Does \p L stand in a later block than \p U, whatever is computed of that:
  /// in a loop behind it, behind its loop or another one, or in outputs of
  /// their own?
  bool inLaterBlock(const Leaf &U, const Leaf &L);
  /// Does \p L stand behind a loop with \p U in it that is unrolled, in front of the pass
  /// that numbers or behind it? Its rounds may be operations of one block then.
  bool leavesUnrolled(const Leaf &U, const Leaf &L);
  Below below(const Leaf &U, const Leaf &L, bool Rewritten);
  Below below(const Leaves &U, const Leaves &L);
};

bool FusionOrder::Impl::keeps(const BinaryOperator *Sum, Operand L, Operand R,
                              const Call &In, Outputs Of) {
  std::optional<Order> All;
  const Call *C = &In;
  const clang::Stmt *At = Sum;
  for (; C->Caller; C = C->Caller)
    At = C->At;
  const unsigned Site = Ranks.facts(Kernel).First.lookup(At);
  findConditions(Sum, In);
  for (const OutputForm &F : forms(Of, Site)) {
    Ranks.setForm(F, Site);
    for (const Expr *A : L)
      for (const Expr *B : R) {
        const Order O = order(Sum, A, B, In);
        if (O == Order::Unknown || (All && *All != O))
          return false;
        All = O;
      }
  }
  return true;
}

void FusionOrder::Impl::findConditions(const clang::Stmt *Sum, const Call &In) {
  Conditions.clear();
  const clang::Stmt *At = Sum;
  for (const Call *C = &In; C; At = C->At, C = C->Caller) {
    const OperandText &F = Ranks.facts(*C);
    const unsigned N = F.First.lookup(At);
    for (const auto &[Begin, End] : F.Decided)
      if (Begin <= N && N <= End)
        Conditions.push_back(Ranks.place(*C, Begin));
  }
}

bool FusionOrder::Impl::mayMove(const Leaf &L) {
  return !L.At.empty() && llvm::any_of(Conditions, [&](const Place &Begin) {
    return L.At < Begin && llvm::none_of(
                               Ranks.facts(Kernel).Barriers,
                               [&](unsigned E) {
                                 return L.At.front() < E && E < Begin.front();
                               });
  });
}

std::vector<OutputForm> FusionOrder::Impl::forms(Outputs Of, unsigned Site) {
  const OperandText &F = Ranks.facts(Kernel);
  const bool Several = Of != Outputs::One;
  // Of the original it is not known whether what is read again has been loaded once by then:
  // nvcc looks for the first load through some six instructions.
  std::vector<OutputForm> Out = {{false, false, {}}, {false, true, {}}, {true, Several, {}}};
  if (!Several)
    return Out;
  std::set<unsigned> May(F.Branches.begin(), F.Branches.end());
  if (Of == Outputs::InLoops)
    May.insert(F.LoopEdges.begin(), F.LoopEdges.end());
  for (const clang::Stmt *S : F.Statements)
    if (mayBeDoneOnce(S))
      May.insert(F.First.lookup(S) - 1);
  auto Add = [&](unsigned Last) {
    OutputForm X{true, true, F.Barriers};
    llvm::copy_if(May, std::back_inserter(X.Edges),
                  [&](unsigned E) { return E <= Last || E > Site; });
    // A loop with such a place has others around it.
    for (size_t L = 0; L < F.LoopEdges.size(); L += 2)
      if (llvm::any_of(X.Edges, [&](unsigned E) {
            return F.LoopEdges[L] < E && E < F.LoopEdges[L + 1];
          })) {
        X.Edges.push_back(F.LoopEdges[L]);
        X.Edges.push_back(F.LoopEdges[L + 1]);
      }
    Out.push_back(std::move(X));
  };
  Out.push_back({true, true, F.Barriers});
  Add(0);
  for (unsigned E : May)
    if (E <= Site)
      Add(E);
  return Out;
}

bool FusionOrder::Impl::mayBeDoneOnce(const clang::Stmt *S) {
  struct Finder {
    Impl &I;
    bool Own = false, Matters = false;
    void look(const clang::Stmt *N) {
      if (!N)
        return;
      if (auto *E = dyn_cast<Expr>(N)) {
        if (auto *B = dyn_cast<BinaryOperator>(E))
          Matters |= B->isAssignmentOp();
        if (auto *U = dyn_cast<UnaryOperator>(E))
          Matters |= U->isIncrementDecrementOp();
        if (const auto R = memoryRoot(E)) {
          Own |= (I.DependsOn(R->Var) & (DepThread | DepShared)) != 0 ||
                 (R->Var->getIdentifier() && R->Var->getName() == "threadIdx");
          Matters |= R->Element || R->Var->hasGlobalStorage();
        }
      }
      Matters |= isa<ReturnStmt>(N);
      for (const clang::Stmt *C : N->children())
        look(C);
    }
  } X{*this};
  X.look(S);
  return X.Matters && !X.Own;
}

Order FusionOrder::Impl::order(const BinaryOperator *Sum, const Expr *A,
                               const Expr *B, const Call &C) {
  const bool IsTarget = Sum->isCompoundAssignmentOp() && A == Sum->getLHS();
  Leaves UpperA, UpperB;
  const bool KnownA = Ranks.above(A, C, IsTarget, UpperA);
  const bool Flagged = Ranks.hasFlag();
  const bool KnownB = Ranks.above(B, C, false, UpperB);
  if (Flagged || Ranks.hasFlag())
    return Order::Unknown;
  const Leaves LowerA = Ranks.below(A, C), LowerB = Ranks.below(B, C);
  if (KnownA && KnownB && UpperA.empty() && UpperB.empty())
    return Order::Alike;
  // `x += b` where x is an element: it is read behind the last of b, of which
  // it is a factor, and so is not above the product.
  if (KnownA && isReadLast(Sum, A, B, C, UpperA))
    UpperA.erase(
        std::remove_if(UpperA.begin(), UpperA.end(),
                       [&](const Leaf &U) {
                         return U.At ==
                                Ranks.place(C, Ranks.facts(C).Last.lookup(Sum));
                       }),
        UpperA.end());
  if (KnownA && below(UpperA, LowerB) != Below::Unknown)
    return Order::Left;
  if (KnownB && below(UpperB, LowerA) == Below::Strict)
    return Order::Right;
  return Order::Unknown;
}

bool FusionOrder::Impl::isReadLast(const BinaryOperator *Sum, const Expr *A,
                                   const Expr *B, const Call &C,
                                   const Leaves &Upper) {
  if (!Sum->isCompoundAssignmentOp() || A != Sum->getLHS() ||
      B->IgnoreParenImpCasts() != Sum->getRHS()->IgnoreParenImpCasts() ||
      !isSimple(B))
    return false;
  auto *P = dyn_cast<BinaryOperator>(B->IgnoreParenImpCasts());
  if (!P || P->getOpcode() != BO_Mul)
    return false;
  const Leaves L = Ranks.below(B, C);
  const Place Begin = Ranks.place(C, B),
              End = Ranks.place(C, Ranks.facts(C).Last.lookup(Sum));
  return llvm::any_of(L, [&](const Leaf &X) { return Begin <= X.At; }) &&
         llvm::none_of(
             Upper, [&](const Leaf &X) { return X.At == End && X.Depth > 0; });
}

bool FusionOrder::Impl::isSimple(const clang::Stmt *N) {
  if (auto *C = dyn_cast<ImplicitCastExpr>(N))
    return isSimple(C->getSubExpr());
  if (auto *P = dyn_cast<ParenExpr>(N))
    return isSimple(P->getSubExpr());
  if (auto *M = dyn_cast<MemberExpr>(N))
    return !M->isArrow() && isSimple(M->getBase());
  if (auto *B = dyn_cast<BinaryOperator>(N))
    return (B->isAdditiveOp() || B->isMultiplicativeOp()) &&
           isSimple(B->getLHS()) && isSimple(B->getRHS());
  if (auto *A = dyn_cast<ArraySubscriptExpr>(N)) {
    struct Finder {
      static bool reads(const clang::Stmt *X) {
        if (isa<ArraySubscriptExpr>(X) && !isa<PseudoObjectExpr>(X))
          return true;
        return llvm::any_of(X->children(),
                            [](const clang::Stmt *Y) { return Y && reads(Y); });
      }
    };
    return isSimple(A->getBase()) && !Finder::reads(A->getIdx());
  }
  return isa<DeclRefExpr, FloatingLiteral, IntegerLiteral>(N);
}

bool FusionOrder::Impl::inLaterBlock(const Leaf &U, const Leaf &L) {
  const unsigned From = U.At.empty() ? 0 : U.At.front(),
                 To = L.At.empty() ? 0 : L.At.front();
  const OperandText &F = Ranks.facts(Kernel);
  if (!Ranks.form().Edges.empty() &&
      llvm::any_of(F.Barriers, [&](unsigned E) { return From < E && E < To; }))
    return true;
  for (size_t I = 0; I < F.LoopEdges.size(); I += 2) {
    const unsigned Begin = F.LoopEdges[I], End = F.LoopEdges[I + 1];
    const bool In = Begin <= From && From <= End;
    if ((From < Begin && Begin < To) || (In && End < To && !F.Unrolled[I / 2]))
      return true;
  }
  return false;
}

bool FusionOrder::Impl::leavesUnrolled(const Leaf &U, const Leaf &L) {
  const unsigned From = U.At.empty() ? 0 : U.At.front(),
                 To = L.At.empty() ? 0 : L.At.front();
  const OperandText &F = Ranks.facts(Kernel);
  for (size_t I = 0; I < F.LoopEdges.size(); I += 2)
    if (F.Unrolled[I / 2] && F.LoopEdges[I] <= From && From <= F.LoopEdges[I + 1] &&
        F.LoopEdges[I + 1] < To)
      return true;
  return false;
}

Below FusionOrder::Impl::below(const Leaf &U, const Leaf &L, bool Rewritten) {
  if (U.At < L.At && inLaterBlock(U, L))
    return Below::Strict;
  if (leavesUnrolled(U, L))
    return Below::Unknown;
  if (U.At != L.At && mayMove(L) && mayMove(U))
    return Below::Unknown;
  if (U.Whole && U.Whole == L.Whole)
    return U.Member <= L.Member && U.Depth <= L.Depth ? Below::Weak
                                                      : Below::Unknown;
  // Hidden where it is read, and the other one not.
  const bool Alike = U.Shared == L.Shared && U.Own == L.Own;
  const int Hiding = Rewritten && U.Shared && !Alike ? (U.Word ? 1 : 4) : 0;
  const int More = U.Depth + Hiding - L.Depth;
  if (U.At < L.At)
    return More <= 0 ? Below::Strict : More <= 1 ? Below::Weak : Below::Unknown;
  return U.At == L.At && More <= 0 ? Below::Weak : Below::Unknown;
}

Below FusionOrder::Impl::below(const Leaves &U, const Leaves &L) {
  if (L.empty())
    return Below::Unknown;
  Below All = Below::Strict;
  for (const Leaf &X : U) {
    Below Best = Below::Unknown;
    for (const Leaf &Y : L)
      Best = std::max(Best, below(X, Y, Ranks.form().Rewritten));
    All = std::min(All, Best);
  }
  return All;
}

FusionOrder::FusionOrder(const FunctionDecl *Kernel, Dependences DependsOn)
    : I(std::make_unique<Impl>(Kernel, DependsOn)) {}
FusionOrder::~FusionOrder() = default;

bool FusionOrder::keeps(const BinaryOperator *Sum, Operand L, Operand R,
                        const Call &In, Outputs Of) {
  return I->keeps(Sum, L, R, In, Of);
}

} // namespace rcache
