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
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
      if (M.SharedAccesses[I].Array == A.Array && !access(I))
        return Wrong;
    return std::nullopt;
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

  bool access(unsigned I) {
    const SharedAccess &S = M.SharedAccesses[I];
    const Owned::Read *R = nullptr;
    for (const Owned::Read &X : std::get<Owned>(A.Where).Reads)
      if (X.Access == I)
        R = &X;
    if (S.K == SharedAccess::Read && !R)
      return wrong(S, 0, "the read has no source");
    bool Right = true;
    for (int64_t Lane = 0; Lane < 32 && Right; ++Lane)
      for (int64_t Slot = 0; Slot < Slots && Right; ++Slot) {
        W.setThread({threadAt(Lane, Slot), 0, 0});
        W.setSlot({Slot, 0, 0});
        W.forEachRound(S.Stmt, 0, [&] {
          if (Right && W.holds(S.Domain))
            Right = check(S, R, Lane, Slot);
        });
      }
    return Right;
  }

  bool check(const SharedAccess &S, const Owned::Read *R, int64_t Lane,
             int64_t Slot) {
    ++Checks;
    const int64_t Thread = threadAt(Lane, Slot);
    const int64_t Element = S.Index.empty() ? 0 : W.element(S.Index)[0];
    if (!R || R->K == Owned::Read::Own) {
      const auto &PartOf = std::get<Owned>(A.Where).PartOf;
      const auto Part = PartOf.find(static_cast<unsigned>(
          &S - M.SharedAccesses.data()));
      return (Part != PartOf.end() &&
              Part->second < std::get<Owned>(A.Where).Parts &&
              Element == Thread + int64_t(Part->second) * 32 * Slots) ||
             wrong(S, Thread,
                   "element " + std::to_string(Element) + " is another's");
    }
    if (!W.holds(R->Slots))
      return wrong(S, Thread, "its slot fetches nothing");
    const auto By = W.value(R->By);
    if (!By)
      throw Undecided{"how far away an element is"};
    const int64_t Got = R->K == Owned::Read::At ? ofAll(*By)
                                                : ahead(Lane, Slot, *By);
    if (Got != Element)
      return wrong(S, Thread,
                   "gets element " + std::to_string(Got) + " for " +
                       std::to_string(Element));
    if (Element % (32 * Slots) == Thread &&
        writtenBefore(S, static_cast<unsigned>(Element / (32 * Slots))))
      return wrong(S, Thread, "is fetched before the thread writes it");
    return true;
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

  int64_t ofAll(int64_t Thread) const {
    return Thread >= 0 && Thread < 32 * Registers ? Thread : -1;
  }

  /// Its element \p Part, without a barrier in between, in the text.
  bool writtenBefore(const SharedAccess &S, unsigned Part) const {
    const auto &PartOf = std::get<Owned>(A.Where).PartOf;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &X = M.SharedAccesses[I];
      const auto Written = PartOf.find(I);
      if (Written != PartOf.end() && Written->second != Part)
        continue;
      if (X.Array != A.Array || X.K == SharedAccess::Read ||
          X.Range.Begin >= S.Range.Begin)
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

std::optional<std::string> wrongOwned(const KernelModel &M, const Plan &P,
                                      const ArrayPlan &A, World &W,
                                      uint64_t &Checks) {
  return Checker(M, P, A, W, Checks).run();
}

} // namespace rcache::verify
