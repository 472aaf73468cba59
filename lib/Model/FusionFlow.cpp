// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc fuses a product with the sums that use it when it has no other uses
// (docs/soundness.md), wherever they stand: that is so in the original and in the
// rewritten kernel alike, whose outputs compute the same values from the same
// values. It is not so where the statements themselves decide:
//
//   - The product reaches its sum from a branch (or an arm of ?:) that indices
//     decide, out of a loop or in the loop's next round, where the source does
//     not say that the loop is unrolled: then there is another value between them,
//     `c ? p : q`, or not, depending on what the compiler knows of the indices.
//   - It is staged and used in a sum as well: in the original one product with two
//     uses, in the rewritten kernel two with one each.
//   - The sum has two products, of which one only can be fused. Which one hangs on
//     the order in which their values are loaded, which stays, and on the block of
//     code in which they are computed, which does not where
//       - barriers, statements that fill shared memory or a loop that may be
//         unrolled or not stand between product and sum;
//       - the product is the same in all rounds of such a loop, or for all
//         threads: one thread has it once for all its outputs;
//       - what a thread keeps for several outputs is read elsewhere than in the
//         original (FusionOrder.cpp);
//       - a difference is made a sum, or the other way round (TurnedSums.cpp).
//
// Such a sum is found here.

#include "FusionOrder.h"
#include "ProductEscapes.h"
#include "ProductFlow.h"
#include "TurnedSums.h"
#include <map>

using namespace clang;

namespace rcache {
namespace {

/// Looks at the sums of two products of all that is called.
class SumsInOrder {
public:
  using Where = SumInDoubt::Where;
  SumsInOrder(
      std::map<const FunctionDecl *, std::unique_ptr<ProductFlow>> &Flows,
      const FunctionDecl *Kernel, ProductFlow::Dependences DependsOn)
      : Flows(Flows), Order(Kernel, DependsOn), Turned(Flows) {}

  SumInDoubt Found;

  void look(const FusionOrder::Call &C, unsigned Depth = 0) {
    ProductFlow &F = *Flows.at(C.Of);
    for (Where In : {SumInDoubt::SeveralOutputs, SumInDoubt::OutputsInLoops})
      if (const Expr *Sum = F.distantSum(In))
        add(Sum, In);
    for (const BinaryOperator *B : F.sumsOfTwo()) {
      if (!isProduct(B->getLHS(), C) || !isProduct(B->getRHS(), C))
        continue;
      if (Turned.matters(B, C))
        add(B, SumInDoubt::Anywhere);
      if (!Negations && F.staysDifference(B))
        continue;
      const std::vector<const Expr *> L = F.operands(B->getLHS()),
                                      R = F.operands(B->getRHS());
      using Outputs = FusionOrder::Outputs;
      if (!Order.keeps(B, L, R, C, Outputs::One))
        add(B, SumInDoubt::Anywhere);
      else if (!Order.keeps(B, L, R, C, Outputs::Several))
        add(B, SumInDoubt::SeveralOutputs);
      else if (!Order.keeps(B, L, R, C, Outputs::InLoops))
        add(B, SumInDoubt::OutputsInLoops);
    }
    for (const BinaryOperator *B : F.sums())
      if (C.Caller && (isSharedProduct(B->getLHS(), C) || isSharedProduct(B->getRHS(), C)))
        add(B, SumInDoubt::SeveralOutputs);
    for (const CallExpr *At : F.Calls) {
      const FunctionDecl *Def = nullptr;
      if (!At->getDirectCallee() || !At->getDirectCallee()->hasBody(Def) ||
          !Flows.count(Def))
        continue;
      if (Depth < 4 && ++Steps < 256)
        look({Def, At, &C}, Depth + 1);
      else if (const auto &Sums = Flows.at(Def)->sumsOfTwo(); !Sums.empty())
        add(Sums.front(), SumInDoubt::Anywhere);
    }
  }
  bool Negations = false;
  unsigned Axes = 0; ///< of threads, in all that the kernel computes

private:
  std::map<const FunctionDecl *, std::unique_ptr<ProductFlow>> &Flows;
  FusionOrder Order;
  TurnedSums Turned;
  unsigned Steps = 0;

  void add(const Expr *Sum, Where In) {
    if (!Found.Sum || Found.In < In)
      Found = {Sum, In};
  }
  /// Is \p E, in a function that is called, a product which all outputs of a thread have in
  /// common?
  bool isSharedProduct(const Expr *E, const FusionOrder::Call &C) {
    if (const Expr *Argument = argumentOf(E, C))
      return isSharedProduct(Argument, *C.Caller);
    return Flows.at(C.Of)->takesPlace(E) && (Axes & ~threadsOf(E, C, 0));
  }
  /// The Dependence of \p E on axes of threads, through the arguments of calls.
  unsigned threadsOf(const Expr *E, const FusionOrder::Call &C, unsigned Nested) {
    const ProductFlow &F = *Flows.at(C.Of);
    if (!C.Caller)
      return F.threadsOf(E, 0, false);
    unsigned All = F.threadsOf(E, 0, false); // indices that it reads itself
    forEachVariable(E, [&](const DeclRefExpr *D) {
      const auto *V = cast<VarDecl>(D->getDecl());
      if (const Expr *Argument = argumentOf(D, C))
        All |= threadsOf(Argument, *C.Caller, Nested + 1);
      else if (Nested > 6)
        All |= DepThread;
      else
        for (const Expr *Value : F.valuesOf(V))
          All |= threadsOf(Value, C, Nested + 1);
    });
    return All;
  }
  static void forEachVariable(const clang::Stmt *S,
                              llvm::function_ref<void(const DeclRefExpr *)> Each) {
    if (const auto *D = dyn_cast<DeclRefExpr>(S); D && isa<VarDecl>(D->getDecl()))
      Each(D);
    for (const clang::Stmt *X : S->children())
      if (X)
        forEachVariable(X, Each);
  }
  /// ... or, of a parameter, the argument?
  bool isProduct(const Expr *E, const FusionOrder::Call &C) {
    const ProductFlow &F = *Flows.at(C.Of);
    if (!F.takesPlace(E))
      return false;
    const auto *D = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
    const auto *V = D ? dyn_cast<ParmVarDecl>(D->getDecl()) : nullptr;
    if (!V || !C.Caller || F.holdsProduct(V->getCanonicalDecl()))
      return true;
    const Expr *Argument = argumentOf(E, C);
    return !Argument || isProduct(Argument, *C.Caller);
  }
};

} // namespace

SumInDoubt
fusedByContext(const FunctionDecl *FD,
               llvm::function_ref<unsigned(const VarDecl *)> DependsOn,
               unsigned Axes,
               llvm::function_ref<void(const clang::Stmt *, const clang::Stmt *, bool)> Each) {
  std::map<const FunctionDecl *, std::unique_ptr<ProductFlow>> Flows;
  Flows[FD] = std::make_unique<ProductFlow>(FD, DependsOn, Axes, true);
  SumInDoubt First = Flows[FD]->find();
  Flows[FD]->eachOfOneBlock(Each);
  if (First.Sum && First.In == SumInDoubt::Anywhere)
    return First;
  if (const SumInDoubt Escaped = sumOfEscaped(FD); Escaped.Sum)
    return Escaped;
  std::vector<std::pair<const FunctionDecl *, bool>> Work;
  const auto CalledBy = [&](const ProductFlow &Flow) {
    for (const FunctionDecl *F : Flow.Called)
      Work.emplace_back(F, Flow.Decided || Flow.isDecidedCallee(F));
    // First those that are decided, which is what is looked at.
    llvm::stable_sort(Work, [](const auto &A, const auto &B) { return A.second < B.second; });
  };
  CalledBy(*Flows[FD]);
  while (!Work.empty()) {
    const auto [F, Decided] = Work.back();
    Work.pop_back();
    auto At = Flows.find(F);
    if ((At != Flows.end() && (At->second->Decided || !Decided)) || !F->getBody() ||
        Flows.size() > 32)
      continue;
    Flows[F] = std::make_unique<ProductFlow>(F, DependsOn, Axes, false);
    Flows[F]->Decided = Decided;
    const SumInDoubt InCallee = Flows[F]->find();
    if (InCallee.Sum && InCallee.In == SumInDoubt::Anywhere)
      return InCallee;
    if (!First.Sum)
      First = InCallee;
    CalledBy(*Flows[F]);
  }
  SumsInOrder Sums(Flows, FD, DependsOn);
  Sums.Found = First;
  Sums.Axes = Axes;
  for (const auto &[F, X] : Flows)
    Sums.Negations |= X->Negations;
  Sums.look({FD});
  return Sums.Found;
}

} // namespace rcache
