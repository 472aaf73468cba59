// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes a plan for made-up launches. Without a launch, writes and reads:
// PlanVerifier.cpp; what the registers of a thread hold: Registers.cpp.

#ifndef RCACHE_LIB_VERIFY_VERIFIER_H
#define RCACHE_LIB_VERIFY_VERIFIER_H

#include "PlanVerifier.h"
#include "World.h"
#include <functional>
#include <map>
#include <set>

namespace rcache::verify {

using Thread = std::array<int64_t, 3>;

/// Thrown where the plan is wrong; caught in verifyPlan.
struct WrongPlan {
  std::string What;
};

/// Thrown when the budget of checks is used up: all is well so far.
struct EnoughChecks {};

std::string str(const Element &E);
std::string str(const Thread &T);

/// What one element of the array holds at the barrier.
struct Content {
  std::string Term;
  unsigned Write = 0; ///< by which write
  bool Raced = false; ///< two threads wrote different values
};

class Verifier {
public:
  Verifier(const KernelModel &M, const Plan &P, const VerifyOptions &O)
      : M(M), P(P), O(O), W(M, P, O.Seed, RoundsACheck * O.MaxChecks) {}

  void run() {
    everyAccessHasAPlace();
    checkSeparate();
    for (const ArrayPlan &A : P.Arrays)
      registersAreStatic(A);
    if (P.Cut)
      everyVariableIsFilled();
    unsigned Reached = 0;
    for (unsigned I = 0; I < O.Launches; ++I) {
      if (!W.draw())
        throw Undecided{"no small launch meets what the plan assumes"};
      checkMapping();
      for (const ArrayPlan &A : P.Arrays)
        if (!A.isShared() && W.drawRounds(A.Barrier)) {
          ++Reached;
          arrayInLaunch(A);
        }
      if (P.Cut)
        checkCut();
      checkBarriers();
    }
    if (!Reached && Checks == 0)
      throw Undecided{"no made-up launch reaches the barrier"};
  }

  uint64_t checks() const { return Checks; }

private:
  /// Rounds that a check is worth: those of made-up radii reach no element.
  static constexpr uint64_t RoundsACheck = 200;

  const KernelModel &M;
  const Plan &P;
  const VerifyOptions &O;
  World W;
  uint64_t Checks = 0;

  // Of the array and launch at hand; Wd, Ex and Early: what its placement is.
  const ArrayPlan *A = nullptr;
  const Window *Wd = nullptr;       ///< any placement with a window
  const Distribution *Ex = nullptr; ///< of a shuffled one
  const ReadEarly *Early = nullptr;
  std::map<Element, Content> Contents;
  std::set<Element> Asked;
  std::map<Element, Element> Held; ///< early reads of the thread: by register

  void count() {
    if (++Checks > O.MaxChecks)
      throw EnoughChecks();
  }

  [[noreturn]] void wrong(const std::string &What) {
    throw WrongPlan{What + " (" + W.describe() + ")"};
  }
  std::string name() const { return "'" + M.Arrays[A->Array].Name + "'"; }
  std::string at(const SharedAccess &S) const {
    return M.text(S.Range) + " at line " + std::to_string(S.Pos.Line);
  }

  // Cuts.cpp
  Nullable<isl::pw_aff> RoundOfCut; ///< the cut loop's counter
  void forEachRoundOfCut(const std::function<void(int64_t)> &F);
  std::vector<int64_t> sharesOf(const std::vector<int64_t> &Rounds,
                                int64_t Share);
  void everyVariableIsFilled();
  void loadsOf(const ValueRef &V, std::vector<std::pair<int, int64_t>> &Out);
  void checkRefills(const Thread &T, int64_t First);
  void checkCut();
  void checkNotNeeded(const Thread &First);

  void everyAccessHasAPlace();
  void registersAreStatic(const ArrayPlan &A);
  void checkMapping();
  void checkSeparate();
  void arrayInLaunch(const ArrayPlan &Which);
  void checkBarriers();

  void executeWrites();
  void executeWrite(unsigned Access);
  std::string staged(const Element &E, bool &Loads);
  void askFor(const Element &E, bool Needed);
  void askForRegisters(const std::vector<Element> &Firsts, unsigned Lane);
  void checkRun(const Element &Start, int64_t Count);

  // Joined blocks: Restaged.cpp.
  void checkJoined();
  void checkJoinedAxis(unsigned Axis);
  void checkJoinedWarps();
  void checkJoinedBarriers();
  void checkAhead();
  void forEachJoined(const std::function<void(const Thread &Part)> &F) const;
  void restagedInLaunch(const Restaged &R);
  void checkCopy(const Restaged &R, const Thread &Start, const Thread &Part);
  void checkRestagedReads(const Restaged &R);

  int64_t slotThread(unsigned Axis, int64_t Physical) const;
  void forEachPhysical(
      const std::function<void(unsigned Linear, const Thread &First)> &F) const;
  int64_t offset(int64_t Register) const;
  std::optional<Element> inWindow(const std::vector<Element> &Firsts,
                                  unsigned Lane, const Element &Register);
  std::pair<int64_t, int64_t> line(const Element &Register) const;
  std::optional<Element> inReload(const Element &First,
                                  const Element &Register);
  std::optional<int64_t> inChunks(const std::vector<Element> &Firsts,
                                  unsigned Lane, int64_t Register);
  std::optional<int64_t> inCyclic(const std::vector<Element> &Firsts,
                                  unsigned Lane, int64_t Register);
  void checkReads(const std::vector<Element> &Firsts, unsigned Lane,
                  const Thread &First);
  void checkRead(unsigned Access, const std::vector<Element> &Firsts,
                 unsigned Lane, const Thread &T);
  void checkEarly(const Thread &First, const Thread &Slot, const Thread &T);
};

} // namespace rcache::verify

#endif // RCACHE_LIB_VERIFY_VERIFIER_H
