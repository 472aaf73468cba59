// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Barriers.h.

#include "Barriers.h"

using namespace rcache;
using namespace rcache::verify;

namespace {

/// Pairs that one launch is searched for.
constexpr uint64_t MostPairs = 400'000;

struct Stop {}; ///< thrown when that many have been seen

class Walk {
public:
  Walk(const KernelModel &M, const Plan &P, World &W, uint64_t &Checks)
      : M(M), P(P), W(W), Checks(Checks) {
    for (const ArrayPlan &A : P.Arrays)
      if (A.isShared())
        Kept.insert(A.Array);
  }

  std::optional<std::string> run() {
    if (Kept.empty())
      return std::nullopt;
    bool Narrower = false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Barrier && P.scopeOf(S.Id) != SyncScope::Block) {
        Narrower = true;
        Incomplete |= P.scopeOf(S.Id) == SyncScope::Warp &&
                      threads() / P.slots() % 32 != 0;
      }
    if (!Narrower && P.OfFirstWarp.empty())
      return std::nullopt;
    if (Incomplete)
      return "a warp that waits for its lanes is incomplete";
    try {
      visit(0);
    } catch (const Stop &) {
    }
    return Found;
  }

private:
  const KernelModel &M;
  const Plan &P;
  World &W;
  uint64_t &Checks;
  uint64_t Pairs = 0;
  std::set<unsigned> Kept;
  bool Incomplete = false;
  bool Alone = false; ///< the first warp is
  std::optional<std::string> Found;

  /// Barriers passed: the original's, those that are left for a warp, and for
  /// the block.
  struct Time {
    unsigned Original = 0, Warp = 0, Block = 0;
  } Now;
  struct Touch {
    unsigned Access = 0, Thread = 0; ///< physical
    bool Write = false;
    Time When;
  };
  std::map<std::pair<unsigned, Element>, std::vector<Touch>> Touches;

  int64_t threads() const { return W.block()[0] * W.block()[1] * W.block()[2]; }

  void visit(unsigned Id) {
    const Stmt &S = M.stmt(Id);
    if (S.K == Stmt::Barrier) {
      ++Now.Original;
      const SyncScope Scope = Alone ? SyncScope::Warp : P.scopeOf(Id);
      Now.Warp += Scope != SyncScope::None;
      Now.Block += Scope == SyncScope::Block;
      return;
    }
    if (!S.HasBarrier)
      return stretch(S);
    switch (S.K) {
    case Stmt::Block:
      for (unsigned C : S.Children)
        visit(C);
      return;
    case Stmt::If: {
      W.setThread({0, 0, 0});
      if (S.Cond.is_null())
        throw Undecided{"whether a barrier is reached"};
      const size_t Taken = W.holds(S.Cond) ? 0 : 1;
      if (Taken < S.Children.size())
        visit(S.Children[Taken]);
      return;
    }
    case Stmt::For:
    case Stmt::While:
    case Stmt::Do:
      W.setThread({0, 0, 0});
      W.forEachRound(Id, static_cast<unsigned>(S.Parent), [&] {
        if (const WarpRounds *R = P.roundsOfWarp(Id); R && !Alone)
          mayBegin(*R);
        for (unsigned C : S.Children)
          visit(C);
        W.setThread({0, 0, 0});
      });
      if (Alone && P.roundsOfWarp(Id)) {
        Alone = false;
        ++Now.Warp, ++Now.Block;
      }
      return;
    default:
      throw Undecided{"a barrier inside a statement of this kind"};
    }
  }

  /// Is this round the first one that the first warp has for itself?
  void mayBegin(const WarpRounds &R) {
    const auto V = W.value(M.Symbols[size_t(M.stmt(R.Loop).FactorSymbol)]);
    if (!V)
      throw Undecided{"whether a round is the first warp's"};
    Alone = *V <= R.First;
    if (Alone && R.Open)
      ++Now.Warp, ++Now.Block;
  }

  /// All accesses of all threads in a statement without barriers, but those
  /// whose element hangs on data.
  void stretch(const Stmt &S) {
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &A = M.SharedAccesses[I];
      if (!Kept.count(A.Array) || !S.Range.contains(A.Range) || !A.Affine ||
          A.Domain.is_null())
        continue;
      try {
        allThreads(I, S);
      } catch (const Undecided &) {
      }
    }
  }

  void allThreads(unsigned Access, const Stmt &In) {
    const SharedAccess &A = M.SharedAccesses[Access];
    std::array<int64_t, 3> N, T;
    for (unsigned X = 0; X < 3; ++X)
      N[X] = W.block()[X] / P.Map.Factor[X];
    for (T[2] = 0; T[2] < W.block()[2]; ++T[2])
      for (T[1] = 0; T[1] < W.block()[1]; ++T[1])
        for (T[0] = 0; T[0] < W.block()[0]; ++T[0]) {
          int64_t Linear = 0;
          for (unsigned X = 3; X-- > 0;)
            Linear = Linear * N[X] + physical(X, T[X]);
          W.setThread(T);
          W.forEachRound(A.Stmt, static_cast<unsigned>(In.Parent), [&] {
            if (W.holds(A.Domain))
              touch(Access, static_cast<unsigned>(Linear), W.element(A.Index));
          });
        }
  }

  /// The physical thread of logical thread \p T along \p Axis, found by trying.
  int64_t physical(unsigned Axis, int64_t T) const {
    const int64_t C = P.Map.Factor[Axis], S = P.Map.Stride[Axis];
    for (int64_t Slot = 0; Slot < C; ++Slot) {
      const int64_t First = T - Slot * S; // of slot 0
      if (First < 0)
        break;
      const int64_t Q = First / (S * C) * S + First % S;
      if (Q / S * S * C + Q % S == First)
        return Q;
    }
    throw Undecided{"a thread without a slot"};
  }

  void touch(unsigned Access, unsigned Thread, Element E) {
    const SharedAccess &A = M.SharedAccesses[Access];
    const bool Write = A.K != SharedAccess::Read;
    if (Alone && Thread >= 32) {
      if (!Write)
        return; // what it read was for nothing
      Found = "thread " + std::to_string(Thread) + " does not come to " + M.text(A.Range) +
              " at line " + std::to_string(A.Pos.Line);
      throw Stop();
    }
    std::vector<Touch> &All = Touches[{A.Array, std::move(E)}];
    for (const Touch &O : All) {
      if (++Pairs > MostPairs)
        throw Stop();
      if ((!Write && !O.Write) || O.Thread == Thread ||
          O.When.Original == Now.Original)
        continue;
      ++Checks;
      const bool SameWarp = O.Thread / 32 == Thread / 32;
      if (SameWarp ? O.When.Warp != Now.Warp : O.When.Block != Now.Block)
        continue;
      const SharedAccess &B = M.SharedAccesses[O.Access];
      Found = "no barrier orders " + M.text(B.Range) + " at line " +
              std::to_string(B.Pos.Line) + " of thread " +
              std::to_string(O.Thread) + " and " + M.text(A.Range) +
              " at line " + std::to_string(A.Pos.Line) + " of thread " +
              std::to_string(Thread);
      throw Stop();
    }
    All.push_back({Access, Thread, Write, Now});
  }
};

} // namespace

std::optional<std::string> rcache::verify::unorderedPair(const KernelModel &M,
                                                         const Plan &P,
                                                         World &W,
                                                         uint64_t &Checks) {
  return Walk(M, P, W, Checks).run();
}
