#include "shown.h"
#include <cuda_fp16.h>

// depthwise 3x3, NCHW, one block = tile of one channel
template <typename scalar_t, int K>
__global__ void depthwise_conv2d_fwd(const scalar_t *__restrict__ input, const scalar_t *__restrict__ weight, const scalar_t *__restrict__ bias,
                                     scalar_t *__restrict__ output, int C, int H, int W) {
  constexpr int P = K / 2;
  __shared__ scalar_t tile[8 + K - 1][32 + K - 1];
  __shared__ scalar_t w[K * K];
  const int nc = blockIdx.z;
  const int c = nc % C;
  const int tid = threadIdx.y * 32 + threadIdx.x;
  if (tid < K * K) w[tid] = weight[c * K * K + tid];
  const scalar_t *in = input + (size_t)nc * H * W;
  for (int y = threadIdx.y; y < 8 + K - 1; y += 8) {
    for (int x = threadIdx.x; x < 32 + K - 1; x += 32) {
      const int gy = blockIdx.y * 8 + y - P, gx = blockIdx.x * 32 + x - P;
      tile[y][x] = (gy >= 0 && gy < H && gx >= 0 && gx < W) ? in[gy * W + gx] : scalar_t(0);
    }
  }
  __syncthreads();
  const int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 32 + threadIdx.x;
  if (oy < H && ox < W) {
    scalar_t v = bias[c];
#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
      for (int j = 0; j < K; ++j) v += tile[threadIdx.y + i][threadIdx.x + j] * w[i * K + j];
    output[(size_t)nc * H * W + oy * W + ox] = v;
  }
}

// LeNet style forward conv with dynamic shared (ECE408)
__global__ void ConvLayerForward_Kernel(int C, int M, int W_grid, int K, int H, int Wd, const float *X, const float *Wt, float *Y, int TILE) {
  int n, m, h0, w0, h_base, w_base, h, w;
  int X_tile_width = TILE + K - 1;
  int H_out = H - K + 1, W_out = Wd - K + 1;
  extern __shared__ float shmem[];
  float *X_shared = &shmem[0];
  float *W_shared = &shmem[X_tile_width * X_tile_width];
  n = blockIdx.x;
  m = blockIdx.y;
  h0 = threadIdx.y;
  w0 = threadIdx.x;
  h_base = (blockIdx.z / W_grid) * TILE;
  w_base = (blockIdx.z % W_grid) * TILE;
  h = h_base + h0;
  w = w_base + w0;
  float acc = 0.;
  for (int c = 0; c < C; c++) {
    if ((h0 < K) && (w0 < K)) W_shared[h0 * K + w0] = Wt[((m * C + c) * K + h0) * K + w0];
    for (int i = h; i < h_base + X_tile_width; i += TILE)
      for (int j = w; j < w_base + X_tile_width; j += TILE)
        X_shared[(i - h_base) * X_tile_width + (j - w_base)] = (i < H && j < Wd) ? X[((n * C + c) * H + i) * Wd + j] : 0.f;
    __syncthreads();
    for (int p = 0; p < K; p++)
      for (int q = 0; q < K; q++) acc += X_shared[(h0 + p) * X_tile_width + w0 + q] * W_shared[p * K + q];
    __syncthreads();
  }
  if (h < H_out && w < W_out) Y[((n * M + m) * H_out + h) * W_out + w] = acc;
}

// layernorm, shared tree for mean & rstd
__global__ void layernorm_forward_block(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias, int N, int C) {
  extern __shared__ float sh2[];
  float *s1 = sh2, *s2 = sh2 + blockDim.x;
  int idx = blockIdx.x, tid = threadIdx.x;
  const float *x = inp + (size_t)idx * C;
  float sum = 0.0f, sq = 0.0f;
  for (int i = tid; i < C; i += blockDim.x) { float v = x[i]; sum += v; sq += v * v; }
  s1[tid] = sum;
  s2[tid] = sq;
  __syncthreads();
  for (int stride = blockDim.x / 2; stride >= 1; stride /= 2) {
    if (tid < stride) { s1[tid] += s1[tid + stride]; s2[tid] += s2[tid + stride]; }
    __syncthreads();
  }
  float m = s1[0] / C;
  float rs = rsqrtf(s2[0] / C - m * m + 1e-5f);
  if (tid == 0) { mean[idx] = m; rstd[idx] = rs; }
  for (int i = tid; i < C; i += blockDim.x) out[(size_t)idx * C + i] = (x[i] - m) * rs * weight[i] + bias[i];
}

// batchnorm statistics: block per channel, NCHW
__global__ void batchnorm_collect_stats(const float *x, double *mean, double *var, int N, int C, int HW) {
  __shared__ double ssum[512], ssq[512];
  const int c = blockIdx.x;
  double a = 0, b = 0;
  for (int i = threadIdx.x; i < N * HW; i += blockDim.x) {
    int n = i / HW, p = i - n * HW;
    double v = x[((size_t)n * C + c) * HW + p];
    a += v;
    b += v * v;
  }
  ssum[threadIdx.x] = a;
  ssq[threadIdx.x] = b;
  for (int s = blockDim.x >> 1; s; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      ssum[threadIdx.x] += ssum[threadIdx.x + s];
      ssq[threadIdx.x] += ssq[threadIdx.x + s];
    }
  }
  if (threadIdx.x == 0) {
    double m = ssum[0] / (N * HW);
    mean[c] = m;
    var[c] = ssq[0] / (N * HW) - m * m;
  }
}

// causal 1-D conv (mamba-like), half in / half out, float math
#define CC_T 128
#define CC_W 4
__global__ void causal_conv1d_h(const __half *x, const float *w, __half *y, int D, int L) {
  __shared__ float sx[CC_T + CC_W - 1];
  int d = blockIdx.y, b = blockIdx.z;
  int l = blockIdx.x * CC_T + threadIdx.x;
  const __half *xp = x + ((size_t)b * D + d) * L;
  sx[threadIdx.x + CC_W - 1] = l < L ? __half2float(xp[l]) : 0.f;
  if (threadIdx.x < CC_W - 1) {
    int g = l - (CC_W - 1);
    sx[threadIdx.x] = g >= 0 ? __half2float(xp[g]) : 0.f;
  }
  __syncthreads();
  if (l >= L) return;
  float acc = 0;
#pragma unroll
  for (int k = 0; k < CC_W; k++) acc += w[d * CC_W + k] * sx[threadIdx.x + k];
  acc = acc / (1.f + __expf(-acc));
  y[((size_t)b * D + d) * L + l] = __float2half(acc);
}

int main() {
  {
    int N = 8, C = 96, H = 57, W = 61;
    size_t n = (size_t)N * C * H * W;
    float *x = mk<float>(n), *w = mk<float>(C * 9), *b = mk<float>(C), *y = mk<float>(n);
    depthwise_conv2d_fwd<float, 3><<<dim3((W + 31) / 32, (H + 7) / 8, N * C), dim3(32, 8)>>>(x, w, b, y, C, H, W);
    show("depthwise_conv2d_fwd", y, n * 4);
  }
  {
    int N = 64, C = 6, M = 16, H = 48, W = 48, K = 5, T = 16;
    int Ho = H - K + 1, Wo = W - K + 1, wg = (Wo + T - 1) / T, hg = (Ho + T - 1) / T;
    float *x = mk<float>(N * C * H * W), *w = mk<float>(M * C * K * K), *y = mk<float>(N * M * Ho * Wo);
    size_t sm = ((T + K - 1) * (T + K - 1) + K * K) * 4;
    ConvLayerForward_Kernel<<<dim3(N, M, wg * hg), dim3(T, T), sm>>>(C, M, wg, K, H, W, x, w, y, T);
    show("ConvLayerForward_Kernel", y, N * M * Ho * Wo * 4);
  }
  {
    int N = 8192, C = 768;
    float *x = mk<float>(N * C), *w = mk<float>(C), *b = mk<float>(C), *o = mk<float>(N * C), *m = mk<float>(N), *r = mk<float>(N);
    layernorm_forward_block<<<N, 128, 256 * 4>>>(o, m, r, x, w, b, N, C);
    show("layernorm_forward_block", o, N * C * 4);
  }
  {
    int N = 32, C = 128, HW = 28 * 28;
    float *x = mk<float>(N * C * HW);
    double *mv = mk<double>(2 * C);
    batchnorm_collect_stats<<<C, 512>>>(x, mv, mv + C, N, C, HW);
    show("batchnorm_collect_stats", mv, 2 * C * 8);
  }
  {
    int B = 4, D = 512, L = 2050;
    size_t n = (size_t)B * D * L;
    __half *h = (__half *)malloc(n * 2), *x, *y;
    for (size_t i = 0; i < n; i++) h[i] = __float2half(((i * 37) % 101) / 50.f - 1.f);
    cudaMalloc(&x, n * 2); cudaMalloc(&y, n * 2);
    cudaMemcpy(x, h, n * 2, cudaMemcpyHostToDevice);
    float *w = mk<float>(D * CC_W);
    causal_conv1d_h<<<dim3((L + CC_T - 1) / CC_T, D, B), CC_T>>>(x, w, y, D, L);
    show("causal_conv1d_h", y, n * 2);
  }
}
