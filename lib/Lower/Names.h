// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of generated things, and how the symbols of a model are written in the
// generated kernel.
//
//     original            generated kernel
//     threadIdx.x         rc_thread_x   (logical thread of the current slot)
//     blockIdx.x          rc_block_x    (logical block)
//     blockDim.x          rc_bdim_x, or its constant
//     gridDim.x           rc_grid_x
//
// No name of the user's begins as these do (KernelModel::NamePrefix).

#ifndef RCACHE_LOWER_NAMES_H
#define RCACHE_LOWER_NAMES_H

#include "Affine/IslToCxx.h"
#include "Code.h"
#include "rcache/Plan.h"

namespace rcache {

/// \p V as a literal.
inline std::string str(int64_t V) { return std::to_string(V); }

class Names {
public:
  Names(const KernelModel &M, const Plan &P);

  /// "tx" -> "rc_tx", marked as a generated name (Code.h).
  std::string operator()(const std::string &Base) const {
    return Code::generated(Prefix + Base);
  }
  /// The same without a mark, for text that is no code of the kernel.
  std::string plain(const std::string &Base) const { return Prefix + Base; }

  /// Text that stands for threadIdx.x and so on in slot code; an axis that no
  /// slot runs along keeps its own name.
  std::string builtin(Symbol::Kind K, unsigned Axis) const;

  /// Which of a thread's slots the thread coordinates mean: the first one, the
  /// first one of the current row of slots, or the current one (slot code).
  enum class Of { FirstSlot, SlotRow, Slot };
  /// \p Text with every `threadIdx.x`, `blockDim.y`, ... replaced; threads along
  /// x are those of the slot \p Which.
  std::string replaceBuiltins(const std::string &Text, Of Which = Of::Slot) const;
  /// Names of all symbols, tx that of the slot \p Which.
  CxxNames symbols(Of Which = Of::FirstSlot) const;
  /// The product \p S, of what its factors are called in \p Of.
  static std::string productText(const Symbol &S, const CxxNames &Of);
  /// Is a factor of the product \p S unsigned, and of 64 bits?
  bool hasLargeUnsigned(const Symbol &S) const;

  /// The name of iterator \p S where its loop is written anew, with the symbol
  /// as its counter: unrolled loops that do not count by their own variable.
  std::optional<std::string> roundOf(const Symbol &S) const;

  /// Variables (indices in Vars) whose value at the start of a round of \p Loop is
  /// asked for after they have changed in it: each is kept under keptName there.
  std::vector<unsigned> keptIn(const Stmt &Loop) const;
  std::string keptName(unsigned Var) const {
    return (*this)(M.Vars[Var].Name + "_before");
  }

  /// The symbols whose product the symbol \p Id is, for all values that they have;
  /// itself if it is none.
  std::vector<std::string> factorsOf(const std::string &Id) const;

  /// Is the symbol \p Id an index of a block or thread, or of an element, none of which
  /// makes sums large?
  bool isIndex(const std::string &Id) const;

  /// "int", or "long long" when a symbol in \p Ids is wider than 32 bits.
  CxxType typeFor(const std::vector<std::string> &Ids) const;
  /// The same for \p V, which the original may have computed in 64 bits: what the launch
  /// need not be asked, or cannot, is no int.
  CxxType typeFor(const isl::pw_aff &V) const;
  CxxType typeFor(const isl::set &S) const;

  /// One-dimensional blocks are merged as rows (threadIdx.y counts logical
  /// blocks); others side by side along x, threadsX() threads each.
  bool mergeAsRows() const { return oneDim(); }
  /// Physical threads of one logical block along x; only with a known block.
  int64_t threadsX() const { return P.Map.threads(0); }
  /// threadIdx.x within the logical block.
  std::string threadX() const;
  bool oneDim() const;
  /// Are logical blocks along \p Axis joined? Then each slot has its own.
  bool joins(unsigned Axis) const { return P.Map.Blocks[Axis] > 1; }

private:
  int64_t mostOf(const std::vector<std::string> &Ids) const;
  /// The thread's number along an axis with slots: of the first one, or of the first
  /// one of the row.
  std::string threadOf(unsigned Axis, Of Which) const;

  const KernelModel &M;
  const Plan &P;
  std::string Prefix;
  /// Symbols (indices) of such values, and the loops (Stmts).
  std::map<unsigned, unsigned> Kept;
  void findKept();
};

} // namespace rcache

#endif // RCACHE_LOWER_NAMES_H
