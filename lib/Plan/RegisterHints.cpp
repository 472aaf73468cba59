// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RegisterHints.h.

#include "RegisterHints.h"
#include "finish/Finish.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace rcache;

/// What keeps the text of \p M from being the text of another kernel. That a sum
/// may be fused otherwise where the text around it is another one says nothing of a
/// text that stays, nor does what a call hides.
static const Decline *notCopied(const KernelModel &M) {
  for (const Decline &D : M.Declines)
    if (!has(D.Code, TraitCopied) && !has(D.Code, TraitHiddenByCall) &&
        D.Code != DeclineCode::FusionUnsettled)
      return &D;
  return nullptr;
}

std::optional<Decline> rcache::hintsForbidden(const KernelModel &M) {
  if (const Decline *D = notCopied(M))
    return *D;
  if (!M.LaunchBounds.empty())
    return Decline{DeclineCode::KernelAttribute,
                   "'__launch_bounds__(" + M.LaunchBounds +
                       ")' says what registers there are",
                   M.Pos};
  if (M.LimitsRegisters)
    return Decline{DeclineCode::KernelAttribute,
                   "'__maxnreg__' says what registers there are", M.Pos};
  if (M.Form.scaled())
    return Decline{DeclineCode::BlockShape, "the kernel is planned in other text",
                   M.Pos};
  if (M.Launches.empty())
    return withoutLaunch(M);
  if (!M.UnseenLaunches.empty())
    return Decline{DeclineCode::BlockShape, unseenLaunches(M), M.Pos};
  if (!M.Geo.AllLaunchesConst || !M.Geo.ConstBlock)
    return Decline{DeclineCode::BlockShape,
                   "the launches do not tell one block of threads", M.Pos,
                   "launch it with a block that is a constant in this file"};
  return std::nullopt;
}

bool rcache::mayWaitForBlocks(const KernelModel &M) {
  // What the model does not follow may be such a wait.
  if (llvm::any_of(M.Declines, [](const Decline &D) {
        return D.Code != DeclineCode::NoShared &&
               D.Code != DeclineCode::FusionUnsettled;
      }))
    return true;
  auto Names = [](llvm::StringRef Text) {
    return llvm::any_of(
        llvm::ArrayRef<llvm::StringRef>{"volatile", "atomic", "asm", "cuda::",
                                        "cooperative_groups", "__ldcv",
                                        "__nanosleep"},
        [&](llvm::StringRef Word) { return Text.contains(Word); });
  };
  return Names(M.text(M.BodyRange)) || Names(M.ParamsText) ||
         llvm::any_of(M.CalleeBodies,
                      [&](const auto &C) { return Names(C.second); });
}

Plan rcache::hintedPlan(const KernelModel &M, const RegisterHints &H) {
  Plan P;
  P.Hints = H;
  P.Map.Block = M.Geo.ConstBlock;
  P.Map.Merge = false;
  for (unsigned A = 0; A < 3; ++A)
    P.Preconditions.push_back(
        {M.NamePrefix + "block." + "xyz"[A] +
             " == " + std::to_string((*P.Map.Block)[A]),
         "the compiler was told of this block"});
  addTextConditions(M, P);
  P.KeepBarriers = true;
  P.BarrierReason = "shared arrays are as they were";
  P.Context = M.Context;
  for (unsigned Array = 0; Array < M.Arrays.size(); ++Array) {
    ArrayPlan Kept;
    Kept.Array = Array;
    P.Arrays.push_back(std::move(Kept));
  }
  return P;
}

std::string rcache::hintsText(const RegisterHints &H) {
  std::string T =
      "launch bounds of " + std::to_string(H.MaxThreads) + " threads";
  if (H.MinBlocks)
    T += ", " + std::to_string(H.MinBlocks) +
         (H.MinBlocks == 1 ? " block an SM" : " blocks an SM");
  if (H.SharedSpilling)
    T += "; spilling to shared memory";
  return T;
}
