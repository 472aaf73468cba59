// scans, softmax, layernorm: DL course / LLM style
#include <cstdio>
#include <cstdlib>
#include <cfloat>
#include <cmath>
#include <cuda_runtime.h>
#define cudaCheck(err) { cudaError_t e = (err); if (e != cudaSuccess) { printf("[CUDA ERROR] at %s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); exit(EXIT_FAILURE); } }
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))

// 1. llm.c-like softmax forward 2 (row per block, reduce in shared)
__global__ void softmax_forward_kernel2(float *out, const float *inp, int N, int C) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  int block_size = blockDim.x;
  const float *x = inp + idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += block_size) maxval = fmaxf(maxval, x[i]);
  shared[tid] = maxval;
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] = fmaxf(shared[tid], shared[tid + stride]);
  }
  __syncthreads();
  float offset = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = expf(x[i] - offset);
  __syncthreads();
  x = out + idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += block_size) sumval += x[i];
  shared[tid] = sumval;
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  __syncthreads();
  float sum = shared[0];
  for (int i = tid; i < C; i += block_size) out[idx * C + i] = x[i] / sum;
}

// 2. layernorm mean kernel as in llm.c
__global__ void mean_kernel(float *mean, const float *inp, int N, int C, int block_size) {
  extern __shared__ float shared[];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  const float *x = inp + idx * C;
  float sum = 0.0f;
  for (int i = tid; i < C; i += block_size) sum += x[i];
  shared[tid] = sum;
  __syncthreads();
  for (int stride = block_size / 2; stride >= 1; stride /= 2) {
    __syncthreads();
    if (tid < stride) shared[tid] += shared[tid + stride];
  }
  if (tid == 0) mean[idx] = shared[0] / C;
}

// 3. layernorm with one element per thread, fixed hidden size
template <int HIDDEN>
__global__ void layerNormRow(const float *x, float *y, const float *gamma, const float *beta, float eps) {
  __shared__ float red[HIDDEN];
  const int t = threadIdx.x;
  const float v = x[blockIdx.x * HIDDEN + t];
  red[t] = v;
  __syncthreads();
#pragma unroll
  for (int o = HIDDEN / 2; o > 0; o >>= 1) {
    if (t < o) red[t] += red[t + o];
    __syncthreads();
  }
  const float mu = red[0] / HIDDEN;
  __syncthreads();
  const float d = v - mu;
  red[t] = d * d;
  __syncthreads();
#pragma unroll
  for (int o = HIDDEN / 2; o > 0; o >>= 1) {
    if (t < o) red[t] += red[t + o];
    __syncthreads();
  }
  const float rstd = rsqrtf(red[0] / HIDDEN + eps);
  y[blockIdx.x * HIDDEN + t] = d * rstd * gamma[t] + beta[t];
}

// 4. softmax row of 128 with max and sum
#define SM_BLOCK 128
__global__ void softmax128(const float *logits, float *probs, int rows) {
  __shared__ float buf[SM_BLOCK];
  int row = blockIdx.x, t = threadIdx.x;
  float v = logits[row * SM_BLOCK + t];
  buf[t] = v;
  __syncthreads();
  for (int s = SM_BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) buf[t] = fmaxf(buf[t], buf[t + s]);
    __syncthreads();
  }
  float m = buf[0];
  __syncthreads();
  float e = expf(v - m);
  buf[t] = e;
  __syncthreads();
  for (int s = SM_BLOCK / 2; s > 0; s >>= 1) {
    if (t < s) buf[t] += buf[t + s];
    __syncthreads();
  }
  probs[row * SM_BLOCK + t] = e / buf[0];
}

// 5. Hillis-Steele, double buffer in one array (GPU Gems naive scan)
__global__ void scan_naive(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x;
  int pout = 0, pin = 1;
  temp[pout * n + thid] = (thid > 0) ? g_idata[blockIdx.x * n + thid - 1] : 0;
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset) temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
    else temp[pout * n + thid] = temp[pin * n + thid];
    __syncthreads();
  }
  g_odata[blockIdx.x * n + thid] = temp[pout * n + thid];
}

// 6. Kogge-Stone from the textbook (PMPP)
#define SECTION_SIZE 256
__global__ void Kogge_Stone_scan_kernel(int *X, int *Y, unsigned int N) {
  __shared__ int XY[SECTION_SIZE];
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i];
  else XY[threadIdx.x] = 0;
  for (unsigned int stride = 1; stride < blockDim.x; stride *= 2) {
    __syncthreads();
    int temp;
    if (threadIdx.x >= stride) temp = XY[threadIdx.x] + XY[threadIdx.x - stride];
    __syncthreads();
    if (threadIdx.x >= stride) XY[threadIdx.x] = temp;
  }
  if (i < N) Y[i] = XY[threadIdx.x];
}

// 7. Brent-Kung from PMPP, two elements a thread
#define BK_SECTION 512
__global__ void Brent_Kung_scan_kernel(float *X, float *Y, unsigned int N) {
  __shared__ float XY[BK_SECTION];
  unsigned int i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N) XY[threadIdx.x] = X[i];
  if (i + blockDim.x < N) XY[threadIdx.x + blockDim.x] = X[i + blockDim.x];
  for (unsigned int stride = 1; stride <= blockDim.x; stride *= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * 2 * stride - 1;
    if (index < BK_SECTION) XY[index] += XY[index - stride];
  }
  for (int stride = BK_SECTION / 4; stride > 0; stride /= 2) {
    __syncthreads();
    unsigned int index = (threadIdx.x + 1) * stride * 2 - 1;
    if (index + stride < BK_SECTION) XY[index + stride] += XY[index];
  }
  __syncthreads();
  if (i < N) Y[i] = XY[threadIdx.x];
  if (i + blockDim.x < N) Y[i + blockDim.x] = XY[threadIdx.x + blockDim.x];
}

// 8. Blelloch work-efficient with bank conflict macro and block sums
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#define PS_BLOCK 256
__global__ void prescan(const int *in, int *out, int *sums) {
  __shared__ int temp[2 * PS_BLOCK + (2 * PS_BLOCK >> LOG_NUM_BANKS)];
  int thid = threadIdx.x;
  int base = blockIdx.x * 2 * PS_BLOCK;
  int ai = thid, bi = thid + PS_BLOCK;
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bankOffsetA] = in[base + ai];
  temp[bi + bankOffsetB] = in[base + bi];
  int offset = 1;
  for (int d = PS_BLOCK; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      temp[b] += temp[a];
    }
    offset <<= 1;
  }
  if (thid == 0) {
    int last = 2 * PS_BLOCK - 1 + CONFLICT_FREE_OFFSET(2 * PS_BLOCK - 1);
    sums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < 2 * PS_BLOCK; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      int t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  out[base + ai] = temp[ai + bankOffsetA];
  out[base + bi] = temp[bi + bankOffsetB];
}

template <class T> T *devArray(size_t n) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * 7919u) % 101) / (T)8;
  cudaCheck(cudaMalloc(&d, n * sizeof(T)));
  cudaCheck(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}

int main(int argc, char **argv) {
  int N = argc > 1 ? atoi(argv[1]) : 8192;
  int C = 1024;
  float *a = devArray<float>((size_t)N * C), *o = devArray<float>((size_t)N * C), *m = devArray<float>(N + 1024), *v = devArray<float>(N + 1024);
  int *ia = devArray<int>((size_t)N * C), *io = devArray<int>((size_t)N * C), *is = devArray<int>(N * C / 512);
  int block_size = 256;
  softmax_forward_kernel2<<<N, block_size, block_size * sizeof(float)>>>(o, a, N, C);
  mean_kernel<<<N, block_size, block_size * sizeof(float)>>>(m, a, N, C, block_size);
  layerNormRow<256><<<N * C / 256, 256>>>(a, o, m, v, 1e-5f);
  softmax128<<<N * C / SM_BLOCK, SM_BLOCK>>>(a, o, N);
  scan_naive<<<N * C / 256, 256, 2 * 256 * sizeof(float)>>>(o, a, 256);
  Kogge_Stone_scan_kernel<<<CEIL_DIV(N * C, SECTION_SIZE), SECTION_SIZE>>>(ia, io, N * C);
  Brent_Kung_scan_kernel<<<CEIL_DIV(N * C, BK_SECTION), BK_SECTION / 2>>>(a, o, N * C);
  prescan<<<N * C / (2 * PS_BLOCK), PS_BLOCK>>>(ia, io, is);
  cudaCheck(cudaGetLastError());
  cudaCheck(cudaDeviceSynchronize());
}
