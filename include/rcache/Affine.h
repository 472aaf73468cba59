// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The affine world of a kernel, in isl.
//
// All symbols of a kernel (thread and block coordinates, block sizes, scalar
// parameters, loop iterators, uniform opaque values) are isl *parameters*,
// named by Symbol::Id. A value is an `isl::pw_aff` and a condition an
// `isl::set`, both in the parameter space:
//
//     value      [tx, n] -> { [(tx + 1)] }
//     condition  [tx, n] -> { : tx < n }
//
// Whoever needs some of the symbols as coordinates (`{ Thread[tx] -> Elem[e]
// }`) moves them with the functions of lib/Affine/IslTools.h.
//
// isl reports errors by C++ exceptions; `guarded` is the one door through
// which they leave as llvm::Error.

#ifndef RCACHE_AFFINE_H
#define RCACHE_AFFINE_H

#include "llvm/Support/Error.h"
#include <isl/cpp.h>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace rcache {

/// Owns one isl_ctx with a bound on the number of operations and on time, so that
/// no input makes an analysis run for ever. Every isl value made from it must die first.
class AffineContext {
public:
  AffineContext();
  ~AffineContext();
  AffineContext(const AffineContext &) = delete;
  AffineContext &operator=(const AffineContext &) = delete;

  isl::ctx ctx() const { return isl::ctx(Raw); }

  /// Starts a new budget of operations (one a kernel and stage). Once the time of
  /// the stage is over, it is a short one.
  void resetBudget();

  /// Starts the clock of a stage: many budgets of operations may follow one
  /// another, but what they take together is bounded as well, in processor time
  /// of the calling thread.
  void startClock();
  /// While one lives, an operation of isl that goes on when that time is over is
  /// broken off and throws isl::exception: to be made inside guarded().
  class Limit {
  public:
    explicit Limit(AffineContext &C);
    ~Limit();
    Limit(const Limit &) = delete;
    Limit &operator=(const Limit &) = delete;

  private:
    AffineContext &Of;
  };
  /// Is that time over?
  bool outOfTime() const;
  /// Throws isl::exception if it is.
  void checkTime() const;

private:
  isl_ctx *Raw;
  class Watch;
  std::unique_ptr<Watch> Clock;
};

using AffineContextRef = std::shared_ptr<AffineContext>;

/// isl's message, or that time is over, for users.
std::string textOf(const isl::exception &E);

/// Runs \p F; an isl::exception (syntax, space mismatch, budget exhausted)
/// becomes an llvm::Error with its text.
template <typename Fn>
auto guarded(Fn &&F) -> llvm::Expected<std::invoke_result_t<Fn>> {
  try {
    return std::forward<Fn>(F)();
  } catch (const isl::exception &E) {
    return llvm::createStringError(textOf(E));
  }
}

/// An isl value that may be absent, as a member of a struct. isl/cpp.h throws
/// when a null value is copied, and has no moves: a vector of structs with a
/// null member could not even grow. This one copies and moves in any state and
/// is used like the isl value itself.
template <typename T> class Nullable : public T {
public:
  Nullable() = default;
  Nullable(const Nullable &O) : T() { assign(O); }
  Nullable(Nullable &&O) noexcept : T() { std::swap(this->ptr, O.ptr); }
  /// From the isl value, null or not, and what it can be made from.
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U, T> &&
                                        !std::is_base_of_v<Nullable, U>>>
  Nullable(const U &V) : T() {
    assign(V);
  }
  Nullable &operator=(const Nullable &O) {
    assign(O);
    return *this;
  }
  Nullable &operator=(Nullable &&O) noexcept {
    std::swap(this->ptr, O.ptr);
    return *this;
  }

private:
  template <typename U> void assign(const U &V) {
    if (V.is_null())
      T::operator=(T());
    else
      T::operator=(V);
  }
};

} // namespace rcache

#endif // RCACHE_AFFINE_H
