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
// Hillis & Steele, double buffered
__global__ void hs_scan(const int *in, int *out, int *sums, int n) {
  __shared__ int temp[2][512];
  int pout = 0, pin = 1;
  int t = threadIdx.x, g = blockIdx.x * 512 + t;
  temp[0][t] = g < n ? in[g] : 0;
  __syncthreads();
  for (int off = 1; off < 512; off *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (t >= off) temp[pout][t] = temp[pin][t] + temp[pin][t - off];
    else temp[pout][t] = temp[pin][t];
    __syncthreads();
  }
  if (g < n) out[g] = temp[pout][t];
  if (t == 511) sums[blockIdx.x] = temp[pout][t];
}

// Blelloch work-efficient, GPU Gems 3, conflict free
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
__global__ void prescan(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[];
  int thid = threadIdx.x;
  int offset = 1;
  const float *src = g_idata + (size_t)blockIdx.x * n;
  float *dst = g_odata + (size_t)blockIdx.x * n;
  int ai = thid, bi = thid + (n / 2);
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bankOffsetA] = src[ai];
  temp[bi + bankOffsetB] = src[bi];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1;
      int b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (thid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1;
      int b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      float t = temp[a];
      temp[a] = temp[b];
      temp[b] += t;
    }
  }
  __syncthreads();
  dst[ai] = temp[ai + bankOffsetA];
  dst[bi] = temp[bi + bankOffsetB];
}

// segmented inclusive sum inside a block: flags mark heads
template <typename T>
__global__ void seg_scan(const T *val, const unsigned char *head, T *out, unsigned n) {
  __shared__ T v[256];
  __shared__ unsigned char f[256];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned t = threadIdx.x;
  v[t] = i < n ? val[i] : T(0);
  f[t] = i < n ? (head[i] == 0) : 1;
  __syncthreads();
  for (unsigned d = 1; d < 256; d <<= 1) {
    T pv = T(0);
    unsigned char pf = 0;
    if (t >= d) { pv = v[t - d]; pf = f[t - d]; }
    __syncthreads();
    if (t >= d) {
      if (!f[t]) v[t] += pv;
      f[t] |= pf;
    }
    __syncthreads();
  }
  if (i < n) out[i] = v[t];
}

// block-level stream compaction of positives, each block to its own slot
__global__ void compact_block(const int *in, int *out, int *count, int n, int thresh) {
  __shared__ int pos[1024];
  int i = blockIdx.x * 1024 + threadIdx.x;
  int x = i < n ? in[i] : 0;
  int keep = (i < n && x > thresh) ? 1 : 0;
  pos[threadIdx.x] = keep;
  __syncthreads();
  for (int s = 1; s < 1024; s <<= 1) {
    int add = threadIdx.x >= s ? pos[threadIdx.x - s] : 0;
    __syncthreads();
    pos[threadIdx.x] += add;
    __syncthreads();
  }
  if (keep) out[(size_t)blockIdx.x * 1024 + pos[threadIdx.x] - 1] = x;
  if (threadIdx.x == 1023) count[blockIdx.x] = pos[1023];
}

int main() {
  { int n = 40000123, b = (n + 511) / 512; int *i = mk<int>(n), *o = mk<int>(n), *s = mk<int>(b);
    hs_scan<<<b, 512>>>(i, o, s, n);
    show("hs_scan", o, (size_t)n * 4); show("hs_scan sums", s, (size_t)b * 4); cudaFree(i); cudaFree(o); }
  { int n = 1024, b = 30000; float *i = mk<float>((size_t)n * b), *o = mk<float>((size_t)n * b);
    prescan<<<b, n / 2, sizeof(float) * (n + n / NUM_BANKS)>>>(o, i, n);
    show("prescan", o, (size_t)n * b * 4); cudaFree(i); cudaFree(o); }
  { unsigned n = 20000001; double *v = mk<double>(n), *o = mk<double>(n); unsigned char *h = mk<unsigned char>(n);
    seg_scan<double><<<(n + 255) / 256, 256>>>(v, h, o, n);
    show("seg_scan", o, (size_t)n * 8); cudaFree(v); cudaFree(o); }
  { int n = 33333333, b = (n + 1023) / 1024; int *i = mk<int>(n), *o, *c = mk<int>(b);
    cudaMalloc(&o, (size_t)b * 4096); cudaMemset(o, 0xff, (size_t)b * 4096);
    compact_block<<<b, 1024>>>(i, o, c, n, 7);
    show("compact_block", o, (size_t)b * 4096); show("compact count", c, b * 4); }
}
