// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Interleave.h.

#include "Interleave.h"
#include "finish/Finish.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;
using llvm::StringRef;

int64_t InterleavedArray::inWord(const KernelModel &M) const {
  const PrivateArray &A = M.Privates[Array];
  return A.ElemBytes == 1 && M.Vars[A.Var].ArrayExtents.size() == 1 ? 4 : 1;
}

int64_t InterleavedArray::bytes(const KernelModel &M) const {
  if (Once)
    return 0;
  const PrivateArray &A = M.Privates[Array];
  const int64_t Word = inWord(M);
  return (A.elements(M) + Word - 1) / Word * Word * A.ElemBytes * Threads;
}

int64_t Plan::interleavedBytes(const KernelModel &M, int64_t Threads) const {
  int64_t All = 0;
  for (const InterleavedArray &I : Interleaved)
    All += I.bytes(M);
  return ByWarp ? (Threads + 31) / 32 * All : All;
}

bool Plan::besideOwn(const KernelModel &M) const {
  return ByWarp && llvm::any_of(M.Arrays, [](const SharedArray &A) { return A.Dynamic; });
}

namespace {

/// Static shared memory that a block has on every device, in bytes.
constexpr int64_t MostStatic = 48 * 1024;
/// Dynamic shared memory that a block can be given on some device. (Whether it
/// is to be had is asked at launch.)
constexpr int64_t MostDynamic = 227 * 1024;
constexpr int64_t WarpSize = 32;

std::string nameOf(const KernelModel &M, const PrivateArray &A) {
  return "'" + M.Vars[A.Var].Name + "'";
}

/// What keeps the text of \p M from being the text of another kernel.
const Decline *notCopied(const KernelModel &M) {
  for (const Decline &D : M.Declines)
    if (!has(D.Code, TraitCopied))
      return &D;
  return nullptr;
}

/// Lanes next to each other are in banks next to each other: numbers of up to
/// four words, structs whose odd number of words makes them so.
bool fitsBanks(const PrivateArray &A) {
  return A.ElemBytes == 1 || A.ElemBytes == 2 || A.ElemBytes == 4 ||
         A.ElemBytes == 8 || A.ElemBytes == 16 ||
         (A.ElemBytes % 4 == 0 && A.ElemBytes / 4 % 2 == 1);
}

int64_t threadsOf(const std::array<int64_t, 3> &B) { return B[0] * B[1] * B[2]; }

/// The largest block that is known of; nullopt: none is.
std::optional<std::array<int64_t, 3>> largestBlock(const KernelModel &M,
                                                   const PlanRequest &R) {
  if (M.Geo.SeenBlocks.empty())
    return R.AssumedBlock;
  return *llvm::max_element(
      M.Geo.SeenBlocks,
      [](const auto &A, const auto &B) { return threadsOf(A) < threadsOf(B); });
}

int64_t staticBytes(const KernelModel &M) {
  int64_t All = 0;
  for (const SharedArray &A : M.Arrays) {
    int64_t Bytes = A.Dynamic ? 0 : A.ElemBytes;
    for (const auto &E : A.Extents)
      Bytes *= E.value_or(MostStatic);
    All += (Bytes + 15) / 16 * 16;
  }
  return All;
}

class Interleaving {
public:
  Interleaving(const KernelModel &M, const PlanRequest &R) : M(M), R(R) {}

  /// All of the arrays moved, where there is room; the tables alone.
  std::vector<Plan> run() {
    for (const PrivateArray &A : M.Privates)
      if (A.isInLocalMemory(M))
        judge(A);
    llvm::sort(Chosen);
    std::vector<Plan> All;
    const bool Asked = StringRef(M.Text).contains("_smem_size"); // how much there is
    if (!onlyTables() && !Asked && place())
      All.push_back(made());
    llvm::erase_if(Chosen, [](const PrivateArray *A) { return !A->Table; });
    if (!Chosen.empty()) {
      add(WarpSize);
      All.push_back(made());
    }
    return All;
  }

  std::vector<Decline> Declines; ///< of arrays that are in local memory

private:
  const KernelModel &M;
  const PlanRequest &R;
  std::vector<const PrivateArray *> Chosen;
  Plan P;

  void judge(const PrivateArray &A) {
    if (A.Stays)
      Declines.push_back(*A.Stays);
    else if (!fitsBanks(A))
      Declines.push_back({DeclineCode::PrivateUse,
                          "elements of " + nameOf(M, A) + " have " +
                              std::to_string(A.ElemBytes) + " bytes",
                          A.Pos, "use elements of 1, 2, 4, 8 or 16 bytes"});
    else
      Chosen.push_back(&A);
  }

  bool onlyTables() const {
    return llvm::all_of(Chosen, [](const PrivateArray *A) { return A->Table; });
  }

  bool place() {
    const auto Block = largestBlock(M, R);
    if ((Block && placeStatic(*Block)) || placeByWarp(Block))
      return true;
    tooLarge(Block);
    return false;
  }

  Plan made() {
    geometry();
    Plan Done = std::move(P);
    P = Plan();
    return Done;
  }

  void add(int64_t Threads) {
    for (const PrivateArray *A : Chosen) {
      InterleavedArray I;
      I.Array = static_cast<unsigned>(A - M.Privates.data());
      I.Once = A->Table;
      I.Threads = Threads;
      P.Interleaved.push_back(I);
    }
  }

  /// Room for the threads of the largest block, where all of it is static
  /// memory.
  bool placeStatic(const std::array<int64_t, 3> &Block) {
    const int64_t Threads =
        (threadsOf(Block) + WarpSize - 1) / WarpSize * WarpSize;
    Plan Before = P;
    add(Threads);
    if (staticBytes(M) + P.interleavedBytes(M, Threads) <= MostStatic)
      return true;
    P = std::move(Before);
    return false;
  }

  /// Dynamic memory, behind what the kernel uses itself.
  bool placeByWarp(const std::optional<std::array<int64_t, 3>> &Block) {
    Plan Before = P;
    P.ByWarp = true;
    add(WarpSize);
    if (staticBytes(M) +
            P.interleavedBytes(M, Block ? threadsOf(*Block) : WarpSize) <=
        MostDynamic)
      return true;
    P = std::move(Before);
    return false;
  }

  void tooLarge(const std::optional<std::array<int64_t, 3>> &Block) {
    const PrivateArray &A =
        **llvm::find_if(Chosen, [](const PrivateArray *X) { return !X->Table; });
    const int64_t Threads = Block ? threadsOf(*Block) : WarpSize;
    Declines.push_back(
        {DeclineCode::PrivateTooLarge,
         nameOf(M, A) + " has " + std::to_string(A.elements(M) * A.ElemBytes) +
             " bytes in each of " + std::to_string(Threads) + " threads" +
             (staticBytes(M) ? ", beside " + std::to_string(staticBytes(M)) +
                                   " bytes of shared memory"
                             : ""),
         A.Pos});
  }

  /// Blocks and grids are those of the launch; barriers are as they were.
  void geometry() {
    const std::string Block = M.NamePrefix + "block";
    if (onlyTables()) {
      // Blocks of any size.
    } else if (M.Geo.ConstBlock) {
      P.Map.Block = M.Geo.ConstBlock;
      for (unsigned A = 0; A < 3; ++A)
        require(Block + "." + "xyz"[A] +
                    " == " + std::to_string((*P.Map.Block)[A]),
                "the plan is made for this block");
    } else if (!P.ByWarp) {
      // Factors first: none of the products wraps.
      require(Block + ".x <= 1024u && " + Block + ".y <= 1024u && " + Block +
                  ".z <= 64u && " + Block + ".x * " + Block + ".y * " + Block +
                  ".z <= " + std::to_string(P.Interleaved.front().Threads) +
                  "u",
              "each thread has its part of the shared memory");
    }
    if (P.ByWarp && !P.besideOwn(M))
      require(M.NamePrefix + "shared == 0", "the private arrays' dynamic memory is all there is");
    P.Map.Merge = false;
    P.KeepBarriers = true;
    P.BarrierReason = "shared arrays are as they were";
    P.Context = M.Context;
    for (unsigned Array = 0; Array < M.Arrays.size(); ++Array) {
      ArrayPlan Kept;
      Kept.Array = Array;
      P.Arrays.push_back(std::move(Kept));
    }
  }

  void require(std::string Text, std::string Why) {
    P.Preconditions.push_back({std::move(Text), std::move(Why)});
  }
};

} // namespace

void rcache::addInterleaved(const KernelModel &M, const PlanRequest &R,
                            PlanOutcome &Out) {
  // Another text (TextForm) has other threads; with several outputs a thread
  // there would be several arrays.
  if (M.Form.scaled() || R.Coarsen.value_or(1) != 1)
    return;
  Interleaving I(M, R);
  const Decline *Text = notCopied(M);
  std::vector<Plan> Plans = I.run();
  if (!Plans.empty() && Text) {
    I.Declines = {*Text};
  } else if (!Plans.empty()) {
    if (Out.Candidates.empty()) {
      Out.WhyShared = std::move(Out.Declines);
      llvm::erase_if(Out.WhyShared, [](const Decline &D) {
        return D.Code == DeclineCode::NoShared ||
               D.Code == DeclineCode::NotSelected;
      });
      Out.Declines.clear();
    }
    for (Plan &P : Plans) {
      addTextConditions(M, P);
      Out.Candidates.push_back(std::move(P));
    }
    return;
  }
  if (!I.Declines.empty() && Out.Declines.size() == 1 &&
      (Out.Declines.front().Code == DeclineCode::NoShared || !R.Staging))
    Out.Declines = std::move(I.Declines);
}

ArrayPicture rcache::pictureOf(const KernelModel &M, const Plan &P,
                               const InterleavedArray &I) {
  const Var &V = M.Vars[M.Privates[I.Array].Var];
  ArrayPicture R;
  R.Array = V.Name;
  R.Exchange = "private";
  if (I.Once) {
    R.Detail = "once";
    R.Words = "a table of constants: one copy for all threads, which the caches hold";
    for (const auto &E : V.ArrayExtents)
      R.Layout.push_back({"elements", E});
    return R;
  }
  R.Detail = P.ByWarp ? "by warp" : "by thread";
  R.Words = "an array of each thread, in shared memory: an element of all threads "
            "lies side by side, so that lanes meet in no bank";
  if (P.ByWarp)
    R.Layout.push_back({"warps", 0});
  const int64_t Word = I.inWord(M);
  for (const auto &E : V.ArrayExtents)
    R.Layout.push_back({"elements", (E + Word - 1) / Word});
  R.Layout.push_back({P.ByWarp ? "lanes" : "threads", I.Threads});
  if (Word > 1)
    R.Layout.push_back({"elements of a word", Word});
  return R;
}
