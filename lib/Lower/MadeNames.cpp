// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variables of the original that code made for a plan may name: in what
// stands at barriers, in reads and in runs of stores. They are known from the
// plan's values, before there is any code.

#include "Queries.h"
#include "Affine/IslTools.h"
#include "Plan/Values.h"

using namespace rcache;

namespace {

class MadeNames {
public:
  MadeNames(const KernelModel &M, const Plan &P) : M(M), P(P) {}

  std::set<unsigned> run() {
    for (const ArrayPlan &A : P.Arrays)
      if (!A.isShared() && !A.Reads.empty())
        placed(A);
    for (const PairedInterval &I : P.Paired)
      if (I.Strided)
        for (const Nullable<isl::pw_aff> &By :
             {I.Strided->Step, I.Strided->First, I.Strided->Away})
          if (!By.is_null())
            ids(involvedIds(By));
    for (const Plan::VectorStore &V : P.VectorStores)
      if (V.Bytes > M.GlobalAccesses[V.Access].ElemBytes)
        value(M.GlobalAccesses[V.Access].Index);
    return std::move(Vars);
  }

private:
  const KernelModel &M;
  const Plan &P;
  std::set<unsigned> Vars;

  void placed(const ArrayPlan &A) {
    for (const StagePiece &Piece : A.Stage.Pieces) {
      value(Piece.V);
      ids(involvedIds(Piece.Domain));
      for (const ValueRef &G : Piece.Guards)
        value(G);
    }
    if (const Window *W = A.window()) {
      for (const isl::pw_aff &F : W->First)
        ids(involvedIds(F));
      if (!W->Interior.is_null())
        ids(involvedIds(W->Interior));
    }
    if (const auto *E = A.as<ReadEarly>())
      for (const isl::pw_aff &F : E->First)
        ids(involvedIds(F));
    for (const WindowRead &R : A.registerReads())
      for (const isl::pw_aff &I : R.Register)
        ids(involvedIds(I));
    if (const auto *O = A.as<Owned>()) {
      for (const Owned::Fetch &F : O->Fetches) {
        ids(involvedIds(F.By));
        ids(involvedIds(F.Slots));
      }
      for (const auto &[Access, Part] : O->PartOf)
        ids(involvedIds(Part));
    }
    if (A.as<FromSource>() || A.as<Restaged>())
      for (unsigned Rd : A.Reads)
        for (const ValueRef &I : M.SharedAccesses[Rd].IndexValues)
          if (I)
            value(I);
  }

  void value(const ValueRef &V) { ids(valueSymbols(V)); }

  void ids(const std::vector<std::string> &Ids) {
    for (const std::string &Id : Ids) {
      if (const int I = M.symbolIndex(Id); I >= 0)
        symbol(M.Symbols[static_cast<size_t>(I)]);
      ids(productFactors(Id));
    }
  }

  void symbol(const Symbol &S) {
    // The round of an unrolled loop has a name of its own.
    for (unsigned L : P.UnrolledLoops)
      if (const Stmt &Loop = M.stmt(L);
          Loop.IterSymbol == &S - M.Symbols.data() && !M.countsItself(Loop))
        return;
    auto Add = [&](unsigned V) {
      if (!M.Vars[V].IsParam)
        Vars.insert(V);
    };
    for (unsigned V : S.Vars)
      Add(V);
    if (S.VarId >= 0)
      Add(static_cast<unsigned>(S.VarId));
    ids(S.Factors);
  }
};

} // namespace

std::set<unsigned> rcache::madeVariables(const KernelModel &M, const Plan &P) {
  return MadeNames(M, P).run();
}
