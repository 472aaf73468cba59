// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the pointers of made-up launches lead. A launch takes one place; all of
// them are gone through from launch to launch:
//
//   each pointer   every place that an element of its can have in 64 bytes,
//   with
//                  the others at multiples of 64, and with the others elsewhere,
//                  also at bytes that the text names
//   pairs          the same address, a few elements apart either way, one
//   behind
//                  the end of the other, where the signature allows it

#ifndef RCACHE_CHECK_PLACEMENTS_H
#define RCACHE_CHECK_PLACEMENTS_H

#include "Harness.h"

#include <array>
#include <optional>

namespace rcache::check {

/// A pointer that lies in the buffer of another.
struct Overlap {
  size_t Of, In;         ///< parameters
  ptrdiff_t Delta;       ///< elements from the other
  bool Adjacent = false; ///< Delta times as many elements as the data have
  ptrdiff_t distance(const Shape &S) const; ///< in elements
};

struct Placement {
  std::vector<size_t> Offsets; ///< by parameter: bytes from a multiple of 256
  std::optional<Overlap> Shared;
  /// All pointers at multiples of 256 bytes, each with a buffer of its own.
  bool plain() const;
};

class Placements {
public:
  /// \p NoAlias: which are `__restrict__`. \p Near: numbers that the text
  /// names, distances worth trying.
  Placements(const std::vector<Param> &Params, const std::vector<bool> &NoAlias,
             const std::set<int64_t> &Near);

  /// For the \p Trial-th launch.
  Placement next(unsigned Trial);
  /// What the last one was good for: \p Compared, \p Told something of the
  /// rewritten form. What tells nothing is tried again, a few times.
  void tried(bool Compared, bool Told);

private:
  enum Sort { Plain, One, All, Same, Apart, Sorts };
  Sort sortOf(unsigned Trial) const;
  size_t place(size_t Pointer, unsigned Step) const;
  bool mayShare(size_t Of, size_t In) const;
  void pair(const std::vector<ptrdiff_t> &Deltas);

  const std::vector<Param> &Params;
  std::vector<bool> NoAlias;
  std::vector<size_t> Pointers;              ///< parameters
  std::vector<Overlap> AtOne, ByOne, Others; ///< an element apart, more
  std::vector<size_t> Named; ///< bytes from a multiple of 256, of the text
  struct Turn {
    unsigned Step = 0;   ///< which place is next
    unsigned InVain = 0; ///< launches at this place that told nothing
    unsigned Worked = 0, Failed = 0; ///< launches of this sort
  };
  std::array<Turn, Sorts> Turns;
  Sort Last = Plain;
};

} // namespace rcache::check

#endif
