// Kernels that are launched in front of their definitions, in all forms of a declaration:
// in a header, two in one, extern "C". Where the launch function cannot be declared
// there, the reason is said.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs > %t.remarks 2>&1
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH | FileCheck %s --check-prefix=SAME
// RUN: %compile -std=c++17 -I%S/Inputs -Xcompiler -Wall -c %t.cu -o %t.o 2>&1 | FileCheck --check-prefix=NVCC --allow-empty %s
// RUN: rcache-rewrite %s --force --line-directives -o %t.lines.cu --cuda-path=%cuda -q -- -I%S/Inputs
// RUN: FileCheck %s --check-prefix=LINES < %t.lines.cu
// RUN: %if slow %{ %compile -std=c++17 -I%S/Inputs -Xcompiler -Wall -c %t.lines.cu -o %t.o 2>&1 | FileCheck --check-prefix=NVCC --allow-empty %s %}
// NVCC-NOT: warning
// LINES: static inline void declaredAsC{{_rc}}_launch(dim3, dim3, size_t, cudaStream_t,
// LINES-NEXT: const float *, float *, int);
// LINES-NEXT: #line [[# @LINE + 40]] "{{.*}}declared-forms.cu"
// LINES-NEXT: int main()
// SAME: done
//
// CHECK-DAG: rewrote 'inHeader' (1 launch)
// CHECK-DAG: rewrote 'firstOfTwo' (1 launch)
// CHECK-DAG: rewrote 'secondOfTwo' (1 launch)
// CHECK-DAG: rewrote 'linkedAsC' (1 launch)
// CHECK-DAG: rewrote 'declaredAsC' (1 launch)
// CHECK-DAG: 'byDefault' left as it is: {{.*}}(it stands in front of the kernel's definition, and the kernel has a default argument)
// CHECK-DAG: 'ofTemplate<float>' left as it is: {{.*}}, and the kernel is a template)
// CHECK-DAG: 'named::elsewhere' left as it is: {{.*}}, and the kernel is defined outside of its namespace)
// CHECK-DAG: 'inBraces' left as it is: {{.*}}, and the kernel is defined between the braces of extern "C")
// CHECK-DAG: 'ofStruct' left as it is: {{.*}}, and the kernel has a parameter whose type need not be known there ('const Pair *'))
// CHECK-DAG: 'sometimes' left as it is: {{.*}}, and the kernel is first declared or launched in a branch of the preprocessor)
#include "declared-forms.h"
#include <cstdio>
#define PARAMETERS const float *a, float *b, int n
__global__ void firstOfTwo(PARAMETERS), secondOfTwo(PARAMETERS);
extern "C" __global__ void linkedAsC(PARAMETERS);
extern "C" {
__global__ void declaredAsC(PARAMETERS);
__global__ void inBraces(PARAMETERS);
}
__global__ void byDefault(const float *a, float *b, int n = 900);
template <typename T> __global__ void ofTemplate(const T *a, T *b, int n);
namespace named {
__global__ void elsewhere(PARAMETERS);
}
struct Pair {
  float x, y;
};
__global__ void ofStruct(const Pair *a, float *b, int n);

constexpr int n = 5000, Blocks = (n + 63) / 64;
#if n != 1
__global__ void sometimes(PARAMETERS);
void launchSometimes(PARAMETERS) { sometimes<<<Blocks, 64>>>(a, b, n); }
#endif

int main() {
  float *a, *b;
  cudaMalloc(&a, n * 8);
  cudaMalloc(&b, n * 8);
  cudaMemset(a, 1, n * 8);
  cudaMemset(b, 1, n * 8);
  inHeader<<<Blocks, 64>>>(a, b, n);
  firstOfTwo<<<Blocks, 64>>>(b, a, n);
  secondOfTwo<<<Blocks, 64>>>(a, b, n);
  linkedAsC<<<Blocks, 64>>>(b, a, n);
  declaredAsC<<<Blocks, 64>>>(a, b, n);
  inBraces<<<Blocks, 64>>>(b, a, n);
  byDefault<<<Blocks, 64>>>(a, b);
  ofTemplate<<<Blocks, 64>>>(b, a, n);
  named::elsewhere<<<Blocks, 64>>>(a, b, n);
  ofStruct<<<Blocks, 64>>>((const Pair *)b, a, n);
  launchSometimes(a, b, n);
  if (!cudaDeviceSynchronize())
    printf("done\n");
}

#define BODY(OF)                                                               \
  {                                                                            \
    __shared__ float s[66];                                                    \
    const int base = blockIdx.x * 64;                                          \
    for (int q = threadIdx.x; q < 66; q += 64)                                 \
      s[q] = base + q < n ? a[base + q] OF : 0;                                \
    __syncthreads();                                                           \
    int g = base + threadIdx.x;                                                \
    if (g < n)                                                                 \
      b[g] = s[threadIdx.x] + s[threadIdx.x + 1] - s[threadIdx.x + 2];         \
  }
__global__ void inHeader(PARAMETERS) BODY()
__global__ void firstOfTwo(PARAMETERS) BODY()
__global__ void secondOfTwo(PARAMETERS) BODY()
extern "C" __global__ void linkedAsC(PARAMETERS) BODY()
__global__ void declaredAsC(PARAMETERS) BODY()
extern "C" {
__global__ void inBraces(PARAMETERS) BODY()
}
__global__ void byDefault(PARAMETERS) BODY()
template <typename T> __global__ void ofTemplate(const T *a, T *b, int n) BODY()
__global__ void named::elsewhere(PARAMETERS) BODY()
__global__ void ofStruct(const Pair *a, float *b, int n) BODY(.x)
__global__ void sometimes(PARAMETERS) BODY()
