// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Interleaved.h.

#include "Interleaved.h"
#include <algorithm>
#include <set>

namespace rcache::verify {

/// Each use is inside the declaration's block, and none is part of the text
/// that goes.
static std::optional<std::string> wrongUses(const KernelModel &M,
                                            const PrivateArray &A) {
  const Var &V = M.Vars[A.Var];
  if (A.Stays)
    return "'" + V.Name + "' is moved although it has to stay";
  for (const PrivateArray::Use &U : A.Uses) {
    const std::string Text = M.text(U.Range);
    if (Text.empty() || Text.back() != ']')
      return "'" + Text + "' is no element of '" + V.Name + "'";
    if (V.Scope < M.Stmts.size() && !M.stmt(V.Scope).Range.contains(U.Range))
      return "'" + Text + "' stands outside the block of '" + V.Name + "'";
  }
  return std::nullopt;
}

std::optional<std::string> wrongInterleaved(const KernelModel &M, const Plan &P,
                                            uint64_t &Checks) {
  int64_t Bytes = 0;
  for (const InterleavedArray &I : P.Interleaved) {
    const PrivateArray &A = M.Privates[I.Array];
    if (auto Wrong = wrongUses(M, A))
      return Wrong;
    if (I.Once) {
      if (!A.HasInit ||
          (!A.ConstElements && (M.Vars[A.Var].Assigned || M.Vars[A.Var].AddressTaken)))
        return "'" + M.Vars[A.Var].Name + "' is no table";
      continue;
    }
    int64_t Elements = 1;
    for (const int64_t E : M.Vars[A.Var].ArrayExtents)
      Elements *= E;
    int64_t Threads = I.Threads;
    if (P.ByWarp && Threads != 32)
      return "a warp of " + std::to_string(Threads) + " lanes";
    if (P.Map.Block && !P.ByWarp)
      Threads = (*P.Map.Block)[0] * (*P.Map.Block)[1] * (*P.Map.Block)[2];
    if (Threads > I.Threads || Threads < 1)
      return "room for " + std::to_string(I.Threads) + " threads of " +
             std::to_string(Threads);
    // Every element of every thread has a place of its own, and the lanes of a
    // warp are in different words of the banks, whatever element each has: of
    // small ones in rows as many lanes as are in a word meet in a bank, and no others.
    const bool InWords = A.ElemBytes == 1 && M.Vars[A.Var].ArrayExtents.size() == 1;
    const int64_t Banks = A.ElemBytes < 4 && !InWords ? 8 * A.ElemBytes : 32;
    const int64_t Lane = InWords ? 4 : A.ElemBytes; // bytes from a thread to the next one
    std::set<int64_t> Places;
    for (int64_t E = 0; E < Elements; ++E)
      for (int64_t T = 0; T < Threads; ++T, ++Checks) {
        const int64_t At = InWords ? (E * A.ElemBytes / 4 * I.Threads + T) * 4 + E * A.ElemBytes % 4
                                   : (E * I.Threads + T) * A.ElemBytes;
        if (!Places.insert(At).second)
          return "two elements at byte " + std::to_string(At);
        if (At / 4 % Banks != T * Lane / 4 % Banks)
          return "element " + std::to_string(E) + " of thread " +
                 std::to_string(T) + " is not in the bank of the thread";
      }
    Bytes += InWords ? (Elements * A.ElemBytes + 3) / 4 * 4 * I.Threads
                     : Elements * I.Threads * A.ElemBytes;
  }
  if (P.ByWarp)
    return std::nullopt; // the launch asks whether there is so much
  if (Bytes > 48 * 1024)
    return std::to_string(Bytes) + " bytes of static shared memory";
  return std::nullopt;
}

} // namespace rcache::verify
