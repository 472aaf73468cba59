// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One piece of inline PTX on its way to IR. Ptx.cpp reads the text, moves data
// and knows the special registers; PtxArithmetic.cpp computes, PtxMemory.cpp
// has memory, atomics and what goes through the warp.

#ifndef RCACHE_CHECK_PTX_H
#define RCACHE_CHECK_PTX_H

#include "Lower.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Intrinsics.h"

namespace rcache::check {

using namespace llvm;

class PtxTranslator {
public:
  PtxTranslator(RuntimeCalls &R, IRBuilder<> &B, CallInst &Call, uint32_t Site)
      : R(R), B(B), Call(Call), Site(Site) {}

  bool run(Value *&Result);

private:
  bool statement(StringRef S);
  bool conditional(Value *Cond, StringRef S);
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
  bool texture(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool shuffle(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool packed(StringRef Name, unsigned Lanes, ArrayRef<StringRef> Op,
              ArrayRef<StringRef> Args);
  bool warp(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  bool bitField(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args);
  Value *secondResult();
  Value *flushed(Value *V);
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

} // namespace rcache::check

#endif
