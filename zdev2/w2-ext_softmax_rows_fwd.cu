// fused normalisation ops, extension kernels
#include "h.h"
#include <cstdint>
#include <cuda_fp16.h>

namespace ext {

constexpr int kThreads = 256;

template <typename scalar_t>
__global__ void softmax_rows_fwd(scalar_t *__restrict__ out, const scalar_t *__restrict__ in, const int dim) {
  extern __shared__ float smem[];
  const int64_t row = blockIdx.x;
  const scalar_t *src = in + row * dim;
  scalar_t *dst = out + row * dim;
  const int tid = threadIdx.x;

  float m = -INFINITY;
  for (int i = tid; i < dim; i += blockDim.x) m = fmaxf(m, static_cast<float>(src[i]));
  smem[tid] = m;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) smem[tid] = fmaxf(smem[tid], smem[tid + s]);
    __syncthreads();
  }
  m = smem[0];
  __syncthreads();

  float z = 0.f;
  for (int i = tid; i < dim; i += blockDim.x) z += expf(static_cast<float>(src[i]) - m);
  smem[tid] = z;
  __syncthreads();
  for (int s = blockDim.x >> 1; s > 0; s >>= 1) {
    if (tid < s) smem[tid] += smem[tid + s];
    __syncthreads();
  }
  const float inv = 1.f / smem[0];
  for (int i = tid; i < dim; i += blockDim.x)
    dst[i] = static_cast<scalar_t>(expf(static_cast<float>(src[i]) - m) * inv);
}

template <typename scalar_t, int NT>
__global__ void layer_norm_fwd(const scalar_t *x, const float *gamma, const float *beta, scalar_t *y, float *mean,
                               float *rstd, int hidden, float eps) {
  __shared__ float s_sum[NT];
  __shared__ float s_sq[NT];
  x += (int64_t)blockIdx.x * hidden;
  y += (int64_t)blockIdx.x * hidden;
  float sum = 0.f, sq = 0.f;
  for (int j = threadIdx.x; j < hidden; j += NT) {
    float v = (float)x[j];
    sum += v;
    sq += v * v;
  }
  s_sum[threadIdx.x] = sum;
  s_sq[threadIdx.x] = sq;
  __syncthreads();
#pragma unroll
  for (int off = NT / 2; off > 0; off /= 2) {
    if (threadIdx.x < off) {
      s_sum[threadIdx.x] += s_sum[threadIdx.x + off];
      s_sq[threadIdx.x] += s_sq[threadIdx.x + off];
    }
    __syncthreads();
  }
  float mu = s_sum[0] / hidden;
  float var = s_sq[0] / hidden - mu * mu;
  float rs = rsqrtf(fmaxf(var, 0.f) + eps);
  for (int j = threadIdx.x; j < hidden; j += NT) y[j] = (scalar_t)(((float)x[j] - mu) * rs * gamma[j] + beta[j]);
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = mu;
    rstd[blockIdx.x] = rs;
  }
}

// one row by a 64 thread block, 4 values a thread
__global__ void rms_norm_small(const float4 *__restrict__ x, float4 *__restrict__ y, float eps) {
  __shared__ float red[64];
  const unsigned at = blockIdx.x * 64u + threadIdx.x;
  const float4 v = x[at];
  red[threadIdx.x] = v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  __syncthreads();
  for (unsigned s = 32; s >= 1; s >>= 1) {
    if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s];
    __syncthreads();
  }
  const float k = rsqrtf(red[0] * (1.f / 256) + eps);
  y[at] = make_float4(v.x * k, v.y * k, v.z * k, v.w * k);
}
} // namespace ext

template <class T> void report(const char *what, T *d, size_t n) {
  T *h = new T[n];
  cudaMemcpy(h, d, n * sizeof(T), cudaMemcpyDeviceToHost);
  const uint8_t *b = reinterpret_cast<uint8_t *>(h);
  uint64_t f = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < n * sizeof(T); ++i) f = (f ^ b[i]) * 0x100000001b3ull;
  printf("%s: %llx\n", what, (unsigned long long)f);
  delete[] h;
}

int main() {
  const int rows = 4096, dim = 1000, hidden = 768, tokens = 8192;
  float *logits = mk<float>((size_t)rows * dim), *probs;
  cudaMalloc(&probs, sizeof(float) * rows * dim);
  ext::softmax_rows_fwd<float><<<rows, ext::kThreads, ext::kThreads * sizeof(float)>>>(probs, logits, dim);

  float *act = mk<float>((size_t)tokens * hidden), *gm = mk<float>(hidden), *bt = mk<float>(hidden), *y, *mu, *rs;
  cudaMalloc(&y, sizeof(float) * tokens * hidden);
  cudaMalloc(&mu, sizeof(float) * tokens);
  cudaMalloc(&rs, sizeof(float) * tokens);
  ext::layer_norm_fwd<float, 128><<<tokens, 128>>>(act, gm, bt, y, mu, rs, hidden, 1e-5f);

  float *q = mk<float>(32768u * 256), *qn;
  cudaMalloc(&qn, sizeof(float) * 32768 * 256);
  ext::rms_norm_small<<<32768, 64>>>((float4 *)q, (float4 *)qn, 1e-6f);
  cudaDeviceSynchronize();
  report("softmax", probs, (size_t)rows * dim);
  report("ln.y", y, (size_t)tokens * hidden);
  report("ln.mean", mu, tokens);
  report("ln.rstd", rs, tokens);
  report("rms", qn, 32768u * 256);
}
