// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most registers of PTX are written once, in front of all that reads them. They
// need no variable: thousands of those, each with a beginning of its own in the
// first block, take the promotion to values minutes.

#include "PtxModule.h"

#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace rcache::check {

/// The only store to \p A, if all else that uses it are loads of its type
/// behind that store.
static StoreInst *onlyStore(const AllocaInst &A, const DominatorTree &DT) {
  StoreInst *Only = nullptr;
  for (User *U : const_cast<AllocaInst &>(A).users()) {
    if (auto *S = dyn_cast<StoreInst>(U)) {
      if (Only || S->getPointerOperand() != &A || S->isVolatile() ||
          S->getValueOperand()->getType() != A.getAllocatedType())
        return nullptr;
      Only = S;
    } else if (auto *L = dyn_cast<LoadInst>(U);
               !L || L->isVolatile() || L->getType() != A.getAllocatedType()) {
      return nullptr;
    }
  }
  if (!Only || !DT.isReachableFromEntry(Only->getParent()))
    return nullptr;
  for (const User *U : A.users())
    if (const auto *L = dyn_cast<LoadInst>(U))
      if (!DT.dominates(Only, L))
        return nullptr;
  return Only;
}

void promoteRegisters(Module &M) {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    const DominatorTree DT(F);
    SmallVector<AllocaInst *, 0> All;
    for (Instruction &I : F.getEntryBlock())
      if (auto *A = dyn_cast<AllocaInst>(&I))
        All.push_back(A);
    for (AllocaInst *A : All) {
      StoreInst *S = onlyStore(*A, DT);
      if (!S)
        continue;
      Value *V = S->getValueOperand();
      for (User *U : make_early_inc_range(A->users()))
        if (auto *L = dyn_cast<LoadInst>(U)) {
          L->replaceAllUsesWith(V);
          L->eraseFromParent();
        }
      S->eraseFromParent();
      A->eraseFromParent();
    }
  }
}

} // namespace rcache::check
