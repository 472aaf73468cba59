// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the model says of sums whose fusion is not known: KernelModel::UnsettledSum,
// and declines of sums in loops.

#include "FoldedNumbers.h"
#include "FusionLoops.h"
#include "Locals.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace rcache {

/// The text of a sum that a decline is about, in quotes and on one line.
static std::string quotedSum(const Expr *Sum, const KernelModel &M, FlatText &Flat) {
  const auto R = Flat.range(Sum->getSourceRange());
  std::string Text;
  for (char C : R ? M.text(*R) : std::string())
    if (!isspace(static_cast<unsigned char>(C)))
      Text += C;
    else if (!Text.empty() && Text.back() != ' ')
      Text += ' ';
  return Text.empty() ? "" : "'" + Text + "'";
}

namespace {

/// Sums that begin with -0: what is added first takes its place, a product too,
/// where a compiler takes the first round out of a loop.
class NegativeZeros : public ConstDynamicRecursiveASTVisitor {
public:
  explicit NegativeZeros(const ASTContext &AC) : AC(AC) {}
  const Expr *Sum = nullptr;

  void look(const clang::Stmt *Body) {
    TraverseStmt(Body);
    for (const BinaryOperator *B : Sums)
      for (const Expr *Side : {B->getLHS(), B->getRHS()})
        if (auto *R = dyn_cast<DeclRefExpr>(Side->IgnoreParenImpCasts());
            !Sum && R && Begin.contains(R->getDecl()))
          Sum = B;
  }

  bool VisitVarDecl(const VarDecl *V) override {
    if (V->getInit())
      begins(V, V->getInit());
    return true;
  }
  bool VisitBinaryOperator(const BinaryOperator *B) override {
    if (B->getOpcode() == BO_Assign)
      if (auto *R = dyn_cast<DeclRefExpr>(B->getLHS()->IgnoreParenImpCasts()))
        begins(R->getDecl(), B->getRHS());
    if (B->getType()->isRealFloatingType() &&
        (B->isAdditiveOp() || B->getOpcode() == BO_AddAssign ||
         B->getOpcode() == BO_SubAssign))
      Sums.push_back(B);
    return true;
  }

private:
  const ASTContext &AC;
  llvm::SmallPtrSet<const ValueDecl *, 4> Begin;
  std::vector<const BinaryOperator *> Sums;

  void begins(const ValueDecl *V, const Expr *With) {
    llvm::APFloat F(0.0);
    if (!With->isValueDependent() &&
        With->getType()->isRealFloatingType() &&
        With->EvaluateAsFloat(F, AC) && F.isNegZero())
      Begin.insert(V);
  }
};

} // namespace

/// Sums of which nobody knows what they are fused with in a rewritten kernel.
void noteSumsInDoubt(const FunctionDecl *FD, KernelModel &M, const Locals &L,
                     FlatText &Flat) {
  if (fusesNothing(FD->getASTContext()))
    return;
  const SourceManager &SM = FD->getASTContext().getSourceManager();
  unsigned Axes = 0;
  for (const BuiltinUse &B : M.Builtins)
    if (B.K == Symbol::ThreadIdx)
      Axes |= B.Axis < 3 ? DepThreadX << B.Axis : DepThread;
  const auto DependsOn = [&](const VarDecl *V) -> unsigned {
    const int I = L.varIndex(V);
    return V->hasAttr<CUDASharedAttr>() ? DepShared
           : I >= 0                     ? M.Vars[I].Depends
                                        : 0;
  };
  const auto NoteOneBlock = [&](const clang::Stmt *Product, const clang::Stmt *Sum,
                                bool Leaves) {
    const auto From = Flat.range(Product->getSourceRange()),
               To = Flat.range(Sum->getSourceRange());
    if (From && To)
      M.OneBlock.push_back(
          {Product == Sum ? TextRange() : *From,
           {std::min(From->Begin, To->Begin), std::max(From->End, To->End)},
           Leaves});
    else
      M.OneBlock.push_back({TextRange(), M.stmt(0).Range, Leaves});
  };
  const SumInDoubt Doubtful = fusedByContext(FD, DependsOn, Axes, NoteOneBlock);
  auto At = [&](const Expr *Sum) {
    auto *B = dyn_cast<BinaryOperator>(Sum);
    return sourcePos(SM, SM.getExpansionLoc(B ? B->getOperatorLoc()
                                              : Sum->getBeginLoc()));
  };
  if (Doubtful.Sum) {
    const std::string Sum = quotedSum(Doubtful.Sum, M, Flat);
    static const char *const Where[] = {", with several outputs in a loop",
                                        ", with several outputs a thread", ""};
    using Kernels = KernelModel::SumInDoubt::Kernels;
    static constexpr Kernels In[] = {Kernels::OutputsInLoops,
                                     Kernels::SeveralOutputs, Kernels::All};
    M.UnsettledSum = {In[Doubtful.In],
                      (Sum.empty() ? "that" : Sum) + " in line " +
                          std::to_string(At(Doubtful.Sum).Line) +
                          Where[Doubtful.In] + Doubtful.Why};
  }
  const auto NoteUnrolled = [&](const Expr *Sum, const char *Why) {
    if (!Sum || M.UnsettledSum.In == KernelModel::SumInDoubt::All)
      return;
    const std::string Text = quotedSum(Sum, M, Flat);
    M.UnsettledSum = {KernelModel::SumInDoubt::All, (Text.empty() ? "that" : Text) + " in line " +
                                                        std::to_string(At(Sum).Line) + Why};
  };
  M.FoldsWithArguments = roundedByUnrolling(FD, /*Arguments=*/true) != nullptr;
  NoteUnrolled(roundedByUnrolling(FD, /*Arguments=*/false),
               ", with a number that a compiler knows where it unrolls the loop");
  const SumsInLoops InLoops = fusedByUnrolling(FD, M, Flat);
  NoteUnrolled(InLoops.OfOne, ", with a product that another round may have too");
  NegativeZeros Zeros(FD->getASTContext());
  Zeros.look(FD->getBody());
  if (Zeros.Sum)
    M.Declines.push_back({DeclineCode::FusionUnsettled,
                          quotedSum(Zeros.Sum, M, Flat) + " begins with -0",
                          At(Zeros.Sum)});
  if (const Expr *Sum = InLoops.OfTwo)
    M.Declines.push_back({DeclineCode::FusionUnsettled,
                          quotedSum(Sum, M, Flat), At(Sum)});
}

} // namespace rcache
