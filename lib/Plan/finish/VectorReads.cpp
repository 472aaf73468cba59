// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Finish.h.

#include "../placements/OwnedFetches.h"
#include "Affine/IslTools.h"
#include "Finish.h"
#include "llvm/ADT/STLExtras.h"
#include <bit>

using namespace rcache;

namespace {

class ReadSearch {
public:
  ReadSearch(const KernelModel &M, const Assumptions &A, const isl::set &First,
             Plan &P)
      : M(M), A(A), First(First), P(P), Slots(P.Map.Factor[0]) {}

  void run() {
    for (unsigned I = 0; I < M.GlobalAccesses.size(); ++I) {
      const GlobalAccess &G = M.GlobalAccesses[I];
      if (G.K != GlobalAccess::Read || G.Root < 0 || !G.Index ||
          G.Index->K != Value::Affine || !G.DomainExact || G.Domain.is_null() ||
          G.ElemType != M.Params[static_cast<size_t>(G.Root)].PointeeType ||
          isChanged(G.Root) || isPartOfMore(G.Range) || !standsAlone(G))
        continue;
      const unsigned Bytes = width(G);
      const isl::set All = whenAllRead(G);
      if (Bytes > G.ElemBytes && !All.is_empty() && isSaidAnywhere(G, All))
        P.VectorReads.push_back({I, Bytes, All});
    }
  }

private:
  const KernelModel &M;
  const Assumptions &A;
  const isl::set &First; ///< what holds for threads of first slots
  Plan &P;
  const int64_t Slots;

  bool isChanged(int Root) const {
    const int V = M.Params[static_cast<size_t>(Root)].VarId;
    return V < 0 || M.Vars[static_cast<size_t>(V)].Assigned;
  }

  /// Is its address taken, or is there a second access in it?
  bool isPartOfMore(TextRange R) const {
    const std::string Before = M.Text.substr(0, R.Begin);
    const size_t Last = Before.find_last_not_of(" \t\n(");
    if (Last != std::string::npos && Before[Last] == '&' &&
        (Last == 0 || Before[Last - 1] != '&'))
      return true;
    for (const GlobalAccess &O : M.GlobalAccesses)
      if (!(O.Range == R) && (R.contains(O.Range) || O.Range.contains(R)))
        return true;
    return llvm::any_of(M.SharedAccesses, [&](const SharedAccess &S) {
      return R.contains(S.Range);
    });
  }

  /// Between two barriers, in no loop, where nothing is stored in memory.
  bool standsAlone(const GlobalAccess &G) const {
    if (P.paired(G.Range))
      return false; // run by slots under other threads' numbers
    unsigned Top = G.Stmt;
    for (;; Top = static_cast<unsigned>(M.stmt(Top).Parent)) {
      const Stmt &S = M.stmt(Top);
      if (S.HasBarrier || S.isLoop() || S.K == Stmt::Switch)
        return false;
      if (S.Parent < 0)
        return false;
      if (M.stmt(static_cast<unsigned>(S.Parent)).HasBarrier)
        break;
    }
    SharedAccess At; // any access there
    At.Stmt = Top;
    const TextRange In = intervalOf(M, At);
    return llvm::none_of(M.GlobalAccesses,
                         [&](const GlobalAccess &O) {
                           return O.K != GlobalAccess::Read &&
                                  In.contains(O.Range);
                         }) &&
           llvm::none_of(M.Effects, [&](const Effect &E) {
             return In.contains(E.Range) &&
                    (E.K == Effect::SetsMemory || E.K == Effect::Call ||
                     E.K == Effect::Volatile);
           });
  }

  /// Of one vector, in bytes; the element's own: they are no neighbours.
  unsigned width(const GlobalAccess &G) const {
    if (G.ElemBytes > 8 || !std::has_single_bit(G.ElemBytes))
      return G.ElemBytes;
    const auto Step = linearCoefficient(A.fix(G.Index->Aff), "tx",
                                        A.fix(G.Domain).intersect(A.Context));
    if (!Step || *Step != 1)
      return G.ElemBytes;
    unsigned Bytes = 16;
    while (Bytes > G.ElemBytes && (Slots * G.ElemBytes) % Bytes != 0)
      Bytes /= 2;
    return Bytes;
  }

  /// [tx of the first slot, symbols] -> { : }; empty: not known.
  isl::set whenAllRead(const GlobalAccess &G) const {
    const isl::set One = A.fix(G.Domain).intersect(A.Context);
    const isl::pw_aff T = symbolValue(M.Ctx->ctx(), "tx");
    auto Slot = [&](int64_t S) {
      return substitute(One, {{"tx", T.add(constantValue(M.Ctx->ctx(), S))}});
    };
    const isl::set All = Slot(0).intersect(Slot(Slots - 1));
    for (int64_t S = 1; S + 1 < Slots; ++S)
      if (!All.is_subset(Slot(S)))
        return All.subtract(All);
    return simplify(All, First);
  }

  /// Do the symbols mean the same at every place of the kernel?
  bool isSaidAnywhere(const GlobalAccess &G, const isl::set &All) const {
    std::vector<std::string> Ids = involvedIds(A.fix(G.Index->Aff));
    llvm::append_range(Ids, involvedIds(All));
    return llvm::all_of(Ids, [&](const std::string &Id) {
      const int I = M.symbolIndex(Id);
      if (I < 0)
        return false;
      const Symbol &S = M.Symbols[static_cast<size_t>(I)];
      return S.Anywhere || (S.K != Symbol::Opaque && S.K != Symbol::Iterator);
    });
  }
};

} // namespace

void rcache::findVectorReads(const KernelModel &M, const Assumptions &A,
                             const isl::set &First, Plan &P) {
  const bool Owns = llvm::any_of(
      P.Arrays, [](const ArrayPlan &Of) { return Of.as<Owned>(); });
  if (Owns && P.Map.Stride[0] == 1 && P.slots() > 1)
    ReadSearch(M, A, First, P).run();
}
