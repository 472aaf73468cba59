// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The communication part of a rewritten kernel: the staging function as a
// lambda, the windows, the exchange phases.
//
//     const auto rc_s_at = [=](const int rc_e0) -> float { ... };
//     float rc_s_w[10];
//     ...

#ifndef RCACHE_LOWER_FILL_H
#define RCACHE_LOWER_FILL_H

#include "Kernel.h"
#include "Names.h"
#include "ValueText.h"
#include <map>
#include <set>

namespace rcache {

/// Lines in front of something, some of which only declare a number.
class Preamble {
public:
  void add(Code Line) { Lines.push_back({"", std::move(Line)}); }
  /// `const int <Name> = <Value>;`
  void number(const std::string &Name, const Code &Value) {
    Lines.push_back({Code::plain(Name),
                     "const int " + Code(Name) + " = " + Value + ";\n"});
  }
  /// The lines without numbers that neither \p Body nor a line behind them names.
  Code before(const Code &Body) const;

private:
  struct Line {
    std::string Number; ///< "": the line is needed
    Code Text;
  };
  std::vector<Line> Lines;
};

class Fill {
public:
  Fill(const KernelModel &M, const Plan &P, const Names &N);

  /// Text for all windows whose staging ends at barrier \p Barrier.
  llvm::Expected<Code> atBarrier(unsigned Barrier);

  /// Text that replaces the read \p Access (index in SharedAccesses) in slot
  /// code.
  llvm::Expected<Code> readText(unsigned Access) const;
  /// Where the slots have what \p Access reads of a tile (Division::ReadFirst): a name.
  Code readFirst(unsigned Access) const;
  /// The counter of \p Loop.
  std::string roundOf(const Stmt &Loop) const;
  /// What \p Access reads of a tile in the round of \p Loop that is \p By further on.
  llvm::Expected<Code> readLater(unsigned Access, const Stmt &Loop, const std::string &By) const;

  /// How the rows of streamed windows are loaded.
  enum class RowForm {
    Words,  ///< as aligned vectors
    Inside, ///< element by element; as vectors where a single row is aligned
    Border  ///< element by element, each where the original stages it
  };
  struct StreamForm {
    RowForm Form;
    Code Condition; ///< of variables declared at the barrier
  };
  /// The forms that the windows streamed by loop \p Loop have, in the order in
  /// which they are asked for; the last one needs no condition.
  std::vector<StreamForm> streamForms(unsigned Loop) const;
  /// The rows of all windows that loop \p Loop streams: declarations and loads
  /// of row \p Row.
  Code streamedRow(unsigned Loop, const std::string &Row, RowForm Form) const;

  /// Arrays that belong to the warp. Their registers, to stand where the array
  /// was declared; "": \p Array is none.
  Code ownedRegisters(unsigned Array) const;
  /// Those of all arrays that are declared outside the kernel.
  Code ownedFromOutside() const;
  /// What \p Access names there, in slot code: a register of its slot, or the copy
  /// of another's.
  llvm::Expected<Code> ownedElement(unsigned Access) const;
  /// Other threads' elements for the accesses within \p Ranges, copied by all
  /// lanes: in front of the statements with these. Called before their text is made.
  llvm::Expected<Code> fetched(llvm::ArrayRef<TextRange> Ranges);
  /// Copies that these statements may have changed, on their way back to the
  /// elements' owners.
  llvm::Expected<Code> returned(llvm::ArrayRef<TextRange> Ranges);
  /// How the slots run \p Statements for pairs of threads; nullopt: they do not.
  /// Called before their text is made.
  llvm::Expected<std::optional<SlotLoop::PairRuns>>
  pairRuns(TextRange Statements);

  /// Arrays that all threads of joined blocks fill: the copies' declaration, to
  /// stand where the array was declared; "": \p Array is none.
  Code restagedCopies(unsigned Array) const;
  /// Plan::Ahead. In front of the loop: how tiles are sent for, and the first one.
  llvm::Expected<Code> firstTiles();
  /// In front of the staging barrier, and behind it.
  Code tilesArrive() const;
  Code nextTiles() const;

  const std::set<std::string> &helpers() const { return Helpers; }

private:
  const KernelModel &M;
  const Plan &P;
  const Names &N;
  mutable std::set<std::string> Helpers;
  /// Variables that say how a window's rows are loaded; "": no such form.
  struct FormNames {
    std::string Inside, Words;
  };
  /// How the rows of a streamed window are loaded, by index in P.Arrays.
  struct RowLoad {
    bool Fast = false, Scalar = false; ///< lambdas that exist
    FormNames Form;
  };
  std::map<size_t, RowLoad> RowLoads;

  std::string base(size_t PlanIndex) const;
  bool hasViews(const ArrayPlan &A) const;
  /// Declares and fills the slots' views of a window, named base(Index).
  std::string views(const ArrayPlan &A, size_t Index) const;
  /// Of the copies that accesses name, by access.
  std::map<unsigned, std::string> CopyNames;
  /// Of the references to a pair's elements, the same.
  std::map<unsigned, std::string> PairNames;
  llvm::Expected<Code> fetch(const SharedArray &Of, const Owned::Fetch &F,
                             const std::string &Into);
  llvm::Expected<Code> giveBack(const SharedArray &Of, const Owned::Fetch &F,
                                const std::string &From);
  llvm::Expected<std::optional<SlotLoop::PairRuns>>
  stridedRuns(const PairedInterval &Pair);
  /// What a strided run needs for the arrays that it uses: parameters of the function,
  /// copies of other elements, and arguments where the owner of the first or of the
  /// other element runs, or where both elements are in one lane.
  struct RunArguments {
    Code Parameters, Copies, Own, Other, Inside;
  };
  RunArguments runArguments(const PairedInterval &Pair, const Code &By);
  std::string ownedName(const SharedArray &Of) const;
  std::string ownedHelper(Owned::Fetch::Kind K);
  std::string registersOf(const SharedArray &Of) const;
  llvm::Expected<Code> gatheredText(const Owned::Fetch &F) const;
  ValueTextOptions ownedOptions() const;
  std::string groupName(const ArrayPlan &A) const;
  /// The copy of it in shared memory: `rc_s_tile` (an array may have the name of
  /// anything that is generated, without the prefix).
  std::string tileName(const ArrayPlan &A) const { return groupName(A) + "_tile"; }
  llvm::Expected<Code> stageLambda(const ArrayPlan &A) const;
  llvm::Expected<Code> stageBody(const ArrayPlan &A,
                                 const ValueTextOptions &O,
                                 bool WithForms = true) const;
  /// The elements that any window of the array can ask for.
  isl::set askedOf(const ArrayPlan &A) const;
  llvm::Expected<Code> isRound() const;
  llvm::Expected<Code> fill(const ArrayPlan &A, size_t Index);
  llvm::Expected<Code> reload(const ArrayPlan &A, size_t Index);
  /// What registers of \p Of hold in threads that need none of them: where a register may
  /// be anything, compilers move products of it behind the branch that loads it, and sums no
  /// longer take them.
  std::string unset(const Window &Of) const;
  llvm::Expected<Code> ifNeeded(const Window &Of, const Code &Declared,
                                const Code &Loads) const;
  llvm::Expected<Code> early(const ArrayPlan &A, size_t Index);
  llvm::Expected<Code> rows(const ArrayPlan &A, size_t Index);
  llvm::Expected<Code> chunked(const ArrayPlan &A, size_t Index);
  llvm::Expected<Code> cyclic(const ArrayPlan &A, size_t Index);
  /// Which element of all copies is the one with the number \p At: subscripts, the
  /// blocks it is a copy of and its coordinates.
  struct RestagedPlace {
    Code Subscripts;
    std::vector<Code> Blocks, Coordinates;
  };
  RestagedPlace placeOf(const ArrayPlan &A, const Restaged &R,
                        const Code &At) const;
  llvm::Expected<Code> restage(const ArrayPlan &A, const Restaged &R);
  llvm::Expected<Code> restagedElement(const ArrayPlan &A, unsigned Access,
                                       const CxxNames &Symbols) const;
  CxxNames roundSymbols() const;
  llvm::Expected<Code> sourceLambda(const ArrayPlan &A, const Restaged &R) const;
  Code sendFor(const ArrayPlan &A, const Restaged &R, bool Vectors);
  /// Conditions on the arguments for copies of 16 bytes; nullopt: none is enough.
  std::optional<std::set<std::string>> vectorsAsk(const ArrayPlan &A,
                                                  const Restaged &R) const;
  /// Statements that put a run of elements from (rc_e0, ...) into an array:
  /// by vectors where Condition holds, else one by one.
  struct Run {
    Code Condition; ///< empty: always Scalar; `true`: always Fast
    Code Fast, Scalar;
    Code OnWord; ///< all rows are aligned; empty: not asked
    Code Words;  ///< Fast where OnWord holds
    Code End;    ///< of the branch that has Scalar
    Code text() const;
  };
  /// \p Count registers, of which [Lo, Hi) are needed (Hi < 0: all).
  llvm::Expected<Run> run(const ArrayPlan &A, const std::string &Into,
                          int64_t Count, int64_t Lo = 0, int64_t Hi = -1);
  /// A run that is being written.
  struct RunOf {
    const ArrayPlan &A;
    std::string Into;
    int64_t Count, Lo, Hi;
    ValueTextOptions O;
    Code Each, To; ///< a loop over its registers, and what it assigns to
  };
  Code elementArguments(const ArrayPlan &A, int64_t Count) const;
  Code endOfBorders(const ArrayPlan &A);
  llvm::Error loadRun(const RunOf &R, const VectorLeaf &L,
                      const std::string &Into, Run &Out);
  llvm::Error interior(const RunOf &R, Run &Out);
  void nameElement(CxxNames &Symbols, const ArrayPlan &A,
                   const std::string &Register) const;
  llvm::Expected<Code> wordTest(const ArrayPlan &A, int64_t Count,
                                       const ValueTextOptions &O) const;
  static Code formTests(const Run &R, const std::string &W,
                        const Preamble &First, FormNames &Names);
  std::string rowLambda(size_t Index, const RowLoad &Load, RowForm Form) const;
};

/// Names of the coordinates of an element of \p A, and of products with them.
void addElementNames(CxxNames &Symbols, const ArrayPlan &A, const Names &N);

} // namespace rcache

#endif // RCACHE_LOWER_FILL_H
