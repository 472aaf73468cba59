// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX -> IR, for the instructions that the toolkit's and clang's headers
// use: half and bfloat16 arithmetic, moves and packing, special registers,
// cached loads and stores. Anything else is reported as unsupported.

#include "Ptx.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cstddef>

namespace rcache::check {

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

bool PtxTranslator::instruction(ArrayRef<StringRef> Op,
                                ArrayRef<StringRef> Args) {
  StringRef Name = Op[0];
  if (Name == "mov")
    return move(Op, Args);
  if (Name == "cvt")
    return convert(Op, Args);
  if (Name == "cvta" && Args.size() == 2) { // one address space here
    // ... but a shared address may have come out of 32 bits.
    if (Op[1] == "shared" || Op[1] == "shared::cta") {
      Value *P = address(Args[1], true);
      return P && write(Args[0], P);
    }
    return write(Args[0], read(Args[1], B.getInt64Ty()));
  }
  if (Name == "ld" || Name == "st" || Name == "ldu")
    return memory(Op, Args);
  if (Name == "atom" || Name == "red")
    return atomic(Op, Args);
  if (Name == "cp")
    return copyAsync(Op, Args);
  if (Name == "tex")
    return texture(Op, Args);
  if (Name == "shfl")
    return shuffle(Op, Args);
  if (Name.starts_with("v") && (Name.ends_with("2") || Name.ends_with("4")))
    return packed(Name.drop_back(), Name.back() - '0', Op, Args);
  if (Name == "setp" || Name == "set" || Name == "selp")
    return compare(Op, Args);
  if (Name == "vote" || Name == "match" || Name == "redux" ||
      Name == "activemask" ||
      (Name == "bar" && Op.size() > 1 && Op[1] == "warp"))
    return warp(Op, Args);
  if (Name == "isspacep" && Op.size() == 2 && Args.size() == 2) {
    Value *P = read(Args[1], B.getInt64Ty());
    if (!P)
      return false;
    Value *Base = B.CreatePtrToInt(
        R.threadField(B, B.getPtrTy(), offsetof(ThreadCtx, Shared)),
        B.getInt64Ty());
    Value *IsShared = B.CreateICmpULT(
        B.CreateSub(P, Base),
        B.CreateZExt(R.blockField(B, offsetof(BlockCtx, TotalShared)),
                     B.getInt64Ty()));
    return write(Args[0], Op[1].starts_with("shared") ? IsShared
                          : Op[1] == "global"         ? B.CreateNot(IsShared)
                                                      : B.getFalse());
  }
  if ((Name == "bar" || Name == "barrier") && is_contained(Op, "red")) {
    // bar.red.op.type d, a[, count], [!]p
    BarRed Kind = is_contained(Op, "popc")  ? BarRed::Popc
                  : is_contained(Op, "and") ? BarRed::And
                                            : BarRed::Or;
    if (Args.size() < 3 || Args.back().starts_with("!"))
      return false;
    Value *Id = read(Args[1], B.getInt32Ty());
    Value *N = Args.size() > 3 ? read(Args[2], B.getInt32Ty()) : B.getInt32(0);
    Value *P = read(Args.back(), B.getInt1Ty());
    if (!Id || !N || !P)
      return false;
    Value *V = R.call(B, "rcc_barrier_red", B.getInt32Ty(),
                      {R.context(*Call.getFunction()), B.getInt32(Site), Id, N,
                       B.getInt32(uint32_t(Kind)),
                       B.CreateZExt(P, B.getInt32Ty())});
    return write(Args[0], Kind == BarRed::Popc
                              ? V
                              : B.CreateICmpNE(V, B.getInt32(0)));
  }
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
  if (Name == "lop3" && Args.size() == 5 && Op.size() == 2) {
    // Any function of three bits: the sum of its products.
    Type *I32 = B.getInt32Ty();
    Value *V[3] = {read(Args[1], I32), read(Args[2], I32), read(Args[3], I32)};
    unsigned Table;
    if (!V[0] || !V[1] || !V[2] || Args[4].getAsInteger(0, Table))
      return false;
    Value *Sum = B.getInt32(0);
    for (unsigned Row = 0; Row < 8; ++Row) {
      if (!(Table >> Row & 1))
        continue;
      Value *Product = B.getInt32(~0u);
      for (unsigned I = 0; I < 3; ++I)
        Product = B.CreateAnd(Product,
                              Row >> (2 - I) & 1 ? V[I] : B.CreateNot(V[I]));
      Sum = B.CreateOr(Sum, Product);
    }
    return write(Args[0], Sum);
  }
  if (Name == "bmsk" && Args.size() == 3 && Op.size() == 3) {
    // Ones from a bit on; clamp: numbers of 32 and more, wrap: modulo 32.
    Type *I64 = B.getInt64Ty();
    Value *At = read(Args[1], B.getInt32Ty()), *N = read(Args[2], B.getInt32Ty());
    if (!At || !N || (Op[1] != "clamp" && Op[1] != "wrap"))
      return false;
    auto Limited = [&](Value *V) {
      return B.CreateZExt(
          Op[1] == "wrap" ? B.CreateAnd(V, 31)
                          : B.CreateBinaryIntrinsic(Intrinsic::umin, V,
                                                    B.getInt32(32)),
          I64);
    };
    Value *One = ConstantInt::get(I64, 1);
    Value *Ones = B.CreateSub(B.CreateShl(One, Limited(N)), One);
    return write(Args[0], B.CreateTrunc(B.CreateShl(Ones, Limited(At)),
                                        B.getInt32Ty()));
  }
  if ((Name == "bfe" && Args.size() == 4) || (Name == "bfi" && Args.size() == 5))
    return bitField(Op, Args);
  if (Name == "prmt" && Args.size() == 4 && Op.size() == 2) {
    Value *X = read(Args[1], B.getInt32Ty()), *Y = read(Args[2], B.getInt32Ty());
    Value *S = read(Args[3], B.getInt32Ty());
    return X && Y && S &&
           write(Args[0], R.permuted(B, X, Y, S));
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

/// bfe.type d, a, position, length;  bfi.type d, field, a, position, length
bool PtxTranslator::bitField(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  Type *T = typeOf(Op.back());
  if (!T || !T->isIntegerTy())
    return false;
  const bool Insert = Op[0] == "bfi", Signed = Op.back().starts_with("s");
  const unsigned Bits = T->getIntegerBitWidth();
  // In twice the width no shift is too far: both numbers are at most 255.
  Type *W = B.getIntNTy(512);
  auto Number = [&](StringRef S) -> Value * {
    Value *V = read(S, B.getInt32Ty());
    return V ? B.CreateZExt(B.CreateAnd(V, 255), W) : nullptr;
  };
  Value *A = read(Args[Insert ? 2 : 1], T);
  Value *At = Number(Args[Insert ? 3 : 2]), *N = Number(Args[Insert ? 4 : 3]);
  Value *Field = Insert ? read(Args[1], T) : nullptr;
  if (!A || !At || !N || (Insert && !Field))
    return false;
  Value *One = ConstantInt::get(W, 1);
  Value *Mask = B.CreateSub(B.CreateShl(One, N), One);
  if (Insert) {
    Mask = B.CreateShl(Mask, At);
    Value *V = B.CreateOr(
        B.CreateAnd(B.CreateZExt(A, W), B.CreateNot(Mask)),
        B.CreateAnd(B.CreateShl(B.CreateZExt(Field, W), At), Mask));
    return write(Args[0], B.CreateTrunc(V, T));
  }
  // Beyond the value stands its sign; so does beyond the field.
  Value *Wide = Signed ? B.CreateSExt(A, W) : B.CreateZExt(A, W);
  Value *V = B.CreateAnd(B.CreateLShr(Wide, At), Mask);
  if (Signed) {
    Value *Last = B.CreateBinaryIntrinsic(
        Intrinsic::umin, B.CreateSub(B.CreateAdd(At, N), One),
        ConstantInt::get(W, Bits - 1));
    Value *Sign = B.CreateTrunc(
        B.CreateLShr(B.CreateZExt(A, W), Last), B.getInt1Ty());
    Sign = B.CreateAnd(Sign, B.CreateICmpNE(N, ConstantInt::get(W, 0)));
    V = B.CreateOr(V, B.CreateAnd(B.CreateSExt(Sign, W), B.CreateNot(Mask)));
  }
  return write(Args[0], B.CreateTrunc(V, T));
}

/// vote.sync.mode.type d, [!]p, mask;  match.any.sync.type d, a, mask;
/// redux.sync.op.type d, a, mask;  activemask.b32 d;  bar.warp.sync mask
bool PtxTranslator::warp(ArrayRef<StringRef> Op, ArrayRef<StringRef> Args) {
  Type *I32 = B.getInt32Ty();
  Value *Ctx = R.context(*Call.getFunction());
  Value *S = B.getInt32(Site);
  if (Op[0] == "activemask")
    return Args.size() == 1 &&
           write(Args[0], R.call(B, "rcc_activemask", I32, {Ctx, S}));
  if (Op[0] == "bar") {
    Value *Mask = Args.size() == 1 ? read(Args[0], I32) : nullptr;
    if (Mask)
      R.call(B, "rcc_syncwarp", B.getVoidTy(), {Ctx, S, Mask});
    return Mask;
  }
  if (Args.size() != 3 || !is_contained(Op, "sync"))
    return false;
  Value *Mask = read(Args[2], I32);
  if (!Mask)
    return false;
  if (Op[0] == "vote") {
    StringRef P = Args[1];
    const bool Not = P.consume_front("!");
    Value *C = read(P, B.getInt1Ty());
    int Kind = -1;
    for (StringRef W : Op) // "vote.ballot.sync" is taken too
      Kind = StringSwitch<int>(W)
                 .Case("all", int(VoteKind::All))
                 .Case("any", int(VoteKind::Any))
                 .Case("uni", int(VoteKind::Uni))
                 .Case("ballot", int(VoteKind::Ballot))
                 .Default(Kind);
    if (!C || Kind < 0)
      return false;
    if (Not)
      C = B.CreateNot(C);
    Value *V = R.call(B, "rcc_vote", I32,
                      {Ctx, S, B.getInt32(Kind), Mask, B.CreateZExt(C, I32)});
    return write(Args[0], Kind == int(VoteKind::Ballot)
                              ? V
                              : B.CreateICmpNE(V, B.getInt32(0)));
  }
  if (Op[0] == "match") {
    Type *T = typeOf(Op.back());
    Value *V = T ? read(Args[1], T) : nullptr;
    if (!V || (Op[1] != "any" && Op[1] != "all"))
      return false;
    Value *D = R.call(B, "rcc_match", I32,
                      {Ctx, S, B.getInt32(Op[1] == "all"), Mask,
                       B.CreateZExt(V, B.getInt64Ty())});
    auto [Data, Pred] = Args[0].split('|');
    if (!Pred.empty() && !write(Pred, secondResult()))
      return false;
    return write(Data, D);
  }
  const bool Unsigned = Op.back().starts_with("u");
  int Kind = StringSwitch<int>(Op.size() == 4 ? Op[2] : "")
                 .Case("add", int(ReduxKind::Add))
                 .Case("and", int(ReduxKind::And))
                 .Case("or", int(ReduxKind::Or))
                 .Case("xor", int(ReduxKind::Xor))
                 .Case("min", int(Unsigned ? ReduxKind::UMin : ReduxKind::Min))
                 .Case("max", int(Unsigned ? ReduxKind::UMax : ReduxKind::Max))
                 .Default(-1);
  Value *V = read(Args[1], I32);
  return V && Kind >= 0 &&
         write(Args[0], R.call(B, "rcc_redux", I32,
                               {Ctx, S, B.getInt32(Kind), Mask, V}));
}

/// The predicate that a shuffle or match leaves beside its result.
Value *PtxTranslator::secondResult() {
  auto *Load = B.CreateLoad(
      B.getInt32Ty(),
      B.CreateConstInBoundsGEP1_32(B.getInt8Ty(),
                                   R.context(*Call.getFunction()),
                                   offsetof(ThreadCtx, RetPred)));
  Load->setMetadata("rcc.pred", MDNode::get(B.getContext(), {}));
  return B.CreateTrunc(Load, B.getInt1Ty());
}

/// `@p instruction`: what it writes keeps its old value where p does not hold.
bool PtxTranslator::conditional(Value *Cond, StringRef S) {
  const SmallVector<Value *, 4> OutsBefore = Outs;
  const StringMap<Value *> Before = Registers;
  Instruction *Then =
      SplitBlockAndInsertIfThen(Cond, Call.getIterator(), /*Unreachable=*/false);
  BasicBlock *Head = Then->getParent()->getSinglePredecessor();
  B.SetInsertPoint(Then);
  const bool Ok = statement(S);
  BasicBlock *End = B.GetInsertBlock();
  auto Merge = [&](Value *Old, Value *New) -> Value * {
    if (!New || New == Old)
      return New;
    B.SetInsertPoint(Head->getTerminator());
    Old = Old ? as(Old, New->getType()) : R.uninitialised(B, New->getType());
    B.SetInsertPoint(Call.getParent(), Call.getParent()->begin());
    PHINode *P = B.CreatePHI(New->getType(), 2);
    P->addIncoming(Old, Head);
    P->addIncoming(New, End);
    return P;
  };
  for (auto [Old, New] : zip(OutsBefore, Outs))
    New = Merge(Old, New);
  for (auto &Entry : Registers)
    Entry.second = Merge(Before.lookup(Entry.first()), Entry.second);
  B.SetInsertPoint(&Call);
  return Ok;
}

bool PtxTranslator::statement(StringRef S) {
  S = S.trim();
  if (S.empty() || S.starts_with("//"))
    return true;
  if (S.starts_with(".reg") || S.starts_with(".pragma"))
    return true;
  if (S.consume_front("@")) {
    const bool Not = S.consume_front("!");
    auto [Name, Rest] = S.split(' ');
    Value *Cond = read(Name, B.getInt1Ty());
    return Cond && conditional(Not ? B.CreateNot(Cond) : Cond, Rest);
  }
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

Value *lowerPtx(RuntimeCalls &R, IRBuilder<> &B, CallInst &Call, uint32_t Site,
                bool &Done) {
  Value *Result = nullptr;
  // What the assembler is told changes nothing that is computed.
  const StringRef Text =
      cast<InlineAsm>(Call.getCalledOperand())->getAsmString();
  if (Text.trim() == ".pragma \"enable_smem_spilling\";") {
    Done = true;
    return nullptr;
  }
  Done = PtxTranslator(R, B, Call, Site).run(Result);
  return Done ? Result : nullptr;
}

} // namespace rcache::check
