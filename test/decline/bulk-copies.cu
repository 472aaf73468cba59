// Bulk copies to shared memory (TMA) are seen in the barrier that they arrive at; the kernel
// beside them is rewritten, and the file compiles.
//
// REQUIRES: cuda-toolkit
// RUN: rcache-rewrite %s --cuda-path=%cuda --force --self-check=off -o %t.cu -- -std=c++17 -arch=sm_90 2>&1 | FileCheck %s
// RUN: %nvcc -std=c++17 -arch=sm_90 -c %t.cu -o %t.o
// CHECK-DAG: 'bulk' left as it is: {{.*}}[async-copy]
// CHECK-DAG: 'tiled' left as it is: {{.*}}[async-copy]
// CHECK-DAG: rewrote 'plain'
#include <cuda.h>
#include <cuda/barrier>
#include <cuda_runtime.h>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
__global__ void bulk(const float *in, float *out, int n) {
  __shared__ alignas(128) float s[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); cde::fence_proxy_async_shared_cta(); }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_global_to_shared(s, in + blockIdx.x * 256, sizeof(s), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
  } else token = bar.arrive();
  bar.wait(std::move(token));
  out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void tiled(const __grid_constant__ CUtensorMap map, float *out, int n) {
  __shared__ alignas(128) float s[16][16];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar;
  if (threadIdx.x == 0 && threadIdx.y == 0) { init(&bar, 256); cde::fence_proxy_async_shared_cta(); }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&s, &map, blockIdx.x * 16, blockIdx.y * 16, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(s));
  } else token = bar.arrive();
  bar.wait(std::move(token));
  out[(blockIdx.y * 16 + threadIdx.y) * n + blockIdx.x * 16 + threadIdx.x] = s[threadIdx.x][threadIdx.y];
}
__global__ void plain(const float *in, float *out, int n) {
  __shared__ float s[258]; int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0; if (t < 2) s[256 + t] = g + 256 < n ? in[g + 256] : 0;
  __syncthreads();
  if (g < n) out[g] = s[t] + s[t + 2];
}
void launch(const float *in, float *out, int n, const CUtensorMap &m) { bulk<<<n / 256, 256>>>(in, out, n); tiled<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(m, out, n); plain<<<n / 256, 256>>>(in, out, n); }
