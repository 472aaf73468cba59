// Part of the rcache project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as one finds them, by several hands: the model of lib/Predict was not
// fitted to any of them when they were first measured.

#include "harness.cuh"
#include <cuda_fp16.h>

__constant__ float taps[64];
constexpr int THREADS = 256;
// 1 moving average, clamp
template <typename T, int R> __global__ void movavg(const T *x, T *y, int n) {
  __shared__ T buf[THREADS + 2 * R];
  const int g = blockIdx.x * THREADS + threadIdx.x;
  const int l = threadIdx.x + R;
  buf[l] = x[min(g, n - 1)];
  if (threadIdx.x < R) {
    buf[l - R] = x[max(g - R, 0)];
    buf[l + THREADS] = x[min(g + THREADS, n - 1)];
  }
  __syncthreads();
  if (g < n) {
    T s = 0;
    for (int k = -R; k <= R; ++k)
      s += buf[l + k];
    y[g] = s / (T)(2 * R + 1);
  }
}
// 2 second difference, two-sided halo by first and last threads
__global__ void second_diff(const double *u, double *v, int n, double ih2) {
  __shared__ double s[130];
  int i = blockIdx.x * 128 + threadIdx.x, t = threadIdx.x + 1;
  s[t] = i < n ? u[i] : 0.0;
  if (t == 1)
    s[0] = i > 0 && i - 1 < n ? u[i - 1] : 0.0;
  if (t == 128)
    s[129] = i + 1 < n ? u[i + 1] : 0.0;
  __syncthreads();
  if (i > 0 && i < n - 1)
    v[i] = (s[t - 1] - 2.0 * s[t] + s[t + 1]) * ih2;
}
// 3 FIR causal with dynamic shared memory
__global__ void fir_causal(const float *in, float *out, int n, int) {
  extern __shared__ float line[];
  const int base = blockIdx.x * blockDim.x;
  for (int j = threadIdx.x; j < blockDim.x + 31; j += blockDim.x) {
    int src = base + j - 31;
    line[j] = (src >= 0 && src < n) ? in[src] : 0.f;
  }
  __syncthreads();
  int g = base + threadIdx.x;
  if (g >= n)
    return;
  float acc = 0.f;
#pragma unroll
  for (int k = 0; k < 32; ++k)
    acc = fmaf(taps[k], line[threadIdx.x + 31 - k], acc);
  out[g] = acc;
}
// 4 edge flags on bytes
__global__ void edges(const unsigned char *a, unsigned char *f, size_t n) {
  __shared__ unsigned char c[257];
  size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
  c[threadIdx.x + 1] = i < n ? a[i] : 0;
  if (threadIdx.x == 0)
    c[0] = i > 0 && i <= n ? a[i - 1] : 0;
  __syncthreads();
  if (i < n)
    f[i] = c[threadIdx.x + 1] != c[threadIdx.x];
}
// 5 half smoothing
__global__ void smooth_half(const __half *a, __half *b, int n) {
  __shared__ __half s[256 + 4];
  int i = blockIdx.x * 256 + threadIdx.x, l = threadIdx.x + 2;
  s[l] = i < n ? a[i] : __float2half(0.f);
  if (threadIdx.x < 2) {
    s[l - 2] = i >= 2 ? a[i - 2] : __float2half(0.f);
    s[l + 256] = i + 256 < n ? a[i + 256] : __float2half(0.f);
  }
  __syncthreads();
  if (i < n) {
    float v = 0;
    for (int d = -2; d <= 2; ++d)
      v += __half2float(s[l + d]);
    b[i] = __float2half(v * 0.2f);
  }
}
// 6 downsample by 2
__global__ void down2(const float *in, float *out, int n) {
  __shared__ float s[2 * 128 + 2];
  int o = blockIdx.x * 128 + threadIdx.x, b = blockIdx.x * 256;
  s[threadIdx.x] = b + threadIdx.x < n ? in[b + threadIdx.x] : 0.f;
  s[threadIdx.x + 128] =
      b + threadIdx.x + 128 < n ? in[b + threadIdx.x + 128] : 0.f;
  if (threadIdx.x < 2)
    s[256 + threadIdx.x] =
        b + 256 + threadIdx.x < n ? in[b + 256 + threadIdx.x] : 0.f;
  __syncthreads();
  if (2 * o < n)
    out[o] = 0.25f * s[2 * threadIdx.x] + 0.5f * s[2 * threadIdx.x + 1] +
             0.25f * s[2 * threadIdx.x + 2];
}
// 7 polynomial over a window of three arrays
__global__ void poly3(const float *__restrict__ a, const float *__restrict__ b,
                      const float *__restrict__ c, float *__restrict__ o,
                      int n) {
  __shared__ float sa[THREADS + 2], sb[THREADS + 2], sc[THREADS + 2];
  int g = blockIdx.x * THREADS + threadIdx.x;
  if (g < n) {
    sa[threadIdx.x + 1] = a[g];
    sb[threadIdx.x + 1] = b[g];
    sc[threadIdx.x + 1] = c[g];
  }
  if (threadIdx.x == 0 && g > 0) {
    sa[0] = a[g - 1];
    sb[0] = b[g - 1];
    sc[0] = c[g - 1];
  }
  if (threadIdx.x == THREADS - 1 && g + 1 < n) {
    sa[THREADS + 1] = a[g + 1];
    sb[THREADS + 1] = b[g + 1];
    sc[THREADS + 1] = c[g + 1];
  }
  __syncthreads();
  if (g > 0 && g < n - 1) {
    int t = threadIdx.x + 1;
    o[g] = (sa[t - 1] + sa[t + 1]) * sb[t] + sc[t] * (sb[t + 1] - sb[t - 1]) +
           sa[t] * sc[t - 1] * sc[t + 1];
  }
}
// 8 heavy per-point maths
__global__ void bilateral1d(const float *in, float *out, int n, float k) {
  const int R = 6;
  __shared__ float s[THREADS + 2 * R];
  int g = blockIdx.x * THREADS + threadIdx.x;
  for (int i = threadIdx.x; i < THREADS + 2 * R; i += THREADS) {
    int p = (int)(blockIdx.x * THREADS) + i - R;
    p = p < 0 ? 0 : p >= n ? n - 1 : p;
    s[i] = in[p];
  }
  __syncthreads();
  if (g >= n)
    return;
  float c = s[threadIdx.x + R], w = 0, v = 0;
  for (int i = 0; i <= 2 * R; ++i) {
    float d = s[threadIdx.x + i] - c, e = __expf(-d * d * k);
    w += e;
    v += e * s[threadIdx.x + i];
  }
  out[g] = v / w;
}
// 9 64-bit ints, block 64
__global__ void sum64(const long long *a, long long *b, int n) {
  __shared__ long long s[64 + 6];
  int i = blockIdx.x * 64 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0;
  if (threadIdx.x < 6)
    s[threadIdx.x + 64] = i + 64 < n ? a[i + 64] : 0;
  __syncthreads();
  if (i < n) {
    long long t = 0;
    for (int k = 0; k < 7; ++k)
      t += s[threadIdx.x + k];
    b[i] = t;
  }
}
// 10 block 1024
__global__ void __launch_bounds__(1024)
    ma1024(const float *a, float *b, int n) {
  __shared__ float s[1024 + 16];
  int i = blockIdx.x * 1024 + threadIdx.x;
  s[threadIdx.x + 8] = i < n ? a[i] : 0;
  if (threadIdx.x < 8) {
    s[threadIdx.x] = i >= 8 ? a[i - 8] : 0;
    s[threadIdx.x + 1032] = i + 1024 < n ? a[i + 1024] : 0;
  }
  __syncthreads();
  if (i < n) {
    float t = 0;
    for (int k = 0; k <= 16; ++k)
      t += s[threadIdx.x + k];
    b[i] = t * (1.f / 17);
  }
}
// 11 grid stride tiles
__global__ void gs_tiles(const float *a, float *b, int n) {
  __shared__ float s[THREADS + 2];
  for (int base = blockIdx.x * THREADS; base < n; base += gridDim.x * THREADS) {
    int g = base + threadIdx.x;
    s[threadIdx.x + 1] = g < n ? a[g] : 0.f;
    if (threadIdx.x == 0) {
      s[0] = base > 0 ? a[base - 1] : 0.f;
      s[THREADS + 1] = base + THREADS < n ? a[base + THREADS] : 0.f;
    }
    __syncthreads();
    if (g < n)
      b[g] = s[threadIdx.x] + 2 * s[threadIdx.x + 1] + s[threadIdx.x + 2];
    __syncthreads();
  }
}
// 12 comb filter, two taps far apart
__global__ void comb(const float *a, float *b, int n, float f) {
  __shared__ float s[THREADS + 100];
  int g = blockIdx.x * THREADS + threadIdx.x;
  s[threadIdx.x + 100] = g < n ? a[g] : 0.f;
  if (threadIdx.x < 100)
    s[threadIdx.x] = g >= 100 ? a[g - 100] : 0.f;
  __syncthreads();
  if (g < n)
    b[g] = s[threadIdx.x + 100] + f * s[threadIdx.x];
}
// 13 complex float2 FIR
__global__ void cfir(const float2 *a, float2 *b, int n) {
  __shared__ float2 s[128 + 8];
  int g = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = g < n ? a[g] : make_float2(0, 0);
  if (threadIdx.x < 8)
    s[128 + threadIdx.x] = g + 128 < n ? a[g + 128] : make_float2(0, 0);
  __syncthreads();
  if (g >= n)
    return;
  float2 r = make_float2(0, 0);
#pragma unroll
  for (int k = 0; k < 9; ++k) {
    float2 v = s[threadIdx.x + k];
    r.x += taps[k] * v.x;
    r.y += taps[k] * v.y;
  }
  b[g] = r;
}
// 14 2-D: laplace double 16x16
__global__ void lap2d(const double *u, double *o, int nx, int ny) {
  __shared__ double t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y,
      a = threadIdx.x + 1, b = threadIdx.y + 1;
  int cx = min(x, nx - 1), cy = min(y, ny - 1);
  t[b][a] = u[cy * nx + cx];
  if (a == 1)
    t[b][0] = u[cy * nx + max(cx - 1, 0)];
  if (a == 16)
    t[b][17] = u[cy * nx + min(cx + 1, nx - 1)];
  if (b == 1)
    t[0][a] = u[max(cy - 1, 0) * nx + cx];
  if (b == 16)
    t[17][a] = u[min(cy + 1, ny - 1) * nx + cx];
  __syncthreads();
  if (x < nx && y < ny)
    o[y * nx + x] =
        t[b][a - 1] + t[b][a + 1] + t[b - 1][a] + t[b + 1][a] - 4 * t[b][a];
}
// 15 5x5 gaussian on bytes with pitch
__global__ void gauss5(const unsigned char *src, int sp, unsigned char *dst,
                       int dp, int w, int h) {
  __shared__ unsigned char t[8 + 4][32 + 4];
  int bx = blockIdx.x * 32 - 2, by = blockIdx.y * 8 - 2;
  for (int j = threadIdx.y; j < 12; j += 8)
    for (int i = threadIdx.x; i < 36; i += 32) {
      int x = min(max(bx + i, 0), w - 1), y = min(max(by + j, 0), h - 1);
      t[j][i] = src[y * sp + x];
    }
  __syncthreads();
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= w || y >= h)
    return;
  const int k[5] = {1, 4, 6, 4, 1};
  int acc = 0;
#pragma unroll
  for (int j = 0; j < 5; ++j)
#pragma unroll
    for (int i = 0; i < 5; ++i)
      acc += k[j] * k[i] * t[threadIdx.y + j][threadIdx.x + i];
  dst[y * dp + x] = acc >> 8;
}
// 16 erosion 3x3 uchar 16x16
__global__ void erode(const unsigned char *in, unsigned char *out, int w,
                      int h) {
  __shared__ unsigned char t[18][18];
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  for (int k = threadIdx.y * 16 + threadIdx.x; k < 18 * 18; k += 256) {
    int yy = (int)blockIdx.y * 16 + k / 18 - 1,
        xx = (int)blockIdx.x * 16 + k % 18 - 1;
    t[k / 18][k % 18] =
        xx >= 0 && xx < w && yy >= 0 && yy < h ? in[yy * w + xx] : 255;
  }
  __syncthreads();
  if (x < w && y < h) {
    unsigned char m = 255;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 3; ++i)
        m = min(m, t[threadIdx.y + j][threadIdx.x + i]);
    out[y * w + x] = m;
  }
}
// 17 column pass R=8
__global__ void colpass(const float *in, float *out, int w, int h) {
  __shared__ float t[16 + 16][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  int yt = y - 8, yb = y + 8;
  t[threadIdx.y][threadIdx.x] =
      yt >= 0 && yt < h && x < w ? in[yt * w + x] : 0.f;
  t[threadIdx.y + 16][threadIdx.x] = yb < h && x < w ? in[yb * w + x] : 0.f;
  __syncthreads();
  if (x >= w || y >= h)
    return;
  float s = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k)
    s += taps[k] * t[threadIdx.y + k][threadIdx.x];
  out[y * w + x] = s;
}
// 18 matmul rectangular guarded
__global__ void gemm(int M, int N, int K, const float *A, const float *B,
                     float *C) {
  __shared__ float as[16][16], bs[16][17];
  int r = blockIdx.y * 16 + threadIdx.y, c = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < (K + 15) / 16; ++t) {
    as[threadIdx.y][threadIdx.x] = r < M && t * 16 + threadIdx.x < K
                                       ? A[r * K + t * 16 + threadIdx.x]
                                       : 0.f;
    bs[threadIdx.y][threadIdx.x] = c < N && t * 16 + threadIdx.y < K
                                       ? B[(t * 16 + threadIdx.y) * N + c]
                                       : 0.f;
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      acc += as[threadIdx.y][k] * bs[k][threadIdx.x];
    __syncthreads();
  }
  if (r < M && c < N)
    C[r * N + c] = acc;
}
// 19 n-body style
__global__ void gravity(const float4 *p, float3 *a, int n) {
  __shared__ float4 tile[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
  float3 acc = make_float3(0, 0, 0);
  for (int b = 0; b < n; b += 128) {
    tile[threadIdx.x] =
        b + threadIdx.x < n ? p[b + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < 128; ++j) {
      float4 q = tile[j];
      float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z,
            r2 = dx * dx + dy * dy + dz * dz + 1e-4f, ir = rsqrtf(r2),
            f = q.w * ir * ir * ir;
      acc.x += dx * f;
      acc.y += dy * f;
      acc.z += dz * f;
    }
    __syncthreads();
  }
  if (i < n)
    a[i] = acc;
}
// 20 pairwise L1 distances
__global__ void l1dist(const float *X, const float *Y, float *D, int n, int m,
                       int d) {
  __shared__ float xs[16][16], ys[16][16];
  int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float s = 0;
  for (int k0 = 0; k0 < d; k0 += 16) {
    xs[threadIdx.y][threadIdx.x] =
        X[(blockIdx.y * 16 + threadIdx.y) * d + k0 + threadIdx.x];
    ys[threadIdx.y][threadIdx.x] =
        Y[(blockIdx.x * 16 + threadIdx.y) * d + k0 + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      s += fabsf(xs[threadIdx.y][k] - ys[threadIdx.x][k]);
    __syncthreads();
  }
  D[i * m + j] = s;
}
// 21 3-D 7 point, plane in shared
__global__ void seven(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float p[16 + 2][16 + 2];
  int x = blockIdx.x * 16 + threadIdx.x + 1,
      y = blockIdx.y * 16 + threadIdx.y + 1;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, st = nx * ny;
  if (x >= nx - 1 || y >= ny - 1) {
  }
  bool ok = x < nx - 1 && y < ny - 1;
  int id = y * nx + x;
  float below = ok ? in[id] : 0, cur = ok ? in[id + st] : 0, above;
  for (int z = 1; z < nz - 1; ++z) {
    above = ok ? in[id + (z + 1) * st] : 0;
    __syncthreads();
    p[ty][tx] = cur;
    if (tx == 1)
      p[ty][0] = ok ? in[id + z * st - 1] : 0;
    if (tx == 16)
      p[ty][17] = ok ? in[id + z * st + 1] : 0;
    if (ty == 1)
      p[0][tx] = ok ? in[id + z * st - nx] : 0;
    if (ty == 16)
      p[17][tx] = ok ? in[id + z * st + nx] : 0;
    __syncthreads();
    if (ok)
      out[id + z * st] = cur * -6.f + above + below + p[ty][tx - 1] +
                         p[ty][tx + 1] + p[ty - 1][tx] + p[ty + 1][tx];
    below = cur;
    cur = above;
  }
}
// 22 27-point full tile 8x8x8
__global__ void box27(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float t[10][10][10];
  int x0 = blockIdx.x * 8 - 1, y0 = blockIdx.y * 8 - 1, z0 = blockIdx.z * 8 - 1;
  for (int z = threadIdx.z; z < 10; z += 8)
    for (int y = threadIdx.y; y < 10; y += 8)
      for (int x = threadIdx.x; x < 10; x += 8) {
        int gx = x0 + x, gy = y0 + y, gz = z0 + z;
        t[z][y][x] =
            gx >= 0 && gx < nx && gy >= 0 && gy < ny && gz >= 0 && gz < nz
                ? in[(gz * ny + gy) * nx + gx]
                : 0.f;
      }
  __syncthreads();
  int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y,
      z = z0 + 1 + threadIdx.z;
  if (x < nx && y < ny && z < nz) {
    float s = 0;
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
      for (int j = 0; j < 3; ++j)
#pragma unroll
        for (int i = 0; i < 3; ++i)
          s += t[threadIdx.z + k][threadIdx.y + j][threadIdx.x + i];
    out[(z * ny + y) * nx + x] = s * (1.f / 27);
  }
}
// 23 perona-malik
__global__ void pm(const float *a, float *b, int w, int h, float k, float l) {
  __shared__ float s[10][34];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  for (int j = threadIdx.y; j < 10; j += 8)
    for (int i = threadIdx.x; i < 34; i += 32) {
      int xx = (int)blockIdx.x * 32 + i - 1, yy = (int)blockIdx.y * 8 + j - 1;
      xx = xx < 0 ? -xx : xx >= w ? 2 * w - 2 - xx : xx;
      yy = yy < 0 ? -yy : yy >= h ? 2 * h - 2 - yy : yy;
      s[j][i] = xx >= 0 && xx < w && yy >= 0 && yy < h ? a[yy * w + xx] : 0.f;
    }
  __syncthreads();
  if (x >= w || y >= h)
    return;
  int i = threadIdx.x + 1, j = threadIdx.y + 1;
  float c = s[j][i], n = s[j - 1][i] - c, so = s[j + 1][i] - c,
        e = s[j][i + 1] - c, we = s[j][i - 1] - c;
  b[y * w + x] = c + l * (expf(-n * n * k) * n + expf(-so * so * k) * so +
                          expf(-e * e * k) * e + expf(-we * we * k) * we);
}
// 24 kmeans with staged centroids
__global__ void nearest(const float2 *pts, const float2 *cent, int *lab,
                        int n) {
  __shared__ float2 c[64];
  if (threadIdx.x < 64)
    c[threadIdx.x] = cent[threadIdx.x];
  __syncthreads();
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= n)
    return;
  float2 p = pts[i];
  float best = 1e30f;
  int b = 0;
  for (int k = 0; k < 64; ++k) {
    float dx = p.x - c[k].x, dy = p.y - c[k].y, d = dx * dx + dy * dy;
    if (d < best) {
      best = d;
      b = k;
    }
  }
  lab[i] = b;
}
