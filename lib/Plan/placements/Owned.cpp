// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Owned.h. Legal where each thread writes its own elements alone (t, and t
// plus a multiple of the block's threads), and reads its own, one a constant number
// of elements ahead, or one that all threads read alike.
//
// What is fetched stands in front of the statements between two barriers (a
// region). That is early enough, and not too early: an element of another thread
// that is written in the same interval would be a race. Only its own may a thread
// have written before it reads it; such reads are of the kind Own, or there is no
// plan.

#include "Owned.h"
#include "../Counts.h"
#include "../Values.h"
#include "Affine/IslTools.h"
#include "Placements.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <map>

using namespace rcache;

std::optional<std::vector<int64_t>>
rcache::countedValues(const KernelModel &M, const Stmt &Loop, size_t Most) {
  std::vector<int64_t> All;
  if (Loop.K != Stmt::For)
    return std::nullopt;
  if (Loop.IterVar >= 0) {
    if (!Loop.ConstTripCount || !Loop.ConstFirst || !Loop.Step ||
        *Loop.ConstTripCount < 0 ||
        *Loop.ConstTripCount > static_cast<int64_t>(Most) ||
        !M.countsItself(Loop))
      return std::nullopt;
    for (int64_t I = 0; I < *Loop.ConstTripCount; ++I)
      All.push_back(*Loop.ConstFirst + I * *Loop.Step);
    return All;
  }
  if (!Loop.Factor || Loop.FactorSymbol < 0 || Loop.Init.is_null() ||
      Loop.Cond.is_null() || *Loop.Factor == 0)
    return std::nullopt;
  const auto First = isConstant(Loop.Init);
  const std::string &Id =
      M.Symbols[static_cast<size_t>(Loop.FactorSymbol)].Id;
  for (const std::string &Other : involvedIds(Loop.Cond))
    if (Other != Id)
      return std::nullopt;
  if (!First)
    return std::nullopt;
  for (int64_t V = *First; !bindConst(Loop.Cond, Id, V).is_empty();) {
    All.push_back(V);
    const int64_t Before = V;
    V = *Loop.Factor > 0 ? V * *Loop.Factor : V / -*Loop.Factor;
    if (All.size() > Most || V == Before || V > INT32_MAX || V < INT32_MIN)
      return std::nullopt;
  }
  return All;
}

namespace {

bool isInteger(llvm::StringRef Type) {
  return llvm::is_contained(
      {"int", "unsigned int", "long", "unsigned long", "long long",
       "unsigned long long", "short", "unsigned short", "signed char",
       "unsigned char", "char", "bool"},
      Type);
}
bool isFloat(llvm::StringRef Type) {
  return Type == "float" || Type == "double";
}

class Builder {
public:
  Builder(const KernelModel &M, unsigned Array, const Assumptions &A,
          const Mapping &Map)
      : M(M), Array(Array), A(A), Map(Map), Arr(M.Arrays[Array]) {}

  std::string Why; ///< there is none, as a clause

  std::optional<ArrayPlan> run() {
    const std::string Name = "'" + Arr.Name + "'";
    if (Arr.Volatile)
      Why = Name + " is volatile";
    else if (Arr.Extents.size() > 1)
      Why = Name + " has several dimensions";
    else if (!declaredOnce())
      Why = Name + " is not declared where the kernel begins, alone in its memory";
    else if (!isInteger(Arr.CanonicalType) && !isFloat(Arr.CanonicalType))
      Why = "elements of " + Name + " are of type '" + Arr.CanonicalType + "'";
    if (!Why.empty())
      return std::nullopt;
    ArrayPlan P;
    P.Array = Array;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &S = M.SharedAccesses[I];
      if (S.Array != Array)
        continue;
      if (!add(I, S)) {
        if (Why.empty())
          Why = "'" + M.text(S.Range) + "' in line " +
                std::to_string(S.Pos.Line) + " is used in a way that is not "
                "understood";
        return std::nullopt;
      }
      if (S.K == SharedAccess::Read)
        P.Reads.push_back(I);
      else
        P.Writes.push_back(I);
    }
    if (P.Writes.empty() || P.Reads.empty()) {
      Why = Name + " is not read and written";
      return std::nullopt;
    }
    if (Of.Parts > 1 && Map.Stride[0] == 1 && Map.Factor[0] > 1)
      return std::nullopt; // no one register follows another
    Of.Loops.assign(Loops.begin(), Loops.end());
    P.Where = std::move(Of);
    return P;
  }

private:
  const KernelModel &M;
  const unsigned Array;
  const Assumptions &A;
  const Mapping &Map;
  const SharedArray &Arr;
  Owned Of;
  std::set<unsigned> Loops;

  isl::ctx ctx() const { return M.Ctx->ctx(); }
  isl::pw_aff thread() const { return symbolValue(ctx(), "tx"); }

  /// Registers are declared where the array was: what they hold must outlive
  /// every round of a loop.
  bool declaredOnce() const {
    if (Arr.AtFileScope || Arr.Extents.size() > 1)
      return false;
    if (Arr.Dynamic)
      for (const SharedArray &O : M.Arrays)
        if (&O != &Arr && O.Dynamic)
          return false; // the same memory
    return llvm::any_of(M.stmt(0).Children, [&](unsigned C) {
      return M.stmt(C).Range == Arr.DeclRange;
    });
  }

  /// \p S is the reason.
  bool no(const SharedAccess &S, const std::string &What) {
    Why = "'" + M.text(S.Range) + "' in line " + std::to_string(S.Pos.Line) +
          " " + What;
    return false;
  }

  bool add(unsigned I, const SharedAccess &S) {
    if (!S.Affine || S.Index.size() > 1 || S.Domain.is_null() ||
        S.Range.empty())
      return no(S, "is no formula of thread and counters");
    const isl::pw_aff Index =
        S.Index.empty() ? constantValue(ctx(), 0) : A.fix(S.Index[0]);
    const isl::set Domain = A.fix(S.Domain).intersect(A.Context);
    const auto Part = partOf(Index, Domain);
    if (!standsInSlots(S, Part.has_value()))
      return no(S, "is in the condition of a barrier, in a loop with barriers that "
                   "is no for loop, or another's element in a loop without");
    if (Part && mayBeForwarded(S, *Part))
      return no(S, "is read back in the interval in which a product is stored "
                   "there, so a compiler may fuse both");
    if (Part)
      Of.PartOf[I] = *Part;
    switch (S.K) {
    case SharedAccess::Read:
      return addRead(I, S, Index, Domain, Part.has_value());
    case SharedAccess::Write:
    case SharedAccess::ReadWrite:
      if (Part)
        Of.Parts = std::max(Of.Parts, *Part + 1);
      if (!Part)
        return no(S, "changes an element that is not the thread's own");
      return endsRounded(S) ||
             no(S, "rounds a product in place");
    default:
      return false;
    }
  }

  /// Which of the thread's own elements \p Index is; nullopt: of others, or none.
  std::optional<unsigned> partOf(const isl::pw_aff &Index,
                                 const isl::set &Domain) const {
    constexpr int64_t MostParts = 4;
    if (Domain.is_empty())
      return 0;
    const auto Away = constantUnder(Index.sub(thread()), Domain);
    const int64_t Threads = (*Map.Block)[0];
    if (!Away || *Away < 0 || *Away % Threads || *Away / Threads >= MostParts)
      return std::nullopt;
    return static_cast<unsigned>(*Away / Threads);
  }

  /// Of the statements that slots run, not of a condition of the thread; what is
  /// fetched is fetched once, so no loop stands around it.
  bool standsInSlots(const SharedAccess &S, bool Own) const {
    for (int Q = static_cast<int>(S.Stmt); Q >= 0; Q = M.stmt(Q).Parent) {
      const Stmt &St = M.stmt(static_cast<unsigned>(Q));
      if (St.HasBarrier) {
        if (St.K != Stmt::Block && St.K != Stmt::If && St.K != Stmt::For)
          return false;
        if (St.CondRange.contains(S.Range) || St.HeaderRange.contains(S.Range))
          return false;
        continue;
      }
      switch (St.K) {
      case Stmt::Block:
      case Stmt::Leaf:
      case Stmt::Decl:
      case Stmt::If:
      case Stmt::Return:
        continue;
      default:
        if (!Own)
          return false;
      }
    }
    return true;
  }

  /// A product that leaves shared memory is rounded by then; in a register a sum
  /// would fuse it. What is stored can be written so (StatementText), sums are.
  bool endsRounded(const SharedAccess &S) const {
    if (!isFloat(Arr.CanonicalType) || S.K == SharedAccess::Write)
      return true;
    return llvm::any_of(M.Effects, [&](const Effect &E) {
      if (E.K != Effect::SetsShared || !(E.Target == S.Range))
        return false;
      const std::string Operator = M.text(E.At);
      return Operator == "+=" || Operator == "-=" || Operator == "++" ||
             Operator == "--";
    });
  }

  /// Between two barriers the compiler need not read again what the thread itself
  /// wrote: it uses what was stored before memory rounded it.
  bool mayBeForwarded(const SharedAccess &S, unsigned Part) const {
    return isFloat(Arr.CanonicalType) && S.K != SharedAccess::Write &&
           llvm::any_of(writesBefore(S), [&](unsigned W) {
             const SharedAccess &Before = M.SharedAccesses[W];
             return Of.PartOf.at(W) == Part &&
                    Before.K == SharedAccess::Write &&
                    !rcache::endsRounded(Before.Stored, M);
           });
  }

  bool addRead(unsigned I, const SharedAccess &S, const isl::pw_aff &Index,
               const isl::set &Domain, bool Own) {
    Owned::Read R;
    R.Access = I;
    if (Own) {
      Of.Reads.push_back(std::move(R));
      return true;
    }
    const isl::pw_aff Away = simplify(Index.sub(thread()), Domain);
    if (!dependsOn(Index, "tx")) {
      R.K = Owned::Read::At;
      R.By = Index;
    } else if (!dependsOn(Away, "tx")) {
      R.K = Owned::Read::Ahead;
      R.By = Away;
    } else
      return no(S, "is neither the thread's own element, nor a constant number "
                   "of elements ahead of it, nor the same for all threads");
    std::map<std::string, std::vector<int64_t>> Counters;
    for (const std::string &Id : involvedIds(R.By))
      if (!findCounter(S, Id, Counters))
        return no(S, "hangs on a number that no loop counts between constants");
    if (mayBeWritten(R, writesBefore(S), Counters))
      return no(S, "may be what the thread wrote just before");
    R.Slots = slotsOf(Domain, Counters);
    Of.Reads.push_back(std::move(R));
    return true;
  }

  /// The loop with barriers around \p S that counts \p Id.
  bool findCounter(const SharedAccess &S, const std::string &Id,
                   std::map<std::string, std::vector<int64_t>> &Counters) {
    const int Sym = M.symbolIndex(Id);
    for (int Q = M.stmt(S.Stmt).Parent; Sym >= 0 && Q >= 0;
         Q = M.stmt(Q).Parent) {
      const Stmt &L = M.stmt(static_cast<unsigned>(Q));
      if (L.K != Stmt::For || !L.HasBarrier ||
          (L.IterSymbol != Sym && L.FactorSymbol != Sym))
        continue;
      auto Values = countedValues(M, L);
      if (!Values)
        return false;
      Counters[Id] = std::move(*Values);
      Loops.insert(L.Id);
      return true;
    }
    return false;
  }

  /// The writes to its own elements by which a thread comes to \p S in the same
  /// region (indices in SharedAccesses).
  std::vector<unsigned> writesBefore(const SharedAccess &S) const {
    unsigned Top = S.Stmt;
    while (M.stmt(Top).Parent >= 0 &&
           !M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).HasBarrier)
      Top = static_cast<unsigned>(M.stmt(Top).Parent);
    unsigned Begin = M.stmt(Top).Range.Begin;
    if (M.stmt(Top).Parent >= 0)
      for (unsigned C :
           M.stmt(static_cast<unsigned>(M.stmt(Top).Parent)).Children) {
        if (C == Top)
          break;
        Begin = M.stmt(C).HasBarrier
                    ? M.stmt(Top).Range.Begin
                    : std::min(Begin, M.stmt(C).Range.Begin);
      }
    std::vector<unsigned> All;
    for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
      const SharedAccess &W = M.SharedAccesses[I];
      if (W.Array == Array && W.K != SharedAccess::Read &&
          W.Range.Begin >= Begin && W.Range.Begin < S.Range.Begin &&
          Of.PartOf.count(I))
        All.push_back(I);
    }
    return All;
  }

  /// May what \p R reads be such an element?
  bool mayBeWritten(
      const Owned::Read &R, const std::vector<unsigned> &Before,
      const std::map<std::string, std::vector<int64_t>> &Counters) const {
    if (R.K == Owned::Read::At)
      return !Before.empty();
    return llvm::any_of(Before, [&](unsigned W) {
      isl::set Same = equalTo(
          R.By,
          constantValue(ctx(), int64_t(Of.PartOf.at(W)) * (*Map.Block)[0]));
      for (const auto &[Id, Values] : Counters)
        Same = Same.intersect(among(Id, Values, ctx()));
      return !Same.is_empty();
    });
  }

  static isl::set among(const std::string &Id,
                        const std::vector<int64_t> &Values, isl::ctx Ctx) {
    isl::set S = never(Ctx);
    for (int64_t V : Values)
      S = S.unite(equalTo(symbolValue(Ctx, Id), constantValue(Ctx, V)));
    return S;
  }

  /// `[sx, counters] -> { : }`: some thread of the slot is in \p Domain.
  isl::set
  slotsOf(const isl::set &Domain,
          const std::map<std::string, std::vector<int64_t>> &Counters) const {
    isl::set S = substitute(Domain, {{"tx", Map.threadOfSlot(ctx(), 0)}});
    // The thread of slot 0: a lane, or the first of its neighbours.
    const int64_t Last = Map.Stride[0] == 1 ? 32 * int64_t(Map.Factor[0]) : 32;
    S = S.intersect(inRange(thread(), constantValue(ctx(), 0),
                            constantValue(ctx(), Last)));
    if (Map.Stride[0] == 1)
      S = S.intersect(thread()
                          .mod(static_cast<long>(Map.Factor[0]))
                          .eq_set(constantValue(ctx(), 0)));
    std::vector<std::string> Others;
    for (const std::string &Id : involvedIds(S))
      if (Id != "sx" && !Counters.count(Id))
        Others.push_back(Id);
    S = projectOut(S, Others);
    isl::set Known =
        inRange(symbolValue(ctx(), "sx"), constantValue(ctx(), 0),
                constantValue(ctx(), int64_t(Map.Factor[0])));
    // (Each value by itself would be said in as many words.)
    for (const auto &[Id, Values] : Counters)
      if (!Values.empty())
        Known = Known.intersect(inRange(
            symbolValue(ctx(), Id),
            constantValue(ctx(), *llvm::min_element(Values)),
            constantValue(ctx(), *llvm::max_element(Values) + 1)));
    return simplify(S, Known);
  }
};

} // namespace

std::optional<ArrayPlan> rcache::ownedArray(const KernelModel &M,
                                            unsigned Array,
                                            const Assumptions &A,
                                            const Mapping &Map,
                                            std::string &WhyNot) {
  if (!Map.Block || !Map.isOneDim() || Map.threads() != 32 ||
      (Map.Stride[0] != 1 && Map.Stride[0] != 32))
    return std::nullopt;
  Builder B(M, Array, A, Map);
  auto Of = B.run();
  WhyNot = std::move(B.Why);
  return Of;
}

//===-- The questions -----------------------------------------------------===//

const char *rcache::nameOf(const Owned &) { return "owned"; }
std::string rcache::detailOf(const Owned &O) {
  return O.Parts > 1 ? " " + std::to_string(O.Parts) + " a thread" : "";
}
std::string rcache::summaryOf(const Owned &) { return "owned by a warp"; }

void rcache::print(llvm::raw_ostream &OS, const Owned &O, const Placed &In) {
  for (const Owned::Read &R : O.Reads) {
    OS << "    read `" << In.M.text(In.M.SharedAccesses[R.Access].Range)
       << "` ";
    switch (R.K) {
    case Owned::Read::Own:
      OS << "own " << O.PartOf.at(R.Access);
      break;
    case Owned::Read::Ahead:
      OS << "ahead by " << islText(R.By);
      break;
    case Owned::Read::At:
      OS << "at " << islText(R.By);
      break;
    }
    if (R.K != Owned::Read::Own)
      OS << " in " << islText(R.Slots);
    OS << "\n";
  }
}

int64_t rcache::held(const Owned &O) { return int64_t(O.Parts); }

/// Shuffles that a warp executes for \p R in one pass through the loops that it
/// hangs on.
static double shufflesOf(const Owned::Read &R, const Placed &In) {
  if (R.K == Owned::Read::Own)
    return 0;
  const Mapping &Map = In.P.Map;
  double All = 0;
  // By its counters, one after the other.
  std::vector<std::pair<std::string, std::vector<int64_t>>> Counters;
  for (unsigned L : std::get<Owned>(In.A.Where).Loops) {
    const Stmt &Loop = In.M.stmt(L);
    const int Sym = Loop.IterVar >= 0 ? Loop.IterSymbol : Loop.FactorSymbol;
    const std::string &Id = In.M.Symbols[static_cast<size_t>(Sym)].Id;
    if (dependsOn(R.By, Id))
      Counters.emplace_back(
          Id, countedValues(In.M, Loop).value_or(std::vector<int64_t>()));
  }
  std::function<void(size_t, isl::pw_aff, isl::set)> Each =
      [&](size_t K, isl::pw_aff By, isl::set Slots) {
        if (K < Counters.size()) {
          for (int64_t V : Counters[K].second)
            Each(K + 1, bindConst(By, Counters[K].first, V),
                 bindConst(Slots, Counters[K].first, V));
          return;
        }
        const int64_t Away = isConstant(By).value_or(1);
        for (unsigned S = 0; S < Map.Factor[0]; ++S) {
          if (bindConst(Slots, "sx", S).is_empty())
            continue;
          if (R.K == Owned::Read::At)
            All += S == 0; // the same for all slots
          else if (Map.Stride[0] == 32)
            All += Away % 32 != 0;
          else
            All += S + Away >= int64_t(Map.Factor[0]) || int64_t(S) + Away < 0;
        }
      };
  Each(0, R.By, R.Slots);
  return All;
}

void rcache::count(const Owned &O, const Placed &In, double, PlanCounts &K) {
  const double Slots = In.P.slots();
  for (const Owned::Read &R : O.Reads)
    K.Shuffles += shufflesOf(R, In) * wordsOf(In) / Slots;
  for (unsigned W : In.A.Writes) {
    const SharedAccess &S = In.M.SharedAccesses[W];
    if (!loadsToStage(S))
      continue;
    K.GlobalLoads += roundsOf(In.M, S.Stmt);
    K.LoadInstructions += roundsOf(In.M, S.Stmt);
  }
  K.Registers += static_cast<unsigned>(In.P.slots() * O.Parts * wordsOf(In));
}

void rcache::draw(const Owned &, const Placed &, ArrayPicture &) {}
