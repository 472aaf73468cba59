// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OwnedArrays.h. The formulas of the device functions (rewrite.cuh), said
// again: which lane publishes which of its registers, and which thread that is.

#include "OwnedArrays.h"

namespace rcache::verify {

namespace {

class Checker {
public:
  Checker(const KernelModel &M, const Plan &P, const ArrayPlan &A, World &W,
          uint64_t &Checks)
      : M(M), P(P), A(A), W(W), Checks(Checks), Slots(P.Map.Factor[0]),
        Cyclic(P.Map.Stride[0] == 32 || P.Map.Factor[0] == 1),
        Registers(Slots * std::get<Owned>(A.Where).Parts) {}

  std::optional<std::string> run() {
    if (W.block()[0] != 32 * Slots || W.block()[1] != 1 || W.block()[2] != 1 ||
        P.Map.Factor[1] != 1 || P.Map.Factor[2] != 1 ||
        (!Cyclic && P.Map.Stride[0] != 1))
      return "the block is not one warp";
    if (!pairsAreAlone())
      return "pairs of threads run what is one thread's alone";
    if (auto What = wrongStrided(M, P, A, W, Checks))
      return What;
    W.walk([&](unsigned Stmt) {
      for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
        if (const SharedAccess &S = M.SharedAccesses[I];
            Wrong.empty() && S.Array == A.Array && isIn(S.Stmt, Stmt) &&
            !isStrided(S))
          access(I, M.stmt(Stmt).Parent);
    });
    return Wrong.empty() ? std::nullopt : std::optional(Wrong);
  }

private:
  const KernelModel &M;
  const Plan &P;
  const ArrayPlan &A;
  World &W;
  uint64_t &Checks;
  const int64_t Slots;
  const bool Cyclic;
  const int64_t Registers; ///< of the array in a lane
  std::string Wrong;

  int64_t threadAt(int64_t Lane, int64_t Slot) const {
    return Cyclic ? Lane + 32 * Slot : Lane * Slots + Slot;
  }

  bool wrong(const SharedAccess &S, int64_t Thread, const std::string &What) {
    Wrong = M.text(S.Range) + " at line " + std::to_string(S.Pos.Line) +
            ", thread " + std::to_string(Thread) + ": " + What;
    return false;
  }

  bool isIn(unsigned Stmt, unsigned Outer) const {
    int Q = static_cast<int>(Stmt);
    while (Q >= 0 && Q != static_cast<int>(Outer))
      Q = M.stmt(static_cast<unsigned>(Q)).Parent;
    return Q >= 0;
  }

  bool isStrided(const SharedAccess &S) const {
    const PairedInterval *Pair = P.paired(S.Range);
    return Pair && Pair->Strided;
  }

  /// By all threads, in all rounds of the loops between it and \p Outside.
  bool access(unsigned I, int Outside) {
    const SharedAccess &S = M.SharedAccesses[I];
    bool Right = true;
    for (int64_t Lane = 0; Lane < 32 && Right; ++Lane)
      for (int64_t Slot = 0; Slot < Slots && Right; ++Slot) {
        W.setThread({threadAt(Lane, Slot), 0, 0});
        W.setSlot({Slot, 0, 0});
        W.forEachRound(S.Stmt, static_cast<unsigned>(std::max(Outside, 0)),
                       [&] {
                         if (Right && W.mayHold(S.Domain))
                           Right = check(I, Lane, Slot);
                         Right = Right && isWritten(I, Lane, Slot);
                       });
      }
    return Right;
  }

  int64_t elementOf(const SharedAccess &S) { return elementNamed(M, S, W); }

  /// Is \p Element, which \p S names, one that the original has?
  bool isOfArray(const SharedAccess &S, int64_t Element) const {
    int64_t Elements = 1;
    for (const std::optional<int64_t> &E : M.Arrays[S.Array].Extents) {
      if (!E)
        return W.mustHold(S.Domain);
      Elements *= *E;
    }
    return Element >= 0 && Element < Elements;
  }

  /// What owners take back without a look at what it was is written by all threads.
  bool isWritten(unsigned I, int64_t Lane, int64_t Slot) {
    const SharedAccess &S = M.SharedAccesses[I];
    const Owned::Fetch *F = std::get<Owned>(A.Where).fetchOf(I);
    return !F || !F->All ||
           (S.K == SharedAccess::Write && S.DomainExact && W.mustHold(S.Domain)) ||
           wrong(S, threadAt(Lane, Slot), "the owner takes what may not be written");
  }

  bool check(unsigned I, int64_t Lane, int64_t Slot) {
    ++Checks;
    const SharedAccess &S = M.SharedAccesses[I];
    const auto &Of = std::get<Owned>(A.Where);
    const int64_t Thread = threadAt(Lane, Slot), Element = elementOf(S);
    if (const PairedInterval *Pair = P.paired(S.Range);
        Pair && !inPair(*Pair, S, Of.fetchOf(I), Lane, Slot, Element))
      return Wrong.empty();
    if (const auto It = Of.PartOf.find(I); It != Of.PartOf.end()) {
      const auto Part = W.value(It->second);
      if (!Part)
        throw Undecided{"which of its elements a thread uses"};
      return (*Part >= 0 && *Part < int64_t(Of.Parts) &&
              Element == Thread + *Part * 32 * Slots) ||
             wrong(S, Thread,
                   "element " + std::to_string(Element) + " is another's");
    }
    const Owned::Fetch *F = Of.fetchOf(I);
    if (!F)
      return wrong(S, Thread, "the access has no source");
    const PairedInterval *Pair = P.paired(S.Range);
    if (!Pair && !W.mayHold(F->Slots))
      return wrong(S, Thread, "its slot fetches nothing");
    const auto By = W.value(F->By);
    if (!By)
      throw Undecided{"how far away an element is"};
    // (Not known conditions are taken to hold: then the original reads no element
    // either, or one that is never written.)
    if (Element < 0 || Element >= 32 * Registers)
      return S.K == SharedAccess::Read || !isOfArray(S, Element) ||
             wrong(S, Thread, "element " + std::to_string(Element) + " is in no register");
    const int64_t Got = source(*F, Lane, Slot, *By);
    W.setThread({Thread, 0, 0});
    if (Got != Element)
      return wrong(S, Thread,
                   "gets element " + std::to_string(Got) + " for " +
                       std::to_string(Element));
    if (Pair)
      return true; // see inPair
    if (S.K != SharedAccess::Read && !goesBack(*F, Lane, Slot, *By))
      return wrong(S, Thread, "what it writes does not reach the owner");
    if (Element % (32 * Slots) == Thread &&
        writtenBefore(S, Element / (32 * Slots)))
      return wrong(S, Thread, "is fetched before the thread writes it");
    return true;
  }

  /// Is it right what a pair runs under \p Slot's number? Of two slots, or of the
  /// same slot in two lanes, that one whose bit says so runs for both. False: it is
  /// not (Wrong says why), or \p Slot runs nothing of its own.
  bool inPair(const PairedInterval &Pair, const SharedAccess &S,
              const Owned::Fetch *F, int64_t Lane, int64_t Slot,
              int64_t Element) {
    const int64_t Thread = threadAt(Lane, Slot);
    const auto Bit = W.value(Pair.Bit);
    if (!Bit)
      throw Undecided{"which threads are a pair"};
    if (*Bit <= 0 || *Bit >= 32 * Slots || (*Bit & (*Bit - 1)) != 0)
      return wrong(S, Thread, "its pair is not told by one bit");
    if (((Thread & *Bit) != 0) != Pair.Upper)
      return S.K != SharedAccess::Read &&
             wrong(S, Thread, "is changed by the thread that does not run");
    for (const unsigned If : Pair.Met)
      if (!W.mustHold(M.stmt(If).Cond))
        return wrong(S, Thread, "a condition before it is not met");
    if (F && W.value(F->By) != *Bit)
      return wrong(S, Thread, "its partner is another thread's");
    if (Element != (F ? Thread ^ *Bit : Thread))
      return wrong(S, Thread, "element " + std::to_string(Element) +
                                  " is none of the pair's");
    // Of the same lane, in another slot; or of another lane, in the same one.
    const bool Inside = Cyclic ? *Bit >= 32 : *Bit < Slots;
    const int64_t Apart = Cyclic ? (Inside ? *Bit / 32 : *Bit)
                                 : (Inside ? *Bit : *Bit / Slots);
    const int64_t Partner =
        Inside ? ((Slot ^ Apart) < Slots ? threadAt(Lane, Slot ^ Apart) : -1)
               : threadAt(Lane ^ Apart, Slot);
    return Partner == (Thread ^ *Bit) ||
           wrong(S, Thread, "its partner is in no lane");
  }

  /// Does the variable mean for another thread what its declaration, again, says?
  bool isSaidAgain(const PairedInterval &Pair, unsigned Var) const {
    const auto &V = M.Vars[Var];
    if (std::find(Pair.Declared.begin(), Pair.Declared.end(), Var) ==
            Pair.Declared.end() ||
        V.Assigned || V.AddressTaken || V.IsReference || V.InitRange.empty())
      return false;
    for (const auto &G : M.GlobalAccesses)
      if (V.DeclRange.contains(G.Range))
        return false;
    for (const auto &S : M.SharedAccesses)
      if (V.DeclRange.contains(S.Range))
        return false;
    // Nothing that it is made of is set in between, in any round.
    for (const VarUse &Part : M.VarUses) {
      if (!V.InitRange.contains(Part.Range))
        continue;
      const auto &Of = M.Vars[Part.Var];
      if (!Of.Repeatable && (Of.Depends & DepThread))
        return false;
      for (const VarUse &U : M.VarUses) {
        if (!U.Write || U.Var != Part.Var)
          continue;
        bool Between = U.Range.Begin >= V.DeclRange.Begin &&
                       U.Range.Begin < Pair.Statements.End;
        for (const Stmt &L : M.Stmts)
          Between |= L.K != Stmt::Block && L.K != Stmt::If &&
                     L.Range.contains(Pair.Statements) &&
                     !L.Range.contains(V.DeclRange) && L.Range.contains(U.Range);
        if (Between)
          return false;
      }
    }
    return true;
  }

  /// What stands beside the accesses of a pair: it may set what is declared there,
  /// and use what is the same for both.
  bool pairsAreAlone() {
    for (const PairedInterval &Pair : P.Paired) {
      const TextRange In = Pair.Statements;
      for (const VarUse &U : M.VarUses) {
        const Var &V = M.Vars[U.Var];
        if (In.contains(U.Range) && !In.contains(V.NameRange) &&
            (U.Write || (!V.Repeatable && (V.Depends & DepThread) &&
                         !isSaidAgain(Pair, U.Var))))
          return false;
        if (!In.contains(U.Range) && !V.IsParam && In.contains(V.NameRange))
          return false;
      }
      for (const GlobalAccess &G : M.GlobalAccesses)
        if (In.contains(G.Range) && G.K != GlobalAccess::Read &&
            (!Pair.Strided || Pair.Strided->Both ||
             G.K != GlobalAccess::Write))
          return false;
      for (const SharedAccess &S : M.SharedAccesses)
        if (In.contains(S.Range) && !P.owned(S.Array))
          return false;
    }
    return true;
  }

  /// The element that a fetch gives to a slot; -1: none.
  int64_t source(const Owned::Fetch &F, int64_t Lane, int64_t Slot, int64_t By) {
    switch (F.K) {
    case Owned::Fetch::Ahead:
      return ahead(Lane, Slot, By);
    case Owned::Fetch::At:
      return By >= 0 && By < 32 * Registers ? By : -1;
    case Owned::Fetch::Flipped:
      return flipped(Lane, Slot, By);
    case Owned::Fetch::Gathered:
      return gathered(F, Slot, By);
    case Owned::Fetch::Inserted:
      return inserted(F, threadAt(Lane, Slot), By);
    }
    return -1;
  }

  /// Of the registers between those of the slot's first and last thread's elements;
  /// -1: it is in none of them.
  int64_t gathered(const Owned::Fetch &F, int64_t Slot, int64_t By) {
    if (!Cyclic || F.Written)
      return -1;
    const auto ByOf = [&](int64_t Lane) {
      W.setThread({threadAt(Lane, Slot), 0, 0});
      return W.value(F.By);
    };
    const auto First = ByOf(0), Last = ByOf(31);
    if (!First || !Last)
      throw Undecided{"which registers a slot asks"};
    const int64_t Register = By / 32;
    return By >= 0 && Register < Registers &&
                   Register >= std::min(*First >> 5, *Last >> 5) &&
                   Register <= std::max(*First >> 5, *Last >> 5)
               ? By
               : -1;
  }

  /// Element 2 t - t mod By, or that with bit By set: in one register of the slot where
  /// the bit is 32 or more, else in that and the next one.
  int64_t inserted(const Owned::Fetch &F, int64_t Thread, int64_t By) const {
    if (!Cyclic || By <= 0 || (By & (By - 1)) != 0)
      return -1;
    const int64_t Element = 2 * Thread - Thread % By + (F.Upper ? By : 0);
    return Element < 32 * Registers ? Element : -1;
  }

  /// The owner of the element takes the copy of the thread whose number is the
  /// element's without bit By.
  bool insertedGoesBack(const Owned::Fetch &F, int64_t Thread, int64_t By) const {
    const int64_t Element = inserted(F, Thread, By);
    return Element >= 0 && ((Element & By) != 0) == F.Upper &&
           Element / (2 * By) * By + Element % By == Thread;
  }

  /// The copies that the slots have made come back by the same fetch of copies: is
  /// this slot's the one that its element's owner gets, and no other's?
  bool goesBack(const Owned::Fetch &F, int64_t Lane, int64_t Slot, int64_t By) {
    if (F.K == Owned::Fetch::Inserted)
      return F.Written && insertedGoesBack(F, threadAt(Lane, Slot), By);
    if (F.K == Owned::Fetch::At || F.K == Owned::Fetch::Gathered || !F.Written ||
        By == 0 || Registers != Slots)
      return false;
    const bool Flips = F.K == Owned::Fetch::Flipped;
    const int64_t Thread = threadAt(Lane, Slot),
                  Owner = source(F, Lane, Slot, By);
    for (int64_t L = 0; L < 32; ++L)
      for (int64_t S = 0; S < Slots; ++S)
        if (threadAt(L, S) == Owner)
          return (Flips ? flipped(L, S, By) : ahead(L, S, -By)) == Thread;
    return false;
  }

  /// By the bits of lane and register; -1: there is no such register.
  int64_t flipped(int64_t Lane, int64_t Slot, int64_t By) const {
    if (By < 0)
      return -1;
    if (Cyclic) {
      const int64_t Register = Slot ^ (By / 32);
      return Register < Registers ? (Lane ^ (By % 32)) + 32 * Register : -1;
    }
    if ((Slots & (Slots - 1)) != 0)
      return -1;
    const int64_t Source = Lane ^ (By / Slots);
    return Source < 32 ? threadAt(Source, Slot ^ (By % Slots)) : -1;
  }

  /// The thread whose register slot \p Slot of \p Lane gets; -1: none.
  int64_t ahead(int64_t Lane, int64_t Slot, int64_t By) const {
    if (Cyclic) {
      const int64_t Lanes = By & 31, From = Slot + (By - Lanes) / 32;
      const int64_t Source = (Lane + Lanes) & 31;
      const int64_t Register = Source >= Lanes ? From : From + 1;
      return Register < 0 || Register >= Registers ? -1
                                                   : Source + 32 * Register;
    }
    const int64_t Place = Slot + By,
                  From = (Place % Slots + Slots) % Slots,
                  Lanes = (Place - From) / Slots;
    return Lane + Lanes < 0 || Lane + Lanes > 31
               ? -1
               : threadAt(Lane + Lanes, From);
  }

  /// Its element \p Part, without a barrier in between, in the text.
  bool writtenBefore(const SharedAccess &S, int64_t Part) {
    const auto &PartOf = std::get<Owned>(A.Where).PartOf;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &X = M.SharedAccesses[I];
      const auto Written = PartOf.find(I);
      if (X.Array != A.Array || X.K == SharedAccess::Read ||
          X.Range.Begin >= S.Range.Begin || Written == PartOf.end())
        continue;
      if (W.value(Written->second) != Part)
        continue;
      bool Between = false;
      for (const Stmt &B : M.Stmts)
        Between |= B.K == Stmt::Barrier && B.Range.Begin >= X.Range.End &&
                   B.Range.End <= S.Range.Begin;
      if (!Between)
        return true;
    }
    return false;
  }
};

} // namespace

int64_t elementNamed(const KernelModel &M, const SharedAccess &S, World &W) {
  const SharedArray &Arr = M.Arrays[S.Array];
  if (!S.Affine) {
    const auto V = S.IndexValues.size() == 1 && S.IndexValues[0]
                       ? W.signedInteger(*S.IndexValues[0])
                       : std::nullopt;
    if (!V)
      throw Undecided{"an index that is no formula"};
    return *V;
  }
  int64_t E = 0;
  const Element Index = W.element(S.Index);
  for (size_t D = 0; D < Index.size(); ++D)
    E = (D ? E * Arr.Extents[D].value_or(0) : 0) + Index[D];
  return E;
}

std::optional<std::string> wrongOwned(const KernelModel &M, const Plan &P,
                                      const ArrayPlan &A, World &W,
                                      uint64_t &Checks) {
  return Checker(M, P, A, W, Checks).run();
}

} // namespace rcache::verify
