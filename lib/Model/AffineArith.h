// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer arithmetic of C++ on quasi-affine values.
//
// A value is `[symbols] -> { [v] }` (isl::pw_aff on a parameter domain, total).
// Signed overflow is undefined, so signed arithmetic is exact. Unsigned
// arithmetic is kept modulo 2^Bits (an IntValue that is not Exact) until
// something looks at the value itself: a comparison, a quotient, a widening.
//
//     int x = threadIdx.x - 1;     // unsigned { tx - 1 } -> int { tx - 1 }
//     if (threadIdx.x - 1 < n)     // { tx >= 1 ? tx - 1 : tx + 2^32 - 1 } < n
//
// Products of symbols are symbols themselves: `blockIdx.x * blockDim.x` is
// `bxbdx` however it is written.

#ifndef RCACHE_LIB_MODEL_AFFINEARITH_H
#define RCACHE_LIB_MODEL_AFFINEARITH_H

#include "Affine/IslTools.h"
#include "rcache/Model.h"
#include <map>
#include <optional>
#include <set>

namespace rcache {

using Wide = __int128;

/// An integer type: width and signedness; bool has one bit.
struct IntType {
  unsigned Bits = 32;
  bool Signed = true;
  bool operator==(const IntType &O) const = default;
  Wide min() const { return Signed ? -(Wide(1) << (Bits - 1)) : 0; }
  Wide max() const { return (Wide(1) << (Signed ? Bits - 1 : Bits)) - 1; }
};

/// Aff is the value, or (not Exact) congruent to it modulo 2^Bits.
struct IntValue {
  isl::pw_aff Aff;
  bool Exact = true;
};

class AffineArith {
public:
  explicit AffineArith(KernelModel &M);

  // Symbols.

  /// Adds \p S to the model (its Id made unique) and gives its index. Values
  /// of it lie in [Lo, Hi] (default: its type's range).
  unsigned addSymbol(Symbol S, std::optional<Wide> Lo = std::nullopt,
                     std::optional<Wide> Hi = std::nullopt);
  /// The counter \p Id begins with no negative value and counts up.
  void countsFromZero(const std::string &Id) { FromZero.insert(Id); }

  isl::pw_aff symbol(const std::string &Id);
  isl::pw_aff constant(int64_t V);
  /// Adds a fact that always holds to the bounds used in proofs.
  void addFact(isl::set S);
  isl::set universe() const { return Universe; }

  /// Union of Symbol::Depends over what \p A involves.
  unsigned depends(const isl::pw_aff &A) const;
  unsigned depends(const isl::set &S) const;

  // Queries, under what always holds and \p Path.

  /// \p S without parts that nothing on \p Path is in, said as simply as the ranges of
  /// all symbols allow.
  isl::set withinBounds(const isl::set &S, const isl::set &Path) const;
  bool proveInRange(const isl::pw_aff &A, Wide Lo, Wide Hi,
                    const isl::set &Path);
  bool implied(const isl::set &S, const isl::set &Path);
  /// The same with facts that each launch checks (KernelModel::Assumes), which
  /// are kept if they are enough.
  bool assumeInRange(const isl::pw_aff &A, IntType T, const isl::set &Path);
  /// { : A fits T }, or nothing when that is plain from the symbols' types.
  std::optional<isl::set> fitsUnlessPlain(const isl::pw_aff &A, IntType T);
  std::optional<int64_t> constantValue(const isl::pw_aff &A) const;
  std::optional<Linear> linear(const isl::pw_aff &A) const;
  /// The same without the terms that are quotients by constants.
  std::optional<Linear> linearBesideQuotients(const isl::pw_aff &A) const;
  isl::pw_aff fromLinear(const Linear &L);
  /// A = C * first + second with second in [0, C) wherever symbols are in their ranges:
  /// the row and the column of 32 * ty + tx in blocks of 32 x 8; nullopt: not so.
  std::optional<std::pair<Linear, Linear>> quotientAndRest(const isl::pw_aff &A,
                                                           int64_t C) const;

  // Arithmetic; nullopt: not quasi-affine (or too many pieces).

  /// The value itself, wrapped where that is needed.
  std::optional<isl::pw_aff> exact(const IntValue &V, IntType T,
                                   const isl::set &Path);
  std::optional<IntValue> convert(const IntValue &V, IntType From, IntType To,
                                  const isl::set &Path);
  std::optional<IntValue> add(const IntValue &A, const IntValue &B, IntType T);
  std::optional<IntValue> sub(const IntValue &A, const IntValue &B, IntType T);
  std::optional<IntValue> mulPieces(const IntValue &Pieces, const IntValue &B,
                                    IntType T, const isl::set &Path);
  std::optional<IntValue> mul(const IntValue &A, const IntValue &B, IntType T,
                              const isl::set &Path);
  std::optional<IntValue> div(const IntValue &A, const IntValue &B, IntType T,
                              const isl::set &Path);
  std::optional<IntValue> rem(const IntValue &A, const IntValue &B, IntType T,
                              const isl::set &Path);
  std::optional<IntValue> bitAnd(const IntValue &A, const IntValue &B,
                                 IntType T, const isl::set &Path);
  /// `x ^ mask`, `x | mask` with a constant mask of few bits and x >= 0.
  std::optional<IntValue> bitXorOr(const IntValue &A, const IntValue &B,
                                   IntType T, bool Or, const isl::set &Path);
  /// \p A / \p N where every term is a multiple of \p N, or holds a parameter
  /// that a launch can check to be one: a pitch in bytes, counted in elements.
  std::optional<isl::pw_aff> dividedExactly(const isl::pw_aff &A, int64_t N);
  /// `C ? A : B`.
  std::optional<isl::pw_aff> select(const isl::set &C, const isl::pw_aff &A,
                                    const isl::pw_aff &B);

  isl::set complement(const isl::set &S) const { return Universe.subtract(S); }

private:
  struct Range {
    Wide Lo, Hi;
  };
  /// Facts that are tried: products of factors, and what they are at most.
  using Supposed = std::vector<std::pair<std::vector<std::string>, Wide>>;

  isl::val value(Wide V) const;
  static std::optional<IntValue> ofAff(isl::pw_aff A, bool Exact);
  isl::set bound(const isl::pw_aff &A, Wide Lo, Wide Hi) const;
  /// Path and what always holds, as far as it is about symbols that \p Asked, the path
  /// or such a fact names: the ranges of a hundred others would only burden isl.
  isl::set known(const std::vector<std::string> &Asked, const isl::set &Path) const;
  isl::set boundsOf(std::set<std::string> Ids) const;
  std::optional<Range> interval(const Linear &L) const;
  void narrow(const std::string &Id, Wide Lo, Wide Hi);
  bool multipliesCounter(const isl::pw_aff &A) const;
  /// Is each factor bounded by something a launch can check?
  bool launchBounded(const std::vector<std::string> &Factors) const;
  void assumeProduct(const std::vector<std::string> &Factors, Wide Max);
  void supposeNotNegative(const std::string &Id, Supposed &Facts);
  void supposeSmall(const Symbol &S, bool Alone, Wide Limit, IntType T,
                    Supposed &Facts);
  bool supposeBounds(IntType T, const isl::set &Path, Supposed &Facts);
  bool supposeOffsets(const isl::pw_aff &A, Wide Room, Supposed &Facts);
  bool supposeLeast(const Linear &L, IntType T, std::vector<LaunchFact> &Least);
  void assumeLeast(const LaunchFact &F);
  /// The symbol of a product of symbols; null when it may wrap in \p T.
  std::optional<isl::pw_aff> product(std::vector<std::string> Factors,
                                     IntType T, const isl::set &Path);
  Range rangeOf(const std::vector<std::string> &Factors, bool &Known) const;
  Symbol productSymbol(const std::vector<std::string> &Factors,
                       const std::vector<std::string> &Order, IntType T,
                       bool OfBlock) const;
  bool assumeRounds(const std::vector<std::string> &Factors, IntType T,
                    const isl::set &Path);
  std::string quotient(const Symbol &Param, int64_t N);
  std::optional<std::string>
  dividedTerm(const std::string &Id, int64_t N,
              const std::map<std::string, unsigned> &Uses);
  std::optional<isl::pw_aff> scaleByConst(const isl::pw_aff &A, int64_t C);

  KernelModel &M;
  isl::ctx Ctx;
  isl::set Universe;
  /// What always holds beside the ranges, and the symbols that each part is about.
  std::vector<std::pair<isl::set, std::vector<std::string>>> Always;
  std::map<std::string, Range> Ranges;
  /// boundsOf() as long as no range changes.
  mutable std::map<std::set<std::string>, isl::set> Known;
  std::set<std::string> FromZero; ///< counters that are never negative
  std::map<std::vector<std::string>, std::string> Products;
};

} // namespace rcache

#endif // RCACHE_LIB_MODEL_AFFINEARITH_H
