// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values that are no number. The device gives all results of 32 and 16 bits that are
// none the same bits, whatever its operands had; to LLVM these bits mean nothing, and
// x + -0.0 is x. As seen on sm_90:
//
//   add, sub, fma, mul.rn, mul.ftz, div.rn, neg, abs, cvt.f16   one NaN
//   mul.f32 by 1, div.approx by 1, neg(neg(x))                  ptxas leaves x
//   of 64 bits                                                  an operand's NaN: of two
//       that differ, the one that the order of operands in machine code says
//
// The order is ptxas's to choose (products of a and b and of b and a are one to it), so
// results of 64 bits that are none are taken for one value as well (Instrument.cpp).
// What PTX says is marked, and gets its one NaN before anything is optimised.

#include "Lower.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace rcache::check {

void markOneNaN(Value *V) {
  auto *I = dyn_cast_or_null<Instruction>(V);
  if (I && I->getType()->isFPOrFPVectorTy() && !I->getType()->getScalarType()->isDoubleTy())
    I->setMetadata(OneNaNMark, MDNode::get(I->getContext(), {}));
}

void giveOneNaN(Instruction &I) {
  Type *T = I.getType(), *E = T->getScalarType();
  uint64_t Bits = E->isFloatTy()    ? 0x7fffffffull
                  : E->isDoubleTy() ? 0xfff8000000000000ull
                  : E->isHalfTy() || E->isBFloatTy() ? 0x7fffull
                                                     : 0;
  if (!Bits)
    return;
  IRBuilder<> B(I.getNextNode());
  // In integers: of a choice between numbers the optimiser may forget the bits.
  unsigned Width = E->getPrimitiveSizeInBits();
  Type *Int = B.getIntNTy(Width);
  if (auto *V = dyn_cast<FixedVectorType>(T))
    Int = FixedVectorType::get(Int, V->getNumElements());
  APInt Infinity = APFloat::getInf(E->getFltSemantics()).bitcastToAPInt();
  SmallVector<Use *, 8> Uses;
  for (Use &U : I.uses())
    Uses.push_back(&U);
  Value *Raw = B.CreateBitCast(&I, Int);
  Value *IsNaN = B.CreateICmpUGT(
      B.CreateAnd(Raw, ConstantInt::get(Int, APInt::getSignedMaxValue(Width))),
      ConstantInt::get(Int, Infinity));
  Value *V = B.CreateBitCast(
      B.CreateSelect(IsNaN, ConstantInt::get(Int, APInt(Width, Bits)), Raw), T);
  for (Use *U : Uses)
    U->set(V);
}

/// Hides what LLVM would take for one of its operands, until it has run.
static void keepOperation(Instruction &I) {
  const bool Sum = match(&I, m_c_FAdd(m_Value(), m_NegZeroFP())),
             Difference = match(&I, m_FSub(m_Value(), m_PosZeroFP())),
             Product = match(&I, m_c_FMul(m_Value(), m_FPOne()));
  if (!I.getType()->isFloatTy() || (!Sum && !Difference && !Product))
    return;
  IRBuilder<> B(&I);
  RuntimeCalls R(*I.getModule());
  Value *C = roundedOperation(R, B, Sum ? "add" : Difference ? "sub" : "mul",
                              I.getOperand(0), I.getOperand(1));
  I.replaceAllUsesWith(C);
  I.eraseFromParent();
}

/// To or from 64 bits. These, too, get their NaN before anything is optimised: one to
/// 64 bits would move into the choice of the NaN, one from 64 bits be made with its bits.
static bool convertsDoubles(const Instruction &I) {
  const auto IsDouble = [](const Type *T) { return T->getScalarType()->isDoubleTy(); };
  return (isa<FPExtInst>(I) && IsDouble(I.getType())) ||
         (isa<FPTruncInst>(I) && IsDouble(I.getOperand(0)->getType()));
}

static bool isNegation(const Value *V) {
  const auto *U = dyn_cast<UnaryOperator>(V);
  return U && U->getOpcode() == Instruction::FNeg;
}

/// The negation of \p I of which a NaN becomes its own, negated; null if there is none.
/// Of two, one by the other, ptxas leaves none, and arithmetic, which may be fused yet,
/// makes its own NaN of any: such users keep \p I, the others get a negation of their own.
static Instruction *negationThatLeaves(Instruction &I) {
  const auto Computes = [](const Use &U) {
    const User *V = U.getUser();
    return isNegation(V) || isa<IntrinsicInst>(V) ||
           (isa<BinaryOperator>(V) && V->getType()->isFPOrFPVectorTy());
  };
  if (!isNegation(&I) || I.getType()->getScalarType()->isDoubleTy() ||
      isNegation(I.getOperand(0)) || all_of(I.uses(), Computes))
    return nullptr;
  if (none_of(I.uses(), Computes))
    return &I;
  Instruction *Own = I.clone();
  Own->insertAfter(I.getIterator());
  I.replaceUsesWithIf(Own, [&](Use &U) { return !Computes(U); });
  return Own;
}

void settleNaNs(Module &M, bool Symbolic) {
  for (Function &F : M)
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (Symbolic) {
        if (I.getMetadata(OneNaNMark))
          keepOperation(I);
      } else if (I.getMetadata(OneNaNMark) || convertsDoubles(I)) {
        giveOneNaN(I);
      } else if (Instruction *Negation = negationThatLeaves(I)) {
        giveOneNaN(*Negation);
      }
}

} // namespace rcache::check
