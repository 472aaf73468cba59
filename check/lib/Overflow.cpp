// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signed integers that leave their type: undefined in C++, and what two compilers,
// or two texts of one kernel, make of it may differ.

#include "Lower.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace rcache::check {

void checkOverflow(Module &M, Lowered &L) {
  RuntimeCalls Runtime(M);
  SiteTable Sites(L);
  for (Function &F : M) {
    SmallVector<BinaryOperator *, 32> Found;
    for (Instruction &I : instructions(F))
      if (auto *B = dyn_cast<BinaryOperator>(&I);
          B && isa<OverflowingBinaryOperator>(B) && B->hasNoSignedWrap() &&
          B->getOpcode() != Instruction::Shl && B->getType()->isIntegerTy())
        Found.push_back(B);
    for (BinaryOperator *I : Found) {
      IRBuilder<> B(I);
      const Intrinsic::ID Id =
          I->getOpcode() == Instruction::Add   ? Intrinsic::sadd_with_overflow
          : I->getOpcode() == Instruction::Sub ? Intrinsic::ssub_with_overflow
                                               : Intrinsic::smul_with_overflow;
      Value *R = B.CreateBinaryIntrinsic(Id, I->getOperand(0), I->getOperand(1));
      Runtime.call(B, "rcc_overflow", B.getVoidTy(),
                   {Runtime.context(F), B.getInt32(Sites.of(*I)),
                    B.CreateZExt(B.CreateExtractValue(R, 1), B.getInt32Ty())});
    }
  }
}

} // namespace rcache::check
