// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inside of the plan verifier: a launch in numbers. Every symbol of the model
// gets a value; values, conditions and staged values are evaluated there.

#ifndef RCACHE_LIB_VERIFY_WORLD_H
#define RCACHE_LIB_VERIFY_WORLD_H

#include "Affine/Evaluate.h"
#include "rcache/Plan.h"
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace rcache::verify {

/// Thrown when something cannot be made concrete; caught in verifyPlan.
struct Undecided {
  std::string Reason;
};

using Element = std::vector<int64_t>;

class World {
public:
  /// Rounds of loops that are visited beyond \p MostRounds are Undecided.
  World(const KernelModel &M, const Plan &P, unsigned Seed, uint64_t MostRounds);

  /// Draws a new launch: block, grid, block index, parameters. False: none was
  /// found that the model's and the plan's contexts allow.
  bool draw();

  /// Draws a round of every loop around \p StmtId. False: it is not reached.
  bool drawRounds(unsigned StmtId);

  const std::array<int64_t, 3> &block() const { return Block; }
  void setThread(const std::array<int64_t, 3> &T);
  const std::array<int64_t, 3> &blockIndex() const { return BlockIndex; }
  /// Another block of the same launch, or beyond its end.
  void setBlockIndex(const std::array<int64_t, 3> &B);
  void forgetThread(); ///< what depends on it is then Undecided
  void restoreThread() { setThread(Thread); }
  void setSlot(const std::array<int64_t, 3> &S);
  void setElement(const std::vector<std::string> &Ids, const Element &E);

  std::optional<int64_t> value(const isl::pw_aff &V);
  /// Of a symbol; nullopt: not known here.
  std::optional<int64_t> value(const Symbol &S) const {
    const unsigned At = position(S.Id);
    return Known[At] ? std::optional(Point[At]) : std::nullopt;
  }
  bool holds(const isl::set &S);
  /// The coordinates; Undecided where one is undefined.
  Element element(const std::vector<isl::pw_aff> &Index);

  std::string loaded(const Value &Load, const std::string &Type, int64_t At,
                     unsigned Bytes) const;
  /// \p V as a text in which every index is a number: equal texts are equal
  /// values. Undefined: the original has no value there. Throws Undecided for
  /// values that are not known.
  std::string term(const ValueRef &V);
  static constexpr const char *Undefined = "undefined value";
  std::optional<int64_t> signedInteger(const Value &V);
  std::optional<int64_t> address(const Value &V);
  /// Does evaluating \p V here load from memory?
  bool loads(const ValueRef &V);

  /// Runs \p F for every round of the loops that stand around \p StmtId but not
  /// around \p Outside, with their iterators set.
  void forEachRound(unsigned StmtId, unsigned Outside,
                    const std::function<void()> &F);

  /// Goes through the block's statements, loops with barriers round by round:
  /// \p F is called for each that holds no barrier, with the numbers set that all
  /// threads count there. Throws Undecided where a loop's end is not known.
  void walk(const std::function<void(unsigned Stmt)> &F) { walk(0, F); }
  /// May \p S hold, for all that is known where walk is? Other values than those
  /// of threads, parameters and counters are any.
  bool mayHold(const isl::set &S) { return holdsFor(S, true); }
  /// Does it hold, whatever is not known?
  bool mustHold(const isl::set &S) { return holdsFor(S, false); }

  /// Thread bits (Dependence) of the axes along which the loops between
  /// \p StmtId and \p Outside share out their rounds.
  unsigned cooperativeAxes(unsigned StmtId, unsigned Outside) const;

  /// The launch, for messages: `bdx = 64, n = 127`.
  std::string describe() const;

private:
  struct Range {
    int64_t Lo = 0, Hi = -1;
  };

  void set(const std::string &Id, int64_t V);
  void forget(const std::string &Id);
  unsigned position(const std::string &Id) const { return Pos.at(Id); }
  std::vector<unsigned> positions(const std::vector<std::string> &Ids) const;
  void requireKnown(const std::vector<unsigned> &Positions) const;
  bool drawOnce();
  void drawGeometry();
  void drawParameters();
  void orderProducts();
  void addProduct(const std::string &Id);
  void refreshProducts(std::initializer_list<unsigned> Changed);
  void setIterator(const std::string &Id, int64_t V);
  std::vector<unsigned> loopsBetween(unsigned StmtId, int Outside) const;
  Range rangeOf(const Stmt &Loop);
  bool boundsMove(const std::vector<unsigned> &Loops, size_t At) const;
  void runLoops(const std::vector<unsigned> &Loops, size_t At,
                const std::function<void()> &F);
  void runFactors(const Stmt &Loop, const std::function<void()> &F);
  void walk(unsigned Stmt, const std::function<void(unsigned)> &F);
  void walkLoop(const Stmt &Loop, const std::function<void(unsigned)> &F);
  std::vector<std::optional<int64_t>>
  carriedBy(const Stmt &Loop, Nullable<isl::pw_aff> Stmt::Recurrence::*What);
  void setCarried(const Stmt &Loop, int Stmt::Recurrence::*Symbol,
                  const std::vector<std::optional<int64_t>> &To);
  bool isKnown(const std::vector<std::string> &Ids) const;
  /// \p Unknown: with some values of what is not known.
  bool holdsFor(const isl::set &S, bool Unknown);
  int64_t pick(std::initializer_list<int64_t> From);
  int64_t pick(const std::vector<int64_t> &From);

  const KernelModel &M;
  const Plan &P;
  std::mt19937 Rng;
  uint64_t Visited = 0; ///< rounds of loops
  const uint64_t MostRounds;
  std::array<int64_t, 3> Block{1, 1, 1}, Grid{1, 1, 1}, BlockIndex{},
      Thread{};

  std::vector<std::string> Order; ///< the symbols that a point is made of
  std::map<std::string, unsigned> Pos;
  std::vector<int64_t> Point;
  std::vector<bool> Known;

  /// A symbol that is a product of others.
  struct Product {
    unsigned At = 0;
    std::vector<unsigned> Factors;
    std::set<unsigned> Of; ///< all that its value depends on
  };
  std::vector<Product> Products; ///< factors first

  struct Compiled {
    std::vector<unsigned> Needs; ///< positions of the symbols in it
    CompiledValue V;
    Nullable<isl::pw_aff> Of;
  };
  struct CompiledSet {
    std::vector<unsigned> Needs;
    CompiledCondition C;
    Nullable<isl::set> Of;
  };
  /// By address of isl's object, which is kept: no other one gets it.
  std::map<const void *, Compiled> Values;
  std::map<const void *, CompiledSet> Sets;
  /// By address of the whole set, and whether numbers are known for bits in it.
  std::map<std::pair<const void *, bool>, isl::set> Possible;
  std::set<std::string> Counted; ///< what loops with barriers carry
  std::map<unsigned, Range> Ranges; ///< by loop, for the present launch
};

} // namespace rcache::verify

#endif // RCACHE_LIB_VERIFY_WORLD_H
