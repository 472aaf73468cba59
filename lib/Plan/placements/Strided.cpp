// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Strided.h. All is done with numbers: which element each access names, for
// each thread and each time that the block comes there. Formulas of the
// counters are then fitted to steps and distances, and hold for all of these or
// are none.
//
// Legal where each array's accesses name one or two elements of a thread, which
// no other thread uses in these statements if they change; where nothing else
// comes of the statements (a thread without an element is run by nobody); and
// where all that they name is a function of the thread's number.
//
// Where a lane has neighbours, C of each 32 * C elements, steps are powers of two, so
// that each bit of an element's number is one of its register or of its lane: what
// differs in a bit below C, or from 32 * C on, is in the same lane.

#include "Strided.h"
#include "../Separate.h"
#include "Affine/Evaluate.h"
#include "Affine/IslTools.h"
#include "OwnedFetches.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace rcache;

namespace {

/// Elements of a thread, as many visits as are looked at.
constexpr int64_t MostParts = 4;
constexpr size_t MostVisits = 128;

class Search {
public:
  Search(const KernelModel &M, const Assumptions &A, const Counters &Count,
         const Mapping &Map)
      : M(M), A(A), Count(Count), Threads((*Map.Block)[0]),
        Chunk(Map.Stride[0] == 1 ? Map.Factor[0] : 1) {}

  std::string Why;

  std::optional<StridedInterval> run(unsigned Access) {
    const SharedAccess &S = M.SharedAccesses[Access];
    if (!findStatements(S) || !isAlone() || !tabulate(S) || !findRoles() ||
        !findRun() || !fitsChunks() || !isComplete() || !isApart())
      return std::nullopt;
    countRuns();
    Out.Run.Strided = std::move(R);
    return std::move(Out);
  }

private:
  const KernelModel &M;
  const Assumptions &A;
  const Counters &Count;
  const int64_t Threads;
  const int64_t Chunk; ///< neighbours in a lane; 1: elements are 32 apart
  StridedInterval Out;
  StridedRun R;
  bool Stores = false; ///< to global memory

  /// One access: [visit][thread].
  struct Use {
    unsigned Access = 0;
    bool Writes = false, Other = false;
    std::vector<std::vector<int64_t>> Element; ///< -1: there is no number
    std::vector<std::vector<bool>> Runs;       ///< it may be executed
  };
  std::vector<Use> Uses;
  std::vector<Counters::Values> Visits;
  std::vector<std::vector<bool>> StoresAt; ///< [visit][thread]
  /// By visit: steps, first elements, from the element to the other.
  std::vector<int64_t> Steps, Firsts, Away;
  const Use *Mine = nullptr;

  bool no(const std::string &What) {
    if (Why.empty())
      Why = What;
    return false;
  }
  bool no(const SharedAccess &S, const std::string &What) {
    return no("'" + M.text(S.Range) + "' in line " +
              std::to_string(S.Pos.Line) + " " + What);
  }

  //===--- The statements ---===//

  /// From the first statement between two barriers that uses an array to the
  /// last one, and what is declared for these.
  bool findStatements(const SharedAccess &S) {
    if (llvm::any_of(M.Stmts,
                     [](const Stmt &X) { return X.K == Stmt::Return; }))
      return no(S, "is another thread's, and some threads may have returned");
    if (!standsInSlots(M, S, false))
      return no(S,
                "is another thread's, in a loop or a condition of a barrier");
    const TextRange In = intervalOf(M, S);
    unsigned Top = S.Stmt;
    while (M.stmt(Top).Parent >= 0 &&
           !M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).HasBarrier)
      Top = static_cast<unsigned>(M.stmt(Top).Parent);
    std::vector<unsigned> Line = {Top};
    if (M.stmt(Top).Parent >= 0)
      Line = M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).Children;
    TextRange &Of = Out.Run.Statements;
    Of = M.stmt(Top).Range;
    for (unsigned C : Line)
      if (const TextRange Is = M.stmt(C).Range;
          In.contains(Is) && !declaresArray(M.stmt(C)) &&
          llvm::any_of(M.SharedAccesses, [&](const SharedAccess &X) {
            return Is.contains(X.Range);
          }))
        Of = {std::min(Of.Begin, Is.Begin), std::max(Of.End, Is.End)};
    bool Grows = true;
    while (Grows) {
      Grows = false;
      for (const VarUse &U : M.VarUses) {
        const Var &V = M.Vars[U.Var];
        if (!Of.contains(U.Range) || V.IsParam || V.Repeatable ||
            Of.contains(V.DeclRange) || !In.contains(V.DeclRange) ||
            !(V.Depends & DepThread))
          continue;
        Of.Begin = V.DeclRange.Begin;
        Grows = true;
      }
    }
    return true;
  }

  bool declaresArray(const Stmt &S) const {
    return llvm::any_of(M.Arrays, [&](const SharedArray &Arr) {
      return Arr.DeclRange == S.Range;
    });
  }

  bool isAlone() {
    const TextRange In = Out.Run.Statements;
    for (const GlobalAccess &G : M.GlobalAccesses)
      Stores |= In.contains(G.Range) && G.K != GlobalAccess::Read;
    // (Rounds of a thread's stores would be done by different lanes.)
    const bool Again =
        Stores && llvm::any_of(M.Stmts, [&](const Stmt &S) {
          return S.isLoop() &&
                 S.Range.contains(In);
        });
    if (Again || !doesNothingElse(M, In, /*MayStore=*/true) ||
        llvm::any_of(M.Stmts, [&](const Stmt &S) {
          return In.contains(S.Range) && declaresArray(S);
        }))
      return no("the statements around '" + M.text(firstOf(In).Range) +
                "' in line " + std::to_string(firstOf(In).Pos.Line) +
                " do more than a thread of another number can do");
    if (!namesTheSame(M, In, &Out.Run.Declared))
      return no("the statements around '" + M.text(firstOf(In).Range) +
                "' in line " + std::to_string(firstOf(In).Pos.Line) +
                " use variables that a thread has for itself");
    return true;
  }

  const SharedAccess &firstOf(TextRange In) const {
    return *llvm::find_if(M.SharedAccesses, [&](const SharedAccess &S) {
      return In.contains(S.Range);
    });
  }

  //===--- Numbers ---===//

  /// What \p S asks, in the threads of visit \p V. Not known conditions may
  /// hold.
  std::vector<bool> threadsOf(const Nullable<isl::set> &S,
                              llvm::ArrayRef<ValueRef> Guards,
                              const Counters::Values &V) const {
    isl::set When = A.Context;
    if (!S.is_null())
      When = When.intersect(A.fix(S));
    When = at(M, A, When, V);
    for (const ValueRef &G : Guards)
      if (G)
        if (const auto Of = conditionOf(M, A, *G, V); !Of.is_null())
          When = When.intersect(Of);
    std::vector<std::string> Others = involvedIds(When);
    llvm::erase(Others, "tx");
    const auto Is = CompiledCondition::make(projectOut(When, Others), {"tx"});
    std::vector<bool> All;
    for (int64_t T = 0; T < Threads; ++T)
      All.push_back(Is.holds({T}));
    return All;
  }

  bool tabulate(const SharedAccess &S) {
    Visits = Count.at(S.Stmt);
    if (Visits.empty() || Visits.size() > MostVisits)
      return no(S, "stands in a loop that no constants count");
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I)
      if (Out.Run.Statements.contains(M.SharedAccesses[I].Range) &&
          !tabulateAccess(I))
        return false;
    if (Stores)
      for (const Counters::Values &V : Visits) {
        std::vector<bool> Any(static_cast<size_t>(Threads));
        for (const GlobalAccess &G : M.GlobalAccesses)
          if (Out.Run.Statements.contains(G.Range) &&
              G.K != GlobalAccess::Read) {
            const std::vector<bool> Here = threadsOf(G.Domain, {}, V);
            for (size_t T = 0; T < Here.size(); ++T)
              Any[T] = Any[T] || Here[T];
          }
        StoresAt.push_back(std::move(Any));
      }
    return true;
  }

  bool tabulateAccess(unsigned I) {
    const SharedAccess &S = M.SharedAccesses[I];
    if (S.K != SharedAccess::Read && S.K != SharedAccess::Write &&
        S.K != SharedAccess::ReadWrite)
      return no(S, "is used in a way that is not understood");
    Use U;
    U.Access = I;
    U.Writes = S.K != SharedAccess::Read;
    for (const Counters::Values &V : Visits) {
      const auto E = elementAt(M, A, S, V);
      if (E.is_null())
        return no(S, "is no formula of the thread and of numbers that loops "
                     "count between constants");
      for (const std::string &Id : involvedIds(E))
        if (Id != "tx")
          return no(S, "hangs on '" + Id +
                           "', a number that no loop counts between constants");
      const auto Is = CompiledValue::make(E, {"tx"});
      std::vector<int64_t> Elements;
      for (int64_t T = 0; T < Threads; ++T)
        Elements.push_back(Is.at({T}).value_or(-1));
      U.Element.push_back(std::move(Elements));
      U.Runs.push_back(threadsOf(S.Domain, S.ExtraGuards, V));
    }
    Uses.push_back(std::move(U));
    return true;
  }

  //===--- Two elements of a thread ---===//

  /// By how much \p Other's element is ahead of \p Of's in each visit; nullopt:
  /// not by the same in all threads.
  std::optional<std::vector<int64_t>> apart(const Use &Of,
                                            const Use &Other) const {
    std::vector<int64_t> All;
    for (size_t V = 0; V < Visits.size(); ++V) {
      std::optional<int64_t> By;
      for (size_t T = 0; T < static_cast<size_t>(Threads); ++T) {
        if (!Other.Runs[V][T] && !Of.Runs[V][T])
          continue;
        const int64_t Is = Other.Element[V][T] - Of.Element[V][T];
        if (By.value_or(Is) != Is)
          return std::nullopt;
        By = Is;
      }
      All.push_back(By.value_or(0));
    }
    return All;
  }

  bool findRoles() {
    // Its own is one that changes; of two that do, the lower one.
    Use *Own = nullptr;
    for (Use &U : Uses)
      if (!Own || (U.Writes && !Own->Writes))
        Own = &U;
    std::optional<std::vector<int64_t>> Between;
    bool Both = false, Changes = false;
    for (Use &U : Uses) {
      const auto By = apart(*Own, U);
      if (!By)
        return no(M.SharedAccesses[U.Access],
                  "is no constant number of elements from '" +
                      M.text(M.SharedAccesses[Own->Access].Range) + "'");
      U.Other = llvm::any_of(*By, [](int64_t X) { return X != 0; });
      (U.Other ? Both : Changes) |= U.Writes;
      if (!U.Other)
        continue;
      if (Between && *Between != *By)
        return no(M.SharedAccesses[U.Access], "is a third element of a thread");
      Between = By;
    }
    if (Between)
      Away = *Between;
    R.Both = Both && Changes;
    Mine = Own;
    if (R.Both && llvm::all_of(Away, [](int64_t X) { return X < 0; })) {
      for (Use &U : Uses)
        U.Other = !U.Other;
      for (int64_t &X : Away)
        X = -X;
      Mine = &*llvm::find_if(Uses, [](const Use &U) { return !U.Other; });
    }
    if (llvm::any_of(Away, [](int64_t X) { return X == 0; }))
      return no(M.SharedAccesses[Own->Access],
                "is the same element as the other one in some rounds");
    for (const Use &U : Uses)
      Out.Other[U.Access] = U.Other;
    return true;
  }

  //===--- Which thread ---===//

  /// The element of thread \p T, whether it uses it or not.
  int64_t elementOf(size_t V, int64_t T) const {
    const int64_t First = Firsts[V], Step = Steps[V];
    return R.K == StridedRun::Steps ? First + Step * T
                                    : First + 2 * T - T % Step;
  }

  bool fits(size_t V) const {
    for (int64_t T = 0; T < Threads; ++T)
      if (uses(V, T) && Mine->Element[V][static_cast<size_t>(T)] >= 0 &&
          elementOf(V, T) != Mine->Element[V][static_cast<size_t>(T)])
        return false;
    return true;
  }

  /// Does thread \p T use an element or store something?
  bool uses(size_t V, int64_t T) const {
    const auto I = static_cast<size_t>(T);
    return (Stores && StoresAt[V][I]) ||
           llvm::any_of(Uses, [&](const Use &U) { return U.Runs[V][I]; });
  }

  bool findRun() {
    int64_t Most = 0;
    for (const Use &U : Uses)
      for (size_t V = 0; V < Visits.size(); ++V)
        for (size_t T = 0; T < static_cast<size_t>(Threads); ++T)
          if (U.Runs[V][T])
            Most = std::max(Most, U.Element[V][T]);
    R.Elements = (Most / Threads + 1) * Threads;
    if (R.Elements > MostParts * Threads)
      return no(M.SharedAccesses[Mine->Access],
                "is beyond " + std::to_string(MostParts) +
                    " elements a thread of the block");
    for (StridedRun::Kind K : {StridedRun::Steps, StridedRun::Inserted}) {
      R.K = K;
      Steps.clear();
      Firsts.clear();
      bool All = true;
      for (size_t V = 0; V < Visits.size() && All; ++V)
        All = K == StridedRun::Steps ? stepOf(V) : bitOf(V);
      if (All)
        return fitFormulas();
    }
    return no(M.SharedAccesses[Mine->Access],
              "is at no multiple of the thread's number, nor that with a bit "
              "put in");
  }

  bool stepOf(size_t V) {
    auto At = [&](int64_t T) {
      return Mine->Element[V][static_cast<size_t>(T)];
    };
    int64_t Step = At(1) - At(0), First = 0;
    if (Step < 0)
      return false;
    if (Step == 0) // one thread's, or nobody's
      Step = R.Elements;
    while (First < Threads && !uses(V, First))
      ++First;
    Steps.push_back(Step);
    Firsts.push_back(First < Threads ? At(First) - Step * First : At(0));
    return fits(V);
  }

  bool bitOf(size_t V) {
    const int64_t Bit = Away.empty() ? 0 : std::abs(Away[V]);
    if (Bit == 0 || (Bit & (Bit - 1)) != 0)
      return false;
    Steps.push_back(Bit);
    Firsts.push_back(Mine->Element[V][0]);
    return (Firsts[V] == 0 || Firsts[V] == Bit) && fits(V);
  }

  Nullable<isl::pw_aff> formula(const std::vector<int64_t> &Numbers) const {
    return byVisits(M, Count, Visits, Numbers);
  }

  bool fitFormulas() {
    R.Step = formula(Steps);
    R.First = formula(Firsts);
    R.Flips = !Away.empty() && areFlipped();
    std::vector<int64_t> By = Away;
    if (R.Flips)
      for (int64_t &X : By)
        X = std::abs(X);
    if (!By.empty())
      R.Away = formula(By);
    if (R.Both && !R.Flips)
      return no(M.SharedAccesses[Mine->Access],
                "changes with another element, and both are no pair that one "
                "bit tells apart");
    if (R.Step.is_null() || R.First.is_null() ||
        (!By.empty() && R.Away.is_null()))
      return no(M.SharedAccesses[Mine->Access],
                "hangs on no one counter of a loop");
    return true;
  }

  /// Is the other element in all pairs that which differs in one bit?
  bool areFlipped() const {
    for (size_t V = 0; V < Visits.size(); ++V) {
      const int64_t Bit = std::abs(Away[V]);
      if (Bit == 0 || (Bit & (Bit - 1)) != 0 || Bit >= R.Elements)
        return false;
      for (int64_t T = 0; T < Threads; ++T) {
        const int64_t E = elementOf(V, T);
        if (uses(V, T) && (E < 0 || (E ^ Bit) != E + Away[V]))
          return false;
      }
    }
    return (R.Elements & (R.Elements - 1)) == 0 ||
           llvm::all_of(Away, [&](int64_t By) {
             return R.Elements % (2 * std::abs(By)) == 0;
           });
  }

  /// Is each bit of an element's number one of its register or of its lane?
  bool fitsChunks() {
    if (Chunk == 1)
      return true;
    const auto IsBit = [](int64_t X) { return X > 0 && (X & (X - 1)) == 0; };
    bool Fits = IsBit(Chunk);
    for (size_t V = 0; V < Visits.size(); ++V)
      Fits &= IsBit(Steps[V]) && Firsts[V] >= 0;
    return Fits || no(M.SharedAccesses[Mine->Access],
                      "is in a register of a lane that no bits of its number tell");
  }

  //===--- Legality ---===//

  bool isIn(int64_t Element) const {
    return Element >= 0 && Element < R.Elements;
  }

  /// Who uses or stores something has an element; what it uses is there.
  bool isComplete() {
    for (size_t V = 0; V < Visits.size(); ++V)
      for (int64_t T = 0; T < Threads; ++T) {
        if (!uses(V, T))
          continue;
        if (!isIn(elementOf(V, T)))
          return no(M.SharedAccesses[Mine->Access],
                    "is outside of the array in some threads");
        for (const Use &U : Uses)
          if (const auto I = static_cast<size_t>(T);
              U.Runs[V][I] &&
              (!isIn(U.Element[V][I]) ||
               U.Element[V][I] != elementOf(V, T) + (U.Other ? Away[V] : 0)))
            return no(M.SharedAccesses[U.Access],
                      "is outside of the array in some threads");
      }
    return true;
  }

  /// Nobody else uses what a thread changes.
  bool isApart() {
    std::set<unsigned> Arrays;
    for (const Use &U : Uses)
      Arrays.insert(M.SharedAccesses[U.Access].Array);
    for (unsigned Array : Arrays)
      for (size_t V = 0; V < Visits.size(); ++V) {
        std::vector<int64_t> By(static_cast<size_t>(R.Elements), -1);
        for (bool Writes : {true, false})
          for (const Use &U : Uses)
            for (size_t T = 0; T < static_cast<size_t>(Threads); ++T) {
              if (U.Writes != Writes || !U.Runs[V][T] ||
                  M.SharedAccesses[U.Access].Array != Array)
                continue;
              int64_t &Who = By[static_cast<size_t>(U.Element[V][T])];
              const auto Me = static_cast<int64_t>(T);
              if (Who >= 0 && Who != Me)
                return no(M.SharedAccesses[U.Access],
                          "may be changed by another thread meanwhile");
              if (Writes)
                Who = Me;
            }
      }
    return true;
  }

  //===--- Cost ---===//

  int64_t registerOf(int64_t E) const {
    return Chunk == 1 ? E / 32 : E / Threads * Chunk + E % Chunk;
  }

  /// Has a lane both element \p E and that which is \p By ahead?
  bool inOneLane(int64_t E, int64_t By) const {
    return ((E + By) / Chunk - E / Chunk) % 32 == 0;
  }

  /// (What no thread uses, a register runs in vain.)
  void countRuns() {
    double Runs = 0;
    for (size_t V = 0; V < Visits.size(); ++V) {
      const int64_t By = Away.empty() ? 0 : Away[V];
      std::set<int64_t> Registers, Asking;
      for (int64_t T = 0; T < Threads; ++T) {
        const int64_t E = elementOf(V, T);
        if (!isIn(E))
          continue;
        Registers.insert(registerOf(E));
        if (inOneLane(E, By))
          continue;
        Asking.insert(registerOf(E));
        if (R.Both) {
          Registers.insert(registerOf(E + By));
          Asking.insert(registerOf(E + By));
        }
      }
      Runs += double(Registers.size());
      Out.Shuffles += double(Asking.size());
    }
    R.Share = Runs / (double(Visits.size()) * double(Threads) / 32);
  }
};

} // namespace

std::optional<StridedInterval>
rcache::stridedInterval(const KernelModel &M, const Assumptions &A,
                        const Counters &Count, const Mapping &Map, unsigned Access,
                        std::string &WhyNot) {
  Search Of(M, A, Count, Map);
  auto Found = Of.run(Access);
  WhyNot = std::move(Of.Why);
  return Found;
}

bool rcache::separateRuns(const KernelModel &M, Plan &P, std::string &WhyNot) {
  for (const PairedInterval &Run : P.Paired)
    for (const GlobalAccess &In : M.GlobalAccesses)
      for (const GlobalAccess &Out : M.GlobalAccesses) {
        if (!Run.Strided || !Run.Statements.contains(In.Range) ||
            Run.Statements.contains(Out.Range) ||
            (In.K == GlobalAccess::Read && Out.K == GlobalAccess::Read))
          continue;
        if (In.Root < 0 || Out.Root < 0 || In.Root == Out.Root ||
            !canSeparate(M, In.Root, Out.Root)) {
          WhyNot = "'" + M.text(In.Range) + "' in line " +
                   std::to_string(In.Pos.Line) +
                   " would be done by another lane than '" + M.text(Out.Range) +
                   "', which may be the same memory and is not read alone";
          return false;
        }
        requireSeparate(P, In.Root, Out.Root);
      }
  return true;
}
