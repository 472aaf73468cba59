// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches -> selects, for symbolic mode:
//
//   head: br c, side, join          head: (side's arithmetic)
//   side: ...; br join       -->          s = select c, v, w
//   join: phi [v, side], [w, head]        br join
//
// where nothing in side touches memory or calls anything.

#include "Instrument.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace rcache::check {

namespace {

/// Where \p Side goes, if it may be executed whether its branch is taken or
/// not, and nothing but \p Head leads to it.
BasicBlock *harmless(BasicBlock *Side, BasicBlock *Head) {
  auto *End = dyn_cast<BranchInst>(Side->getTerminator());
  if (!End || End->isConditional() || Side->getSinglePredecessor() != Head ||
      End->getSuccessor(0) == Side)
    return nullptr;
  unsigned N = 0;
  for (Instruction &I : *Side)
    if (&I != End && (++N > 16 || isa<PHINode>(I) ||
                      I.mayReadOrWriteMemory() ||
                      !isSafeToSpeculativelyExecute(&I)))
      return nullptr;
  return End->getSuccessor(0);
}

bool flatten(BasicBlock &Head) {
  auto *Br = dyn_cast<BranchInst>(Head.getTerminator());
  if (!Br || !Br->isConditional() ||
      Br->getSuccessor(0) == Br->getSuccessor(1))
    return false;
  BasicBlock *Side[2] = {Br->getSuccessor(0), Br->getSuccessor(1)}, *To[2];
  for (int I = 0; I < 2; ++I)
    To[I] = harmless(Side[I], &Head);
  BasicBlock *Join = nullptr;
  if (To[0] && To[0] == To[1])
    Join = To[0];
  else if (To[0] == Side[1])
    Join = Side[1];
  else if (To[1] == Side[0])
    Join = Side[0];
  if (!Join || Join == &Head || !isa<PHINode>(Join->front()))
    return false;
  IRBuilder<> B(Br);
  BasicBlock *From[2];
  for (int I = 0; I < 2; ++I) {
    From[I] = Side[I] == Join ? &Head : Side[I];
    if (From[I] != &Head)
      while (!Side[I]->front().isTerminator()) {
        Side[I]->front().dropUBImplyingAttrsAndMetadata();
        Side[I]->front().moveBefore(Br->getIterator());
      }
  }
  for (PHINode &P : Join->phis()) {
    Value *V = P.getIncomingValueForBlock(From[0]),
          *W = P.getIncomingValueForBlock(From[1]);
    Value *S = V == W ? V : B.CreateSelect(Br->getCondition(), V, W);
    for (BasicBlock *F : From)
      P.removeIncomingValue(F, /*DeletePHIIfEmpty=*/false);
    P.addIncoming(S, &Head);
  }
  B.CreateBr(Join);
  Br->eraseFromParent();
  for (int I = 0; I < 2; ++I)
    if (Side[I] != Join)
      Side[I]->eraseFromParent();
  return true;
}

} // namespace

void flattenBranches(Module &M) {
  for (Function &F : M)
    for (bool Again = true; Again;) {
      Again = false;
      for (BasicBlock &BB : F)
        if (flatten(BB)) {
          Again = true;
          break; // blocks are gone
        }
    }
}

} // namespace rcache::check
