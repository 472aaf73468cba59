// layers.cu -- forward kernels of a small inference engine
#include <cuda_fp16.h>
#include <cfloat>
#include "shown.h"

#define DIVUP(a, b) (((a) + (b) - 1) / (b))

// ------------------------------------------------------------- layer norm (fp16)
__device__ float2 blockSum2(float2 v, float2 *red) {
  int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  for (int m = 16; m; m >>= 1) {
    v.x += __shfl_xor_sync(~0u, v.x, m);
    v.y += __shfl_xor_sync(~0u, v.y, m);
  }
  if (lane == 0) red[w] = v;
  __syncthreads();
  float2 s = make_float2(0.f, 0.f);
  for (int i = 0; i < (int)(blockDim.x >> 5); ++i) { s.x += red[i].x; s.y += red[i].y; }
  __syncthreads();
  return s;
}

__global__ void layerNormHalf(const half *__restrict__ x, const half *__restrict__ gamma,
                              const half *__restrict__ beta, half *__restrict__ y, int hidden, float eps) {
  extern __shared__ half rowbuf[];
  __shared__ float2 red[32];
  const half *xr = x + (size_t)blockIdx.x * hidden;
  float2 acc = make_float2(0.f, 0.f);
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    half hv = xr[i];
    rowbuf[i] = hv;
    float f = __half2float(hv);
    acc.x += f;
    acc.y += f * f;
  }
  float2 tot = blockSum2(acc, red);
  float mean = tot.x / hidden;
  float rstd = rsqrtf(tot.y / hidden - mean * mean + eps);
  for (int i = threadIdx.x; i < hidden; i += blockDim.x) {
    float f = (__half2float(rowbuf[i]) - mean) * rstd;
    y[(size_t)blockIdx.x * hidden + i] = __float2half(f * __half2float(gamma[i]) + __half2float(beta[i]));
  }
}

// ------------------------------------------------------------- causal attention
constexpr int BR = 64, BC = 32, HD = 64;
__global__ void __launch_bounds__(BR) causalAttention(const float *Q, const float *K, const float *V, float *O,
                                                      int seq, float scale) {
  __shared__ float4 ks[BC][HD / 4];
  __shared__ float4 vs[BC][HD / 4];
  __shared__ float ps[BR][BC + 1];
  const int t = threadIdx.x;
  const int qi = blockIdx.x * BR + t;
  const size_t head = (size_t)blockIdx.y * seq * HD;
  float4 q[HD / 4], o[HD / 4];
  for (int d = 0; d < HD / 4; d++) {
    q[d] = qi < seq ? reinterpret_cast<const float4 *>(Q + head + (size_t)qi * HD)[d] : make_float4(0, 0, 0, 0);
    o[d] = make_float4(0, 0, 0, 0);
  }
  float m = -FLT_MAX, l = 0.f;
  const int kend = min(seq, (int)(blockIdx.x + 1) * BR);
  for (int k0 = 0; k0 < kend; k0 += BC) {
    for (int i = t; i < BC * HD / 4; i += BR) {
      int r = i / (HD / 4), c = i % (HD / 4);
      bool in = k0 + r < seq;
      ks[r][c] = in ? reinterpret_cast<const float4 *>(K + head + (size_t)(k0 + r) * HD)[c] : make_float4(0, 0, 0, 0);
      vs[r][c] = in ? reinterpret_cast<const float4 *>(V + head + (size_t)(k0 + r) * HD)[c] : make_float4(0, 0, 0, 0);
    }
    __syncthreads();
    float mt = m;
    for (int j = 0; j < BC; j++) {
      float s = 0.f;
#pragma unroll
      for (int d = 0; d < HD / 4; d++) {
        float4 kk = ks[j][d];
        s += q[d].x * kk.x + q[d].y * kk.y + q[d].z * kk.z + q[d].w * kk.w;
      }
      s = (k0 + j <= qi && k0 + j < seq) ? s * scale : -FLT_MAX;
      ps[t][j] = s;
      mt = fmaxf(mt, s);
    }
    float corr = __expf(m - mt);
    l *= corr;
#pragma unroll
    for (int d = 0; d < HD / 4; d++) { o[d].x *= corr; o[d].y *= corr; o[d].z *= corr; o[d].w *= corr; }
    for (int j = 0; j < BC; j++) {
      float p = ps[t][j] == -FLT_MAX ? 0.f : __expf(ps[t][j] - mt);
      l += p;
#pragma unroll
      for (int d = 0; d < HD / 4; d++) {
        float4 vv = vs[j][d];
        o[d].x += p * vv.x; o[d].y += p * vv.y; o[d].z += p * vv.z; o[d].w += p * vv.w;
      }
    }
    m = mt;
    __syncthreads();
  }
  if (qi < seq) {
    float inv = 1.f / l;
    for (int d = 0; d < HD / 4; d++)
      reinterpret_cast<float4 *>(O + head + (size_t)qi * HD)[d] = make_float4(o[d].x * inv, o[d].y * inv, o[d].z * inv, o[d].w * inv);
  }
}

// ------------------------------------------------------------- 3x3 convolution NCHW
template <int TS, int OC>
__global__ void conv3x3_relu(const float *in, const float *wgt, const float *bias, float *out,
                             int C, int K, int H, int W) {
  __shared__ float tile[TS + 2][TS + 2];
  __shared__ float w[OC][9];
  int tx = threadIdx.x, ty = threadIdx.y, tid = ty * TS + tx;
  int tilesX = (W + TS - 1) / TS;
  int ox = (blockIdx.x % tilesX) * TS, oy = (blockIdx.x / tilesX) * TS;
  int k0 = blockIdx.y * OC, n = blockIdx.z;
  float acc[OC] = {0.f};
  for (int c = 0; c < C; ++c) {
    const float *src = in + ((size_t)n * C + c) * H * W;
    for (int i = tid; i < (TS + 2) * (TS + 2); i += TS * TS) {
      int y = oy + i / (TS + 2) - 1, x = ox + i % (TS + 2) - 1;
      tile[i / (TS + 2)][i % (TS + 2)] = (y >= 0 && y < H && x >= 0 && x < W) ? __ldg(src + y * W + x) : 0.f;
    }
    if (tid < OC * 9) w[tid / 9][tid % 9] = wgt[((k0 + tid / 9) * C + c) * 9 + tid % 9];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 3; r++)
#pragma unroll
      for (int s = 0; s < 3; s++) {
        float v = tile[ty + r][tx + s];
#pragma unroll
        for (int k = 0; k < OC; k++) acc[k] += v * w[k][r * 3 + s];
      }
    __syncthreads();
  }
  int x = ox + tx, y = oy + ty;
  if (x < W && y < H)
    for (int k = 0; k < OC; k++) {
      float r = acc[k] + bias[k0 + k];
      out[(((size_t)n * K + k0 + k) * H + y) * W + x] = r > 0.f ? r : 0.f;
    }
}

// ------------------------------------------------------------- max pooling with indices
__global__ void maxPool3s2(const float *bottom, float *top, int *mask, int H, int W, int PH, int PW)
{
    __shared__ float sm[33 * 33];
    const int plane = blockIdx.z;
    const int ph0 = blockIdx.y * 16, pw0 = blockIdx.x * 16;
    const int h0 = ph0 * 2 - 1, w0 = pw0 * 2 - 1;
    const float *b = bottom + (size_t)plane * H * W;
    for (int idx = threadIdx.x; idx < 33 * 33; idx += blockDim.x) {
        int h = h0 + idx / 33, w = w0 + idx % 33;
        sm[idx] = (h < 0 || w < 0 || h >= H || w >= W) ? -FLT_MAX : b[h * W + w];
    }
    __syncthreads();
    const int lh = threadIdx.x / 16, lw = threadIdx.x % 16;
    const int ph = ph0 + lh, pw = pw0 + lw;
    if (ph >= PH || pw >= PW) return;
    float maxval = -FLT_MAX;
    int maxidx = -1;
    for (int r = 0; r < 3; ++r)
        for (int s = 0; s < 3; ++s) {
            float v = sm[(2 * lh + r) * 33 + 2 * lw + s];
            if (v > maxval) { maxval = v; maxidx = (h0 + 2 * lh + r) * W + w0 + 2 * lw + s; }
        }
    top[((size_t)plane * PH + ph) * PW + pw] = maxval;
    mask[((size_t)plane * PH + ph) * PW + pw] = maxidx;
}

// ------------------------------------------------------------- GEMM + bias + GELU
#define BM 64
#define BN 64
#define BK 16
__global__ void gemmBiasGelu(const half *A, const half *B, const half *bias, half *C, int M, int N, int K) {
  __shared__ float As[BK][BM + 1];
  __shared__ float Bs[BK][BN];
  const int tid = threadIdx.x, tr = tid / 16, tc = tid % 16;
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  float acc[4][4];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) acc[i][j] = 0.f;
  for (int kk = 0; kk < K; kk += BK) {
#pragma unroll
    for (int l = 0; l < 4; l++) {
      int i = tid + l * 256;
      int ar = i / BK, ak = i % BK;
      As[ak][ar] = (row0 + ar < M && kk + ak < K) ? __half2float(A[(size_t)(row0 + ar) * K + kk + ak]) : 0.f;
      int bk = i / BN, bc = i % BN;
      Bs[bk][bc] = (kk + bk < K && col0 + bc < N) ? __half2float(B[(size_t)(kk + bk) * N + col0 + bc]) : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; k++) {
      float a[4], b[4];
#pragma unroll
      for (int i = 0; i < 4; i++) { a[i] = As[k][tr * 4 + i]; b[i] = Bs[k][tc * 4 + i]; }
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      int r = row0 + tr * 4 + i, c = col0 + tc * 4 + j;
      if (r < M && c < N) {
        float v = acc[i][j] * 0.001f + __half2float(bias[c]);
        v = 0.5f * v * (1.f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
        C[(size_t)r * N + c] = __float2half(v);
      }
    }
}

// ------------------------------------------------------------- cross entropy, label smoothing
template <typename T, int THREADS>
__global__ void xentSmooth(const T *logits, const int *labels, T *loss, int classes, T smoothing) {
  __shared__ T cache[THREADS];
  const T *z = logits + (size_t)blockIdx.x * classes;
  T mx = -1e30;
  for (int i = threadIdx.x; i < classes; i += THREADS) mx = z[i] > mx ? z[i] : mx;
  cache[threadIdx.x] = mx;
  __syncthreads();
  for (int s = THREADS / 2; s >= 1; s /= 2) {
    if (threadIdx.x < s) { T o = cache[threadIdx.x + s]; if (o > cache[threadIdx.x]) cache[threadIdx.x] = o; }
    __syncthreads();
  }
  mx = cache[0];
  __syncthreads();
  T se = 0, sz = 0;
  for (int i = threadIdx.x; i < classes; i += THREADS) { se += exp(z[i] - mx); sz += z[i]; }
  cache[threadIdx.x] = se;
  __syncthreads();
  for (int s = THREADS / 2; s >= 1; s /= 2) {
    if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  T lse = mx + log(cache[0]);
  __syncthreads();
  cache[threadIdx.x] = sz;
  __syncthreads();
  for (int s = THREADS / 2; s >= 1; s /= 2) {
    if (threadIdx.x < s) cache[threadIdx.x] += cache[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    loss[blockIdx.x] = (T(1) - smoothing) * (lse - z[labels[blockIdx.x]]) + smoothing * (lse - cache[0] / classes);
}

// ------------------------------------------------------------- MoE router: top-k of E experts
#define MAX_K 8
__global__ void moeRouterTopK(const float *gate, float *weights, int *experts, int *load, int tokens, int E, int k) {
  extern __shared__ int counts[];
  for (int e = threadIdx.x; e < E; e += blockDim.x) counts[e] = 0;
  __syncthreads();
  int tok = blockIdx.x * blockDim.x + threadIdx.x;
  if (tok < tokens) {
    float bv[MAX_K];
    int bi[MAX_K];
    for (int j = 0; j < k; j++) { bv[j] = -FLT_MAX; bi[j] = -1; }
    for (int e = 0; e < E; e++) {
      float g = gate[(size_t)e * tokens + tok];
      if (g <= bv[k - 1]) continue;
      int j = k - 1;
      for (; j > 0 && bv[j - 1] < g; --j) { bv[j] = bv[j - 1]; bi[j] = bi[j - 1]; }
      bv[j] = g;
      bi[j] = e;
    }
    float s = 0.f;
    for (int j = 0; j < k; j++) s += expf(bv[j] - bv[0]);
    for (int j = 0; j < k; j++) {
      weights[(size_t)tok * k + j] = expf(bv[j] - bv[0]) / s;
      experts[(size_t)tok * k + j] = bi[j];
      atomicAdd(&counts[bi[j]], 1);
    }
  }
  __syncthreads();
  for (int e = threadIdx.x; e < E; e += blockDim.x) atomicAdd(&load[e], counts[e]);
}

// ------------------------------------------------------------- batch norm statistics, Welford merge
struct Welford {
  float mean, m2;
  int n;
};
__device__ Welford merge(Welford a, Welford b) {
  if (b.n == 0) return a;
  if (a.n == 0) return b;
  Welford r;
  r.n = a.n + b.n;
  float d = b.mean - a.mean;
  r.mean = a.mean + d * b.n / r.n;
  r.m2 = a.m2 + b.m2 + d * d * ((float)a.n * b.n / r.n);
  return r;
}
__global__ void bnWelford(const float *x, float *mean, float *var, int N, int C, int HW) {
  __shared__ Welford sh[512];
  const int c = blockIdx.x;
  Welford w = {0.f, 0.f, 0};
  for (int n = threadIdx.y; n < N; n += blockDim.y)
    for (int p = threadIdx.x; p < HW; p += blockDim.x) {
      float v = x[((size_t)n * C + c) * HW + p];
      w.n++;
      float d = v - w.mean;
      w.mean += d / w.n;
      w.m2 += d * (v - w.mean);
    }
  int id = threadIdx.y * blockDim.x + threadIdx.x;
  sh[id] = w;
  for (int s = 256; s > 0; s >>= 1) {
    __syncthreads();
    if (id < s) sh[id] = merge(sh[id], sh[id + s]);
  }
  if (id == 0) { mean[c] = sh[0].mean; var[c] = sh[0].m2 / sh[0].n; }
}

static half *mkh(size_t n, unsigned seed) {
  half *h = (half *)malloc(n * sizeof(half)), *d;
  for (size_t i = 0; i < n; i++) { seed = seed * 1103515245u + 12345u; h[i] = __float2half(((seed >> 16) & 1023) / 512.f - 1.f); }
  cudaMalloc(&d, n * sizeof(half));
  cudaMemcpy(d, h, n * sizeof(half), cudaMemcpyHostToDevice);
  free(h);
  return d;
}

int main() {
  {
    int rows = 8192, hid = 1000;
    half *x = mkh((size_t)rows * hid, 1), *g = mkh(hid, 2), *b = mkh(hid, 3), *y = mkh((size_t)rows * hid, 4);
    layerNormHalf<<<rows, 256, hid * sizeof(half)>>>(x, g, b, y, hid, 1e-5f);
    show("layerNormHalf", y, (size_t)rows * hid * sizeof(half));
  }
  {
    int seq = 1000, heads = 48;
    size_t n = (size_t)seq * heads * HD;
    float *q = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *o = mk<float>(n);
    causalAttention<<<dim3(DIVUP(seq, BR), heads), BR>>>(q, k, v, o, seq, 0.0125f);
    show("causalAttention", o, n * sizeof(float));
  }
  {
    int N = 16, C = 32, K = 64, H = 57, W = 59;
    float *in = mk<float>((size_t)N * C * H * W), *w = mk<float>(K * C * 9), *b = mk<float>(K), *o = mk<float>((size_t)N * K * H * W);
    conv3x3_relu<16, 8><<<dim3(DIVUP(W, 16) * DIVUP(H, 16), K / 8, N), dim3(16, 16)>>>(in, w, b, o, C, K, H, W);
    show("conv3x3_relu", o, (size_t)N * K * H * W * sizeof(float));
  }
  {
    int planes = 32 * 64, H = 112, W = 112, PH = 56, PW = 56;
    float *in = mk<float>((size_t)planes * H * W), *o = mk<float>((size_t)planes * PH * PW);
    int *m = mk<int>((size_t)planes * PH * PW);
    maxPool3s2<<<dim3(4, 4, planes), 256>>>(in, o, m, H, W, PH, PW);
    show("maxPool3s2", o, (size_t)planes * PH * PW * 4);
    show("maxPool3s2", m, (size_t)planes * PH * PW * 4);
  }
  {
    int M = 2048, N = 1531, K = 769;
    half *A = mkh((size_t)M * K, 5), *B = mkh((size_t)K * N, 6), *bi = mkh(N, 7), *C = mkh((size_t)M * N, 8);
    gemmBiasGelu<<<dim3(DIVUP(N, BN), DIVUP(M, BM)), 256>>>(A, B, bi, C, M, N, K);
    show("gemmBiasGelu", C, (size_t)M * N * sizeof(half));
  }
  {
    int rows = 1500, cls = 10007;
    float *z = mk<float>((size_t)rows * cls), *l = mk<float>(rows);
    int *lab = mk<int>(rows);
    xentSmooth<float, 256><<<rows, 256>>>(z, lab, l, cls, 0.1f);
    show("xentSmooth", l, rows * sizeof(float));
  }
  {
    int tokens = 262144 + 77, E = 60, k = 6;
    float *g = mk<float>((size_t)tokens * E), *w = mk<float>((size_t)tokens * k);
    int *ex = mk<int>((size_t)tokens * k), *load = mk<int>(E);
    cudaMemset(load, 0, E * sizeof(int));
    moeRouterTopK<<<DIVUP(tokens, 128), 128, E * sizeof(int)>>>(g, w, ex, load, tokens, E, k);
    show("moeRouterTopK", w, (size_t)tokens * k * 4);
    show("moeRouterTopK", ex, (size_t)tokens * k * 4);
    show("moeRouterTopK", load, E * sizeof(int));
  }
  {
    int N = 32, C = 256, HW = 49 * 25;
    float *x = mk<float>((size_t)N * C * HW), *m = mk<float>(C), *v = mk<float>(C);
    bnWelford<<<C, dim3(128, 4)>>>(x, m, v, N, C, HW);
    show("bnWelford", m, C * 4);
    show("bnWelford", v, C * 4);
  }
}
