// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanVerifier.h"
#include "Affine/IslTools.h"
#include "Barriers.h"
#include "Hints.h"
#include "Interleaved.h"
#include "OwnedArrays.h"
#include "World.h"
#include "Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"
#include <algorithm>

namespace rcache {

namespace verify {

const char *const Nothing = "nothing";

std::string str(const Element &E) {
  std::string Text;
  for (const int64_t C : E)
    Text += "[" + std::to_string(C) + "]";
  return Text;
}

std::string str(const Thread &T) {
  return "(" + std::to_string(T[0]) + ", " + std::to_string(T[1]) + ", " +
         std::to_string(T[2]) + ")";
}

//===-- Without a launch --------------------------------------------------===//

/// Every access of an array that leaves shared memory is planned for, once.
void Verifier::everyAccessHasAPlace() {
  std::set<unsigned> InRegisters, InShared, Owners;
  std::map<unsigned, unsigned> Reads, Writes;
  for (const ArrayPlan &Plan : P.Arrays) {
    (Plan.isShared() ? InShared : InRegisters).insert(Plan.Array);
    if (Plan.isShared())
      continue;
    if (Plan.as<Owned>())
      Owners.insert(Plan.Array);
    for (const unsigned R : Plan.Reads)
      ++Reads[R];
    for (const unsigned R : Plan.Writes)
      ++Writes[R];
  }
  for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
    const SharedAccess &S = M.SharedAccesses[I];
    if (!InRegisters.count(S.Array) || InShared.count(S.Array) ||
        (!S.Domain.is_null() && S.Domain.is_empty()))
      continue;
    if (S.K == SharedAccess::Read && Reads[I] != 1)
      throw WrongPlan{"the read " + at(S) + " has " + std::to_string(Reads[I]) +
                      " sources"};
    if (S.K == SharedAccess::Write && Writes[I] == 0)
      throw WrongPlan{"the write " + at(S) + " is lost"};
    if (S.K == SharedAccess::ReadWrite && Writes[I] == 1 && Owners.count(S.Array))
      continue;
    if (S.K != SharedAccess::Read && S.K != SharedAccess::Write)
      throw WrongPlan{"the access " + at(S) + " needs shared memory"};
  }
}

/// Registers have no addresses: their index may use slots and the iterators of
/// unrolled loops only.
void Verifier::registersAreStatic(const ArrayPlan &Plan) {
  std::set<std::string> Static = {"sx", "sy", "sz"};
  for (const unsigned L : P.UnrolledLoops)
    if (M.stmt(L).IterSymbol >= 0)
      Static.insert(M.Symbols[M.stmt(L).IterSymbol].Id);
  for (const WindowRead &R : Plan.registerReads())
    for (const isl::pw_aff &I : R.Register)
      for (const std::string &Id : involvedIds(I))
        if (!Static.count(Id))
          throw WrongPlan{"the register of " + at(M.SharedAccesses[R.Access]) +
                          " depends on '" + Id + "', which is not static"};
}

//===-- Threads and slots -------------------------------------------------===//

/// The logical thread, along \p Axis, of the first slot of physical thread
/// \p Physical of a logical block.
int64_t Verifier::slotThread(unsigned Axis, int64_t Physical) const {
  const int64_t S = P.Map.Stride[Axis], C = P.Map.Factor[Axis];
  return Physical / S * S * C + Physical % S;
}

/// Pointers that the plan takes to lead to different memory: the launch is asked.
void Verifier::checkSeparate() {
  for (const auto &[X, Y] : P.Separate) {
    const std::string &A = M.Params[static_cast<size_t>(X)].Name,
                      &B = M.Params[static_cast<size_t>(Y)].Name;
    if (llvm::none_of(P.Preconditions, [&](const Precondition &C) {
          return C.Text.find("separate(" + A + ", " + B) != std::string::npos;
        }))
      wrong("nothing asks whether '" + A + "' and '" + B + "' overlap");
  }
}

void Verifier::checkMapping() {
  if (P.Map.joins())
    return checkJoined();
  int64_t Physical = 1;
  for (unsigned X = 0; X < 3; ++X) {
    const int64_t C = P.Map.Factor[X], S = P.Map.Stride[X];
    if (C < 1 || S < 1 || W.block()[X] % C != 0 ||
        (C > 1 && W.block()[X] % (C * S) != 0))
      wrong("the slots do not fill the block");
    Physical *= W.block()[X] / C;
  }
  for (const ArrayPlan &Plan : P.Arrays)
    if (Plan.as<Shuffled>() && Physical % 32 != 0)
      wrong("a warp would hold threads of two blocks, or be incomplete");
}

/// What the original's barriers ordered in shared memory is still ordered.
void Verifier::checkBarriers() {
  std::optional<std::string> Wrong;
  try {
    Wrong = verify::unorderedPair(M, P, W, Checks);
  } catch (const Undecided &) {
    return; // the way through the kernel depends on data
  }
  if (Wrong)
    wrong(*Wrong);
}

void Verifier::forEachPhysical(
    const std::function<void(unsigned, const Thread &)> &F) const {
  Thread N;
  for (unsigned X = 0; X < 3; ++X)
    N[X] = W.block()[X] / P.Map.Factor[X];
  unsigned Linear = 0;
  for (int64_t Z = 0; Z < N[2]; ++Z)
    for (int64_t Y = 0; Y < N[1]; ++Y)
      for (int64_t X = 0; X < N[0]; ++X)
        F(Linear++, {slotThread(0, X), slotThread(1, Y), slotThread(2, Z)});
}

//===-- The staging writes, executed --------------------------------------===//

void Verifier::executeWrite(unsigned Access) {
  const SharedAccess &S = M.SharedAccesses[Access];
  if (!S.Affine || S.K != SharedAccess::Write)
    throw Undecided{"a staging write whose index is not affine"};
  // Rounds that a loop shares out among the threads are all done by somebody:
  // the threads of those axes need not be tried.
  const unsigned Shared = W.cooperativeAxes(S.Stmt, A->Barrier);
  Thread N = W.block(), T;
  for (unsigned X = 0; X < 3; ++X)
    if (Shared & (DepThreadX << X))
      N[X] = 1;
  for (T[2] = 0; T[2] < N[2]; ++T[2])
    for (T[1] = 0; T[1] < N[1]; ++T[1])
      for (T[0] = 0; T[0] < N[0]; ++T[0]) {
        W.setThread(T);
        W.forEachRound(S.Stmt, A->Barrier, [&] {
          if (!W.holds(S.Domain))
            return;
          const Element E = W.element(S.Index);
          std::string Term = W.term(S.Stored);
          const auto Old = Contents.find(E);
          for (const ValueRef &G : S.ExtraGuards)
            Term = "if " + W.term(G) + " then " + Term;
          if (!S.ExtraGuards.empty())
            Term += " else " + (Old == Contents.end() ? std::string(Nothing)
                                                      : Old->second.Term);
          if (Old == Contents.end())
            Contents[E] = {Term, Access, false};
          else
            Old->second = {Term, Access,
                           Old->second.Write == Access &&
                               (Old->second.Raced || Old->second.Term != Term)};
        });
      }
}

void Verifier::executeWrites() {
  Contents.clear();
  std::vector<unsigned> InOrder = A->Writes;
  std::sort(InOrder.begin(), InOrder.end());
  for (const unsigned Access : InOrder)
    executeWrite(Access);
}

//===-- The staging function, asked ---------------------------------------===//

/// What the plan's staging function gives for \p E, in the form of
/// executeWrite.
std::string Verifier::staged(const Element &E, bool &Loads) {
  Loads = false;
  W.forgetThread();
  W.setElement(A->Stage.ElemIds, E);
  std::string Before;
  for (const StagePiece &Piece : A->Stage.Pieces) {
    if (!W.holds(Piece.Domain))
      continue;
    Loads |= W.loads(Piece.V);
    std::string Term = W.term(Piece.V);
    for (const ValueRef &G : Piece.Guards)
      Term = "if " + W.term(G) + " then " + Term;
    if (Piece.Guards.empty())
      return Before + Term;
    Before += Term + " else ";
  }
  return Before + Nothing;
}

/// The element \p E is loaded into some register (\p Needed: and read).
void Verifier::askFor(const Element &E, bool Needed) {
  if (!Needed && !Asked.insert(E).second)
    return;
  if (E.size() != A->Stage.ElemIds.size())
    wrong("the staging function of " + name() + " has another rank");
  count();
  bool Loads = false;
  const std::string Got = staged(E, Loads);
  W.restoreThread();
  const auto It = Contents.find(E);
  if (It == Contents.end() || It->second.Term == World::Undefined) {
    if (Loads)
      wrong("element " + name() + str(E) + " would be loaded (" + Got +
            "), but the original stages nothing there");
    return;
  }
  if (It->second.Raced)
    throw Undecided{"threads of the original write different values to one "
                    "element"};
  if (Got == It->second.Term || (!Needed && Got == Nothing))
    return;
  wrong("element " + name() + str(E) + " holds " + It->second.Term +
        ", the staging function says " + Got);
}

/// The loads of a run ask nothing: it must lie in the interior piece. The
/// addresses of those that are one vector must follow one another.
void Verifier::checkRun(const Element &Start, int64_t Count) {
  if (Wd->InteriorPiece < 0)
    return;
  if (Wd->InteriorPiece >= static_cast<int>(A->Stage.Pieces.size()))
    wrong("the interior piece does not exist");
  W.setElement(A->Stage.ElemIds, Start);
  if (!Wd->Interior.is_null() && !W.holds(Wd->Interior))
    return;
  std::vector<int64_t> FirstIndex;
  for (int64_t R = 0; R < Count; ++R) {
    Element E = Start;
    E.back() += offset(R);
    W.setElement(A->Stage.ElemIds, E);
    count();
    for (int I = 0; I <= Wd->InteriorPiece; ++I)
      if (W.holds(A->Stage.Pieces[I].Domain) != (I == Wd->InteriorPiece))
        wrong("the run from " + name() + str(Start) +
              " leaves the interior at " + str(E));
    if (!A->Stage.Pieces[Wd->InteriorPiece].Guards.empty())
      wrong("the interior of " + name() + " is guarded");
    for (unsigned L = 0; L < Wd->Leaves.size(); ++L) {
      const ValueRef &Index = Wd->Leaves[L].Load->Operands[0];
      if (Index->K != Value::Affine)
        wrong("a run of loads whose index is not affine");
      const std::optional<int64_t> I = W.value(Index->Aff);
      if (!I)
        wrong("the index of a run is not defined at " + name() + str(E));
      if (R == 0)
        FirstIndex.push_back(*I);
      else if (*I != FirstIndex[L] + R)
        wrong("the run from " + name() + str(Start) +
              " is not one run of memory at " + str(E));
    }
  }
}

//===-- Reads -------------------------------------------------------------===//

void Verifier::checkRead(unsigned Access, const std::vector<Element> &Firsts,
                         unsigned Lane, const Thread &T) {
  const SharedAccess &S = M.SharedAccesses[Access];
  if (!W.holds(S.Domain))
    return;
  if (!S.Affine)
    throw Undecided{"a read whose index is not affine"};
  const Element E = W.element(S.Index);
  if (!Contents.count(E)) {
    if (A->Stage.CoverageProved && S.DomainExact)
      wrong("thread " + str(T) + " reads " + name() + str(E) +
            ", which is not staged, although coverage is said to be proved");
    return; // undefined in the original
  }
  count();
  if (Wd) {
    const auto It =
        std::find_if(Wd->Reads.begin(), Wd->Reads.end(),
                     [&](const WindowRead &R) { return R.Access == Access; });
    if (It == Wd->Reads.end() || It->Register.size() != S.Index.size())
      wrong("the read " + at(S) + " has no register");
    const Element Register = W.element(It->Register);
    const std::optional<Element> Got = inWindow(Firsts, Lane, Register);
    if (!Got || *Got != E)
      wrong("thread " + str(T) + " reads " + name() + str(E) +
            ", its register " + str(Register) + " of lane " +
            std::to_string(Lane) + " holds " +
            (Got ? str(*Got) : std::string("nothing")));
  }
  askFor(E, /*Needed=*/true);
}

/// The register of a read that is done at the barrier: does it hold what the
/// slot's thread reads, and no other round's element?
void Verifier::checkEarly(const Thread &First, const Thread &Slot,
                          const Thread &T) {
  const SharedAccess &S = M.SharedAccesses[A->Reads.front()];
  if (Early->Read.Access != A->Reads[0] ||
      Early->Read.Register.size() != Early->Extent.size())
    wrong("the read " + at(S) + " has no register");
  W.setThread(T);
  if (!W.holds(S.Domain))
    return;
  const Element E = W.element(S.Index);
  W.setThread(First);
  W.setSlot(Slot);
  const Element Loaded = W.element(Early->First);
  const Element Register = W.element(Early->Read.Register);
  for (size_t D = 0; D < Register.size(); ++D)
    if (Register[D] < 0 || Register[D] >= Early->Extent[D])
      wrong("register " + str(Register) + " of " + at(S) + " does not exist");
  // Rounds may share a register where they read the same element.
  if (Loaded != E || Held.emplace(Register, E).first->second != E)
    wrong("thread " + str(T) + " reads " + name() + str(E) + ", its register " +
          str(Register) + " holds " + str(Loaded) + " or another round's");
  W.setThread(T);
}

/// All reads of all slots of one physical thread.
void Verifier::checkReads(const std::vector<Element> &Firsts, unsigned Lane,
                          const Thread &First) {
  Thread S;
  Held.clear();
  for (S[2] = 0; S[2] < P.Map.Factor[2]; ++S[2])
    for (S[1] = 0; S[1] < P.Map.Factor[1]; ++S[1])
      for (S[0] = 0; S[0] < P.Map.Factor[0]; ++S[0]) {
        Thread T = First;
        for (unsigned X = 0; X < 3; ++X)
          T[X] += S[X] * P.Map.Stride[X];
        for (const unsigned Access : A->Reads) {
          W.setThread(T);
          W.setSlot(S);
          W.forEachRound(M.SharedAccesses[Access].Stmt, A->Barrier, [&] {
            if (Early)
              checkEarly(First, S, T);
            W.setThread(T);
            checkRead(Access, Firsts, Lane, T);
          });
        }
      }
}

void Verifier::arrayInLaunch(const ArrayPlan &Which) {
  A = &Which;
  if (Which.as<Owned>()) {
    if (auto Wrong = verify::wrongOwned(M, P, Which, W, Checks))
      wrong(*Wrong);
    return;
  }
  if (const auto *R = Which.as<Restaged>())
    return restagedInLaunch(*R);
  Wd = nullptr;
  Ex = nullptr;
  Early = nullptr;
  std::visit(llvm::makeVisitor([](const KeptShared &) {},
                               [](const FromSource &) {},
                               [](const Owned &) {}, [](const Restaged &) {},
                               [&](const ReadEarly &E) { Early = &E; },
                               [&](const Reloaded &R) { Wd = &R.W; },
                               [&](const StreamedRows &S) { Wd = &S.W; },
                               [&](const Shuffled &S) {
                                 Wd = &S.W;
                                 Ex = &S.D;
                               }),
             Which.Where);
  Asked.clear();
  executeWrites();
  if (A->Reads.empty())
    return;
  if (Wd && Wd->First.size() != Wd->Extent.size())
    wrong("the window of " + name() + " has no shape");
  if (Ex && (Wd->First.size() != 1 || Ex->Chunk < 1 || Wd->Extent[0] < 1))
    wrong("the chunks of " + name() + " have no shape");
  // Warp by warp; the last one may be incomplete (no shuffles then).
  std::vector<Thread> Warp;
  auto Flush = [&] {
    std::vector<Element> Firsts;
    for (const Thread &T : Warp) {
      W.setThread(T);
      W.setSlot({0, 0, 0});
      Firsts.push_back(Wd ? W.element(Wd->First) : Element());
    }
    for (unsigned Lane = 0; Lane < Warp.size(); ++Lane) {
      W.setThread(Warp[Lane]);
      W.setSlot({0, 0, 0});
      if (Wd && !Wd->Needed.is_null() && !W.holds(Wd->Needed)) {
        checkNotNeeded(Warp[Lane]);
        continue;
      }
      if (Wd)
        askForRegisters(Firsts, Lane);
      checkReads(Firsts, Lane, Warp[Lane]);
    }
    Warp.clear();
  };
  forEachPhysical([&](unsigned, const Thread &First) {
    Warp.push_back(First);
    if (Warp.size() == 32)
      Flush();
  });
  if (!Warp.empty())
    Flush();
}

} // namespace verify

/// What the text of the kernel counts on and no launch is asked for; "": nothing.
static std::string notAsked(const KernelModel &M, const Plan &P) {
  auto Asked = [&](const std::string &Name, llvm::StringRef Compared) {
    return llvm::any_of(P.Preconditions, [&](const Precondition &C) {
      llvm::StringRef Text = C.Text;
      return Text.consume_front(Name + " ") && Text == Compared;
    });
  };
  for (const auto &[Name, Value] : M.Form.Fixed)
    if (!Asked(Name, "== " + std::to_string(Value)))
      return "nothing asks whether '" + Name + "' is " + std::to_string(Value);
  for (const auto &[Name, Value] : M.Form.AtMost)
    if (!Asked(Name, "<= " + std::to_string(Value)))
      return "nothing asks whether '" + Name + "' is at most " + std::to_string(Value);
  for (const std::string &Name : M.Form.NonZero)
    if (!Asked(Name, "!= 0"))
      return "nothing asks whether '" + Name + "' is 0";
  return "";
}

VerifyOutcome verifyPlan(const KernelModel &M, const Plan &P,
                         const VerifyOptions &O) {
  VerifyOutcome Out;
  if (const std::string Wrong = notAsked(M, P); !Wrong.empty()) {
    Out.K = VerifyOutcome::Wrong;
    Out.Detail = Wrong;
    return Out;
  }
  std::optional<verify::Verifier> V;
  if (P.Hints) {
    auto Wrong = verify::wrongHints(P, Out.Checks);
    Out.K = Wrong ? VerifyOutcome::Wrong : VerifyOutcome::Verified;
    Out.Detail = Wrong.value_or("");
    return Out;
  }
  if (!P.Interleaved.empty()) {
    // Shared arrays and barriers are the original's: nothing else is planned.
    auto Wrong = verify::wrongInterleaved(M, P, Out.Checks);
    if (!Wrong && !P.keepsThreads())
      Wrong = "private arrays move where threads do";
    Out.K = Wrong ? VerifyOutcome::Wrong : VerifyOutcome::Verified;
    Out.Detail = Wrong.value_or("");
    return Out;
  }
  M.Ctx->resetBudget();
  auto Run = [&] {
    V.emplace(M, P, O);
    try {
      V->run();
    } catch (const verify::EnoughChecks &) {
    }
    return true;
  };
  try {
    llvm::Expected<bool> Done = guarded(Run);
    if (Done)
      Out.K = VerifyOutcome::Verified;
    else
      Out.Detail = llvm::toString(Done.takeError());
  } catch (const verify::WrongPlan &Reason) {
    Out.K = VerifyOutcome::Wrong;
    Out.Detail = Reason.What;
  } catch (const verify::Undecided &Reason) {
    Out.Detail = Reason.Reason;
  }
  if (V)
    Out.Checks = V->checks();
  return Out;
}

} // namespace rcache
