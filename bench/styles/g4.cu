// transformer and network layers, plain CUDA
#include "shown.h"
#include <cuda_fp16.h>
#include <math.h>
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))

__global__ void softmax_forward_kernel(float *out, const float *inp, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  int block_size = blockDim.x;
  const float *x = inp + (size_t)idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
  shared[tid] = maxval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
  }
  __syncthreads();
  float offset = shared[0];
  for (int i = tid; i < C; i += block_size) out[(size_t)idx * C + i] = expf(x[i] - offset);
  __syncthreads();
  x = out + (size_t)idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += block_size) sumval += x[i];
  shared[tid] = sumval;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  __syncthreads();
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) out[(size_t)idx * C + i] = x[i] / sum;
}

__global__ void layernorm_forward_kernel(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd,
                                         const float *__restrict__ inp, const float *__restrict__ weight,
                                         const float *__restrict__ bias, int C) {
  __shared__ float s_sum[256];
  __shared__ float s_sq[256];
  const int row = blockIdx.x;
  const float *x = inp + (size_t)row * C;
  float a = 0.f, b = 0.f;
  for (int i = threadIdx.x; i < C; i += 256) {
    float v = __ldg(x + i);
    a += v;
    b += v * v;
  }
  s_sum[threadIdx.x] = a;
  s_sq[threadIdx.x] = b;
  for (int s = 128; s > 0; s >>= 1) {
    __syncthreads();
    if (threadIdx.x < s) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + s];
      s_sq[threadIdx.x] += s_sq[threadIdx.x + s];
    }
  }
  __syncthreads();
  float m = s_sum[0] / C;
  float var = s_sq[0] / C - m * m;
  float rs = rsqrtf(var + 1e-5f);
  if (threadIdx.x == 0) {
    mean[row] = m;
    rstd[row] = rs;
  }
  for (int i = threadIdx.x; i < C; i += 256) out[(size_t)row * C + i] = (x[i] - m) * rs * weight[i] + bias[i];
}

// NCHW batch norm statistics: one block per channel
template <int THREADS>
__global__ void batchnorm_stats(const float *x, float *mean, float *var, int N, int C, int HW) {
  __shared__ float buf[THREADS];
  int c = blockIdx.x;
  int t = threadIdx.x;
  float acc = 0;
  for (int n = 0; n < N; ++n)
    for (int i = t; i < HW; i += THREADS) acc += x[((size_t)n * C + c) * HW + i];
  buf[t] = acc;
  __syncthreads();
  for (int d = THREADS >> 1; d; d >>= 1) {
    if (t < d) buf[t] += buf[t + d];
    __syncthreads();
  }
  float mu = buf[0] / (N * HW);
  __syncthreads();
  acc = 0;
  for (int n = 0; n < N; ++n)
    for (int i = t; i < HW; i += THREADS) {
      float d = x[((size_t)n * C + c) * HW + i] - mu;
      acc += d * d;
    }
  buf[t] = acc;
  __syncthreads();
  for (int d = THREADS >> 1; d; d >>= 1) {
    if (t < d) buf[t] += buf[t + d];
    __syncthreads();
  }
  if (t == 0) {
    mean[c] = mu;
    var[c] = buf[0] / (N * HW);
  }
}

// flash-like attention forward, one query per thread, K/V tiles staged
#define HD 32
#define BR 64
__global__ void attention_tiled(const float *Q, const float *K, const float *V, float *O, int T, float scale) {
  __shared__ float Ks[BR][HD];
  __shared__ float Vs[BR][HD];
  const int bh = blockIdx.y;
  const int qi = blockIdx.x * BR + threadIdx.x;
  const size_t base = (size_t)bh * T * HD;
  float q[HD], o[HD];
#pragma unroll
  for (int d = 0; d < HD; ++d) {
    q[d] = Q[base + (size_t)qi * HD + d] * scale;
    o[d] = 0.f;
  }
  float m = -1e30f, l = 0.f;
  for (int kt = 0; kt < T; kt += BR) {
    for (int i = threadIdx.x; i < BR * HD; i += BR) {
      Ks[i / HD][i % HD] = K[base + (size_t)kt * HD + i];
      Vs[i / HD][i % HD] = V[base + (size_t)kt * HD + i];
    }
    __syncthreads();
    for (int j = 0; j < BR; ++j) {
      float s = 0.f;
#pragma unroll
      for (int d = 0; d < HD; ++d) s += q[d] * Ks[j][d];
      float mn = fmaxf(m, s);
      float corr = __expf(m - mn), p = __expf(s - mn);
      l = l * corr + p;
#pragma unroll
      for (int d = 0; d < HD; ++d) o[d] = o[d] * corr + p * Vs[j][d];
      m = mn;
    }
    __syncthreads();
  }
#pragma unroll
  for (int d = 0; d < HD; ++d) O[base + (size_t)qi * HD + d] = o[d] / l;
}

// y = W x with x staged by chunks, half2 weights
__global__ void gemv_half2(const __half2 *__restrict__ W, const float2 *__restrict__ x, float *__restrict__ y, int rows, int cols2) {
  __shared__ float2 xs[128];
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.f;
  for (int c = 0; c < cols2; c += 128) {
    xs[threadIdx.x] = x[c + threadIdx.x];
    __syncthreads();
    if (r < rows)
      for (int j = 0; j < 128; ++j) {
        float2 w = __half22float2(W[(size_t)(c + j) * rows + r]);
        acc += w.x * xs[j].x + w.y * xs[j].y;
      }
    __syncthreads();
  }
  if (r < rows) y[r] = acc;
}

struct Best { float v; int i; };
__global__ void argmax_rows(const float *logits, int *tok, float *val, int V) {
  __shared__ Best sb[192];
  const int t = threadIdx.x;
  Best b;
  b.v = -1e38f;
  b.i = 0;
  for (int i = t; i < V; i += 192) {
    float v = logits[(size_t)blockIdx.x * V + i];
    if (v > b.v) { b.v = v; b.i = i; }
  }
  sb[t] = b;
  __syncthreads();
  if (t < 64) {
    for (int k = 1; k < 3; ++k) {
      Best o = sb[t + 64 * k];
      if (o.v > b.v || (o.v == b.v && o.i < b.i)) b = o;
    }
    sb[t] = b;
  }
  __syncthreads();
  for (int s = 32; s > 0; s >>= 1) {
    if (t < s) {
      Best o = sb[t + s];
      if (o.v > sb[t].v || (o.v == sb[t].v && o.i < sb[t].i)) sb[t] = o;
    }
    __syncthreads();
  }
  if (t == 0) {
    tok[blockIdx.x] = sb[0].i;
    val[blockIdx.x] = sb[0].v;
  }
}

// per-thread top-k gating for a mixture of experts, private arrays with dynamic indices
#define NEXP 16
#define TOPK 2
__global__ void moe_topk(const float *gate, int *idx, float *wgt, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float p[NEXP];
  for (int e = 0; e < NEXP; ++e) p[e] = gate[(size_t)i * NEXP + e];
  float s = 0;
  int sel[TOPK];
  float sw[TOPK];
  for (int k = 0; k < TOPK; ++k) {
    int b = 0;
    for (int e = 1; e < NEXP; ++e)
      if (p[e] > p[b]) b = e;
    sel[k] = b;
    sw[k] = p[b] + 1e-3f;
    s += sw[k];
    p[b] = -1.0f;
  }
  for (int k = 0; k < TOPK; ++k) {
    idx[(size_t)i * TOPK + k] = sel[k];
    wgt[(size_t)i * TOPK + k] = sw[k] / s;
  }
}

int main() {
  {
    const int N = 4096, C = 2048;
    float *x = mk<float>((size_t)N * C), *y = mk<float>((size_t)N * C), *m = mk<float>(N), *r = mk<float>(N), *w = mk<float>(C), *b = mk<float>(C);
    softmax_forward_kernel<<<N, 128, 128 * sizeof(float)>>>(y, x, N, C);
    show("softmax_forward_kernel", y, sizeof(float) * N * C);
    layernorm_forward_kernel<<<N, 256>>>(y, m, r, x, w, b, C);
    show("layernorm_forward_kernel", y, sizeof(float) * N * C);
    show("layernorm_forward_kernel.mean", m, N * 4);
    show("layernorm_forward_kernel.rstd", r, N * 4);
    int *tok = mk<int>(N);
    argmax_rows<<<N, 192>>>(x, tok, m, C);
    show("argmax_rows.tok", tok, N * 4);
    show("argmax_rows.val", m, N * 4);
  }
  {
    const int N = 16, C = 256, HW = 56 * 56;
    float *x = mk<float>((size_t)N * C * HW), *m = mk<float>(C), *v = mk<float>(C);
    batchnorm_stats<512><<<C, 512>>>(x, m, v, N, C, HW);
    show("batchnorm_stats.mean", m, C * 4);
    show("batchnorm_stats.var", v, C * 4);
  }
  {
    const int BH = 32, T = 1024;
    size_t n = (size_t)BH * T * HD;
    float *q = mk<float>(n), *k = mk<float>(n), *v = mk<float>(n), *o = mk<float>(n);
    attention_tiled<<<dim3(T / BR, BH), BR>>>(q, k, v, o, T, 0.0176777f);
    show("attention_tiled", o, n * 4);
  }
  {
    const int rows = 8192, cols2 = 1024;
    float *w = mk<float>((size_t)rows * cols2), *x = mk<float>(2 * cols2), *y = mk<float>(rows);
    gemv_half2<<<CEIL_DIV(rows, 128), 128>>>((const __half2 *)w, (const float2 *)x, y, rows, cols2);
    show("gemv_half2", y, rows * 4);
  }
  {
    const int n = 1 << 20;
    float *g = mk<float>((size_t)n * NEXP), *w = mk<float>(n * TOPK);
    int *id = mk<int>(n * TOPK);
    const int block = 256;
    moe_topk<<<CEIL_DIV(n, block), block>>>(g, id, w, n);
    show("moe_topk.idx", id, (size_t)n * TOPK * 4);
    show("moe_topk.w", w, (size_t)n * TOPK * 4);
  }
  return 0;
}
