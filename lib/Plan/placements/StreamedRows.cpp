// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StreamedRows.h. Legal where every read of the window walks over its rows
// with one loop, and nothing but arithmetic stands between barrier and loop.

#include "StreamedRows.h"
#include "Affine/IslTools.h"
#include "Placements.h"
#include <algorithm>

using namespace rcache;

namespace {

/// Row = slot + iterator + offset: how one read moves along the first
/// dimension.
struct RowOf {
  int Loop = -1; ///< Stmt
  int Axis = -1; ///< of the slot, -1: the same row for all slots
  int64_t Offset = 0;
  bool operator==(const RowOf &O) const {
    return Loop == O.Loop && Axis == O.Axis && Offset == O.Offset;
  }
};

/// The loop around \p Acc whose iterator is \p Id.
int loopOf(const KernelModel &M, const SharedAccess &Acc,
           const std::string &Id) {
  for (int P = static_cast<int>(Acc.Stmt); P >= 0; P = M.stmt(P).Parent) {
    const Stmt &S = M.stmt(static_cast<unsigned>(P));
    if (S.IterSymbol >= 0 &&
        M.Symbols[static_cast<size_t>(S.IterSymbol)].Id == Id)
      return P;
  }
  return -1;
}

std::optional<RowOf> rowOf(const KernelModel &M, const WindowRead &W) {
  const isl::pw_aff &R = W.Register.front();
  auto L = linearForm(R, isl::set::universe(R.domain().space()));
  if (!L)
    return std::nullopt;
  static const std::vector<std::string> Slots = {"sx", "sy", "sz"};
  RowOf Out;
  Out.Offset = L->Const;
  for (const auto &[Id, Coef] : L->Terms) {
    if (Coef == 0)
      continue;
    auto Slot = std::find(Slots.begin(), Slots.end(), Id);
    int *Where = Slot != Slots.end() ? &Out.Axis : &Out.Loop;
    if (Coef != 1 || *Where >= 0)
      return std::nullopt;
    *Where = Slot != Slots.end() ? static_cast<int>(Slot - Slots.begin())
                                 : loopOf(M, M.SharedAccesses[W.Access], Id);
    if (*Where < 0)
      return std::nullopt;
  }
  if (Out.Loop < 0)
    return std::nullopt;
  const Stmt &S = M.stmt(static_cast<unsigned>(Out.Loop));
  if (S.K != Stmt::For || S.Step != 1 || !S.ConstTripCount || !S.ConstFirst ||
      !M.countsItself(S))
    return std::nullopt;
  return Out;
}

std::optional<RowOf> commonRow(const KernelModel &M, const ArrayPlan &A) {
  const auto *P = A.as<Reloaded>();
  if (!P || P->W.Extent.size() < 2 || P->W.Extent[0] < 2 || P->W.SlotSpan ||
      !P->W.Lines.empty() || P->W.Reads.empty())
    return std::nullopt;
  std::optional<RowOf> All;
  for (const WindowRead &W : P->W.Reads) {
    auto R = rowOf(M, W);
    if (!R || (All && !(*All == *R)))
      return std::nullopt;
    All = R;
  }
  return All;
}

/// Between the barrier and the end of the loop nothing happens but arithmetic:
/// then the loads may be done there, and the barrier after them.
bool onlyComputes(const KernelModel &M, const Plan &P, unsigned Barrier,
                  unsigned Loop) {
  const Stmt &B = M.stmt(Barrier), &L = M.stmt(Loop);
  if (L.Range.Begin < B.Range.End)
    return false;
  for (int Q = L.Parent; Q != B.Parent; Q = M.stmt(Q).Parent) {
    if (Q < 0)
      return false;
    const Stmt &S = M.stmt(static_cast<unsigned>(Q));
    if (S.K != Stmt::Block && (S.K != Stmt::If || S.Children.size() != 1))
      return false;
  }
  for (const Stmt &S : M.Stmts)
    if (S.K == Stmt::Barrier && S.Id != Barrier &&
        S.Range.Begin >= B.Range.Begin && S.Range.End <= L.Range.End)
      return false;
  // Another window that shares the barrier is filled where the barrier stood;
  // one that stays shared needs the barrier there.
  for (const ArrayPlan &O : P.Arrays)
    if (O.isShared())
      for (const SharedAccess &S : M.SharedAccesses)
        if (S.Array == O.Array && S.Range.Begin >= B.Range.End &&
            S.Range.Begin < L.Range.End)
          return false;
  if (!P.KeepBarriers)
    return true;
  // The loads stay in front of every store that the barrier put behind them.
  for (const GlobalAccess &G : M.GlobalAccesses)
    if (G.K != GlobalAccess::Read && G.Range.Begin < L.Range.End)
      return false;
  for (int Q = L.Parent; Q >= 0; Q = M.stmt(Q).Parent) {
    const Stmt &S = M.stmt(static_cast<unsigned>(Q));
    if (S.isLoop() &&
        S.HasGlobalWrite)
      return false;
  }
  return true;
}

} // namespace

std::optional<Plan> rcache::streamRows(const KernelModel &M, const Plan &P,
                                       int64_t MaxHeld) {
  Plan Q = P;
  std::optional<RowOf> Row;
  unsigned Barrier = 0;
  bool Any = false;
  for (ArrayPlan &A : Q.Arrays) {
    auto R = commonRow(M, A);
    // One loop is streamed, all its windows in step.
    if (!R || (Row && !(*R == *Row && A.Barrier == Barrier)) ||
        !onlyComputes(M, P, A.Barrier, static_cast<unsigned>(R->Loop)))
      continue;
    Row = R;
    Barrier = A.Barrier;
    A.Where = StreamedRows{std::move(A.as<Reloaded>()->W),
                           static_cast<unsigned>(R->Loop), R->Axis, R->Offset};
    Any = true;
  }
  if (!Any)
    return std::nullopt;
  // Rows are counted by one counter.
  int64_t Rows = 0;
  for (const ArrayPlan &A : Q.Arrays) {
    if (const auto *S = A.as<StreamedRows>()) {
      if (Rows && S->W.Extent[0] != Rows)
        return std::nullopt;
      Rows = S->W.Extent[0];
    }
    if ((A.as<Reloaded>() || A.as<StreamedRows>()) &&
        registersHeld(A) > MaxHeld)
      return std::nullopt;
  }
  Q.TapsOutside = true;
  return Q;
}

const char *rcache::nameOf(const StreamedRows &) { return "reload"; }
std::string rcache::detailOf(const StreamedRows &) { return ""; }
std::string rcache::summaryOf(const StreamedRows &) {
  return "reloaded row by row";
}

void rcache::print(llvm::raw_ostream &OS, const StreamedRows &S,
                   const Placed &In) {
  printShape(OS, S.W);
  OS << "    rows streamed by the loop of line " << In.M.stmt(S.Loop).Pos.Line
     << ", row = round"
     << (S.Axis >= 0 ? std::string(" + s") + "xyz"[S.Axis] : std::string())
     << " + " << S.Offset << "\n";
  printReads(OS, S.W.Reads, In.M);
  printInterior(OS, S.W);
}

int64_t rcache::held(const StreamedRows &S) {
  int64_t N = 1;
  for (size_t D = 1; D < S.W.Extent.size(); ++D)
    N *= S.W.Extent[D];
  return N;
}

void rcache::count(const StreamedRows &S, const Placed &In, double Rounds,
                   PlanCounts &K) {
  count(Reloaded{S.W}, In, Rounds, K);
}

void rcache::draw(const StreamedRows &S, const Placed &In,
                  ArrayPicture &Picture) {
  Picture.Detail = "row by row";
  Picture.Words = "registers, each thread loads its window, row by row: one row is "
                  "held at a time, used up by all that need it, and dropped";
  drawReloads(S.W, In, Picture);
}
