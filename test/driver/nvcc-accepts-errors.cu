// Errors that are clang's alone end nothing: kernels in which they stand are declined, and
// those that call such a function; the others are rewritten.
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s -q --list -o %t.cu --cuda-path=%cuda -- -std=c++17 -Xcompiler -fopenmp 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=TEXT < %t.cu
// CHECK: rewritten neighbours: s
// CHECK: declined arrives; async-copy
// CHECK: declined halves; parse-error (clang: use of overloaded operator '=' is ambiguous
// CHECK: declined lanes; inline-asm
// CHECK: declined processors; parse-error (clang does not accept what stands in 'smid')
// CHECK: declined fields; parse-error (clang does not accept what stands in 'field')
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <omp.h>

__global__ void neighbours(const float *__restrict__ in, float *__restrict__ out, int n) {
  __shared__ float s[130];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x + 1] = in[g + 1];
  if (threadIdx.x == 0)
    s[0] = in[g];
  if (threadIdx.x == 127)
    s[129] = in[g + 2];
  __syncthreads();
  out[g] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
}

__global__ void arrives(float *o) {
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0)
    init(&bar, blockDim.x);
  __syncthreads();
  bar.arrive_and_wait();
  o[threadIdx.x] = 1;
}

__global__ void halves(const half2 *in, half2 *out) {
  __shared__ half2 s[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  half2 w;
  w = {__float2half(1.f), __float2half(0.f)};
  s[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = __hmul2(s[127 - threadIdx.x], w);
}

__global__ void lanes(const unsigned *in, unsigned *out) {
  __shared__ unsigned s[128];
  unsigned lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x] + lane;
}

__device__ unsigned smid() {
  unsigned r;
  asm("mov.u32 %0, %smid;" : "=r"(r));
  return r;
}
__global__ void processors(const unsigned *in, unsigned *out) {
  __shared__ unsigned s[128];
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x] + smid();
}

__device__ __forceinline__ unsigned field(unsigned x, unsigned b) {
  unsigned r;
  asm volatile("bfe.u32 %0, %1, %2, 8;" : "=r"(r) : "r"(x) "r"(b));
  return r;
}
__global__ void fields(const unsigned *in, unsigned *out) {
  __shared__ unsigned s[128];
  s[threadIdx.x] = in[blockIdx.x * 128 + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * 128 + threadIdx.x] = field(s[127 - threadIdx.x], 3);
}

void run(const float *in, float *out, const half2 *h, half2 *o, const unsigned *u, unsigned *v, int n) {
#pragma omp parallel for
  for (int i = 0; i < omp_get_max_threads(); ++i)
    // TEXT: neighbours_rc_launch(
    neighbours<<<n / 128, 128>>>(in, out, n);
  arrives<<<1, 128>>>(out);
  halves<<<n / 128, 128>>>(h, o);
  lanes<<<n / 128, 128>>>(u, v);
  processors<<<n / 128, 128>>>(u, v);
  fields<<<n / 128, 128>>>(u, v);
}
