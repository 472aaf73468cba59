// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA runtime API on the CPU: memory, copies, symbols, launches. Types of
// the toolkit are spelled as their ABI (enums are int, handles are pointers), so
// that no toolkit header is needed here. Everything is synchronous; a stream is
// a token. Structures whose layout changes between toolkits are filled by
// ApiShim.inc, which is compiled with the user's own headers.

#include "Api.h"
#include "Exec.h"
#include "HostThreads.h"
#include "Streams.h"
#include "Textures.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <utility>

namespace rcache::check {

namespace {
struct ApiState {
  std::map<const void *, const KernelInfo *> Stubs;
  std::map<const void *, Allocation> Symbols;
  std::map<const void *, uint32_t> MaxDynamic;
  Program *Registering = nullptr;
  int LastError = Success;
  int Sticky = Success;
};
ApiState &api() {
  static ApiState *S = new ApiState;
  return *S;
}
} // namespace

int fail(int E) {
  if (E != Success)
    api().LastError = E;
  return E;
}

int unsupported(const char *What) {
  report(Severity::Error, "unsupported", nullptr, nullptr, 0,
         std::string("this checker has no ") + What);
  return fail(NotSupported);
}

int copy(void *Dst, const void *Src, size_t N) {
  if (N == 0)
    return Success;
  if (!Dst || !Src)
    return fail(InvalidValue);
  for (const void *P : {static_cast<const void *>(Dst), Src})
    if (inArena(P) && accessibleBytes(uint64_t(P), N) < N)
      return fail(InvalidValue);
  memmove(Dst, Src, N);
  copyShadow(Dst, Src, N);
  return Success;
}
int fill(void *Dst, int Value, size_t N) {
  if (N == 0)
    return Success;
  if (!inArena(Dst) || accessibleBytes(uint64_t(Dst), N) < N)
    return fail(InvalidValue);
  memset(Dst, Value, N);
  markDefined(Dst, N, true);
  return Success;
}
int copy2D(char *Dst, size_t DPitch, const char *Src, size_t SPitch,
           size_t Width, size_t Height) {
  if (Width > DPitch || Width > SPitch)
    return fail(InvalidPitch);
  for (size_t Y = 0; Y < Height; ++Y)
    if (int E = copy(Dst + Y * DPitch, Src + Y * SPitch, Width))
      return E;
  return Success;
}
int inStream(void *Stream, std::function<int()> Work) {
  return captured(Stream, Work) ? int(Success) : Work();
}

namespace {
struct Config {
  Dim3 Grid, Block;
  size_t Shared;
  void *Stream;
};
thread_local std::vector<Config> Configs;

struct HostDim3 {
  unsigned X, Y, Z;
};
Dim3 dim(HostDim3 D) { return {D.X, D.Y, D.Z}; }

struct Event {
  bool Timed = true;
  std::chrono::steady_clock::time_point At;
};

/// A kernel's stub, or the kernel handle that some APIs use instead.
const KernelInfo *kernelFor(const void *Stub) {
  auto It = api().Stubs.find(Stub);
  return It == api().Stubs.end() ? nullptr : It->second;
}
constexpr size_t Multiprocessors = 4;
size_t blocksPerMultiprocessor(const KernelInfo &K, size_t Threads,
                               size_t Shared) {
  return std::min<size_t>({2048 / ((Threads + 31) & ~size_t(31)), 32,
                           (228u << 10) / (K.StaticShared + Shared + 1024)});
}
/// The most blocks that may wait for each other.
size_t residentBlocks(const KernelInfo &K, size_t Threads, size_t Shared) {
  return Multiprocessors * blocksPerMultiprocessor(K, Threads, Shared);
}
/// What the API says of a launch that was given up.
int abandonedBy() {
  const std::string Kind = lastErrorKind();
  return Kind == "assertion"    ? Assert
         : Kind == "trap"       ? LaunchFailure
         : Kind == "misaligned" ? MisalignedAddress
         : Kind == "timeout"    ? LaunchTimeout
                                : IllegalAddress;
}
/// The place of the host's text that is about to launch.
thread_local uint32_t LaunchedAt = 0;

/// The most shared memory of a block, and without an attribute that allows it.
constexpr uint32_t MostShared = 227 << 10, UsualShared = 48 << 10;
/// The most dynamic shared memory of a launch.
uint32_t maxDynamic(const void *Stub, const KernelInfo &K) {
  if (auto It = api().MaxDynamic.find(Stub); It != api().MaxDynamic.end())
    return It->second;
  return K.StaticShared < UsualShared ? UsualShared - K.StaticShared : 0;
}

int launch(const void *Stub, Dim3 Grid, Dim3 Block, void **Args, size_t Shared,
           void *Stream, bool Cooperative) {
  if (api().Sticky)
    return fail(api().Sticky);
  const KernelInfo *K = kernelFor(Stub);
  if (!K)
    return fail(InvalidDeviceFunction);
  if (!Grid.count() || !Block.count() || Block.count() > K->MaxThreads ||
      Block.X > 1024 || Block.Y > 1024 || Block.Z > 64 || Grid.Y > 65535 ||
      Grid.Z > 65535 || Grid.X > 0x7fffffff)
    return fail(InvalidValue); // what CUDA 13 says; 9 before
  if (Shared > maxDynamic(Stub, *K) || Shared + K->StaticShared > MostShared)
    return fail(InvalidValue);
  if (Cooperative && Grid.count() > residentBlocks(*K, Block.count(), Shared))
    return fail(CooperativeLaunchTooLarge);
  Launch L;
  L.Kernel = K;
  L.Grid = Grid;
  L.Block = Block;
  L.DynamicShared = Shared;
  L.Args = Args;
  L.Cooperative = Cooperative;
  L.HostSite = std::exchange(LaunchedAt, 0);
  L.Ranges = &K->Ranges;
  auto Run = [](Launch L) {
    return runGrid(L) ? int(Success) : fail(api().Sticky = abandonedBy());
  };
  // A graph keeps the arguments as they are now.
  auto Kept = std::make_shared<std::vector<std::vector<char>>>();
  for (size_t I = 0; I < K->ArgSizes.size(); ++I) {
    auto *At = static_cast<char *>(Args[I]);
    Kept->emplace_back(At, At + K->ArgSizes[I]);
  }
  if (captured(Stream, [=] {
        std::vector<void *> Pointers;
        for (std::vector<char> &A : *Kept)
          Pointers.push_back(A.data());
        Launch Again = L;
        Again.Args = Pointers.data();
        return Run(Again);
      }))
    return Success;
  return Run(L);
}
} // namespace

void setRegisteringProgram(Program *P) { api().Registering = P; }
const KernelInfo *kernelOfStub(const void *Stub) { return kernelFor(Stub); }
void resetDeviceError() { api().Sticky = api().LastError = Success; }

extern "C" {

//===--- Registration -----------------------------------------------------===//

void **__cudaRegisterFatBinary(void *) {
  static void *Handle[2];
  return Handle;
}
void __cudaRegisterFatBinaryEnd(void **) {}
void __cudaUnregisterFatBinary(void **) {}
int __cudaRegisterFunction(void **, const void *Host, char *, const char *Name,
                           int, void *, void *, void *, void *, int *) {
  Program *P = api().Registering;
  if (!P)
    return 0;
  if (auto It = P->Kernels.find(Name); It != P->Kernels.end())
    api().Stubs[Host] = &It->second;
  return 0;
}
void __cudaRegisterVar(void **, char *Host, char *, const char *Name, int,
                       size_t, int, int) {
  Program *P = api().Registering;
  if (!P)
    return;
  if (auto It = P->Globals.find(Name); It != P->Globals.end())
    api().Symbols[Host] = It->second;
}
void __cudaRegisterManagedVar(void **, void **Host, char *, const char *Name,
                              size_t, unsigned) {
  Program *P = api().Registering;
  if (!P)
    return;
  if (auto It = P->Globals.find(Name); It != P->Globals.end()) {
    *Host = It->second.Base;
    api().Symbols[Host] = It->second;
  }
}
void rcc_launch_at(uint32_t Site, uint32_t Begins) {
  if (Begins || !LaunchedAt) // a stub that was inlined follows its caller
    LaunchedAt = Site;
}
unsigned __cudaPushCallConfiguration(HostDim3 Grid, HostDim3 Block,
                                     size_t Shared, void *Stream) {
  Configs.push_back({dim(Grid), dim(Block), Shared, Stream});
  return 0;
}
int __cudaPopCallConfiguration(HostDim3 *Grid, HostDim3 *Block, size_t *Shared,
                               void **Stream) {
  if (Configs.empty())
    return fail(InvalidConfiguration);
  Config C = Configs.back();
  Configs.pop_back();
  *Grid = {C.Grid.X, C.Grid.Y, C.Grid.Z};
  *Block = {C.Block.X, C.Block.Y, C.Block.Z};
  *Shared = C.Shared;
  *Stream = C.Stream;
  return Success;
}

//===--- Launch -----------------------------------------------------------===//

int cudaLaunchKernel(const void *Stub, HostDim3 Grid, HostDim3 Block,
                     void **Args, size_t Shared, void *Stream) {
  return launch(Stub, dim(Grid), dim(Block), Args, Shared, Stream, false);
}
int cudaLaunchCooperativeKernel(const void *Stub, HostDim3 Grid, HostDim3 Block,
                                void **Args, size_t Shared, void *Stream) {
  return launch(Stub, dim(Grid), dim(Block), Args, Shared, Stream, true);
}
struct LaunchConfig {
  HostDim3 Grid, Block;
  size_t Shared;
  void *Stream;
  void *Attributes;
  unsigned Count;
};
int cudaLaunchKernelExC(const LaunchConfig *C, const void *Stub, void **Args) {
  return launch(Stub, dim(C->Grid), dim(C->Block), Args, C->Shared, C->Stream,
                false);
}
int cudaGetFuncBySymbol(void **Function, const void *Stub) {
  if (!kernelFor(Stub))
    return fail(InvalidDeviceFunction);
  *Function = const_cast<void *>(Stub);
  return Success;
}
int cudaGetKernel(void **Kernel, const void *Stub) {
  return cudaGetFuncBySymbol(Kernel, Stub);
}
int cudaFuncSetAttribute(const void *Stub, int Attribute, int Value) {
  const KernelInfo *K = kernelFor(Stub);
  if (!K)
    return fail(InvalidDeviceFunction);
  if (Attribute == 8) { // maximum dynamic shared memory
    if (Value < 0 || Value + K->StaticShared > MostShared)
      return fail(InvalidValue);
    api().MaxDynamic[Stub] = Value;
  }
  return Success;
}
int cudaFuncSetCacheConfig(const void *, int) { return Success; }
int cudaFuncSetSharedMemConfig(const void *, int) { return Success; }
int cudaDeviceSetCacheConfig(int) { return Success; }
int cudaDeviceSetSharedMemConfig(int) { return Success; }
/// For the shim: whose memory, 1: device, 2: managed, 3: pinned, 0: unknown.
int rcc_kind_of(const void *P) {
  Allocation A;
  if (!findAllocation(P, A))
    return 0;
  return A.K == Allocation::Managed ? 2 : A.K == Allocation::Host ? 3 : 1;
}
/// For ApiShim.inc: shared bytes, maximum threads and dynamic shared bytes.
int rcc_func_attributes(const void *Stub, size_t *Shared, int *MaxThreads,
                        int *MaxDynamic) {
  const KernelInfo *K = kernelFor(Stub);
  if (!K)
    return fail(InvalidDeviceFunction);
  *Shared = K->StaticShared;
  *MaxThreads = K->MaxThreads;
  *MaxDynamic = maxDynamic(Stub, *K);
  return Success;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *N,
                                                           const void *Stub,
                                                           int Block,
                                                           size_t Shared,
                                                           unsigned) {
  const KernelInfo *K = kernelFor(Stub);
  if (!K)
    return fail(InvalidDeviceFunction);
  if (Block <= 0)
    return fail(InvalidValue);
  *N = blocksPerMultiprocessor(*K, Block, Shared);
  return Success;
}
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *N, const void *Stub,
                                                  int Block, size_t Shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(N, Stub, Block,
                                                                Shared, 0);
}
int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *Bytes, const void *Stub,
                                              int Blocks, int) {
  const KernelInfo *K = kernelFor(Stub);
  if (!K || Blocks <= 0)
    return fail(InvalidValue);
  size_t Each = (228u << 10) / Blocks;
  *Bytes = Each > K->StaticShared + 1024 ? Each - K->StaticShared - 1024 : 0;
  return Success;
}

//===--- Memory -----------------------------------------------------------===//

static int allocateFor(void **P, size_t N, Allocation::Kind K) {
  if (!P)
    return fail(InvalidValue);
  *P = nullptr;
  if (!N)
    return Success;
  if (N > (size_t(140) << 30))
    return fail(OutOfMemory);
  *P = allocate(N, K);
  return *P ? Success : fail(OutOfMemory);
}
int cudaMalloc(void **P, size_t N) {
  return allocateFor(P, N, Allocation::Device);
}
int cudaMallocAsync(void **P, size_t N, void *) {
  return allocateFor(P, N, Allocation::Device);
}
int cudaMallocFromPoolAsync(void **P, size_t N, void *, void *) {
  return allocateFor(P, N, Allocation::Device);
}
int cudaMallocManaged(void **P, size_t N, unsigned) {
  // The host initialises managed memory behind our back: take it as defined.
  int E = allocateFor(P, N, Allocation::Managed);
  if (!E && *P)
    markDefined(*P, N, true);
  return E;
}
int cudaHostAlloc(void **P, size_t N, unsigned) {
  return allocateFor(P, N, Allocation::Host);
}
int cudaMallocHost(void **P, size_t N) {
  return allocateFor(P, N, Allocation::Host);
}
int cudaMallocPitch(void **P, size_t *Pitch, size_t Width, size_t Height) {
  *Pitch = (Width + 511) & ~size_t(511);
  return allocateFor(P, *Pitch * Height, Allocation::Device);
}
int cudaFree(void *P) {
  if (!P)
    return Success;
  return release(P) ? Success : fail(InvalidValue);
}
int cudaFreeAsync(void *P, void *) { return cudaFree(P); }
int cudaFreeHost(void *P) { return cudaFree(P); }
int cudaHostGetDevicePointer(void **D, void *H, unsigned) {
  if (!inArena(H))
    return fail(InvalidValue);
  *D = H;
  return Success;
}
/// Copies from and to such memory work; kernels cannot see it.
int cudaHostRegister(void *, size_t, unsigned) { return Success; }
int cudaDeviceGetDefaultMemPool(void **Pool, int) {
  static char Default;
  return *Pool = &Default, Success;
}
int cudaDeviceGetMemPool(void **Pool, int D) {
  return cudaDeviceGetDefaultMemPool(Pool, D);
}
int cudaMemPoolSetAttribute(void *, int, void *) { return Success; }
int cudaMemPoolTrimTo(void *, size_t) { return Success; }
int cudaHostUnregister(void *) { return Success; }
int cudaMemGetInfo(size_t *Free, size_t *Total) {
  *Free = *Total = size_t(140) << 30;
  return Success;
}
int cudaMemcpy(void *D, const void *S, size_t N, int) { return copy(D, S, N); }
int cudaMemcpyAsync(void *D, const void *S, size_t N, int, void *Stream) {
  return inStream(Stream, [=] { return copy(D, S, N); });
}
int cudaMemcpyPeer(void *D, int, const void *S, int, size_t N) {
  return copy(D, S, N);
}
int cudaMemcpyPeerAsync(void *D, int, const void *S, int, size_t N, void *) {
  return copy(D, S, N);
}
int cudaMemcpy2D(void *D, size_t DP, const void *S, size_t SP, size_t W,
                 size_t H, int) {
  return copy2D(static_cast<char *>(D), DP, static_cast<const char *>(S), SP, W,
                H);
}
int cudaMemcpy2DAsync(void *D, size_t DP, const void *S, size_t SP, size_t W,
                      size_t H, int, void *Stream) {
  return inStream(Stream, [=] { return cudaMemcpy2D(D, DP, S, SP, W, H, 0); });
}
int cudaMemset(void *D, int V, size_t N) { return fill(D, V, N); }
int cudaMemsetAsync(void *D, int V, size_t N, void *Stream) {
  return inStream(Stream, [=] { return fill(D, V, N); });
}
int cudaMemset2D(void *D, size_t Pitch, int V, size_t W, size_t H) {
  for (size_t Y = 0; Y < H; ++Y)
    if (int E = fill(static_cast<char *>(D) + Y * Pitch, V, W))
      return E;
  return Success;
}
int cudaMemset2DAsync(void *D, size_t Pitch, int V, size_t W, size_t H,
                      void *) {
  return cudaMemset2D(D, Pitch, V, W, H);
}
//===--- Symbols ----------------------------------------------------------===//

static const Allocation *symbol(const void *S) {
  auto It = api().Symbols.find(S);
  return It == api().Symbols.end() ? nullptr : &It->second;
}
int cudaGetSymbolAddress(void **P, const void *S) {
  const Allocation *A = symbol(S);
  if (!A)
    return fail(InvalidSymbol);
  *P = A->Base;
  return Success;
}
int cudaGetSymbolSize(size_t *N, const void *S) {
  const Allocation *A = symbol(S);
  if (!A)
    return fail(InvalidSymbol);
  *N = A->Size;
  return Success;
}
int cudaMemcpyToSymbol(const void *S, const void *Src, size_t N, size_t Off,
                       int) {
  const Allocation *A = symbol(S);
  if (!A)
    return fail(InvalidSymbol);
  return Off + N > A->Size ? fail(InvalidValue) : copy(A->Base + Off, Src, N);
}
int cudaMemcpyToSymbolAsync(const void *S, const void *Src, size_t N,
                            size_t Off, int K, void *) {
  return cudaMemcpyToSymbol(S, Src, N, Off, K);
}
int cudaMemcpyFromSymbol(void *Dst, const void *S, size_t N, size_t Off, int) {
  const Allocation *A = symbol(S);
  if (!A)
    return fail(InvalidSymbol);
  return Off + N > A->Size ? fail(InvalidValue) : copy(Dst, A->Base + Off, N);
}
int cudaMemcpyFromSymbolAsync(void *Dst, const void *S, size_t N, size_t Off,
                              int K, void *) {
  return cudaMemcpyFromSymbol(Dst, S, N, Off, K);
}

//===--- Device, errors, streams, events ----------------------------------===//

int cudaGetDeviceCount(int *N) { return *N = 1, Success; }
int cudaGetDevice(int *D) { return *D = 0, Success; }
int cudaSetDevice(int D) { return D == 0 ? Success : fail(InvalidDevice); }
int cudaSetDeviceFlags(unsigned) { return Success; }
int cudaInitDevice(int, unsigned, unsigned) { return Success; }
int cudaChooseDevice(int *D, const void *) { return *D = 0, Success; }
int cudaDeviceReset() { return Success; }
int cudaThreadExit() { return Success; }
int cudaDeviceSynchronize() { return api().Sticky; }
int cudaThreadSynchronize() { return api().Sticky; }
int cudaDeviceGetPCIBusId(char *Id, int N, int Device) {
  static const char Text[] = "0000:00:00.0";
  if (Device != 0)
    return fail(InvalidDevice);
  if (!Id || N < int(sizeof(Text)))
    return fail(InvalidValue);
  memcpy(Id, Text, sizeof(Text));
  return Success;
}
int cudaDeviceGetByPCIBusId(int *D, const char *Id) {
  if (!D || !Id)
    return fail(InvalidValue);
  return strcmp(Id, "0000:00:00.0") ? fail(InvalidDevice) : (*D = 0, Success);
}
int cudaDriverGetVersion(int *V) { return *V = 13000, Success; }
int cudaRuntimeGetVersion(int *V) { return *V = 13000, Success; }
int cudaDeviceSetLimit(int, size_t) { return Success; }
int cudaDeviceGetLimit(size_t *V, int) { return *V = 8 << 20, Success; }
int cudaDeviceCanAccessPeer(int *Can, int, int) { return *Can = 0, Success; }
int cudaDeviceEnablePeerAccess(int, unsigned) { return fail(InvalidDevice); }
int cudaDeviceGetStreamPriorityRange(int *L, int *G) {
  return *L = *G = 0, Success;
}
int cudaProfilerStart() { return Success; }
int cudaProfilerStop() { return Success; }
/// The figures of an H200 where a program can depend on them, few
/// multiprocessors otherwise: grids sized by the device stay small.
int cudaDeviceGetAttribute(int *V, int Attribute, int Device) {
  static const std::map<int, int> Values = {
      {1, 1024},        {2, 1024},      {3, 1024},    {4, 64},
      {5, 0x7fffffff},  {6, 65535},     {7, 65535},   {8, 48 << 10},
      {9, 64 << 10},    {10, 32},       {12, 65536},  {13, 1980000},
      {15, 1},          {16, 4},        {18, 0},      {19, 1},
      {31, 1},          {36, 3201000},  {37, 6144},   {38, 50 << 20},
      {39, 2048},       {41, 1},        {75, 9},      {76, 0},
      {81, 228 << 10},  {82, 65536},    {83, 1},      {88, 1},
      {89, 1},          {95, 1},        {97, 227 << 10}, {106, 32},
      {111, 1 << 10},   {115, 1}};
  if (Device != 0)
    return fail(InvalidDevice);
  auto It = Values.find(Attribute);
  *V = It == Values.end() ? 0 : It->second;
  return Success;
}
int cudaGetLastError() {
  int E = api().LastError;
  api().LastError = api().Sticky;
  return E;
}
int cudaPeekAtLastError() { return api().LastError; }
static const struct {
  int Code;
  const char *Name, *Text;
} Errors[] = {
    {Success, "cudaSuccess", "no error"},
    {InvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {OutOfMemory, "cudaErrorMemoryAllocation", "out of memory"},
    {InvalidConfiguration, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {InvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {InvalidDevicePointer, "cudaErrorInvalidDevicePointer",
     "invalid device pointer"},
    {InvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor",
     "invalid channel descriptor"},
    {InvalidFilterSetting, "cudaErrorInvalidFilterSetting",
     "linear filtering not supported for non-float type"},
    {InvalidNormSetting, "cudaErrorInvalidNormSetting",
     "read as normalized float not supported for 32-bit non float type"},
    {InvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
     "invalid device function"},
    {InvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {InvalidPitch, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {InvalidHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {LaunchTimeout, "cudaErrorLaunchTimeout",
     "the launch timed out and was terminated"},
    {Assert, "cudaErrorAssert", "device-side assert triggered"},
    {MisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {LaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {600, "cudaErrorNotReady", "device not ready"},
    {IllegalAddress, "cudaErrorIllegalAddress",
     "an illegal memory access was encountered"},
    {CooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {NotSupported, "cudaErrorNotSupported", "operation not supported"},
};
const char *cudaGetErrorString(int E) {
  for (auto &X : Errors)
    if (X.Code == E)
      return X.Text;
  return "unrecognized error code";
}
const char *cudaGetErrorName(int E) {
  for (auto &X : Errors)
    if (X.Code == E)
      return X.Name;
  return "unrecognized error code";
}

int cudaStreamCreate(void **S) { return *S = new char, Success; }
int cudaStreamCreateWithFlags(void **S, unsigned) {
  return *S = new char, Success;
}
int cudaStreamCreateWithPriority(void **S, unsigned, int) {
  return *S = new char, Success;
}
int cudaStreamDestroy(void *S) {
  forgetStream(S);
  delete static_cast<char *>(S);
  return Success;
}
int cudaStreamSynchronize(void *) { return api().Sticky; }
int cudaStreamQuery(void *) { return api().Sticky; }
int cudaStreamWaitEvent(void *S, void *E, unsigned) {
  captureWait(S, E);
  return Success;
}
int cudaStreamAttachMemAsync(void *, void *, size_t, unsigned) {
  return Success;
}
int cudaMemPrefetchAsync(const void *, size_t, ...) { return Success; }
int cudaMemAdvise(const void *, size_t, int, ...) { return Success; }
int cudaEventCreate(void **E) { return *E = new Event, Success; }
int cudaEventCreateWithFlags(void **E, unsigned Flags) {
  auto *New = new Event;
  New->Timed = !(Flags & 2); // cudaEventDisableTiming
  return *E = New, Success;
}
int cudaEventDestroy(void *E) {
  delete static_cast<Event *>(E);
  return Success;
}
int cudaEventRecord(void *E, void *S) {
  captureRecord(E, S);
  static_cast<Event *>(E)->At = std::chrono::steady_clock::now();
  return Success;
}
int cudaEventRecordWithFlags(void *E, void *S, unsigned) {
  return cudaEventRecord(E, S);
}
int cudaEventSynchronize(void *) { return api().Sticky; }
int cudaEventQuery(void *) { return api().Sticky; }
int cudaEventElapsedTime(float *Ms, void *A, void *B) {
  if (!static_cast<Event *>(A)->Timed || !static_cast<Event *>(B)->Timed)
    return fail(InvalidHandle);
  *Ms = std::chrono::duration<float, std::milli>(static_cast<Event *>(B)->At -
                                                 static_cast<Event *>(A)->At)
            .count();
  return Success;
}
int cudaLaunchHostFunc(void *S, void (*Fn)(void *), void *Data) {
  return inStream(S, [=] {
    Fn(Data);
    return int(Success);
  });
}
int cudaStreamAddCallback(void *S, void (*Fn)(void *, int, void *), void *Data,
                          unsigned) {
  Fn(S, api().Sticky, Data);
  return Success;
}

//===--- Driver entry points ----------------------------------------------===//

int cuMemGetAddressRange_v2(uint64_t *Base, size_t *Size, uint64_t P) {
  Allocation A;
  if (!findAllocation(reinterpret_cast<void *>(P), A))
    return InvalidValue;
  if (Base)
    *Base = reinterpret_cast<uint64_t>(A.Base);
  if (Size)
    *Size = A.Size;
  return Success;
}
int cuMemGetAddressRange(uint64_t *Base, size_t *Size, uint64_t P) {
  return cuMemGetAddressRange_v2(Base, Size, P);
}
int cuInit(unsigned) { return Success; }
static void *driverEntry(const char *Name) {
  // As the driver does: the name without a version's suffix, and no other.
  if (!strcmp(Name, "cuMemGetAddressRange"))
    return reinterpret_cast<void *>(&cuMemGetAddressRange_v2);
  if (!strcmp(Name, "cuInit"))
    return reinterpret_cast<void *>(&cuInit);
  return nullptr;
}
int cudaGetDriverEntryPoint(const char *Name, void **Fn, unsigned long long,
                            int *Status) {
  *Fn = driverEntry(Name);
  if (Status)
    *Status = *Fn ? 0 : 1;
  return *Fn ? Success : fail(NotSupported);
}
int cudaGetDriverEntryPointByVersion(const char *Name, void **Fn, unsigned,
                                     unsigned long long F, int *Status) {
  return cudaGetDriverEntryPoint(Name, Fn, F, Status);
}

} // extern "C"

std::vector<std::pair<std::string, void *>> deviceSymbols();
std::vector<std::pair<std::string, void *>> expressionSymbols();

#define API(NAME)                                                              \
  { #NAME, reinterpret_cast<void *>(&NAME) }
std::vector<std::pair<std::string, void *>> runtimeSymbols() {
  std::vector<std::pair<std::string, void *>> R = {
#include "ApiNames.inc"
  };
  for (auto &&List : {graphSymbols(), volumeSymbols(), textureSymbols(), threadSymbols()})
    R.insert(R.end(), List.begin(), List.end());
  // The per-thread default stream changes nothing here.
  size_t N = R.size();
  for (size_t I = 0; I < N; ++I)
    if (R[I].first.compare(0, 4, "cuda") == 0)
      for (const char *Suffix : {"_ptsz", "_ptds"})
        R.emplace_back(R[I].first + Suffix, R[I].second);
  for (auto &S : deviceSymbols())
    R.push_back(S);
  for (auto &S : expressionSymbols())
    R.push_back(S);
  return R;
}
#undef API

} // namespace rcache::check
