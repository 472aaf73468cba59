// sorting networks and transforms inside a block
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <utility>
#define CUDA_TRY(expr) do { cudaError_t st = (expr); if (st != cudaSuccess) { fprintf(stderr, "[%s:%d] %s\n", __FILE__, __LINE__, cudaGetErrorString(st)); abort(); } } while (0)

#define SHARED_SIZE_LIMIT 1024U
typedef unsigned int uint;
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}
// key/value bitonic sort of 1024 element arrays
__global__ void bitonicSortSharedKV(uint *d_DstKey, uint *d_DstVal, uint *d_SrcKey, uint *d_SrcVal, uint arrayLength, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x + 0] = d_SrcKey[0];
  s_val[threadIdx.x + 0] = d_SrcVal[0];
  s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcKey[(SHARED_SIZE_LIMIT / 2)];
  s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)] = d_SrcVal[(SHARED_SIZE_LIMIT / 2)];
  for (uint size = 2; size < arrayLength; size <<= 1) {
    uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos + 0], s_val[pos + 0], s_key[pos + stride], s_val[pos + stride], dir);
  }
  __syncthreads();
  d_DstKey[0] = s_key[threadIdx.x + 0];
  d_DstVal[0] = s_val[threadIdx.x + 0];
  d_DstKey[(SHARED_SIZE_LIMIT / 2)] = s_key[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
  d_DstVal[(SHARED_SIZE_LIMIT / 2)] = s_val[threadIdx.x + (SHARED_SIZE_LIMIT / 2)];
}

// radix-2 DIT FFT, 512 points, bit reversal on load
#define FFT_N 512
#define FFT_LOG 9
__global__ void fft_radix2(float2 *x) {
  __shared__ float2 s[FFT_N];
  float2 *g = x + (size_t)blockIdx.x * FFT_N;
  int tid = threadIdx.x;
  s[__brev(tid) >> (32 - FFT_LOG)] = g[tid];
  s[__brev(tid + FFT_N / 2) >> (32 - FFT_LOG)] = g[tid + FFT_N / 2];
  __syncthreads();
  for (int m = 1; m < FFT_N; m <<= 1) {
    int k = tid & (m - 1);
    int i = ((tid - k) << 1) + k;
    float sn, cs;
    __sincosf(-3.14159265f * k / m, &sn, &cs);
    float2 u = s[i], v = s[i + m];
    float2 w = make_float2(v.x * cs - v.y * sn, v.x * sn + v.y * cs);
    s[i] = make_float2(u.x + w.x, u.y + w.y);
    s[i + m] = make_float2(u.x - w.x, u.y - w.y);
    __syncthreads();
  }
  g[tid] = s[tid];
  g[tid + FFT_N / 2] = s[tid + FFT_N / 2];
}

// fast Walsh transform of 2048 elements by 512 threads, dynamic shared
__global__ void fwht_block(float *d_Data, int log2N) {
  extern __shared__ float s_data[];
  const int N = 1 << log2N;
  float *src = d_Data + blockIdx.x * N;
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) s_data[pos] = src[pos];
  for (int stride = 1; stride < N; stride <<= 1) {
    __syncthreads();
    for (int pos = threadIdx.x; pos < N / 2; pos += blockDim.x) {
      int lo = pos & (stride - 1);
      int i0 = ((pos - lo) << 1) + lo;
      int i1 = i0 + stride;
      float T0 = s_data[i0], T1 = s_data[i1];
      s_data[i0] = T0 + T1;
      s_data[i1] = T0 - T1;
    }
  }
  __syncthreads();
  for (int pos = threadIdx.x; pos < N; pos += blockDim.x) src[pos] = s_data[pos];
}

__constant__ float DCTv8matrix[64];
template <class T> T *mkdev(size_t n) {
  T *h = (T *)malloc(n * sizeof(T));
  uint s = 7;
  for (size_t i = 0; i < n; i++) { s = s * 69069u + 1; h[i] = (T)(s >> 12); }
  T *d;
  CUDA_TRY(cudaMalloc(&d, n * sizeof(T)));
  CUDA_TRY(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main() {
  const uint N = 1 << 22;
  uint *k = mkdev<uint>(N), *v = mkdev<uint>(N), *ok = mkdev<uint>(N), *ov = mkdev<uint>(N);
  bitonicSortSharedKV<<<N / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(ok, ov, k, v, SHARED_SIZE_LIMIT, 1);
  float *f = mkdev<float>(N);
  float *c = mkdev<float>(N * 2);
  fft_radix2<<<N / FFT_N, FFT_N / 2>>>((float2 *)c);
  fwht_block<<<N / 2048, 512, 2048 * sizeof(float)>>>(f, 11);
  float m[64];
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) m[i * 8 + j] = (i ? 0.5f : 0.353553f) * cosf((2 * j + 1) * i * 3.14159265f / 16);
  CUDA_TRY(cudaMemcpyToSymbol(DCTv8matrix, m, sizeof m));
  CUDA_TRY(cudaGetLastError());
  CUDA_TRY(cudaDeviceSynchronize());
  return 0;
}
