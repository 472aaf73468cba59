// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a window is loaded without being asked: see findInterior in Windows.h.

#include "Windows.h"
#include "Affine/IslTools.h"
#include "Solve.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <isl/set.h>
#include <isl/val.h>
#include <tuple>

using namespace rcache;

namespace {

isl::set hull(const isl::set &S) {
  return isl::manage(isl_set_simple_hull(S.copy())).to_set();
}

/// Fewer columns, less to decide.
isl::set narrow(const isl::set &S) {
  return isl::manage(isl_set_drop_unused_params(S.copy()));
}

/// A convex set as large as easily found of which all that lies in \p Reach is
/// in \p Whole: the hull, cut by constraints of the disjuncts, or (Sides) by what
/// is missing of it along its narrow sides.
///     { Elem[e] : Whole }, { Elem[e] : Reach } -> { Elem[e] : }
class ConvexPart {
public:
  /// Whole is not empty. Where it ends on the way of one of \p Coordinates is a
  /// constraint as well.
  ConvexPart(const isl::set &Whole, const isl::set &Reach,
             const std::vector<std::string> &ElemIds,
             const std::vector<isl::pw_aff> &Coordinates, bool Sides)
      : ElemIds(ElemIds), Coordinates(Coordinates), Sides(Sides), Known(narrow(Reach)),
        D(narrow(Whole.gist(Reach).coalesce())), Hull(hull(D)) {}

  std::optional<isl::set> run() const {
    // What no run reaches (the corners of a tile between its halos) may lie in
    // between.
    if (holds(Hull))
      return Hull;
    std::vector<isl::set> Cuts = cutsOfCoordinates();
    llvm::append_range(Cuts, cutsOfSides());
    D.foreach_basic_set([&](isl::basic_set B) {
      for (const isl::set &C : constraintsOf(B))
        if (!Hull.is_subset(C))
          Cuts.push_back(narrow(C));
    });
    if (auto S = cutByCommon(Cuts))
      return S;
    if (auto S = cutByFew(Cuts))
      return S;
    // The largest disjunct by luck of order.
    std::optional<isl::set> Best;
    D.foreach_basic_set([&](isl::basic_set B) {
      if (!Best && !B.is_empty())
        Best = isl::set(B);
    });
    return Best;
  }

private:
  static constexpr int MostCuts = 12;
  const std::vector<std::string> &ElemIds;
  const std::vector<isl::pw_aff> &Coordinates;
  const bool Sides;
  const isl::set Known, D, Hull;

  bool holds(const isl::set &S) const {
    return S.intersect(Known).is_subset(D);
  }

  std::optional<int64_t> width(const std::string &E, const isl::set &S) const {
    const isl::pw_aff V = symbolValue(D.ctx(), E);
    const auto Low = minConst(V, S), High = maxConst(V, S);
    return Low && High ? std::optional(*High - *Low + 1) : std::nullopt;
  }

  /// `x >= 0` of `x = 128 bx + e - 7` is `bx >= 1 or e >= 7` where e ends at 128: no
  /// disjunct has the constraint itself.
  std::vector<isl::set> cutsOfCoordinates() const {
    std::vector<isl::set> Cuts;
    for (const isl::pw_aff &X : Coordinates) {
      if (const auto Low = minConst(X, D.intersect(Known)))
        Cuts.push_back(X.ge_set(constantValue(D.ctx(), *Low)));
      if (const auto High = maxConst(X, D.intersect(Known)))
        Cuts.push_back(X.le_set(constantValue(D.ctx(), *High)));
    }
    return Cuts;
  }

  /// Where the threads that stage a halo look at themselves (`x < w`), about all
  /// of it is there or nothing: its narrow side does not count.
  std::vector<isl::set> cutsOfSides() const {
    std::vector<isl::set> Cuts;
    const isl::set Missing =
        Sides ? Hull.intersect(Known).subtract(D).coalesce() : never(D.ctx());
    if (Missing.n_basic_set() > MostCuts)
      return Cuts;
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
    return Cuts;
  }

  /// Cuts that leave something of every disjunct are of what the disjuncts have
  /// in common (`g < n`, where blocks but the first load the left halo as well);
  /// the others only tell them apart.
  std::optional<isl::set> cutByCommon(const std::vector<isl::set> &Cuts) const {
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
    if (!holds(Most))
      return std::nullopt;
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

  std::optional<isl::set> cutByFew(const std::vector<isl::set> &Cuts) const {
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
    return std::nullopt;
  }
};

} // namespace

/// See ConvexPart; nullopt: \p Whole is empty.
static std::optional<isl::set>
convexPart(const isl::set &Whole, const isl::set &Reach,
           const std::vector<std::string> &ElemIds,
           const std::vector<isl::pw_aff> &Coordinates, bool Sides) {
  if (Whole.is_empty())
    return std::nullopt;
  if (isl::set Hull = hull(Whole); Hull.is_subset(Whole))
    return Hull;
  return ConvexPart(Whole, Reach, ElemIds, Coordinates, Sides).run();
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

namespace {

/// The search for the interior of one window.
class InteriorSearch {
public:
  InteriorSearch(const KernelModel &M, const Assumptions &A,
                 const StagingFunction &F, Window &W,
                 const std::vector<int64_t> &Extent, int64_t Behind)
      : M(M), A(A), F(F), W(W), Extent(Extent), Rank(Extent.size()),
        Ctx(M.Ctx->ctx()), Own(startsAt(0)), Starts(Own), Boxes(windowBoxes(W, Extent)) {
    if (Behind)
      Starts = Starts.unite(startsAt(Behind));
  }

  void run() {
    W.Reach = reach();
    if (W.SlotSpan)
      return;
    // Of several pieces, the one that most of the middle of a large grid is in, and that
    // moves with most coordinates: at a border that is clamped, one of them stands still.
    std::tuple<double, unsigned, bool> Best;
    for (size_t K = 0; K < F.Pieces.size(); ++K) {
      const StagePiece &Piece = F.Pieces[K];
      if (!Piece.Guards.empty())
        return; // what follows is hidden by a condition on data
      const auto Found = loadsOf(Piece);
      if (!Found)
        continue;
      // Vectors rather than one by one; what is neither that nor moves with all
      // coordinates is a border.
      if (Found->Leaves.empty() && Found->Moves < Rank)
        continue;
      const auto In = runsInside(Piece.Domain.gist(A.Context), coordinatesOf(Piece));
      // What is known of First needs no test.
      if (!In || !isMet(In->intersect(Starts)))
        continue;
      const std::tuple Rating(holdsInTheMiddle(*In, {Large}) ? 1.0 : partOfTheMiddle(*In),
                              Found->Moves, !Found->Leaves.empty());
      if (W.InteriorPiece >= 0 && Rating <= Best)
        continue;
      Best = Rating;
      W.InteriorPiece = static_cast<int>(K);
      W.Interior = In->gist(Starts).coalesce();
      W.AllInside = holdsInTheMiddle(*In, {Large, Small});
      W.Leaves = Found->Leaves;
      if (Rating == std::tuple(1.0, unsigned(Rank), true))
        return;
    }
  }

private:
  const KernelModel &M;
  const Assumptions &A;
  const StagingFunction &F;
  Window &W;
  const std::vector<int64_t> &Extent;
  const size_t Rank;
  isl::ctx Ctx;
  isl::set Own;    ///< [e0.., symbols] -> { : a thread's run begins there }
  isl::set Starts; ///< the same, or that of a lane's chunk behind it
  std::vector<WindowBox> Boxes;

  /// Has it a point without numbers near the ends of their types? There unsigned sums
  /// wrap, which is a piece of its own.
  bool isMet(isl::set S) const {
    constexpr long Usual = 1L << 20;
    for (const std::string &Id : involvedIds(S)) {
      const isl::pw_aff V = symbolValue(Ctx, Id);
      S = S.intersect(V.le_set(constantValue(Ctx, Usual)))
              .intersect(V.ge_set(constantValue(Ctx, -Usual)));
    }
    return !S.is_empty();
  }

  static constexpr long Middle = 1L << 6, Large = 1L << 24, Small = 1;

  /// The runs where each of \p Ids is the product of what \p ValueOf says of its factors.
  isl::set runsAt(const std::vector<std::string> &Ids,
                  llvm::function_ref<long(const std::string &)> ValueOf) const {
    isl::set S = Own;
    for (const std::string &Id : Ids) {
      if (isPlace(Id))
        continue;
      long V = 1;
      for (const std::string &F : factorsOf(Id))
        V *= ValueOf(F);
      S = S.intersect(symbolValue(Ctx, Id).eq_set(constantValue(Ctx, V)));
    }
    return S;
  }

  /// Points of \p S, of which all but the elements' places are numbers.
  double pointsOf(const isl::set &S) const {
    std::vector<std::string> Others;
    for (const std::string &Id : involvedIds(S))
      if (!isPlace(Id))
        Others.push_back(Id);
    isl_set *Points = isl_set_from_params(narrow(projectOut(S, Others)).release());
    const auto Ids = unsigned(isl_set_dim(Points, isl_dim_param));
    Points = isl_set_move_dims(Points, isl_dim_set, 0, isl_dim_param, 0, Ids);
    const isl::val N = isl::manage(isl_set_count_val(Points));
    isl_set_free(Points);
    return N.is_int() ? isl_val_get_d(N.get()) : 0;
  }

  /// The part of the runs of a block far from the first, arguments being large, of which
  /// \p In holds: less than all.
  double partOfTheMiddle(const isl::set &In) const {
    std::vector<std::string> Ids = involvedIds(In);
    llvm::append_range(Ids, involvedIds(Own));
    const isl::set S = runsAt(Ids, [&](const std::string &F) {
      return isOfKind(F, Symbol::BlockIdx)   ? Middle
             : isOfKind(F, Symbol::BlockDim) ? 256
                                             : Large;
    });
    const double All = S.is_empty() ? 0 : pointsOf(S);
    return All > 0 ? std::min(0.99, pointsOf(S.intersect(In)) / All) : 0;
  }

  /// Does \p In hold of all runs of blocks far from the first, where each argument is
  /// one of \p Sizes, and blocks have threads as usual?
  bool holdsInTheMiddle(const isl::set &In, llvm::ArrayRef<long> Sizes) const {
    constexpr size_t MostChoices = 4;
    static constexpr long Far[] = {Middle}, Threads[] = {256, 32};
    std::vector<std::pair<std::string, llvm::ArrayRef<long>>> Choices;
    const std::vector<std::string> Ids = involvedIds(In);
    for (const std::string &Id : Ids)
      for (const std::string &F : factorsOf(Id))
        if (!isPlace(F) && llvm::none_of(Choices, [&](auto &C) { return C.first == F; }))
          Choices.emplace_back(F, isOfKind(F, Symbol::BlockIdx)   ? llvm::ArrayRef(Far)
                                  : isOfKind(F, Symbol::BlockDim) ? llvm::ArrayRef(Threads)
                                                                  : Sizes);
    // Of more, the first size each.
    size_t Ways = 1;
    for (size_t I = 0; I < Choices.size() && I < MostChoices; ++I)
      Ways *= Choices[I].second.size();
    for (size_t Way = 0; Way < Ways; ++Way) {
      std::map<std::string, long> Of;
      size_t Rest = Way;
      for (const auto &[Id, From] : Choices) {
        Of[Id] = From[Rest % From.size()];
        Rest /= From.size();
      }
      const isl::set S = runsAt(Ids, [&](const std::string &F) {
        return Of.count(F) ? Of.at(F) : 1;
      });
      if (!S.is_empty() && S.is_subset(In)) // there is such a run
        return true;
    }
    return false;
  }

  isl::set startsAt(int64_t Shift) const {
    isl::set S = A.Context;
    for (size_t D = 0; D < Rank; ++D)
      S = S.intersect(W.First[D]
                          .add(constantValue(Ctx, D + 1 == Rank ? Shift : 0))
                          .eq_set(symbolValue(Ctx, F.ElemIds[D])));
    return projectOut(S, {"tx", "ty", "tz"});
  }

  /// Every element of a run.
  isl::set reach() const {
    isl::set Reach = never(Ctx);
    for (const WindowBox &Box : Boxes) {
      isl::set In = Starts;
      for (size_t D = 0; D < Rank; ++D) {
        // exists start: start + low <= e < start + high
        const std::string &E = F.ElemIds[D];
        isl::pw_aff Start = symbolValue(Ctx, "start"),
                    Elem = symbolValue(Ctx, E);
        int64_t Low = Box[D].first, High = Box[D].second;
        if (D + 1 == Rank && W.SlotSpan) {
          High =
              std::abs(W.SlotStep) * (Extent[D] / W.SlotSpan - 1) + W.SlotSpan;
          if (W.SlotStep < 0) {
            Low = W.SlotSpan - High;
            High = W.SlotSpan;
          }
        }
        isl::set S = renameSymbol(In, E, "start");
        S = S.intersect(Elem.ge_set(Start.add(constantValue(Ctx, Low))))
                .intersect(Elem.lt_set(Start.add(constantValue(Ctx, High))));
        In = projectOut(S, {"start"}).coalesce();
      }
      Reach = Reach.unite(In).coalesce();
    }
    return Reach;
  }

  /// What is a product with a coordinate from \p From on does not move linearly
  /// with it.
  bool multipliesAny(const std::vector<std::string> &Ids, size_t From) const {
    for (const std::string &Id : Ids)
      for (const std::string &Factor : productFactors(Id))
        for (size_t D = From; D < Rank; ++D)
          if (Factor == F.ElemIds[D])
            return true;
    return false;
  }

  struct PieceLoads {
    std::vector<VectorLeaf> Leaves; ///< none: element by element
    unsigned Moves = 0;             ///< coordinates with which a load moves
  };

  /// nullopt: nothing is loaded, or a product with a coordinate is in the way.
  std::optional<PieceLoads> loadsOf(const StagePiece &Piece) const {
    std::vector<ValueRef> Loads;
    collectLoads(Piece.V, Loads);
    if (Loads.empty() || multipliesAny(involvedIds(Piece.Domain), 0))
      return std::nullopt;
    PieceLoads R;
    // Vectors only where each load of the value moves by one element from
    // register to register, or stands still.
    bool Unit = !multipliesAny(valueSymbols(Piece.V), Rank - 1);
    for (const ValueRef &L : Loads) {
      const ValueRef &Idx = L->Operands[0];
      auto C = L->Root >= 0 && Idx->K == Value::Affine
                   ? linearCoefficient(Idx->Aff, F.ElemIds.back(), Piece.Domain)
                   : std::optional<int64_t>();
      if (!C || (*C != 1 && *C != 0) || (*C == 1 && !alwaysDone(Piece.V, L))) {
        Unit = false;
        break;
      }
      if (*C == 1 && llvm::none_of(R.Leaves, [&](const VectorLeaf &Known) {
            return isSameLoad(*Known.Load, *L);
          }))
        R.Leaves.push_back({L, L->Type, 0});
    }
    if (!Unit)
      R.Leaves.clear();
    for (const std::string &E : F.ElemIds)
      R.Moves += llvm::any_of(Loads, [&](const ValueRef &L) {
        const ValueRef &Idx = L->Operands[0];
        return Idx->K != Value::Affine || movesWith(Idx, E, Piece.Domain);
      });
    return R;
  }

  /// Sums of a block's index and an element's place at which \p Piece loads, by what
  /// they are multiplied with: x and y of `a[y * w + x]`.
  std::vector<isl::pw_aff> coordinatesOf(const StagePiece &Piece) const {
    std::vector<ValueRef> Loads;
    collectLoads(Piece.V, Loads);
    std::vector<isl::pw_aff> All;
    for (const ValueRef &L : Loads) {
      const ValueRef &Index = L->Operands[0];
      const auto Form = Index->K == Value::Affine
                            ? linearForm(Index->Aff, Piece.Domain)
                            : std::nullopt;
      if (!Form)
        continue;
      std::map<std::string, Coordinate> By;
      for (const auto &[Id, N] : Form->Terms) {
        std::vector<std::string> Factors = factorsOf(Id);
        const auto Moving = llvm::partition(Factors, [&](const std::string &S) {
          return !isPlace(S) && !isOfKind(S, Symbol::BlockIdx);
        });
        const std::vector<std::string> Moves(Moving, Factors.end());
        Factors.erase(Moving, Factors.end());
        llvm::sort(Factors);
        Coordinate &X = By[llvm::join(Factors, " ")];
        if (Moves.size() > 1)
          X.IsLinear = false;
        else if (Moves.empty())
          X.Sum.Const += N;
        else
          X.Sum.Terms[Moves.front()] += N;
      }
      By[""].Sum.Const += Form->Const;
      for (const auto &[Of, X] : By)
        if (auto V = valueOf(X))
          All.push_back(*V);
    }
    return All;
  }

  std::vector<std::string> factorsOf(const std::string &Id) const {
    std::vector<std::string> Factors = productFactors(Id);
    if (const int At = M.symbolIndex(Id); Factors.empty() && At >= 0)
      Factors = M.Symbols[static_cast<size_t>(At)].Factors;
    if (Factors.empty())
      Factors = {Id};
    return Factors;
  }

  struct Coordinate {
    Linear Sum;
    bool IsLinear = true;
  };

  bool isPlace(const std::string &Id) const {
    return llvm::is_contained(F.ElemIds, Id);
  }
  bool isOfKind(const std::string &Id, Symbol::Kind K) const {
    const int At = M.symbolIndex(Id);
    return At >= 0 && M.Symbols[static_cast<size_t>(At)].K == K;
  }

  /// nullopt: it is not a sum of both.
  std::optional<isl::pw_aff> valueOf(const Coordinate &X) const {
    bool Place = false, Block = false;
    isl::pw_aff V = constantValue(Ctx, X.Sum.Const);
    for (const auto &[Id, N] : X.Sum.Terms) {
      (isPlace(Id) ? Place : Block) = true;
      V = V.add(symbolValue(Ctx, Id).scale(static_cast<long>(N)));
    }
    return X.IsLinear && Place && Block ? std::optional(V) : std::nullopt;
  }

  /// The starts from which all boxes lie in a convex part of \p Staged.
  std::optional<isl::set> runsInside(const isl::set &Staged,
                                     const std::vector<isl::pw_aff> &Coordinates,
                                     bool Sides) const {
    const auto Convex = convexPart(Staged, W.Reach, F.ElemIds, Coordinates, Sides);
    if (!Convex || involvesDivs(*Convex))
      return std::nullopt;
    // A box lies in a convex set when its corners do.
    isl::set In = isl::set::universe(A.Context.space());
    for (const WindowBox &Box : Boxes)
      for (unsigned Corner = 0; Corner < (1u << Rank); ++Corner) {
        std::map<std::string, isl::pw_aff> At;
        for (size_t D = 0; D < Rank; ++D)
          At.emplace(F.ElemIds[D],
                     symbolValue(Ctx, F.ElemIds[D])
                         .add(constantValue(Ctx, (Corner >> D & 1)
                                                     ? Box[D].second - 1
                                                     : Box[D].first)));
        In = In.intersect(substitute(*Convex, At));
      }
    return In;
  }

  std::optional<isl::set>
  runsInside(const isl::set &Staged, const std::vector<isl::pw_aff> &Coordinates) const {
    auto In = runsInside(Staged, Coordinates, false);
    if (Staged.n_basic_set() > 1)
      if (auto More = runsInside(Staged, Coordinates, true))
        if (!In || In->intersect(Starts).is_subset(*More))
          In = std::move(More);
    return In;
  }
};

} // namespace

void rcache::findInterior(const KernelModel &M, const Assumptions &A,
                          const StagingFunction &F, Window &W,
                          const std::vector<int64_t> &Extent, int64_t Behind) {
  W.InteriorPiece = -1;
  W.Leaves.clear();
  if (!Extent.empty())
    InteriorSearch(M, A, F, W, Extent, Behind).run();
}
