// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Analyses.h"
#include "Lower.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Operator.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

#include <cstddef>
#include <cstring>
#include <set>

using namespace llvm;

namespace rcache::check {

//===----------------------------------------------------------------------===//
// Small tools
//===----------------------------------------------------------------------===//

std::string placeOf(const DILocation &L) {
  // As the user wrote it where that can be opened from here.
  SmallString<256> File = L.getFilename();
  if (!sys::path::is_absolute(File) && !sys::fs::exists(File)) {
    SmallString<256> Full = L.getDirectory();
    sys::path::append(Full, File);
    if (sys::fs::exists(Full))
      File = Full;
  }
  return File.str().str() + ":" + std::to_string(L.getLine()) + ":" +
         std::to_string(L.getColumn());
}

uint32_t SiteTable::of(const Instruction &I) {
  const DILocation *Loc = I.getDebugLoc().get();
  if (!Loc)
    return 0;
  const DILocation *Best = Loc;
  for (const DILocation *L = Loc; L; L = L->getInlinedAt()) {
    StringRef File = L->getFilename();
    std::string Full = File.starts_with("/")
                           ? File.str()
                           : (L->getDirectory() + "/" + File).str();
    bool Toolkit = StringRef(Full).contains("/include/cooperative_groups") ||
                   StringRef(Full).contains("__clang_cuda") ||
                   StringRef(Full).contains("/include/cccl/") ||
                   StringRef(Full).contains("/include/crt/") ||
                   StringRef(Full).contains("/include/cuda_") ||
                   StringRef(Full).contains("/include/sm_") ||
                   StringRef(Full).contains("/include/device_") ||
                   StringRef(Full).contains("/include/texture_") ||
                   StringRef(Full).contains("/include/surface_") ||
                   StringRef(Full).contains("/lib/clang/");
    Best = L;
    if (!Toolkit && L->getLine())
      break;
  }
  if (!Best->getLine())
    return 0;
  std::string Text = placeOf(*Best);
  // Who called the function that this was inlined from.
  for (const DILocation *L = Best->getInlinedAt(); L; L = L->getInlinedAt())
    if (L->getLine())
      Text += "\n" + placeOf(*L);
  auto [It, New] = Known.try_emplace(Text, L.FirstSite + L.Sites.size());
  if (New)
    L.Sites.push_back(Text);
  return It->second;
}

CallInst *RuntimeCalls::call(IRBuilder<> &B, StringRef Name, Type *Result,
                             ArrayRef<Value *> Args) {
  SmallVector<Type *, 8> Types;
  for (Value *A : Args)
    Types.push_back(A->getType());
  FunctionCallee F =
      M.getOrInsertFunction(Name, FunctionType::get(Result, Types, false));
  if (auto *Fn = dyn_cast<Function>(F.getCallee()))
    Fn->addFnAttr(Attribute::NoUnwind);
  return B.CreateCall(F, Args);
}

Value *RuntimeCalls::context(Function &F) {
  Value *&V = Contexts[&F];
  if (!V) {
    IRBuilder<> B(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    CallInst *C = call(B, "rcc_ctx", B.getPtrTy(), {});
    // A thread stays what it is: calls of one function may be merged.
    C->getCalledFunction()->setMemoryEffects(MemoryEffects::none());
    C->getCalledFunction()->addFnAttr(Attribute::WillReturn);
    V = C;
  }
  return V;
}

Value *RuntimeCalls::uninitialised(IRBuilder<> &B, Type *T) {
  std::string Name = UninitName;
  raw_string_ostream(Name) << "." << *T;
  CallInst *U = call(B, Name, T, {});
  // Reads something that nobody writes: removable, but not mergeable with the
  // call of another variable.
  U->getCalledFunction()->setMemoryEffects(MemoryEffects::inaccessibleMemOnly());
  U->getCalledFunction()->addFnAttr(Attribute::WillReturn);
  return U;
}

/// A field of the state at \p Base: a function without effects until
/// expandStateFields. Were it a load, the optimiser would merge it with one of
/// the program's (`p ? *p : threadIdx.x`), and nobody could tell them apart.
Value *RuntimeCalls::field(IRBuilder<> &B, Type *Ty, Value *Base,
                           unsigned Offset) {
  std::string Name = StateField.str();
  raw_string_ostream(Name) << *Ty;
  CallInst *C = call(B, Name, Ty, {Base, B.getInt32(Offset)});
  Function *F = C->getCalledFunction();
  F->setMemoryEffects(MemoryEffects::none());
  F->addFnAttr(Attribute::WillReturn);
  F->addFnAttr(Attribute::Speculatable);
  return C;
}

Value *RuntimeCalls::threadField(IRBuilder<> &B, Type *Ty, unsigned Offset) {
  return field(B, Ty, context(*B.GetInsertBlock()->getParent()), Offset);
}

Value *RuntimeCalls::blockField(IRBuilder<> &B, unsigned Offset) {
  Value *Blk = threadField(B, B.getPtrTy(), offsetof(ThreadCtx, Block));
  return field(B, B.getInt32Ty(), Blk, Offset);
}

Value *RuntimeCalls::permuted(IRBuilder<> &B, Value *X, Value *Y,
                              Value *Selector) {
  auto *K = dyn_cast<ConstantInt>(Selector);
  if (!K)
    return call(B, "rcc_prmt", B.getInt32Ty(), {X, Y, Selector});
  auto Digit = [&](unsigned I) { return K->getZExtValue() >> (4 * I) & 15; };
  auto Byte = [&](unsigned D) {
    return B.CreateTrunc(B.CreateLShr(D & 4 ? Y : X, 8 * (D & 3)),
                         B.getInt8Ty());
  };
  // The lower bytes as they are, then the sign of the last of them: PTX for the
  // extension of a narrow integer.
  unsigned Plain = 0;
  while (Plain < 4 && Digit(Plain) < 8)
    ++Plain;
  bool Extends = Plain == 1 || Plain == 2;
  for (unsigned I = Plain; I < 4; ++I)
    Extends &= Plain && Digit(I) == (Digit(Plain - 1) | 8);
  Value *Out = B.getInt32(0);
  for (unsigned I = 0; I < (Extends ? Plain : 4); ++I) {
    Value *V = Byte(Digit(I) & 7);
    if (Digit(I) >= 8)
      V = B.CreateAShr(V, 7);
    Out = B.CreateOr(Out, B.CreateShl(B.CreateZExt(V, B.getInt32Ty()), 8 * I));
  }
  return Extends ? B.CreateSExt(B.CreateTrunc(Out, B.getIntNTy(8 * Plain)),
                                B.getInt32Ty())
                 : Out;
}

void expandStateFields(Module &M) {
  SmallVector<Function *, 4> Fields;
  for (Function &F : M)
    if (F.getName().starts_with(StateField))
      Fields.push_back(&F);
  for (Function *F : Fields) {
    for (User *U : make_early_inc_range(F->users())) {
      auto *C = cast<CallInst>(U);
      IRBuilder<> B(C);
      LoadInst *L = B.CreateLoad(
          C->getType(), B.CreateInBoundsGEP(B.getInt8Ty(), C->getArgOperand(0),
                                            C->getArgOperand(1)));
      L->setMetadata(LLVMContext::MD_invariant_load,
                     MDNode::get(M.getContext(), {}));
      L->takeName(C);
      C->replaceAllUsesWith(L);
      C->eraseFromParent();
    }
    F->eraseFromParent();
  }
}

std::string functionName(std::string Demangled) {
  // Outside template arguments, the result of a template ends at a space
  // (`std::enable_if<(1 > 0), void>::type k<float>(int)`), and the parameter list begins
  // at a parenthesis.
  int Angles = 0, Round = 0;
  size_t From = 0;
  for (size_t I = 0; I < Demangled.size(); ++I) {
    const char C = Demangled[I];
    if (C == '(' && !Angles && !Round && Demangled.compare(I, 11, "(anonymous ") != 0)
      return Demangled.substr(From, I - From);
    Round += C == '(' ? 1 : C == ')' ? -1 : 0;
    if (!Round)
      Angles += C == '<' ? 1 : C == '>' ? -1 : 0;
    if (C == ' ' && !Angles && !Round)
      From = I + 1;
  }
  return Demangled.substr(From);
}

namespace {

std::string demangled(StringRef Name) {
  return llvm::demangle(Name.str());
}

/// \p V as something that the optimiser does not look into: what an empty asm
/// makes of it. Equal operands give equal results.
Value *hidden(IRBuilder<> &B, Value *V, CallInst &Asm) {
  Module &M = *Asm.getModule();
  Type *T = V->getType();
  FunctionCallee F = M.getOrInsertFunction(
      T->isDoubleTy() ? "rcc_hidden_d" : T->isFloatTy() ? "rcc_hidden_f"
                                                        : "rcc_hidden_h",
      FunctionType::get(T, {T, B.getInt32Ty()}, false));
  auto *Fn = cast<Function>(F.getCallee());
  Fn->setDoesNotAccessMemory();
  Fn->setDoesNotThrow();
  Fn->setWillReturn();
  if (Fn->getReturnType() != T)
    return V;
  Value *Other = B.getInt32(0);
  for (const Use &U : Asm.args())
    if (U.get() != V && U->getType()->isIntegerTy(32))
      Other = U.get();
  return B.CreateCall(F, {V, Other});
}

class Lowering {
public:
  Lowering(Module &M, Program &P, Lowered &Out, bool Contract)
      : M(M), P(P), Out(Out), Contract(Contract), DL(M.getDataLayout()), Runtime(M), Sites(Out) {}
  bool run(std::string &Error);

private:
  void prepare();
  void inlineAll();
  void unshareConstants();
  bool placeVariables(std::string &Error);
  bool writeInitialiser(char *At, const Constant *C);
  void flattenAddressSpaces();
  void startLocals();
  void startScalars(IRBuilder<> &B, Value *P, Type *T, uint64_t Offset);
  void lowerInstructions(Function &F);
  Value *lowerIntrinsic(CallInst &Call, bool &Handled);
  Value *lowerSreg(IRBuilder<> &B, StringRef Name, CallInst &Call);
  Value *lowerSync(IRBuilder<> &B, StringRef Name, CallInst &Call,
                   bool &Handled);
  Value *lowerLibraryCall(CallInst &Call, bool &Handled);
  Value *lowerScopedAtomic(IRBuilder<> &B, StringRef Name, CallInst &Call);
  void makeEntries();
  void replace(CallInst &Call, Value *V);
  Value *site(const Instruction &I) {
    return ConstantInt::get(Type::getInt32Ty(M.getContext()), Sites.of(I));
  }
  Value *ctx(IRBuilder<> &B) {
    return Runtime.context(*B.GetInsertBlock()->getParent());
  }

  Module &M;
  Program &P;
  Lowered &Out;
  bool Contract;
  const DataLayout &DL;
  RuntimeCalls Runtime;
  SiteTable Sites;
  std::vector<Function *> Kernels;
};

//===----------------------------------------------------------------------===//
// Prepare
//===----------------------------------------------------------------------===//

void Lowering::prepare() {
  M.setTargetTriple(Triple(sys::getProcessTriple()));
  for (const char *Name : {"llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *G = M.getNamedGlobal(Name))
      G->eraseFromParent();
  for (Function &F : M) {
    F.setComdat(nullptr);
    if (F.getCallingConv() == CallingConv::PTX_Kernel) {
      Kernels.push_back(&F);
      // __launch_bounds__: "128" or "16,8".
      SmallVector<StringRef, 3> Bounds;
      F.getFnAttribute("nvvm.maxntid").getValueAsString().split(Bounds, ',', -1, false);
      unsigned Threads = Bounds.empty() ? 1024 : 1, N;
      for (StringRef S : Bounds)
        Threads *= S.trim().getAsInteger(10, N) ? 1 : N;
      P.Kernels[F.getName().str()].MaxThreads = Threads;
    }
    F.setCallingConv(CallingConv::C);
    if (F.isDeclaration())
      continue;
    for (const char *A : {"target-cpu", "target-features", "nvvm.maxntid",
                          "uniform-work-group-size", "frame-pointer"})
      F.removeFnAttr(A);
    F.removeFnAttr(Attribute::NoInline);
    F.removeFnAttr(Attribute::OptimizeNone);
    bool IsKernel = !Kernels.empty() && Kernels.back() == &F;
    F.setLinkage(IsKernel ? GlobalValue::ExternalLinkage
                          : GlobalValue::InternalLinkage);
    if (!IsKernel)
      F.addFnAttr(Attribute::AlwaysInline);
    for (Instruction &I : instructions(F)) {
      if (auto *C = dyn_cast<CallBase>(&I))
        C->setCallingConv(CallingConv::C);
      if (isa<FPMathOperator>(I)) {
        // The device library (no debug information) was compiled without marks;
        // on a device its products are fused like all others.
        bool Fuse = Contract && (I.hasAllowContract() || !F.getSubprogram());
        I.copyFastMathFlags(FastMathFlags());
        I.setHasAllowContract(Fuse);
      }
    }
  }
}

void Lowering::inlineAll() {
  PassBuilder PB;
  Analyses With(PB);
  ModulePassManager MPM;
  MPM.addPass(AlwaysInlinerPass(/*InsertLifetime=*/true));
  MPM.addPass(GlobalDCEPass());
  MPM.run(M, With.OfModules);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

bool Lowering::writeInitialiser(char *At, const Constant *C) {
  Type *T = C->getType();
  uint64_t Size = DL.getTypeStoreSize(T);
  if (isa<ConstantAggregateZero>(C) || isa<UndefValue>(C) ||
      isa<ConstantPointerNull>(C))
    return true; // the arena starts as zero
  if (auto *I = dyn_cast<ConstantInt>(C)) {
    memcpy(At, I->getValue().getRawData(), Size);
    return true;
  }
  if (auto *F = dyn_cast<ConstantFP>(C)) {
    APInt Bits = F->getValueAPF().bitcastToAPInt();
    memcpy(At, Bits.getRawData(), Size);
    return true;
  }
  if (auto *D = dyn_cast<ConstantDataSequential>(C)) {
    StringRef Raw = D->getRawDataValues();
    memcpy(At, Raw.data(), Raw.size());
    return true;
  }
  if (auto *S = dyn_cast<ConstantStruct>(C)) {
    const StructLayout *L = DL.getStructLayout(S->getType());
    for (unsigned I = 0; I < S->getNumOperands(); ++I)
      if (!writeInitialiser(At + L->getElementOffset(I), S->getOperand(I)))
        return false;
    return true;
  }
  if (isa<ConstantArray>(C) || isa<ConstantVector>(C)) {
    uint64_t Step = DL.getTypeAllocSize(C->getOperand(0)->getType());
    for (unsigned I = 0; I < C->getNumOperands(); ++I)
      if (!writeInitialiser(At + I * Step, cast<Constant>(C->getOperand(I))))
        return false;
    return true;
  }
  // An address: variable or function, plus an offset, through casts.
  if (T->isPointerTy()) {
    const Value *Base = C;
    int64_t Offset = 0;
    for (;;) {
      if (auto *CE = dyn_cast<ConstantExpr>(Base)) {
        if (CE->getOpcode() == Instruction::AddrSpaceCast) {
          Base = CE->getOperand(0);
          continue;
        }
        if (CE->getOpcode() == Instruction::GetElementPtr) {
          APInt Off(DL.getIndexTypeSizeInBits(CE->getType()), 0);
          if (!cast<GEPOperator>(CE)->accumulateConstantOffset(DL, Off))
            return false;
          Offset += Off.getSExtValue();
          Base = CE->getOperand(0);
          continue;
        }
      }
      break;
    }
    if (auto *F = dyn_cast<Function>(Base)) {
      const_cast<Function *>(F)->setLinkage(GlobalValue::ExternalLinkage);
      Out.FunctionFixups.push_back({At, F->getName().str()});
      return true;
    }
    if (auto *G = dyn_cast<GlobalVariable>(Base)) {
      auto It = P.Globals.find(G->getName().str());
      if (It == P.Globals.end())
        return false;
      char *Address = It->second.Base + Offset;
      memcpy(At, &Address, sizeof(Address));
      return true;
    }
  }
  return false;
}

/// Does \p C name a shared variable?
static bool namesShared(const Constant *C) {
  if (auto *G = dyn_cast<GlobalVariable>(C))
    return G->getAddressSpace() == 3;
  return !isa<GlobalValue>(C) && any_of(C->operands(), [](const Use &U) {
    auto *K = dyn_cast<Constant>(U.get());
    return K && namesShared(K);
  });
}

/// The initial value of a local aggregate may name a shared array, which lies
/// elsewhere for each block: such a constant becomes a local of who uses it.
void Lowering::unshareConstants() {
  SmallVector<GlobalVariable *, 4> Found;
  for (GlobalVariable &G : M.globals())
    if (G.isConstant() && G.hasInitializer() && namesShared(G.getInitializer()))
      Found.push_back(&G);
  for (GlobalVariable *G : Found) {
    convertUsersOfConstantsToInstructions({G});
    std::map<Function *, Value *> Local;
    for (Use &U : make_early_inc_range(G->uses())) {
      auto *I = dyn_cast<Instruction>(U.getUser());
      if (!I)
        continue;
      Value *&L = Local[I->getFunction()];
      if (!L) {
        BasicBlock &Entry = I->getFunction()->getEntryBlock();
        IRBuilder<> B(&*Entry.getFirstNonPHIOrDbgOrAlloca());
        AllocaInst *A = B.CreateAlloca(G->getValueType());
        A->moveBefore(Entry.getFirstNonPHIIt());
        A->setAlignment(G->getAlign().valueOrOne());
        B.CreateStore(G->getInitializer(), A)->setAlignment(Align(1));
        L = B.CreateAddrSpaceCast(A, G->getType());
      }
      U.set(L);
    }
    if (G->use_empty())
      G->eraseFromParent();
  }
}

bool Lowering::placeVariables(std::string &Error) {
  SmallVector<GlobalVariable *, 16> Vars;
  SmallVector<Constant *, 16> AsConstants;
  for (GlobalVariable &G : M.globals())
    if (!G.getName().starts_with("llvm.")) {
      if (!G.hasName())
        G.setName("rcc.unnamed");
      Vars.push_back(&G);
      AsConstants.push_back(&G);
    }
  // Addresses first: initialisers refer to each other.
  for (GlobalVariable *G : Vars) {
    if (G->getAddressSpace() == 3)
      continue;
    if (G->isDeclaration()) {
      if (G->use_empty() || G->hasExternalWeakLinkage())
        continue;
      Error = "the variable '" + demangled(G->getName()) +
              "' is defined in another file";
      return false;
    }
    uint64_t Size = std::max<uint64_t>(1, DL.getTypeAllocSize(G->getValueType()));
    bool User = G->getAddressSpace() == 1 || G->getAddressSpace() == 4;
    char *At = allocate(Size, Allocation::Global, demangled(G->getName()));
    if (!At) {
      Error = "out of address space";
      return false;
    }
    Allocation A;
    findAllocation(At, A);
    (void)User;
    P.Globals[G->getName().str()] = A;
  }
  for (GlobalVariable *G : Vars)
    if (auto It = P.Globals.find(G->getName().str());
        It != P.Globals.end() && G->hasInitializer())
      if (!writeInitialiser(It->second.Base, G->getInitializer())) {
        Error = "the initial value of '" + demangled(G->getName()) +
                "' is of an unknown form";
        return false;
      }

  convertUsersOfConstantsToInstructions(AsConstants);
  LLVMContext &C = M.getContext();
  // Shared variables: a layout for the module; each kernel has its own ranges.
  // A gap after each, so that a stray index is seen.
  std::map<GlobalVariable *, SharedRange> Layout;
  uint32_t Next = 0;
  std::map<Function *, std::set<GlobalVariable *>> UsedBy;
  for (GlobalVariable *G : Vars) {
    SmallVector<Use *, 16> Uses;
    for (Use &U : G->uses())
      Uses.push_back(&U);
    bool Shared = G->getAddressSpace() == 3;
    bool Dynamic = Shared && G->isDeclaration();
    if (Shared && !Dynamic) {
      uint32_t Size = DL.getTypeAllocSize(G->getValueType());
      uint32_t Align = std::max<uint32_t>(
          256, G->getAlign() ? G->getAlign()->value() : 16);
      Next = (Next + Align - 1) & ~(Align - 1);
      Layout[G] = {Next, Size, demangled(G->getName())};
      Next += ((Size + 255) & ~255u) + 1024;
    }
    for (Use *U : Uses) {
      auto *I = dyn_cast<Instruction>(U->getUser());
      if (!I)
        continue;
      if (Shared)
        UsedBy[I->getFunction()].insert(G);
      if (!Shared) {
        auto It = P.Globals.find(G->getName().str());
        uint64_t Address =
            It == P.Globals.end() ? 0 : uint64_t(It->second.Base);
        U->set(ConstantExpr::getIntToPtr(
            ConstantInt::get(Type::getInt64Ty(C), Address),
            PointerType::get(C, 0)));
      }
    }
  }
  Next = (Next + 1023) & ~1023u;
  for (GlobalVariable *G : Vars) {
    if (G->getAddressSpace() != 3)
      continue;
    uint32_t Offset = G->isDeclaration() ? Next : Layout[G].Offset;
    std::map<Function *, Value *> At;
    SmallVector<Use *, 16> Uses;
    for (Use &U : G->uses())
      Uses.push_back(&U);
    for (Use *U : Uses) {
      auto *I = dyn_cast<Instruction>(U->getUser());
      if (!I)
        continue;
      Function *F = I->getFunction();
      Value *&V = At[F];
      if (!V) {
        auto *Ctx = cast<Instruction>(Runtime.context(*F));
        IRBuilder<> B(Ctx->getNextNode());
        Value *Base =
            Runtime.threadField(B, B.getPtrTy(), offsetof(ThreadCtx, Shared));
        V = B.CreateConstGEP1_32(B.getInt8Ty(), Base, Offset, G->getName());
      }
      U->set(V);
    }
  }
  // Kernel descriptions. Functions that could not be inlined may run for any
  // kernel.
  for (Function *K : Kernels) {
    KernelInfo &Info = P.Kernels[K->getName().str()];
    Info.Name = K->getName().str();
    Info.DisplayName = functionName(demangled(K->getName()));
    Info.DynamicOffset = Next;
    if (DISubprogram *SP = K->getSubprogram())
      Info.Location = (SP->getFilename() + ":" + Twine(SP->getLine()) + ":1").str();
    for (auto &[F, Set] : UsedBy)
      if (F == K || llvm::find(Kernels, F) == Kernels.end())
        for (GlobalVariable *G : Set)
          if (!G->isDeclaration()) {
            Info.StaticShared += Layout[G].Size;
            Info.Ranges.push_back(Layout[G]);
          }
  }
  for (GlobalVariable *G : Vars) {
    G->replaceAllUsesWith(PoisonValue::get(G->getType()));
    G->eraseFromParent();
  }
  return true;
}

/// Pointers of every kind are host pointers now: change their types in place.
void Lowering::flattenAddressSpaces() {
  LLVMContext &C = M.getContext();
  auto Flat = [&](Type *T) -> Type * {
    if (T->isPointerTy() && T->getPointerAddressSpace())
      return PointerType::get(C, 0);
    if (auto *V = dyn_cast<FixedVectorType>(T))
      if (V->getElementType()->isPointerTy())
        return FixedVectorType::get(PointerType::get(C, 0),
                                    V->getNumElements());
    return T;
  };
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    SmallVector<Instruction *, 16> Dead;
    for (Argument &A : F.args())
      A.mutateType(Flat(A.getType()));
    for (Instruction &I : instructions(F)) {
      I.mutateType(Flat(I.getType()));
      for (Use &U : I.operands())
        if (auto *K = dyn_cast<Constant>(U.get()))
          if (Flat(K->getType()) != K->getType()) {
            if (isa<UndefValue>(K))
              U.set(PoisonValue::get(Flat(K->getType())));
            else
              U.set(Constant::getNullValue(Flat(K->getType())));
          }
    }
    for (Instruction &I : instructions(F))
      if (auto *Cast = dyn_cast<AddrSpaceCastInst>(&I)) {
        Cast->replaceAllUsesWith(Cast->getOperand(0));
        Dead.push_back(Cast);
      }
    for (Instruction *I : Dead)
      I->eraseFromParent();
  }
}

void Lowering::startScalars(IRBuilder<> &B, Value *P, Type *T,
                            uint64_t Offset) {
  if (auto *S = dyn_cast<StructType>(T)) {
    const StructLayout *Layout = DL.getStructLayout(S);
    for (unsigned I = 0; I < S->getNumElements(); ++I)
      startScalars(B, P, S->getElementType(I),
                   Offset + Layout->getElementOffset(I).getFixedValue());
    return;
  }
  if (auto *Array = dyn_cast<ArrayType>(T)) {
    uint64_t Step = DL.getTypeAllocSize(Array->getElementType());
    for (uint64_t I = 0; I < Array->getNumElements(); ++I)
      startScalars(B, P, Array->getElementType(), Offset + I * Step);
    return;
  }
  if (!T->isSingleValueType() || T->isIntegerTy(1))
    return;
  B.CreateAlignedStore(Runtime.uninitialised(B, T),
                       B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), P, Offset),
                       Align(1));
}

/// At the start of its life a local is filled with a value that the optimiser
/// cannot look into and that the instrumentation takes as never initialised.
void Lowering::startLocals() {
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    SmallVector<AllocaInst *, 16> Allocas;
    for (Instruction &I : instructions(F))
      if (auto *A = dyn_cast<AllocaInst>(&I))
        Allocas.push_back(A);
    // Searched once: there may be thousands in front of it.
    Instruction *const Behind = &*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
    for (AllocaInst *A : Allocas) {
      std::optional<TypeSize> Size = A->getAllocationSize(DL);
      if (!Size || Size->isZero())
        continue;
      SmallVector<Instruction *, 4> Starts;
      for (User *U : A->users())
        if (auto *L = dyn_cast<LifetimeIntrinsic>(U);
            L && L->getIntrinsicID() == Intrinsic::lifetime_start)
          Starts.push_back(L->getNextNode());
      if (Starts.empty())
        Starts.push_back(A->getParent() == &F.getEntryBlock()
                             ? Behind
                             : A->getNextNode());
      for (Instruction *At : Starts) {
        IRBuilder<> B(At);
        // Scalar by scalar, so that each is a value of its own; padding and
        // large arrays byte by byte.
        B.CreateMemSet(A, Runtime.uninitialised(B, B.getInt8Ty()),
                       Size->getFixedValue(), A->getAlign());
        if (!A->isArrayAllocation() && Size->getFixedValue() <= 1024)
          startScalars(B, A, A->getAllocatedType(), 0);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Lowering::replace(CallInst &Call, Value *V) {
  if (V && !Call.getType()->isVoidTy()) {
    if (V->getType() != Call.getType() && V->getType()->isIntegerTy() &&
        Call.getType()->isIntegerTy()) {
      IRBuilder<> B(&Call);
      V = B.CreateZExtOrTrunc(V, Call.getType());
    }
    Call.replaceAllUsesWith(V);
  } else if (!Call.use_empty()) {
    Call.replaceAllUsesWith(PoisonValue::get(Call.getType()));
  }
  Call.eraseFromParent();
}

Value *Lowering::lowerSreg(IRBuilder<> &B, StringRef Name, CallInst &Call) {
  auto Dim = [&](unsigned ThreadOff, int BlockOff) -> Value * {
    unsigned D = Name.ends_with(".x") ? 0 : Name.ends_with(".y") ? 1
                 : Name.ends_with(".z")                          ? 2
                                                                 : 3;
    if (D == 3)
      return B.getInt32(0);
    return BlockOff < 0
               ? Runtime.threadField(B, B.getInt32Ty(), ThreadOff + 4 * D)
               : Runtime.blockField(B, BlockOff + 4 * D);
  };
  auto Lane = [&] {
    return Runtime.threadField(B, B.getInt32Ty(), offsetof(ThreadCtx, Lane));
  };
  (void)Call;
  if (Name.starts_with("tid."))
    return Dim(offsetof(ThreadCtx, Tid), -1);
  if (Name.starts_with("ctaid."))
    return Dim(0, offsetof(BlockCtx, Ctaid));
  if (Name.starts_with("ntid."))
    return Dim(0, offsetof(BlockCtx, Ntid));
  if (Name.starts_with("nctaid."))
    return Dim(0, offsetof(BlockCtx, Nctaid));
  if (Name == "laneid")
    return Lane();
  if (Name == "warpid")
    return Runtime.threadField(B, B.getInt32Ty(), offsetof(ThreadCtx, Warp));
  if (Name == "nwarpid")
    return Runtime.blockField(B, offsetof(BlockCtx, WarpCount));
  if (Name == "warpsize")
    return B.getInt32(32);
  if (Name.starts_with("lanemask")) {
    Value *Bit = B.CreateShl(B.getInt32(1), Lane());
    Value *Below = B.CreateSub(Bit, B.getInt32(1));
    StringRef Which = Name.take_back(2);
    return StringSwitch<std::function<Value *()>>(Which)
        .Case("eq", [&] { return Bit; })
        .Case("lt", [&] { return Below; })
        .Case("le", [&] { return B.CreateOr(Below, Bit); })
        .Case("ge", [&] { return B.CreateNot(Below); })
        .Case("gt", [&] { return B.CreateNot(B.CreateOr(Below, Bit)); })
        .Default([]() -> Value * { return nullptr; })();
  }
  if (Name == "clock" || Name == "clock64" || Name.starts_with("globaltimer") ||
      Name == "clock.hi" || Name == "clock_hi")
    return Runtime.call(B, "rcc_clock", B.getInt64Ty(), {});
  if (Name == "dynamic_smem_size" || Name == "dynamic.smem.size")
    return Runtime.blockField(B, offsetof(BlockCtx, DynamicShared));
  if (Name == "total_smem_size" || Name == "total.smem.size")
    return Runtime.blockField(B, offsetof(BlockCtx, TotalShared));
  if (Name == "nsmid")
    return B.getInt32(4);
  if (Name.starts_with("cluster.nctaid") || Name.starts_with("cluster.nctarank"))
    return B.getInt32(1);
  if (Name.starts_with("cluster.") || Name == "smid" || Name == "gridid" ||
      Name.starts_with("envreg") || Name.starts_with("pm"))
    return B.getInt32(0);
  if (Name.starts_with("clusterid."))
    return Dim(0, offsetof(BlockCtx, Ctaid));
  if (Name.starts_with("nclusterid."))
    return Dim(0, offsetof(BlockCtx, Nctaid));
  return nullptr;
}

Value *Lowering::lowerSync(IRBuilder<> &B, StringRef Name, CallInst &Call,
                           bool &Handled) {
  Handled = true;
  Type *I32 = B.getInt32Ty(), *Void = B.getVoidTy();
  auto Arg = [&](unsigned N) { return Call.getArgOperand(N); };
  auto AsI32 = [&](Value *V) -> Value * {
    if (V->getType()->isFloatTy())
      return B.CreateBitCast(V, I32);
    return B.CreateZExtOrTrunc(V, I32);
  };
  auto Pair = [&](Value *First) -> Value * {
    // { value, predicate }: the second comes back in the thread's state.
    Value *Ctx = ctx(B);
    Value *Pred = B.CreateLoad(
        I32, B.CreateConstInBoundsGEP1_32(B.getInt8Ty(), Ctx,
                                          offsetof(ThreadCtx, RetPred)));
    cast<Instruction>(Pred)->setMetadata("rcc.pred",
                                         MDNode::get(B.getContext(), {}));
    Value *R = PoisonValue::get(Call.getType());
    Type *T0 = cast<StructType>(Call.getType())->getElementType(0);
    if (T0->isFloatTy())
      First = B.CreateBitCast(First, T0);
    R = B.CreateInsertValue(R, First, 0);
    return B.CreateInsertValue(R, B.CreateTrunc(Pred, B.getInt1Ty()), 1);
  };

  if (Name == "barrier0" || Name == "barrier.sync" || Name == "bar.sync" ||
      Name.starts_with("barrier.cta.sync") || Name == "barrier.sync.cnt" ||
      Name == "barrier.n" || Name == "barrier") {
    unsigned N = Call.arg_size();
    Value *Id = N > 0 ? AsI32(Arg(0)) : B.getInt32(0);
    Value *Count = N > 1 ? AsI32(Arg(1)) : B.getInt32(0);
    return Runtime.call(B, "rcc_barrier", Void, {ctx(B), site(Call), Id, Count});
  }
  if (Name.starts_with("barrier.cta.red.") || Name.starts_with("barrier0.")) {
    BarRed Kind = Name.contains("popc")  ? BarRed::Popc
                  : Name.contains("and") ? BarRed::And
                                         : BarRed::Or;
    unsigned N = Call.arg_size();
    Value *Id = N > 1 ? AsI32(Arg(0)) : B.getInt32(0);
    Value *Count = N > 2 ? AsI32(Arg(1)) : B.getInt32(0);
    Value *Pred = B.CreateZExt(
        Arg(N - 1)->getType()->isIntegerTy(1)
            ? Arg(N - 1)
            : B.CreateICmpNE(Arg(N - 1), Constant::getNullValue(
                                             Arg(N - 1)->getType())),
        I32);
    return Runtime.call(
        B, "rcc_barrier_red", I32,
        {ctx(B), site(Call), Id, Count, B.getInt32(uint32_t(Kind)), Pred});
  }
  if (Name == "bar.warp.sync")
    return Runtime.call(B, "rcc_syncwarp", Void,
                        {ctx(B), site(Call), AsI32(Arg(0))});
  if (Name == "activemask")
    return Runtime.call(B, "rcc_activemask", I32, {ctx(B), site(Call)});
  if (Name.starts_with("shfl.")) {
    bool Sync = Name.consume_front("shfl.sync.");
    if (!Sync)
      Name.consume_front("shfl.");
    ShflKind Kind = Name.starts_with("up")     ? ShflKind::Up
                    : Name.starts_with("down") ? ShflKind::Down
                    : Name.starts_with("bfly") ? ShflKind::Bfly
                                               : ShflKind::Idx;
    unsigned N = Sync ? 1 : 0;
    // Without a mask: the lanes that are there.
    Value *Mask = Sync ? Arg(0)
                       : Runtime.call(B, "rcc_activemask", I32,
                                      {ctx(B), site(Call)});
    Value *R = Runtime.call(B, "rcc_shfl", I32,
                            {ctx(B), site(Call), B.getInt32(uint32_t(Kind)),
                             Mask, AsI32(Arg(N)), Arg(N + 1), Arg(N + 2)});
    if (Call.getType()->isStructTy())
      return Pair(R);
    return Call.getType()->isFloatTy() ? B.CreateBitCast(R, B.getFloatTy()) : R;
  }
  if (Name.starts_with("vote.")) {
    bool Sync = Name.ends_with(".sync");
    VoteKind Kind = Name.starts_with("vote.all")   ? VoteKind::All
                    : Name.starts_with("vote.any") ? VoteKind::Any
                    : Name.starts_with("vote.uni") ? VoteKind::Uni
                                                   : VoteKind::Ballot;
    Value *Mask = Sync ? Arg(0)
                       : Runtime.call(B, "rcc_activemask", I32,
                                      {ctx(B), site(Call)});
    return Runtime.call(B, "rcc_vote", I32,
                        {ctx(B), site(Call), B.getInt32(uint32_t(Kind)), Mask,
                         AsI32(Arg(Sync ? 1 : 0))});
  }
  if (Name.starts_with("match.")) {
    bool All = Name.starts_with("match.all");
    Value *R = Runtime.call(B, "rcc_match", I32,
                            {ctx(B), site(Call), B.getInt32(All), Arg(0),
                             B.CreateZExt(Arg(1), B.getInt64Ty())});
    return Call.getType()->isStructTy() ? Pair(R) : R;
  }
  if (Name.starts_with("redux.sync.")) {
    StringRef Op = Name.drop_front(strlen("redux.sync."));
    int Kind = StringSwitch<int>(Op)
                   .Case("add", int(ReduxKind::Add))
                   .Case("and", int(ReduxKind::And))
                   .Case("or", int(ReduxKind::Or))
                   .Case("xor", int(ReduxKind::Xor))
                   .Case("min", int(ReduxKind::Min))
                   .Case("max", int(ReduxKind::Max))
                   .Case("umin", int(ReduxKind::UMin))
                   .Case("umax", int(ReduxKind::UMax))
                   .Default(-1);
    if (Kind >= 0)
      return Runtime.call(B, "rcc_redux", I32,
                          {ctx(B), site(Call), B.getInt32(Kind), Arg(1),
                           Arg(0)});
  }
  if (Name.starts_with("membar.") || Name.starts_with("fence."))
    return B.CreateFence(AtomicOrdering::SequentiallyConsistent);
  if (Name.starts_with("nanosleep"))
    return Runtime.call(B, "rcc_yield", Void, {ctx(B)});
  // Asynchronous copies are done when they are asked for.
  if (Name.starts_with("cp.async.ca.shared.global.") ||
      Name.starts_with("cp.async.cg.shared.global.")) {
    unsigned Bytes = 0;
    StringRef Rest = Name.drop_front(strlen("cp.async.ca.shared.global."));
    Rest.consumeInteger(10, Bytes);
    if (Bytes && Call.arg_size() == 2)
      return B.CreateMemCpy(Arg(0), Align(Bytes), Arg(1), Align(Bytes), Bytes);
  }
  if (Name.starts_with("cp.async.commit") || Name.starts_with("cp.async.wait"))
    return B.CreateFence(AtomicOrdering::SequentiallyConsistent);
  Handled = false;
  return nullptr;
}

/// add.gen.i.cta, cas.gen.i.sys, ...: the scope makes no difference here.
Value *Lowering::lowerScopedAtomic(IRBuilder<> &B, StringRef Name,
                                   CallInst &Call) {
  StringRef Op = Name.split('.').first;
  Value *P = Call.getArgOperand(0), *V = Call.getArgOperand(1);
  Align Al(DL.getTypeStoreSize(V->getType()));
  auto Order = AtomicOrdering::SequentiallyConsistent;
  if (Op == "cas")
    return B.CreateExtractValue(
        B.CreateAtomicCmpXchg(P, V, Call.getArgOperand(2), Al, Order, Order), 0);
  // Signedness is not in the name: minima and maxima are made elsewhere.
  auto Kind = StringSwitch<AtomicRMWInst::BinOp>(Op)
                  .Case("add", V->getType()->isFloatingPointTy()
                                   ? AtomicRMWInst::FAdd
                                   : AtomicRMWInst::Add)
                  .Case("and", AtomicRMWInst::And)
                  .Case("or", AtomicRMWInst::Or)
                  .Case("xor", AtomicRMWInst::Xor)
                  .Case("exch", AtomicRMWInst::Xchg)
                  .Case("inc", AtomicRMWInst::UIncWrap)
                  .Case("dec", AtomicRMWInst::UDecWrap)
                  .Case("min", AtomicRMWInst::Min)
                  .Case("max", AtomicRMWInst::Max)
                  .Default(AtomicRMWInst::BAD_BINOP);
  return Kind == AtomicRMWInst::BAD_BINOP ? nullptr
                                          : B.CreateAtomicRMW(Kind, P, V, Al, Order);
}

Value *Lowering::lowerIntrinsic(CallInst &Call, bool &Handled) {
  IRBuilder<> B(&Call);
  StringRef Name = Call.getCalledFunction()->getName();
  Handled = true;
  if (Name == "llvm.trap" || Name == "llvm.debugtrap")
    return Runtime.call(B, "rcc_trap", B.getVoidTy(), {ctx(B), site(Call)});
  if (!Name.consume_front("llvm.nvvm.")) {
    Handled = false;
    return nullptr;
  }
  if (Name.consume_front("read.ptx.sreg."))
    if (Value *V = lowerSreg(B, Name, Call))
      return V;
  if (Name.starts_with("isspacep.")) {
    Value *Base =
        Runtime.threadField(B, B.getPtrTy(), offsetof(ThreadCtx, Shared));
    Value *Off =
        B.CreateSub(B.CreatePtrToInt(Call.getArgOperand(0), B.getInt64Ty()),
                    B.CreatePtrToInt(Base, B.getInt64Ty()));
    Value *IsShared = B.CreateICmpULT(
        Off, B.CreateZExt(
                 Runtime.blockField(B, offsetof(BlockCtx, TotalShared)),
                 B.getInt64Ty()));
    if (Name == "isspacep.shared" || Name == "isspacep.shared.cluster")
      return IsShared;
    if (Name == "isspacep.global")
      return B.CreateNot(IsShared);
    return B.getFalse();
  }
  if (Value *V = lowerSync(B, Name, Call, Handled); Handled)
    return V;
  if (Name.consume_front("atomic."))
    if (Value *V = lowerScopedAtomic(B, Name, Call); (Handled = V != nullptr))
      return V;
  Handled = true;
  if (Value *V = lowerArithmetic(Runtime, B, Name, Call))
    return V;
  Handled = false;
  return nullptr;
}

Value *Lowering::lowerLibraryCall(CallInst &Call, bool &Handled) {
  IRBuilder<> B(&Call);
  Function *F = Call.getCalledFunction();
  StringRef Name = F->getName();
  auto Arg = [&](unsigned N) { return Call.getArgOperand(N); };
  Handled = true;
  if (Name == "vprintf")
    return Runtime.call(B, "rcc_vprintf", B.getInt32Ty(), {Arg(0), Arg(1)});
  if (Name == "malloc")
    return Runtime.call(B, "rcc_malloc", B.getPtrTy(), {Arg(0)});
  if (Name == "free")
    return Runtime.call(B, "rcc_free", B.getVoidTy(), {Arg(0)});
  if (Name == "__assertfail" || Name == "__assert_fail")
    return Runtime.call(B, "rcc_assertfail", B.getVoidTy(),
                        {ctx(B), Arg(0), Arg(1), Arg(2), Arg(3), site(Call)});
  if (Name == "__nvvm_reflect")
    return B.getInt32(0);
  Handled = false;
  return nullptr;
}

void Lowering::lowerInstructions(Function &F) {
  SmallVector<Instruction *, 64> Work;
  for (Instruction &I : instructions(F))
    if (isa<CallInst>(I) || isa<FPToSIInst>(I) || isa<FPToUIInst>(I) ||
        isa<AtomicRMWInst>(I) || isa<AtomicCmpXchgInst>(I))
      Work.push_back(&I);
  for (Instruction *I : Work) {
    IRBuilder<> B(I);
    // The device saturates; the host's instruction does not.
    if (isa<FPToSIInst>(I) || isa<FPToUIInst>(I)) {
      Value *V = toInteger(B, I->getOperand(0), I->getType(), isa<FPToSIInst>(I));
      I->replaceAllUsesWith(V);
      I->eraseFromParent();
      continue;
    }
    if (auto *A = dyn_cast<AtomicRMWInst>(I)) {
      A->setSyncScopeID(SyncScope::System);
      if (A->getOperation() == AtomicRMWInst::Xchg) {
        B.SetInsertPoint(I->getNextNode());
        Runtime.call(B, "rcc_spin", B.getVoidTy(), {ctx(B)});
      }
      continue;
    }
    if (auto *A = dyn_cast<AtomicCmpXchgInst>(I)) {
      A->setSyncScopeID(SyncScope::System);
      B.SetInsertPoint(I->getNextNode());
      Runtime.call(B, "rcc_spin", B.getVoidTy(), {ctx(B)});
      continue;
    }
    auto &Call = cast<CallInst>(*I);
    if (Call.isInlineAsm()) {
      bool Done = false;
      Value *V = lowerPtx(Runtime, B, Call, Sites.of(Call), Done);
      if (!Done) {
        auto *Asm = cast<InlineAsm>(Call.getCalledOperand());
        V = nullptr;
        Out.Unsupported.insert(Asm->getAsmString().str());
        Runtime.call(B, "rcc_unsupported", B.getVoidTy(),
                     {ctx(B),
                      B.CreateGlobalString("asm(\"" + Asm->getAsmString().str() +
                                           "\")"),
                      site(Call)});
      } else if (V && V->getType()->isFloatingPointTy() &&
                 cast<InlineAsm>(Call.getCalledOperand())
                     ->getAsmString()
                     .empty()) {
        V = hidden(B, V, Call);
      }
      replace(Call, V);
      continue;
    }
    Function *Callee = Call.getCalledFunction();
    if (!Callee || !Callee->isDeclaration())
      continue;
    if (Callee->getName().starts_with("rcc"))
      continue;
    bool Handled = false;
    Value *V = nullptr;
    if (Callee->isIntrinsic()) {
      V = lowerIntrinsic(Call, Handled);
      if (!Handled && !Callee->getName().starts_with("llvm.nvvm."))
        continue;
    } else {
      V = lowerLibraryCall(Call, Handled);
    }
    if (!Handled)
      Out.Unsupported.insert(Callee->getName().str());
    if (!Handled)
      Runtime.call(B, "rcc_unsupported", B.getVoidTy(),
                   {ctx(B), B.CreateGlobalString(Callee->getName()),
                    site(Call)});
    replace(Call, V);
  }
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

void Lowering::makeEntries() {
  LLVMContext &C = M.getContext();
  unsigned Number = 0;
  for (Function *K : Kernels) {
    KernelInfo &Info = P.Kernels[K->getName().str()];
    std::string Name = "rcc.entry." + std::to_string(Number++);
    Out.Entries[K->getName().str()] = Name;
    Function *E = Function::Create(
        FunctionType::get(Type::getVoidTy(C), {PointerType::get(C, 0)}, false),
        GlobalValue::ExternalLinkage, Name, M);
    E->addFnAttr(EntryAttr);
    IRBuilder<> B(BasicBlock::Create(C, "", E));
    SmallVector<Value *, 16> Args;
    for (Argument &A : K->args()) {
      Value *Slot = B.CreateLoad(
          B.getPtrTy(), B.CreateConstGEP1_32(B.getPtrTy(), E->getArg(0),
                                             A.getArgNo()));
      if (Type *T = A.getParamByValType()) {
        uint64_t Size = DL.getTypeAllocSize(T);
        MaybeAlign Al = A.getParamAlign();
        AllocaInst *Copy = B.CreateAlloca(T);
        Copy->setAlignment(Al ? *Al : DL.getABITypeAlign(T));
        B.CreateMemCpy(Copy, Copy->getAlign(), Slot, Align(1), Size);
        Runtime.call(B, "rcc_memset_shadow", B.getVoidTy(),
                     {Copy, B.getInt32(0), B.getInt64(Size)});
        Info.ArgSizes.push_back(Size);
        Args.push_back(Copy);
      } else {
        Info.ArgSizes.push_back(DL.getTypeStoreSize(A.getType()));
        Args.push_back(B.CreateAlignedLoad(A.getType(), Slot, Align(1)));
      }
      A.removeAttr(Attribute::ByVal);
      // Promises that the checks must not rely on.
      A.removeAttr(Attribute::NoAlias);
      A.removeAttr(Attribute::NoUndef);
      A.removeAttr(Attribute::Dereferenceable);
    }
    B.CreateCall(K, Args);
    B.CreateRetVoid();
    // The entry reads the launch's own memory and stays unchecked: the kernel
    // must not be merged into it.
    K->addFnAttr(Attribute::NoInline);
    K->addFnAttr(KernelAttr);
    K->setLinkage(GlobalValue::InternalLinkage);
  }
}

bool Lowering::run(std::string &Error) {
  prepare();
  inlineAll();
  unshareConstants();
  if (!placeVariables(Error))
    return false;
  flattenAddressSpaces();
  startLocals();
  for (Function &F : M)
    if (!F.isDeclaration())
      lowerInstructions(F);
  makeEntries();
  return true;
}

} // namespace

bool lower(Module &M, Program &P, Lowered &Out, bool Contract,
           std::string &Error) {
  return Lowering(M, P, Out, Contract).run(Error);
}

} // namespace rcache::check
