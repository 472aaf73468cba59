// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/SpreadOutputs.h. With B threads along the axis and S rounds,
// thread t and round q of the original are thread v of the new text:
//
//     cyclic   v = t + B * q     addresses P * (t + B * q) + rest
//     chunked  v = S * t + q     addresses P * (S * t + q) + rest
//
// A loop that is shared out among threads, `for (j = ty; j < 32; j += 8)`, is
// of the first kind: j is the new thread's number. One of other length stays a
// loop, shared out among all the new threads.
//
// What it takes for the two to compute the same:
//   - rounds share nothing but what was there before the loop, and store to
//     different elements (P is not 0: a launch is asked if P is a parameter);
//   - everything outside such loops is computed by all S threads alike, from
//     memory that nobody changes meanwhile, and what it stores is stored by the
//     first of them (q = 0);
//   - barriers stand outside of all loops and conditions, and between two of
//     them no array is both written and read: each order of threads was possible.

#include "rcache/SpreadOutputs.h"
#include "Affine/IslTools.h"
#include "Legality.h"
#include "Solve.h"
#include "SpreadLoops.h"
#include "SpreadText.h"
#include "Staging.h"
#include <algorithm>
#include <map>
#include <set>

using namespace rcache;

namespace {

using Factors = std::vector<std::string>;

class Spreader {
public:
  Spreader(const KernelModel &M, bool NoAlias)
      : M(M), NoAlias(NoAlias), Fixed(makeAssumptions(M, M.Geo.ConstBlock, 1)) {
  }

  std::optional<OtherBody> run() {
    if (!M.Declines.empty())
      return std::nullopt;
    if (findLoops())
      if (auto Body = writeOtherBody(M, Fixed,
                                     {Spread, SharedOut, Jumps, Axis, Cyclic,
                                      Rounds, NonZero}))
        return Body;
    return writeOtherBody(M, Fixed, {}); // parameters alone
  }

private:
  const KernelModel &M;
  const bool NoAlias;
  const Assumptions Fixed;
  /// For statements whose rounds become threads, and whether their counter
  /// falls where the new thread's number rises.
  std::map<unsigned, bool> Spread;
  /// For statements that are shared out among all the new threads.
  std::set<unsigned> SharedOut;
  /// Statements that leave a round, which is all that a new thread runs.
  std::set<unsigned> Jumps;
  unsigned Axis = 0;
  bool Cyclic = true;
  int64_t Rounds = 0;
  std::set<std::string> NonZero;

  //===--- What it has to be ---===//

  bool findLoops() {
    if (!simple() || !findLayout() || !apart() || !quiet())
      return false;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::For && loopIn(S.Range) < 0) {
        if (auto Falls = stages(S))
          Spread.emplace(S.Id, *Falls);
        else if (isSharedOut(S))
          SharedOut.insert(S.Id);
      }
    for (const auto &[L, Falls] : Spread) {
      auto Leave = jumpsThatEndRounds(M, Fixed, M.stmt(L));
      if (!Leave)
        return false;
      Jumps.insert(Leave->begin(), Leave->end());
    }
    return std::all_of(Spread.begin(), Spread.end(), [&](const auto &L) {
      return roundsAreTheirOwn(M.stmt(L.first));
    });
  }

  bool simple() const {
    if (!M.Geo.ConstBlock)
      return false;
    for (const Stmt &S : M.Stmts) {
      if (S.K == Stmt::Barrier && S.Sync != Stmt::Syncthreads &&
          S.Sync != Stmt::CooperativeGroup)
        return false;
      if (S.HasBarrier && S.K != Stmt::Barrier && S.K != Stmt::Block)
        return false;
    }
    for (const SharedArray &A : M.Arrays)
      if (A.Volatile)
        return false;
    for (const SharedAccess &A : M.SharedAccesses)
      if (A.K != SharedAccess::Read && A.K != SharedAccess::Write)
        return false;
    for (const GlobalAccess &A : M.GlobalAccesses)
      if (A.K != GlobalAccess::Read && A.K != GlobalAccess::Write)
        return false;
    for (const BuiltinUse &B : M.Builtins)
      if (B.Axis > 2 || B.Range.empty())
        return false;
    for (const VarUse &U : M.VarUses)
      if (U.Write && M.Vars[U.Var].IsReference)
        return false;
    return true;
  }

  /// A loop whose rounds could be threads, as far as control flow goes.
  bool countsPlainly(const Stmt &L) const {
    if (L.K != Stmt::For || L.IterVar < 0 || L.HasBarrier ||
        !M.countsItself(L) || L.Children.size() != 1)
      return false;
    if (!L.Cooperative && (!L.ConstTripCount || *L.ConstTripCount < 2 ||
                           !L.ConstFirst || !L.Step))
      return false;
    // The header's own variable, or one that nobody asks for behind the loop.
    const Var &V = M.Vars[static_cast<size_t>(L.IterVar)];
    if (V.AddressTaken || V.IsParam || V.IsReference)
      return false;
    if (V.DeclStmt == L.Id && !V.OnlyDeclarator)
      return false;
    if (V.DeclStmt != L.Id)
      for (const VarUse &U : M.VarUses)
        if (static_cast<int>(U.Var) == L.IterVar &&
            U.Range.Begin >= L.Range.End)
          return false;
    for (int P = L.Parent; P >= 0; P = M.stmt(unsigned(P)).Parent)
      if (M.stmt(unsigned(P)).K != Stmt::Block &&
          M.stmt(unsigned(P)).K != Stmt::If)
        return false;
    return true;
  }

  /// How many rounds each thread runs, at most; 0: not known.
  int64_t roundsOf(const Stmt &L, unsigned Ax) const {
    if (!L.Cooperative)
      return L.ConstTripCount.value_or(0);
    auto Values = sharedOutValues(M, Fixed, L);
    return Values ? (Values->Count + threads(Ax) - 1) / threads(Ax) : 0;
  }

  /// The loop that becomes threads around it; -1: none.
  int loopIn(TextRange R) const {
    for (const auto &[L, Falls] : Spread)
      if (M.stmt(L).Range.contains(R))
        return static_cast<int>(L);
    return -1;
  }

  //===--- Addresses ---===//

  /// Index == P * (Ct * t + Ci * i) + rest: P as a product of symbols (none:
  /// 1), Ct and Ci.
  struct Steps {
    Factors P;
    int64_t OfThread = 0, OfRound = 0;
  };

  Factors factorsOf(const std::string &Id) const {
    const int I = M.symbolIndex(Id);
    if (I >= 0 && !M.Symbols[size_t(I)].Factors.empty())
      return M.Symbols[size_t(I)].Factors;
    return {Id};
  }

  std::optional<Steps> stepsOf(const isl::pw_aff &Index, const Stmt &L,
                               unsigned Ax) const {
    auto Form = linearForm(Fixed.fix(Index), always(M.Ctx->ctx()));
    if (!Form)
      return std::nullopt;
    const std::string Thread = std::string("t") + "xyz"[Ax],
                      Round = M.Symbols[size_t(L.IterSymbol)].Id;
    std::map<Factors, Steps> Parts;
    for (const auto &[Id, C] : Form->Terms) {
      Factors F = factorsOf(Id);
      const auto T = std::count(F.begin(), F.end(), Thread),
                 R = std::count(F.begin(), F.end(), Round);
      if (T + R == 0)
        continue;
      if (T + R > 1)
        return std::nullopt;
      F.erase(std::find(F.begin(), F.end(), T ? Thread : Round));
      std::sort(F.begin(), F.end());
      Steps &S = Parts[F];
      S.P = F;
      (T ? S.OfThread : S.OfRound) += C;
    }
    if (Parts.size() != 1)
      return std::nullopt;
    return Parts.begin()->second;
  }

  int64_t threads(unsigned Ax) const { return (*M.Geo.ConstBlock)[Ax]; }

  /// Thread and round are one number there, in the layout asked for: whether
  /// the counter falls where it rises. nullopt: they are not.
  std::optional<bool> isOneNumber(const Steps &S, const Stmt &L, unsigned Ax,
                                  bool AsCyclic) const {
    if (L.Cooperative) { // the counter has the thread in it
      if (S.OfThread || !S.OfRound || !AsCyclic ||
          L.CooperativeAxes != DepThreadX << Ax)
        return std::nullopt;
      return false;
    }
    if (S.OfThread == 0 || S.OfRound == 0)
      return std::nullopt;
    const int64_t AStep = S.OfRound * *L.Step;
    for (const bool Falls : {false, true}) {
      const int64_t Along = Falls ? -AStep : AStep;
      if (AsCyclic ? Along == threads(Ax) * S.OfThread
                   : S.OfThread == *L.ConstTripCount * Along)
        return Falls;
    }
    return std::nullopt;
  }

  /// Finds the loops with all stores to global memory, and their layout.
  bool findLayout() {
    bool Known = false;
    for (const GlobalAccess &G : M.GlobalAccesses) {
      if (G.K != GlobalAccess::Write)
        continue;
      if (G.Root < 0 || !G.Index || G.Index->K != Value::Affine)
        return false;
      bool Found = false;
      std::vector<unsigned> Around;
      for (int P = int(G.Stmt); P >= 0; P = M.stmt(unsigned(P)).Parent)
        if (M.stmt(unsigned(P)).K == Stmt::For)
          Around.push_back(unsigned(P));
      for (size_t K = Around.size(); K-- > 0 && !Found;) { // outermost first
        const Stmt &L = M.stmt(Around[K]);
        if (!countsPlainly(L))
          continue;
        for (unsigned Ax = 0; Ax < 3 && !Found; ++Ax) {
          auto S = stepsOf(G.Index->Aff, L, Ax);
          const int64_t R = roundsOf(L, Ax);
          if (!S || R < 2 || threads(Ax) * R > 1024)
            continue;
          for (bool AsCyclic : {true, false}) {
            const auto Falls = isOneNumber(*S, L, Ax, AsCyclic);
            if (!Falls)
              continue;
            if (Known && (Ax != Axis || AsCyclic != Cyclic || R != Rounds))
              continue;
            if (!nonZero(S->P) || (bitsOf(S->P) > 40 && G.Index->Type != "int"))
              return false; // elements would be counted modulo 2^64
            Known = Found = true;
            Axis = Ax;
            Cyclic = AsCyclic;
            Rounds = R;
            if (Spread.emplace(L.Id, *Falls).first->second != *Falls)
              return false;
            break;
          }
        }
      }
      if (!Found)
        return false;
    }
    return Known;
  }

  /// Of a product, as far as its factors' types and the launch say: a size of 64 bits is
  /// asked to be MostOfSizes at most.
  unsigned bitsOf(const Factors &P) const {
    unsigned Bits = 0;
    for (const std::string &F : P)
      if (const int I = M.symbolIndex(F); I >= 0)
        Bits += std::min(M.Symbols[size_t(I)].Bits, 40u);
    return Bits;
  }

  /// Can a launch see to it that the product is not 0?
  bool nonZero(const Factors &P) {
    for (const std::string &F : P) {
      const int I = M.symbolIndex(F);
      if (I < 0)
        return false;
      const Symbol &S = M.Symbols[size_t(I)];
      if (S.K == Symbol::Param)
        NonZero.insert(S.Text);
      else if (S.K != Symbol::BlockDim && S.K != Symbol::GridDim)
        return false;
    }
    return true;
  }

  /// Rounds of one thread store to elements of their own.
  bool apart() const {
    std::vector<const GlobalAccess *> Stores;
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (G.K == GlobalAccess::Write)
        Stores.push_back(&G);
    for (size_t I = 0; I < Stores.size(); ++I)
      for (size_t K = I + 1; K < Stores.size(); ++K) {
        const GlobalAccess &A = *Stores[I], &B = *Stores[K];
        if (A.Root != B.Root) {
          if (mayAlias(M, A.Root, B.Root, NoAlias))
            return false;
          continue;
        }
        const int La = loopIn(A.Range), Lb = loopIn(B.Range);
        // The same element in the same round, whichever it is.
        if (La != Lb || A.ElemBytes != B.ElemBytes ||
            !A.Index->Aff.ne_set(B.Index->Aff).is_empty())
          return false;
      }
    return true;
  }

  /// How many barriers stand before it.
  int64_t interval(TextRange R) const {
    return std::count_if(M.Stmts.begin(), M.Stmts.end(), [&](const Stmt &S) {
      return S.K == Stmt::Barrier && S.Range.Begin < R.Begin;
    });
  }

  /// Between two barriers nothing is both written and read.
  bool quiet() const {
    for (const SharedAccess &A : M.SharedAccesses)
      for (const SharedAccess &B : M.SharedAccesses)
        if (A.K == SharedAccess::Write && B.K == SharedAccess::Read &&
            A.Array == B.Array && interval(A.Range) == interval(B.Range))
          return false;
    for (const GlobalAccess &R : M.GlobalAccesses)
      if (R.K == GlobalAccess::Read)
        for (const GlobalAccess &W : M.GlobalAccesses)
          if (W.K == GlobalAccess::Write &&
              (R.Root == W.Root || mayAlias(M, R.Root, W.Root, NoAlias)) &&
              interval(R.Range) >= interval(W.Range))
            return false;
    return true;
  }

  /// A loop that stages, each element once, by the same layout: whether its
  /// counter falls.
  std::optional<bool> stages(const Stmt &L) const {
    if (!countsPlainly(L) || roundsOf(L, Axis) != Rounds ||
        !roundsAreTheirOwn(L) || !jumpsThatEndRounds(M, Fixed, L))
      return std::nullopt;
    std::optional<bool> Falls;
    for (const SharedAccess &A : M.SharedAccesses) {
      if (A.K != SharedAccess::Write || !L.Range.contains(A.Range))
        continue;
      if (!A.Affine)
        return std::nullopt;
      std::optional<bool> Here;
      for (const isl::pw_aff &I : A.Index)
        if (auto S = stepsOf(I, L, Axis); S && S->P.empty() && !Here)
          Here = isOneNumber(*S, L, Axis, Cyclic);
      if (!Here || (Falls && *Falls != *Here))
        return std::nullopt;
      Falls = Here;
      // What the same thread writes besides, in an order that is its own.
      for (const SharedAccess &B : M.SharedAccesses)
        if (&A != &B && B.K == SharedAccess::Write && A.Array == B.Array &&
            interval(A.Range) == interval(B.Range) &&
            (L.Range.contains(B.Range) || mayMeet(A, B)))
          return std::nullopt;
    }
    return Falls;
  }

  /// A loop over more than there are new threads, or less, of which each round
  /// is the same whoever runs it.
  bool isSharedOut(const Stmt &L) const {
    if (!countsPlainly(L) || !L.Cooperative ||
        L.CooperativeAxes != DepThreadX << Axis || !L.HasSharedWrite ||
        L.HasGlobalWrite || !sharedOutValues(M, Fixed, L) ||
        !usesCounterOnly(M, L, Axis))
      return false;
    for (const Stmt &S : M.Stmts)
      if ((S.K == Stmt::Return || S.K == Stmt::Break) &&
          L.Range.contains(S.Range))
        return false;
    // What one thread wrote in an order that was its own.
    for (const SharedAccess &A : M.SharedAccesses)
      for (const SharedAccess &B : M.SharedAccesses)
        if (A.K == SharedAccess::Write && B.K == SharedAccess::Write &&
            A.Array == B.Array && L.Range.contains(A.Range) &&
            interval(A.Range) == interval(B.Range) &&
            (L.Range.contains(B.Range) ? meetInRounds(M, Fixed, A, B, L)
                                       : mayMeet(A, B)))
          return false;
    return true;
  }

  /// Do two writes in different loops of one thread reach the same element?
  bool mayMeet(const SharedAccess &A, const SharedAccess &B) const {
    if (!A.Affine || !B.Affine || A.Index.size() != B.Index.size() ||
        A.Domain.is_null() || B.Domain.is_null())
      return true;
    isl::set Same = Fixed.fix(A.Domain)
                        .intersect(Fixed.fix(B.Domain))
                        .intersect(Fixed.Context);
    for (size_t D = 0; D < A.Index.size(); ++D)
      Same =
          Same.intersect(Fixed.fix(A.Index[D]).eq_set(Fixed.fix(B.Index[D])));
    return !Same.is_empty();
  }

  //===--- Variables ---===//

  /// Does each round set what it uses of variables from outside?
  bool roundsAreTheirOwn(const Stmt &L) const {
    for (unsigned V = 0; V < M.Vars.size(); ++V) {
      const Var &Vr = M.Vars[V];
      if (static_cast<int>(V) == L.IterVar)
        continue;
      if (!Vr.IsParam && L.Range.contains(M.stmt(Vr.DeclStmt).Range))
        continue; // declared inside
      bool Written = false;
      for (const VarUse &U : M.VarUses)
        Written |= U.Var == V && U.Write && L.Range.contains(U.Range);
      if (!Written)
        continue;
      if (Vr.AddressTaken || !Vr.ArrayExtents.empty() || !setFirst(V, L))
        return false;
      // Behind it, the value is the last round's.
      for (const VarUse &U : M.VarUses) {
        if (U.Var != V || U.Range.Begin < L.Range.End)
          continue;
        const int Later = loopIn(U.Range);
        if (Later < 0 || Later == static_cast<int>(L.Id) ||
            !setFirst(V, M.stmt(unsigned(Later))))
          return false;
      }
    }
    return true;
  }

  /// The first use in a round is `v = ...;`, always run, without v on the
  /// right.
  bool setFirst(unsigned V, const Stmt &L) const {
    const VarUse *First = nullptr;
    for (const VarUse &U : M.VarUses)
      if (U.Var == V && L.Range.contains(U.Range)) {
        First = &U;
        break;
      }
    if (!First || !First->Write)
      return false;
    const Stmt *Leaf = nullptr;
    for (const Stmt &S : M.Stmts)
      if (S.K == Stmt::Leaf && S.Range.contains(First->Range))
        Leaf = &S;
    if (!Leaf || Leaf->Range.Begin != First->Range.Begin)
      return false;
    const unsigned Body = L.Children[0];
    if (Leaf->Id != Body && (M.stmt(Body).K != Stmt::Block ||
                             Leaf->Parent != static_cast<int>(Body)))
      return false;
    for (const VarUse &U : M.VarUses)
      if (&U != First && U.Var == V && Leaf->Range.contains(U.Range))
        return false;
    const std::string Rest = M.text({First->Range.End, Leaf->Range.End});
    const size_t At = Rest.find_first_not_of(" \t\n");
    return At != std::string::npos && Rest[At] == '=' && Rest[At + 1] != '=';
  }
};

} // namespace

std::optional<OtherBody> rcache::spreadOutputs(const KernelModel &M,
                                               bool AssumeNoAlias) {
  M.Ctx->resetBudget();
  auto Result = guarded([&] { return Spreader(M, AssumeNoAlias).run(); });
  if (Result)
    return std::move(*Result);
  llvm::consumeError(Result.takeError());
  return std::nullopt;
}
