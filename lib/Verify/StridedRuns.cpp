// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OwnedArrays.h. The lanes' way through their registers, done with numbers:
// who runs, under which number, with which elements. The formulas of the device
// functions (strided_thread and its like) are said again.

#include "OwnedArrays.h"
#include <algorithm>

namespace rcache::verify {

namespace {

class Checker {
public:
  Checker(const KernelModel &M, const Plan &P, const ArrayPlan &A, World &W,
          uint64_t &Checks)
      : M(M), P(P), A(A), Of(std::get<Owned>(A.Where)), W(W), Checks(Checks),
        Threads(W.block()[0]),
        Chunk(P.Map.Stride[0] == 1 ? int64_t(P.Map.Factor[0]) : 1) {}

  std::optional<std::string> run() {
    for (const PairedInterval &Pair : P.Paired)
      if (Pair.Strided &&
          (Chunk > 1 ? !isBit(Chunk) : P.Map.Stride[0] != 32 && P.Map.Factor[0] != 1))
        return "elements of a lane are not 32 apart";
    // Slots collect what is theirs; runs are for threads of other numbers.
    for (const PairedInterval &Pair : P.Paired)
      for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I)
        if (Pair.Statements.contains(M.GlobalAccesses[I].Range) && isCollected(I))
          return M.text(M.GlobalAccesses[I].Range) + " is collected by slots whose threads do not run it";
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &S = M.SharedAccesses[I];
      const PairedInterval *Pair = P.paired(S.Range);
      if (S.Array == A.Array &&
          Of.OfRuns.count(I) != (Pair && Pair->Strided ? 1u : 0u))
        return "an access is run by nobody";
    }
    W.walk([&](unsigned Stmt) {
      for (const PairedInterval &Pair : P.Paired)
        if (Wrong.empty() && Pair.Strided &&
            M.stmt(Stmt).Range.Begin == Pair.Statements.Begin)
          visit(Pair);
    });
    return Wrong.empty() ? std::nullopt : std::optional(Wrong);
  }

private:
  const KernelModel &M;
  const Plan &P;
  const ArrayPlan &A;
  const Owned &Of;
  World &W;
  uint64_t &Checks;
  const int64_t Threads;
  const int64_t Chunk; ///< neighbours in a lane; 1: elements are 32 apart
  std::string Wrong;

  /// Is access \p I to memory done by vectors of slots?
  bool isCollected(unsigned I) const {
    return std::any_of(P.VectorStores.begin(), P.VectorStores.end(),
                       [&](const Plan::VectorStore &V) { return V.holds(I); }) ||
           std::any_of(P.VectorReads.begin(), P.VectorReads.end(),
                       [&](const Plan::VectorRead &R) { return R.Access == I; });
  }

  static bool isBit(int64_t N) { return N > 0 && (N & (N - 1)) == 0; }

  int64_t elementIn(int64_t Lane, int64_t Register) const {
    return Chunk == 1 ? Lane + 32 * Register
                      : Register / Chunk * 32 * Chunk + Lane * Chunk + Register % Chunk;
  }

  void wrong(const SharedAccess &S, int64_t Thread, const std::string &What) {
    Wrong = M.text(S.Range) + " at line " + std::to_string(S.Pos.Line) +
            ", thread " + std::to_string(Thread) + ": " + What;
  }

  /// A call of the statements for a thread: the elements that stand for its own
  /// and the other one, and which of them are registers, not copies.
  struct Call {
    int64_t Mine = -1, Theirs = -1;
    bool KeepsMine = false, KeepsTheirs = false;
  };
  using Calls = std::vector<std::vector<Call>>; ///< by thread

  /// Where the block is, in numbers.
  struct Numbers {
    int64_t Step = 0, First = 0, By = 0;
  };

  int64_t number(const Nullable<isl::pw_aff> &V) {
    if (V.is_null())
      return 0;
    const auto Is = W.value(V);
    if (!Is)
      throw Undecided{"the steps of what threads use"};
    return *Is;
  }

  bool anyIn(const StridedRun &R, const Numbers &N, int64_t Register) const {
    if (Chunk > 1)
      return anyInChunks(R, N, Register);
    if (R.K == StridedRun::Inserted)
      return N.Step < 32 || ((32 * Register) & N.Step) == N.First;
    return 32 * Register + 31 >= N.First &&
           (32 * Register <= N.First ||
            (32 * Register + 31 - N.First) / N.Step !=
                (32 * Register - 1 - N.First) / N.Step);
  }

  bool anyInChunks(const StridedRun &R, const Numbers &N, int64_t Register) const {
    const int64_t Part = 32 * Chunk, Of = Register / Chunk;
    if (R.K == StridedRun::Inserted)
      return N.Step < Chunk  ? (Register & N.Step) == N.First
             : N.Step < Part ? true
                             : ((Of * Part) & N.Step) == N.First;
    return ((Register ^ N.First) & (std::min(N.Step, Chunk) - 1)) == 0 &&
           (N.Step <= Part || Of % (N.Step / Part) == N.First / Part % (N.Step / Part));
  }

  static int64_t threadOf(const StridedRun &R, const Numbers &N, int64_t E) {
    const int64_t At = E - N.First;
    if (At < 0)
      return -1;
    if (R.K == StridedRun::Steps)
      return At % N.Step == 0 ? At / N.Step : -1;
    return (At & N.Step) != 0 ? -1
                              : ((At >> 1) & -N.Step) | (At & (N.Step - 1));
  }

  /// The element that lane \p Lane gets for register \p Register; -1: none.
  int64_t copied(const StridedRun &R, const Numbers &N, int64_t Lane,
                 int64_t Register, int64_t Registers) const {
    if (Chunk > 1 && !R.Flips) {
      const int64_t Place = Register % Chunk + N.By, From = Place & (Chunk - 1),
                    Away = (Place - From) / Chunk, Lanes = Away & 31,
                    Source = (Lane + Lanes) & 31;
      const int64_t Is = (Register / Chunk + (Away - Lanes) / 32) * Chunk + From +
                         (Source >= Lanes ? 0 : Chunk);
      return Is < 0 || Is >= Registers ? -1 : elementIn(Source, Is);
    }
    if (Chunk > 1) {
      const bool Here = inOneLane(N.By);
      const int64_t From = Here ? Register ^ bitOfRegister(N.By) : Register;
      return From < Registers
                 ? elementIn(Here ? Lane : (Lane ^ N.By / Chunk) & 31, From)
                 : -1;
    }
    if (R.Flips) {
      const int64_t From = Register ^ (N.By >> 5);
      return From < Registers ? ((Lane ^ N.By) & 31) + 32 * From : -1;
    }
    const int64_t Lanes = N.By & 31, From = Register + (N.By - Lanes) / 32,
                  Source = (Lane + Lanes) & 31;
    const int64_t Is = Source >= Lanes ? From : From + 1;
    return Is < 0 || Is >= Registers ? -1 : Source + 32 * Is;
  }

  /// Two elements of one lane, by the bit in which their numbers differ.
  bool inOneLane(int64_t By) const {
    return Chunk == 1 ? By >= 32 : By < Chunk || By >= 32 * Chunk;
  }
  int64_t bitOfRegister(int64_t By) const {
    return Chunk == 1 || By >= Chunk ? By / 32 : By;
  }

  Calls callsOf(const StridedRun &R, const Numbers &N) {
    Calls All(static_cast<size_t>(Threads));
    const int64_t Registers = int64_t(Of.Parts) * P.slots();
    auto Add = [&](int64_t Thread, Call C) {
      if (Thread >= 0 && Thread < Threads)
        All[static_cast<size_t>(Thread)].push_back(C);
    };
    for (int64_t Register = 0; Register < R.Elements / 32; ++Register)
      for (int64_t Lane = 0; Lane < 32; ++Lane) {
        const int64_t E = elementIn(Lane, Register);
        if (!anyIn(R, N, Register))
          continue;
        if (!R.Both) {
          Add(threadOf(R, N, E),
              {E,
               R.Away.is_null() ? -1 : copied(R, N, Lane, Register, Registers),
               true, false});
        } else if (inOneLane(N.By)) {
          const int64_t Bit = bitOfRegister(N.By);
          if ((Register & Bit) == 0)
            Add(threadOf(R, N, E),
                {E, elementIn(Lane, (Register ^ Bit) % (R.Elements / 32)), true, true});
        } else if ((E & N.By) == 0) {
          Add(threadOf(R, N, E),
              {E, copied(R, N, Lane, Register, Registers), true, false});
        } else {
          Add(threadOf(R, N, E ^ N.By),
              {copied(R, N, Lane, Register, Registers), E, false, true});
        }
      }
    return All;
  }

  void visit(const PairedInterval &Pair) {
    const StridedRun &R = *Pair.Strided;
    const Numbers N = {number(R.Step), number(R.First), number(R.Away)};
    const int64_t Registers = int64_t(Of.Parts) * P.slots();
    if (N.Step <= 0 || R.Elements <= 0 || R.Elements % 32 != 0 ||
        (R.K == StridedRun::Inserted && !isBit(N.Step)) ||
        ((R.Flips || R.Both) && !isBit(N.By)) ||
        (Chunk > 1 && (!isBit(N.Step) || N.First < 0))) {
      Wrong = "a run of statements by steps that are none";
      return;
    }
    bool Used = false;
    for (const auto &[Access, Other] : Of.OfRuns)
      Used |= Pair.Statements.contains(M.SharedAccesses[Access].Range);
    if (!Used)
      return;
    if (R.Elements > 32 * Registers) {
      Wrong = "a run of statements for elements that have no register";
      return;
    }
    const Calls All = callsOf(R, N);
    std::map<int64_t, int64_t> ChangedBy, UsedBy; // by element: the thread
    for (int64_t T = 0; T < Threads && Wrong.empty(); ++T) {
      W.setThread({T, 0, 0});
      W.setSlot({Chunk > 1 ? T % Chunk : T / 32, 0, 0});
      stores(Pair, T, All[static_cast<size_t>(T)]);
      for (const auto &[Access, Other] : Of.OfRuns)
        if (Wrong.empty() &&
            Pair.Statements.contains(M.SharedAccesses[Access].Range))
          access(M.SharedAccesses[Access], Other, T,
                 All[static_cast<size_t>(T)], R, ChangedBy, UsedBy);
    }
  }

  /// What is stored is stored once.
  void stores(const PairedInterval &Pair, int64_t T,
              const std::vector<Call> &Calls) {
    for (const GlobalAccess &G : M.GlobalAccesses)
      if (Pair.Statements.contains(G.Range) && G.K != GlobalAccess::Read &&
          W.mayHold(G.Domain) && Calls.size() != 1)
        Wrong = M.text(G.Range) + ": thread " + std::to_string(T) + " runs " +
                std::to_string(Calls.size()) + " times";
  }

  /// Comparisons of numbers decide; others may hold.
  bool guardsMayHold(const SharedAccess &S) {
    for (const ValueRef &G : S.ExtraGuards) {
      if (!G || G->K != Value::Op || G->Operands.size() != 2)
        continue;
      const auto L = W.signedInteger(*G->Operands[0]),
                 R = W.signedInteger(*G->Operands[1]);
      if (!L || !R || *L < 0 || *R < 0)
        continue;
      if ((G->Opcode == Value::Less && *L >= *R) ||
          (G->Opcode == Value::LessEqual && *L > *R) ||
          (G->Opcode == Value::Greater && *L <= *R) ||
          (G->Opcode == Value::GreaterEqual && *L < *R) ||
          (G->Opcode == Value::Equal && *L != *R))
        return false;
    }
    return true;
  }

  void access(const SharedAccess &S, bool Other, int64_t T,
              const std::vector<Call> &Calls, const StridedRun &R,
              std::map<int64_t, int64_t> &ChangedBy,
              std::map<int64_t, int64_t> &UsedBy) {
    ++Checks;
    if (!W.mayHold(S.Domain) || !guardsMayHold(S))
      return;
    const int64_t Element = elementNamed(M, S, W);
    bool Kept = false;
    for (const Call &C : Calls) {
      const int64_t Got = Other ? C.Theirs : C.Mine;
      if (Got != Element)
        return wrong(S, T,
                     "gets element " + std::to_string(Got) + " for " +
                         std::to_string(Element));
      Kept |= Other ? C.KeepsTheirs : C.KeepsMine;
    }
    const size_t Least = 1, Most = R.Both ? 2 : 1;
    if (Calls.size() < Least || Calls.size() > Most)
      return wrong(S, T, "runs " + std::to_string(Calls.size()) + " times");
    const bool Changes = S.K != SharedAccess::Read;
    if (Changes && !Kept)
      return wrong(S, T, "what it writes does not reach the owner");
    const auto Before = ChangedBy.find(Element);
    if (Before != ChangedBy.end() && Before->second != T)
      return wrong(S, T, "another thread has changed it meanwhile");
    const auto [User, New] = UsedBy.try_emplace(Element, T);
    if (Changes && User->second != T)
      return wrong(S, T, "another thread has used it meanwhile");
    if (Changes)
      ChangedBy[Element] = T;
  }
};

} // namespace

std::optional<std::string> wrongStrided(const KernelModel &M, const Plan &P,
                                        const ArrayPlan &A, World &W,
                                        uint64_t &Checks) {
  return Checker(M, P, A, W, Checks).run();
}

} // namespace rcache::verify
