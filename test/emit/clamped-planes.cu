// Planes whose borders repeat or mirror elements, marched along z: what blocks that share
// the rounds fill their queues with is one load each, of which lanes choose the place
// (in 32 and in 64 bits); a line that is mirrored twice is the original's, and so what is
// left is one formula; and the borders' loads stay in a branch of their own.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s --force --exchange=reload -o %t.cu --cuda-path=%cuda -- -I%S/Inputs
// RUN: FileCheck %s < %t.cu
// RUN: rcache-check diff %s %t.cu -- -I%S/Inputs
//
// CHECK-LABEL: wave{{_rc}}(
// CHECK: if (blockIdx.z != 0) {
// CHECK: min(nx - 1,
// CHECK: min((long long)ny - 1,
// CHECK: = p[rc_at0 + rc_at1 + ((long long){{.*}}z) -
// CHECK-NEXT: 3 * ((long long)nx * ny)];
// CHECK-NOT: ? p[
// CHECK: rc_s_at = [=]
// CHECK: min(
// CHECK: return p[rc_at0 + rc_at1 + ((long long){{.*}}z)];
// CHECK: = rc_s_at(
// CHECK: ::rcache::device::own_branch();
// CHECK-NEXT: }
// CHECK: (nx >= 1)
// CHECK-LABEL: turned{{_rc}}(
// CHECK: rc_s_at = [=]
// CHECK-NEXT: if (
// CHECK-NOT: if (
// CHECK: return p[rc_at0 + rc_at1];
// CHECK: return 0.f;
// CHECK: (h >= 3)
#include "program.h"

__device__ __forceinline__ float at(const float *p, int x, int y, int z, int nx, int ny) {
  x = x < 0 ? 0 : (x >= nx ? nx - 1 : x);
  y = y < 0 ? 0 : (y >= ny ? ny - 1 : y);
  return p[((size_t)z * ny + y) * nx + x];
}

__global__ void wave(const float *__restrict__ p, float *__restrict__ q, int nx, int ny, int nz) {
  __shared__ float s[12][36];
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float c[5];
#pragma unroll
  for (int k = 0; k < 4; k++)
    c[k + 1] = at(p, x, y, k, nx, ny);
  for (int z = 2; z < nz - 2; z++) {
#pragma unroll
    for (int k = 0; k < 4; k++)
      c[k] = c[k + 1];
    c[4] = at(p, x, y, z + 2, nx, ny);
    __syncthreads();
    for (int j = threadIdx.y; j < 12; j += 8)
      for (int i = threadIdx.x; i < 36; i += 32)
        s[j][i] = at(p, blockIdx.x * 32 + i - 2, blockIdx.y * 8 + j - 2, z, nx, ny);
    __syncthreads();
    float r = 0;
#pragma unroll
    for (int k = 1; k <= 2; k++)
      r += s[threadIdx.y + 2 - k][threadIdx.x + 2] + s[threadIdx.y + 2 + k][threadIdx.x + 2] +
           s[threadIdx.y + 2][threadIdx.x + 2 - k] + s[threadIdx.y + 2][threadIdx.x + 2 + k] +
           c[2 - k] + c[2 + k];
    if (x < nx && y < ny)
      q[((size_t)z * ny + y) * nx + x] = r + c[2];
  }
}

__global__ void turned(const float *__restrict__ p, float *__restrict__ q, int w, int h) {
  __shared__ float s[12][36];
  const int ox = blockIdx.x * 32 - 2, oy = blockIdx.y * 8 - 2;
  for (int i = threadIdx.y * 32 + threadIdx.x; i < 12 * 36; i += 256) {
    int y = oy + i / 36, x = ox + i % 36;
    y = y < 0 ? -y : y;
    y = y >= h ? 2 * (h - 1) - y : y;
    x = x < 0 ? -x : x;
    x = x >= w ? 2 * (w - 1) - x : x;
    s[i / 36][i % 36] = (x >= 0 && y >= 0) ? p[y * w + x] : 0.f;
  }
  __syncthreads();
  const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  float v = 0;
#pragma unroll
  for (int r = 0; r < 5; r++)
    v += s[threadIdx.y + r][threadIdx.x + 2] + s[threadIdx.y + 2][threadIdx.x + r];
  if (x < w && y < h)
    q[y * w + x] = v;
}

static void planes(int nx, int ny, int nz) {
  const size_t n = size_t(nx) * ny * nz;
  Buffer<float> p(randoms<float>(n)), q(n);
  wave<<<dim3(blocks(nx, 32), blocks(ny, 8)), dim3(32, 8)>>>(p.Data, q.Data, nx, ny, nz);
  q.show("wave", nx, ny);
  turned<<<dim3(blocks(nx, 32), blocks(ny * nz, 8)), dim3(32, 8)>>>(p.Data, q.Data, nx, ny * nz);
  q.show("turned", nx, ny * nz);
}

int main() {
  planes(70, 21, 40);
  planes(32, 8, 22);
  planes(1, 5, 9);
  planes(2, 1, 6);
  planes(35, 3, 5);
}
