// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See PlacementCosts.h.

#include "PlacementCosts.h"
#include "Affine/IslTools.h"
#include "Arithmetic.h"
#include "JoinedCosts.h"
#include "LaunchShape.h"
#include "Plan/Counts.h"
#include "Plan/Values.h"
#include "Plan/placements/Placements.h"
#include "Registers.h"
#include "SharedReads.h"
#include "StagedReads.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace rcache;

unsigned rcache::sharedBytes(const KernelModel &M, double Threads) {
  double B = 0;
  for (const SharedArray &A : M.Arrays) {
    double E = 1;
    for (auto &X : A.Extents)
      E *= static_cast<double>(X.value_or(0));
    if (A.Dynamic || E == 0)
      E = Threads * 1.1;
    B += E * A.ElemBytes;
  }
  return static_cast<unsigned>(B);
}

namespace {

/// The widest of what \p W is loaded from; \p Otherwise where addresses do not tell.
double laneStride(const KernelModel &M, const Plan &P, const ArrayPlan &A,
                  const Window &W, double Otherwise) {
  double Widest = 0;
  const auto Add = [&](const Value &Load, unsigned Bytes) {
    const auto Of = laneStride(M, Load, Bytes, A.Stage, W.First, P.Map.Factor[0]);
    Widest = std::max(Widest, Of.value_or(Otherwise));
  };
  for (const VectorLeaf &L : W.Leaves)
    Add(*L.Load, L.ElemBytes);
  if (W.Leaves.empty())
    for (const ValueRef &L : loadsOf(A.Stage))
      Add(*L, std::max(1u, L->Bytes));
  return Widest > 0 ? Widest : Otherwise;
}

/// What the placement of one array adds to a kernel's counts.
class PlacementCost {
public:
  PlacementCost(const KernelModel &M, const Plan &P, const Staging &Fill,
                const std::array<int64_t, 3> &Block, const Arch &On, Runs How,
                Borders Where, KernelCounts &K)
      : M(M), P(P), Fill(Fill), Block(Block), Fit(constantsOf(On)), Slots(P.slots()),
        Border(borderWarps(M, P, Block, On, Where)), How(How), K(K) {}

  PlacementFigures Of;

  void add(const ArrayPlan &Array) {
    A = &Array;
    std::visit(*this, Array.Where);
  }

  void operator()(const KeptShared &) {
    for (const SharedAccess &S : M.SharedAccesses)
      if (S.Array == A->Array) {
        if (S.K == SharedAccess::Write)
          Fill.write(S, K);
        else
          K.SharedLoads += sharedReads(M, Fill, S, Block, P.Map, P.TapsOutside);
        K.Conflicts += Fill.conflicts(S);
        // A copy of what other slots read as well.
        if (Slots > 1 && slotsSeeAlone(M, S))
          K.OtherOps += Fill.executions(S.Stmt) * words(M, A->Array);
      }
    Of.Fills = true;
    K.SharedBytes =
        sharedBytes(M, double(Block[0] * Block[1] * Block[2]) / Slots * Slots);
    Of.Registers += 2 * Slots; // a sum and an element a slot
  }

  void operator()(const FromSource &) {
    // What it takes to stage an element is done anew in each read.
    const double Ops = 4 + Fill.operations();
    for (unsigned Rd : A->Reads) {
      const double T = Fill.executions(M.SharedAccesses[Rd].Stmt);
      K.Loads.push_back({T, bytes(), sourceStride(M.SharedAccesses[Rd])});
      K.IntOps += Ops * T;
    }
    Of.Registers += 1.5 * Slots;
  }

  void operator()(const ReadEarly &E) {
    (*this)(FromSource());
    Of.Registers += double(E.registers()) * elementRegisters(M, A->Array);
  }

  void operator()(const Reloaded &R) {
    const double Held = reload(R.W) * elementRegisters(M, A->Array);
    Of.Registers += Held;
    Of.Ahead += Held;
  }

  void operator()(const StreamedRows &S) {
    // One row at a time, and the sums of all slots.
    const double Window = reload(S.W) * elementRegisters(M, A->Array);
    Of.Registers +=
        S.W.Extent[0] ? Window / double(S.W.Extent[0]) + Slots : Window;
  }

  void operator()(const Shuffled &S) {
    const double Own = double(S.D.loaded(P.slots()));
    const double All = double(S.W.registers());
    load(S.W, Own, 1.0);
    load(S.W, Own, 0.15);
    if (!isInside(S.W))
      ask(S.W, Own * 1.15);
    const double Moved =
        std::max(0.0, All - Own) * words(M, A->Array) * rounds() / Slots;
    K.Shuffles += Moved;
    K.Selects += Moved;
    K.OtherOps += 4 / Slots;
    Of.Registers += (All + Own) * elementRegisters(M, A->Array);
  }

  void operator()(const Restaged &R) {
    addRestaged({M, P, *A}, R, Fill, rounds(), K);
    Of.Registers += restagedRegisters(P, words(M, A->Array));
  }

  void operator()(const Owned &O) {
    PlanCounts N;
    rcache::count(O, {M, P, *A}, 1, N);
    K.Shuffles += N.Shuffles;
    K.Selects += selectsOf(O) * wordsOf({M, P, *A}) / Slots;
    if (const double Loads = N.LoadInstructions; Loads > 0 && stagesByText())
      K.Loads.push_back({Loads, std::max(1u, unsigned(bytes() * N.GlobalLoads / Loads)),
                         double(bytes() * P.Map.laneStep(0))});
    // (And what a step has asked for of the elements, not of all at once: 24 + 1.4 an
    // element of 52 kernels.)
    Of.Registers += 1.4 * Slots * double(O.Parts) * elementRegisters(M, A->Array);
  }

private:
  const KernelModel &M;
  const Plan &P;
  const Staging &Fill;
  const std::array<int64_t, 3> &Block;
  const Constants &Fit;
  const double Slots, Border;
  const Runs How;
  KernelCounts &K;
  const ArrayPlan *A = nullptr;

  unsigned bytes() const { return M.Arrays[A->Array].ElemBytes; }

  /// Does a statement that writes the array load what it writes? Else that stands
  /// elsewhere, and common() has counted it.
  bool stagesByText() const {
    return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &W) {
      return W.Array == A->Array && W.K == SharedAccess::Write &&
             llvm::any_of(M.GlobalAccesses, [&](const GlobalAccess &G) {
               return G.K == GlobalAccess::Read && W.StoredRange.contains(G.Range);
             });
    });
  }

  /// Bytes between the addresses from which neighbouring lanes stage what \p Read
  /// reads anew; as in the array where that is not known.
  double sourceStride(const SharedAccess &Read) const {
    double Widest = -1;
    for (const ValueRef &L : loadsOf(A->Stage))
      if (Read.Affine)
        if (const auto Of = laneStride(M, *L, L->Bytes ? L->Bytes : bytes(),
                                       A->Stage, Read.Index, P.Map.laneStep(0)))
          Widest = std::max(Widest, *Of);
    return Widest >= 0 ? Widest : double(bytes() * P.Map.laneStep(0));
  }
  double rounds() const { return roundsOf(M, A->Barrier); }

  /// \p Elements of a line, \p Share lines (or a part of the lanes): in the
  /// interior by vectors.
  void load(const Window &W, double Elements, double Share) {
    const double Sources = std::max<double>(1, double(W.Leaves.size()));
    const double Width = W.InteriorPiece >= 0 && W.VectorBytes &&
                                 How == Runs::Vectors
                             ? std::max(1.0, double(W.VectorBytes) / bytes())
                             : 1;
    // Runs that are no multiple of the vector have scalar ends.
    const double Full = std::floor(Elements / Width),
                 Rest = Elements - Full * Width;
    const bool Uniform = llvm::none_of(W.First, [](const isl::pw_aff &E) {
      return dependsOn(E, "tx") || dependsOn(E, "ty");
    });
    const double Stride =
        Uniform ? 0
                : laneStride(M, P, *A, W, double(bytes()) * P.Map.Factor[0]);
    if (Full > 0 && Width > 1)
      K.Loads.push_back({Sources * Full * Share * rounds() / Slots,
                         static_cast<unsigned>(Width * bytes()), Stride});
    const double Single = Width > 1 ? Rest : Elements;
    if (Single > 0)
      K.Loads.push_back(
          {Sources * Single * Share * rounds() / Slots, std::max(1u, bytes()),
           P.Map.Stride[0] == 1 || Uniform ? Stride : double(bytes())});
  }

  /// Is nothing asked in front of loads, but at borders?
  static bool isInside(const Window &W) { return W.InteriorPiece >= 0 && W.AllInside; }

  /// What \p Times elements are made of beside their loads, `(a[i] - b[i]) * 0.5f`, anew in
  /// every window that has them.
  void compute(const ValueRef &V, double Times) {
    if (V->K == Value::Load)
      return;
    if (V->K == Value::Affine && !involvedIds(V->Aff).empty())
      K.IntOps += Times;
    if (V->K == Value::Op) {
      const bool Double = V->Type == "double", Float = Double || isFloating(V->Type);
      const bool Called = V->Opcode == Value::Other;
      const bool Named = V->Member >= 0 || (Called && isdigit(V->Type.back())); // float4
      const bool Same = V->Opcode == Value::Cast && Float == isFloating(V->Operands[0]->Type);
      if (isSlowDivision(*V) || Named || Same)
        ; // counted elsewhere; no instruction
      else if (Float && !Double && (V->Opcode == Value::Div || Called))
        K.SpecialOps += Times;
      else
        (Double ? K.DoubleOps : Float ? K.FpOps : K.IntOps) += Times;
    }
    for (const ValueRef &O : V->Operands)
      compute(O, Times);
  }

  /// Integer divisions and remainders of what is loaded into an element of \p W, by
  /// numbers that are known at run time: in instructions. (That of a row's number is done
  /// once a row.)
  double divisions(const Window &W) const {
    double Most = 0;
    for (size_t I = 0; I < A->Stage.Pieces.size(); ++I)
      if (W.InteriorPiece < 0 || size_t(W.InteriorPiece) == I)
        Most = std::max(Most, divisionsIn(A->Stage.Pieces[I].V, W));
    return 20 * Most;
  }
  double divisionsIn(const ValueRef &V, const Window &W) const {
    double N = 0;
    if (isSlowDivision(*V)) {
      N = 1;
      for (size_t D = 0; D < W.Extent.size() && D < A->Stage.ElemIds.size(); ++D)
        if (!names(V->Operands[0], A->Stage.ElemIds[D]))
          N /= double(std::max<int64_t>(1, W.Extent[D]));
    }
    for (const ValueRef &O : V->Operands)
      N += divisionsIn(O, W);
    return N;
  }
  static bool names(const ValueRef &V, const std::string &Id) {
    return (V->K == Value::Affine && dependsOn(V->Aff, Id)) ||
           llvm::any_of(V->Operands, [&](const ValueRef &O) { return names(O, Id); });
  }

  /// What is asked and computed in front of the loads of \p Elements of \p W, of which
  /// not all are known to be in one piece.
  void ask(const Window &W, double Elements) {
    const double Each = Elements * rounds() / Slots, Divided = divisions(W);
    K.IntOps += Each * (tests(A->Stage) / 2 + Divided);
    // Loads behind branches around divisions wait for one another (doubles at `x % ring`:
    // 0.76x measured, 0.75x counted so).
    if (rounds() <= 1 && Divided > 0 && A->Stage.branches())
      Of.InTurn += Elements - 1;
  }

  /// A clamped place in a plane: minima, maxima, a product and what is added.
  static constexpr double FormOps = 8;

  /// A window that each thread loads; the registers of it that are read.
  double reload(const Window &W) {
    // Lines that are read in part only are loaded in part only.
    double Rows = 1;
    for (size_t D = 0; D + 1 < W.Extent.size(); ++D)
      Rows *= static_cast<double>(W.Extent[D]);
    if (!W.Lines.empty())
      Rows = double(llvm::count_if(
          W.Lines, [](const auto &L) { return L.first < L.second; }));
    const double Elements = double(W.registersRead());
    load(W, Elements / std::max(1.0, Rows), Rows);
    if (W.Extent.size() > 1)
      K.IntOps += Fit.RowAddress * Rows * rounds() / Slots;
    // In warps at the border a few lanes stage element by element; half of
    // what that takes is the same along a line of the window. Without an interior
    // every element asks which piece it is in.
    const double Each = Elements * rounds() / Slots;
    if (partBytes(M.Arrays[A->Array]) < 4 && !isFloating(M.Arrays[A->Array].CanonicalType))
      K.IntOps += Each * components(M.Arrays[A->Array]); // taken out of words
    if (isInside(W))
      compute(A->Stage.Pieces[static_cast<size_t>(W.InteriorPiece)].V, Each);
    const double Apart = W.InteriorPiece < 0 || W.AllInside ? Border : 1; // warps
    K.IntOps += Each * Apart * Fill.operations() / 2;
    // What border warps ask shows where elements have many formulas. (Eight, in planes:
    // 0.45x where 1.4x was predicted without it. With up to five, or in images whose
    // formulas are minima and maxima, plans were chosen worse with it.)
    const double Asked = A->Stage.Pieces.size() <= StagingFunction::ManyPieces ? 0
                         : !A->Stage.OneForm ? tests(A->Stage)
                         : rounds() > 1      ? FormOps
                                             : 0;
    if (isInside(W))
      K.IntOps += Each * (divisions(W) + Apart * Asked / 2);
    else
      ask(W, Elements);
    if (W.InteriorPiece >= 0 && !W.Interior.is_null() &&
        !W.Interior.is_equal(isl::set::universe(W.Interior.get_space())))
      K.EndOps += Each * (Fill.operations() + tests(A->Stage)) / 2;
    K.Loads.push_back({Each * Apart, std::min(4u, bytes()), 0});
    return Elements;
  }
};

} // namespace

PlacementFigures rcache::addPlacements(const KernelModel &M, const Plan &P,
                                       const Staging &Fill,
                                       const std::array<int64_t, 3> &Block,
                                       const Arch &On, Runs How, Borders Where,
                                       KernelCounts &K) {
  PlacementCost Cost(M, P, Fill, Block, On, How, Where, K);
  for (const ArrayPlan &A : P.Arrays)
    Cost.add(A);
  return Cost.Of;
}
