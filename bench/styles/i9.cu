#include "shown.h"
#include <cfloat>

namespace nn {

// -------------------------------------------------------------------------------------------
//  helpers
// -------------------------------------------------------------------------------------------
struct MaxOp { __device__ float operator()(float a, float b) const { return fmaxf(a, b); } };
struct SumOp { __device__ float operator()(float a, float b) const { return a + b; } };

template <class Op>
__device__ __forceinline__ float warpReduce(float v, Op op) {
#pragma unroll
  for (int m = 16; m > 0; m >>= 1) v = op(v, __shfl_xor_sync(0xffffffff, v, m));
  return v;
}

template <class Op, int kThreads>
__device__ float blockReduce(float v, Op op, float *scratch) {
  v = warpReduce(v, op);
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = v;
  __syncthreads();
  float r = scratch[0];
#pragma unroll
  for (int i = 1; i < kThreads / 32; ++i) r = op(r, scratch[i]);
  __syncthreads();
  return r;
}

// softmax over a row that is cached in shared memory
template <int kThreads>
__global__ void softmaxRow(const float *x, float *y, int cols) {
  extern __shared__ float cache[];
  __shared__ float scratch[kThreads / 32];
  const float *xr = x + (size_t)blockIdx.x * cols;
  float m = -FLT_MAX;
  for (int i = threadIdx.x; i < cols; i += kThreads) {
    float v = xr[i];
    cache[i] = v;
    m = fmaxf(m, v);
  }
  m = blockReduce<MaxOp, kThreads>(m, MaxOp(), scratch);
  float s = 0.f;
  for (int i = threadIdx.x; i < cols; i += kThreads) {
    float e = __expf(cache[i] - m);
    cache[i] = e;
    s += e;
  }
  s = blockReduce<SumOp, kThreads>(s, SumOp(), scratch);
  const float inv = 1.f / s;
  for (int i = threadIdx.x; i < cols; i += kThreads) y[(size_t)blockIdx.x * cols + i] = cache[i] * inv;
}

// layer norm with residual, a warp per row of 256, values in registers as float4
__global__ void layerNormWarp(const float4 *x, const float4 *res, const float4 *gamma, const float4 *beta, float4 *y, int rows) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float4 v[2];
  float s = 0.f;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float4 a = x[(size_t)row * 64 + k * 32 + threadIdx.x], b = res[(size_t)row * 64 + k * 32 + threadIdx.x];
    v[k] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    s += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  const float mean = warpReduce(s, SumOp()) * (1.f / 256);
  float q = 0.f;
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    v[k].x -= mean; v[k].y -= mean; v[k].z -= mean; v[k].w -= mean;
    q += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
  }
  const float rstd = rsqrtf(warpReduce(q, SumOp()) * (1.f / 256) + 1e-5f);
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    float4 g = gamma[k * 32 + threadIdx.x], b = beta[k * 32 + threadIdx.x];
    y[(size_t)row * 64 + k * 32 + threadIdx.x] = make_float4(v[k].x * rstd * g.x + b.x, v[k].y * rstd * g.y + b.y, v[k].z * rstd * g.z + b.z, v[k].w * rstd * g.w + b.w);
  }
}

// tiled attention with running max (one thread per query, keys and values staged)
template <int D, int BQ, int BK>
__global__ void attentionTiled(const float *Q, const float *K, const float *V, float *O, int seq, float scale) {
  __shared__ float sk[BK][D];
  __shared__ float sv[BK][D];
  const size_t head = (size_t)blockIdx.y * seq * D;
  const int qi = blockIdx.x * BQ + threadIdx.x;
  float q[D], o[D], m = -FLT_MAX, l = 0.f;
#pragma unroll
  for (int d = 0; d < D; ++d) {
    q[d] = qi < seq ? Q[head + (size_t)qi * D + d] * scale : 0.f;
    o[d] = 0.f;
  }
  for (int k0 = 0; k0 < seq; k0 += BK) {
    const int kn = min(BK, seq - k0);
    __syncthreads();
    for (int e = threadIdx.x; e < kn * D; e += BQ) {
      (&sk[0][0])[e] = K[head + (size_t)k0 * D + e];
      (&sv[0][0])[e] = V[head + (size_t)k0 * D + e];
    }
    __syncthreads();
    for (int j = 0; j < kn; ++j) {
      float dot = 0.f;
#pragma unroll
      for (int d = 0; d < D; ++d) dot += q[d] * sk[j][d];
      const float mn = fmaxf(m, dot), c = __expf(m - mn), p = __expf(dot - mn);
      l = l * c + p;
#pragma unroll
      for (int d = 0; d < D; ++d) o[d] = o[d] * c + p * sv[j][d];
      m = mn;
    }
  }
  if (qi < seq)
#pragma unroll
    for (int d = 0; d < D; ++d) O[head + (size_t)qi * D + d] = o[d] / l;
}

// direct convolution: input tile per channel, all filters of a group in registers
constexpr int kT = 16, kF = 3, kOut = 8;
__global__ void conv3x3Direct(const float *in, const float *wt, const float *bias, float *out, int C, int H, int W) {
  __shared__ float tile[kT + kF - 1][kT + kF - 1];
  __shared__ float w[kOut][kF * kF];
  const int ox = blockIdx.x * kT + threadIdx.x, oy = blockIdx.y * kT + threadIdx.y;
  const int og = blockIdx.z * kOut, tid = threadIdx.y * kT + threadIdx.x;
  float acc[kOut];
#pragma unroll
  for (int o = 0; o < kOut; ++o) acc[o] = bias[og + o];
  for (int c = 0; c < C; ++c) {
    for (int e = tid; e < (kT + 2) * (kT + 2); e += kT * kT) {
      const int r = e / (kT + 2), s = e % (kT + 2);
      const int y = (int)blockIdx.y * kT + r - 1, x = (int)blockIdx.x * kT + s - 1;
      tile[r][s] = (y >= 0 && y < H && x >= 0 && x < W) ? in[((size_t)c * H + y) * W + x] : 0.f;
    }
    if (tid < kOut * 9) w[tid / 9][tid % 9] = wt[((size_t)(og + tid / 9) * C + c) * 9 + tid % 9];
    __syncthreads();
#pragma unroll
    for (int f = 0; f < 9; ++f) {
      const float v = tile[threadIdx.y + f / 3][threadIdx.x + f % 3];
#pragma unroll
      for (int o = 0; o < kOut; ++o) acc[o] += v * w[o][f];
    }
    __syncthreads();
  }
  if (ox < W && oy < H)
    for (int o = 0; o < kOut; ++o) out[((size_t)(og + o) * H + oy) * W + ox] = fmaxf(acc[o], 0.f);
}

// depthwise 5x5 stride 2, NHWC, channels across threads
__global__ void depthwise5s2(const float *in, const float *wt, float *out, int H, int W, int C) {
  const int oh = (H + 1) / 2, ow = (W + 1) / 2;
  const int c = threadIdx.x, x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y, b = blockIdx.z;
  if (c >= C || x >= ow || y >= oh) return;
  float wk[25];
  for (int i = 0; i < 25; ++i) wk[i] = wt[i * C + c];
  float s = 0.f;
  for (int i = 0; i < 5; ++i) {
    const int iy = 2 * y + i - 2;
    if (iy < 0 || iy >= H) continue;
    for (int j = 0; j < 5; ++j) {
      const int ix = 2 * x + j - 2;
      if (ix < 0 || ix >= W) continue;
      s += in[(((size_t)b * H + iy) * W + ix) * C + c] * wk[i * 5 + j];
    }
  }
  out[(((size_t)b * oh + y) * ow + x) * C + c] = s;
}

// batch norm statistics by Welford, combined in shared memory
struct Wf { float n, mean, m2; };
__device__ Wf merge(const Wf &a, const Wf &b) {
  const float n = a.n + b.n;
  if (n == 0.f) return a;
  const float d = b.mean - a.mean;
  return {n, a.mean + d * b.n / n, a.m2 + b.m2 + d * d * a.n * b.n / n};
}
__global__ void bnStats(const float *x, float2 *stat, int N, int C, int HW) {
  __shared__ Wf sh[256];
  const int c = blockIdx.x;
  Wf w = {0.f, 0.f, 0.f};
  for (int i = threadIdx.x; i < N * HW; i += 256) {
    const float v = x[((size_t)(i / HW) * C + c) * HW + i % HW];
    w.n += 1.f;
    const float d = v - w.mean;
    w.mean += d / w.n;
    w.m2 += d * (v - w.mean);
  }
  sh[threadIdx.x] = w;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) sh[threadIdx.x] = merge(sh[threadIdx.x], sh[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) stat[c] = make_float2(sh[0].mean, sh[0].m2 / sh[0].n);
}

// LSTM cell: recurrent product with hidden vector in shared, four gates per thread
template <int HID>
__global__ void lstmStep(const float *xg, const float *U, const float *h, const float *cIn, float *hOut, float *cOut) {
  __shared__ float hs[HID];
  const int b = blockIdx.x, j = threadIdx.x;
  hs[j] = h[b * HID + j] * 0.02f;
  __syncthreads();
  float g[4];
  for (int k = 0; k < 4; ++k) {
    float s = xg[((size_t)b * 4 + k) * HID + j] * 0.1f;
    for (int i = 0; i < HID; ++i) s += hs[i] * U[((size_t)k * HID + i) * HID + j] * 0.01f;
    g[k] = k == 2 ? tanhf(s) : 1.f / (1.f + expf(-s));
  }
  const float c = g[1] * cIn[b * HID + j] + g[0] * g[2];
  cOut[b * HID + j] = c;
  hOut[b * HID + j] = g[3] * tanhf(c);
}

// max pool 3x3 stride 2 with argmax plane, tile in shared with halo
__global__ void maxPool3s2(const float *in, float *out, unsigned char *arg, int H, int W, int OH, int OW) {
  __shared__ float t[2 * 8 + 1][2 * 32 + 1];
  const float *src = in + (size_t)blockIdx.z * H * W;
  const int x0 = blockIdx.x * 64, y0 = blockIdx.y * 16;
  for (int r = threadIdx.y; r < 17; r += 8)
    for (int c = threadIdx.x; c < 65; c += 32) t[r][c] = (y0 + r < H && x0 + c < W) ? src[(y0 + r) * W + x0 + c] : -FLT_MAX;
  __syncthreads();
  const int ox = blockIdx.x * 32 + threadIdx.x, oy = blockIdx.y * 8 + threadIdx.y;
  if (ox >= OW || oy >= OH) return;
  float m = -FLT_MAX;
  int a = 0;
  for (int k = 0; k < 9; ++k) {
    const float v = t[2 * threadIdx.y + k / 3][2 * threadIdx.x + k % 3];
    if (v > m) m = v, a = k;
  }
  const size_t o = ((size_t)blockIdx.z * OH + oy) * OW + ox;
  out[o] = m;
  arg[o] = (unsigned char)a;
}

}  // namespace nn

int main() {
  using namespace nn;
  {
    int r = 6000, c = 1500;
    float *x = mk<float>((size_t)r * c), *y = mk<float>((size_t)r * c);
    softmaxRow<256><<<r, 256, c * 4>>>(x, y, c);
    show("softmaxRow", y, 4ull * r * c);
  }
  {
    int r = 40003;
    float4 *x = (float4 *)mk<float>(256ull * r), *z = (float4 *)mk<float>(256ull * r), *g = (float4 *)mk<float>(256), *b = (float4 *)mk<float>(256), *y = (float4 *)mk<float>(256ull * r);
    layerNormWarp<<<(r + 3) / 4, dim3(32, 4)>>>(x, z, g, b, y, r);
    show("layerNormWarp", y, 1024ull * r);
  }
  {
    int seq = 1000, heads = 48;
    size_t n = (size_t)seq * heads * 32;
    float *q = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *o = mk<float>(n);
    attentionTiled<32, 128, 32><<<dim3((seq + 127) / 128, heads), 128>>>(q, k, v, o, seq, 0.02f);
    show("attentionTiled", o, 4 * n);
  }
  {
    int C = 32, H = 250, W = 250, O = 32;
    float *x = mk<float>((size_t)C * H * W), *w = mk<float>(O * C * 9), *b = mk<float>(O), *y = mk<float>((size_t)O * H * W);
    conv3x3Direct<<<dim3(16, 16, O / kOut), dim3(kT, kT)>>>(x, w, b, y, C, H, W);
    show("conv3x3Direct", y, 4ull * O * H * W);
  }
  {
    int B = 8, H = 111, W = 113, C = 96;
    size_t n = (size_t)B * H * W * C;
    float *x = mk<float>(n), *w = mk<float>(25 * C), *y = mk<float>(n);
    depthwise5s2<<<dim3((57 + 1) / 2, 56, B), dim3(96, 2)>>>(x, w, y, H, W, C);
    show("depthwise5s2", y, 4 * n);
    float2 *st = (float2 *)mk<float>(2 * 384);
    bnStats<<<384, 256>>>(x, st, 6, 384, 3600);
    show("bnStats", st, 8 * 384);
    int P = 600, OH = 55, OW = 56;
    unsigned char *a = mk<unsigned char>((size_t)P * OH * OW);
    maxPool3s2<<<dim3(2, 7, P), dim3(32, 8)>>>(x, y, a, H, W, OH, OW);
    show("maxPool3s2", y, 4ull * P * OH * OW);
    show("maxPool3s2_arg", a, (size_t)P * OH * OW);
  }
  {
    int B = 400;
    float *xg = mk<float>(B * 4 * 128), *U = mk<float>(4 * 128 * 128), *h = mk<float>(B * 128), *c = mk<float>(B * 128), *ho = mk<float>(B * 128), *co = mk<float>(B * 128);
    lstmStep<128><<<B, 128>>>(xg, U, h, c, ho, co);
    show("lstm_h", ho, 512ull * B);
    show("lstm_c", co, 512ull * B);
  }
  return 0;
}
