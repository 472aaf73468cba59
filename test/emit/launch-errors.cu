// Launches that fail do so as before, with the same error; cudaLaunchKernel returns
// its own result, not an older error.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck --input-file=%t.remarks %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %compile -std=c++17 -I%S/Inputs -c %t.cu -o %t.o
// CHECK-DAG: rewrote 'k'
// CHECK-DAG: rewrote 'bounded'
//
#include "sum3.h"
__global__ void k(const float *in, float *out, int n) { SUM3(float) }
#define BOUND __launch_bounds__(256)
__global__ void BOUND bounded(const float *in, float *out, int n) {
  __shared__ float s[1024];
  const int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  if (g < n) out[g] = s[t] + (t > 0 ? s[t - 1] : 0);
}
static void say(const char *w) { std::printf("%s: %d\n", w, (int)cudaGetLastError()); }
int main() {
  const int n = 5000; Buffer<float> a(randoms<float>(n)), b(n);
  k<<<0, 256>>>(a.Data, b.Data, n); say("no blocks");
  k<<<20, 0>>>(a.Data, b.Data, n); say("no threads");
  k<<<20, 2048>>>(a.Data, b.Data, n); say("too many threads");
  k<<<20, 256, 1 << 20>>>(a.Data, b.Data, n); say("too much shared");
  k<<<20, 256, 49000>>>(a.Data, b.Data, n); say("shared with the static too much");
  k<<<dim3(1, 70000), 256>>>(a.Data, b.Data, n); say("grid y");
  k<<<dim3(1, 1, 0), 256>>>(a.Data, b.Data, n); say("grid z");
  bounded<<<20, 512>>>(a.Data, b.Data, n); say("above bounds");
  bounded<<<20, 256>>>(a.Data, b.Data, n); say("bounds");
  bounded<<<40, 128>>>(a.Data, b.Data, n); say("below");
  b.show("b");
  int N = n; const float *ia = a.Data; float *ob = b.Data;
  void *args[] = {&ia, &ob, &N};
  cudaFree((void *)1); // leaves an error
  cudaError_t e = cudaLaunchKernel((const void *)k, dim3(20), dim3(256), args, 0, 0);
  std::printf("own result %d, pending %d\n", (int)e, (int)cudaGetLastError());
  e = cudaLaunchKernel((const void *)k, dim3(20), dim3(2048), args, 0, 0);
  std::printf("own result %d, pending %d\n", (int)e, (int)cudaGetLastError());
  b.show("b");
}
