// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose threads compute several outputs, a block's width apart:
//
//     s[tx + 16 * i] = ...;                       // i = 0..7, 16 threads
//     for (int i = 0; i < 8; ++i)
//       out[x + 16 * i] = f(s[tx + 16 * i - 1], s[tx + 16 * i + 1]);
//
// Which thread computes which output is the plan's choice. So the text that is
// planned gives each output a thread of its own, in blocks of 8 * 16:
//
//     { const int i = threadIdx.x / 16;           // tx: threadIdx.x % 16
//       out[x + 16 * i] = ...; }
//
// The original never changes, and no kernel is launched in such blocks: the plan
// merges outputs again, neighbours this time.

#ifndef RCACHE_SPREADOUTPUTS_H
#define RCACHE_SPREADOUTPUTS_H

#include "rcache/Model.h"
#include <optional>
#include <string>

namespace rcache {

/// A kernel's body written anew.
struct OtherBody {
  std::string Text; ///< from brace to brace, with as many lines
  TextForm Form;    ///< all differences from the original so far
  std::string Note; ///< for the user; "": nothing to tell
  /// It exchanges more than the original does, but for arrays that a warp owns:
  /// without such there is nothing to gain.
  bool OnlyOwned = false;
  /// Its loops do not tell how many rounds they have where the original's do.
  bool OtherRounds = false;
};

/// The body of \p M with one thread an output along one axis, where it is proved
/// that it computes the same, with modified parameters copied into variables, of which
/// a thread may have several, and without `do { ... } while (0)`; nullopt: nothing of
/// it. \p AssumeNoAlias: see Options::AssumeNoAlias.
std::optional<OtherBody> spreadOutputs(const KernelModel &M,
                                       bool AssumeNoAlias);

/// A pointer parameter that the kernel moves (`in += blockIdx.x * 256;`): addresses
/// of the model are counted from what the launch passes, and where they are
/// written anew the parameter's name means something else by then. The body in
/// which a copy of it moves has no such parameter, so this is a reason for the
/// words of \p M alone.
std::optional<Decline> movedPointer(const KernelModel &M);

/// Has \p M a body with the same rounds and other words: copies of the parameters it
/// moves, braces for `do { ... } while (0)`, vectors by member?
bool hasOtherWords(const KernelModel &M);

} // namespace rcache

#endif // RCACHE_SPREADOUTPUTS_H
