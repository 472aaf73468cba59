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
#include "llvm/Support/xxhash.h"
#include "llvm/Transforms/Utils/Local.h"

#include <algorithm>
#include <optional>

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

bool isNumber(const Value *V, double N) {
  const auto *C = dyn_cast<ConstantFP>(V);
  return C && C->isExactlyValue(N);
}

/// The operand of \p I that it hands on as it is, or with its other sign (\p Minus is turned
/// then): signs, casts, flushes, x * 1, x + -0. Null: it computes something.
const Value *handedOn(const Instruction &I, bool &Minus) {
  if (I.getOpcode() == Instruction::FNeg) {
    Minus = !Minus;
    return I.getOperand(0);
  }
  if (isa<BitCastInst, IntToPtrInst, PtrToIntInst, FreezeInst>(I) || isFlushed(&I))
    return I.getOperand(0);
  const Kind K = kindOf(I);
  if (K != Kind::Product && K != Kind::Sum)
    return nullptr;
  for (unsigned N : {0, 1}) {
    const Value *Other = I.getOperand(1 - N);
    if (K == Kind::Product ? isNumber(Other, 1) || isNumber(Other, -1) : isNumber(Other, -0.0)) {
      Minus ^= isNumber(Other, -1);
      return I.getOperand(N);
    }
  }
  return nullptr;
}

/// Does nothing take \p I, or only its other sign, which nothing takes? It has been fused.
bool isDead(const Instruction &I) {
  return all_of(I.users(), [](const User *U) {
    const auto *Of = dyn_cast<Instruction>(U);
    return Of && (Of->getOpcode() == Instruction::FNeg || isFlushed(Of)) && isDead(*Of);
  });
}

class Numbering {
public:
  Numbering(const Function &F, const Program &P) : F(F), P(P) {
    for (const Instruction &I : instructions(F))
      Now[&I] = {first(I), false};
    for (unsigned R = 0; R < Rounds; ++R) {
      DenseMap<const Value *, Form> Next;
      for (const Instruction &I : instructions(F))
        Next[&I] = next(I);
      Now = std::move(Next);
      Terms.clear();
    }
  }

  Roundings result() {
    Roundings Out;
    std::map<uint64_t, uint64_t> Unfused; ///< sums, as if nothing were: what they are
    for (const Instruction &I : instructions(F)) {
      const Kind K = kindOf(I);
      bool Minus = false;
      if (K == Kind::Other || isDead(I) || handedOn(I, Minus))
        continue;
      const uint64_t Of = form(&I).Of;
      Out.Operations.insert(Of);
      Out.Ambiguous |= K == Kind::Fused && isAmbiguous(I);
      if (K != Kind::Product)
        Out.Ambiguous |= Unfused.try_emplace(unfused(I), Of).first->second != Of;
    }
    return Out;
  }

private:
  const Function &F;
  const Program &P;
  DenseMap<const Value *, Form> Now;
  mutable DenseMap<const Instruction *, uint64_t> Terms; ///< of this round

  /// A place in memory as its variable and what is behind that: each file has its own.
  Form place(uint64_t At) const {
    for (const auto &[Name, A] : P.Globals) {
      const auto Base = reinterpret_cast<uint64_t>(A.Base);
      if (At >= Base && At < Base + std::max<size_t>(A.Size, 1))
        return {mixed(hashOf(Name), At - Base), false};
    }
    return {At, false};
  }

  /// What \p I is before anything is known of its operands: the same for operations
  /// that are to have the same numbers.
  static uint64_t first(const Instruction &I) {
    switch (kindOf(I)) {
    case Kind::Sum:
      if (I.getOperand(0) == I.getOperand(1))
        return hashOf("mul");
      [[fallthrough]];
    case Kind::Difference:
      return hashOf("add");
    case Kind::Product:
      return hashOf("mul");
    case Kind::Fused:
      return hashOf("fma");
    case Kind::Other:
      break;
    }
    if (isa<PHINode, SelectInst>(I))
      return hashOf("choice");
    return mixed(I.getOpcode(), I.getType()->getTypeID());
  }

  static bool isWord(const Type *T) {
    return T->isIntegerTy(32) || T->isIntegerTy(64) || T->isPointerTy();
  }
  /// What \p I makes of the numbers of its operands, if it computes addresses: those are
  /// added and multiplied themselves, as compilers turn such terms over and over. Where
  /// a word of 32 bits overflows does not count.
  std::optional<uint64_t> term(const Instruction &I) const {
    if (const auto *Phi = dyn_cast<PHINode>(&I))
      return isWord(I.getType()) ? counted(*Phi) : std::nullopt;
    if (!isWord(I.getType()) || !isWord(I.getOperand(0)->getType()))
      return std::nullopt;
    const auto Of = [&](unsigned N) { return number(form(I.getOperand(N))); };
    switch (I.getOpcode()) {
    case Instruction::Add:
      return Of(0) + Of(1);
    case Instruction::Sub:
      return Of(0) - Of(1);
    case Instruction::Mul:
      return Of(0) * Of(1);
    case Instruction::Shl:
      if (const auto *C = dyn_cast<ConstantInt>(I.getOperand(1)))
        return Of(0) << (C->getZExtValue() & 63);
      return std::nullopt;
    case Instruction::SExt:
    case Instruction::ZExt:
    case Instruction::Trunc:
      return Of(0);
    case Instruction::GetElementPtr:
      if (cast<GetElementPtrInst>(I).getSourceElementType()->isIntegerTy(8))
        return Of(0) + Of(1);
      return std::nullopt;
    default:
      return std::nullopt;
    }
  }
  /// A counter of a loop, as where it begins and how it goes on: a compiler may let it
  /// begin elsewhere, and take the distance off where it is used.
  std::optional<uint64_t> counted(const PHINode &Phi) const {
    if (Phi.getNumIncomingValues() != 2)
      return std::nullopt;
    for (unsigned N : {0, 1})
      if (const auto Step = stepTo(Phi.getIncomingValue(N), Phi, MostSteps))
        return number(form(Phi.getIncomingValue(1 - N))) + mixed(hashOf("steps"), *Step);
    return std::nullopt;
  }
  static constexpr unsigned MostSteps = 8;
  /// What is added to \p Phi to get \p V, in at most \p Left sums; by the numbers of the last
  /// round, as these may come from the loop.
  std::optional<uint64_t> stepTo(const Value *V, const PHINode &Phi, unsigned Left) const {
    bool Minus = false;
    const auto *I = dyn_cast<Instruction>(V);
    if (I == &Phi)
      return 0;
    if (!I || !Left)
      return std::nullopt;
    if (const Value *Of = handedOn(*I, Minus))
      return stepTo(Of, Phi, Left - 1);
    if (I->getOpcode() != Instruction::Add)
      return std::nullopt;
    for (unsigned N : {0, 1})
      if (const auto Step = stepTo(I->getOperand(N), Phi, Left - 1))
        return *Step + number(leaf(I->getOperand(1 - N)));
    return std::nullopt;
  }
  static uint64_t number(Form X) { return X.Negative ? X.whole() : X.Of; }

  /// The last number of \p V, or rather of what it is handed on from and made up of as
  /// an address. That costs no round: compilers put signs and offsets in one place or
  /// another.
  Form form(const Value *V) const {
    bool Minus = false;
    const auto *I = dyn_cast<Instruction>(V);
    for (const Value *Of; I && (Of = handedOn(*I, Minus)); I = dyn_cast<Instruction>(V))
      V = Of;
    Form X;
    if (const auto Known = I ? Terms.find(I) : Terms.end(); Known != Terms.end()) {
      X.Of = Known->second;
    } else if (const auto Term = I ? term(*I) : std::nullopt) {
      X.Of = Terms[I] = *Term;
    } else {
      X = leaf(V);
    }
    X.Negative ^= Minus;
    return X;
  }

  Form leaf(const Value *V) const {
    if (const auto It = Now.find(V); It != Now.end())
      return It->second;
    if (const auto *C = dyn_cast<ConstantFP>(V)) {
      APFloat X = C->getValueAPF();
      const bool Negative = X.isNegative();
      X.clearSign();
      return {mixed(1, X.bitcastToAPInt().getZExtValue()), Negative};
    }
    if (const auto *C = dyn_cast<ConstantInt>(V))
      return C->getBitWidth() > 64 ? Form{hashOf("wide"), false}
                                    : place(static_cast<uint64_t>(C->getSExtValue()));
    if (isa<ConstantDataSequential, ConstantAggregate>(V)) {
      Form X{hashOf("elements"), false};
      for (unsigned N = 0; const Constant *E = cast<Constant>(V)->getAggregateElement(N); ++N)
        X.Of = mixed(X.Of, form(E).whole());
      return X;
    }
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
  Form times(const Value *A, const Value *B) const { return product(form(A), form(B)); }

  /// The number of the sum \p I, had its product been rounded.
  uint64_t unfused(const Instruction &I) const {
    if (kindOf(I) != Kind::Fused)
      return form(&I).Of;
    return sum(times(I.getOperand(0), I.getOperand(1)), form(I.getOperand(2))).Of;
  }

  Form next(const Instruction &I) const {
    const Kind K = kindOf(I);
    const auto Minus = [](Form X) { return Form{X.Of, !X.Negative}; };
    switch (K) {
    case Kind::Sum:
      if (I.getOperand(0) == I.getOperand(1))
        return times(I.getOperand(0), ConstantFP::get(I.getType(), 2.0));
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
    return other(I);
  }

  /// One of several values, by a branch or by a select: compilers make one of the other.
  Form choice(const Instruction &I) const {
    std::set<uint64_t> Of, Turned; // with all signs turned
    for (const Use &U : I.operands())
      if (!isa<SelectInst>(I) || U.getOperandNo() != 0) {
        const Form X = form(U.get());
        Of.insert(X.whole());
        Turned.insert(Form{X.Of, !X.Negative}.whole());
      }
    const auto All = [](const std::set<uint64_t> &Numbers) {
      uint64_t X = hashOf("choice");
      for (uint64_t N : Numbers)
        X = mixed(X, N);
      return X;
    };
    const Form X{All(Of), false}, Y{All(Turned), true};
    return I.getType()->isFPOrFPVectorTy() && Y.Of < X.Of ? Y : X;
  }

  /// Operations whose result has another sign where an operand has.
  Form odd(const Instruction &I) const {
    Form X{first(I), false};
    for (const Use &U : I.operands()) {
      const Form Of = form(U.get());
      X = {mixed(X.Of, Of.Of), X.Negative != Of.Negative};
    }
    return X;
  }

  /// The place where a parameter lies is that parameter's.
  static Form place(const AllocaInst &A) {
    for (const User *U : A.users())
      if (const auto *S = dyn_cast<StoreInst>(U); S && S->getPointerOperand() == &A)
        if (const auto *P = dyn_cast<Argument>(S->getValueOperand()))
          return {mixed(hashOf("parameter"), P->getArgNo()), false};
    return {first(A), false};
  }

  Form other(const Instruction &I) const {
    if (const auto *A = dyn_cast<AllocaInst>(&I))
      return place(*A);
    if (const auto Term = term(I))
      return {*Term, false};
    if (isa<PHINode, SelectInst>(I))
      return choice(I);
    if (I.getOpcode() == Instruction::FDiv || isa<FPExtInst, FPTruncInst>(I))
      return odd(I);
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
  for (Function &F : *M)
    if (!F.isDeclaration() && Low.Entries.count(F.getName().str())) {
      removeUnreachableBlocks(F); // where values may be made of themselves
      Out[plainName(F.getName())] = roundingsOf(F, P);
    }
  return Out;
}

} // namespace rcache::check
