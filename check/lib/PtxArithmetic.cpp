// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX: conversions, arithmetic, comparisons, packed operations.

#include "Ptx.h"

#include "llvm/IR/IntrinsicInst.h"

namespace rcache::check {

/// The smaller or greater of two values, of which a NaN is none. (LLVM 22's code for
/// x86 hands a NaN on where the other operand is known to be a number.)
static Value *numberOf(IRBuilder<> &B, Intrinsic::ID Which, Value *X, Value *Y) {
  Value *Both = B.CreateBinaryIntrinsic(Which, X, Y);
  Value *One = B.CreateSelect(B.CreateFCmpUNO(Y, Y), X, Both);
  Value *V = B.CreateSelect(B.CreateFCmpUNO(X, X), Y, One);
  markOneNaN(V); // none of both is a number
  return V;
}

/// \p V, rounded to the narrower type as told; null if that is unknown.
Value *PtxTranslator::narrow(Value *V, Type *To, StringRef Round) {
  Value *Near = B.CreateFPTrunc(V, To);
  if (Round == "rn") {
    if (V->getType()->isFloatTy())
      markOneNaN(Near);
    return Near;
  }
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

/// .ftz: a number too small to be normal is a zero of its sign.
Value *PtxTranslator::flushed(Value *V) {
  if (!V->getType()->isFloatTy())
    return V;
  return R.call(B, FlushedNumber.str().c_str(), B.getFloatTy(), {V});
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
  bool Sat = false, Ftz = false;
  for (StringRef S : Op.drop_front().drop_back(2)) {
    if (S == "relu")
      return false;
    if (S == "sat")
      Sat = true;
    else if (S == "ftz")
      Ftz = true;
    else
      Round = S;
  }
  if (((Sat || Ftz) && To->isVectorTy()) || (Ftz && !From->isFloatTy() && !To->isFloatTy()) ||
      (Sat && !From->isFloatTy() && !From->isDoubleTy()))
    return false;
  if (To->isVectorTy()) { // cvt.rn.f16x2.f32 d, high, low
    if (Args.size() != 3 || Round != "rn")
      return false;
    Type *E = cast<VectorType>(To)->getElementType();
    Value *Hi = read(Args[1], From), *Lo = read(Args[2], From);
    if (!Hi || !Lo)
      return false;
    Value *V = PoisonValue::get(To);
    V = B.CreateInsertElement(V, narrow(Lo, E, Round), uint64_t(0));
    V = B.CreateInsertElement(V, narrow(Hi, E, Round), uint64_t(1));
    return write(Args[0], V);
  }
  Value *V = read(Args[1], From);
  if (!V)
    return false;
  bool FromFloat = From->isFloatingPointTy(), ToFloat = To->isFloatingPointTy();
  if (Ftz)
    V = flushed(V);
  if (Sat && To != From)
    return false; // integers saturate anyhow, others are not met
  if (Sat && Round.empty())
    return write(Args[0],
                 B.CreateBinaryIntrinsic(
                     Intrinsic::minimumnum,
                     B.CreateBinaryIntrinsic(Intrinsic::maximumnum, V,
                                             ConstantFP::get(To, 0.0)),
                     ConstantFP::get(To, 1.0)));
  if (Sat)
    return false;
  bool FromSigned = FromName.starts_with("s");
  if (FromFloat && ToFloat) {
    unsigned FromBits = From->getPrimitiveSizeInBits();
    unsigned ToBits = To->getPrimitiveSizeInBits();
    if (ToBits > FromBits)
      return write(Args[0], B.CreateFPExt(V, To));
    if (ToBits < FromBits) {
      V = narrow(V, To, Round);
      return write(Args[0], Ftz && To->isFloatTy() ? flushed(V) : V);
    }
    Intrinsic::ID Id = StringSwitch<Intrinsic::ID>(Round)
                           .Case("rni", Intrinsic::roundeven)
                           .Case("rzi", Intrinsic::trunc)
                           .Case("rmi", Intrinsic::floor)
                           .Case("rpi", Intrinsic::ceil)
                           .Default(Intrinsic::not_intrinsic);
    if (From != To || (Id == Intrinsic::not_intrinsic && !Round.empty()))
      return false;
    return write(Args[0],
                 Round.empty() ? V : B.CreateUnaryIntrinsic(Id, V));
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
  V = FromSigned ? B.CreateSExtOrTrunc(V, To) : B.CreateZExtOrTrunc(V, To);
  // A register may be wider than the type: it then holds the sign as well.
  if (ToName.starts_with("s") && To->getIntegerBitWidth() < 32)
    V = B.CreateSExt(V, B.getInt32Ty());
  return write(Args[0], V);
}

bool PtxTranslator::arithmetic(ArrayRef<StringRef> Op,
                               ArrayRef<StringRef> Args) {
  StringRef TypeName = Op.back();
  Type *T = typeOf(TypeName);
  if (!T || Args.size() < 2)
    return false;
  bool Sat = false, Relu = false, Nan = false, Approx = false;
  bool Ftz = false, Settled = false; // is the rounding said?
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
    else if (S == "ftz")
      Ftz = true;
    else if (S == "rn")
      Settled = true;
    else if (S != "wrap" && S != "clamp" && S != "l" &&
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
    if (Ftz)
      A.back() = flushed(A.back());
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
    // mul.f32 may be fused with the add.f32 that takes it, mul.rn.f32 may not.
    FastMathFlags Flags;
    Flags.setAllowContract(!Settled && !Sat);
    IRBuilder<>::FastMathFlagGuard Guard(B);
    B.setFastMathFlags(Flags);
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
      V = Nan ? B.CreateBinaryIntrinsic(Name == "min" ? Intrinsic::minimum
                                                      : Intrinsic::maximum,
                                        A[0], A[1])
              : numberOf(B, Name == "min" ? Intrinsic::minimumnum
                                          : Intrinsic::maximumnum,
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
    else if (Name == "copysign" && A.size() == 2) // sign of the first
      V = B.CreateBinaryIntrinsic(Intrinsic::copysign, A[1], A[0]);
    // What of a product or quotient is exact ptxas leaves out, unless told how to round.
    if (Settled || Ftz || Name == "add" || Name == "sub" || !T->isFloatTy())
      if (isa_and_nonnull<BinaryOperator, IntrinsicInst>(V) && Name != "min" &&
          Name != "max")
        markOneNaN(V);
    if (auto *I = dyn_cast_or_null<BinaryOperator>(V); I && Ftz)
      I->setMetadata(FlushMark, MDNode::get(I->getContext(), {}));
    if (V && Sat) {
      V = B.CreateBinaryIntrinsic(Intrinsic::maximumnum, V,
                                  ConstantFP::get(T, 0.0));
      V = B.CreateBinaryIntrinsic(Intrinsic::minimumnum, V,
                                  ConstantFP::get(T, 1.0));
    }
    if (V && Ftz)
      V = flushed(V);
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
  else if ((Name == "div" || Name == "rem") && A.size() == 2) {
    // By zero: a value, on the device; the least number by -1 wraps.
    Value *Zero = B.CreateICmpEQ(A[1], ConstantInt::get(T, 0));
    Value *Odd = Zero;
    if (Signed)
      Odd = B.CreateOr(Odd, B.CreateICmpEQ(A[1], Constant::getAllOnesValue(T)));
    Value *By = B.CreateSelect(Odd, ConstantInt::get(T, 1), A[1]);
    if (Name == "div")
      V = Signed ? B.CreateSDiv(A[0], By) : B.CreateUDiv(A[0], By);
    else
      V = Signed ? B.CreateSRem(A[0], By) : B.CreateURem(A[0], By);
    if (Signed && Name == "div")
      V = B.CreateSelect(Odd, B.CreateNeg(A[0]), V);
    V = B.CreateSelect(Zero,
                       Name == "div" ? Constant::getAllOnesValue(T) : A[0], V);
  } else if (Name == "abs")
    V = B.CreateBinaryIntrinsic(Intrinsic::abs, A[0], B.getFalse());
  else if (Name == "sad" && A.size() == 3)
    V = B.CreateAdd(
        A[2], B.CreateSub(
                  B.CreateBinaryIntrinsic(
                      Signed ? Intrinsic::smax : Intrinsic::umax, A[0], A[1]),
                  B.CreateBinaryIntrinsic(
                      Signed ? Intrinsic::smin : Intrinsic::umin, A[0], A[1])));
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
  // A predicate may be added: setp.<cmp>.<and|or|xor>.<type> p[|q], a, b, [!]c
  StringRef Combine;
  bool Ftz = false;
  for (StringRef S : Op.drop_front(1)) {
    if (S == "and" || S == "or" || S == "xor")
      Combine = S;
    Ftz |= S == "ftz";
  }
  if (Op.size() < 3 || Args.size() != (Combine.empty() ? 3u : 4u))
    return false;
  Type *T = typeOf(Op.back());
  if (!T)
    return false;
  Value *X = read(Args[1], T), *Y = read(Args[2], T);
  if (!X || !Y)
    return false;
  if (Ftz) {
    X = flushed(X);
    Y = flushed(Y);
  }
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
                 .Case("lo", CmpInst::ICMP_ULT)
                 .Case("ls", CmpInst::ICMP_ULE)
                 .Case("hi", CmpInst::ICMP_UGT)
                 .Case("hs", CmpInst::ICMP_UGE)
                 .Default(CmpInst::BAD_ICMP_PREDICATE);
    if (P == CmpInst::BAD_ICMP_PREDICATE)
      return false;
    C = B.CreateICmp(P, X, Y);
  }
  Value *Not = B.CreateNot(C);
  if (!Combine.empty()) {
    StringRef Name = Args[3];
    const bool Negated = Name.consume_front("!");
    Value *P = read(Name, B.getInt1Ty());
    if (!P)
      return false;
    if (Negated)
      P = B.CreateNot(P);
    auto With = [&](Value *V) {
      return Combine == "and"  ? B.CreateAnd(V, P)
             : Combine == "or" ? B.CreateOr(V, P)
                               : B.CreateXor(V, P);
    };
    C = With(C);
    Not = With(Not);
  }
  if (Op[0] == "setp") {
    auto [Yes, No] = Args[0].split('|');
    return write(Yes, C) && (No.empty() || write(No, Not));
  }
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

} // namespace rcache::check
