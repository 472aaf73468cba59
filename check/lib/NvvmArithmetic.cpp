// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVVM intrinsics that compute: rounding modes, conversions, bit tricks. Names
// are taken apart (operation, rounding, type) rather than listed. Approximate
// functions are replaced by exact ones of the host: the last bits differ from
// the device, the same way in the original and in the rewritten program.

#include "Lower.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace rcache::check {

namespace {

/// Rounding mode as the runtime numbers it; -1: the name is none.
int roundingOf(StringRef S) {
  return StringSwitch<int>(S)
      .Case("rn", 0)
      .Case("rz", 1)
      .Case("rm", 2)
      .Case("rp", 3)
      .Default(-1);
}

struct Emitter {
  RuntimeCalls &R;
  IRBuilder<> &B;
  CallInst &Call;

  Value *arg(unsigned N) { return Call.getArgOperand(N); }

  Value *unary(Intrinsic::ID Id, Value *V) {
    return B.CreateUnaryIntrinsic(Id, V);
  }

  /// add.rn.f, fma.rz.d, sqrt.rp.ftz.f, ...
  Value *rounded(StringRef Op, int Mode) {
    Type *T = Call.getType();
    unsigned N = Call.arg_size();
    if (Mode == 0 && (T->isFloatTy() || T->isDoubleTy())) {
      if (Op == "add" || Op == "sub" || Op == "mul")
        return roundedOperation(R, B, Op, arg(0), arg(1));
      if (Op == "div")
        return B.CreateFDiv(arg(0), arg(1));
      if (Op == "fma")
        return B.CreateIntrinsic(Intrinsic::fma, {T}, {arg(0), arg(1), arg(2)});
      if (Op == "rcp")
        return B.CreateFDiv(ConstantFP::get(T, 1.0), arg(0));
      if (Op == "sqrt")
        return unary(Intrinsic::sqrt, arg(0));
    }
    int Code = StringSwitch<int>(Op)
                   .Case("add", 0)
                   .Case("mul", 1)
                   .Case("div", 2)
                   .Case("fma", 3)
                   .Case("rcp", 4)
                   .Case("sqrt", 5)
                   .Default(-1);
    if (Code < 0 || !(T->isFloatTy() || T->isDoubleTy()))
      return nullptr;
    Value *Zero = ConstantFP::get(T, 0.0);
    return R.call(B, T->isFloatTy() ? "rcc_round_f32" : "rcc_round_f64", T,
                  {B.getInt32(Code), B.getInt32(Mode), arg(0),
                   N > 1 ? arg(1) : Zero, N > 2 ? arg(2) : Zero});
  }

  /// f2i.rz, d2ull.rn, ui2f.rm, ll2d.rp, d2f.rn, i2d.rn ...
  Value *conversion(StringRef From, StringRef To, int Mode) {
    Type *T = Call.getType();
    Value *V = arg(0);
    bool FromFloat = V->getType()->isFloatingPointTy();
    if (FromFloat && T->isIntegerTy()) {
      if (To == "h")
        return nullptr;
      Intrinsic::ID Round[] = {Intrinsic::roundeven, Intrinsic::trunc,
                               Intrinsic::floor, Intrinsic::ceil};
      V = unary(Round[Mode], V);
      return toInteger(B, V, T, !To.starts_with("u"));
    }
    if (V->getType()->isDoubleTy() && T->isFloatTy()) {
      if (Mode == 0)
        return B.CreateFPTrunc(V, T);
      return R.call(B, "rcc_d2f", T, {B.getInt32(Mode), V});
    }
    if (V->getType()->isIntegerTy() && T->isFloatingPointTy()) {
      bool Signed = !From.starts_with("u");
      if (Mode == 0)
        return Signed ? B.CreateSIToFP(V, T) : B.CreateUIToFP(V, T);
      Value *Wide = Signed ? B.CreateSExt(V, B.getInt64Ty())
                           : B.CreateZExt(V, B.getInt64Ty());
      return R.call(B, T->isFloatTy() ? "rcc_i2f" : "rcc_i2d", T,
                    {B.getInt32(Mode), B.getInt32(Signed), Wide});
    }
    return nullptr;
  }

  Value *absDiff(bool Signed) {
    Value *Less = Signed ? B.CreateICmpSLT(arg(0), arg(1))
                         : B.CreateICmpULT(arg(0), arg(1));
    Value *D = B.CreateSelect(Less, B.CreateSub(arg(1), arg(0)),
                              B.CreateSub(arg(0), arg(1)));
    return B.CreateAdd(D, arg(2));
  }

  Value *mulHigh(bool Signed, unsigned Bits) {
    Type *Wide = B.getIntNTy(2 * Bits);
    auto Ext = [&](Value *V) {
      return Signed ? B.CreateSExt(V, Wide) : B.CreateZExt(V, Wide);
    };
    return B.CreateTrunc(
        B.CreateLShr(B.CreateMul(Ext(arg(0)), Ext(arg(1))), Bits),
        Call.getType());
  }

  /// Dot product of packed bytes; signedness of each operand is an argument.
  Value *dot4(bool SignA, bool SignB) {
    Value *Sum = arg(2);
    for (unsigned I = 0; I < 4; ++I) {
      auto Byte = [&](Value *V, bool Signed) {
        Value *T = B.CreateTrunc(B.CreateLShr(V, 8 * I), B.getInt8Ty());
        return Signed ? B.CreateSExt(T, B.getInt32Ty())
                      : B.CreateZExt(T, B.getInt32Ty());
      };
      Sum = B.CreateAdd(Sum, B.CreateMul(Byte(arg(0), SignA),
                                         Byte(arg(1), SignB)));
    }
    return Sum;
  }
};

} // namespace

Value *roundedOperation(RuntimeCalls &R, IRBuilder<> &B, StringRef Op, Value *X, Value *Y) {
  Type *T = X->getType();
  CallInst *C = R.call(B, (Twine(RoundedOperation) + Op + (T->isFloatTy() ? "f" : "d")).str(),
                       T, {X, Y});
  Function *F = C->getCalledFunction();
  F->setMemoryEffects(MemoryEffects::none());
  F->addFnAttr(Attribute::WillReturn);
  return C;
}

Value *toInteger(IRBuilder<> &B, Value *V, Type *T, bool Signed) {
  Value *I =
      B.CreateIntrinsic(Signed ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                        {T, V->getType()}, {V});
  auto *Int = dyn_cast<IntegerType>(T);
  if (Int && Int->getBitWidth() >= 32 &&
      (Int->getBitWidth() == 64 || V->getType()->isDoubleTy()))
    I = B.CreateSelect(
        B.CreateFCmpUNO(V, V),
        ConstantInt::get(T, APInt::getSignMask(Int->getBitWidth())), I);
  return I;
}

Value *lowerArithmetic(RuntimeCalls &R, IRBuilder<> &B, StringRef Name,
                       CallInst &Call) {
  Emitter E{R, B, Call};
  Type *T = Call.getType();
  SmallVector<StringRef, 6> Part;
  Name.split(Part, '.');

  // <op>.<rounding>[.ftz].<type>
  if (Part.size() >= 2)
    if (int Mode = roundingOf(Part[1]); Mode >= 0) {
      size_t Two = Part[0].find('2');
      if (Two != StringRef::npos && Two > 0)
        if (Value *V = E.conversion(Part[0].take_front(Two),
                                    Part[0].drop_front(Two + 1), Mode))
          return V;
      if (Value *V = E.rounded(Part[0], Mode))
        return V;
    }

  StringRef Op = Part[0];
  if (Op == "fabs")
    return E.unary(Intrinsic::fabs, E.arg(0));
  if (Op == "floor" || Op == "ceil" || Op == "trunc" || Op == "round")
    return E.unary(Op == "floor"   ? Intrinsic::floor
                   : Op == "ceil"  ? Intrinsic::ceil
                   : Op == "trunc" ? Intrinsic::trunc
                                   : Intrinsic::roundeven,
                   E.arg(0));
  if ((Op == "fmin" || Op == "fmax") && !Name.contains("nan") &&
      !Name.contains("xorsign"))
    return B.CreateBinaryIntrinsic(Op == "fmin" ? Intrinsic::minimumnum
                                                : Intrinsic::maximumnum,
                                   E.arg(0), E.arg(1));
  if ((Op == "fmin" || Op == "fmax") && Name.contains(".nan") &&
      !Name.contains("xorsign"))
    return B.CreateBinaryIntrinsic(
        Op == "fmin" ? Intrinsic::minimum : Intrinsic::maximum, E.arg(0),
        E.arg(1));
  if (Op == "saturate") {
    Value *Zero = ConstantFP::get(T, 0.0), *One = ConstantFP::get(T, 1.0);
    Value *V = B.CreateBinaryIntrinsic(Intrinsic::maximumnum, E.arg(0), Zero);
    return B.CreateBinaryIntrinsic(Intrinsic::minimumnum, V, One);
  }
  if (Op == "mulhi" && Part.size() > 1)
    return E.mulHigh(!Part[1].starts_with("u"), T->getIntegerBitWidth());
  if (Op == "mul24" && Part.size() > 1) {
    bool Signed = Part[1] == "i";
    auto Low = [&](Value *V) {
      V = B.CreateShl(V, 8);
      return Signed ? B.CreateAShr(V, 8) : B.CreateLShr(V, 8);
    };
    return B.CreateMul(Low(E.arg(0)), Low(E.arg(1)));
  }
  if (Op == "sad" && Part.size() > 1)
    return E.absDiff(!Part[1].starts_with("u"));
  if (Op == "idp4a" && Part.size() > 2)
    return E.dot4(Part[1] == "s", Part[2] == "s");
  if (Op == "prmt" && Part.size() == 1)
    return R.permuted(B, E.arg(0), E.arg(1), E.arg(2));
  if (Op == "fns")
    return R.call(B, "rcc_fns", T, {E.arg(0), E.arg(1), E.arg(2)});
  if (Op == "bitcast")
    return B.CreateBitCast(E.arg(0), T);
  if (Name == "d2i.lo")
    return B.CreateTrunc(B.CreateBitCast(E.arg(0), B.getInt64Ty()), T);
  if (Name == "d2i.hi")
    return B.CreateTrunc(
        B.CreateLShr(B.CreateBitCast(E.arg(0), B.getInt64Ty()), 32), T);
  if (Name == "lohi.i2d") {
    Value *Lo = B.CreateZExt(E.arg(0), B.getInt64Ty());
    Value *Hi = B.CreateShl(B.CreateZExt(E.arg(1), B.getInt64Ty()), 32);
    return B.CreateBitCast(B.CreateOr(Lo, Hi), T);
  }

  // Approximations.
  if (Part.size() >= 2 && Part[1] == "approx") {
    if (Op == "div")
      return B.CreateFDiv(E.arg(0), E.arg(1));
    if (Op == "rcp")
      return B.CreateFDiv(ConstantFP::get(T, 1.0), E.arg(0));
    if (Op == "sqrt")
      return E.unary(Intrinsic::sqrt, E.arg(0));
    StringRef Fn = StringSwitch<StringRef>(Op)
                       .Case("ex2", "rcc_ex2f")
                       .Case("lg2", "rcc_lg2f")
                       .Case("sin", "rcc_sinf")
                       .Case("cos", "rcc_cosf")
                       .Case("tanh", "rcc_tanhf")
                       .Case("rsqrt", "rcc_rsqrtf")
                       .Default("");
    if (T->isDoubleTy())
      return Op == "rsqrt" ? R.call(B, "rcc_rsqrt", T, {E.arg(0)}) : nullptr;
    if (!Fn.empty() && T->isFloatTy())
      return R.call(B, Fn, T, {E.arg(0)});
  }
  return nullptr;
}

} // namespace rcache::check
