// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX -> IR, for the instructions that the toolkit's and clang's headers
// use: half and bfloat16 arithmetic, moves and packing, special registers,
// cached loads and stores. Anything else is reported as unsupported.

#include "Lower.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Intrinsics.h"

#include <cstddef>

using namespace llvm;

namespace rcache::check {

namespace {

class PtxTranslator {
public:
  PtxTranslator(RuntimeCalls &R, IRBuilder<> &B, CallInst &Call, uint32_t Site)
      : R(R), B(B), Call(Call), Site(Site) {}

  bool run(Value *&Result);

private:
  bool statement(StringRef S);
  bool instruction(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool move(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool convert(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool arithmetic(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool wideArithmetic(StringRef Name, ArrayRef<StringRef> Args,
                      ArrayRef<Value *> A, bool Signed, bool Hi, bool Wide,
                      bool SetCarry);
  bool memory(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool compare(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool atomic(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool shuffle(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool packed(StringRef Name, unsigned Lanes, ArrayRef<StringRef> Op,
              ArrayRef<StringRef> Args);
  Value *address(StringRef S, bool Shared);
  bool copyAsync(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  Value *narrow(Value *V, Type *To, StringRef Round);
  Value *special(StringRef Name);

  /// The type that a PTX suffix names; null if unknown.
  Type *typeOf(StringRef S) {
    return StringSwitch<Type *>(S)
        .Case("f16", B.getHalfTy())
        .Case("bf16", B.getBFloatTy())
        .Case("f16x2", FixedVectorType::get(B.getHalfTy(), 2))
        .Case("bf16x2", FixedVectorType::get(B.getBFloatTy(), 2))
        .Case("f32", B.getFloatTy())
        .Case("f64", B.getDoubleTy())
        .Cases({"b8", "s8", "u8"}, B.getInt8Ty())
        .Cases({"b16", "s16", "u16"}, B.getInt16Ty())
        .Cases({"b32", "s32", "u32"}, B.getInt32Ty())
        .Cases({"b64", "s64", "u64"}, B.getInt64Ty())
        .Case("pred", B.getInt1Ty())
        .Default(nullptr);
  }
  /// Operand \p S as type \p T: bits are reinterpreted, integers resized.
  Value *read(StringRef S, Type *T);
  bool write(StringRef S, Value *V);
  Value *as(Value *V, Type *T);

  RuntimeCalls &R;
  IRBuilder<> &B;
  CallInst &Call;
  uint32_t Site;
  SmallVector<Type *, 4> OutTypes;
  SmallVector<Value *, 4> Outs;
  SmallVector<Value *, 8> Ins;
  StringMap<Value *> Registers;
  Value *Carry = nullptr; ///< the condition code register
};

Value *PtxTranslator::as(Value *V, Type *T) {
  if (!V || V->getType() == T)
    return V;
  const DataLayout &DL = Call.getModule()->getDataLayout();
  unsigned From = DL.getTypeSizeInBits(V->getType());
  unsigned To = DL.getTypeSizeInBits(T);
  if (V->getType()->isPointerTy())
    V = B.CreatePtrToInt(V, B.getIntNTy(From));
  else if (!V->getType()->isIntegerTy())
    V = B.CreateBitCast(V, B.getIntNTy(From));
  V = B.CreateZExtOrTrunc(V, B.getIntNTy(To));
  if (T->isPointerTy())
    return B.CreateIntToPtr(V, T);
  return T->isIntegerTy() ? V : B.CreateBitCast(V, T);
}

Value *PtxTranslator::special(StringRef Name) {
  auto Thread = [&](unsigned Off) {
    return R.threadField(B, B.getInt32Ty(), Off);
  };
  unsigned D = Name.ends_with(".y") ? 1 : Name.ends_with(".z") ? 2 : 0;
  if (Name.starts_with("%tid"))
    return Thread(offsetof(ThreadCtx, Tid) + 4 * D);
  if (Name.starts_with("%ntid"))
    return R.blockField(B, offsetof(BlockCtx, Ntid) + 4 * D);
  if (Name.starts_with("%ctaid"))
    return R.blockField(B, offsetof(BlockCtx, Ctaid) + 4 * D);
  if (Name.starts_with("%nctaid"))
    return R.blockField(B, offsetof(BlockCtx, Nctaid) + 4 * D);
  if (Name == "%laneid")
    return Thread(offsetof(ThreadCtx, Lane));
  if (Name == "%warpid")
    return Thread(offsetof(ThreadCtx, Warp));
  if (Name.consume_front("%lanemask_")) {
    Value *Bit = B.CreateShl(B.getInt32(1), Thread(offsetof(ThreadCtx, Lane)));
    Value *Below = B.CreateSub(Bit, B.getInt32(1));
    if (Name == "eq")
      return Bit;
    if (Name == "lt")
      return Below;
    if (Name == "le")
      return B.CreateOr(Below, Bit);
    if (Name == "ge")
      return B.CreateNot(Below);
    if (Name == "gt")
      return B.CreateNot(B.CreateOr(Below, Bit));
    return nullptr;
  }
  if (Name.starts_with("%clock") || Name.starts_with("%globaltimer"))
    return R.call(B, "rcc_clock", B.getInt64Ty(), {});
  if (Name == "%dynamic_smem_size")
    return R.blockField(B, offsetof(BlockCtx, DynamicShared));
  if (Name == "%total_smem_size")
    return R.blockField(B, offsetof(BlockCtx, TotalShared));
  if (Name == "%envreg1" || Name == "%envreg2") // the grid's workspace
    return R.blockField(B, offsetof(BlockCtx, GridWorkspace) +
                               (Name.ends_with("1") ? 4 : 0));
  if (Name == "%smid" || Name.starts_with("%envreg"))
    return B.getInt32(0);
  if (Name == "%nsmid")
    return B.getInt32(4);
  if (Name == "%reserved_smem_offset_1")
    return B.getInt32(0);
  return nullptr;
}

Value *PtxTranslator::read(StringRef S, Type *T) {
  S = S.trim();
  if (S.starts_with("$")) {
    unsigned N;
    StringRef Num = S.drop_front();
    if (Num.starts_with("{"))
      Num = Num.drop_front().take_until([](char C) { return C == ':' || C == '}'; });
    if (Num.getAsInteger(10, N))
      return nullptr;
    if (N < OutTypes.size())
      return as(Outs[N], T);
    N -= OutTypes.size();
    return N < Ins.size() ? as(Ins[N], T) : nullptr;
  }
  if (S.starts_with("%"))
    return as(special(S), T);
  if (S == "WARP_SZ")
    return as(B.getInt32(32), T);
  if (S.starts_with("0f") || S.starts_with("0F") || S.starts_with("0d") ||
      S.starts_with("0D")) {
    uint64_t Bits;
    if (S.drop_front(2).getAsInteger(16, Bits))
      return nullptr;
    return as(ConstantInt::get(
                  S[1] == 'f' || S[1] == 'F' ? B.getInt32Ty() : B.getInt64Ty(),
                  Bits),
              T);
  }
  int64_t Int;
  StringRef Digits = S;
  Digits.consume_back("U");
  if (!Digits.getAsInteger(0, Int))
    return as(ConstantInt::get(B.getInt64Ty(), Int), T);
  auto It = Registers.find(S);
  return It == Registers.end() ? nullptr : as(It->second, T);
}

bool PtxTranslator::write(StringRef S, Value *V) {
  S = S.trim();
  if (!V)
    return false;
  if (S == "_")
    return true;
  if (S.starts_with("$")) {
    unsigned N;
    StringRef Num = S.drop_front();
    if (Num.starts_with("{"))
      Num = Num.drop_front().take_until([](char C) { return C == ':' || C == '}'; });
    if (Num.getAsInteger(10, N) || N >= OutTypes.size())
      return false;
    Outs[N] = as(V, OutTypes[N]);
    return true;
  }
  Registers[S] = V;
  return true;
}

bool PtxTranslator::move(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  if (Args.size() != 2 || Op.size() < 2)
    return false;
  Type *T = typeOf(Op.back());
  if (!T)
    return false;
  unsigned Bits = T->getPrimitiveSizeInBits();
  auto List = [](StringRef S, SmallVectorImpl<StringRef> &Out) {
    if (!S.consume_front("{") || !S.consume_back("}"))
      return false;
    S.split(Out, ',');
    return true;
  };
  SmallVector<StringRef, 4> Parts;
  if (List(Args[1], Parts)) { // pack
    unsigned Each = Bits / Parts.size();
    Value *V = B.getIntN(Bits, 0);
    for (unsigned I = 0; I < Parts.size(); ++I) {
      Value *P = read(Parts[I], B.getIntNTy(Each));
      if (!P)
        return false;
      V = B.CreateOr(V, B.CreateShl(B.CreateZExt(P, V->getType()), I * Each));
    }
    return write(Args[0], V);
  }
  if (List(Args[0], Parts)) { // unpack
    unsigned Each = Bits / Parts.size();
    Value *V = read(Args[1], B.getIntNTy(Bits));
    if (!V)
      return false;
    for (unsigned I = 0; I < Parts.size(); ++I)
      if (!write(Parts[I], B.CreateTrunc(B.CreateLShr(V, I * Each),
                                         B.getIntNTy(Each))))
        return false;
    return true;
  }
  return write(Args[0], read(Args[1], T));
}

/// \p V, rounded to the narrower type as told; null if that is unknown.
Value *PtxTranslator::narrow(Value *V, Type *To, StringRef Round) {
  Value *Near = B.CreateFPTrunc(V, To);
  if (Round == "rn")
    return Near;
  if (Round != "rz" && Round != "rm" && Round != "rp")
    return nullptr;
  // One step back where the nearest value lies on the wrong side.
  Type *Int = B.getIntNTy(To->getPrimitiveSizeInBits());
  Value *Bits = B.CreateBitCast(Near, Int), *Back = B.CreateFPExt(Near, V->getType());
  Value *Negative = B.CreateICmpSLT(Bits, ConstantInt::get(Int, 0));
  Value *Wrong, *Inwards = B.getTrue(), *One = ConstantInt::get(Int, 1);
  if (Round == "rz") {
    Wrong = B.CreateFCmpOGT(B.CreateUnaryIntrinsic(Intrinsic::fabs, Back),
                            B.CreateUnaryIntrinsic(Intrinsic::fabs, V));
  } else {
    Wrong = Round == "rm" ? B.CreateFCmpOGT(Back, V) : B.CreateFCmpOLT(Back, V);
    Inwards = Round == "rm" ? B.CreateNot(Negative) : Negative;
  }
  Value *Step = B.CreateSelect(Inwards, B.CreateSub(Bits, One), B.CreateAdd(Bits, One));
  return B.CreateBitCast(B.CreateSelect(Wrong, Step, Bits), To);
}

bool PtxTranslator::convert(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  // cvt[.round][.sat][.relu].<to>.<from>
  if (Op.size() < 3 || Args.size() < 2)
    return false;
  StringRef ToName = Op[Op.size() - 2], FromName = Op.back();
  Type *To = typeOf(ToName), *From = typeOf(FromName);
  if (!To || !From)
    return false;
  StringRef Round = "";
  for (StringRef S : Op.drop_front().drop_back(2)) {
    if (S == "sat" || S == "relu" || S == "ftz")
      return false;
    Round = S;
  }
  if (To->isVectorTy()) { // cvt.rn.f16x2.f32 d, high, low
    if (Args.size() != 3 || Round != "rn")
      return false;
    Type *E = cast<VectorType>(To)->getElementType();
    Value *Hi = read(Args[1], From), *Lo = read(Args[2], From);
    if (!Hi || !Lo)
      return false;
    Value *V = PoisonValue::get(To);
    V = B.CreateInsertElement(V, B.CreateFPTrunc(Lo, E), uint64_t(0));
    V = B.CreateInsertElement(V, B.CreateFPTrunc(Hi, E), uint64_t(1));
    return write(Args[0], V);
  }
  Value *V = read(Args[1], From);
  if (!V)
    return false;
  bool FromFloat = From->isFloatingPointTy(), ToFloat = To->isFloatingPointTy();
  bool FromSigned = FromName.starts_with("s");
  if (FromFloat && ToFloat) {
    unsigned FromBits = From->getPrimitiveSizeInBits();
    unsigned ToBits = To->getPrimitiveSizeInBits();
    if (ToBits > FromBits)
      return write(Args[0], B.CreateFPExt(V, To));
    if (ToBits < FromBits)
      return write(Args[0], narrow(V, To, Round));
    Intrinsic::ID Id = StringSwitch<Intrinsic::ID>(Round)
                           .Case("rni", Intrinsic::roundeven)
                           .Case("rzi", Intrinsic::trunc)
                           .Case("rmi", Intrinsic::floor)
                           .Case("rpi", Intrinsic::ceil)
                           .Default(Intrinsic::not_intrinsic);
    if (Id == Intrinsic::not_intrinsic || From != To)
      return false;
    return write(Args[0], B.CreateUnaryIntrinsic(Id, V));
  }
  if (FromFloat) {
    Intrinsic::ID Id = StringSwitch<Intrinsic::ID>(Round)
                           .Cases({"rni", "rn"}, Intrinsic::roundeven)
                           .Cases({"rzi", "rz"}, Intrinsic::trunc)
                           .Cases({"rmi", "rm"}, Intrinsic::floor)
                           .Cases({"rpi", "rp"}, Intrinsic::ceil)
                           .Default(Intrinsic::not_intrinsic);
    if (Id == Intrinsic::not_intrinsic)
      return false;
    V = B.CreateUnaryIntrinsic(Id, B.CreateFPExt(V, B.getDoubleTy()));
    return write(Args[0],
                 B.CreateIntrinsic(ToName.starts_with("u")
                                       ? Intrinsic::fptoui_sat
                                       : Intrinsic::fptosi_sat,
                                   {To, V->getType()}, {V}));
  }
  if (ToFloat)
    return Round == "rn" &&
           write(Args[0], FromSigned ? B.CreateSIToFP(V, To)
                                     : B.CreateUIToFP(V, To));
  return write(Args[0], FromSigned ? B.CreateSExtOrTrunc(V, To)
                                   : B.CreateZExtOrTrunc(V, To));
}

bool PtxTranslator::arithmetic(ArrayRef<StringRef> Op,
                               ArrayRef<StringRef> Args) {
  StringRef TypeName = Op.back();
  Type *T = typeOf(TypeName);
  if (!T || Args.size() < 2)
    return false;
  bool Sat = false, Relu = false, Nan = false, Approx = false;
  bool Hi = false, Wide = false, SetCarry = false;
  unsigned Rounding = 0; // as the runtime numbers it
  for (StringRef S : Op.drop_front().drop_back(1)) {
    if (S == "sat")
      Sat = true;
    else if (S == "relu")
      Relu = true;
    else if (S == "NaN")
      Nan = true;
    else if (S == "approx" || S == "full")
      Approx = true;
    else if (S == "cc")
      SetCarry = true;
    else if (S == "hi")
      Hi = true;
    else if (S == "wide")
      Wide = true;
    else if (S == "rz" || S == "rm" || S == "rp")
      Rounding = S == "rz" ? 1 : S == "rm" ? 2 : 3;
    else if (S != "rn" && S != "ftz" && S != "wrap" && S != "clamp" && S != "l" &&
             S != "r" && S != "lo" && S != "shiftamt")
      return false;
  }
  if (Relu)
    return false;
  SmallVector<Value *, 4> A;
  for (StringRef S : Args.drop_front()) {
    A.push_back(read(S, T));
    if (!A.back())
      return false;
  }
  bool Float = T->isFPOrFPVectorTy(), Signed = TypeName.starts_with("s");
  StringRef Name = Op[0];
  Value *V = nullptr;
  if (Float && Rounding) {
    // Operations and their numbers in the runtime.
    int Code = StringSwitch<int>(Name)
                   .Cases({"add", "sub"}, 0)
                   .Case("mul", 1)
                   .Case("div", 2)
                   .Case("fma", 3)
                   .Case("rcp", 4)
                   .Case("sqrt", 5)
                   .Default(-1);
    if (Code < 0 || Sat || !(T->isFloatTy() || T->isDoubleTy()))
      return false;
    while (A.size() < 3)
      A.push_back(ConstantFP::get(T, 0.0));
    if (Name == "sub")
      A[1] = B.CreateFNeg(A[1]);
    return write(Args[0],
                 R.call(B, T->isFloatTy() ? "rcc_round_f32" : "rcc_round_f64",
                        T, {B.getInt32(Code), B.getInt32(Rounding), A[0], A[1], A[2]}));
  }
  if (Float) {
    if (Name == "add" && A.size() == 2)
      V = B.CreateFAdd(A[0], A[1]);
    else if (Name == "sub" && A.size() == 2)
      V = B.CreateFSub(A[0], A[1]);
    else if (Name == "mul" && A.size() == 2)
      V = B.CreateFMul(A[0], A[1]);
    else if (Name == "div" && A.size() == 2)
      V = B.CreateFDiv(A[0], A[1]);
    else if ((Name == "fma" || Name == "mad") && A.size() == 3)
      V = B.CreateIntrinsic(Intrinsic::fma, {T}, {A[0], A[1], A[2]});
    else if (Name == "neg")
      V = B.CreateFNeg(A[0]);
    else if (Name == "abs")
      V = B.CreateUnaryIntrinsic(Intrinsic::fabs, A[0]);
    else if ((Name == "min" || Name == "max") && A.size() == 2)
      V = B.CreateBinaryIntrinsic(
          Nan ? (Name == "min" ? Intrinsic::minimum : Intrinsic::maximum)
              : (Name == "min" ? Intrinsic::minimumnum
                               : Intrinsic::maximumnum),
          A[0], A[1]);
    else if (Name == "sqrt")
      V = B.CreateUnaryIntrinsic(Intrinsic::sqrt, A[0]);
    else if (Name == "rcp")
      V = B.CreateFDiv(ConstantFP::get(T, 1.0), A[0]);
    else if (Approx && T->isFloatTy() &&
             (Name == "ex2" || Name == "lg2" || Name == "sin" ||
              Name == "cos" || Name == "tanh" || Name == "rsqrt"))
      V = R.call(B, ("rcc_" + Name + "f").str(), T, {A[0]});
    else if (Approx && T->isDoubleTy() && Name == "rsqrt")
      V = R.call(B, "rcc_rsqrt", T, {A[0]});
    if (V && Sat) {
      V = B.CreateBinaryIntrinsic(Intrinsic::maximumnum, V,
                                  ConstantFP::get(T, 0.0));
      V = B.CreateBinaryIntrinsic(Intrinsic::minimumnum, V,
                                  ConstantFP::get(T, 1.0));
    }
    return write(Args[0], V);
  }
  if (Sat)
    return false;
  if (Hi || Wide || SetCarry || Name == "addc" || Name == "madc")
    return wideArithmetic(Name, Args, A, Signed, Hi, Wide, SetCarry);
  if (Name == "add" && A.size() == 2)
    V = B.CreateAdd(A[0], A[1]);
  else if (Name == "sub" && A.size() == 2)
    V = B.CreateSub(A[0], A[1]);
  else if (Name == "mul" && A.size() == 2)
    V = B.CreateMul(A[0], A[1]);
  else if (Name == "mad" && A.size() == 3)
    V = B.CreateAdd(B.CreateMul(A[0], A[1]), A[2]);
  else if (Name == "and" && A.size() == 2)
    V = B.CreateAnd(A[0], A[1]);
  else if (Name == "or" && A.size() == 2)
    V = B.CreateOr(A[0], A[1]);
  else if (Name == "xor" && A.size() == 2)
    V = B.CreateXor(A[0], A[1]);
  else if (Name == "not")
    V = B.CreateNot(A[0]);
  else if (Name == "neg")
    V = B.CreateNeg(A[0]);
  else if ((Name == "min" || Name == "max") && A.size() == 2)
    V = B.CreateBinaryIntrinsic(
        Name == "min" ? (Signed ? Intrinsic::smin : Intrinsic::umin)
                      : (Signed ? Intrinsic::smax : Intrinsic::umax),
        A[0], A[1]);
  else if (Name == "popc")
    V = B.CreateUnaryIntrinsic(Intrinsic::ctpop, A[0]);
  else if (Name == "brev")
    V = B.CreateUnaryIntrinsic(Intrinsic::bitreverse, A[0]);
  else if (Name == "clz")
    V = B.CreateIntrinsic(Intrinsic::ctlz, {T}, {A[0], B.getFalse()});
  else if (Name == "bfind" && TypeName.starts_with("u")) {
    bool Shift = llvm::is_contained(Op, "shiftamt");
    Value *Clz = B.CreateIntrinsic(Intrinsic::ctlz, {T}, {A[0], B.getFalse()});
    V = Shift ? Clz : B.CreateSub(ConstantInt::get(T, T->getIntegerBitWidth() - 1), Clz);
    V = B.CreateSelect(B.CreateICmpEQ(A[0], ConstantInt::get(T, 0)),
                       Constant::getAllOnesValue(T), V);
  } else if (Name == "shf" && A.size() == 3 && TypeName == "b32") {
    bool Left = Op[1] == "l", Wrap = Op[2] == "wrap";
    Type *I64 = B.getInt64Ty();
    Value *Both = B.CreateOr(B.CreateShl(B.CreateZExt(A[1], I64), 32),
                             B.CreateZExt(A[0], I64));
    Value *N = Wrap ? B.CreateAnd(A[2], 31)
                    : B.CreateBinaryIntrinsic(Intrinsic::umin, A[2],
                                              B.getInt32(32));
    N = B.CreateZExt(N, I64);
    V = Left ? B.CreateTrunc(B.CreateLShr(B.CreateShl(Both, N), 32), T)
             : B.CreateTrunc(B.CreateLShr(Both, N), T);
  } else if ((Name == "shl" || Name == "shr") && A.size() == 2) {
    Value *N = read(Args[2], B.getInt32Ty());
    unsigned Bits = T->getIntegerBitWidth();
    Value *Big = B.CreateICmpUGE(N, B.getInt32(Bits));
    Value *M = B.CreateZExtOrTrunc(
        B.CreateBinaryIntrinsic(Intrinsic::umin, N, B.getInt32(Bits - 1)), T);
    if (Name == "shr" && Signed)
      V = B.CreateAShr(A[0], M);
    else
      V = B.CreateSelect(Big, ConstantInt::get(T, 0),
                         Name == "shl" ? B.CreateShl(A[0], M)
                                       : B.CreateLShr(A[0], M));
  }
  return write(Args[0], V);
}

/// Sums with carry in and out, high halves and full products.
bool PtxTranslator::wideArithmetic(StringRef Name, ArrayRef<StringRef> Args,
                                   ArrayRef<Value *> A, bool Signed, bool Hi,
                                   bool Wide, bool SetCarry) {
  auto *T = cast<IntegerType>(A[0]->getType());
  unsigned Bits = T->getBitWidth();
  IntegerType *W = B.getIntNTy(2 * Bits);
  auto Ext = [&](Value *V) {
    return Signed ? B.CreateSExt(V, W) : B.CreateZExt(V, W);
  };
  bool Product = Name == "mul" || Name == "mad" || Name == "madc";
  if (A.size() != (Name == "mad" || Name == "madc" ? 3u : 2u) ||
      !(Product || Name == "add" || Name == "addc"))
    return false;
  Value *First = A[0];
  if (Product) {
    Value *Full = B.CreateMul(Ext(A[0]), Ext(A[1]));
    if (Wide) {
      if (Name == "mad") {
        Value *C = read(Args[3], W);
        return C && write(Args[0], B.CreateAdd(Full, C));
      }
      return write(Args[0], Full);
    }
    First = B.CreateTrunc(Hi ? B.CreateLShr(Full, Bits) : Full, T);
    if (Name == "mul")
      return write(Args[0], First);
  }
  Value *Sum = B.CreateAdd(B.CreateZExt(First, W), B.CreateZExt(A.back(), W));
  if (Name.ends_with("c")) {
    if (!Carry)
      return false;
    Sum = B.CreateAdd(Sum, B.CreateZExt(Carry, W));
  }
  if (SetCarry)
    Carry = B.CreateTrunc(B.CreateLShr(Sum, Bits), B.getInt1Ty());
  return write(Args[0], B.CreateTrunc(Sum, T));
}

bool PtxTranslator::compare(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  // setp.<cmp>.<type> p, a, b;  set.<cmp>.<to>.<from> d, a, b;
  // selp.<type> d, a, b, p
  if (Op[0] == "selp") {
    Type *T = typeOf(Op.back());
    if (!T || Args.size() != 4)
      return false;
    Value *X = read(Args[1], T), *Y = read(Args[2], T);
    Value *C = read(Args[3], B.getInt1Ty());
    return X && Y && C && write(Args[0], B.CreateSelect(C, X, Y));
  }
  if (Op.size() < 3 || Args.size() != 3)
    return false;
  Type *T = typeOf(Op.back());
  if (!T)
    return false;
  Value *X = read(Args[1], T), *Y = read(Args[2], T);
  if (!X || !Y)
    return false;
  Value *C = nullptr;
  StringRef Cmp = Op[1];
  if (T->isFPOrFPVectorTy()) {
    auto P = StringSwitch<CmpInst::Predicate>(Cmp)
                 .Case("eq", CmpInst::FCMP_OEQ)
                 .Case("ne", CmpInst::FCMP_ONE)
                 .Case("lt", CmpInst::FCMP_OLT)
                 .Case("le", CmpInst::FCMP_OLE)
                 .Case("gt", CmpInst::FCMP_OGT)
                 .Case("ge", CmpInst::FCMP_OGE)
                 .Case("equ", CmpInst::FCMP_UEQ)
                 .Case("neu", CmpInst::FCMP_UNE)
                 .Case("ltu", CmpInst::FCMP_ULT)
                 .Case("leu", CmpInst::FCMP_ULE)
                 .Case("gtu", CmpInst::FCMP_UGT)
                 .Case("geu", CmpInst::FCMP_UGE)
                 .Case("num", CmpInst::FCMP_ORD)
                 .Case("nan", CmpInst::FCMP_UNO)
                 .Default(CmpInst::BAD_FCMP_PREDICATE);
    if (P == CmpInst::BAD_FCMP_PREDICATE)
      return false;
    C = B.CreateFCmp(P, X, Y);
  } else {
    bool S = Op.back().starts_with("s");
    auto P = StringSwitch<CmpInst::Predicate>(Cmp)
                 .Case("eq", CmpInst::ICMP_EQ)
                 .Case("ne", CmpInst::ICMP_NE)
                 .Case("lt", S ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                 .Case("le", S ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                 .Case("gt", S ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                 .Case("ge", S ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                 .Default(CmpInst::BAD_ICMP_PREDICATE);
    if (P == CmpInst::BAD_ICMP_PREDICATE)
      return false;
    C = B.CreateICmp(P, X, Y);
  }
  if (Op[0] == "setp")
    return write(Args[0], C);
  // set: all ones, or 1.0 in a floating type.
  Type *To = typeOf(Op[Op.size() - 2]);
  if (!To)
    return false;
  if (To->isFPOrFPVectorTy())
    return write(Args[0], B.CreateUIToFP(C, To));
  if (T->isVectorTy())
    return write(Args[0], B.CreateSExt(C, FixedVectorType::get(
                                              B.getInt16Ty(), 2)));
  return write(Args[0], B.CreateSExt(C, To));
}

/// shfl.sync.mode.b32 d[|p], a, b, c, mask
bool PtxTranslator::shuffle(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  if (Op.size() != 4 || Op[1] != "sync" || Args.size() != 5)
    return false;
  int Kind = StringSwitch<int>(Op[2])
                 .Case("up", int(ShflKind::Up))
                 .Case("down", int(ShflKind::Down))
                 .Case("bfly", int(ShflKind::Bfly))
                 .Case("idx", int(ShflKind::Idx))
                 .Default(-1);
  Type *I32 = B.getInt32Ty();
  Value *V = read(Args[1], I32), *Lane = read(Args[2], I32);
  Value *C = read(Args[3], I32), *Mask = read(Args[4], I32);
  if (Kind < 0 || !V || !Lane || !C || !Mask)
    return false;
  Value *Ctx = R.context(*Call.getFunction());
  Value *D = R.call(B, "rcc_shfl", I32,
                    {Ctx, B.getInt32(Site), B.getInt32(Kind), Mask, V, Lane, C});
  auto [Data, Pred] = Args[0].split('|');
  if (!Pred.empty() &&
      !write(Pred, B.CreateTrunc(
                       B.CreateLoad(I32, B.CreateConstInBoundsGEP1_32(
                                             B.getInt8Ty(), Ctx,
                                             offsetof(ThreadCtx, RetPred))),
                       B.getInt1Ty())))
    return false;
  return write(Data, D);
}

/// vadd4.u32.u32.u32[.sat|.add] d, a, b, c and its like: two halves or four
/// bytes at once. vset4.u32.u32.eq has a comparison in place of a type.
bool PtxTranslator::packed(StringRef Name, unsigned Lanes,
                           ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  if (Op.size() < 4 || Args.size() != 4)
    return false;
  bool Set = Name == "vset", Sat = Op.back() == "sat", Add = Op.back() == "add";
  if (Op.size() > 4 && !Sat && !Add)
    return false;
  StringRef TypeA = Op[Set ? 1 : 2], TypeB = Op[Set ? 2 : 3];
  bool SignedD = !Set && Op[1].starts_with("s");
  Type *I32 = B.getInt32Ty();
  unsigned Bits = 32 / Lanes;
  Value *X = read(Args[1], I32), *Y = read(Args[2], I32), *C = read(Args[3], I32);
  if (!X || !Y || !C)
    return false;
  Value *Out = Add ? C : B.getInt32(0);
  for (unsigned I = 0; I < Lanes; ++I) {
    auto Part = [&](Value *V, StringRef Type) {
      V = B.CreateShl(V, 32 - Bits * (I + 1));
      return Type.starts_with("s") ? B.CreateAShr(V, 32 - Bits)
                                   : B.CreateLShr(V, 32 - Bits);
    };
    Value *P = Part(X, TypeA), *Q = Part(Y, TypeB), *V = nullptr;
    bool Signed = TypeA.starts_with("s");
    if (Name == "vadd")
      V = B.CreateAdd(P, Q);
    else if (Name == "vsub")
      V = B.CreateSub(P, Q);
    else if (Name == "vmin" || Name == "vmax")
      V = B.CreateBinaryIntrinsic(
          Name == "vmin" ? Intrinsic::smin : Intrinsic::smax, P, Q);
    else if (Name == "vabsdiff")
      V = B.CreateBinaryIntrinsic(Intrinsic::abs, B.CreateSub(P, Q),
                                  B.getFalse());
    else if (Name == "vavrg") {
      V = B.CreateAdd(P, Q);
      V = B.CreateAdd(V, B.CreateZExt(B.CreateICmpSGE(V, B.getInt32(0)), I32));
      V = B.CreateAShr(V, 1);
    } else if (Set) {
      auto Cmp = StringSwitch<CmpInst::Predicate>(Op[3])
                     .Case("eq", CmpInst::ICMP_EQ)
                     .Case("ne", CmpInst::ICMP_NE)
                     .Case("lt", Signed ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT)
                     .Case("le", Signed ? CmpInst::ICMP_SLE : CmpInst::ICMP_ULE)
                     .Case("gt", Signed ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT)
                     .Case("ge", Signed ? CmpInst::ICMP_SGE : CmpInst::ICMP_UGE)
                     .Default(CmpInst::BAD_ICMP_PREDICATE);
      if (Cmp == CmpInst::BAD_ICMP_PREDICATE)
        return false;
      V = B.CreateZExt(B.CreateICmp(Cmp, P, Q), I32);
    }
    if (!V)
      return false;
    if (Sat) {
      int64_t Low = SignedD ? -(1ll << (Bits - 1)) : 0;
      int64_t High = (1ll << (SignedD ? Bits - 1 : Bits)) - 1;
      V = B.CreateBinaryIntrinsic(Intrinsic::smax, V, B.getInt32(Low));
      V = B.CreateBinaryIntrinsic(Intrinsic::smin, V, B.getInt32(High));
    }
    if (Add) {
      Out = B.CreateAdd(Out, V);
      continue;
    }
    V = B.CreateAnd(V, B.getInt32((1u << Bits) - 1));
    Out = B.CreateOr(Out, B.CreateShl(V, Bits * I));
  }
  return write(Args[0], Out);
}

bool isShared(ArrayRef<StringRef> Op) {
  return any_of(Op, [](StringRef S) { return S.starts_with("shared"); });
}

/// cp.async.ca.shared.global [to], [from], bytes[, bytes that are read]: done at
/// once. Commit and wait have nothing to do.
bool PtxTranslator::copyAsync(ArrayRef<StringRef> Op,
                              ArrayRef<StringRef> Args) {
  if (Op.size() > 2 && (Op[2].starts_with("wait") || Op[2].starts_with("commit"))) {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return true;
  }
  if (Op.size() < 5 || Op[1] != "async" || Op[4] != "global" || Args.size() < 3)
    return false;
  auto Inside = [](StringRef S) {
    return S.consume_front("[") && S.consume_back("]") ? S : StringRef();
  };
  Value *To = address(Inside(Args[0]), true), *From = address(Inside(Args[1]), false);
  Value *N = read(Args[2], B.getInt64Ty());
  Value *Read = Args.size() > 3 ? read(Args[3], B.getInt64Ty()) : N;
  if (!To || !From || !N || !Read)
    return false;
  B.CreateMemSet(To, B.getInt8(0), N, Align(4));
  B.CreateMemCpy(To, Align(4), From, Align(4), Read);
  return true;
}

/// What stands between the brackets: a register, perhaps plus a number.
/// A shared address may be one of 32 bits: a block's shared memory lies in one
/// window of 4 GiB.
Value *PtxTranslator::address(StringRef S, bool Shared) {
  int64_t Offset = 0;
  if (size_t Plus = S.find('+'); Plus != StringRef::npos) {
    if (S.drop_front(Plus + 1).trim().getAsInteger(0, Offset))
      return nullptr;
    S = S.take_front(Plus);
  }
  Value *P = read(S, B.getPtrTy());
  if (P && Shared) {
    Value *Base = B.CreatePtrToInt(
        R.threadField(B, B.getPtrTy(), offsetof(ThreadCtx, Shared)), B.getInt64Ty());
    P = B.CreateIntToPtr(
        B.CreateOr(B.CreateAnd(Base, 0xffffffff00000000ull),
                   B.CreateAnd(B.CreatePtrToInt(P, B.getInt64Ty()), 0xffffffffull)),
        B.getPtrTy());
  }
  return P && Offset ? B.CreateConstGEP1_64(B.getInt8Ty(), P, Offset) : P;
}

/// atom[.semantics][.scope][.space].op.type d, [a], b[, c];   red: without d
bool PtxTranslator::atomic(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  bool Returns = Op[0] == "atom";
  if (Op.size() < 3 || Args.size() < (Returns ? 3u : 2u))
    return false;
  Type *T = typeOf(Op.back());
  StringRef Name, Address = Args[Returns ? 1 : 0];
  for (StringRef S : Op) // in front of the semantics or behind
    if (is_contained({"add", "and", "or", "xor", "exch", "cas", "inc", "dec", "min", "max"}, S))
      Name = S;
  if (!T || !Address.consume_front("[") || !Address.consume_back("]"))
    return false;
  Value *P = address(Address, isShared(Op)), *V = read(Args[Returns ? 2 : 1], T);
  if (!P || !V)
    return false;
  Align Al(T->getPrimitiveSizeInBits() / 8);
  auto Order = AtomicOrdering::SequentiallyConsistent;
  Value *Old;
  if (Name == "cas") {
    Value *New = Args.size() > 3 ? read(Args[3], T) : nullptr;
    if (!New || !Returns)
      return false;
    Old = B.CreateExtractValue(
        B.CreateAtomicCmpXchg(P, V, New, Al, Order, Order), 0);
  } else {
    bool Signed = Op.back().starts_with("s"), Float = T->isFPOrFPVectorTy();
    auto Kind = StringSwitch<AtomicRMWInst::BinOp>(Name)
                    .Case("add", Float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
                    .Case("and", AtomicRMWInst::And)
                    .Case("or", AtomicRMWInst::Or)
                    .Case("xor", AtomicRMWInst::Xor)
                    .Case("exch", AtomicRMWInst::Xchg)
                    .Case("inc", AtomicRMWInst::UIncWrap)
                    .Case("dec", AtomicRMWInst::UDecWrap)
                    .Case("min", Signed ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
                    .Case("max", Signed ? AtomicRMWInst::Max : AtomicRMWInst::UMax)
                    .Default(AtomicRMWInst::BAD_BINOP);
    if (Kind == AtomicRMWInst::BAD_BINOP ||
        (Float && Name != "add" && Name != "exch"))
      return false;
    Old = B.CreateAtomicRMW(Kind, P, V, Al, Order);
  }
  R.call(B, "rcc_spin", B.getVoidTy(), {R.context(*Call.getFunction())});
  return !Returns || write(Args[0], Old);
}

bool PtxTranslator::memory(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  if (Args.size() != 2)
    return false;
  Type *T = typeOf(Op.back());
  bool Load = Op[0] == "ld" || Op[0] == "ldu";
  StringRef Address = Load ? Args[1] : Args[0];
  StringRef Data = Load ? Args[0] : Args[1];
  if (!T || !Address.consume_front("[") || !Address.consume_back("]"))
    return false;
  unsigned Count = 1;
  bool Acquire = false;
  for (StringRef S : Op.drop_front().drop_back(1)) {
    if (S == "v2")
      Count = 2;
    else if (S == "v4")
      Count = 4;
    else if (S == "param" || S == "const" || S == "local")
      return false;
    else if (S == "acquire" || S == "release" || S == "volatile" ||
             S == "relaxed")
      Acquire = true;
  }
  Value *P = address(Address, isShared(Op));
  if (!P)
    return false;
  SmallVector<StringRef, 4> Parts;
  if (Count > 1) {
    if (!Data.consume_front("{") || !Data.consume_back("}"))
      return false;
    Data.split(Parts, ',');
    if (Parts.size() != Count)
      return false;
  } else {
    Parts.push_back(Data);
  }
  unsigned Bytes = T->getPrimitiveSizeInBits() / 8;
  Type *Whole = Count > 1 ? FixedVectorType::get(T, Count) : T;
  if (Load) {
    Value *V = B.CreateAlignedLoad(Whole, P, Align(Bytes * Count), Acquire);
    if (Acquire)
      R.call(B, "rcc_spin", B.getVoidTy(),
             {R.context(*Call.getFunction())});
    for (unsigned I = 0; I < Count; ++I)
      if (!write(Parts[I], Count > 1 ? B.CreateExtractElement(V, I) : V))
        return false;
    return true;
  }
  Value *V = PoisonValue::get(Whole);
  for (unsigned I = 0; I < Count; ++I) {
    Value *E = read(Parts[I], T);
    if (!E)
      return false;
    V = Count > 1 ? B.CreateInsertElement(V, E, I) : E;
  }
  B.CreateAlignedStore(V, P, Align(Bytes * Count), Acquire);
  return true;
}

bool PtxTranslator::instruction(ArrayRef<StringRef> Op,
                                ArrayRef<StringRef> Args) {
  StringRef Name = Op[0];
  if (Name == "mov")
    return move(Op, Args);
  if (Name == "cvt")
    return convert(Op, Args);
  if (Name == "cvta" && Args.size() == 2) // one address space here
    return write(Args[0], read(Args[1], B.getInt64Ty()));
  if (Name == "ld" || Name == "st" || Name == "ldu")
    return memory(Op, Args);
  if (Name == "atom" || Name == "red")
    return atomic(Op, Args);
  if (Name == "cp")
    return copyAsync(Op, Args);
  if (Name == "shfl")
    return shuffle(Op, Args);
  if (Name.starts_with("v") && (Name.ends_with("2") || Name.ends_with("4")))
    return packed(Name.drop_back(), Name.back() - '0', Op, Args);
  if (Name == "setp" || Name == "set" || Name == "selp")
    return compare(Op, Args);
  if (Name == "bar" || Name == "barrier") {
    if (Op.size() < 2 || Op[1] != "sync" || Args.empty())
      return false;
    Value *Id = read(Args[0], B.getInt32Ty());
    Value *N = Args.size() > 1 ? read(Args[1], B.getInt32Ty()) : B.getInt32(0);
    if (!Id || !N)
      return false;
    R.call(B, "rcc_barrier", B.getVoidTy(),
           {R.context(*Call.getFunction()), B.getInt32(Site), Id, N});
    return true;
  }
  if (Name == "membar" || Name == "fence") {
    B.CreateFence(AtomicOrdering::SequentiallyConsistent);
    return true;
  }
  if (Name == "pragma" || Name == ".pragma" || Name == "prefetch" ||
      Name == "pmevent" || Name == "nanosleep")
    return true;
  if (Name == "trap") {
    R.call(B, "rcc_trap", B.getVoidTy(),
           {R.context(*Call.getFunction()), B.getInt32(Site)});
    return true;
  }
  if (Name == "prmt" && Args.size() == 4 && Op.size() == 2) {
    Value *X = read(Args[1], B.getInt32Ty()), *Y = read(Args[2], B.getInt32Ty());
    Value *S = read(Args[3], B.getInt32Ty());
    return X && Y && S &&
           write(Args[0], R.call(B, "rcc_prmt", B.getInt32Ty(), {X, Y, S}));
  }
  if (Name == "dp4a" && Args.size() == 4 && Op.size() == 3) {
    Value *Sum = read(Args[3], B.getInt32Ty());
    Value *X = read(Args[1], B.getInt32Ty()), *Y = read(Args[2], B.getInt32Ty());
    if (!Sum || !X || !Y)
      return false;
    for (unsigned I = 0; I < 4; ++I) {
      auto Byte = [&](Value *V, StringRef Type) {
        V = B.CreateTrunc(B.CreateLShr(V, 8 * I), B.getInt8Ty());
        return Type.starts_with("s") ? B.CreateSExt(V, B.getInt32Ty())
                                     : B.CreateZExt(V, B.getInt32Ty());
      };
      Sum = B.CreateAdd(Sum, B.CreateMul(Byte(X, Op[1]), Byte(Y, Op[2])));
    }
    return write(Args[0], Sum);
  }
  if (Name == "dp2a" && Args.size() == 4 && Op.size() == 4) {
    // Two halves of the first operand times two bytes of the second.
    Value *Sum = read(Args[3], B.getInt32Ty());
    Value *X = read(Args[1], B.getInt32Ty()), *Y = read(Args[2], B.getInt32Ty());
    if (!Sum || !X || !Y)
      return false;
    for (unsigned I = 0; I < 2; ++I) {
      auto Part = [&](Value *V, unsigned Shift, Type *T, StringRef Type) {
        V = B.CreateTrunc(B.CreateLShr(V, Shift), T);
        return Type.starts_with("s") ? B.CreateSExt(V, B.getInt32Ty())
                                     : B.CreateZExt(V, B.getInt32Ty());
      };
      Value *Half = Part(X, 16 * I, B.getInt16Ty(), Op[2]);
      Value *Byte = Part(Y, 8 * I + (Op[1] == "hi" ? 16 : 0), B.getInt8Ty(), Op[3]);
      Sum = B.CreateAdd(Sum, B.CreateMul(Half, Byte));
    }
    return write(Args[0], Sum);
  }
  return arithmetic(Op, Args);
}

bool PtxTranslator::statement(StringRef S) {
  S = S.trim();
  if (S.empty() || S.starts_with("//"))
    return true;
  if (S.starts_with(".reg") || S.starts_with(".pragma"))
    return true;
  if (S.starts_with("@"))
    return false;
  size_t Space = S.find_first_of(" \t\n");
  StringRef Mnemonic = S.take_front(Space);
  StringRef Rest = Space == StringRef::npos ? "" : S.drop_front(Space).trim();
  SmallVector<StringRef, 6> Op, Args;
  Mnemonic.split(Op, '.');
  int Depth = 0;
  size_t From = 0;
  for (size_t I = 0; I <= Rest.size(); ++I) {
    if (I == Rest.size() || (Rest[I] == ',' && !Depth)) {
      if (!Rest.slice(From, I).trim().empty())
        Args.push_back(Rest.slice(From, I).trim());
      From = I + 1;
      continue;
    }
    Depth += Rest[I] == '{' || Rest[I] == '[';
    Depth -= Rest[I] == '}' || Rest[I] == ']';
  }
  return instruction(Op, Args);
}

bool PtxTranslator::run(Value *&Result) {
  auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
  Type *T = Call.getType();
  if (auto *S = dyn_cast<StructType>(T))
    OutTypes.append(S->element_begin(), S->element_end());
  else if (!T->isVoidTy())
    OutTypes.push_back(T);
  Outs.assign(OutTypes.size(), nullptr);
  // Inputs follow; an input tied to an output ("0") has no number of its own in
  // the text, but starts the output's value.
  unsigned ArgNo = 0;
  for (const InlineAsm::ConstraintInfo &C : Asm->ParseConstraints()) {
    if (C.Type == InlineAsm::isOutput) {
      if (C.isIndirect)
        return false;
    } else if (C.Type == InlineAsm::isInput) {
      Value *V = Call.getArgOperand(ArgNo++);
      if (C.hasMatchingInput() || (!C.Codes.empty() && isDigit(C.Codes[0][0]))) {
        unsigned N;
        if (StringRef(C.Codes[0]).getAsInteger(10, N) || N >= Outs.size())
          return false;
        Outs[N] = V;
      }
      Ins.push_back(V);
    }
  }
  // Statements end with ';'; braces group registers and vanish unless they hold
  // an operand list.
  std::string Text(Asm->getAsmString());
  std::string Clean;
  for (size_t I = 0; I < Text.size(); ++I) {
    if (Text.compare(I, 2, "//") == 0)
      while (I < Text.size() && Text[I] != '\n')
        ++I;
    if (I < Text.size())
      Clean += Text[I] == '\t' || Text[I] == '\n' || Text[I] == '\r' ? ' '
                                                                     : Text[I];
  }
  // A block brace comes at the start of a statement.
  SmallVector<std::string, 8> Statements;
  std::string Now;
  auto Flush = [&] {
    if (!StringRef(Now).trim().empty())
      Statements.push_back(StringRef(Now).trim().str());
    Now.clear();
  };
  int Depth = 0;
  for (char C : Clean) {
    bool AtStart = StringRef(Now).trim().empty();
    if (C == '{' && AtStart)
      continue;
    if (C == '}' && AtStart && !Depth)
      continue;
    Depth += C == '{';
    Depth -= C == '}';
    if (C == ';')
      Flush();
    else
      Now += C;
  }
  Flush();
  for (const std::string &S : Statements)
    if (!statement(S))
      return false;
  for (Value *V : Outs)
    if (!V)
      return false;
  if (OutTypes.empty()) {
    Result = nullptr;
  } else if (T->isStructTy()) {
    Result = PoisonValue::get(T);
    for (unsigned I = 0; I < Outs.size(); ++I)
      Result = B.CreateInsertValue(Result, as(Outs[I], OutTypes[I]), I);
  } else {
    Result = as(Outs[0], T);
  }
  return true;
}

} // namespace

Value *lowerPtx(RuntimeCalls &R, IRBuilder<> &B, CallInst &Call, uint32_t Site,
                bool &Done) {
  Value *Result = nullptr;
  Done = PtxTranslator(R, B, Call, Site).run(Result);
  return Done ? Result : nullptr;
}

} // namespace rcache::check
