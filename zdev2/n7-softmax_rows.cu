// reductions, in the many ways people write them
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <cfloat>
#include <cuda_runtime.h>
#define CUDA(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "CUDA %s (%d)\n", cudaGetErrorString(e_), __LINE__); exit(2); } } while (0)

/* interleaved addressing with modulo, "reduce0" */
__global__ void reduce_interleaved(const int *g_idata, int *g_odata, unsigned n) {
  extern __shared__ int sdata[];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = (i < n) ? g_idata[i] : 0;
  __syncthreads();
  for (unsigned int s = 1; s < blockDim.x; s *= 2) {
    if ((tid % (2 * s)) == 0) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

/* templated, grid stride, fully unrolled down to a warp */
template <unsigned int blockSize> __global__ void reduce_unrolled(const float *g_idata, float *g_odata, unsigned int n) {
  __shared__ float sdata[blockSize];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * blockSize * 2 + tid;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  float mySum = 0;
  while (i < n) {
    mySum += g_idata[i];
    if (i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) sdata[tid] = mySum = mySum + sdata[tid + 256]; __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) sdata[tid] = mySum = mySum + sdata[tid + 128]; __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) sdata[tid] = mySum = mySum + sdata[tid + 64]; __syncthreads(); }
  if (tid < 32) {
    mySum += sdata[tid + 32];
    for (int offset = 16; offset > 0; offset /= 2) mySum += __shfl_down_sync(0xffffffffu, mySum, offset);
  }
  if (tid == 0) g_odata[blockIdx.x] = mySum;
}

/* arg-min over a double array, value and index kept side by side */
__global__ void argminKernel(const double *v, int n, double *outV, int *outI) {
  __shared__ double sv[256];
  __shared__ int si[256];
  double best = DBL_MAX;
  int bi = -1;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (v[i] < best) { best = v[i]; bi = i; }
  sv[threadIdx.x] = best;
  si[threadIdx.x] = bi;
  __syncthreads();
  for (int s = blockDim.x >> 1; s; s >>= 1) {
    if (threadIdx.x < s) {
      double o = sv[threadIdx.x + s];
      if (o < sv[threadIdx.x] || (o == sv[threadIdx.x] && si[threadIdx.x + s] < si[threadIdx.x])) {
        sv[threadIdx.x] = o;
        si[threadIdx.x] = si[threadIdx.x + s];
      }
    }
    __syncthreads();
  }
  if (!threadIdx.x) { outV[blockIdx.x] = sv[0]; outI[blockIdx.x] = si[0]; }
}

/* dot product from the CUDA by Example book */
const int threadsPerBlock = 256;
/* softmax over rows; row kept in shared memory, cols need not be a power of two */
__global__ void softmax_rows(const float *x, float *y, int cols) {
  extern __shared__ float buf[];
  float *row = buf, *red = buf + cols;
  const float *xr = x + (size_t)blockIdx.x * cols;
  float *yr = y + (size_t)blockIdx.x * cols;
  float m = -FLT_MAX;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    row[i] = xr[i];
    m = fmaxf(m, row[i]);
  }
  red[threadIdx.x] = m;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) red[threadIdx.x] = fmaxf(red[threadIdx.x], red[threadIdx.x + s]);
    __syncthreads();
  }
  m = red[0];
  __syncthreads();
  float sum = 0.f;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) {
    float e = expf(row[i] - m);
    row[i] = e;
    sum += e;
  }
  red[threadIdx.x] = sum;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) red[threadIdx.x] += red[threadIdx.x + s];
    __syncthreads();
  }
  float inv = 1.f / red[0];
  for (int i = threadIdx.x; i < cols; i += blockDim.x) yr[i] = row[i] * inv;
}

/* layer norm: per-warp sums gathered in shared */
__global__ void layernorm_forward(float *out, const float *inp, const float *weight, const float *bias, int C) {
  __shared__ float shared_sum[32];
  __shared__ float shared_sum2[32];
  int num_warps = blockDim.x / 32;
  int warp_id = threadIdx.x / 32;
  int lane_id = threadIdx.x % 32;
  const float *x = inp + (size_t)blockIdx.x * C;
  float s = 0.f, s2 = 0.f;
  for (int i = threadIdx.x; i < C; i += blockDim.x) {
    float v = x[i];
    s += v;
    s2 += v * v;
  }
  for (int o = 16; o > 0; o >>= 1) {
    s += __shfl_xor_sync(0xFFFFFFFF, s, o);
    s2 += __shfl_xor_sync(0xFFFFFFFF, s2, o);
  }
  if (lane_id == 0) {
    shared_sum[warp_id] = s;
    shared_sum2[warp_id] = s2;
  }
  __syncthreads();
  s = lane_id < num_warps ? shared_sum[lane_id] : 0.f;
  s2 = lane_id < num_warps ? shared_sum2[lane_id] : 0.f;
  for (int o = 16; o > 0; o >>= 1) {
    s += __shfl_xor_sync(0xFFFFFFFF, s, o);
    s2 += __shfl_xor_sync(0xFFFFFFFF, s2, o);
  }
  float mean = s / C;
  float rstd = rsqrtf(s2 / C - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < C; i += blockDim.x) out[(size_t)blockIdx.x * C + i] = (x[i] - mean) * rstd * weight[i] + bias[i];
}

template <class T> T *alloc(size_t n, unsigned mul, T scale) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; ++i) h[i] = (T)((i * mul) % 1021) * scale;
  CUDA(cudaMalloc(&d, n * sizeof(T)));
  CUDA(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  const int N = 1 << 25;
  int *ii = alloc<int>(1 << 24, 71, 1), *oo = alloc<int>(1 << 17, 1, 0);
  unsigned ni = (1 << 24) - 100;
  reduce_interleaved<<<(ni + 255) / 256, 256, 256 * sizeof(int)>>>(ii, oo, ni);
  float *f = alloc<float>(N, 37, 0.01f), *g = alloc<float>(N, 53, 0.02f), *o = alloc<float>(N, 1, 0.f);
  reduce_unrolled<512><<<1024, 512>>>(f, o, N);
  double *dv = alloc<double>(3000001, 97, 1.0), *dov = alloc<double>(256, 1, 0.0);
  argminKernel<<<256, 256>>>(dv, 3000001, dov, oo);
  CUDA(cudaGetLastError());
  int cols = 1000, rows = 16384;
  softmax_rows<<<rows, 256, (cols + 256) * sizeof(float)>>>(f, o, cols);
  layernorm_forward<<<8192, 256>>>(o, f, g, g, 768);
  CUDA(cudaGetLastError());
  CUDA(cudaDeviceSynchronize());
  return 0;
}
