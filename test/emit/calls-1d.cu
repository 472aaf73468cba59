// Calls that hide what a kernel shares: index helpers, a lambda, functions that
// get the shared array, ids from a cooperative group.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
// RUN: %if slow %{ rcache-rewrite %t.cu -o %t.again.cu --cuda-path=%cuda -- -I%S/Inputs 2> /dev/null %}
// RUN: %if slow %{ cmp %t.cu %t.again.cu %}
// RUN: %if slow %{ %nvcc -std=c++17 -I%S/Inputs -Xptxas -v -cubin %t.cu -o %t.cubin 2>&1 | FileCheck --check-prefix=PTXAS --implicit-check-not=warning %s %}
//
// CHECK-DAG: rewrote '{{.*}}helper{{[<']}}
// CHECK-DAG: rewrote '{{.*}}lam{{[<']}}
// CHECK-DAG: rewrote '{{.*}}fn1{{[<']}}
// CHECK-DAG: rewrote '{{.*}}fn2{{[<']}}
// CHECK-DAG: rewrote '{{.*}}fn3{{[<']}}
// CHECK-DAG: rewrote '{{.*}}cgk{{[<']}}
// CHECK-DAG: rewrote '{{.*}}cgm{{[<']}}
// PTXAS-NOT: {{[1-9][0-9]*}} bytes stack frame
//
#include "buffers.h"
#include <cooperative_groups.h>
__device__ __forceinline__ int globalId() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline int localId() { return threadIdx.x; }
__device__ inline float load0(const float *p, int i, int n) { return (i >= 0 && i < n) ? p[i] : 0.0f; }
__global__ void helper(const float *a, float *b, int n) {
  __shared__ float s[258];
  const int g = globalId(), t = localId();
  s[t + 1] = load0(a, g, n);
  if (t == 0) s[0] = load0(a, g - 1, n);
  if (t == 255) s[257] = load0(a, g + 1, n);
  __syncthreads();
  if (g < n) b[g] = 0.5f * s[t + 1] + 0.25f * (s[t] + s[t + 2]);
}
static void run_device_fn_index() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); helper<<<(n + 255) / 256, 256>>>(a.d, b.d, n); show("h", b); } }

__global__ void lam(const float *a, float *b, int n) {
  __shared__ float s[130];
  auto gid = [] { return (int)(blockIdx.x * blockDim.x + threadIdx.x); };
  int t = threadIdx.x;
  int g = gid();
  s[t + 1] = g < n ? a[g] : 0.f;
  if (t < 1) s[0] = g > 0 ? a[g - 1] : 0.f;
  if (t > 126) s[129] = g + 1 < n ? a[g + 1] : 0.f;
  __syncthreads();
  if (g < n) b[g] = s[t] + s[t + 2] - 2 * s[t + 1];
}
static void run_lambda_index() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); lam<<<(n + 127) / 128, 128>>>(a.d, b.d, n); show("l", b); } }

__device__ float win3(const float *w) { return 0.25f * w[-1] + 0.5f * w[0] + 0.25f * w[1]; }
__device__ float sumN(const float *w, int k) { float a = 0; for (int i = 0; i < k; ++i) a += w[i]; return a; }
template <int N> __device__ float maxN(const float (&w)[130], int at) { float m = w[at]; for (int i = 1; i < N; ++i) m = fmaxf(m, w[at + i]); return m; }
__global__ void fn1(const float *a, float *b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x + 1, g = blockIdx.x * 128 + threadIdx.x;
  s[t] = g < n ? a[g] : 0.f;
  if (t == 1) s[0] = g ? a[g - 1] : 0.f;
  if (t == 128) s[129] = g + 1 < n ? a[g + 1] : 0.f;
  __syncthreads();
  if (g < n) b[g] = win3(s + t);
}
__global__ void fn2(const float *a, float *b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + threadIdx.x;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = sumN(&s[t], 3) + sumN(s + threadIdx.x, 2);
}
__global__ void fn3(const float *a, float *b, int n) {
  __shared__ float s[130];
  int t = threadIdx.x, g = blockIdx.x * 128 + threadIdx.x;
  s[t] = g < n ? a[g] : 0.f;
  if (t < 2) s[t + 128] = g + 128 < n ? a[g + 128] : 0.f;
  __syncthreads();
  if (g < n) b[g] = maxN<3>(s, t);
}
static void run_array_to_function() { for (int n : SIZES) { Buf<float> a(n), c(n); a.nums(3); c.nums(5); fn1<<<(n + 127) / 128, 128>>>(a.d, c.d, n); show("fn1", c); fn2<<<(n + 127) / 128, 128>>>(a.d, c.d, n); show("fn2", c);  fn3<<<(n + 127) / 128, 128>>>(a.d, c.d, n); show("fn3", c);} }

namespace cg = cooperative_groups;
__global__ void cgk(const float *a, float *b, int n) {
  __shared__ float s[256 + 4];
  cg::thread_block cta = cg::this_thread_block();
  int t = threadIdx.x, g = blockIdx.x * blockDim.x + t;
  if (g < n) s[t] = a[g];
  if (t < 4 && g + 256 < n) s[t + 256] = a[g + 256];
  cg::sync(cta);
  if (g + 4 < n) b[g] = (s[t] + s[t + 4]) * s[t + 2];
}
__global__ void cgm(const float *a, float *b, int n) {
  __shared__ float s[256 + 4];
  auto block = cg::this_thread_block();
  int t = block.thread_rank(), g = block.group_index().x * block.group_dim().x + t;
  if (g < n) s[t] = a[g];
  if (t < 4 && g + 256 < n) s[t + 256] = a[g + 256];
  block.sync();
  if (g + 4 < n) b[g] = (s[t] + s[t + 4]) * s[t + 2];
}
static void run_cg() { for (int n : SIZES) { Buf<float> a(n), b(n); a.nums(3); b.nums(4); cgk<<<(n + 255) / 256, 256>>>(a.d, b.d, n); show("cgk", b); cgm<<<(n + 255) / 256, 256>>>(a.d, b.d, n); show("cgm", b); } }

int main() {
  run_device_fn_index();
  run_lambda_index();
  run_array_to_function();
  run_cg();
}
