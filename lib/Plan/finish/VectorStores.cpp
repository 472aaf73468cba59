// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "../Legality.h"
#include "../Separate.h"
#include "Affine/IslTools.h"
#include "Finish.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <bit>

using namespace rcache;

/// Do the slots use their windows one after the other, outside of loops that
/// they run through side by side?
static bool computesBySlot(const KernelModel &M, const Plan &P) {
  auto InTapLoop = [&](const WindowRead &R) {
    int Q = static_cast<int>(M.SharedAccesses[R.Access].Stmt);
    for (; Q >= 0; Q = M.stmt(Q).Parent)
      if (M.stmt(Q).K == Stmt::For && !M.stmt(Q).HasBarrier)
        return true;
    return false;
  };
  return llvm::any_of(P.Arrays, [&](const ArrayPlan &A) {
    return llvm::any_of(A.registerReads(), [&](const WindowRead &R) {
      return !P.TapsOutside || !InTapLoop(R);
    });
  });
}

namespace {

class StoreSearch {
public:
  StoreSearch(const KernelModel &M, bool NoAlias, Plan &P)
      : M(M), NoAlias(NoAlias), P(P),
        A(makeAssumptions(M, P.Map.Block, P.Map.BlockMultiple)) {}

  void run() {
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I) {
      const GlobalAccess &G = M.GlobalAccesses[I];
      if (!isPlainStore(G) || G.Root < 0 || inLoop(G.Stmt) ||
          P.paired(G.Range)) // by slots under other threads' numbers
        continue;
      const unsigned Width = storeWidth(G);
      if (Width == G.ElemBytes && (!isGuarded(G.Stmt) ||
                                   !computesBySlot(M, P) ||
                                   !repeatable(G.Range) || movesSums()))
        continue;
      if (llvm::any_of(P.VectorStores, [&](const Plan::VectorStore &V) {
            return V.holds(I);
          }))
        continue;
      Plan::VectorStore V{I, Width, ofOtherBranches(I)};
      if (const auto Apart = mayMeetMeanwhile(V)) {
        P.VectorStores.push_back(std::move(V));
        for (int Root : *Apart)
          requireSeparate(P, Root, G.Root);
      }
    }
  }

private:
  const KernelModel &M;
  const bool NoAlias;
  Plan &P;
  const Assumptions A;

  /// Is a product fused only with sums of its block of code, and may one leave that? It is
  /// moved to where its value is stored, if that is behind another condition.
  bool movesSums() const {
    return llvm::any_of(M.OneBlock, [](const KernelModel::InOneBlock &B) { return B.Leaves; });
  }

  static bool isPlainStore(const GlobalAccess &G) {
    return G.K == GlobalAccess::Write && !G.Volatile && !G.StoredRange.empty() &&
           G.Index && G.Index->K == Value::Affine;
  }

  /// Is it in a loop that a slot runs through by itself?
  bool inLoop(unsigned StmtId) const {
    for (int S = static_cast<int>(StmtId); S >= 0; S = M.stmt(S).Parent) {
      const Stmt &Q = M.stmt(S);
      if (Q.isLoop() &&
          !Q.HasBarrier)
        return true;
    }
    return false;
  }

  /// Stores of other branches to the same element (borders set apart).
  std::vector<unsigned> ofOtherBranches(unsigned I) const {
    const GlobalAccess &G = M.GlobalAccesses[I];
    std::vector<unsigned> Also;
    for (unsigned J = I + 1; J < M.GlobalAccesses.size(); ++J) {
      const GlobalAccess &O = M.GlobalAccesses[J];
      if (isPlainStore(O) && O.Root == G.Root && O.ElemBytes == G.ElemBytes &&
          exclusive(O.Stmt, G.Stmt) &&
          llvm::all_of(Also,
                       [&](unsigned K) {
                         return exclusive(O.Stmt, M.GlobalAccesses[K].Stmt);
                       }) &&
          equalUnder(A.fix(O.Index->Aff), A.fix(G.Index->Aff), A.Context))
        Also.push_back(J);
    }
    return Also;
  }

  /// The pointers that a launch has to tell from the store's, because what is
  /// done through them meanwhile could see it; nullopt: something does see it.
  std::optional<std::set<int>>
  mayMeetMeanwhile(const Plan::VectorStore &V) const {
    const GlobalAccess &G = M.GlobalAccesses[V.Access];
    std::set<int> Apart;
    for (unsigned J = 0; J < M.GlobalAccesses.size(); ++J) {
      const GlobalAccess &O = M.GlobalAccesses[J];
      if (V.holds(J) ||
          (O.Root != G.Root && !mayAlias(M, O.Root, G.Root, NoAlias)) ||
          isElsewhere(O, V))
        continue;
      // Another access to this memory in the same barrier-free stretch: the
      // order between them would change. Reads before the store are fine.
      bool Before = O.K == GlobalAccess::Read;
      for (unsigned K = 0; K < M.GlobalAccesses.size(); ++K)
        if (V.holds(K)) {
          const GlobalAccess &S = M.GlobalAccesses[K];
          Before &=
              O.Range.End <= S.StoredRange.End || exclusive(O.Stmt, S.Stmt);
        }
      if (Before)
        continue;
      if (!canSeparate(M, O.Root, G.Root))
        return std::nullopt;
      Apart.insert(O.Root);
    }
    for (unsigned S = 0; S < M.SharedAccesses.size(); ++S)
      if (M.SharedAccesses[S].Range.Begin > G.Range.End && isFromSource(S))
        return std::nullopt;
    return Apart;
  }

  /// Does no thread of a block name by \p O an element that any names by one of \p V's?
  /// (A scan of two elements a thread stores `out[t]` and `out[t + 512]`.)
  bool isElsewhere(const GlobalAccess &O, const Plan::VectorStore &V) const {
    const GlobalAccess &First = M.GlobalAccesses[V.Access]; // as are Also
    if (!O.Index || O.Index->K != Value::Affine || O.Domain.is_null() ||
        O.Root != First.Root || O.ElemBytes != First.ElemBytes)
      return false;
    Substitution Other;
    for (const char *Id : {"tx", "ty", "tz"})
      Other.emplace(Id, symbolValue(A.Context.ctx(), std::string("other ") + Id));
    const isl::pw_aff Theirs = substitute(A.fix(O.Index->Aff), Other);
    const isl::set Threads = substitute(A.fix(O.Domain).intersect(A.Context), Other);
    for (unsigned K = 0; K < M.GlobalAccesses.size(); ++K)
      if (const GlobalAccess &G = M.GlobalAccesses[K];
          V.holds(K) && !equalTo(A.fix(G.Index->Aff), Theirs)
                             .intersect(A.fix(G.Domain).intersect(A.Context))
                             .intersect(Threads)
                             .is_empty())
        return false;
    return true;
  }

  bool isFromSource(unsigned Shared) const {
    return llvm::any_of(P.Arrays, [&](const ArrayPlan &Of) {
      return Of.as<FromSource>() && llvm::is_contained(Of.Reads, Shared);
    });
  }

  /// The widest vectors that a run of slots stores through \p G: the element's
  /// own width when they are not next to each other.
  unsigned storeWidth(const GlobalAccess &G) const {
    if (P.Map.Stride[0] != 1 || P.Map.Factor[0] < 2 || P.Map.Factor[2] > 1 ||
        isCarried(G) || G.ElemBytes > 8 || !std::has_single_bit(G.ElemBytes))
      return G.ElemBytes;
    auto L = linearCoefficient(A.fix(G.Index->Aff), "tx",
                               A.fix(G.Domain).intersect(A.Context));
    if (!L || *L != 1)
      return G.ElemBytes;
    unsigned V = 16;
    while (V > G.ElemBytes && (P.Map.Factor[0] * G.ElemBytes) % V != 0)
      V /= 2;
    return V;
  }

  /// Is an address carried along a loop over planes or tiles, from round to
  /// round? Each slot has its own then; computed anew for a vector of them it
  /// takes registers that the planes need (a wave equation of radius 4 took
  /// twice as long on an H200).
  bool isCarried(const GlobalAccess &G) const {
    for (int Q = M.stmt(G.Stmt).Parent; Q >= 0; Q = M.stmt(Q).Parent) {
      const Stmt &Loop = M.stmt(Q);
      if (Loop.K != Stmt::For && Loop.K != Stmt::While && Loop.K != Stmt::Do)
        continue;
      for (const VarUse &Write : M.VarUses)
        if (Write.Write && Loop.Range.contains(Write.Range) &&
            static_cast<int>(Write.Var) != Loop.IterVar &&
            llvm::any_of(M.VarUses, [&](const VarUse &Use) {
              return Use.Var == Write.Var && G.Range.contains(Use.Range);
            }))
          return true;
    }
    return false;
  }

  /// Does a condition, or a return before it, keep some threads from \p StmtId?
  bool isGuarded(unsigned StmtId) const {
    for (int Q = M.stmt(StmtId).Parent; Q >= 0; Q = M.stmt(Q).Parent)
      if (M.stmt(Q).K == Stmt::If && !M.stmt(Q).HasBarrier)
        return true;
    return llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return S.K == Stmt::Return && S.Range.End <= M.stmt(StmtId).Range.Begin;
    });
  }

  /// Can what \p R says be written again behind the slots' computation? Its
  /// variables then follow from thread and block.
  bool repeatable(TextRange R) const {
    return llvm::all_of(M.VarUses, [&](const VarUse &U) {
      const Var &V = M.Vars[U.Var];
      return !R.contains(U.Range) ||
             (!U.Write && (V.IsParam ? !V.Assigned : V.Repeatable));
    });
  }

  /// Do two statements stand in different branches of one `if` without barriers,
  /// or in one `switch`? (Of two cases that run into each other the last one's
  /// value is kept, as in memory.)
  bool exclusive(unsigned X, unsigned Y) const {
    for (int P = static_cast<int>(X); P >= 0; P = M.stmt(P).Parent) {
      const Stmt &If = M.stmt(static_cast<unsigned>(P));
      if (If.K == Stmt::Switch && !If.HasBarrier &&
          If.Range.contains(M.stmt(Y).Range))
        return true;
      if (If.K != Stmt::If || If.HasBarrier || If.Children.size() != 2)
        continue;
      for (int K = 0; K < 2; ++K)
        if (M.stmt(If.Children[K]).Range.contains(M.stmt(X).Range) &&
            M.stmt(If.Children[1 - K]).Range.contains(M.stmt(Y).Range))
          return true;
    }
    return false;
  }
};

} // namespace

void rcache::findVectorStores(const KernelModel &M, bool AssumeNoAlias,
                              Plan &P) {
  if (P.slots() > 1)
    StoreSearch(M, AssumeNoAlias, P).run();
}

void rcache::dropSingleStores(const KernelModel &M, Plan &P) {
  if (!computesBySlot(M, P))
    llvm::erase_if(P.VectorStores, [&](const Plan::VectorStore &V) {
      return V.Bytes == M.GlobalAccesses[V.Access].ElemBytes;
    });
}
