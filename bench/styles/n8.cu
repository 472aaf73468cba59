// prefix sums and friends
#include <assert.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#define CUDA_SAFE_CALL(call) { cudaError err = call; if (cudaSuccess != err) { fprintf(stderr, "Cuda error in file '%s' in line %i : %s.\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(EXIT_FAILURE); } }

// Hillis & Steele with double buffering
__global__ void scan_hs(float *g_odata, const float *g_idata, int n) {
  extern __shared__ float temp[];  // 2 * blockDim
  int thid = threadIdx.x;
  int bd = blockDim.x;
  int gid = blockIdx.x * bd + thid;
  int pout = 0, pin = 1;
  temp[pout * bd + thid] = gid < n ? g_idata[gid] : 0.f;
  __syncthreads();
  for (int offset = 1; offset < bd; offset *= 2) {
    pout = 1 - pout;
    pin = 1 - pout;
    if (thid >= offset)
      temp[pout * bd + thid] = temp[pin * bd + thid] + temp[pin * bd + thid - offset];
    else
      temp[pout * bd + thid] = temp[pin * bd + thid];
    __syncthreads();
  }
  if (gid < n) g_odata[gid] = temp[pout * bd + thid];
}

// Blelloch, conflict free offsets, block sums out
#define NUM_BANKS 32
#define LOG_NUM_BANKS 5
#define CONFLICT_FREE_OFFSET(n) ((n) >> LOG_NUM_BANKS)
#define ELEMS 512
__global__ void prescan_blelloch(int *g_odata, const int *g_idata, int *sums) {
  __shared__ int temp[ELEMS + (ELEMS >> LOG_NUM_BANKS)];
  int thid = threadIdx.x;
  const int base = blockIdx.x * ELEMS;
  int ai = thid, bi = thid + ELEMS / 2;
  int bankOffsetA = CONFLICT_FREE_OFFSET(ai), bankOffsetB = CONFLICT_FREE_OFFSET(bi);
  temp[ai + bankOffsetA] = g_idata[base + ai];
  temp[bi + bankOffsetB] = g_idata[base + bi];
  int offset = 1;
  for (int d = ELEMS >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (thid < d) {
      int a = offset * (2 * thid + 1) - 1, b = offset * (2 * thid + 2) - 1;
      a += CONFLICT_FREE_OFFSET(a);
      b += CONFLICT_FREE_OFFSET(b);
      temp[b] += temp[a];
    }
    offset *= 2;
  }
  if (thid == 0) {
    int last = ELEMS - 1 + CONFLICT_FREE_OFFSET(ELEMS - 1);
    sums[blockIdx.x] = temp[last];
    temp[last] = 0;
  }
  for (int d = 1; d < ELEMS; d *= 2) {
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
  g_odata[base + ai] = temp[ai + bankOffsetA];
  g_odata[base + bi] = temp[bi + bankOffsetB];
}

// block level stream compaction: keep elements above threshold, order kept inside a block
__global__ void compact_block(const float *in, float *out, int *counts, int n, float thr) {
  __shared__ int pos[128];
  __shared__ float keep[128];
  int t = threadIdx.x, g = blockIdx.x * 128 + t;
  float x = g < n ? in[g] : 0.f;
  int p = g < n && x > thr;
  pos[t] = p;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    int a = t >= d ? pos[t - d] : 0;
    __syncthreads();
    pos[t] += a;
    __syncthreads();
  }
  if (p) keep[pos[t] - 1] = x;
  __syncthreads();
  int total = pos[127];
  if (t < total) out[blockIdx.x * 128 + t] = keep[t];
  if (t == 0) counts[blockIdx.x] = total;
}

template <class T> T *to_dev(size_t n, unsigned mod) {
  T *h = (T *)malloc(n * sizeof(T)), *d;
  for (size_t i = 0; i < n; i++) h[i] = (T)(((unsigned)i * 2246822519u >> 11) % mod);
  CUDA_SAFE_CALL(cudaMalloc((void **)&d, n * sizeof(T)));
  CUDA_SAFE_CALL(cudaMemcpy(d, h, n * sizeof(T), cudaMemcpyHostToDevice));
  free(h);
  return d;
}
int main(int argc, char **argv) {
  const int n = 1 << 23;
  float *a = to_dev<float>(n, 10), *b = to_dev<float>(n, 10);
  int *x = to_dev<int>(n, 10), *y = to_dev<int>(n, 10), *s = to_dev<int>(n / 128, 1);
  unsigned char *fl = to_dev<unsigned char>(n, 23);
  scan_hs<<<(n - 77 + 511) / 512, 512, 2 * 512 * sizeof(float)>>>(b, a, n - 77);
  prescan_blelloch<<<n / ELEMS, ELEMS / 2>>>(y, x, s);
  compact_block<<<(n - 1 + 127) / 128, 128>>>(a, b, s, n - 1, 4.5f);
  CUDA_SAFE_CALL(cudaGetLastError());
  CUDA_SAFE_CALL(cudaDeviceSynchronize());
  return 0;
}
