// Places that are summed up in 64 bits without a sign, of clamped coordinates with one:
// numbers are what they were in a type that holds them, and so the brute-force check
// finds the staging function right.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=reload -o %t.cu --cuda-path=%cuda -- -I%S/Inputs 2>&1 | FileCheck %s
// RUN: rcache-check diff %s %t.cu -- -DRCACHE_ANY_LAUNCH -I%S/Inputs
//
// CHECK-DAG: rewrote 'planes' {{.*}} 's' reloaded
// CHECK-DAG: rewrote 'mirrored' {{.*}} 't' reloaded
#include "program.h"

__global__ void planes(const float *a, float *out, int w, int h, int d) {
  __shared__ float s[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int z = 0; z < d; z++) {
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 180; i += 128) {
      const int gx = (int)(blockIdx.x * 16 + i % 18) - 1, gy = (int)(blockIdx.y * 8 + i / 18) - 1;
      s[i / 18][i % 18] = a[((size_t)z * h + min(max(gy, 0), h - 1)) * w + min(max(gx, 0), w - 1)];
    }
    __syncthreads();
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (x < w && y < h)
      out[((size_t)z * h + y) * w + x] =
          s[ty][tx - 1] + s[ty][tx + 1] - s[ty - 1][tx] + s[ty + 1][tx] + s[ty][tx];
    __syncthreads();
  }
}

__global__ void mirrored(const float *in, float *out, int w, int h, long long pitch) {
  __shared__ float t[34][34];
  for (int ty = threadIdx.y; ty < 34; ty += 32)
    for (int tx = threadIdx.x; tx < 34; tx += 32) {
      int gx = (int)(blockIdx.x * 32 + tx) - 1, gy = (int)(blockIdx.y * 32 + ty) - 1;
      if (gx < 0)
        gx = -gx - 1;
      if (gx >= w)
        gx = 2 * w - 1 - gx;
      gx = min(max(gx, 0), w - 1);
      gy = min(max(gy, 0), h - 1);
      t[ty][tx] = in[(size_t)gy * pitch + gx];
    }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  const int i = threadIdx.x + 1, j = threadIdx.y + 1;
  if (x < w && y < h)
    out[y * w + x] = t[j][i - 1] + t[j][i + 1] - t[j - 1][i] + t[j + 1][i];
}

static void run(int w, int h, int d) {
  const size_t n = size_t(w + 3) * h * d;
  Buffer<float> a(randoms<float>(n)), b(n);
  planes<<<dim3(blocks(w, 16), blocks(h, 8)), dim3(16, 8)>>>(a.Data, b.Data, w, h, d);
  b.show("planes", w, h);
  mirrored<<<dim3(blocks(w, 32), blocks(h, 32)), dim3(32, 32)>>>(b.Data, a.Data, w, h, w + 3);
  a.show("mirrored", w, h);
}

int main() {
  run(40, 21, 3);
  run(1, 1, 2);
  run(2, 9, 1);
  run(33, 2, 2);
}
