// h7: machine learning kernels
#include "shown.h"
#include <cfloat>
#include <cstdint>

namespace nn {

// ------------------------------------------------------------------------------------------
// row softmax with a shared row cache
// ------------------------------------------------------------------------------------------
__device__ __forceinline__ float warp_max(float v) {
  for (int m = 16; m; m >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, m));
  return v;
}
__device__ __forceinline__ float warp_sum(float v) {
  for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(0xffffffff, v, m);
  return v;
}

__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int cols) {
  extern __shared__ float row[];
  __shared__ float red[32];
  const int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = blockDim.x >> 5;
  const float* xr = x + (size_t)blockIdx.x * cols;
  float m = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float v = xr[c];
    row[c] = v;
    m = fmaxf(m, v);
  }
  m = warp_max(m);
  if (lane == 0) red[wid] = m;
  __syncthreads();
  m = red[0];
  for (int i = 1; i < nw; ++i) m = fmaxf(m, red[i]);
  __syncthreads();
  float s = 0.f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    float e = expf(row[c] - m);
    row[c] = e;
    s += e;
  }
  s = warp_sum(s);
  if (lane == 0) red[wid] = s;
  __syncthreads();
  s = 0.f;
  for (int i = 0; i < nw; ++i) s += red[i];
  const float inv = 1.f / s;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = row[c] * inv;
}

// ------------------------------------------------------------------------------------------
// layernorm backward for gamma / beta: column sums of [N, D], 32x32 tiles of partials
// ------------------------------------------------------------------------------------------
template <typename T>
__global__ void layernorm_grad_gamma_beta(const T* dy, const T* x, const T* mean, const T* rstd, T* dgamma, T* dbeta, int64_t N, int64_t D) {
  __shared__ T g_sh[32][33];
  __shared__ T b_sh[32][33];
  const int64_t j = (int64_t)blockIdx.x * 32 + threadIdx.x;
  T g = 0, b = 0;
  if (j < D) {
    for (int64_t i = threadIdx.y; i < N; i += blockDim.y) {
      const T d = dy[i * D + j];
      g += d * (x[i * D + j] - mean[i]) * rstd[i];
      b += d;
    }
  }
  for (int r = threadIdx.y; r < 32; r += blockDim.y) { g_sh[r][threadIdx.x] = T(0); b_sh[r][threadIdx.x] = T(0); }
  __syncthreads();
  g_sh[threadIdx.y][threadIdx.x] = g;
  b_sh[threadIdx.y][threadIdx.x] = b;
  __syncthreads();
  for (int s = 16; s > 0; s >>= 1) {
    if ((int)threadIdx.y < s) {
      g_sh[threadIdx.y][threadIdx.x] += g_sh[threadIdx.y + s][threadIdx.x];
      b_sh[threadIdx.y][threadIdx.x] += b_sh[threadIdx.y + s][threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && j < D) {
    dgamma[j] = g_sh[0][threadIdx.x];
    dbeta[j] = b_sh[0][threadIdx.x];
  }
}

// ------------------------------------------------------------------------------------------
// depthwise 3x3 / 5x5 convolution, NCHW, stride 1, same padding
// ------------------------------------------------------------------------------------------
template <int KS, int TH, int TW>
__global__ void depthwise_conv_nchw(const float* __restrict__ in, const float* __restrict__ filt, const float* __restrict__ bias,
                                    float* __restrict__ out, int C, int H, int W) {
  constexpr int PAD = KS / 2;
  constexpr int SH = TH + KS - 1, SW = TW + KS - 1;
  __shared__ float s_in[SH * SW];
  __shared__ float s_f[KS * KS];

  const int nc = blockIdx.z, c = nc % C;
  const float* plane = in + (size_t)nc * H * W;
  const int tid = threadIdx.y * TW + threadIdx.x;
  if (tid < KS * KS) s_f[tid] = filt[c * KS * KS + tid];
  for (int p = tid; p < SH * SW; p += TH * TW) {
    const int iy = (int)blockIdx.y * TH + p / SW - PAD;
    const int ix = (int)blockIdx.x * TW + p % SW - PAD;
    s_in[p] = ((unsigned)iy < (unsigned)H && (unsigned)ix < (unsigned)W) ? plane[iy * W + ix] : 0.f;
  }
  __syncthreads();
  const int oy = blockIdx.y * TH + threadIdx.y, ox = blockIdx.x * TW + threadIdx.x;
  if (oy >= H || ox >= W) return;
  float acc = bias[c];
#pragma unroll
  for (int ky = 0; ky < KS; ++ky)
#pragma unroll
    for (int kx = 0; kx < KS; ++kx) acc = fmaf(s_in[(threadIdx.y + ky) * SW + threadIdx.x + kx], s_f[ky * KS + kx], acc);
  out[(size_t)nc * H * W + oy * W + ox] = acc > 0.f ? acc : 0.1f * acc;
}

// ------------------------------------------------------------------------------------------
// batched  C[b] = A[b] * B[b]^T  with 4x4 micro tiles (attention scores)
// ------------------------------------------------------------------------------------------
#define BM 64
#define BN 64
#define BK 16
__global__ void __launch_bounds__(256) batched_qk(const float* __restrict__ Q, const float* __restrict__ K, float* __restrict__ S, int M, int N, int D, float scale) {
  __shared__ float qs[BK][BM + 4];
  __shared__ float ks[BK][BN + 4];
  const int b = blockIdx.z;
  Q += (size_t)b * M * D;
  K += (size_t)b * N * D;
  S += (size_t)b * M * N;
  const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  float acc[4][4] = {};
  for (int k0 = 0; k0 < D; k0 += BK) {
    for (int e = threadIdx.x; e < BM * BK; e += 256) {
      int r = e / BK, k = e % BK;
      qs[k][r] = (m0 + r < M && k0 + k < D) ? Q[(size_t)(m0 + r) * D + k0 + k] : 0.f;
      ks[k][r] = (n0 + r < N && k0 + k < D) ? K[(size_t)(n0 + r) * D + k0 + k] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[4], c[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) { a[i] = qs[k][ty * 4 + i]; c[i] = ks[k][tx * 4 + i]; }
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) acc[i][j] += a[i] * c[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      int m = m0 + ty * 4 + i, n = n0 + tx * 4 + j;
      if (m < M && n < N) S[(size_t)m * N + n] = acc[i][j] * scale;
    }
}

// ------------------------------------------------------------------------------------------
// top-k per row, each thread keeps a small sorted list, lists merged in shared
// ------------------------------------------------------------------------------------------
struct Pair { float v; int i; };
__device__ inline bool better(const Pair& a, const Pair& b) { return a.v > b.v || (a.v == b.v && a.i < b.i); }

template <int K>
__device__ void insert_sorted(Pair (&l)[K], Pair p) {
  if (!better(p, l[K - 1])) return;
  int pos = K - 1;
  while (pos > 0 && better(p, l[pos - 1])) {
    l[pos] = l[pos - 1];
    --pos;
  }
  l[pos] = p;
}

template <int K, int T>
__global__ void topk_rows(const float* in, float* vals, int* idx, int n) {
  __shared__ Pair sh[T * K];
  Pair mine[K];
  for (int k = 0; k < K; ++k) mine[k] = Pair{-FLT_MAX, 0x7fffffff};
  const float* r = in + (size_t)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += T) insert_sorted<K>(mine, Pair{r[i] * ((i * 31) % 17), i});
  for (int k = 0; k < K; ++k) sh[threadIdx.x * K + k] = mine[k];
  for (int s = T / 2; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) {
      Pair* a = sh + threadIdx.x * K;
      Pair* b = sh + (threadIdx.x + s) * K;
      Pair out[K];
      int ia = 0, ib = 0;
      for (int k = 0; k < K; ++k) out[k] = better(a[ia], b[ib]) ? a[ia++] : b[ib++];
      for (int k = 0; k < K; ++k) a[k] = out[k];
    }
  }
  __syncthreads();
  if (threadIdx.x < K) {
    vals[blockIdx.x * K + threadIdx.x] = sh[threadIdx.x].v;
    idx[blockIdx.x * K + threadIdx.x] = sh[threadIdx.x].i;
  }
}

// ------------------------------------------------------------------------------------------
// 1-D causal convolution (SSM style), width 4, with channel-last input
// ------------------------------------------------------------------------------------------
template <int CH, int LT>
__global__ void causal_conv1d(const float* x, const float* w, float* y, int L, int C) {
  __shared__ float xs[LT + 3][CH];
  const int c = blockIdx.y * CH + threadIdx.x;
  const int l0 = blockIdx.x * LT;
  const float* xb = x + (size_t)blockIdx.z * L * C;
  for (int l = threadIdx.y; l < LT + 3; l += blockDim.y) {
    const int gl = l0 + l - 3;
    xs[l][threadIdx.x] = (gl >= 0 && gl < L && c < C) ? xb[(size_t)gl * C + c] : 0.f;
  }
  __syncthreads();
  if (c >= C) return;
  const float w0 = w[c * 4], w1 = w[c * 4 + 1], w2 = w[c * 4 + 2], w3 = w[c * 4 + 3];
  for (int l = threadIdx.y; l < LT && l0 + l < L; l += blockDim.y) {
    float v = w0 * xs[l][threadIdx.x] + w1 * xs[l + 1][threadIdx.x] + w2 * xs[l + 2][threadIdx.x] + w3 * xs[l + 3][threadIdx.x];
    y[((size_t)blockIdx.z * L + l0 + l) * C + c] = v / (1.f + expf(-v));
  }
}

// ------------------------------------------------------------------------------------------
// NHWC -> NCHW layout through shared memory, batch in z
// ------------------------------------------------------------------------------------------
__global__ void nhwc_to_nchw(const float* in, float* out, int HW, int C) {
  __shared__ float t[32][33];
  const size_t base = (size_t)blockIdx.z * HW * C;
  int c = blockIdx.x * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    int p = blockIdx.y * 32 + k;
    if (p < HW && c < C) t[k][threadIdx.x] = in[base + (size_t)p * C + c];
  }
  __syncthreads();
  int p = blockIdx.y * 32 + threadIdx.x;
  for (int k = threadIdx.y; k < 32; k += 8) {
    int cc = blockIdx.x * 32 + k;
    if (p < HW && cc < C) out[base + (size_t)cc * HW + p] = t[threadIdx.x][k];
  }
}

}  // namespace nn

int main() {
  using namespace nn;
  {
    int rows = 8192, cols = 1531;
    float *x = mk<float>((size_t)rows * cols), *y = mk<float>((size_t)rows * cols);
    softmax_rows<<<rows, 256, cols * sizeof(float)>>>(x, y, cols);
    show("softmax_rows", y, sizeof(float) * rows * cols);
  }
  {
    int64_t N = 4096, D = 4100;
    float *dy = mk<float>(N * D), *x = mk<float>(N * D), *m = mk<float>(N), *r = mk<float>(N), *dg = mk<float>(D), *db = mk<float>(D);
    layernorm_grad_gamma_beta<float><<<(D + 31) / 32, dim3(32, 16)>>>(dy, x, m, r, dg, db, N, D);
    show("ln_dgamma", dg, D * 4);
    show("ln_dbeta", db, D * 4);
  }
  {
    int B = 8, C = 96, H = 113, W = 111;
    size_t n = (size_t)B * C * H * W;
    float *in = mk<float>(n), *f = mk<float>(C * 25), *bi = mk<float>(C), *out = mk<float>(n);
    depthwise_conv_nchw<5, 8, 32><<<dim3((W + 31) / 32, (H + 7) / 8, B * C), dim3(32, 8)>>>(in, f, bi, out, C, H, W);
    show("depthwise_conv_nchw", out, n * 4);
  }
  {
    int b = 32, M = 500, N = 509, D = 72;
    float *q = mk<float>(b * M * D), *k = mk<float>(b * N * D), *s = mk<float>(b * M * N);
    batched_qk<<<dim3((N + BN - 1) / BN, (M + BM - 1) / BM, b), 256>>>(q, k, s, M, N, D, 0.1178f);
    show("batched_qk", s, 4ull * b * M * N);
  }
  {
    int rows = 1024, n = 9001;
    float *x = mk<float>((size_t)rows * n), *v = mk<float>(rows * 8);
    int *i = mk<int>(rows * 8);
    topk_rows<8, 128><<<rows, 128>>>(x, v, i, n);
    show("topk_vals", v, rows * 32);
    show("topk_idx", i, rows * 32);
  }
  {
    int B = 4, L = 2047, C = 1000;
    size_t n = (size_t)B * L * C;
    float *x = mk<float>(n), *w = mk<float>(C * 4), *y = mk<float>(n);
    causal_conv1d<32, 64><<<dim3((L + 63) / 64, (C + 31) / 32, B), dim3(32, 8)>>>(x, w, y, L, C);
    show("causal_conv1d", y, n * 4);
  }
  {
    int B = 16, HW = 56 * 57, C = 200;
    size_t n = (size_t)B * HW * C;
    float *a = mk<float>(n), *b = mk<float>(n);
    nhwc_to_nchw<<<dim3((C + 31) / 32, (HW + 31) / 32, B), dim3(32, 8)>>>(a, b, HW, C);
    show("nhwc_to_nchw", b, n * 4);
  }
}
