// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Pieces.h.

#include "Pieces.h"
#include "Affine/IslTools.h"
#include "Products.h"
#include "Solve.h"
#include <algorithm>

using namespace rcache;

namespace {

constexpr size_t MaxPieces = 64;

/// First Select with an affine condition or affine leaf of several pieces.
const Value *findSplit(const ValueRef &V, const isl::set &D) {
  if (V->K == Value::Select)
    return V.get();
  if (V->K == Value::Affine && V->Aff.n_piece() > 1)
    return V.get();
  for (const ValueRef &O : V->Operands)
    if (const Value *S = findSplit(O, D))
      return S;
  return nullptr;
}

ValueRef replaceNode(const ValueRef &V, const Value *Old, const ValueRef &New) {
  if (V.get() == Old)
    return New;
  auto N = std::make_shared<Value>(*V);
  bool Changed = false;
  for (ValueRef &O : N->Operands) {
    ValueRef R = replaceNode(O, Old, New);
    Changed |= R != O;
    O = R;
  }
  return Changed ? ValueRef(N) : V;
}

/// Affine leaves in their simplest form on D.
ValueRef simplifyOn(const ValueRef &V, const isl::set &D) {
  auto N = std::make_shared<Value>(*V);
  if (N->K == Value::Affine)
    N->Aff = N->Aff.gist(D).coalesce();
  for (ValueRef &O : N->Operands)
    O = simplifyOn(O, D);
  return N;
}

/// \p V, all of whose indices and coordinates have a value on \p D: one formula
/// may have lost a part of its domain to another piece. nullptr: some have none.
ValueRef definedOn(const ValueRef &V, const isl::set &D) {
  auto N = std::make_shared<Value>(*V);
  if (!N->Aff.is_null() && !D.is_subset(N->Aff.domain())) {
    const isl::pw_aff Aff = N->Aff;
    N->Aff = Aff.gist(Aff.domain());
    if (!D.is_subset(N->Aff.domain()))
      return nullptr;
  }
  for (ValueRef &O : N->Operands)
    if (O && !(O = definedOn(O, D)))
      return nullptr;
  return N;
}

/// One formula for both, with a value on all of the second's domain; null: they
/// are not one function.
ValueRef joined(const KernelModel &M, const Assumptions &A, const RawPiece &One,
                const RawPiece &Other) {
  const ValueRef V = equalOn(M, A, One.V, Other.V, Other.D)
                         ? definedOn(One.V, Other.D)
                         : nullptr;
  return V && equalOn(M, A, V, Other.V, Other.D) ? V : nullptr;
}

} // namespace

bool rcache::isUndefined(const ValueRef &V) {
  if (V->K == Value::Undefined)
    return true;
  if (V->K == Value::Op && (V->Text.find('?') != std::string::npos ||
                            V->Text.find("&&") != std::string::npos ||
                            V->Text.find("||") != std::string::npos))
    return false;
  return std::any_of(V->Operands.begin(), V->Operands.end(), isUndefined);
}

bool rcache::splitPieces(const KernelModel &M, const Assumptions &A, RawPiece P,
                         std::vector<RawPiece> &Out) {
  P.D = tightened(P.D);
  if (P.D.is_empty())
    return true;
  if (Out.size() >= MaxPieces)
    return false;
  P.V = foldIntegers(M, A, simplifyOn(P.V, P.D));
  const Value *S = findSplit(P.V, P.D);
  if (!S) {
    Out.push_back(std::move(P));
    return true;
  }
  if (S->K == Value::Select) {
    RawPiece Then = P, Else = P;
    Then.D = P.D.intersect(S->Cond).coalesce();
    Then.V = replaceNode(P.V, S, S->Operands[0]);
    Else.D = P.D.subtract(S->Cond).coalesce();
    Else.V = replaceNode(P.V, S, S->Operands[1]);
    return splitPieces(M, A, std::move(Then), Out) &&
           splitPieces(M, A, std::move(Else), Out);
  }
  bool Fine = true;
  isl::pw_aff Aff = S->Aff;
  std::vector<std::pair<isl::set, isl::pw_aff>> Parts;
  Aff.foreach_piece([&](isl::set D, isl::multi_aff MA) {
    Parts.push_back({D, isl::pw_aff(MA.at(0))});
  });
  for (auto &[D, One] : Parts) {
    RawPiece Part = P;
    Part.D = P.D.intersect(D).coalesce();
    auto Leaf = std::make_shared<Value>(*S);
    Leaf->Aff = One;
    Part.V = replaceNode(P.V, S, Leaf);
    Fine = Fine && splitPieces(M, A, std::move(Part), Out);
  }
  return Fine;
}

static void joinAsTheyAre(const KernelModel &M, const Assumptions &A,
                          std::vector<RawPiece> &Pieces) {
  for (size_t I = 0; I < Pieces.size(); ++I)
    for (size_t J = I + 1; J < Pieces.size();) {
      RawPiece &P = Pieces[I], &Q = Pieces[J];
      bool Unguarded = true;
      for (size_t K = I; K <= J; ++K)
        Unguarded &= Pieces[K].Guards.empty();
      ValueRef V = Unguarded ? joined(M, A, P, Q) : nullptr;
      // The other's leaves may be the more general ones.
      const bool Second = Unguarded && !V;
      if (Second)
        V = joined(M, A, Q, P);
      if (!V) {
        ++J;
        continue;
      }
      P.V = V;
      P.D = P.D.unite(Q.D).coalesce();
      Pieces.erase(Pieces.begin() + static_cast<long>(J));
      if (Second)
        J = I + 1; // what differed from the special case may fit now
    }
}

//===--- Members of vectors ---===//

/// The element of memory that \p V, a member of a vector that is loaded, is: by the
/// words of a load of such elements among \p Known, where there is one.
static ValueRef elementLoad(const KernelModel &M, const ValueRef &V,
                            llvm::ArrayRef<ValueRef> Known) {
  const ValueRef &Of = V->Operands.front();
  if (V->Member < 0 || Of->K != Value::Load || Of->Root < 0 || !V->Lanes ||
      Of->Bytes % V->Lanes || Of->Operands.front()->K != Value::Affine)
    return nullptr;
  auto N = std::make_shared<Value>(*Of);
  N->Type = V->Type;
  N->Bytes = Of->Bytes / V->Lanes;
  const KernelParam &P = M.Params[static_cast<size_t>(Of->Root)];
  N->Text = P.PointeeType == V->Type
                ? P.Name
                : "((" + std::string(P.PointeeConst ? "const " : "") + V->Type +
                      " *)" + P.Name + ")";
  for (const ValueRef &Load : Known)
    if (Load->Root == Of->Root && Load->Type == V->Type)
      N->Text = Load->Text;
  auto At = std::make_shared<Value>(*Of->Operands.front());
  At->Aff = At->Aff.scale(isl::val(At->Aff.ctx(), long(V->Lanes)))
                .add(constantValue(At->Aff.ctx(), V->Member));
  At->Type = "long long";
  N->Operands = {At};
  return N;
}

/// \p V with such loads in place of members.
static ValueRef withElements(const KernelModel &M, const ValueRef &V,
                             llvm::ArrayRef<ValueRef> Known) {
  if (V->K == Value::Op && V->Member >= 0)
    if (ValueRef One = elementLoad(M, V, Known))
      return One;
  auto N = std::make_shared<Value>(*V);
  bool Changed = false;
  for (ValueRef &O : N->Operands) {
    ValueRef R = withElements(M, O, Known);
    Changed |= R != O;
    O = R;
  }
  return Changed ? ValueRef(N) : V;
}

/// Joins pieces that are one function of the elements of memory, and several of
/// the vectors that the original loads: `a4[e / 4].x` where e % 4 is 0, ... are `a[e]`.
static bool joinByElements(const KernelModel &M, const Assumptions &A,
                           std::vector<RawPiece> &Pieces) {
  std::vector<ValueRef> Loads;
  for (const RawPiece &P : Pieces)
    collectLoads(P.V, Loads);
  std::vector<RawPiece> Other = Pieces;
  bool Changed = false;
  for (RawPiece &P : Other) {
    const ValueRef V = withElements(M, P.V, Loads);
    Changed |= V != P.V;
    P.V = V;
  }
  if (!Changed)
    return false;
  joinAsTheyAre(M, A, Other);
  joinAsTheyAre(M, A, Pieces);
  if (Other.size() < Pieces.size())
    Pieces = std::move(Other);
  return true;
}

void rcache::joinPieces(const KernelModel &M, const Assumptions &A,
                        std::vector<RawPiece> &Pieces) {
  if (!joinByElements(M, A, Pieces))
    joinAsTheyAre(M, A, Pieces);
}
