// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk over each function computes shadows and conditions without changing
// the control flow; a second step turns the conditions into cold branches.

#include "Instrument.h"

#include "Lower.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Local.h"

#include <cstddef>
#include <functional>

using namespace llvm;

namespace rcache::check {

namespace {

/// What an address is known to point into.
enum class Space { State, Local, Shared, Global, Unknown };

class FunctionInstrumenter : public InstVisitor<FunctionInstrumenter> {
public:
  FunctionInstrumenter(Function &F, RuntimeCalls &R, SiteTable &Sites,
                       bool Checks, bool Definedness)
      : F(F), C(F.getContext()), DL(F.getDataLayout()), R(R), Sites(Sites),
        Checks(Checks), Definedness(Definedness) {}
  void run();

  void visitInstruction(Instruction &I) { strict(I); }
  void visitUnaryOperator(UnaryOperator &I) {
    strict(I);
    // The device negates a float by an addition; of a double it changes the sign.
    if (!I.getType()->getScalarType()->isDoubleTy())
      NaNs.push_back(&I);
  }
  void visitBinaryOperator(BinaryOperator &I);
  void visitCastInst(CastInst &I);
  void visitSelectInst(SelectInst &I);
  void visitPHINode(PHINode &I);
  void visitLoadInst(LoadInst &I);
  void visitStoreInst(StoreInst &I);
  void visitAtomicRMWInst(AtomicRMWInst &I);
  void visitAtomicCmpXchgInst(AtomicCmpXchgInst &I);
  void visitGetElementPtrInst(GetElementPtrInst &I) { strict(I); }
  void visitAllocaInst(AllocaInst &I) { setShadow(I, clean(I.getType())); }
  void visitExtractElementInst(ExtractElementInst &I);
  void visitInsertElementInst(InsertElementInst &I);
  void visitShuffleVectorInst(ShuffleVectorInst &I);
  void visitExtractValueInst(ExtractValueInst &I);
  void visitInsertValueInst(InsertValueInst &I);
  void visitFreezeInst(FreezeInst &I) {
    setShadow(I, shadow(I.getOperand(0)));
  }
  void visitCallInst(CallInst &I);
  void visitBranchInst(BranchInst &I) {
    if (I.isConditional())
      require(I, I.getCondition(), UninitUse::Branch);
  }
  void visitSwitchInst(SwitchInst &I) {
    require(I, I.getCondition(), UninitUse::Branch);
  }
  void visitReturnInst(ReturnInst &) {}
  void visitUnreachableInst(UnreachableInst &) {}
  void visitFenceInst(FenceInst &) {}

private:
  // Shadows.
  Type *shadowType(Type *T);
  Constant *clean(Type *T) { return Constant::getNullValue(shadowType(T)); }
  Constant *poisoned(Type *T);
  Constant *constantShadow(Constant *K);
  Value *shadow(Value *V);
  void setShadow(Value &V, Value *S) { Shadows[&V] = S; }
  /// One bit: is any bit of \p S set?
  Value *any(IRBuilder<> &B, Value *S);
  /// A shadow of type \p T: all bits where \p Bit, else none.
  Value *spread(IRBuilder<> &B, Value *Bit, Type *T);
  void strict(Instruction &I);
  Value *shadowPointer(IRBuilder<> &B, Value *P);

  // Checks.
  Space spaceOf(Value *P);
  void checkAccess(Instruction &I, Value *P, uint64_t Size, uint64_t Align,
                   uint32_t Flags);
  void checkRange(Instruction &I, Value *P, Value *Size, uint32_t Flags);
  void checkLocal(Instruction &I, Value *P, AllocaInst &A, uint64_t Size);
  void require(Instruction &I, Value *V, UninitUse Use);
  void storeShadow(Instruction &I, Value *P, Value *V, MaybeAlign Al);
  void stopHere(Instruction &I);
  void callShadow(CallInst &I);
  using Emit = std::function<void(IRBuilder<> &)>;
  void coldly(Instruction &Before, Value *Condition, Emit E) {
    if (auto *K = dyn_cast<ConstantInt>(Condition); K && K->isZero())
      return;
    Pending[&Before].push_back({Condition, std::move(E)});
  }
  Value *site(Instruction &I) {
    return ConstantInt::get(Type::getInt32Ty(C), Sites.of(I));
  }
  Value *ctx() { return R.context(F); }

  Function &F;
  LLVMContext &C;
  const DataLayout &DL;
  RuntimeCalls &R;
  SiteTable &Sites;
  bool Checks, Definedness;
  DenseMap<Value *, Value *> Shadows;
  SmallVector<PHINode *, 16> Phis;
  struct Check {
    Value *Condition;
    Emit E;
  };
  MapVector<Instruction *, SmallVector<Check, 1>> Pending; ///< by what they precede
  std::vector<Instruction *> NaNs;
};

//===----------------------------------------------------------------------===//
// Shadows of values
//===----------------------------------------------------------------------===//

Type *FunctionInstrumenter::shadowType(Type *T) {
  if (T->isIntegerTy())
    return T;
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return FixedVectorType::get(shadowType(V->getElementType()),
                                V->getNumElements());
  if (auto *A = dyn_cast<ArrayType>(T))
    return ArrayType::get(shadowType(A->getElementType()), A->getNumElements());
  if (auto *S = dyn_cast<StructType>(T)) {
    SmallVector<Type *, 4> E;
    for (Type *X : S->elements())
      E.push_back(shadowType(X));
    return StructType::get(C, E, S->isPacked());
  }
  return IntegerType::get(C, DL.getTypeSizeInBits(T));
}

Constant *FunctionInstrumenter::poisoned(Type *T) {
  Type *S = shadowType(T);
  if (S->isIntOrIntVectorTy())
    return Constant::getAllOnesValue(S);
  SmallVector<Constant *, 8> E;
  if (auto *A = dyn_cast<ArrayType>(T)) {
    E.assign(A->getNumElements(), poisoned(A->getElementType()));
    return ConstantArray::get(cast<ArrayType>(S), E);
  }
  for (Type *X : cast<StructType>(T)->elements())
    E.push_back(poisoned(X));
  return ConstantStruct::get(cast<StructType>(S), E);
}

Constant *FunctionInstrumenter::constantShadow(Constant *K) {
  if (isa<UndefValue>(K))
    return poisoned(K->getType());
  if (isa<ConstantVector>(K) || isa<ConstantStruct>(K) ||
      isa<ConstantArray>(K)) {
    SmallVector<Constant *, 8> E;
    for (Use &U : K->operands())
      E.push_back(constantShadow(cast<Constant>(U.get())));
    if (isa<ConstantVector>(K))
      return ConstantVector::get(E);
    if (isa<ConstantStruct>(K))
      return ConstantStruct::get(cast<StructType>(shadowType(K->getType())), E);
    return ConstantArray::get(cast<ArrayType>(shadowType(K->getType())), E);
  }
  return clean(K->getType());
}

Value *FunctionInstrumenter::shadow(Value *V) {
  if (auto *K = dyn_cast<Constant>(V))
    return constantShadow(K);
  auto It = Shadows.find(V);
  return It == Shadows.end() ? clean(V->getType()) : It->second;
}

Value *FunctionInstrumenter::any(IRBuilder<> &B, Value *S) {
  Type *T = S->getType();
  if (auto *K = dyn_cast<Constant>(S); K && K->isNullValue())
    return B.getFalse();
  if (T->isVectorTy()) {
    unsigned Bits = DL.getTypeSizeInBits(T);
    return B.CreateICmpNE(B.CreateBitCast(S, B.getIntNTy(Bits)),
                          ConstantInt::get(B.getIntNTy(Bits), 0));
  }
  if (T->isAggregateType()) {
    Value *R = B.getFalse();
    unsigned N = T->isStructTy() ? T->getStructNumElements()
                                 : T->getArrayNumElements();
    for (unsigned I = 0; I < N; ++I)
      R = B.CreateOr(R, any(B, B.CreateExtractValue(S, I)));
    return R;
  }
  return T->isIntegerTy(1) ? S : B.CreateICmpNE(S, ConstantInt::get(T, 0));
}

Value *FunctionInstrumenter::spread(IRBuilder<> &B, Value *Bit, Type *T) {
  if (auto *K = dyn_cast<ConstantInt>(Bit))
    return K->isZero() ? clean(T) : poisoned(T);
  Type *S = shadowType(T);
  if (S->isIntegerTy())
    return B.CreateSExt(Bit, S);
  return B.CreateSelect(Bit, poisoned(T), clean(T));
}

/// One bad operand makes the whole result bad; element by element for vectors.
void FunctionInstrumenter::strict(Instruction &I) {
  if (I.getType()->isVoidTy())
    return;
  IRBuilder<> B(&I);
  Type *S = shadowType(I.getType());
  auto *V = dyn_cast<FixedVectorType>(S);
  bool Lanes = V != nullptr;
  for (Value *Op : I.operands()) {
    auto *OV = dyn_cast<FixedVectorType>(Op->getType());
    Lanes &= OV && V && OV->getNumElements() == V->getNumElements();
  }
  if (Lanes) {
    Value *Bits = nullptr;
    for (Value *Op : I.operands()) {
      Value *X = shadow(Op);
      X = B.CreateICmpNE(X, Constant::getNullValue(X->getType()));
      Bits = Bits ? B.CreateOr(Bits, X) : X;
    }
    setShadow(I, B.CreateSExt(Bits, S));
    return;
  }
  Value *Bit = B.getFalse();
  for (Value *Op : I.operands())
    if (!Op->getType()->isLabelTy() && !Op->getType()->isMetadataTy() &&
        !isa<Function>(Op))
      Bit = B.CreateOr(Bit, any(B, shadow(Op)));
  setShadow(I, spread(B, Bit, I.getType()));
}

void FunctionInstrumenter::visitBinaryOperator(BinaryOperator &I) {
  IRBuilder<> B(&I);
  Value *V1 = I.getOperand(0), *V2 = I.getOperand(1);
  Value *S1 = shadow(V1), *S2 = shadow(V2);
  switch (I.getOpcode()) {
  case Instruction::And: // a defined 0 decides
  case Instruction::Or:  // a defined 1 decides
    if (I.getOpcode() == Instruction::Or) {
      V1 = B.CreateNot(V1);
      V2 = B.CreateNot(V2);
    }
    setShadow(I, B.CreateOr(B.CreateAnd(S1, S2),
                            B.CreateOr(B.CreateAnd(V1, S2),
                                       B.CreateAnd(S1, V2))));
    return;
  case Instruction::Xor:
    setShadow(I, B.CreateOr(S1, S2));
    return;
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr: {
    Value *Moved = B.CreateBinOp(I.getOpcode(), S1, V2);
    // An out-of-range shift would make the shadow itself poison.
    Moved = isa<Constant>(V2) ? Moved : B.CreateFreeze(Moved);
    Value *Bad = B.CreateSExt(
        B.CreateICmpNE(S2, Constant::getNullValue(S2->getType())),
        S2->getType());
    setShadow(I, B.CreateOr(Moved, Bad));
    return;
  }
  default:
    strict(I);
    if (I.getType()->isFPOrFPVectorTy())
      NaNs.push_back(&I);
  }
}

void FunctionInstrumenter::visitCastInst(CastInst &I) {
  IRBuilder<> B(&I);
  Value *S = shadow(I.getOperand(0));
  Type *T = shadowType(I.getType());
  switch (I.getOpcode()) {
  case Instruction::Trunc:
  case Instruction::ZExt:
  case Instruction::SExt:
    setShadow(I, B.CreateCast(I.getOpcode(), S, T));
    return;
  case Instruction::BitCast:
    setShadow(I, B.CreateBitCast(S, T));
    return;
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    setShadow(I, B.CreateZExtOrTrunc(S, T));
    return;
  default:
    strict(I);
    if (isa<FPTruncInst>(I) || isa<FPExtInst>(I))
      NaNs.push_back(&I);
  }
}

void FunctionInstrumenter::visitSelectInst(SelectInst &I) {
  IRBuilder<> B(&I);
  Value *Chosen = B.CreateSelect(I.getCondition(), shadow(I.getTrueValue()),
                                 shadow(I.getFalseValue()));
  Value *SC = shadow(I.getCondition());
  if (auto *K = dyn_cast<Constant>(SC); K && K->isNullValue()) {
    setShadow(I, Chosen);
    return;
  }
  setShadow(I, B.CreateSelect(SC, poisoned(I.getType()), Chosen));
}

void FunctionInstrumenter::visitPHINode(PHINode &I) {
  if (!Definedness)
    return;
  IRBuilder<> B(&I);
  setShadow(I, B.CreatePHI(shadowType(I.getType()), I.getNumIncomingValues()));
  Phis.push_back(&I);
}

void FunctionInstrumenter::visitExtractElementInst(ExtractElementInst &I) {
  IRBuilder<> B(&I);
  setShadow(I, B.CreateExtractElement(shadow(I.getVectorOperand()),
                                      I.getIndexOperand()));
}
void FunctionInstrumenter::visitInsertElementInst(InsertElementInst &I) {
  IRBuilder<> B(&I);
  setShadow(I, B.CreateInsertElement(shadow(I.getOperand(0)),
                                     shadow(I.getOperand(1)), I.getOperand(2)));
}
void FunctionInstrumenter::visitShuffleVectorInst(ShuffleVectorInst &I) {
  IRBuilder<> B(&I);
  // Lanes that the mask leaves open stay undefined.
  Value *S1 = shadow(I.getOperand(0)), *S2 = shadow(I.getOperand(1));
  setShadow(I, B.CreateShuffleVector(S1, S2, I.getShuffleMask()));
}
void FunctionInstrumenter::visitExtractValueInst(ExtractValueInst &I) {
  IRBuilder<> B(&I);
  setShadow(I, B.CreateExtractValue(shadow(I.getAggregateOperand()),
                                    I.getIndices()));
}
void FunctionInstrumenter::visitInsertValueInst(InsertValueInst &I) {
  IRBuilder<> B(&I);
  setShadow(I, B.CreateInsertValue(shadow(I.getAggregateOperand()),
                                   shadow(I.getInsertedValueOperand()),
                                   I.getIndices()));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Space FunctionInstrumenter::spaceOf(Value *P) {
  SmallVector<const Value *, 4> Objects;
  getUnderlyingObjects(P, Objects);
  std::optional<Space> All;
  for (const Value *O : Objects) {
    Space S = Space::Unknown;
    if (isa<AllocaInst>(O)) {
      S = Space::Local;
    } else if (isa<Argument>(O)) {
      S = Space::Global;
    } else if (auto *K = dyn_cast<ConstantExpr>(O)) {
      if (K->getOpcode() == Instruction::IntToPtr)
        S = Space::Global;
    } else if (auto *Call = dyn_cast<CallInst>(O)) {
      if (Call->getCalledFunction() &&
          Call->getCalledFunction()->getName() == "rcc_ctx")
        S = Space::State;
    } else if (auto *L = dyn_cast<LoadInst>(O)) {
      APInt Off(64, 0);
      const Value *Base =
          L->getPointerOperand()->stripAndAccumulateConstantOffsets(DL, Off,
                                                                    true);
      auto *Call = dyn_cast<CallInst>(Base);
      if (Call && Call->getCalledFunction() &&
          Call->getCalledFunction()->getName() == "rcc_ctx")
        S = Off == offsetof(ThreadCtx, Shared)  ? Space::Shared
            : Off == offsetof(ThreadCtx, Block) ? Space::State
                                                : Space::Unknown;
    }
    if (All && *All != S)
      return Space::Unknown;
    All = S;
  }
  return All.value_or(Space::Unknown);
}

/// The private array that address \p V is a sum of, as nvcc's code computes it in
/// integers; null where it is none, or one of several; nullopt: what the phi is
/// that this comes from. \p Phis: on the way here.
static std::optional<AllocaInst *>
privateIn(Value *V, SmallPtrSetImpl<PHINode *> &Phis) {
  using Found = std::optional<AllocaInst *>;
  auto Same = [](Found X, Found Y) -> Found {
    return !X ? Y : !Y || *X == *Y ? X : nullptr;
  };
  if (auto *P = dyn_cast<PtrToIntOperator>(V))
    return dyn_cast<AllocaInst>(getUnderlyingObject(P->getPointerOperand()));
  if (auto *I = dyn_cast<BinaryOperator>(V)) {
    const Found A = privateIn(I->getOperand(0), Phis);
    if (I->getOpcode() == Instruction::Sub)
      return A;
    if (I->getOpcode() != Instruction::Add && I->getOpcode() != Instruction::Or)
      return nullptr;
    const Found B = privateIn(I->getOperand(1), Phis);
    const bool First = !A || *A, Second = !B || *B;
    return First && Second ? Found(nullptr) : First ? A : B;
  }
  if (auto *S = dyn_cast<SelectInst>(V))
    return Same(privateIn(S->getTrueValue(), Phis),
                privateIn(S->getFalseValue(), Phis));
  auto *P = dyn_cast<PHINode>(V);
  if (!P || Phis.size() > 16)
    return nullptr;
  if (!Phis.insert(P).second)
    return std::nullopt;
  Found All;
  for (Value *X : P->incoming_values())
    All = Same(All, privateIn(X, Phis));
  return All;
}

Value *FunctionInstrumenter::shadowPointer(IRBuilder<> &B, Value *P) {
  return B.CreateIntToPtr(
      B.CreateXor(B.CreatePtrToInt(P, B.getInt64Ty()), B.getInt64(ShadowXor)),
      B.getPtrTy());
}

/// Private arrays: against the variable's own size, since the whole stack is
/// accessible as far as the map knows.
void FunctionInstrumenter::checkLocal(Instruction &I, Value *P, AllocaInst &A,
                                      uint64_t Size) {
  std::optional<TypeSize> Whole = A.getAllocationSize(DL);
  if (!Whole)
    return;
  APInt Off(64, 0);
  if (P->stripAndAccumulateConstantOffsets(DL, Off, true) == &A &&
      Off.getSExtValue() >= 0 &&
      Off.getZExtValue() + Size <= Whole->getFixedValue())
    return;
  IRBuilder<> B(&I);
  Value *D = B.CreateSub(B.CreatePtrToInt(P, B.getInt64Ty()),
                         B.CreatePtrToInt(&A, B.getInt64Ty()));
  uint64_t N = Whole->getFixedValue();
  Value *Bad = N < Size ? B.getTrue()
                        : B.CreateICmpUGT(D, B.getInt64(N - Size));
  Value *Site = site(I);
  coldly(I, Bad, [=, this](IRBuilder<> &B) {
    R.call(B, "rcc_local", B.getVoidTy(),
           {ctx(), D, B.getInt64(Size), B.getInt64(N), Site});
  });
}

void FunctionInstrumenter::checkAccess(Instruction &I, Value *P, uint64_t Size,
                                       uint64_t Align, uint32_t Flags) {
  Space S = spaceOf(P);
  if (S == Space::State)
    return;
  require(I, P, UninitUse::Address);
  if (!Checks)
    return;
  IRBuilder<> B(&I);
  Value *Site = site(I);
  if (auto *Cast = dyn_cast<IntToPtrInst>(getUnderlyingObject(P));
      Cast && S == Space::Unknown) {
    SmallPtrSet<PHINode *, 8> Phis;
    if (AllocaInst *A = privateIn(Cast->getOperand(0), Phis).value_or(nullptr)) {
      checkLocal(I, P, *A, Size);
      return;
    }
  }
  if (S == Space::Local) {
    SmallVector<const Value *, 4> Objects;
    getUnderlyingObjects(P, Objects);
    if (Objects.size() == 1)
      checkLocal(I, P,
                 *const_cast<AllocaInst *>(cast<AllocaInst>(Objects[0])), Size);
    return;
  }
  Value *Address = B.CreatePtrToInt(P, B.getInt64Ty());
  Value *Bad;
  if (Size <= 16) {
    // An address that no pointer of the host has is none of the map's either.
    Value *Piece = B.CreateBinaryIntrinsic(Intrinsic::umin, B.CreateLShr(Address, MapShift),
                                           B.getInt64(MapSize - 1));
    Value *Have = B.CreateLoad(
        B.getInt8Ty(),
        B.CreateIntToPtr(B.CreateAdd(Piece, B.getInt64(MapBase)), B.getPtrTy()));
    Value *Need = B.CreateAdd(B.CreateAnd(B.CreateTrunc(Address, B.getInt8Ty()),
                                          B.getInt8(15)),
                              B.getInt8(Size));
    Bad = B.CreateICmpULT(Have, Need);
    if (Align > 1)
      Bad = B.CreateOr(
          Bad, B.CreateICmpNE(B.CreateAnd(Address, B.getInt64(Align - 1)),
                              B.getInt64(0)));
  } else {
    Bad = B.getTrue();
  }
  coldly(I, Bad, [=, this](IRBuilder<> &B) {
    R.call(B, "rcc_check", B.getVoidTy(),
           {ctx(), Address, B.getInt64(Size), B.getInt32(Align),
            B.getInt32(Flags), Site});
  });
  bool Volatile = Flags & AccessVolatile;
  auto Log = [=, this](IRBuilder<> &B) {
    if (Volatile) // lock step for code that counts on it
      R.call(B, "rcc_yield", B.getVoidTy(), {ctx()});
    R.call(B, "rcc_shared", B.getVoidTy(),
           {ctx(), Address, B.getInt32(Size), B.getInt32(Flags), Site});
  };
  if (S == Space::Shared) {
    Log(B);
  } else if (S == Space::Unknown) {
    Value *Base =
        R.threadField(B, B.getPtrTy(), offsetof(ThreadCtx, Shared));
    Value *Off = B.CreateSub(Address, B.CreatePtrToInt(Base, B.getInt64Ty()));
    Value *Limit = B.CreateZExt(
        R.blockField(B, offsetof(BlockCtx, TotalShared)), B.getInt64Ty());
    coldly(I, B.CreateICmpULT(Off, Limit), Log);
  }
  if (Volatile && S != Space::Shared && !(Flags & AccessWrite))
    R.call(B, "rcc_spin", B.getVoidTy(), {ctx()});
}

void FunctionInstrumenter::checkRange(Instruction &I, Value *P, Value *Size,
                                      uint32_t Flags) {
  Space S = spaceOf(P);
  if (S == Space::State || S == Space::Local || !Checks)
    return;
  IRBuilder<> B(&I);
  Value *Address = B.CreatePtrToInt(P, B.getInt64Ty());
  Size = B.CreateZExtOrTrunc(Size, B.getInt64Ty());
  Value *Site = site(I);
  R.call(B, "rcc_check", B.getVoidTy(),
         {ctx(), Address, Size, B.getInt32(1), B.getInt32(Flags), Site});
  if (S != Space::Global)
    R.call(B, "rcc_shared", B.getVoidTy(),
           {ctx(), Address, B.CreateTrunc(Size, B.getInt32Ty()),
            B.getInt32(Flags), Site});
}

void FunctionInstrumenter::require(Instruction &I, Value *V, UninitUse Use) {
  if (!Definedness)
    return;
  IRBuilder<> B(&I);
  Value *Bad = any(B, shadow(V));
  Value *Site = site(I);
  coldly(I, Bad, [=, this](IRBuilder<> &B) {
    R.call(B, "rcc_uninit", B.getVoidTy(),
           {ctx(), B.getInt32(uint32_t(Use)), Site});
  });
}

void FunctionInstrumenter::visitLoadInst(LoadInst &I) {
  Value *P = I.getPointerOperand();
  setShadow(I, clean(I.getType()));
  Space S = spaceOf(P);
  if (S == Space::State) {
    // The predicate of a shuffle or match has a shadow of its own.
    APInt Off(64, 0);
    P->stripAndAccumulateConstantOffsets(DL, Off, true);
    if (Definedness && Off == offsetof(ThreadCtx, RetPred) &&
        I.getType()->isIntegerTy(32)) {
      IRBuilder<> B(I.getNextNode());
      setShadow(I, B.CreateLoad(B.getInt32Ty(),
                                B.CreateConstInBoundsGEP1_32(
                                    B.getInt8Ty(), ctx(),
                                    offsetof(ThreadCtx, RetPredShadow))));
    }
    return;
  }
  checkAccess(I, P, DL.getTypeStoreSize(I.getType()), I.getAlign().value(),
              I.isVolatile() ? AccessVolatile : 0);
  if (!Definedness)
    return;
  IRBuilder<> B(I.getNextNode());
  setShadow(I, B.CreateAlignedLoad(shadowType(I.getType()),
                                   shadowPointer(B, P), I.getAlign()));
}

/// Is \p V the result of arithmetic, and not something that was moved? What is
/// moved may be padding in part, what was computed is known or is not.
static bool isComputed(const Value *V, unsigned Depth = 0) {
  auto Any = [&](std::initializer_list<const Value *> Values) {
    return any_of(Values,
                  [&](const Value *X) { return isComputed(X, Depth + 1); });
  };
  if (Depth > 6)
    return false;
  if (auto *B = dyn_cast<BinaryOperator>(V))
    return !B->isBitwiseLogicOp() && !B->isLogicalShift() &&
           B->getOpcode() != Instruction::Shl;
  if (auto *C = dyn_cast<CastInst>(V))
    return isa<TruncInst, BitCastInst>(C) ? Any({C->getOperand(0)})
                                          : !isa<PtrToIntInst>(C);
  if (auto *S = dyn_cast<SelectInst>(V))
    return Any({S->getTrueValue(), S->getFalseValue()});
  if (auto *P = dyn_cast<PHINode>(V))
    return any_of(P->incoming_values(), [&](const Use &U) {
      return isComputed(U.get(), Depth + 1);
    });
  return isa<CmpInst, UnaryOperator>(V);
}

void FunctionInstrumenter::storeShadow(Instruction &I, Value *P, Value *V,
                                       MaybeAlign Al) {
  if (!Definedness)
    return;
  Value *S = shadow(V);
  {
    IRBuilder<> B(I.getNextNode());
    B.CreateAlignedStore(S, shadowPointer(B, P), Al);
  }
  Space Sp = spaceOf(P);
  if (Sp == Space::Local || Sp == Space::Shared)
    return;
  // What was computed, if a bit of it is not known; a scalar that was moved if
  // none is.
  IRBuilder<> B(&I);
  Value *Bad = B.getFalse();
  Type *T = S->getType();
  if (auto *K = dyn_cast<Constant>(S); K && K->isNullValue())
    return;
  if (T->isIntegerTy() && isComputed(V)) {
    Bad = B.CreateICmpNE(S, Constant::getNullValue(T));
  } else if (T->isIntegerTy()) {
    Bad = B.CreateICmpEQ(S, Constant::getAllOnesValue(T));
  } else if (auto *VT = dyn_cast<FixedVectorType>(T)) {
    for (unsigned L = 0; L < VT->getNumElements(); ++L) {
      Value *E = B.CreateExtractElement(S, L);
      Bad = B.CreateOr(
          Bad, B.CreateICmpEQ(E, Constant::getAllOnesValue(E->getType())));
    }
  }
  Value *Site = site(I);
  coldly(I, Bad, [=, this](IRBuilder<> &B) {
    R.call(B, "rcc_uninit_store", B.getVoidTy(), {ctx(), P, Site});
  });
}

void FunctionInstrumenter::visitStoreInst(StoreInst &I) {
  Value *P = I.getPointerOperand(), *V = I.getValueOperand();
  if (spaceOf(P) == Space::State)
    return;
  checkAccess(I, P, DL.getTypeStoreSize(V->getType()), I.getAlign().value(),
              AccessWrite | (I.isVolatile() ? AccessVolatile : 0));
  storeShadow(I, P, V, I.getAlign());
}

void FunctionInstrumenter::visitAtomicRMWInst(AtomicRMWInst &I) {
  Value *P = I.getPointerOperand();
  checkAccess(I, P, DL.getTypeStoreSize(I.getType()), I.getAlign().value(),
              AccessWrite | AccessAtomic);
  setShadow(I, clean(I.getType()));
  if (!Definedness)
    return;
  IRBuilder<> B(&I);
  Type *T = shadowType(I.getType());
  IRBuilder<> After(I.getNextNode());
  Value *SP = shadowPointer(After, P);
  Value *Old = After.CreateAlignedLoad(T, SP, I.getAlign());
  Value *New = I.getOperation() == AtomicRMWInst::Xchg
                   ? shadow(I.getValOperand())
                   : After.CreateOr(Old, shadow(I.getValOperand()));
  After.CreateAlignedStore(New, SP, I.getAlign());
  setShadow(I, Old);
}

void FunctionInstrumenter::visitAtomicCmpXchgInst(AtomicCmpXchgInst &I) {
  Value *P = I.getPointerOperand();
  Type *T = I.getNewValOperand()->getType();
  checkAccess(I, P, DL.getTypeStoreSize(T), I.getAlign().value(),
              AccessWrite | AccessAtomic);
  setShadow(I, clean(I.getType()));
  if (!Definedness)
    return;
  IRBuilder<> B(I.getNextNode());
  Value *Old = B.CreateAlignedLoad(shadowType(T), shadowPointer(B, P),
                                   I.getAlign());
  setShadow(I, B.CreateInsertValue(clean(I.getType()), Old, 0));
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The runtime moves the shadow of the exchanged value along with it.
void FunctionInstrumenter::callShadow(CallInst &I) {
  constexpr unsigned MaskArg = 3, ValueArg = 4;
  setShadow(I, clean(I.getType()));
  if (!Definedness)
    return;
  IRBuilder<> B(&I);
  for (unsigned N = MaskArg; N < I.arg_size(); ++N)
    if (N != ValueArg)
      require(I, I.getArgOperand(N), UninitUse::Shuffle);
  B.CreateStore(
      B.CreateZExtOrTrunc(shadow(I.getArgOperand(ValueArg)), B.getInt64Ty()),
      B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), ctx(),
                                   offsetof(ThreadCtx, ArgShadow)));
  IRBuilder<> After(I.getNextNode());
  Value *S = After.CreateLoad(
      After.getInt64Ty(),
      After.CreateConstInBoundsGEP1_32(After.getInt8Ty(), ctx(),
                                       offsetof(ThreadCtx, RetShadow)));
  setShadow(I, After.CreateTrunc(S, I.getType()));
}

void FunctionInstrumenter::visitCallInst(CallInst &I) {
  if (!I.getType()->isVoidTy())
    setShadow(I, clean(I.getType()));
  if (auto *M = dyn_cast<MemTransferInst>(&I)) {
    checkRange(I, M->getRawDest(), M->getLength(), AccessWrite);
    checkRange(I, M->getRawSource(), M->getLength(), 0);
    if (Definedness) {
      IRBuilder<> B(I.getNextNode());
      R.call(B, "rcc_memcpy_shadow", B.getVoidTy(),
             {M->getRawDest(), M->getRawSource(),
              B.CreateZExtOrTrunc(M->getLength(), B.getInt64Ty())});
    }
    return;
  }
  if (auto *M = dyn_cast<MemSetInst>(&I)) {
    checkRange(I, M->getRawDest(), M->getLength(), AccessWrite);
    if (Definedness) {
      Value *S = shadow(M->getValue());
      IRBuilder<> B(I.getNextNode());
      R.call(B, "rcc_memset_shadow", B.getVoidTy(),
             {M->getRawDest(), B.CreateZExt(S, B.getInt32Ty()),
              B.CreateZExtOrTrunc(M->getLength(), B.getInt64Ty())});
    }
    return;
  }
  Function *Callee = I.getCalledFunction();
  if (!Callee)
    return;
  StringRef Name = Callee->getName();
  if (Name.starts_with(UninitName)) {
    setShadow(I, poisoned(I.getType()));
    return;
  }
  if (Name == "rcc_shfl" || Name == "rcc_vote" || Name == "rcc_match" ||
      Name == "rcc_redux") {
    callShadow(I);
    return;
  }
  if (Name == "rcc_texture") { // it checks what it reads
    for (unsigned N = 2; N + 1 < I.arg_size(); ++N)
      require(I, I.getArgOperand(N), UninitUse::Address);
    return;
  }
  if (Callee->isIntrinsic()) {
    if (I.getType()->isVoidTy() || isa<DbgInfoIntrinsic>(I))
      return;
    strict(I);
    // (Of a double, fabs changes the sign alone, whatever it is the sign of.)
    if (I.getType()->isFPOrFPVectorTy() &&
        (Callee->getIntrinsicID() != Intrinsic::fabs ||
         !I.getType()->getScalarType()->isDoubleTy()) &&
        Callee->getIntrinsicID() != Intrinsic::copysign)
      NaNs.push_back(&I);
    return;
  }
  // Arithmetic helpers of the runtime.
  if (Name.starts_with("rcc_") && Name != "rcc_ctx" && !I.getType()->isVoidTy() &&
      (I.arg_empty() || I.getArgOperand(0)->getType()->isPointerTy() == false)) {
    strict(I);
    if (I.getType()->isFloatingPointTy())
      NaNs.push_back(&I);
  }
}

/// A loop can be interrupted: the runtime raises a flag when time is up.
void FunctionInstrumenter::stopHere(Instruction &I) {
  IRBuilder<> B(&I);
  Value *Flag = F.getParent()->getOrInsertGlobal("rcc_stop", B.getInt8Ty());
  Value *Up = B.CreateICmpNE(
      B.CreateLoad(B.getInt8Ty(), Flag, /*isVolatile=*/true), B.getInt8(0));
  Value *Site = site(I);
  coldly(I, Up, [=, this](IRBuilder<> &B) {
    R.call(B, "rcc_stopped", B.getVoidTy(), {ctx(), Site});
  });
}

void FunctionInstrumenter::run() {
  ctx(); // before everything else
  removeUnreachableBlocks(F);
  std::vector<Instruction *> Order;
  ReversePostOrderTraversal<Function *> RPOT(&F);
  for (BasicBlock *BB : RPOT)
    for (Instruction &I : *BB)
      Order.push_back(&I);
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 8> BackEdges;
  FindFunctionBackedges(F, BackEdges);
  for (Instruction *I : Order)
    visit(I);
  for (auto &[From, To] : BackEdges)
    stopHere(*const_cast<Instruction *>(From->getTerminator()));
  if (Definedness)
    for (PHINode *P : Phis) {
      auto *S = cast<PHINode>(Shadows[P]);
      for (unsigned N = 0; N < P->getNumIncomingValues(); ++N)
        S->addIncoming(shadow(P->getIncomingValue(N)),
                       P->getIncomingBlock(N));
    }
  // The device gives every arithmetic result that is not a number the same bits;
  // the host's depend on the order of operands.
  for (Instruction *I : NaNs)
    if (!I->getMetadata(OneNaNMark)) // it has them
      giveOneNaN(*I);
  MDNode *Unlikely = MDBuilder(C).createUnlikelyBranchWeights();
  // From the back: what stands behind a check moves to another block.
  for (auto &[Before, Checks] : reverse(Pending))
    for (Check &K : Checks) {
      Instruction *Then = SplitBlockAndInsertIfThen(
          K.Condition, Before->getIterator(), /*Unreachable=*/false, Unlikely);
      IRBuilder<> B(Then);
      B.SetCurrentDebugLocation(Before->getDebugLoc());
      K.E(B);
    }
}

/// 0xa5 in every byte.
Constant *strangeValue(Type *T) {
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return ConstantVector::getSplat(V->getElementCount(),
                                    strangeValue(V->getElementType()));
  unsigned Bits = T->isPointerTy() ? 64 : T->getPrimitiveSizeInBits();
  APInt Pattern = Bits >= 8 && Bits % 8 == 0
                      ? APInt::getSplat(Bits, APInt(8, 0xa5))
                      : APInt(Bits, 1);
  if (T->isFloatingPointTy())
    return ConstantFP::get(T, APFloat(T->getFltSemantics(), Pattern));
  Constant *K = ConstantInt::get(T->getContext(), Pattern);
  return T->isPointerTy() ? ConstantExpr::getIntToPtr(K, T) : K;
}

} // namespace

void instrument(Module &M, Lowered &L, bool Checks, bool Definedness) {
  RuntimeCalls R(M);
  SiteTable Sites(L);
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(EntryAttr))
      FunctionInstrumenter(F, R, Sites, Checks, Definedness).run();
  replaceUninitialised(M);
}

void replaceUninitialised(Module &M) {
  // Not zero, which would be lucky.
  for (Function &U : make_early_inc_range(M)) {
    if (!U.getName().starts_with(UninitName))
      continue;
    for (User *X : make_early_inc_range(U.users()))
      if (auto *Call = dyn_cast<CallInst>(X)) {
        Call->replaceAllUsesWith(strangeValue(Call->getType()));
        Call->eraseFromParent();
      }
    U.eraseFromParent();
  }
}

} // namespace rcache::check
