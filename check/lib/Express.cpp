// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic mode: next to each scalar runs a number, the expression that made
// it (runtime/Expr.h). Control flow and addresses follow the concrete values;
// where they depend on data, the runtime notes that nothing is proved.
//
//   %c = fadd float %a, %b
//     -->  %c.id = call rcc_expr(FAdd, widths, %a.id, bits %a, %b.id, bits %b,
//                                0, 0)

#include "Instrument.h"

#include "Expr.h"
#include "Lower.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Local.h"

#include <cstddef>

using namespace llvm;

namespace rcache::check {

namespace {

enum Need : uint32_t { Control, Address, Vote, Atomic, Unknown };

class Expresser : public InstVisitor<Expresser> {
public:
  Expresser(Function &F, RuntimeCalls &R, SiteTable &Sites, bool IsKernel)
      : F(F), C(F.getContext()), DL(F.getDataLayout()), R(R), Sites(Sites),
        IsKernel(IsKernel) {}
  void run();

  void visitInstruction(Instruction &I) { unknown(I); }
  void visitBinaryOperator(BinaryOperator &I);
  void visitUnaryOperator(UnaryOperator &I) { plain(I, I.getOpcodeName()); }
  void visitCastInst(CastInst &I);
  void visitCmpInst(CmpInst &I);
  void visitSelectInst(SelectInst &I);
  void visitPHINode(PHINode &I);
  void visitLoadInst(LoadInst &I);
  void visitStoreInst(StoreInst &I);
  void visitAtomicRMWInst(AtomicRMWInst &I);
  void visitAtomicCmpXchgInst(AtomicCmpXchgInst &I);
  void visitGetElementPtrInst(GetElementPtrInst &I);
  void visitAllocaInst(AllocaInst &I) { set(I, none(I.getType())); }
  void visitExtractElementInst(ExtractElementInst &I);
  void visitInsertElementInst(InsertElementInst &I);
  void visitShuffleVectorInst(ShuffleVectorInst &I);
  void visitExtractValueInst(ExtractValueInst &I);
  void visitInsertValueInst(InsertValueInst &I);
  void visitFreezeInst(FreezeInst &I) { set(I, id(I.getOperand(0))); }
  void visitCallInst(CallInst &I);
  void visitBranchInst(BranchInst &I) {
    if (I.isConditional())
      need(I, I.getCondition(), Control);
  }
  void visitSwitchInst(SwitchInst &I) { need(I, I.getCondition(), Control); }
  void visitReturnInst(ReturnInst &) {}
  void visitUnreachableInst(UnreachableInst &) {}
  void visitFenceInst(FenceInst &) {}

private:
  /// i32 for scalars; vectors and aggregates have one for each element.
  Type *idType(Type *T);
  Constant *none(Type *T) { return Constant::getNullValue(idType(T)); }
  Value *id(Value *V) {
    auto It = Ids.find(V);
    return It == Ids.end() ? none(V->getType()) : It->second;
  }
  void set(Value &V, Value *Id) { Ids[&V] = Id; }
  static bool isNone(Value *Id) {
    auto *K = dyn_cast<Constant>(Id);
    return K && K->isNullValue();
  }
  Value *bits(IRBuilder<> &B, Value *V);
  unsigned width(Type *T) {
    return T->isPointerTy() ? 64 : T->getPrimitiveSizeInBits();
  }
  /// The node of one scalar operation.
  Value *scalar(IRBuilder<> &B, uint32_t Code, Type *Result,
                ArrayRef<Value *> Operands, ArrayRef<Value *> OperandIds);
  /// An operation, element by element where it works on vectors.
  void elementwise(Instruction &I, uint32_t Code, ArrayRef<Value *> Operands);
  void plain(Instruction &I, const Twine &Name, bool Commutative = false) {
    elementwise(I, exprOperation(Name.str(), Commutative),
                SmallVector<Value *, 4>(I.operand_values()));
  }
  void unknown(Instruction &I);
  void need(Instruction &I, Value *V, Need What);
  void load(IRBuilder<> &B, Instruction &I, Value *P, Type *T, uint64_t Offset,
            SmallVectorImpl<unsigned> &Path, Value *&Result);
  void store(IRBuilder<> &B, Value *P, Type *T, uint64_t Offset, Value *Id,
             Instruction &I);
  Value *part(IRBuilder<> &B, Value *V, unsigned N) {
    return V->getType()->isVectorTy() ? B.CreateExtractElement(V, N) : V;
  }

  Function &F;
  LLVMContext &C;
  const DataLayout &DL;
  RuntimeCalls &R;
  SiteTable &Sites;
  bool IsKernel;
  DenseMap<Value *, Value *> Ids;
  SmallVector<PHINode *, 16> Phis;
};

Type *Expresser::idType(Type *T) {
  Type *I32 = Type::getInt32Ty(C);
  if (auto *V = dyn_cast<FixedVectorType>(T))
    return FixedVectorType::get(I32, V->getNumElements());
  if (auto *A = dyn_cast<ArrayType>(T))
    return ArrayType::get(idType(A->getElementType()), A->getNumElements());
  if (auto *S = dyn_cast<StructType>(T)) {
    SmallVector<Type *, 4> E;
    for (Type *X : S->elements())
      E.push_back(idType(X));
    return StructType::get(C, E);
  }
  return I32;
}

Value *Expresser::bits(IRBuilder<> &B, Value *V) {
  Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(V, B.getInt64Ty());
  if (!T->isIntegerTy())
    V = B.CreateBitCast(V, B.getIntNTy(width(T)));
  return B.CreateZExtOrTrunc(V, B.getInt64Ty());
}

Value *Expresser::scalar(IRBuilder<> &B, uint32_t Code, Type *Result,
                         ArrayRef<Value *> Operands,
                         ArrayRef<Value *> OperandIds) {
  uint64_t Widths = width(Result);
  SmallVector<Value *, 8> Args{B.getInt32(Code), nullptr};
  bool None = true;
  for (unsigned I = 0; I < 3; ++I) {
    bool Have = I < Operands.size();
    if (Have) {
      Widths |= uint64_t(width(Operands[I]->getType())) << (8 * (I + 1));
      None &= isNone(OperandIds[I]);
    }
    Args.push_back(Have ? OperandIds[I] : B.getInt32(0));
    Args.push_back(Have ? bits(B, Operands[I]) : B.getInt64(0));
  }
  if (None)
    return B.getInt32(0);
  Args[1] = B.getInt64(Widths);
  return R.call(B, "rcc_expr", B.getInt32Ty(), Args);
}

void Expresser::elementwise(Instruction &I, uint32_t Code,
                            ArrayRef<Value *> Operands) {
  IRBuilder<> B(&I);
  Type *T = I.getType();
  auto *V = dyn_cast<FixedVectorType>(T);
  unsigned N = V ? V->getNumElements() : 1;
  bool Simple = Operands.size() <= 3 && !T->isAggregateType() &&
                width(T->getScalarType()) <= 64;
  for (Value *Op : Operands) {
    auto *OV = dyn_cast<FixedVectorType>(Op->getType());
    Simple &= !Op->getType()->isAggregateType() &&
              width(Op->getType()->getScalarType()) <= 64 &&
              (OV ? OV->getNumElements() : 1) == N;
  }
  if (!Simple)
    return unknown(I);
  Value *Result = none(T);
  for (unsigned E = 0; E < N; ++E) {
    SmallVector<Value *, 3> Ops, OpIds;
    for (Value *Op : Operands) {
      Ops.push_back(part(B, Op, E));
      OpIds.push_back(part(B, id(Op), E));
    }
    Value *X = scalar(B, Code, T->getScalarType(), Ops, OpIds);
    Result = V ? B.CreateInsertElement(Result, X, E) : X;
  }
  set(I, Result);
}

/// Nothing is known about the result: fine as long as no operand matters.
void Expresser::unknown(Instruction &I) {
  for (Value *Op : I.operands())
    if (!Op->getType()->isLabelTy() && !Op->getType()->isMetadataTy())
      need(I, Op, Unknown);
  if (!I.getType()->isVoidTy())
    set(I, none(I.getType()));
}

void Expresser::need(Instruction &I, Value *V, Need What) {
  Value *Id = id(V);
  if (isNone(Id))
    return;
  IRBuilder<> B(&I);
  auto One = [&](Value *X) {
    R.call(B, "rcc_expr_need", B.getVoidTy(),
           {X, B.getInt32(What), B.getInt32(Sites.of(I))});
  };
  Type *T = Id->getType();
  if (auto *VT = dyn_cast<FixedVectorType>(T)) {
    for (unsigned E = 0; E < VT->getNumElements(); ++E)
      One(B.CreateExtractElement(Id, E));
  } else if (auto *S = dyn_cast<StructType>(T)) {
    for (unsigned E = 0; E < S->getNumElements(); ++E)
      if (S->getElementType(E)->isIntegerTy())
        One(B.CreateExtractValue(Id, E));
  } else if (T->isIntegerTy()) {
    One(Id);
  }
}

void Expresser::visitBinaryOperator(BinaryOperator &I) {
  auto Code = [&]() -> uint32_t {
    switch (I.getOpcode()) {
    case Instruction::Add:
      return uint32_t(ExprOp::Add);
    case Instruction::Sub:
      return uint32_t(ExprOp::Sub);
    case Instruction::Mul:
      return uint32_t(ExprOp::Mul);
    case Instruction::And:
      return uint32_t(ExprOp::And);
    case Instruction::Or:
      return uint32_t(ExprOp::Or);
    case Instruction::Xor:
      return uint32_t(ExprOp::Xor);
    case Instruction::Shl:
      return uint32_t(ExprOp::Shl);
    case Instruction::LShr:
      return uint32_t(ExprOp::LShr);
    case Instruction::FAdd:
      return uint32_t(ExprOp::FAdd);
    case Instruction::FMul:
      return uint32_t(ExprOp::FMul);
    default:
      return exprOperation(I.getOpcodeName(), false);
    }
  }();
  elementwise(I, Code, {I.getOperand(0), I.getOperand(1)});
}

void Expresser::visitCastInst(CastInst &I) {
  Value *Op = I.getOperand(0);
  switch (I.getOpcode()) {
  case Instruction::BitCast:
    // The same bits; between vectors of different shape nothing is followed.
    if (idType(I.getType()) == idType(Op->getType()) &&
        width(I.getType()->getScalarType()) ==
            width(Op->getType()->getScalarType()))
      return set(I, id(Op));
    return unknown(I);
  case Instruction::PtrToInt:
  case Instruction::IntToPtr:
    return set(I, id(Op));
  case Instruction::Trunc:
    return elementwise(I, uint32_t(ExprOp::Trunc), {Op});
  case Instruction::ZExt:
    return elementwise(I, uint32_t(ExprOp::ZExt), {Op});
  default:
    return plain(I, I.getOpcodeName());
  }
}

/// One spelling of each comparison: less-than forms, operands swapped. Those of
/// floating-point values begin with "f": "fult" is no "ult".
void Expresser::visitCmpInst(CmpInst &I) {
  CmpInst::Predicate P = I.getPredicate();
  Value *L = I.getOperand(0), *Rhs = I.getOperand(1);
  switch (P) {
  case CmpInst::FCMP_OGT:
  case CmpInst::FCMP_OGE:
  case CmpInst::FCMP_UGT:
  case CmpInst::FCMP_UGE:
  case CmpInst::ICMP_SGT:
  case CmpInst::ICMP_SGE:
  case CmpInst::ICMP_UGT:
  case CmpInst::ICMP_UGE:
    std::swap(L, Rhs);
    P = CmpInst::getSwappedPredicate(P);
    break;
  default:
    break;
  }
  elementwise(I,
              exprOperation((CmpInst::isFPPredicate(P) ? "f" : "") +
                                CmpInst::getPredicateName(P).str(),
                            CmpInst::isEquality(P) ||
                                P == CmpInst::FCMP_ORD ||
                                P == CmpInst::FCMP_UNO),
              {L, Rhs});
}

void Expresser::visitSelectInst(SelectInst &I) {
  IRBuilder<> B(&I);
  Type *T = I.getType();
  Value *A = I.getTrueValue(), *E = I.getFalseValue(), *Cond = I.getCondition();
  if (isNone(id(Cond)))
    return set(I, B.CreateSelect(Cond, id(A), id(E)));
  if (T->isAggregateType() || width(T->getScalarType()) > 64)
    return unknown(I);
  auto *V = dyn_cast<FixedVectorType>(T);
  Value *Result = none(T);
  for (unsigned N = 0; N < (V ? V->getNumElements() : 1); ++N) {
    Value *Bit = part(B, Cond, N);
    Value *X = R.call(
        B, "rcc_expr_select", B.getInt32Ty(),
        {part(B, id(Cond), N), B.CreateZExt(Bit, B.getInt32Ty()),
         B.getInt32(width(T->getScalarType())), part(B, id(A), N),
         bits(B, part(B, A, N)), part(B, id(E), N), bits(B, part(B, E, N))});
    Result = V ? B.CreateInsertElement(Result, X, N) : X;
  }
  set(I, Result);
}

void Expresser::visitPHINode(PHINode &I) {
  IRBuilder<> B(&I);
  set(I, B.CreatePHI(idType(I.getType()), I.getNumIncomingValues()));
  Phis.push_back(&I);
}

void Expresser::visitGetElementPtrInst(GetElementPtrInst &I) {
  // An address made from data is data; what counts is that its use is seen.
  IRBuilder<> B(&I);
  Value *Any = nullptr;
  for (Value *Op : I.operands())
    if (!isNone(id(Op)) && !Op->getType()->isVectorTy())
      Any = Any ? B.CreateOr(Any, id(Op)) : id(Op);
  set(I, Any && !I.getType()->isVectorTy() ? Any : none(I.getType()));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Expresser::load(IRBuilder<> &B, Instruction &I, Value *P, Type *T,
                     uint64_t Offset, SmallVectorImpl<unsigned> &Path,
                     Value *&Result) {
  auto Element = [&](unsigned N, Type *E, uint64_t At) {
    Path.push_back(N);
    load(B, I, P, E, At, Path, Result);
    Path.pop_back();
  };
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *L = DL.getStructLayout(S);
    for (unsigned N = 0; N < S->getNumElements(); ++N)
      Element(N, S->getElementType(N), Offset + L->getElementOffset(N));
    return;
  }
  if (auto *A = dyn_cast<ArrayType>(T)) {
    for (unsigned N = 0; N < A->getNumElements(); ++N)
      Element(N, A->getElementType(),
              Offset + N * DL.getTypeAllocSize(A->getElementType()));
    return;
  }
  auto One = [&](Type *E, uint64_t At) -> Value * {
    uint64_t Size = DL.getTypeStoreSize(E);
    if (Size > 8) {
      // 16-byte integers: whole or not at all.
      return B.getInt32(0);
    }
    return R.call(B, "rcc_expr_load", B.getInt32Ty(),
                  {B.CreateConstGEP1_64(B.getInt8Ty(), P, At),
                   B.getInt32(Size)});
  };
  Value *Id;
  if (auto *V = dyn_cast<FixedVectorType>(T)) {
    Id = none(T);
    uint64_t Step = DL.getTypeStoreSize(V->getElementType());
    for (unsigned N = 0; N < V->getNumElements(); ++N)
      Id = B.CreateInsertElement(Id, One(V->getElementType(), Offset + N * Step),
                                 N);
  } else {
    Id = One(T, Offset);
  }
  Result = Path.empty() ? Id : B.CreateInsertValue(Result, Id, Path);
}

void Expresser::store(IRBuilder<> &B, Value *P, Type *T, uint64_t Offset,
                      Value *Id, Instruction &I) {
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *L = DL.getStructLayout(S);
    for (unsigned N = 0; N < S->getNumElements(); ++N)
      store(B, P, S->getElementType(N), Offset + L->getElementOffset(N),
            B.CreateExtractValue(Id, N), I);
    return;
  }
  if (auto *A = dyn_cast<ArrayType>(T)) {
    for (unsigned N = 0; N < A->getNumElements(); ++N)
      store(B, P, A->getElementType(),
            Offset + N * DL.getTypeAllocSize(A->getElementType()),
            B.CreateExtractValue(Id, N), I);
    return;
  }
  Type *E = T->getScalarType();
  uint64_t Size = DL.getTypeStoreSize(E);
  auto *V = dyn_cast<FixedVectorType>(T);
  for (unsigned N = 0; N < (V ? V->getNumElements() : 1); ++N) {
    Value *X = part(B, Id, N);
    Value *At = B.CreateConstGEP1_64(B.getInt8Ty(), P, Offset + N * Size);
    if (Size > 8 || width(E) % 8) {
      if (!isNone(X))
        R.call(B, "rcc_expr_need", B.getVoidTy(),
               {X, B.getInt32(Unknown), B.getInt32(Sites.of(I))});
      R.call(B, "rcc_expr_clear", B.getVoidTy(), {At, B.getInt64(Size)});
      continue;
    }
    R.call(B, "rcc_expr_store", B.getVoidTy(), {At, B.getInt32(Size), X});
  }
}

void Expresser::visitLoadInst(LoadInst &I) {
  need(I, I.getPointerOperand(), Address);
  if (I.isVolatile()) {
    IRBuilder<> B(&I);
    R.call(B, "rcc_yield", B.getVoidTy(), {R.context(F)});
  }
  IRBuilder<> B(I.getNextNode());
  Value *Id = none(I.getType());
  SmallVector<unsigned, 4> Path;
  load(B, I, I.getPointerOperand(), I.getType(), 0, Path, Id);
  set(I, Id);
}

void Expresser::visitStoreInst(StoreInst &I) {
  need(I, I.getPointerOperand(), Address);
  if (I.isVolatile()) {
    IRBuilder<> B(&I);
    R.call(B, "rcc_yield", B.getVoidTy(), {R.context(F)});
  }
  IRBuilder<> B(I.getNextNode());
  store(B, I.getPointerOperand(), I.getValueOperand()->getType(), 0,
        id(I.getValueOperand()), I);
}

void Expresser::visitAtomicRMWInst(AtomicRMWInst &I) {
  need(I, I.getPointerOperand(), Address);
  need(I, I.getValOperand(), Atomic);
  IRBuilder<> B(&I);
  Value *Old = R.call(
      B, "rcc_expr_load", B.getInt32Ty(),
      {I.getPointerOperand(), B.getInt32(DL.getTypeStoreSize(I.getType()))});
  R.call(B, "rcc_expr_need", B.getVoidTy(),
         {Old, B.getInt32(Atomic), B.getInt32(Sites.of(I))});
  set(I, none(I.getType()));
}

void Expresser::visitAtomicCmpXchgInst(AtomicCmpXchgInst &I) {
  need(I, I.getCompareOperand(), Atomic);
  need(I, I.getNewValOperand(), Atomic);
  IRBuilder<> B(&I);
  Value *Old = R.call(
      B, "rcc_expr_load", B.getInt32Ty(),
      {I.getPointerOperand(),
       B.getInt32(DL.getTypeStoreSize(I.getNewValOperand()->getType()))});
  R.call(B, "rcc_expr_need", B.getVoidTy(),
         {Old, B.getInt32(Atomic), B.getInt32(Sites.of(I))});
  set(I, none(I.getType()));
}

//===----------------------------------------------------------------------===//
// Vectors, aggregates, calls
//===----------------------------------------------------------------------===//

void Expresser::visitExtractElementInst(ExtractElementInst &I) {
  IRBuilder<> B(&I);
  need(I, I.getIndexOperand(), Address);
  set(I, B.CreateExtractElement(id(I.getVectorOperand()), I.getIndexOperand()));
}
void Expresser::visitInsertElementInst(InsertElementInst &I) {
  IRBuilder<> B(&I);
  need(I, I.getOperand(2), Address);
  set(I, B.CreateInsertElement(id(I.getOperand(0)), id(I.getOperand(1)),
                               I.getOperand(2)));
}
void Expresser::visitShuffleVectorInst(ShuffleVectorInst &I) {
  IRBuilder<> B(&I);
  set(I, B.CreateShuffleVector(id(I.getOperand(0)), id(I.getOperand(1)),
                               I.getShuffleMask()));
}
void Expresser::visitExtractValueInst(ExtractValueInst &I) {
  IRBuilder<> B(&I);
  set(I, B.CreateExtractValue(id(I.getAggregateOperand()), I.getIndices()));
}
void Expresser::visitInsertValueInst(InsertValueInst &I) {
  IRBuilder<> B(&I);
  set(I, B.CreateInsertValue(id(I.getAggregateOperand()),
                             id(I.getInsertedValueOperand()), I.getIndices()));
}

void Expresser::visitCallInst(CallInst &I) {
  if (!I.getType()->isVoidTy())
    set(I, none(I.getType()));
  IRBuilder<> After(I.getNextNode());
  if (auto *M = dyn_cast<MemTransferInst>(&I)) {
    R.call(After, "rcc_expr_copy", After.getVoidTy(),
           {M->getRawDest(), M->getRawSource(),
            After.CreateZExtOrTrunc(M->getLength(), After.getInt64Ty())});
    return;
  }
  if (auto *M = dyn_cast<MemSetInst>(&I)) {
    need(I, M->getValue(), Unknown);
    R.call(After, "rcc_expr_clear", After.getVoidTy(),
           {M->getRawDest(),
            After.CreateZExtOrTrunc(M->getLength(), After.getInt64Ty())});
    return;
  }
  Function *Callee = I.getCalledFunction();
  if (!Callee || !Callee->isDeclaration())
    return unknown(I);
  StringRef Name = Callee->getName();
  if (Name == "rcc_shfl") {
    IRBuilder<> B(&I);
    for (unsigned N : {3, 5, 6})
      need(I, I.getArgOperand(N), Vote);
    auto Field = [&](IRBuilder<> &X, unsigned Off) {
      return X.CreateConstInBoundsGEP1_32(X.getInt8Ty(), R.context(F), Off);
    };
    B.CreateStore(B.CreateZExt(id(I.getArgOperand(4)), B.getInt64Ty()),
                  Field(B, offsetof(ThreadCtx, ArgShadow)));
    Value *S = After.CreateLoad(After.getInt64Ty(),
                                Field(After, offsetof(ThreadCtx, RetShadow)));
    set(I, After.CreateTrunc(S, After.getInt32Ty()));
    return;
  }
  if (Name == "rcc_texture") { // what it reads is not followed
    IRBuilder<> B(&I);
    R.call(B, "rcc_expr_need", B.getVoidTy(),
           {B.getInt32(1), B.getInt32(Unknown), B.getInt32(Sites.of(I))});
    return;
  }
  if (Name == "rcc_vote" || Name == "rcc_match" || Name == "rcc_redux" ||
      Name == "rcc_barrier_red") {
    IRBuilder<> B(&I);
    B.CreateStore(B.getInt64(0),
                  B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), R.context(F),
                                               offsetof(ThreadCtx, ArgShadow)));
    for (unsigned N = 2; N < I.arg_size(); ++N)
      need(I, I.getArgOperand(N), Vote);
    return;
  }
  if (Name.starts_with(UninitName) || Name == "rcc_ctx")
    return;
  if (isa<IntrinsicInst>(I)) {
    if (I.getType()->isVoidTy())
      return;
    SmallVector<Value *, 3> Ops;
    std::string Extra; // immediate operands are part of the operation
    for (unsigned N = 0; N < I.arg_size(); ++N) {
      if (Callee->hasParamAttribute(N, Attribute::ImmArg)) {
        raw_string_ostream(Extra) << "." << *I.getArgOperand(N);
        continue;
      }
      Ops.push_back(I.getArgOperand(N));
    }
    return elementwise(
        I, exprOperation(Intrinsic::getBaseName(Callee->getIntrinsicID()).str() + Extra,
                         cast<IntrinsicInst>(I).isCommutative()),
        Ops);
  }
  if (Name.starts_with("rcc_") && !I.getType()->isVoidTy() && !I.arg_empty() &&
      !I.getArgOperand(0)->getType()->isPointerTy()) {
    // Arithmetic helpers; those with constant selectors in front.
    SmallVector<Value *, 6> Ops;
    std::string Extra;
    for (Value *A : I.args()) {
      if (isa<Constant>(A))
        raw_string_ostream(Extra) << "." << *A;
      else
        Ops.push_back(A);
    }
    return elementwise(I, exprOperation(Name.str() + Extra, false), Ops);
  }
  // Barriers and the like take no data.
  if (!Name.starts_with("rcc_"))
    unknown(I);
}

void Expresser::run() {
  R.context(F);
  removeUnreachableBlocks(F);
  std::vector<Instruction *> Order;
  ReversePostOrderTraversal<Function *> RPOT(&F);
  for (BasicBlock *BB : RPOT)
    for (Instruction &I : *BB)
      Order.push_back(&I);
  if (IsKernel)
    for (Argument &A : F.args())
      if (A.getType()->isFloatingPointTy() && width(A.getType()) <= 64) {
        // Known by its bits: the versions may pass it in different places.
        IRBuilder<> B(cast<Instruction>(R.context(F))->getNextNode());
        set(A, R.call(B, "rcc_expr_argument", B.getInt32Ty(),
                      {bits(B, &A), B.getInt32(width(A.getType()))}));
      }
  for (Instruction *I : Order)
    visit(I);
  for (PHINode *P : Phis) {
    auto *X = cast<PHINode>(Ids[P]);
    for (unsigned N = 0; N < P->getNumIncomingValues(); ++N)
      X->addIncoming(id(P->getIncomingValue(N)), P->getIncomingBlock(N));
  }
}

} // namespace

void instrumentExpressions(Module &M, Lowered &L) {
  RuntimeCalls R(M);
  SiteTable Sites(L);
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(EntryAttr))
      Expresser(F, R, Sites, F.hasFnAttribute(KernelAttr)).run();
  replaceUninitialised(M);
}

} // namespace rcache::check
