// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that was made one-dimensional by hand,
//
//     s[(ty + j) * W + tx + i]       for (k = tid; k < W * H; k += threads)
//                                      s[k] = a[... k / W ... k % W ...]
//
// is rows of W elements: every index I is (I div W, I mod W), which plans know
// what to do with. That is only another name for the same element, so it is
// right for any W; it is useful where both are linear in thread, slot and
// iterators. W is a coefficient of the indices that are read.

#include "Reshape.h"
#include "Affine/IslTools.h"
#include <algorithm>
#include <set>

namespace rcache {
namespace {

constexpr unsigned MaxRank = 3;

class Reshaper {
public:
  Reshaper(KernelModel &M) : M(M), Ctx(M.Ctx->ctx()) {
    Known = M.Context;
    if (M.Geo.ConstBlock) {
      const char *Threads[3] = {"tx", "ty", "tz"};
      for (int A = 0; A < 3; ++A)
        Known = Known.intersect(
            inRange(symbolValue(Ctx, Threads[A]), constantValue(Ctx, 0),
                    constantValue(Ctx, (*M.Geo.ConstBlock)[A])));
    }
  }

  void run() {
    for (unsigned A = 0; A < M.Arrays.size(); ++A)
      for (unsigned Rank = 1;
           Rank < MaxRank && M.Arrays[A].Extents.size() == Rank; ++Rank)
        if (!splitFirst(A))
          break;
  }

private:
  KernelModel &M;
  isl::ctx Ctx;
  isl::set Known;

  using Split = std::pair<isl::pw_aff, isl::pw_aff>; ///< row, column

  /// Splits the first dimension of array \p A into two.
  bool splitFirst(unsigned A) {
    std::vector<SharedAccess *> All;
    for (SharedAccess &X : M.SharedAccesses)
      if (X.Array == A) {
        if (!X.Affine || X.Index.empty() || X.K == SharedAccess::Escape)
          return false;
        All.push_back(&X);
      }
    for (int64_t W : widths(All)) {
      std::vector<Split> Parts;
      for (const SharedAccess *X : All) {
        auto P = split(*X, W);
        if (!P)
          break;
        Parts.push_back(*P);
      }
      if (Parts.size() != All.size())
        continue;
      for (size_t I = 0; I < All.size(); ++I) {
        SharedAccess &X = *All[I];
        X.Index[0] = Parts[I].second;
        X.Index.insert(X.Index.begin(), Parts[I].first);
        X.IndexValues[0] = asValue(Parts[I].second, X.IndexValues[0]);
        X.IndexValues.insert(X.IndexValues.begin(),
                             asValue(Parts[I].first, X.IndexValues[0]));
      }
      auto &Extents = M.Arrays[A].Extents;
      std::optional<int64_t> Rows;
      if (Extents[0])
        Rows = (*Extents[0] + W - 1) / W;
      Extents[0] = W;
      Extents.insert(Extents.begin(), Rows);
      return true;
    }
    return false;
  }

  static ValueRef asValue(const isl::pw_aff &A, const ValueRef &Like) {
    auto V = std::make_shared<Value>();
    V->K = Value::Affine;
    V->Type = "int";
    V->Aff = A;
    V->Depends = Like->Depends;
    return V;
  }

  isl::set domainOf(const SharedAccess &X) const {
    return X.Domain.intersect(Known);
  }

  /// Coefficients of thread coordinates where two of them meet in one index
  /// that is read; the smallest first: a plane is rows of rows.
  /// Behind them those of what is written: a read walks over a row or a column.
  std::vector<int64_t> widths(const std::vector<SharedAccess *> &All) {
    std::vector<int64_t> Read = widths(All, SharedAccess::Read);
    for (int64_t W : widths(All, SharedAccess::Write))
      if (std::find(Read.begin(), Read.end(), W) == Read.end())
        Read.push_back(W);
    return Read;
  }

  std::vector<int64_t> widths(const std::vector<SharedAccess *> &All,
                              SharedAccess::Kind Of) {
    std::set<int64_t> W;
    for (const SharedAccess *X : All) {
      if (X->K != Of)
        continue;
      auto L = linear(X->Index[0], domainOf(*X));
      if (!L)
        continue;
      std::vector<int64_t> Threads;
      for (const char *T : {"tx", "ty", "tz"})
        if (auto It = L->Coefficients.find(T);
            It != L->Coefficients.end() && It->second != 0)
          Threads.push_back(std::abs(It->second));
      if (Threads.size() > 1)
        for (int64_t C : Threads)
          if (C > 1)
            W.insert(C);
    }
    if (W.size() > 4)
      return {};
    return {W.begin(), W.end()};
  }

  std::optional<LinearSplit> linear(const isl::pw_aff &A, const isl::set &D) {
    isl::pw_aff S = simplify(A, D);
    auto L = splitLinear(S, involvedIds(S), D);
    if (!L || !isConstant(L->Rest))
      return std::nullopt;
    return L;
  }

  /// `Index = W * row + column` with 0 <= column < W wherever \p X is executed.
  std::optional<Split> split(const SharedAccess &X, int64_t W) {
    const isl::set D = domainOf(X);
    if (auto L = linear(X.Index[0], D)) {
      isl::pw_aff Row = constantValue(Ctx, 0), Col = Row;
      for (auto &[Id, C] : L->Coefficients) {
        // The nearest multiple: 18 ty + 17 tx is 18 (ty + tx) - tx.
        int64_t R = C >= 0 ? (C + W / 2) / W : -((-C + W / 2) / W);
        isl::pw_aff S = symbolValue(Ctx, Id);
        Row = Row.add(S.scale(isl::val(Ctx, R)));
        Col = Col.add(S.scale(isl::val(Ctx, C - R * W)));
      }
      const auto Lo = minConst(Col, D), Hi = maxConst(Col, D);
      if (Lo && Hi && *Hi - *Lo < W) {
        // The constant: as much of it into the column as keeps it in the row.
        const int64_t C = *isConstant(L->Rest);
        int64_t Rest = ((C % W) + W) % W;
        while (*Hi + Rest >= W)
          Rest -= W;
        if (*Lo + Rest >= 0)
          return Split{Row.add(constantValue(Ctx, (C - Rest) / W)),
                       Col.add(constantValue(Ctx, Rest))};
      }
    }
    // A staging loop over all elements: the quotient and the remainder.
    if (X.K == SharedAccess::Write)
      return Split{floorDiv(X.Index[0], W), floorMod(X.Index[0], W)};
    return std::nullopt;
  }
};

} // namespace

void reshapeArrays(KernelModel &M) { Reshaper(M).run(); }

} // namespace rcache
