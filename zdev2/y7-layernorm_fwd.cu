// neural network layers, forward
#include <cstdio>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

#define CUDA_CHECK(expr)                                                     \
  do {                                                                       \
    cudaError_t status = (expr);                                             \
    if (status != cudaSuccess) {                                             \
      fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      return -1;                                                             \
    }                                                                        \
  } while (0)

// softmax over the last dimension, one block a row, row kept in shared memory
__global__ void softmax_rows_fwd(const float *__restrict__ logits, float *__restrict__ probs, int C) {
  extern __shared__ float smem[];
  float *row = smem;
  float *red = smem + C;
  const int tid = threadIdx.x;
  const float *x = logits + (size_t)blockIdx.x * C;
  float m = -INFINITY;
  for (int i = tid; i < C; i += blockDim.x) {
    float v = x[i];
    row[i] = v;
    m = fmaxf(m, v);
  }
  red[tid] = m;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = tid; i < C; i += blockDim.x) {
    float e = __expf(row[i] - m);
    row[i] = e;
    sum += e;
  }
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) red[tid] += red[tid + s];
    __syncthreads();
  }
  float inv = 1.f / red[0];
  float *y = probs + (size_t)blockIdx.x * C;
  for (int i = tid; i < C; i += blockDim.x) y[i] = row[i] * inv;
}

// layer norm, sum and sum of squares reduced together
template <int BLOCK>
__global__ void layernorm_fwd(const float *inp, const float *gamma, const float *beta, float *out, int D, float eps) {
  __shared__ float s1[BLOCK];
  __shared__ float s2[BLOCK];
  const int row = blockIdx.x;
  float a = 0.f, b = 0.f;
  for (int d = threadIdx.x; d < D; d += BLOCK) {
    float v = inp[(size_t)row * D + d];
    a += v;
    b += v * v;
  }
  s1[threadIdx.x] = a;
  s2[threadIdx.x] = b;
  __syncthreads();
  for (int o = BLOCK / 2; o > 0; o /= 2) {
    if (threadIdx.x < o) {
      s1[threadIdx.x] += s1[threadIdx.x + o];
      s2[threadIdx.x] += s2[threadIdx.x + o];
    }
    __syncthreads();
  }
  float mean = s1[0] / D;
  float rstd = rsqrtf(s2[0] / D - mean * mean + eps);
  for (int d = threadIdx.x; d < D; d += BLOCK) {
    size_t o = (size_t)row * D + d;
    out[o] = (inp[o] - mean) * rstd * gamma[d] + beta[d];
  }
}

// batch norm statistics over N and HW for each channel, 2-D block
__global__ void bn_channel_stats(const float *x, float *mean, float *var, int N, int C, int HW) {
  __shared__ float ss[8][33];
  __shared__ float sq[8][33];
  int c = blockIdx.x;
  float s = 0.f, q = 0.f;
  for (int n = threadIdx.y; n < N; n += blockDim.y)
    for (int p = threadIdx.x; p < HW; p += blockDim.x) {
      float v = x[((size_t)n * C + c) * HW + p];
      s += v;
      q += v * v;
    }
  ss[threadIdx.y][threadIdx.x] = s;
  sq[threadIdx.y][threadIdx.x] = q;
  __syncthreads();
  for (int k = 4; k > 0; k >>= 1) {
    if (threadIdx.y < k) {
      ss[threadIdx.y][threadIdx.x] += ss[threadIdx.y + k][threadIdx.x];
      sq[threadIdx.y][threadIdx.x] += sq[threadIdx.y + k][threadIdx.x];
    }
    __syncthreads();
  }
  if (threadIdx.y == 0 && threadIdx.x == 0) {
    float a = 0.f, b = 0.f;
    for (int i = 0; i < 32; i++) { a += ss[0][i]; b += sq[0][i]; }
    float m = a / ((float)N * HW);
    mean[c] = m;
    var[c] = b / ((float)N * HW) - m * m;
  }
}

// 3x3 max pooling with stride 1, same padding
#define PT 16
__global__ void maxpool3_s1(const float *in, float *out, int H, int W) {
  __shared__ float t[PT + 2][PT + 2];
  const float *src = in + (size_t)blockIdx.z * H * W;
  int ox = blockIdx.x * PT, oy = blockIdx.y * PT;
  for (int j = threadIdx.y; j < PT + 2; j += PT)
    for (int i = threadIdx.x; i < PT + 2; i += PT) {
      int y = oy + j - 1, x = ox + i - 1;
      t[j][i] = (y >= 0 && y < H && x >= 0 && x < W) ? src[y * W + x] : -INFINITY;
    }
  __syncthreads();
  int x = ox + threadIdx.x, y = oy + threadIdx.y;
  if (x >= W || y >= H) return;
  float m = -INFINITY;
#pragma unroll
  for (int j = 0; j < 3; j++)
#pragma unroll
    for (int i = 0; i < 3; i++) m = fmaxf(m, t[threadIdx.y + j][threadIdx.x + i]);
  out[((size_t)blockIdx.z * H + y) * W + x] = m;
}

// direct 3x3 convolution, loop over input channels with tile and weights in shared
#define CT 16
#define KS 3
__global__ void conv3x3_nchw(const float *__restrict__ in, const float *__restrict__ wgt, const float *bias, float *out, int Cin, int Cout, int H, int W) {
  __shared__ float tile[CT + KS - 1][CT + KS - 1];
  __shared__ float ws[KS * KS];
  int n = blockIdx.z / Cout, co = blockIdx.z % Cout;
  int tx = threadIdx.x, ty = threadIdx.y, tid = ty * CT + tx;
  int x = blockIdx.x * CT + tx, y = blockIdx.y * CT + ty;
  float acc = bias[co];
  for (int ci = 0; ci < Cin; ++ci) {
    const float *plane = in + ((size_t)n * Cin + ci) * H * W;
    for (int e = tid; e < (CT + 2) * (CT + 2); e += CT * CT) {
      int iy = blockIdx.y * CT + e / (CT + 2) - 1;
      int ix = blockIdx.x * CT + e % (CT + 2) - 1;
      float v = 0.f;
      if (iy >= 0 && iy < H && ix >= 0 && ix < W) v = plane[iy * W + ix];
      tile[e / (CT + 2)][e % (CT + 2)] = v;
    }
    if (tid < KS * KS) ws[tid] = wgt[((size_t)co * Cin + ci) * KS * KS + tid];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < KS; ++j)
#pragma unroll
      for (int i = 0; i < KS; ++i) acc += ws[j * KS + i] * tile[ty + j][tx + i];
    __syncthreads();
  }
  if (x < W && y < H) out[(((size_t)n * Cout + co) * H + y) * W + x] = fmaxf(acc, 0.f);
}

// depthwise temporal convolution on half sequences (N x C x T), causal, 7 taps
__global__ void depthwise_causal7(const half *x, const half *w, half *y, int C, int T) {
  __shared__ half s[256 + 6];
  int ch = blockIdx.y;
  const half *xr = x + (size_t)ch * T;
  int t = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x + 6] = t < T ? xr[t] : __float2half(0.f);
  if (threadIdx.x < 6) {
    int p = t - 6;
    s[threadIdx.x] = p >= 0 ? xr[p] : __float2half(0.f);
  }
  __syncthreads();
  if (t < T) {
    float acc = 0.f;
    for (int k = 0; k < 7; k++) acc += __half2float(w[(ch % C) * 7 + k]) * __half2float(s[threadIdx.x + k]);
    y[(size_t)ch * T + t] = __float2half(acc);
  }
}

int main() {
  int B = 8192, C = 1000, D = 768;
  size_t cap = (size_t)16 * 64 * 112 * 112;
  std::vector<float> h(cap);
  for (size_t i = 0; i < cap; i++) h[i] = std::sin(0.001f * (float)(i % 6283)) * 2.f;
  float *x, *y, *w;
  CUDA_CHECK(cudaMalloc(&x, cap * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&y, cap * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&w, 1 << 20));
  CUDA_CHECK(cudaMemcpy(x, h.data(), cap * sizeof(float), cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(w, h.data(), 1 << 20, cudaMemcpyHostToDevice));

  softmax_rows_fwd<<<B, 256, (C + 256) * sizeof(float)>>>(x, y, C);
  layernorm_fwd<256><<<B, 256>>>(x, w, w + D, y, D, 1e-5f);
  CUDA_CHECK(cudaGetLastError());
  bn_channel_stats<<<64, dim3(32, 8)>>>(x, y, y + 64, 16, 64, 112 * 112);
  CUDA_CHECK(cudaGetLastError());
  int H = 112, W = 112;
  maxpool3_s1<<<dim3((W + PT - 1) / PT, (H + PT - 1) / PT, 16 * 64), dim3(PT, PT)>>>(x, y, H, W);
  CUDA_CHECK(cudaGetLastError());
  int Cin = 32, Cout = 32, N = 4;
  conv3x3_nchw<<<dim3((W + CT - 1) / CT, (H + CT - 1) / CT, N * Cout), dim3(CT, CT)>>>(x, w, w + 20000, y, Cin, Cout, H, W);
  CUDA_CHECK(cudaGetLastError());

  int T = 2000, rows = 4 * 512;
  std::vector<half> hh((size_t)rows * T);
  for (size_t i = 0; i < hh.size(); i++) hh[i] = __float2half((float)(i % 23) * 0.1f - 1.f);
  half *hx, *hy;
  CUDA_CHECK(cudaMalloc(&hx, hh.size() * sizeof(half)));
  CUDA_CHECK(cudaMalloc(&hy, hh.size() * sizeof(half)));
  CUDA_CHECK(cudaMemcpy(hx, hh.data(), hh.size() * sizeof(half), cudaMemcpyHostToDevice));
  depthwise_causal7<<<dim3((T + 255) / 256, rows), 256>>>(hx, hx, hy, 512, T);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  cudaFree(x); cudaFree(y); cudaFree(w); cudaFree(hx); cudaFree(hy);
  return 0;
}
