// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products and sums become one fused multiply-add, as nvcc makes them: a program
// whose staged product meets its sum in a register rounds once where the original,
// which had shared memory in between, rounds twice. Runs behind the inliner, the
// unroller and the promotion of variables to values.
//
//   a * b + c, c + a * b    fma(a, b, c)
//   a * b - c               fma(a, b, -c)
//   c - a * b               fma(-a, b, c)
//   -(a * b) - c            fma(-a, b, -c)
//
// Of two products the one with fewer uses is taken, else the first: the choice of
// LLVM's code generator for this device.

#include "Lower.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/InstructionSimplify.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace rcache::check {

namespace {

/// \p V if it is a product that may be fused with \p Sum: in the same block, or
/// there for nothing else.
BinaryOperator *productFor(Value *V, const Instruction &Sum) {
  auto *P = dyn_cast<BinaryOperator>(V);
  if (!P || P->getOpcode() != Instruction::FMul || !P->hasAllowContract() ||
      (P->getParent() != Sum.getParent() && !P->hasOneUse()))
    return nullptr;
  return P;
}

/// What replaces \p Sum, or null.
Value *fused(BinaryOperator &Sum) {
  bool Minus = Sum.getOpcode() == Instruction::FSub;
  Value *L = Sum.getOperand(0), *R = Sum.getOperand(1), *Inner = nullptr;
  BinaryOperator *PL = productFor(L, Sum), *PR = productFor(R, Sum);
  IRBuilder<> B(&Sum);
  auto Fma = [&](Value *X, Value *Y, Value *Z) {
    return B.CreateIntrinsic(Intrinsic::fma, {Sum.getType()}, {X, Y, Z});
  };
  if (PL && PR && PR->getNumUses() < PL->getNumUses())
    PL = nullptr;
  if (PL)
    return Fma(PL->getOperand(0), PL->getOperand(1), Minus ? B.CreateFNeg(R) : R);
  if (PR)
    return Fma(Minus ? B.CreateFNeg(PR->getOperand(0)) : PR->getOperand(0),
               PR->getOperand(1), L);
  if (Minus && match(L, m_FNeg(m_Value(Inner))))
    if (BinaryOperator *P = productFor(Inner, Sum))
      return Fma(B.CreateFNeg(P->getOperand(0)), P->getOperand(1), B.CreateFNeg(R));
  return nullptr;
}

/// __fmul_rn and its like become plain operators: nothing can fuse them now.
void plainOperators(Module &M) {
  for (Function &F : make_early_inc_range(M)) {
    StringRef Op = F.getName();
    if (!Op.consume_front(RoundedOperation))
      continue;
    auto Code = Op.starts_with("add")   ? Instruction::FAdd
                : Op.starts_with("sub") ? Instruction::FSub
                                        : Instruction::FMul;
    for (User *U : make_early_inc_range(F.users())) {
      auto *C = cast<CallInst>(U);
      IRBuilder<> B(C);
      Value *X = C->getArgOperand(0), *Y = C->getArgOperand(1);
      // Of 64 bits x + -0.0 is x, whatever it is.
      Value *V = C->getType()->isDoubleTy()
                     ? simplifyBinOp(Code, X, Y, SimplifyQuery(M.getDataLayout()))
                     : nullptr;
      C->replaceAllUsesWith(V ? V : B.CreateBinOp(Code, X, Y));
      C->eraseFromParent();
    }
    F.eraseFromParent();
  }
}

} // namespace

void contractProducts(Module &M) {
  for (Function &F : M) {
    SmallVector<BinaryOperator *, 32> Sums;
    SmallVector<IntrinsicInst *, 8> Either;
    for (Instruction &I : instructions(F))
      if (auto *S = dyn_cast<BinaryOperator>(&I)) {
        if ((S->getOpcode() == Instruction::FAdd ||
             S->getOpcode() == Instruction::FSub) &&
            S->hasAllowContract())
          Sums.push_back(S);
      } else if (auto *C = dyn_cast<IntrinsicInst>(&I);
                 C && C->getIntrinsicID() == Intrinsic::fmuladd) {
        Either.push_back(C);
      }
    for (IntrinsicInst *C : Either) {
      IRBuilder<> B(C);
      C->replaceAllUsesWith(B.CreateIntrinsic(
          Intrinsic::fma, {C->getType()},
          {C->getArgOperand(0), C->getArgOperand(1), C->getArgOperand(2)}));
      C->eraseFromParent();
    }
    for (BinaryOperator *S : Sums)
      if (Value *V = fused(*S)) {
        V->takeName(S);
        S->replaceAllUsesWith(V);
        S->eraseFromParent();
      }
    // What has been fused, and flags that later passes could use.
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (isa<FPMathOperator>(I)) {
        if (I.use_empty() && isa<BinaryOperator>(I))
          I.eraseFromParent();
        else
          I.copyFastMathFlags(FastMathFlags());
      }
  }
  plainOperators(M);
  // What an empty asm hid until now.
  for (const char *Name : {"rcc_hidden_f", "rcc_hidden_d", "rcc_hidden_h"})
    if (Function *F = M.getFunction(Name)) {
      for (User *U : make_early_inc_range(F->users())) {
        auto *C = cast<CallInst>(U);
        C->replaceAllUsesWith(C->getArgOperand(0));
        C->eraseFromParent();
      }
      F->eraseFromParent();
    }
}

namespace {

/// A sum that takes a product, perhaps negated, as operand \c Operand.
struct Taker {
  BinaryOperator *Sum;
  unsigned Operand;
  bool Negated;
};

bool isSum(const BinaryOperator &B) {
  return B.hasAllowContract() && (B.getOpcode() == Instruction::FAdd ||
                                  B.getOpcode() == Instruction::FSub);
}

/// What \p V was before .ftz.
const Value *unflushed(const Value *V) {
  while (isFlushed(V))
    V = cast<CallInst>(V)->getArgOperand(0);
  return V;
}

/// Is \p V what every instruction has at hand: a number, a parameter, constant
/// memory at a fixed place?
bool isAtHand(const Value *V) {
  while (true) {
    auto *I = dyn_cast<Instruction>(V);
    if (!I || !(I->getOpcode() == Instruction::FNeg || isa<BitCastInst>(I) ||
                isa<ExtractElementInst>(I) || isFlushed(I)))
      break;
    V = I->getOperand(0);
  }
  auto *L = dyn_cast<LoadInst>(V);
  return isa<Constant>(V) || isa<Argument>(V) ||
         (L && L->getMetadata(BankMark));
}

/// Blocks of machine code, numbered: square roots and divisions that round have a slow
/// path, and what stands behind them is in another block.
class Segments {
public:
  explicit Segments(const Function &F) {
    for (const BasicBlock &B : F) {
      ++Last;
      for (const Instruction &I : B) {
        Of[&I] = Last;
        const auto *C = dyn_cast<IntrinsicInst>(&I);
        Last += I.getOpcode() == Instruction::FDiv ||
                I.getOpcode() == Instruction::FRem ||
                (C && C->getIntrinsicID() == Intrinsic::sqrt);
      }
    }
  }
  bool together(const Instruction *A, const Instruction *B) const {
    return Of.lookup(A) == Of.lookup(B);
  }

private:
  unsigned Last = 0;
  DenseMap<const Instruction *, unsigned> Of;
};

/// All that takes \p P, if that is nothing but sums, of its block unless ptxas
/// computes it again elsewhere (one register lives on, as it would anyway); else
/// empty.
SmallVector<Taker, 4> takers(BinaryOperator &P, const Segments &Of) {
  SmallVector<Taker, 4> Out;
  const bool Anywhere = isAtHand(P.getOperand(0)) || isAtHand(P.getOperand(1));
  auto Add = [&](Value &V, bool Negated, auto &&Again) -> bool {
    for (Use &U : V.uses()) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I || (!Anywhere && !Of.together(I, &P)))
        return false;
      if ((I->getOpcode() == Instruction::FNeg && !Negated) || isFlushed(I)) {
        if (!Again(*I, Negated || !isFlushed(I), Again))
          return false;
        continue;
      }
      auto *Sum = dyn_cast<BinaryOperator>(I);
      if (!Sum || !isSum(*Sum) || !Sum->getMetadata(FlushMark) != !P.getMetadata(FlushMark) ||
          unflushed(Sum->getOperand(0)) == unflushed(Sum->getOperand(1)))
        return false;
      Out.push_back({Sum, U.getOperandNo(), Negated});
    }
    return true;
  };
  if (!Add(P, false, Add))
    Out.clear();
  return Out;
}

/// Is there a product of 32 or 64 bits in \p F that meets a sum, perhaps as one of
/// several values? Elsewhere ptxas has nothing to fuse.
bool productsMeetSums(const Function &F) {
  SmallVector<const Instruction *, 32> Todo;
  SmallPtrSet<const Instruction *, 32> Seen;
  for (const Instruction &I : instructions(F))
    if (I.getOpcode() == Instruction::FMul && I.hasAllowContract() &&
        (I.getType()->isFloatTy() || I.getType()->isDoubleTy()))
      Todo.push_back(&I);
  while (!Todo.empty())
    for (const User *U : Todo.pop_back_val()->users()) {
      const auto *I = dyn_cast<Instruction>(U);
      if (!I || !Seen.insert(I).second)
        continue;
      if (I->getOpcode() == Instruction::FAdd || I->getOpcode() == Instruction::FSub)
        return true; // .sat as well
      if (isa<PHINode, SelectInst, CastInst, FreezeInst>(I) ||
          I->getOpcode() == Instruction::FNeg || isFlushed(I))
        Todo.push_back(I);
    }
  return false;
}

} // namespace

std::map<std::string, unsigned> contractLikePtxas(Module &M) {
  std::map<std::string, unsigned> Counts;
  for (Function &F : M) {
    if (productsMeetSums(F))
      Counts[F.getName().str()] = 0;
    MapVector<BinaryOperator *, SmallVector<Taker, 4>> Products;
    const Segments Of(F);
    for (Instruction &I : instructions(F))
      if (auto *P = dyn_cast<BinaryOperator>(&I);
          P && P->getOpcode() == Instruction::FMul && P->hasAllowContract())
        if (auto T = takers(*P, Of); !T.empty())
          Products[P] = std::move(T);
    // Of two products of a sum the one with fewer uses, else the first.
    MapVector<BinaryOperator *, std::pair<BinaryOperator *, Taker>> Chosen;
    for (auto &[P, T] : Products)
      for (const Taker &X : T) {
        auto [It, New] = Chosen.insert({X.Sum, {P, X}});
        if (New)
          continue;
        const auto &[Other, Y] = It->second;
        const size_t Mine = T.size(), Theirs = Products[Other].size();
        if (Mine < Theirs || (Mine == Theirs && X.Operand < Y.Operand))
          It->second = {P, X};
      }
    // A product goes into all its sums, or is computed and goes into none.
    auto Everywhere = [&](BinaryOperator *P) {
      return all_of(Products[P], [&](const Taker &X) {
        return Chosen[X.Sum].first == P;
      });
    };
    SmallVector<std::pair<BinaryOperator *, Taker>, 16> Fused;
    for (auto &[Sum, Choice] : Chosen)
      if (Everywhere(Choice.first))
        Fused.push_back(Choice);
    for (auto &[P, X] : Fused) {
      if (Type *T = X.Sum->getType(); T->isFloatTy() || T->isDoubleTy())
        ++Counts[F.getName().str()];
      IRBuilder<> B(X.Sum);
      const bool Minus = X.Sum->getOpcode() == Instruction::FSub;
      Value *Other = X.Sum->getOperand(1 - X.Operand), *A = P->getOperand(0);
      if (X.Negated != (Minus && X.Operand == 1))
        A = B.CreateFNeg(A);
      if (Minus && X.Operand == 0)
        Other = B.CreateFNeg(Other);
      Value *V = B.CreateIntrinsic(Intrinsic::fma, {X.Sum->getType()},
                                   {A, P->getOperand(1), Other});
      markOneNaN(V);
      // Another product's sum may be an operand here: values, not copies.
      X.Sum->replaceAllUsesWith(V);
    }
    for (Instruction &I : make_early_inc_range(instructions(F)))
      if (isa<FPMathOperator>(I))
        I.copyFastMathFlags(FastMathFlags());
    for (auto &[P, X] : Fused)
      if (X.Sum->use_empty())
        X.Sum->eraseFromParent();
  }
  return Counts;
}

bool isFlushed(const Value *V) {
  const auto *C = dyn_cast<CallInst>(V);
  return C && C->getCalledFunction() && C->getCalledFunction()->getName() == FlushedNumber;
}

/// A number too small to be normal is a zero of its sign.
void expandFlushes(Module &M) {
  Function *F = M.getFunction(FlushedNumber);
  if (!F)
    return;
  for (User *U : make_early_inc_range(F->users())) {
    auto *C = cast<CallInst>(U);
    IRBuilder<> B(C);
    Value *Bits = B.CreateBitCast(C->getArgOperand(0), B.getInt32Ty());
    Value *Small = B.CreateICmpEQ(B.CreateAnd(Bits, 0x7f800000), B.getInt32(0));
    C->replaceAllUsesWith(B.CreateBitCast(
        B.CreateSelect(Small, B.CreateAnd(Bits, 0x80000000u), Bits), B.getFloatTy()));
    C->eraseFromParent();
  }
  F->eraseFromParent();
}

} // namespace rcache::check
