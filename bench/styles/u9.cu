#include "h.h"
#include <cstring>
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
typedef unsigned int uint;
#define SHARED_SIZE_LIMIT 1024U
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir) {
  uint t;
  if ((keyA > keyB) == dir) {
    t = keyA; keyA = keyB; keyB = t;
    t = valA; valA = valB; valB = t;
  }
}
__global__ void bitonicSortShared(uint *d_DstKey, uint *d_DstVal, const uint *d_SrcKey, const uint *d_SrcVal, uint arrayLength, uint dir) {
  __shared__ uint s_key[SHARED_SIZE_LIMIT];
  __shared__ uint s_val[SHARED_SIZE_LIMIT];
  d_SrcKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_SrcVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstKey += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  d_DstVal += blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
  s_key[threadIdx.x] = d_SrcKey[0];
  s_val[threadIdx.x] = d_SrcVal[0];
  s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] = d_SrcKey[SHARED_SIZE_LIMIT / 2];
  s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] = d_SrcVal[SHARED_SIZE_LIMIT / 2];
  for (uint size = 2; size < arrayLength; size <<= 1) {
    uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
    for (uint stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
    }
  }
  for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
    Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
  }
  __syncthreads();
  d_DstKey[0] = s_key[threadIdx.x];
  d_DstVal[0] = s_val[threadIdx.x];
  d_DstKey[SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
  d_DstVal[SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}

// odd-even transposition, one segment a block
__global__ void oddEvenSort(float *data, int n) {
  extern __shared__ float a[];
  const int len = 2 * blockDim.x;
  const long base = (long)blockIdx.x * len;
  for (int k = threadIdx.x; k < len; k += blockDim.x) a[k] = base + k < n ? data[base + k] : 3.4e38f;
  __syncthreads();
  for (int pass = 0; pass < len; pass++) {
    int l = 2 * threadIdx.x + (pass & 1);
    if (l + 1 < len) {
      float p = a[l], q = a[l + 1];
      if (p > q) { a[l] = q; a[l + 1] = p; }
    }
    __syncthreads();
  }
  for (int k = threadIdx.x; k < len; k += blockDim.x) if (base + k < n) data[base + k] = a[k];
}

// merge sort in shared memory by rank (binary search), ping-pong
__device__ int lower(const double *s, int n, double x) { int l = 0, h = n; while (l < h) { int m = (l + h) / 2; if (s[m] < x) l = m + 1; else h = m; } return l; }
__device__ int upper(const double *s, int n, double x) { int l = 0, h = n; while (l < h) { int m = (l + h) / 2; if (s[m] <= x) l = m + 1; else h = m; } return l; }
__global__ void rankMergeSort(const double *in, double *out) {
  __shared__ double buf0[256], buf1[256];
  double *src = buf0, *dst = buf1;
  int t = threadIdx.x;
  src[t] = in[(size_t)blockIdx.x * 256 + t];
  __syncthreads();
  for (int w = 1; w < 256; w *= 2) {
    int pair = t / (2 * w) * (2 * w);
    double x = src[t];
    int p;
    if (t - pair < w) p = (t - pair) + lower(src + pair + w, w, x);
    else p = (t - pair - w) + upper(src + pair, w, x);
    dst[pair + p] = x;
    __syncthreads();
    double *q = src; src = dst; dst = q;
  }
  out[(size_t)blockIdx.x * 256 + t] = src[t];
}

// every thread sorts its own window (trimmed mean of 15 samples)
__global__ void trimmedMean15(const float *sig, float *out, int n) {
  __shared__ float win[128 + 14];
  int start = blockIdx.x * 128 - 7;
  for (int i = threadIdx.x; i < 128 + 14; i += 128) {
    int g = start + i;
    g = g < 0 ? 0 : (g >= n ? n - 1 : g);
    win[i] = sig[g];
  }
  __syncthreads();
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float v[15];
  for (int k = 0; k < 15; ++k) v[k] = win[threadIdx.x + k];
  for (int k = 1; k < 15; ++k) {
    float x = v[k];
    int j = k - 1;
    while (j >= 0 && v[j] > x) { v[j + 1] = v[j]; --j; }
    v[j + 1] = x;
  }
  float s = 0.f;
  for (int k = 3; k < 12; ++k) s += v[k];
  out[i] = s / 9.0f;
}

int main() {
  { uint n = 1 << 23; uint *k = mk<uint>(n), *v = mk<uint>(n + 3), *dk = mk<uint>(n), *dv = mk<uint>(n);
    bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(dk, dv, k, v, SHARED_SIZE_LIMIT, 1);
    show("bitonic key", dk, (size_t)n * 4); show("bitonic val", dv, (size_t)n * 4); }
  { int n = 5000003, t = 256; float *d = mk<float>(n);
    oddEvenSort<<<(n + 2 * t - 1) / (2 * t), t, 2 * t * sizeof(float)>>>(d, n);
    show("oddEvenSort", d, (size_t)n * 4); }
  { int b = 40000; double *i = mk<double>(b * 256), *o = mk<double>(b * 256);
    rankMergeSort<<<b, 256>>>(i, o);
    show("rankMergeSort", o, (size_t)b * 256 * 8); }
  { int n = 9000001; float *s = mk<float>(n), *o = mk<float>(n);
    trimmedMean15<<<(n + 127) / 128, 128>>>(s, o, n);
    show("trimmedMean15", o, (size_t)n * 4); }
  return 0;
}
