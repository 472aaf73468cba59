#include "shown.h"

// SDK reduce0-ish: interleaved addressing
__global__ void reduce_interleaved(int *g_idata, int *g_odata, unsigned int n) {
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

// reduce6-like: template block size, ladder, volatile warp
template <unsigned int blockSize>
__global__ void reduce_ladder(const float *g_idata, float *g_odata, unsigned int n) {
  __shared__ float sdata[blockSize + 32];
  unsigned int tid = threadIdx.x;
  unsigned int i = blockIdx.x * (blockSize * 2) + tid;
  unsigned int gridSize = blockSize * 2 * gridDim.x;
  float mySum = 0;
  while (i < n) {
    mySum += g_idata[i];
    if (i + blockSize < n) mySum += g_idata[i + blockSize];
    i += gridSize;
  }
  sdata[tid] = mySum;
  if (tid < 32) sdata[blockSize + tid] = 0;
  __syncthreads();
  if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
  if (tid < 32) {
    volatile float *v = sdata;
    float t = v[tid];
    v[tid] = t = t + v[tid + 32]; __syncwarp();
    if (tid < 16) v[tid] = t = t + v[tid + 16]; __syncwarp();
    if (tid < 8) v[tid] = t = t + v[tid + 8]; __syncwarp();
    if (tid < 4) v[tid] = t = t + v[tid + 4]; __syncwarp();
    if (tid < 2) v[tid] = t = t + v[tid + 2]; __syncwarp();
    if (tid < 1) v[tid] = t = t + v[tid + 1];
  }
  if (tid == 0) g_odata[blockIdx.x] = sdata[0];
}

// block dot product "CUDA by Example"
const int threadsPerBlock = 256;
__global__ void dotByExample(float *a, float *b, float *c, int N) {
  __shared__ float cache[threadsPerBlock];
  int tid = threadIdx.x + blockIdx.x * blockDim.x;
  int cacheIndex = threadIdx.x;
  float temp = 0;
  while (tid < N) {
    temp += a[tid] * b[tid];
    tid += blockDim.x * gridDim.x;
  }
  cache[cacheIndex] = temp;
  __syncthreads();
  int i = blockDim.x / 2;
  while (i != 0) {
    if (cacheIndex < i) cache[cacheIndex] += cache[cacheIndex + i];
    __syncthreads();
    i /= 2;
  }
  if (cacheIndex == 0) c[blockIdx.x] = cache[0];
}

// argmin with two shared arrays
__global__ void argminKernel(const double *dist, const int *visited, int n, double *bestVal, int *bestIdx) {
  __shared__ double sval[128];
  __shared__ int sidx[128];
  int t = threadIdx.x;
  double v = 1e300;
  int id = -1;
  for (int i = blockIdx.x * 128 + t; i < n; i += gridDim.x * 128) {
    if (visited[i] & 1) continue;
    if (dist[i] < v) { v = dist[i]; id = i; }
  }
  sval[t] = v;
  sidx[t] = id;
  __syncthreads();
  for (int off = 64; off > 0; off >>= 1) {
    if (t < off) {
      if (sval[t + off] < sval[t] || (sval[t + off] == sval[t] && sidx[t + off] < sidx[t])) {
        sval[t] = sval[t + off];
        sidx[t] = sidx[t + off];
      }
    }
    __syncthreads();
  }
  if (!t) { bestVal[blockIdx.x] = sval[0]; bestIdx[blockIdx.x] = sidx[0]; }
}

// row softmax, llm.c-like with warp shuffles then shared
__device__ float warpMaxF(float v) { for (int o = 16; o > 0; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o)); return v; }
__device__ float warpSumF(float v) { for (int o = 16; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o); return v; }
__global__ void softmax_forward_rows(float *out, const float *inp, int N, int C) {
  __shared__ float maxvals[8];
  __shared__ float sumvals[8];
  int idx = blockIdx.x;
  int tid = threadIdx.x;
  int warpId = threadIdx.x / 32;
  int laneId = threadIdx.x % 32;
  int warpsPerBlock = blockDim.x / 32;
  const float *x = inp + idx * C;
  float maxval = -INFINITY;
  for (int i = tid; i < C; i += blockDim.x) maxval = fmaxf(maxval, x[i]);
  maxval = warpMaxF(maxval);
  if (laneId == 0) maxvals[warpId] = maxval;
  __syncthreads();
  if (tid == 0) {
    float val = maxvals[tid];
    for (int i = 1; i < warpsPerBlock; i++) val = fmaxf(val, maxvals[i]);
    maxvals[0] = val;
  }
  __syncthreads();
  float offset = maxvals[0];
  for (int i = tid; i < C; i += blockDim.x) out[idx * C + i] = expf(x[i] - offset);
  float *y = out + idx * C;
  float sumval = 0.0f;
  for (int i = tid; i < C; i += blockDim.x) sumval += y[i];
  sumval = warpSumF(sumval);
  if (laneId == 0) sumvals[warpId] = sumval;
  __syncthreads();
  if (tid == 0) {
    float val = sumvals[tid];
    for (int i = 1; i < warpsPerBlock; ++i) val += sumvals[i];
    sumvals[0] = val;
  }
  __syncthreads();
  float sum = sumvals[0];
  for (int i = tid; i < C; i += blockDim.x) y[i] = y[i] / sum;
}

int main() {
  {
    unsigned n = 3000001;
    int bs = 512, g = (n + bs - 1) / bs;
    int *a = mk<int>(n), *o = mk<int>(g);
    reduce_interleaved<<<g, bs, bs * sizeof(int)>>>(a, o, n);
    show("reduce_interleaved", o, g * 4);
  }
  {
    unsigned n = 9999999;
    float *a = mk<float>(n), *o = mk<float>(264);
    reduce_ladder<512><<<264, 512>>>(a, o, n);
    show("reduce_ladder", o, 264 * 4);
  }
  {
    int n = 5000000;
    float *a = mk<float>(n), *b = mk<float>(n), *c = mk<float>(512);
    dotByExample<<<512, threadsPerBlock>>>(a, b, c, n);
    show("dotByExample", c, 512 * 4);
  }
  {
    int n = 700001;
    double *d = mk<double>(n), *bv = mk<double>(100);
    int *v = mk<int>(n), *bi = mk<int>(100);
    argminKernel<<<100, 128>>>(d, v, n, bv, bi);
    show("argminKernel", bi, 400);
  }
  {
    int N = 4096, C = 1027;
    float *a = mk<float>((size_t)N * C), *o = mk<float>((size_t)N * C);
    softmax_forward_rows<<<N, 256>>>(o, a, N, C);
    show("softmax_forward_rows", o, (size_t)N * C * 4);
  }
}
