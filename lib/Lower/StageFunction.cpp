// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The staging function of an array as a lambda of the element's coordinates. See
// Fill.h.

#include "Affine/IslTools.h"
#include "Fill.h"
#include "IndexText.h"
#include "Plan/Staging.h"
#include "Plan/Values.h"
#include "llvm/ADT/STLExtras.h"
#include <isl/set.h>
#include <numeric>

using namespace rcache;

/// A load, or what a user's function computes, is made only where the original
/// made it; other values may be computed anywhere.
static bool isPure(const ValueRef &V) {
  return V->K != Value::Load && V->K != Value::Op &&
         llvm::all_of(V->Operands, isPure);
}

/// The elements that the reads of \p A ask the staging function for, where they
/// stand: no slot runs them that the original does not.
static isl::set askedByReads(const ArrayPlan &A, const KernelModel &M,
                             const Plan &P) {
  const Assumptions Known = makeAssumptions(M, P.Map.Block, P.Map.BlockMultiple);
  std::vector<std::string> Gone = {"tx", "ty", "tz"};
  for (const Symbol &S : M.Symbols)
    if (S.K == Symbol::Iterator)
      Gone.push_back(S.Id);
  for (const StagePiece &Piece : A.Stage.Pieces) // these mean a round of a loop
    for (const auto &Ids : {involvedIds(Piece.Domain), valueSymbols(Piece.V)})
      for (const std::string &Id : Ids)
        llvm::erase(Gone, Id);
  isl::set Asked = never(M.Ctx->ctx());
  for (unsigned Rd : A.Reads) {
    const SharedAccess &S = M.SharedAccesses[Rd];
    if (!S.Affine || S.Index.size() != A.Stage.ElemIds.size() ||
        S.Domain.is_null())
      return always(M.Ctx->ctx());
    isl::set At = Known.fix(S.Domain).intersect(Known.Context);
    for (size_t D = 0; D < S.Index.size(); ++D)
      At = At.intersect(Known.fix(S.Index[D])
                            .eq_set(symbolValue(M.Ctx->ctx(),
                                                A.Stage.ElemIds[D])));
    At = projectOut(At, Gone);
    // Those between them do not matter (`tid % 3 == 1`), and would be told apart.
    if (At.involves_locals())
      At = isl::manage(isl_set_remove_divs(At.release()));
    Asked = Asked.unite(At);
  }
  return Asked.coalesce();
}

/// The elements that all copies of \p R have.
static isl::set stagedBox(const Restaged &R, llvm::ArrayRef<std::string> Ids,
                          isl::ctx Ctx) {
  isl::set Box = always(Ctx);
  for (size_t D = 0; D < Ids.size(); ++D)
    Box = Box.intersect(inRange(symbolValue(Ctx, Ids[D]), constantValue(Ctx, 0),
                                constantValue(Ctx, R.Extent[D])));
  return Box;
}

isl::set Fill::askedOf(const ArrayPlan &A) const {
  isl::set Asked = never(M.Ctx->ctx());
  for (const ArrayPlan &W : P.Arrays)
    if (W.Array == A.Array && W.Writes == A.Writes && !W.Reads.empty()) {
      if (const auto *R = W.as<Restaged>()) {
        Asked = Asked.unite(stagedBox(*R, W.Stage.ElemIds, M.Ctx->ctx()));
        continue;
      }
      const Window *Of = W.window();
      if (W.as<FromSource>())
        Asked = Asked.unite(askedByReads(W, M, P));
      else
        Asked = !Of || Of->Reach.is_null() ? always(M.Ctx->ctx())
                                           : Asked.unite(Of->Reach);
    }
  return Asked.intersect(P.Context).coalesce();
}

llvm::Expected<Code> Fill::stageLambda(const ArrayPlan &A) const {
  const SharedArray &Arr = M.Arrays[A.Array];
  ValueTextOptions O;
  O.Symbols = N.symbols();
  addElementNames(O.Symbols, A, N);
  O.Context = askedOf(A);
  if (O.Context.is_empty()) // by reads that are never executed
    O.Context = P.Context;
  std::string Params, Shown;
  if (const auto *R = A.as<Restaged>()) // of which of the joined blocks
    for (unsigned Axis = 0; Axis < 3; ++Axis)
      if (R->PerBlock[Axis])
        Params += "const unsigned int " +
                  N(std::string("block_") + "xyz"[Axis]) + ", ";
  for (size_t D = 0; D < A.Stage.ElemIds.size(); ++D) {
    Params += (D ? ", const int " : "const int ") + N(A.Stage.ElemIds[D]);
    Shown += "[" + N(A.Stage.ElemIds[D]) + "]";
  }
  auto Body = stageBody(A, O);
  if (!Body)
    return Body;
  return "// " + Arr.Name + Code::plain(Shown) +
         " as the original stages it.\nconst auto " + groupName(A) +
         "_at = [=](" + Params + ") -> " + Arr.ElemType + " {\n" + *Body +
         "};\n";
}

/// The condition under which \p Piece gives the element, for what \p Left holds:
/// \p Covered, all that is asked for, and may be.
static llvm::Expected<std::string> pieceTest(const StagePiece &Piece,
                                             const isl::set &Left, bool Covered,
                                             const Names &N,
                                             const ValueTextOptions &O) {
  // A value without loads may stand for everything that is left.
  const bool Pure = isPure(Piece.V) && llvm::all_of(Piece.Guards, isPure);
  isl::set Test = Piece.Domain;
  if (Pure || Covered)
    Test = simplify(Test, Left);
  auto Cond = conditionText(Test, N, O);
  if (!Cond)
    return Cond;
  for (const ValueRef &G : Piece.Guards) {
    auto Guard = valueText(G, N, O);
    if (!Guard)
      return Guard;
    *Cond =
        (*Cond == "true" ? "" : "(" + *Cond + ") && ") + "(" + *Guard + ")";
  }
  return Cond;
}

/// The order in which \p Pieces are tested. A value without loads that shares no element
/// with those behind it comes last, the one of most parts: it stands for all that is
/// left, and loads are tested by what the original says, not by what it excludes.
static std::vector<size_t> testOrder(const std::vector<StagePiece> &Pieces) {
  std::vector<size_t> Order(Pieces.size());
  std::iota(Order.begin(), Order.end(), size_t(0));
  auto Last = Order.end();
  unsigned Most = 0;
  for (auto At = Order.begin(); At != Order.end(); ++At) {
    const StagePiece &Piece = Pieces[*At];
    const unsigned Parts = unsigned(isl_set_n_basic_set(Piece.Domain.get()));
    const auto IsApart = [&](size_t Other) {
      return Piece.Domain.is_disjoint(Pieces[Other].Domain);
    };
    if (Piece.Guards.empty() && isPure(Piece.V) && Parts > Most &&
        std::all_of(At + 1, Order.end(), IsApart)) {
      Last = At;
      Most = Parts;
    }
  }
  if (Last != Order.end())
    std::rotate(Last, Last + 1, Order.end());
  return Order;
}

llvm::Expected<Code> Fill::stageBody(const ArrayPlan &A,
                                     const ValueTextOptions &O,
                                     bool WithForms) const {
  Code T;
  // What the original does not stage is not asked for: within what is staged,
  // the last unguarded piece needs no test if the others are excluded.
  isl::set Left = never(M.Ctx->ctx());
  for (const StagePiece &Piece : A.Stage.Pieces)
    Left = Left.unite(Piece.Domain);
  Left = Left.coalesce();
  const bool Covered = O.Context.is_subset(Left);
  std::optional<IndexForm> Form;
  if (WithForms)
    Form = findIndexForm(A.Stage, O.Context);
  const auto Order = Form ? std::vector<size_t>() : testOrder(A.Stage.Pieces);
  for (size_t K = 0; K < A.Stage.Pieces.size(); ++K) {
    const StagePiece &Piece = A.Stage.Pieces[Form ? K : Order[K]]; // see its Begin
    if (Form && K == Form->Begin) {
      auto C = conditionText(Form->Domain, N, O);
      if (!C)
        return C.takeError();
      std::string Body;
      auto V = indexFormTexts(FormedValue{*Form, Piece.V}, N, O, Body);
      if (!V)
        return V.takeError();
      Body += "  return " + V->front() + ";\n";
      if (*C == "true")
        return T + Body;
      T += "  if (" + *C + ") {\n" + Body + "  }\n";
      Left = Left.subtract(Form->Domain).coalesce();
      K = Form->End - 1;
      continue;
    }
    if (isl::set(Piece.Domain).intersect(O.Context).is_empty())
      continue; // nobody asks for it
    auto Cond = pieceTest(Piece, Left, Covered, N, O);
    if (!Cond)
      return Cond.takeError();
    auto V = valueText(Piece.V, N, O);
    if (!V)
      return V.takeError();
    if (*Cond == "true")
      return T + "  return " + *V + ";\n";
    T += "  if (" + *Cond + ")\n    return " + *V + ";\n";
    if (Piece.Guards.empty())
      Left = Left.subtract(Piece.Domain).coalesce();
  }
  return T + "  return {}; // never used\n";
}

/// Where every element has a load of its own, and nothing else, the loads of borders
/// and of the inside are alike but for the places: see own_branch in rewrite.cuh.
Code Fill::endOfBorders(const ArrayPlan &A) {
  const bool Alike = llvm::all_of(A.Stage.Pieces, [](const StagePiece &Piece) {
    return holdsLoad(*Piece.V) && Piece.Guards.empty();
  });
  if (!Alike)
    return "";
  Helpers.insert("own_branch");
  return "::rcache::device::own_branch();\n";
}
