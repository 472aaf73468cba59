// Loops of a few rounds in which a thread uses several elements of what the block
// exchanges: each round is a statement of its own. And loops that stay.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force -o %t.cu --self-check=off --cuda-path=%cuda -- -I%S/Inputs 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-DAG: rewrote 'twice' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'down'
// CHECK-DAG: rewrote 'shared' {{.*}}'s' owned by a warp
// CHECK-DAG: rewrote 'records' {{.*}}'rec_key' owned by a warp; 'rec_row' owned by a warp
// CHECK-DAG: rewrote 'leaves' {{.*}}'s' kept shared
#include "program.h"

__global__ void twice(const int *u, int *v) {
  __shared__ int s[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  for (int k = 0; k < 2; ++k) {
    const int i = t + k * 64;
    s[i] = u[g + k * 64];
  }
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const int x = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += x;
    __syncthreads();
  }
  for (int k = 0; k < 2; ++k)
    v[g + k * 64] = s[t + 64 * k];
}

__global__ void down(const float *u, float *v) {
  __shared__ float s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256 + t;
#pragma unroll
  for (unsigned char k = 6; k >= 2; k -= 2) {
    s[t + (k - 2) * 32] = u[g + (k - 2) * 32];
  }
  s[t + 192] = 1.5f;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d)
      for (int k = 0; k < 4; k++) s[t + k * 64] = s[t + k * 64] + s[t + k * 64 + d];
    __syncthreads();
  }
  if (t < 4)
    v[blockIdx.x * 4 + t] = t == 0 ? s[0] : t == 1 ? s[64] : t == 2 ? s[128] : s[192];
}

__global__ void shared(const int *u, int *v) {
  __shared__ int s[256];
  const int t = threadIdx.x, g = blockIdx.x * 256;
  for (int i = t; i < 256; i += 64)
    s[i] = u[g + i];
  __syncthreads();
  for (int size = 2; size <= 64; size *= 2)
    for (int half = size / 2; half > 0; half /= 2) {
      const int p = t ^ half;
      if (p > t && (s[t] > s[p]) == ((t & size) == 0)) {
        const int x = s[t];
        s[t] = s[p];
        s[p] = x;
      }
      __syncthreads();
    }
  for (int i = t; i < 256; i += 64)
    v[g + i] = s[i];
}

struct Record {
  int key, row;
};
__device__ bool before(const Record &a, const Record &b) {
  return a.key < b.key || (a.key == b.key && a.row < b.row);
}
__global__ void records(const int *u, Record *v) {
  __shared__ Record rec[64];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    const int i = t + k * 32;
    rec[i].key = u[blockIdx.x * 64 + i] & 15;
    rec[i].row = i;
  }
  __syncthreads();
  for (int size = 2; size <= 64; size <<= 1)
    for (int half = size >> 1; half > 0; half >>= 1) {
      const int q = t & (half - 1), lo = (t - q) * 2 + q;
      const Record a = rec[lo], b = rec[lo + half];
      if (before(b, a) == ((lo & size) == 0)) {
        rec[lo] = b;
        rec[lo + half] = a;
      }
      __syncthreads();
    }
  for (int k = 0; k < 2; ++k)
    v[blockIdx.x * 64 + t + k * 32] = rec[t + k * 32];
}

__global__ void leaves(const int *u, int *v) {
  __shared__ int s[128];
  const int t = threadIdx.x, g = blockIdx.x * 128 + t;
  s[t] = s[t + 64] = 0;
  for (int k = 0; k < 2; ++k) {
    if (u[g + k * 64] > 100)
      break;
    s[t + k * 64] = u[g + k * 64];
  }
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    const int x = t >= d ? s[t - d] : 0;
    __syncthreads();
    s[t] += x;
    __syncthreads();
  }
  v[g] = s[t];
  v[g + 64] = s[t + 64];
}

int main() {
  const int n = 1024;
  Buffer<int> x(randoms<int>(n)), o(n);
  Buffer<float> f(randoms<float>(n)), p(n);
  Buffer<Record> r(n);
  twice<<<n / 128, 64>>>(x.Data, o.Data);
  o.show("twice");
  down<<<n / 256, 64>>>(f.Data, p.Data);
  p.show("down");
  shared<<<n / 256, 64>>>(x.Data, o.Data);
  o.show("shared");
  records<<<n / 64, 32>>>(x.Data, r.Data);
  r.show("records");
  leaves<<<n / 128, 64>>>(x.Data, o.Data);
  o.show("leaves");
}
