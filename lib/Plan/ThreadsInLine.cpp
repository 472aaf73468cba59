// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See rcache/ThreadsInLine.h. Every name of a thread's coordinates or of the
// block's extents is replaced, so that each thread computes what it computed
// before; their order in warps is the same, as the device counts along x first.

#include "rcache/ThreadsInLine.h"
#include "ArrayText.h"
#include "BodyText.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

bool rcache::exchangesComputed(const KernelModel &M) {
  return llvm::any_of(M.SharedAccesses, [](const SharedAccess &S) {
    return S.K == SharedAccess::ReadWrite ||
           (S.K == SharedAccess::Write &&
            (!S.Stored || (S.Stored->Depends & DepShared)));
  });
}

/// Does the body name threads or blocks of threads nowhere but in \p M.Builtins?
static bool namesCoordinatesAlone(const KernelModel &M) {
  for (const char *Word : {"threadIdx", "blockDim"})
    if (occurrences(M, Word) !=
        static_cast<size_t>(llvm::count_if(M.Builtins, [&](const BuiltinUse &U) {
          return M.text(U.Range).rfind(Word, 0) == 0;
        })))
      return false;
  return llvm::all_of(M.Builtins, [&](const BuiltinUse &U) {
    return U.Axis <= 2 && !U.Range.empty() && M.BodyRange.contains(U.Range);
  });
}

/// `threadIdx.y` as the new text says it, in blocks of \p Block.
static std::string coordinate(const std::array<int64_t, 3> &Block,
                              unsigned Axis) {
  if (Block[Axis] == 1)
    return "0u";
  std::string T = "threadIdx.x";
  int64_t Step = 1;
  for (unsigned A = 0; A < Axis; ++A)
    Step *= Block[A];
  if (Step > 1)
    T += " / " + std::to_string(Step) + "u";
  if (Step * Block[Axis] < Block[0] * Block[1] * Block[2])
    T += " % " + std::to_string(Block[Axis]) + "u";
  return "(" + T + ")";
}

std::optional<OtherBody> rcache::threadsInLine(const KernelModel &M) {
  if (!M.Geo.ConstBlock || M.Form.scaled() || !exchangesComputed(M))
    return std::nullopt;
  const std::array<int64_t, 3> &Block = *M.Geo.ConstBlock;
  const int64_t Threads = Block[0] * Block[1] * Block[2];
  if (Threads == Block[0] || Threads % 32 != 0 || Threads > 1024 ||
      !namesCoordinatesAlone(M))
    return std::nullopt;
  BodyText Edits(M);
  for (const BuiltinUse &U : M.Builtins) {
    if (U.K != Symbol::ThreadIdx && U.K != Symbol::BlockDim)
      continue;
    if (!Edits.insert(U.Range, U.K == Symbol::ThreadIdx
                                   ? coordinate(Block, U.Axis)
                                   : std::to_string(Block[U.Axis]) + "u"))
      return std::nullopt;
  }
  auto Text = Edits.written();
  if (!Text)
    return std::nullopt;
  OtherBody R;
  R.Text = std::move(*Text);
  R.Form = M.Form;
  // Along an axis of one thread there is nothing to divide by.
  R.Form.Scale = {Threads / Block[0], Block[1] > 1 ? -Block[1] : 1,
                  Block[2] > 1 ? -Block[2] : 1};
  R.OnlyOwned = true;
  R.Note = "the block's " + std::to_string(Threads) +
           " threads are planned in a line, as they are numbered";
  return R;
}
