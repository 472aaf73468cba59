// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Restaged.h.

#include "Restaged.h"
#include "../Counts.h"
#include "../Staging.h"
#include "Affine/IslTools.h"
#include "Placements.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

namespace {
constexpr unsigned VectorBytes = 16;
const char *const ThreadIds[3] = {"tx", "ty", "tz"};
} // namespace

//===-- Layout ------------------------------------------------------------===//

std::vector<Restaged::Dimension>
Restaged::layout(const std::array<unsigned, 3> &Blocks) const {
  std::vector<Dimension> All;
  for (unsigned Axis = 3; Axis-- > 0;)
    if (PerBlock[Axis] && int(Axis) != Beside)
      All.push_back({Dimension::OfBlock, Axis, Blocks[Axis]});
  for (unsigned D = 0; D < Extent.size(); ++D) {
    if (D + 1 == Extent.size() && Beside >= 0)
      All.push_back({Dimension::OfBlock, unsigned(Beside), Blocks[Beside]});
    All.push_back({Dimension::OfElement, D, Extent[D]});
  }
  return All;
}

int64_t Restaged::elements(const std::array<unsigned, 3> &Blocks) const {
  int64_t N = 1;
  for (const Dimension &D : layout(Blocks))
    N *= D.Extent;
  return N;
}

int64_t Restaged::bytes(const std::array<unsigned, 3> &Blocks,
                        unsigned ElemBytes) const {
  const auto All = layout(Blocks);
  if (All.empty())
    return 0;
  const int64_t Row = All.back().Extent;
  return elements(Blocks) / Row * (Row + Pad) * ElemBytes;
}

int64_t Plan::restagedBytes(const KernelModel &M) const {
  int64_t Bytes = 0;
  for (const ArrayPlan &A : Arrays)
    if (const auto *R = A.as<Restaged>())
      Bytes += (R->bytes(Map.Blocks, M.Arrays[A.Array].ElemBytes) + 15) / 16 * 16;
  return Bytes * (Ahead ? Ahead->Tiles : 1);
}

//===-- Legality ----------------------------------------------------------===//

namespace {

/// Which block coordinates an expression hangs on, and whether it can be asked for
/// any block at the barrier.
class BlockUse {
public:
  explicit BlockUse(const KernelModel &M) : M(M) {}

  std::array<bool, 3> Of = {};
  bool Portable = true;

  void add(const std::vector<std::string> &Ids) {
    for (const std::string &Id : Ids) {
      add(productFactors(Id));
      if (const int I = M.symbolIndex(Id); I >= 0)
        add(M.Symbols[static_cast<size_t>(I)]);
    }
  }

  void add(const ValueRef &V) {
    switch (V->K) {
    case Value::Affine:
      return add(involvedIds(V->Aff));
    case Value::Select:
      add(involvedIds(V->Cond));
      break;
    case Value::Undefined:
    case Value::Unknown:
      Portable = false;
      return;
    case Value::Uniform:
    case Value::Op:
    case Value::Load: {
      // Nothing of the block but in the operands.
      unsigned Below = 0;
      for (const ValueRef &O : V->Operands)
        Below |= O->Depends;
      Portable &= !(V->Depends & DepBlock & ~Below);
      break;
    }
    }
    for (const ValueRef &O : V->Operands)
      add(O);
  }

private:
  const KernelModel &M;

  void add(const Symbol &S) {
    if (S.K == Symbol::BlockIdx) {
      Of[S.Axis] = true;
      return;
    }
    if (S.K == Symbol::ThreadIdx)
      Portable = false;
    if (!S.Factors.empty())
      return add(S.Factors);
    // Other text is the same for all threads of all blocks, or is not moved.
    if (S.K == Symbol::Opaque || S.K == Symbol::Iterator)
      Portable &= !(S.Depends & (DepThread | DepBlock | DepShared | DepGlobal));
  }
};

/// Is \p Barrier passed whenever \p In's body is?
bool unconditional(const KernelModel &M, const Stmt &Barrier, const Stmt &In) {
  for (int Q = Barrier.Parent; Q >= 0; Q = M.stmt(unsigned(Q)).Parent) {
    const Stmt &S = M.stmt(unsigned(Q));
    if (S.Id == In.Id)
      return true;
    if (S.K != Stmt::Block)
      return false;
  }
  return false;
}

/// The innermost loop around both; null: none.
const Stmt *loopAround(const KernelModel &M, unsigned Barrier, TextRange Read) {
  for (int Q = M.stmt(Barrier).Parent; Q >= 0; Q = M.stmt(unsigned(Q)).Parent) {
    const Stmt &S = M.stmt(unsigned(Q));
    if (S.isLoop() &&
        S.Range.contains(Read))
      return &S;
  }
  return nullptr;
}

/// Does a barrier of the block stand between each read and the next time that the
/// array is filled, at the group's barrier?
bool readsAreOver(const KernelModel &M, const StagingGroup &G) {
  const TextRange Fill = M.stmt(G.Barrier).Range;
  const unsigned FirstWrite = M.SharedAccesses[G.Writes.front()].Range.Begin;
  return llvm::all_of(G.Reads, [&](unsigned R) {
    const TextRange Read = M.SharedAccesses[R].Range;
    const Stmt *Loop = loopAround(M, G.Barrier, Read);
    if (!Loop)
      return Read.Begin > Fill.Begin;
    return llvm::any_of(M.Stmts, [&](const Stmt &B) {
      if (B.K != Stmt::Barrier || B.Id == G.Barrier ||
          B.Sync == Stmt::Syncwarp || !unconditional(M, B, *Loop))
        return false;
      return Read.Begin > Fill.Begin
                 ? B.Range.Begin > Read.End || B.Range.End < FirstWrite
                 : B.Range.Begin > Read.End && B.Range.End < Fill.Begin;
    });
  });
}

/// Extents of the box of elements from 0 that \p F covers wherever \p Known holds;
/// nullopt: it is no such box.
std::optional<std::vector<int64_t>> coveredBox(const StagingFunction &F,
                                               const isl::set &Known) {
  isl::ctx Ctx = Known.ctx();
  isl::set All = never(Ctx), Staged = never(Ctx);
  for (const StagePiece &P : F.Pieces) {
    All = All.unite(P.Domain);
    if (P.Guards.empty())
      Staged = Staged.unite(P.Domain);
  }
  All = All.intersect(Known);
  std::vector<int64_t> Extent;
  isl::set Box = Known;
  for (const std::string &Id : F.ElemIds) {
    const isl::pw_aff E = symbolValue(Ctx, Id);
    const auto Lo = minConst(E, All), Hi = maxConst(E, All);
    if (!Lo || !Hi || *Lo < 0 || *Hi > 4096)
      return std::nullopt;
    Extent.push_back(*Hi + 1);
    Box = Box.intersect(
        inRange(E, constantValue(Ctx, 0), constantValue(Ctx, *Hi + 1)));
  }
  if (Extent.empty() || !impliedBy(Staged.coalesce(), Box))
    return std::nullopt;
  return Extent;
}

/// Are all elements that \p S reads in the box?
bool inBox(const SharedAccess &S, const std::vector<int64_t> &Extent,
           const Assumptions &A) {
  if (!S.Affine || S.K != SharedAccess::Read || S.Domain.is_null() ||
      S.Index.size() != Extent.size())
    return false;
  const isl::set Where = A.Context.intersect(A.fix(S.Domain));
  for (size_t D = 0; D < Extent.size(); ++D)
    if (!impliedBy(inRange(A.fix(S.Index[D]), constantValue(Where.ctx(), 0),
                           constantValue(Where.ctx(), Extent[D])),
                   Where))
      return false;
  return true;
}

/// What a step of the thread along \p Axis adds to dimension \p D of \p S.
int64_t stepOf(const SharedAccess &S, size_t D, unsigned Axis) {
  const isl::pw_aff &I = S.Index[D];
  return linearCoefficient(I, ThreadIds[Axis],
                           isl::set::universe(I.domain().space()))
      .value_or(0);
}

} // namespace

unsigned rcache::neighboursRead(const KernelModel &M, unsigned Array,
                                unsigned Axis) {
  const unsigned Bytes = std::max(1u, M.Arrays[Array].ElemBytes);
  for (const SharedAccess &S : M.SharedAccesses)
    if (S.Array == Array && S.K == SharedAccess::Read && S.Affine &&
        !S.Index.empty() && stepOf(S, S.Index.size() - 1, Axis) == 1)
      return std::clamp(VectorBytes / Bytes, 1u, 4u);
  return 1;
}

/// Do elements that follow one another in memory lie in different rows?
static bool acrossRows(const StagingFunction &F) {
  return llvm::any_of(F.Pieces, [&](const StagePiece &S) {
    if (S.V->K != Value::Load || S.V->Operands[0]->K != Value::Affine)
      return false;
    const isl::pw_aff Index = S.V->Operands[0]->Aff;
    const auto L = linearForm(Index, always(Index.ctx()));
    if (!L)
      return false;
    const auto T = L->Terms.find(F.ElemIds.back());
    return T == L->Terms.end() || T->second != 1;
  });
}

/// Copies beside each other where a row is read along an axis of theirs; a vector
/// between rows that lanes read in parallel, so that they are in different banks.
static void arrange(const KernelModel &M, const StagingGroup &G,
                    const StagingFunction &F, Restaged &R) {
  const unsigned Bytes = std::max(1u, M.Arrays[G.Array].ElemBytes);
  bool Rows = false;
  for (unsigned Rd : G.Reads) {
    const SharedAccess &S = M.SharedAccesses[Rd];
    const size_t Last = S.Index.size() - 1;
    bool Along = false;
    for (unsigned Axis = 0; Axis < 2; ++Axis) {
      Along |= stepOf(S, Last, Axis) != 0;
      if (R.PerBlock[Axis] && R.Beside < 0 && stepOf(S, Last, Axis) == 1)
        R.Beside = int(Axis);
    }
    for (size_t D = 0; D < Last && !Along; ++D)
      for (unsigned Axis = 0; Axis < 2; ++Axis)
        Rows |= stepOf(S, D, Axis) != 0;
  }
  if (Rows || acrossRows(F))
    R.Pad = std::max(1u, VectorBytes / Bytes);
}

std::optional<ArrayPlan> rcache::restagedArray(const KernelModel &M,
                                               const StagingGroup &G,
                                               const StagingFunction &F,
                                               const Assumptions &A,
                                               const Mapping &Map) {
  const SharedArray &Of = M.Arrays[G.Array];
  if (G.Reads.empty() || G.Writes.empty() || Of.Dynamic || Of.AtFileScope ||
      Of.Volatile || Of.Extents.empty() || !readsAreOver(M, G))
    return std::nullopt;
  const Stmt &Barrier = M.stmt(G.Barrier);
  isl::set Known = A.Context;
  if (!Barrier.Domain.is_null())
    Known = Known.intersect(A.fix(Barrier.Domain));
  Known = projectOut(Known, {"tx", "ty", "tz"});
  StagingFunction Stage = F;
  BlockUse Use(M);
  for (StagePiece &P : Stage.Pieces) {
    P.Domain = simplify(P.Domain, Known); // what holds at the barrier is not asked
    Use.add(P.V);
    Use.add(involvedIds(P.Domain));
    for (const ValueRef &V : P.Guards)
      Use.add(V);
  }
  auto Extent = coveredBox(F, Known);
  if (!Use.Portable || !Extent)
    return std::nullopt;
  for (unsigned R : G.Reads)
    if (!inBox(M.SharedAccesses[R], *Extent, A))
      return std::nullopt;
  Restaged R;
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    R.PerBlock[Axis] = Use.Of[Axis] && Map.Blocks[Axis] > 1;
  R.Extent = std::move(*Extent);
  arrange(M, G, F, R);
  ArrayPlan P;
  P.Array = G.Array;
  P.Barrier = G.Barrier;
  P.Writes = G.Writes;
  P.Reads = G.Reads;
  P.Stage = std::move(Stage);
  P.Where = std::move(R);
  return P;
}

//===-- The questions -----------------------------------------------------===//

const char *rcache::nameOf(const Restaged &) { return "restage"; }

std::string rcache::detailOf(const Restaged &R) {
  std::string T;
  for (int64_t E : R.Extent)
    T += (T.empty() ? " " : "x") + std::to_string(E);
  for (unsigned Axis = 0; Axis < 3; ++Axis)
    if (R.PerBlock[Axis])
      T += std::string(", a copy for each block along ") + "xyz"[Axis] +
           (R.Beside == int(Axis) ? ", beside each other" : "");
  if (R.Pad)
    T += ", rows " + std::to_string(R.Pad) + " apart";
  return T;
}

std::string rcache::summaryOf(const Restaged &R) {
  return R.PerBlock[0] && R.PerBlock[1]
             ? "kept shared, filled for several blocks"
             : "kept shared, staged once for several blocks";
}

void rcache::print(llvm::raw_ostream &, const Restaged &, const Placed &) {}
int64_t rcache::held(const Restaged &) { return 1; }

void rcache::count(const Restaged &R, const Placed &In, double Rounds,
                   PlanCounts &K) {
  const Mapping &Map = In.P.Map;
  for (unsigned Rd : In.A.Reads) {
    const SharedAccess &S = In.M.SharedAccesses[Rd];
    K.SharedReads += roundsOf(In.M, S.Stmt) /
                     sharingSlots(In.M, S, Map.Factor, In.P.TapsOutside);
  }
  const double Each = Rounds * double(R.elements(Map.Blocks)) /
                      double(Map.lanes() * Map.slots());
  K.SharedWrites += Each;
  K.GlobalLoads += Each;
  K.LoadInstructions += Each;
}

void rcache::draw(const Restaged &R, const Placed &In, ArrayPicture &Picture) {
  const std::array<unsigned, 3> &Blocks = In.P.Map.Blocks;
  const unsigned Joined = Blocks[0] * Blocks[1] * Blocks[2];
  const bool Ahead = In.P.Ahead.has_value();
  Picture.Words = "stays in shared memory, filled at " +
                  std::string(Ahead ? "the barrier of the round before"
                                    : "the barrier") +
                  " by all threads, for " + std::to_string(Joined) +
                  " of the original's blocks";
  if (!R.PerBlock[0] && !R.PerBlock[1] && !R.PerBlock[2])
    Picture.Words += ", which share one copy";
  if (Ahead)
    Picture.Layout.push_back({"tiles", int64_t(In.P.Ahead->Tiles)});
  for (const Restaged::Dimension &D : R.layout(Blocks))
    Picture.Layout.push_back(
        {D.K == Restaged::Dimension::OfBlock
             ? std::string("blocks along ") + "xyz"[D.Index]
             : "elements",
         D.Extent});
  if (!Picture.Layout.empty())
    Picture.Layout.back().Size += Picture.Layout.back().Padding = R.Pad;
}
