// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX: loads and stores, atomic operations, asynchronous copies,
// shuffles.

#include "Ptx.h"

#include <cstddef>

namespace rcache::check {

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
  if (!Pred.empty() && !write(Pred, secondResult()))
    return false;
  return write(Data, D);
}

static bool isShared(ArrayRef<StringRef> Op) {
  return any_of(Op, [](StringRef S) { return S.starts_with("shared"); });
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
    else if (S == "v8")
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
    LoadInst *V = B.CreateAlignedLoad(Whole, P, Align(Bytes * Count), Acquire);
    // An operand that instructions have at hand (Contract.cpp).
    if (is_contained(Op, "param") ||
        (is_contained(Op, "const") && isa<Constant>(P)))
      V->setMetadata(BankMark, MDNode::get(V->getContext(), {}));
    if (Acquire)
      R.call(B, "rcc_spin", B.getVoidTy(),
             {R.context(*Call.getFunction())});
    for (unsigned I = 0; I < Count; ++I) {
      Value *E = Count > 1 ? B.CreateExtractElement(V, I) : static_cast<Value *>(V);
      // A register may be wider: it then holds the sign as well.
      if (Op.back().starts_with("s") && Bytes < 8)
        E = B.CreateSExt(E, B.getInt64Ty());
      if (!write(Parts[I], E))
        return false;
    }
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

} // namespace rcache::check
