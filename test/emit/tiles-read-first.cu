// What the slots read of joined blocks' tiles stands in front of what they compute, for several
// rounds where it walks along a row: nvcc joins no loads across asm statements, as views of a
// factor and conversions of halves are.
//
// REQUIRES: cuda-toolkit, rcache-check
// RUN: rcache-rewrite %s -o %t.cu --cuda-path=%cuda --force --self-check=off 2> %t.remarks
// RUN: FileCheck %s < %t.remarks
// RUN: rcache-check diff %s %t.cu
// RUN: FileCheck --check-prefix=TEXT %s < %t.cu
// RUN: %nvcc -std=c++17 -arch=sm_90 -ptx %t.cu -o %t.ptx
// RUN: sed -n '/entry.*centred_rc/,/^}/p' %t.ptx | FileCheck --check-prefix=PTX %s
// RUN: sed -n '/entry.*squares_rc/,/^}/p' %t.ptx | FileCheck --check-prefix=PTX %s
// RUN: sed -n '/entry.*halves_rc/,/^}/p' %t.ptx | FileCheck --check-prefix=PTX %s
// RUN: sed -n '/entry.*guarded_rc/,/^}/p' %t.ptx | FileCheck --check-prefix=PTX %s
//
// CHECK-DAG: rewrote 'centred' {{.*}} staged once for several blocks
// CHECK-DAG: rewrote 'squares' {{.*}} staged once for several blocks
// CHECK-DAG: rewrote 'halves' {{.*}} staged once for several blocks
// CHECK-DAG: rewrote 'guarded' {{.*}} staged once for several blocks
// Both along the slots: one round at a time.
// TEXT-LABEL: {{^}}static __global__ void centred_rc(
// TEXT: float rc_u_read[
// TEXT-NOT: if (k % 4 == 0)
// TEXT: rc_u_read[rc_sy][rc_s] = rc_u_tile[k]
// TEXT: {{device::apart\(}}
// TEXT: {{rc_u_read\[rc_sy\]\[rc_s\]}}
// Both along rows.
// TEXT-LABEL: {{^}}static __global__ void squares_rc(
// TEXT: float rc_p_read[4][
// TEXT: if (k % 4 == 0) {
// TEXT: for (int rc_later = 0; rc_later < 4; ++rc_later)
// TEXT: rc_p_read[k % 4][rc_sy][rc_s]
// A row for one of them.
// TEXT-LABEL: {{^}}static __global__ void guarded_rc(
// TEXT: rc_t_read[rc_sy][rc_s] =
// TEXT: if (k % 4 == 0) {
// TEXT: rc_s_read[rc_later][rc_sy][rc_s]
//
// PTX-NOT: ld.shared.{{f32|u16}}
// PTX: ld.shared.v4.{{f32|u16}}
// PTX-NOT: ld.shared.{{f32|u16}}
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define SIDE 16

__global__ void centred(const float *x, const float *mu, float *cov, int rows, int cols) {
  __shared__ float u[SIDE][SIDE], v[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int i = blockIdx.y * SIDE, j = blockIdx.x * SIDE;
  float sum = 0.f;
  for (int r = 0; r < rows; r += SIDE) {
    u[ty][tx] = r + ty < rows ? x[(r + ty) * cols + i + tx] - mu[i + tx] : 0.f;
    v[ty][tx] = r + ty < rows ? x[(r + ty) * cols + j + tx] - mu[j + tx] : 0.f;
    __syncthreads();
    for (int k = 0; k < SIDE; ++k)
      sum += u[k][ty] * v[k][tx];
    __syncthreads();
  }
  cov[(i + ty) * cols + j + tx] = sum / (rows - 1);
}

__global__ void squares(const float *__restrict__ p0, const float *__restrict__ q0,
                        float *__restrict__ out, int np, int nq, int dim) {
  __shared__ float p[SIDE][SIDE], q[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  int other = blockIdx.x * SIDE + ty;
  float sum = 0.f;
  for (int d = 0; d < dim; d += SIDE) {
    p[ty][tx] = row < np && d + tx < dim ? p0[row * dim + d + tx] : 0.f;
    q[ty][tx] = other < nq && d + tx < dim ? q0[other * dim + d + tx] : 0.f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SIDE; ++k) {
      float e = p[ty][k] - q[tx][k];
      sum += e * e;
    }
    __syncthreads();
  }
  if (row < np && col < nq)
    out[row * nq + col] = sum;
}

__global__ void halves(const __half *a, const __half *b, float *c, int n) {
  __shared__ __half s[SIDE][SIDE], t[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  float sum = 0.f;
  for (int d = 0; d < n; d += SIDE) {
    s[ty][tx] = a[row * n + d + tx];
    t[ty][tx] = b[(d + ty) * n + col];
    __syncthreads();
    for (int k = 0; k < SIDE; ++k)
      sum += __half2float(s[ty][k]) * __half2float(t[k][tx]);
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// Under a condition that some slots do not meet.
__global__ void guarded(const float *__restrict__ a, const float *__restrict__ b,
                        float *__restrict__ c, int n, int m) {
  __shared__ float s[SIDE][SIDE], t[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  float sum = 0.f;
  for (int d = 0; d < n; d += SIDE) {
    s[ty][tx] = row < m && d + tx < n ? a[row * n + d + tx] : 0.f;
    t[ty][tx] = d + ty < n && col < m ? b[(d + ty) * m + col] : 0.f;
    __syncthreads();
    if (row < m && col < m)
#pragma unroll
      for (int k = 0; k < SIDE; ++k) {
        float e = s[ty][k] - t[k][tx];
        sum += e * e;
      }
    __syncthreads();
  }
  if (row < m && col < m)
    c[row * m + col] = sum;
}

// Its counter also counts the tiles: what a later round reads is not there yet.
__global__ void walks(const float *__restrict__ a, const float *__restrict__ b,
                      float *__restrict__ c, int n) {
  __shared__ float s[SIDE][SIDE], t[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  float sum = 0.f;
  for (int d = 0; d < 8; ++d) {
    s[ty][tx] = a[row * n + d * SIDE + tx];
    t[ty][tx] = b[(d * SIDE + ty) * n + col];
    __syncthreads();
    float e = s[ty][d] - t[d][tx];
    sum += e * e;
    __syncthreads();
  }
  c[row * n + col] = sum;
}

// Most rounds are left out, the first of four among them.
__global__ void skips(const float *__restrict__ a, const float *__restrict__ b,
                      float *__restrict__ c, int n, int every) {
  __shared__ float s[SIDE][SIDE], t[SIDE][SIDE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * SIDE + ty, col = blockIdx.x * SIDE + tx;
  float sum = 0.f;
  for (int d = 0; d < n; d += SIDE) {
    s[ty][tx] = a[row * n + d + tx];
    t[ty][tx] = b[(d + ty) * n + col];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SIDE; ++k) {
      if (k % every == 0)
        continue;
      float e = s[ty][k] - t[k][tx];
      sum += e * e;
    }
    __syncthreads();
  }
  c[row * n + col] = sum;
}

template <class T> T *filled(int n) {
  T *p;
  cudaMallocManaged(&p, n * sizeof(T));
  for (int i = 0; i < n; ++i)
    p[i] = T(float(i * 37 % 101) / 8);
  return p;
}

int main() {
  const int n = 160;
  float *x = filled<float>(n * n), *y = filled<float>(n * n), *z = filled<float>(n * n);
  __half *g = filled<__half>(n * n), *h = filled<__half>(n * n);
  dim3 block(SIDE, SIDE), grid(n / SIDE, n / SIDE);
  float last[4];
  centred<<<grid, block>>>(x, y, z, n - 3, n);
  cudaDeviceSynchronize();
  last[0] = z[n * n - 1];
  squares<<<grid, block>>>(x, y, z, n - 5, n - 7, n - 9);
  cudaDeviceSynchronize();
  last[1] = z[100];
  halves<<<grid, block>>>(g, h, z, n);
  cudaDeviceSynchronize();
  last[2] = z[101];
  guarded<<<grid, block>>>(x, y, z, n - 3, n - 6);
  cudaDeviceSynchronize();
  last[3] = z[102];
  walks<<<grid, block>>>(x, y, z, n);
  cudaDeviceSynchronize();
  const float sixth = z[103];
  skips<<<grid, block>>>(x, y, z, n, 4);
  cudaDeviceSynchronize();
  printf("%g %g %g %g %g %g\n", last[0], last[1], last[2], last[3], sixth, z[104]);
}
