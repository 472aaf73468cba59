// Rows of a tile that belong to a warp each, filled and read between barriers of the warp.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs -DRCACHE_ANY_LAUNCH 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DIFF
// DIFF: equivalent: 21 launches compared, {{.*}}; 15 by a rewritten kernel
#include "program.h"

// CHECK-DAG: rewrote 'neighbours'
__global__ void neighbours(const float *__restrict__ a, float *__restrict__ out, int n) {
  __shared__ float s[4][32];
  const int l = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + l;
  s[w][l] = g < n ? a[g] : 0;
  __syncwarp();
  const float r = s[w][(l + 1) & 31] - s[w][(l + 31) & 31];
  if (g < n)
    out[g] = r;
}
// Filled in two steps, and again for a second row:
// CHECK-DAG: rewrote 'twice'
__global__ void twice(const float *__restrict__ a, const float *__restrict__ c,
                      float *__restrict__ out, int n) {
  __shared__ float s[4][34];
  const int l = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + l;
  s[w][l] = g < n ? a[g] : 0;
  __syncwarp();
  if (l < 2)
    s[w][l + 32] = g + 32 < n ? a[g + 32] : 0;
  __syncwarp(0xffffffffu);
  float r = s[w][l] - s[w][l + 2];
  __syncwarp();
  s[w][l] = g < n ? c[g] : 0;
  if (l < 2)
    s[w][l + 32] = g + 32 < n ? c[g + 32] : 0;
  __syncwarp();
  r += s[w][l + 1];
  if (g < n)
    out[g] = r;
}
// What is read behind a barrier of some lanes is not known to be there:
// CHECK-DAG: 'ofSome' left as it is:
__global__ void ofSome(const float *__restrict__ a, float *__restrict__ out, int n) {
  __shared__ float s[4][32];
  const int l = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + l;
  s[w][l] = g < n ? a[g] : 0;
  __syncwarp(l < 16 ? 0xffff : 0xffff0000);
  const float r = s[w][l ^ 1];
  if (g < n)
    out[g] = r;
}
// A warp is a row and a half here, and its halves may be in two warps of threads with
// several rows:
// CHECK-DAG: 'acrossRows' left as it is:
__global__ void acrossRows(float *a, int n) {
  __shared__ float s[8 * 48];
  const int t = threadIdx.y * 48 + threadIdx.x, g = blockIdx.x * 384 + t;
  s[t] = g < n ? a[g] : 0;
  __syncwarp();
  const float r = s[t ^ 16];
  if (g < n)
    a[g] = r;
}
// Threads that have left, and a barrier of the block behind that of the warp:
// CHECK-DAG: rewrote 'returned'
__global__ void returned(const float *__restrict__ a, float *__restrict__ out, int n) {
  __shared__ float s[4][32];
  const int l = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + l;
  if (g >= n)
    return;
  s[w][l] = a[g];
  __syncwarp();
  out[g] = s[w][(l + 1) & 31] - s[w][(l + 31) & 31];
}
// CHECK-DAG: rewrote 'mixed'
__global__ void mixed(const float *__restrict__ a, float *__restrict__ out, int n) {
  __shared__ float s[4][32];
  const int l = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + l;
  s[w][l] = g < n ? a[g] : 0;
  __syncwarp();
  float r = s[w][l ^ 1];
  __syncthreads();
  r += s[w ^ 1][l];
  if (g < n)
    out[g] = r;
}
// In place: the output is the input.
// CHECK-DAG: 'inPlace'
__global__ void inPlace(const float *a, float *out, int n) {
  __shared__ float s[4][32];
  const int l = threadIdx.x, w = threadIdx.y, g = (blockIdx.x * 4 + w) * 32 + l;
  s[w][l] = g < n ? a[g] : 0;
  __syncwarp();
  const float r = s[w][(l + 1) & 31] + s[w][l];
  if (g < n)
    out[g] = r;
}

int main() {
  for (int n : {1000, 2304, 256}) {
    const Buffer<float> a(randoms<float>(n)), c(randoms<float>(n));
    Buffer<float> b(n), same(randoms<float>(n));
    neighbours<<<blocks(n, 128), dim3(32, 4)>>>(a.Data, b.Data, n), b.show("neighbours", n);
    twice<<<blocks(n, 128), dim3(32, 4)>>>(a.Data, c.Data, b.Data, n), b.show("twice", n);
    ofSome<<<blocks(n, 128), dim3(32, 4)>>>(a.Data, b.Data, n), b.show("some", n);
    acrossRows<<<blocks(n, 384), dim3(48, 8)>>>(same.Data, n), same.show("rows", n);
    returned<<<n / 128, dim3(32, 4)>>>(a.Data, b.Data, n / 32 * 32), b.show("returned", n);
    mixed<<<blocks(n, 128), dim3(32, 4)>>>(a.Data, b.Data, n), b.show("mixed", n);
    inPlace<<<blocks(n, 128), dim3(32, 4)>>>(same.Data, same.Data, n), same.show("in place", n);
  }
}
