// Shared arrays that are volatile, or seen so, although barriers stand between all that
// threads hand to each other: the word says nothing. And such where it does.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'tree' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'scan' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'taps' {{.*}}'s' reloaded
// CHECK-DAG: rewrote 'sample'
// CHECK-DAG: note: launches that pass size = 512 run the rewritten kernel
// CHECK-DAG: 'lockstep' left as it is
// CHECK-DAG: 'wraps' left as it is
// CHECK-DAG: 'everyOther' left as it is
// CHECK-DAG: 'product' left as it is
#include "program.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tree(const float *u, float *v, int n) {
  __shared__ volatile float s[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = g < n ? u[g] : 0.0f;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d)
      s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0)
    v[blockIdx.x] = s[0];
}

__global__ void scan(const int *u, int *v, int n) {
  __shared__ int s[128];
  volatile int *p = s;
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  p[t] = g < n ? u[g] : 0;
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    const int x = t >= d ? p[t - d] : 0;
    __syncthreads();
    p[t] = p[t] + x;
  }
  if (g < n)
    v[g] = p[t];
}

__global__ void taps(const int *u, int *v, int n) {
  volatile __shared__ int s[130];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t + 1] = g < n ? u[g] : 0;
  if (t == 0)
    s[0] = g > 0 ? u[g - 1] : 0;
  if (t == 127)
    s[129] = g + 1 < n ? u[g + 1] : 0;
  __syncthreads();
  if (g < n)
    v[g] = s[t] - 2 * s[t + 1] + s[t + 2];
}

// As a widely copied sample has it.
__device__ unsigned inclusive(unsigned value, volatile unsigned *data, unsigned size,
                              cg::thread_block block) {
  unsigned pos = 2 * threadIdx.x - (threadIdx.x & (size - 1));
  data[pos] = 0;
  pos += size;
  data[pos] = value;
  for (unsigned offset = 1; offset < size; offset <<= 1) {
    cg::sync(block);
    unsigned t = data[pos] + data[pos - offset];
    cg::sync(block);
    data[pos] = t;
  }
  return data[pos];
}
__device__ unsigned exclusive(unsigned value, volatile unsigned *data, unsigned size,
                              cg::thread_block block) {
  return inclusive(value, data, size, block) - value;
}
__device__ uint4 four(uint4 v, volatile unsigned *data, unsigned size, cg::thread_block block) {
  v.y += v.x;
  v.z += v.y;
  v.w += v.z;
  const unsigned before = exclusive(v.w, data, size / 4, block);
  return make_uint4(before, before + v.x, before + v.y, before + v.z);
}
__global__ void sample(uint4 *out, const uint4 *in, unsigned size) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ unsigned data[256];
  const unsigned pos = blockIdx.x * blockDim.x + threadIdx.x;
  uint4 v = in[pos];
  uint4 r = four(v, data, size, block);
  out[pos] = r;
}

// (The steps of a warp, which no barrier orders.)
__global__ void lockstep(const int *u, int *v, int n) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = t < n ? u[t] : 0;
  __syncthreads();
  if (t < 16) {
    s[t] += s[t + 16];
    s[t] += s[t + 8];
  }
  __syncthreads();
  if (t == 0)
    v[blockIdx.x] = s[0];
}

// (From round to round no barrier stands between the read and the write.)
__global__ void wraps(const int *u, int *v, int n) {
  __shared__ volatile int s[32];
  const int t = threadIdx.x;
  s[t] = t < n ? u[t] : 0;
  for (int d = 1; d < 32; d *= 2) {
    __syncthreads();
    s[t] = s[t] + (t >= d ? s[t - d] : 0);
  }
  __syncthreads();
  if (blockIdx.x == 12345)
    v[t] = s[t];
}

// (In every other round no barrier stands between the writes.)
__global__ void everyOther(const int *u, int *v, int n) {
  __shared__ volatile int s[80];
  const int t = threadIdx.x;
  s[t] = t < n ? u[t] : 0;
  for (int r = 0; r < 8; ++r) {
    if (r % 2 == 0)
      __syncthreads();
    s[t + r] = r;
  }
  __syncthreads();
  if (blockIdx.x == 12345)
    v[t] = s[t];
}

// (What is read back has been rounded.)
__global__ void product(const float *u, float *v, int n) {
  __shared__ volatile float s[64];
  const int t = threadIdx.x, g = blockIdx.x * 64 + t;
  s[t] = g < n ? u[g] * u[g] : 0.0f;
  float x = s[t] + 0.1f;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      s[t] = s[t] + s[t + d];
    __syncthreads();
  }
  if (g < n)
    v[g] = s[0] + x;
}

int main() {
  const int n = 1000;
  Buffer<int> x(randoms<int>(n)), o(n);
  Buffer<float> f(randoms<float>(n)), p(n);
  tree<<<blocks(n, 128), 128>>>(f.Data, p.Data, n);
  p.show("tree");
  scan<<<blocks(n, 128), 128>>>(x.Data, o.Data, n);
  o.show("scan");
  taps<<<blocks(n, 128), 128>>>(x.Data, o.Data, n);
  o.show("taps");
  Buffer<unsigned> w(randoms<unsigned>(2048)), z(2048);
  sample<<<4, 128>>>((uint4 *)z.Data, (const uint4 *)w.Data, 512);
  z.show("sample");
  product<<<blocks(n, 64), 64>>>(f.Data, p.Data, n);
  p.show("product");
  if (n == 0) { // these count on more than CUDA says
    lockstep<<<blocks(n, 64), 64>>>(x.Data, o.Data, n);
    everyOther<<<blocks(n, 64), 64>>>(x.Data, o.Data, n);
    wraps<<<blocks(n, 32), 32>>>(x.Data, o.Data, n);
  }
}
