// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Owned.h. Legal where each thread uses its own elements (t, and t plus a
// multiple of the block's threads), one a constant number of elements ahead, one
// that all threads read alike, or that of the thread whose number differs in fixed
// bits (t ^ j). It may write them, but for the one that all read.
//
// Others' elements are copied in front of the statements between two barriers (a
// region). That is early enough, and not too early: an element that two threads use
// in the same interval, one of them writing, would be a race. For the same reason a
// copy that was changed may go back behind these statements. Within a thread,
// accesses to one element have to be of one kind, or there is no plan.

#include "Owned.h"
#include "../Counts.h"
#include "../Values.h"
#include "Affine/IslTools.h"
#include "Gathered.h"
#include "OwnedFetches.h"
#include "Placements.h"
#include "Strided.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>

using namespace rcache;

namespace {

/// More copies of a statement in unrolled loops are too many.
constexpr size_t MostRepeats = 128;
constexpr int64_t MostParts = 4;

std::vector<std::string> countersOf(const isl::pw_aff &V) {
  std::vector<std::string> Ids = involvedIds(V);
  llvm::erase(Ids, "tx");
  return Ids;
}

std::vector<std::string> idsOf(const isl::pw_aff &V, const isl::set &S) {
  std::vector<std::string> Ids = involvedIds(V);
  llvm::append_range(Ids, involvedIds(S));
  return Ids;
}

class Builder {
public:
  Builder(const KernelModel &M, unsigned Array, const Assumptions &A,
          const Mapping &Map, const Counters &Count,
          llvm::ArrayRef<StridedInterval> Strided,
          const std::set<unsigned> &Gathered)
      : M(M), Array(Array), A(A), Map(Map), Count(Count), Strided(Strided),
        Gathered(Gathered), Arr(M.Arrays[Array]), Threads((*Map.Block)[0]) {}

  std::string Why; ///< there is none, as a clause
  int Access = -1; ///< whose element is another thread's, as no fetch has it

  std::optional<ArrayPlan> run() {
    if (Why = whyNotOwned(M, Array); !Why.empty())
      return {};
    ArrayPlan P;
    P.Array = Array;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &S = M.SharedAccesses[I];
      if (S.Array != Array)
        continue;
      if (!add(I, S) && (!Why.empty() || !no(S, "is used in a way that is not "
                                                "understood")))
        return std::nullopt;
      if (S.K == SharedAccess::Read)
        P.Reads.push_back(I);
      else
        P.Writes.push_back(I);
    }
    if (P.Writes.empty() || P.Reads.empty())
      Why = "'" + Arr.Name + "' is not read and written";
    if (!Why.empty() || !waitsForOthers() || !kindsMeetApart() ||
        !chunksFit() || !countFetches())
      return std::nullopt;
    Of.Loops.assign(Loops.begin(), Loops.end());
    P.Where = std::move(Of);
    return P;
  }

private:
  const KernelModel &M;
  const unsigned Array;
  const Assumptions &A;
  const Mapping &Map;
  const Counters &Count;
  llvm::ArrayRef<StridedInterval> Strided;
  const std::set<unsigned> &Gathered; ///< accesses that nothing else serves
  const SharedArray &Arr;
  const int64_t Threads; ///< of the block
  Owned Of;
  std::set<unsigned> Loops;
  std::set<const StridedInterval *> FetchedBy; ///< Array's elements
  std::map<unsigned, isl::set> DomainOf; ///< of accesses

  isl::ctx ctx() const { return M.Ctx->ctx(); }
  isl::pw_aff thread() const { return symbolValue(ctx(), "tx"); }
  /// Neighbours in a lane; else 32 apart.
  bool inChunks() const { return Map.Stride[0] == 1 && Map.Factor[0] > 1; }

  /// \p S is the reason.
  bool no(const SharedAccess &S, const std::string &What) {
    Why = "'" + M.text(S.Range) + "' in line " + std::to_string(S.Pos.Line) +
          " " + What;
    return false;
  }

  //===--- Which element ---===//

  /// Which of the thread's own elements \p Element is: [counters] -> { [part] };
  /// null: of others, or none.
  Nullable<isl::pw_aff> partOf(const SharedAccess &S,
                               const isl::pw_aff &Element,
                               const isl::set &Domain) const {
    if (Domain.is_empty())
      return constantValue(ctx(), 0);
    const isl::pw_aff Away = Element.sub(thread());
    auto Part = [&](const isl::pw_aff &V,
                    const isl::set &D) -> std::optional<int64_t> {
      const auto C = constantUnder(V, D);
      if (!C || *C < 0 || *C % Threads || *C / Threads >= MostParts)
        return std::nullopt;
      return *C / Threads;
    };
    if (const auto Always = Part(Away, Domain))
      return constantValue(ctx(), *Always);
    const auto Visits = Count.at(S.Stmt, idsOf(Away, Domain));
    for (const Counters::Values &V : Visits)
      if (const isl::set D = atCounts(Domain, V);
          !D.is_empty() && !Part(atCounts(Away, V), D))
        return {};
    if (Visits.empty())
      return {};
    const isl::pw_aff P = floorDiv(simplify(Away, Domain), Threads);
    return dependsOn(P, "tx") ? byCounter(Count, S.Stmt, floorDiv(Away, Threads), Domain)
                              : Nullable<isl::pw_aff>(P);
  }

  /// What says which element access \p I is: its part, or the fetch's distance.
  isl::pw_aff placeOf(unsigned I) const {
    const auto It = Of.PartOf.find(I);
    return It != Of.PartOf.end() ? It->second : isl::pw_aff(Of.fetchOf(I)->By);
  }

  /// The element of access \p I where the counters are \p V: [tx] -> { [e] }.
  isl::pw_aff elementAt(unsigned I, const Counters::Values &V) const {
    if (const auto It = Of.PartOf.find(I); It != Of.PartOf.end())
      return thread().add(atCounts(It->second, V).scale(static_cast<long>(Threads)));
    return elementOf(*Of.fetchOf(I), V);
  }

  isl::pw_aff elementOf(const Owned::Fetch &F, const Counters::Values &V) const {
    const isl::pw_aff T = thread();
    const isl::pw_aff By = atCounts(F.By, V);
    const int64_t Bit = isConstant(By).value_or(0);
    switch (F.K) {
    case Owned::Fetch::Ahead:
      return T.add(By);
    case Owned::Fetch::Flipped:
      return flipped(ctx(), Bit);
    case Owned::Fetch::Inserted:
      return withBit(T, Bit).add(constantValue(ctx(), F.Upper ? Bit : 0));
    case Owned::Fetch::At:
    case Owned::Fetch::Gathered:
      break;
    }
    return By;
  }

  //===--- Accesses ---===//

  bool add(unsigned I, const SharedAccess &S) {
    if (S.Domain.is_null() || S.Range.empty() ||
        (S.K != SharedAccess::Read && S.K != SharedAccess::Write &&
         S.K != SharedAccess::ReadWrite))
      return false;
    const isl::set Domain = A.fix(S.Domain).intersect(A.Context);
    DomainOf.emplace(I, Domain);
    for (const StridedInterval &X : Strided)
      if (X.Other.count(I))
        return addStrided(I, S, X);
    const Nullable<isl::pw_aff> Element = affineElement(M, A, S);
    Nullable<isl::pw_aff> Part;
    if (!Element.is_null())
      Part = partOf(S, Element, Domain);
    if (!standsInSlots(M, S, !Part.is_null() || isSameInRounds(M, S, Element)))
      return no(S, "is in the condition of a barrier, or another's element in "
                   "a loop without");
    if (Part.is_null() && !addFetch(I, S, Element, Domain)) {
      Access = static_cast<int>(I);
      return false;
    }
    return (Part.is_null() || addOwn(I, S, Part)) &&
           (storesRounded(M, S) || no(S, "rounds a product in place"));
  }

  /// By a thread that is another one than the element's.
  bool addStrided(unsigned I, const SharedAccess &S, const StridedInterval &X) {
    const StridedRun &R = *X.Run.Strided;
    for (const Nullable<isl::pw_aff> &By : {R.Step, R.First, R.Away})
      if (!By.is_null() && !isCounted(S, By))
        return false;
    const bool Other = X.Other.at(I);
    const bool Fetches = S.K != SharedAccess::Write && (Other || R.Both);
    if (Fetches && FetchedBy.insert(&X).second)
      Of.RunShuffles += X.Shuffles;
    for (const auto &[W, Place] : Of.OfRuns)
      if (X.Other.count(W) && Place == Other && S.K != SharedAccess::Write &&
          losesRounding(M.SharedAccesses[W], M))
        return no(S, "is read back in the interval in which a product is "
                     "stored there, so a compiler may fuse both");
    Of.OfRuns[I] = Other;
    Of.Parts =
        std::max(Of.Parts, static_cast<unsigned>(R.Elements / Threads));
    return storesRounded(M, S) || no(S, "rounds a product in place");
  }

  bool addOwn(unsigned I, const SharedAccess &S, const isl::pw_aff &Part) {
    if (!isCounted(S, Part))
      return false;
    Of.PartOf.emplace(I, Part);
    unsigned Most = static_cast<unsigned>(isConstant(Part).value_or(0));
    for (const Counters::Values &V : Count.at(S.Stmt, involvedIds(Part)))
      Most = std::max(Most, static_cast<unsigned>(
                                isConstant(atCounts(Part, V)).value_or(0)));
    Of.Parts = std::max(Of.Parts, Most + 1);
    return isStillRounded(I, S);
  }

  bool addFetch(unsigned I, const SharedAccess &S,
                const Nullable<isl::pw_aff> &Element, const isl::set &Domain) {
    Owned::Fetch F;
    F.Written = S.K != SharedAccess::Read;
    if (!findKind(F, M, A, Count, S, Element, Domain, Threads, Gathered.count(I)))
      return no(S, Element.is_null()
                       ? "is no formula of thread and counters"
                       : "is neither the thread's own element, nor a constant "
                         "number of elements ahead of it, nor that of t ^ j, "
                         "nor the same for all threads");
    if (F.Written && F.K == Owned::Fetch::At)
      return no(S, "changes an element that is not the thread's own");
    if (!isCounted(S, F.By))
      return false;
    if ((F.Written || F.K == Owned::Fetch::Flipped) &&
        F.K != Owned::Fetch::Inserted && !hasPartner(S, F))
      return no(S, "may be the thread's own element, or one outside of the "
                   "block");
    if (F.Written && !staysInBlock(Arr, Count, S, F, Domain, Threads))
      return no(S, "may change an element that no thread of the block has");
    if (F.isGather() && !isInRegisters(S, F, Domain))
      return no(S, "is in no register that all lanes can tell");
    F.Slots = slotsOf(Map, Domain, slotsHangOn(S, F, Domain), Count.at(S.Stmt));
    // One copy for all that is the same element in the same interval.
    for (Owned::Fetch &O : Of.Fetches) {
      const SharedAccess &First = M.SharedAccesses[O.Accesses.front()];
      if (O.K != F.K || O.Upper != F.Upper ||
          !(intervalOf(M, First) == intervalOf(M, S)) ||
          !equalUnder(O.By, F.By, always(ctx())))
        continue;
      O.Written |= F.Written;
      O.All &= F.All;
      O.Slots = O.Slots.unite(F.Slots).coalesce();
      O.Accesses.push_back(I);
      return isStillRounded(I, S);
    }
    F.Accesses.push_back(I);
    Of.Fetches.push_back(std::move(F));
    return true;
  }

  /// Counters that say which slots use \p F: those that say which element it is; of
  /// gathers, which cost more, those that threads are told by as well.
  std::vector<std::string> slotsHangOn(const SharedAccess &S, const Owned::Fetch &F,
                                       const isl::set &Domain) {
    std::vector<std::string> Ids = countersOf(F.By);
    if (F.isGather())
      for (const std::string &Id : involvedIds(Domain))
        if (namedAt(M, Count, S, Id) && unroll(Id))
          Ids.push_back(Id);
    return Ids;
  }

  /// Does each slot read elements of registers between those of its first and its
  /// last thread's, in all visits?
  bool isInRegisters(const SharedAccess &S, const Owned::Fetch &F,
                     const isl::set &Domain) {
    return llvm::all_of(Count.at(S.Stmt, idsOf(F.By, Domain)), [&](const Counters::Values &V) {
      const auto G = gathersOf(elementOf(F, V), atCounts(Domain, V), Threads);
      if (G)
        Of.Parts = std::max(Of.Parts, static_cast<unsigned>(
                                          (G->Elements + Threads - 1) / Threads));
      return G && Of.Parts <= MostParts;
    });
  }

  /// The element is never the thread's own. Flipped: each thread has a partner in
  /// the block, and is it for that one.
  bool hasPartner(const SharedAccess &S, const Owned::Fetch &F) const {
    const auto Visits = Count.at(S.Stmt, involvedIds(F.By));
    return llvm::all_of(Visits, [&](const Counters::Values &V) {
      const auto Mask = isConstant(atCounts(F.By, V));
      if (F.K == Owned::Fetch::Ahead)
        return Mask && *Mask != 0;
      if (!Mask || *Mask <= 0 || *Mask >= Threads)
        return false;
      for (int64_t T = 0; T < Threads; ++T)
        if ((T ^ *Mask) >= Threads)
          return false;
      return true;
    });
  }

  /// Is \p By, asked for at \p S, a number in every round, and are its symbols'
  /// names there?
  bool isCounted(const SharedAccess &S, const isl::pw_aff &By) {
    const std::vector<std::string> Ids = countersOf(By);
    if (Ids.empty())
      return true;
    const auto Visits = Count.at(S.Stmt, Ids);
    bool Known = !Visits.empty() && Visits.size() <= MostRepeats;
    for (const Counters::Values &V : Visits)
      Known &= countersOf(atCounts(By, V)).empty();
    if (!Known)
      return no(S, "hangs on a number that no loop counts between constants");
    for (const std::string &Id : Ids) {
      if (!namedAt(M, Count, S, Id))
        return no(S, "hangs on '" + Id + "', which has changed by then");
      if (!unroll(Id))
        return no(S, "hangs on a number that no loop counts between constants");
    }
    return true;
  }

  /// Unrolls the loop that counts \p Id, and those that its numbers hang on.
  bool unroll(const std::string &Id) {
    const int Loop = Count.loopOf(Id);
    if (Loop < 0 || !Count.ends(static_cast<unsigned>(Loop)))
      return false;
    if (!Loops.insert(static_cast<unsigned>(Loop)).second)
      return true;
    const Stmt &L = M.stmt(static_cast<unsigned>(Loop));
    std::vector<std::string> Ids;
    auto Add = [&](const std::vector<std::string> &More) {
      llvm::append_range(Ids, More);
    };
    for (const Stmt::Recurrence &R : L.Carried)
      for (const isl::pw_aff &V : {A.fix(R.First), A.fix(R.Next)})
        Add(involvedIds(V));
    if (!L.Init.is_null())
      Add(involvedIds(A.fix(L.Init)));
    for (const Nullable<isl::set> &C : {L.IterDomain, L.Cond})
      if (!C.is_null())
        Add(involvedIds(A.fix(C)));
    return llvm::all_of(Ids, [&](const std::string &Of) {
      return Count.loopOf(Of) < 0 || unroll(Of);
    });
  }

  //===--- Rounding ---===//

  /// Between two barriers the compiler need not read again what the thread wrote:
  /// it uses what was stored before memory rounded it.
  bool isStillRounded(unsigned I, const SharedAccess &S) {
    for (unsigned W : writesBefore(I))
      if (S.K != SharedAccess::Write && !isApart(I, W) &&
          losesRounding(M.SharedAccesses[W], M))
        return no(S, "is read back in the interval in which a product is "
                     "stored there, so a compiler may fuse both");
    return true;
  }

  //===--- Intervals ---===//

  /// The writes by which a thread comes to access \p I in the same interval.
  std::vector<unsigned> writesBefore(unsigned I) const {
    const SharedAccess &S = M.SharedAccesses[I];
    const TextRange In = intervalOf(M, S);
    std::vector<unsigned> All;
    for (unsigned K = 0; K < M.SharedAccesses.size(); ++K) {
      const SharedAccess &W = M.SharedAccesses[K];
      if (W.Array == Array && W.K != SharedAccess::Read &&
          In.contains(W.Range) && W.Range.Begin < S.Range.Begin &&
          (Of.PartOf.count(K) || Of.fetchOf(K)))
        All.push_back(K);
    }
    return All;
  }

  /// No thread means the same element by both.
  bool isApart(unsigned I, unsigned W) const {
    const isl::set Both = DomainOf.at(I).intersect(DomainOf.at(W));
    std::vector<std::string> Ids = idsOf(placeOf(I), Both);
    llvm::append_range(Ids, involvedIds(placeOf(W)));
    const auto Visits = Count.at(M.SharedAccesses[I].Stmt, Ids);
    return !Visits.empty() &&
           llvm::all_of(Visits, [&](const Counters::Values &V) {
             return equalTo(elementAt(I, V), elementAt(W, V))
                 .intersect(atCounts(Both, V))
                 .is_empty();
           });
  }

  /// What counts on a warp in step (`s[t] += s[t + 16]; s[t] += s[t + 8];`) has no
  /// meaning: copies are made before the first of these statements.
  bool waitsForOthers() {
    const auto Gathers = [&](unsigned I) { return Of.fetchOf(I) && Of.fetchOf(I)->isGather(); };
    for (const auto &[I, Domain] : DomainOf)
      for (const auto &[W, Changes] : DomainOf) {
        const SharedAccess &R = M.SharedAccesses[I], &S = M.SharedAccesses[W];
        const bool Sure = Gathers(I) || Gathers(W);
        if (S.K == SharedAccess::Read || Of.OfRuns.count(W) || Of.OfRuns.count(I) ||
            (!Sure && !Of.fetchOf(I)) || !(intervalOf(M, R) == intervalOf(M, S)))
          continue;
        if (Sure ? mayMeetAnother(I, W) : meetsAnother(I, W))
          return no(R, Sure ? "may be changed by another thread meanwhile"
                            : "is changed by another thread meanwhile: the kernel "
                              "counts on a warp in step");
      }
    return true;
  }

  /// The same of what each thread names by a formula, whatever is not known.
  bool mayMeetAnother(unsigned I, unsigned W) const {
    const auto OfThread = [&](unsigned X, const Counters::Values &V) {
      const isl::set D = at(M, A, DomainOf.at(X), V);
      std::vector<std::string> Others = involvedIds(D);
      llvm::erase(Others, "tx");
      return projectOut(D, Others);
    };
    return llvm::any_of(visitsOf(I, W), [&](const Counters::Values &V) {
      return meets(I, W, V, OfThread(I, V), OfThread(W, V));
    });
  }

  std::vector<Counters::Values> visitsOf(unsigned I, unsigned W) const {
    std::vector<std::string> Ids = idsOf(placeOf(I), DomainOf.at(I));
    llvm::append_range(Ids, idsOf(placeOf(W), DomainOf.at(W)));
    return Count.at(M.SharedAccesses[I].Stmt, Ids);
  }

  /// Is there an element that a thread of \p Uses names by \p I and another one, of
  /// \p Changes, by \p W?
  bool meets(unsigned I, unsigned W, const Counters::Values &V, const isl::set &Uses,
             const isl::set &Changes) const {
    const isl::pw_aff Elsewhere = symbolValue(ctx(), "other thread");
    const Substitution Other = {{"tx", Elsewhere}};
    return !Uses.intersect(substitute(Changes, Other))
                .intersect(equalTo(elementAt(I, V), substitute(elementAt(W, V), Other)))
                .intersect(thread().ne_set(Elsewhere))
                .is_empty();
  }

  /// Are there two threads, one of which changes by \p W what the other one uses by
  /// \p I? (Not known conditions: no.)
  bool meetsAnother(unsigned I, unsigned W) const {
    const SharedAccess &R = M.SharedAccesses[I], &S = M.SharedAccesses[W];
    if (!R.DomainExact || !S.DomainExact)
      return false;
    return llvm::any_of(visitsOf(I, W), [&](const Counters::Values &V) {
      const isl::set Uses = at(M, A, DomainOf.at(I), V),
                     Changes = at(M, A, DomainOf.at(W), V);
      for (const isl::set &D : {Uses, Changes})
        for (const std::string &Id : involvedIds(D))
          if (const int Sym = M.symbolIndex(Id);
              Sym >= 0 && M.Symbols[static_cast<size_t>(Sym)].K ==
                              Symbol::Opaque &&
              (M.Symbols[static_cast<size_t>(Sym)].Depends & DepThread))
            return false;
      return meets(I, W, V, Uses, Changes);
    });
  }

  /// What a thread has changed in one place it does not look for in another.
  bool kindsMeetApart() {
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &S = M.SharedAccesses[I];
      if (S.Array != Array)
        continue;
      const Owned::Fetch *F = Of.fetchOf(I);
      for (unsigned W : writesBefore(I))
        if ((F || Of.fetchOf(W)) && F != Of.fetchOf(W) && !isApart(I, W))
          return no(S, "may be what the thread wrote just before");
    }
    return true;
  }

  /// Copies go back to the first part. Chunks: no one register follows another
  /// part's, and bits of the thread's number have to be bits of lane or slot.
  bool chunksFit() {
    if (Of.Parts > 1)
      for (const Owned::Fetch &F : Of.Fetches)
        if (F.Written && F.K != Owned::Fetch::Inserted) {
          Access = static_cast<int>(F.Accesses.front());
          return no(M.SharedAccesses[F.Accesses.front()],
                    "is changed by another thread, which has several elements");
        }
    if (!inChunks())
      return true;
    const unsigned C = Map.Factor[0];
    return (Of.Parts == 1 || Of.Fetches.empty()) &&
           ((C & (C - 1)) == 0 ||
            llvm::none_of(Of.Fetches, [](const Owned::Fetch &F) {
              return F.K == Owned::Fetch::Flipped;
            }));
  }

  //===--- Slots ---===//

  /// What a gather asks where the counters are \p V.
  Gathers gathered(const Owned::Fetch &F, const Counters::Values &V) const {
    if (F.All || (F.K == Owned::Fetch::Inserted && isConstant(atCounts(F.By, V)) >= 32))
      return {};
    const isl::set Domain = atCounts(DomainOf.at(F.Accesses.front()), V);
    return gathersOf(elementOf(F, V), Domain, Threads).value_or(Gathers());
  }

  /// Counts the shuffles of each fetch. False: some distance is no number.
  bool countFetches() {
    // By interval and visit: what compilers ask once (ptxas 13.0).
    std::map<std::pair<unsigned, Counters::Values>, std::set<Gathers::Ask>> Asked;
    for (Owned::Fetch &F : Of.Fetches) {
      if (F.Written) // what was not fetched cannot be told from what was changed
        F.Slots = always(ctx());
      const SharedAccess &S = M.SharedAccesses[F.Accesses.front()];
      const std::vector<std::string> Ids = idsOf(F.By, F.Slots);
      std::map<Counters::Values, std::pair<double, Gathers>> Known; // by what they hang on
      const auto &Visits = Count.at(S.Stmt);
      for (const Counters::Values &Now : Visits) {
        Counters::Values V = Now;
        std::erase_if(V, [&](const auto &Of) { return !llvm::is_contained(Ids, Of.first); });
        const auto [It, New] = Known.try_emplace(V);
        auto &[Shuffles, Of] = It->second;
        const auto By = isConstant(atCounts(F.By, V));
        if (!By && F.K != Owned::Fetch::Gathered)
          return false;
        if (New && F.isGather())
          Of = gathered(F, V);
        if (New)
          Shuffles = !F.isGather() ? (F.Written ? 2 : 1) * shufflesOf(Map, F, *By, V)
                     : F.Written   ? double(shufflesBack(Map.Factor[0], *By))
                                   : 0;
        F.Shuffles += Shuffles;
        F.Selects += Shuffles + 2 * double(Of.Selects);
        auto &Before = Asked[{intervalOf(M, S).Begin, Now}];
        for (const Gathers::Ask &A : Of.Asked)
          F.Shuffles += Before.insert(A).second;
      }
      for (double *Of : {&F.Shuffles, &F.Selects})
        *Of *= roundsUncounted(M, Count, S.Stmt);
    }
    return true;
  }
};

} // namespace

bool rcache::ownedArrays(const KernelModel &M, const Assumptions &A, Plan &P,
                         std::string &WhyNot) {
  const Mapping &Map = P.Map;
  if (!Map.Block || !Map.isOneDim() || Map.threads() != 32 ||
      (Map.Stride[0] != 1 && Map.Stride[0] != 32))
    return false;
  const Counters Count(M, A);
  const bool Cyclic = Map.Stride[0] == 32 || Map.Factor[0] == 1;
  std::vector<StridedInterval> Strided;
  std::set<unsigned> Gathered;
  for (unsigned Array = 0; Array < M.Arrays.size();) {
    Builder B(M, Array, A, Map, Count, Strided, Gathered);
    if (auto Of = B.run()) {
      P.Arrays.push_back(std::move(*Of));
      ++Array;
      continue;
    }
    WhyNot = B.Why;
    if (B.Access < 0)
      return false;
    std::string Why;
    auto Found = stridedInterval(M, A, Count, Map,
                                 static_cast<unsigned>(B.Access), Why);
    const auto Access = static_cast<unsigned>(B.Access);
    if (!Found && (!Cyclic || !Gathered.insert(Access).second)) {
      if (!Why.empty())
        WhyNot = std::move(Why);
      return false;
    }
    if (Found)
      Strided.push_back(std::move(*Found));
    P.Arrays.clear(); // others may be used there
    Array = 0;
  }
  for (StridedInterval &X : Strided)
    P.Paired.push_back(std::move(X.Run));
  return separateRuns(M, P, WhyNot);
}
