// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RoundedAlike.h. Values are numbered in rounds, all at once: in each, a value's number
// is made of its operation and of the last numbers of its operands. So loops need no care, and
// no number hangs on the order of the text. Two values that differ do so after a few
// rounds (Weisfeiler and Leman's refinement of colours).

#include "RoundedAlike.h"

#include "Jit.h"
#include "Lower.h"
#include "PtxModule.h"
#include "Runtime.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>

using namespace llvm;

namespace rcache::check {

namespace {

/// Operations from a value back to what it is made of that are looked at.
constexpr unsigned Rounds = 32;

uint64_t hashOf(StringRef Text) { return xxh3_64bits(Text); }
uint64_t mixed(uint64_t A, uint64_t B) {
  A = (A ^ (B + 0x9e3779b97f4a7c15u + (A << 12) + (A >> 4))) * 0xff51afd7ed558ccdu;
  return A ^ (A >> 29);
}

/// A value but for its sign.
struct Form {
  uint64_t Of = 0;
  bool Negative = false;
  uint64_t whole() const { return mixed(Of, Negative); }
  bool operator<(const Form &O) const {
    return std::pair(Of, Negative) < std::pair(O.Of, O.Negative);
  }
};

enum class Kind { Other, Sum, Difference, Product, Fused };

Kind kindOf(const Instruction &I) {
  const auto *C = dyn_cast<CallInst>(&I);
  const Function *Callee = C ? C->getCalledFunction() : nullptr;
  if (Callee && Callee->getIntrinsicID() == Intrinsic::fma)
    return Kind::Fused;
  StringRef Name = Callee ? Callee->getName() : "";
  if (Name.consume_front(RoundedOperation))
    return Name.starts_with("add")   ? Kind::Sum
           : Name.starts_with("sub") ? Kind::Difference
           : Name.starts_with("mul") ? Kind::Product
                                     : Kind::Other;
  switch (I.getOpcode()) {
  case Instruction::FAdd:
    return Kind::Sum;
  case Instruction::FSub:
    return Kind::Difference;
  case Instruction::FMul:
    return Kind::Product;
  default:
    return Kind::Other;
  }
}

class Numbering {
public:
  Numbering(const Function &F, const Program &P) : F(F), P(P) {
    for (const Instruction &I : instructions(F))
      Now[&I] = {mixed(I.getOpcode(), I.getType()->getTypeID()), false};
    for (unsigned R = 0; R < Rounds; ++R) {
      DenseMap<const Value *, Form> Next;
      for (const Instruction &I : instructions(F))
        Next[&I] = next(I);
      Now = std::move(Next);
    }
  }

  Roundings result() {
    Roundings Out;
    for (const Instruction &I : instructions(F)) {
      const Kind K = kindOf(I);
      if (K == Kind::Other || I.use_empty()) // (fused by now)
        continue;
      Out.Operations.insert(form(&I).Of);
      Out.Ambiguous |= K == Kind::Fused && isAmbiguous(I);
    }
    return Out;
  }

private:
  const Function &F;
  const Program &P;
  DenseMap<const Value *, Form> Now;

  /// A place in memory as its variable and what is behind that: each file has its own.
  Form place(uint64_t At) const {
    for (const auto &[Name, A] : P.Globals) {
      const auto Base = reinterpret_cast<uint64_t>(A.Base);
      if (At >= Base && At < Base + std::max<size_t>(A.Size, 1))
        return {mixed(hashOf(Name), At - Base), false};
    }
    return {mixed(2, At), false};
  }

  Form form(const Value *V) const {
    if (const auto It = Now.find(V); It != Now.end())
      return It->second;
    if (const auto *C = dyn_cast<ConstantFP>(V)) {
      APFloat X = C->getValueAPF();
      const bool Negative = X.isNegative();
      X.clearSign();
      return {mixed(1, X.bitcastToAPInt().getZExtValue()), Negative};
    }
    if (const auto *C = dyn_cast<ConstantInt>(V))
      return C->getBitWidth() > 64 ? Form{hashOf("wide"), false} : place(C->getZExtValue());
    if (const auto *A = dyn_cast<Argument>(V))
      return {mixed(3, A->getArgNo()), false};
    if (const auto *E = dyn_cast<ConstantExpr>(V)) {
      Form X{mixed(4, E->getOpcode()), false};
      for (const Use &U : E->operands())
        X.Of = mixed(X.Of, form(U.get()).whole());
      return X;
    }
    if (const auto *G = dyn_cast<GlobalValue>(V))
      return {hashOf(G->getName()), false};
    return {mixed(5, V->getValueID()), false};
  }

  static Form product(Form A, Form B) {
    const bool Negative = A.Negative != B.Negative;
    if (B.Of < A.Of)
      std::swap(A, B);
    return {mixed(mixed(hashOf("mul"), A.Of), B.Of), Negative};
  }
  static Form sum(Form A, Form B) {
    if (B < A)
      std::swap(A, B);
    return {mixed(mixed(hashOf("add"), A.whole()), B.whole()), false};
  }
  Form times(const Value *A, const Value *B) const {
    if (const auto *C = dyn_cast<ConstantFP>(A); C && C->isExactlyValue(1.0))
      return form(B);
    if (const auto *C = dyn_cast<ConstantFP>(B); C && C->isExactlyValue(1.0))
      return form(A);
    return product(form(A), form(B));
  }
  static Form two(const Type *T) {
    return {mixed(1, APFloat(T->isFloatTy() ? APFloat(2.0f) : APFloat(2.0)).bitcastToAPInt().getZExtValue()),
            false};
  }

  Form next(const Instruction &I) const {
    const Kind K = kindOf(I);
    const auto Minus = [](Form X) { return Form{X.Of, !X.Negative}; };
    switch (K) {
    case Kind::Sum:
      if (I.getOperand(0) == I.getOperand(1))
        return product(form(I.getOperand(0)), two(I.getType()));
      return sum(form(I.getOperand(0)), form(I.getOperand(1)));
    case Kind::Difference:
      return sum(form(I.getOperand(0)), Minus(form(I.getOperand(1))));
    case Kind::Product:
      return times(I.getOperand(0), I.getOperand(1));
    case Kind::Fused: {
      const Value *A = I.getOperand(0), *B = I.getOperand(1), *C = I.getOperand(2);
      const Form Of = times(A, B);
      return {mixed(mixed(hashOf("fma"), Of.whole()), form(C).whole()), false};
    }
    case Kind::Other:
      break;
    }
    if (I.getOpcode() == Instruction::FNeg)
      return Minus(form(I.getOperand(0)));
    if (isa<BitCastInst>(I) || isFlushed(&I))
      return form(I.getOperand(0));
    return other(I);
  }

  /// One of several values, by a branch or by a select: compilers make one of the other.
  Form choice(const Instruction &I) const {
    std::set<uint64_t> Of;
    for (const Use &U : I.operands())
      if (!isa<SelectInst>(I) || U.getOperandNo() != 0)
        Of.insert(form(U.get()).whole());
    Form X{hashOf("choice"), false};
    for (uint64_t O : Of)
      X.Of = mixed(X.Of, O);
    return X;
  }

  Form other(const Instruction &I) const {
    if (isa<PHINode>(I) || isa<SelectInst>(I))
      return choice(I);
    Form X{mixed(I.getOpcode(), I.getType()->getTypeID()), false};
    SmallVector<uint64_t, 4> Of;
    for (const Use &U : I.operands())
      if (!isa<BasicBlock>(U.get()) && !isa<MetadataAsValue>(U.get()))
        Of.push_back(form(U.get()).whole());
    if (const auto *C = dyn_cast<CmpInst>(&I)) {
      // `a > b` is `b < a`.
      const bool Swap = C->getSwappedPredicate() < C->getPredicate();
      X.Of = mixed(X.Of, Swap ? C->getSwappedPredicate() : C->getPredicate());
      if (Swap)
        std::swap(Of[0], Of[1]);
    }
    if (I.isCommutative())
      llvm::sort(Of);
    if (const auto *E = dyn_cast<ExtractValueInst>(&I))
      for (unsigned Index : E->indices())
        Of.push_back(Index);
    for (uint64_t O : Of)
      X.Of = mixed(X.Of, O);
    return X;
  }

  static const Value *unsign(const Value *V) {
    while (const auto *I = dyn_cast<Instruction>(V)) {
      if (I->getOpcode() != Instruction::FNeg && !isa<BitCastInst>(I) && !isFlushed(I))
        break;
      V = I->getOperand(0);
    }
    return V;
  }

  /// Would the sum look the same with its other product fused, and be another one?
  bool isAmbiguous(const Instruction &I) const {
    const auto *P = dyn_cast<Instruction>(unsign(I.getOperand(2)));
    if (!P || kindOf(*P) != Kind::Product)
      return false;
    const Value *A = unsign(I.getOperand(0)), *B = unsign(I.getOperand(1)),
                *C = unsign(P->getOperand(0)), *D = unsign(P->getOperand(1));
    if ((A == C && B == D) || (A == D && B == C))
      return false;
    return times(A, B).Of == times(C, D).Of;
  }
};

} // namespace

Roundings roundingsOf(const Function &F, const Program &P) {
  return Numbering(F, P).result();
}

unsigned distance(const Roundings &A, const Roundings &B) {
  const auto OnlyIn = [](const Roundings &X, const Roundings &Y) {
    return std::count_if(X.Operations.begin(), X.Operations.end(),
                         [&](uint64_t O) { return !Y.Operations.count(O); });
  };
  return static_cast<unsigned>(OnlyIn(A, B) + OnlyIn(B, A));
}

std::map<std::string, Roundings> roundingsIn(const FrontendOptions &FE, const std::string &Source,
                                             std::string &Error) {
  std::map<std::string, Roundings> Out;
  const PtxText Made = requestPtx(FE, Source).get();
  Error = Made.Error;
  if (!Error.empty())
    return Out;
  LLVMContext Context;
  std::unique_ptr<Module> M = readPtx(Context, Made, Error);
  if (!M)
    return Out;
  Program P;
  Lowered Low;
  if (!lower(*M, P, Low, FE.Contract, Error))
    return Out;
  if (!Low.Unsupported.empty()) {
    Error = "'" + *Low.Unsupported.begin() + "' cannot be executed";
    return Out;
  }
  registersToValues(*M);
  contractLikePtxas(*M);
  for (const Function &F : *M)
    if (!F.isDeclaration() && Low.Entries.count(F.getName().str()))
      Out[plainName(F.getName())] = roundingsOf(F, P);
  return Out;
}

} // namespace rcache::check
