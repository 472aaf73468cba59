// Part of the rcache project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of a length that the program is told: norms, sums, a block each. Prints kernel,
// rows, columns, microseconds, a checksum:   nvcc -arch=sm_90 -O3 rows.cu -o rows; ./rows 25
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_fp16.h>
__global__ void layernorm(float *y, const float *x, const float *g, const float *b, int n, float eps) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  const float *row = x + (size_t)blockIdx.x * n;
  float sum = 0.f;
  for (int i = t; i < n; i += blockDim.x) sum += row[i];
  s[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  const float mean = s[0] / n;
  __syncthreads();
  float var = 0.f;
  for (int i = t; i < n; i += blockDim.x) { float d = row[i] - mean; var += d * d; }
  s[t] = var;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  const float inv = rsqrtf(s[0] / n + eps);
  float *out = y + (size_t)blockIdx.x * n;
  for (int i = t; i < n; i += blockDim.x) out[i] = (row[i] - mean) * inv * g[i] + b[i];
}
__global__ void rowsum(float *y, const float *x, int n) {
  __shared__ float s[256];
  const int t = threadIdx.x;
  float sum = 0.f;
  for (int i = t; i < n; i += 256) sum += x[blockIdx.x * n + i];
  s[t] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
__global__ void softmax(float *y, const float *x, int n) {
  __shared__ float s[128];
  const int t = threadIdx.x;
  float m = -INFINITY;
  for (int i = t; i < n; i += blockDim.x) m = fmaxf(m, x[blockIdx.x * n + i]);
  s[t] = m;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] = fmaxf(s[t], s[t + d]);
    __syncthreads();
  }
  m = s[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = t; i < n; i += blockDim.x) sum += expf(x[blockIdx.x * n + i] - m);
  s[t] = sum;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  sum = s[0];
  for (int i = t; i < n; i += blockDim.x) y[blockIdx.x * n + i] = expf(x[blockIdx.x * n + i] - m) / sum;
}
template <int B>
__global__ void rmsnorm(float *__restrict__ out, const float *__restrict__ in, const float *__restrict__ w, int cols) {
  __shared__ float acc[B];
  float ss = 0.f;
  const float *p = in + (long long)blockIdx.x * cols;
  for (int c = threadIdx.x; c < cols; c += B) ss += p[c] * p[c];
  acc[threadIdx.x] = ss;
  __syncthreads();
  for (int s = B / 2; s >= 1; s >>= 1) {
    if (threadIdx.x < s) acc[threadIdx.x] += acc[threadIdx.x + s];
    __syncthreads();
  }
  float r = rsqrtf(acc[0] / cols + 1e-6f);
  for (int c = threadIdx.x; c < cols; c += B) out[(long long)blockIdx.x * cols + c] = p[c] * r * w[c];
}
__global__ void rowmax(int *idx, float *val, const float *x, unsigned n) {
  __shared__ float v[256];
  __shared__ int k[256];
  float best = -3.4e38f;
  int at = 0;
  for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
    float c = x[(size_t)blockIdx.x * n + i];
    if (c > best) { best = c; at = i; }
  }
  v[threadIdx.x] = best;
  k[threadIdx.x] = at;
  __syncthreads();
  for (unsigned d = blockDim.x / 2; d > 0; d >>= 1) {
    if (threadIdx.x < d && v[threadIdx.x + d] > v[threadIdx.x]) {
      v[threadIdx.x] = v[threadIdx.x + d];
      k[threadIdx.x] = k[threadIdx.x + d];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) { idx[blockIdx.x] = k[0]; val[blockIdx.x] = v[0]; }
}
__global__ void meanvar(float2 *out, const float *x, int n) {
  __shared__ float a[256], b[256];
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < n; i += 256) { float v = x[(size_t)blockIdx.x * n + i]; s += v; q += v * v; }
  a[threadIdx.x] = s; b[threadIdx.x] = q;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) {
    if (threadIdx.x < d) { a[threadIdx.x] += a[threadIdx.x + d]; b[threadIdx.x] += b[threadIdx.x + d]; }
    __syncthreads();
  }
  if (!threadIdx.x) out[blockIdx.x] = make_float2(a[0] / n, b[0] / n - (a[0] / n) * (a[0] / n));
}
__global__ void dotrows(double *out, const double *x, const double *y, int n) {
  __shared__ double s[128];
  double v = 0;
  for (int i = threadIdx.x; i < n; i += 128) v += x[(size_t)blockIdx.x * n + i] * y[i];
  s[threadIdx.x] = v;
  __syncthreads();
  for (int d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
static uint64_t sum(const void *d, size_t bytes) {
  uint64_t *h = (uint64_t *)malloc(bytes), r = 0;
  cudaMemcpy(h, d, bytes, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < bytes / 8; ++i) r = r * 1099511628211ull + h[i];
  free(h);
  return r;
}
template <class F> static void timed(const char *name, int rows, int n, void *o, size_t bytes, F f) {
  cudaEvent_t a, b;
  cudaEventCreate(&a); cudaEventCreate(&b);
  float best = 1e9f;
  for (int k = 0; k < 12; ++k) {
    cudaEventRecord(a); f(); cudaEventRecord(b); cudaEventSynchronize(b);
    float ms; cudaEventElapsedTime(&ms, a, b);
    if (k > 1 && ms < best) best = ms;
  }
  printf("%s %d %d %.3f %016llx\n", name, rows, n, best * 1e3, (unsigned long long)sum(o, bytes));
  cudaEventDestroy(a); cudaEventDestroy(b);
}
int main(int argc, char **argv) {
  const size_t all = (size_t)1 << (argc > 1 ? atoi(argv[1]) : 25);
  float *x, *y, *g, *b; double *xd, *yd, *od;
  cudaMalloc(&x, all * 4 + 65536); cudaMalloc(&y, all * 4 + 65536); cudaMalloc(&g, 65536 * 4); cudaMalloc(&b, 65536 * 4);
  cudaMalloc(&xd, all * 8 + 65536); cudaMalloc(&yd, 65536 * 8); cudaMalloc(&od, all);
  float *h = (float *)malloc(all * 4); double *hd = (double *)malloc(all * 8);
  for (size_t i = 0; i < all; ++i) h[i] = (i * 2654435761u % 1000003) / 5003.f - 90.f, hd[i] = h[i];
  cudaMemcpy(x, h, all * 4, cudaMemcpyHostToDevice); cudaMemcpy(xd, hd, all * 8, cudaMemcpyHostToDevice);
  cudaMemcpy(g, h, 65536 * 4, cudaMemcpyHostToDevice); cudaMemcpy(b, h + 77, 65536 * 4, cudaMemcpyHostToDevice); cudaMemcpy(yd, hd, 65536 * 8, cudaMemcpyHostToDevice);
  for (int n : {64, 128, 256, 384, 500, 512, 768, 1000, 1024, 2048, 4096}) {
    const int rows = int(all / n);
    cudaMemset(y, 0, all * 4);
    timed("layernorm", rows, n, y, all * 4, [&] { layernorm<<<rows, 256>>>(y, x, g, b, n, 1e-5f); });
    timed("rowsum", rows, n, y, rows * 4, [&] { rowsum<<<rows, 256>>>(y, x, n); });
    timed("softmax", rows, n, y, all * 4, [&] { softmax<<<rows, 128>>>(y, x, n); });
    timed("rmsnorm", rows, n, y, all * 4, [&] { rmsnorm<256><<<rows, 256>>>(y, x, g, n); });
    timed("rowmax", rows, n, y, rows * 4, [&] { rowmax<<<rows, 256>>>((int *)y, (float *)od, x, n); });
    timed("meanvar", rows, n, y, rows * 8, [&] { meanvar<<<rows, 256>>>((float2 *)y, x, n); });
    timed("dotrows", rows, n, od, rows * 8, [&] { dotrows<<<rows, 128>>>(od, xd, yd, n); });
  }
  printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
