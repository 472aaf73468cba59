// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SumForms.h"

#include "Lower.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>

using namespace llvm;

namespace rcache::check {

namespace {

/// \p V without signs, casts and lanes of vectors.
const Value *bare(const Value *V) {
  while (const auto *I = dyn_cast<Instruction>(V)) {
    if (I->getOpcode() != Instruction::FNeg && !isa<BitCastInst>(I) &&
        !isa<ExtractElementInst>(I) && !isFlushed(I))
      break;
    V = I->getOperand(0);
  }
  return V;
}

/// The parameter that lies at \p Place, where a kernel's parameters are read from;
/// null: none, or not as a whole.
const Argument *parameterAt(const Value *Place) {
  while (const auto *I = dyn_cast<Instruction>(Place)) {
    const bool Behind = I->getOpcode() == Instruction::Add && isa<Constant>(I->getOperand(1));
    if (!Behind && !isa<IntToPtrInst, PtrToIntInst, GetElementPtrInst>(I))
      break;
    Place = I->getOperand(0);
  }
  for (const User *U : Place->users())
    if (const auto *S = dyn_cast<StoreInst>(U); S && S->getPointerOperand() == Place)
      if (const auto *A = dyn_cast<Argument>(bare(S->getValueOperand())))
        return A;
  return nullptr;
}

std::string leaf(const Value *V) {
  V = bare(V);
  const auto *A = dyn_cast<Argument>(V);
  if (const auto *L = dyn_cast<LoadInst>(V); L && L->getMetadata(BankMark))
    A = parameterAt(L->getPointerOperand());
  return A ? "p" + std::to_string(A->getArgNo()) : "x";
}

std::string list(std::initializer_list<const Value *> Of) {
  std::vector<std::string> Names;
  for (const Value *V : Of)
    Names.push_back(leaf(V));
  std::sort(Names.begin(), Names.end());
  std::string Out;
  for (const std::string &N : Names)
    Out += (Out.empty() ? "" : ", ") + N;
  return Out;
}

bool isZero(const Value *V) {
  const auto *C = dyn_cast<ConstantFP>(bare(V));
  return C && C->isZero();
}

/// Is \p V a power of two? A product with one is exact, and fused with a sum or not is
/// all the same.
bool isExactFactor(const Value *V) {
  const auto *C = dyn_cast<ConstantFP>(bare(V));
  return C && C->getValueAPF().isNormal() && C->getValueAPF().getExactLog2Abs() != INT_MIN;
}

std::string kind(const Type *T) {
  return "f" + std::to_string(T->getScalarSizeInBits());
}

/// "" for what is no sum, or an exact one.
std::string form(const Instruction &I) {
  const auto *C = dyn_cast<CallInst>(&I);
  const Function *Callee = C ? C->getCalledFunction() : nullptr;
  if (Callee && Callee->getIntrinsicID() == Intrinsic::fma) {
    const Value *A = C->getArgOperand(0), *B = C->getArgOperand(1), *Sum = C->getArgOperand(2);
    if (isExactFactor(A) || isExactFactor(B))
      return kind(I.getType()) + " add(" + list({isExactFactor(A) ? B : A, Sum}) + ")";
    return kind(I.getType()) + " fma(" + list({A, B}) + ", " + leaf(Sum) + ")";
  }
  StringRef Name = Callee ? Callee->getName() : "";
  const bool Rounded = Name.consume_front(RoundedOperation) &&
                       (Name.starts_with("add") || Name.starts_with("sub"));
  if (!Rounded && I.getOpcode() != Instruction::FAdd &&
      I.getOpcode() != Instruction::FSub)
    return "";
  const Value *L = I.getOperand(0), *R = I.getOperand(1);
  if (L == R || isZero(L) || isZero(R))
    return "";
  return kind(I.getType()) + " add(" + list({L, R}) + ")";
}

std::string onlyIn(const SumForms &A, const SumForms &B) {
  std::string Out;
  for (const auto &[Form, N] : A)
    if (!B.count(Form))
      Out += (Out.empty() ? "" : ", ") + std::to_string(N) + " " + Form;
  return Out;
}

} // namespace

SumForms sumForms(const Function &F) {
  SumForms Out;
  for (const Instruction &I : instructions(F))
    if (std::string Form = form(I); !Form.empty())
      ++Out[Form];
  return Out;
}

std::string otherSums(const SumForms &Original, const SumForms &Rewritten) {
  const std::string A = onlyIn(Original, Rewritten), B = onlyIn(Rewritten, Original);
  if (A.empty() && B.empty())
    return "";
  return (A.empty() ? "" : "only the original has " + A) +
         (A.empty() || B.empty() ? "" : ", ") +
         (B.empty() ? "" : "only the rewritten kernel has " + B);
}

} // namespace rcache::check
