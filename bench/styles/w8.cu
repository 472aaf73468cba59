// Linear / convolution layers without libraries
#include "h.h"
#include <cstdint>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

using index_t = int64_t;

__device__ __forceinline__ float gelu(float x) { return 0.5f * x * (1.f + erff(x * 0.70710678f)); }

// register blocked, BM x BN tile, each thread TM x TN
template <int BM, int BN, int BK, int TM, int TN>
__global__ void __launch_bounds__((BM / TM) * (BN / TN))
    linear_bias_gelu(const float *__restrict__ X, const float *__restrict__ W, const float *__restrict__ bias,
                     float *__restrict__ Y, int M, int N, int K) {
  __shared__ float Xs[BK][BM];
  __shared__ float Ws[BK][BN];
  constexpr int NTHR = (BM / TM) * (BN / TN);
  const int tid = threadIdx.x;
  const int tr = tid / (BN / TN), tc = tid % (BN / TN);
  const int m0 = blockIdx.y * BM, n0 = blockIdx.x * BN;
  float acc[TM][TN] = {};
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = tid; i < BM * BK; i += NTHR) {
      int r = i / BK, c = i % BK;
      Xs[c][r] = (m0 + r < M && k0 + c < K) ? X[(index_t)(m0 + r) * K + k0 + c] : 0.f;
    }
    for (int i = tid; i < BK * BN; i += NTHR) {
      int r = i / BN, c = i % BN;
      Ws[r][c] = (k0 + r < K && n0 + c < N) ? W[(index_t)(k0 + r) * N + n0 + c] : 0.f;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < BK; ++k) {
      float a[TM], b[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) a[i] = Xs[k][tr * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) b[j] = Ws[k][tc * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      int m = m0 + tr * TM + i, n = n0 + tc * TN + j;
      if (m < M && n < N) Y[(index_t)m * N + n] = gelu(acc[i][j] + bias[n]);
    }
}

// batched strided product of half matrices, float accumulation
__global__ void bmm_half(const __half *A, const __half *B, __half *C, int M, int N, int K) {
  cg::thread_block blk = cg::this_thread_block();
  __shared__ __half ta[16][16];
  __shared__ __half tb[16][16];
  const index_t bz = blockIdx.z;
  A += bz * M * K;
  B += bz * K * N;
  C += bz * M * N;
  const int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.f;
  for (int t = 0; t < (K + 15) / 16; ++t) {
    int ka = t * 16 + threadIdx.x, kb = t * 16 + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = (row < M && ka < K) ? A[row * K + ka] : __float2half(0.f);
    tb[threadIdx.y][threadIdx.x] = (kb < K && col < N) ? B[kb * N + col] : __float2half(0.f);
    blk.sync();
    for (int k = 0; k < 16; ++k) acc += __half2float(ta[threadIdx.y][k]) * __half2float(tb[k][threadIdx.x]);
    blk.sync();
  }
  if (row < M && col < N) C[row * N + col] = __float2half(acc);
}

// 3x3 convolution (pad 1) as implicit product: out[oc][p] = sum_{ic,r,s} w * in
__global__ void conv3x3_implicit(const float *__restrict__ in, const float *__restrict__ w, float *__restrict__ out,
                                 int C, int H, int Wd, int OC) {
  __shared__ float ws[16][17];
  __shared__ float is[16][17];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int pix = blockIdx.x * 16 + tx, oc = blockIdx.y * 16 + ty;
  const int KK = C * 9;
  in += (size_t)blockIdx.z * C * H * Wd;
  out += (size_t)blockIdx.z * OC * H * Wd;
  const int oy = pix / Wd, ox = pix % Wd;
  float acc = 0.f;
  for (int k0 = 0; k0 < KK; k0 += 16) {
    ws[ty][tx] = (oc < OC && k0 + tx < KK) ? w[oc * KK + k0 + tx] : 0.f;
    const int k = k0 + ty;
    const int ic = k / 9, rs = k % 9;
    const int y = oy + rs / 3 - 1, x = ox + rs % 3 - 1;
    float v = 0.f;
    if (k < KK && pix < H * Wd && y >= 0 && y < H && x >= 0 && x < Wd) v = in[(ic * H + y) * Wd + x];
    is[ty][tx] = v;
    __syncthreads();
    for (int i = 0; i < 16; ++i) acc += ws[ty][i] * is[i][tx];
    __syncthreads();
  }
  if (oc < OC && pix < H * Wd) out[(size_t)oc * H * Wd + pix] = acc;
}

template <typename T> static void fingerprint(const char *tag, const T *dev, size_t n) {
  size_t bytes = n * sizeof(T);
  uint8_t *h = static_cast<uint8_t *>(malloc(bytes));
  cudaMemcpy(h, dev, bytes, cudaMemcpyDeviceToHost);
  uint64_t f = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < bytes; ++i) { f ^= h[i]; f *= 0x100000001b3ull; }
  printf("%s %016lx\n", tag, f);
  free(h);
}

__half *mkHalf(size_t n) {
  __half *h = (__half *)malloc(n * sizeof(__half)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = __float2half((float)((i * 7919u) % 37) / 32.f - 0.5f);
  cudaMalloc(&d, n * sizeof(__half));
  cudaMemcpy(d, h, n * sizeof(__half), cudaMemcpyHostToDevice);
  free(h);
  return d;
}

int main() {
  const int M = 1024, N = 1536, K = 600;
  float *X = mk<float>(M * K), *W = mk<float>(K * N), *b = mk<float>(N), *Y;
  cudaMalloc(&Y, sizeof(float) * M * N);
  linear_bias_gelu<64, 64, 16, 4, 4><<<dim3((N + 63) / 64, (M + 63) / 64), 256>>>(X, W, b, Y, M, N, K);

  const int bs = 96, hm = 197, hk = 64;
  __half *ha = mkHalf((size_t)bs * hm * hk), *hb = mkHalf((size_t)bs * hm * hk), *hc;
  cudaMalloc(&hc, sizeof(__half) * bs * hm * hm);
  bmm_half<<<dim3((hm + 15) / 16, (hm + 15) / 16, bs), dim3(16, 16)>>>(ha, hb, hc, hm, hm, hk);

  const int Bn = 8, C = 32, H = 56, Wd = 56, OC = 64;
  float *in = mk<float>((size_t)Bn * C * H * Wd), *w = mk<float>(OC * C * 9), *out;
  cudaMalloc(&out, sizeof(float) * Bn * OC * H * Wd);
  conv3x3_implicit<<<dim3((H * Wd + 15) / 16, (OC + 15) / 16, Bn), dim3(16, 16)>>>(in, w, out, C, H, Wd, OC);
  cudaDeviceSynchronize();
  fingerprint("linear", Y, (size_t)M * N);
  fingerprint("bmm", hc, (size_t)bs * hm * hm);
  fingerprint("conv", out, (size_t)Bn * OC * H * Wd);
}
