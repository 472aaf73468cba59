// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowered kernel: the body of a rewritten kernel as a tree, between a plan
// and its text.
//
//     KernelModel, Plan --lower--> LoweredKernel --print--> text
//
//     original                          lowered
//       s[l] = a[g];                      exchange  s: window of 10
//       __syncthreads();                  barrier   none
//       b[g] = s[l] + s[l + 1];           slots     collect b: w[s] + w[s + 1]
//                                         run       b, 16 bytes a store
//
// Statements of the original are leaves, in the user's words, as code that knows
// what it names and which effects it has (Code.h). What stands around them is
// made by passes (Lower.cpp lists them, each with the reason for its place); the
// printer decides nothing.
//
// The idea of a tree that is lowered by small passes in a fixed order, each of
// which may rely on those before it, is Halide's (src/Lower.cpp).

#ifndef RCACHE_LOWER_KERNEL_H
#define RCACHE_LOWER_KERNEL_H

#include "Code.h"
#include "Affine/IslToCxx.h"
#include "rcache/Plan.h"
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace rcache {

struct Node;
using Sequence = std::vector<Node>;

/// Verbatim statements of the original, with what is written anew in them, or
/// lines that are made. Executed once a slot inside a SlotLoop, once a thread
/// elsewhere.
struct Statements {
  Code Text;
};

/// A declaration with one element a slot of variable Var, in front of the slots.
struct PerSlotVar {
  unsigned Var = 0;
  bool Zeroed = false; ///< slots may read it before they have set it
};

/// `bool rc_active[8]`, all true: slots that have not returned.
struct ActiveFlags {};

/// A condition by which a slot leaves the loop it is in: `if (...) continue;`
struct Leave {
  Code If;
};

/// What comes to pass once for each slot.
struct SlotLoop {
  Sequence Body;
  /// In a loop over streamed rows: the slots along Rows->Axis are each in
  /// their own round of the original's loop.
  const StreamedRows *Rows = nullptr;
  /// Axes whose logical thread coordinate the body names (a pass says).
  std::array<bool, 3> Threads = {};
  /// Joined blocks: axes whose logical block, and place among those joined, it names.
  std::array<bool, 3> Blocks = {}, Parts = {};
  /// What pairs of threads run alike (Plan::Paired): Body is a function of the
  /// thread's number and Parameters, and a slot does Runs, which call it.
  struct PairRuns {
    Code Parameters; ///< `, int &mine, int &theirs`
    Code Runs;
    Code Known; ///< statements in front of Body: which threads run it
  };
  std::optional<PairRuns> Pair;
};

/// What a plan's placements need where a staging interval ends: staging
/// functions, windows and how they are filled.
struct Exchange {
  unsigned Barrier = 0; ///< Stmt
  Code Text;
};

/// A barrier that is left.
struct Sync {
  unsigned Stmt = 0;
  SyncScope Scope = SyncScope::Block;
  Code Text; ///< Block: as the original has it
};

/// `{ }`.
struct Braces {
  Sequence Body;
};

/// Control flow of the thread, not of a slot.
struct If {
  Code Cond;
  Sequence Then, Else;
  bool HasElse = false;
  bool Alternatives = false; ///< Else does what Then does
};
struct Loop {
  enum Kind { For, While, Do } K = For;
  unsigned Stmt = 0;
  Code Head; ///< For: `for (...)`, else the condition
  bool Unrolled = false;
  Sequence Body;
};

/// A loop over the rows of streamed windows; one form is executed.
struct RowLoop {
  const StreamedRows *Rows = nullptr;
  struct Form {
    Code If; ///< empty: none of those before
    std::string Remark;
    Code LoadRow;
  };
  std::vector<Form> Forms;
  Code RoundIsSet; ///< declares the loop's variable for the round at hand
  Sequence Body;
};

/// The slots run Body together if one of them has to.
struct IfAnySlot {
  SlotLoop Test; ///< a condition, as the body of a loop
  Sequence Body;
};

/// Registers for the values of a store, one a slot, and flags that say for which
/// slots there is one.
struct Collected {
  unsigned Store = 0; ///< index in Plan::VectorStores
  bool Flags = false;
};
/// The collected values of all slots are written, in vectors where the flags and
/// addresses allow it.
struct StoreRun {
  unsigned Store = 0;
  Code Pointer, Index; ///< of the first slot of a row of slots
};

struct Node {
  std::variant<Statements, PerSlotVar, ActiveFlags, Leave, SlotLoop, Exchange,
               Sync, Braces, If, Loop, RowLoop, IfAnySlot, Collected, StoreRun>
      Is;
  template <typename T,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<T>, Node>>>
  Node(T X) : Is(std::move(X)) {}
  /// The node, if it is a \p T.
  template <typename T> const T *is() const { return std::get_if<T>(&Is); }
};

struct LoweredKernel {
  Sequence Body;
  /// The original's text with other barriers will do: no prologue, no parameters
  /// of ours.
  bool IsCopy = false;
  /// Variables (Vars) with one element a slot.
  std::set<unsigned> PerSlot;
  /// Which coordinates of the thread the body names (a pass says): those of its
  /// first slot, the logical block, the lane.
  std::array<bool, 3> FirstSlot = {};
  /// Joined blocks: the place of its first slot's among them.
  std::array<bool, 3> FirstPart = {};
  bool LogicalBlock = false, Lane = false;
  /// Blocks of rewrite.cuh that it uses.
  std::set<std::string> Helpers;
  /// Sums in it that a launch may have to be asked about.
  std::set<PrintedSum> Sums;
};

/// The registers that collect the values of store \p Store.
std::string collectedName(const KernelModel &M, const Plan &P, unsigned Store);

/// The registers that vector read \p Read fills, and (with "_all" behind it) the
/// flag that says so.
std::string readName(const KernelModel &M, const Plan &P, unsigned Read);

/// Stable text form, for tests and --print-after=lower.
void printTree(llvm::raw_ostream &OS, const LoweredKernel &K,
               const KernelModel &M, const Plan &P);

/// Calls \p Visit for each piece of code in \p Body, in the order of the text;
/// what is made by the printer has none.
void forEachCode(const Sequence &Body,
                 llvm::function_ref<void(const Code &)> Visit);
/// Calls \p Visit for each slot loop in \p Body.
void forEachSlotLoop(Sequence &Body,
                     llvm::function_ref<void(SlotLoop &)> Visit);

} // namespace rcache

#endif // RCACHE_LOWER_KERNEL_H
