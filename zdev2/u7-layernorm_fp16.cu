#include "h.h"
#include <cstring>
#include <cfloat>
#include <cuda_fp16.h>
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
// one block a row; two shared reductions
__global__ void softmax_rows(const float *__restrict__ logits, float *__restrict__ probs, int V, float invTemp) {
  extern __shared__ float red[];
  const int tid = threadIdx.x;
  const float *x = logits + (size_t)blockIdx.x * V;
  float *y = probs + (size_t)blockIdx.x * V;

  float mx = -FLT_MAX;
  for (int i = tid; i < V; i += blockDim.x) mx = fmaxf(mx, x[i] * invTemp);
  red[tid] = mx;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) red[tid] = fmaxf(red[tid], red[tid + s]);
    __syncthreads();
  }
  mx = red[0];
  __syncthreads();

  float sum = 0.f;
  for (int i = tid; i < V; i += blockDim.x) sum += expf(x[i] * invTemp - mx);
  red[tid] = sum;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) red[tid] += red[tid + s];
    __syncthreads();
  }
  float inv = 1.0f / red[0];
  for (int i = tid; i < V; i += blockDim.x) y[i] = expf(x[i] * invTemp - mx) * inv;
}

// layer norm on half input, float statistics
__global__ void layernorm_fp16(const half *inp, const float *gamma, const float *beta, half *out, int C, float eps) {
  __shared__ float s_sum[256];
  __shared__ float s_sq[256];
  __shared__ float s_mean, s_rstd;
  const half *row = inp + (size_t)blockIdx.x * C;
  float a = 0.f, b = 0.f;
  for (int c = threadIdx.x; c < C; c += 256) {
    float v = __half2float(row[c]);
    a += v;
    b += v * v;
  }
  s_sum[threadIdx.x] = a;
  s_sq[threadIdx.x] = b;
  __syncthreads();
  for (int off = 128; off; off >>= 1) {
    if (threadIdx.x < off) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + off];
      s_sq[threadIdx.x] += s_sq[threadIdx.x + off];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    s_mean = s_sum[0] / C;
    s_rstd = rsqrtf(fmaxf(s_sq[0] / C - s_mean * s_mean, 0.f) + eps);
  }
  __syncthreads();
  float m = s_mean, r = s_rstd;
  for (int c = threadIdx.x; c < C; c += 256)
    out[(size_t)blockIdx.x * C + c] = __float2half((__half2float(row[c]) - m) * r * gamma[c] + beta[c]);
}

// rms norm, warp shuffles then one shared slot a warp
__device__ __forceinline__ float warpSum(float v) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffffu, v, o);
  return v;
}
template <int THREADS>
__global__ void rmsnorm(float4 *x, const float4 *w, int n4, float eps) {
  __shared__ float warps[THREADS / 32];
  float4 *r = x + (size_t)blockIdx.x * n4;
  float ss = 0.f;
  for (int i = threadIdx.x; i < n4; i += THREADS) {
    float4 v = r[i];
    ss += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  ss = warpSum(ss);
  if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = ss;
  __syncthreads();
  float tot = 0.f;
#pragma unroll
  for (int i = 0; i < THREADS / 32; ++i) tot += warps[i];
  float sc = rsqrtf(tot / (4 * n4) + eps);
  for (int i = threadIdx.x; i < n4; i += THREADS) {
    float4 v = r[i], g = w[i];
    v.x *= sc * g.x; v.y *= sc * g.y; v.z *= sc * g.z; v.w *= sc * g.w;
    r[i] = v;
  }
}

// log-sum-exp + cross entropy, row kept in shared memory
__global__ void nll_row(const float *z, const int *target, double *loss, int V) {
  extern __shared__ double dsh[];
  float *row = (float *)(dsh + blockDim.x);
  const int t = threadIdx.x, nt = blockDim.x;
  for (int i = t; i < V; i += nt) row[i] = z[(size_t)blockIdx.x * V + i];
  __syncthreads();
  double m = -1e300;
  for (int i = t; i < V; i += nt) m = row[i] > m ? (double)row[i] : m;
  dsh[t] = m;
  __syncthreads();
  for (int s = nt / 2; s; s /= 2) { if (t < s) dsh[t] = fmax(dsh[t], dsh[t + s]); __syncthreads(); }
  m = dsh[0];
  __syncthreads();
  double e = 0;
  for (int i = t; i < V; i += nt) e += exp((double)row[i] - m);
  dsh[t] = e;
  __syncthreads();
  for (int s = nt / 2; s; s /= 2) { if (t < s) dsh[t] += dsh[t + s]; __syncthreads(); }
  if (t == 0) loss[blockIdx.x] = m + log(dsh[0]) - row[target[blockIdx.x] * 50 % V];
}

__global__ void to_half(const float *a, half *b, size_t n) {
  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = __float2half(a[i]);
}

int main() {
  { int R = 4096, V = 5003; float *x = mk<float>((size_t)R * V), *y = mk<float>((size_t)R * V);
    softmax_rows<<<R, 512, 512 * sizeof(float)>>>(x, y, V, 0.8f);
    show("softmax_rows", y, (size_t)R * V * 4); cudaFree(x); cudaFree(y); }
  { int B = 16384, C = 1000; size_t n = (size_t)B * C; float *f = mk<float>(n), *g = mk<float>(C), *b = mk<float>(C);
    half *h, *o; cudaMalloc(&h, n * 2); cudaMalloc(&o, n * 2);
    to_half<<<(n + 255) / 256, 256>>>(f, h, n);
    layernorm_fp16<<<B, 256>>>(h, g, b, o, C, 1e-5f);
    show("layernorm_fp16", o, n * 2); cudaFree(f); cudaFree(h); cudaFree(o); }
  { int B = 8000, C = 4096; float *x = mk<float>((size_t)B * C), *w = mk<float>(C);
    rmsnorm<256><<<B, 256>>>((float4 *)x, (const float4 *)w, C / 4, 1e-6f);
    show("rmsnorm", x, (size_t)B * C * 4); cudaFree(x); }
  { int B = 3000, V = 8000; float *z = mk<float>((size_t)B * V); int *t = mk<int>(B); double *l = mk<double>(B);
    nll_row<<<B, 256, 256 * 8 + V * 4>>>(z, t, l, V);
    show("nll_row", l, B * 8); }
  return 0;
}
