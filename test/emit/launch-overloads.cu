// One of several kernels of a name, launched by its address: the function that
// launches has its arguments by reference, the kernel by value.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --force --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=SAME %s
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
//
// CHECK-DAG: rewrote 'pairs' (2 launches)
// CHECK-DAG: rewrote 'pairs' (1 launch)
// SAME: equivalent: {{.*}}; 6 by a rewritten kernel
#include "program.h"

__global__ void pairs(const int *__restrict__ in, int *out, const int n) {
  __shared__ int s[129];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0;
  if (threadIdx.x == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] + s[threadIdx.x + 1];
}
__global__ void pairs(const float *) {}
// As many arguments as the first: what takes them as pointers has another name.
__global__ void pairs(const double *in, double *out, int n) {
  __shared__ double s[129];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? in[g] : 0;
  if (threadIdx.x == 0)
    s[128] = g + 128 < n ? in[g + 128] : 0;
  __syncthreads();
  if (g < n)
    out[g] = s[threadIdx.x] - s[threadIdx.x + 1];
}

int main() {
  for (int n : {1000, 100}) {
    Buffer<int> in(randoms<int>(n)), out(n);
    const int *from = in.Data;
    int *to = out.Data;
    void *args[] = {&from, &to, &n};
    cudaLaunchKernel(static_cast<void (*)(const int *, int *, int)>(pairs),
                     dim3(blocks(n, 128)), dim3(128), args, 0, 0);
    out.show("by address", n);
    pairs<<<blocks(n, 128), 128>>>(in.Data, out.Data, n);
    out.show("by name", n);
    Buffer<double> wide(randoms<double>(n)), to_wide(n);
    const double *from_wide = wide.Data;
    double *at_wide = to_wide.Data;
    void *others[] = {&from_wide, &at_wide, &n};
    cudaLaunchKernel(static_cast<void (*)(const double *, double *, int)>(pairs),
                     dim3(blocks(n, 128)), dim3(128), others, 0, 0);
    to_wide.show("another by address", n);
  }
}
