// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Windows.h. An index is split into what all reads of a window share
// (thread, block and parameter terms: First) and what differs with slot and
// unrolled iterators (the register). Both are linear; anything else is read
// directly.

#include "Windows.h"
#include "Affine/IslTools.h"
#include "Solve.h"
#include <algorithm>
#include <isl/set.h>
#include <set>

using namespace rcache;

namespace {

constexpr int64_t MaxUnroll =
    512;                       ///< rounds of the unrolled loops around a read
constexpr int64_t MaxGap = 16; ///< unused registers worth keeping one window

struct Term {
  std::string Id;
  int64_t Coef = 0;
  int64_t Lo = 0, Hi = 0; ///< range of the symbol
  int64_t Step = 1;
};

/// One dimension of one read: Base + Terms + Const.
struct SplitIndex {
  std::map<std::string, int64_t> Base;
  std::vector<Term> Terms;
  int64_t Const = 0;
  int64_t Min = 0, Max = 0;         ///< of Terms (slots left out) + Const
  int64_t SlotCoef = 0;             ///< of sx; sy and sz count as Terms
  int64_t SlotMin = 0, SlotMax = 0; ///< of SlotCoef * sx
};

struct SplitRead {
  unsigned Access;
  std::vector<SplitIndex> Dims;
  std::set<unsigned> Loops;
};

std::optional<SplitRead> split(const KernelModel &M, const StagingGroup &G,
                               const Assumptions &A, unsigned Read,
                               const std::array<unsigned, 3> &Factor,
                               const std::array<int64_t, 3> &Stride) {
  const SharedAccess &Acc = M.SharedAccesses[Read];
  if (!Acc.Affine)
    return std::nullopt;
  SplitRead R;
  R.Access = Read;
  int64_t Rounds = 1;
  isl::set Ctx = A.fix(Acc.Domain).intersect(A.Context);
  for (const isl::pw_aff &Raw : Acc.Index) {
    std::optional<Linear> L = linearForm(A.fix(Raw), Ctx);
    if (!L)
      return std::nullopt;
    SplitIndex S;
    S.Const = S.Min = S.Max = L->Const;
    const char *Threads[3] = {"tx", "ty", "tz"};
    const char *Slots[3] = {"sx", "sy", "sz"};
    auto AddTerm = [&](Term T) {
      int64_t X = T.Coef * T.Lo, Y = T.Coef * T.Hi;
      S.Min += std::min(X, Y);
      S.Max += std::max(X, Y);
      S.Terms.push_back(std::move(T));
    };
    for (auto &[Id, Coef] : L->Terms) {
      int Sym = M.symbolIndex(Id);
      if (Sym >= 0 && M.Symbols[Sym].K == Symbol::Iterator)
        if (const Stmt *Loop = innerLoop(M, G, Acc, Sym)) {
          if (!Loop->ConstTripCount || !Loop->ConstFirst || !Loop->Step ||
              *Loop->ConstTripCount < 1)
            return std::nullopt;
          if (R.Loops.insert(Loop->Id).second)
            Rounds *= *Loop->ConstTripCount;
          int64_t First = *Loop->ConstFirst,
                  Last = First + (*Loop->ConstTripCount - 1) * *Loop->Step;
          AddTerm({Id, Coef, std::min(First, Last), std::max(First, Last),
                   *Loop->Step});
          continue;
        }
      if (Sym >= 0 && M.Symbols[Sym].K != Symbol::ThreadIdx &&
          (M.Symbols[Sym].Depends & (DepThread | DepShared)))
        return std::nullopt; // a value loaded by each thread
      S.Base[Id] = Coef;
      for (int Ax = 0; Ax < 3; ++Ax)
        if (Id == Threads[Ax] && Ax == 0 && Factor[0] > 1) {
          S.SlotCoef = Coef * Stride[0];
          int64_t End = S.SlotCoef * (int64_t(Factor[0]) - 1);
          S.SlotMin = std::min<int64_t>(0, End);
          S.SlotMax = std::max<int64_t>(0, End);
        } else if (Id == Threads[Ax] && Factor[Ax] > 1)
          AddTerm(
              {Slots[Ax], Coef * Stride[Ax], 0, int64_t(Factor[Ax]) - 1, 1});
    }
    R.Dims.push_back(std::move(S));
  }
  if (Rounds > MaxUnroll)
    return std::nullopt;
  return R;
}

isl::pw_aff linearPwAff(isl::ctx Ctx,
                        const std::map<std::string, int64_t> &Base,
                        int64_t Const) {
  isl::pw_aff R = constantValue(Ctx, Const);
  for (auto &[Id, C] : Base)
    R = R.add(symbolValue(Ctx, Id).scale(static_cast<long>(C)));
  return R;
}

/// ArrayPlan::Lines of a window: every read in every slot and round.
std::vector<std::pair<int64_t, int64_t>>
usedLines(const ArrayPlan &P, const std::vector<SplitRead> &Reads,
          const std::vector<int64_t> &Lowest, unsigned SlotsX) {
  constexpr int64_t MaxRounds = 1 << 16;
  const size_t Rank = P.Extent.size();
  if (Rank < 2 || P.SlotSpan)
    return {};
  size_t Count = 1;
  for (size_t D = 0; D + 1 < Rank; ++D)
    Count *= static_cast<size_t>(P.Extent[D]);
  std::vector<std::pair<int64_t, int64_t>> Lines(Count, {P.Extent.back(), 0});
  for (size_t K = 0; K < Reads.size(); ++K) {
    // The symbols of the read and their values.
    std::map<std::string, Term> Symbols;
    for (const SplitIndex &S : Reads[K].Dims) {
      for (const Term &T : S.Terms)
        Symbols[T.Id] = T;
      if (S.SlotCoef)
        Symbols["sx"] = {"sx", 1, 0, int64_t(SlotsX) - 1, 1};
    }
    int64_t Rounds = 1;
    for (auto &[Id, T] : Symbols)
      Rounds *= (T.Hi - T.Lo) / std::max<int64_t>(1, std::abs(T.Step)) + 1;
    if (Rounds > MaxRounds)
      return {};
    for (int64_t R = 0; R < Rounds; ++R) {
      std::map<std::string, int64_t> At;
      int64_t Rest = R;
      for (auto &[Id, T] : Symbols) {
        const int64_t Step = std::max<int64_t>(1, std::abs(T.Step));
        const int64_t N = (T.Hi - T.Lo) / Step + 1;
        At[Id] = T.Lo + Rest % N * Step;
        Rest /= N;
      }
      size_t Line = 0;
      int64_t Last = 0;
      for (size_t D = 0; D < Rank; ++D) {
        const SplitIndex &S = Reads[K].Dims[D];
        int64_t Register = S.Const + S.SlotCoef * At["sx"] - Lowest[D];
        for (const Term &T : S.Terms)
          Register += T.Coef * At[T.Id];
        if (D + 1 < Rank)
          Line = Line * static_cast<size_t>(P.Extent[D]) +
                 static_cast<size_t>(Register);
        else
          Last = Register;
      }
      Lines[Line].first = std::min(Lines[Line].first, Last);
      Lines[Line].second = std::max(Lines[Line].second, Last + 1);
    }
  }
  bool Full = true;
  for (const auto &[Lo, Hi] : Lines)
    Full &= Lo == 0 && Hi == P.Extent.back();
  return Full ? std::vector<std::pair<int64_t, int64_t>>() : Lines;
}

} // namespace

WindowsResult rcache::findWindows(const KernelModel &M, const StagingGroup &G,
                                  const Assumptions &A,
                                  const std::array<unsigned, 3> &Factor,
                                  const std::array<int64_t, 3> &Stride,
                                  int64_t MaxWindow) {
  WindowsResult Out;
  isl::ctx Ctx = M.Ctx->ctx();
  std::vector<unsigned> Direct;
  // Reads with the same base are one cluster.
  std::vector<std::vector<SplitRead>> Clusters;
  for (unsigned Rd : G.Reads) {
    auto S = split(M, G, A, Rd, Factor, Stride);
    if (!S) {
      Direct.push_back(Rd);
      continue;
    }
    auto Same = [&](const SplitRead &O) {
      for (size_t D = 0; D < S->Dims.size(); ++D)
        if (S->Dims[D].Base != O.Dims[D].Base)
          return false;
      return true;
    };
    auto It = std::find_if(Clusters.begin(), Clusters.end(),
                           [&](auto &C) { return Same(C.front()); });
    if (It == Clusters.end())
      Clusters.push_back({*S});
    else
      It->push_back(*S);
  }
  // Far-apart taps (a comb filter) are windows of their own: cut the sorted
  // intervals of the last dimension at wide gaps.
  std::vector<std::vector<SplitRead>> Cut;
  for (auto &C : Clusters) {
    if (C.front().Dims.empty()) {
      Cut.push_back(std::move(C));
      continue;
    }
    std::sort(C.begin(), C.end(), [](const SplitRead &X, const SplitRead &Y) {
      return X.Dims.back().Min < Y.Dims.back().Min;
    });
    std::vector<SplitRead> Cur;
    int64_t End = 0;
    for (SplitRead &R : C) {
      if (!Cur.empty() && R.Dims.back().Min > End + MaxGap) {
        Cut.push_back(std::move(Cur));
        Cur.clear();
      }
      End = Cur.empty() ? R.Dims.back().Max : std::max(End, R.Dims.back().Max);
      Cur.push_back(std::move(R));
    }
    Cut.push_back(std::move(Cur));
  }
  std::set<unsigned> Loops;
  for (auto &C : Cut) {
    ArrayPlan P;
    P.Array = G.Array;
    P.Barrier = G.Barrier;
    P.Writes = G.Writes;
    P.X = Exchange::Reload;
    int64_t Total = 1;
    size_t Rank = C.front().Dims.size();
    std::vector<int64_t> Min(Rank), Max(Rank);
    for (size_t D = 0; D < Rank; ++D) {
      Min[D] = C.front().Dims[D].Min;
      Max[D] = C.front().Dims[D].Max;
      for (const SplitRead &R : C) {
        Min[D] = std::min(Min[D], R.Dims[D].Min);
        Max[D] = std::max(Max[D], R.Dims[D].Max);
      }
      // The slots' windows overlap or touch: one run. Else one after another.
      const SplitIndex &S0 = C.front().Dims[D];
      int64_t Span = Max[D] - Min[D] + 1;
      if (D + 1 == Rank && std::abs(S0.SlotCoef) > Span) {
        P.SlotSpan = Span;
        P.SlotStep = S0.SlotCoef;
        P.Extent.push_back(Span * Factor[0]);
        P.First.push_back(linearPwAff(Ctx, S0.Base, Min[D]));
      } else {
        Min[D] += S0.SlotMin;
        Max[D] += S0.SlotMax;
        P.Extent.push_back(Max[D] - Min[D] + 1);
        P.First.push_back(linearPwAff(Ctx, S0.Base, Min[D]));
      }
      Total *= P.Extent.back();
      if (Total > MaxWindow)
        break;
    }
    if (Total > MaxWindow) {
      for (const SplitRead &R : C)
        Direct.push_back(R.Access);
      continue;
    }
    for (const SplitRead &R : C) {
      WindowRead W;
      W.Access = R.Access;
      for (size_t D = 0; D < Rank; ++D) {
        std::map<std::string, int64_t> Terms;
        for (const Term &T : R.Dims[D].Terms)
          Terms[T.Id] += T.Coef;
        if (R.Dims[D].SlotCoef)
          Terms["sx"] =
              D + 1 == Rank && P.SlotSpan ? P.SlotSpan : R.Dims[D].SlotCoef;
        W.Register.push_back(linearPwAff(Ctx, Terms, R.Dims[D].Const - Min[D]));
      }
      P.Reads.push_back(R.Access);
      P.WindowReads.push_back(std::move(W));
      Loops.insert(R.Loops.begin(), R.Loops.end());
    }
    P.Lines = usedLines(P, C, Min, Factor[0]);
    Out.Windows.push_back(std::move(P));
  }
  if (!Direct.empty()) {
    ArrayPlan P;
    P.Array = G.Array;
    P.Barrier = G.Barrier;
    P.Writes = G.Writes;
    P.X = Exchange::Direct;
    std::sort(Direct.begin(), Direct.end());
    P.Reads = std::move(Direct);
    Out.Windows.push_back(std::move(P));
  }
  Out.UnrolledLoops.assign(Loops.begin(), Loops.end());
  return Out;
}

//===----------------------------------------------------------------------===//
// Interior
//===----------------------------------------------------------------------===//

/// A convex set as large as easily found of which all that lies in \p Reach is
/// in \p Whole: the hull, cut by constraints of the disjuncts, or (Sides) by what
/// is missing of it along its narrow sides.
///     { Elem[e] : Whole }, { Elem[e] : Reach } -> { Elem[e] : }
static std::optional<isl::set>
convexPart(const isl::set &Whole, const isl::set &Reach,
           const std::vector<std::string> &ElemIds, bool Sides) {
  constexpr int MostCuts = 12;
  auto hull = [](const isl::set &S) {
    return isl::manage(isl_set_simple_hull(S.copy())).to_set();
  };
  auto narrow = [](const isl::set &S) { // fewer columns, less to decide
    return isl::manage(isl_set_drop_unused_params(S.copy()));
  };
  if (Whole.is_empty())
    return std::nullopt;
  if (isl::set Hull = hull(Whole); Hull.is_subset(Whole))
    return Hull;
  // What no run reaches (the corners of a tile between its halos) may lie in
  // between.
  const isl::set Known = narrow(Reach),
                 D = narrow(Whole.gist(Reach).coalesce());
  auto holds = [&](const isl::set &S) {
    return S.intersect(Known).is_subset(D);
  };
  isl::set Hull = hull(D);
  if (holds(Hull))
    return Hull;
  std::vector<isl::set> Cuts;
  // Where the threads that stage a halo look at themselves (`x < w`), about all
  // of it is there or nothing: its narrow side does not count.
  auto width = [&](const std::string &E, const isl::set &S) {
    const isl::pw_aff V = symbolValue(D.ctx(), E);
    const auto Low = minConst(V, S), High = maxConst(V, S);
    return Low && High ? std::optional(*High - *Low + 1) : std::nullopt;
  };
  const isl::set Missing =
      Sides ? Hull.intersect(Known).subtract(D).coalesce() : never(D.ctx());
  if (Missing.n_basic_set() <= MostCuts)
    Missing.foreach_basic_set([&](const isl::basic_set &B) {
      std::vector<std::string> Narrow;
      for (const std::string &E : ElemIds) {
        const auto Of = width(E, isl::set(B)), All = width(E, Known);
        if (Of && All && 2 * *Of < *All)
          Narrow.push_back(E);
      }
      if (Narrow.empty())
        return;
      const isl::set Part = hull(projectOut(isl::set(B), Narrow))
                                .gist(projectOut(Known, Narrow));
      Part.foreach_basic_set([&](const isl::basic_set &A) {
        for (const isl::set &C : constraintsOf(A))
          Cuts.push_back(narrow(always(D.ctx()).subtract(C)));
      });
    });
  D.foreach_basic_set([&](isl::basic_set B) {
    for (const isl::set &C : constraintsOf(B))
      if (!Hull.is_subset(C))
        Cuts.push_back(narrow(C));
  });
  // Cuts that leave something of every disjunct are of what the disjuncts have
  // in common (`g < n`, where blocks but the first load the left halo as well);
  // the others only tell them apart.
  std::vector<isl::set> Common;
  isl::set Most = Hull;
  for (const isl::set &C : Cuts) {
    if (holds(Most))
      break;
    bool OfAll = !Most.is_subset(C);
    D.foreach_basic_set([&](const isl::basic_set &B) {
      OfAll &= !Most.intersect(C).intersect(isl::set(B)).is_empty();
    });
    if (!OfAll)
      continue;
    Common.push_back(C);
    Most = Most.intersect(C);
  }
  if (holds(Most)) {
    for (size_t Out = 0; Out < Common.size(); ++Out) {
      isl::set T = Hull;
      for (size_t I = 0; I < Common.size(); ++I)
        if (I != Out)
          T = T.intersect(Common[I]);
      if (holds(T))
        Common.erase(Common.begin() + static_cast<ptrdiff_t>(Out--));
    }
    isl::set T = Hull;
    for (const isl::set &C : Common)
      T = T.intersect(C);
    return T;
  }
  for (const isl::set &C : Cuts) {
    isl::set T = Hull.intersect(C);
    if (!T.is_empty() && holds(T))
      return T;
  }
  for (size_t I = 0; I < Cuts.size() && I < MostCuts; ++I)
    for (size_t J = I + 1; J < Cuts.size() && J < MostCuts; ++J) {
      isl::set T = Hull.intersect(Cuts[I]).intersect(Cuts[J]);
      if (!T.is_empty() && holds(T))
        return T;
    }
  // The largest disjunct by luck of order.
  std::optional<isl::set> Best;
  D.foreach_basic_set([&](isl::basic_set B) {
    if (!Best && !B.is_empty())
      Best = isl::set(B);
  });
  return Best;
}

/// Is \p Load made whenever \p V is computed? Not one that `?:` chooses, or
/// that stands behind `&&`: it may lie outside of its array.
static bool alwaysDone(const ValueRef &V, const ValueRef &Load) {
  if (V == Load)
    return true;
  bool MayLeaveOut = V->K == Value::Select;
  if (V->K == Value::Op)
    for (const char *T : {"?", "&&", "||"})
      MayLeaveOut |= V->Text.find(T) != std::string::npos;
  for (size_t I = 0; I < V->Operands.size(); ++I)
    if ((!MayLeaveOut || (I == 0 && V->K == Value::Op)) &&
        alwaysDone(V->Operands[I], Load))
      return true;
  return false;
}

std::vector<WindowBox> rcache::windowBoxes(const ArrayPlan &P,
                                           const std::vector<int64_t> &Extent) {
  const size_t Rank = Extent.size();
  WindowBox Whole;
  for (int64_t E : Extent)
    Whole.push_back({0, E});
  if (P.Lines.empty())
    return {Whole};
  std::vector<WindowBox> Boxes;
  for (size_t L = 0; L < P.Lines.size(); ++L) {
    if (P.Lines[L].first >= P.Lines[L].second)
      continue;
    WindowBox B(Rank);
    size_t Rest = L;
    for (size_t D = Rank - 1; D-- > 0;) {
      const int64_t At = static_cast<int64_t>(Rest % size_t(Extent[D]));
      B[D] = {At, At + 1};
      Rest /= static_cast<size_t>(Extent[D]);
    }
    B[Rank - 1] = P.Lines[L];
    // Lines below each other with the same ends are one box.
    if (!Boxes.empty()) {
      WindowBox &O = Boxes.back();
      bool Same = O[Rank - 2].second == B[Rank - 2].first;
      for (size_t D = 0; D < Rank; ++D)
        Same &= D == Rank - 2 || O[D] == B[D];
      if (Same) {
        O[Rank - 2].second = B[Rank - 2].second;
        continue;
      }
    }
    Boxes.push_back(std::move(B));
  }
  return Boxes;
}

/// Does the index change with the coordinate inside of \p D, by itself or in a
/// product?
static bool movesWith(const ValueRef &Index, const std::string &Coordinate,
                      const isl::set &D) {
  for (const std::string &Id : involvedIds(Index->Aff)) {
    const std::vector<std::string> F = productFactors(Id);
    if ((Id == Coordinate ||
         std::find(F.begin(), F.end(), Coordinate) != F.end()) &&
        linearCoefficient(Index->Aff, Id, D) != 0)
      return true;
  }
  return false;
}

void rcache::findInterior(const KernelModel &M, const Assumptions &A,
                          ArrayPlan &P, const std::vector<int64_t> &Extent) {
  P.InteriorPiece = -1;
  P.Leaves.clear();
  if (Extent.empty())
    return;
  size_t Rank = Extent.size();
  const std::string &Last = P.Stage.ElemIds.back();
  isl::ctx Ctx = M.Ctx->ctx();
  // Starts: where runs begin; Reach: every element of a run.
  auto StartsAt = [&](int64_t Shift) {
    isl::set S = A.Context;
    for (size_t D = 0; D < Rank; ++D)
      S = S.intersect(P.First[D]
                          .add(constantValue(Ctx, D + 1 == Rank ? Shift : 0))
                          .eq_set(symbolValue(Ctx, P.Stage.ElemIds[D])));
    return projectOut(S, {"tx", "ty", "tz"});
  };
  isl::set Starts = StartsAt(0);
  if (P.X == Exchange::Shuffle)
    Starts = Starts.unite(StartsAt(32 * int64_t(P.Chunk)));
  const std::vector<WindowBox> Boxes = windowBoxes(P, Extent);
  P.Reach = never(Ctx);
  for (const WindowBox &Box : Boxes) {
    isl::set In = Starts;
    for (size_t D = 0; D < Rank; ++D) {
      // exists start: start + low <= e < start + high
      const std::string &E = P.Stage.ElemIds[D];
      isl::pw_aff Start = symbolValue(Ctx, "start"), Elem = symbolValue(Ctx, E);
      int64_t Low = Box[D].first, High = Box[D].second;
      if (D + 1 == Rank && P.SlotSpan) {
        High = std::abs(P.SlotStep) * (Extent[D] / P.SlotSpan - 1) + P.SlotSpan;
        if (P.SlotStep < 0) {
          Low = P.SlotSpan - High;
          High = P.SlotSpan;
        }
      }
      isl::set S = renameSymbol(In, E, "start");
      S = S.intersect(Elem.ge_set(Start.add(constantValue(Ctx, Low))))
              .intersect(Elem.lt_set(Start.add(constantValue(Ctx, High))));
      In = projectOut(S, {"start"}).coalesce();
    }
    P.Reach = P.Reach.unite(In).coalesce();
  }
  if (P.SlotSpan)
    return;
  // Of several pieces, the one that moves with most coordinates: at a border
  // that is clamped, one of them stands still.
  std::pair<unsigned, bool> Best;
  for (size_t K = 0; K < P.Stage.Pieces.size(); ++K) {
    const StagePiece &Piece = P.Stage.Pieces[K];
    if (!Piece.Guards.empty())
      return; // what follows is hidden by a condition on data
    std::vector<ValueRef> Loads;
    collectLoads(Piece.V, Loads);
    std::vector<VectorLeaf> Leaves;
    // What is a product with a coordinate does not move linearly with it: with
    // the last one in the value, with any in the domain.
    auto MultipliesAny = [&](const std::vector<std::string> &Ids, size_t From) {
      for (const std::string &Id : Ids)
        for (const std::string &F : productFactors(Id))
          for (size_t D = From; D < Rank; ++D)
            if (F == P.Stage.ElemIds[D])
              return true;
      return false;
    };
    if (Loads.empty() || MultipliesAny(involvedIds(Piece.Domain), 0))
      continue;
    // Vectors only where each load of the value moves by one element from
    // register to register, or stands still.
    bool Unit = !MultipliesAny(valueSymbols(Piece.V), Rank - 1);
    for (const ValueRef &L : Loads) {
      const ValueRef &Idx = L->Operands[0];
      auto C = L->Root >= 0 && Idx->K == Value::Affine
                   ? linearCoefficient(Idx->Aff, Last, Piece.Domain)
                   : std::optional<int64_t>();
      if (!C || (*C != 1 && *C != 0) || (*C == 1 && !alwaysDone(Piece.V, L))) {
        Unit = false;
        break;
      }
      if (*C == 1)
        Leaves.push_back({L, L->Type, 0});
    }
    if (!Unit)
      Leaves.clear();
    unsigned Moves = 0;
    for (const std::string &E : P.Stage.ElemIds)
      Moves += llvm::any_of(Loads, [&](const ValueRef &L) {
        const ValueRef &Idx = L->Operands[0];
        return Idx->K != Value::Affine || movesWith(Idx, E, Piece.Domain);
      });
    // Vectors rather than one by one; what is neither that nor moves with all
    // coordinates is a border.
    const std::pair<unsigned, bool> Rating(Moves, !Leaves.empty());
    if ((Leaves.empty() && Moves < Rank) ||
        (P.InteriorPiece >= 0 && Rating <= Best))
      continue;
    const isl::set Staged = Piece.Domain.gist(A.Context);
    auto runsInside = [&](bool Sides) -> std::optional<isl::set> {
      const auto Convex =
          convexPart(Staged, P.Reach, P.Stage.ElemIds, Sides);
      if (!Convex || involvesDivs(*Convex))
        return std::nullopt;
      // A box lies in a convex set when its corners do.
      isl::set In = isl::set::universe(A.Context.space());
      for (const WindowBox &Box : Boxes)
        for (unsigned Corner = 0; Corner < (1u << Rank); ++Corner) {
          std::map<std::string, isl::pw_aff> At;
          for (size_t D = 0; D < Rank; ++D)
            At.emplace(P.Stage.ElemIds[D],
                       symbolValue(Ctx, P.Stage.ElemIds[D])
                           .add(constantValue(Ctx, (Corner >> D & 1)
                                                       ? Box[D].second - 1
                                                       : Box[D].first)));
          In = In.intersect(substitute(*Convex, At));
        }
      return In;
    };
    auto In = runsInside(false);
    if (Staged.n_basic_set() > 1)
      if (auto More = runsInside(true))
        if (!In || In->intersect(Starts).is_subset(*More))
          In = std::move(More);
    // What is known of First needs no test.
    if (!In || In->intersect(Starts).is_empty())
      continue;
    Best = Rating;
    P.InteriorPiece = static_cast<int>(K);
    P.Interior = In->gist(Starts).coalesce();
    P.Leaves = std::move(Leaves);
    if (Moves == Rank && !P.Leaves.empty())
      return;
  }
}
