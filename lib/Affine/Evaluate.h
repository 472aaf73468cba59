// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values and conditions at concrete points, quickly: the isl object is compiled
// once to vectors of coefficients; a point is then an array of numbers. Brute
// force (the plan verifier) visits a million points; isl itself would need
// some microseconds and several allocations for each.
//
// The compilation reads constraints and coefficients only, so that it is a
// second opinion on what other code concluded by isl's operations.

#ifndef RCACHE_LIB_AFFINE_EVALUATE_H
#define RCACHE_LIB_AFFINE_EVALUATE_H

#include "rcache/Affine.h"
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rcache {

using Point = std::map<std::string, int64_t>;

namespace detail {
/// Constant + sum Coefficients[v] * variable v, where the variables are the
/// symbols of the point followed by the floor divisions of the piece.
struct Row {
  int64_t Constant = 0;
  std::vector<std::pair<unsigned, int64_t>> Terms;
};
struct FloorDivision {
  Row Numerator;
  int64_t Denominator = 1;
};
struct Conjunction {
  std::vector<FloorDivision> Divs;
  std::vector<Row> Equalities, Inequalities; ///< == 0, >= 0
};
} // namespace detail

/// A condition ready to be asked at many points. The symbols of \p Order come
/// first in each point, in this order; a condition that involves another
/// symbol cannot be made (make throws isl::exception).
class CompiledCondition {
public:
  static CompiledCondition make(const isl::set &S,
                                const std::vector<std::string> &Order);
  bool holds(const std::vector<int64_t> &At) const;

private:
  unsigned NSymbols = 0;
  std::vector<detail::Conjunction> Pieces;
};

/// A value ready to be asked at many points.
class CompiledValue {
public:
  static CompiledValue make(const isl::pw_aff &V,
                            const std::vector<std::string> &Order);
  /// nullopt where the value is undefined.
  std::optional<int64_t> at(const std::vector<int64_t> &At) const;

private:
  struct Piece {
    CompiledCondition Domain;
    std::vector<detail::FloorDivision> Divs;
    detail::Row Numerator;
    int64_t Denominator = 1;
  };
  unsigned NSymbols = 0;
  std::vector<Piece> Pieces;
};

/// One point, by name; symbols of the point that do not occur are ignored.
/// nullopt: undefined there. Throws isl::exception if a symbol that occurs has
/// no value in \p At.
std::optional<int64_t> evaluate(const isl::pw_aff &V, const Point &At);
bool evaluate(const isl::set &S, const Point &At);

} // namespace rcache

#endif // RCACHE_LIB_AFFINE_EVALUATE_H
