// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the slots of a region read of joined blocks' tiles, read by all of them before
// one of them computes, and along a row of the tile for several rounds at once:
//
//     for (int k = 0; k < 16; ++k) {
//       if (k % 4 == 0)
//         for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
//           for (int rc_k = 0; rc_k < 4; ++rc_k)
//             rc_a_read[rc_k][rc_sy] = rc_a_tile[rc_thread_y][k + rc_k];
//       for (int rc_sy = 0; rc_sy < 4; ++rc_sy)
//         s[rc_sy] += apart(rc_a_read[k % 4][rc_sy], rc_sy) * ...;
//     }
//
// nvcc joins loads of neighbours to one of 16 bytes where nothing stands between them
// that it does not know to return, and of an asm statement, which `apart` and
// conversions of halves are, it does not: 192 loads of a word beside 512 sums instead
// of 48 (a product of 4096 x 4096 was 2.2x the original's speed, and is 3.2x with these).

#include "Affine/IslTools.h"
#include "Division.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

namespace {

class ReadsFirst {
public:
  ReadsFirst(const Queries &Q, Division &D) : Q(Q), M(Q.M), D(D) {}

  void find() {
    for (const Region &R : D.Regions)
      if (hasWalls(R))
        for (unsigned I = 0; I < M.SharedAccesses.size(); ++I) {
          const SharedAccess &A = M.SharedAccesses[I];
          if (A.K == SharedAccess::Read && !D.inDead(A.Range, Q) && onceIn(R, A.Range) &&
              standsBefore(R, A) && isInTile(I))
            D.ReadFirst[I] = alongRow(R, A);
        }
  }

private:
  const Queries &Q;
  const KernelModel &M;
  Division &D;

  /// Is it read from a tile of joined blocks, and within what is staged there, whatever the
  /// conditions around it are?
  bool isInTile(unsigned Access) const {
    const ArrayPlan *Of = tileRead(Q.P, Access);
    return Of && isWithin(M.SharedAccesses[Access], Of->as<Restaged>()->Extent, M, Q.P);
  }

  /// Will something stand between loads that nvcc joins none across?
  bool hasWalls(const Region &R) const {
    return llvm::any_of(R.Slot, [&](unsigned C) {
      const TextRange In = M.stmt(C).Range;
      return M.stmt(C).HasCall ||
             llvm::any_of(M.Apart, [&](TextRange F) { return In.contains(F); }) ||
             llvm::any_of(M.SharedAccesses, [&](const SharedAccess &A) {
               return In.contains(A.Range) && Q.isHiddenAlone(A);
             });
    });
  }

  /// Does \p A walk along a row in a loop around the region, without barriers, of which each
  /// round comes to the region, and so many that words of 16 bytes, or four elements, fit?
  Division::TileRead alongRow(const Region &R, const SharedAccess &A) const {
    const unsigned Rounds = std::min(4u, 16 / std::max(1u, M.Arrays[A.Array].ElemBytes));
    int At = M.stmt(R.All.front()).Parent;
    if (At >= 0 && !M.stmt(static_cast<unsigned>(At)).isLoop())
      At = M.stmt(static_cast<unsigned>(At)).Parent;
    if (At < 0 || Rounds < 2)
      return {};
    const Stmt &Loop = M.stmt(static_cast<unsigned>(At));
    const bool Skips = llvm::any_of(M.Stmts, [&](const Stmt &S) {
      return Loop.Range.contains(S.Range) &&
             (S.K == Stmt::Continue || S.K == Stmt::Break || S.K == Stmt::Return);
    });
    if (Skips || Loop.HasBarrier || Loop.K != Stmt::For || Loop.IterSymbol < 0 || Loop.Step != 1 || Loop.ConstFirst != 0 ||
        !Loop.ConstTripCount || *Loop.ConstTripCount % Rounds || *Loop.ConstTripCount > 64 ||
        !M.countsItself(Loop))
      return {};
    const std::string &Id = M.Symbols[static_cast<size_t>(Loop.IterSymbol)].Id;
    for (const ValueRef &V : A.IndexValues)
      if (V != A.IndexValues.back() && llvm::is_contained(valueSymbols(V), Id))
        return {};
    const ValueRef &Last = A.IndexValues.back();
    if (Last->K != Value::Affine)
      return {};
    const auto Sum = linearForm(Last->Aff, always(Last->Aff.ctx()));
    if (!Sum || Sum->Terms.size() != 1 || Sum->Terms.begin()->first != Id ||
        Sum->Terms.begin()->second != 1 || Sum->Const % Rounds)
      return {};
    return {At, Rounds};
  }

  /// Does \p Range stand in slot code of \p R, and in no loop of it?
  bool onceIn(const Region &R, TextRange Range) const {
    const auto Holds = [&](unsigned C) { return M.stmt(C).Range.contains(Range); };
    return llvm::any_of(R.Slot, Holds) && llvm::none_of(M.Stmts, [&](const Stmt &S) {
      return S.isLoop() && S.Range.contains(Range) && !aroundRegion(S, R);
    });
  }

  bool aroundRegion(const Stmt &S, const Region &R) const {
    return S.Id != R.All.front() && S.Range.contains(M.stmt(R.All.front()).Range);
  }

  /// Is the element the same in front of the region? It hangs on the thread, arguments and
  /// rounds of loops around the region alone.
  bool standsBefore(const Region &R, const SharedAccess &A) const {
    return llvm::all_of(A.IndexValues, [&](const ValueRef &V) {
      return V && llvm::all_of(valueSymbols(V), [&](const std::string &Id) {
        const int I = M.symbolIndex(Id);
        return I >= 0 && standsBefore(R, static_cast<unsigned>(I));
      });
    });
  }

  bool standsBefore(const Region &R, unsigned Id) const {
    switch (M.Symbols[Id].K) {
    case Symbol::Opaque:
      return M.Symbols[Id].Anywhere;
    case Symbol::Iterator:
      return llvm::any_of(M.Stmts, [&](const Stmt &S) {
        return S.IterSymbol == static_cast<int>(Id) && aroundRegion(S, R);
      });
    default:
      return true;
    }
  }
};

} // namespace

void rcache::readTilesFirst(const Queries &Q, Division &D) {
  if (Q.P.slots() > 1)
    ReadsFirst(Q, D).find();
}
