// Text that nvcc reads otherwise than clang, or that means something else at
// another place, keeps the kernel as it is; macros of the build do not.
//
// RUN: rcache-rewrite --force %s -o %t.cu -- -DSTEP_OF_BUILD=1 2>&1 | FileCheck %s
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -DSTEP_OF_BUILD=1 %}
//
#include <cstdio>

#define KERNEL(NAME, SHIFT)                                                    \
  __global__ void NAME(const float *a, float *out, int n) {                    \
    __shared__ float s[64];                                                    \
    int t = threadIdx.x, g = blockIdx.x * 64 + t;                              \
    s[t] = g < n ? a[g] : 0;                                                   \
    __syncthreads();                                                           \
    if (g < n)                                                                 \
      out[g] = s[(t + SHIFT) % 64];                                            \
  }

// A branch in the body.
// CHECK-DAG: remark: 'branches' left as it is: {{.*}}(a branch on '__clang__') [compiler-dependent]
__global__ void branches(const float *a, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
#ifdef __clang__
    out[g] = s[(t + 1) % 64];
#else
    out[g] = s[(t + 2) % 64];
#endif
}

// A macro made in a branch, also through another one.
#if defined(__NVCC__) && __CUDACC_VER_MAJOR__ >= 9
#define STEP 2
#else
#define STEP 1
#endif
#define TWICE (STEP * 2)
// CHECK-DAG: remark: 'by_macro' left as it is: {{.*}}('STEP') [compiler-dependent]
KERNEL(by_macro, TWICE)

// Made anew in text that clang leaves out.
#define AGAIN 1
#ifdef __NVCC__
#undef AGAIN
#define AGAIN 2
#endif
// CHECK-DAG: remark: 'made_anew' left as it is: {{.*}}('AGAIN') [compiler-dependent]
KERNEL(made_anew, AGAIN)

// A condition that a macro of the user hides.
#define ON_CLANG defined(__clang__)
#if ON_CLANG
static __device__ int shift(int t) { return t + 1; }
static const int Shift = 1;
typedef int Index;
#else
static __device__ int shift(int t) { return t + 2; }
static const int Shift = 2;
typedef short Index;
#endif
__device__ int through(int t) { return shift(t); }
// CHECK-DAG: remark: 'by_function' left as it is: {{.*}}(a branch on '__clang__') [compiler-dependent]
__global__ void by_function(const float *a, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[through(t) % 64];
}
// CHECK-DAG: remark: 'by_constant' left as it is: {{.*}}(a branch on '__clang__') [compiler-dependent]
KERNEL(by_constant, Shift)
// CHECK-DAG: remark: 'by_type' left as it is: {{.*}}(a branch on '__clang__') [compiler-dependent]
KERNEL(by_type, Index(1))

// Architectures that exist disagree.
// CHECK-DAG: remark: 'by_new_arch' left as it is: {{.*}}(a branch on '__CUDA_ARCH__') [compiler-dependent]
__global__ void by_new_arch(const float *a, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? a[g] : 0;
  __syncthreads();
#if __CUDA_ARCH__ >= 800
  if (g < n)
    out[g] = s[(t + 1) % 64];
#else
  if (g < n)
    out[g] = s[t];
#endif
}

// Places.
// CHECK-DAG: remark: 'by_line' left as it is: {{.*}}('__LINE__') [compiler-dependent]
KERNEL(by_line, __LINE__)
// CHECK-DAG: remark: 'by_count' left as it is: {{.*}}('__COUNTER__') [compiler-dependent]
KERNEL(by_count, __COUNTER__)
// CHECK-DAG: remark: 'by_name' left as it is: {{.*}}('__func__') [compiler-dependent]
KERNEL(by_name, int(sizeof(__func__)))

//===--- What every compiler reads alike ---===//

#ifndef __A_GUARD_OF_A_HEADER__
#define __A_GUARD_OF_A_HEADER__
// CHECK-DAG: remark: rewrote 'guarded'
KERNEL(guarded, 1)
#endif
#if STEP_OF_BUILD == 1 && defined(__CUDACC__)
#define STEP_HERE STEP_OF_BUILD
#else
#define STEP_HERE 2
#endif
// CHECK-DAG: remark: rewrote 'of_build'
KERNEL(of_build, STEP_HERE)
#ifdef __CUDA_ARCH__
#define LOAD(P) (*(P))
#else
#define LOAD(P) (*(P))
#endif
// CHECK-DAG: remark: rewrote 'by_old_arch'
__global__ void by_old_arch(const float *a, float *out, int n) {
  __shared__ float s[64];
  int t = threadIdx.x, g = blockIdx.x * 64 + t;
#if __CUDA_ARCH__ >= 350
  s[t] = g < n ? LOAD(a + g) : 0;
#else
  s[t] = g < n ? a[g] : 0;
#endif
  __syncthreads();
  if (g < n)
    out[g] = s[(t + 1) % 64];
}
// A specialisation where clang does not look.
// CHECK-DAG: remark: 'picks' left as it is: {{.*}}('Pick' in a branch on '__NVCC__') [compiler-dependent]
template <int V> struct Pick { static constexpr int value = V; };
#ifdef __NVCC__
template <> struct Pick<7> { static constexpr int value = 1; };
#endif
KERNEL(picks, Pick<7>::value)
// Around text that no kernel uses.
#ifdef __NVCC__
static int host() { return 2; }
#else
static int host() { return 1; }
#endif

int main() {
  const int n = 331;
  float *a, *out;
  cudaMallocManaged(&a, n * 4);
  cudaMallocManaged(&out, n * 4);
  for (int i = 0; i < n; ++i)
    a[i] = i * 7 % 61;
  double sum = host() * 0;
#define RUN(K)                                                                 \
  K<<<(n + 63) / 64, 64>>>(a, out, n);                                         \
  cudaDeviceSynchronize();                                                     \
  for (int i = 0; i < n; ++i)                                                  \
    sum = sum * 0.5 + out[i];
  RUN(branches) RUN(by_macro) RUN(made_anew) RUN(by_function) RUN(by_constant)
  RUN(by_type) RUN(by_new_arch) RUN(by_count) RUN(by_name) RUN(picks)
  if (n < 0) { // lines move, in the original's own text as well
    RUN(by_line)
  }
  RUN(guarded) RUN(of_build) RUN(by_old_arch)
  printf("%g\n", sum);
}
