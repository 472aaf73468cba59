/* Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of the CUDA language that kernels need, without a toolkit, for
 *   -nocudainc -nocudalib -include cuda.h
 * The syntax trees are those that the toolkit's headers give. */
#ifndef RCACHE_TEST_CUDA_H
#define RCACHE_TEST_CUDA_H

/* As the toolkit's own headers are. */
#pragma GCC system_header

typedef __SIZE_TYPE__ size_t;

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned x = 1, unsigned y = 1,
                                     unsigned z = 1)
      : x(x), y(y), z(z) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const {
    return uint3{x, y, z};
  }
};

struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(8))) int2 { int x, y; };
struct __attribute__((aligned(16))) int4 { int x, y, z, w; };
struct __attribute__((aligned(8))) uint2 { unsigned x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
struct __attribute__((aligned(4))) uchar4 { unsigned char x, y, z, w; };
static inline __host__ __device__ float2 make_float2(float x, float y) {
  return float2{x, y};
}
static inline __host__ __device__ float4 make_float4(float x, float y, float z,
                                                     float w) {
  return float4{x, y, z, w};
}

typedef enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
typedef struct CUstream_st *cudaStream_t;
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};

extern "C" {
cudaError_t cudaMalloc(void **p, size_t n);
cudaError_t cudaFree(void *p);
cudaError_t cudaMemcpy(void *d, const void *s, size_t n, enum cudaMemcpyKind k);
cudaError_t cudaMemset(void *d, int v, size_t n);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetLastError(void);
cudaError_t cudaStreamCreate(cudaStream_t *s);
struct cudaFuncAttributes {
  int maxThreadsPerBlock, maxDynamicSharedSizeBytes;
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f);
cudaError_t cudaFuncSetAttribute(const void *f, enum cudaFuncAttribute a,
                                 int value);
cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args,
                             size_t shared, cudaStream_t stream);
int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0,
                      cudaStream_t stream = 0);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0,
                                     cudaStream_t stream = 0);
/* What a launch from the device becomes. */
extern "C" __device__ void *cudaGetParameterBuffer(size_t alignment, size_t size);
extern "C" __device__ cudaError_t cudaLaunchDevice(void *f, void *arguments, dim3 grid, dim3 block,
                                                   unsigned shared, cudaStream_t stream);
__host__ __device__ void *memcpy(void *d, const void *s, size_t n);
__host__ __device__ void *memset(void *d, int v, size_t n);
__host__ __device__ int printf(const char *, ...);
}
template <typename T>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *a, T *f) {
  return cudaFuncGetAttributes(a, (const void *)f);
}
template <typename T>
static inline cudaError_t cudaFuncSetAttribute(T *f, cudaFuncAttribute a,
                                               int value) {
  return cudaFuncSetAttribute((const void *)f, a, value);
}
template <typename T> static inline cudaError_t cudaMalloc(T **p, size_t n) {
  return cudaMalloc((void **)p, n);
}
template <typename T>
static inline cudaError_t cudaLaunchKernel(T *f, dim3 grid, dim3 block,
                                           void **args, size_t shared = 0,
                                           cudaStream_t stream = 0) {
  return cudaLaunchKernel((const void *)f, grid, block, args, shared, stream);
}

#include "__clang_cuda_builtin_vars.h"

static __device__ inline int min(int a, int b) { return a < b ? a : b; }
static __device__ inline int max(int a, int b) { return a > b ? a : b; }
extern __device__ float fminf(float a, float b);
extern __device__ float fmaxf(float a, float b);
extern __device__ float fabsf(float a);
extern __device__ float sqrtf(float a);
extern __device__ float expf(float a);
extern __device__ int atomicAdd(int *p, int v);
extern __device__ unsigned atomicAdd(unsigned *p, unsigned v);
extern __device__ float atomicAdd(float *p, float v);
extern __device__ float __ldg(const float *p);
extern __device__ int __shfl_sync(unsigned m, int v, int l, int w = 32);
extern __device__ unsigned __shfl_sync(unsigned m, unsigned v, int l,
                                       int w = 32);
extern __device__ float __shfl_sync(unsigned m, float v, int l, int w = 32);
extern __device__ int __shfl_down_sync(unsigned m, int v, unsigned d, int w = 32);
extern __device__ float __shfl_down_sync(unsigned m, float v, unsigned d,
                                         int w = 32);
extern __device__ int __shfl_xor_sync(unsigned m, int v, int d, int w = 32);
extern __device__ unsigned __ballot_sync(unsigned m, int p);
static __device__ inline void __syncwarp(unsigned m = 0xffffffffu) {
  __nvvm_bar_warp_sync(m);
}

extern __device__ void __pipeline_memcpy_async(void *to, const void *from,
                                               size_t n, size_t zero = 0);
extern __device__ void __pipeline_commit();
extern __device__ void __pipeline_wait_prior(size_t n);

namespace cooperative_groups {
struct grid_group {
  __device__ void sync() const;
};
struct thread_block {
  __device__ void sync() const;
};
__device__ grid_group this_grid();
__device__ thread_block this_thread_block();
} // namespace cooperative_groups

#endif
