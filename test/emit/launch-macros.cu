// Launches that macros write: the invocation becomes its expansion, the macro stays.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null
// RUN: cmp %t.cu %t.again.cu
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS --implicit-check-not=warning %s %}
//
// CHECK-DAG: rewrote '{{.*}}mk{{[<']}}
// CHECK-DAG: rewrote '{{.*}}diff1{{[<']}}
// CHECK-DAG: rewrote '{{.*}}second{{[<']}}
// CHECK-DAG: rewrote '{{.*}}said' (3 launches)
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"

#define LAUNCH(kern, nb, nt, ...) kern<<<nb, nt>>>(__VA_ARGS__)
#define IDX (blockIdx.x * blockDim.x + threadIdx.x)
#define TILE(i) tile[(i) + 1]
__global__ void mk(const float *a, float *b, int n) {
  __shared__ float tile[130];
  int i = IDX;
  TILE(threadIdx.x) = i < n ? a[i] : 0;
  if (threadIdx.x == 0) TILE(-1) = i > 0 ? a[i - 1] : 0;
  if (threadIdx.x == 127) TILE(128) = i + 1 < n ? a[i + 1] : 0;
  __syncthreads();
  if (i < n) b[i] = TILE((int)threadIdx.x - 1) + TILE(threadIdx.x + 1);
}
static void run_macro_launch() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); LAUNCH(mk, (n + 127) / 128, 128, a.d, b.d, n); show("mk", b); } }
#undef LAUNCH
#undef IDX
#undef TILE

#define CK(call) do { call; cudaError_t e = cudaGetLastError(); if (e != cudaSuccess) { printf("%s:%d\n", cudaGetErrorString(e), __LINE__); exit(1); } } while (0)
#define RUN(kern, n, ...) do { const int nt = 256; kern<<<((n) + nt - 1) / nt, nt, 0, st>>>(__VA_ARGS__); CK(cudaDeviceSynchronize()); } while (0)
#define GO second<float><<<(n + 127) / 128, 128>>>(a.d, b.d, n)
#define TWICE(k) k<<<(n + 255) / 256, 256>>>(a.d, b.d, n); k<<<(n + 255) / 256, 256>>>(b.d, a.d, n)
__global__ void diff1(const float *a, float *b, int n) {
  __shared__ float s[257];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  if (i < n) s[t] = a[i];
  if (t == 255 && i + 1 < n) s[256] = a[i + 1];
  __syncthreads();
  if (i + 1 < n) b[i] = s[t + 1] - s[t];
}
template <typename T> __global__ void second(const T *a, T *b, int n) {
  __shared__ T s[130];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  if (i < n) s[t] = a[i];
  if (t < 2 && i + 128 < n) s[t + 128] = a[i + 128];
  __syncthreads();
  if (i + 2 < n) b[i] = s[t + 2] - 2 * s[t + 1] + s[t];
}
static void run_macro_launch2() { cudaStream_t st; cudaStreamCreate(&st); for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); RUN(diff1, n, a.d, b.d, n); show("d1", b); GO; show("d2", b); CK((diff1<<<(n + 255) / 256, 256>>>(a.d, b.d, n))); show("d3", b); TWICE(diff1); show("d4", b); CK(GO); show("d5", b); } }
#undef CK
#undef RUN
#undef GO
#undef TWICE

// What a macro makes a string of says what it said.
#define SAY(x) do { x; printf("%s\n", #x); } while (0)
#define THROUGH(x) SAY(x)
#define SHOWN(k) k<<<(n + 255) / 256, 256>>>(a.d, b.d, n); show(#k, b)
__global__ void said(const float *a, float *b, int n) {
  __shared__ float s[257];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = i < n ? a[i] : 1;
  if (t == 255) s[256] = i + 1 < n ? a[i + 1] : 1;
  __syncthreads();
  if (i < n) b[i] = s[t + 1] - s[t];
}
static void run_said() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); SAY((said<<<(n + 255) / 256, 256>>>(a.d, b.d, n))); show("s1", b); THROUGH((said<<<(n + 255) / 256, 256>>>(b.d, a.d, n))); show("s2", a); SHOWN(said); } }
#undef SAY
#undef THROUGH
#undef SHOWN

int main() {
  run_said();
  run_macro_launch();
  run_macro_launch2();
}
