// Reductions whose end one warp does by itself: with __syncwarp(), in all lanes or in
// those that need it, by shuffles, by a tile of a cooperative group. Where nothing says
// that lanes wait for each other, only --assume-lockstep takes them to.
//
// RUN: rcache-rewrite %s -o %t.cu -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: %if slow %{ %nvcc -ptx %t.cu -o %t.ptx -I%S/Inputs %}
// RUN: %if rcache-check %{ rcache-check diff %s %t.cu -- -I%S/Inputs %}
//
// RUN: rcache-rewrite %s --assume-lockstep --kernel=inStep -o %t.step.cu -- -I%S/Inputs 2>&1 | FileCheck --check-prefix=STEP %s
// RUN: %if rcache-check %{ rcache-check diff %s %t.step.cu -- -I%S/Inputs %}
//
// REQUIRES: cuda-toolkit
#include "program.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// All lanes change what others use: each statement reads first.
// CHECK-DAG: rewrote 'allLanes' {{.*}}; 's' owned by a warp; per output 0.62 shuffles
// CHECK-DAG: note: what one warp does at the end is planned with barriers of the block between its steps
__global__ void allLanes(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    __syncwarp();
    v[t] += v[t + 16];
    __syncwarp();
    v[t] += v[t + 8];
    __syncwarp();
    v[t] += v[t + 4];
    __syncwarp();
    v[t] += v[t + 2];
    __syncwarp();
    v[t] += v[t + 1];
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'fewerLanes' {{.*}}; 's' owned by a warp
__global__ void fewerLanes(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    s[t] += s[t + 32];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
      if (t < d)
        s[t] += s[t + d];
      __syncwarp();
    }
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'inRegister' {{.*}}; 's' owned by a warp
__global__ void inRegister(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    float v = s[t];
    v += s[t + 32];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 16];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 8];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 4];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 2];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    v += s[t + 1];
    __syncwarp();
    s[t] = v;
    __syncwarp();
    if (t == 0)
      out[blockIdx.x] = v;
  }
}

// The samples' function, for two sizes of blocks.
// CHECK-DAG: rewrote 'sample<256>' {{.*}}; 's' owned by a warp
// CHECK-DAG: rewrote 'sample<64>' {{.*}}; 's' owned by a warp
template <unsigned BS>
__device__ void warpReduce(volatile int *s, unsigned tid) {
  if (BS >= 64)
    s[tid] += s[tid + 32];
  __syncwarp();
  if (BS >= 32)
    s[tid] += s[tid + 16];
  __syncwarp();
  if (BS >= 16)
    s[tid] += s[tid + 8];
  __syncwarp();
  if (BS >= 8)
    s[tid] += s[tid + 4];
  __syncwarp();
  if (BS >= 4)
    s[tid] += s[tid + 2];
  __syncwarp();
  if (BS >= 2)
    s[tid] += s[tid + 1];
  __syncwarp();
}
template <unsigned BS>
__global__ void sample(const int *in, int *out, unsigned n) {
  extern __shared__ int s[];
  unsigned tid = threadIdx.x, i = blockIdx.x * BS + tid;
  s[tid] = i < n ? in[i] : 0;
  __syncthreads();
  if (BS >= 256) {
    if (tid < 128)
      s[tid] += s[tid + 128];
    __syncthreads();
  }
  if (BS >= 128) {
    if (tid < 64)
      s[tid] += s[tid + 64];
    __syncthreads();
  }
  if (tid < 32)
    warpReduce<BS>(s, tid);
  if (tid == 0)
    out[blockIdx.x] = s[0];
}

// CHECK-DAG: rewrote 'shuffled' {{.*}}; 'lanes' owned by a warp; 's' owned by a warp; per output 0.62 shuffles
__global__ void shuffled(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = g < n ? in[g] : 0.0f;
  s[t] = v;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] = v = v + s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    v += s[t + 32];
    for (int o = 16; o > 0; o /= 2)
      v += __shfl_down_sync(0xffffffff, v, o);
  }
  if (t == 0)
    out[blockIdx.x] = v;
}

// Every lane gets the sum.
// CHECK-DAG: rewrote 'butterfly' {{.*}}; 'lanes' owned by a warp; 's' owned by a warp
__global__ void butterfly(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  if (t < 64)
    s[t] += s[t + 64];
  __syncthreads();
  if (t < 32) {
    int v = s[t] + s[t + 32];
    for (int o = 16; o > 0; o /= 2) {
      int w = __shfl_xor_sync(0xffffffffu, v, o, 32);
      v = max(v, w);
    }
    if (g < n)
      out[g] = v;
  }
}

// CHECK-DAG: rewrote 'tile' {{.*}}; 'lanes' owned by a warp; 's' owned by a warp
__global__ void tile(const float *in, float *out, int n) {
  cg::thread_block cta = cg::this_thread_block();
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = g < n ? in[g] : 0.0f;
  s[t] = v;
  cg::sync(cta);
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] = v = v + s[t + d];
    cg::sync(cta);
  }
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  if (cta.thread_rank() < 32) {
    v += s[t + 32];
    for (int o = tile32.size() / 2; o > 0; o /= 2)
      v += tile32.shfl_down(v, o);
  }
  if (cta.thread_rank() == 0)
    out[blockIdx.x] = v;
}

// CHECK-DAG: 'inStep' left as it is: {{.*}}('v[t + 16]' is what another lane has made of it in line {{[0-9]+}}) [volatile-tail]
// STEP: rewrote 'inStep' {{.*}}; 's' owned by a warp
__global__ void inStep(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    v[t] += v[t + 4];
    v[t] += v[t + 2];
    v[t] += v[t + 1];
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Two steps without a wait in between.
// CHECK-DAG: 'forgotten' left as it is: {{.*}} [volatile-tail]
__global__ void forgotten(const float *in, float *out, int n) {
  __shared__ float s[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  s[t] = g < n ? in[g] : 0.0f;
  __syncthreads();
  for (int d = 128; d > 32; d >>= 1) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    volatile float *v = s;
    v[t] += v[t + 32];
    __syncwarp();
    v[t] += v[t + 16];
    v[t] += v[t + 8];
    __syncwarp();
    v[t] += v[t + 4];
    __syncwarp();
    v[t] += v[t + 2] + v[t + 1];
  }
  if (t == 0)
    out[blockIdx.x] = s[0];
}

// Lanes of two warps: no tail.
// CHECK-DAG: 'twoWarps' left as it is: {{.*}} [computed-exchange]
__global__ void twoWarps(const int *in, int *out, int n) {
  __shared__ int s[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? in[g] : 0;
  __syncthreads();
  if (t < 64) {
    s[t] += s[t + 64];
    __syncwarp();
    if (t < 32)
      s[t] += s[t + 32];
  }
  if (g < n)
    out[g] = s[t];
}

int main(int argc, char **) {
  const int n = 1000 * argc; // no constant
  Buffer<float> F(randoms<float>(n)), G(n);
  Buffer<int> I(randoms<int>(n)), J(n);
  allLanes<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("allLanes");
  fewerLanes<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("fewerLanes");
  inRegister<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("inRegister");
  shuffled<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("shuffled");
  tile<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("tile");
  inStep<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("inStep");
  forgotten<<<blocks(n, 256), 256>>>(F.Data, G.Data, n);
  G.show("forgotten");
  sample<256><<<blocks(n, 256), 256, 256 * sizeof(int)>>>(I.Data, J.Data, n);
  J.show("sample<256>");
  sample<64><<<blocks(n, 64), 64, 64 * sizeof(int)>>>(I.Data, J.Data, n);
  J.show("sample<64>");
  butterfly<<<blocks(n, 128), 128>>>(I.Data, J.Data, n);
  J.show("butterfly");
  if (argc > 1) // a race
    twoWarps<<<blocks(n, 128), 128>>>(I.Data, J.Data, n);
}
