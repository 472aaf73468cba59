// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Jit.h"

#include "Instrument.h"
#include "Lower.h"
#include "PtxModule.h"

#include "Analyses.h"
#include "Driver/CudaInstall.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <cstring>
#include <mutex>
#include <set>
#include <thread>

using namespace llvm;
using namespace llvm::orc;

namespace rcache::check {

namespace {

/// Structures whose layout belongs to the toolkit, filled with its own headers.
const char *const ShimFile = "/rcache-check/api_shim.cpp";
const char *const ShimText = R"shim(
#include <cuda_runtime_api.h>
#include <cstring>
extern "C" {
int rcc_func_attributes(const void *, size_t *, int *, int *);
int rcc_kind_of(const void *);
static cudaError_t fill(cudaDeviceProp *P) {
  memset(P, 0, sizeof(*P));
  strcpy(P->name, "rcache-check (CPU)");
  P->totalGlobalMem = size_t(140) << 30;
  P->sharedMemPerBlock = 48 << 10;
  P->sharedMemPerMultiprocessor = 228 << 10;
  P->sharedMemPerBlockOptin = 227 << 10;
  P->regsPerBlock = P->regsPerMultiprocessor = 65536;
  P->warpSize = 32;
  P->maxThreadsPerBlock = 1024;
  P->maxThreadsPerMultiProcessor = 2048;
  P->maxBlocksPerMultiProcessor = 32;
  P->maxThreadsDim[0] = P->maxThreadsDim[1] = 1024;
  P->maxThreadsDim[2] = 64;
  P->maxGridSize[0] = 0x7fffffff;
  P->maxGridSize[1] = P->maxGridSize[2] = 65535;
  P->totalConstMem = 64 << 10;
  P->textureAlignment = 512;
  P->texturePitchAlignment = 32;
  P->major = 9;
  P->minor = 0;
  P->multiProcessorCount = 4;
  P->l2CacheSize = 50 << 20;
  P->memoryBusWidth = 6144;
  P->concurrentKernels = 1;
  P->unifiedAddressing = 1;
  P->managedMemory = 1;
  P->concurrentManagedAccess = 1;
  P->pageableMemoryAccess = 0;
  P->canMapHostMemory = 1;
  P->cooperativeLaunch = 1;
  P->asyncEngineCount = 1;
  return cudaSuccess;
}
#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *P, int D) {
  return D == 0 ? fill(P) : cudaErrorInvalidDevice;
}
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp *P, int D) {
  return D == 0 ? fill(P) : cudaErrorInvalidDevice;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *A, const void *F) {
  size_t Shared; int Threads, Dynamic;
  if (int E = rcc_func_attributes(F, &Shared, &Threads, &Dynamic))
    return cudaError_t(E);
  memset(A, 0, sizeof(*A));
  A->sharedSizeBytes = Shared;
  A->maxThreadsPerBlock = Threads;
  A->maxDynamicSharedSizeBytes = Dynamic;
  A->numRegs = 32;
  A->ptxVersion = A->binaryVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *A, const void *P) {
  memset(A, 0, sizeof(*A));
  int Kind = rcc_kind_of(P); // 0: the program's, 1: device, 2: managed, 3: pinned
  A->type = Kind == 1   ? cudaMemoryTypeDevice
            : Kind == 2 ? cudaMemoryTypeManaged
            : Kind == 3 ? cudaMemoryTypeHost
                        : cudaMemoryTypeUnregistered;
  bool In = Kind != 0;
  A->devicePointer = In ? const_cast<void *>(P) : nullptr;
  A->hostPointer = Kind == 1 ? nullptr : const_cast<void *>(P);
  return cudaSuccess;
}
}
)shim";

void optimise(Module &M, TargetMachine &TM, bool Final) {
  // Loops that are left as they are: nobody's business.
  M.getContext().setDiagnosticHandlerCallBack(
      [](const DiagnosticInfo *D, void *) {
        if (D->getSeverity() != DS_Error)
          return;
        DiagnosticPrinterRawOStream Printer(errs());
        D->print(Printer);
        errs() << "\n";
      });
  PipelineTuningOptions Tuning;
  // Wide accesses would hide which thread reads what, and unrolling multiplies
  // the checks.
  Tuning.LoopVectorization = false;
  Tuning.SLPVectorization = false;
  Tuning.LoopUnrolling = false;
  Tuning.LoopInterleaving = false;
  PassBuilder PB(&TM, Tuning);
  Analyses With(PB);
  PB.buildPerModuleDefaultPipeline(Final ? OptimizationLevel::O1
                                         : OptimizationLevel::O2)
      .run(M, With.OfModules);
}

/// What the checks have added, where compiling takes longer than running.
void simplify(Module &M) {
  PassBuilder PB;
  Analyses With(PB);
  FunctionPassManager FPM;
  FPM.addPass(SROAPass(SROAOptions::ModifyCFG));
  FPM.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  FPM.addPass(SimplifyCFGPass());
  createModuleToFunctionPassAdaptor(std::move(FPM)).run(M, With.OfModules);
}

} // namespace

void registersToValues(Module &M) {
  PassBuilder PB;
  Analyses With(PB);
  FunctionPassManager FPM;
  FPM.addPass(SROAPass(SROAOptions::PreserveCFG));
  ModulePassManager MPM;
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  MPM.run(M, With.OfModules);
  for (Function &F : M)
    for (BasicBlock &BB : make_early_inc_range(F))
      MergeBlockIntoPredecessor(&BB);
}

namespace {

void dump(const Module &M, const std::string &Dir, StringRef Name) {
  if (Dir.empty())
    return;
  std::error_code EC;
  raw_fd_ostream OS(Dir + "/" + Name.str() + ".ll", EC);
  if (!EC)
    M.print(OS, nullptr);
}

/// Host code reads and writes managed variables where device code does.
void placeManaged(Module &Host, const Program &P) {
  GlobalVariable *Notes = Host.getNamedGlobal("llvm.global.annotations");
  if (!Notes || !Notes->hasInitializer())
    return;
  std::vector<GlobalVariable *> Managed;
  for (Use &U : Notes->getInitializer()->operands()) {
    auto *Note = dyn_cast<ConstantStruct>(U.get());
    if (!Note)
      continue;
    auto *V = dyn_cast<GlobalVariable>(Note->getOperand(0)->stripPointerCasts());
    auto *T = dyn_cast<GlobalVariable>(Note->getOperand(1)->stripPointerCasts());
    auto *S = T && T->hasInitializer() ? dyn_cast<ConstantDataArray>(T->getInitializer())
                                       : nullptr;
    if (V && S && S->isCString() && S->getAsCString() == "rcache-check managed")
      Managed.push_back(V);
  }
  Notes->eraseFromParent();
  for (GlobalVariable *V : Managed) {
    auto It = P.Globals.find(V->getName().str());
    if (It == P.Globals.end())
      continue;
    auto *Address = ConstantInt::get(Type::getInt64Ty(Host.getContext()),
                                     reinterpret_cast<uint64_t>(It->second.Base));
    V->replaceAllUsesWith(ConstantExpr::getIntToPtr(Address, V->getType()));
  }
}

/// One module from several. What a header defines in each of them is the same.
bool join(Module &Into, std::unique_ptr<Module> M) {
  for (Function &F : *M)
    if (!F.isDeclaration() && F.hasExternalLinkage())
      F.setLinkage(GlobalValue::WeakODRLinkage);
  return !Linker::linkModules(Into, std::move(M));
}

/// Everything that \p Work leads to, over uses of any kind.
void reach(std::vector<const GlobalValue *> Work,
           std::set<const GlobalValue *> &Seen) {
  std::set<const Constant *> Constants;
  std::function<void(const Value *)> Take = [&](const Value *V) {
    if (auto *G = dyn_cast<GlobalValue>(V)) {
      if (Seen.insert(G).second)
        Work.push_back(G);
    } else if (auto *C = dyn_cast<Constant>(V); C && Constants.insert(C).second) {
      for (const Use &U : C->operands())
        Take(U);
    }
  };
  for (const GlobalValue *G : std::exchange(Work, {}))
    Take(G);
  while (!Work.empty()) {
    const GlobalValue *G = Work.back();
    Work.pop_back();
    if (auto *F = dyn_cast<Function>(G)) {
      for (const Instruction &I : instructions(*F))
        for (const Use &U : I.operands())
          Take(U);
      for (const Use &U : F->operands())
        Take(U);
    } else if (auto *V = dyn_cast<GlobalVariable>(G)) {
      if (V->hasInitializer())
        Take(V->getInitializer());
    } else if (auto *A = dyn_cast<GlobalAlias>(G)) {
      Take(A->getAliasee());
    }
  }
}

/// Leaves out what \p Roots do not reach: host functions (static constructors
/// and what registers kernels stay) and kernels whose stubs are gone.
void keepOnly(
    const std::vector<std::string> &Roots,
    std::vector<std::pair<std::unique_ptr<LLVMContext>, std::unique_ptr<Module>>>
        &Hosts,
    Module &Device) {
  std::set<std::string> Dropped; ///< kernels, demangled
  for (auto &[C, Host] : Hosts) {
    std::vector<const GlobalValue *> Start;
    for (const std::string &R : Roots)
      if (const Function *F = Host->getFunction(R))
        Start.push_back(F);
    // Constructors count, but for the one that names every stub.
    if (auto *Ctors = Host->getNamedGlobal("llvm.global_ctors");
        Ctors && Ctors->hasInitializer())
      for (const Use &U : Ctors->getInitializer()->operands())
        if (auto *S = dyn_cast<ConstantStruct>(U.get()))
          if (auto *F = dyn_cast<Function>(S->getOperand(1)->stripPointerCasts());
              F && !F->getName().starts_with("__cuda"))
            Start.push_back(F);
    std::set<const GlobalValue *> Seen;
    reach(std::move(Start), Seen);
    // A kernel's stub is mangled like the kernel, with a prefix to the last
    // name: compare what both demangle to.
    for (const Function &F : *Host)
      if (!Seen.count(&F) && F.getName().contains("__device_stub__")) {
        std::string Name = demangle(F.getName().str());
        if (size_t At = Name.find("__device_stub__"); At != std::string::npos)
          Name.erase(At, strlen("__device_stub__"));
        Dropped.insert(Name);
      }
    // The others' bodies go; who registers them finds a name without a kernel.
    for (Function &F : *Host)
      if (!F.isDeclaration() && !Seen.count(&F) &&
          !F.getName().starts_with("__cuda")) {
        F.deleteBody();
        F.setComdat(nullptr);
        auto *Block = BasicBlock::Create(F.getContext(), "", &F);
        new UnreachableInst(F.getContext(), Block);
        F.setLinkage(GlobalValue::InternalLinkage);
        F.setPersonalityFn(nullptr);
      }
  }
  for (Function &F : make_early_inc_range(Device))
    if (!F.isDeclaration() && F.getCallingConv() == CallingConv::PTX_Kernel &&
        Dropped.count(demangle(F.getName().str())) && F.use_empty())
      F.eraseFromParent();
}

/// Functions that \p M calls and nobody has, for a message; "" if none.
std::string missing(const Module &M, const std::set<std::string> &Known,
                    LLJIT &Jit, std::vector<std::string> *Names = nullptr) {
  std::string List;
  for (const Function &F : M)
    if (F.isDeclaration() && !F.isIntrinsic() && !F.use_empty() &&
        !F.hasExternalWeakLinkage() && !Known.count(F.getName().str()) &&
        !sys::DynamicLibrary::SearchForAddressOfSymbol(F.getName().str())) {
      auto Address = Jit.lookup(F.getName());
      if (Address)
        continue;
      consumeError(Address.takeError());
      List += (List.empty() ? "'" : ", '") + demangle(F.getName().str()) + "'";
      if (Names)
        Names->push_back(F.getName().str());
    }
  return List;
}

/// Status of a process that called a function of another file.
constexpr int ExitOfStub = 113;

/// Bodies for what another file has: they end the process.
void stub(Module &M, const std::vector<std::string> &Functions, LLJIT &Jit) {
  LLVMContext &C = M.getContext();
  for (const std::string &Name : Functions) {
    Function *F = M.getFunction(Name);
    F->clearMetadata(); // debug information of a declaration
    IRBuilder<> B(BasicBlock::Create(C, "", F));
    B.CreateCall(M.getOrInsertFunction("_exit", B.getVoidTy(), B.getInt32Ty()),
                 {B.getInt32(ExitOfStub)});
    B.CreateUnreachable();
    F->setVisibility(GlobalValue::DefaultVisibility);
    F->setLinkage(GlobalValue::InternalLinkage);
  }
  for (GlobalVariable &G : M.globals())
    if (G.isDeclaration() && !G.use_empty() && !G.isThreadLocal() &&
        !G.hasExternalWeakLinkage() && !G.getName().starts_with("llvm.") &&
        !G.getName().starts_with("__") && G.getValueType()->isSized() &&
        !sys::DynamicLibrary::SearchForAddressOfSymbol(G.getName().str())) {
      auto Address = Jit.lookup(G.getName());
      if (Address)
        continue;
      consumeError(Address.takeError());
      G.setInitializer(Constant::getNullValue(G.getValueType()));
      G.setVisibility(GlobalValue::DefaultVisibility);
      G.setLinkage(GlobalValue::InternalLinkage);
    }
}

/// The host says where it launches: messages about the launch show the line.
void noteLaunches(Module &Host) {
  std::vector<std::pair<CallInst *, std::string>> Found;
  std::set<CallInst *> Direct; ///< not by <<<>>>, or by it in a kernel's stub
  for (const char *Name :
       {"__cudaPushCallConfiguration", "cudaLaunchKernel",
        "cudaLaunchCooperativeKernel", "cudaLaunchKernelExC"}) {
    Function *F = Host.getFunction(Name);
    if (!F)
      continue;
    for (User *U : F->users()) {
      auto *Call = dyn_cast<CallInst>(U);
      const DILocation *L = Call ? Call->getDebugLoc().get() : nullptr;
      if (!L || Call->getCalledFunction() != F)
        continue;
      // A kernel's stub has nothing to tell: its caller has.
      if (Call->getFunction()->getName().contains("__device_stub__"))
        continue;
      const DILocation *Best = nullptr;
      for (; L && !Best; L = L->getInlinedAt())
        if (L->getLine() && !L->getFilename().contains("/include/cuda") &&
            !L->getFilename().starts_with("/rcache-check/"))
          Best = L;
      Found.push_back({Call, Best ? placeOf(*Best) : ""});
      if (F->getName() != "__cudaPushCallConfiguration")
        Direct.insert(Call);
    }
  }
  if (Found.empty())
    return;
  std::vector<std::string> Texts;
  for (auto &[Call, Text] : Found)
    Texts.push_back(Text);
  uint32_t Site = addSites(std::move(Texts));
  for (auto &[Call, Text] : Found) {
    IRBuilder<> B(Call);
    B.CreateCall(Host.getOrInsertFunction("rcc_launch_at", B.getVoidTy(),
                                          B.getInt32Ty(), B.getInt32Ty()),
                 {B.getInt32(Site++), B.getInt32(!Direct.count(Call))});
  }
}

std::string text(Error E) { return toString(std::move(E)); }

} // namespace

struct CompiledProgram::Impl {
  Program P;
  std::unique_ptr<LLJIT> Jit;
  bool OrderDependent = false;
  bool FromNvcc = false;
  std::map<std::string, SumForms> Sums; ///< by kernel
  std::string DeviceCode;
};

CompiledProgram::CompiledProgram() : I(std::make_unique<Impl>()) {}
CompiledProgram::~CompiledProgram() = default;
const Program &CompiledProgram::program() const { return I->P; }
bool CompiledProgram::fromNvcc() const { return I->FromNvcc; }
const std::string &CompiledProgram::deviceCode() const { return I->DeviceCode; }
const SumForms &CompiledProgram::sums(const std::string &Kernel) const {
  static const SumForms None;
  const auto It = I->Sums.find(Kernel);
  return It == I->Sums.end() ? None : It->second;
}
bool CompiledProgram::orderDependent() const { return I->OrderDependent; }

bool CompiledProgram::prepare(FrontendOptions &FE, std::string &Error) {
  static std::once_flag Once;
  std::call_once(Once, [] {
    // This machine, and the one whose intrinsics clang's passes are to know.
    InitializeNativeTarget();
    InitializeNativeTargetAsmParser();
    InitializeNativeTargetAsmPrinter();
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
  });
  for (const std::string &F : FE.Flags) {
    if (F == "-fmad=false" || F == "--fmad=false" || F == "-ffp-contract=off")
      FE.Contract = false;
    if (F == "-fmad=true" || F == "--fmad=true" || F == "-ffp-contract=fast")
      FE.Contract = true;
  }
  if (FE.ResourceDir.empty())
    FE.ResourceDir = RCACHE_CHECK_RESOURCE_DIR;
  auto Cuda = findCudaInstall(FE.CudaPath);
  if (!Cuda) {
    Error = toString(Cuda.takeError());
    return false;
  }
  FE.CudaPath = Cuda->Path;
  return true;
}

DeviceCode::DeviceCode() = default;
DeviceCode::DeviceCode(DeviceCode &&) = default;
DeviceCode &DeviceCode::operator=(DeviceCode &&O) {
  Module = std::move(O.Module); // before the context that the old one lives in
  Context = std::move(O.Context);
  return *this;
}
DeviceCode::~DeviceCode() = default;

/// The modules that a program is put together from.
struct CompiledProgram::Parts {
  FrontendOptions FE;
  DeviceCode Device; ///< clang's; empty: made when it is asked for
  DeviceCode Ptx;    ///< nvcc's; or empty
  std::string PtxText;
  std::string NotNvcc; ///< why nvcc's code is not taken, where it was asked for
  bool Refused = false; ///< nvcc does not compile it
  std::vector<std::string> Sources;
  std::vector<std::pair<std::unique_ptr<LLVMContext>, std::unique_ptr<Module>>>
      Hosts;
};

std::unique_ptr<CompiledProgram>
CompiledProgram::create(const std::vector<std::string> &Sources,
                        const JitOptions &Opts, std::string &Error) {
  Parts P;
  P.FE = Opts.Frontend;
  P.Sources = Sources;
  if (!prepare(P.FE, Error))
    return nullptr;
  // The two sides are compiled at the same time, each in its own context.
  const bool Nvcc = P.FE.Nvcc && Sources.size() == 1;
  if (P.FE.Nvcc && !Nvcc)
    P.NotNvcc = "several files make the program";
  for (const std::string &Source : Sources) {
    auto HostContext = std::make_unique<LLVMContext>();
    std::string HostLog, DeviceLog;
    std::unique_ptr<Module> Host, Device;
    std::thread HostThread([&] {
      Host = compile(*HostContext, Side::Host, Source, P.FE, HostLog);
    });
    const bool Ptx = Nvcc && fromNvcc(P, Opts);
    if (!Ptx)
      Device = compileDevice(P, Source, DeviceLog);
    HostThread.join();
    if (!Host || !(Ptx || Device)) {
      Error = !Ptx && !Device ? DeviceLog : HostLog;
      return nullptr;
    }
    if (P.Device.Module)
      keepApart(*P.Device.Module, *Device, *Host, P.Hosts.size() + 1,
                compilesSeparately(P.FE.Flags));
    if (!Ptx && !addDevice(P, std::move(Device), Source, Error))
      return nullptr;
    P.Hosts.emplace_back(std::move(HostContext), std::move(Host));
  }
  return build(P, Opts, Error);
}

/// Compiles device code with clang.
std::unique_ptr<Module> CompiledProgram::compileDevice(Parts &P, const std::string &Source,
                                                       std::string &Error) {
  if (!P.Device.Context)
    P.Device.Context = std::make_unique<LLVMContext>();
  auto One = compile(*P.Device.Context, Side::Device, Source, P.FE, Error);
  if (!One && StringRef(Error).contains("kernel launch from __device__"))
    Error += "launches from device code are not supported here";
  return One;
}

/// Adds clang's device code to that of other files.
bool CompiledProgram::addDevice(Parts &P, std::unique_ptr<Module> One,
                                const std::string &Source, std::string &Error) {
  if (!P.Device.Module) {
    P.Device.Module = std::move(One);
  } else if (!join(*P.Device.Module, std::move(One))) {
    Error = "the device code of '" + Source +
            "' defines what another file has defined";
    return false;
  }
  return true;
}

/// nvcc's device code; false with a note why clang's is to be taken.
bool CompiledProgram::fromNvcc(Parts &P, const JitOptions &Opts) {
  const FrontendOptions &FE = P.FE;
  const PtxText Made =
      requestPtx(FE, FE.OnDisk.empty() ? P.Sources[0] : FE.OnDisk).get();
  std::string Why = Made.Error;
  if (Why.empty()) {
    if (!Opts.DumpDir.empty()) {
      std::error_code EC;
      raw_fd_ostream(Opts.DumpDir + "/device-0-nvcc.ptx", EC) << Made.Text;
    }
    P.Ptx.Context = std::make_unique<LLVMContext>();
    P.Ptx.Module = readPtx(*P.Ptx.Context, Made, Why);
    P.PtxText = Made.Text;
  }
  if (P.Ptx.Module)
    return true;
  P.Ptx = DeviceCode();
  P.NotNvcc = Why;
  P.Refused = Made.Refused;
  return false;
}

std::unique_ptr<CompiledProgram>
CompiledProgram::create(const std::string &Source, DeviceCode Device,
                        const JitOptions &Opts, std::string &Error) {
  Parts P;
  P.FE = Opts.Frontend;
  if (!prepare(P.FE, Error))
    return nullptr;
  P.Device = std::move(Device);
  P.Sources = {Source};
  auto HostContext = std::make_unique<LLVMContext>();
  std::unique_ptr<Module> Host;
  std::thread HostThread([&] {
    Host = compile(*HostContext, Side::Host, Source, P.FE, Error);
  });
  if (P.FE.Nvcc)
    fromNvcc(P, Opts);
  HostThread.join();
  if (!Host)
    return nullptr;
  P.Hosts.emplace_back(std::move(HostContext), std::move(Host));
  return build(P, Opts, Error);
}

std::unique_ptr<CompiledProgram>
CompiledProgram::build(Parts &Given, const JitOptions &Opts,
                       std::string &Error) {
  FrontendOptions &FE = Given.FE;
  FE.VirtualFiles[ShimFile] = ShimText;
  auto &Hosts = Given.Hosts;

  std::unique_ptr<CompiledProgram> Result(new CompiledProgram);
  Impl &Me = *Result->I;
  auto Machine = JITTargetMachineBuilder::detectHost();
  if (!Machine) {
    Error = text(Machine.takeError());
    return nullptr;
  }
  // Instructions that take small bfloat16 numbers for zero, unlike the device.
  for (const char *Feature : {"avx512bf16", "avxneconvert"})
    Machine->getFeatures().AddFeature(Feature, false);
  Machine->setCodeGenOptLevel(Opts.Quickly ? CodeGenOptLevel::None
                                           : CodeGenOptLevel::Default);
  Machine->getOptions().AllowFPOpFusion = FPOpFusion::Strict;
  auto TM = Machine->createTargetMachine();
  if (!TM) {
    Error = text(TM.takeError());
    return nullptr;
  }

  for (auto &[C, Host] : Hosts) {
    noteLaunches(*Host);
    lowerThreadLocals(*Host);
  }
  Lowered Low;
  Low.FirstSite = addSites({});
  // nvcc's code if it can be read to the last instruction.
  if (Given.Ptx.Module) {
    Module &Ptx = *Given.Ptx.Module;
    std::string Why;
    for (auto &[C, Host] : Hosts)
      if (std::string K = useRegisteredNames(Ptx, *Host); !K.empty())
        Why = "it leaves out '" + K + "', which nothing in the file launches";
    dump(Ptx, Opts.DumpDir, "device-0-nvcc");
    Ptx.setDataLayout((*TM)->createDataLayout());
    if (!Opts.Roots.empty())
      keepOnly(Opts.Roots, Hosts, Ptx);
    if (!Why.empty() || !lower(Ptx, Me.P, Low, FE.Contract, Why) ||
        !Low.Unsupported.empty()) {
      Given.NotNvcc = Why.empty() ? "'" + *Low.Unsupported.begin() +
                                        "' cannot be executed"
                                  : Why;
      Given.Ptx = DeviceCode();
      Me.P = Program();
      Low = Lowered();
      Low.FirstSite = addSites({});
      if (!Given.Device.Module) {
        Given.Device.Module = compileDevice(Given, Given.Sources[0], Error);
        if (!Given.Device.Module)
          return nullptr;
      }
    }
  }
  const bool FromNvcc = Given.Ptx.Module != nullptr;
  DeviceCode &Taken = FromNvcc ? Given.Ptx : Given.Device;
  std::unique_ptr<LLVMContext> &DeviceContext = Taken.Context;
  std::unique_ptr<Module> &Device = Taken.Module;
  if (!FromNvcc) {
    dump(*Device, Opts.DumpDir, "device-0-clang");
    Device->setDataLayout((*TM)->createDataLayout());
    if (!Opts.Roots.empty())
      keepOnly(Opts.Roots, Hosts, *Device);
    if (!lower(*Device, Me.P, Low, FE.Contract, Error))
      return nullptr;
  }
  Me.FromNvcc = FromNvcc;
  Me.DeviceCode = FromNvcc ? "nvcc's" : "clang's";
  if (!Given.NotNvcc.empty()) {
    Me.DeviceCode += ", not nvcc's: " + Given.NotNvcc;
    if (Opts.Note)
      Opts.Note("device code is " + Me.DeviceCode);
  }
  if (Opts.Whose)
    Opts.Whose(FromNvcc ? 'n' : Given.Refused ? 'r' : 'c');
  if (FromNvcc) {
    options().WholeVectors = true;
    // As ptxas meets it: registers are values, nothing else has changed.
    registersToValues(*Device);
    const auto Fused = contractLikePtxas(*Device);
    for (const Function &F : *Device)
      if (!F.isDeclaration())
        Me.Sums[F.getName().str()] = sumForms(F);
    // Functions that are called are inlined here, and need not be there.
    if (Opts.MachineCode && Opts.Note && !Fused.empty() &&
        !StringRef(Given.PtxText).contains(".func "))
      for (const std::string &Line :
           compareFusion(FE.CudaPath, FE.Arch, Given.PtxText, Fused))
        Opts.Note(Line);
  }
  expandFlushes(*Device);
  if (Opts.Overflow)
    checkOverflow(*Device, Low);
  settleNaNs(*Device, Opts.Symbolic);
  dump(*Device, Opts.DumpDir, "device-1-lowered");
  if (FromNvcc && Opts.Quickly)
    simplify(*Device); // nvcc has optimised it
  else
    optimise(*Device, **TM, /*Final=*/false);
  contractProducts(*Device);
  expandStateFields(*Device);
  dump(*Device, Opts.DumpDir, "device-2-optimised");
  for (const Function &F : *Device)
    for (const Instruction &Inst : instructions(F))
      if (auto *A = dyn_cast<AtomicRMWInst>(&Inst))
        Me.OrderDependent |= A->isFloatingPointOperation() || !A->use_empty();
      else
        Me.OrderDependent |= isa<AtomicCmpXchgInst>(Inst);
  if (Opts.Symbolic) {
    flattenBranches(*Device);
    instrumentExpressions(*Device, Low);
  }
  else {
    instrument(*Device, Low, Opts.Checks, Opts.Definedness);
  }
  expandStateFields(*Device); // those of the checks
  dump(*Device, Opts.DumpDir, "device-3-instrumented");
  Opts.Quickly ? simplify(*Device) : optimise(*Device, **TM, /*Final=*/true);
  dump(*Device, Opts.DumpDir, "device-4-final");
  std::string Broken;
  raw_string_ostream BrokenStream(Broken);
  if (verifyModule(*Device, &BrokenStream)) {
    Error = "internal error: the lowered module is broken: " + Broken;
    return nullptr;
  }
  addSites(std::move(Low.Sites));

  auto Jit = LLJITBuilder().setJITTargetMachineBuilder(*Machine).create();
  if (!Jit) {
    Error = text(Jit.takeError());
    return nullptr;
  }
  Me.Jit = std::move(*Jit);
  JITDylib &Main = Me.Jit->getMainJITDylib();
  SymbolMap Symbols;
  for (auto &[Name, Address] : runtimeSymbols())
    Symbols[Me.Jit->mangleAndIntern(Name)] = {ExecutorAddr::fromPtr(Address),
                                              JITSymbolFlags::Exported};
  auto Fail = [&](llvm::Error E) {
    Error = text(std::move(E));
    return nullptr;
  };
  // The runtime first: a library that is loaded must not take its place.
  JITDylib &Api = Me.Jit->getExecutionSession().createBareJITDylib("cuda");
  if (auto E = Api.define(absoluteSymbols(std::move(Symbols))))
    return Fail(std::move(E));
  JITDylibSearchOrder Searched;
  Main.withLinkOrderDo([&](const JITDylibSearchOrder &O) { Searched = O; });
  Searched.insert(Searched.begin() + (!Searched.empty() && Searched[0].first == &Main),
                  {&Api, JITDylibLookupFlags::MatchExportedSymbolsOnly});
  Main.setLinkOrder(std::move(Searched), /*LinkAgainstThisJITDylibFirst=*/false);
  auto Process = DynamicLibrarySearchGenerator::GetForCurrentProcess(
      Me.Jit->getDataLayout().getGlobalPrefix());
  if (!Process)
    return Fail(Process.takeError());
  JITDylib &Libc = Me.Jit->getExecutionSession().createBareJITDylib("libc");
  Libc.addGenerator(std::move(*Process));
  Main.addToLinkOrder(Libc);

  std::set<std::string> Known = {"cudaGetDeviceProperties", "cudaGetDeviceProperties_v2",
                                 "cudaFuncGetAttributes", "cudaPointerGetAttributes"};
  for (auto &[Name, Address] : runtimeSymbols())
    Known.insert(Name);
  for (auto &[C, Host] : Hosts) // what one file has, another may use
    for (const Function &F : *Host)
      if (!F.isDeclaration())
        Known.insert(F.getName().str());
  // Compile the shim only for programs that need it, as plain C++: the headers
  // of CUDA's language cost more than all of it.
  std::string Lacking;
  sys::DynamicLibrary::LoadLibraryPermanently(nullptr);
  for (auto &[C, Host] : Hosts) {
    std::vector<std::string> Names;
    std::string L = missing(*Host, Known, *Me.Jit, &Names);
    if (Opts.StubMissing)
      stub(*Host, Names, *Me.Jit);
    else if (!L.empty())
      Lacking += (Lacking.empty() ? "" : ", ") + L;
  }
  if (!Lacking.empty()) {
    Error = "this runtime does not have " + Lacking + ", which the program uses";
    return nullptr;
  }
  for (const char *Name :
       {"cudaGetDeviceProperties", "cudaGetDeviceProperties_v2",
        "cudaFuncGetAttributes", "cudaPointerGetAttributes"})
    if (any_of(Hosts, [&](auto &H) {
          const Function *F = H.second->getFunction(Name);
          return F && F->isDeclaration() && !F->use_empty();
        })) {
      auto ShimContext = std::make_unique<LLVMContext>();
      std::string Log;
      FrontendOptions Plain = FE;
      Plain.Flags.clear();
      auto Shim = compile(*ShimContext, Side::Plain, ShimFile, Plain, Log);
      if (!Shim) {
        Error = Log;
        return nullptr;
      }
      if (auto E = Me.Jit->addIRModule(
              ThreadSafeModule(std::move(Shim), std::move(ShimContext))))
        return Fail(std::move(E));
      break;
    }

  for (auto &[C, Host] : Hosts) {
    placeManaged(*Host, Me.P);
    dump(*Host, Opts.DumpDir, "host");
  }
  if (auto E = Me.Jit->addIRModule(
          ThreadSafeModule(std::move(Device), std::move(DeviceContext))))
    return Fail(std::move(E));
  for (auto &[HostContext, Host] : Hosts)
    if (auto E = Me.Jit->addIRModule(
            ThreadSafeModule(std::move(Host), std::move(HostContext))))
      return Fail(std::move(E));

  for (auto &[Kernel, Entry] : Low.Entries) {
    auto Address = Me.Jit->lookup(Entry);
    if (!Address)
      return Fail(Address.takeError());
    Me.P.Kernels[Kernel].Entry = Address->toPtr<void (*)(void **)>();
  }
  for (auto &[At, Function] : Low.FunctionFixups) {
    auto Address = Me.Jit->lookup(Function);
    if (!Address)
      return Fail(Address.takeError());
    void *P = Address->toPtr<void *>();
    memcpy(At, &P, sizeof(P));
  }
  // A crash from here on is the program's, as far as anybody can tell.
  sys::unregisterHandlers();
  if (Opts.BeforeUserCode)
    Opts.BeforeUserCode();
  setRegisteringProgram(&Me.P);
  if (auto E = Me.Jit->initialize(Main))
    return Fail(std::move(E));
  setRegisteringProgram(nullptr);
  return Result;
}

void *CompiledProgram::lookup(const std::string &Name) {
  auto Address = I->Jit->lookup(Name);
  if (!Address) {
    consumeError(Address.takeError());
    return nullptr;
  }
  return Address->toPtr<void *>();
}

int CompiledProgram::runMain(const std::vector<std::string> &Args) {
  auto *Main = reinterpret_cast<int (*)(int, char **, char **)>(lookup("main"));
  if (!Main)
    return -1;
  std::vector<char *> Argv;
  for (const std::string &A : Args)
    Argv.push_back(const_cast<char *>(A.c_str()));
  Argv.push_back(nullptr);
  return Main(Args.size(), Argv.data(), environ);
}

void CompiledProgram::runExitHandlers() {
  if (auto E = I->Jit->deinitialize(I->Jit->getMainJITDylib()))
    consumeError(std::move(E));
}

} // namespace rcache::check
