// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host variables with one for each thread. Code that is compiled here has no part in
// the process's thread-local storage: of its own variables the runtime keeps copies,
// those of libraries (std::call_once has some) are asked for by name.

#include "Jit.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"

#include <dlfcn.h>

using namespace llvm;

namespace rcache::check {

void lowerThreadLocals(Module &Host) {
  SmallVector<GlobalVariable *, 8> Variables;
  for (GlobalVariable &G : Host.globals())
    if (G.isThreadLocal())
      Variables.push_back(&G);
  const DataLayout &DL = Host.getDataLayout();
  for (GlobalVariable *G : Variables) {
    SmallVector<Constant *, 1> Itself{G};
    convertUsersOfConstantsToInstructions(Itself);
    SmallVector<std::pair<Instruction *, Use *>, 8> Places; // and what they use
    for (Use &U : make_early_inc_range(G->uses()))
      if (auto *I = dyn_cast<Instruction>(U.getUser()))
        Places.push_back({I, &U});
    const bool Library =
        G->isDeclaration() &&
        dlsym(RTLD_DEFAULT, G->getName().str().c_str());
    for (auto &[I, U] : Places) {
      auto *Phi = dyn_cast<PHINode>(I);
      IRBuilder<> B(Phi ? Phi->getIncomingBlock(*U)->getTerminator() : I);
      Value *Address =
          Library
              ? B.CreateCall(Host.getOrInsertFunction("rcc_library_thread_local",
                                                      B.getPtrTy(), B.getPtrTy()),
                             {B.CreateGlobalString(G->getName())})
              : B.CreateCall(Host.getOrInsertFunction("rcc_thread_local", B.getPtrTy(),
                                                      B.getPtrTy(), B.getInt64Ty(),
                                                      B.getInt64Ty()),
                             {G, B.getInt64(DL.getTypeAllocSize(G->getValueType())),
                              B.getInt64(DL.getValueOrABITypeAlignment(
                                               G->getAlign(), G->getValueType())
                                             .value())});
      auto *Asked = dyn_cast<IntrinsicInst>(I);
      if (Asked && Asked->getIntrinsicID() == Intrinsic::threadlocal_address) {
        Asked->replaceAllUsesWith(Address);
        Asked->eraseFromParent();
      } else {
        U->set(Address);
      }
    }
    G->setThreadLocal(false); // what a thread's begins with
  }
}

} // namespace rcache::check
