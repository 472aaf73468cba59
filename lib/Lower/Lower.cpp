// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes between a plan and the text of its kernel, one a line, with the
// reason for its place. (Modelled on Halide's Lower.cpp.)

#include "Lower.h"
#include "Build.h"
#include "Declare.h"
#include "Fill.h"

using namespace rcache;

char CannotWrite::ID = 0;

namespace {

/// The original's text with other barriers will do: the physical threads are
/// the logical ones, and none has left when lanes wait for each other.
bool isCopy(const KernelModel &M, const Plan &P) {
  if (!P.keepsThreads() || P.Map.Merge)
    return false;
  if (!P.Interleaved.empty() || P.Hints)
    return true; // its barriers are the original's
  for (const Stmt &R : M.Stmts)
    for (const Stmt &B : M.Stmts)
      if (R.K == Stmt::Return && B.K == Stmt::Barrier &&
          R.Range.Begin < B.Range.Begin)
        return false; // (no return stands in a loop with barriers)
  return true;
}

/// Each window is declared where its barrier stands: do its reads see it?
bool windowsInScope(const KernelModel &M, const Plan &P) {
  for (const ArrayPlan &A : P.Arrays) {
    if (!A.isStaged() || A.Reads.empty() || A.as<Restaged>())
      continue;
    int Scope = M.stmt(A.Barrier).Parent;
    while (Scope >= 0 && opens(M.stmt(static_cast<unsigned>(Scope)), M))
      Scope = M.stmt(static_cast<unsigned>(Scope)).Parent;
    for (unsigned Rd : A.Reads)
      if (Scope >= 0 && !M.stmt(static_cast<unsigned>(Scope))
                             .Range.contains(M.SharedAccesses[Rd].Range))
        return false;
  }
  return true;
}

llvm::Error cannot(std::string Why) {
  return llvm::make_error<CannotWrite>(DeclineCode::UnsupportedStatement,
                                       std::move(Why));
}

/// Is the sum in doubt fused as in the original?
bool settlesSums(const KernelModel &M, const Plan &P) {
  using In = KernelModel::SumInDoubt;
  switch (M.UnsettledSum.In) {
  case In::None:
    return true;
  case In::OutputsInLoops:
    return P.slots() == 1 || !P.TapsOutside;
  case In::SeveralOutputs:
    return P.slots() == 1;
  case In::All:
    // The original, statement by statement, but for its barriers.
    return P.slots() == 1 && P.UnrolledLoops.empty() && P.allShared();
  }
  return false;
}

/// Without a plan of its sums, a kernel is not written.
llvm::Error sumsKept(const Queries &Q, const Division &D) {
  const auto No = [](std::string Why) {
    return llvm::make_error<CannotWrite>(DeclineCode::FusionUnsettled,
                                         std::move(Why));
  };
  if (!settlesSums(Q.M, Q.P))
    return No(Q.M.UnsettledSum.Text);
  if (const SharedAccess *A = hiddenTwice(Q, D))
    return No("with '" + Q.M.text(A->Range) +
              "', which stands in the text twice and is in no window");
  if (const SharedAccess *A = branchInSum(Q))
    return No("with '" + Q.M.text(A->Range) +
              "', which is read from its source under a condition, behind a product that a sum "
              "of its block of code takes");
  if (const SharedAccess *A = readsApart(Q))
    return No("with '" + Q.M.text(A->Range) +
              "', which is read elsewhere than what the sum's other product is made of");
  if (const ArrayPlan *A = knownElements(Q))
    return No("with elements of '" + Q.M.Arrays[A->Array].Name +
              "', which are numbers or made of arguments alone");
  if (const Var *V =
          Q.M.OwnViews || !Q.M.Apart.empty() ? scaledAfterGuard(Q, D) : nullptr)
    return No("with '" + V->Name + "', which would be set under a condition that its product "
              "with a number does not stand under");
  if (const Var *V = Q.P.slots() > 1 ? productUnderGuard(Q, D) : nullptr)
    return No("with '" + V->Name + "', which holds a product and would be set under a "
              "condition that the sum does not stand under");
  return llvm::Error::success();
}

llvm::Error divide(const Queries &Q, Division &D) {
  using Pass = void (*)(const Queries &, Division &);
  for (Pass Next : {
           // What goes, before anything is decided for the sake of it.
           findDead,
           // Control flow of the thread; what stands between is for slots.
           findControlFlow,
           // Needs control flow: a loop that all slots run together counts once.
           findSlotVars,
           // Needs both: what runs once a thread, what once a slot.
           findRegions,
           // A variable that is used in two regions lives across them.
           placeVars,
           // How a region learns of returns in those before it; conditions
           // that are evaluated again need their variables again.
           placeReturns,
           // Last: what slots that are not there would read.
           prepareSpeculation,
           // Needs regions, and what is dead.
           readTilesFirst,
           // Needs homes and returns.
           checkPairs,
       }) {
    Next(Q, D);
    if (D.Error)
      return cannot(*D.Error);
  }
  return sumsKept(Q, D);
}

} // namespace

llvm::Error rcache::canLower(const KernelModel &M, const Plan &P) {
  if (isCopy(M, P))
    return llvm::Error::success();
  if (!windowsInScope(M, P))
    return cannot("an array is staged in a block and read behind it");
  Division D;
  return divide(Queries(M, P, madeVariables(M, P)), D);
}

llvm::Expected<LoweredKernel> rcache::lower(const KernelModel &M,
                                            const Plan &P) {
  SumLog Log; // first, so that no sum is missed
  const Names N(M, P);
  Fill F(M, P, N);
  Division D;
  const Queries Q(M, P, madeVariables(M, P));
  const StatementText Text(Q, N, F, D);
  LoweredKernel K;
  if (isCopy(M, P)) {
    K.IsCopy = true;
    K.Body.push_back(Statements{Text.copyOfAll()});
    K.Helpers = Text.helpers();
    K.Sums = std::move(Log.Sums);
    return K;
  }
  if (!windowsInScope(M, P))
    return cannot("an array is staged in a block and read behind it");
  if (llvm::Error E = divide(Q, D))
    return std::move(E);
  std::map<unsigned, Code> Exchanges; // by barrier
  for (const Stmt &St : M.Stmts)
    if (St.K == Stmt::Barrier) {
      auto T = F.atBarrier(St.Id);
      if (!T)
        return T.takeError();
      if (!T->empty())
        Exchanges.emplace(St.Id, std::move(*T));
    }
  if (llvm::Error E = buildTree({M, P, N, F, D, Text, Exchanges}, K))
    return std::move(E);
  // Declarations come last: by now everything is there that names something.
  if (const std::string Name = declareRepeated(K.Body, M, D, Text); !Name.empty())
    return cannot("two variables called '" + Name + "' are needed at one place");
  declareCoordinates(K, N);

  if (!Text.error().empty())
    return llvm::createStringError(Text.error());
  if (!Text.notAnew().empty())
    return cannot(Text.notAnew());
  for (unsigned V = 0; V < M.Vars.size(); ++V)
    if (D.VarHome[V] == Home::Expanded)
      K.PerSlot.insert(V);
  K.Helpers.insert(F.helpers().begin(), F.helpers().end());
  K.Helpers.insert(Text.helpers().begin(), Text.helpers().end());
  K.Sums = std::move(Log.Sums);
  return K;
}
