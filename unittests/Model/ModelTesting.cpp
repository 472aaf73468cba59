// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModelTesting.h"
#include "rcache/ModelBuilder.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>
#include <sstream>

using namespace clang;

namespace rcache {
namespace {

const char *const StandIns = R"(
#pragma clang system_header
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
typedef unsigned long size_t;
typedef struct CUstream_st *cudaStream_t;
enum cudaError_t { cudaSuccess };
struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1)
      : x(x), y(y), z(z) {}
};
struct float4 { float x, y, z, w; };
struct float2 { float x, y; };
extern "C" cudaError_t cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
extern "C" cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
extern "C" __device__ cudaError_t cudaLaunchDevice(void *, void *, dim3, dim3, unsigned, cudaStream_t);
extern "C" __device__ void *cudaGetParameterBuffer(size_t, size_t);
template <class T> cudaError_t cudaLaunchKernel(const T *f, dim3 g, dim3 b, void **a,
                                                size_t s = 0, cudaStream_t t = 0) {
  return cudaLaunchKernel((const void *)f, g, b, a, s, t);
}
__device__ int min(int, int);
__device__ int max(int, int);
__device__ unsigned min(unsigned, unsigned);
__device__ unsigned max(unsigned, unsigned);
__device__ int abs(int);
__device__ float fabsf(float);
__device__ float __ldg(const float *);
__device__ int __ldg(const int *);
__device__ int atomicAdd(int *, int);
__device__ float atomicAdd(float *, float);
__device__ int __umul24(unsigned, unsigned);
__device__ void __syncwarp(unsigned = ~0u);
__device__ float __shfl_down_sync(unsigned, float, unsigned, int = 32);
extern "C" __device__ int printf(const char *, ...);
namespace cooperative_groups {
struct thread_block {
  __device__ void sync() const;
  __device__ unsigned thread_rank() const;
};
__device__ thread_block this_thread_block();
template <class G> __device__ void sync(const G &g);
}
)";

class Action : public ASTFrontendAction {
public:
  explicit Action(Parsed &P) : Out(P) {}
  bool BeginSourceFileAction(CompilerInstance &CI) override {
    Recorder = std::make_unique<TokenRecorder>(CI.getPreprocessor());
    return true;
  }
  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &CI,
                                                 StringRef) override {
    class Consumer : public ASTConsumer {
    public:
      Consumer(Action &A, CompilerInstance &CI) : A(A), CI(CI) {}
      void HandleTranslationUnit(ASTContext &AC) override {
        A.Out.Models = buildModels(AC, CI.getPreprocessor(), *A.Recorder);
        A.Out.Ok = !CI.getDiagnostics().hasErrorOccurred();
      }
      Action &A;
      CompilerInstance &CI;
    };
    return std::make_unique<Consumer>(*this, CI);
  }
  Parsed &Out;
  std::unique_ptr<TokenRecorder> Recorder;
};

const char *const ResourceDir = "/usr/lib/llvm-22/lib/clang/22";

} // namespace

Parsed parse(const std::string &Code,
             const std::vector<std::pair<std::string, std::string>> &Headers) {
  Parsed P;
  tooling::FileContentMappings Files = {{"/cuda/stand_ins.h", StandIns}};
  for (auto &[Name, Text] : Headers)
    Files.push_back({"/src/" + Name, Text});
  std::vector<std::string> Args = {"-x",
                                   "cuda",
                                   "--cuda-device-only",
                                   "--cuda-gpu-arch=sm_90",
                                   "-nocudainc",
                                   "-nocudalib",
                                   "-fgpu-rdc",
                                   "-std=c++17",
                                   "-I/src",
                                   "-include",
                                   "/cuda/stand_ins.h",
                                   "-include",
                                   "__clang_cuda_builtin_vars.h",
                                   "-resource-dir",
                                   ResourceDir,
                                   "-w"};
  tooling::runToolOnCodeWithArgs(
      std::make_unique<Action>(P), Code, Args, "/src/test.cu", "clang-tool",
      std::make_shared<PCHContainerOperations>(), Files);
  return P;
}

Parsed parseFile(const std::string &Path,
                 const std::vector<std::string> &Args) {
  Parsed P;
  auto Buffer = llvm::MemoryBuffer::getFile(Path);
  if (!Buffer)
    return P;
  std::vector<std::string> All = {"-x",
                                  "cuda",
                                  "--cuda-device-only",
                                  "--cuda-gpu-arch=sm_90",
                                  "-resource-dir",
                                  ResourceDir,
                                  "-Wno-unknown-cuda-version"};
  All.insert(All.end(), Args.begin(), Args.end());
  tooling::runToolOnCodeWithArgs(std::make_unique<Action>(P),
                                 (*Buffer)->getBuffer(), All, Path);
  return P;
}

const KernelModel &Parsed::only() const {
  EXPECT_EQ(Models.size(), 1u);
  static KernelModel Empty;
  return Models.empty() ? Empty : *Models.front();
}

std::string Parsed::declines() const {
  std::string S;
  for (const Decline &D : only().Declines)
    S += (S.empty() ? "" : " ") + spelling(D.Code);
  return S;
}

const SharedAccess &access(const KernelModel &M, const std::string &Text,
                           unsigned Nth) {
  for (const SharedAccess &A : M.SharedAccesses)
    if (M.text(A.Range) == Text && Nth-- == 0)
      return A;
  ADD_FAILURE() << "no access " << Text << " in\n" << print(M);
  static SharedAccess None;
  return None;
}

std::string index(const KernelModel &M, const std::string &Text, unsigned Nth) {
  std::ostringstream OS;
  const SharedAccess &A = access(M, Text, Nth);
  if (!A.Affine)
    return "not affine";
  for (size_t I = 0; I < A.Index.size(); ++I)
    OS << (I ? "; " : "") << A.Index[I];
  return OS.str();
}

bool same(const KernelModel &M, const isl::set &Domain,
          const std::string &Notation) {
  isl::set Want(M.Ctx->ctx(), Notation);
  bool R = Domain.intersect(M.Context).is_equal(Want.intersect(M.Context));
  if (!R) {
    std::ostringstream OS;
    OS << Domain;
    ADD_FAILURE() << "got  " << OS.str() << "\nwant " << Notation;
  }
  return R;
}

bool same(const KernelModel &M, const isl::pw_aff &A,
          const std::string &Notation) {
  isl::pw_aff Want(M.Ctx->ctx(), Notation);
  isl::set Context = M.Context;
  bool R = Context.is_subset(A.eq_set(Want));
  if (!R) {
    std::ostringstream OS;
    OS << A;
    ADD_FAILURE() << "got  " << OS.str() << "\nwant " << Notation;
  }
  return R;
}

std::string print(const KernelModel &M) {
  std::string S;
  llvm::raw_string_ostream OS(S);
  M.print(OS);
  return S;
}

} // namespace rcache
