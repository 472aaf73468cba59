// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Interleave.h.

#include "Interleave.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace rcache;

int64_t InterleavedArray::bytes(const KernelModel &M) const {
  const PrivateArray &A = M.Privates[Array];
  return A.elements(M) * A.ElemBytes * Threads;
}

namespace {

/// Static shared memory that a block has on every device, in bytes.
constexpr int64_t MostStatic = 48 * 1024;
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

/// Lanes next to each other are in banks next to each other: words, pairs and
/// quadruples of words; structs whose odd number of words makes them so.
bool hasBankOfItsOwn(const PrivateArray &A) {
  return A.ElemBytes == 4 || A.ElemBytes == 8 || A.ElemBytes == 16 ||
         (A.ElemBytes % 4 == 0 && A.ElemBytes / 4 % 2 == 1);
}

/// The largest block that is known of; nullopt: none is.
std::optional<std::array<int64_t, 3>> largestBlock(const KernelModel &M,
                                                   const PlanRequest &R) {
  auto Threads = [](const std::array<int64_t, 3> &B) {
    return B[0] * B[1] * B[2];
  };
  if (M.Geo.SeenBlocks.empty())
    return R.AssumedBlock;
  return *llvm::max_element(
      M.Geo.SeenBlocks,
      [&](const auto &A, const auto &B) { return Threads(A) < Threads(B); });
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

  std::optional<Plan> run() {
    for (const PrivateArray &A : M.Privates)
      if (M.Vars[A.Var].DynamicIndex)
        judge(A);
    if (Chosen.empty())
      return std::nullopt;
    const auto Block = largestBlock(M, R);
    if (!Block) {
      Declines.push_back(
          {DeclineCode::BlockShape,
           "no launch tells how many threads share the memory "
           "that " +
               nameOf(M, *Chosen.front()) + " would be in",
           M.Pos, "give the launches a constant block, or say --block=N"});
      return std::nullopt;
    }
    if (!place(*Block))
      return std::nullopt;
    geometry(*Block);
    return std::move(P);
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
    else if (!hasBankOfItsOwn(A))
      Declines.push_back({DeclineCode::PrivateUse,
                          "elements of " + nameOf(M, A) + " have " +
                              std::to_string(A.ElemBytes) + " bytes",
                          A.Pos, "use elements of 4, 8 or 16 bytes"});
    else
      Chosen.push_back(&A);
  }

  /// Small ones first, as many as there is room for.
  bool place(const std::array<int64_t, 3> &Block) {
    const int64_t Threads =
        (Block[0] * Block[1] * Block[2] + WarpSize - 1) / WarpSize * WarpSize;
    int64_t Used = staticBytes(M);
    llvm::stable_sort(Chosen, [&](const auto *A, const auto *B) {
      return A->elements(M) * A->ElemBytes < B->elements(M) * B->ElemBytes;
    });
    for (const PrivateArray *A : Chosen) {
      InterleavedArray I;
      I.Array = static_cast<unsigned>(A - M.Privates.data());
      I.Threads = Threads;
      if (Used + I.bytes(M) > MostStatic) {
        Declines.push_back(
            {DeclineCode::PrivateTooLarge,
             nameOf(M, *A) + " of " + std::to_string(Threads) +
                 " threads has " + std::to_string(I.bytes(M)) + " bytes" +
                 (Used ? ", beside " + std::to_string(Used) : "") + " of " +
                 std::to_string(MostStatic),
             A->Pos});
        continue;
      }
      Used += (I.bytes(M) + 15) / 16 * 16;
      P.Interleaved.push_back(I);
    }
    llvm::sort(P.Interleaved,
               [](const auto &A, const auto &B) { return A.Array < B.Array; });
    return !P.Interleaved.empty();
  }

  /// Blocks and grids are those of the launch; barriers are as they were.
  void geometry(const std::array<int64_t, 3> &Largest) {
    const std::string Block = M.NamePrefix + "block";
    if (M.Geo.ConstBlock) {
      P.Map.Block = Largest;
      for (unsigned A = 0; A < 3; ++A)
        require(Block + "." + "xyz"[A] + " == " + std::to_string(Largest[A]),
                "the plan is made for this block");
    } else {
      // Factors first: none of the products wraps.
      require(Block + ".x <= 1024u && " + Block + ".y <= 1024u && " + Block +
                  ".z <= 64u && " + Block + ".x * " + Block + ".y * " + Block +
                  ".z <= " + std::to_string(P.Interleaved.front().Threads) +
                  "u",
              "each thread has its part of the shared memory");
    }
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
  if (M.Form.scaled() || R.Coarsen.value_or(1) != 1 || notCopied(M))
    return;
  Interleaving I(M, R);
  if (auto P = I.run()) {
    if (Out.Candidates.empty()) {
      Out.WhyShared = std::move(Out.Declines);
      llvm::erase_if(Out.WhyShared, [](const Decline &D) {
        return D.Code == DeclineCode::NoShared;
      });
      Out.Declines.clear();
    }
    Out.Candidates.push_back(std::move(*P));
    return;
  }
  if (!I.Declines.empty() && Out.Declines.size() == 1 &&
      Out.Declines.front().Code == DeclineCode::NoShared)
    Out.Declines = std::move(I.Declines);
}
