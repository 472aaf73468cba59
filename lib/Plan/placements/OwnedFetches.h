// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where, by which slots and at what cost other threads' owned elements are copied.
// May throw isl::exception.

#ifndef RCACHE_LIB_PLAN_PLACEMENTS_OWNEDFETCHES_H
#define RCACHE_LIB_PLAN_PLACEMENTS_OWNEDFETCHES_H

#include "../Counters.h"
#include "rcache/Plan.h"
#include "llvm/ADT/ArrayRef.h"

namespace rcache {

/// The statements without barriers, one behind the other, that \p S is in.
TextRange intervalOf(const KernelModel &M, const SharedAccess &S);

/// Of the statements that slots run, not of a condition of the thread; what is
/// fetched is fetched once, so no loop stands around it.
bool standsInSlots(const KernelModel &M, const SharedAccess &S, bool Own);

/// Is \p S read in the body of loops without barriers, in all rounds the same \p Element
/// ([tx] -> { [e] }; null: no formula), which the thread changes in none of them? One copy
/// in front of the loops serves all rounds.
bool isSameInRounds(const KernelModel &M, const SharedAccess &S,
                    const Nullable<isl::pw_aff> &Element);

/// `X & Mask`, `X ^ Mask`. \p Mask >= 0.
isl::pw_aff bitsOf(const isl::pw_aff &X, int64_t Mask);
isl::pw_aff flipped(const isl::pw_aff &X, int64_t Mask);
/// `[tx] -> { [tx ^ Mask] }`.
isl::pw_aff flipped(isl::ctx Ctx, int64_t Mask);

/// The number \p V where the counters are \p At: [symbols] -> { [v] }, bits of sums
/// included; null: no formula.
Nullable<isl::pw_aff> formulaOf(const KernelModel &M, const Assumptions &A,
                                const Value &V, const Counters::Values &At);
/// The element that \p S names, as one number: [symbols] -> { [e] }; null: no formula.
Nullable<isl::pw_aff> affineElement(const KernelModel &M, const Assumptions &A,
                                    const SharedAccess &S);
/// The element that \p S names where the counters are \p V, as one number:
/// [symbols] -> { [e] }; null: no formula.
Nullable<isl::pw_aff> elementAt(const KernelModel &M, const Assumptions &A,
                                const SharedAccess &S, const Counters::Values &V);
/// \p Numbers, one for each of \p Visits, as one counter's multiple and a constant:
/// [counters] -> { [n] }; null: they are none.
Nullable<isl::pw_aff> byVisits(const KernelModel &M, const Counters &Count,
                               llvm::ArrayRef<Counters::Values> Visits,
                               llvm::ArrayRef<int64_t> Numbers);
/// \p S where the counters are \p Known, what other symbols stand for put in their
/// place: [symbols] -> { : }.
isl::set at(const KernelModel &M, const Assumptions &A, isl::set S,
            const Counters::Values &Known);

/// \p V as a formula of one counter, where it is a number in every round that comes to
/// \p Stmt and is in \p Domain: [c] -> { [v] }, for the values that the counter has;
/// null: it is not.
Nullable<isl::pw_aff> byCounter(const Counters &Count, unsigned Stmt,
                                const isl::pw_aff &V, const isl::set &Domain);
/// Does the text of \p Id have its value in front of \p S's region and up to it?
bool namedAt(const KernelModel &M, const Counters &Count, const SharedAccess &S,
             const std::string &Id);
/// Does \p F change elements of the block's threads only? (What is never written has
/// no value that could be read.)
bool staysInBlock(const SharedArray &Arr, const Counters &Count, const SharedAccess &S,
                  const Owned::Fetch &F, const isl::set &Domain, int64_t Threads);
/// A product that leaves shared memory is rounded by then; in a register a sum
/// would fuse it. What is stored can be written so (StatementText), sums are.
bool storesRounded(const KernelModel &M, const SharedAccess &S);
/// j where the element of \p S is t ^ j, a formula of counters; null: it is not.
/// \p Threads of a block.
Nullable<isl::pw_aff> maskOf(const SharedAccess &S, const Assumptions &A,
                             int64_t Threads, const Counters &Count,
                             const isl::set &Domain);

/// `[sx, counters \p Ids] -> { : }`: some thread of the slot is in \p Domain
/// ([tx, symbols] -> { : }). \p Visits: the counters there.
isl::set slotsOf(const Mapping &Map, const isl::set &Domain,
                 const std::vector<std::string> &Ids,
                 llvm::ArrayRef<Counters::Values> Visits);

/// Shuffles of a warp for \p F where the counters are \p V and its By is \p By.
double shufflesOf(const Mapping &Map, const Owned::Fetch &F, int64_t By,
                  const Counters::Values &V);

/// What about the array itself keeps a warp from owning it, as a clause; "": nothing.
std::string whyNotOwned(const KernelModel &M, unsigned Array);
/// Where the comparison \p V holds, the numbers that are counted being \p At; null:
/// no formula.
Nullable<isl::set> conditionOf(const KernelModel &M, const Assumptions &A,
                               const Value &V, const Counters::Values &At);
/// Do the statements \p In nothing but set what is theirs and elements of shared
/// arrays; \p MayStore: or of global memory?
bool doesNothingElse(const KernelModel &M, TextRange In, bool MayStore);
/// Is what all names in \p In mean the same for all threads, or made of the
/// thread's number alone? What is declared there is used nowhere else. Variables
/// that have to be declared again for another thread are added to \p Declared; null:
/// none may be.
bool namesTheSame(const KernelModel &M, TextRange In,
                  std::vector<unsigned> *Declared = nullptr);

/// Rounds that each of \p Count's visits of a statement stands for.
double roundsUncounted(const KernelModel &M, const Counters &Count, unsigned StmtId);

} // namespace rcache

#endif // RCACHE_LIB_PLAN_PLACEMENTS_OWNEDFETCHES_H
