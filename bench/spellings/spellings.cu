// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as people spell them: the product of the CUDA samples, pointers that
// walk, staging loops with sums in their bounds, size_t, reductions whose end
// one warp does, structs by member. Prints `kernel milliseconds hash` (median
// of nine); the commands are in docs/measurements/*-spellings.txt.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>
#define CK(x)                                                                  \
  do {                                                                         \
    cudaError_t e_ = (x);                                                      \
    if (e_ != cudaSuccess) {                                                   \
      printf("error %s\n", cudaGetErrorString(e_));                            \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)
static float *filled(size_t n, unsigned seed) {
  std::vector<float> h(n);
  for (auto &v : h) {
    seed = seed * 1664525u + 1013904223u;
    v = (int)(seed >> 9) * (1.f / (1 << 22)) - 1.f;
  }
  float *d;
  CK(cudaMalloc(&d, n * 4));
  CK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
  return d;
}
static unsigned long long hashOf(const void *d, size_t bytes) {
  std::vector<unsigned> h(bytes / 4);
  CK(cudaMemcpy(h.data(), d, bytes, cudaMemcpyDeviceToHost));
  unsigned long long x = 1469598103934665603ull;
  for (unsigned v : h)
    x = (x ^ v) * 1099511628211ull;
  return x;
}
template <class F>
static void timed(const char *name, F f, const void *out, size_t bytes) {
  cudaEvent_t a, b;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  for (int i = 0; i < 3; ++i)
    f();
  CK(cudaDeviceSynchronize());
  std::vector<float> t;
  for (int i = 0; i < 9; ++i) {
    cudaEventRecord(a);
    f();
    cudaEventRecord(b);
    cudaEventSynchronize(b);
    float ms;
    cudaEventElapsedTime(&ms, a, b);
    t.push_back(ms);
  }
  std::sort(t.begin(), t.end());
  CK(cudaGetLastError());
  printf("%s %.5f %016llx\n", name, t[4], hashOf(out, bytes));
}

template <int BS>
__global__ void sample(float *C, float *A, float *B, int wA, int wB) {
  int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int aBegin = wA * BS * by, aEnd = aBegin + wA - 1, aStep = BS,
      bBegin = BS * bx, bStep = BS * wB;
  float Csub = 0;
  for (int a = aBegin, b = bBegin; a <= aEnd; a += aStep, b += bStep) {
    __shared__ float As[BS][BS];
    __shared__ float Bs[BS][BS];
    As[ty][tx] = A[a + wA * ty + tx];
    Bs[ty][tx] = B[b + wB * ty + tx];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BS; ++k)
      Csub += As[ty][k] * Bs[k][tx];
    __syncthreads();
  }
  int c = wB * BS * by + BS * bx;
  C[c + wB * ty + tx] = Csub;
}
__global__ void bumped(const float *A, const float *B, float *C, int n) {
  __shared__ float a[32][32], b[32][32];
  const int tx = threadIdx.x, ty = threadIdx.y;
  A += (blockIdx.y * 32 + ty) * n + tx;
  B += ty * n + blockIdx.x * 32 + tx;
  float s = 0;
  for (int t = 0; t < n / 32; ++t) {
    a[ty][tx] = *A;
    b[ty][tx] = *B;
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      s += a[ty][k] * b[k][tx];
    __syncthreads();
    A += 32;
    B += 32 * n;
  }
  C[(blockIdx.y * 32 + ty) * n + blockIdx.x * 32 + tx] = s;
}
__global__ void dilate(const unsigned char *src, unsigned char *dst, int w,
                       int h) {
  __shared__ unsigned char t[10][66];
  const int x = blockIdx.x * 64 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int dy = 0; threadIdx.y + dy < 10; dy += 8)
    for (int dx = 0; threadIdx.x + dx < 66; dx += 64)
      if (x + dx < w && y + dy < h)
        t[threadIdx.y + dy][threadIdx.x + dx] = src[(y + dy) * w + x + dx];
  __syncthreads();
  if (x < w - 2 && y < h - 2) {
    unsigned char m = 0;
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int i = 0; i < 3; ++i)
        m = max(m, t[threadIdx.y + j][threadIdx.x + i]);
    dst[y * (w - 2) + x] = m;
  }
}
__global__ void five(const double *__restrict__ in, double *__restrict__ out,
                     size_t pitch, size_t nx, size_t ny) {
  __shared__ double s[10][34];
  const size_t x = blockIdx.x * 32ull + threadIdx.x + 1,
               y = blockIdx.y * 8ull + threadIdx.y + 1;
  if (x < nx - 1 && y < ny - 1) {
    s[threadIdx.y + 1][threadIdx.x + 1] = in[y * pitch + x];
    if (threadIdx.x == 0)
      s[threadIdx.y + 1][0] = in[y * pitch + x - 1];
    if (threadIdx.x == 31 || x == nx - 2)
      s[threadIdx.y + 1][threadIdx.x + 2] = in[y * pitch + x + 1];
    if (threadIdx.y == 0)
      s[0][threadIdx.x + 1] = in[(y - 1) * pitch + x];
    if (threadIdx.y == 7 || y == ny - 2)
      s[threadIdx.y + 2][threadIdx.x + 1] = in[(y + 1) * pitch + x];
  }
  __syncthreads();
  if (x < nx - 1 && y < ny - 1)
    out[y * pitch + x] =
        s[threadIdx.y + 1][threadIdx.x] + s[threadIdx.y + 1][threadIdx.x + 2] +
        s[threadIdx.y][threadIdx.x + 1] + s[threadIdx.y + 2][threadIdx.x + 1] -
        4 * s[threadIdx.y + 1][threadIdx.x + 1];
}
template <unsigned BSZ>
__global__ void reduce4(const float *in, float *out, unsigned n) {
  __shared__ float s[BSZ];
  unsigned t = threadIdx.x, i = blockIdx.x * (BSZ * 2) + t;
  float v = i < n ? in[i] : 0;
  if (i + BSZ < n)
    v += in[i + BSZ];
  s[t] = v;
  __syncthreads();
  for (unsigned d = BSZ / 2; d > 32; d >>= 1) {
    if (t < d)
      s[t] = v = v + s[t + d];
    __syncthreads();
  }
  if (t < 32) {
    if (BSZ >= 64)
      v += s[t + 32];
    for (int o = 16; o > 0; o /= 2)
      v += __shfl_down_sync(0xffffffff, v, o);
  }
  if (t == 0)
    out[blockIdx.x] = v;
}
template <unsigned BSZ>
__device__ void warpReduce(volatile float *s, unsigned t) {
  s[t] += s[t + 32];
  __syncwarp();
  s[t] += s[t + 16];
  __syncwarp();
  s[t] += s[t + 8];
  __syncwarp();
  s[t] += s[t + 4];
  __syncwarp();
  s[t] += s[t + 2];
  __syncwarp();
  s[t] += s[t + 1];
}
template <unsigned BSZ>
__global__ void reduce6(const float *in, float *out, unsigned n) {
  __shared__ float s[BSZ];
  unsigned t = threadIdx.x, i = blockIdx.x * BSZ + t;
  s[t] = i < n ? in[i] : 0;
  __syncthreads();
  if (BSZ >= 512) {
    if (t < 256)
      s[t] += s[t + 256];
    __syncthreads();
  }
  if (BSZ >= 256) {
    if (t < 128)
      s[t] += s[t + 128];
    __syncthreads();
  }
  if (BSZ >= 128) {
    if (t < 64)
      s[t] += s[t + 64];
    __syncthreads();
  }
  if (t < 32)
    warpReduce<BSZ>(s, t);
  if (t == 0)
    out[blockIdx.x] = s[0];
}
struct Stat {
  float sum, most;
};
__global__ void stats(const float *in, Stat *out, int n) {
  __shared__ Stat st[256];
  int t = threadIdx.x, g = blockIdx.x * 256 + t;
  float v = g < n ? in[g] : 0.f;
  st[t].sum = v;
  st[t].most = fabsf(v);
  __syncthreads();
  for (int d = 128; d; d >>= 1) {
    if (t < d) {
      st[t].sum += st[t + d].sum;
      st[t].most = fmaxf(st[t].most, st[t + d].most);
    }
    __syncthreads();
  }
  if (t == 0)
    out[blockIdx.x] = st[0];
}
int main() {
  {
    const int n = 4096;
    float *A = filled((size_t)n * n, 1), *B = filled((size_t)n * n, 2),
          *C = filled((size_t)n * n, 3);
    timed(
        "sample32",
        [&] {
          sample<32><<<dim3(n / 32, n / 32), dim3(32, 32)>>>(C, A, B, n, n);
        },
        C, (size_t)n * n * 4);
    timed(
        "sample16",
        [&] {
          sample<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(C, A, B, n, n);
        },
        C, (size_t)n * n * 4);
    timed(
        "bumped32",
        [&] { bumped<<<dim3(n / 32, n / 32), dim3(32, 32)>>>(A, B, C, n); }, C,
        (size_t)n * n * 4);
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
  }
  {
    const int w = 8192, h = 8190;
    unsigned char *s = (unsigned char *)filled((size_t)w * h / 4, 5),
                  *d = (unsigned char *)filled((size_t)w * h / 4, 6);
    timed(
        "dilate",
        [&] {
          dilate<<<dim3((w - 2 + 63) / 64, (h - 2 + 7) / 8), dim3(64, 8)>>>(
              s, d, w, h);
        },
        d, (size_t)w * h / 4 * 4);
    cudaFree(s);
    cudaFree(d);
  }
  {
    const size_t w = 8192, h = 4096;
    double *a = (double *)filled(w * h * 2, 7),
           *b = (double *)filled(w * h * 2, 8);
    cudaMemset(b, 0, w * h * 8);
    timed(
        "five_size_t",
        [&] {
          five<<<dim3((w - 2 + 31) / 32, (h - 2 + 7) / 8), dim3(32, 8)>>>(
              a, b, w, w, h);
        },
        b, w * h * 8);
    cudaFree(a);
    cudaFree(b);
  }
  {
    const unsigned n = 1u << 27;
    float *a = filled(n, 9), *o = filled(n / 64, 10);
    timed(
        "reduce4_256", [&] { reduce4<256><<<n / 512, 256>>>(a, o, n); }, o,
        n / 512 * 4);
    timed(
        "reduce4_128", [&] { reduce4<128><<<n / 256, 128>>>(a, o, n); }, o,
        n / 256 * 4);
    timed(
        "reduce6_256", [&] { reduce6<256><<<n / 256, 256>>>(a, o, n); }, o,
        n / 256 * 4);
    timed(
        "reduce6_512", [&] { reduce6<512><<<n / 512, 512>>>(a, o, n); }, o,
        n / 512 * 4);
    timed(
        "stats", [&] { stats<<<n / 256, 256>>>(a, (Stat *)o, n); }, o,
        n / 256 * 8);
  }
}
