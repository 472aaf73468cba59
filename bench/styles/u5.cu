#include "h.h"
#include <cstring>
#include <cfloat>
static void show(const char *name, const void *dev, size_t bytes) {
  cudaError_t e = cudaDeviceSynchronize();
  unsigned char *h = (unsigned char *)malloc(bytes);
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  unsigned long long f = 1469598103934665603ull;
  size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    unsigned long long w;
    memcpy(&w, h + i, 8);
    f = (f ^ w) * 1099511628211ull;
  }
  for (; i < bytes; ++i) f = (f ^ h[i]) * 1099511628211ull;
  printf("%s %016llx%s%s\n", name, f, e ? " " : "", e ? cudaGetErrorString(e) : "");
  free(h);
}
#define SOFTENING 1e-3f
// all-pairs gravity
__device__ float3 bodyBody(float4 bi, float4 bj, float3 ai) {
  float3 r;
  r.x = bj.x - bi.x; r.y = bj.y - bi.y; r.z = bj.z - bi.z;
  float d2 = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
  float inv = rsqrtf(d2);
  float s = bj.w * inv * inv * inv;
  ai.x += r.x * s; ai.y += r.y * s; ai.z += r.z * s;
  return ai;
}
__global__ void calculate_forces(const float4 *globalX, float4 *globalA, int N) {
  extern __shared__ float4 shPosition[];
  float3 acc = {0.0f, 0.0f, 0.0f};
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  float4 myPosition = globalX[gtid < N ? gtid : N - 1];
  for (int i = 0, tile = 0; i < N; i += blockDim.x, tile++) {
    int idx = tile * blockDim.x + threadIdx.x;
    shPosition[threadIdx.x] = idx < N ? globalX[idx] : make_float4(0.f, 0.f, 0.f, 0.f);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < blockDim.x; j++) acc = bodyBody(myPosition, shPosition[j], acc);
    __syncthreads();
  }
  if (gtid < N) globalA[gtid] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

// squared euclidean distances between two sets, D small
#define DIM 24
__global__ void pairwise_dist(const float *X, const float *Y, float *out, int nx, int ny) {
  __shared__ float xs[16][DIM + 1];
  __shared__ float ys[16][DIM + 1];
  int t = threadIdx.y * 16 + threadIdx.x;
  for (int e = t; e < 16 * DIM; e += 256) {
    int r = e / DIM, c = e - r * DIM;
    int gx = blockIdx.y * 16 + r, gy = blockIdx.x * 16 + r;
    xs[r][c] = gx < nx ? X[gx * DIM + c] : 0.f;
    ys[r][c] = gy < ny ? Y[gy * DIM + c] : 0.f;
  }
  __syncthreads();
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (i >= nx || j >= ny) return;
  float d = 0.f;
#pragma unroll
  for (int c = 0; c < DIM; ++c) { float u = xs[threadIdx.y][c] - ys[threadIdx.x][c]; d += u * u; }
  out[(size_t)i * ny + j] = d;
}

// brute force kNN in 3-D, k kept sorted in a private array
template <int K>
__global__ void knn3(const float *qx, const float *refs, int nq, int nr, int *idx, float *dist) {
  __shared__ float rx[256], ry[256], rz[256];
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  float best[K]; int bi[K];
  for (int k = 0; k < K; ++k) { best[k] = FLT_MAX; bi[k] = -1; }
  float x = 0, y = 0, z = 0;
  if (q < nq) { x = qx[3 * q]; y = qx[3 * q + 1]; z = qx[3 * q + 2]; }
  for (int base = 0; base < nr; base += 256) {
    int m = min(256, nr - base);
    if (threadIdx.x < m) {
      rx[threadIdx.x] = refs[3 * (base + threadIdx.x)];
      ry[threadIdx.x] = refs[3 * (base + threadIdx.x) + 1];
      rz[threadIdx.x] = refs[3 * (base + threadIdx.x) + 2];
    }
    __syncthreads();
    for (int j = 0; j < m; ++j) {
      float dx = rx[j] - x, dy = ry[j] - y, dz = rz[j] - z;
      float d = dx * dx + dy * dy + dz * dz;
      if (d < best[K - 1]) {
        int p = K - 1;
        while (p > 0 && best[p - 1] > d) { best[p] = best[p - 1]; bi[p] = bi[p - 1]; --p; }
        best[p] = d; bi[p] = base + j;
      }
    }
    __syncthreads();
  }
  if (q < nq)
    for (int k = 0; k < K; ++k) { idx[q * K + k] = bi[k]; dist[q * K + k] = best[k]; }
}

// k-means: assign + integer counts
__global__ void kmeans_assign(const float2 *__restrict__ pts, const float2 *__restrict__ cen, int *__restrict__ label, unsigned *counts, int n, int k) {
  extern __shared__ unsigned char raw[];
  float2 *c = (float2 *)raw;
  unsigned *cnt = (unsigned *)(c + k);
  for (int i = threadIdx.x; i < k; i += blockDim.x) { c[i] = cen[i]; cnt[i] = 0; }
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float2 p = pts[i];
    float bd = FLT_MAX; int b = 0;
    for (int j = 0; j < k; ++j) {
      float dx = p.x - c[j].x, dy = p.y - c[j].y, d = dx * dx + dy * dy;
      if (d < bd) { bd = d; b = j; }
    }
    label[i] = b;
    atomicAdd(&cnt[b], 1u);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < k; i += blockDim.x) atomicAdd(&counts[i], cnt[i]);
}

int main() {
  { int N = 30000, p = 256;
    float4 *x = (float4 *)mk<float>(4 * N), *a = (float4 *)mk<float>(4 * N);
    calculate_forces<<<(N + p - 1) / p, p, p * sizeof(float4)>>>(x, a, N);
    show("calculate_forces", a, N * sizeof(float4)); }
  { int nx = 5000, ny = 4001;
    float *X = mk<float>(nx * DIM), *Y = mk<float>(ny * DIM + 7) + 5, *o = mk<float>((size_t)nx * ny);
    pairwise_dist<<<dim3((ny + 15) / 16, (nx + 15) / 16), dim3(16, 16)>>>(X, Y, o, nx, ny);
    show("pairwise_dist", o, (size_t)nx * ny * 4); }
  { int nq = 40000, nr = 6001;
    float *q = mk<float>(3 * nq + 50) + 31, *r = mk<float>(3 * nr), *d = mk<float>(8 * nq); int *ix = mk<int>(8 * nq);
    knn3<8><<<(nq + 255) / 256, 256>>>(q, r, nq, nr, ix, d);
    show("knn3 idx", ix, 8 * nq * 4); show("knn3 dist", d, 8 * nq * 4); }
  { int n = 1 << 23, k = 50;
    float2 *p = (float2 *)mk<float>(2 * n), *c = (float2 *)(mk<float>(2 * k + 40) + 34);
    int *l = mk<int>(n); unsigned *cn; cudaMalloc(&cn, k * 4); cudaMemset(cn, 0, k * 4);
    kmeans_assign<<<132 * 8, 256, k * (sizeof(float2) + sizeof(unsigned))>>>(p, c, l, cn, n, k);
    show("kmeans label", l, (size_t)n * 4); show("kmeans counts", cn, k * 4); }
  return 0;
}
